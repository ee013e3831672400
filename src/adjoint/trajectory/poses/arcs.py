"""Circular arcs of a frame: through a point on the way, or about a given axis."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ...lie import se3, so3
from ...model.input_checks import floats, truth
from ..piecewise import Trajectory
from .checks import broadcast, poses_of, vectors_of
from .pose_trajectory import PoseTrajectory
from .straight import run, turns, uniform

__all__ = ["arc", "circle"]

_STRAIGHT = 1e-9  # three points whose directions have a smaller sine lie on a straight line


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
    normal = np.cross(a, b)
    n2 = np.sum(normal**2, axis=-1, keepdims=True)
    a2, b2 = np.sum(a * a, axis=-1, keepdims=True), np.sum(b * b, axis=-1, keepdims=True)
    if not np.all(n2 > _STRAIGHT**2 * a2 * b2):
        raise ArgumentError(f"{caller}: T_0, via and T_1 lie on a straight line; `line` goes along it")
    to_centre = np.cross(a2 * b - b2 * a, normal) / (2 * n2)
    axis = normal / np.sqrt(n2)
    x, y = -to_centre, b - to_centre
    angle = np.arctan2(np.sum(axis * np.cross(x, y), axis=-1), np.sum(x * y, axis=-1)) % (2 * np.pi)
    w = so3.log(so3.compose(so3.inverse(T_0[..., :3, :3]), T_1[..., :3, :3]))
    path = uniform(T_0, *_round(T_0, T_0[..., :3, 3] + to_centre, axis, angle), turns(w))
    return run(path, duration, profile, caller)


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
    length = np.linalg.norm(axis, axis=-1, keepdims=True)
    if not np.all(length > 0):
        raise ArgumentError(f"{caller}: axis must have a direction, got {axis.tolist()!r:.80}")
    if not np.isfinite(angle).all():
        raise ArgumentError(f"{caller}: angle must be finite [rad], got {angle.tolist()!r:.80}")
    screw, back = _round(T_0, centre, axis / length, angle)
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
