"""Bounded deviation joint paths: knots between which an arm that moves straight in its joints stays near a line."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError, SolveError
from ..goals import find_configuration
from ..inverse.arms import arm_of
from ..inverse.choice import middle_of_limits, nearest_solution
from ..inverse.closed_form import inverse_kinematics
from ..kinematics.forward import forward_kinematics
from ..lie import se3, so3
from ..model.input_checks import count, positive
from ..model.needs import need_coordinates, need_robot
from ..model.once import once_a_robot
from ..model.robot import Robot
from .checks import given_start
from .piecewise import Trajectory, pieced
from .poses.checks import poses_of
from .quantities import seconds

__all__ = ["BoundedPath", "bounded_deviation", "has_closed_form"]

_STRIDES = 8  # from one end of a line to the other, where an arm without a closed form finds the end by walking


class BoundedPath(NamedTuple):
    """Joint knots `q` (M, nq) at the fractions `at` (M,) of a line, and the largest deviations in the middle of two.

    `position` [m] and `angle` [rad] are those of the frame from the line's point at the same fraction.
    """

    robot: Robot
    q: np.ndarray
    at: np.ndarray
    position: float
    angle: float

    def trajectory(self, duration: float) -> Trajectory:
        """The motion that goes straight in joint space from knot to knot, with the speed that is even on the line."""
        T = seconds(duration, "trajectory: duration")
        if T.ndim:
            raise ArgumentError(f"trajectory: duration must be one time [s], got an array of shape {T.shape}")
        h = np.diff(self.at) * T
        c = np.stack([self.q[:-1], np.diff(self.q, axis=0) / h[:, None]], axis=-1)
        return pieced(self.robot, h, c)


@once_a_robot
def has_closed_form(robot: Robot, frame: str) -> bool:
    """Whether `inverse_kinematics` gives all configurations at a pose of the frame."""
    try:
        return not arm_of(robot, frame).is_redundant
    except ArgumentError:
        return False


def bounded_deviation(
    robot: Robot, T_0, T_1, frame: str, *, position: float, angle: float = np.inf, start=None, levels: int = 12
) -> BoundedPath:
    """Joint knots on the straight `line` from T_0 to T_1 (4, 4) such that straight joint motion in between is near it.

    Taylor's bounded deviation joint path: where the middle of two knots in joint space puts the frame more than
    `position` [m] or `angle` [rad] off the middle of the line, a knot is put there, and both halves are looked at
    again. All middles of a level are one batch. The error falls about four times with each level; at most `levels` are
    made. Fu, Gonzalez & Lee (1987), (4.4-60) to (4.4-62).

        >>> q_0 = np.array([0.3, -0.8, 2.0, 0.3, 0.7, 0.0])
        >>> T_0 = forward_kinematics(robot, q_0, "tool")
        >>> T_1 = T_0 @ se3.exp([0, 0, 0, 0.0, 0.1, -0.2])
        >>> path = bounded_deviation(robot, T_0, T_1, "tool", position=1e-3, angle=1e-2, start=q_0)
        >>> path.q.shape
        (6, 6)
        >>> motion = path.trajectory(duration=2.0)

    The arm stays on one branch: that nearest to `start` (nq,), or, without it, that on which the joints move least. If
    `angle` is infinite, only the frame's origin follows the line. Arms without a closed form search near the last
    knots. Only middles are tested, and in joints with large speeds the deviation elsewhere may be a little larger. A
    `SolveError` says where the line is out of reach, and whether a branch ends on it.
    """
    caller = "bounded_deviation"
    need_robot(robot, caller)
    need_coordinates(robot, f"{caller} is")
    position = positive(position, f"{caller}: position [m]")
    angle = np.inf if isinstance(angle, float) and angle == np.inf else positive(angle, f"{caller}: angle [rad]")
    robot.frame(frame)
    ends = [poses_of(x, f"{caller}: {name}") for x, name in ((T_0, "T_0"), (T_1, "T_1"))]
    if any(T.shape != (4, 4) for T in ends):
        raise ArgumentError(f"{caller}: T_0 and T_1 must be one pose each, (4, 4), got {[T.shape for T in ends]}")
    given = given_start(caller, robot, start)
    reach = _Reach(robot, frame, angle < np.inf, np.stack(ends))
    return _refined(reach, reach.ends(given), (position, angle), count(levels, f"{caller}: levels"))


@kernel(T_0=(4, 4), T_1=(4, 4))
def _on_line(T_0, T_1, at) -> np.ndarray:
    """The pose (4, 4) at a fraction of the `line` from T_0 to T_1."""
    R = so3.slerp(T_0[:3, :3], T_1[:3, :3], at)
    return se3.from_rotation_translation(R, T_0[:3, 3] + at * (T_1[:3, 3] - T_0[:3, 3]))


class _Middle(NamedTuple):
    T: np.ndarray
    position: np.ndarray
    angle: np.ndarray


@kernel(robot=static, frame=static, T_0=(4, 4), T_1=(4, 4), q="nq")
def _middle(robot: Robot, frame: str, T_0, T_1, at, q) -> _Middle:
    """The pose at a fraction of a line, and how far the frame is off it at q."""
    T, there = _on_line(T_0, T_1, at), forward_kinematics(robot, q, frame)
    off = T[:3, 3] - there[:3, 3]
    return _Middle(T, np.sqrt(np.dot(off, off)), so3.distance(T[:3, :3], there[:3, :3]))


def _refined(reach: _Reach, q: np.ndarray, bounds: tuple[float, float], levels: int) -> BoundedPath:
    """The path from knots (2, nq) at both ends."""
    at, new = np.array([0.0, 1.0]), np.array([True])  # `new` are intervals whose middle has not been looked at
    kept = np.zeros(2)  # the largest deviations of the others
    look = _middle.bind(reach.robot, reach.frame)
    for level in range(levels + 1):
        k = np.flatnonzero(new)
        middle, between = 0.5 * (at[k] + at[k + 1]), 0.5 * (q[k] + q[k + 1])
        T, *off = look(reach.line[0], reach.line[1], middle, between)
        over = (off[0] > bounds[0]) | (off[1] > bounds[1])
        kept = np.maximum(kept, [x[~over].max(initial=0.0) for x in off])
        if not over.any():
            break
        if level == levels:
            raise SolveError(_too_deep(levels, middle, off, bounds))
        k, middle = k[over], middle[over]
        added = reach.near(T[over], between[over], middle)
        q, at = np.insert(q, k + 1, added, axis=0), np.insert(at, k + 1, middle)
        new, place = np.zeros(len(at) - 1, bool), k + 1 + np.arange(len(k))
        new[place] = new[place - 1] = True
    return BoundedPath(reach.robot, q, at, float(kept[0]), float(kept[1]))


def _too_deep(levels: int, middle: np.ndarray, off: list[np.ndarray], bounds: tuple[float, float]) -> str:
    worst = int(np.argmax(np.maximum(off[0] / bounds[0], off[1] / bounds[1])))
    return (
        f"bounded_deviation: after {levels} levels the frame is still {off[0][worst]:.3g} m and {off[1][worst]:.3g} "
        f"rad off the line at {middle[worst]:.4%} of it; a singularity is near, or the bounds need more `levels`"
    )


class _Reach(NamedTuple):
    """How configurations are found at which a frame, or with `whole` False only its origin, is at given poses."""

    robot: Robot
    frame: str
    whole: bool
    line: np.ndarray  # (2, 4, 4): T_0 and T_1

    def ends(self, start) -> np.ndarray:
        """Configurations (2, nq) at both ends of the line, on one branch."""
        if self.whole and has_closed_form(self.robot, self.frame):
            return self._branch(start)
        near = middle_of_limits(self.robot) if start is None else start
        q = [self._found(self.line[:1], near, np.zeros(1), 100)[0]]
        for s in np.linspace(0, 1, _STRIDES + 1)[1:, None]:
            q.append(self._found(_on_line(self.line[0], self.line[1], s), q[-1], s)[0])
        return np.stack([q[0], q[-1]])

    def _branch(self, start) -> np.ndarray:
        robot, frame = self.robot, self.frame
        found = inverse_kinematics(robot, self.line, frame)
        one = type(found)(found.q[0], found.exact[0])
        if start is not None:
            firsts = nearest_solution(robot, one, start, frame=frame).q[None]
        else:
            each = type(found)(one.q[:, None], one.exact[:, None])
            firsts = nearest_solution(robot, each, middle_of_limits(robot), frame=frame).q
        lasts = nearest_solution(robot, type(found)(found.q[1], found.exact[1]), firsts, frame=frame)
        if np.isnan(firsts).all() or np.isnan(lasts.q).all():
            name, k = ("T_0", 0) if np.isnan(firsts).all() else ("T_1", 1)
            why = "every solution is outside of the joint limits" if found.exact[k].any() else "it is out of reach"
            raise SolveError(f"bounded_deviation: no configuration of '{robot.name}' has '{frame}' at {name}: {why}")
        best = int(np.nanargmin(lasts.distance))
        return np.stack([firsts[best], lasts.q[best]])

    def near(self, T: np.ndarray, q: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Configurations (M, nq) at poses T (M, 4, 4) that are nearest to q (M, nq), inside the limits."""
        if not (self.whole and has_closed_form(self.robot, self.frame)):
            return self._found(T, q, at)
        found = inverse_kinematics(self.robot, T, self.frame)
        chosen = nearest_solution(self.robot, found, q, frame=self.frame)
        self._check(chosen.branch >= 0, at, bool(found.exact[np.argmin(chosen.branch)].any()))
        return chosen.q

    def _found(self, T: np.ndarray, q: np.ndarray, at: np.ndarray, seeds: int = 0) -> np.ndarray:
        goal = T if self.whole else T[:, :3, 3]
        found = find_configuration(self.robot, {self.frame: goal}, start=q, seeds=seeds)
        self._check(found.success, at, False)
        return found.q

    def _check(self, fine: np.ndarray, at: np.ndarray, limited: bool) -> None:
        if not fine.all():
            why = "every solution is outside of the joint limits" if limited else "the line is out of reach there"
            raise SolveError(
                f"bounded_deviation: no configuration of '{self.robot.name}' has '{self.frame}' at {at[~fine][0]:.4%} "
                f"of the line: {why}"
            )
