"""Smooth splines on SE(3) through poses."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ...lie import se3
from ...model.input_checks import floats, vectors
from ..manifold import body_rates, coordinate_rates
from ..polynomials import hermite
from .checks import broadcast, poses_of
from .pose_trajectory import PoseTrajectory, pose_pieces

__all__ = ["pose_spline"]

_ROUNDS = 200  # of the fixed point at most; turns of 1 rad between poses take some 11, the largest ones some 60
_LARGEST = 0.9 * np.pi  # [rad] between neighbouring poses: near π, the short way round is not clear


def pose_spline(poses, times, *, start_twist=None, goal_twist=None) -> PoseTrajectory:
    """The spline through poses (..., N, 4, 4) at `times` (..., N) [s]: twist and acceleration are continuous.

    Between poses k and k + 1 it is T_k exp(x(t)), where x(t) (6,) is a cubic polynomial, so it is the cubic spline of
    Park & Ravani (1997) with conditions at both ends. `start_twist` and `goal_twist` (..., 6) are body twists there,
    None for a rest. The times begin at any number and increase; the motion begins at time 0.

        >>> poses = se3.exp([[0.0, 0, 0, 0, 0, 0], [0, 0, 1, 0.5, 0, 0], [0, 1, 1, 0.5, 0.5, 0]])
        >>> path = pose_spline(poses, [0.0, 1.0, 2.0])
        >>> assert np.allclose(path(1.0).T, poses[1]) and np.allclose(path(2.0).twist, 0, atol=1e-12)

    The spline is the same for every choice of the base frame, and of the frame that moves along: the spline through
    A T_k B is A T(t) B. Neighbouring poses must differ by less than 0.9 half turns. Reference: Park & Ravani (1997),
    "Smooth invariant interpolation of rotations", ACM Trans. Graphics 16(3).
    """
    caller = "pose_spline"
    T = poses_of(poses, f"{caller}: poses", 3)
    h = _steps(times, T.shape[-3], caller)
    batch = broadcast(caller, poses=T.shape[:-3], times=h.shape[:-1])
    ends = []
    for value, name in ((start_twist, "start_twist"), (goal_twist, "goal_twist")):
        V = np.zeros(6) if value is None else vectors(value, 6, name, caller)
        if not np.isfinite(V).all():
            raise ArgumentError(f"{caller}: {name} contains NaN or infinity")
        batch = np.broadcast_shapes(batch, V.shape[:-1])
        ends.append(V)
    d = se3.log(se3.compose(se3.inverse(T[..., :-1, :, :]), T[..., 1:, :, :]))
    angle = np.linalg.norm(d[..., :3], axis=-1)
    if (angle > _LARGEST).any():
        *_, k = (int(i[0]) for i in np.nonzero(angle > _LARGEST))
        raise ArgumentError(
            f"{caller}: poses {k} and {k + 1} differ by {np.degrees(angle.max()):.4g} degrees; above "
            f"{np.degrees(_LARGEST):.0f} degrees it is not clear which way round; put a pose between them"
        )
    h, d = np.broadcast_to(h, (*batch, h.shape[-1])), np.broadcast_to(d, (*batch, *d.shape[-2:]))
    first, last = (np.broadcast_to(V, (*batch, 6)) for V in ends)
    return _through(T, h, d, *_knot_rates(h, d, first, last))


def _steps(times, n: int, caller: str) -> np.ndarray:
    """The durations (..., N - 1) between `times`, which increase."""
    t = floats(times)
    if t.ndim < 1 or t.shape[-1] != n or n < 2:
        raise ArgumentError(f"{caller}: times has shape {t.shape}; {n} poses need (..., {n}), and at least 2 of them")
    h = np.diff(t, axis=-1)
    if not np.all((h > 0) & np.isfinite(h)):
        k = int(np.argmin(np.where(np.isfinite(h), h, -np.inf).reshape(-1, n - 1).min(axis=0)))
        raise ArgumentError(f"{caller}: times must increase; times[{k}] and times[{k + 1}] do not")
    return h


def _through(T: np.ndarray, h: np.ndarray, d: np.ndarray, V: np.ndarray, A: np.ndarray) -> PoseTrajectory:
    """The motion with body twists V and accelerations A (..., N, 6) at the poses; quintic polynomials in between."""
    start = np.stack([np.zeros_like(d), V[..., :-1, :], A[..., :-1, :]], axis=-1)
    goal = np.stack([d, *coordinate_rates(d, V[..., 1:, :], A[..., 1:, :])], axis=-1)
    c = hermite(start, goal, h[..., None])
    return pose_pieces(h, c[..., None, :, :], T[..., :-1, :, :])


def _knot_rates(h, d, first, last) -> tuple[np.ndarray, np.ndarray]:
    """The body twists and accelerations (..., N, 6) of the cubic spline at its poses.

    In each interval x(0) = 0, ẋ(0) = V_k, x(h) = d and ẋ(h) = W = dexp⁻¹(d) V_{k+1}, so
    ẍ(0) = 6 d/h² - (4 V_k + 2 W)/h and ẍ(h) = -6 d/h² + (2 V_k + 4 W)/h. Accelerations A = ẍ(0) of an interval and
    A = dexp(d) ẍ(h) + (rate of dexp) W of the one before it are equal. The last term is quadratic in W: the equations,
    linear without it, are solved again with its last value until it stays.
    """
    J, zero = se3.right_jacobian(d), np.zeros_like(d)
    to_end = se3.right_jacobian_inv(d)  # W = to_end V_{k+1}
    u = h[..., None]
    V = np.zeros((*d.shape[:-2], d.shape[-2] + 1, 6))
    V[..., 0, :], V[..., -1, :] = first, last
    for _ in range(_ROUNDS if d.shape[-2] > 1 else 0):
        W = _times(to_end, V[..., 1:, :])
        bend = body_rates(d, W, zero, zero).a
        right = (_times(J, 6 * d / u**2) - bend)[..., :-1, :] + (6 * d / u**2)[..., 1:, :]
        new = _solved(h, J, to_end, right, V)
        change = np.abs(new - V).max(initial=0.0)
        V = new
        if change <= 1e-14 * np.abs(V).max():
            break
    W = _times(to_end, V[..., 1:, :])
    starts = 6 * d / u**2 - (4 * V[..., :-1, :] + 2 * W) / u
    ends = body_rates(d, W, -6 * d / u**2 + (2 * V[..., :-1, :] + 4 * W) / u, zero).a
    inner = 0.5 * (starts[..., 1:, :] + ends[..., :-1, :])  # equal, but for rounding
    return V, np.concatenate([starts[..., :1, :], inner, ends[..., -1:, :]], axis=-2)


def _times(M: np.ndarray, v: np.ndarray) -> np.ndarray:
    return (M @ v[..., None])[..., 0]


def _solved(h, J, to_end, right, V) -> np.ndarray:
    """The twists (..., N, 6) of which 2 J V_{k-1} / h + (4 / h + 4 / h') V_k + 2 to_end' V_{k+1} / h' is `right`.

    J belongs to the interval before pose k, and to_end' and h' to the one after it; J to_end = 1. Those at both ends of
    V are given. The matrix has blocks (6, 6) on three diagonals: Gauss's elimination, forward and back.
    """
    n = h.shape[-1] - 1  # inner poses
    u = h[..., None, None]
    below, above = 2 * J / u, 2 * to_end / u
    rows, values = [], []
    for k in range(n):
        D = (4 / u[..., k, :, :] + 4 / u[..., k + 1, :, :]) * np.eye(6)
        b = right[..., k, :]
        if k == 0:
            b = b - _times(below[..., 0, :, :], V[..., 0, :])
        else:
            D = D - below[..., k, :, :] @ rows[-1]
            b = b - _times(below[..., k, :, :], values[-1])
        if k == n - 1:
            b = b - _times(above[..., k + 1, :, :], V[..., -1, :])
        both = np.linalg.solve(D, np.concatenate([above[..., k + 1, :, :], b[..., None]], axis=-1))
        rows.append(both[..., :6])
        values.append(both[..., 6])
    found = [V[..., -1, :], values[-1]]
    for k in reversed(range(n - 1)):
        found.append(values[k] - _times(rows[k], found[-1]))
    return np.stack([*found, V[..., 0, :]][::-1], axis=-2)
