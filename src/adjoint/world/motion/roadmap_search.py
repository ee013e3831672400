"""Shortest paths on roadmaps, whose ways are checked as paths need them; roadmaps that grow until there is a path."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from ...collision import CollisionModel
from ...errors import ArgumentError
from ...model.input_checks import positive, vectors
from .edge_checks import Checker, free_edges
from .model_checks import model_checker
from .roadmaps import Roadmap, joined, star_neighbours
from .spaces import ConfigurationSpace, configuration_space
from .tree_search import Budget, SearchResult

__all__ = ["roadmap_path"]

_TINY = 1e-300  # the least length of an edge: sparse matrices leave out zeros


def roadmap_path(
    model: CollisionModel, roads: Roadmap, start, goal, *, resolution: float | None = None
) -> np.ndarray | None:
    """The shortest path (k, nq) on a roadmap from start (nq,) to a goal (nq,), or to any of goals (n, nq), or None.

    The ends are joined to their nearest nodes. All ways of the path are checked in the model as it is now, so a roadmap
    serves in scenes other than that which it was made in.

        path = roadmap_path(model, roadmap(model), start, goal)
    """
    if not isinstance(roads, Roadmap):
        raise ArgumentError(f"roadmap_path: roads must be a Roadmap, got {type(roads).__name__}")
    step = roads.resolution if resolution is None else positive(resolution, "roadmap_path: resolution")
    space = configuration_space(model.robot, caller="roadmap_path")
    checker = model_checker(model, space, step)
    ends = [
        np.atleast_2d(vectors(x, model.robot.nq, name, "roadmap_path"))
        for name, x in (("start", start), ("goal", goal))
    ]
    if len(ends[0]) != 1 or ends[1].ndim != 2:
        raise ArgumentError("roadmap_path: start must be one configuration, and goal one or several (n, nq)")
    check_roadmap(roads, space, "roadmap_path")
    goals = ends[1][checker.free(ends[1])]
    if not checker.free(ends[0])[0] or not len(goals):
        return None
    path = _Search(checker, ends[0][0], goals, roads).shortest()
    return None if path is None else space.unrolled(path)


def check_roadmap(roads: Roadmap, space: ConfigurationSpace, caller: str) -> None:
    """Raise an `ArgumentError` unless a roadmap is that of a robot with as many coordinates."""
    if roads.nodes.shape[-1] != space.robot.nq:
        raise ArgumentError(
            f"{caller}: the roadmap has configurations ({roads.nodes.shape[-1]},), but robot '{space.robot.name}' has "
            f"({space.robot.nq},)"
        )


class _Search:
    """The shortest free path on a roadmap; nodes are the start, the goals, and then those of the roadmap.

    It remembers which ways are free and which are not, also when the roadmap grows.
    """

    def __init__(self, checker: Checker, start: np.ndarray, goals: np.ndarray, roads: Roadmap):
        self.checker, self.space = checker, checker.space
        self.ends = np.concatenate([start[None], goals])
        self.free, self.blocked = np.empty(0, np.int64), np.empty(0, np.int64)  # keys of edges, in order
        self.grow(roads)

    def grow(self, roads: Roadmap) -> None:
        """Take a roadmap whose first nodes are those of the one before."""
        e, n = len(self.ends), len(roads.nodes)
        self.nodes = np.concatenate([self.ends, roads.nodes])
        edges, lengths = [roads.edges + e], [roads.lengths]
        k = min(2 * star_neighbours(n + 2, self.space.robot.nv), n)
        for i in range(e):
            v = self.space.difference(self.nodes[i], roads.nodes)
            d = np.sqrt(np.einsum("ki,ki->k", v, v))
            near = np.argpartition(d, k - 1)[:k] if k else np.empty(0, np.intp)
            edges.append(np.stack([np.full(k, i), near + e], axis=1))
            lengths.append(d[near])
        v = self.space.difference(self.ends[0], self.ends[1:])
        edges.append(np.stack([np.zeros(e - 1, np.intp), np.arange(1, e)], axis=1))
        lengths.append(np.sqrt(np.einsum("ki,ki->k", v, v)))
        self.edges, self.lengths = np.concatenate(edges).astype(np.int64), np.concatenate(lengths)
        self.keys = (self.edges[:, 0] << 32) + self.edges[:, 1]

    def shortest(self) -> np.ndarray | None:
        """The shortest free path (k, nq), or None."""
        usable = ~_known(self.blocked, self.keys)
        while True:
            route = _dijkstra(self.edges[usable], self.lengths[usable], len(self.nodes), len(self.ends))
            if route is None:
                return None
            a, b = np.array(route[:-1]), np.array(route[1:])
            keys = (np.minimum(a, b).astype(np.int64) << 32) + np.maximum(a, b)
            todo = ~_known(self.free, keys)
            if not todo.any():
                return self.nodes[route]
            q_0, q_1 = self.nodes[a[todo]], self.nodes[b[todo]]
            free = free_edges(self.checker, q_0, self.space.difference(q_0, q_1))
            self.free = np.sort(np.concatenate([self.free, keys[todo][free]]))
            self.blocked = np.sort(np.concatenate([self.blocked, keys[todo][~free]]))
            usable &= ~np.isin(self.keys, keys[todo][~free])


def _known(known: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Whether each key is among those that are known, which are in order."""
    if not len(known):
        return np.zeros(len(keys), bool)
    at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return known[at] == keys


def _dijkstra(edges: np.ndarray, lengths: np.ndarray, n: int, ends: int) -> list[int] | None:
    """The nodes on the shortest way from node 0 to any of the nodes 1 ... ends - 1, or None."""
    graph = coo_array((np.maximum(lengths, _TINY), edges.T), shape=(n, n)).tocsr()
    distance, before = dijkstra(graph, directed=False, indices=0, return_predecessors=True)
    goal = 1 + int(np.argmin(distance[1:ends]))
    if not np.isfinite(distance[goal]):
        return None
    nodes = [goal]
    while nodes[-1] != 0:
        nodes.append(int(before[nodes[-1]]))
    return nodes[::-1]


def search_roadmap(
    checker: Checker, start: np.ndarray, goals: np.ndarray, rng: np.random.Generator, budget: Budget,
    *, roads: Roadmap | None = None, improve: bool = False, batch: int = 100,
) -> SearchResult:  # fmt: skip
    """A path on a roadmap that grows until there is one, or with `improve` until the budget of samples is used.

    Once there is a path of the length c, further samples q are those with |q - start| + |q - goal| < c, which alone can
    make it shorter: Gammell, Srinivasa & Barfoot (2014), "Informed RRT*", IROS.
    """
    space = checker.space
    roads = joined(space, start[None][:0], start[None][:0], checker.resolution) if roads is None else roads
    search, used = _Search(checker, start, goals, roads), 0
    path = search.shortest()
    v = space.difference(start, goals)
    least = float(np.sqrt(np.einsum("ki,ki->k", v, v).min()))
    while used < budget.iterations and not budget.is_over and (improve or path is None):
        if path is not None and space.lengths(path).sum() <= least * (1 + 1e-9):
            break  # nothing is shorter than the straight way
        size = min(max(batch, len(roads.nodes) // 2), budget.iterations - used)
        q, used = space.random(rng, size), used + size
        if path is not None:
            q = q[_could_help(space, q, start, goals, float(space.lengths(path).sum()))]
        if len(q):
            roads = joined(space, roads.nodes, q[checker.free(q)], checker.resolution)
            search.grow(roads)
            path = search.shortest()  # never a longer one: neighbours of old nodes stay within reach as k grows
    return SearchResult(path, used, (len(roads.nodes) + 1, len(goals)), 0.0 if path is not None else least)


def _could_help(space: ConfigurationSpace, q: np.ndarray, start: np.ndarray, goals: np.ndarray, c: float) -> np.ndarray:
    """Whether a way through q (n, nq) could be shorter than c."""
    to, onward = space.difference(start, q), space.difference(q[:, None], goals)
    least = np.sqrt(np.einsum("kgi,kgi->kg", onward, onward)).min(axis=1)
    return np.sqrt(np.einsum("ki,ki->k", to, to)) + least < c
