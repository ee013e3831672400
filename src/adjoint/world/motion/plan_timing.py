"""Paths become motions in time: corners are rounded as far as the curve stays free, then the motion is timed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from ...errors import ArgumentError, SolveError
from ...trajectory import Trajectory, quintic, s_curve, time_optimal
from .edge_checks import Checker
from .spaces import ConfigurationSpace

__all__ = ["Limits", "along", "rounded", "timed_path", "timed_through", "timed_with_stops"]

HALVINGS = 12  # a corner is rounded ever less, so many times, until the curve is free
SHARES = 4  # so many times corners are rounded at most a quarter as far, if the whole motion is not free


class Limits:
    """Limits (nv,) of the moduli of velocity, acceleration and jerk of a motion."""

    def __init__(self, velocity: np.ndarray, acceleration: np.ndarray, jerk: np.ndarray | None):
        self.velocity, self.acceleration, self.jerk = velocity, acceleration, jerk


def timed_path(checker: Checker, path: np.ndarray, limits: Limits) -> Trajectory | None:
    """The fastest motion along a free path (k, nq) of a plain robot, with rounded corners, from rest to rest, or None.

    Corners are rounded less until the whole motion is free; as a last resort it rests at each of them. Where jerk is
    limited, the curve has continuous curvature.
    """
    path = path[np.concatenate([[True], np.any(np.diff(path, axis=0) != 0, axis=1)])]
    share = 1.0
    for _ in range(SHARES):
        try:
            found = time_optimal(
                rounded(checker, path, smooth=limits.jerk is not None, share=share),
                velocity=limits.velocity, acceleration=limits.acceleration, jerk=limits.jerk, grid=60,
            )  # fmt: skip
        except (
            SolveError,
            ArgumentError,
        ):  # the curve of a very short piece seems to stand still, where jerk is limited
            break
        if checker.free(along(found, checker.resolution)).all():
            return found
        share /= 4
    found = _stopping(path, limits)
    return found if checker.free(along(found, checker.resolution)).all() else None


def along(trajectory: Trajectory, step: float) -> np.ndarray:
    """Configurations (n, nq) along a motion, at most `step` [rad, m] apart."""
    t = np.linspace(0, trajectory.duration, 257)
    speed = np.linalg.norm(trajectory(t).v, axis=-1)
    between = np.maximum(speed[:-1], speed[1:]) * 1.5 * np.diff(t) / step
    counts = np.maximum(np.ceil(between), 1).astype(np.intp)
    which = np.repeat(np.arange(len(counts)), counts)
    k = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    return trajectory(np.append(t[which] + k / counts[which] * np.diff(t)[which], t[-1])).q


def rounded(checker: Checker, path: np.ndarray, *, smooth: bool, share: float = 1.0) -> Trajectory:
    """The curve along a path (k, nq) over its length, whose corners are rounded as far as it stays free.

    About a corner q_k, between directions u and w, the direction is u + (w - u) h(x), x = 0 ... 1, over the length
    2 τ_k: with h = x the curve is a parabola, and with h = 3 x² - 2 x³ (`smooth`) its second derivative is continuous.
    The curve stays in the triangle of the corner, so joint limits hold along it if they hold along the path. At most,
    τ_k is the `share` of half the shorter piece beside the corner.
    """
    steps = np.diff(path, axis=0)
    lengths = np.sqrt(np.einsum("ki,ki->k", steps, steps))
    u = steps / lengths[:, None]
    reach = share * np.minimum(lengths[:-1], lengths[1:]) / 2
    for _ in range(HALVINGS):
        hit = _corners_hit(checker, path, u, reach, smooth)
        if not hit.any():
            break
        reach = np.where(hit, reach / 2, reach)
    return _curve(path, lengths, u, reach, smooth)


def _bend(x, smooth: bool):
    """∫ h from 0 to x."""
    return x**3 - x**4 / 2 if smooth else x * x / 2


def _corners_hit(checker: Checker, path: np.ndarray, u: np.ndarray, reach: np.ndarray, smooth: bool) -> np.ndarray:
    """Whether the curves about the inner corners (k - 2,) hit anything."""
    if not len(reach):
        return np.zeros(0, bool)
    steps = np.maximum(np.ceil(2 * reach / checker.resolution), 4).astype(np.intp)
    which = np.repeat(np.arange(len(reach)), steps)
    k = np.arange(len(which)) - np.repeat(np.cumsum(steps) - steps, steps)
    x, size = (k / steps[which])[:, None], 2 * reach[which][:, None]
    first = path[1:-1][which] - reach[which][:, None] * u[:-1][which]
    q = first + size * (x * u[:-1][which] + _bend(x, smooth) * (u[1:] - u[:-1])[which])
    hit = np.zeros(len(reach), bool)
    hit[which[~checker.free(q)]] = True
    return hit


def _curve(path, lengths, u, reach, smooth: bool) -> Trajectory:
    """The curve over its length: a line, then a bend and a line for each inner corner."""
    n, degree = path.shape[1], 4 if smooth else 2
    around = np.concatenate([[0.0], reach, [0.0]])
    pieces, sizes = [], []

    def add(start, size: float, *rates) -> None:
        if size > 1e-12 * lengths.sum():
            pieces.append(np.stack([start, *rates, *[np.zeros(n)] * (degree - len(rates))], axis=-1))
            sizes.append(size)

    for k in range(len(lengths)):
        add(path[k] + around[k] * u[k], lengths[k] - around[k] - around[k + 1], u[k])
        if k + 1 < len(lengths):
            size, turn = 2 * reach[k], u[k + 1] - u[k]
            start = path[k + 1] - reach[k] * u[k]
            zero = np.zeros(n)
            rates = (u[k], zero, turn / size**2, -turn / (2 * size**3)) if smooth else (u[k], turn / (2 * size))
            add(start, size, *rates)
    return Trajectory(np.concatenate([[0.0], np.cumsum(sizes)]), np.stack(pieces))


def _stopping(path: np.ndarray, limits: Limits) -> Trajectory:
    """The motion along straight pieces that rests at each corner."""
    jerk = limits.jerk if limits.jerk is not None else 20 * limits.acceleration
    parts = [
        s_curve(a, b, velocity=limits.velocity, acceleration=limits.acceleration, jerk=jerk) for a, b in pairwise(path)
    ]
    return parts[0].followed_by(*parts[1:])


def timed_with_stops(space: ConfigurationSpace, path: np.ndarray, limits: Limits) -> Trajectory:
    """The motion along a path (k, nq) that rests at each waypoint, for robots with joints of several freedoms.

    With s from 0 to 1 by a polynomial of degree 5 in the time T, the largest ṡ is 15 / 8 T, the largest s̈ is
    10 / (√3 T²), and the largest jerk 60 / T³.
    """
    parts = []
    for a, b in pairwise(path[np.concatenate([[True], space.lengths(path) > 0])]):
        v = np.abs(space.difference(a, b))
        T = max(
            float(np.max(15 / 8 * v / limits.velocity)), float(np.max(10 / 3**0.5 * v / limits.acceleration)) ** 0.5
        )
        if limits.jerk is not None:
            T = max(T, float(np.max(60 * v / limits.jerk)) ** (1 / 3))
        parts.append(quintic(a, b, T * (1 + 1e-9), robot=space.robot))
    return parts[0].followed_by(*parts[1:])


def timed_through(
    checker: Checker, path: np.ndarray, limits: Limits, good: Callable[[np.ndarray], np.ndarray], refined: Callable
) -> Trajectory | None:
    """The fastest motion along a spline through the points of a path, whose every point is `good`, or None.

    `good` takes q (n, nq) and gives n truth values. While the spline is not good, `refined` gives a path with more
    points.
    """
    for _ in range(6):
        found = time_optimal(
            path, velocity=limits.velocity, acceleration=limits.acceleration, jerk=limits.jerk, parameters="chord",
            grid=60,
        )  # fmt: skip
        if good(along(found, checker.resolution)).all():
            return found
        path = refined(path)
    return None
