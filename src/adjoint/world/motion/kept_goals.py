"""Motions that keep goals: ways on the manifold of configurations that meet them, by projection in batches."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...compile import Kernel
from ...errors import ArgumentError
from ...goals.goal import Goal
from ...goals.kinds import KINDS
from ...goals.lanes import descend
from ...goals.problem import Goals, listed_goals, need_short, problem_of
from ...goals.rows import Tasks, task_errors
from .edge_checks import Checker
from .spaces import ConfigurationSpace
from .tree_search import Budget, Reached

__all__ = ["KeptWays", "Manifold", "end_way", "goal_name", "kept_path", "manifold_of"]

_SHARP = 1e-2  # projections meet goals to this part of their tolerance
_STEPS = 30.0  # iterations of a projection
_STRETCH = 2.5  # neighbouring points, once projected, may be so many times as far apart as before
_ROUNDS = 8  # of halving the steps of a path until goals are kept between its points
_SHORTCUTS = 12  # random shortcuts of a round, of which the four that would save most are tried


class Manifold(NamedTuple):
    """The configurations of a robot that meet goals within tolerances, and the kernel that projects on them."""

    space: ConfigurationSpace
    names: list[str]
    tasks: Tasks
    data: np.ndarray  # of the goals, with tolerances
    sharp: np.ndarray  # the same with smaller tolerances, for projections
    tolerances: np.ndarray  # (number of goals,)
    project: Kernel

    def projected(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Configurations (n, nq) on the manifold near q (n, nq), and whether each one is on it."""
        if not len(q):
            return q, np.zeros(0, bool)
        lane = self.project(q, self.sharp, self.space.lower, self.space.upper, _STEPS, 0.02, 1.0)
        return lane.q, lane.over <= 1

    def errors(self, q: np.ndarray) -> np.ndarray:
        """The errors (n, number of goals) [rad, m] of the goals at q (n, nq)."""
        return task_errors(self.space.robot, self.tasks, q, self.data)

    def kept(self, q: np.ndarray) -> np.ndarray:
        """Whether q (n, nq) meet all goals within their tolerances."""
        return np.all(self.errors(q) <= self.tolerances, axis=-1)


def manifold_of(space: ConfigurationSpace, keep: Goals, tolerance: float, caller: str) -> Manifold:
    """The `Manifold` of goals that have one target each; `tolerance` [rad, m] is that of goals without their own."""
    need_short(space.robot, caller)
    given = listed_goals(keep, caller)
    own = [np.min(goal.tolerance) if goal.tolerance is not None else tolerance for goal in given]
    loose = [replace(goal, tolerance=np.full(_parts(goal), t)) for goal, t in zip(given, own, strict=True)]
    sharp = [replace(goal, tolerance=np.full(_parts(goal), t * _SHARP)) for goal, t in zip(given, own, strict=True)]
    problem, projection = (problem_of(space.robot, goals, tolerance, caller) for goals in (loose, sharp))
    if problem.data.ndim != 1:
        raise ArgumentError(f"{caller}: goals to keep must have one target each, got {problem.data.shape[:-1]} of them")
    kernel = descend.bind(space.robot, problem.tasks)
    names = [goal_name(goal) for goal in given]
    return Manifold(space, names, problem.tasks, problem.data, projection.data, np.array(own, float), kernel)


def _parts(goal: Goal) -> int:
    """How many tolerances a goal has."""
    return len(KINDS[goal.task.kind].parts)


def goal_name(goal: Goal) -> str:
    """What a goal is about, for messages."""
    return goal.task.kind if goal.task.frame is None else f"{goal.task.kind} of '{goal.task.frame}'"


class KeptWays:
    """Ways on a manifold: points of the straight way, projected; neighbours stay neighbours, and all are free.

    Berenson, Srinivasa, Ferguson & Kuffner (2009), "Manipulation planning on constraint manifolds", ICRA, project one
    point after the other; here all points of all ways are projected at once.
    """

    def __init__(self, checker: Checker, manifold: Manifold):
        self.checker, self.space, self.manifold = checker, checker.space, manifold
        self.step = checker.resolution / _STRETCH

    def random(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """At most n random configurations (m, nq) on the manifold."""
        q, on = self.manifold.projected(self.space.random(rng, n))
        return q[on]

    def near(self, rng: np.random.Generator, q: np.ndarray, radii: np.ndarray) -> np.ndarray:
        """Random configurations (m, nq) on the manifold near q (n, nq), at distances of about the radii (n,)."""
        found, on = self.manifold.projected(self.space.near(rng, q, radii))
        return found[on]

    def reach(self, q: np.ndarray, targets: np.ndarray, extent: float) -> Reached:
        """The ways from q (n, nq) towards targets (n, nq), of the length `extent` at most before they are projected."""
        if not len(q):
            return Reached(q, np.zeros(0, bool), np.zeros(0, bool), [])
        v = self.space.difference(q, targets)
        lengths = np.sqrt(np.einsum("ki,ki->k", v, v))
        v *= np.minimum(1.0, extent / np.maximum(lengths, 1e-300))[:, None]
        steps = np.maximum(np.ceil(np.minimum(lengths, extent) / self.step - 1e-9), 1).astype(np.intp)
        last = np.cumsum(steps)
        which = np.repeat(np.arange(len(q)), steps)
        k = np.arange(1, len(which) + 1) - (last - steps)[which]
        points, good = self.manifold.projected(self.space.moved(q[which], v[which], k / steps[which]))
        before = np.concatenate([points[:1], points[:-1]])
        before[last - steps] = q
        apart = self.space.difference(before, points)
        good &= np.einsum("ki,ki->k", apart, apart) <= self.checker.resolution**2
        good &= self.space.inside(points)
        done = _leading(good, which, k, steps)
        rows = np.flatnonzero(k <= done[which])
        good[rows] = self.checker.free(points[rows])
        done = np.minimum(done, _leading(good, which, k, steps))
        ends = np.where((done > 0)[:, None], points[np.maximum(last - steps + done - 1, 0)], q)
        left = self.space.difference(ends, targets)
        left = np.sqrt(np.einsum("ki,ki->k", left, left))
        between = [points[a : a + m - 1] if m > 1 else points[:0] for a, m in zip(last - steps, done, strict=True)]
        return Reached(ends, left < lengths - self.step / 2, (done == steps) & (left < 1e-6), between)


def _leading(good: np.ndarray, which: np.ndarray, k: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """How many points of each way are good before the first one that is not."""
    first = steps + 1
    np.minimum.at(first, which[~good], k[~good])
    return first - 1


def end_way(ways: KeptWays, q: np.ndarray) -> np.ndarray | None:
    """The way (1 or 2, nq) from q onto the manifold, which is near if q keeps the goals; None if it is not free."""
    on, good = ways.manifold.projected(q[None])
    if not good[0] or not ways.space.inside(on[0]):
        return None
    v = ways.space.difference(q[None], on)
    steps = max(int(np.ceil(4 * np.linalg.norm(v) / ways.checker.resolution)), 2)
    between = ways.space.moved(q, v[0], np.arange(1, steps + 1) / steps)
    if not (ways.manifold.kept(between) & ways.checker.free(between)).all():
        return None
    return q[None] if np.array_equal(q, on[0]) else np.stack([q, on[0]])


def kept_path(ways: KeptWays, path: np.ndarray) -> np.ndarray | None:
    """The path with more points, so that goals are kept half-way between neighbours too; None if that cannot be."""
    for _ in range(_ROUNDS):
        v = ways.space.difference(path[:-1], path[1:])
        middle = ways.space.moved(path[:-1], v, np.full(len(v), 0.5))
        off = np.flatnonzero(~ways.manifold.kept(middle))
        if not len(off):
            return path
        new, on = ways.manifold.projected(middle[off])
        if not (on & ways.checker.free(new)).all():
            return None
        path = np.insert(path, off + 1, new, axis=0)
    return None


def shortened_on_manifold(
    ways: KeptWays, path: np.ndarray, rng: np.random.Generator, rounds: int, budget: Budget
) -> np.ndarray:
    """A path on the manifold between the same ends that is not longer: ways between random points of it."""
    for _ in range(rounds):
        if len(path) < 4 or budget.is_over:
            break
        s = np.concatenate([[0.0], np.cumsum(ways.space.lengths(path))])
        pairs = np.sort(rng.integers(0, len(path), (_SHORTCUTS, 2)), axis=1)
        v = ways.space.difference(path[pairs[:, 0]], path[pairs[:, 1]])
        gain = s[pairs[:, 1]] - s[pairs[:, 0]] - np.sqrt(np.einsum("ki,ki->k", v, v))
        pairs = pairs[np.argsort(-gain)][:4]
        reached = ways.reach(path[pairs[:, 0]], path[pairs[:, 1]], np.inf)
        best, saved = None, 0.01 * s[-1]
        for k in np.flatnonzero(reached.met):
            i, j = pairs[k]
            way = np.concatenate([path[i : i + 1], reached.between[k], path[j : j + 1]])  # type: ignore[index]
            if (gained := s[j] - s[i] - ways.space.lengths(way).sum()) > saved:
                best, saved = np.concatenate([path[:i], way, path[j + 1 :]]), gained
        path = path if best is None else best
    return path
