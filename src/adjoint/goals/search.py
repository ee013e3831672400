"""`find_configuration`: a configuration that meets goals, searched from many starts at once.

A problem is first tried from its `start`, or from the nearest of some random configurations; only problems that are
not solved are tried again, from others. One lane of a SIMD vector runs each (problem, start); all lanes of a round run
together, and rounds are short, so that lanes which do not succeed hold up nobody. What a problem tries depends on its
own numbers alone, so results depend neither on the rest of the batch nor on the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..model.configuration import neutral, random_configuration
from ..model.input_checks import count, positive, vectors
from ..model.once import once_a_robot
from ..model.robot import Robot
from ..randomness import Rng, generator
from .kinds import ENDLESS
from .lanes import Lane, descend, nearest_seed
from .objectives import improve
from .problem import Goals, Limits, batched, limits_of, need_short, problem_of
from .rows import Tasks, Wishes, observed, task_errors

__all__ = ["Found", "find_configuration", "goal_errors"]

POOL = 256  # random configurations of which the nearest one is the start of a lane
ROUNDS = ((1, 12), (1, 12), (1, 14), (2, 16), (4, 24))  # (lanes for each problem, iterations) of the first rounds
LATER = 8  # lanes for each problem in later rounds
STALL = 0.02  # a lane gives up when its cost falls by less than this share in a step
CONVERGED = 1e-12  # the same where goals weigh against each other, or cannot be met
POLISH = 200  # iterations for objectives, and for the best answer to a problem without a solution


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
    seed = int(generator(rng, caller).integers(2**62))
    ends = (1.0, STALL) if all(problem.counted) else (-1.0, CONVERGED)
    search = _Search(robot, problem.tasks, lower, upper, seed, *ends)
    best, restarts = _searched(search, data, q, *budget)
    if wishes is not None:
        best = _improved(search, best, data, wishes.tasks.as_wishes, wish_data)
    error = np.max(best.errors[:, problem.counted], axis=1, initial=0.0)
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


def _any(objectives) -> bool:
    """Whether there are objectives."""
    return not (isinstance(objectives, (tuple, list, dict)) and not objectives)


def _refuse_endless(tasks: Tasks, caller: str) -> None:
    """Raise an `ArgumentError` if a goal can be an objective only."""
    for task in tasks.tasks:
        if task.kind in ENDLESS:
            raise ArgumentError(f"{caller}: manipulability without least= is never met: give least=, or objectives=")


class _Search(NamedTuple):
    """What all rounds of a search share; `enough` and `stall` say when lanes stop, see `descend`."""

    robot: Robot
    tasks: Tasks
    lower: np.ndarray
    upper: np.ndarray
    seed: int
    enough: float
    stall: float

    def descend(self, q: np.ndarray, data: np.ndarray, most: int, stall: float | None = None) -> Lane:
        """The lanes from q, each with at most so many iterations."""
        stall = self.stall if stall is None else stall
        return descend(self.robot, self.tasks, q, data, self.lower, self.upper, float(most), stall, self.enough)

    def nearest(self, data: np.ndarray, blocks: range) -> np.ndarray:
        """For each problem the nearest configurations (n, lanes, nq), one of each block of random ones."""
        found = []
        for block in blocks:
            q, seen = _pool(self.robot, self.tasks, self.seed, block, self.lower.tobytes(), self.upper.tobytes())
            found.append(q[nearest_seed(self.robot, self.tasks, data, seen).astype(int)])
        return np.stack(found, axis=1)


def _searched(search: _Search, data: np.ndarray, start: np.ndarray | None, seeds: int, iterations: int):
    """The best lane of each problem, as arrays, and the number of starts after the first one."""
    n, known = len(data), np.isfinite(data).all(axis=1)
    known = known if start is None else known & np.isfinite(start).all(axis=1)
    unknown = np.full(n, np.nan)
    best = Lane(
        np.full((n, search.robot.nq), np.nan), unknown, unknown.copy(), np.full((n, len(search.tasks.tasks)), np.nan),
        np.zeros(n),
    )  # fmt: skip
    tried, left = np.zeros(n, int), np.flatnonzero(known)
    best.cost[left] = np.inf
    for lanes, most, blocks in _rounds(start is not None, seeds, iterations):
        if not len(left):
            break
        own = data[left]
        q = search.nearest(own, blocks) if blocks else start[left, None]  # type: ignore[index]  # there is a start
        _keep(best, left, search.descend(q, own[:, None], most))
        tried[left] += lanes
        left = left[~(best.over[left] <= 1)]
    if len(left):  # these have no solution, or a lucky start is missing: the best answer so far becomes the best nearby
        _keep(best, left, search.descend(best.q[left, None], data[left, None], POLISH, CONVERGED))
    return best, np.maximum(tried - 1, 0)


def _rounds(started: bool, seeds: int, iterations: int) -> Iterator[tuple[int, int, range | None]]:
    """Yield (lanes, iterations, blocks of random configurations) of each round; a start has no blocks."""
    if started:
        yield 1, iterations, None
    used, first = 0, iter(ROUNDS)
    while used < seeds:
        lanes, most = next(first, (LATER, iterations))
        lanes = min(lanes, seeds - used)
        yield lanes, min(most, iterations), range(used, used + lanes)
        used += lanes


def _keep(best: Lane, places: np.ndarray, lanes: Lane) -> None:
    """Keep, for the problems at these places, the first of their lanes (n, k) that succeeded, or else the cheapest."""
    chosen = np.argmin(np.where(lanes.over <= 1, -1.0, lanes.cost), axis=1) if lanes.cost.shape[1] > 1 else 0
    new = [x[np.arange(len(places)), chosen] for x in lanes]
    better = (new[2] <= 1) | (new[1] < best.cost[places])
    if not better.all():
        places, new = places[better], [x[better] for x in new]
    for kept, x in zip(best, new, strict=True):
        kept[places] = x


@once_a_robot(most=128)
def _pool(robot: Robot, tasks: Tasks, seed: int, block: int, lower: bytes, upper: bytes) -> tuple:
    """Random configurations (POOL, nq) within limits, and what the tasks see there; the first one may be at home."""
    low, high = np.frombuffer(lower), np.frombuffer(upper)
    q = random_configuration(_limited(robot, lower, upper), POOL, rng=np.random.default_rng([seed, block]))
    if block == 0:
        q[0] = np.clip(neutral(robot), low, high)
    return q, observed(robot, tasks, q)


@once_a_robot
def _limited(robot: Robot, lower: bytes, upper: bytes) -> Robot:
    """The robot with these limits."""
    low, high = np.frombuffer(lower), np.frombuffer(upper)
    same = np.array_equal(low, robot.lower) and np.array_equal(high, robot.upper)
    return robot if same else robot.replace(lower=low, upper=high)


def _improved(search: _Search, best: Lane, data: np.ndarray, wishes: Wishes, wish_data: np.ndarray) -> Lane:
    """The lanes with their objectives improved, where the goals are met and the objectives have no NaN."""
    at = np.flatnonzero((best.over <= 1) & np.isfinite(wish_data).all(axis=1))
    ends = search.lower, search.upper
    found = improve(search.robot, search.tasks, wishes, best.q[at], data[at], wish_data[at], *ends, float(POLISH))
    best.q[at], best.over[at], best.errors[at] = found.q, found.over, found.errors
    best.iterations[at] += found.iterations
    return best
