"""Signed distances of capsules and convex hulls, exact, from a table of the faces and edges of the hull.

Outside, the nearest points of a segment and a polytope are either an end of the segment and a point inside a face, or
a point of the segment and a point of an edge. Inside, the depth is the least over the face normals of the Minkowski
sum of both: the normals of the hull's faces, and u × e for those edges e that are seen in the outline along u.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, scan
from .pair_boxes import in_frame
from .pair_distances import PairDistance, nearest_on_segments, of_core, reciprocal_or_zero

__all__ = ["capsule_hull", "capsule_hull_apart"]

_ROUNDING = 1e-30  # as in pair_distances
_STEEP = 1e-28  # the square of the least angle between a segment and a plane that is no rounding


class _Outer(NamedTuple):
    """The nearest pair of points so far: the squared distance, the place on the segment, and the way to the hull."""

    d2: np.ndarray
    t: np.ndarray | float
    way: np.ndarray


class _Inner(NamedTuple):
    """The least depth so far, the place on the segment, and the normal out of the hull."""

    depth: np.ndarray
    t: np.ndarray
    normal: np.ndarray


class _Part(NamedTuple):
    """The part of the segment that is behind all planes so far."""

    enters: np.ndarray
    leaves: np.ndarray


def _better(old, new):
    """The one with the smaller first number."""
    less = new[0] < old[0]
    return type(old)(*(np.where(less, y, x) for x, y in zip(old, new, strict=True)))


def _ends_over_face(p, u, row, outer):
    """The ends of the segment over a triangle: how high they are, if their feet are in it."""
    for t, x in ((0.0, p), (1.0, p + u)):
        height, b, c = row[0:3] @ x - row[3], row[4:7] @ x - row[7], row[8:11] @ x - row[11]
        below = (height >= 0) & (b >= 0) & (c >= 0) & (b + c <= 1)
        outer = _better(outer, _Outer(np.where(below, height * height, np.inf), t, -height * row[0:3]))
    return outer


def _behind_plane(p, u, row, inner, part):
    """The depth along the normal of a face, and the part of the segment behind its plane."""
    h0, slope = row[0:3] @ p - row[3], row[0:3] @ u
    lowest = np.where(slope > 0, 0.0, np.where(slope < 0, 1.0, 0.5))
    inner = _better(inner, _Inner(-np.minimum(h0, h0 + slope), lowest, row[0:3]))
    meets = -h0 * reciprocal_or_zero(slope)
    # A segment along a plane is behind it, or not at all.
    enters = np.maximum(part.enters, np.where(slope < 0, meets, np.where((slope == 0) & (h0 > 0), np.inf, 0.0)))
    return inner, _Part(enters, np.minimum(part.leaves, np.where(slope > 0, meets, np.inf)))


def _near_edge(p, u, inverse_u2, row, outer):
    start, e = row[12:15], row[15:18]
    x, y, *_ = nearest_on_segments(p, p + u, start, start + e)
    return _better(outer, _Outer((y - x) @ (y - x), ((x - p) @ u) * inverse_u2, y - x))


def _behind_edge(p, u, row, inner):
    """The depth along u × e, if the edge is in the outline of the hull seen along u."""
    start, e, n1, n2 = row[12:15], row[15:18], row[18:21], row[21:24]
    n = np.stack(list(np.cross(u, e)))
    size2 = n @ n
    # Where u lies in the plane of a face up to rounding, the face tells the same, and where its border is.
    s1, s2 = u @ n1, u @ n2
    steep = np.minimum(s1 * s1, s2 * s2) > _STEEP * (u @ u)
    outline = steep & (s1 * s2 < 0) & (size2 > _ROUNDING * (u @ u) * (e @ e))
    n = np.where(n @ (n1 + n2) < 0, -1.0, 1.0) * n / np.sqrt(np.where(outline, size2, 1.0))
    # The segment, moved by the depth along n, meets the line of the edge at t.
    side = np.stack(list(np.cross(e, n)))
    t = np.clip(((start - p) @ side) * reciprocal_or_zero(u @ side), 0.0, 1.0)
    return _better(inner, _Inner(np.where(outline, n @ (start - p), np.inf), t, n))


def _over_its_face(p, u, rows, normal, t):
    """t, moved so that p + t u lies above the face with this very normal: it matters for segments along a face."""

    def step(carry, row):
        first, last = carry
        start, n1, n2 = row[12:15], row[18:21], row[21:24]
        one, two = np.max(np.abs(n1 - normal)) == 0, np.max(np.abs(n2 - normal)) == 0
        other = np.where(one, n2, n1)
        out = other - (other @ normal) * normal  # out of the face, across its edge
        h0, slope = out @ (p - start), out @ u
        meets = np.clip(-h0 * reciprocal_or_zero(slope), 0.0, 1.0)
        first = np.where((one | two) & (slope < 0), np.maximum(first, meets), first)
        return (first, np.where((one | two) & (slope > 0), np.minimum(last, meets), last)), None

    z = 0.0 * p[0]
    (first, last), _ = scan(step, (z, z + 1.0), rows)
    middle = np.where(t == 0.5, 0.5 * (first + last), t)
    return np.where(first <= last, np.clip(middle, first, last), t)


@kernel(a0=3, a1=3, T_hull=(4, 4), rows=(..., 24))
def capsule_hull(a0, a1, ra, T_hull, rows) -> PairDistance:
    """The signed distance of a capsule and a convex hull at `T_hull` (4, 4).

        >>> from adjoint.collision.collision_solids import ConvexHull
        >>> hull = ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
        >>> pair = capsule_hull([1, 1, 1.0], [2, 2, 2], 0.1, np.eye(4), hull.tables.rows)
        >>> float(pair.distance.round(9)), pair.point_b.round(9)
        (1.054700538, array([0.33333333, 0.33333333, 0.33333333]))

    The capsule is a, with the ends `a0`, `a1` (3,) and the radius `ra` [m]; a0 = a1 is a ball. `rows` (k, 24), of any
    length, are those of `ConvexHull.tables`. Distance and depth are exact; the cost grows with the number of rows.
    """
    p, u = in_frame(T_hull, a0, a1)
    inverse_u2 = reciprocal_or_zero(u @ u)

    def step(carry, row):
        outer, inner, part = carry
        outer = _near_edge(p, u, inverse_u2, row, _ends_over_face(p, u, row, outer))
        inner, part = _behind_plane(p, u, row, inner, part)
        return (outer, _behind_edge(p, u, row, inner), part), None

    z, zero = 0.0 * p[0], 0.0 * p
    start = (_Outer(z + np.inf, z, zero), _Inner(z + np.inf, z, zero), _Part(z, z + 1.0))
    ((d2, t_out, way), (depth, t_in, out), (enters, leaves)), _ = scan(step, start, rows)
    outside = (enters > leaves) & (d2 > _ROUNDING * (p @ p + u @ u))
    size = np.sqrt(np.where(outside, d2, 1.0))
    normal = T_hull[:3, :3] @ np.where(outside, way * (1 / size), -out)
    t = np.where(outside, t_out, _over_its_face(p, u, rows, out, t_in))
    return of_core(a0 + t * (a1 - a0), np.where(outside, size, -depth), normal, ra)


@kernel(a0=3, a1=3, T_hull=(4, 4), rows=(..., 24))
def capsule_hull_apart(a0, a1, ra, T_hull, rows, margin=0.0):
    """Whether a capsule and a convex hull are more than `margin` [m] apart, 1 or 0; see `capsule_hull`.

        >>> from adjoint.collision.collision_solids import ConvexHull
        >>> hull = ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
        >>> float(capsule_hull_apart([1, 1, 1.0], [2, 2, 2], 0.1, np.eye(4), hull.tables.rows, margin=1.0))
        1.0

    It needs ra + margin ≥ 0, for depths are not computed.
    """
    p, u = in_frame(T_hull, a0, a1)
    inverse_u2 = reciprocal_or_zero(u @ u)

    def step(carry, row):
        outer, inner, part = carry
        outer = _near_edge(p, u, inverse_u2, row, _ends_over_face(p, u, row, outer))
        return (outer, *_behind_plane(p, u, row, inner, part)), None

    z, zero = 0.0 * p[0], 0.0 * p
    start = (_Outer(z + np.inf, z, zero), _Inner(z + np.inf, z, zero), _Part(z, z + 1.0))
    ((d2, _, _), _, (enters, leaves)), _ = scan(step, start, rows)
    reach = np.maximum(ra + margin, 0.0)
    return np.where((enters > leaves) & (d2 > reach * reach), 1.0, 0.0)
