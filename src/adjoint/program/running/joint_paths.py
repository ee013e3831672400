"""Timing of motions: trapezoids, cubics through knots that are passed without a stop, and lines with speeds at ends."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...model.once import once_a_robot
from ...model.robot import Robot

__all__: list[str] = []

TURNING_SPEED = 2.0
"""The speed [rad/s] of joints that turn, if the robot's model has no limit."""
SLIDING_SPEED = 0.5
"""The speed [m/s] of joints that slide, if the robot's model has no limit."""
GATHERING = 4.0
"""Accelerations are so many times the speed limits, each second: full speed is there after 1/4 s."""
_STILL = 1e-12  # [rad, m] coordinates that differ by less are the same
_ROUNDS = 8  # in which the pieces of a motion get their times
_ENOUGH = 1.03  # pieces that ask so much more than the limits are made slower all together
_FRACTIONS = 9  # of a cubic, at which its speed is looked at


class SpeedLimits(NamedTuple):
    """Limits of the speeds (nv,) [rad/s, m/s] and of the accelerations (nv,) of a robot."""

    velocity: np.ndarray
    acceleration: np.ndarray


@once_a_robot
def speed_limits(robot: Robot) -> SpeedLimits:
    """The limits of a robot; where its model has none, those of this file."""
    slides = np.zeros(robot.nv, bool)
    for i, kind in enumerate(robot.joint_types):
        if kind == "prismatic" and i not in robot.mimics:
            slides[robot.layout.v_start[i]] = True
    own = np.where(slides, SLIDING_SPEED, TURNING_SPEED)
    V = np.where(np.isfinite(robot.velocity_limit) & (robot.velocity_limit > 0), robot.velocity_limit, own)
    V.setflags(write=False)
    A = GATHERING * V
    A.setflags(write=False)
    return SpeedLimits(V, A)


class Profile(NamedTuple):
    """The motion s(t) from 0 to 1: up from `first` to `top` with a, at this speed, and down to `last` with d.

    Speeds are in 1/s. `times` has the ends of the three phases.
    """

    first: float
    top: float
    last: float
    a: float
    d: float
    times: tuple[float, float, float]

    @property
    def duration(self) -> float:
        """How long it lasts [s]."""
        return self.times[2]

    def at(self, t: np.ndarray) -> np.ndarray:
        """s (N,) at the times t (N,)."""
        t_1, t_2, t_3 = self.times
        s_1 = (self.first + 0.5 * self.a * t_1) * t_1
        begin = (self.first + 0.5 * self.a * t) * t
        left = t_3 - t
        end = 1.0 - (self.last + 0.5 * self.d * left) * left
        return np.where(t < t_1, begin, np.where(t < t_2, s_1 + self.top * (t - t_1), end))


def profile(cap: float, a: float, d: float, first: float = 0.0, last: float = 0.0) -> Profile:
    """The fastest s(t) from 0 to 1 with speeds up to `cap`, accelerations up to a, and decelerations up to d."""
    # Where the cap is not reached, (p² - first²)/2a + (p² - last²)/2d = 1.
    peak = np.sqrt((1.0 + first * first / (2 * a) + last * last / (2 * d)) / (0.5 / a + 0.5 / d))
    top = float(min(cap, peak))
    t_1, t_3 = (top - first) / a, (top - last) / d
    way = 1.0 - 0.5 * (top + first) * t_1 - 0.5 * (top + last) * t_3
    t_2 = max(way, 0.0) / top
    return Profile(first, top, last, a, d, (t_1, t_1 + t_2, t_1 + t_2 + t_3))


class Section(NamedTuple):
    """A motion from rest to rest: its duration [s], and what gives configurations (N, nq) at rising times t (N,)."""

    duration: float
    at: Any
    ends: tuple[float, ...] = ()
    """when each of several pieces has ended [s]"""


def straight_joints(start: np.ndarray, goal: np.ndarray, velocity, acceleration, deceleration=None) -> Section:
    """The joints move on one line, all with the same profile, as fast as the limits (nq,) of all allow."""
    way = goal - start
    size = np.abs(way)
    moves = size > _STILL
    if not moves.any():
        return Section(0.0, lambda t: np.broadcast_to(goal, (len(t), len(goal))))
    size = np.where(moves, size, 1.0)

    def least(limit) -> float:
        return float(np.where(moves, limit / size, np.inf).min())

    a = least(acceleration)
    one = profile(least(velocity), a, a if deceleration is None else least(deceleration))

    def at(t: np.ndarray) -> np.ndarray:
        s = one.at(t)[:, None]
        return np.where(s < 0.5, start + s * way, goal - (1.0 - s) * way)  # both ends are exact

    return Section(one.duration, at)


class LinePiece(NamedTuple):
    """A piece on which a frame moves along a line: configurations `table` (M, nq) at even fractions, and limits of s.

    `solve` gives the configurations (N, nq) at fractions (N,).
    """

    table: np.ndarray
    cap: float
    gathering: float
    solve: Any


class JointPiece(NamedTuple):
    """A piece on which the joints move between two knots."""

    start: np.ndarray
    goal: np.ndarray


def through(pieces: list, limits: SpeedLimits, passing: float = 0.5) -> Section:
    """The motion along pieces, from rest to rest, which passes all knots between them without a stop.

    Joints move on cubics that do not overshoot (Fritsch & Carlson); frames on lines keep to them exactly. `passing` is
    the part of a line's full speed with which the motion enters and leaves it.
    """
    V, A = limits
    if len(pieces) == 1 and isinstance(pieces[0], JointPiece):
        found = straight_joints(pieces[0].start, pieces[0].goal, V, A)
        return found._replace(ends=(found.duration,))
    if len(pieces) == 1:
        one = profile(pieces[0].cap, pieces[0].gathering, pieces[0].gathering)
        return Section(one.duration, lambda t: pieces[0].solve(np.clip(one.at(t), 0.0, 1.0)), (one.duration,))
    speeds = [_line_speeds(pieces, i, passing) for i in range(len(pieces))]
    h = np.array([_alone(p.goal - p.start, V) if isinstance(p, JointPiece) else 0.0 for p in pieces])
    ways = np.stack([p.goal - p.start if isinstance(p, JointPiece) else np.full(len(V), np.nan) for p in pieces])
    for _ in range(_ROUNDS):
        profiles = [_line_profile(p, u) for p, u in zip(pieces, speeds, strict=True)]
        h = np.array([x if one is None else one.duration for x, one in zip(h, profiles, strict=True)])
        v = _knot_velocities(pieces, speeds, h)
        excess = _excess(ways, h, v, V, A)
        if excess.max() < _ENOUGH:
            break
        # Pieces that ask too much of the joints last longer, and lines beside them are entered and left more slowly.
        h = h * np.maximum(excess, 1.0)
        for i in np.flatnonzero(excess > 1.0):
            if i > 0:
                speeds[i - 1] = speeds[i - 1][0], speeds[i - 1][1] / excess[i]
            if i + 1 < len(pieces):
                speeds[i + 1] = speeds[i + 1][0] / excess[i], speeds[i + 1][1]
    profiles = [_line_profile(p, u) for p, u in zip(pieces, speeds, strict=True)]
    h = np.array([x if one is None else one.duration for x, one in zip(h, profiles, strict=True)])
    v = _knot_velocities(pieces, speeds, h)
    slower = float(_excess(ways, h, v, V, A).max())
    if any(one is not None for one in profiles):
        slower = max(slower, 1.0)
    ends = np.cumsum(h)

    def at(t: np.ndarray) -> np.ndarray:
        t = t / slower
        bounds = [0, *np.searchsorted(t, ends[:-1], side="right").tolist(), len(t)]
        found = np.empty((len(t), len(V)))
        for i, one in enumerate(profiles):
            mine = slice(bounds[i], bounds[i + 1])
            local = t[mine] - (ends[i] - h[i])
            if not len(local):
                continue
            if one is not None:
                found[mine] = pieces[i].solve(np.clip(one.at(local), 0.0, 1.0))
            else:
                found[mine] = _cubic(pieces[i], local / h[i], h[i] * v[i], h[i] * v[i + 1])
        return found

    return Section(float(ends[-1] * slower), at, tuple(ends * slower))


def _line_speeds(pieces: list, i: int, passing: float) -> tuple[float, float]:
    """The speeds of s with which a line is entered and left; 0 at the ends of the motion."""
    piece = pieces[i]
    if not isinstance(piece, LinePiece):
        return 0.0, 0.0
    u = passing * min(piece.cap, float(np.sqrt(piece.gathering)))
    return (u if i > 0 else 0.0), (u if i + 1 < len(pieces) else 0.0)


def _line_profile(piece, speeds: tuple[float, float]) -> Profile | None:
    if not isinstance(piece, LinePiece):
        return None
    return profile(piece.cap, piece.gathering, piece.gathering, *speeds)


def _alone(way: np.ndarray, V: np.ndarray) -> float:
    """How long a piece lasts at full speed."""
    return max(float(np.max(np.abs(way) / V)), 1e-6)


def _knot_velocities(pieces: list, speeds: list, h: np.ndarray) -> np.ndarray:
    """Velocities (K + 1, nq) at the ends of all pieces."""
    first = pieces[0]
    n = len(first.start if isinstance(first, JointPiece) else first.table[0])
    v = np.zeros((len(pieces) + 1, n))
    for k in range(1, len(pieces)):
        before, after = pieces[k - 1], pieces[k]
        if isinstance(after, LinePiece):
            v[k] = speeds[k][0] * (len(after.table) - 1) * (after.table[1] - after.table[0])
        elif isinstance(before, LinePiece):
            v[k] = speeds[k - 1][1] * (len(before.table) - 1) * (before.table[-1] - before.table[-2])
        else:
            v[k] = _between((before.goal - before.start) / h[k - 1], (after.goal - after.start) / h[k], h[k - 1], h[k])
    return v


def _between(left: np.ndarray, right: np.ndarray, h_0: float, h_1: float) -> np.ndarray:
    """The slopes at a knot with which a cubic does not overshoot: 0 where a joint turns back, else a harmonic mean."""
    w_0, w_1 = 2 * h_1 + h_0, h_1 + 2 * h_0
    same = left * right > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(same, (w_0 + w_1) / (w_0 / left + w_1 / right), 0.0)


def _rows_of_cubics() -> np.ndarray:
    """(F + 2, 3) how way and slopes at both ends, times T, make speed · T at fractions, and the bends at both ends."""
    u = np.linspace(0.0, 1.0, _FRACTIONS)
    rates = np.stack([6 * u - 6 * u * u, 1 - 4 * u + 3 * u * u, 3 * u * u - 2 * u], axis=1)
    return np.concatenate([rates, [[6.0, -4.0, -2.0], [-6.0, 2.0, 4.0]]])


_CUBICS = _rows_of_cubics()


def _excess(ways: np.ndarray, h: np.ndarray, v: np.ndarray, V: np.ndarray, A: np.ndarray) -> np.ndarray:
    """(K,) by how much cubics have to be slower (or can be faster) to keep the limits; 0 of lines, whose way is NaN."""
    T = h[:, None]
    asked = _CUBICS @ np.stack([ways, T * v[:-1], T * v[1:]]).reshape(3, -1)
    asked = np.abs(asked).reshape(-1, *ways.shape)
    fast, bend = asked[:_FRACTIONS].max(axis=0) / V, asked[_FRACTIONS:].max(axis=0) / A
    found = np.maximum(fast.max(axis=1), np.sqrt(bend.max(axis=1))) / h
    return np.where(np.isnan(found), 0.0, found)


def _cubic(piece: JointPiece, u: np.ndarray, m_0: np.ndarray, m_1: np.ndarray) -> np.ndarray:
    u = u[:, None]
    way = piece.goal - piece.start
    rise = u * u * (3 - 2 * u)
    bent = (u * (1 - u) ** 2) * m_0 + (u * u * (u - 1)) * m_1
    return np.where(u < 0.5, piece.start + rise * way, piece.goal - (1 - rise) * way) + bent


def ticks_of(duration: float, period: float) -> int:
    """The number of ticks that a motion lasts: as many as it needs, and no less."""
    return int(np.ceil(duration / period - 1e-9))


def sampled(section: Section, ticks: int) -> np.ndarray:
    """Configurations (ticks, nq) of a motion that is stretched to so many ticks."""
    k = np.arange(1, ticks + 1, dtype=float)
    return section.at(k * (section.duration / ticks))


def velocities(start: np.ndarray, q: np.ndarray, period: float) -> np.ndarray:
    """Velocities (N, nq) at the ticks of a motion from rest at `start` to rest at its end, by central differences."""
    v = np.zeros_like(q)
    if len(q) > 1:
        v[0] = q[1] - start
        v[1:-1] = q[2:] - q[:-2]
    return v / (2 * period)
