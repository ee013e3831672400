"""Polynomials between two states: `cubic`, `quintic` and `septic`, for one pair of states or any batch of them."""

from __future__ import annotations

import numpy as np

from ..compile.front.arguments import as_input
from ..errors import ArgumentError
from ..model.input_checks import vectors
from ..model.needs import need_robot
from ..model.robot import Robot
from .manifold import anchored, check_orientations, coordinates, has_manifold_joints
from .piecewise import Trajectory, pieced
from .polynomials import hermite
from .quantities import broadcast, seconds

__all__ = ["cubic", "ends", "quintic", "septic"]


def cubic(start, goal, duration, *, start_velocity=0.0, goal_velocity=0.0, robot: Robot | None = None) -> Trajectory:
    """The `Trajectory` of degree 3 from `start` to `goal` (..., n) with given velocities, within `duration` (...) [s].

    Accelerations at both ends are what they are: largest of all, for a motion from rest to rest. With a `robot`, joints
    of several degrees of freedom move on their manifold.

        >>> trajectory = cubic([0.0, 1.0], [1.0, 0.0], duration=2.0)
        >>> trajectory(1.0).v
        array([ 0.75, -0.75])
    """
    return _between("cubic", robot, duration, (start, start_velocity), (goal, goal_velocity))


def quintic(
    start, goal, duration, *, start_velocity=0.0, goal_velocity=0.0, start_acceleration=0.0, goal_acceleration=0.0,
    robot: Robot | None = None,
) -> Trajectory:  # fmt: skip
    """The `Trajectory` of degree 5 from `start` to `goal` (..., n) within `duration` (...) [s].

    Velocities and accelerations at both ends are those given, (..., n) or numbers for all joints. With a `robot`,
    joints of several degrees of freedom move on their manifold. Problem 4.2 of Fu, Gonzalez & Lee (1987):

        >>> trajectory = quintic([30.0], [100.0], duration=2.0)
        >>> trajectory.coefficients.ravel().tolist()
        [30.0, 0.0, 0.0, 87.5, -65.625, 13.125]
    """
    first = start, start_velocity, start_acceleration
    return _between("quintic", robot, duration, first, (goal, goal_velocity, goal_acceleration))


def septic(
    start, goal, duration, *, start_velocity=0.0, goal_velocity=0.0, start_acceleration=0.0, goal_acceleration=0.0,
    start_jerk=0.0, goal_jerk=0.0,
) -> Trajectory:  # fmt: skip
    """The `Trajectory` of degree 7 from `start` to `goal` (..., n) within `duration` (...) [s], jerks given too.

    It is for joints of one degree of freedom.

        >>> septic([0.0], [1.0], duration=1.0)(0.5).v
        array([2.1875])
    """
    first = start, start_velocity, start_acceleration, start_jerk
    return _between("septic", None, duration, first, (goal, goal_velocity, goal_acceleration, goal_jerk))


def ends(caller: str, robot: Robot | None, given: tuple, label: str) -> list[np.ndarray]:
    """The parts (..., n) of a state, position first, as finite arrays of one shape."""
    if robot is not None:
        need_robot(robot, caller)
    q = np.atleast_1d(as_input(given[0], label, caller)).astype(float, copy=False)
    if robot is not None and q.shape[-1] != robot.nq:
        raise ArgumentError(f"{caller}: {label} has shape {q.shape}; robot '{robot.name}' needs (..., {robot.nq})")
    n = q.shape[-1] if robot is None else robot.nv
    names = ("velocity", "acceleration", "jerk")
    parts = [q]
    for name, value in zip(names, given[1:], strict=False):
        value = as_input(value, f"{label}_{name}", caller)
        parts.append(vectors(np.full(n, value) if value.ndim == 0 else value, n, f"{label}_{name}", caller))
    for name, part in zip(("", *names), parts, strict=False):
        if not np.isfinite(part).all():
            raise ArgumentError(f"{caller}: {label}{'_' * bool(name)}{name} contains NaN or infinity")
    if robot is not None:
        check_orientations(caller, robot, q, label)
    batch = broadcast(
        caller, **{f"{label}_{k}": part.shape[:-1] for k, part in zip(("q", *names), parts, strict=False)}
    )
    return [np.broadcast_to(part, (*batch, part.shape[-1])) for part in parts]


def _between(caller: str, robot: Robot | None, duration, start: tuple, goal: tuple) -> Trajectory:
    """The polynomial between two states, of as many conditions at each end as they have parts."""
    first, last = ends(caller, robot, start, "start"), ends(caller, robot, goal, "goal")
    h = seconds(duration, f"{caller}: duration")
    if first[0].shape[-1] != last[0].shape[-1]:
        raise ArgumentError(f"{caller}: start has {first[0].shape[-1]} coordinates and goal {last[0].shape[-1]}")
    batch = broadcast(caller, start=first[0].shape[:-1], goal=last[0].shape[:-1], duration=h.shape)
    anchors = None
    if robot is not None and has_manifold_joints(robot):
        anchors = anchored(robot, first[0])
        pads = [np.zeros_like(first[1])] * (3 - len(first))
        first, last = ([*coordinates(robot, anchors, *x, *pads)][: len(x)] for x in (first, last))
        anchors = np.broadcast_to(anchors, (*batch, robot.nq))[..., None, :]
    c = hermite(np.stack(first, axis=-1), np.stack(last, axis=-1), h[..., None])
    return pieced(robot, np.broadcast_to(h, batch)[..., None], c[..., None, :, :], anchors)
