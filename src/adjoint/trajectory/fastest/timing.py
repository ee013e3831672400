"""`time_optimal`, the fastest motion along a given path, and `phase_plane`, which shows what limits it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...model.robot import Robot
from ..piecewise import Trajectory
from .grid import bound, timed
from .jerk import with_bounded_jerk
from .problem import PathProblem, jerk_limit, joint_name, stated
from .reachability import allowed
from .solution import solved
from .torque import torque_at

__all__ = ["PhasePlane", "phase_plane", "time_optimal"]

_SWITCHED = 1e-6  # accelerations this near to an end of their range, as a fraction of it, are at the end


def time_optimal(
    path, *, velocity=None, acceleration=None, robot: Robot | None = None, torque=None, parameters=None, grid=100,
    start_speed=0.0, goal_speed=0.0, jerk=None,
) -> Trajectory:  # fmt: skip
    """The fastest `Trajectory` along a path within limits of velocities, accelerations and torques: Bobrow's problem.

    The path is given as waypoints (..., N, n), through which a cubic spline q(s) is laid, or as a `Trajectory`, whose
    time is taken as the parameter s. What is found is the speed ṡ along it. Leading axes are a batch of paths.

        >>> trajectory = time_optimal([[0.0, 0.0], [1.0, 0.5], [1.0, 2.0]], velocity=2.0, acceleration=[5.0, 4.0])
        >>> round(trajectory.duration, 2)
        1.78
        >>> trajectory = time_optimal(np.stack([q, v, a]), robot=robot, acceleration=50.0)   # and the robot's limits

    - `velocity` [rad/s, m/s], `acceleration` [rad/s², m/s²] and `torque` [N m, N] are limits of the moduli: a number,
      or (n,). Infinity is no limit. With a `robot`, velocities and torques have the robot's own limits by default;
      False is no limit. Limits of accelerations or of torques are needed.
    - `parameters` (N,), increasing, are the s of the waypoints, 0 ... 1 in equal steps by default. "chord" takes the
      lengths of the straight lines between them, which is better where their distances differ much: of a batch, their
      mean. The spline's first and last inner points are not knots, as in SciPy's `CubicSpline`.
    - `grid` is the least number of intervals of s. Each piece of the path has equally many.
    - `start_speed` and `goal_speed` are ṡ at the ends of the path: one number, or one for each path.
    - `jerk` [rad/s³, m/s³] are limits of jerk, for a motion from rest to rest.

    The method is TOPP-RA of Pham & Pham (2018), IEEE Trans. Robot. 34(3). The result consists of one piece for each
    interval, in which s̈ is constant; its degree is twice that of the path. Velocities and accelerations are within
    their limits at all times, by exact bounds of the polynomials. Torques are within theirs on a grid ten times finer,
    peaks of parabolas through neighbouring points included; on 256 random paths of a Panda they exceeded them by less
    than 6e-5 of them anywhere. For that, they are kept below 0.9999 of their limits on the grid. The duration is longer
    than the shortest one by a fraction that is about proportional to the length of the intervals: by 1.4 % on average
    for seven joints and 10 random points with 100 intervals, and by 0.3 % with 400.

    With `jerk`, s̈ is continuous, and the pieces are of four times the path's degree. It is found by linear programs
    after Debrouwere et al. (2013), IEEE Trans. Robot. 29(6), for one path after the other, which takes about half a
    second each, and all limits hold in the same way. At knots of the path, where q''' jumps, the jerk is bounded on
    both sides. For 20 paths as above, with velocities of 2, accelerations of 5 and jerks of 30 at most, the motion took
    1.015 times as long as without limits of jerk on the same grid.

    Where a path asks for what the limits do not allow, a `SolveError` names the place and the limit: a joint that is
    too weak to hold the robot, or a speed at an end that is too high. A path may not stand still, nor have corners; so
    a motion from rest to rest is no path, but points of it are. Turning points, at which all joints change their
    direction, are allowed.
    """
    problem = stated(
        "time_optimal", path, velocity, acceleration, robot, torque, parameters, grid, start_speed, goal_speed
    )
    fastest = solved(problem)  # says what stands in the way, also of a motion with bounded jerk
    if jerk is None:
        return timed(problem.grid, fastest.x, robot)
    return with_bounded_jerk(problem, jerk_limit(problem, jerk))


class PhasePlane(NamedTuple):
    """The plane of a path's parameter s and its speed ṡ, at G + 1 points of a grid and in the G intervals between them.

    Leading axes are those of a batch of paths.
    """

    s: np.ndarray  # (..., G + 1) the parameter of the path
    speed: np.ndarray  # (..., G + 1) ṡ of the fastest motion
    maximum_speed: np.ndarray  # (..., G + 1) the limit curve: no faster motion is within the limits for a moment
    controllable: np.ndarray  # (..., G + 1) the largest speed from which the goal can be reached
    switches: np.ndarray  # (..., k) the s at which the motion changes between speeding up, slowing down and neither
    active: np.ndarray  # (..., G) the limit that holds the motion back in each interval, in words


def phase_plane(
    path, *, velocity=None, acceleration=None, robot: Robot | None = None, torque=None, parameters=None, grid=100,
    start_speed=0.0, goal_speed=0.0,
) -> PhasePlane:  # fmt: skip
    """The `PhasePlane` of the fastest motion along a path; arguments are those of `time_optimal`, but for jerk.

    In an interval, the motion speeds up as fast as limits allow, slows down as fast, or does neither where a limit of
    velocities holds it. A batch has as many `switches` as the path with the most of them; the rest are NaN.

        >>> plane = phase_plane([[0.0], [1.0]], velocity=2.0, acceleration=8.0, grid=10)
        >>> plane.switches
        array([0.2, 0.8])
        >>> str(plane.active[0]), str(plane.active[5])
        ('acceleration of joint 0', 'velocity of joint 0')
    """
    problem = stated(
        "phase_plane", path, velocity, acceleration, robot, torque, parameters, grid, start_speed, goal_speed
    )
    x, caps, law, torques = solved(problem)
    given: dict[str, Any] = {} if torques is None else torques._asdict()
    if problem.acceleration is not None:
        given["acceleration"] = problem.acceleration
    _, steps, local = problem.grid
    within = bound(allowed, problem.shape)(local, steps, caps[..., :-1], x[..., :-1], **given)
    u, room = np.diff(x, axis=-1) / (2 * steps), _SWITCHED * (within.largest - within.least)
    phase = np.where(u >= within.largest - room, 1, 0) - np.where(u <= within.least + room, 1, 0)
    s = np.broadcast_to(problem.grid.s, x.shape)
    return PhasePlane(
        s,
        np.sqrt(x),
        np.sqrt(np.concatenate([within.x, caps[..., -1:]], axis=-1)),
        np.sqrt(np.concatenate([law.high, problem.goal[..., None]], axis=-1)),
        _padded(s[..., 1:-1], phase[..., 1:] != phase[..., :-1]),
        _active(problem, x),
    )


def _padded(values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The chosen values of the last axis, in order, and NaN after them where others have more."""
    order = np.argsort(~chosen, axis=-1, kind="stable")[..., : chosen.sum(axis=-1).max(initial=0)]
    return np.take_along_axis(np.where(chosen, values, np.nan), order, axis=-1)


def _active(problem: PathProblem, x: np.ndarray) -> np.ndarray:
    """The name of the limit of which most is used in each interval, at its start, middle or end."""
    _, steps, local = problem.grid
    n, order = problem.shape
    u = (np.diff(x, axis=-1) / (2 * steps))[..., None]
    shares = []
    for part in (0.0, 0.5, 1.0):
        s = (part * steps)[..., None]
        slope = sum(k * local[..., k, :] * s ** (k - 1) for k in range(1, order))
        bend = sum(k * (k - 1) * local[..., k, :] * s ** (k - 2) for k in range(2, order))
        squared = x[..., :-1, None] + 2 * u * s
        kinds = {"velocity": np.abs(slope) * np.sqrt(np.maximum(squared, 0.0)) / problem.velocity}
        if problem.acceleration is not None:
            kinds["acceleration"] = np.abs(slope * u + bend * squared) / problem.acceleration
        if problem.robot is not None and problem.effort is not None:
            kinds["torque"] = np.abs(torque_at(problem.robot, problem.grid, problem.effort, part, x))
        shares.append(np.concatenate(list(kinds.values()), axis=-1))
    names = np.array([f"{kind} of {joint_name(problem, j)}" for kind in kinds for j in range(n)])
    return names[np.argmax(np.max(shares, axis=0), axis=-1)]
