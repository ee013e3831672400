"""A PUMA with a camera in its hand: it learns where the camera is, finds a block, and goes there by what it sees.

python examples/29_eye_and_hand.py     writes eye_and_hand.png into output/
"""

from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint import sensing, vision
from adjoint.lie import se3

OUTPUT = Path(__file__).parent / "output"
TABLE = -0.25  # [m] its height in the base's frame
LENS = vision.Camera.pinhole((640, 480), 0.8, distortion=[-0.12, 0.05, 0.0005, -0.001])  # what nobody knows exactly
MOUNTED = se3.exp([0.03, -0.05, 1.5, 0.02, 0.05, 0.04])  # the true T_gripper_camera
CORNERS, SPACING = (8, 5), 0.025  # inner corners of the chessboard, which looks different upside down; [m]
BLOCKS = {"brick": (0.06, 0.04, 0.02), "cube": (0.04, 0.04, 0.04), "stick": (0.09, 0.02, 0.02)}
LIGHT = sensing.DirectionalLight([-0.4, 0.3, -0.8], intensity=0.6, shadows=False)
NOISE = 0.005  # of the brightness of pixels
ROBOT = aj.robots.puma560()


def flat(x: float, y: float, turn: float, height: float) -> np.ndarray:
    """A pose on the table, its z axis up."""
    return se3.exp([0, 0, 0, x, y, TABLE + height]) @ se3.exp([0, 0, turn, 0, 0, 0])


def reach(T_base_gripper: np.ndarray) -> np.ndarray | None:
    """The configuration nearest to the middle of the joints' ranges that brings the hand there, or None."""
    found = aj.inverse.within_limits(ROBOT, aj.inverse_kinematics(ROBOT, T_base_gripper, "tool"))
    q = found.q[found.exact]
    return q[np.argmin(np.abs(q).sum(axis=1))] if len(q) else None


def eye(q: np.ndarray) -> vision.Camera:
    """The real camera where the arm has it."""
    return LENS.at(aj.forward_kinematics(ROBOT, q, "tool") @ MOUNTED)


def photo(solids, q: np.ndarray, rng) -> np.ndarray:
    """What the real camera sees of the table and of what is on it."""
    scene = sensing.Scene([sensing.Plane(T_world_solid=[0, 0, TABLE], colour=0.12), *solids])
    return sensing.intensity_image(scene, eye(q), LIGHT, ambient=0.35, samples=3, noise=NOISE, rng=rng)


# --- where is the camera? ---------------------------------------------------------------------------------------------


def views(rng, count: int = 18) -> np.ndarray:
    """Configurations (count, 6) from which the camera looks at the board, turned in all ways, near and far."""
    found: list[np.ndarray] = []
    while len(found) < count:
        around, height = rng.uniform(0, 2 * np.pi, 2), rng.uniform(0.22, 0.45)
        spot = [0.5 + 0.15 * np.cos(around[0]), 0.15 * np.sin(around[0]), TABLE + height]
        look = vision.looking_at(spot, [0.5, 0, TABLE], up=[np.cos(around[1]), np.sin(around[1]), 0.3])
        q = reach(look @ se3.inverse(MOUNTED))
        found += [] if q is None else [q]
    return np.array(found)


def calibrated(rng) -> tuple[vision.ArmCamera, np.ndarray]:
    """The lens and the place of the camera, from photos of a chessboard; and one of the photos."""
    board = np.pad(np.indices((CORNERS[1] + 1, CORNERS[0] + 1)).sum(axis=0) % 2, 1, constant_values=1)
    size = SPACING * np.array([CORNERS[0] + 3, CORNERS[1] + 3])
    target = sensing.Textured(size, board, T_world_solid=flat(0.5, 0.0, 0.3, 0.001))
    q = views(rng)
    photos = [photo([target], x, rng) for x in q]
    corners = np.array([vision.chessboard_corners(image, CORNERS) for image in photos])
    points = vision.chessboard_points(CORNERS, SPACING)
    lens = vision.calibrate_camera(
        points, corners, LENS.size, loss="tukey", estimate=("f", "cx", "cy", "k1", "k2", "p1", "p2")
    )
    print(lens)
    found = vision.calibrate_arm_camera(
        ROBOT, "tool", q, corners, points, lens.camera, estimate=("base", "tool"), loss="tukey"
    )
    off = se3.log(se3.inverse(found.T_gripper_camera) @ MOUNTED)
    print(
        f"camera in the hand: {1e3 * np.linalg.norm(off[:3]):.3f} mrad and {1e3 * np.linalg.norm(off[3:]):.3f} mm from "
        f"the truth, {np.isfinite(corners).all(axis=(1, 2)).sum()} photos, {found.noise:.3f} pixels"
    )
    return found, photos[0]


# --- where are the blocks? --------------------------------------------------------------------------------------------


def found_blocks(camera: vision.ArmCamera, truth: dict[str, np.ndarray], q: np.ndarray, rng):
    """Blocks that the camera finds from q, and the photo."""
    solids = {name: sensing.Box(size, colour=0.9) for name, size in BLOCKS.items()}
    image = photo([solids[name].at(T) for name, T in truth.items()], q, rng)
    seen_from = camera.camera.at(aj.forward_kinematics(ROBOT, q, "tool") @ camera.T_gripper_camera)
    things = vision.locate(image, seen_from, solids, T_world_plane=flat(0, 0, 0, 0))
    for thing in things:
        off = np.linalg.norm((thing.T_world_object - truth[thing.name])[:3, 3])
        print(f"{thing.name:6s} {1e3 * off:6.3f} mm from where it is, score {thing.score:.2f}, {thing.rms:.2f} pixels")
    return things, image, seen_from


def grasp(thing: vision.LocatedObject, above: float) -> np.ndarray:
    """T_base_gripper: the hand points down over a block, and closes across the shorter of its level edges."""
    T = thing.T_world_object
    level = np.argsort(np.abs(T[2, :3]))[:2]  # two edges of the block are level
    short = min(level, key=lambda k: BLOCKS[thing.name][k])
    down, close = np.array([0.0, 0.0, -1.0]), T[:3, short] * (1 if T[0, short] >= 0 else -1)
    R = np.stack([np.cross(close, down), close, down], axis=1)
    return se3.from_rotation_translation(R, T[:3, 3] + [0, 0, above])


# --- going there ------------------------------------------------------------------------------------------------------


def main() -> None:
    rng = np.random.default_rng(0)
    camera, board = calibrated(rng)
    truth = {
        "brick": flat(0.46, 0.05, 0.4, 0.01),
        "cube": flat(0.55, -0.05, 1.1, 0.02),
        "stick": flat(0.42, -0.08, -0.5, 0.01),
    }
    high = vision.looking_at([0.42, 0.1, TABLE + 0.42], [0.48, -0.01, TABLE], up=[1, 0, 0.3])
    start = reach(high @ se3.inverse(MOUNTED))
    assert start is not None
    things, image, seen_from = found_blocks(camera, truth, start, rng)

    block = next(thing for thing in things if thing.name == "brick")
    goal = grasp(block, above=0.22)
    corners = np.array([[x, y, 1] for x in (-1, 1) for y in (-1, 1)]) * np.array(BLOCKS["brick"]) / 2
    at_goal = camera.camera.at(goal @ camera.T_gripper_camera)
    wanted = vision.project(at_goal, se3.act(block.T_world_object, corners))
    servo = vision.image_servo(
        ROBOT, wanted, frame="tool", camera=camera.camera, gain=2.0, T_gripper_camera=camera.T_gripper_camera,
        depths=np.full(4, 0.2), noise=0.2, rng=1,
    )  # fmt: skip
    eyes = vision.pixel_sensor(  # the real camera sees the real block
        se3.act(truth["brick"], corners), robot=ROBOT, frame="tool", camera=LENS, T_gripper_camera=MOUNTED
    )
    run = aj.simulate(
        ROBOT, servo, q=start, v=np.zeros(6), duration=8.0, dt=0.001, record=10, sensors={"pixels": eyes}
    )  # fmt: skip
    hand = aj.forward_kinematics(ROBOT, run.q, "tool")
    block_in_hand = se3.inverse(hand[-1]) @ truth["brick"]
    wished = se3.inverse(goal) @ block.T_world_object
    off = se3.log(se3.inverse(wished) @ block_in_hand)
    print(
        f"after {run.t[-1]:.1f} s the hand is {1e3 * np.linalg.norm(off[3:]):.2f} mm and "
        f"{1e3 * np.linalg.norm(off[:3]):.2f} mrad from where it should be over the brick"
    )
    draw(board, image, seen_from, things, run, truth["brick"], corners, wanted)


def draw(board, image, seen_from, things, run, brick, corners, wanted) -> None:
    """Three pictures beside each other: a photo for the calibration, the blocks found, and the pixels on their way."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(15, 4), layout="constrained")
    axes[0].imshow(board, cmap="gray", vmin=0, vmax=255)
    found = vision.chessboard_corners(board, CORNERS)
    axes[0].plot(*found.T, "r.-", lw=0.5, ms=4)
    axes[0].set_title("one of 18 photos: where is the camera in the hand?")
    axes[1].imshow(image, cmap="gray", vmin=0, vmax=255)
    for thing in things:
        edges = vision.block_model(BLOCKS[thing.name]).edges.ends
        for pixels in vision.project(seen_from, se3.act(thing.T_world_object, edges)):
            axes[1].plot(*pixels.T, "c", lw=1)
        axes[1].annotate(thing.name, vision.project(seen_from, thing.T_world_object[:3, 3]), color="yellow")
    axes[1].set_title("locate: what is where?")
    hand = aj.forward_kinematics(ROBOT, run.q, "tool") @ MOUNTED
    tracks = np.array([vision.project(LENS.at(T), se3.act(brick, corners)) for T in hand])
    axes[2].plot(tracks[:, :, 0], tracks[:, :, 1])
    axes[2].plot(*wanted.T, "k+", ms=12, label="goal")
    axes[2].set(xlim=(0, 640), ylim=(480, 0), aspect="equal", title="servoing: four corners of the brick on their way")
    axes[2].legend()
    for axis in axes[:2]:
        axis.set(xlim=(0, 640), ylim=(480, 0))
    OUTPUT.mkdir(exist_ok=True)
    figure.savefig(OUTPUT / "eye_and_hand.png", dpi=90)
    print(f"wrote {OUTPUT / 'eye_and_hand.png'}")


if __name__ == "__main__":
    main()
