"""The steps of a plan, of which each may fail with a reason: start, goals, search, shortcuts, smoothing, timing."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from ...collision import CollisionModel
from ...errors import AdjointError
from ...trajectory import Trajectory
from .edge_checks import Checker, free_path
from .kept_goals import KeptWays, Manifold, end_way, kept_path, shortened_on_manifold
from .plan_goals import GoalSet, outside
from .plan_results import MotionPlan, PlanStatistics, touching
from .plan_timing import Limits, timed_path, timed_through, timed_with_stops
from .roadmap_search import search_roadmap
from .roadmaps import Roadmap
from .shortcuts import shortened
from .smoothing import smooth_path
from .spaces import ConfigurationSpace
from .tree_search import Budget, SearchResult, StraightWays, connect_trees

__all__ = ["PlanTask", "bad_start", "failed", "planned", "usable"]

THIN = "the paths that were found pass through thin obstacles; a smaller resolution may find another"
TOUCHES = "timing: no curve near the path is free and keeps the goals; a smaller resolution may help"
LEAST_FINER = 4.0  # motions in time are checked at so many times as many points at least
TRIES = 3  # searches, each with half the resolution of the one before, if the path is not free at more points


class PlanTask(NamedTuple):
    """Everything that the steps of a plan share."""

    model: CollisionModel
    space: ConfigurationSpace
    checker: Checker
    manifold: Manifold | None
    method: str
    roadmap: Roadmap | None
    budget: Budget
    rng: np.random.Generator
    rounds: int
    finer: float
    smooth: bool
    limits: Limits | None
    begun: float


def bad_start(task: PlanTask, start: np.ndarray) -> str:
    """Why the start is no start, or ""."""
    if not task.space.inside(start):
        return f"start: {outside(task.space, start)}"
    if not task.checker.free(start[None])[0]:
        return f"start: {touching(task.model, start)}"
    return "" if task.manifold is None else _not_kept(task.manifold, start[None], "start")


def _not_kept(manifold: Manifold, q: np.ndarray, name: str) -> str:
    """Which goal the first of q (n, nq) does not keep, or "" if one of them keeps all."""
    errors = manifold.errors(q)
    if (errors <= manifold.tolerances).all(axis=-1).any():
        return ""
    k = int(np.argmax(errors[0] / manifold.tolerances))
    return f"{name}: it does not keep the goal {manifold.names[k]}, which it misses by {errors[0, k]:.3g}"


def usable(task: PlanTask, goals: GoalSet) -> GoalSet:
    """The goals that are free, and keep what is to be kept, or the reason why none is."""
    q = goals.q
    free = task.checker.free(q)
    if not free.any():
        one = "goal:" if len(q) == 1 else f"goal: {len(q)} configurations found, none of them free; of the first,"
        return GoalSet(q[:0], f"{one} {touching(task.model, q[0])}")
    q = q[free]
    if task.manifold is not None:
        if reason := _not_kept(task.manifold, q, "goal"):
            return GoalSet(q[:0], reason)
        q = q[task.manifold.kept(q)]
    return GoalSet(q, "")


def planned(task: PlanTask, start: np.ndarray, goals: np.ndarray) -> MotionPlan:
    """The plan from a free start to free goals (k, nq)."""
    space, spent = task.space.with_samples_near(np.concatenate([start[None], goals])), 0.0
    checker = Checker(space, task.checker.is_free, task.checker.resolution, task.checker.checked)
    for _ in range(TRIES):
        searching = time.perf_counter()
        result, path = _path(task, checker, start, goals)
        spent += time.perf_counter() - searching
        if result.path is None:
            return failed(task, _no_path(task, result), result, spent, len(goals))
        if path is not None:
            fine = checker.with_resolution(checker.resolution / max(task.finer, LEAST_FINER))
            trajectory, reason = _timed(task, fine, path)
            if reason != TOUCHES:
                first = length = float(space.lengths(result.path).sum())
                if path is not result.path:
                    length = float(space.lengths(path).sum())
                stats = _statistics(task, result, spent, len(goals), first, length)
                known = task.method, task.checker.resolution, task.model
                return MotionPlan(not reason, path, trajectory, reason, stats, *known)
        checker = checker.with_resolution(checker.resolution / 2)
    return failed(task, TOUCHES if path is not None else THIN, result, spent, len(goals))


def _path(task: PlanTask, checker: Checker, start: np.ndarray, goals: np.ndarray):
    """The result of the search, and its path with shortcuts, or None if the path is not free at more points."""
    if task.manifold is not None:
        return _on_manifold(task, KeptWays(checker, task.manifold), start, goals)
    result = _searched(task, checker, start, goals)
    return result, _better(task, checker, result)


def _searched(task: PlanTask, checker: Checker, start: np.ndarray, goals: np.ndarray) -> SearchResult:
    """The path of the method that was asked for."""
    if task.method == "rrt_connect":
        return connect_trees(StraightWays(checker), start, goals, task.rng, task.budget)
    improve = task.method == "prm_star"
    return search_roadmap(checker, start, goals, task.rng, task.budget, roads=task.roadmap, improve=improve)


def _better(task: PlanTask, checker: Checker, result: SearchResult) -> np.ndarray | None:
    """The path with shortcuts and smoothing that is free at more points, or None if even the path as found is not."""
    if result.path is None:
        return None
    fine = checker.with_resolution(checker.resolution / task.finer)
    path = found = checker.space.unrolled(result.path)
    if task.rounds:
        path = shortened(checker, found, task.rng, task.rounds, task.budget)
    if task.finer > 1 and not free_path(fine, path):
        if path is found or not free_path(fine, found):
            return None
        path = shortened(fine, found, task.rng, task.rounds, task.budget)
        path = path if free_path(fine, path) else found
    if task.smooth and len(path) > 2:
        smoothed = smooth_path(task.model, path, resolution=fine.resolution).path
        path = smoothed if free_path(fine, smoothed) else path
    return path


def _on_manifold(task: PlanTask, ways: KeptWays, start: np.ndarray, goals: np.ndarray):
    """The result of the search on the manifold, and its path with shortcuts, or None if a finer one is needed."""
    first, ends = end_way(ways, start), [way for goal in goals if (way := end_way(ways, goal)) is not None]
    if first is None or not ends:
        return SearchResult(None, 0, (1, len(goals)), np.nan), None
    result = connect_trees(ways, first[-1], np.stack([way[-1] for way in ends]), task.rng, task.budget)
    if result.path is None:
        return result, None
    path = ways.space.unrolled(result.path)
    path = kept_path(ways, shortened_on_manifold(ways, path, task.rng, task.rounds, task.budget))
    if path is None:
        return result, None
    last = next(way for way in ends if np.allclose(ways.space.difference(way[-1], path[-1]), 0.0, atol=1e-9))
    path = ways.space.unrolled(np.concatenate([first[:-1], path, last[-2::-1]]))
    fine = ways.checker.with_resolution(ways.checker.resolution / task.finer)
    return result, path if free_path(fine, path) else None


def _no_path(task: PlanTask, result: SearchResult) -> str:
    """Why the search ended without a path."""
    if task.manifold is not None and not result.iterations and np.isnan(result.nearest):
        return "no path: start or goal cannot move onto what is to be kept"
    used = result.iterations >= task.budget.iterations
    ended = f"{result.iterations} iterations" if used else f"{time.perf_counter() - task.begun:.3g} s"
    a, b = result.nodes
    if task.method != "rrt_connect":
        return f"no path within the budget of {ended}: the roadmap has {a - 1} free nodes"
    near = f"came within {result.nearest:.3g} rad of each other"
    return f"no path within the budget of {ended}: the trees have {a} and {b} nodes and {near}"


# --- timing -----------------------------------------------------------------------------------------------------------


def _timed(task: PlanTask, checker: Checker, path: np.ndarray) -> tuple[Trajectory | None, str]:
    """The motion in time along the path, or None and the reason; "" if there is no motion."""
    if task.limits is None or np.ptp(path, axis=0).max(initial=0.0) == 0:
        return None, ""
    manifold, space = task.manifold, task.space
    try:
        if manifold is None and space.plain:
            found = timed_path(checker, path, task.limits)
        elif manifold is None:
            found = timed_with_stops(space, path, task.limits)
        else:
            found = timed_through(
                checker, path, task.limits, lambda q: manifold.kept(q) & checker.free(q) & space.inside(q),
                lambda p: np.concatenate([p[:1], manifold.projected(_halved(space, p)[1:-1])[0], p[-1:]]),
            )  # fmt: skip
    except AdjointError as error:
        return None, f"timing: {error}"
    if found is None:
        return None, TOUCHES
    return found, ""


def _halved(space: ConfigurationSpace, path: np.ndarray) -> np.ndarray:
    """The path with a point in the middle of each piece."""
    v = space.difference(path[:-1], path[1:])
    middle = space.moved(path[:-1], v, np.full(len(v), 0.5))
    found = np.empty((2 * len(path) - 1, path.shape[1]))
    found[::2], found[1::2] = path, middle
    return found


def _statistics(task: PlanTask, result: SearchResult | None, spent: float, goals: int, first: float, length: float):
    now = time.perf_counter() - task.begun
    iterations, nodes = (0, (0, 0)) if result is None else (result.iterations, result.nodes)
    return PlanStatistics(now, spent, task.checker.checked[0], iterations, nodes, goals, first, length)


def failed(task: PlanTask, reason: str, result: SearchResult | None = None, spent: float = 0.0, goals: int = 0) -> Any:
    """The plan that tells a reason."""
    stats = _statistics(task, result, spent, goals, np.nan, np.nan)
    path = np.empty((0, task.model.robot.nq))
    return MotionPlan(False, path, None, reason, stats, task.method, task.checker.resolution, task.model)
