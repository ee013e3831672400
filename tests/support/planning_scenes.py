"""Scenes for motion plans of a Panda: a table, a shelf and a cage, and random problems in them with fixed seeds.

The benchmark of planners takes the same scenes and problems as the tests.
"""

from typing import NamedTuple

import numpy as np

import adjoint as aj
from adjoint.sensing.scene import Box, Capsule, Cylinder, Plane, Scene, Solid, Sphere

HAND = "panda_hand"


class Region(NamedTuple):
    """A box in space [m] in which the hand is at the goal."""

    lower: tuple[float, float, float]
    upper: tuple[float, float, float]


def panda(path) -> aj.Robot:
    """The Panda of a URDF with its fingers locked, open by 2 cm each: seven joints."""
    robot = aj.load(path)
    return robot.locked(dict.fromkeys(robot.joint_names[7:], 0.02))


def _box(name: str, size, at) -> Box:
    return Box(size, T_world_solid=np.asarray(at, float), name=name)


def table_scene() -> list[Solid]:
    """A table in front of the arm, with boxes, cans and balls on it, and the floor."""
    return [
        Plane(T_world_solid=[0.0, 0.0, -0.4], name="floor"),
        _box("table", [0.7, 1.4, 0.05], [0.7, 0.0, 0.125]),
        _box("crate", [0.2, 0.25, 0.25], [0.6, 0.35, 0.275]),
        _box("carton", [0.15, 0.15, 0.35], [0.55, -0.3, 0.325]),
        _box("book", [0.25, 0.18, 0.06], [0.75, 0.0, 0.18]),
        Cylinder(0.05, 0.25, T_world_solid=[0.5, 0.1, 0.275], name="can"),
        Cylinder(0.04, 0.3, T_world_solid=[0.8, -0.35, 0.3], name="bottle"),
        Sphere(0.08, T_world_solid=[0.45, -0.1, 0.23], name="ball"),
        _box("lamp", [0.06, 0.06, 0.6], [0.9, 0.3, 0.45]),
        Capsule(0.03, 0.5, T_world_solid=[0.3, 0.55, 0.4], name="post"),
    ]


def shelf_scene() -> list[Solid]:
    """A shelf in front of the arm: five boards, two sides, a middle wall and a back; and the floor."""
    boards = [_box(f"board {k}", [0.3, 1.2, 0.03], [0.7, 0.0, z]) for k, z in enumerate((0.0, 0.3, 0.6, 0.9, 1.2))]
    walls = [_box(f"side {k}", [0.3, 0.03, 1.2], [0.7, y, 0.6]) for k, y in enumerate((-0.6, 0.6))]
    return [
        Plane(T_world_solid=[0.0, 0.0, -0.4], name="floor"),
        *boards,
        *walls,
        _box("middle", [0.3, 0.03, 1.2], [0.7, 0.0, 0.6]),
        _box("back", [0.03, 1.2, 1.2], [0.865, 0.0, 0.6]),
        _box("books", [0.15, 0.2, 0.2], [0.72, 0.45, 0.415]),
        Cylinder(0.05, 0.2, T_world_solid=[0.7, -0.45, 0.715], name="vase"),
    ]


def cage_scene() -> list[Solid]:
    """A cage of bars on a stand in front of the arm, open between its bars; the hand reaches in."""
    x_0, x_1, y, low, high, radius = 0.38, 0.78, 0.3, 0.15, 0.7, 0.018
    bars: list[Solid] = []
    for k, (x, b) in enumerate([(x_0, -y), (x_0, y), (x_1, -y), (x_1, y), (x_1, 0.0)]):
        bars.append(Capsule(radius, high - low, T_world_solid=[x, b, (low + high) / 2], name=f"upright {k}"))
    along_x = np.array([[0.0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1]])
    along_y = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    for k, (b, z) in enumerate([(-y, low), (y, low), (-y, high), (y, high)]):
        T = along_x.copy()
        T[:3, 3] = (x_0 + x_1) / 2, b, z
        bars.append(Capsule(radius, x_1 - x_0, T_world_solid=T, name=f"beam {k}"))
    for k, (x, z) in enumerate([(x_0, low), (x_1, low), (x_0, high), (x_1, high)]):
        T = along_y.copy()
        T[:3, 3] = x, 0.0, z
        bars.append(Capsule(radius, 2 * y, T_world_solid=T, name=f"bar {k}"))
    return [
        Plane(T_world_solid=[0.0, 0.0, -0.4], name="floor"),
        _box("stand", [0.5, 0.7, 0.1], [0.58, 0.0, 0.07]),
        *bars,
        _box("part", [0.1, 0.1, 0.1], [0.62, 0.12, 0.2]),
    ]


SCENES = {
    "table": (table_scene, Region((0.4, -0.5, 0.2), (0.9, 0.5, 0.5))),
    "shelf": (shelf_scene, Region((0.5, -0.55, 0.05), (0.8, 0.55, 1.15))),
    "cage": (cage_scene, Region((0.42, -0.25, 0.2), (0.72, 0.25, 0.65))),
}
"""{name: (function that makes the solids, where the hand is at the goal)}."""


def random_problems(
    robot: aj.Robot, free, region: Region, count: int, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """[(start, goal)] of free configurations (nq,): any start, and goals with the hand in a region.

    `free` takes q (n, nq) and gives n truth values.
    """
    rng = np.random.default_rng(seed)

    def drawn(inside: bool) -> list[np.ndarray]:
        found: list[np.ndarray] = []
        while len(found) < count:
            q = aj.random_configuration(robot, 4096, rng=rng)
            if inside:
                p = aj.forward_kinematics(robot, q, HAND)[:, :3, 3]
                q = q[((p >= region.lower) & (p <= region.upper)).all(axis=1)]
            if len(q):
                found.extend(q[np.asarray(free(q), bool)])
        return found[:count]

    return list(zip(drawn(False), drawn(True), strict=True))


def scene_of(name: str) -> Scene:
    """The scene of this name."""
    return Scene(SCENES[name][0]())
