"""Vision beside OpenCV, scikit-image, SciPy and trimesh: images, rays, cameras, and calibration with an arm.

python bench/vision.py            one run, one core; writes bench/results/vision.json

`image_cases.py` has what is done to images of a megapixel. Rays are cast beside trimesh without Embree, and points are
projected beside OpenCV. For a camera in a hand there is no other library: the five closed forms are those of OpenCV 4,
which OpenCV 5 has no more. Times are those of the processor, not of the clock on the wall: that a wrapper takes less
than 5 % more than what it wraps can be seen on a machine with other work, too.
"""

import functools
import time

from common import find, in_time, one_core, quick_or_full, race, ratio_target, report, row, target

one_core()

import sys  # noqa: E402
from pathlib import Path  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import cv2  # noqa: E402
import image_cases  # noqa: E402
import numpy as np  # noqa: E402
import trimesh  # noqa: E402
from image_cases import FEW, LENS, SIDE, SOME, Case, near  # noqa: E402
from support.arm_views import rotation_and_position, views  # noqa: E402
from support.block_scenes import MODELS, matched, picture, random_blocks, random_camera, scene_of  # noqa: E402
from support.solid_scenes import icosphere, looking, random_scene  # noqa: E402
from trimesh.ray.ray_triangle import RayMeshIntersector  # noqa: E402

import adjoint as aj  # noqa: E402
from adjoint import sensing, vision  # noqa: E402
from adjoint.lie import se3, so3  # noqa: E402
from adjoint.sensing import Box, Mesh, Scene, Sphere  # noqa: E402

MANY, RAYS = quick_or_full((100_000, 300), (1_000_000, 1000))  # trimesh takes gigabytes for many rays
REPEATS = quick_or_full(4, 24)  # of a calibration, each with noise of its own
NOISE = 0.3  # [pixels]
CLOSED_FORMS = ("tsai", "park", "horaud", "andreff", "daniilidis")

raced = functools.partial(race, seconds=0.01, clock=time.process_time)


def compared(case: Case, how: str) -> dict:
    """The row of a case, after a look at all results. A library with one function in it goes by its own name."""
    for theirs in case.peers.values():
        (case.same or image_cases.equal)(case.ours(), theirs())
    peers, more = case.peers, {}
    if len(peers) == 1:
        ((name, theirs),) = peers.items()
        library, more["beside"] = name.split(" ")
        peers = {library: theirs}
    return row(case.subject, case.what, how, raced({"adjoint": case.ours, **peers}, rounds=case.rounds), **more)


# --- rays and points --------------------------------------------------------------------------------------------------


def inward(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """n rays from a ball of radius 2 towards the middle, more or less."""
    rng = np.random.default_rng(seed)
    o = rng.normal(size=(n, 3))
    o *= 2 / np.linalg.norm(o, axis=1, keepdims=True)
    return o, 0.4 * rng.normal(size=(n, 3)) - o


def beside_trimesh(name: str, scene: Scene, mesh: trimesh.Trimesh) -> dict:
    """The same rays in a scene, and against all its triangles by trimesh."""
    caster, (o, d) = RayMeshIntersector(mesh), inward(RAYS)

    def theirs():
        return caster.intersects_id(o, d, multiple_hits=False, return_locations=True)

    distances, (_, ray, places) = sensing.ray_distances(scene, o, d), theirs()
    found = np.full(RAYS, np.inf)
    np.minimum.at(found, ray, np.linalg.norm(places - o[ray], axis=1))
    met = np.isfinite(found)
    assert np.mean(met == np.isfinite(distances)) > 0.999  # trimesh may miss a ray through an edge
    np.testing.assert_allclose(distances[met], found[met], rtol=1e-6)
    laps = raced({"adjoint": lambda: sensing.ray_distances(scene, o, d), "trimesh": theirs}, rounds=FEW)
    return row(name, "rays", f"{RAYS} at once", laps, samples=RAYS)


def casting() -> list[dict]:
    """Rays beside trimesh, a million rays against each kind of solid, and depth images."""
    rng = np.random.default_rng(0)
    places = [se3.from_rotation_translation(so3.random(rng=rng), rng.uniform(-1, 1, 3)) for _ in range(20)]
    size = [0.3, 0.2, 0.1]
    ball = icosphere(4)
    scenes = {
        "20 spheres": Scene([Sphere(0.15, T_world_solid=T) for T in places]),
        "20 boxes": Scene([Box(size, T_world_solid=T) for T in places]),
        "mesh of 5120 triangles": Scene([Mesh(ball)]),
    }
    boxes = trimesh.util.concatenate([trimesh.creation.box(size, T) for T in places])
    meshes = {"20 boxes": boxes, "mesh of 5120 triangles": trimesh.Trimesh(*ball, process=False)}
    rows = [beside_trimesh(name, scenes[name], mesh) for name, mesh in meshes.items()]
    o, d = inward(MANY)
    for name, scene in scenes.items():
        laps = raced({"adjoint": lambda scene=scene: sensing.ray_distances(scene, o, d)}, rounds=FEW)
        rows.append(row(name, "rays", f"{MANY} at once", laps, samples=MANY, rays_per_s=MANY / min(laps["adjoint"])))
    camera = vision.Camera.pinhole((640, 480), 1.0).at(looking([1.0, 0.3, 0.7], [0, 0, 0.1]))
    seen = {"20 solids": random_scene(rng, 19), "20 solids, 5 of them meshes": random_scene(rng, 14, meshes=5)}
    for name, scene in seen.items():
        laps = raced({"adjoint": lambda scene=scene: sensing.depth_image(scene, camera)}, rounds=SOME)
        rows.append(row(name, "depth image of 640 x 480", "one call", laps))
    return rows


def projecting() -> list[Case]:
    """Pixels of a million points, without and with distortion.

    OpenCV's Python function always makes the derivatives too, so points are also given to it a few at a time, which
    keeps them in the cache.
    """
    points = 0.3 * np.random.default_rng(0).normal(size=(MANY, 3))
    lenses = {"pinhole": (), "lens of 5 coefficients": LENS, "lens of 8 coefficients": (*LENS, 1e-3, 1e-3, 1e-3)}
    found = []
    for name, lens in lenses.items():
        camera = vision.Camera.pinhole((640, 480), 1.0, distortion=lens).at(vision.looking_at([1, 2, 3], [0, 0, 0]))
        T = camera.T_camera_world
        given = (so3.log(T[:3, :3]), T[:3, 3].copy(), camera.matrix, np.array(lens) if lens else None)

        def in_parts(n: int, given=given):
            return np.concatenate([cv2.projectPoints(x, *given)[0][:, 0] for x in np.split(points, MANY // n)])

        ways = {"OpenCV projectPoints": MANY, "OpenCV projectPoints, 10000 a call": 10_000}
        peers = {way: functools.partial(in_parts, n) for way, n in ways.items()}
        found.append(Case(name, "projection", functools.partial(vision.project, camera, points), peers, near, FEW))
    return found


# --- a camera in the hand ---------------------------------------------------------------------------------------------


def target_poses(v, pixels: np.ndarray) -> np.ndarray:
    """T_camera_target (n, 4, 4) of views, as OpenCV finds them one by one."""
    found = []
    for u in pixels:
        seen = np.isfinite(u).all(axis=-1)
        _, w, t = cv2.solvePnP(v.points[seen], u[seen], v.camera.matrix, v.camera.distortion)
        found.append(se3.from_rotation_translation(so3.exp(w[:, 0]), t[:, 0]))
    return np.array(found)


def hand_eye(wrong: float, estimate: tuple[str, ...], what: str) -> tuple[dict, list[list]]:
    """A PUMA with a camera in its hand, whose kinematics differ by `wrong` [rad, m] from its model: a row and targets.

    Each repeat has 30 views with noise of 0.3 pixels. Errors are those of the camera's pose in the target's frame at 40
    other configurations: root mean squares over all repeats, of rotations and of positions. The closed forms get poses
    of the target from OpenCV, and the model's kinematics.
    """
    v, others, rng = views(30, wrong=wrong), views(40, seed=11).q, np.random.default_rng(3)
    G, T_target = aj.forward_kinematics(v.model, v.q, "tool"), se3.inverse(v.T_base_target)
    there = se3.inverse(T_target @ aj.forward_kinematics(v.true, others, "tool") @ v.T_gripper_camera)
    at_others, pixels = aj.forward_kinematics(v.model, others, "tool"), v.pixels

    def calibrated():
        return vision.calibrate_arm_camera(
            v.model, "tool", v.q, pixels, v.points, v.camera, estimate=estimate, noise=NOISE
        ).calibration

    errors: dict[str, list] = {name: [] for name in ("ours", *CLOSED_FORMS)}
    bounds = []
    for _ in range(REPEATS):
        pixels = v.pixels + NOISE * rng.normal(size=v.pixels.shape)
        found, C = calibrated(), target_poses(v, pixels)
        errors["ours"].append(se3.log(there @ found.predict(others)))
        variances = np.diagonal(found.prediction_covariance(others), 0, 1, 2)
        bounds.append(variances.reshape(-1, 2, 3).sum(axis=2).mean(axis=0))
        for method in CLOSED_FORMS:
            X = vision.hand_eye_closed_form(G, C, method=method)
            base = se3.inverse(se3.project(np.mean(G @ X @ C, axis=0)))
            errors[method].append(se3.log(there @ base @ at_others @ X))
    rms = {name: rotation_and_position(np.array(e)) for name, e in errors.items()}
    best, bound = np.min([rms[m] for m in CLOSED_FORMS], axis=0), np.sqrt(np.mean(bounds, axis=0))
    verdicts = []
    for k, part in enumerate(("rotation", "position")):
        verdicts.append(target(f"{what}, {part}, times the best closed form", float(rms["ours"][k] / best[k]), "<= 1"))
        verdicts.append(target(f"{what}, {part}, times the bound", float(rms["ours"][k] / bound[k]), "<= 1.15"))
    more = {f"{name}_{unit}": float(x) for name, e in rms.items() for unit, x in zip(("rad", "m"), e, strict=True)}
    more |= {"bound_rad": float(bound[0]), "bound_m": float(bound[1]), "repeats": REPEATS, "noise_pixels": NOISE}
    return row("PUMA 560", what, "30 views", raced({"adjoint": calibrated}, rounds=FEW), **more), verdicts


def calibrations() -> tuple[list[dict], list[list]]:
    rows, verdicts = [], []
    for wrong, estimate, what in (
        (0.0, ("base", "tool"), "camera in the hand"),
        (3e-3, ("screws", "offsets", "base", "tool"), "camera and arm"),
    ):
        found, more = hand_eye(wrong, estimate, what)
        rows.append(found)
        verdicts += more
    return rows, verdicts


# --- locating and servoing --------------------------------------------------------------------------------------------


def located() -> list[dict]:
    """Five blocks in images of 640 x 480, found on the table."""
    images = []
    for seed in range(quick_or_full(1, 4)):
        rng = np.random.default_rng(seed)
        camera, blocks = random_camera(rng), random_blocks(rng, 5)
        images.append((picture(scene_of(blocks), camera), camera))
        matched(vision.locate(*images[-1], MODELS), blocks)  # all are found, and nothing else

    def ours():
        for image, camera in images:
            vision.locate(image, camera, MODELS)

    laps = raced({"adjoint": ours}, rounds=FEW)
    return [row("5 blocks", "locate", "one image of 640 x 480", laps, samples=len(images))]


def servoing() -> list[dict]:
    """A step of image-based servoing of a PUMA by four points: torques from pixels."""
    robot = aj.robots.puma560()
    middle = np.array([0.5, -0.1, -0.35])
    points = middle + 0.06 * np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
    at_goal = vision.looking_at(middle + np.array([0, 0, 0.4]), middle, up=[1, 0, 0])
    camera = vision.Camera.pinhole((640, 480), focal_length=600, distortion=[-0.1, 0.02, 0, 0])
    goal = vision.project(camera.at(at_goal), points)
    law = vision.image_servo(robot, goal, frame="tool", camera=camera, gain=2.0, depth="goal", depths=np.full(4, 0.4))
    solutions = aj.inverse_kinematics(robot, at_goal, "tool")
    q, v = solutions.q[np.flatnonzero(solutions.exact)[0]], np.zeros(6)
    measured = law.replace(pixels=goal + 10.0)
    laps = raced({"adjoint": lambda: measured(robot, None, 0.0, q, v)})
    true = vision.image_servo(robot, goal, frame="tool", camera=camera, gain=2.0, points=points)
    n, steps, dt = 512, 200, 1e-3
    starts = q + 0.05 * np.random.default_rng(0).normal(size=(n, 6))

    def run():
        return aj.simulate(robot, true, q=starts, v=np.zeros((n, 6)), duration=steps * dt, dt=dt, record=steps)

    assert np.isfinite(run().q).all()
    runs = raced({"adjoint": run}, rounds=FEW)
    return [
        row("PUMA 560", "image servo", "one call", laps),
        row("PUMA 560", "image servo", f"a step of a run of {n} arms", runs, samples=n * steps),
    ]


# --- all of them ------------------------------------------------------------------------------------------------------


def targets(rows: list[dict]) -> list[list]:
    """Rows (target, measured, wanted, verdict)."""
    verdicts = []
    for r in rows:
        least = {"wrapped": 0.95, "own": 1, f"{MANY} points": 5, f"{RAYS} at once": 20}.get(r["how"])
        if least is not None:
            verdicts += [v for peer in r["peers"] for v in ratio_target(r, peer, least)]
    depth = find(rows, "20 solids", "depth image of 640 x 480", "one call")
    return verdicts + ([target("depth image of 20 solids, ms", depth["ours_ns"] / 1e6, "<= 5")] if depth else [])


def main() -> None:
    rows, verdicts = [], []
    kinds = {
        "wrapped": (image_cases.filters, image_cases.lines_and_regions, image_cases.lenses),
        "own": (image_cases.own_shapes, image_cases.own_segments), f"{MANY} points": (projecting,),
    }  # fmt: skip
    for how, makers in kinds.items():
        for case in in_time((c for make in makers for c in make()), lambda c: f"{c.subject}, {c.what}"):
            rows.append(compared(case, how))
    for part in in_time([casting, located, servoing], lambda f: f.__name__):
        rows += part()
    for part in in_time([calibrations], lambda f: f.__name__):
        found, verdicts = part()
        rows += found
    packages = ("numpy", "scipy", "opencv-python-headless", "scikit-image", "trimesh", "rtree")
    report("vision", packages, rows, targets(rows) + verdicts, pixels=SIDE * SIDE)


if __name__ == "__main__":
    main()
