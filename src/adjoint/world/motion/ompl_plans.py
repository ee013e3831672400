"""`plan_with_ompl`: the planners of OMPL with our collision checks, as a peer and as a second choice."""

from __future__ import annotations

import time

import numpy as np

from ...collision import CollisionModel
from ...errors import ArgumentError
from ...extras import package
from ...model.input_checks import positive, vectors
from .edge_checks import Checker, free_edges
from .model_checks import model_checker
from .plan_goals import outside
from .plan_results import MotionPlan, PlanStatistics, touching
from .shortcuts import shortened
from .spaces import ConfigurationSpace, configuration_space
from .tree_search import Budget

__all__ = ["plan_with_ompl"]

_THREADED = ("PRM", "PRMstar")  # their own threads wait for the lock of Python, which `solve` holds


def plan_with_ompl(
    model: CollisionModel, start, goals, *, planner: str = "RRTConnect", resolution: float = 0.05,
    time_limit: float = 5.0, rng: int = 0, shortcut: bool = False, simplify: bool = False,
) -> MotionPlan:  # fmt: skip
    """Plan a motion with a planner of OMPL: a `MotionPlan` without timing. It needs the extra `[planning]`.

        plan = plan_with_ompl(collision_model(robot, solids), start, goal, planner="BITstar", time_limit=2.0)

    `start` (nq,) and the `goals`, one (nq,) or several (k, nq), are configurations. `planner` is the name of a class of
    `ompl.geometric`: "RRTConnect", "RRTstar", "BITstar", "KPIECE1", ... ("PRM" and "PRMstar" are refused: a thread of
    theirs waits for Python forever; `roadmap` makes roadmaps.) States are checked by `is_free` of the
    model, and motions whole, in a few calls of compiled code, with points at most `resolution` [rad, m] apart. Then
    `simplify` lets OMPL make the path shorter, and `shortcut` does it as `plan_motion` does. Planners that improve
    their path use all of `time_limit` [s]. Angles without limits do not wrap here: they stay within half a turn of the
    start.
    `rng` seeds OMPL's generators, which takes effect in a process once, before its first plan. Robots with joints of
    several degrees of freedom are refused. Reference: Şucan, Moll & Kavraki (2012), "The Open Motion Planning Library",
    IEEE Robotics & Automation Magazine 19(4).
    """
    begun, caller = time.perf_counter(), "plan_with_ompl"
    package("ompl", "planning", caller)
    base, geometric, util = (package(f"ompl.{name}", "planning", caller) for name in ("base", "geometric", "util"))
    space = configuration_space(model.robot, caller=caller)
    if not space.plain:
        raise ArgumentError(
            f"{caller}: robot '{model.robot.name}' has joints of several degrees of freedom; plan_motion takes it"
        )
    step, limit = positive(resolution, f"{caller}: resolution"), positive(time_limit, f"{caller}: time_limit")
    q = vectors(start, model.robot.nq, "start", caller)
    ends = np.atleast_2d(vectors(goals, model.robot.nq, "goals", caller))
    if q.ndim != 1 or ends.ndim != 2:
        raise ArgumentError(f"{caller}: start must be one configuration (nq,), and goals one or several (k, nq)")
    kind = getattr(geometric, planner, None) if isinstance(planner, str) else None
    if not isinstance(kind, type) or not issubclass(kind, base.Planner) or planner in _THREADED:
        known = sorted(
            n for n in dir(geometric) if isinstance(x := getattr(geometric, n), type) and issubclass(x, base.Planner)
        )
        raise ArgumentError(f"{caller}: planner is {planner!r}; it must be one of {', '.join(known)}")
    checker = model_checker(model, space, step)
    ends = q + space.difference(q, ends) if space.turns else ends
    reason = _reason(checker, model, q, ends)
    if reason:
        return _plan(model, checker, begun, 0.0, None, reason, planner, len(ends))
    util.setLogLevel(util.LOG_ERROR)
    if isinstance(rng, int) and rng:
        util.RNG.setSeed(rng)
    searching = time.perf_counter()
    path = _solved(base, geometric, kind, checker, q, ends[space.inside(ends)], limit, simplify)
    spent = time.perf_counter() - searching
    if path is None:
        said = f"{planner} of OMPL found no path within {limit:g} s"
        return _plan(model, checker, begun, spent, None, said, planner, len(ends))
    if shortcut:
        path = shortened(checker, path, np.random.default_rng(rng), 30, Budget(1, np.inf))
    return _plan(model, checker, begun, spent, path, "", planner, len(ends))


def _reason(checker: Checker, model: CollisionModel, start: np.ndarray, goals: np.ndarray) -> str:
    """Why the start or all goals are of no use, or ""."""
    space = checker.space
    if not space.inside(start):
        return f"start: {outside(space, start)}"
    if not checker.free(start[None])[0]:
        return f"start: {touching(model, start)}"
    inside = space.inside(goals)
    if not inside.any():
        return f"goal: {outside(space, goals[0])}"
    if not checker.free(goals[inside]).any():
        return f"goal: {touching(model, goals[inside][0])}"
    return ""


def _solved(base, geometric, kind, checker: Checker, start, goals, limit: float, simplify: bool) -> np.ndarray | None:
    """The path (k, nq) that OMPL found, or None."""
    states = base.RealVectorStateSpace(len(start))
    states.setBounds(_bounds(base, checker.space, start))
    info = base.SpaceInformation(states)
    n = range(len(start))

    def numbers(state) -> np.ndarray:
        return np.array([state[i] for i in n])

    def state_of(q: np.ndarray):
        state = states.allocState()
        for i in n:
            state[i] = float(q[i])
        return state

    class Motions(base.MotionValidator):
        """Whole motions, checked in a few calls."""

        def checkMotion(self, *given) -> bool:  # OMPL's name
            a, b = numbers(given[0]), numbers(given[1])
            return bool(free_edges(checker, a[None], (b - a)[None])[0])

    info.setStateValidityChecker(lambda state: bool(checker.free(numbers(state)[None])[0]))
    info.setMotionValidator(Motions(info))
    info.setStateValidityCheckingResolution(checker.resolution / states.getMaximumExtent())
    info.setup()
    problem, targets = base.ProblemDefinition(info), base.GoalStates(info)
    problem.addStartState(state_of(start))
    for goal in goals[checker.free(goals)]:
        targets.addState(state_of(goal))
    problem.setGoal(targets)
    planner = kind(info)
    planner.setProblemDefinition(problem)
    planner.setup()
    planner.solve(limit)
    if not problem.hasExactSolution():
        return None
    found = problem.getSolutionPath()
    if simplify:
        geometric.PathSimplifier(info).simplifyMax(found)
    return np.stack([numbers(found.getState(k)) for k in range(found.getStateCount())])


def _bounds(base, space: ConfigurationSpace, start: np.ndarray):
    """The limits of samples as OMPL's; angles without limits are within a turn of the start."""
    low = np.where(space.turning, start - np.pi, space.sample_lower)
    high = np.where(space.turning, start + np.pi, space.sample_upper)
    bounds = base.RealVectorBounds(len(low))
    for i, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        bounds.setLow(i, a)
        bounds.setHigh(i, b)
    return bounds


def _plan(
    model, checker: Checker, begun: float, spent: float, path, reason: str, planner: str, goals: int
) -> MotionPlan:
    length = float(checker.space.lengths(path).sum()) if path is not None else np.nan
    stats = PlanStatistics(time.perf_counter() - begun, spent, checker.checked[0], 0, (0, 0), goals, length, length)
    way = np.empty((0, model.robot.nq)) if path is None else path
    return MotionPlan(path is not None, way, None, reason, stats, f"ompl {planner}", checker.resolution, model)
