"""Capsules about given axes around points, as kernels: one lane for each axis that a search tries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, scan, while_loop

__all__ = ["AxisCapsule", "axis_capsule", "hull_gap", "side_capsule"]

_ROUNDS = 80  # directions in which two hulls are looked at
_STEPS = 10  # towards the middle of the points that are seen along an axis
_WIDER = (1.0, 1.015, 1.04, 1.08, 1.14, 1.22, 1.35)  # radii, in parts of the least one about an axis


class AxisCapsule(NamedTuple):
    """The capsule of least volume about an axis among those with some radii."""

    volume: np.ndarray
    radius: np.ndarray
    start: np.ndarray  # (3,), at the lower end along the axis
    end: np.ndarray


@kernel(points=(..., 3), axis=3, centre=3)
def axis_capsule(points, axis, centre) -> AxisCapsule:
    """The least capsule about the line along the unit vector `axis` through `centre` around points (n, 3).

    For a radius r, points at t along the axis and ρ from it are inside if the ends of its segment are at most
    min(t + √(r² - ρ²)) and at least max(t - √(r² - ρ²)); r is one of some multiples of max ρ.
    """
    return _capsule(points, axis, centre, np.zeros(3), -1.0)


@kernel(points=(..., 3), axis=3, normal=3)
def side_capsule(points, axis, normal, offset) -> AxisCapsule:
    """A small capsule along the unit vector `axis` around the points (n, 3) with normal · x >= offset.

    Its axis goes near the middle of the points as they are seen along it, found by steps towards the farthest of them
    as in Bădoiu & Clarkson (2003). Without any point, the volume is 0.
    """

    def middle(carry, x):
        total, count = carry
        inside = np.where(normal @ x >= offset, 1.0, 0.0)
        return (total + inside * x, count + inside), None

    (total, count), _ = scan(middle, (np.zeros(3), 0.0), points)
    centre = total / np.maximum(count, 1.0)

    def towards(centre, k):
        def farthest(carry, x):
            most, far = carry
            off = _off(x - centre, axis)
            size = off @ off
            further = (size > most) & (normal @ x >= offset)
            return (np.where(further, size, most), np.where(further, off, far)), None

        (_, far), _ = scan(farthest, (0.0, np.zeros(3)), points)
        return centre + far / (k + 2), None

    centre, _ = scan(towards, centre, np.arange(float(_STEPS)))
    found = _capsule(points, axis, centre, normal, offset)
    return AxisCapsule(np.where(count > 0, found.volume, 0.0), found.radius, found.start, found.end)


def _off(x, axis):
    return x - (x @ axis) * axis


def _capsule(points, axis, centre, normal, offset) -> AxisCapsule:
    def widest(most, x):
        off = _off(x - centre, axis)
        return np.where(normal @ x >= offset, np.maximum(most, off @ off), most), None

    square, _ = scan(widest, 0.0, points)
    radii = np.sqrt(square) * np.array(_WIDER)

    def ends(carry, x):
        low, high = carry
        along, off = (x - centre) @ axis, _off(x - centre, axis)
        reach = np.sqrt(np.maximum(radii * radii - off @ off, 0.0))
        inside = normal @ x >= offset
        low = np.where(inside, np.minimum(low, along + reach), low)
        return (low, np.where(inside, np.maximum(high, along - reach), high)), None

    huge = np.full(len(_WIDER), 1e300)
    (low, high), _ = scan(ends, (huge, -huge), points)
    volumes = np.pi * radii * radii * (np.maximum(high - low, 0.0) + 4 / 3 * radii)
    volume, radius, first, last = volumes[0], radii[0], low[0], high[0]
    for k in range(1, len(_WIDER)):
        smaller = volumes[k] < volume
        volume, radius = np.where(smaller, volumes[k], volume), np.where(smaller, radii[k], radius)
        first, last = np.where(smaller, low[k], first), np.where(smaller, high[k], last)
    # If the lower end comes after the upper one, any point between them is the centre of a ball around all.
    swapped = (first + last) / 2
    start, end = np.where(first > last, swapped, first), np.where(first > last, swapped, last)
    return AxisCapsule(volume, radius, centre + start * axis, centre + end * axis)


# --- gaps between hulls -----------------------------------------------------------------------------------------------


@kernel(points_a=(..., 3), points_b=(..., 3), T_ab=(4, 4))
def hull_gap(points_a, points_b, T_ab, enough):
    """A lower bound of the distance between the convex hulls of points, those of b at T_ab in the frame of a [m].

    It is the largest gap between parallel planes that was found, negative if there was none, at once if it is larger
    than `enough`. The directions are those of Gilbert's algorithm (1966): the point x of the Minkowski difference a - b
    that is nearest to 0 so far gives a direction, in which the support point s of a - b is found; the next x is the
    point nearest to 0 in the triangle of x, s, and the support point before. A bound above 0 proves that hulls do not
    touch; a bound below 0 proves nothing.
    """
    R, p = T_ab[:3, :3], T_ab[:3, 3]

    def support(n):
        """The point of a - b that is least along n."""
        m = -(R.T @ n)
        (_, a), _ = scan(lambda carry, y: _lowest(n, carry, y), (1e300, np.zeros(3)), points_a)
        (_, b), _ = scan(lambda carry, y: _lowest(m, carry, y), (1e300, np.zeros(3)), points_b)
        return a - (R @ b + p)

    first = support(np.stack([1.0, 0.0, 0.0]))

    def goes_on(state):
        x, _, gap = state
        return (gap <= enough) & (x @ x > 1e-24)

    def step(state):
        x, before, gap = state
        n = x / np.sqrt(x @ x)
        s = support(n)
        gap = np.maximum(gap, n @ s)
        return _nearest_in_triangle(x, s, before), s, gap

    return while_loop(goes_on, step, (first, first, -1e300), max_iterations=_ROUNDS)[2]


def _lowest(n, carry, y):
    least, best = carry
    value = n @ y
    return (np.minimum(least, value), np.where(value < least, y, best)), None


def _nearest_in_triangle(a, b, c):
    """The point of a triangle that is nearest to 0."""
    best = _nearest_on_edge(a, b)
    for edge in ((a, c), (b, c)):
        x = _nearest_on_edge(*edge)
        best = np.where(x @ x < best @ best, x, best)
    n = np.stack(list(np.cross(b - a, c - a)))
    size = n @ n
    foot = n * ((n @ a) / np.where(size > 0, size, 1.0))
    sides = [n @ np.stack(list(np.cross(y - x, foot - x))) for x, y in ((a, b), (b, c), (c, a))]
    inside = (sides[0] > 0) & (sides[1] > 0) & (sides[2] > 0) & (size > 0)
    return np.where(inside, foot, best)


def _nearest_on_edge(a, b):
    u = b - a
    size = u @ u
    t = np.clip(-(a @ u) / np.where(size > 0, size, 1.0), 0.0, 1.0)
    return a + t * u
