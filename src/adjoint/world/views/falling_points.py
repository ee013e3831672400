"""Points of solids that touch others when a part falls: corners, and centres of balls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...sensing.scene import Box, Capsule, Cylinder, Mesh, Solid, Sphere
from ..state.part_contents import surface_of

__all__ = ["contact_points", "corner_points"]

_MOST = 48  # points of one part
_RIM = 24  # points on each rim of a cylinder


def contact_points(solids: Sequence[Solid]) -> tuple[np.ndarray, np.ndarray]:
    """Points (k, 3) [m] and radii (k,) [m] of balls about them that stand for solids where they touch others."""
    points, radii = [np.zeros((0, 3))], [np.zeros(0)]
    for solid in solids:
        own, radius = _points(solid)
        T = solid.T_world_solid
        points.append(own @ T[:3, :3].T + T[:3, 3])
        radii.append(np.full(len(own), radius))
    return _some(np.concatenate(points), np.concatenate(radii))


def _points(solid: Solid) -> tuple[np.ndarray, float]:
    """The points of one solid in its frame, and the radius of the balls about them."""
    if isinstance(solid, Sphere):
        return np.zeros((1, 3)), solid.radius
    if isinstance(solid, Capsule):
        return np.array([[0, 0, -solid.length / 2], [0, 0, solid.length / 2]]), solid.radius
    if isinstance(solid, Cylinder):
        a = 2 * np.pi * np.arange(_RIM) / _RIM
        rim = np.column_stack([solid.radius * np.cos(a), solid.radius * np.sin(a)])
        return np.concatenate(
            [np.column_stack([rim, np.full(_RIM, z)]) for z in (-solid.length / 2, solid.length / 2)]
        ), 0.0
    surface = surface_of(solid)
    return (np.zeros((0, 3)), 0.0) if surface is None else (np.unique(surface[0], axis=0), 0.0)


def _some(points: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most `_MOST` of the points: the one farthest from the middle, then always the one farthest from all before."""
    if len(points) <= _MOST:
        return points, radii
    away = np.linalg.norm(points - points.mean(axis=0), axis=1)
    chosen = [int(np.argmax(away))]
    nearest = np.linalg.norm(points - points[chosen[0]], axis=1)
    while len(chosen) < _MOST:
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return points[chosen], radii[chosen]


def corner_points(solids: Sequence[Solid]) -> np.ndarray:
    """The corners (k, 3) in the world of boxes and polyhedra, on which a larger part may come down."""
    found = [np.zeros((0, 3))]
    for solid in solids:
        if isinstance(solid, Box | Mesh):
            own, _ = _points(solid)
            T = solid.T_world_solid
            found.append(own @ T[:3, :3].T + T[:3, 3])
    points = np.concatenate(found)
    return _some(points, np.zeros(len(points)))[0]
