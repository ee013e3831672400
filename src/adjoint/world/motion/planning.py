"""`plan_motion`: a collision-free motion of a robot from a configuration to a goal, or the reason why there is none."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...collision.collision_model import CollisionModel, collision_model
from ...errors import AdjointError, ArgumentError
from ...goals.problem import Goals
from ...model.input_checks import count, one_of, positive, vectors
from ...model.needs import need_robot
from ...randomness import Rng, generator
from ...sensing.scene import Solid
from ...trajectory import Trajectory
from ..state import World
from ..world_models import world_collision_model
from .edge_checks import Checker, free_path
from .kept_goals import KeptWays, Manifold, kept_path, manifold_of, shortened_on_manifold
from .model_checks import model_checker
from .plan_goals import GoalSet, goal_set, outside
from .plan_results import MotionPlan, PlanStatistics, touching
from .plan_timing import Limits, timed_path, timed_through
from .roadmap_search import check_roadmap, search_roadmap
from .roadmaps import Roadmap
from .shortcuts import shortened
from .spaces import ConfigurationSpace, configuration_space
from .tree_search import Budget, SearchResult, StraightWays, connect_trees

__all__ = ["plan_motion"]

METHODS = ("rrt_connect", "prm", "prm_star")
TIMINGS = ("time_optimal", "jerk_limited")
FINER = 4  # a path is checked once more, at so many points for each step of the resolution
TRIES = 3  # searches, each with half the resolution of the one before, if that check fails


def plan_motion(
    world, robot, start, goal, *, method: str = "rrt_connect", tool: str | None = None, resolution: float = 0.05,
    margin: float = 0.0, ignore: Iterable[tuple[str, str]] = (), keep: Goals = (), keep_tolerance: float = 1e-3,
    iterations: int = 5000, time_limit: float = np.inf, rng: Rng = 0, roadmap: Roadmap | None = None,
    shortcut: bool | int = True, timing: str | None = "time_optimal", velocity=None, acceleration=None, jerk=None,
    lower=None, upper=None,
) -> MotionPlan:  # fmt: skip
    """Plan a motion of a robot that touches nothing, from a configuration to a goal: a `MotionPlan`.

        >>> from adjoint.sensing import Box
        >>> wall = Box([0.1, 0.6, 0.6], T_world_solid=[0.45, 0.0, 0.4], name="wall")
        >>> plan = plan_motion([wall], robot, [-1.0, 0.2, 0.2, 0, 0, 0], [1.0, 0.2, 0.2, 0, 0, 0])
        >>> assert plan.solved and plan.path.shape[1] == 6

    Where the robot is and what is in its way:

    - `world` is a `World`, a `Scene`, a list of solids, or a `CollisionModel`, which is quickest for many plans.
    - `robot` is the name of a robot of the `World`, or a `Robot`, whose base then is at the origin. What it holds in
      the world moves with it. Of a `CollisionModel` it is the model's own, or None.
    - `start` (nq,) is a configuration; None takes that of the robot in the `World`.
    - `margin` [m] is the least distance to keep, and `ignore` has pairs (shape or body, obstacle) that may touch.

    The goal is one of these:

    - a configuration (nq,), or several (k, nq), of which any will do;
    - a pose (4, 4), or several (k, 4, 4), of the frame `tool` in the world, or {frame: pose or position (3,)}. All
      branches of the inverse kinematics are goals; where there is no closed form, configurations are searched;
    - goals of `adjoint.goals`, one or a list to be met together, as seen from the robot's base.

    How it is searched, with points of the path that are checked at most `resolution` [rad, m] apart:

    - `method` "rrt_connect" grows two trees towards each other, and tries the straight way first; "prm" asks a roadmap,
      which grows until there is a path, or starts with a given `roadmap`; "prm_star" uses all its samples to make the
      path shorter.
    - `keep` are goals of `adjoint.goals` that hold during the whole motion within `keep_tolerance` [rad, m], such as
      `axis("tool", [0, 0, -1])` for a glass that stays upright; with them the method is "rrt_connect".
    - `iterations` of the search (samples of a roadmap), and `time_limit` [s], are its budget. The same `rng` gives the
      same plan, unless the time runs out. `lower` and `upper` (nq,) narrow the joint limits.

    What becomes of the path:

    - `shortcut` makes it shorter, in so many rounds, or as many as pay (True).
    - `timing` "time_optimal" gives the fastest motion along the path within limits of `velocity` and `acceleration`,
      "jerk_limited" within those of `jerk` too; corners are rounded as far as the curve stays free. None leaves it out.
      Limits are numbers or (nv,): `velocity` is the robot's by default, or 1 where it has none; `acceleration` is 4 / s
      times the velocity, `jerk` 20 / s times the acceleration.

    A path that is found is checked once more, at four times as many points, and again searched with smaller steps if
    need be. Bad arguments raise an `ArgumentError`; a problem without a solution gives a plan whose `reason` tells
    why. Reference: Kuffner & LaValle (2000), "RRT-Connect", ICRA; Fu, Gonzalez & Lee (1987), Sec. 10.9.2.
    """
    begun = time.perf_counter()
    model, tool, q = _situation(world, robot, start, tool, margin, ignore)
    one_of(method, METHODS, "plan_motion: method")
    if timing is not None:
        one_of(timing, TIMINGS, "plan_motion: timing")
    step = positive(resolution, "plan_motion: resolution")
    space = configuration_space(model.robot, lower=lower, upper=upper)
    limits = None if timing is None else _limits(space, velocity, acceleration, jerk, timing == "jerk_limited")
    manifold = (
        manifold_of(space, keep, positive(keep_tolerance, "plan_motion: keep_tolerance"), "plan_motion")
        if _any(keep)
        else None
    )
    if manifold is not None and method != "rrt_connect":
        raise ArgumentError(f"plan_motion: goals to keep need method 'rrt_connect', got {method!r}")
    if roadmap is not None:
        check_roadmap(roadmap, space, "plan_motion")
    left = positive(time_limit, "plan_motion: time_limit") if time_limit != np.inf else np.inf
    task = _Task(
        model, space, model_checker(model, space, step), manifold, method, roadmap,
        Budget(count(iterations, "plan_motion: iterations"), begun + left), generator(rng, "plan_motion"),
        ROUNDS if shortcut is True else count(int(shortcut), "plan_motion: shortcut"), limits, begun,
    )  # fmt: skip
    return _planned(task, q, goal, tool)


ROUNDS = 30  # of shortcuts


class _Task(NamedTuple):
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
    limits: Limits | None
    begun: float


# --- the arguments ----------------------------------------------------------------------------------------------------


def _situation(world, robot, start, tool, margin, ignore) -> tuple[CollisionModel, str, np.ndarray]:
    """The collision model, the tool frame, and the start."""
    if isinstance(world, World):
        if not isinstance(robot, str):
            raise ArgumentError(f"plan_motion: robot must be the name of a robot of the world, got {robot!r:.60}")
        model = world_collision_model(world, robot, ignore=ignore, margin=margin)
        known = world.robots[robot]
        start, tool = known.q if start is None else start, known.tool if tool is None else tool
    elif isinstance(world, CollisionModel):
        if robot is not None and robot is not world.robot and robot != world.robot:
            raise ArgumentError("plan_motion: robot must be that of the CollisionModel, or None")
        if margin or tuple(ignore):
            raise ArgumentError("plan_motion: a CollisionModel has its own margin and ignored pairs; leave them out")
        model = world
    else:
        need_robot(robot, "plan_motion")
        if not isinstance(world, Iterable) or not all(isinstance(solid, Solid) for solid in world):
            what = "a World, a Scene, a list of solids or a CollisionModel"
            raise ArgumentError(f"plan_motion: world must be {what}, got {type(world).__name__}")
        model = collision_model(robot, world, margin=margin, ignore=ignore)
    if start is None:
        raise ArgumentError("plan_motion: start is None, which is for robots of a World; give a configuration")
    q = vectors(start, model.robot.nq, "start", "plan_motion")
    if q.ndim != 1 or not np.isfinite(q).all():
        raise ArgumentError(f"plan_motion: start must be one configuration of finite numbers, got shape {q.shape}")
    frame = model.robot.frame_names[-1] if tool is None else model.robot.frame(tool).name
    return model, frame, q


def _any(keep) -> bool:
    return not (isinstance(keep, (tuple, list, dict)) and not keep)


def _limits(space: ConfigurationSpace, velocity, acceleration, jerk, with_jerk: bool) -> Limits:
    """Limits (nv,) of velocity, acceleration and, if it is asked for, jerk."""
    robot = space.robot
    own = np.where(np.isfinite(robot.velocity_limit) & (robot.velocity_limit > 0), robot.velocity_limit, 1.0)
    v = _rates(own if velocity is None else velocity, robot.nv, "velocity")
    a = _rates(4.0 * v if acceleration is None else acceleration, robot.nv, "acceleration")
    if jerk is not None and not with_jerk:
        raise ArgumentError("plan_motion: jerk needs timing='jerk_limited'")
    return Limits(v, a, _rates(20.0 * a if jerk is None else jerk, robot.nv, "jerk") if with_jerk else None)


def _rates(value, n: int, name: str) -> np.ndarray:
    found = np.asarray(value, float)
    if found.shape not in ((), (n,)) or not np.all((found > 0) & (found < np.inf)):
        raise ArgumentError(f"plan_motion: {name} must be a positive number or ({n},) of them, got {value!r:.60}")
    return np.broadcast_to(found, (n,))


# --- the plan ---------------------------------------------------------------------------------------------------------


def _planned(task: _Task, start: np.ndarray, goal: Any, tool: str) -> MotionPlan:
    """The plan, in which each step may be the one that fails."""
    if reason := _bad_start(task, start):
        return _failed(task, reason)
    goals = goal_set(task.space, goal, tool, task.model.T_world_base, task.rng, "plan_motion")
    goals = goals if goals.reason else _usable(task, goals)
    if goals.reason:
        return _failed(task, goals.reason)
    searching = time.perf_counter()
    result, path, reason = _searched(task, start, goals.q)
    spent = time.perf_counter() - searching
    if path is None:
        return _failed(task, reason, result, spent, len(goals.q))
    first = float(task.space.lengths(result.path).sum())  # type: ignore[arg-type]
    trajectory, reason = _timed(task, path)
    stats = _statistics(task, result, spent, len(goals.q), first, float(task.space.lengths(path).sum()))
    solved = task.limits is None or trajectory is not None
    return MotionPlan(solved, path, trajectory, reason, stats, task.method, task.checker.resolution, task.model)


def _bad_start(task: _Task, start: np.ndarray) -> str:
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


def _usable(task: _Task, goals: GoalSet) -> GoalSet:
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


def _searched(task: _Task, start: np.ndarray, goals: np.ndarray) -> tuple[SearchResult, np.ndarray | None, str]:
    """The result of the search, the path with its shortcuts, and the reason if there is none."""
    checker, space = task.checker, task.space.with_samples_near(np.concatenate([start[None], goals]))
    for _ in range(TRIES):
        checker = Checker(space, checker.is_free, checker.resolution, checker.checked)
        ways = StraightWays(checker) if task.manifold is None else KeptWays(checker, task.manifold)
        if task.method == "rrt_connect":
            result = connect_trees(ways, start, goals, task.rng, task.budget)
        else:
            improve = task.method == "prm_star"
            result = search_roadmap(checker, start, goals, task.rng, task.budget, roads=task.roadmap, improve=improve)
        if result.path is None:
            return result, None, _no_path(task, result)
        path = space.unrolled(result.path)
        if isinstance(ways, KeptWays):
            path = kept_path(ways, shortened_on_manifold(ways, path, task.rng, task.rounds, task.budget))
        elif task.rounds:
            path = shortened(checker, path, task.rng, task.rounds, task.budget)
        fine = Checker(space, checker.is_free, checker.resolution / FINER, checker.checked)
        if path is not None and free_path(fine, path):
            return result, path, ""
        checker = Checker(space, checker.is_free, checker.resolution / 2, checker.checked)
    return result, None, "the path that was found passes obstacles thinner than the resolution; make it smaller"


def _no_path(task: _Task, result: SearchResult) -> str:
    """Why the search ended without a path."""
    ended = (
        f"{result.iterations} iterations"
        if result.iterations >= task.budget.iterations
        else f"{time.perf_counter() - task.begun:.3g} s"
    )
    a, b = result.nodes
    return (
        f"no path within the budget of {ended}: the trees have {a} and {b} nodes and came within "
        f"{result.nearest:.3g} rad of each other"
        if task.method == "rrt_connect"
        else f"no path within the budget of {ended}: the roadmap has {a - 1} free nodes"
    )


def _timed(task: _Task, path: np.ndarray) -> tuple[Trajectory | None, str]:
    """The motion in time along the path, or None and the reason."""
    if task.limits is None:
        return None, ""
    if np.ptp(path, axis=0).max(initial=0.0) == 0:
        return None, "timing: start and goal are the same configuration, so nothing moves"
    manifold, space, checker = task.manifold, task.space, task.checker
    try:
        if manifold is None and space.plain:
            found = timed_path(checker, path, task.limits)
        elif manifold is None:
            found = timed_through(checker, path, task.limits, checker.free, lambda p: _halved(space, p))
        else:
            found = timed_through(
                checker, path, task.limits, lambda q: manifold.kept(q) & checker.free(q),
                lambda p: manifold.projected(_halved(space, p))[0],
            )  # fmt: skip
    except AdjointError as error:
        return None, f"timing: {error}"
    if found is None:
        return None, "timing: no curve near the path is free and keeps the goals; try a smaller resolution"
    return found, ""


def _halved(space: ConfigurationSpace, path: np.ndarray) -> np.ndarray:
    """The path with a point in the middle of each piece."""
    v = space.difference(path[:-1], path[1:])
    middle = space.moved(path[:-1], v, np.full(len(v), 0.5))
    found = np.empty((2 * len(path) - 1, path.shape[1]))
    found[::2], found[1::2] = path, middle
    return found


def _statistics(task: _Task, result: SearchResult | None, spent: float, goals: int, first: float, length: float):
    now = time.perf_counter() - task.begun
    iterations, nodes = (0, (0, 0)) if result is None else (result.iterations, result.nodes)
    return PlanStatistics(now, spent, task.checker.checked[0], iterations, nodes, goals, first, length)


def _failed(task: _Task, reason: str, result: SearchResult | None = None, spent: float = 0.0, goals: int = 0):
    stats = _statistics(task, result, spent, goals, np.nan, np.nan)
    path = np.empty((0, task.model.robot.nq))
    return MotionPlan(False, path, None, reason, stats, task.method, task.checker.resolution, task.model)
