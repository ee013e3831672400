"""What a point robot must not enter in the plane: unions of convex polygons, and which segments keep out of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...compile import kernel, scan

__all__ = ["ForbiddenRegion", "SegmentInside", "forbidden_region", "segment_inside"]

_CLOSE = 1e-9  # lengths, relative to the size of a region, by which a path may be inside of it
_FAR = 1e30  # the offset of half-planes that fill a table: no point is outside of them
_LANES = 400_000  # segments times polygons of one call


class SegmentInside(NamedTuple):
    """The part of a segment inside of a convex polygon: from `enter` to `leave`, as parts of the segment's length.

    There is none if `leave` <= `enter`. `side` is 1 (or -1) if the segment runs along an edge, so that the polygon is
    on its left (or right) only, and 0 if it does not.
    """

    enter: Any
    leave: Any
    side: Any


@kernel(start=2, end=2, planes=(..., 3))
def segment_inside(start, end, planes, tolerance=0.0) -> SegmentInside:
    """Where a segment is inside of a convex polygon, {x : n·x <= c for all rows (n, c) of planes}.

        >>> square = np.array([[1, 0, 1], [0, 1, 1], [-1, 0, 0], [0, -1, 0.0]])               # 0 <= x <= 1, 0 <= y <= 1
        >>> float(segment_inside([-1.0, 0.5], [1.0, 0.5], square).enter)
        0.5

    The normals n (2,) are unit vectors that point out of the polygon, in counterclockwise order. A point is inside if
    it is so by more than the tolerance [m]; a segment whose ends are both this close to an edge runs along the edge.
    """
    along = end - start

    def cut(carry, plane):
        enter, leave, side = carry
        n = plane[:2]
        f, rise = n @ start - plane[2], n @ along
        on_edge = (np.abs(f) <= tolerance) & (np.abs(f + rise) <= tolerance)
        f = f + tolerance
        parallel = (np.abs(rise) <= 1e-300) | on_edge
        at = -f / np.where(parallel, 1.0, rise)
        outside = parallel & ~on_edge & (f > 0)
        enter = np.where(outside, 2.0, np.where(~parallel & (rise < 0), np.maximum(enter, at), enter))
        leave = np.where(~parallel & (rise > 0), np.minimum(leave, at), leave)
        # The tangent of a counterclockwise edge is (-n_y, n_x), and the polygon is on the left of it.
        left = np.where(along[1] * n[0] - along[0] * n[1] > 0, 1.0, -1.0)
        return (enter, leave, np.where(on_edge, left, side)), None

    (enter, leave, side), _ = scan(cut, (0.0, 1.0, 0.0), planes)
    return SegmentInside(enter, leave, side)


@dataclass(frozen=True, eq=False)
class ForbiddenRegion:
    """A union of convex polygons whose interior a point must not enter; `forbidden_region` makes one.

    - `polygons`: convex, counterclockwise, (k, 2) each; `owners`: the name of the obstacle of each.
    - `planes` (p, k, 3): rows (n, c) of the half-planes n·x <= c of each, filled up with rows that cut nothing.
    - `tolerance` [m]: how deep a point may be inside, for rounding: 1e-9 of the size of everything.
    """

    polygons: tuple[np.ndarray, ...]
    owners: tuple[str, ...]
    planes: np.ndarray
    tolerance: float

    def inside(self, points) -> np.ndarray:
        """Whether points (..., 2) are inside of single polygons: truth values (..., p)."""
        x = np.asarray(points, float)
        heights = np.einsum("...j,pkj->...pk", x, self.planes[..., :2]) - self.planes[..., 2]
        return heights.max(axis=-1, initial=-np.inf) < -self.tolerance

    def points_free(self, points) -> np.ndarray:
        """Whether points (..., 2) are outside of all polygons, or on their borders."""
        return np.logical_not(self.inside(points).any(axis=-1))

    def names_at(self, point) -> list[str]:
        """The names of the obstacles that a point (2,) is inside of."""
        found = self.inside(point)
        return list(dict.fromkeys(name for name, here in zip(self.owners, found, strict=True) if here))

    def segments_free(self, starts, ends) -> np.ndarray:
        """Whether no part of segments (n, 2) to (n, 2) is in the interior of the union.

        A segment may run along a border. Where it has polygons on both of its sides, such as two obstacles that touch
        each other, it is in the interior of the union: a passage of no width is closed.
        """
        starts, ends = np.broadcast_arrays(np.asarray(starts, float), np.asarray(ends, float))
        free = np.ones(len(starts), bool)
        size = max(1, _LANES // max(1, len(self.polygons)))
        for k in range(0, len(starts) if self.polygons else 0, size):
            free[k : k + size] = self._free(starts[k : k + size], ends[k : k + size])
        return free

    def _free(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        found = segment_inside(starts[:, None], ends[:, None], self.planes, self.tolerance)
        lengths = np.linalg.norm(ends - starts, axis=1)[:, None]
        part = (found.leave - found.enter) * lengths > self.tolerance
        free = ~(part & (found.side == 0)).any(axis=1)
        left, right = part & (found.side > 0), part & (found.side < 0)
        for k in np.flatnonzero(free & left.any(axis=1) & right.any(axis=1)):
            spans = [np.stack([found.enter[k, s[k]], found.leave[k, s[k]]], axis=1) for s in (left, right)]
            free[k] = _common(*spans) * lengths[k, 0] <= self.tolerance
        return free


def _common(a: np.ndarray, b: np.ndarray) -> float:
    """The longest stretch that an interval (n, 2) of each of two sets has in common."""
    low, high = np.maximum(a[:, None, 0], b[:, 0]), np.minimum(a[:, None, 1], b[:, 1])
    return float((high - low).max())


def half_planes(polygon: np.ndarray) -> np.ndarray:
    """Rows (n_x, n_y, c) of the half-planes n·x <= c of a convex counterclockwise polygon, n of length 1."""
    along = np.roll(polygon, -1, axis=0) - polygon
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    n = np.stack([along[:, 1], -along[:, 0]], axis=1)
    return np.concatenate([n, (n * polygon).sum(axis=1, keepdims=True)], axis=1)


def forbidden_region(polygons: Sequence[np.ndarray], owners: Sequence[str] | None = None) -> ForbiddenRegion:
    """The union of convex counterclockwise polygons, (k, 2) each, as `grow_obstacle` gives them.

    >>> region = forbidden_region([np.array([[1, 0], [4, 0], [4, 3], [1, 3.0]])])
    >>> region.points_free([[0, 1], [2, 1], [1, 1]]).tolist()                       # outside, inside, on the border
    [True, False, True]
    """
    solid = [np.asarray(p, float) for p in polygons]
    names = tuple(owners) if owners is not None else tuple(map(str, range(len(solid))))
    most = max((len(p) for p in solid), default=3)
    planes = np.zeros((len(solid), most, 3))
    planes[..., 2] = _FAR
    for row, p in zip(planes, solid, strict=True):
        row[: len(p)] = half_planes(p)
    size = max((float(np.abs(p).max()) for p in solid), default=1.0)
    return ForbiddenRegion(tuple(solid), names, planes, _CLOSE * size)
