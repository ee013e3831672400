"""Goals that are placements of a frame, as conditions on the last configuration of a motion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...compile import kernel, static
from ...errors import ArgumentError, SolveError
from ...goals.goal import Goal, pose, position
from ...goals.search import find_configuration, goal_errors
from ...kinematics.forward import forward_kinematics
from ...lie import se3, so3
from ...model.input_checks import motions
from ...model.robot import Robot
from .path import PathCondition, amount, independent
from .problem import EndCondition

__all__ = ["nearest_configuration", "reach", "staying"]


@kernel(robot=static, q="nq", frame=static, target=(4, 4))
def placement_error(robot: Robot, q, frame: str, target) -> np.ndarray:
    """The error (2 x, p) (6,) of a frame whose placement seen from its target (4, 4) is (R, p); 0 when it is reached.

    x (3,) is the vector part of the quaternion of R, so that 2 x is the rotation vector for small angles.
    """
    T = se3.compose(se3.inverse(target), forward_kinematics(robot, q, frame))
    return np.concatenate([2 * so3.to_quat_wxyz(T[:3, :3])[1:], T[:3, 3]])


@kernel(robot=static, q="nq", frame=static, target=3)
def position_error(robot: Robot, q, frame: str, target) -> np.ndarray:
    """The error p - target (3,) of the position p of a frame's origin."""
    return forward_kinematics(robot, q, frame)[:3, 3] - target


@kernel(robot=static, q="nq", frame=static, target=(4, 4), w=6)
def weighted_placement_error(robot: Robot, q, frame: str, target, w) -> Any:
    """The sum w · `placement_error`, whose Hessian an optimiser needs."""
    return np.dot(w, placement_error(robot, q, frame, target))


@kernel(robot=static, q="nq", frame=static, target=3, w=3)
def weighted_position_error(robot: Robot, q, frame: str, target, w) -> Any:
    """The sum w · `position_error`, whose Hessian an optimiser needs."""
    return np.dot(w, position_error(robot, q, frame, target))


def reach(robot: Robot, frame: str, target, label: str) -> EndCondition:
    """The condition that a frame is at `target`: a placement (4, 4), or the position (3,) of its origin alone."""
    robot.frame(frame)
    shape = np.shape(target)
    if shape not in ((3,), (4, 4)):
        raise ArgumentError(f"{label} must be the placement (4, 4) of '{frame}' or its position (3,), got {target!r}")
    target = np.asarray(target, float) if shape == (3,) else motions(target, (4, 4), label)
    if not np.isfinite(target).all():
        raise ArgumentError(f"{label} contains NaN or infinity")
    error, weighted = (
        (position_error, weighted_position_error) if shape == (3,) else (placement_error, weighted_placement_error)
    )
    value, bend = error.bind(robot, frame=frame), weighted.bind(robot, frame=frame).hessian("q")
    slope = value.jacobian("q")
    return EndCondition(
        lambda q: value(q, target=target), lambda q: slope(q, target=target), lambda q, w: bend(q, target=target, w=w)
    )


def staying(end: EndCondition, held: PathCondition | None, q: np.ndarray) -> EndCondition:
    """The end condition and the equations of a path together, without those that it implies at q (n,)."""
    rows = np.zeros(0, int) if held is None else independent(held.jacobian(q[None])[0], end.jacobian(q))
    if held is None or not len(rows):
        return end
    more, m = replace(held, chosen=held.chosen[rows]), len(end.error(q))
    return EndCondition(
        lambda q: np.concatenate([end.error(q), more.value(q[None])[0]]),
        lambda q: np.concatenate([end.jacobian(q), more.jacobian(q[None])[0]]),
        lambda q, w: end.curvature(q, w[:m]) + more.curvature(q[None], w[None, m:])[0],
    )


def nearest_configuration(
    robot: Robot, frame: str, target, path: tuple[Goal, ...], q: np.ndarray, label: str
) -> np.ndarray:
    """A configuration within the limits at which a frame is at `target`, searched from q and then from others.

    It meets the goals of the path, too.
    """
    there = position(frame, target) if np.shape(target) == (3,) else pose(frame, target)
    found = find_configuration(robot, [there, *path], start=q)
    if found.success:
        return found.q
    shift, turn = _apart(robot, frame, np.asarray(target, float), found.q)
    raise SolveError(
        f"{label} is out of reach within the joint limits{' and on the path' if path else ''}: the nearest "
        f"configuration found is {shift:.3g} m{'' if turn is None else f' and {turn:.3g} rad'} away"
        f"{_off_path(robot, path, found.q)}"
    )


def _off_path(robot: Robot, path: tuple[Goal, ...], q: np.ndarray) -> str:
    """By how much q misses the goals of a path, in words."""
    if not path:
        return ""
    errors = goal_errors(robot, path, q)
    k = int(np.argmax(errors))
    return f", and misses {amount(path[k], errors[k])}"


def _apart(robot: Robot, frame: str, target: np.ndarray, q: np.ndarray) -> tuple[float, float | None]:
    """The distance [m] of a frame at q from its target, and, if the target is a placement, the angle [rad]."""
    if target.shape == (3,):
        return float(np.linalg.norm(position_error(robot, q, frame, target))), None
    e = placement_error(robot, q, frame, target)
    return float(np.linalg.norm(e[3:])), float(np.linalg.norm(e[:3]))
