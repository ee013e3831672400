"""`find_configuration`: a configuration that meets goals, searched from many starts at once; and `goal_errors`."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..model.input_checks import count, positive, vectors
from ..model.robot import Robot
from ..randomness import Rng, generator
from .kinds import ENDLESS
from .lanes import Lane
from .objectives import improve
from .problem import Goals, Limits, batched, limits_of, need_short, problem_of
from .rounds import POLISH, Search, search_of, searched
from .rows import Tasks, Wishes, task_errors

__all__ = ["Found", "find_configuration", "goal_errors"]


class Found(NamedTuple):
    """What `find_configuration` found; all fields have the leading axes of the problems.

    `q` (..., nq) meets the goals where `success` is True, and is the best that was found elsewhere. `error` is the
    largest error of any goal with a finite tolerance [rad or m], `iterations` are those of the lane that found q, and
    `restarts` are the starts that were tried after the first one.
    """

    q: np.ndarray
    success: np.ndarray
    error: np.ndarray
    iterations: np.ndarray
    restarts: np.ndarray


def find_configuration(
    robot: Robot,
    goals: Goals,
    *,
    start=None,
    rng: Rng = 0,
    limits: Limits = True,
    objectives: Goals = (),
    tolerance: float = 1e-8,
    seeds: int = 100,
    iterations: int = 50,
) -> Found:
    """Find configurations that meet goals, for any robot and any batch; `Found` has q (..., nq), success, error, ...

        >>> T = forward_kinematics(robot, q, "tool")
        >>> found = find_configuration(robot, {"tool": T})                  # T (..., 4, 4) gives q (..., nq)
        >>> assert found.success and found.error <= 1e-8

    `goals` is {frame: T (..., 4, 4) or position (..., 3)}, a goal of `adjoint.goals` such as `pose(frame, T)`, or a
    sequence of goals, all of which are met together. The leading axes of goals and `start` broadcast. With the weighted
    errors r of all goals and their slopes J, Levenberg-Marquardt's steps (Jᵀ J + λ)⁻¹ Jᵀ r are taken on the manifold
    of configurations:

    - `start` (..., nq) is tried first; a start outside the limits begins on them. Further starts are random, drawn with
      the seed `rng`: at most `seeds` of them, each with at most `iterations` steps. Of the starts that are left, the
      one that is nearest to the goals is tried.
    - `limits` is True for the robot's, False for none, or a pair (lower, upper). All answers are within them, also
      where no solution is found.
    - `objectives`, such as `posture` and `manipulability`, are goals that need not be met: they are improved as far as
      this leaves all `goals` met, for example by the null-space motions of a redundant arm.
    - `tolerance` [rad, m] counts for goals that have none of their own. With an infinite tolerance, a goal is never
      met, and weighs against the others.

    A problem with NaN has success False and q NaN, and leaves the others alone. References: Sugihara (2011),
    "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics 27(5), and
    Bertsekas (1982), "Projected Newton methods for optimization problems with simple constraints", SIAM J. Control
    Optim. 20(2).
    """
    caller = "find_configuration"
    need_short(robot, caller)
    tolerance = positive(tolerance, f"{caller}: tolerance")
    budget = count(seeds, f"{caller}: seeds"), count(iterations, f"{caller}: iterations")
    problem = problem_of(robot, goals, tolerance, caller)
    _refuse_endless(problem.tasks, caller)
    wishes = problem_of(robot, objectives, tolerance, caller) if _any(objectives) else None
    start = None if start is None else vectors(start, robot.nq, "start", caller)
    if start is None and budget[0] == 0:
        raise ArgumentError(f"{caller}: there is no start and seeds is 0, so there is nothing to try")
    shape, (data, q, wish_data) = batched(
        problem, {"start": start, "objectives": None if wishes is None else wishes.data}, caller
    )
    lower, upper = limits_of(robot, limits, caller)
    counted, all_counted = problem.counted, all(problem.counted)
    search = search_of(robot, problem.tasks, lower.tobytes(), upper.tobytes(), _seed(rng, caller), all_counted)
    best, restarts = searched(search, data, q, *budget)
    if wishes is not None:
        best = _improved(search, best, data, wishes.tasks.as_wishes, wish_data)
    error = (best.errors if all_counted else best.errors[:, counted]).max(axis=1, initial=0.0)
    fields = best.q, best.over <= 1, error, best.iterations.astype(int), restarts
    return Found(*(x.reshape((*shape, *x.shape[1:])) for x in fields))


def goal_errors(robot: Robot, goals: Goals, q) -> np.ndarray:
    """The error [rad or m] of each goal at q (..., nq), that of its worst part, as (..., number of goals).

        >>> goal_errors(robot, aj.goals.pose("tool", forward_kinematics(robot, q, "tool")), q).shape
        (1,)

    `goals` are those of `find_configuration`; their leading axes and those of q broadcast. Errors are those of which
    the docstrings of the goals tell, without weights; components with weight 0 do not count.
    """
    need_short(robot, "goal_errors")
    problem = problem_of(robot, goals, 1.0, "goal_errors")
    shape, (data, q) = batched(problem, {"q": vectors(q, robot.nq, "q", "goal_errors")}, "goal_errors")
    return task_errors(robot, problem.tasks, q, data).reshape(*shape, len(problem.tasks.tasks))


def _seed(rng: Rng, caller: str) -> int:
    """The seed of the random starts; that of a whole number is drawn once."""
    return _drawn(rng, caller) if type(rng) is int else int(generator(rng, caller).integers(2**62))


@lru_cache(maxsize=64)
def _drawn(rng: int, caller: str) -> int:
    return int(generator(rng, caller).integers(2**62))


def _any(objectives) -> bool:
    """Whether there are objectives."""
    return not (isinstance(objectives, (tuple, list, dict)) and not objectives)


def _refuse_endless(tasks: Tasks, caller: str) -> None:
    """Raise an `ArgumentError` if a goal can be an objective only."""
    for task in tasks.tasks:
        if task.kind in ENDLESS:
            raise ArgumentError(f"{caller}: manipulability without least= is never met: give least=, or objectives=")


def _improved(search: Search, best: Lane, data: np.ndarray, wishes: Wishes, wish_data: np.ndarray) -> Lane:
    """The lanes with their objectives improved, where the goals are met and the objectives have no NaN."""
    at = np.flatnonzero((best.over <= 1) & np.isfinite(wish_data).all(axis=1))
    ends = search.lower, search.upper
    found = improve(search.robot, search.tasks, wishes, best.q[at], data[at], wish_data[at], *ends, float(POLISH))
    best.q[at], best.over[at], best.errors[at] = found.q, found.over, found.errors
    best.iterations[at] += found.iterations
    return best
