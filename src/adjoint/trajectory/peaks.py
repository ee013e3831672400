"""Extremes of functions that are no polynomials, along a trajectory: dense samples, and a zoom into their tops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from .polynomials import Extremes

if TYPE_CHECKING:
    from .piecewise import Trajectory

__all__ = ["dense_times", "piece_times", "refined_extremes", "refined_tops"]

_DENSE = 32  # intervals of each piece between samples, at least; ...
_MOST_DENSE = 1024
_FEWEST = 256  # intervals of a whole trajectory, for those who draw it
_TURN = 0.2  # [rad] ... more where all joints together turn by more than this in one of them. Torques are sums of sines
# of sums of twice all angles at most: there are 16 samples in the shortest period.
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
    """Times (..., N) [s] that are dense on every piece, among them all knots: 256 or more in all."""
    knots, intervals = trajectory.knots, max(_DENSE, -(-_FEWEST // trajectory.pieces))
    s = np.arange(intervals) / intervals
    inner = knots[..., :-1, None] + s * np.diff(knots, axis=-1)[..., None]
    return np.concatenate([inner.reshape(*knots.shape[:-1], intervals * trajectory.pieces), knots[..., -1:]], axis=-1)


def refined_extremes(trajectory: Trajectory, values: Callable[[Trajectory, np.ndarray], np.ndarray]) -> Extremes:
    """The `Extremes` (..., m) of `values(trajectory, t)`, by `refined_tops` of the values and of their negatives."""

    def both(part: Trajectory, t: np.ndarray) -> np.ndarray:
        y = values(part, t)
        return np.concatenate([y, -y], axis=-1)

    top, at = refined_tops(trajectory, both)
    m = top.shape[-1] // 2
    return Extremes(-top[..., m:], top[..., :m], at[..., m:], at[..., :m])


def refined_tops(
    trajectory: Trajectory, values: Callable[[Trajectory, np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The highest of `values(trajectory, t)`, which are (..., N, m) at times t (..., N), and when: (..., m) each.

    Three tops of the samples are refined until rounding. Each piece has 32 intervals between samples, or more, up to
    1024, so that all joints together turn by 0.2 rad in one of them on average; a top that is narrower than such an
    interval may be missed. Where a function jumps, as dry friction does, it is looked at within 1e-10 of the piece's
    duration beside the jump. All candidates of all functions are sampled in one call per round.
    """
    several = _as_list(trajectory)
    found = [(rows, *_peaks(several[rows], values, intervals)) for rows, intervals in _portions(several)]
    rows, top, at = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.argsort(rows)
    return tuple(x[order].reshape(*trajectory.batch, x.shape[-1]) for x in (top, at))  # type: ignore[return-value]


def _portions(several: Trajectory) -> Iterator[tuple[np.ndarray, int]]:
    """Numbers of trajectories that are looked at together, and how many intervals each of their pieces has."""
    zooms, pieces = 2 * _TOPS * len(_ZOOM) * several.nv**2, several.pieces * several.nv
    step = max(1, _PORTION // ((_DENSE + 1) * pieces + zooms))
    for k in range(0, max(1, len(several)), step):
        rows = np.arange(k, min(k + step, len(several)))
        needed = _intervals(several[rows])
        for intervals in np.unique(needed) if len(rows) else [_DENSE]:
            alike = rows[needed == intervals]
            most = max(1, _PORTION // ((intervals + 1) * pieces + zooms))
            yield from ((alike[i : i + most], int(intervals)) for i in range(0, max(1, len(alike)), most))


def _intervals(several: Trajectory) -> np.ndarray:
    """How many intervals between samples the pieces of each trajectory (B,) need: 32 times a power of 2."""
    times = piece_times(several.knots)
    speed = np.abs(_sampled(lambda part, t: part(t).v, several, times)).sum(axis=-1)
    turned = (speed.mean(axis=-1) * (times[..., -1] - times[..., 0])).max(axis=-1)
    return _DENSE * 2 ** np.ceil(np.log2(np.clip(turned / (_TURN * _DENSE), 1, _MOST_DENSE / _DENSE))).astype(int)


def _as_list(trajectory: Trajectory) -> Trajectory:
    """The same trajectories as a batch with one axis."""
    if not trajectory.batch:
        anchors = None if trajectory.anchors is None else trajectory.anchors[None]
        return replace(
            trajectory, knots=trajectory.knots[None], coefficients=trajectory.coefficients[None], anchors=anchors
        )
    return trajectory[np.unravel_index(np.arange(np.prod(trajectory.batch, dtype=int)), trajectory.batch)]


def _sampled(values: Callable, several: Trajectory, t: np.ndarray) -> np.ndarray:
    """The values (B, ..., m) at times t (B, ...) of a batch (B,) of trajectories."""
    y = values(several, t.reshape(len(t), prod(t.shape[1:])))
    return y.reshape(*t.shape, y.shape[-1])


def _peaks(trajectory: Trajectory, values: Callable, intervals: int) -> tuple[np.ndarray, np.ndarray]:
    """The highest values (B, m), and their times, along each of a batch (B,) of trajectories."""
    times = piece_times(trajectory.knots, intervals)
    y = _sampled(values, trajectory, times)
    rounding = _ROUNDING * np.abs(y).max(axis=(1, 2))[:, None, :, None]
    top, centre, low, high = _tops(times, y)
    width, left = (high - low) / intervals, np.arange(len(times))
    for _ in range(_MOST_ROUNDS):  # those that are `left` are not yet exact
        first = np.maximum(centre - width, low)[left, ..., None]
        last = np.minimum(centre + width, high)[left, ..., None]
        t = np.minimum(first + (last - first) * _ZOOM, last)  # (B, tops, m, 9)
        y = _sampled(values, trajectory[left], t)
        y = np.diagonal(y, axis1=2, axis2=4).swapaxes(2, 3)  # of function j the samples around its own tops
        at, found = np.take_along_axis(t, y.argmax(axis=-1)[..., None], axis=-1)[..., 0], y.max(axis=-1)
        centre[left] = np.where(found >= top[left], at, centre[left])
        top[left], width[left] = np.maximum(found, top[left]), (last - first)[..., 0] / (len(_ZOOM) - 1)
        curved = np.abs(np.diff(y, 2)) > rounding[left]  # else straight lines between samples are as good
        left = left[curved.any(axis=(1, 2, 3))]
        if not len(left):
            break
    best = top.argmax(axis=1)[:, None]
    return np.take_along_axis(top, best, axis=1)[:, 0], np.take_along_axis(centre, best, axis=1)[:, 0]


def _tops(times: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Values and times (..., tops, m) of samples that no neighbour exceeds, and the ends of their pieces.

    They are the highest sample, and those with the highest parabola through them and their neighbours, if they are
    inside a piece. Where a function jumps, a parabola is far too high, but bends of the samples next to it are not.
    """
    step = np.diff(y, axis=-2)
    rise, fall, bend = step[..., :-1, :], -step[..., 1:, :], np.maximum(-np.diff(step, axis=-2), 0.0)
    none = np.zeros_like(bend[..., :1, :])
    beside = np.maximum(np.concatenate([none, bend[..., :-1, :]], -2), np.concatenate([bend[..., 1:, :], none], -2))
    above = np.minimum((rise - fall) ** 2 / (8 * np.where(bend > 0, bend, 1.0)), beside / 8)
    inner = np.where((rise >= 0) & (fall >= 0), y[..., 1:-1, :] + above, -np.inf)
    first = np.where(y[..., :1, :] >= y[..., 1:2, :], y[..., :1, :], -np.inf)
    last = np.where(y[..., -1:, :] >= y[..., -2:-1, :], y[..., -1:, :], -np.inf)
    y = y.reshape(*y.shape[:-3], prod(y.shape[-3:-1]), y.shape[-1])  # (..., K N, m)
    flat = np.concatenate([first, inner, last], axis=-2).reshape(y.shape)
    np.put_along_axis(flat, y.argmax(axis=-2)[..., None, :], np.inf, axis=-2)
    chosen = np.argpartition(-flat, _TOPS - 1, axis=-2)[..., :_TOPS, :]

    def picked(x: np.ndarray) -> np.ndarray:
        x = np.broadcast_to(x, times.shape).reshape(*flat.shape[:-1], 1)
        return np.take_along_axis(np.broadcast_to(x, flat.shape), chosen, axis=-2)

    tops = np.take_along_axis(y, chosen, axis=-2)
    return tops, picked(times), picked(times[..., :1]), picked(times[..., -1:])
