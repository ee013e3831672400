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

from ...errors import SolveError
from ...extras import package
from ...goals.goal import Goal
from ...goals.problem import Goals
from ...model.robot import Robot
from ...randomness import Rng, generator
from ..torque import Torque
from .arguments import check_cost, check_options, check_robot, durations, require_inward, state
from .explain import why_not
from .kinetic import Kinetic
from .motion import Motion, spline_motion, straight
from .path import (
    DEVIATION,
    ON_PATH,
    Conditions,
    Strays,
    bent,
    conditions_of,
    detour,
    is_held,
    path_goals,
    require_on_path,
    strays,
)
from .problem import Bounds, EndCondition, Problem
from .reaching import nearest_configuration, reach, staying
from .solution import Solution, Step
from .splines import inner, pieces, through

__all__ = ["optimal_motion"]

_INSIDE = 1e-6  # the fraction of speed and torque limits that is kept free for the solver's tolerance
_REACHED = 1e-6  # [rad or m] a motion that ends nearer to its goal reaches it
_ROUNDS = 8  # limits at the nodes are tightened at most so many times, until they hold between the nodes
_MOST_SEGMENTS = 256  # segments are doubled up to so many, until equations of the path hold between their points
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
    path: Goals | None = None,
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
        motion = optimal_motion(robot, q_start, q_goal, duration=2.0, path=aj.goals.axis("tool", [0, 0, 1]))

    - `start` and `goal` are q (n,) [rad or m], at rest, or pairs (q, v).
    - `frame`: if it is given, `goal` is the placement (4, 4) of this frame, or the position (3,) of its origin [m], in
      the base; the motion ends at rest, in the configuration that is cheapest.
    - `path`: goals of `adjoint.goals` that hold all along the motion, one or several: a tool on a `line` or in a
      `plane`, a cup whose `axis` stays upright, a held `orientation`, ... With a tolerance of its own, a goal's error
      stays below it at every time. Without one the error is 0 at `segments` + 1 points, and less than 1e-4 rad or m
      between them, with more segments if need be; `motion.path_deviation` is what it is. Both ends are on the path.
    - `duration` is in seconds; of a pair, the duration between the two that costs least is found.
    - `cost` is "effort", ½ ∫ Σ w τ² dt; "energy", ∫ Σ |τ v| dt [J], the work of motors that recover none of it, for
      which all joints need torque limits; or "kinetic", ∫ ½ vᵀ M(q) v dt [J s], which gravity does not count in. From
      rest to rest a longer motion nearly always has the least kinetic energy, so that a pair gives its longer duration.
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
    check_options(robot, cost, weights, segments, starts, max_iterations)
    goals = path_goals(robot, path, caller)
    ends, condition = _ends(robot, start, goal, frame, goals)
    times = durations(duration)
    spline = spline_motion(robot, *ends, (times[0] + times[1]) / 2, cost=cost, weights=weights)
    spline = _bent(spline, goals, ends, segments)
    conditions = _on_path(spline, ends, segments)
    if condition is not None:
        condition = staying(condition, conditions.held, ends[1][0])
    task = _Task(spline, ends, times, condition, conditions, segments, max_iterations)
    found = [
        _descend(task, guess, _reporter(progress, k, starts)) for k, guess in enumerate(_guesses(task, starts, rng))
    ]
    known = [*found, *_splines(task, found)]
    allowed = [motion for motion in known if _holds(task, motion)]
    if not allowed:
        nearest = min(known, key=lambda motion: _badness(task, motion))
        reason = why_not(nearest, _strays(task, nearest), found[0].status, ends, times)
        raise SolveError(f"{caller}: {reason}")
    best = min(allowed, key=lambda motion: motion.cost if motion.history else (1 + _EQUAL) * motion.cost + _SMALL)
    if not best.converged:
        after = f" after iteration {best.history[-1].iteration}" if best.history else ""
        what = f"ended with {best.status}{after}, the cost may not be the least"
        remedy = "more starts, more max_iterations or other segments may find less"
        warnings.warn(f"{caller}: {what}; {remedy}", RuntimeWarning, stacklevel=2)
    return best


class _Task(NamedTuple):
    """What `optimal_motion` was asked for."""

    spline: Motion  # the straight spline or that bent onto the path, the first guess; with cost and weights asked for
    ends: tuple[np.ndarray, np.ndarray]  # the states (q, v) at the start and the goal, each (2, n)
    times: tuple[float, float]  # the shortest and longest duration [s]
    condition: EndCondition | None  # for the last configuration, if a frame is to be reached
    path: Conditions
    segments: int
    max_iterations: int


class _Margins(NamedTuple):
    """How far the program stays inside of limits at its nodes, so that they hold between them; and its segments."""

    torques: np.ndarray  # (n,) as fractions of their limits
    path: float  # of inequalities of the path
    segments: int


def _program(task: _Task, margins: _Margins) -> Problem:
    """The nonlinear program to solve."""
    robot, spline = task.spline.robot, task.spline
    torques = (1 - _INSIDE - margins.torques) * robot.effort_limit
    bounds = Bounds(robot.lower, robot.upper, (1 - _INSIDE) * robot.velocity_limit, torques)
    speed = np.abs(spline(spline.times).v).mean(axis=0)
    slow = _SLOW * np.maximum(speed, max(speed.max() / 4, 1e-3))  # joints at rest in the spline may move, too
    power = max(spline.energy / spline.duration / robot.nv, 1e-6)
    cost = spline.weights * (spline.objective == "effort"), power * (spline.objective == "energy")
    kinetic = Kinetic(robot) if spline.objective == "kinetic" else None
    along = task.path.each(margins.path)
    return Problem(
        Torque(robot, slow), *cost, margins.segments, *task.ends, task.times, bounds, task.condition, kinetic, along
    )


def _descend(task: _Task, guess: tuple[np.ndarray, float], report: Callable[[Step], None] | None) -> Motion:
    """A local minimum, from a guess of control points and duration.

    Limits at the nodes are tightened until they hold between them, and segments are added until equations of the path
    do.
    """
    from .solver import solve  # imported here because it needs casadi

    points, T = guess
    margins, steps, motion = _Margins(np.zeros(task.spline.robot.nv), 0.0, task.segments), (), task.spline
    for again in range(_ROUNDS):
        problem, scale = _program(task, margins), task.spline.cost if task.spline.cost > _SMALL else 1.0
        x = problem.pack(points, T)
        solution = solve(problem, x, scale, max_iterations=task.max_iterations, before=steps, report=report)
        points, T = problem.unpack(solution.x)
        steps = solution.steps
        motion = _motion(task, points, T, solution)
        tighter = _tightened(task, margins, motion, _OVER ** (again + 1))
        if not solution.converged or tighter is margins:
            break
        if tighter.segments > margins.segments:
            ends = task.ends[0], np.stack([points[-1], task.ends[1][1]])
            points = through(motion(T * inner(tighter.segments)).q, *ends, T)
        margins = tighter
    return motion


def _tightened(task: _Task, margins: _Margins, motion: Motion, over: float) -> _Margins:
    """Margins that are larger by what the motion exceeds, times `over`; the same ones if it exceeds nothing."""
    torques, (held, within) = motion.excess[2], _strays(task, motion)
    more = held > DEVIATION and 2 * margins.segments <= _MOST_SEGMENTS
    if not torques.any() and within <= ON_PATH and not more:
        return margins
    return _Margins(
        np.minimum(margins.torques + over * torques, 0.5),
        min(margins.path + over * within, 0.5),
        2 * margins.segments if more else margins.segments,
    )


def _motion(task: _Task, points: np.ndarray, T: float, solution: Solution) -> Motion:
    """The solver's solution as a `Motion`, with the spline of the same ends and duration beside it."""
    robot, objective, weights = task.spline.robot, task.spline.objective, task.spline.weights
    ends = task.ends[0], np.stack([points[-1], task.ends[1][1]])
    beside = _bent(Motion(robot, straight(robot, *ends, T), objective, weights), task.path.goals, ends, task.segments)
    how = solution.converged, solution.status, solution.steps
    return Motion(robot, pieces(points, T, robot), objective, weights, task.path.goals, beside, *how)


def _strays(task: _Task, motion: Motion) -> Strays:
    """By how much a motion misses the path."""
    return strays(task.path, motion(motion.times).q)


def _badness(task: _Task, motion: Motion) -> tuple[float, float]:
    """By how much a motion misses the path, if it does, and then by how much it exceeds limits."""
    off = _strays(task, motion)
    return 0.0 if off.none else max(off), motion.excess.max()


def _on_path(spline: Motion, ends: tuple, segments: int) -> Conditions:
    """The conditions of the path of a spline, which both ends must meet."""
    if not spline.path:
        return Conditions()
    conditions = conditions_of(spline.robot, spline.path, spline(spline.duration * inner(segments)).q)
    require_on_path(spline.robot, conditions, dict(zip(("start", "goal"), ends, strict=True)), "optimal_motion")
    return conditions


def _bent(spline: Motion, goals: tuple[Goal, ...], ends: tuple, segments: int) -> Motion:
    """The spline, bent so that it keeps the goals of a path, with more segments if need be."""
    if not goals:
        return spline
    (start, goal), T, s = ends, spline.duration, inner(segments)
    q = spline(T * s).q + detour(spline.robot, goals, start[0], goal[0], s)
    points = through(bent(spline.robot, goals, q), start, goal, T)
    found = replace(spline, trajectory=pieces(points, T, spline.robot), path=goals)
    held = [is_held(g) for g in goals]
    if found.path_deviation[held].max(initial=0.0) <= DEVIATION or 2 * segments > _MOST_SEGMENTS:
        return found
    return _bent(spline, goals, ends, 2 * segments)


def _splines(task: _Task, found: list[Motion]) -> list[Motion]:
    """The straight splines, also of the durations found, as candidates if no motion found is cheaper."""
    known = [task.spline, *(motion.spline for motion in found if motion.spline)]
    return [replace(s, spline=s, converged=False, status="no improvement on the spline") for s in known]


def _holds(task: _Task, motion: Motion) -> bool:
    """Whether the motion keeps all limits and reaches the goal."""
    missed = task.condition.error(motion(motion.duration).q) if task.condition else np.zeros(1)
    return _strays(task, motion).none and not motion.excess.any() and bool(np.abs(missed).max() < _REACHED)


def _guesses(task: _Task, starts: int, rng) -> Iterator[tuple[np.ndarray, float]]:
    """Control points and durations to start from: the straight spline, then splines with random bumps and durations."""
    rng, robot = generator(rng, "optimal_motion"), task.spline.robot
    T, s = task.spline.duration, inner(task.segments)
    q = task.spline(T * s).q
    yield through(q, *task.ends, T), T
    height = np.minimum(_BUMP, (robot.upper - robot.lower) / 4)
    shapes = np.stack([s**2 * (1 - s) ** 3, s**3 * (1 - s) ** 2], axis=1)
    for _ in range(starts - 1):
        bumped = q + 30 * shapes @ (height * rng.standard_normal((2, robot.nv)))
        goals = task.path.goals
        points = through(bent(robot, goals, bumped) if goals else bumped, *task.ends, T)
        yield np.clip(points, robot.lower, robot.upper), rng.uniform(*task.times)


def _ends(
    robot: Robot, start, goal, frame: str | None, path: tuple[Goal, ...]
) -> tuple[tuple[np.ndarray, np.ndarray], EndCondition | None]:
    """The states at both ends, and the condition for the last one if a frame is to be reached; it is then a guess."""
    first = state(robot, start, "optimal_motion: start")
    require_inward(robot, first[0], first[1], "optimal_motion: start", "goes on")
    if frame is None:
        last = state(robot, goal, "optimal_motion: goal")
        require_inward(robot, last[0], -last[1], "optimal_motion: goal", "comes from")
        return (first, last), None
    label = f"optimal_motion: goal of frame '{frame}'"
    condition = reach(robot, frame, goal, label)
    last = nearest_configuration(robot, frame, goal, path, first[0], label)
    return (first, np.stack([last, 0 * first[0]])), condition


def _reporter(progress, k: int, starts: int) -> Callable[[Step], None] | None:
    """The function to call at every iteration of start number k, or None."""
    if progress is not True:
        return progress or None
    which = f"start {k + 1} of {starts}, " if starts > 1 else ""

    def show(step: Step) -> None:
        iteration, cost, violation = step
        print(f"{which}iteration {iteration:>3}: cost {cost:.8g}, limits exceeded by {violation:.2%}", flush=True)

    return show
