"""Polynomials of one coordinate in time: their values and rates, their pieces, and their extremes.

A polynomial x(s) = Σ c_j s^j is the array c (order,) of its coefficients, the constant one first; s [s] is the time
since the start of its segment. All kernels are for one coordinate; n joints, segments and trajectories are their batch.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..compile import kernel, scan, static

__all__ = ["Extremes", "Order", "extremes", "hermite", "mirrored", "rate", "rates", "shifted", "turning_points"]

_HALVINGS = 52  # of an interval in which a root lies: as many as a number has bits


class Order(NamedTuple):
    """The number of coefficients of a polynomial, one more than its degree."""

    order: int


def rates(c, s) -> tuple:
    """x, ẋ, ẍ and x⃛ (n,) each, of the polynomials c (n, order) at s: Horner's rule, differentiated."""
    x = c[:, -1]
    v, a, j = 0 * x, 0 * x, 0 * x
    for k in reversed(range(c.shape[1] - 1)):
        x, v, a, j = x * s + c[:, k], v * s + x, a * s + v, j * s + a
    return x, v, 2 * a, 6 * j


def rate(c: np.ndarray, times: int = 1) -> np.ndarray:
    """The coefficients of the derivative of polynomials c (..., order), differentiated so many `times`."""
    for _ in range(times):
        c = c[..., 1:] * np.arange(1.0, c.shape[-1]) if c.shape[-1] > 1 else 0.0 * c
    return c


def shifted(c: np.ndarray, by) -> np.ndarray:
    """The coefficients of x(s + by), from c (..., order) and `by` (...): Taylor's series, by Horner's rule."""
    c, by = np.array(c), np.asarray(by)
    for i in range(c.shape[-1] - 1):
        for k in reversed(range(i, c.shape[-1] - 1)):
            c[..., k] += by * c[..., k + 1]
    return c


def mirrored(c: np.ndarray, h) -> np.ndarray:
    """The coefficients of x(h - s), from c (..., order) and h (...): the polynomial run backward from s = h."""
    return shifted(c, h) * (-1.0) ** np.arange(c.shape[-1])


# --- between two states -----------------------------------------------------------------------------------------------

# With m conditions at each end, the last m coefficients over unit time are this matrix times what the first m leave to
# be done: E_j = x^(j)(1) - Σ_{i<m} c_i i! / (i-j)!.
_HERMITE = (
    ((3, -1), (-2, 1)),
    ((10, -4, 1 / 2), (-15, 7, -1), (6, -3, 1 / 2)),
    ((35, -15, 5 / 2, -1 / 6), (-84, 39, -7, 1 / 2), (70, -34, 13 / 2, -1 / 2), (-20, 10, -2, 1 / 6)),
)
_FACTORIAL = (1.0, 1.0, 2.0, 6.0)


class Ends(NamedTuple):
    """The number of conditions at each end of a polynomial: 2 for position and velocity, 3 with acceleration, ..."""

    m: int


@kernel(ends=static, start="m", goal="m")
def _hermite(ends: Ends, start, goal, h) -> np.ndarray:
    m = ends.m
    c = [start[j] * h**j / _FACTORIAL[j] for j in range(m)]  # over unit time
    left = [
        goal[j] * h**j - sum(c[i] * (_FACTORIAL[i] / _FACTORIAL[i - j]) for i in range(j, m)) for j in range(m)
    ]
    c += [sum(w * e for w, e in zip(row, left, strict=True)) for row in _HERMITE[m - 2]]
    return np.stack([c[j] / h**j for j in range(2 * m)])


def hermite(start, goal, h) -> np.ndarray:
    """The polynomials (..., 2 m) that go from `start` to `goal` (..., m), each (x, ẋ, ...), within the time h (...)."""
    start, goal, h = np.asarray(start, float), np.asarray(goal, float), np.asarray(h, float)
    batch = np.broadcast_shapes(start.shape[:-1], goal.shape[:-1], h.shape)
    m = start.shape[-1]
    start, goal = (np.ascontiguousarray(np.broadcast_to(x, (*batch, m))) for x in (start, goal))
    return _hermite(Ends(m), start, goal, np.ascontiguousarray(np.broadcast_to(h, batch)))


# --- extremes ---------------------------------------------------------------------------------------------------------


class Extremes(NamedTuple):
    """The lowest and the highest value of a polynomial on its segment, and the times s at which it has them."""

    lowest: np.ndarray
    highest: np.ndarray
    at_lowest: np.ndarray
    at_highest: np.ndarray


def _value(c, s):
    x = c[-1]
    for k in reversed(range(len(c) - 1)):
        x = x * s + c[k]
    return x


def _bisected(c, low, high):
    """The root of a polynomial that is monotone between `low` and `high`; one of these two if it has none there."""
    rising = _value(c, high) >= _value(c, low)

    def halved(carry, _):
        low, high = carry
        middle = 0.5 * (low + high)
        beyond = (_value(c, middle) > 0) == rising
        return (np.where(beyond, low, middle), np.where(beyond, middle, high)), None

    (low, high), _ = scan(halved, (low, high), length=_HALVINGS)
    return 0.5 * (low + high)


def _parabola_roots(c, h) -> list:
    """Two points of [0, h], in order, among which are the roots of c_0 + c_1 s + c_2 s²; its vertex if it has none."""
    half = -0.5 * c[1]
    root = np.sqrt(np.maximum(half * half - c[0] * c[2], 0.0))
    far = np.where(half < 0, half - root, half + root)  # of the larger modulus, without cancellation
    safe = [np.where(x == 0, 1.0, x) for x in (c[2], far)]
    roots = [np.clip(np.where(d == 0, 0.0, n / s), 0.0, h) for n, d, s in ((far, c[2], safe[0]), (c[0], far, safe[1]))]
    return [np.minimum(*roots), np.maximum(*roots)]


def turning_points(c, h) -> list:
    """Points of [0, h], in order, among which are all roots of the derivative of c.

    Between neighbouring turning points of the derivative, the derivative is monotone, and has at most one root.
    """
    if len(c) <= 2:
        return []
    slope = [k * c[k] for k in range(1, len(c))]
    if len(slope) == 2:
        return [np.clip(np.where(slope[1] == 0, 0.0, -slope[0] / np.where(slope[1] == 0, 1.0, slope[1])), 0.0, h)]
    if len(slope) == 3:
        return _parabola_roots(slope, h)
    bounds = [0.0 * h, *turning_points(slope, h), h]
    return [_bisected(slope, low, high) for low, high in pairwise(bounds)]


@kernel(of=static, c="order")
def extremes(of: Order, c, h) -> Extremes:
    """The `Extremes` of the polynomial c (order,) on 0 <= s <= h, at its ends or at roots of its derivative."""
    points = [0.0 * h, *turning_points([c[k] for k in range(of.order)], h), h]
    low = high = _value(c, points[0])
    at_low = at_high = points[0]
    for s in points[1:]:
        x = _value(c, s)
        at_low, low = np.where(x < low, s, at_low), np.where(x < low, x, low)
        at_high, high = np.where(x > high, s, at_high), np.where(x > high, x, high)
    return Extremes(low, high, at_low, at_high)

