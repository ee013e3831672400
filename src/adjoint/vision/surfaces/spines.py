"""Spines of generalized cones: curves that carry a frame, made of screw motions.

Along piece i of a spine, the frame moves by a constant body twist: T(τ) = Tᵢ exp(τ ξᵢ), 0 ≤ τ ≤ 1. Without rotation
this is a line, with rotation across the way a circular arc, and with rotation along the way it twists the cross
section. The z axis of the frame points along the spine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...compile import kernel
from ...errors import ArgumentError
from ...lie import se3, so3
from ...model.input_checks import count, floats, motions, positive

__all__ = ["Spine", "arc_spine", "spine_coordinates", "spine_through", "straight_spine"]


@dataclass(frozen=True, eq=False)
class Spine:
    """A curve with a frame: `frames` (n, 4, 4) in which n pieces of equal parameter begin, and their `twists` (n, 6).

    `straight_spine`, `arc_spine` and `spine_through` make spines.

        >>> straight_spine((0, 0, 0), (0, 0, 2)).length
        2.0
    """

    frames: np.ndarray
    twists: np.ndarray

    def __post_init__(self):
        frames = motions(self.frames, (None, 4, 4), "Spine: frames")
        twists = floats(self.twists)
        if twists.shape != (len(frames), 6) or not len(frames) or not np.isfinite(twists).all():
            raise ArgumentError(
                f"Spine: twists must be finite ({len(frames)}, 6), one for each frame, got {twists.shape}"
            )
        object.__setattr__(self, "frames", frames)
        object.__setattr__(self, "twists", twists)

    @property
    def length(self) -> float:
        """The length [m] of the curve."""
        return float(np.linalg.norm(self.twists[:, 3:], axis=1).sum())

    def at(self, t) -> np.ndarray:
        """The frames (..., 4, 4) at parameters t (...) from 0 to 1."""
        piece, tau = self.pieces(t)
        return self.frames[piece] @ se3.exp(self.twists[piece] * tau[..., None])

    def pieces(self, t) -> tuple[np.ndarray, np.ndarray]:
        """The number of the piece at each parameter t, and the parameter within it."""
        along = floats(t) * len(self.frames)
        if not np.isfinite(along).all():
            raise ArgumentError("Spine: parameters t must be finite numbers")
        piece = np.clip(np.floor(along), 0, len(self.frames) - 1).astype(int)
        return piece, along - piece

    def __repr__(self) -> str:
        return f"<Spine: {len(self.frames)} {'piece' if len(self.frames) == 1 else 'pieces'}, {self.length:g} m>"


def _frame(start, z, x) -> np.ndarray:
    """A frame at a point with a given z axis, and an x axis as near to a given direction as possible."""
    z = z / np.linalg.norm(z)
    x = np.eye(3)[np.argmin(np.abs(z))] if x is None else floats(x)
    x = x if x.shape == (3,) and 0 < np.abs(x).max() < 1e100 else z
    across = x - (x @ z) * z
    if not np.linalg.norm(across) > 1e-9 * np.linalg.norm(x):
        raise ArgumentError("straight_spine: x_axis must be a direction (3,) that is not along the spine")
    x = across / np.linalg.norm(across)
    T = np.eye(4)
    T[:3] = np.column_stack([x, np.cross(z, x), z, start])
    return T


def straight_spine(start, end, *, x_axis=None) -> Spine:
    """A straight `Spine` from a point `start` (3,) [m] to a point `end` (3,) [m].

    `x_axis` (3,) says where the x axis of cross sections points, as far as it can.

        >>> straight_spine((0, 0, 0), (0, 0, 2)).at(0.5)[:3, 3]
        array([0., 0., 1.])
    """
    start, end = floats(start), floats(end)
    if start.shape != (3,) or end.shape != (3,) or not 0 < np.linalg.norm(end - start) < np.inf:
        raise ArgumentError("straight_spine: start and end must be two different points (3,)")
    twist = np.array([0.0, 0, 0, 0, 0, np.linalg.norm(end - start)])
    return Spine(_frame(start, end - start, x_axis)[None], twist[None])


def arc_spine(T_world_start, length: float, *, curvature=(0.0, 0.0), torsion: float = 0.0) -> Spine:
    """A `Spine` of one screw motion: a circular arc, a helix, or a line along which sections turn.

        >>> half = arc_spine(np.eye(4), np.pi, curvature=(1, 0))        # half a circle of radius 1, towards x
        >>> half.at(1.0)[:3, 3].round(9)
        array([2., 0., 0.])

    It begins in the frame `T_world_start` (4, 4) along its z axis, and is `length` [m] long. `curvature` (2,) [1/m] is
    the vector towards the centre of curvature, along the axes x and y of the frame; `torsion` [rad/m] turns the frame
    about the spine, and with it the direction of the curvature.
    """
    k = floats(curvature)
    turn = floats(torsion)
    if k.shape != (2,) or turn.shape != () or not (np.abs(np.append(k, turn)) < 1e100).all():
        raise ArgumentError("arc_spine: curvature must be two finite numbers [1/m], and torsion one")
    length = positive(length, "arc_spine: length")
    if length > 1e100:
        raise ArgumentError(f"arc_spine: length is {length:g} m, which is too large")
    # The tangent z turns towards x by a rotation about y, and towards y by one about -x.
    twist = length * np.array([-k[1], k[0], float(turn), 0, 0, 1])
    return Spine(motions(T_world_start, (4, 4), "arc_spine: T_world_start")[None], twist[None])


def spine_through(points, *, pieces: int = 64, x_axis=None) -> Spine:
    """A `Spine` along the cubic spline through `points` (n, 3) [m], with frames that do not turn about it.

        >>> t = np.linspace(0, 4, 9)
        >>> spine_through(np.stack([np.cos(t), np.sin(t), 0.2 * t], axis=1))
        <Spine: 64 pieces, 4.07... m>

    The spline is divided into `pieces` of about equal length. Frames are transported without rotation about the
    tangent (the double reflection of Wang, Jüttler, Zheng & Liu 2008), and screw motions join them. `x_axis` is that
    of `straight_spine`.
    """
    from scipy.interpolate import CubicSpline

    points = floats(points)
    if points.ndim != 2 or points.shape[1:] != (3,) or len(points) < 2 or not (np.abs(points) < 1e100).all():
        raise ArgumentError("spine_through: points must be finite numbers (n, 3) [m], with two points at least")
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if not (steps > 0).all():
        raise ArgumentError(
            f"spine_through: points {int(np.argmin(steps))} and {int(np.argmin(steps)) + 1} are the same"
        )
    n = count(pieces, "spine_through: pieces")
    if n < 1:
        raise ArgumentError("spine_through: one piece is needed at least")
    chord = np.concatenate([[0], np.cumsum(steps)])
    curve = CubicSpline(chord, points)
    fine = np.linspace(0, chord[-1], 32 * n + 1)
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(curve(fine), axis=0), axis=1))])
    at = np.interp(np.linspace(0, length[-1], n + 1), length, fine)
    frames = _transported(curve(at), curve(at, 1), x_axis)
    twists = se3.log(se3.inverse(frames[:-1]) @ frames[1:])
    return Spine(frames[:-1], twists)


def _transported(p: np.ndarray, tangent: np.ndarray, x_axis) -> np.ndarray:
    """Frames (n, 4, 4) along a curve, each reflected twice into the next."""
    tangent = tangent / np.linalg.norm(tangent, axis=1)[:, None]
    frames = [_frame(p[0], tangent[0], x_axis)]
    for k in range(len(p) - 1):
        x, z = frames[-1][:3, 0], frames[-1][:3, 2]
        across = p[k + 1] - p[k]
        x, z = (a - 2 * (across @ a) / (across @ across) * across for a in (x, z))
        turn = tangent[k + 1] - z
        x = x - 2 * (turn @ x) / (turn @ turn) * turn if turn @ turn > 1e-24 else x
        frames.append(_frame(p[k + 1], tangent[k + 1], x))
    return np.array(frames)


@kernel(point=3, tilt=2, shift=2, curvature=2)
def spine_coordinates(point, tilt, shift, curvature):
    """The coordinates (x, y, z) of a `point` (3,) [m] along and across a spine near the z axis.

    The spine goes through (shift, 0) [m], turned by the rotation vector (`tilt`, 0) [rad] from the z axis, and is an
    arc whose `curvature` vector k (2,) [1/m] points towards its centre. Across, p = (x, y) - k z² / (1 + h - k·(x, y))
    with h² = (1 - k·(x, y))² + k² z²; along, z is the length of the arc. Both are smooth at k = 0, where the spine is
    straight.

        >>> spine_coordinates([1.2, 0, 1], [0, 0], [0.2, 0], [1.0, 0.0]).round(9)         # where the arc ends
        array([0.        , 0.        , 1.57079633])
    """
    R = so3.exp(np.stack([tilt[0], tilt[1], 0.0 * tilt[0]]))
    x, y, z = R.T @ (point - np.stack([shift[0], shift[1], 0.0 * shift[0]]))
    k2 = curvature @ curvature
    q = curvature[0] * x + curvature[1] * y
    h = np.sqrt((1 - q) ** 2 + k2 * z * z)
    down = z * z / (1 + h - q)
    # The arc atan2(κ z, 1 - q) / κ; for small angles, atan(u) / u = 1 - u²/3 + u⁴/5 with u = κ z / (1 - q).
    ahead = np.where(np.abs(1 - q) > 1e-9, 1 - q, 1e-9)
    u2 = k2 * z * z / (ahead * ahead)
    small = (u2 < 1e-4) & (q < 1)
    root = np.sqrt(np.where(small, 1.0, k2))
    bent = np.arctan2(root * z, 1 - q) / root
    straight = z / ahead * (1 - u2 / 3 + u2 * u2 / 5 - u2 * u2 * u2 / 7)
    return np.stack([x - curvature[0] * down, y - curvature[1] * down, np.where(small, straight, bent)])


def __dir__() -> list[str]:
    return __all__
