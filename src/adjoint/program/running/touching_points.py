"""Points of parts and fingers at which they touch others: corners, edges, faces, rims, rings around shafts, balls.

Row of a table: a point (3) in the frame of the tool [m], the radius of a ball about it, and the share of the
fingers' width by which it moves along an axis (3): 0 for points of parts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...sensing.scene import Solid
from ...world import Gripper, Part
from ...world.parts.primitive_kinds import KINDS
from ...world.parts.sweeps import FACETS
from ...world.state.part_contents import solids_of
from ...world.views.falling_points import contact_points
from .touching_shapes import part_table, surface_distances

__all__: list[str] = []

POINT_SIZE = 7
_RIM, _RING, _RINGS = 16, 8, 3  # points of rims, points of the rings between them, and their number
MOST_POINTS = 96


@lru_cache(maxsize=512)
def part_points(part) -> np.ndarray:
    """Points (k, 7) of a part, or of a solid of a scene, in its own frame."""
    if not isinstance(part, Part):
        return _rows(*contact_points([part]))
    found, radii = _tree_points(part, np.eye(4))
    if not len(found):
        return _rows(*contact_points(solids_of(part)))
    # What a boolean has cut away, or covered, touches nothing.
    shift = np.abs(surface_distances(part_table(part), found) + radii)
    on = shift < 1e-6 + 1e-4 * np.abs(found).max()
    return fewer_points(_rows(found[on], radii[on])) if on.any() else _rows(*contact_points(solids_of(part)))


def finger_points(grip: Gripper) -> np.ndarray:
    """The four corners at the tip of each finger (8, 7), in the frame of the tool; they move with the width."""
    R, p = grip.T_tool_grip[:3, :3], grip.T_tool_grip[:3, 3]
    rows = []
    for side in (1.0, -1.0):
        for x in (-grip.breadth / 2, grip.breadth / 2):
            for y in (0.0, grip.thickness):
                rows.append([*(R @ [x, side * y, grip.tip] + p), 0.0, *(side / 2 * R[:, 1])])
    return np.array(rows)


def moved_points(points: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Points of a part that stands at T (4, 4)."""
    moved = points.copy()
    moved[:, :3] = points[:, :3] @ T[:3, :3].T + T[:3, 3]
    return moved


def _rows(points: np.ndarray, radii: np.ndarray) -> np.ndarray:
    return np.column_stack([points, radii, np.zeros((len(points), 3))])


def _tree_points(part: Part, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points of all primitives of a tree; those of a cutter count as well: they are the rims of holes."""
    T = T @ part.T_part_solid
    if part.kind in KINDS:
        points, radii = _primitive_points(part)
        return points @ T[:3, :3].T + T[:3, 3], radii
    each = [_tree_points(p, T) for p in part.operands]
    return np.concatenate([x for x, _ in each]), np.concatenate([r for _, r in each])


def _primitive_points(part: Part) -> tuple[np.ndarray, np.ndarray]:
    kind, values = part.kind, part.values
    if kind == "sphere" and values[-1] is None:
        return np.zeros((1, 3)), np.array([float(values[0])])
    if kind in ("cylinder", "cone") and values[-1] is None:
        radius, height = values[:2]
        top = radius if kind == "cylinder" else values[2]
        rings = [_circle(radius, -height / 2, _RIM), _circle(top, height / 2, _RIM)]
        for k in range(1, _RINGS + 1):
            share = k / (_RINGS + 1)
            rings.append(_circle((1 - share) * radius + share * top, height * (share - 0.5), _RING))
        points = np.concatenate(rings)
    else:
        points = _faceted(*KINDS[kind].mesh(values, min(FACETS, 16), "on")[:2])
    return points, np.zeros(len(points))


def _faceted(corners: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """The corners, the middles of edges, and points inside of faces.

    A part may lie on one that is smaller, with all of its corners beside it.
    """
    of = np.asarray(corners, float)[np.asarray(triangles)]
    middles = (of + np.roll(of, 1, axis=1)) / 2
    inside = of.mean(axis=1)
    points = np.concatenate([np.asarray(corners, float), middles.reshape(-1, 3), inside])
    return points[np.sort(np.unique(points.round(12), axis=0, return_index=True)[1])]


def _circle(radius: float, height: float, count: int) -> np.ndarray:
    a = 2 * np.pi * np.arange(count) / count
    return np.column_stack([radius * np.cos(a), radius * np.sin(a), np.full(count, height)])


def fewer_points(rows: np.ndarray) -> np.ndarray:
    """At most `MOST_POINTS` points: the one farthest from the middle, then always the one farthest from all before."""
    if len(rows) <= MOST_POINTS:
        return rows
    points = rows[:, :3]
    chosen = [int(np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1)))]
    nearest = np.linalg.norm(points - points[chosen[0]], axis=1)
    while len(chosen) < MOST_POINTS:
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return rows[sorted(chosen)]


class PartHulls(NamedTuple):
    """The n finite solids of a part, the corners (n, 8, 3) of their hulls in its frame, and the radii (n, 1)."""

    solids: tuple[Solid, ...]
    points: np.ndarray
    radii: np.ndarray

    def boxes(self, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest corners (n, 3), (n, 3) of boxes about the solids of a part at T."""
        corners = self.points @ T[:3, :3].T + T[:3, 3]
        return corners.min(axis=1) - self.radii, corners.max(axis=1) + self.radii


@lru_cache(maxsize=512)
def part_hulls(part) -> PartHulls:
    """The hulls of the solids of a part, or of a solid of a scene; half-spaces have none."""
    solids = tuple([solid for solid in solids_of(part) if solid.hull is not None])
    points, radii = np.zeros((len(solids), 8, 3)), np.zeros((len(solids), 1))
    for k, solid in enumerate(solids):
        T, hull = solid.T_world_solid, solid.hull
        assert hull is not None
        points[k], radii[k] = hull[0] @ T[:3, :3].T + T[:3, 3], hull[1]
    return PartHulls(solids, points, radii)
