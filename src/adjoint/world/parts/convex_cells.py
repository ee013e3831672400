"""Convex polytopes as points and planes: cuts by planes, differences and intersections. They need only SciPy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

__all__ = ["Cell", "cell_minus", "cell_of", "cell_within"]

_TINY = 1e-12  # of the cube of the size: a volume that counts as nothing
_CLOSE = 1e-9  # of the size: a distance that counts as nothing


class Cell(NamedTuple):
    """A convex polytope: its corners `points` (k, 3), and `planes` (m, 4), rows (n, h) with n · x ≤ h inside.

    A face of several triangles has several rows, which differ by rounding errors.
    """

    points: np.ndarray
    planes: np.ndarray
    volume: float


def cell_of(points: np.ndarray) -> Cell | None:
    """The convex hull of points (k, 3), or None if it has no volume."""
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    size = np.abs(points - middle).max(initial=0.0)
    if len(points) < 4 or not size > 0:
        return None
    try:
        hull = ConvexHull((points - middle) / size)
    except QhullError:
        return None
    if hull.volume < _TINY:
        return None
    normals = hull.equations[:, :3]
    offsets = normals @ middle - hull.equations[:, 3] * size
    return Cell(points[hull.vertices], np.column_stack([normals, offsets]), float(hull.volume * size**3))


def _split(cell: Cell, plane: np.ndarray) -> tuple[Cell | None, Cell | None]:
    """What is outside a plane (n, h) and what is inside."""
    away = cell.points @ plane[:3] - plane[3]
    close = _CLOSE * np.ptp(cell.points, axis=0).max()
    if away.max() <= close:
        return None, cell
    if away.min() >= -close:
        return cell, None
    above, below = away > 0, away < 0
    p, q = cell.points[above][:, None], cell.points[below][None]
    a, b = away[above][:, None, None], away[below][None, :, None]
    # The section of a convex polytope is the hull of where the lines between its corners cross the plane.
    section = ((p * -b + q * a) / (a - b)).reshape(-1, 3)
    outside = cell_of(np.concatenate([cell.points[~below], section]))
    inside = cell_of(np.concatenate([cell.points[~above], section]))
    return outside, inside


def cell_within(cell: Cell, other: Cell) -> Cell | None:
    """What two polytopes have in common: `cell` itself if it is inside the other; None if there is nothing."""
    rest: Cell | None = cell
    for plane in other.planes:
        if rest is not None:
            rest = _split(rest, plane)[1]
    return rest


def cell_minus(cell: Cell, cutter: Cell) -> list[Cell] | None:
    """Disjoint polytopes that fill `cell` outside of the `cutter`; None if the cutter does not touch it.

    For each plane of the cutter in turn the piece outside of the plane is kept, and the rest is cut by the others; what
    is left at the end is inside the cutter. The plane beyond which the rest reaches farthest comes first, so the pieces
    are few and large.
    """
    if ((cell.points @ cutter.planes[:, :3].T - cutter.planes[:, 3]).min(axis=0) >= 0).any():
        return None
    found: list[Cell] = []
    planes, rest = cutter.planes, cell
    while len(planes):
        beyond = (rest.points @ planes[:, :3].T - planes[:, 3]).max(axis=0)
        k = int(np.argmax(beyond))
        outside, inside = _split(rest, planes[k])
        if inside is None:
            return None
        if outside is not None:
            found.append(outside)
        planes, rest = planes[beyond > 0][np.flatnonzero(beyond > 0) != k], inside  # others will never cut anything off
    return found
