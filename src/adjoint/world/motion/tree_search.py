"""RRT-Connect with edges in batches: two trees of free configurations grow towards random ones and each other."""

from __future__ import annotations

import time
from typing import NamedTuple, Protocol

import numpy as np

from .edge_checks import Checker, all_free, free_edges, free_steps
from .spaces import ConfigurationSpace

__all__ = ["Budget", "Local", "Reached", "SearchResult", "StraightWays", "Tree"]

LANES, MOST_LANES = 4, 32  # samples of the first iteration, and of later ones: they double every second time
LONG = 30  # from so many iterations on, half of the samples are near nodes of the tree
COARSE = 5  # trees grow along ways that are checked at every fifth point; a path, when trees meet, at all of them
DIRECT = 16  # straight ways to so many goals, the nearest ones, are tried first
RANGE = 0.2  # the longest extension, as a part of the diagonal of the box of samples


class Budget(NamedTuple):
    """The end of a search: so many iterations, or this moment of `time.perf_counter`."""

    iterations: int
    deadline: float

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return time.perf_counter() > self.deadline


class SearchResult(NamedTuple):
    """The path (k, nq) that a search found, or None, and what it cost; `nearest` is how near the trees came."""

    path: np.ndarray | None
    iterations: int
    nodes: tuple[int, int]
    nearest: float


class Reached(NamedTuple):
    """How far ways lead: their last points (n, nq), whether each moved at all, and whether it is at its target.

    `between` are the points (m, nq) of each way before the last one, if ways are not straight.
    """

    ends: np.ndarray
    moved: np.ndarray
    met: np.ndarray
    between: list[np.ndarray] | None = None


class Local(Protocol):
    """A local planner: ways from configurations towards others, as far as they are free."""

    def near(self, rng: np.random.Generator, q: np.ndarray, radii: np.ndarray) -> np.ndarray:
        """Random configurations (m, nq) near q (n, nq), at most as many, at distances of about the radii (n,)."""
        ...

    @property
    def space(self) -> ConfigurationSpace:
        """The space in which the ways are."""
        ...

    def random(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """At most n random configurations (m, nq) towards which trees grow."""
        ...

    def reach(self, q: np.ndarray, targets: np.ndarray, extent: float) -> Reached:
        """The ways from q (n, nq) towards targets (n, nq), of the length `extent` at most."""
        ...


class StraightWays:
    """Straight ways: those of a robot that keeps nothing but its limits.

    `reach` looks at points that are `coarse` times the resolution apart, and `valid` at all points.
    """

    def __init__(self, checker: Checker, coarse: float = COARSE):
        self.checker, self.space, self.step = checker, checker.space, coarse * checker.resolution

    def random(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """n random configurations (n, nq)."""
        return self.space.random(rng, n)

    def near(self, rng: np.random.Generator, q: np.ndarray, radii: np.ndarray) -> np.ndarray:
        """Random configurations (n, nq) near q (n, nq), at distances of about the radii (n,)."""
        return self.space.near(rng, q, radii)

    def reach(self, q: np.ndarray, targets: np.ndarray, extent: float) -> Reached:
        """The straight ways from q (n, nq) towards targets (n, nq), of the length `extent` at most."""
        v = self.space.difference(q, targets)
        lengths = np.sqrt(np.vecdot(v, v))
        met = lengths <= extent
        if not met.all():
            part = np.where(met, 1.0, extent / np.maximum(lengths, 1e-300))
            v *= part[:, None]
            lengths *= part
        steps = np.maximum(np.ceil(lengths / self.step - 1e-9), 1.0).astype(np.intp)
        done = free_steps(self.checker, q, v, steps)
        return Reached(self.space.moved(q, v, done / steps), done > 0, met & (done == steps))

    def valid(self, path: np.ndarray) -> np.ndarray:
        """Whether the pieces (k - 1,) of a path (k, nq) are free at the resolution."""
        return all_free(self.checker, path[:-1], self.space.difference(path[:-1], path[1:]))


class Tree:
    """Nodes (n, nq), and the number of each node's parent; roots have -1. It grows in place: planners keep it alone."""

    def __init__(self, roots: np.ndarray):
        self.size = len(roots)
        self._nodes = np.empty((max(256, 2 * len(roots)), roots.shape[1]))
        self._squares = np.empty(len(self._nodes))
        self._parents = np.empty(len(self._nodes), np.intp)
        self._nodes[: self.size], self._parents[: self.size] = roots, -1
        self._squares[: self.size] = np.vecdot(roots, roots)
        self._between: dict[int, np.ndarray] = {}

    @property
    def nodes(self) -> np.ndarray:
        """The nodes (n, nq)."""
        return self._nodes[: self.size]

    @property
    def squares(self) -> np.ndarray:
        """|node|² (n,) of all nodes."""
        return self._squares[: self.size]

    @property
    def parents(self) -> np.ndarray:
        """The parents (n,) of all nodes."""
        return self._parents[: self.size]

    def add(self, q: np.ndarray, parents: np.ndarray, between: list[np.ndarray] | None = None) -> int:
        """Add nodes q (k, nq), with the points on the ways to them; the number of the first node is returned."""
        first, end = self.size, self.size + len(q)
        if end > len(self._nodes):
            more = max(len(self._nodes), len(q))
            self._nodes = np.concatenate([self._nodes, np.empty((more, self._nodes.shape[1]))])
            self._squares = np.concatenate([self._squares, np.empty(more)])
            self._parents = np.concatenate([self._parents, np.empty(more, np.intp)])
        self._nodes[first:end], self._parents[first:end] = q, parents
        self._squares[first:end] = np.vecdot(q, q)
        if between is not None:
            self._between.update(zip(range(first, end), between, strict=True))
        self.size = end
        return first

    def branch(self, k: int) -> np.ndarray:
        """The points (m, nq) from a root to node k."""
        found: list[np.ndarray] = []
        while k >= 0:
            found.append(self._nodes[k : k + 1])
            if k in self._between:
                found.append(self._between[k][::-1])
            k = int(self._parents[k])
        return np.concatenate(found)[::-1]

    def line(self, k: int) -> list[int]:
        """The numbers of the nodes from node k to a root."""
        found = []
        while k >= 0:
            found.append(k)
            k = int(self._parents[k])
        return found

    def cut(self, numbers: list[int]) -> None:
        """Remove nodes that are no roots, and all that grew from them; the others get new numbers."""
        parents, keep = self.parents, np.ones(self.size, bool)
        keep[numbers] = False
        for k in range(min(numbers) + 1, self.size):  # parents come before their children
            if parents[k] >= 0 and not keep[parents[k]]:
                keep[k] = False
        new = np.append(np.cumsum(keep) - 1, -1)  # the last one is for the parent of a root, -1
        size = int(keep.sum())
        self._nodes[:size], self._squares[:size] = self.nodes[keep], self.squares[keep]
        self._parents[:size] = new[parents[keep]]
        self._between = {int(new[k]): points for k, points in self._between.items() if keep[k]}
        self.size = size

    def grown(self, local: Local, q: np.ndarray, extent: float) -> tuple[Reached, np.ndarray, np.ndarray]:
        """Grow towards q (k, nq): how far it got, the parents (k,), and the numbers (k,) of the new nodes, or -1."""
        at = local.space.nearest(self.nodes, self.squares, q)
        reached = local.reach(self.nodes[at], q, extent)
        numbers, some = np.full(len(q), -1), reached.moved.nonzero()[0]
        if len(some):
            between = None if reached.between is None else [reached.between[k] for k in some]
            first = self.add(reached.ends[some], at[some], between)
            numbers[some] = np.arange(first, first + len(some))
        return reached, at, numbers


def _targets(
    local: Local, tree: Tree, rng: np.random.Generator, lanes: int, is_long: bool, extent: float
) -> np.ndarray:
    """Random configurations towards which a tree grows; in long searches half of them are near its own nodes.

    Ways to far samples leave a narrow place along a few directions only; short ways in all directions get out of it.
    """
    if not is_long:
        return local.random(rng, lanes)
    half = (lanes + 1) // 2
    centers = tree.nodes[rng.integers(0, tree.size, half)]
    radii = extent * 2.0 ** -rng.uniform(0.0, 6.0, half)
    return np.concatenate([local.random(rng, half), local.near(rng, centers, radii)])


def _direct(local: Local, start: np.ndarray, goals: np.ndarray, v: np.ndarray) -> np.ndarray | None:
    """The way (m, nq) to the first of the goals (k, nq), at the differences v (k, nv), to which one is free."""
    starts, between = start[None].repeat(len(goals), axis=0), None
    if isinstance(local, StraightWays):
        met = free_edges(local.checker, starts, v)
    else:
        _, _, met, between = local.reach(starts, goals, np.inf)
    if not met.any():
        return None
    k = int(np.argmax(met))
    return np.concatenate([start[None], goals[:0] if between is None else between[k], goals[k : k + 1]])


def _met(local: Local, tree: Tree, other: Tree, new, parents, others, reached: Reached) -> np.ndarray | None:
    """The path (m, nq) from the root of a tree to that of the other one, or None if no path is free at the resolution.

    The other tree grew from the nodes `parents` (k,) towards the nodes `new` (k,), which some of its ways reached, and
    added the nodes `others` (k,) there. Ways that are not free are cut off, with all that grew from them.
    """
    bad: tuple[set[int], set[int]] = set(), set()
    for k in reached.met.nonzero()[0]:
        if not isinstance(local, StraightWays):
            between = other.nodes[:0] if reached.between is None else reached.between[k]
            last = np.concatenate([other.branch(int(parents[k])), between])
            return np.concatenate([tree.branch(int(new[k])), last[::-1]])
        ours, theirs = tree.line(int(new[k])), other.line(int(parents[k]))
        if not bad[0].isdisjoint(ours) or not bad[1].isdisjoint(theirs):
            continue
        path = np.concatenate([tree.nodes[ours[::-1]], other.nodes[theirs]])
        valid = local.valid(path)
        if valid.all():
            return path
        children = [*((0, n) for n in ours[-2::-1]), (1, int(others[k])), *((1, n) for n in theirs[:-1])]
        for side, child in (x for x, good in zip(children, valid, strict=True) if not good):
            bad[side].add(child)
    for one, numbers in zip((tree, other), bad, strict=True):
        if numbers:
            one.cut(sorted(numbers))
    return None


def connect_trees(
    local: Local, start: np.ndarray, goals: np.ndarray, rng: np.random.Generator, budget: Budget,
    *, lanes: int = LANES, extent: float | None = None,
) -> SearchResult:  # fmt: skip
    """RRT-Connect from start (nq,) to any of the goals (k, nq), all of which are free; the straight ways come first.

    In each iteration a tree is extended towards `lanes` random configurations at once, by at most `extent` [rad, m];
    then the other tree is extended to all new nodes, as far as the ways are free. Kuffner & LaValle (2000),
    "RRT-Connect: an efficient approach to single-query path planning", ICRA, extends towards one.
    """
    space = local.space
    v = space.difference(start, goals)
    order = np.argsort(np.vecdot(v, v))[:DIRECT] if len(goals) > 1 else np.zeros(1, np.intp)
    path = _direct(local, start, goals[order], v[order])
    if path is not None:
        return SearchResult(path, 0, (1, len(goals)), 0.0)
    trees = Tree(start[None]), Tree(goals)
    extent = RANGE * space.diagonal if extent is None else extent
    a, b, nearest = 0, 1, float(np.sqrt(np.vecdot(v, v).min()))
    for i in range(budget.iterations):
        if budget.is_over:
            return SearchResult(None, i, (trees[0].size, trees[1].size), nearest)
        _, _, new = trees[a].grown(
            local, _targets(local, trees[a], rng, min(lanes << min(i >> 1, 8), MOST_LANES), i >= LONG, extent), extent
        )
        new = new[new >= 0]
        if len(new):
            reached, parents, others = trees[b].grown(local, trees[a].nodes[new], np.inf)
            if reached.met.any():
                path = _met(local, trees[a], trees[b], new, parents, others, reached)
                if path is not None:
                    path = path if a == 0 else path[::-1]
                    return SearchResult(path, i + 1, (trees[0].size, trees[1].size), 0.0)
                a, b = b, a
                continue
            v = space.difference(reached.ends, trees[a].nodes[new])
            nearest = min(nearest, float(np.sqrt(np.vecdot(v, v).min())))
        a, b = (b, a) if trees[b].size <= 4 * trees[a].size else (a, b)  # a tree that is stuck is grown more often
    return SearchResult(None, budget.iterations, (trees[0].size, trees[1].size), nearest)
