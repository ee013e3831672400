"""Goals of plans as configurations: those that reach poses of frames, or meet goals of `adjoint.goals`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...goals.goal import Goal, pose, position
from ...goals.problem import listed_goals
from ...goals.search import find_configuration, goal_errors
from ...inverse.arms import arm_of
from ...kinematics import forward_kinematics
from ...lie import se3, so3
from ...model.configuration import random_configuration
from ...model.input_checks import floats, vectors
from ...model.once import once_a_robot
from ...model.rigidity import corrected
from ...model.robot import Robot
from .arm_branches import arm_branches
from .spaces import ConfigurationSpace

__all__ = ["GoalSet", "is_pose", "poses_of"]

STARTS = 64  # from which configurations are searched, where there is no closed form
REDUNDANT = 48  # values of the parameter of an arm with seven joints
MOST = 256  # goals of a plan
TOLERANCE = 1e-6  # [rad, m] of poses that are searched
_ALIKE = 1e-4  # [rad, m] configurations this near are one


class GoalSet(NamedTuple):
    """Configurations (k, nq) that are goals, whether free or not; if there are none, the reason."""

    q: np.ndarray
    reason: str


def goal_set(
    space: ConfigurationSpace, goal: Any, tool: str, T_world_base: np.ndarray, rng: np.random.Generator, caller: str
) -> GoalSet:
    """The configurations within limits that meet a goal, which is in one of the forms of `plan_motion`."""
    if type(goal) is np.ndarray and goal.shape == (space.robot.nq,):
        return _within(space, _finite(goal.astype(float, copy=False), caller)[None])
    if isinstance(goal, Goal):
        return _searched(space, [goal], rng)
    if _is_list_of_goals(goal):
        return _searched(space, listed_goals(list(goal), caller), rng)
    if isinstance(goal, Mapping):
        if len(goal) == 1:
            ((frame, T),) = goal.items()
            if is_pose(target := floats(T)):
                return reached_poses(space, target.reshape(-1, 4, 4), space.robot.frame(frame).name, T_world_base, rng)
        return _searched(space, _in_base(space.robot, goal, T_world_base, caller), rng)
    target = floats(goal)
    if is_pose(target) and not (target.shape[-1] == space.robot.nq and target.ndim == 2 and not _rigid(target)):
        return reached_poses(space, target.reshape(-1, 4, 4), tool, T_world_base, rng)
    q = vectors(goal, space.robot.nq, "goal", caller)
    if q.ndim > 2 or not len(np.atleast_2d(q)):
        raise ArgumentError(f"{caller}: goal has shape {q.shape}; configurations are ({space.robot.nq},) or (k, ...)")
    return _within(space, np.atleast_2d(_finite(q, caller)))


def _finite(q: np.ndarray, caller: str) -> np.ndarray:
    """The configurations, or an `ArgumentError` if one has coordinates that are no finite numbers."""
    if not np.isfinite(q).all():
        raise ArgumentError(f"{caller}: the goal has coordinates that are no finite numbers")
    return q


def is_pose(target: np.ndarray) -> bool:
    """Whether numbers have the shape of poses: (4, 4) or (k, 4, 4)."""
    return target.ndim in (2, 3) and target.shape[-2:] == (4, 4)


def poses_of(value, caller: str) -> np.ndarray:
    """Rigid poses (k, 4, 4)."""
    return corrected(floats(value).reshape(-1, 4, 4), f"{caller}: the goal")


def _rigid(T: np.ndarray) -> bool:
    return bool(np.allclose(T[..., 3, :], [0, 0, 0, 1]) and np.allclose(T[..., :3, :3] @ T[..., :3, :3].T, np.eye(3)))


def _is_list_of_goals(goal) -> bool:
    return isinstance(goal, (list, tuple)) and bool(goal) and all(isinstance(x, Goal) for x in goal)


def _in_base(robot: Robot, goal: Mapping, T_world_base: np.ndarray, caller: str) -> list[Goal]:
    """The goals of {frame: pose or position in the world}, seen from the base."""
    T_base_world, found = se3.inverse(T_world_base), []
    for frame, value in goal.items():
        target = floats(value)
        if target.shape == (4, 4):
            found.append(pose(robot.frame(frame).name, T_base_world @ target))
        elif target.shape == (3,):
            found.append(position(robot.frame(frame).name, (T_base_world @ np.append(target, 1.0))[:3]))
        else:
            raise ArgumentError(
                f"{caller}: the goal of frame '{frame}' has shape {target.shape}; it must be a pose (4, 4) or a "
                "position (3,)"
            )
    if not found:
        raise ArgumentError(f"{caller}: the goal {{}} names no frame")
    return found


def _within(space: ConfigurationSpace, q: np.ndarray) -> GoalSet:
    """The configurations within limits, or the reason why none is."""
    inside = space.inside(q)
    if inside.any():
        return GoalSet(np.clip(q[inside], space.lower, space.upper), "")
    return GoalSet(q[:0], f"goal: {outside(space, q[0])}")


def outside(space: ConfigurationSpace, q: np.ndarray) -> str:
    """Which coordinate of q (nq,) is beyond which limit, in words."""
    over = np.maximum(space.lower - q, q - space.upper)
    k = int(np.argmax(over))
    low = q[k] < space.lower[k]
    names = _coordinate_names(space.robot)
    limit, side = (space.lower[k], "below") if low else (space.upper[k], "above")
    degrees = "; angles are in rad, these look like degrees" if np.abs(q[k]) > 8 * np.pi else ""
    return f"{names[k]} is {q[k]:.4g}, {side} its limit {limit:.4g}{degrees}"


@once_a_robot
def _coordinate_names(robot: Robot) -> list[str]:
    """Names (nq) of the coordinates."""
    names = [f"q[{k}]" for k in range(robot.nq)]
    for i, name in enumerate(robot.body_joint_names):
        if i not in robot.mimics:
            names[robot.layout.q_start[i]] = f"joint '{name}'"
    return names


# --- poses ------------------------------------------------------------------------------------------------------------


def reached_poses(
    space: ConfigurationSpace, T_world: np.ndarray, frame: str, T_world_base: np.ndarray, rng: np.random.Generator
) -> GoalSet:
    """Configurations in which a frame is at any of the poses (k, 4, 4) in the world."""
    robot, T = space.robot, se3.inverse(T_world_base) @ poses_of(T_world, "plan_motion")
    try:
        arm = arm_of(robot, frame)
    except ArgumentError:
        arm = None
    found = np.empty((0, robot.nq))
    if arm is not None:
        q, good = arm_branches(robot, frame, T, arm, REDUNDANT)
        found = q[good]
        found = found[space.inside(found)]
    if not len(found):
        starts = random_configuration(robot, STARTS, rng=rng)
        every = find_configuration(
            robot,
            {frame: T[:, None]},
            start=starts,
            rng=0,
            seeds=0,
            tolerance=TOLERANCE,
            limits=(space.lower, space.upper),
        )
        if not every.success.any():
            return GoalSet(found, f"goal: {_missed(robot, frame, T, every.q)}")
        found = every.q[every.success]
    return GoalSet(different(space, found)[:MOST], "")


def different(space: ConfigurationSpace, q: np.ndarray) -> np.ndarray:
    """The configurations (m, nq) that differ from all before them."""
    if len(q) < 2:
        return q
    _, first = np.unique(np.rint(q / _ALIKE).astype(np.int64), axis=0, return_index=True)
    return q[np.sort(first)]


def _missed(robot: Robot, frame: str, T: np.ndarray, q: np.ndarray) -> str:
    """How near a frame comes to poses (k, 4, 4) at the best of q (k, n, nq), in words."""
    reached = forward_kinematics(robot, q, frame)
    apart = np.linalg.norm(reached[..., :3, 3] - T[:, None, :3, 3], axis=-1)
    angle = np.linalg.norm(so3.log(np.swapaxes(reached[..., :3, :3], -1, -2) @ T[:, None, :3, :3]), axis=-1)
    best = np.unravel_index(np.argmin(apart + 0.1 * angle), apart.shape)
    return (
        f"no configuration within the limits brings '{frame}' to the pose; the nearest found is "
        f"{apart[best]:.3g} m and {np.degrees(angle[best]):.3g}° away"
    )


def _searched(space: ConfigurationSpace, goals: Iterable[Goal], rng: np.random.Generator) -> GoalSet:
    """Configurations that meet all goals together, from many starts."""
    robot, listed = space.robot, list(goals)
    starts = random_configuration(robot, STARTS, rng=rng)
    given = [goal for goal in listed if goal.target.ndim == 1]
    if len(given) < len(listed):
        raise ArgumentError("plan_motion: a goal of adjoint.goals must have one target, got several")
    found = find_configuration(
        robot, listed, start=starts, rng=0, seeds=0, tolerance=TOLERANCE, limits=(space.lower, space.upper)
    )
    if not found.success.any():
        best = int(np.argmin(found.error))
        errors = goal_errors(robot, listed, found.q[best])
        said = ", ".join(f"{goal.task.kind} by {e:.3g}" for goal, e in zip(listed, errors, strict=True))
        return GoalSet(
            found.q[:0], f"goal: no configuration within the limits meets it; the nearest found misses {said}"
        )
    return GoalSet(different(space, found.q[found.success])[:MOST], "")
