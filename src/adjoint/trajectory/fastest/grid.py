"""A path q(s) on a grid of its parameter s, and its pieces in time once the path's speed on the grid is known.

The grid has equally many intervals in each piece of the path, so that q(s) is one polynomial in every interval. With
the square x = ṡ² of the speed at both ends of an interval, the speed grows evenly in time there: s̈ = u is constant,
s(t) is a parabola, and q(s(t)) has twice the degree of the path.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from ...compile import Kernel, kernel, static
from ...model.robot import Robot
from ..piecewise import Trajectory, pieced

__all__ = ["PathGrid", "Shape", "bound", "of_pieces", "of_waypoints", "timed"]


class PathGrid(NamedTuple):
    """A path on a grid of G intervals, or a batch of paths."""

    s: np.ndarray  # (..., G + 1) the parameter at the grid points
    steps: np.ndarray  # (..., G) lengths of the intervals
    local: np.ndarray  # (..., G, order, n) coefficients of q, by powers of s from the start of the interval


# --- the grid ---------------------------------------------------------------------------------------------------------


def _shifts(by: np.ndarray, order: int) -> np.ndarray:
    """The matrices (..., order, order) from the coefficients of q(s) to those of q(s + by), with `by` (...): Taylor."""
    powers = by[..., None] ** np.arange(order)
    rows = [
        [comb(k, i) * powers[..., k - i] if k >= i else np.zeros_like(by) for k in range(order)] for i in range(order)
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def _refined(knots: np.ndarray, grid: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The grid points, steps, and distances (..., K, within) from the knots, of at least `grid` intervals."""
    within = -(-grid // (knots.shape[-1] - 1))
    spans = np.diff(knots, axis=-1)
    by = spans[..., None] * (np.arange(within) / within)
    starts = (knots[..., :-1, None] + by).reshape(*knots.shape[:-1], -1)
    return np.concatenate([starts, knots[..., -1:]], axis=-1), np.repeat(spans / within, within, axis=-1), by


def of_pieces(knots: np.ndarray, coefficients: np.ndarray, grid: int) -> PathGrid:
    """The `PathGrid` of pieces (..., K, n, order) between knots (..., K + 1), of `grid` intervals or a few more."""
    n, order = coefficients.shape[-2:]
    s, steps, by = _refined(knots, grid)
    shifts = _shifts(by, order).reshape(*by.shape[:-1], -1, order)
    local = shifts @ np.ascontiguousarray(coefficients.swapaxes(-1, -2))
    return PathGrid(s, steps, local.reshape(*local.shape[:-3], -1, order, n))


@lru_cache(maxsize=64)
def _waypoint_map(parameters: tuple[float, ...], grid: int) -> PathGrid:
    """The grid of the cubic spline, with the matrix (4 G, N) from waypoints to coefficients in `local`."""
    each = CubicSpline(parameters, np.eye(len(parameters))).c[::-1]  # (order, K, N); fewer points have a lower degree
    each = np.pad(each, ((0, 4 - len(each)), (0, 0), (0, 0)))
    found = of_pieces(np.array(parameters), each.transpose(1, 2, 0), grid)
    return found._replace(local=np.ascontiguousarray(found.local.reshape(-1, len(parameters))))


def of_waypoints(parameters: tuple[float, ...], waypoints: np.ndarray, grid: int) -> PathGrid:
    """The `PathGrid` of the cubic spline through waypoints (..., N, n); its first and last inner ones are no knots."""
    found = _waypoint_map(parameters, grid)
    local = found.local @ np.ascontiguousarray(waypoints)
    return found._replace(local=local.reshape(*waypoints.shape[:-2], -1, 4, waypoints.shape[-1]))


# --- pieces in time ---------------------------------------------------------------------------------------------------


class Shape(NamedTuple):
    """The number n of joints of a path, and the order of its polynomials: their degree plus one."""

    n: int
    order: int


def _in_time(c: list, speed, u):
    """The coefficients (2 order - 1,) of q(speed · t + u t² / 2), by powers of t: Horner's rule for polynomials."""
    found = [c[-1]]
    for own in reversed(c[:-1]):
        once = [0.0, *(speed * x for x in found), 0.0]
        twice = [0.0, 0.0, *(0.5 * u * x for x in found)]
        found = [a + b for a, b in zip(once, twice, strict=True)]
        found[0] = own
    return np.stack(found)


class _Interval(NamedTuple):
    """The duration of an interval [s], and the coefficients (n, 2 order - 1) of q in time."""

    duration: np.ndarray
    coefficients: np.ndarray


@kernel(of=static, c=("order", "n"))
def _timed(of: Shape, c, h, x, x_end) -> _Interval:
    """The `_Interval` of length h between the squared speeds x and `x_end`."""
    speed, u = np.sqrt(x), (x_end - x) / (2 * h)
    rows = [_in_time([c[k, j] for k in range(of.order)], speed, u) for j in range(of.n)]
    return _Interval(2 * h / (speed + np.sqrt(x_end)), np.stack(rows))


@lru_cache(maxsize=64)
def bound(function: Kernel, of: NamedTuple) -> Kernel:
    """The kernel for paths of one shape; to look it up here is faster than to call the kernel with the shape."""
    return function.bind(of)


def timed(grid: PathGrid, x: np.ndarray, robot: Robot | None) -> Trajectory:
    """The trajectory along the path whose squared speeds at the grid points are x (..., G + 1)."""
    order, n = grid.local.shape[-2:]
    found = bound(_timed, Shape(n, order))(grid.local, grid.steps, x[..., :-1], x[..., 1:])
    return pieced(robot, found.duration, found.coefficients)
