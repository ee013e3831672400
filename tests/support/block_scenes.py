"""Random scenes of blocks on a table, rendered, with the truth: for tests of what sees them."""

import numpy as np

from adjoint.sensing import Box, DirectionalLight, Plane, Scene, depth_image, intensity_image
from adjoint.vision import Camera, LocatedObject, ObjectModel, block_model, looking_at
from adjoint.vision.locating.hypotheses import on_plane_pose

SIZES = {"brick": (0.06, 0.04, 0.02), "cube": (0.04, 0.04, 0.04), "stick": (0.09, 0.02, 0.02)}
MODELS = {name: block_model(size) for name, size in SIZES.items()}
LIGHT = DirectionalLight([-0.4, 0.5, -0.7], intensity=0.7, shadows=False)
TABLE, GAP, HALF = 0.15, 0.003, 0.11  # how bright it is; [m] the least gap between blocks, and half of the table


def random_camera(rng: np.random.Generator, **options) -> Camera:
    """A camera that looks down at the table from some side."""
    eye = np.array([rng.uniform(-0.2, 0.2), -0.35, 0.5])
    return Camera.pinhole((640, 480), 0.75, **options).at(looking_at(eye, [0, 0, 0]))


def random_blocks(rng: np.random.Generator, count: int, models=MODELS, plane=None) -> list[tuple[str, np.ndarray]]:
    """(name, T_world_object) of blocks that lie on the table, or on the plane of a frame, and do not touch."""
    plane = np.eye(4) if plane is None else plane
    found: list[tuple[str, np.ndarray]] = []
    outlines: list[np.ndarray] = []
    for _ in range(1000):
        if len(found) == count:
            break
        name = list(models)[rng.integers(len(models))]
        model = models[name]
        rest = model.rests[rng.integers(len(model.rests))]
        x, y = rng.uniform(-HALF, HALF, 2)
        T = on_plane_pose(np.eye(4), rest, x, y, rng.uniform(0, 2 * np.pi))
        outline = (model.vertices @ T[:3, :3].T + T[:3, 3])[:, :2]
        if all(_gap(outline, other) > GAP for other in outlines):
            found.append((name, plane @ T))
            outlines.append(outline)
    return found


def _gap(a: np.ndarray, b: np.ndarray) -> float:
    """How far two convex outlines (n, 2), (m, 2) are apart along the best of the directions of their sides."""
    from scipy.spatial import ConvexHull

    normals = np.concatenate([ConvexHull(x).equations[:, :2] for x in (a, b)])
    normals = np.concatenate([normals, -normals])
    return float(np.max((b @ normals.T).min(axis=0) - (a @ normals.T).max(axis=0)))


def scene_of(blocks: list[tuple[str, np.ndarray]], colours=None, plane=None) -> Scene:
    """The blocks on a dark table."""
    look = dict.fromkeys(SIZES, 0.9) | (colours or {})
    return Scene([
        Plane(colour=TABLE, T_world_solid=np.eye(4) if plane is None else plane),
        *(Box(SIZES[name], T_world_solid=T, colour=look[name]) for name, T in blocks),
    ])  # fmt: skip


def picture(scene: Scene, camera: Camera, rng=0, noise: float = 0.01, colour: bool = False) -> np.ndarray:
    """An image of the scene, nine rays for a pixel, with noise."""
    return intensity_image(scene, camera, LIGHT, ambient=0.3, samples=3, noise=noise, rng=rng, colour=colour)


def depths(scene: Scene, camera: Camera, rng=0, sigma: float = 5e-4) -> np.ndarray:
    """A depth image of the scene, with noise."""
    clean = depth_image(scene, camera)
    return clean + sigma * np.random.default_rng(rng).normal(size=clean.shape)


def apart(model: ObjectModel, T: np.ndarray, other: np.ndarray) -> float:
    """The largest distance [m] of a vertex at one pose from the nearest vertex at the other: 0 for poses alike."""
    a, b = (model.vertices @ X[:3, :3].T + X[:3, 3] for X in (T, other))
    return float(np.linalg.norm(a[:, None] - b, axis=2).min(axis=1).max())


def matched(found: tuple[LocatedObject, ...], truth, models=MODELS) -> list[tuple[LocatedObject, np.ndarray]]:
    """Pairs of what was found and its true pose; every object must be found once, and nothing else."""
    left, pairs = list(found), []
    for name, T in truth:
        near = [thing for thing in left if thing.name == name and apart(models[name], thing.T_world_object, T) < 0.005]
        assert near, f"no {name} at {T[:3, 3]}: {found}"
        pairs.append((near[0], T))
        left = [thing for thing in left if thing is not near[0]]
    assert not left, f"nothing of this is there: {left}"
    return pairs
