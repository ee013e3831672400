"""The fastest speed along a path under limits that are linear in u = s̈ and x = ṡ²: kernels, one lane for each path.

This is the reachability method TOPP-RA of Pham & Pham (2018), "A new approach to time-optimal path parameterization
based on reachability analysis", IEEE Trans. Robot. 34(3). In an interval of the grid, every limit bounds u by a line in
x: lower lines a + b x <= u, and upper lines u <= a + b x. The x for which some u is left are those at which all lower
lines are below all upper lines. They are an interval, whose ends Newton's method finds in a few steps, without a
solver of linear programs: the gap between the highest lower line and the lowest upper line is convex in x.

- Backward: K_i are the x from which the goal can be reached, with x + 2 Δ u in K_{i+1}.
- Forward: from the start, the largest u that leads into K_{i+1}.

Limits hold between the points of the grid, too. In an interval of length h, s̈ = u is constant, and the squared speed at
the distance s from its start is x + 2 u s. So the acceleration q' u + q'' (x + 2 u s) of a joint is a polynomial of s
whose coefficients are linear in u and x, and it stays between the least and the largest of its Bernstein coefficients:
these are what is limited.
"""

from __future__ import annotations

from functools import reduce
from math import comb
from typing import Any, NamedTuple

import numpy as np

from ...compile import kernel, scan, static, while_loop
from ..polynomials import turning_points
from .grid import Shape

__all__ = ["UNBOUNDED", "Range", "SpeedLimit", "TimeLaw", "allowed", "fastest", "speed_limit"]

_FLAT = 1e-11  # coefficients of u below this fraction of the sum of all are raised to it, so that none is zero
_ROUNDING = 1e-13  # lines that cross by less than this fraction of their values do not cross
UNBOUNDED = 1e60  # a squared speed that is no limit


class TimeLaw(NamedTuple):
    """The squared speed x at the ends of the intervals (G,), and the bounds of K at their starts (G,).

    An empty K has low > high.
    """

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Range(NamedTuple):
    """What limits allow in an interval: the largest x at its start, and at a given x the least and largest u."""

    x: np.ndarray
    least: np.ndarray
    largest: np.ndarray


# --- speeds -----------------------------------------------------------------------------------------------------------


def _value(c: list, s):
    x = c[-1]
    for own in reversed(c[:-1]):
        x = x * s + own
    return x


def _slopes(c, j: int, order: int, scale=1.0) -> list:
    """The coefficients of dq_j/ds, times `scale`, from those of q (order, n)."""
    return [k * c[k, j] * scale for k in range(1, order)]


def _acceleration_terms(p: list) -> tuple[list, list]:
    """The polynomials of s that multiply u and x in the acceleration q' u + q'' (x + 2 u s), from those of q'."""
    return [(1 + 2 * k) * p[k] for k in range(len(p))], [*(k * p[k] for k in range(1, len(p))), 0.0]


class SpeedLimit(NamedTuple):
    """Upper bounds of x at both ends of an interval, and how far a joint moves in it at most, in its own unit.

    With x at its bounds at both ends, the largest (q̇_j / limit)² between them is `excess`, or 1 if it is less.
    """

    first: np.ndarray
    last: np.ndarray
    excess: np.ndarray
    reach: np.ndarray


@kernel(of=static, c=("order", "n"), velocity="n")
def speed_limit(of: Shape, c, h, velocity) -> SpeedLimit:
    """The `SpeedLimit` of an interval of length h, from limits of the joints' velocities (n,).

    The bounds are finite even where all joints turn round: half way, x is at least half of what it is at each end.
    """
    slopes = [_slopes(c, j, of.order, 1 / velocity[j]) for j in range(of.n)]
    first = last = 1 / UNBOUNDED + 0.0 * h
    reach = 0.0 * h
    for j, p in enumerate(slopes):
        middle = 0.5 * _value(p, 0.5 * h) ** 2
        first = np.maximum(first, np.maximum(p[0] ** 2, middle))
        last = np.maximum(last, np.maximum(_value(p, h) ** 2, middle))
        reach = np.maximum(reach, h * _value([np.abs(c[k, j]) for k in range(1, of.order)], h))
    first, last = 1 / first, 1 / last
    return SpeedLimit(first, last, _speed_excess(slopes, h, first, last), reach)


def _speed_excess(slopes: list, h, x, x_end):
    """The largest q̇² in an interval whose ends have squared speeds x and `x_end`, or 1; `slopes` are those of q'.

    The speed of a joint is extreme where its acceleration is 0, or at the ends, where it is no excess.
    """
    u = (x_end - x) / (2 * h)
    worst = 1.0 + 0.0 * h
    for p in slopes:
        by_u, by_x = _acceleration_terms(p)
        speed = [0.0, *((a * u + b * x) / (k + 1) for k, (a, b) in enumerate(zip(by_u, by_x, strict=True)))]
        for s in turning_points(speed, h):
            worst = np.maximum(worst, _value(p, s) ** 2 * (x + 2 * u * s))
    return worst


# --- lines that bound u -----------------------------------------------------------------------------------------------


class _Row(NamedTuple):
    """A limit lowest <= α u + β x <= highest."""

    alpha: Any
    beta: Any
    lowest: Any
    highest: Any


def _hull(terms: list, h) -> list:
    """The Bernstein coefficients on [0, h] of a polynomial, between the least and largest of which all its values lie.

    The first and last are its values at the ends.
    """
    degree = len(terms) - 1
    scaled = [term * h**k / comb(degree, k) for k, term in enumerate(terms)]
    return [sum(comb(m, k) * scaled[k] for k in range(m + 1)) for m in range(degree + 1)]


def _acceleration_rows(of: Shape, c, h, limit) -> list[_Row]:
    """The rows for accelerations in units of their limits (n,)."""
    rows = []
    for j in range(of.n):
        by_u, by_x = _acceleration_terms(_slopes(c, j, of.order, 1 / limit[j]))
        rows += [_Row(a, b, -1.0, 1.0) for a, b in zip(_hull(by_u, h), _hull(by_x, h), strict=True)]
    return rows


def _torque_rows(of: Shape, h, terms, bounds) -> list[_Row]:
    """The rows for torques A u + B x + g, from A, B and g in `terms` (3, 3, n) and the least and largest (2, n).

    The first axis of `terms` is the start, middle and end of the interval. The parabola through these three torques
    stays between the least and largest of its three Bernstein coefficients.
    """
    rows = []
    for j in range(of.n):
        first, middle, last = (
            (A + 2 * s * B, B, g) for s, (A, B, g) in zip((0.0, 0.5 * h, h), terms[:, :, j], strict=True)
        )
        inner = [2 * m - 0.5 * (f + l) for f, m, l in zip(first, middle, last, strict=True)]
        rows += [_Row(alpha, beta, bounds[0, j] - g, bounds[1, j] - g) for alpha, beta, g in (first, inner, last)]
    return rows


def _rows(of: Shape, c, h, acceleration, terms, bounds) -> list[_Row]:
    """The rows of all limits in one interval."""
    found = [] if acceleration is None else _acceleration_rows(of, c, h, acceleration)
    return found + ([] if terms is None else _torque_rows(of, h, terms, bounds))


def _lines(rows: list[_Row]) -> tuple[list, list]:
    """The upper and lower lines (a, b) of u."""
    floor = _FLAT * sum(np.abs(row.alpha) for row in rows) + 1e-300
    upper, lower = [], []
    for alpha, beta, lowest, highest in rows:
        falls = alpha < 0
        scale = np.where(falls, -1.0, 1.0) / np.maximum(np.abs(alpha), floor)
        upper.append((np.where(falls, lowest, highest) * scale, -beta * scale))
        lower.append((np.where(falls, highest, lowest) * scale, -beta * scale))
    return upper, lower


def _extreme(lines: list, x, side: float) -> tuple:
    """The line that is lowest at x, or highest with side = -1: its a and b, and its value."""
    a, b = lines[0]
    value = a + b * x
    for a_k, b_k in lines[1:]:
        other = a_k + b_k * x
        nearer = side * other < side * value
        a, b, value = np.where(nearer, a_k, a), np.where(nearer, b_k, b), np.where(nearer, other, value)
    return a, b, value


def _nearest(lines: list, x, pick):
    """The value of the lowest of lines at x, with `np.minimum`, or of the highest."""
    return reduce(pick, (a + b * x for a, b in lines))


def _end(upper: list, lower: list, start, side: float):
    """The largest x <= start at which no lower line is above an upper one; the least x >= start with side = -1.

    If there is none, the result lies far on the other side. Each of Newton's steps goes to the crossing of the two
    lines that bound u at x.
    """

    def step(carry):
        x, _ = carry
        a, b, top = _extreme(upper, x, 1.0)
        c, d, bottom = _extreme(lower, x, -1.0)
        crossed = bottom - top > _ROUNDING * (np.abs(a) + np.abs(c) + (np.abs(b) + np.abs(d)) * x)
        turn = side * (d - b)
        crossing = np.where(turn > 0, (a - c) * side / np.where(turn > 0, turn, 1.0), -side * UNBOUNDED)
        goes = crossed & (side * crossing < side * x)
        return np.where(goes, crossing, x), np.where(goes & (np.abs(crossing) < UNBOUNDED), 1.0, 0.0)

    crosses = np.where(_nearest(lower, start, np.maximum) > _nearest(upper, start, np.minimum), 1.0, 0.0)
    return while_loop(lambda carry: carry[1] > 0, step, (start, crosses), max_iterations=4 * len(upper))[0]


_SEQUENCES: dict[str, Any] = {"local": (..., "order", "n"), "steps": (...,), "caps": (...,)}
_SEQUENCES |= {"acceleration": "n", "terms": (..., 3, 3, "n"), "bounds": (..., 2, "n")}


@kernel(of=static, **_SEQUENCES)
def fastest(of: Shape, local, steps, caps, start, goal, *, acceleration=None, terms=None, bounds=None) -> TimeLaw:
    """The `TimeLaw` from the squared speed `start` to `goal` that is fastest everywhere.

    `local` (G, order, n) and `steps` (G,) are those of a `PathGrid`, and `caps` (G,) bounds of x at starts of
    intervals. `acceleration` (n,) are limits; torques are limited with `terms` (G, 3, 3, n) and `bounds` (G, 2, n).
    """
    torque = () if terms is None else (terms, bounds)

    def lines(c, h, terms=None, bounds=None) -> tuple[list, list]:
        return _lines(_rows(of, c, h, acceleration, terms, bounds))

    def back(after, row):
        cap, h = row[0], row[2]
        upper, lower = lines(*row[1:])
        ahead = 1 / (2 * h)
        upper, lower = [*upper, (after[1] * ahead, -ahead)], [*lower, (after[0] * ahead, -ahead)]
        high = _end(upper, lower, cap, 1.0)
        low = _end(upper, lower, 0.0 * cap, -1.0)
        low = np.where(low <= high * (1 + _ROUNDING), np.minimum(low, high), low)
        return (low, high), (low, high, *after)

    def onward(x, row):
        low, high, h = row[0], row[1], row[3]
        upper, _ = lines(*row[2:])
        x = np.clip(x + 2 * h * _nearest(upper, x, np.minimum), low, high)
        return x, x

    _, (low, high, *after) = scan(back, (goal, goal), (caps, local, steps, *torque), reverse=True)
    _, x = scan(onward, start, (*after, local, steps, *torque))
    return TimeLaw(x, low, high)


@kernel(of=static, c=("order", "n"), acceleration="n", terms=(3, 3, "n"), bounds=(2, "n"))
def allowed(of: Shape, c, h, cap, x, *, acceleration=None, terms=None, bounds=None) -> Range:
    """The `Range` of an interval of length h, with c (order, n), at the squared speed x; `cap` bounds x."""
    upper, lower = _lines(_rows(of, c, h, acceleration, terms, bounds))
    return Range(_end(upper, lower, cap, 1.0), _nearest(lower, x, np.maximum), _nearest(upper, x, np.minimum))
