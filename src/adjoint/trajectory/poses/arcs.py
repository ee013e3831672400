"""Circular arcs of a frame: through a point on the way, or about a given axis."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ...lie import se3, so3
from ...model.input_checks import floats, truth
from ..piecewise import Trajectory
from ..quantities import broadcast
from .checks import poses_of, vectors_of
from .pose_trajectory import PoseTrajectory
from .straight import run, turns, uniform

__all__ = ["arc", "circle"]

_STRAIGHT = 1e-9  # three points whose directions have a smaller sine lie on a straight line
_LONGEST = 1e6  # arcs, relative to the distances of the points; their ends have errors of 1e-16 of their length


def arc(T_0, via, T_1, duration=None, *, profile: Trajectory | None = None) -> PoseTrajectory:
    """The circular arc from T_0 over the point `via` (..., 3) [m] to T_1 (..., 4, 4).

    The origin moves on the circle through p_0, via and p_1, uniformly, while the frame turns about one axis from R_0 to
    R_1, as in `line`. `duration` and `profile` are those of `line`. With the axis u of the circle through its centre,
    seen from T_0 as the screw S, and its angle α, it is T_0 exp(λ α S) exp(-λ α u) exp(λ log(R_0ᵀ R_1)).

        >>> T_0, T_1 = se3.from_rotation_translation(np.eye(3), [[1.0, 0, 0], [-1, 0, 0]])
        >>> arc(T_0, [0.0, 1.0, 0.0], T_1, duration=1.0)(0.5).T[:3, 3].round(4) + 0.0
        array([0., 1., 0.])
    """
    caller = "arc"
    T_0, T_1 = poses_of(T_0, f"{caller}: T_0"), poses_of(T_1, f"{caller}: T_1")
    middle = vectors_of(via, "via", caller)
    broadcast(caller, T_0=T_0.shape[:-2], via=middle.shape[:-1], T_1=T_1.shape[:-2])
    a, b = middle - T_0[..., :3, 3], T_1[..., :3, 3] - T_0[..., :3, 3]
    screw, back = _chord(T_0, a, b)
    w = so3.log(so3.compose(so3.inverse(T_0[..., :3, :3]), T_1[..., :3, :3]))
    return run(uniform(T_0, screw, turns(back), turns(w)), duration, profile, caller)


def _chord(T_0: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The twist (..., 6) of the turn on the circle through 0, a and b (..., 3), seen from T_0, and the angle back.

    The angle at a between the ways to 0 and to b is π - α/2, and the origin starts with the velocity
    α/2 (cot(α/2) b - u × b). So it ends at b exactly, though the axis u and α are uncertain if the circle is large.
    """
    a, b = np.broadcast_arrays(a, b)
    scale = np.maximum(np.abs(a), np.abs(b)).max(axis=-1, keepdims=True)
    a, way = a / np.where(scale > 0, scale, 1.0), b / np.where(scale > 0, scale, 1.0)
    normal, ahead = np.cross(a, way), np.sum(a * (way - a), axis=-1, keepdims=True)
    sine = np.linalg.norm(normal, axis=-1, keepdims=True)
    long = np.linalg.norm(way, axis=-1, keepdims=True)
    half = np.arctan2(sine, ahead)
    flat = sine <= _STRAIGHT * np.linalg.norm(a, axis=-1, keepdims=True) * long
    if np.any(flat | (half * long * np.hypot(sine, ahead) > _LONGEST * sine)):
        raise ArgumentError("arc: T_0, via and T_1 lie on a straight line, or almost; `line` goes along it")
    u = normal - np.sum(normal * way, axis=-1, keepdims=True) * way / long**2  # the rounding error of a × b matters
    u /= np.linalg.norm(u, axis=-1, keepdims=True)
    turn = np.stack([2 * half * u, half * (ahead / sine * b - np.cross(u, b))], axis=-2)
    w, v = np.moveaxis(turn @ T_0[..., :3, :3], -2, 0)
    return np.concatenate([w, v], axis=-1), -w


def circle(
    T_0, centre, axis, angle=2 * np.pi, duration=None, *, turned: bool = False, profile: Trajectory | None = None
) -> PoseTrajectory:
    """The circle of a frame from T_0 (..., 4, 4) about the `axis` (..., 3) through `centre` (..., 3) [m].

    It goes by `angle` [rad], right-handed about the axis, for any number of turns or part of one. The frame keeps its
    orientation, or with `turned` it turns with the circle, as if it were fixed to a wheel. `duration` and `profile` are
    those of `line`.

        >>> T_0 = se3.from_rotation_translation(np.eye(3), [1.0, 0.0, 0.0])
        >>> circle(T_0, [0, 0, 0], [0, 0, 1], np.pi, duration=1.0)(0.5).T[:3, 3].round(4) + 0.0
        array([0., 1., 0.])
    """
    caller = "circle"
    T_0 = poses_of(T_0, f"{caller}: T_0")
    centre, axis, angle = vectors_of(centre, "centre", caller), vectors_of(axis, "axis", caller), floats(angle)
    broadcast(caller, T_0=T_0.shape[:-2], centre=centre.shape[:-1], axis=axis.shape[:-1], angle=angle.shape)
    largest = np.abs(axis).max(axis=-1, keepdims=True)
    if not np.all(largest > 0):
        raise ArgumentError(f"{caller}: axis must have a direction, got {axis.tolist()!r:.80}")
    axis = axis / largest  # whose square does not overflow
    if not np.isfinite(angle).all():
        raise ArgumentError(f"{caller}: angle must be finite [rad], got {angle.tolist()!r:.80}")
    screw, back = _round(T_0, centre, axis / np.linalg.norm(axis, axis=-1, keepdims=True), angle)
    path = uniform(T_0, screw) if truth(turned, f"{caller}: turned") else uniform(T_0, screw, back)
    return run(path, duration, profile, caller)


def _round(T_0: np.ndarray, centre: np.ndarray, axis: np.ndarray, angle) -> tuple[np.ndarray, np.ndarray]:
    """The twists (..., 6), seen from T_0, of a turn about an axis through `centre`, and of the same turn back in place.

    One after the other they move the origin on the circle and leave the orientation as it is.
    """
    angle = np.asarray(angle)[..., None]
    screw = angle * se3.Ad_inv_action(T_0, se3.screw(axis, centre, 0.0))
    own = np.einsum("...ji,...j->...i", T_0[..., :3, :3], axis)
    return screw, turns(-angle * own)
