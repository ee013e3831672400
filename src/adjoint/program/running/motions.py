"""Moves as motions: `plan_move` and `plan_joints` give the configurations of an arm at every tick."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...inverse import Solutions
from ...kinematics import forward_kinematics
from ...model.robot import Robot
from ...world import plan_motion
from ...world.state import World
from ...world.state.placements import inverted
from ...world.units import INCH
from .arms import hand_in_tool
from .backends import ArmMotion, Compliance
from .joint_paths import (
    JointPiece,
    LinePiece,
    Section,
    sampled,
    speed_limits,
    straight_joints,
    through,
    ticks_of,
    velocities,
)  # fmt: skip
from .knot_configurations import (
    TABLE_FRACTIONS,
    ArmFrame,
    PoseLine,
    UnreachableError,
    beyond,
    line_piece,
    nearest_to,
    pose_line,
    solved,
)  # fmt: skip

__all__ = ["APPROACH_LENGTH", "plan_joints", "plan_move"]

APPROACH_LENGTH = 3 * INCH
"""The length [m] of an approach or a departure that a program gives as a direction alone."""
_ROUNDING = 0.02  # [m] lines that meet at a point that is passed are left so far before it, at most
_STILL = 1e-12
_MOST_TICKS = 1_000_000  # of one motion
_TURN_LENGTH = 0.2  # [m/rad] what turning counts for where lines are rounded


class Knot(NamedTuple):
    """A place that a motion passes: a pose (4, 4) of the moving frame in the base, or a configuration (nq,)."""

    goal: np.ndarray
    straight: bool


class Planned(NamedTuple):
    """Configurations (N, nq) at the ticks, and for each knot the number of ticks after which it has been reached."""

    q: np.ndarray
    reached: tuple[int, ...]


def plan_move(
    world: World, robot: str, to, *, via: Sequence = (), straight: bool = False, approach=None, departure=None,
    frame: str | None = None, offset=None, flags: Sequence[str] = (), speed: float = 1.0,
    duration: float | None = None, period: float = 0.01, avoiding: bool = False,
    compliance: Compliance | None = None, rng: int = 0,
) -> ArmMotion:  # fmt: skip
    """The motion of a robot of a world from where it is to a pose or a configuration, sampled at every tick.

        >>> w = aj.world.World().add_robot("arm", robot, q=[0.3, -0.8, 2.0, 0.3, 0.7, 0.0])
        >>> goal = w.pose("arm.tool").copy()
        >>> goal[2, 3] -= 0.1
        >>> plan_move(w, "arm", goal, straight=True).q.shape
        (58, 6)

    - `to` and `via` are poses (4, 4) in the station, or configurations (nq,); via points are passed without a stop.
    - With `straight` the hand moves on lines, else the joints do. `approach` and `departure` (3,) are the last and the
      first piece of the motion along axes of the station [m]; a vector of length 1 is a direction, and the piece is
      then `APPROACH_LENGTH` long.
    - What moves to the poses is `offset` (4, 4) in the `frame` of the robot; by default the robot's hand.
    - `flags` such as "lefty" choose a branch; else it is the one nearest to where the arm is, inside the limits.
    - `speed` is a fraction of the full speed; with a `duration` [s] the motion lasts so long, or as long as it must.
    - `avoiding` plans around what is in the way, with `rng`.

    An `UnreachableError` says what cannot be reached, and why. Speeds are those of the robot's model, else 2 rad/s and
    0.5 m/s. Reference: Fu, Gonzalez & Lee (1987), Sec. 9.2.2.
    """
    known = world.robots[robot]
    frame = known.tool if frame is None else frame
    hand = hand_in_tool(world, robot) if offset is None else np.asarray(offset, float)
    knots = knots_of(world, robot, to, via, straight, approach, departure, frame, hand)
    if avoiding:
        section = _avoiding(world, robot, frame, knots, rng)
        q = _timed(section, speed, duration, period, known.q)
    else:
        q = planned(known.robot, frame, known.q, knots, flags, speed, duration, period).q
    return ArmMotion(robot, q, velocities(known.q, q, period), compliance)


def knots_of(world: World, robot: str, to, via, straight, approach, departure, frame, hand) -> list[Knot]:
    """The knots of a move in the base of its robot; poses of what moves become poses of the robot's frame."""
    known = world.robots[robot]
    T_base_world, T_hand_frame = inverted(world.pose(robot)), inverted(hand)

    def place(value) -> np.ndarray:
        value = np.asarray(value, float)
        if value.shape == (4, 4):
            return T_base_world @ value @ T_hand_frame
        if value.shape != (known.robot.nq,):
            raise UnreachableError(f"a place is a frame or {known.robot.nq} joint values, not shape {value.shape}")
        return value

    knots = []
    if departure is not None:
        start = world.pose(robot) @ known.placement(frame) @ hand
        knots.append(Knot(place(_shifted(start, _length(departure))), True))
    knots += [Knot(place(v), straight) for v in via]
    goal = np.asarray(to, float)
    if approach is not None:
        if goal.shape != (4, 4):
            T = np.asarray(forward_kinematics(known.robot, goal, frame))
            goal = world.pose(robot) @ T @ hand
        knots.append(Knot(place(_shifted(goal, -_length(approach))), straight))
    knots.append(Knot(place(goal), straight or approach is not None))
    return knots


def _length(vector) -> np.ndarray:
    vector = np.asarray(vector, float)
    return vector * APPROACH_LENGTH if abs(np.linalg.norm(vector) - 1) < 1e-9 else vector


def _shifted(T: np.ndarray, by: np.ndarray) -> np.ndarray:
    found = np.array(T)
    found[:3, 3] += by
    return found


# --- through knots ----------------------------------------------------------------------------------------------------


def planned(
    robot: Robot, frame: str, start: np.ndarray, knots: Sequence[Knot], flags: Sequence[str], speed: float,
    duration: float | None, period: float,
) -> Planned:  # fmt: skip
    """The configurations at every tick of the motion through knots."""
    if robot.nq != robot.nv:
        raise UnreachableError(f"robot '{robot.name}' has joints of several degrees of freedom, which no move moves")
    arm = ArmFrame(robot, frame)
    pieces, last = _pieces(arm, start, knots, flags)
    if not pieces:
        ticks = 0 if duration is None else _ticks(duration, period)
        return Planned(np.tile(start, (ticks, 1)), (ticks,) * len(knots))
    limits = speed_limits(robot)
    for passing in (0.5, 0.0):  # where a piece that is entered at speed would leave the limits, it is entered at rest
        section = through(pieces, limits, passing)
        q = _timed(section, speed, duration, period, start)
        low, high = q.min(axis=0), q.max(axis=0)
        if (low >= robot.lower - 1e-9).all() and (high <= robot.upper + 1e-9).all():
            break
    else:
        raise UnreachableError(beyond(robot, low) or beyond(robot, high), "limit")
    scale = len(q) / section.duration
    ends = (0.0, *section.ends)
    return Planned(q, tuple([int(np.ceil(ends[k] * scale - 1e-9)) for k in last]))


def _ticks(lasting: float, period: float) -> int:
    """The ticks of a motion of so many seconds; an error, before memory is asked for, if it would hardly ever end."""
    if not lasting / period <= _MOST_TICKS:
        raise UnreachableError(
            f"the motion would last {lasting:.4g} s; {_MOST_TICKS} ticks of {period:g} s are the most", "limit"
        )
    return ticks_of(lasting, period)


def _timed(section: Section, speed: float, duration: float | None, period: float, start: np.ndarray) -> np.ndarray:
    lasting = section.duration / speed
    if duration is not None:
        lasting = max(lasting, duration)
    ticks = max(_ticks(lasting, period), int(section.duration > 0))
    if section.duration == 0.0 or ticks == 0:
        return np.tile(start, (ticks, 1))
    return sampled(section, ticks)


def _pieces(arm: ArmFrame, start: np.ndarray, knots: Sequence[Knot], flags: Sequence[str]) -> tuple[list, list[int]]:
    """The pieces of a motion, and for each knot the number of pieces up to it."""
    lines, poses = _lines(arm, start, knots)
    found = solved(arm, np.concatenate(poses), start) if poses else None
    q, at, pieces, last, ways = start, 0, [], [], []
    for knot, line, count in zip(knots, lines, [len(p) for p in _counts(knots, lines)], strict=True):
        some = None if found is None else Solutions(found.q[at : at + count], found.exact[at : at + count])
        at += count
        if line is not None and some is not None:
            piece = line_piece(arm, line, some, q)
            goal = piece.table[-1]
        elif knot.goal.ndim == 1:
            if words := beyond(arm.robot, knot.goal):
                raise UnreachableError(words, "limit")
            goal = knot.goal
            piece = JointPiece(q, goal)
        else:
            assert some is not None
            goal = nearest_to(arm, Solutions(some.q[0], some.exact[0]), q, flags)
            piece = JointPiece(q, goal)
        if np.abs(goal - q).max() > _STILL or (line is not None and line.length + line.angle > _STILL):
            if ways and isinstance(pieces[-1], LinePiece) and isinstance(piece, LinePiece):
                pieces[-1:], piece = _rounded(pieces[-1], ways[-1], piece, line)
            pieces.append(piece)
            ways.append(line)
        q = goal
        last.append(len(pieces))
    return pieces, last


def _lines(arm: ArmFrame, start: np.ndarray, knots: Sequence[Knot]) -> tuple[list[PoseLine | None], list[np.ndarray]]:
    """The lines to knots that are reached on lines, and all poses that have to be solved."""
    lines: list[PoseLine | None] = []
    if not any(knot.straight for knot in knots):
        return [None] * len(knots), [k.goal[None] for k in knots if k.goal.ndim == 2]
    before, poses = np.asarray(forward_kinematics(arm.robot, start, arm.frame)), []
    for knot in knots:
        T = knot.goal
        if T.ndim == 1:
            T = np.asarray(forward_kinematics(arm.robot, T, arm.frame))
        line = pose_line(before, T) if knot.straight else None
        lines.append(line)
        if line is not None:
            poses.append(line.at(TABLE_FRACTIONS))
        elif knot.goal.ndim == 2:
            poses.append(knot.goal[None])
        before = T
    return lines, poses


def _counts(knots: Sequence[Knot], lines: Sequence[PoseLine | None]) -> list[range]:
    table = len(TABLE_FRACTIONS)
    return [range(table if line is not None else int(k.goal.ndim == 2)) for k, line in zip(knots, lines, strict=True)]


def _rounded(before: LinePiece, way_0, after: LinePiece, way_1) -> tuple[list, LinePiece]:
    """Two lines that meet, cut before and after the corner, with joint pieces that go through the corner itself."""
    sizes = [max(w.length, _TURN_LENGTH * w.angle, 1e-9) for w in (way_0, way_1)]
    cut = min(_ROUNDING, 0.25 * min(sizes))
    first, second = _part(before, 0.0, 1.0 - cut / sizes[0]), _part(after, cut / sizes[1], 1.0)
    corner = after.table[0]
    return [first, JointPiece(first.table[-1], corner), JointPiece(corner, second.table[0])], second


def _part(piece: LinePiece, a: float, b: float) -> LinePiece:
    """A part of a line piece."""
    share = b - a
    s = np.linspace(a, b, len(piece.table))
    return LinePiece(
        piece.solve(s), piece.cap / share, piece.gathering / share, lambda t: piece.solve(np.clip(a + share * t, 0, 1))
    )


# --- around obstacles -------------------------------------------------------------------------------------------------


def _avoiding(world: World, robot: str, frame: str, knots: Sequence[Knot], rng: int) -> Section:
    """The motion that a plan finds from knot to knot, with stops at them."""
    known = world.robots[robot]
    parts, q = [], known.q
    for knot in knots:
        goal = world.pose(robot) @ knot.goal if knot.goal.ndim == 2 else knot.goal
        V, A = speed_limits(known.robot)
        plan = plan_motion(world, robot, q, goal, tool=frame, velocity=V, acceleration=A, rng=rng)
        if not plan.solved or plan.trajectory is None:
            raise UnreachableError(f"no way around the obstacles was found: {plan.reason}", "collision")
        parts.append(plan.trajectory)
        q = np.asarray(plan.trajectory(float(plan.trajectory.duration)).q)
        world = world.set_configuration(robot, q)
    ends = np.cumsum([float(p.duration) for p in parts])

    def at(t: np.ndarray) -> np.ndarray:
        which = np.minimum(np.searchsorted(ends, t), len(parts) - 1)
        rows = [
            np.asarray(parts[i](min(x - ends[i] + parts[i].duration, parts[i].duration)).q)
            for i, x in zip(which, t, strict=True)
        ]
        return np.stack(rows)

    return Section(float(ends[-1]), at, tuple(ends))


# --- joints -----------------------------------------------------------------------------------------------------------


def plan_joints(
    world: World, robot: str, joints: Sequence[int], values, *, relative: bool = False,
    velocity=None, acceleration=None, deceleration=None, speed: float = 1.0, period: float = 0.01,
) -> ArmMotion:  # fmt: skip
    """The motion of some joints, with numbers from 1, to values or by values [rad, m], all of them together.

        >>> w = aj.world.World().add_robot("arm", robot)
        >>> motion = plan_joints(w, "arm", [1, 6], [0.5, 1.0], velocity=1.0, acceleration=1.0, deceleration=1.0)
        >>> len(motion.q)
        200

    `velocity`, `acceleration` and `deceleration` are one number or one for each of the joints; the joint that needs the
    longest decides, and the others keep its pace: with v, a and d it lasts L/v + v/2a + v/2d. `speed` is a fraction of
    the full speed. An `UnreachableError` names a joint that would leave its limits. Reference: AML's MOVE and DMOVE,
    Fu, Gonzalez & Lee (1987), Tables 9.4 and 9.5.
    """
    known = world.robots[robot]
    places = np.array([_joint(known.robot, j) for j in joints], int)
    if len(set(places.tolist())) != len(places) or len(places) != len(values):
        raise ArgumentError(f"plan_joints: {len(places)} joints {list(joints)} and {len(values)} values do not fit")
    start, goal = known.q, np.array(known.q)
    goal[places] = (goal[places] if relative else 0.0) + np.asarray(values, float)
    if words := beyond(known.robot, goal):
        raise UnreachableError(words, "limit")
    V, A = (np.array(x) for x in speed_limits(known.robot))
    D = A.copy()
    if velocity is not None:
        V[places] = velocity
    if acceleration is not None:
        A[places] = acceleration
        D[places] = acceleration
    if deceleration is not None:
        D[places] = deceleration
    if not (V[places] > 0).all() or not (A[places] > 0).all() or not (D[places] > 0).all():
        raise UnreachableError("speeds, accelerations and decelerations must be above 0", "limit")
    q = _timed(straight_joints(start, goal, V, A, D), speed, None, period, start)
    return ArmMotion(robot, q, velocities(start, q, period))


def _joint(robot: Robot, number) -> int:
    n = int(number)
    if n != number or not 1 <= n <= robot.nq:
        raise UnreachableError(
            f"there is no joint {number:g}; robot '{robot.name}' has joints 1 to {robot.nq}", "limit"
        )
    return n - 1
