"""The rounds of a search: which starts are tried, and which answer is kept.

A problem is first tried from its `start`, or from the nearest of some random configurations; only problems that are
not solved are tried again, from others. One lane of a SIMD vector runs each (problem, start); all lanes of a round run
together, and rounds are short, so that lanes which do not succeed hold up nobody. Where only a few problems are left,
several rounds of one problem run together instead, which fills the vector; its answer is the one that these rounds
give one after the other. So what a problem tries, and which answer it gets, depends on its own numbers alone: neither
on the rest of the batch nor on the number of threads.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..compile import Kernel
from ..model.configuration import neutral, random_configuration
from ..model.once import once_a_robot
from ..model.robot import Robot
from .lanes import Lane, descend, nearest_seed
from .rows import Tasks, observed

__all__ = ["POLISH", "Search", "search_of", "searched"]

POOL = 256  # random configurations of which the nearest one is the start of a lane
ROUNDS = ((1, 12), (1, 12), (1, 14), (2, 16), (4, 24))  # (lanes for each problem, iterations) of the first rounds
LATER = 8  # lanes for each problem in later rounds
FEW = 4  # so many problems, or fewer, are searched one after the other,
TOGETHER = 4  # with rounds of so many lanes at once
STALL = 0.02  # a lane gives up when its cost falls by less than this share in a step
CONVERGED = 1e-12  # the same where goals weigh against each other, or cannot be met
POLISH = 200  # iterations for objectives, and for the best answer to a problem without a solution


class Search(NamedTuple):
    """What all rounds of a search share; `stall` and `enough` say when lanes stop, see `descend`."""

    robot: Robot
    tasks: Tasks
    lower: np.ndarray
    upper: np.ndarray
    ends: tuple[bytes, bytes]  # the limits, as keys
    seed: int
    stall: float
    enough: float
    descend: Kernel
    nearest: Kernel
    nothing: Lane  # the best answer to a problem before the first round

    def lanes(self, q: np.ndarray, data: np.ndarray, most, stall: float | None = None) -> Lane:
        """The lanes from q (n, nq), each with at most so many iterations."""
        stall = self.stall if stall is None else stall
        return self.descend(q, data, self.lower, self.upper, most, stall, self.enough)

    def nearest_of(self, data: np.ndarray, block: int) -> np.ndarray:
        """For the data (..., n_data) of each problem, the nearest (..., nq) of a block of random configurations."""
        q, seen = _pool(self.robot, self.tasks, self.seed, block, *self.ends)
        at = self.nearest(data, seen)
        return q[int(at) if data.ndim == 1 else at.astype(int)]


@once_a_robot(most=16)
def search_of(robot: Robot, tasks: Tasks, lower: bytes, upper: bytes, seed: int, all_counted: bool) -> Search:
    """The `Search` within limits; unless all goals count, lanes end only where nothing gets better."""
    ends = np.frombuffer(lower), np.frombuffer(upper)
    stops = (STALL, 1.0) if all_counted else (CONVERGED, -1.0)
    kernels = descend.bind(robot, tasks), nearest_seed.bind(robot, tasks)
    nothing = Lane(
        np.full(robot.nq, np.nan), np.array(np.inf), np.array(np.inf), np.full(len(tasks.tasks), np.nan), np.array(0.0)
    )
    return Search(robot, tasks, *ends, (lower, upper), seed, *stops, *kernels, nothing)


class Round(NamedTuple):
    """A round: how many lanes each problem has, their iterations, and their blocks of random configurations.

    The round of a start has no blocks.
    """

    lanes: int
    iterations: int
    blocks: range | None


class Budget(NamedTuple):
    """What decides the rounds of a search: whether there is a start, the number of seeds, and the most iterations."""

    started: bool
    seeds: int
    iterations: int

    def round(self, k: int) -> Round | None:
        """Round k, or None after the last one."""
        if self.started and k == 0:
            return Round(1, self.iterations, None)
        k -= self.started
        used = sum(lanes for lanes, _ in ROUNDS[:k]) + LATER * max(k - len(ROUNDS), 0)
        lanes, most = ROUNDS[k] if k < len(ROUNDS) else (LATER, self.iterations)
        lanes = min(lanes, self.seeds - used)
        return Round(lanes, min(most, self.iterations), range(used, used + lanes)) if lanes > 0 else None


def searched(search: Search, data: np.ndarray, start: np.ndarray | None, seeds: int, iterations: int):
    """The best lane of each problem, as arrays, and the number of starts after the first one."""
    budget, k = Budget(start is not None, seeds, iterations), 0
    if len(data) == 1 and np.isfinite(data).all() and (start is None or np.isfinite(start).all()):
        one, tried = _alone(search, search.nothing, data[0], None if start is None else start[0], budget, 0)
        return Lane(*(np.array(x)[None] for x in one)), np.array([tried - 1])
    known = np.isfinite(data).all(axis=1)
    if start is not None:
        known &= np.isfinite(start).all(axis=1)
    best = Lane(*(np.repeat(x[None], len(data), axis=0) for x in search.nothing))
    left, restarts = np.flatnonzero(known), -known.astype(int)  # the first start is none
    while len(left) > FEW and (now := budget.round(k)):
        q = _starts(search, now, data[left], None if start is None else start[left])
        _keep(best, left, _together(search, q, data[left], float(now.iterations)))
        restarts[left] += now.lanes
        left, k = left[~(best.over[left] <= 1)], k + 1
    if len(left) > FEW:  # these have no solution, or a lucky start is missing
        _keep(best, left, _together(search, best.q[left, None], data[left], float(POLISH), CONVERGED))
        return best, restarts
    for i in left.tolist():
        own = None if start is None else start[i]
        one, tried = _alone(search, Lane(*(x[i] for x in best)), data[i], own, budget, k)
        restarts[i] += tried
        for kept, x in zip(best, one, strict=True):
            kept[i] = x
    return best, restarts


def _starts(search: Search, now: Round, data: np.ndarray, start: np.ndarray | None) -> np.ndarray:
    """The starts (n, lanes, nq) of a round."""
    if now.blocks is None:
        return start[:, None]  # type: ignore[index]  # there is a start
    return np.stack([search.nearest_of(data, block) for block in now.blocks], axis=1)


def _together(search: Search, q: np.ndarray, data: np.ndarray, most: float, stall: float | None = None) -> Lane:
    """The lanes (n, k) from q (n, k, nq), those of all problems at once."""
    if q.shape[1] > 1:
        return search.lanes(q, data[:, None], most, stall)
    return Lane(*(x[:, None] for x in search.lanes(q[:, 0], data, most, stall)))


def _keep(best: Lane, places: np.ndarray, lanes: Lane) -> None:
    """Keep, for the problems at these places, the first of their lanes (n, k) that succeeded, or else the cheapest."""
    chosen = np.argmin(np.where(lanes.over <= 1, -1.0, lanes.cost), axis=1) if lanes.cost.shape[1] > 1 else 0
    new = [x[np.arange(len(places)), chosen] for x in lanes]
    better = (new[2] <= 1) | (new[1] < best.cost[places])
    if not better.all():
        places, new = places[better], [x[better] for x in new]
    for kept, x in zip(best, new, strict=True):
        kept[places] = x


class Group(NamedTuple):
    """Rounds that run together: blocks and iterations of all lanes, in their order, and the round that comes after.

    For each lane, `ends` is the number of lanes up to the end of its round.
    """

    blocks: tuple[int, ...]
    most: np.ndarray
    ends: tuple[int, ...]
    after: int


@lru_cache(maxsize=256)
def _group(budget: Budget, k: int) -> Group | None:
    """The rounds from k on that run together: the first one alone, which mostly succeeds, then `TOGETHER` lanes."""
    rounds = []
    while (now := budget.round(k)) and (not rounds or sum(x.lanes for x in rounds) + now.lanes <= TOGETHER):
        rounds, k = [*rounds, now], k + 1
        if k == 1:
            break
    if not rounds:
        return None
    ends = np.cumsum([x.lanes for x in rounds]).tolist()
    return Group(
        tuple(block for x in rounds for block in x.blocks or ()),
        np.array([float(x.iterations) for x in rounds for _ in range(x.lanes)]),
        tuple(end for x, end in zip(rounds, ends, strict=True) for _ in range(x.lanes)), k,
    )  # fmt: skip


def _alone(search: Search, best: Lane, data: np.ndarray, start, budget: Budget, k: int) -> tuple[Lane, int]:
    """The best lane of one problem, from round k on, and the number of starts up to the end of the last round.

    What is kept is the same as by `_keep`, round after round: the first lane that succeeded, or else the cheapest.
    """
    tried = 0
    while group := _group(budget, k):
        q = np.empty((len(group.most), search.robot.nq))
        for j, block in enumerate(group.blocks):
            q[j] = search.nearest_of(data, block)
        if not group.blocks:
            q[0] = start
        lanes = search.lanes(q, data, group.most)
        best, chosen = _better(best, lanes)
        if best.over <= 1:
            return best, tried + group.ends[chosen]
        tried, k = tried + group.ends[-1], group.after
    return _better(best, search.lanes(best.q[None], data, float(POLISH), CONVERGED))[0], tried


def _better(best: Lane, lanes: Lane) -> tuple[Lane, int]:
    """The first of lanes (k,) that succeeded, or else the cheapest of them and `best`; and which lane was chosen."""
    cost, met = lanes.cost.tolist(), [j for j, over in enumerate(lanes.over.tolist()) if over <= 1]
    chosen = met[0] if met else cost.index(min(cost))
    if met or cost[chosen] < best.cost:
        best = Lane(*(x[chosen] for x in lanes))
    return best, chosen


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
