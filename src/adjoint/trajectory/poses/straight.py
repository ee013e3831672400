"""Straight lines of a frame in space, one or many with transitions between them, and screw motions."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ...lie import se3, so3
from ...model.input_checks import floats
from ..piecewise import Trajectory
from ..quantities import SHORTEST, broadcast, limits, seconds
from .checks import poses_of
from .pose_trajectory import PoseTrajectory, pose_pieces

__all__ = ["corners", "line", "lines", "run", "screw_motion", "segment_durations"]


def run(path: PoseTrajectory, duration, profile: Trajectory | None, caller: str) -> PoseTrajectory:
    """A path, run uniformly within `duration` [s], or with a `profile`."""
    if (duration is None) == (profile is None):
        raise ArgumentError(f"{caller} needs either a duration [s] or a profile, a trajectory of one coordinate")
    if profile is not None:
        return path.timed(profile)
    h = seconds(duration, f"{caller}: duration")
    broadcast(caller, poses=path.batch, duration=h.shape)
    return path.lasting(h)


def uniform(T_0: np.ndarray, *twists: np.ndarray) -> PoseTrajectory:
    """T_0 exp(t ξ_1) ··· exp(t ξ_m) for 0 <= t <= 1 s, from constant twists (..., 6)."""
    xi = np.stack(np.broadcast_arrays(*twists), axis=-2)
    c = np.stack([np.zeros_like(xi), xi], axis=-1)[..., None, :, :, :]
    batch = np.broadcast_shapes(T_0.shape[:-2], xi.shape[:-2])
    return pose_pieces(np.ones((*batch, 1)), c, T_0[..., None, :, :])


def moves(v: np.ndarray) -> np.ndarray:
    """The twists (..., 6) of translations v (..., 3)."""
    return np.concatenate([np.zeros_like(v), v], axis=-1)


def turns(w: np.ndarray) -> np.ndarray:
    """The twists (..., 6) of rotations w (..., 3) about the frame's origin."""
    return np.concatenate([w, np.zeros_like(w)], axis=-1)


def segment_durations(poses, *, speed=np.inf, turn_speed=np.inf) -> np.ndarray:
    """How long (..., N - 1) [s] a frame takes from pose to pose (..., N, 4, 4) at given speeds, for `lines`.

    It is the longer one of |p_1 - p_0| / speed and θ / turn_speed, where θ is the angle of R_0ᵀ R_1; `speed` [m/s] and
    `turn_speed` [rad/s] are positive numbers.

        >>> poses = se3.from_rotation_translation(np.eye(3), [[0, 0, 0], [0.3, 0, 0], [0.3, 0.1, 0]])
        >>> segment_durations(poses, speed=0.2)
        array([1.5, 0.5])
    """
    caller = "segment_durations"
    T = poses_of(poses, f"{caller}: poses", 3)
    v = limits(speed, 1, "speed", caller, infinite=True, batch=False)
    w = limits(turn_speed, 1, "turn_speed", caller, infinite=True, batch=False)
    way = np.linalg.norm(np.diff(T[..., :3, 3], axis=-2), axis=-1)
    found = np.maximum(way / v, so3.distance(T[..., :-1, :3, :3], T[..., 1:, :3, :3]) / w)
    if not (found > 0).all():
        raise ArgumentError(f"{caller}: a pose repeats the one before, or there is no limit of its speed")
    return found


def _ends(caller: str, T_0, T_1) -> tuple[np.ndarray, np.ndarray]:
    T_0, T_1 = poses_of(T_0, f"{caller}: T_0"), poses_of(T_1, f"{caller}: T_1")
    broadcast(caller, T_0=T_0.shape[:-2], T_1=T_1.shape[:-2])
    return T_0, T_1


def line(T_0, T_1, duration=None, *, profile: Trajectory | None = None) -> PoseTrajectory:
    """The straight line from T_0 to T_1 (..., 4, 4): the origin moves straight while the frame turns about one axis.

    With λ from 0 to 1, it is p = p_0 + λ (p_1 - p_0) and R = R_0 Rot(n, λ θ), where Rot(n, θ) = R_0ᵀ R_1, 0 <= θ <= π:
    Taylor's line, (4.4-47) to (4.4-50) of Fu, Gonzalez & Lee (1987). It is run uniformly within `duration` [s], or with
    a `profile`, a trajectory of one coordinate (`PoseTrajectory.timed`):

        >>> T = se3.from_rotation_translation(so3.rotation_z(1.0), [0.3, 0.1, 0.0])
        >>> path = line(np.eye(4), T, duration=2.0)
        >>> path(1.0).T[:3, 3]
        array([0.15, 0.05, 0.  ])
        >>> gentle = line(np.eye(4), T, profile=aj.trajectory.quintic([0.0], [1.0], duration=2.0))  # from rest to rest

    A half turn, θ = π, goes either way round; it goes about the axis that `so3.log` gives. Equal poses give a frame
    that rests. Leading axes of both poses and the duration are those of a batch.
    """
    T_0, T_1 = _ends("line", T_0, T_1)
    R_0 = T_0[..., :3, :3]
    along = np.einsum("...ji,...j->...i", R_0, T_1[..., :3, 3] - T_0[..., :3, 3])
    w = so3.log(so3.compose(so3.inverse(R_0), T_1[..., :3, :3]))
    return run(uniform(T_0, moves(along), turns(w)), duration, profile, "line")


def screw_motion(T_0, T_1, duration=None, *, profile: Trajectory | None = None) -> PoseTrajectory:
    """The screw motion from T_0 to T_1 (..., 4, 4): T_0 exp(λ log(T_0⁻¹ T_1)), with λ from 0 to 1.

    The body twist is constant in it. It is a geodesic of SE(3), and the same motion for every choice of the base frame
    and of the frame that is moved with it. `duration` and `profile` are those of `line`, and so are half turns.

        >>> path = screw_motion(np.eye(4), se3.exp([0, 0, np.pi / 2, 0.1, 0, 0]), duration=1.0)
        >>> path(0.5).twist.round(4) + 0.0
        array([0.    , 0.    , 1.5708, 0.1   , 0.    , 0.    ])
    """
    T_0, T_1 = _ends("screw_motion", T_0, T_1)
    return run(uniform(T_0, se3.log(se3.compose(se3.inverse(T_0), T_1))), duration, profile, "screw_motion")


# --- through several poses --------------------------------------------------------------------------------------------


def corners(caller: str, poses, durations, blend) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poses (..., N, 4, 4), durations T (..., N - 1) of the segments, and half the durations τ (..., N) of transitions.

    τ is 0 at both ends. `durations` and `blend` may be numbers, for all segments and all corners.
    """
    P = poses_of(poses, f"{caller}: poses", 3)
    n = P.shape[-3]
    if n < 2:
        raise ArgumentError(f"{caller}: poses has {n} pose{'s' * (n != 1)}; at least 2 are needed")
    T, tau = seconds(durations, f"{caller}: durations"), floats(blend)
    if not np.all(((tau == 0) | (tau > SHORTEST)) & (tau < np.inf)):
        raise ArgumentError(f"{caller}: blend must be times of 0 s or more, got {blend!r:.80}")
    for x, count, name in ((T, n - 1, "durations"), (tau, n - 2, "blend")):
        if x.ndim and x.shape[-1] != count:
            raise ArgumentError(f"{caller}: {name} has shape {x.shape}; for {n} poses (..., {count}) is needed")
    batch = broadcast(caller, poses=P.shape[:-3], durations=T.shape[:-1], blend=tau.shape[:-1])
    T = np.broadcast_to(T, (*batch, n - 1))
    none = np.zeros((*batch, 1))
    tau = np.concatenate([none, np.broadcast_to(tau, (*batch, n - 2)), none], axis=-1)
    over = tau[..., 1:] + tau[..., :-1] > T * (1 + 1e-12)
    if over.any():
        *_, k = (int(x[0]) for x in np.nonzero(over))
        raise ArgumentError(
            f"{caller}: segment {k} lasts {T[over][0]:g} s, which is less than the blends at its ends take of it, "
            f"{tau[..., :-1][over][0]:g} s and {tau[..., 1:][over][0]:g} s"
        )
    return P, T, tau


def alternating(segments: np.ndarray, transitions: np.ndarray, axis: int) -> np.ndarray:
    """Segments (N - 1) and the transitions between them (N - 2) along an axis, in the order of time."""
    whole = np.concatenate([segments, transitions], axis=axis)
    n = segments.shape[axis]
    order = [k // 2 + (k % 2) * n for k in range(2 * n - 1)]
    return np.take(whole, order, axis=axis)


def scheduled(T: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Durations (..., 2 N - 3) of segments and transitions in turn."""
    return alternating(T - tau[..., :-1] - tau[..., 1:], 2 * tau[..., 1:-1], -1)


def lines(poses, durations, *, blend=0.0) -> PoseTrajectory:
    """Straight lines through poses (..., N, 4, 4), each as `line`, with smooth transitions around the inner poses.

    Segment i lasts durations[i] [s], (..., N - 1) or one number for all. The transition at a corner begins
    τ = `blend` [s] before its time and ends τ after it, (..., N - 2) or one number. With the time t' since the corner
    and Rot(n_1, θ_1) = R_0ᵀ R_1, Rot(n_2, θ_2) = R_1ᵀ R_2, it is Taylor's, (4.4-51) to (4.4-57) of Fu, Gonzalez & Lee
    (1987) with corrected signs:

        p = p_1 - (τ - t')² Δp_1 / (4 τ T_1) + (τ + t')² Δp_2 / (4 τ T_2)
        R = R_1 Rot(n_1, -(τ - t')² θ_1 / (4 τ T_1)) Rot(n_2, (τ + t')² θ_2 / (4 τ T_2))

    The twist is continuous; the corner itself is missed by τ/4 |Δp_2 / T_2 - Δp_1 / T_1|. With blend=0 corners are
    sharp, and the twist jumps there. The motion begins and ends at full speed: `timed` gives it another profile.

        >>> poses = se3.from_rotation_translation(np.eye(3), [[0.0, 0, 0], [1, 0, 0], [1, 1, 0]])
        >>> lines(poses, 1.0, blend=0.2)(1.0).T[:3, 3]
        array([0.95, 0.05, 0.  ])
    """
    P, T, tau = corners("lines", poses, durations, blend)
    R, p = P[..., :3, :3], P[..., :3, 3]
    step = np.diff(p, axis=-2) / T[..., None]  # per second
    w = so3.log(so3.compose(so3.inverse(R[..., :-1, :, :]), R[..., 1:, :, :])) / T[..., None]

    def seen(R, v):
        return moves(np.einsum("...ji,...j->...i", R, v))

    # Segment i, from its first pose: the time since that pose is τ + s.
    ahead = np.stack([tau[..., :-1], np.ones_like(T)], axis=-1)[..., None, :]
    still = np.zeros((*step.shape[:-1], 6, 2))
    straight = np.stack([seen(R[..., :-1, :, :], step)[..., None] * ahead, turns(w)[..., None] * ahead, still], axis=-3)
    # Corners: with s = τ + t', (τ - t')² / (4 τ) = τ - s + s² / (4 τ), and (τ + t')² / (4 τ) = s² / (4 τ).
    half = tau[..., 1:-1]
    bent = 0.25 / np.where(half > 0, half, np.inf)
    before = -np.stack([half, -np.ones_like(half), bent], axis=-1)[..., None, :]
    after = np.stack([0 * half, 0 * half, bent], axis=-1)[..., None, :]
    at = R[..., 1:-1, :, :]
    shift = seen(at, step[..., :-1, :])[..., None] * before + seen(at, step[..., 1:, :])[..., None] * after
    rounded = np.stack([shift, turns(w[..., :-1, :])[..., None] * before, turns(w[..., 1:, :])[..., None] * after], -3)
    straight = np.pad(straight, [(0, 0)] * (straight.ndim - 1) + [(0, 1)])
    anchors = alternating(P[..., :-1, :, :], P[..., 1:-1, :, :], -3)
    return pose_pieces(scheduled(T, tau), alternating(straight, rounded, -4), anchors)
