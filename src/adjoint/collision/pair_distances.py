"""Signed distances of one pair of balls, capsules and half-spaces, with witness points, as kernels.

A capsule is a segment from a0 to a1 with a radius ra: the set of all points at most ra away from the segment. A ball is
a capsule with a0 = a1. Every function returns a `PairDistance`; the two solids move apart along its normal.

All lengths are in m. Squares of lengths must neither overflow nor vanish: float64 serves from 1e-140 to 1e150 m, and
float32 from 1e-18 to 1e18 m. What is shorter counts as a point.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel

__all__ = [
    "DistanceGradients",
    "PairDistance",
    "capsule_capsule",
    "capsule_plane",
    "capsules_apart",
    "distance_gradients",
    "sphere_sphere",
]

_ROUNDING = 1e-30  # the square of a length is 0 if it is below this part of the squares that it is a difference of


class PairDistance(NamedTuple):
    """How far two solids a and b are apart.

    The distance is signed, and below 0 it is the depth of penetration: the length of the shortest translation that
    separates the solids. In every case

        point_b - point_a = distance · normal,

    both points lie on the surfaces, and b moves away from a along the normal. Where several choices are as good,
    because solids are parallel, or concentric, the result is one of them, and the same in every call.
    """

    distance: np.ndarray
    """(...) [m]"""
    point_a: np.ndarray
    """(..., 3) on the surface of a, in the world [m]"""
    point_b: np.ndarray
    """(..., 3) on the surface of b, in the world [m]"""
    normal: np.ndarray
    """(..., 3) unit vector from a to b, in the world"""


class DistanceGradients(NamedTuple):
    """How the distance of a pair changes when one of its solids moves: see `distance_gradients`."""

    a: np.ndarray
    """(..., 6) covector (moment, force) for the spatial twist (ω, v) of a: [m/rad] and [1]"""
    b: np.ndarray
    """(..., 6) covector for the spatial twist of b"""


@kernel(point_a=3, point_b=3, normal=3)
def distance_gradients(point_a, point_b, normal) -> DistanceGradients:
    """The derivatives of a signed distance by motions of both solids: covectors (6,), angular part first.

    The points of a solid with the spatial twist (ω, v) move with v + ω × x. By the envelope theorem the witness points
    may be held in their solids, so that the distance changes at the rate

        ḋ = n · (v_b + ω_b × p_b) - n · (v_a + ω_a × p_a) = g_a · (ω_a, v_a) + g_b · (ω_b, v_b),
        g_a = -(p_a × n, n),    g_b = (p_b × n, n).

    `point_a`, `point_b`, `normal` (3,) are those of a `PairDistance`. At kinks, where several pairs of points are as
    near, g is one of the one-sided derivatives. For a robot, g · J_space(q) is the gradient by its velocities.

        >>> pair = sphere_sphere([0, 0, 0.0], 0.1, [1.0, 0, 0], 0.2)
        >>> distance_gradients(*pair[1:]).b
        array([0., 0., 0., 1., 0., 0.])
    """
    n = normal
    return DistanceGradients(
        -np.stack([*np.cross(point_a, n), n[0], n[1], n[2]]), np.stack([*np.cross(point_b, n), n[0], n[1], n[2]])
    )


# --- parts of all pairs -----------------------------------------------------------------------------------------------


def perpendicular(u):
    """A vector (3,) at right angles to u, not 0 and of any length; if u is 0, it is the z axis."""
    x_is_long = np.abs(u[0]) > np.abs(u[2])
    p = np.where(x_is_long, np.stack([-u[1], u[0], 0.0]), np.stack([0.0, -u[2], u[1]]))
    return np.where(p @ p > 0, p, np.stack([0.0, 0.0, 1.0]))


def apart(x, radius_a, y, radius_b, scale2, sideways) -> PairDistance:
    """The result for balls about x and y (3,); where x = y but for rounding, the normal is along `sideways`.

    `scale2` is the square of the lengths that x and y were made of, which tells what rounding is.
    """
    away = y - x
    d2 = away @ away
    distinct = d2 > _ROUNDING * scale2
    along = np.where(distinct, away, sideways)
    size = np.sqrt(np.where(distinct, d2, sideways @ sideways))
    normal = along * (1 / size)
    core = np.where(distinct, size, 0.0)
    return of_core(x, core, normal, radius_a, radius_b)


def of_core(x, core, normal, radius_a, radius_b=0.0) -> PairDistance:
    """The result for two solids whose cores, at x (3,) and x + core · normal, are padded by radii."""
    return PairDistance(core - radius_a - radius_b, x + radius_a * normal, x + (core - radius_b) * normal, normal)


def reciprocal_or_zero(x):
    """1 / x, or 0 if x is 0."""
    return np.where(x == 0, 0.0, 1 / np.where(x == 0, 1.0, x))


def _one_round(s, t, c, f, b, ia, ie, iw):
    """Better parameters (s, t) of the nearest points of two segments, from the slopes c = u · r and f = v · r there.

    The unbounded minimum in s is clipped, then the best t for it is; where t was clipped, s is the best for that t.
    With a convex quadratic function this is the minimum on the square (Ericson 2005, section 5.1.9).
    """
    s1 = np.clip(s - (c - b * ie * f) * iw, 0.0, 1.0)
    t1 = np.clip(t + (f + (s1 - s) * b) * ie, 0.0, 1.0)
    return np.clip(s + ((t1 - t) * b - c) * ia, 0.0, 1.0), t1


def nearest_on_segments(a0, a1, b0, b1):
    """The nearest points x, y (3,) of two segments, their directions u, v, and the square of all lengths together.

    Slopes of nearly parallel segments suffer from cancellation; a second round starts from the difference of the points
    of the first, so that distances are exact to rounding at every angle.
    """
    u, v, r = a1 - a0, b1 - b0, a0 - b0
    a, b, e = u @ u, u @ v, v @ v
    ia, ie = reciprocal_or_zero(a), reciprocal_or_zero(e)
    w = u - (b * ie) * v  # the part of u across v: accurate, where the determinant a e - b² is not
    w2 = w @ w
    iw = np.where(w2 > _ROUNDING * a, reciprocal_or_zero(w2), 0.0)
    # Parallel segments begin in the middle of a, so that the witness is near the middle of where they face each other.
    start = np.where(iw > 0, 0.0, 0.5)
    q = r + start * u
    s, t = _one_round(start, 0.0, u @ q, v @ q, b, ia, ie, iw)
    q = r + s * u - t * v
    s, t = _one_round(s, t, u @ q, v @ q, b, ia, ie, iw)
    return a0 + s * u, b0 + t * v, u, v, a + e + r @ r


# --- kernels ----------------------------------------------------------------------------------------------------------


@kernel(center_a=3, center_b=3)
def sphere_sphere(center_a, radius_a, center_b, radius_b) -> PairDistance:
    """The signed distance of two balls with centers (3,) and radii [m]: |b - a| - radius_a - radius_b.

        >>> pair = sphere_sphere([0, 0, 0.0], 0.1, [1.0, 0, 0], 0.2)
        >>> float(pair.distance.round(12)), pair.point_b
        (0.7, array([0.8, 0. , 0. ]))

    The normal of concentric balls is the z axis. See `PairDistance` for the witness points and the normal.
    """
    return apart(center_a, radius_a, center_b, radius_b, 0.0, np.stack([0.0, 0.0, 1.0]))


@kernel(a0=3, a1=3, b0=3, b1=3)
def capsule_capsule(a0, a1, ra, b0, b1, rb) -> PairDistance:
    """The signed distance of two capsules with the ends `a0`, `a1` and `b0`, `b1` (3,) and the radii `ra`, `rb` [m].

        >>> pair = capsule_capsule([-1, 0, 0.0], [1, 0, 0], 0.1, [0, -1, 0.5], [0, 1, 0.5], 0.2)
        >>> float(pair.distance.round(12)), pair.normal
        (0.2, array([0., 0., 1.]))

    It is the distance of the segments less both radii, exact in all positions, also for capsules of length 0, which are
    balls. Segments that meet are separated at right angles to both.
    """
    x, y, u, v, scale2 = nearest_on_segments(a0, a1, b0, b1)
    across = np.stack(list(np.cross(u, v)))
    u2, v2 = u @ u, v @ v
    longer = np.where(u2 >= v2, u, v)
    crossing = across @ across > _ROUNDING * u2 * v2
    return apart(x, ra, y, rb, scale2, np.where(crossing, across, perpendicular(longer)))


@kernel(a0=3, a1=3, b0=3, b1=3)
def capsules_apart(a0, a1, ra, b0, b1, rb, margin=0.0):
    """Whether two capsules are more than `margin` [m] apart, 1 or 0: the cheapest question about them.

    >>> float(capsules_apart([-1, 0, 0.0], [1, 0, 0], 0.1, [0, -1, 0.5], [0, 1, 0.5], 0.2, margin=0.25))
    0.0
    """
    x, y, *_ = nearest_on_segments(a0, a1, b0, b1)
    reach = np.maximum(ra + rb + margin, 0.0)
    return np.where((y - x) @ (y - x) > reach * reach, 1.0, 0.0)


@kernel(a0=3, a1=3, T_plane=(4, 4))
def capsule_plane(a0, a1, ra, T_plane) -> PairDistance:
    """The signed distance of a capsule and the half-space z ≤ 0 of the frame `T_plane` (4, 4).

        >>> float(capsule_plane([0, 0, 1.0], [0, 0.5, 0.3], 0.1, np.eye(4)).distance.round(12))
        0.2

    The capsule is a, with the ends `a0`, `a1` (3,) and the radius `ra` [m]; the half-space is b, and the normal points
    into it. The witness of a capsule along the plane is in its middle.
    """
    up = T_plane[:3, 2]
    h0, h1 = up @ (a0 - T_plane[:3, 3]), up @ (a1 - T_plane[:3, 3])
    t = np.where(h0 < h1, 0.0, np.where(h1 < h0, 1.0, 0.5))
    return of_core(a0 + t * (a1 - a0), np.minimum(h0, h1), -up, ra)
