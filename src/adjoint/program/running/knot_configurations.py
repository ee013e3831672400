"""Configurations at knots of a motion: branches of the inverse kinematics, flags, limits, and lines of a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...errors import AdjointError, ArgumentError
from ...goals import find_configuration
from ...inverse import Solutions, branches, follow_path, inverse_kinematics, redundancy_of
from ...inverse.arms import arm_of
from ...inverse.chains import chain_of
from ...inverse.choice import nearest_copy, turning_coordinates
from ...lie import so3
from ...model.once import once_a_robot
from ...model.robot import Robot
from .joint_paths import LinePiece, speed_limits

__all__ = ["UnreachableError"]

HAND_SPEED = 0.5
"""The speed [m/s] of a frame that moves along a line."""
HAND_TURNING = 2.0
"""The speed [rad/s] with which a frame turns on its way along a line."""
_TABLE = 17  # configurations of a line by which it is timed
TABLE_FRACTIONS = np.linspace(0.0, 1.0, _TABLE)
"""The fractions of a line at which its configurations are looked at first."""
_EYE = np.eye(3)
_LAST_ROW = np.array([0.0, 0.0, 0.0, 1.0])
_TURN = 2 * np.pi
_INSIDE = 1e-9  # [rad, m] a coordinate this little outside of its limits is inside
_SAME = 1e-6  # [rad, m] a branch this near to a configuration is its own
_JUMP = 1.0  # [rad, m] a step between two places of a line's table that is larger is no motion
_GATHERING = 4.0


class UnreachableError(AdjointError):
    """A pose that an arm cannot reach, or not on its branch: `code` is "reach", "limit" or "branch"."""

    def __init__(self, message: str, code: str = "reach", hint: str = ""):
        super().__init__(message)
        self.code, self.hint = code, hint


class ArmFrame(NamedTuple):
    """A frame of a robot that is to get to poses, in the robot's base."""

    robot: Robot
    frame: str


@once_a_robot
def _kind(robot: Robot, frame: str) -> str:
    """How poses of a frame are solved: "closed", "redundant", or "search"."""
    try:
        arm = arm_of(robot, frame)
    except ArgumentError:
        return "search"
    return "redundant" if arm.is_redundant else "closed"


@once_a_robot
def _moving(robot: Robot, frame: str) -> np.ndarray:
    return np.isin(np.arange(robot.nq), chain_of(robot, frame).places)


@once_a_robot
def _turning(robot: Robot) -> np.ndarray:
    return turning_coordinates(robot)


@once_a_robot
def _ordered(robot: Robot, frame: str) -> bool:
    """Whether branch j is the same branch everywhere: the roots of an elimination are in no order."""
    return any(b.roots for b in branches(robot, frame).branches) or len(branches(robot, frame).branches) == 1


def solved(arm: ArmFrame, T: np.ndarray, near: np.ndarray) -> Solutions:
    """All configurations of an arm with its frame at T (N, 4, 4); coordinates that do not move it stay at `near`."""
    robot, frame = arm
    kind = _kind(robot, frame)
    if kind == "search":
        found = [find_configuration(robot, {frame: pose}, start=near) for pose in T]
        q = np.stack([f.q for f in found])[:, None]
        return Solutions(q, np.array([[f.success] for f in found]))
    free = redundancy_of(robot, near, frame) if kind == "redundant" else None
    q, exact = inverse_kinematics(robot, T, frame, redundancy=free)
    moving = _moving(robot, frame)
    return Solutions(q if moving.all() else np.where(moving, q, near), exact)


def nearest_to(arm: ArmFrame, found: Solutions, near: np.ndarray, flags: Sequence[str] = ()) -> np.ndarray:
    """The configuration (nq,) of one pose that is nearest to `near`, inside the limits and with the flags."""
    robot = arm.robot
    exact = found.exact
    if not exact.any():
        raise UnreachableError("this is out of reach", "reach", "move it towards the arm, or the arm towards it")
    wanted = exact & flagged(arm, found.q, flags) if flags else exact
    if not wanted.any():
        raise UnreachableError(f"the arm cannot be {' '.join(flags)} here", "branch")
    copy, inside = nearest_copy(robot, found.q, near)
    distance = ((copy - near) ** 2).sum(axis=-1)
    best = int(np.argmin(np.where(wanted & inside, distance, np.inf)))
    if not (wanted & inside)[best]:
        best = int(np.argmin(np.where(wanted, distance, np.inf)))
        raise UnreachableError(beyond(robot, copy[best]), "limit", "take another place, or another configuration")
    return copy[best]


def flagged(arm: ArmFrame, q: np.ndarray, flags: Sequence[str]) -> np.ndarray:
    """(k,) whether branches of an arm that is built like a PUMA are as VAL's flags say."""
    known = branches(arm.robot, arm.frame).branches
    if known[0].arm is None:
        raise UnreachableError(
            f"'{flags[0]}' has no meaning for robot '{arm.robot.name}', which is not built like a PUMA", "branch"
        )
    fits = np.ones(len(known), bool)
    wrist = chain_of(arm.robot, arm.frame).places[4]
    for flag in flags:
        match flag:
            case "lefty" | "righty":
                fits &= np.array([b.arm == flag[:-1].upper() for b in known])
            case "above" | "below":
                fits &= np.array([b.elbow == flag.upper() for b in known])
            case "flip":
                fits &= q[:, wrist] < 0
            case _:
                fits &= q[:, wrist] >= 0
    return fits


def beyond(robot: Robot, q: np.ndarray) -> str:
    """Which coordinate is outside of its limits, in words, or an empty text."""
    over = np.maximum(robot.lower - q, q - robot.upper)
    worst = int(np.argmax(over))
    if not over[worst] > _INSIDE:
        return ""
    limit = robot.lower[worst] if q[worst] < robot.lower[worst] else robot.upper[worst]
    turns = bool(turning_coordinates(robot)[worst])
    name = robot.joint_names[worst] if len(robot.joint_names) == robot.nq else f"coordinate {worst + 1}"
    value, end = (f"{np.degrees(x):.4g}°" if turns else f"{x:.4g} m" for x in (q[worst], limit))
    return f"joint '{name}' would have to be at {value}, and its limit is {end}"


# --- lines ------------------------------------------------------------------------------------------------------------


class PoseLine(NamedTuple):
    """The straight way from one pose to another: positions on a line, and one axis of turning."""

    start: np.ndarray
    goal: np.ndarray
    axis: np.ndarray
    """(3, 3) the cross product matrix of the axis, along axes of the start"""
    angle: float
    length: float

    def at(self, s: np.ndarray) -> np.ndarray:
        """The poses (N, 4, 4) at fractions s (N,)."""
        T = np.empty((len(s), 4, 4))
        T[:, 3] = _LAST_ROW
        if self.angle > 0:
            angle = (s * self.angle)[:, None, None]
            turned = _EYE + np.sin(angle) * self.axis + (1 - np.cos(angle)) * (self.axis @ self.axis)
            T[:, :3, :3] = self.start[:3, :3] @ turned
        else:
            T[:, :3, :3] = self.start[:3, :3]
        T[:, :3, 3] = self.start[:3, 3] + s[:, None] * (self.goal[:3, 3] - self.start[:3, 3])
        if s[-1] == 1.0:
            T[s == 1.0] = self.goal
        return T


def pose_line(start: np.ndarray, goal: np.ndarray) -> PoseLine:
    """The straight way between two poses (4, 4)."""
    turn = np.asarray(so3.log(start[:3, :3].T @ goal[:3, :3]))
    angle = float(np.linalg.norm(turn))
    x, y, z = turn / angle if angle > 0 else turn
    axis = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return PoseLine(start, goal, axis, angle, float(np.linalg.norm(goal[:3, 3] - start[:3, 3])))


def line_piece(arm: ArmFrame, way: PoseLine, found: Solutions, start: np.ndarray) -> LinePiece:
    """The piece along a line, on the branch of the configuration `start`; `found` has the solutions of its table."""
    table, branch = _on_branch(arm, way, found, start)
    robot = arm.robot
    V, A = speed_limits(robot)
    rate = np.abs(np.diff(table, axis=0)).max(axis=0) * (_TABLE - 1)
    far, turn = max(way.length, 1e-9), max(way.angle, 1e-9)
    with np.errstate(divide="ignore"):
        cap = min(HAND_SPEED / far, HAND_TURNING / turn, float((V / rate).min()))
        gathering = min(_GATHERING * HAND_SPEED / far, _GATHERING * HAND_TURNING / turn, float((A / rate).min()))

    def solve(s: np.ndarray) -> np.ndarray:
        return _along(arm, way, table, branch, s)

    return LinePiece(table, cap, gathering, solve)


def _on_branch(arm: ArmFrame, way: PoseLine, found: Solutions, start: np.ndarray) -> tuple[np.ndarray, int]:
    """Configurations (M, nq) of a line's table that go on from `start`, and their branch, or -1 of mixed ones."""
    robot = arm.robot
    turning = _turning(robot)
    if _kind(*arm) != "search" and _ordered(*arm):
        first = found.q[0] + turning * (_TURN * np.rint((start - found.q[0]) / _TURN))
        away = np.abs(first - start).max(axis=-1)
        own = np.flatnonzero((away < _SAME) & found.exact.all(axis=0))
        for branch in own:
            path = _unwrapped(found.q[:, branch], start, turning)
            inside = (path >= robot.lower - _INSIDE) & (path <= robot.upper + _INSIDE)
            if inside.all() and np.abs(path[1:] - path[:-1]).max() < _JUMP:
                return path, int(branch)
        _explain(arm, found, start, away, turning)
    followed = follow_path(robot, way.at(TABLE_FRACTIONS), arm.frame, start=start) if _kind(*arm) == "closed" else None
    if followed is not None and not followed.jumps:
        return followed.q, -1
    if followed is not None:
        jump = followed.jumps[0]
        raise UnreachableError(f"{jump.index / (_TABLE - 1):.0%} of the line, {jump.reason}", "branch")
    return _walked(arm, way, start), -1


def _unwrapped(q: np.ndarray, start: np.ndarray, turning: np.ndarray) -> np.ndarray:
    steps = np.diff(np.concatenate([start[None], q]), axis=0)
    return q - turning * (_TURN * np.cumsum(np.rint(steps / _TURN), axis=0))


def _explain(arm: ArmFrame, found: Solutions, start: np.ndarray, away: np.ndarray, turning: np.ndarray) -> None:
    """Raise the reason why the branch of a line's start does not go all the way, if the branch is known."""
    own = np.flatnonzero((away < _SAME) & found.exact[0])
    if len(own) != 1:
        return
    exact, path = found.exact[:, own[0]], _unwrapped(found.q[:, own[0]], start, turning)
    if not exact.all():
        at = float(np.argmin(exact)) / (_TABLE - 1)
        other = found.exact[int(np.argmin(exact))].any()
        text = "this configuration of the arm ends" if other else "the line leaves the arm's reach"
        hint = "begin the line in another configuration" if other else ""
        raise UnreachableError(f"{at:.0%} of the way, {text}", "branch" if other else "reach", hint)
    for i, q in enumerate(path):
        if words := beyond(arm.robot, q):
            raise UnreachableError(f"{i / (_TABLE - 1):.0%} of the way, {words}", "limit")


def _walked(arm: ArmFrame, way: PoseLine, start: np.ndarray) -> np.ndarray:
    """A line's table of an arm without a closed form, each configuration searched from the one before."""
    table = [start]
    for T in way.at(TABLE_FRACTIONS[1:]):
        found = find_configuration(arm.robot, {arm.frame: T}, start=table[-1])
        if not found.success or np.abs(found.q - table[-1]).max() > _JUMP:
            raise UnreachableError(f"{len(table) / (_TABLE - 1):.0%} of the line, no configuration was found", "reach")
        table.append(found.q)
    return np.stack(table)


def _along(arm: ArmFrame, way: PoseLine, table: np.ndarray, branch: int, s: np.ndarray) -> np.ndarray:
    """Configurations (N, nq) on the line at fractions s (N,), each the solution next to the table's."""
    place = s * (len(table) - 1)
    low = np.minimum(place.astype(int), len(table) - 2)
    near = table[low] + (place - low)[:, None] * (table[low + 1] - table[low])
    robot, T = arm.robot, way.at(s)
    if _kind(*arm) == "search":
        return np.stack([find_configuration(robot, {arm.frame: a}, start=b).q for a, b in zip(T, near, strict=True)])
    found = solved(arm, T, table[0])
    turning = _turning(robot)
    if branch >= 0:
        exact, own = found.exact[:, branch], found.q[:, branch]
        if not exact.all():
            at = s[int(np.argmin(exact))]
            raise UnreachableError(f"{at:.0%} of the way, the line leaves the arm's reach", "reach")
        return own + turning * (_TURN * np.rint((near - own) / _TURN))
    copies = found.q + turning * (_TURN * np.rint((near[:, None] - found.q) / _TURN))
    away = np.where(found.exact[..., None], np.abs(copies - near[:, None]), np.inf).max(axis=-1)
    return np.take_along_axis(copies, away.argmin(axis=1)[:, None, None], axis=1)[:, 0]
