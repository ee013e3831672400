"""`smoothing_spline`: cubic splines that pass near their knots, and bend less for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solveh_banded

from ..errors import ArgumentError, SolveError
from ..model.input_checks import floats
from ..model.robot import Robot
from .checks import common_batch, end_rates, knot_positions, plain_joints, spans
from .joint_splines import spline
from .piecewise import Trajectory

__all__ = ["smoothing_spline"]

_HIDDEN = 1e-2  # relative errors of the spline's bends by rounding, at most
_HALVINGS = 50  # of the interval, in powers of 10, in which the largest smoothness lies


def smoothing_spline(
    knots, times=None, *, durations=None, tolerance=None, smoothness=None, weights=None, start_velocity=0.0,
    goal_velocity=0.0, robot: Robot | None = None,
) -> Trajectory:  # fmt: skip
    """The cubic spline near knots y (..., N, n), of times (..., N) [s], with the least Σ w (x - y)² + λ ∫ ẍ² dt.

        >>> noise = 0.01 * np.random.default_rng(0).normal(size=(50, 1))
        >>> t = np.linspace(0, 1, 50)
        >>> smooth = smoothing_spline(t[:, None] ** 2 + noise, t, tolerance=0.03, goal_velocity=2.0)
        >>> bool(np.abs(smooth(0.5).a - 2.0) < 0.5)                               # an interpolating spline has hundreds
        True

    Parameters
    ----------
    knots, times, durations
        As in `spline`: configurations (..., N, n), N >= 3, and their times (..., N) or the durations between them.
    tolerance
        The spline is as smooth as it can be without being further from any knot than this [rad or m]: one number or
        (n,). Halving of log λ finds, for each joint of each trajectory, a λ at which the largest distance just reaches
        it; where it stays below, λ is 1e6 T³, with the whole duration T, or what rounding errors allow. As the distance
        of one knot may fall where λ grows, a larger λ may keep the tolerance, too.
    smoothness
        Or λ itself [s³, with weights 1]: one finite number or (n,); 0 interpolates. A `SolveError` says if it is too
        large in relation to the times between knots, so that rounding errors hide the bends.
    weights
        w > 0, (N,); infinity makes the spline pass through the knot. By default 1, and infinity at both ends.
    start_velocity, goal_velocity
        Velocities at both ends, (..., n) or one number for all joints.
    robot
        The robot whose joints move, if they have one degree of freedom each.

    The accelerations ω at the knots solve (R + λ Qᵀ W⁻¹ Q) ω = Qᵀ y + r, which has five diagonals, and x = y - λ W⁻¹ Q
    ω: Reinsch (1967), "Smoothing by spline functions", Numer. Math. 10, here with velocities given at both ends.
    """
    caller = "smoothing_spline"
    knots = knot_positions(caller, knots, least=3)
    n, N = knots.shape[-1], knots.shape[-2]
    plain_joints(caller, robot, n)
    u = spans(caller, times, durations, N)
    if (tolerance is None) == (smoothness is None):
        raise ArgumentError(f"{caller} needs either a tolerance [rad or m] or the smoothness λ")
    given = floats(smoothness if tolerance is None else tolerance)
    good = given > 0 if smoothness is None else (given >= 0) & (given < np.inf)
    if given.shape not in ((), (n,)) or not np.all(good):
        label = "smoothness" if tolerance is None else "tolerance"
        raise ArgumentError(f"{caller}: {label} must be a positive number, or {n} of them, got {given.tolist()!r:.60}")
    slack = _slack(caller, weights, N)
    ends = (start_velocity, "start"), (goal_velocity, "goal")
    v_0, v_1 = (end_rates(caller, n, v, 0.0, label)[..., 0, :] for v, label in ends)
    batch = common_batch(caller, knots=(knots, 2), times=(u, 1), start=(v_0, 1), goal=(v_1, 1))
    parts = (knots.swapaxes(-1, -2), N), (u[..., None, :], N - 1), (v_0[..., None], 1), (v_1[..., None], 1)
    lanes = [np.broadcast_to(x, (*batch, n, size)).reshape(-1, size) for x, size in parts]
    aims = np.broadcast_to(given, (*batch, n)).ravel()
    smoothed = _smoothed if tolerance is None else _near
    x = [smoothed(y, h, v, w, slack, aim) for y, h, v, w, aim in zip(*lanes, aims, strict=True)]
    if not np.isfinite(x).all():
        raise SolveError(
            f"{caller}: smoothness λ = {aims.max():g} is too large for times between knots of {u.min():g} s and these "
            "weights: rounding errors hide the bends of the spline; a smaller λ, or tolerance=, has an answer"
        )
    moved = np.reshape(x, (*batch, n, N)).swapaxes(-1, -2)
    velocities: dict[str, Any] = {"start_velocity": v_0, "goal_velocity": v_1}
    return spline(moved, durations=u, robot=robot, **velocities)


def _slack(caller: str, weights, N: int) -> np.ndarray:
    """1 / w (N,) of the knots: how easily each of them moves."""
    if weights is None:
        weights = np.concatenate([[np.inf], np.ones(N - 2), [np.inf]])
    w = floats(weights)
    if w.shape != (N,) or not (w > 0).all():
        raise ArgumentError(f"{caller}: weights must be {N} positive numbers or infinity, got {weights!r:.60}")
    with np.errstate(over="ignore"):
        return 1 / w


def _smoothed(y, u, v_0, v_1, slack, smoothness: float) -> np.ndarray:
    """Positions x (N,) of the knots of one joint; NaN if λ is so large that rounding errors win."""
    N, p = len(y), 1 / u
    # Where all ω are equal, R ω is of the size u ω, and rounding errors of the rest must be smaller.
    with np.errstate(over="ignore"):
        largest = smoothness * slack.max() * (4 * p.max()) ** 2
    if not largest * np.finfo(float).eps < _HIDDEN * u.mean():
        return np.full(N, np.nan)
    # Q has the columns of the second differences: (Qᵀ y)_k = (y_{k+1} - y_k) / u_k - (y_k - y_{k-1}) / u_{k-1}.
    diagonal = -(np.append(p, 0.0) + np.append(0.0, p))
    right = np.append(np.diff(y) * p, v_1) - np.append(v_0, np.diff(y) * p)
    bands = np.zeros((3, N))  # of the lower half of R + λ Qᵀ W⁻¹ Q
    bands[0] = (np.append(u, 0.0) + np.append(0.0, u)) / 3 + smoothness * slack * diagonal**2
    bands[0, 1:] += smoothness * slack[:-1] * p**2
    bands[0, :-1] += smoothness * slack[1:] * p**2
    bands[1, :-1] = u / 6 + smoothness * p * (slack[:-1] * diagonal[:-1] + slack[1:] * diagonal[1:])
    bands[2, :-2] = smoothness * slack[1:-1] * p[:-1] * p[1:]
    w = solveh_banded(bands, right, lower=True)
    bent = diagonal * w
    bent[1:] += p * w[:-1]
    bent[:-1] += p * w[1:]
    return y - smoothness * slack * bent


def _near(y, u, v_0, v_1, slack, tolerance: float) -> np.ndarray:
    """The smoothest positions x (N,) that are within the tolerance of y: halving of an interval of log λ."""
    low, high = np.log10(1e-12 * u.min() ** 3), np.log10(1e6 * u.sum() ** 3)
    best = y
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        x = _smoothed(y, u, v_0, v_1, slack, 10.0**middle)
        if np.abs(x - y).max() <= tolerance:
            best, low = x, middle
        else:
            high = middle
    return best
