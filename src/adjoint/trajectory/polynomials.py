"""Polynomials of one coordinate in time: their values and rates, their pieces, and their extremes.

A polynomial x(s) = Σ c_j s^j is the array c (order,) of its coefficients, the constant one first; s [s] is the time
since the start of its segment. All kernels are for one coordinate; n joints, segments and trajectories are their batch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, scan, static

__all__ = [
    "Extremes",
    "Order",
    "composed",
    "extremes",
    "hermite",
    "mirrored",
    "rate",
    "rate_extremes",
    "rates",
    "shifted",
    "turning_points",
]

_HALVINGS = 27  # of an interval in which a root lies: half of the bits of a number
_NEWTON_STEPS = 2  # after them: each doubles the number of right bits


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
    by = np.asarray(by)
    c = np.array(np.broadcast_to(c, (*np.broadcast_shapes(c.shape[:-1], by.shape), c.shape[-1])))
    for i in range(c.shape[-1] - 1):
        for k in reversed(range(i, c.shape[-1] - 1)):
            c[..., k] += by * c[..., k + 1]
    return c


def mirrored(c: np.ndarray, h) -> np.ndarray:
    """The coefficients of x(h - s), from c (..., order) and h (...): the polynomial run backward from s = h."""
    return shifted(c, h) * (-1.0) ** np.arange(c.shape[-1])


def composed(c: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """The coefficients of x(y(s)), from those of x, c (..., order), and of y, inner (..., m): Horner's rule.

    The degree is the product of both.
    """
    c, inner = np.asarray(c), np.asarray(inner)
    found, m = c[..., -1:], inner.shape[-1]
    for k in reversed(range(c.shape[-1] - 1)):
        batch = np.broadcast_shapes(found.shape[:-1], inner.shape[:-1])
        product = np.zeros((*batch, found.shape[-1] + m - 1))
        for j in range(m):
            product[..., j : j + found.shape[-1]] += inner[..., j : j + 1] * found
        product[..., 0] += c[..., k]
        found = product
    return found


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
    left = [goal[j] * h**j - sum(c[i] * (_FACTORIAL[i] / _FACTORIAL[i - j]) for i in range(j, m)) for j in range(m)]
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
    """The lowest and the highest value of a polynomial on its segment, and the first times s at which it has them."""

    lowest: np.ndarray
    highest: np.ndarray
    at_lowest: np.ndarray
    at_highest: np.ndarray


def _value(c, s):
    x = c[-1]
    for k in reversed(range(len(c) - 1)):
        x = x * s + c[k]
    return x


def _slope(c) -> list:
    return [k * c[k] for k in range(1, len(c))]


def _monotone_roots(c, bounds):
    """Times (m,), one between each two neighbouring `bounds` (m + 1,): the root of c, which is monotone there.

    Where c has no root between two bounds, the time is near the bound at which c is nearer to 0.
    """
    low, high = bounds[:-1], bounds[1:]
    rising, slope = _value(c, high) >= _value(c, low), _slope(c)

    def halved(carry, _):
        low, high = carry
        middle = 0.5 * (low + high)
        beyond = (_value(c, middle) > 0) == rising
        return (np.where(beyond, low, middle), np.where(beyond, middle, high)), None

    (low, high), _ = scan(halved, (low, high), length=_HALVINGS)
    s = 0.5 * (low + high)
    for _ in range(_NEWTON_STEPS):
        steep = _value(slope, s)
        s = np.clip(s - _value(c, s) / np.where(steep == 0, 1.0, steep), low, high)
    return s


def _root_times(c, h) -> list:
    """For c and each of its derivatives of degree 1 or more: times (k,) in [0, h], in order, with all roots among them.

    Between neighbouring roots of its derivative, a polynomial is monotone, and has at most one root.
    """
    if len(c) < 2:
        return []
    above = _root_times(_slope(c), h)
    if len(c) == 2:
        return [np.stack([np.clip(_ratio(-c[0], c[1]), 0.0, h)])]
    if len(c) == 3:
        return [_parabola_roots(c, h), *above]
    return [_monotone_roots(c, np.concatenate([np.stack([0.0 * h]), above[0], np.stack([h])])), *above]


def _ratio(x, y):
    """x / y, and 0 if y is 0."""
    return np.where(y == 0, 0.0, x / np.where(y == 0, 1.0, y))


def _parabola_roots(c, h):
    """Two times (2,) in [0, h], in order: the roots of c_0 + c_1 s + c_2 s², or its vertex if it has none."""
    half = -0.5 * c[1]
    root = np.sqrt(np.maximum(half * half - c[0] * c[2], 0.0))
    far = np.where(half < 0, half - root, half + root)  # of the larger modulus, without cancellation
    roots = [np.clip(_ratio(far, c[2]), 0.0, h), np.clip(_ratio(c[0], far), 0.0, h)]
    return np.stack([np.minimum(*roots), np.maximum(*roots)])


def turning_points(c, h) -> list:
    """Times in [0, h], in order, among which are all roots of the derivative of c (order,)."""
    roots = _root_times(_slope(c), h)
    return list(roots[0]) if roots else []


def _extremes_among(c, times) -> Extremes:
    """The extremes of c at some times (k,)."""
    low = high = _value(c, times[0])
    at_low = at_high = times[0]
    for s in times[1:]:
        x = _value(c, s)
        at_low, low = np.where(x < low, s, at_low), np.where(x < low, x, low)
        at_high, high = np.where(x > high, s, at_high), np.where(x > high, x, high)
    return Extremes(low, high, at_low, at_high)


@kernel(of=static, c="order")
def extremes(of: Order, c, h) -> Extremes:
    """The `Extremes` of the polynomial c (order,) on 0 <= s <= h, at its ends or at roots of its derivative.

    Values are exact to rounding errors of c: a root need only be found to half of the bits, where the slope is 0.

        >>> lowest, highest, at_lowest, at_highest = extremes(Order(3), [0.0, 1.0, -1.0], 2.0)
        >>> [float(x) for x in (lowest, at_lowest, highest, at_highest)]
        [-2.0, 2.0, 0.25, 0.5]
    """
    c = [c[k] for k in range(of.order)]
    roots = _root_times(_slope(c), h)
    return _extremes_among(c, [0.0 * h, *(roots[0] if roots else []), h])


def _rate_extremes(c, h) -> Extremes:
    """The `Extremes`, (4,) each, of the polynomial c and of its first three derivatives, on 0 <= s <= h."""
    roots, found = _root_times(_slope(c), h), []
    for k in range(4):
        turns = roots[k] if k < len(roots) else []
        found.append(_extremes_among(c, [0.0 * h, *turns, h]))
        c = _slope(c) or [0.0 * h]
    return Extremes(*(np.stack(part) for part in zip(*found, strict=True)))


@kernel(of=static, starts=(...,), lengths=(...,), counts=(...,), c=(..., "order"))
def rate_extremes(of: Order, starts, lengths, counts, c) -> Extremes:
    """The `Extremes`, (4,) each, of one coordinate and of its first three rates over all pieces.

    Piece k has the polynomial c[k], and lasts from starts[k] for the time lengths[k] [s]; it counts if counts[k] is
    not 0. Times of the extremes are those of the whole.
    """

    def with_piece(found: Extremes, piece) -> tuple[Extremes, None]:
        start, h, count, c = piece
        low, high, at_low, at_high = _rate_extremes([c[k] for k in range(of.order)], h)
        lower, higher = (low < found.lowest) & (count != 0), (high > found.highest) & (count != 0)
        return Extremes(
            np.where(lower, low, found.lowest),
            np.where(higher, high, found.highest),
            np.where(lower, start + at_low, found.at_lowest),
            np.where(higher, start + at_high, found.at_highest),
        ), None

    none = Extremes(np.full(4, np.inf), np.full(4, -np.inf), np.zeros(4), np.zeros(4))
    return Extremes(*scan(with_piece, none, (starts, lengths, counts, c))[0])
