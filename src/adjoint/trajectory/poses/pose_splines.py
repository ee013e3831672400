"""Smooth splines on SE(3) through poses."""

from __future__ import annotations

import numpy as np

from ...compile import kernel
from ...errors import ArgumentError, SolveError
from ...lie import se3
from ...model.input_checks import vectors
from ..checks import spans
from ..manifold import body_rates, coordinate_rates
from ..polynomials import hermite
from ..quantities import broadcast
from .checks import poses_of
from .pose_trajectory import PoseTrajectory, pose_pieces

__all__ = ["pose_spline"]

_ROUNDS = 100  # of Newton's method at most; turns of 1 rad between poses take some 5, the largest ones some 10
_MOST = 1e6  # [rad] a twist that turns by more within an interval beside its pose leaves too few digits of the angle
_SMALL = 1e-10  # a step of Newton's method, relative to the twists: the next one would be of the size of rounding
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
    A T_k B is A T(t) B. Neighbouring poses must differ by less than 0.9 half turns. The equations of the twists at the
    poses are quadratic, and Newton's method solves them; a `SolveError` says where it does not, as with twists at the
    ends that would turn the frame round many times before the next pose. Reference: Park & Ravani (1997), "Smooth
    invariant interpolation of rotations", ACM Trans. Graphics 16(3).
    """
    caller = "pose_spline"
    T = poses_of(poses, f"{caller}: poses", 3)
    if T.shape[-3] < 2:
        raise ArgumentError(f"{caller}: poses has shape {T.shape}; at least 2 poses are needed, (..., N, 4, 4)")
    h = spans(caller, times, None, T.shape[-3])
    ends = []
    for value, name in ((start_twist, "start_twist"), (goal_twist, "goal_twist")):
        V = np.zeros(6) if value is None else vectors(value, 6, name, caller)
        if not np.isfinite(V).all():
            raise ArgumentError(f"{caller}: {name} contains NaN or infinity")
        ends.append(V)
    shapes = {"start_twist": ends[0].shape[:-1], "goal_twist": ends[1].shape[:-1]}
    batch = broadcast(caller, poses=T.shape[:-3], times=h.shape[:-1], **shapes)
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


def _through(T: np.ndarray, h: np.ndarray, d: np.ndarray, V: np.ndarray, A: np.ndarray) -> PoseTrajectory:
    """The motion with body twists V and accelerations A (..., N, 6) at the poses; quintic polynomials in between."""
    start = np.stack([np.zeros_like(d), V[..., :-1, :], A[..., :-1, :]], axis=-1)
    goal = np.stack([d, *coordinate_rates(d, V[..., 1:, :], A[..., 1:, :])], axis=-1)
    c = hermite(start, goal, h[..., None])
    return pose_pieces(h, c[..., None, :, :], T[..., :-1, :, :])


@kernel(d=6, W=6)
def _bend(d, W) -> np.ndarray:
    """The acceleration (6,) of exp(x) where x = d, ẋ = W and ẍ = 0, which is quadratic in W."""
    return body_rates(d, W, 0 * W, 0 * W).a


def _knot_rates(h, d, first, last) -> tuple[np.ndarray, np.ndarray]:
    """The body twists and accelerations (..., N, 6) of the cubic spline at its poses.

    In each interval x(0) = 0, ẋ(0) = V_k, x(h) = d and ẋ(h) = W = dexp⁻¹(d) V_{k+1}, so
    ẍ(0) = 6 d/h² - (4 V_k + 2 W)/h and ẍ(h) = -6 d/h² + (2 V_k + 4 W)/h. Accelerations A = ẍ(0) of an interval and
    A = dexp(d) ẍ(h) + (rate of dexp) W of the one before it are equal; the last term is `_bend`.
    """
    to_end = se3.right_jacobian_inv(d)  # W = to_end V_{k+1}
    u = h[..., None]
    V = np.zeros((*d.shape[:-2], d.shape[-2] + 1, 6))
    V[..., 0, :], V[..., -1, :] = first, last
    with np.errstate(all="ignore"):  # of twists that are too large
        if V.shape[-2] > 2:
            V = _twists(h, d, to_end, V)
        W = _times(to_end, V[..., 1:, :])
        starts = 6 * d / u**2 - (4 * V[..., :-1, :] + 2 * W) / u
        ends = body_rates(d, W, -6 * d / u**2 + (2 * V[..., :-1, :] + 4 * W) / u, np.zeros_like(d)).a
    turns = np.maximum(np.abs(V[..., :-1, :3]), np.abs(V[..., 1:, :3])).max(axis=-1) * h
    if not (np.all(turns < _MOST) and np.isfinite(starts).all() and np.isfinite(ends).all()):
        raise ArgumentError(
            f"pose_spline: start_twist or goal_twist are too large, or times are too uneven: the twist at a pose is "
            f"{np.abs(V).max():g}, with accelerations up to {np.abs(starts).max():g}"
        )
    inner = 0.5 * (starts[..., 1:, :] + ends[..., :-1, :])  # equal, but for rounding
    return V, np.concatenate([starts[..., :1, :], inner, ends[..., -1:, :]], axis=-2)


def _twists(h, d, to_end, V) -> np.ndarray:
    """The twists V (..., N, 6), of which those at both ends are given, at which all accelerations are continuous.

    The equations r(V) = 0 are quadratic, so a step s of Newton's method gives r(V + α s) = (1 - α) r - α² b(s), with
    `_bend` b. With α = min(1, |r| / 2 |b|), |r| becomes smaller by the fraction α / 2 at least.
    """
    J, u, V = se3.right_jacobian(d), h[..., None], V.copy()
    turn, back, inner = d[..., :-1, :], to_end[..., :-1, :, :], V[..., 1:-1, :]
    pull = _times(J, 6 * d / u**2)[..., :-1, :] + (6 * d / u**2)[..., 1:, :]
    below, above = 2 * J / u[..., None], 2 * to_end / u[..., None]
    weight, slope = 4 / u[..., :-1, :] + 4 / u[..., 1:, :], _bend.jacobian("W")
    for _ in range(_ROUNDS):
        W = _times(back, inner)
        linear = _times(below[..., :-1, :, :], V[..., :-2, :]) + weight * inner
        r = pull - _bend(turn, W) - linear - _times(above[..., 1:, :, :], V[..., 2:, :])
        D = weight[..., None] * np.eye(6) + slope(turn, W) @ back
        step = _solved(below[..., 1:-1, :, :], D, above[..., 1:-1, :, :], r)
        off, b = _size(r) + np.finfo(float).tiny, _size(_bend(turn, _times(back, step)))
        inner += off / np.maximum(off, 2 * b) * step
        left = ~(_size(step) <= _SMALL * _size(V))
        if not left.any():
            return V
    place = [int(k) for k in np.argwhere(left[..., 0, 0])[0]]
    raise SolveError(
        f"pose_spline: no cubic spline was found{f' for motion {place}' if place else ''}: twists at the ends or steps "
        "between poses are too large for the times between them; more poses, or times more alike, may help"
    )


def _size(x: np.ndarray) -> np.ndarray:
    """The norm (..., 1, 1) of all numbers (..., n, 6) of each motion."""
    return np.linalg.norm(x, axis=(-2, -1), keepdims=True)


def _times(M: np.ndarray, v: np.ndarray) -> np.ndarray:
    return (M @ v[..., None])[..., 0]


def _solved(below, D, above, right) -> np.ndarray:
    """The solution (..., n, 6) of a system whose matrix has blocks (..., 6, 6) on three diagonals.

    Those `below` and `above` the n blocks D are n - 1. Gauss's elimination, forward and back; NaN if a block has no
    inverse.
    """
    n, rows, values = D.shape[-3], [], []
    for k in range(n):
        M, b = D[..., k, :, :], right[..., k, :]
        if k > 0:
            M = M - below[..., k - 1, :, :] @ rows[-1]
            b = b - _times(below[..., k - 1, :, :], values[-1])
        next_one = above[..., k, :, :] if k < n - 1 else np.zeros_like(M)
        try:
            both = np.linalg.solve(M, np.concatenate([next_one, b[..., None]], axis=-1))
        except np.linalg.LinAlgError:
            return np.full_like(right, np.nan)
        rows.append(both[..., :6])
        values.append(both[..., 6])
    found = [values[-1]]
    for k in reversed(range(n - 1)):
        found.append(values[k] - _times(rows[k], found[-1]))
    return np.stack(found[::-1], axis=-2)
