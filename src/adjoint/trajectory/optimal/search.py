"""`optimal_motion` finds the motion of least effort, energy or kinetic energy between two states, within all limits.

The method follows Martin & Bobrow (1999), "Minimum-effort motions for open-chain manipulators with task-dependent
end-effector constraints", Int. J. Robotics Research 18 (2). Positions are splines, so torques follow by inverse
dynamics without integration, and their derivatives of first and second order are exact. The integral of the kinetic
energy is the cost of Park, Bobrow & Ploen (1995), §5; without limits it is least along geodesics: `geodesic_between`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError, SolveError
from ...extras import package
from ...model.input_checks import count
from ...model.robot import Robot
from ...randomness import Rng, generator
from ..torque import Torque
from .explain import why_not
from .kinetic import Kinetic
from .motion import Motion, check_cost, check_robot, effort_weights, seconds, spline_motion, state, straight
from .problem import Bounds, EndCondition, Problem
from .reaching import nearest_configuration, reach
from .solution import Solution, Step
from .splines import inner, pieces, through

__all__ = ["optimal_motion"]

_INSIDE = 1e-6  # the fraction of speed and torque limits that is kept free for the solver's tolerance
_REACHED = 1e-6  # [rad or m] a motion that ends nearer to its goal reaches it
_ROUNDS = 8  # torque limits at the nodes are tightened at most so many times, until the torques between them hold
_OVER = 1.3  # each time they are tightened by the excess, times a power of this
_EQUAL = 1e-6  # a straight spline is preferred to a motion found only if it costs less by more than this fraction,
_SMALL = 1e-9  # and by more than this number; smaller costs count as 0
_SLOW = 0.02  # the speed at which dry friction sets in, as a fraction of the spline's mean speed
_BUMP = 1.5  # [rad or m] by which random starts leave the spline; a quarter of a joint's range if that is less


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
    rng: Rng = 0,
    max_iterations: int = 500,
    progress: bool | Callable[[Step], None] = False,
) -> Motion:
    """The `Motion` of least cost from `start` to `goal` within the robot's limits of position, speed and torque.

        motion = optimal_motion(robot, q_start, q_goal, duration=2.0)
        motion = optimal_motion(robot, q_start, T_goal, duration=(1.0, 3.0), frame="tool", cost="energy")

    - `start` and `goal` are q (n,) [rad or m], at rest, or pairs (q, v).
    - `frame`: if it is given, `goal` is the placement (4, 4) of this frame, or the position (3,) of its origin [m], in
      the base; the motion ends at rest, in the configuration that is cheapest.
    - `duration` is in seconds; of a pair, the duration between the two that costs least is found.
    - `cost` is "effort", ½ ∫ Σ w τ² dt; "energy", ∫ Σ |τ v| dt [J], the work of motors that recover none of it, for
      which all joints need torque limits; or "kinetic", ∫ ½ vᵀ M(q) v dt [J s], which gravity does not count in.
    - `weights` w (n,) of the effort are by default 1 / τmax² if every joint has a torque limit, and otherwise 1.
    - `segments` is the number of segments of the path, a quintic spline; more of them lower the cost a little.
    - `starts`: a local minimum is looked for from the straight spline, and from `starts` - 1 random splines about it
      (`rng`); the cheapest one is returned.
    - `progress=True` prints every iteration of the solver; a function is called with each `Step`.

    `robot.replace(effort_limit=...)` sets other limits. Positions and speeds keep their limits at every time, because
    the control points of the spline do. Torques are checked between the nodes of the solver, and its limits tightened
    until they hold there too. A `SolveError` says which limit is in the way, when, and by how much. If the solver stops
    early, as after `max_iterations`, with all limits kept, there is a warning and `converged` is False.

    See Martin & Bobrow (1999), "Minimum-effort motions for open-chain manipulators with task-dependent end-effector
    constraints", Int. J. Robotics Research 18 (2).
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
    """What `optimal_motion` was asked for."""

    spline: Motion  # the straight spline, the first guess; it has the cost and weights asked for
    ends: tuple[np.ndarray, np.ndarray]  # the states (q, v) at the start and the goal, each (2, n)
    times: tuple[float, float]  # the shortest and longest duration [s]
    condition: EndCondition | None  # for the last configuration, if a frame is to be reached
    segments: int
    max_iterations: int


def _program(task: _Task, margin: np.ndarray) -> Problem:
    """The nonlinear program to solve, with torques at the nodes below (1 - margin) of their limits."""
    robot, spline = task.spline.robot, task.spline
    bounds = Bounds(
        robot.lower, robot.upper, (1 - _INSIDE) * robot.velocity_limit, (1 - _INSIDE - margin) * robot.effort_limit
    )
    speed = np.abs(spline(spline.times).v).mean(axis=0)
    slow = _SLOW * np.maximum(speed, max(speed.max() / 4, 1e-3))  # joints at rest in the spline may move, too
    power = max(spline.energy / spline.duration / robot.nv, 1e-6)
    cost = spline.weights * (spline.objective == "effort"), power * (spline.objective == "energy")
    kinetic = Kinetic(robot) if spline.objective == "kinetic" else None
    return Problem(Torque(robot, slow), *cost, task.segments, *task.ends, task.times, bounds, task.condition, kinetic)


def _descend(task: _Task, guess: tuple[np.ndarray, float], report: Callable[[Step], None] | None) -> Motion:
    """A local minimum, from a guess of control points and duration; torque limits are tightened until torques hold."""
    from .solver import solve  # imported here because it needs casadi

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
    """The solver's solution as a `Motion`, with the straight spline of the same ends and duration beside it."""
    robot, objective, weights = task.spline.robot, task.spline.objective, task.spline.weights
    start, (_, v_1) = task.ends
    beside = Motion(robot, straight(robot, start, np.stack([points[-1], v_1]), T), objective, weights)
    how = solution.converged, solution.status, solution.steps
    return Motion(robot, pieces(points, T, robot), objective, weights, beside, *how)


def _splines(task: _Task, found: list[Motion]) -> list[Motion]:
    """The straight splines, also of the durations found, as candidates if no motion found is cheaper."""
    known = [task.spline, *(motion.spline for motion in found if motion.spline)]
    return [replace(s, spline=s, converged=False, status="no improvement on the spline") for s in known]


def _holds(task: _Task, motion: Motion) -> bool:
    """Whether the motion keeps all limits and reaches the goal."""
    missed = task.condition.error(motion(motion.duration).q) if task.condition else np.zeros(1)
    return not motion.excess.any() and np.abs(missed).max() < _REACHED


def _guesses(task: _Task, starts: int, rng) -> Iterator[tuple[np.ndarray, float]]:
    """Control points and durations to start from: the straight spline, then splines with random bumps and durations."""
    rng, robot = generator(rng, "optimal_motion"), task.spline.robot
    T, s = task.spline.duration, inner(task.segments)
    q = task.spline(T * s).q
    yield through(q, *task.ends, T), T
    height = np.minimum(_BUMP, (robot.upper - robot.lower) / 4)
    shapes = np.stack([s**2 * (1 - s) ** 3, s**3 * (1 - s) ** 2], axis=1)
    for _ in range(starts - 1):
        bump = 30 * shapes @ (height * rng.standard_normal((2, robot.nv)))
        points = through(q + bump, *task.ends, T)
        yield np.clip(points, robot.lower, robot.upper), rng.uniform(*task.times)


# --- arguments --------------------------------------------------------------------------------------------------------


def _check_options(robot: Robot, cost: str, weights, segments: int, starts: int, max_iterations: int) -> None:
    """Raises an `ArgumentError` about options that are out of range or do not fit the cost."""
    for name, value in (("segments", segments), ("starts", starts), ("max_iterations", max_iterations)):
        if count(value, f"optimal_motion: {name}") < 1:
            raise ArgumentError(f"optimal_motion: {name} must be 1 or more, got {value!r}")
    effort_weights(robot, weights, "optimal_motion")
    if cost != "effort" and weights is not None:
        raise ArgumentError(f"optimal_motion: weights are those of the effort; cost={cost!r} has none")
    if cost == "energy" and not np.isfinite(robot.effort_limit).all():
        name = robot.joint_names[int(np.argmax(robot.effort_limit))]
        raise ArgumentError(
            f"optimal_motion: joint '{name}' of robot '{robot.name}' has no torque limit, and without one the least "
            "energy takes torques without bound for no time at all; robot.replace(effort_limit=...) gives limits"
        )


def _ends(robot: Robot, start, goal, frame: str | None) -> tuple[tuple[np.ndarray, np.ndarray], EndCondition | None]:
    """The states at both ends, and the condition for the last one if a frame is to be reached; it is then a guess."""
    first = state(robot, start, "optimal_motion: start")
    _require_inward(robot, first[0], first[1], "optimal_motion: start", "goes on")
    if frame is None:
        last = state(robot, goal, "optimal_motion: goal")
        _require_inward(robot, last[0], -last[1], "optimal_motion: goal", "comes from")
        return (first, last), None
    label = f"optimal_motion: goal of frame '{frame}'"
    condition = reach(robot, frame, goal, label)
    last = nearest_configuration(robot, frame, goal, first[0], label)
    return (first, np.stack([last, 0 * first[0]])), condition


def _require_inward(robot: Robot, q: np.ndarray, v: np.ndarray, label: str, moves: str) -> None:
    """Raises an `ArgumentError` if a joint is on a limit and v leads beyond it."""
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
    """The function to call at every iteration of start number k, or None."""
    if progress is not True:
        return progress or None
    which = f"start {k + 1} of {starts}, " if starts > 1 else ""

    def show(step: Step) -> None:
        iteration, cost, violation = step
        print(f"{which}iteration {iteration:>3}: cost {cost:.8g}, limits exceeded by {violation:.2%}", flush=True)

    return show
