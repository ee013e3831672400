"""Visual servoing: interaction matrices are derivatives, errors decay exponentially, thousands of arms arrive."""

import functools

import numpy as np
import pytest
from support.robots import urdf
from support.trees import close

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.lie import se3, so3
from adjoint.vision.cameras import Camera, looking_at, pixel_of_point, project, project_derivatives
from adjoint.vision.servoing import (
    image_based_twist,
    image_servo,
    interaction_matrix,
    pixel_interaction,
    pixel_sensor,
    pose_based_twist,
    pose_servo,
    target_pose_sensor,
)

SQUARE = 0.06 * np.array([[1.0, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
TARGET = np.array([0.5, -0.1, -0.35])  # [m] in the base
POINTS = SQUARE + TARGET
CAMERA = Camera.pinhole((640, 480), focal_length=600, distortion=[-0.1, 0.02, 0, 0])
MOUNT = se3.exp(np.array([0.05, -0.1, 0.3, 0.02, 0.01, 0.04]))  # the camera in the tool
AT_GOAL = looking_at(TARGET + np.array([0, 0, 0.4]), TARGET, up=[1, 0, 0])  # T_base_camera
GOAL = project(CAMERA.at(AT_GOAL), POINTS)
GAIN, RATE = 2.0, 100.0
DECAY = RATE / 2 * (1 - np.sqrt(1 - 4 * GAIN / RATE))  # the slow root of s²/ρ + s + λ = 0


@functools.cache
def puma() -> tuple[aj.Robot, np.ndarray]:
    """The robot, and a configuration (6,) in which its camera is at the goal."""
    robot = aj.robots.puma560()
    found = aj.inverse_kinematics(robot, AT_GOAL @ se3.inverse(MOUNT), "tool")
    return robot, found.q[np.flatnonzero(found.exact)[0]]


def starts(n: int, size=0.08) -> np.ndarray:
    return puma()[1] + size * np.random.default_rng(0).normal(size=(n, 6))


def image_errors(q: np.ndarray) -> np.ndarray:
    """The lengths (...) [pixels] of the errors of all pixels, at configurations (..., 6)."""
    T = aj.forward_kinematics(puma()[0], q, "tool") @ MOUNT
    pixels = pixel_of_point(POINTS, T[..., None, :, :], CAMERA.matrix, CAMERA.distortion)
    return np.linalg.norm((pixels - GOAL).reshape(*q.shape[:-1], 8), axis=-1)


def run(law, n: int, duration=3.0, sensors=None, size=0.08):
    return aj.simulate(
        puma()[0], law, q=starts(n, size), v=np.zeros((n, 6)), duration=duration, dt=0.001, record=100, sensors=sensors
    )


def servo(**options):
    given = {"frame": "tool", "camera": CAMERA, "T_gripper_camera": MOUNT, "gain": GAIN, "rate": RATE} | options
    return image_servo(puma()[0], GOAL, **given)


# --- interaction matrices ---------------------------------------------------------------------------------------------


@aj.kernel(point=3, V=6)
def _moved(point, V):
    """Where a camera that has moved by exp(V) sees a point of its first frame, on the plane z = 1."""
    x = se3.act(se3.inverse(se3.exp(V)), point)
    return x[:2] / x[2]


def test_interaction_is_the_derivative_of_the_image():
    rng = np.random.default_rng(0)
    points = rng.uniform([-1, -1, 0.5], [1, 1, 3], (20, 3))
    want = _moved.jacobian("V")(points, np.zeros(6))
    close(interaction_matrix(points[:, :2] / points[:, 2:], points[:, 2]), want, 1e-12)


def test_interaction_of_pixels_is_that_of_the_lens():
    rng = np.random.default_rng(1)
    points = rng.uniform([-0.3, -0.3, 0.8], [0.3, 0.3, 2], (20, 3))
    camera = CAMERA.at(np.eye(4))
    pixels = project(camera, points)
    want = project_derivatives(camera, points).pose
    close(pixel_interaction(pixels, points[:, 2], camera.matrix, camera.distortion), want, 1e-10)
    h = 1e-6
    turned = [camera.at(se3.exp(s * h * np.eye(6)[1])) for s in (1, -1)]
    slope = (project(turned[0], points) - project(turned[1], points)) / (2 * h)
    close(want[..., 1], slope, 1e-7)
    straight = camera.replace(distortion=())
    K = straight.matrix[:2, :2]
    found = pixel_interaction(project(straight, points), points[:, 2], straight.matrix)
    close(found, K @ interaction_matrix(points[:, :2] / points[:, 2:], points[:, 2]), 1e-10)


# --- twists -----------------------------------------------------------------------------------------------------------


def image_of(T: np.ndarray, points=SQUARE) -> tuple[np.ndarray, np.ndarray]:
    """Image points (..., k, 2) and depths (..., k) of points of a target, seen by cameras at T (..., 4, 4) in it."""
    X = se3.act(se3.inverse(T)[..., None, :, :], points)
    return X[..., :2] / X[..., 2:], X[..., 2]


def flown(T, goal, *, steps=400, dt=0.01, pose=False, goal_depths=None, **options) -> np.ndarray:
    """Poses (steps + 1, ..., 4, 4) of cameras that fly by their twists alone."""
    found = [T]
    for _ in range(steps):
        if pose:
            twist = pose_based_twist(se3.inverse(T), se3.inverse(goal), **options)
        else:
            s, depths = image_of(T)
            twist = image_based_twist(s, image_of(goal)[0], depths if goal_depths is None else goal_depths, **options)
        T = T @ se3.exp(dt * twist)
        found.append(T)
    return np.array(found)


HOME = looking_at([0, 0, 0.4], [0, 0, 0], up=[1, 0, 0])


@pytest.mark.parametrize("method", ["image", "partitioned"])
def test_small_errors_decay_with_the_gain(method):
    """With true depths, and steps that are small beside 1/λ, |e| falls by 1 - λ dt in each: ė = -λ e."""
    T = HOME @ se3.exp(1e-3 * np.random.default_rng(2).normal(size=(30, 6)))
    dt, gain = 1e-3, 1.5
    poses = flown(T, HOME, steps=200, dt=dt, gain=gain, method=method)
    e = np.linalg.norm((image_of(poses)[0] - image_of(HOME)[0]).reshape(201, 30, 8), axis=-1)
    rates = -np.log(e[1:] / e[:-1]) / dt
    slack = 2e-2 if method == "image" else 0.1  # second order in the error; the partitioned law is not linear
    assert np.abs(rates / (-np.log(1 - gain * dt) / dt) - 1).max() < slack


def test_pose_errors_decay_with_the_gain():
    T = HOME @ se3.exp(np.array([0.5, -0.8, 1.5, 0.1, 0.2, -0.1]))
    dt, gain = 1e-3, 1.0
    for path in ("straight", "screw"):
        poses = flown(T, HOME, steps=3000, dt=dt, pose=True, gain=gain, path=path)
        turn = np.linalg.norm(so3.log(poses[:, :3, :3].mT @ HOME[:3, :3]), axis=-1)
        close(turn[3000] / turn[0], np.exp(-gain * 3), 5e-3)
        if path == "straight":  # the lens centre stays on its line
            way = poses[:, :3, 3] - HOME[:3, 3]
            assert np.linalg.norm(np.cross(way, way[0]), axis=1).max() < 1e-3 * np.linalg.norm(way[0]) ** 2
        else:  # the screw of the first step is that of all
            V = se3.log(se3.inverse(poses[::500]) @ HOME)
            close(V / np.linalg.norm(V, axis=1, keepdims=True), np.tile(V[0] / np.linalg.norm(V[0]), (7, 1)), 1e-6)


def test_half_a_turn_makes_the_camera_retreat():
    """Chaumette's conundrum: image points go straight through the middle, so the camera backs off without turning."""
    T = HOME @ se3.exp([0, 0, np.pi - 1e-9, 0, 0, 0])
    dt = 0.01
    plain = flown(T, HOME, steps=60, dt=dt, gain=1.0)
    distance = plain[:, 2, 3]
    assert distance[-1] > 4 * distance[0] and (np.diff(distance) > 0).all()  # it is infinitely far away after 0.69 s
    close(plain[-1, :3, :3], T[:3, :3], 1e-6)
    for options in ({"method": "partitioned"}, {"pose": True}):
        poses = flown(T, HOME, steps=1500, dt=dt, gain=1.0, **options)
        assert poses[:, 2, 3].max() < 1.05 * distance[0]
        close(poses[-1], HOME, 1e-4)
    middle = image_based_twist(image_of(T)[0], image_of(HOME)[0], np.full(4, 0.4), gain=1.0)
    close(middle, [0, 0, 0, 0, 0, -0.8], 1e-6)  # -λ e = 2 s, so v_z = -2 λ Z: no turn at all


def test_large_turns_about_the_axis_retreat_and_come_back():
    """120 degrees: the image law backs off on its way, the partitioned law does not; both arrive."""
    T = HOME @ se3.exp([0, 0, np.deg2rad(120), 0, 0, 0])
    image, partitioned = (flown(T, HOME, steps=1500, gain=1.0, method=m)[:, 2, 3] for m in ("image", "partitioned"))
    assert image.max() > 1.4 * image[0] and partitioned.max() < 1.05 * partitioned[0]
    close([image[-1], partitioned[-1]], [0.4, 0.4], 1e-4)


@pytest.mark.slow
def test_depths_at_the_goal_and_wrong_depths_arrive():
    T = HOME @ se3.exp(np.array([0.1, -0.2, 0.5, 0.05, 0.05, -0.1]))
    for depths in (np.full(4, 0.4), np.full(4, 0.8), np.full(4, 0.2)):
        poses = flown(T, HOME, steps=3000, gain=1.0, goal_depths=depths)
        close(poses[-1], HOME, 1e-4)


# --- laws -------------------------------------------------------------------------------------------------------------


LAWS = {
    "true depths": {"points": POINTS},
    "partitioned": {"points": POINTS, "method": "partitioned"},
    "depths at the goal": {"points": POINTS, "depth": "goal", "depths": np.full(4, 0.4)},
    "estimated depths": {"points": POINTS, "depth": "estimated", "depths": np.full(4, 0.6)},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_a_thousand_arms_arrive(name):
    """Errors of 1000 runs decay with the rate of the loop, and all arrive."""
    found = run(servo(**LAWS[name]), 1000, duration=5.0)
    e = image_errors(found.q)
    assert np.isfinite(found.q).all() and (e[:, 0] > 3).all()
    assert (e[:, -1] < 1e-2 * e[:, 0] + 0.05).all()
    rates = np.log(e[:, 10] / e[:, 20]) / (found.t[20] - found.t[10])
    assert abs(np.median(rates) / DECAY - 1) < 0.02


@pytest.mark.slow
def test_each_lane_has_a_target_of_its_own():
    robot, q = puma()
    shifts = np.random.default_rng(1).normal(scale=[0.03, 0.03, 0.02], size=(20, 3))
    law = servo(points=POINTS).replace(points=POINTS + shifts[:, None])
    found = aj.simulate(robot, law, q=np.tile(q, (20, 1)), v=np.zeros((20, 6)), duration=5.0, dt=0.001, record=5000)
    T = aj.forward_kinematics(robot, found.q[:, -1], "tool") @ MOUNT
    close(T[:, :3, 3], AT_GOAL[:3, 3] + shifts, 2e-4)


@pytest.mark.slow
def test_a_sensor_sees_what_the_law_computes():
    """The law that is fed by a sensor does the same as the one that knows the points, with a lens in between."""
    robot, _ = puma()
    seen = pixel_sensor(POINTS, robot=robot, frame="tool", camera=CAMERA, T_gripper_camera=MOUNT)
    depths = np.full(4, 0.4)
    fed = run(servo(depths=depths), 5, sensors={"pixels": seen})
    knows = run(servo(points=POINTS, depth="goal", depths=depths), 5)
    close(fed.q, knows.q, 1e-8)
    goal = se3.inverse(AT_GOAL) @ se3.from_rotation_translation(np.eye(3), TARGET)
    place = se3.from_rotation_translation(np.eye(3), TARGET)
    options = {"frame": "tool", "gain": GAIN, "rate": RATE, "T_gripper_camera": MOUNT}
    reads = target_pose_sensor(place, robot=robot, frame="tool", T_gripper_camera=MOUNT)
    fed = run(pose_servo(robot, goal, **options), 5, sensors={"T_camera_target": reads})
    knows = run(pose_servo(robot, goal, T_base_target=place, **options), 5)
    close(fed.q, knows.q, 1e-8)
    assert (image_errors(fed.q)[:, -1] < 0.01 * image_errors(fed.q)[:, 0]).all()


@pytest.mark.slow
def test_noise_of_pixels_stays_noise():
    """White noise of 0.5 pixels, through a loop of the bandwidth λ: much less of it is left in the pose."""
    n = 60
    law = servo(points=POINTS, noise=0.5, shape=n, rng=3)
    found = run(law, n, duration=4.0, size=0.02)
    e = image_errors(found.q[:, -10:]) / np.sqrt(8)
    assert 1e-3 < np.sqrt(np.mean(e**2)) < 0.1  # about 0.5 √(λ dt / 2) = 0.016 pixels
    again = run(servo(points=POINTS, noise=0.5, shape=n, rng=3), n, duration=4.0, size=0.02)
    assert np.array_equal(again.q, found.q)
    assert len(np.unique(found.q[:, -1, 0])) == n


def test_the_observer_learns_depths():
    """Depths that begin 50 % wrong are known to 5 % when the arm has moved."""
    robot, _ = puma()
    law = servo(points=POINTS, depth="estimated", depths=np.full(4, 0.6))
    state, q, v, dt = law.state, starts(1)[0], np.zeros(6), 0.001
    for k in range(400):
        tau, state = law(robot, state, k * dt, q, v)
        v = v + dt * aj.forward_dynamics(robot, q, v, tau)
        q = q + dt * v
    T = aj.forward_kinematics(robot, q, "tool") @ MOUNT
    true = se3.act(se3.inverse(T), POINTS)[:, 2]
    assert np.abs(1 / state.near / true - 1).max() < 0.05


@pytest.mark.slow
def test_a_camera_beside_the_arm():
    """The hand holds the points, and the camera rests: both laws bring the points to their goals."""
    robot, q = puma()
    G = aj.forward_kinematics(robot, q, "tool")
    held = SQUARE + np.array([0, 0, 0.05])
    watching = CAMERA.at(looking_at(G[:3, 3] + [0.35, -0.3, 0.4], G[:3, 3]))
    goal = project(watching, se3.act(G, held))
    assert np.isfinite(goal).all()
    options = {"frame": "tool", "camera": watching, "gain": GAIN, "rate": RATE, "eye": "beside arm"}
    for law in (
        image_servo(robot, goal, points=held, **options),
        pose_servo(robot, watching.T_camera_world @ G, T_gripper_target=np.eye(4), **options),
    ):
        found = run(law, 50, duration=5.0)
        pixels = project(watching, se3.act(aj.forward_kinematics(robot, found.q, "tool")[..., None, :, :], held))
        assert np.abs(pixels[:, 0] - goal).max() > 20 and np.abs(pixels[:, -1] - goal).max() < 0.3


def test_the_compiled_law_is_the_eager_one():
    robot, law = puma()[0], servo(points=POINTS)
    q, v = starts(3), 0.1 * np.ones((3, 6))
    eager = law.kernel(robot).eager(0.0, q[1], v[1], **law.numbers)
    close(law(robot, None, 0.0, q, v).tau[1], eager, 1e-10)
    assert "double" in law.source("c", robot)


@pytest.mark.slow
def test_a_redundant_arm_arrives():
    """A Panda has seven joints."""
    robot = aj.load(urdf("panda.urdf"))
    frame = "panda_hand" if "panda_hand" in robot.body_names else robot.body_names[-1]
    q = np.array([0.1, -0.4, 0.2, -2.0, 0.1, 1.8, 0.5] + [0.0] * (robot.nq - 7))
    q = q[: robot.nq]
    T = aj.forward_kinematics(robot, q, frame)
    points = se3.act(T, SQUARE + np.array([0, 0, 0.4]))
    goal = project(CAMERA.at(T), points)
    law = image_servo(robot, goal, frame=frame, camera=CAMERA, gain=GAIN, rate=RATE, points=points, joint_damping=1e-6)
    start = q + 0.05 * np.random.default_rng(0).normal(size=robot.nq) * (np.arange(robot.nq) < 7)
    found = aj.simulate(robot, law, q=start, v=np.zeros(robot.nv), duration=4.0, dt=0.001, record=4000)
    there = aj.forward_kinematics(robot, found.q[-1], frame)
    assert np.abs(project(CAMERA.at(there), points) - goal).max() < 0.2


def test_bad_arguments_are_named():
    robot, _ = puma()
    options = {"frame": "tool", "camera": CAMERA, "gain": 1.0}
    for error, call in (
        ("'camera' must be a Camera", lambda: image_servo(robot, GOAL, frame="tool", camera=None, gain=1.0)),
        ("depth='goal' needs 4 of them", lambda: image_servo(robot, GOAL, **options)),
        ("depth 'true' needs 'points'", lambda: image_servo(robot, GOAL, depth="true", **options)),
        ("'depths' must be positive", lambda: image_servo(robot, GOAL, depths=-np.ones(4), **options)),
        ("2 points do not determine", lambda: image_servo(robot, GOAL[:2], points=POINTS[:2], **options)),
        ("'points' has shape", lambda: image_servo(robot, GOAL, points=POINTS[:3], **options)),
        ("method is 'pose'", lambda: image_servo(robot, GOAL, points=POINTS, method="pose", **options)),
        ("no frame 'hand'", lambda: image_servo(robot, GOAL, points=POINTS, **(options | {"frame": "hand"}))),
        ("gain", lambda: image_servo(robot, GOAL, points=POINTS, **(options | {"gain": 0}))),
        ("eye is 'left'", lambda: image_servo(robot, GOAL, points=POINTS, eye="left", **options)),
        ("not at 'T_gripper_camera'", lambda: image_servo(
            robot, GOAL, points=POINTS, eye="beside arm", T_gripper_camera=np.eye(4), **options)),
        ("must be a rigid motion", lambda: pose_servo(robot, np.zeros((4, 4)), frame="tool", gain=1.0)),
        ("path is 'curved'", lambda: pose_servo(robot, np.eye(4), frame="tool", gain=1.0, path="curved")),
        ("'T_base_target' says where", lambda: pose_servo(
            robot, np.eye(4), frame="tool", gain=1.0, T_gripper_target=np.eye(4))),
        (r"\(\.\.\., k, 2\)", lambda: image_based_twist(np.zeros((4, 3)), np.zeros((4, 2)), np.ones(4))),
        ("3|three are the least", lambda: image_based_twist(np.zeros((2, 2)), np.zeros((2, 2)), np.ones(2))),
    ):  # fmt: skip
        with pytest.raises((ArgumentError, aj.AdjointError), match=error):
            call()


def test_a_law_that_reads_needs_something_to_read():
    """Without a sensor the pixels would be the goal for ever, and the arm would stay where it is."""
    robot = aj.robots.puma560()
    lens = Camera.pinhole((640, 480), focal_length=500)
    goal = [[400, 320], [240, 320], [240, 160], [400, 160]]
    law = image_servo(robot, goal, frame="tool", camera=lens, gain=1.0, depths=0.4)
    with pytest.raises(ArgumentError, match="reads 'pixels', which would never change: give sensors="):
        aj.simulate(robot, law, q=np.zeros(6), v=np.zeros(6), duration=0.1, dt=0.001)
