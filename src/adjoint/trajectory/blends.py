"""Straight lines through waypoints, joined by parabolas: `linear_blends`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..compile.front.arguments import as_input
from ..errors import AdjointError, ArgumentError, SolveError
from ..model.input_checks import vectors
from .checks import common_batch, knot_positions
from .piecewise import Trajectory
from .quantities import SHORTEST, limits

__all__ = ["linear_blends"]

_ROUNDING = 1e-12  # blends too long by this fraction of their segment fit


def linear_blends(waypoints, times, blend=None, *, acceleration=None) -> Trajectory:
    """The `Trajectory` of lines through waypoints q_k (..., N, n) at times t_k (..., N) [s], with parabolic blends.

    In the blend about an inner waypoint, of the length 2 τ_k, the acceleration is constant: with the velocities
    v_k = (q_k - q_k-1) / (t_k - t_k-1) before and v_k+1 after, and s = t - t_k between -τ_k and τ_k,

        q(t) = q_k - (τ_k - s)² v_k / (4 τ_k) + (τ_k + s)² v_k+1 / (4 τ_k).

    So at t_k the trajectory misses the waypoint by τ_k / 4 |v_k+1 - v_k|, and |a| = |v_k+1 - v_k| / (2 τ_k). It starts
    and ends at rest, at the first and the last waypoint, and at the given times: the blend of the start lasts from t_0
    to t_0 + 2 τ_0, so that its line passes q_0 at t_0 + τ_0, and v_1 = (q_1 - q_0) / (t_1 - t_0 - τ_0); likewise the
    end. With two waypoints it is the trapezoidal motion whose blends last 2 τ.

    `blend` is τ [s], one number or one for each waypoint (..., N); it may be 0 at the first or the last one, where the
    trajectory then starts or ends in motion. Instead, `acceleration` gives limits of |a|, a number or (..., n), and
    each τ_k is the shortest that keeps them. There are 2 N - 1 pieces of degree 2. See Fu, Gonzalez & Lee (1987),
    eqs. (4.4-58) and (4.4-59), with Δq_1 = q_1 - q_0; Craig (2005), section 7.3, for the start and the end.

        >>> trajectory = linear_blends([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [0.0, 1.2, 2.4], blend=0.2)
        >>> trajectory(1.2).q, trajectory(1.2).a
        (array([0.95, 0.05]), array([-2.5,  2.5]))
    """
    q, t = _waypoints(waypoints, times)
    if (blend is None) == (acceleration is None):
        raise ArgumentError("linear_blends needs either blend, a time [s], or acceleration, a limit; not both")
    if blend is not None:
        given = _given_blends(blend, t.shape[-1])
    else:
        given = limits(acceleration, q.shape[-1], "acceleration", "linear_blends")
    batch = common_batch("linear_blends", waypoints=(q, 2), times=(t, 1), blends=(given, 1))
    q, t, given = (np.broadcast_to(x, batch + x.shape[x.ndim - core :]) for x, core in ((q, 2), (t, 1), (given, 1)))
    tau = given if blend is not None else _shortest_blends(q, t, given)
    _check_fit(t, tau, ArgumentError if blend is not None else SolveError)
    return _blended(q, t, tau)


def _blended(q: np.ndarray, t: np.ndarray, tau: np.ndarray) -> Trajectory:
    """The trajectory with blends of half lengths tau (..., N)."""
    corners = _corners(t, tau)
    v = np.diff(q, axis=-2) / np.diff(corners)[..., None]
    still = np.zeros_like(v[..., :1, :])
    before, after = np.concatenate([still, v], axis=-2), np.concatenate([v, still], axis=-2)
    # A start or an end in motion is a blend of no length.
    h = tau[..., None]
    a = np.where(h > 0, (after - before) / np.where(h > 0, 2 * h, 1.0), 0.0)
    blends = np.stack([q - h * before, before, a / 2], axis=-1)
    lines = np.stack([q + h * after, after, 0 * a], axis=-1)
    pieces = np.stack([blends, lines], axis=-3)  # (..., N, 2, n, 3)
    *batch, N, n = q.shape
    coefficients = pieces.reshape(*batch, 2 * N, n, 3)[..., :-1, :, :]
    knots = np.stack([corners - tau, corners + tau], axis=-1).reshape(*batch, 2 * N)
    knots[..., 0], knots[..., -1] = 0.0, t[..., -1]
    return Trajectory(np.maximum.accumulate(knots, axis=-1), coefficients)


def _corners(t: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """The times (..., N) at which the lines meet: those of the waypoints, but within the motion at its ends."""
    corners = np.array(t)
    corners[..., 0] += tau[..., 0]
    corners[..., -1] -= tau[..., -1]
    return corners


def _shortest_blends(q: np.ndarray, t: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """The blends τ (..., N) in which the acceleration of a joint is at its limit (..., n).

    At the start, v = Δq / (T - τ) = 2 a τ: the smaller root of τ² - T τ + |Δq| / 2a = 0. If both ends share one
    segment, v = Δq / (T - 2 τ).
    """
    steps, T = np.diff(q, axis=-2), np.diff(t)
    shared = 4 if q.shape[-2] == 2 else 2
    tau = np.zeros(t.shape)
    for k, name in ((0, "first"), (-1, "last")):
        D = np.max(np.abs(steps[..., k, :]) / limit, axis=-1)
        left = T[..., k] ** 2 - shared * D
        _refuse(left < -_ROUNDING * T[..., k] ** 2, lambda at, k=k, D=D, name=name: (
            f"the {name} segment{_of(at)} lasts {T[(*at, k)]:g} s, but to leave rest or come to it, the acceleration "
            f"limits need {np.sqrt(shared * D[at]):.17g} s at least"
        ), SolveError)  # fmt: skip
        tau[..., k] = D / (T[..., k] + np.sqrt(np.maximum(left, 0.0)))
    v = steps / np.diff(_corners(t, tau))[..., None]
    tau[..., 1:-1] = np.max(np.abs(np.diff(v, axis=-2)) / (2 * limit[..., None, :]), axis=-1)
    return tau


# --- checks -----------------------------------------------------------------------------------------------------------


def _waypoints(waypoints, times) -> tuple[np.ndarray, np.ndarray]:
    """Waypoints (..., N, n) and their times (..., N), as finite numbers."""
    q = knot_positions("linear_blends", waypoints, least=2, label="waypoints")
    t = vectors(times, q.shape[-2], "times", "linear_blends")
    if not np.isfinite(t).all():
        raise ArgumentError("linear_blends: times contain NaN or infinity")
    _refuse(t[..., 0] != 0, lambda at: f"times{[*at, 0]} is {t[(*at, 0)]:g} s; a trajectory starts at the time 0")
    short = ~(np.diff(t) > SHORTEST)
    _refuse(short, lambda at: f"times must increase, but the one after times{[*at]} = {t[at]:g} s does not")
    return q, t


def _given_blends(blend, count: int) -> np.ndarray:
    """Half lengths τ (..., N) of the blends, from a number or an array."""
    given = as_input(blend, "blend", "linear_blends")
    tau = vectors(np.full(count, given) if given.ndim == 0 else given, count, "blend", "linear_blends")
    inner = (np.arange(count) > 0) & (np.arange(count) < count - 1)
    bad = ~((tau > SHORTEST) | ((tau == 0) & ~inner)) | ~np.isfinite(tau)
    _refuse(bad, lambda at: f"blend{[*at]} is {tau[at]:g} s; a positive time is needed, or 0 at the first and the last")
    return tau


def _check_fit(t: np.ndarray, tau: np.ndarray, error: type[AdjointError]) -> None:
    """Raise an error unless blends and their segments fit: τ_k + τ_k+1 within each, 2 τ at the start and the end."""
    T, share = np.diff(t), np.array(tau)
    share[..., [0, -1]] *= 2
    needed = share[..., :-1] + share[..., 1:]
    _refuse(needed > T * (1 + _ROUNDING), lambda at: (
        f"segment {at[-1]}{_of(at[:-1])} lasts {T[at]:g} s, but its blends of {tau[at]:g} s and "
        f"{tau[(*at[:-1], at[-1] + 1)]:g} s need {needed[at]:g} s of it (twice their time at the start and the end)"
    ), error)  # fmt: skip


def _of(at: tuple) -> str:
    return f" of trajectory {[*at]}" if at else ""


def _refuse(bad: np.ndarray, message: Callable[[tuple], str], error: type[AdjointError] = ArgumentError) -> None:
    """Raise an error with the message about the first place that is bad."""
    if np.any(bad):
        at = np.unravel_index(np.argmax(bad), np.shape(bad))
        raise error(f"linear_blends: {message(tuple(map(int, at)))}")
