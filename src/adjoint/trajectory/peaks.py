"""Extremes of functions that are no polynomials, along a trajectory: dense samples, and a zoom into their tops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .polynomials import Extremes

if TYPE_CHECKING:
    from .piecewise import Trajectory

__all__ = ["dense_times", "piece_times", "refined_extremes"]

_DENSE = 32  # intervals of each piece between samples
_TOPS = 3  # the highest tops among the samples, of which each is looked at closer
_ZOOM = np.linspace(0.0, 1.0, 9)  # samples of the interval around a top; the next interval is a quarter of it
_MOST_ROUNDS = 14  # where a function jumps: it is sampled within 1e-10 of a piece's duration beside the jump
_ROUNDING = 64 * np.finfo(float).eps  # of a function's values, as a fraction of its largest
_PORTION = 2_000_000  # numbers that one call computes at most, of a batch of trajectories


def piece_times(knots: np.ndarray, intervals: int = _DENSE) -> np.ndarray:
    """Times (..., K, intervals + 1) [s] of every piece, from its start to just before the next one starts."""
    start, stop = knots[..., :-1, None], knots[..., 1:, None]
    last = np.concatenate([np.nextafter(stop[..., :-1, :], start[..., :-1, :]), stop[..., -1:, :]], axis=-2)
    return np.minimum(start + np.linspace(0.0, 1.0, intervals + 1) * (stop - start), last)


def dense_times(trajectory: Trajectory) -> np.ndarray:
    """Times (..., N) [s] that are dense on every piece, among them all knots."""
    knots = trajectory.knots
    s = np.arange(_DENSE) / _DENSE
    inner = knots[..., :-1, None] + s * np.diff(knots, axis=-1)[..., None]
    return np.concatenate([inner.reshape(*knots.shape[:-1], -1), knots[..., -1:]], axis=-1)


def refined_extremes(trajectory: Trajectory, values: Callable[[Trajectory, np.ndarray], np.ndarray]) -> Extremes:
    """The `Extremes` (..., m) of `values(trajectory, t)`, which are (..., N, m) at times t (..., N), for any batch.

    Three tops and three bottoms of the samples, 32 on each piece, are refined until rounding; a top that is narrower
    than their distance may be missed. Where a function jumps, as dry friction does, it is looked at within
    1e-10 of the piece's duration beside the jump. All candidates of all functions are sampled in one call per round.
    """

    def both(part: Trajectory, t: np.ndarray) -> np.ndarray:
        y = values(part, t)
        return np.concatenate([y, -y], axis=-1)

    batch, several = trajectory.batch, _as_list(trajectory)
    numbers = (_DENSE + 1) * trajectory.pieces * trajectory.nv + 2 * _TOPS * len(_ZOOM) * trajectory.nv**2
    step = max(1, _PORTION // numbers)
    found = [_peaks(several[k : k + step], both) for k in range(0, len(several), step)]
    top, at = (np.concatenate(part).reshape(*batch, -1) for part in zip(*found, strict=True))
    m = top.shape[-1] // 2
    return Extremes(-top[..., m:], top[..., :m], at[..., m:], at[..., :m])


def _as_list(trajectory: Trajectory) -> Trajectory:
    """The same trajectories as a batch with one axis."""
    if not trajectory.batch:
        anchors = None if trajectory.anchors is None else trajectory.anchors[None]
        return replace(
            trajectory, knots=trajectory.knots[None], coefficients=trajectory.coefficients[None], anchors=anchors
        )
    return trajectory[np.unravel_index(np.arange(np.prod(trajectory.batch, dtype=int)), trajectory.batch)]


def _peaks(trajectory: Trajectory, values: Callable) -> tuple[np.ndarray, np.ndarray]:
    """The highest values (B, m), and their times, along each of a batch (B,) of trajectories."""
    times = piece_times(trajectory.knots)
    y = values(trajectory, times.reshape(len(times), -1)).reshape(*times.shape, -1)
    rounding = _ROUNDING * np.abs(y).max(axis=(1, 2))[:, None, :, None]
    centre, low, high = _tops(times, y)
    width, top, left = (high - low) / _DENSE, np.empty_like(centre), np.arange(len(times))
    for _ in range(_MOST_ROUNDS):  # those that are `left` are not yet exact
        first = np.maximum(centre - width, low)[left, ..., None]
        last = np.minimum(centre + width, high)[left, ..., None]
        t = np.minimum(first + (last - first) * _ZOOM, last)  # (B, tops, m, 9)
        y = values(trajectory[left], t.reshape(len(t), -1)).reshape(*t.shape, -1)
        y = np.diagonal(y, axis1=2, axis2=4).swapaxes(2, 3)  # of function j the samples around its own tops
        centre[left] = np.take_along_axis(t, y.argmax(axis=-1)[..., None], axis=-1)[..., 0]
        top[left], width[left] = y.max(axis=-1), (last - first)[..., 0] / (len(_ZOOM) - 1)
        curved = np.abs(np.diff(y, 2)) > rounding[left]  # else straight lines between samples are as good
        left = left[curved.any(axis=(1, 2, 3))]
        if not len(left):
            break
    best = top.argmax(axis=1)[:, None]
    return np.take_along_axis(top, best, axis=1)[:, 0], np.take_along_axis(centre, best, axis=1)[:, 0]


def _tops(times: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (..., tops, m) of samples that no neighbour exceeds, and the ends of their pieces.

    They are those with the highest parabola through them and their neighbours, of samples inside a piece.
    """
    rise, fall = np.diff(y, axis=-2)[..., :-1, :], -np.diff(y, axis=-2)[..., 1:, :]
    bend = rise + fall
    above = (rise - fall) ** 2 / (8 * np.where(bend > 0, bend, 1.0))
    inner = np.where((rise >= 0) & (fall >= 0), y[..., 1:-1, :] + above, -np.inf)
    first = np.where(y[..., :1, :] >= y[..., 1:2, :], y[..., :1, :], -np.inf)
    last = np.where(y[..., -1:, :] >= y[..., -2:-1, :], y[..., -1:, :], -np.inf)
    flat = np.concatenate([first, inner, last], axis=-2).reshape(*y.shape[:-3], -1, y.shape[-1])  # (..., K N, m)
    chosen = np.argpartition(-flat, _TOPS - 1, axis=-2)[..., :_TOPS, :]

    def picked(x: np.ndarray) -> np.ndarray:
        x = np.broadcast_to(x, times.shape).reshape(*times.shape[:-2], -1, 1)
        return np.take_along_axis(np.broadcast_to(x, flat.shape), chosen, axis=-2)

    return picked(times), picked(times[..., :1]), picked(times[..., -1:])
