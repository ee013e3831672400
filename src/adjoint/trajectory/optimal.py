"""Motions that cost least: minimum effort and minimum energy between two states, within all limits.

After Martin & Bobrow (1999), "Minimum-effort motions for open-chain manipulators with task-dependent end-effector
constraints", Int. J. Robotics Research 18 (2). Positions are splines, so torques follow by inverse dynamics without
integration; their derivatives of first and second order are exact. The cost that Park, Bobrow & Ploen (1995), §5, have
in mind is another, the integral of the kinetic energy: it is least along geodesics, see `geodesic_between`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..errors import ArgumentError, SolveError
from ..extras import package
from ..model.input_checks import count, generator
from ..model.robot import Robot
from .explain import why_not
from .motion import Motion, check_cost, check_robot, effort_weights, seconds, spline_motion, state
from .problem import Bounds, EndCondition, Problem
from .reaching import nearest_configuration, reach
from .solution import Solution, Step
from .splines import DEGREE, quintic, refined
from .torque import Torque

__all__ = ["optimal_motion"]

_INSIDE = 1e-6  # fraction of speed and torque limits kept free, so that the solver's tolerance does not exceed them
_ROUNDING = 1e-9  # what counts as within limits
_REACHED = 1e-6  # [rad or m], what counts as reaching a goal
_ROUNDS = 8  # of tightening torque limits at the nodes until they hold between them,
_OVER = 1.3  # by what they are exceeded by and so much more each time
_EQUAL = 1e-6  # costs that differ by less than this fraction are equal,
_SMALL = 1e-9  # and those below this are none
_SLOW = 0.02  # dry friction sets in at this fraction of the spline's mean speed
_BUMP = 1.5  # [rad or m] by which further starts leave the spline, a quarter of a joint's range if that is less


def optimal_motion(
    robot: Robot,
    start,
    goal,
    duration: float | tuple[float, float],
    *,
    cost: str = "effort",
    frame: str | None = None,
    weights=None,
    segments: int = 16,
    starts: int = 1,
    rng: np.random.Generator | int | None = 0,
    max_iterations: int = 500,
    progress: bool | Callable[[Step], None] = False,
) -> Motion:
    """The `Motion` of least cost from `start` to `goal` within the robot's limits of position, speed and torque.

    `start` and `goal` are q (n,), at rest, or pairs (q, v); with `frame`, `goal` is the placement (4, 4) or position
    (3,) of that frame and the motion ends at rest wherever that is cheapest. `duration` is in seconds, or a pair:
    anything between. `cost` is

    - "effort": ½ ∫ Σ w τ² dt, `weights` w (n,), by default 1 / τmax² if every joint has a limit and 1 if not;
    - "energy": ∫ Σ |τ v| dt [J], the work of motors that do not recover any; all torques must be limited.

    Other limits: `robot.replace(effort_limit=...)`. The path is a quintic spline of so many `segments`: more of them
    lower the cost a little. The minimum is a local one, found from the straight spline and from `starts` - 1 random
    ones (`rng`), and the cheapest is returned. `progress` prints every iteration, or is called with it, a `Step`.

    Positions and speeds hold at every time by their control points, torques by looking between the nodes and
    tightening. A `SolveError` says which limit is in the way, when, and by how much. Stopping early, after
    `max_iterations`, with all limits met is a warning and `converged` False.
    """
    caller = "optimal_motion"
    package("casadi", "casadi", f"{caller}, which solves its program by IPOPT,")
    check_robot(robot, caller)
    check_cost(cost, caller)
    _check_options(robot, cost, weights, segments, starts, max_iterations)
    ends, condition = _ends(robot, start, goal, frame)
    times = _durations(duration)
    spline = spline_motion(robot, *ends, (times[0] + times[1]) / 2, cost=cost, weights=weights)
    task = _Task(spline, ends, times, condition, segments, max_iterations)
    found = [
        _descend(task, guess, _reporter(progress, k, starts)) for k, guess in enumerate(_guesses(task, starts, rng))
    ]
    known = [*found, *_splines(task, found)]
    allowed = [motion for motion in known if _holds(task, motion)]
    if not allowed:
        nearest = min(known, key=lambda motion: motion.excess.max())
        raise SolveError(f"{caller}: {why_not(nearest, found[0].status, ends, times)}")
    best = min(allowed, key=lambda motion: motion.cost if motion.history else (1 + _EQUAL) * motion.cost + _SMALL)
    if not best.converged:
        after = f" after iteration {best.history[-1].iteration}" if best.history else ""
        what = f"ended with {best.status}{after}, the cost may not be the least"
        remedy = "more starts, more max_iterations or other segments may find less"
        warnings.warn(f"{caller}: {what}; {remedy}", RuntimeWarning, stacklevel=2)
    return best


class _Task(NamedTuple):
    """What is looked for."""

    spline: Motion  # the first guess, of the right cost and weights
    ends: tuple[np.ndarray, np.ndarray]
    times: tuple[float, float]
    condition: EndCondition | None
    segments: int
    max_iterations: int


def _program(task: _Task, margin: np.ndarray) -> Problem:
    """The program to solve, torques at the nodes held below (1 - margin) of their limits."""
    robot, spline = task.spline.robot, task.spline
    bounds = Bounds(
        robot.lower, robot.upper, (1 - _INSIDE) * robot.velocity_limit, (1 - _INSIDE - margin) * robot.effort_limit
    )
    speed = np.abs(spline.v).mean(axis=0)
    slow = _SLOW * np.maximum(speed, max(speed.max() / 4, 1e-3))  # joints that the spline leaves alone may move, too
    power = max(spline.energy / spline.duration / robot.nv, 1e-6)
    cost = (spline.weights, 0.0) if spline.objective == "effort" else (0 * spline.weights, power)
    return Problem(Torque(robot, slow), *cost, task.segments, *task.ends, task.times, bounds, task.condition)


def _descend(task: _Task, guess: tuple[np.ndarray, float], report: Callable[[Step], None] | None) -> Motion:
    """A local minimum from a guess of control points and duration, torques tightened until they hold everywhere."""
    from .solver import solve  # it needs casadi

    points, T = guess
    margin, steps, motion = np.zeros(task.spline.robot.nv), (), task.spline
    for again in range(_ROUNDS):
        problem, scale = _program(task, margin), task.spline.cost if task.spline.cost > _SMALL else 1.0
        x = problem.pack(points, T)
        solution = solve(problem, x, scale, max_iterations=task.max_iterations, before=steps, report=report)
        points, T = problem.unpack(solution.x)
        steps = solution.steps
        motion = _motion(task, points, T, solution)
        if not solution.converged or not motion.excess[2].any():
            break
        margin = np.minimum(margin + _OVER ** (again + 1) * motion.excess[2], 0.5)
    return motion


def _motion(task: _Task, points: np.ndarray, T: float, solution: Solution) -> Motion:
    spline = task.spline
    last = np.stack([points[-1], task.ends[1][1]])
    rest = spline.objective, spline.weights
    beside = Motion(spline.robot, quintic(*task.ends[0], *last, T), T, *rest)
    return Motion(spline.robot, points, T, *rest, beside, *solution[2:])


def _splines(task: _Task, found: list[Motion]) -> list[Motion]:
    """Splines, of the durations found too, in case that nothing found is cheaper than one that is within the limits."""
    known = [task.spline, *(motion.spline for motion in found if motion.spline)]
    return [replace(s, spline=s, converged=False, status="no improvement on the spline") for s in known]


def _holds(task: _Task, motion: Motion) -> bool:
    """Are all limits met, and the goal?"""
    missed = task.condition.error(motion.control_points[-1]) if task.condition else np.zeros(1)
    return motion.excess.max() < _ROUNDING and np.abs(missed).max() < _REACHED


def _guesses(task: _Task, starts: int, rng) -> Iterator[tuple[np.ndarray, float]]:
    """Control points and duration to start from: the spline first, then with random bumps and of random duration."""
    rng, robot = generator(rng, "optimal_motion"), task.spline.robot
    straight, T = refined(task.spline.control_points, task.segments), task.spline.duration
    yield straight, T
    height = np.minimum(_BUMP, (robot.upper - robot.lower) / 4)
    for _ in range(starts - 1):
        bump = np.zeros((1 + DEGREE, robot.nv))
        bump[2:-2] = 3 * height * rng.standard_normal((2, robot.nv))
        yield np.clip(straight + refined(bump, task.segments), robot.lower, robot.upper), rng.uniform(*task.times)


# --- arguments --------------------------------------------------------------------------------------------------------


def _check_options(robot: Robot, cost: str, weights, segments: int, starts: int, max_iterations: int) -> None:
    for name, value in (("segments", segments), ("starts", starts), ("max_iterations", max_iterations)):
        if count(value, f"optimal_motion: {name}") < 1:
            raise ArgumentError(f"optimal_motion: {name} must be 1 or more, got {value!r}")
    effort_weights(robot, weights, "optimal_motion")
    if cost == "energy" and weights is not None:
        raise ArgumentError("optimal_motion: weights are those of the effort; energy is counted in J and has none")
    if cost == "energy" and not np.isfinite(robot.effort_limit).all():
        name = robot.joint_names[int(np.argmax(robot.effort_limit))]
        raise ArgumentError(
            f"optimal_motion: joint '{name}' of robot '{robot.name}' has no torque limit, and without one the least "
            "energy takes torques without bound for no time at all; robot.replace(effort_limit=...) gives limits"
        )


def _ends(robot: Robot, start, goal, frame: str | None) -> tuple[tuple[np.ndarray, np.ndarray], EndCondition | None]:
    """The states at both ends, the last one a guess if a frame is to be reached, and the condition for that."""
    first = state(robot, start, "optimal_motion: start")
    _require_inward(robot, *first, "optimal_motion: start", "goes on")
    if frame is None:
        last = state(robot, goal, "optimal_motion: goal")
        _require_inward(robot, last[0], -last[1], "optimal_motion: goal", "comes from")
        return (first, last), None
    label = f"optimal_motion: goal of frame '{frame}'"
    condition = reach(robot, frame, goal, label)
    return (first, np.stack([nearest_configuration(robot, condition, first[0], label), 0 * first[0]])), condition


def _require_inward(robot: Robot, q: np.ndarray, v: np.ndarray, label: str, moves: str) -> None:
    """`ArgumentError` if a joint is on a limit and v leads out of it."""
    for i in np.flatnonzero(((q >= robot.upper) & (v > 0)) | ((q <= robot.lower) & (v < 0))):
        raise ArgumentError(
            f"{label}: joint '{robot.joint_names[i]}' is on its limit {q[i]:g} and {moves} beyond it, with a speed of "
            f"{abs(v[i]):g}; on a limit a joint rests, or its velocity has the other sign"
        )


def _durations(duration) -> tuple[float, float]:
    """The shortest and the longest duration allowed."""
    given = duration if isinstance(duration, (tuple, list)) else (duration, duration)
    if len(given) != 2:
        raise ArgumentError(f"optimal_motion: duration must be seconds or a pair of them, got {duration!r}")
    low, high = (seconds(x, "optimal_motion: duration") for x in given)
    if low > high:
        raise ArgumentError(f"optimal_motion: duration is {low:g} to {high:g} s; the first must not be the longer one")
    return low, high


def _reporter(progress, k: int, starts: int) -> Callable[[Step], None] | None:
    """What to do at every iteration of start k."""
    if progress is not True:
        return progress or None
    which = f"start {k + 1} of {starts}, " if starts > 1 else ""

    def show(step: Step) -> None:
        iteration, cost, violation = step
        print(f"{which}iteration {iteration:>3}: cost {cost:.8g}, limits exceeded by {violation:.2%}", flush=True)

    return show
