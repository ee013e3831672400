"""Goals that are placements of a frame, as conditions on the last configuration of a motion."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import least_squares

from ..compile import kernel, static
from ..errors import ArgumentError, SolveError
from ..kinematics.forward import forward_kinematics
from ..lie import se3, so3
from ..model.configuration import random_configuration
from ..model.input_checks import motions
from ..model.robot import Robot
from .problem import EndCondition

__all__ = ["nearest_configuration", "reach"]

_REACHED = 1e-7  # [rad or m] a smaller error counts as reached
_TRIES = 20  # starts of the search for a configuration


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


def nearest_configuration(robot: Robot, end: EndCondition, q: np.ndarray, label: str) -> np.ndarray:
    """A configuration within the limits that satisfies `end`, searched from q and then from random configurations."""
    rng = np.random.default_rng(0)
    low, high = robot.lower - 1e-9, robot.upper + 1e-9  # a start on a limit must be inside the bounds
    tries = []
    for _ in range(_TRIES):
        # A loose ftol is enough: errors that go to 0 shrink by large factors, and other minima are not used.
        found = least_squares(
            end.error,
            q,
            end.jacobian,  # pyright: ignore[reportArgumentType] - SciPy takes functions, its stubs only strings
            bounds=(low, high),
            ftol=1e-4,
            xtol=1e-9,
            gtol=1e-15,
        )
        if np.abs(found.fun).max() < _REACHED:
            return np.clip(found.x, robot.lower, robot.upper)
        tries.append(found)
        q = random_configuration(robot, rng=rng)
    best = min(tries, key=lambda found: found.cost)
    turn, shift = np.linalg.norm(best.fun[:-3]), np.linalg.norm(best.fun[-3:])
    apart = f"{shift:.3g} m" + (f" and {turn:.3g} rad" if best.fun.size == 6 else "")
    raise SolveError(
        f"{label} is out of reach within the joint limits: the nearest configuration found is {apart} away"
    )
