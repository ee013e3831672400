"""`plan_motion`: a collision-free motion of a robot from a configuration to a goal, or the reason why there is none."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...collision import CollisionModel, collision_model
from ...errors import ArgumentError
from ...goals.problem import Goals
from ...model.input_checks import count, one_of, positive, truth, vectors
from ...model.needs import need_robot
from ...model.robot import Robot
from ...randomness import Rng, generator
from ...sensing.scene import Solid
from ..state import World
from ..state.world_edits import known_robot
from ..world_models import world_collision_model
from .kept_goals import manifold_of
from .model_checks import model_checker
from .plan_goals import goal_set
from .plan_relations import are_relations, part_goal
from .plan_results import MotionPlan
from .plan_steps import PlanTask, bad_start, failed, planned, usable
from .plan_timing import Limits
from .roadmap_search import check_roadmap
from .roadmaps import Roadmap
from .spaces import ConfigurationSpace, configuration_space
from .tree_search import Budget

__all__ = ["plan_motion"]

_OWN = "robot of plan_motion"  # the name of a robot that is not in the world
METHODS = ("rrt_connect", "prm", "prm_star")
TIMINGS = ("time_optimal", "jerk_limited")
ROUNDS = 100  # of shortcuts, at most


def plan_motion(
    world, robot: str | Robot | None, start, goal, *, method: str = "rrt_connect", tool: str | None = None,
    resolution: float = 0.05, margin: float = 0.0, ignore: Iterable[tuple[str, str]] = (), standoff: Any = 0.02,
    keep: Goals = (), keep_tolerance: float = 1e-3, iterations: int = 5000, time_limit: float = np.inf, rng: Rng = 0,
    roadmap: Roadmap | None = None, shortcut: bool | int = True, finer: float = 10.0, smooth: bool = False,
    timing: str | None = "time_optimal", velocity=None, acceleration=None, jerk=None, lower=None, upper=None,
) -> MotionPlan:  # fmt: skip
    """Plan a motion of a robot that touches nothing, from a configuration to a goal: a `MotionPlan`.

        >>> from adjoint.sensing import Box
        >>> wall = Box([0.1, 0.6, 0.6], T_world_solid=[0.45, 0.0, 0.4], name="wall")
        >>> plan = plan_motion([wall], robot, [-1.4, 0.2, 0.2, 0, 0, 0], [1.4, 0.2, 0.2, 0, 0, 0])
        >>> plan.solved, plan.path.shape[1]
        (True, 6)

    Where the robot is and what is in its way:

    - `world` is a `World`, a `Scene`, a list of solids, or a `CollisionModel`, which is quickest for many plans.
    - `robot` is the name of a robot of the `World`, or a `Robot`: that of the world, or another one, whose base then is
      at the origin. What it holds in the world moves with it. Of a `CollisionModel` it is the model's own, or None.
    - `start` (nq,) is a configuration; None takes that of the robot in the `World`.
    - `margin` [m] is the least distance to keep, and `ignore` has pairs (shape or body, obstacle) that may touch.

    The goal is one of these:

    - a configuration (nq,), or several (k, nq), of which any will do;
    - a pose (4, 4), or several (k, 4, 4), of the frame `tool` in the world, or {frame: pose or position (3,)}. All
      branches of the inverse kinematics are goals; where there is no closed form, configurations are searched;
    - goals of `adjoint.goals`, one or a list to be met together, as seen from the robot's base;
    - relations, one or a list, or `Placements`, of a part that the robot holds in the `World`. Any placement that they
      allow will do, moved by the `standoff` [m]: a height, or a vector (3,), from which a guarded motion goes on.

    How it is searched, with points of the path that are checked at most `resolution` [rad, m] apart:

    - `method` "rrt_connect" grows two trees towards each other, and tries the straight way first; "prm" asks a roadmap,
      which grows until there is a path, or starts with a given `roadmap`; "prm_star" uses all its samples to make the
      path shorter.
    - `keep` are goals of `adjoint.goals` that hold during the whole motion within `keep_tolerance` [rad, m], such as
      `axis("tool", [0, 0, -1])` for a glass that stays upright; with them the method is "rrt_connect".
    - `iterations` of the search (samples of a roadmap), and `time_limit` [s], are its budget. The same `rng` gives the
      same plan, unless the time runs out. `lower` and `upper` (nq,) narrow the joint limits.

    What becomes of the path:

    - `shortcut` makes it shorter, in so many rounds, or as many as pay (True); then `smooth` bends it less and away
      from obstacles, with `smooth_path`.
    - The path is checked once more, at `finer` times as many points; if it is not free there, it is searched again with
      smaller steps. `finer=1` leaves this out.
    - `timing` "time_optimal" gives the fastest motion along the path within limits of `velocity` and `acceleration`,
      "jerk_limited" within those of `jerk` too; corners are rounded as far as the curve stays free. None leaves it out.
      Limits are numbers or (nv,): `velocity` is the robot's by default, or 1 where it has none; `acceleration` is 4 / s
      times the velocity, `jerk` 20 / s times the acceleration.

    Bad arguments raise an `ArgumentError`; a problem without a solution gives a plan whose `reason` tells why. Full
    turns of angles without limits change nothing: the path ends at the goal but for them. Reference: Kuffner & LaValle
    (2000), "RRT-Connect", ICRA; Fu, Gonzalez & Lee (1987), Sec. 10.9.2.
    """
    begun = time.perf_counter()
    if isinstance(world, World):
        world, robot = _in_world(world, robot)
    model, tool, q = _situation(world, robot, start, tool, margin, ignore)
    space = configuration_space(model.robot, lower=lower, upper=upper)
    one_of(method, METHODS, "plan_motion: method")
    if timing is not None:
        one_of(timing, TIMINGS, "plan_motion: timing")
    within = positive(keep_tolerance, "plan_motion: keep_tolerance")
    manifold = manifold_of(space, keep, within, "plan_motion") if _any(keep) else None
    if manifold is not None and method != "rrt_connect":
        raise ArgumentError(f"plan_motion: goals to keep need method 'rrt_connect', got {method!r}")
    if roadmap is not None:
        check_roadmap(roadmap, space, "plan_motion")
    left = np.inf if time_limit == np.inf else positive(time_limit, "plan_motion: time_limit")
    task = PlanTask(
        model, space, model_checker(model, space, positive(resolution, "plan_motion: resolution")), manifold, method,
        roadmap, Budget(count(iterations, "plan_motion: iterations"), begun + left), generator(rng, "plan_motion"),
        ROUNDS if shortcut is True else count(int(shortcut), "plan_motion: shortcut"),
        max(positive(finer, "plan_motion: finer"), 1.0), truth(smooth, "plan_motion: smooth"),
        None if timing is None else _limits(space, velocity, acceleration, jerk, timing == "jerk_limited"), begun,
    )  # fmt: skip
    if reason := bad_start(task, q):
        return failed(task, reason)
    if are_relations(goal):
        placed = part_goal(world, robot, goal, standoff, task.rng)  # type: ignore[arg-type]
        if placed.reason:
            return failed(task, placed.reason)
        tool, goal = placed.frame, placed.T_world_frame
    goals = goal_set(space, goal, tool, model.T_world_base, task.rng, "plan_motion")
    goals = goals if goals.reason else usable(task, goals)
    return failed(task, goals.reason) if goals.reason else planned(task, q, goals.q)


def _in_world(world: World, robot) -> tuple[World, str]:
    """The world, and the name of its robot, which is given by its name or as a `Robot`.

    A `Robot` that the world does not have is added, with its base at the origin.
    """
    if isinstance(robot, str):
        known_robot(world, robot, "plan_motion")
        return world, robot
    need_robot(robot, "plan_motion")
    names = [name for name, known in world.robots.items() if known.robot == robot]
    if len(names) > 1:
        raise ArgumentError(f"plan_motion: the world has this robot as {' and '.join(map(repr, names))}; give its name")
    return (world, names[0]) if names else (world.add_robot(_OWN, robot), _OWN)


def _situation(world, robot, start, tool, margin, ignore) -> tuple[CollisionModel, str, np.ndarray]:
    """The collision model, the tool frame, and the start."""
    if isinstance(world, World):
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
        if not isinstance(world, Iterable) or not all(isinstance(solid, Solid) for solid in world):
            what = "a World, a Scene, a list of solids or a CollisionModel"
            raise ArgumentError(f"plan_motion: world must be {what}, got {type(world).__name__}")
        need_robot(robot, "plan_motion")
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
