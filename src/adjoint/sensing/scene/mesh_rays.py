"""Rays against meshes: one ray walks the table of a tree, row by row, and thousands walk side by side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import kernel, row_at, while_loop
from .hierarchy import ROW
from .ray_solids import reciprocal, side_basis, slabs, triangle_time
from .triangle_sets import Triangles

__all__ = ["MeshHit", "mesh_distance", "nearest_triangle"]

_MOST_ROWS = 1 << 40
_MARGIN = 1 + 1e-14  # boxes count as hit if rounding lets a ray miss them by a hair


class MeshHit(NamedTuple):
    """The `distance` [m] of the first triangle on a ray and its number, or the given distance and -1."""

    distance: np.ndarray
    triangle: np.ndarray


@kernel(table=(..., ROW), R=(3, 3), p=3, origin=3, direction=3)
def _walk(table, rows, R, p, origin, direction, farthest, backfaces=True) -> MeshHit:
    """The first triangle of a table on a ray with a unit direction, nearer than `farthest`. The mesh is at (R, p)."""
    o, d = R.T @ (origin - p), R.T @ direction
    sides, inverse = side_basis(d), reciprocal(d)

    def goes_on(carry):
        return carry[0] < rows

    def step(carry):
        row, best, found = carry
        entry = row_at(table, row)
        link, a, b, c = entry[0], entry[1:4], entry[4:7], entry[7:10]
        t_in, t_out = slabs(o, inverse, a, b)
        enters = (t_in <= t_out * _MARGIN) & (t_out >= 0) & (t_in <= best)
        t = triangle_time(o, d, sides, a, b, c, backfaces)
        is_triangle = link < 0
        nearer = is_triangle & (t < best)
        following = np.where(is_triangle | enters, row + 1, link)
        return following, np.where(nearer, t, best), np.where(nearer, -1 - link, found)

    _, best, found = while_loop(goes_on, step, (0.0, farthest, -1.0), max_iterations=_MOST_ROWS)
    return MeshHit(best, found)


@kernel(low=3, high=3, R=(3, 3), p=3, origin=3, direction=3)
def _octant(low, high, R, p, origin, direction, farthest):
    """The octant of a ray's direction in the frame of a box, or 8 if it misses the box or meets it too far away."""
    o, d = R.T @ (origin - p), R.T @ direction
    t_in, t_out = slabs(o, reciprocal(d), low, high)
    enters = (t_in <= t_out * _MARGIN) & (t_out >= 0) & (t_in < farthest)
    octant = np.where(d[0] < 0, 1.0, 0.0) + np.where(d[1] < 0, 2.0, 0.0) + np.where(d[2] < 0, 4.0, 0.0)
    return np.where(enters, octant, 8.0)


def mesh_distance(mesh: Triangles, T, origins, directions, farthest, backfaces: bool = True):
    """The rays that meet a mesh at the pose T: their places among all rays (k,), and their `MeshHit` (k,).

    `origins` and unit `directions` (n, 3), and `farthest` (n,) [m], are those of all rays; any of them may be one for
    all. Rays of each octant go together: those that meet the box around the mesh.
    """
    R, p = T[:3, :3], T[:3, 3]
    octants = _octant(mesh.tree.levels[0].low[0], mesh.tree.levels[0].high[0], R, p, origins, directions, farthest)
    places = np.flatnonzero(octants < 8)
    octants = octants[places].astype(np.uint8)
    order = np.argsort(octants, kind="stable")
    places, octants = places[order], octants[order]
    ends = np.searchsorted(octants, np.arange(9))
    distance, triangle = np.empty(len(places)), np.empty(len(places))
    for octant in np.unique(octants):
        part = slice(ends[octant], ends[octant + 1])
        those = [
            x if np.ndim(x) == own else x[places[part]] for x, own in ((origins, 1), (directions, 1), (farthest, 0))
        ]
        table = mesh.table(int(octant))
        found = _walk(table, float(len(table)), R, p, *those, backfaces=backfaces)
        distance[part], triangle[part] = found
    met = triangle >= 0
    return places[met], MeshHit(distance[met], triangle[met])


def nearest_triangle(mesh: Triangles, origin, direction) -> MeshHit:
    """The first triangle on rays (n, 3) with unit directions, in the mesh's own frame, by trying all: for tests."""
    a, b, c = mesh.corners.transpose(1, 0, 2)
    t = _one_triangle(a, b, c, np.asarray(origin)[:, None], np.asarray(direction)[:, None])
    best = np.argmin(t, axis=1)
    distance = np.take_along_axis(t, best[:, None], 1)[:, 0]
    return MeshHit(distance, np.where(distance < np.inf, best, -1))


@kernel(a=3, b=3, c=3, origin=3, direction=3)
def _one_triangle(a, b, c, origin, direction):
    return triangle_time(origin, direction, side_basis(direction), a, b, c)
