"""Obstacles and carried solids as tables, the inputs of the machine code of a collision model.

`obstacle_tables` sorts the solids of a scene by kinds (see `model_kinds`), in the frame of the robot's base. Convex
hulls and height fields have tables of their own sizes, and are checked by kernels of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import ArgumentError
from ..lie import se3
from ..sensing.scene.scenes import Scene
from ..sensing.scene.solids import Box, Capsule, Cylinder, Mesh, Plane, Solid, Sphere, Textured
from .collision_solids import ConvexHull, HeightField
from .model_kinds import KINDS, ROW_SIZE

__all__: list[str] = []


@dataclass(frozen=True, eq=False)
class ObstacleTables:
    """The obstacles of a model: `rows` (n, 16), never without any row, `ends` (5,) of the kinds in it.

    `order` (n,) are the numbers of the solids that the rows belong to. `others` are the solids that have no row, as
    pairs (number, solid in the base frame). `margins` belong to all solids.
    """

    rows: np.ndarray
    ends: np.ndarray
    order: np.ndarray
    others: tuple[tuple[int, Solid], ...]
    margins: np.ndarray


def obstacle_tables(scene: Scene, T_world_base: np.ndarray, margins: np.ndarray, caller: str) -> ObstacleTables:
    """The tables of a scene, seen from a base at T_world_base (4, 4), with a margin for each solid."""
    T_base_world = se3.inverse.eager(T_world_base)
    found: dict[str, list[tuple[int, np.ndarray]]] = {kind: [] for kind in KINDS}
    others = []
    for k, solid in enumerate(scene):
        T = T_base_world @ solid.T_world_solid
        entry = _entry(solid, T)
        if entry is None:
            others.append((k, _convex(solid, k, caller).at(T)))
            continue
        kind, numbers = entry
        row = np.zeros(ROW_SIZE)
        row[: len(numbers)] = numbers
        row[-1] = margins[k]
        found[kind].append((k, row))
    rows = [row for kind in KINDS for _, row in found[kind]]
    return ObstacleTables(
        np.array(rows) if rows else np.zeros((1, ROW_SIZE)),
        np.cumsum([len(found[kind]) for kind in KINDS], dtype=float),
        np.array([k for kind in KINDS for k, _ in found[kind]], int),
        tuple(others),
        margins,
    )


def _entry(solid: Solid, T: np.ndarray) -> tuple[str, list[float]] | None:
    """The kind and the numbers of a solid's row; None if it has no row."""
    R, p = T[:3, :3], T[:3, 3]
    if isinstance(solid, Sphere):
        return "sphere", [*p, solid.radius]
    if isinstance(solid, Capsule) and solid.length == 0:
        return "sphere", [*p, solid.radius]
    if isinstance(solid, Capsule):
        way = solid.length * R[:, 2]
        return "capsule", [*(p - way / 2), *way, solid.radius, way @ way, 1 / (way @ way)]
    if isinstance(solid, Box | Textured):
        return "box", [*R.flat, *p, *solid.dimensions]
    if isinstance(solid, Plane):
        return "plane", [*R[:, 2], R[:, 2] @ p]
    if isinstance(solid, Cylinder):
        return "cylinder", [*R.flat, *p, solid.radius, solid.length / 2]
    return None


def _convex(solid: Solid, k: int, caller: str) -> Solid:
    """A hull or a height field; of other meshes, the convex hull."""
    if isinstance(solid, ConvexHull | HeightField):
        return solid
    if isinstance(solid, Mesh):
        return ConvexHull(points=solid.triangles.vertices, T_world_solid=solid.T_world_solid, name=solid.name)
    raise ArgumentError(
        f"{caller}: obstacle {k} is a {type(solid).__name__}; obstacles are Sphere, Capsule, Box, Plane, Cylinder, "
        "ConvexHull, HeightField and Mesh"
    )
