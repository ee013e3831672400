"""A problem: the goals of a robot in the form that compiled code takes, for any batch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..compile.front.arguments import as_input
from ..errors import ArgumentError
from ..kinematics.center import require_mass
from ..kinematics.route import way
from ..model.input_checks import truth
from ..model.needs import need_numbers, need_robot
from ..model.once import once_a_robot
from ..model.robot import Robot
from ..rolled import MOST, is_long
from .goal import Goal, pose, position
from .kinds import KINDS, Task, metres_per_radian, moving_columns
from .rows import Sizes, Tasks

__all__ = ["Goals", "Limits", "Problem", "batched", "limits_of", "listed_goals", "need_short", "problem_of"]

Goals = Goal | Sequence[Goal] | Mapping[str, object]
"""The type of goals: one goal, several, or {frame: T (..., 4, 4) or p (..., 3)}."""

Limits = bool | tuple
"""The type of limits: True for those of the robot, False for none, or a pair (lower, upper) of (nq,)."""


class Problem(NamedTuple):
    """The tasks of a problem, and its data (..., n_data): targets, weights and inverse tolerances of all goals.

    `counted` says of each goal whether its tolerance is finite; a goal without one is never met, and weighs against the
    others.
    """

    tasks: Tasks
    data: np.ndarray
    counted: list[bool]


def need_short(robot, caller: str) -> None:
    """Raise `ArgumentError` unless `robot` is a `Robot` that is small enough for code without loops over its bodies."""
    need_robot(robot, caller)
    need_numbers(robot, caller)
    if is_long(robot):
        raise ArgumentError(
            f"{caller} takes robots of at most {MOST} bodies, and robot '{robot.name}' has {len(robot.body_names)}; "
            "lock the joints that need not move (robot.locked), which makes one body of several"
        )


def problem_of(robot: Robot, goals: Goals, tolerance: float, caller: str) -> Problem:
    """The `Problem` of a robot and its goals."""
    listed = listed_goals(goals, caller)
    tasks = _tasks(robot, tuple(goal.task for goal in listed))
    shape = _common_shape([(goal.task.kind, goal.target) for goal in listed], caller)
    data, start = np.empty((*shape, tasks.n_data)), 0
    for goal, sizes in zip(listed, tasks.sizes, strict=True):
        if goal.target.shape[-1] != sizes.target:
            raise ArgumentError(
                f"{caller}: {goal.task.kind} has q of shape {goal.target.shape}; robot '{robot.name}' needs "
                f"(..., {sizes.target})"
            )
        middle, end = start + sizes.target, start + sizes.data
        data[..., start:middle] = goal.target
        given = tolerance if goal.tolerance is None else tuple(goal.tolerance.tolist())
        data[..., middle:end] = _weights_and_sharpness(robot, goal.task, sizes, goal.weights.tobytes(), given)
        start = end
    counted = [goal.tolerance is None or bool(np.isfinite(goal.tolerance).all()) for goal in listed]
    return Problem(tasks, data, counted)


def listed_goals(goals: Goals, caller: str) -> list[Goal]:
    """The goals as a list."""
    if isinstance(goals, Goal):
        return [goals]
    if isinstance(goals, Mapping):
        goals = [_placed(frame, target, caller) for frame, target in goals.items()]
    if not isinstance(goals, Iterable) or isinstance(goals, (str, np.ndarray)):
        raise ArgumentError(f"{caller}: goals are {goals!r}; {_EXPECTED}")
    listed = list(goals)
    for goal in listed:
        if not isinstance(goal, Goal):
            raise ArgumentError(f"{caller}: a goal is {goal!r}; {_EXPECTED}")
    if not listed:
        raise ArgumentError(f"{caller}: there are no goals; {_EXPECTED}")
    return listed


_EXPECTED = "give {frame: placement (..., 4, 4) or position (..., 3)}, or goals of adjoint.goals such as pose(frame, T)"


def _placed(frame: str, target, caller: str) -> Goal:
    """The goal of a frame and its placement or position."""
    if isinstance(target, Goal):
        raise ArgumentError(f"{caller}: the goal {target!r} names its frame itself; give a list of such goals")
    T = as_input(target, f"target of '{frame}'", caller)
    if T.shape[-2:] == (4, 4):
        return pose(frame, T)
    if T.shape[-1:] == (3,):
        return position(frame, T)
    raise ArgumentError(
        f"{caller}: the target of frame '{frame}' has shape {T.shape}; it must be a placement (..., 4, 4) or a "
        "position (..., 3)"
    )


@once_a_robot(most=64)
def _tasks(robot: Robot, tasks: tuple[Task, ...]) -> Tasks:
    """The tasks of a robot, whose frames exist and can move."""
    for task in tasks:
        if task.kind not in ("center_of_mass", "posture"):
            way(robot, task.relative_to, robot.frame(task.frame).name)  # type: ignore[arg-type]  # it raises errors
        if task.kind == "center_of_mass":
            require_mass(robot)
        if task.kind.endswith("manipulability") and not moving_columns(robot, task):
            raise ArgumentError(f"manipulability: no joint of robot '{robot.name}' moves frame '{task.frame}'")
    return Tasks.of(robot, tasks)


@once_a_robot(most=64)
def _weights_and_sharpness(robot: Robot, task: Task, sizes: Sizes, weights: bytes, tolerance) -> np.ndarray:
    """The weights of a task, scaled so that lengths count as much as angles, and the inverses of its tolerances."""
    given = np.frombuffer(weights)
    if len(given) not in (1, sizes.weights):
        raise ArgumentError(f"{task.kind}: there are {len(given)} weights; 1 or {sizes.weights} are needed")
    scale = np.where(KINDS[task.kind].per_metre, 1 / metres_per_radian(robot, task), 1.0)
    sharpness = np.broadcast_to(1 / np.asarray(tolerance), (sizes.tolerances,))
    return np.concatenate([np.broadcast_to(given * scale, (sizes.weights,)), sharpness])


def _common_shape(arrays: list[tuple[str, np.ndarray]], caller: str) -> tuple[int, ...]:
    """The shape to which the leading axes of (name, array (..., n)) broadcast."""
    shapes = [x.shape[:-1] for _, x in arrays]
    try:
        return shapes[0] if len(set(shapes)) == 1 else np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(f"{name} {x.shape[:-1]}" for name, x in arrays)
        raise ArgumentError(f"{caller}: the leading axes do not match: {listed}") from None


def batched(problem: Problem, arrays: dict[str, np.ndarray | None], caller: str) -> tuple[tuple[int, ...], list]:
    """The common leading shape, and data and arrays broadcast to it with these axes joined into one."""
    given = [("goals", problem.data), *((name, x) for name, x in arrays.items() if x is not None)]
    shape = _common_shape(given, caller)
    flat = [None if x is None else _joined_axes(x, shape) for x in (problem.data, *arrays.values())]
    return shape, flat


def _joined_axes(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """x (..., n), broadcast to these leading axes, as (rows, n)."""
    size = x.shape[-1]
    x = x if x.shape[:-1] == shape else np.broadcast_to(x, (*shape, size))
    return x.reshape(math.prod(shape), size)


def limits_of(robot: Robot, limits: Limits, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """The limits (nq,), (nq,) that `limits` stands for."""
    if isinstance(limits, tuple):
        pair = [np.asarray(as_input(x, "limits", caller), float) for x in limits]
        if len(pair) != 2 or any(x.shape != (robot.nq,) for x in pair):
            raise ArgumentError(f"{caller}: limits must be True, False or a pair (lower, upper) of ({robot.nq},)")
        lower, upper = pair
        return _ordered(lower, upper, caller)
    if truth(limits, f"{caller}: limits, if it is no pair (lower, upper),"):
        return _own_limits(robot)
    return np.full(robot.nq, -np.inf), np.full(robot.nq, np.inf)


@once_a_robot
def _own_limits(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    return _ordered(robot.lower, robot.upper, f"robot '{robot.name}'")


def _ordered(lower: np.ndarray, upper: np.ndarray, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """The limits, of which none is above the other."""
    if not np.all(lower <= upper):
        k = int(np.argmin(lower <= upper))
        raise ArgumentError(f"{caller}: the lower limit {lower[k]:g} is above the upper {upper[k]:g} at q[{k}]")
    return lower, upper
