"""Extremes of functions that are no polynomials, along a trajectory: dense samples, and a zoom into their tops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .polynomials import Extremes

if TYPE_CHECKING:
    from .piecewise import Trajectory

__all__ = ["dense_times", "refined_extremes"]

_DENSE = 32  # intervals of each piece between samples
_TOPS = 2  # the highest tops among the samples, of which each is looked at closer
_ZOOM = np.linspace(0.0, 1.0, 9)  # samples of the interval around a top; the next interval is a quarter of it
_MOST_ROUNDS = 24  # where a function jumps; then the interval is less than the rounding of a time
_ROUNDING = 64 * np.finfo(float).eps  # of a function's values, as a fraction of its largest
_PORTION = 2_000_000  # numbers that one call computes at most, of a batch of trajectories


def _piece_times(knots: np.ndarray) -> np.ndarray:
    """Times (..., K, N) of every piece, from its start to just before the start of the next one, where it is as well."""
    start, stop = knots[..., :-1, None], knots[..., 1:, None]
    last = np.concatenate([np.nextafter(stop[..., :-1, :], start[..., :-1, :]), stop[..., -1:, :]], axis=-2)
    s = np.linspace(0.0, 1.0, _DENSE + 1)
    return np.minimum(start + s * (stop - start), last)


def dense_times(trajectory: Trajectory) -> np.ndarray:
    """Times (..., N) [s] that are dense on every piece, among them all knots."""
    knots = trajectory.knots
    s = np.arange(_DENSE) / _DENSE
    inner = knots[..., :-1, None] + s * np.diff(knots, axis=-1)[..., None]
    return np.concatenate([inner.reshape(*knots.shape[:-1], -1), knots[..., -1:]], axis=-1)


def refined_extremes(trajectory: Trajectory, values: Callable[[Trajectory, np.ndarray], np.ndarray]) -> Extremes:
    """The `Extremes` (..., m) of `values(trajectory, t)`, which are (..., N, m) at times t (..., N), for any batch.

    The two highest and the two lowest of the samples' tops, 32 samples on each piece, are refined until rounding; a top
    narrower than their distance may be missed. All candidates of all m functions are sampled in one call per round.
    """

    def both(part: Trajectory, t: np.ndarray) -> np.ndarray:
        y = values(part, t)
        return np.concatenate([y, -y], axis=-1)

    batch = trajectory.batch
    top, at = _in_portions(trajectory, both) if batch else _peaks(trajectory, both)
    m = top.shape[-1] // 2
    return Extremes(-top[..., m:], top[..., :m], at[..., m:], at[..., :m])


def _in_portions(trajectory: Trajectory, values: Callable) -> list[np.ndarray]:
    """The peaks of a batch, of some trajectories at a time."""
    batch = trajectory.batch
    count = int(np.prod(batch))
    numbers = (_DENSE + 1) * trajectory.pieces * trajectory.nv + 2 * _TOPS * len(_ZOOM) * trajectory.nv**2
    step = max(1, _PORTION // numbers)
    places = [np.unravel_index(range(k, min(k + step, count)), batch) for k in range(0, count, step)]
    found = zip(*(_peaks(trajectory[place], values) for place in places), strict=True)
    return [np.concatenate(part).reshape(*batch, -1) for part in found]


def _peaks(trajectory: Trajectory, values: Callable) -> tuple[np.ndarray, np.ndarray]:
    """The highest values (..., m), and their times, along one trajectory, or a batch with one axis."""
    times = _piece_times(trajectory.knots)
    *batch, pieces, n = times.shape
    y = values(trajectory, times.reshape(*batch, -1)).reshape(*batch, pieces, n, -1)
    rounding = _ROUNDING * np.abs(y).max(axis=(-3, -2), initial=0.0)[..., None, :, None]
    centre, low, high = _tops(times, y)
    width, m = (high - low) / _DENSE, y.shape[-1]
    for _ in range(_MOST_ROUNDS):
        first, last = np.maximum(centre - width, low)[..., None], np.minimum(centre + width, high)[..., None]
        t = np.minimum(first + (last - first) * _ZOOM, last)  # (..., tops, m, 9)
        y = values(trajectory, t.reshape(*batch, -1)).reshape(*t.shape, m)
        y = np.diagonal(y, axis1=-3, axis2=-1).swapaxes(-1, -2)  # of function j the samples around its own tops
        centre = np.take_along_axis(t, y.argmax(axis=-1)[..., None], axis=-1)[..., 0]
        top, width = y.max(axis=-1), (last - first)[..., 0] / (len(_ZOOM) - 1)
        if np.all(np.abs(np.diff(y, 2)) <= rounding):
            break  # straight lines between the samples are as good as the function
    best = top.argmax(axis=-2)[..., None, :]
    return np.take_along_axis(top, best, axis=-2)[..., 0, :], np.take_along_axis(centre, best, axis=-2)[..., 0, :]


def _tops(times: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (..., tops, m) of the highest samples that no neighbour exceeds, and the ends of their pieces."""
    edge = np.full_like(y[..., :1, :], -np.inf)
    before, after = np.concatenate([edge, y[..., :-1, :]], axis=-2), np.concatenate([y[..., 1:, :], edge], axis=-2)
    tops = np.where((y >= before) & (y >= after), y, -np.inf)
    flat = tops.reshape(*y.shape[:-3], -1, y.shape[-1])  # (..., K N, m)
    chosen = np.argpartition(-flat, _TOPS - 1, axis=-2)[..., :_TOPS, :]

    def picked(x: np.ndarray) -> np.ndarray:
        x = np.broadcast_to(x, times.shape).reshape(*times.shape[:-2], -1, 1)
        return np.take_along_axis(np.broadcast_to(x, flat.shape), chosen, axis=-2)

    return picked(times), picked(times[..., :1]), picked(times[..., -1:])
