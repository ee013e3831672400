"""What `time_optimal` is asked for: a path on a grid, and limits; bad arguments are refused here."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import count, floats
from ...model.needs import need_coordinates, need_robot
from ...model.robot import Robot
from ..manifold import has_manifold_joints
from ..piecewise import Trajectory
from ..quantities import limits
from .grid import PathGrid, Shape, of_pieces, of_waypoints

__all__ = ["PathProblem", "jerk_limit", "joint_name", "place", "stated"]

_AT_REST = 1e-9  # a path slower than this fraction of its largest rate q' rests
_CORNER = 1e-9  # slopes of neighbouring pieces that differ by more than this fraction of the largest make a corner


class PathProblem(NamedTuple):
    """A path on its grid, and what limits the motion along it."""

    caller: str
    robot: Robot | None
    grid: PathGrid
    velocity: np.ndarray  # (n,), infinite where there is no limit
    acceleration: np.ndarray | None  # (n,)
    effort: np.ndarray | None  # (n,)
    start: np.ndarray  # (...) squared speeds at both ends
    goal: np.ndarray
    smooth: bool  # whether q'' is continuous
    paths: np.ndarray | None = None  # (paths, k) where these are in the batch that was given, if they are some of it

    @property
    def shape(self) -> Shape:
        order, n = self.grid.local.shape[-2:]
        return Shape(n, order)


# --- words ------------------------------------------------------------------------------------------------------------


def joint_name(problem: PathProblem, j) -> str:
    """The name of a joint, if there is a robot, or its number."""
    robot = problem.robot
    named = robot is not None and len(robot.joint_names) == problem.shape.n
    return f"joint '{robot.joint_names[j]}'" if named else f"joint {j}"  # type: ignore[union-attr]


def place(problem: PathProblem, at: tuple, more: str = "") -> str:
    """Where in a batch, and at which parameter, a point `at` of a grid is."""
    s = np.broadcast_to(problem.grid.s, (*problem.start.shape, problem.grid.s.shape[-1]))[at]
    path = at[:-1] if problem.paths is None else problem.paths[at[0]]
    which = f" of path {[int(k) for k in path]}" if len(path) else ""
    return f"s = {s:g}{more}{which}"


# --- arguments --------------------------------------------------------------------------------------------------------


def _waypoints(caller: str, given) -> np.ndarray:
    """Waypoints (..., N, n) as finite numbers."""
    found = floats(given)
    if found.ndim < 2 or found.shape[-1] == 0:
        raise ArgumentError(
            f"{caller} needs waypoints (..., N, n) or a Trajectory, got {np.shape(given) if found.ndim else given!r}"
        )
    if not np.isfinite(found).all():
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(found))[0])
        raise ArgumentError(f"{caller}: waypoints{list(place)} is {found[place]:g}; finite numbers are needed")
    if found.shape[-2] < 2:
        raise ArgumentError(f"{caller}: a path needs 2 waypoints or more, got {found.shape[-2]}")
    repeated = (found[..., 1:, :] == found[..., :-1, :]).all(axis=-1)
    if repeated.any() and not repeated.all():
        at = [int(k) for k in np.argwhere(repeated)[0]]
        raise ArgumentError(
            f"{caller}: waypoints{[*at[:-1], at[-1] + 1]} repeats the one before; a path goes on, so leave it out"
        )
    return found


def _parameters(caller: str, given, waypoints: np.ndarray) -> tuple[float, ...]:
    """The parameters s of the waypoints (..., N, n); equally spaced from 0 to 1 by default."""
    points = waypoints.shape[-2]
    if given is None:
        return tuple((np.arange(points) / (points - 1)).tolist())
    found = floats(given)
    if isinstance(given, str) and given == "chord":
        chords = np.linalg.norm(np.diff(waypoints, axis=-2), axis=-1).reshape(-1, points - 1).mean(axis=0)
        if not chords.all():
            return _parameters(caller, None, waypoints)  # nothing moves
        found = np.append(0.0, np.cumsum(chords))
    if found.shape != (points,) or not np.isfinite(found).all() or not np.all(np.diff(found) > 0):
        raise ArgumentError(
            f"{caller}: parameters must be {points} increasing numbers, one for each waypoint, or 'chord', got "
            f"{given!r:.80}"
        )
    return tuple(found.tolist())


def _path(caller: str, path, parameters, grid: int) -> PathGrid:
    """The path on its grid."""
    if not isinstance(path, Trajectory):
        points = _waypoints(caller, path)
        return of_waypoints(_parameters(caller, parameters, points), points, grid)
    if parameters is not None:
        raise ArgumentError(f"{caller}: parameters are for waypoints; the parameter of a Trajectory is its time")
    if path.anchors is not None:
        raise ArgumentError(f"{caller} needs a path of joints with one degree of freedom, got {path!r}")
    _no_corners(caller, path)
    _no_rest(caller, path)
    return of_pieces(path.knots, path.coefficients, grid)


def _no_corners(caller: str, path: Trajectory) -> None:
    """Raise `ArgumentError` where the direction of a path jumps: no speed but 0 is allowed there."""
    c = path.coefficients
    h = np.diff(path.knots, axis=-1)[..., :-1, None]
    value, slope = np.zeros((2, *np.broadcast_shapes(c.shape[:-3], h.shape[:-2]), path.pieces - 1, path.nv))
    for k in reversed(range(c.shape[-1])):
        slope = slope * h + value
        value = value * h + c[..., :-1, :, k]
    for what, end, start in (("jumps", value, c[..., 1:, :, 0]), ("has a corner", slope, c[..., 1:, :, 1])):
        off = np.abs(end - start) > _CORNER * np.max(np.abs(start), initial=0.0)
        if off.any():
            place = np.argwhere(off)[0]
            s = np.broadcast_to(path.knots, (*off.shape[:-2], path.pieces + 1))[tuple(place[:-2])][place[-2] + 1]
            raise ArgumentError(
                f"{caller}: the path {what} at s = {s:g}, in {path.joint_names[place[-1]]}; a smooth path is needed"
            )


def _no_rest(caller: str, path: Trajectory) -> None:
    """Raise `ArgumentError` if the parameter of a path goes on at an end where the path does not: it starts at rest."""
    extremes = path.extrema().v
    fastest = np.maximum(extremes.highest, -extremes.lowest).max(axis=-1)
    slow = np.abs(path(path.knots[..., [0, -1]]).v).max(axis=-1) <= _AT_REST * fastest[..., None]
    if (slow & (fastest > 0)[..., None]).any():
        at = "starts" if (slow[..., 0] & (fastest > 0)).any() else "ends"
        raise ArgumentError(
            f"{caller}: the path {at} at rest, as a motion does; its parameter must move it on there. Give points of "
            "it, as in path(np.linspace(0, path.duration, 20)).q with parameters='chord'"
        )


def _torque_limit(caller: str, robot: Robot | None, torque, n: int) -> np.ndarray | None:
    """Limits (n,) of the torques: those given, or the robot's own; None if there are none."""
    if torque is False or (torque is None and robot is None):
        return None
    if robot is None:
        raise ArgumentError(f"{caller}: limits of torques need a robot, whose dynamics they limit; robot is None")
    if torque is None or torque is True:
        label = f"torque (here the effort limit of robot '{robot.name}')"
        found = limits(robot.effort_limit, n, label, caller, infinite=True, batch=False)
    else:
        found = limits(torque, n, "torque", caller, infinite=True, batch=False)
    return found if np.isfinite(found).any() else None


def _squared_speed(caller: str, name: str, given, batch: tuple[int, ...]) -> np.ndarray:
    """The square of a speed at an end of the path, for all of a batch."""
    found = floats(given)
    if not ((found >= 0) & (found < 1e150)).all():
        raise ArgumentError(f"{caller}: {name} must be 0 or a positive number, got {given!r:.80}")
    if found.shape == batch:
        return found * found
    try:
        return np.broadcast_to(found * found, batch)
    except ValueError:
        raise ArgumentError(f"{caller}: {name} has shape {found.shape}, and the batch of paths {batch}") from None


def stated(
    caller: str, path, velocity, acceleration, robot, torque, parameters, grid, start_speed, goal_speed
) -> PathProblem:
    """The problem that the arguments of `time_optimal` state."""
    intervals = count(grid, f"{caller}: grid")
    if not 0 < intervals <= 100_000:
        raise ArgumentError(f"{caller}: grid must be a number of intervals, 1 ... 100000, got {grid!r}")
    on_grid = _path(caller, path, parameters, intervals)
    n = on_grid.local.shape[-1]
    if robot is not None:
        need_robot(robot, caller)
        if has_manifold_joints(robot):
            need_coordinates(robot, f"`{caller}` is")
        if n != robot.nv:
            raise ArgumentError(f"{caller}: the path has {n} joints, robot '{robot.name}' {robot.nv}")
        velocity = robot.velocity_limit if velocity is None else velocity
    effort = _torque_limit(caller, robot, torque, n)
    fastest_speed = np.inf if velocity is None or velocity is False else velocity
    most = None if acceleration is None else limits(acceleration, n, "acceleration", caller, infinite=True, batch=False)
    if effort is None and (most is None or not np.isfinite(most).any()):
        raise ArgumentError(f"{caller} needs limits of accelerations or torques; speeds could jump without them")
    batch = np.broadcast_shapes(on_grid.local.shape[:-3], on_grid.steps.shape[:-1])
    ends = [_squared_speed(caller, *end, batch) for end in (("start_speed", start_speed), ("goal_speed", goal_speed))]
    return PathProblem(
        caller,
        robot,
        on_grid,
        limits(fastest_speed, n, "velocity", caller, infinite=True, batch=False),
        most,
        effort,
        *ends,
        smooth=not isinstance(path, Trajectory),
    )


def jerk_limit(problem: PathProblem, jerk) -> np.ndarray:
    """Limits (n,) of jerk, for a motion from rest to rest."""
    if problem.start.any() or problem.goal.any():
        raise ArgumentError(f"{problem.caller}: with limits of jerk, start_speed and goal_speed must be 0")
    return limits(jerk, problem.shape.n, "jerk", problem.caller, infinite=True, batch=False)
