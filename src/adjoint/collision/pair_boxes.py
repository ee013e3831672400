"""Signed distances of capsules and boxes, exact, with witness points, as kernels of one pair."""

from __future__ import annotations

import numpy as np

from ..compile import kernel
from .pair_distances import PairDistance, of_core, reciprocal_or_zero

__all__ = ["capsule_box", "capsule_box_apart"]

_ROUNDING = 1e-30  # as in pair_distances
_STEEP = 1e-28  # as in pair_hulls


def beyond(p, half):
    """How far a point p (3,) is outside a box about the origin along each axis (3,): 0 between its faces."""
    return p - np.clip(p, -half, half)


def nearest_parameter(p, u, half):
    """The t from 0 to 1 at which p + t u (3,) is nearest to a box about the origin with half edges `half` (3,).

    The squared distance d² = Σᵢ max(|pᵢ + t uᵢ| - hᵢ, 0)² is convex in t, and its slope is monotone and piecewise
    linear, with corners where the line crosses a plane of a face. So the slope at these at most six t, clipped to the
    segment, brackets its zero, and linear interpolation in the bracket is exact.
    """

    def slope(t):
        return u @ beyond(p + t * u, half)

    inverse = reciprocal_or_zero(u)
    first, second = np.clip((-half - p) * inverse, 0.0, 1.0), np.clip((half - p) * inverse, 0.0, 1.0)
    low, high = 0.0, 1.0
    slope_low, slope_high = slope(0.0), slope(1.0)
    ends = (slope_low, slope_high)
    for t in (*first, *second):
        g = slope(t)
        # Where the slope is 0 over a stretch, `low` becomes its end and `high` its beginning.
        rises, falls = (g <= 0) & (t >= low), (g >= 0) & (t <= high)
        low, slope_low = np.where(rises, t, low), np.where(rises, g, slope_low)
        high, slope_high = np.where(falls, t, high), np.where(falls, g, slope_high)
    rise = slope_high - slope_low
    flat = ~(rise > 0)
    inside = low - slope_low * (high - low) / np.where(flat, 1.0, rise)
    # At an end with an outward slope the minimum is the end; a stretch without slope is met in its middle.
    t = np.where(flat, 0.5 * (low + high), np.clip(inside, 0.0, 1.0))
    return np.where(ends[0] > 0, 0.0, np.where(ends[1] < 0, 1.0, t))


def penetration(p, u, half):
    """How a segment p + t u that meets a box leaves it: (depth, t, direction out of the box (3,)), the least way.

    The sum of the box and the turned segment is a zonotope, whose faces have the normals of the box and u × eᵢ. The
    depth is the least over them of h_box(n) + h_segment(n) - |n · c|, where c is the middle of the segment.
    """
    zero = 0.0 * p[0]
    middle = p + 0.5 * u
    inverse = reciprocal_or_zero(u)
    t0, t1 = (-half - p) * inverse, (half - p) * inverse
    # Where the line is between the planes of each pair of faces; a line along them is so everywhere.
    enters = np.where(u == 0, 0.0, np.clip(np.minimum(t0, t1), 0.0, 1.0))
    leaves = np.where(u == 0, 1.0, np.clip(np.maximum(t0, t1), 0.0, 1.0))
    best = None
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        side = np.where(middle[i] < 0, -1.0, 1.0)
        depth = half[i] + 0.5 * np.abs(u[i]) - np.abs(middle[i])
        first, last = np.maximum(enters[j], enters[k]), np.minimum(leaves[j], leaves[k])
        deepest = np.where(u[i] * side > 0, 0.0, np.where(u[i] * side < 0, 1.0, 0.5 * (first + last)))
        t = np.minimum(np.maximum(deepest, first), np.maximum(last, first))
        out = [zero, zero, zero]
        out[i] = side + zero
        best = _less(best, (depth, t, *out))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        across2 = u[j] * u[j] + u[k] * u[k]
        # Where u lies in the plane of a face up to rounding, the face tells the same, and where its border is.
        valid = np.minimum(u[j] * u[j], u[k] * u[k]) > _STEEP * (u @ u)
        inv2 = 1 / np.where(valid, across2, 1.0)
        inv = np.sqrt(inv2)
        nj, nk = u[k] * inv, -u[j] * inv
        side = np.where(nj * middle[j] + nk * middle[k] < 0, -1.0, 1.0)
        nj, nk = side * nj, side * nk
        depth = np.abs(nj) * half[j] + np.abs(nk) * half[k] - (nj * middle[j] + nk * middle[k])
        edge_j, edge_k = np.where(nj < 0, -half[j], half[j]), np.where(nk < 0, -half[k], half[k])
        t = np.clip(((edge_j - p[j]) * u[j] + (edge_k - p[k]) * u[k]) * inv2, 0.0, 1.0)
        out = [zero, zero, zero]
        out[j], out[k] = nj, nk
        best = _less(best, (np.where(valid, depth, np.inf), t, *out))
    assert best is not None
    return best[0], best[1], np.stack(best[2:])


def _less(best, other):
    if best is None:
        return other
    nearer = other[0] < best[0]
    return tuple(np.where(nearer, y, x) for x, y in zip(best, other, strict=True))


def in_frame(T, a0, a1):
    """The start and the direction (3,), (3,) of a segment from a0 to a1 in the frame T (4, 4)."""
    R = T[:3, :3]
    return R.T @ (a0 - T[:3, 3]), R.T @ (a1 - a0)


@kernel(a0=3, a1=3, T_box=(4, 4), half=3)
def capsule_box(a0, a1, ra, T_box, half) -> PairDistance:
    """The signed distance of a capsule and a box with half edges `half` (3,) about the origin of `T_box` (4, 4).

        >>> pair = capsule_box([0, 0, 1.0], [0, 0, 2.0], 0.1, np.eye(4), [0.5, 0.5, 0.5])
        >>> float(pair.distance.round(12)), pair.point_b
        (0.4, array([0. , 0. , 0.5]))

    The capsule is a, with the ends `a0`, `a1` (3,) and the radius `ra` [m]; a0 = a1 is a ball. The distance and the
    depth are exact: outside, the squared distance is minimised along the segment; inside, the depth is the least over
    the face normals of the zonotope that is the Minkowski sum of the box and the segment.
    """
    p, u = in_frame(T_box, a0, a1)
    t_out = nearest_parameter(p, u, half)
    away = -beyond(p + t_out * u, half)
    d2 = away @ away
    outside = d2 > _ROUNDING * (p @ p + u @ u)
    depth, t_in, out = penetration(p, u, half)
    size = np.sqrt(np.where(outside, d2, 1.0))
    normal = T_box[:3, :3] @ np.where(outside, away * (1 / size), -out)
    t = np.where(outside, t_out, t_in)
    return of_core(a0 + t * (a1 - a0), np.where(outside, size, -depth), normal, ra)


@kernel(a0=3, a1=3, T_box=(4, 4), half=3)
def capsule_box_apart(a0, a1, ra, T_box, half, margin=0.0):
    """Whether a capsule and a box are more than `margin` [m] apart, 1 or 0: cheaper than their signed distance.

        >>> float(capsule_box_apart([0, 0, 1.0], [0, 0, 2.0], 0.1, np.eye(4), [0.5, 0.5, 0.5], margin=0.3))
        1.0

    It needs ra + margin ≥ 0, for depths are not computed.
    """
    p, u = in_frame(T_box, a0, a1)
    away = beyond(p + nearest_parameter(p, u, half) * u, half)
    reach = np.maximum(ra + margin, 0.0)
    return np.where(away @ away > reach * reach, 1.0, 0.0)
