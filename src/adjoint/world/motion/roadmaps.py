"""Roadmaps: random free configurations, joined by ways that are checked when a path needs them; shortest paths on them.

A roadmap is a value: it is made once, saved, and asked many times, also when obstacles have moved, because every way of
a path is checked before the path is returned.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array, csgraph
from scipy.spatial import KDTree

from ...collision import CollisionModel
from ...errors import ArgumentError
from ...files import read_npz, whole_file
from ...model.input_checks import count, positive
from ...randomness import Rng, generator
from .edge_checks import Checker, free_edges
from .model_checks import model_checker
from .spaces import ConfigurationSpace, configuration_space

__all__ = ["Roadmap", "joined", "roadmap", "star_neighbours", "verified"]

_ARRAYS = ("nodes", "edges", "lengths", "checked")
_EDGES = 2048  # edges that are checked in one call


@dataclass(frozen=True, eq=False, repr=False)
class Roadmap:
    """Free configurations `nodes` (n, nq), and pairs `edges` (m, 2) of nodes with `lengths` (m,) [rad, m].

    `checked` (m,) tells which edges were found free, with points at most `resolution` [rad, m] apart. `save` writes
    the roadmap to a file, and `Roadmap.load` reads it.
    """

    nodes: np.ndarray
    edges: np.ndarray
    lengths: np.ndarray
    checked: np.ndarray
    resolution: float

    def __post_init__(self):
        for name in _ARRAYS:
            array = np.array(getattr(self, name))
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def components(self) -> np.ndarray:
        """The number (n,) of the connected part that each node belongs to."""
        n = len(self.nodes)
        graph = coo_array((np.ones(len(self.edges)), self.edges.T), shape=(n, n))
        return csgraph.connected_components(graph, directed=False)[1]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the roadmap into a .npz file, which appears when everything is written."""
        given = Path(path)
        if given.suffix != ".npz":
            raise ArgumentError(f"Roadmap.save: the file must end in .npz, got '{given.name}'")
        arrays = {name: getattr(self, name).astype(float) for name in _ARRAYS}
        with whole_file(given) as unfinished, unfinished.open("wb") as file:
            np.savez(file, resolution=np.array(self.resolution), **arrays)
        return given

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Roadmap:
        """The roadmap that `save` wrote; files of anything else are refused with an `ArgumentError`."""
        read = read_npz(Path(path))
        n = len(read["nodes"]) if "nodes" in read and read["nodes"].ndim == 2 else -1
        m = len(read.get("lengths", ()))
        shapes = {"edges": (m, 2), "lengths": (m,), "checked": (m,), "resolution": ()}
        bad = [name for name, shape in shapes.items() if name not in read or read[name].shape != shape]
        if n < 0 or bad or (m and not (read["edges"].min() >= 0 and read["edges"].max() < n)):
            raise ArgumentError(f"{os.fsdecode(path)}: it is no roadmap; Roadmap.save writes one")
        edges, checked = read["edges"].astype(np.intp), read["checked"].astype(bool)
        return cls(read["nodes"], edges, read["lengths"], checked, float(read["resolution"]))

    def __repr__(self) -> str:
        parts = int(self.components.max(initial=-1)) + 1
        return f"<Roadmap: {len(self.nodes)} nodes, {len(self.edges)} edges, {parts} part{'s' * (parts != 1)}>"


def roadmap(
    model: CollisionModel, *, samples: int = 1000, neighbours: int | None = None, resolution: float = 0.05,
    rng: Rng = 0, lazy: bool = False, lower=None, upper=None,
) -> Roadmap:  # fmt: skip
    """The `Roadmap` of PRM*: so many random `samples`, of which the free ones are joined to their nearest neighbours.

    With k = ⌈e (1 + 1 / d) log n⌉ neighbours of each of n nodes in d dimensions, the shortest path on the roadmap
    becomes the shortest one of all as n grows: Karaman & Frazzoli (2011), "Sampling-based algorithms for optimal motion
    planning", Int. J. Robotics Research 30(7). All nodes are checked in one call of compiled code, and edges in
    batches, with points at most `resolution` [rad, m] apart. With `lazy`, edges are checked when a path needs them:
    Bohlin & Kavraki (2000), "Path planning using lazy PRM", ICRA. `lower` and `upper` (nq,) narrow the limits.

        roads = roadmap(collision_model(robot, solids), samples=2000)
        plan = plan_motion(solids, robot, start, goal, method="prm", roadmap=roads)
    """
    n, step = count(samples, "roadmap: samples"), positive(resolution, "roadmap: resolution")
    space = configuration_space(model.robot, lower=lower, upper=upper, caller="roadmap")
    checker = model_checker(model, space, step)
    if neighbours is not None:
        neighbours = count(neighbours, "roadmap: neighbours")
    q = space.random(generator(rng, "roadmap"), n)
    found = joined(space, np.empty((0, model.robot.nq)), q[checker.free(q)], step, neighbours)
    return found if lazy else verified(checker, found)


def joined(
    space: ConfigurationSpace, old: np.ndarray, new: np.ndarray, resolution: float, neighbours: int | None = None
) -> Roadmap:
    """The roadmap of all these nodes, whose edges are not checked."""
    nodes = np.concatenate([old, new])
    if len(nodes) < 2:
        return Roadmap(nodes, np.empty((0, 2), np.intp), np.empty(0), np.empty(0, bool), resolution)
    k = min(neighbours or star_neighbours(len(nodes), space.robot.nv), len(nodes) - 1)
    edges = _nearest_pairs(space, nodes, k)
    v = space.difference(nodes[edges[:, 0]], nodes[edges[:, 1]])
    lengths = np.sqrt(np.einsum("ki,ki->k", v, v))
    return Roadmap(nodes, edges, lengths, np.zeros(len(edges), bool), resolution)


def star_neighbours(n: int, d: int) -> int:
    """The number ⌈e (1 + 1 / d) log n⌉ of neighbours of each of n nodes in d dimensions."""
    return max(int(np.ceil(np.e * (1 + 1 / d) * np.log(max(n, 2)))), 1)


def _nearest_pairs(space: ConfigurationSpace, nodes: np.ndarray, k: int) -> np.ndarray:
    """Pairs (m, 2), the smaller number first, of nodes of which one is among the k nearest of the other."""
    if space.plain and not space.turns:
        near = KDTree(nodes).query(nodes, k + 1)[1]
    else:
        rows = []
        for part in np.array_split(nodes, max(len(nodes) // 256, 1)):
            v = space.difference(part[:, None], nodes)
            rows.append(np.argpartition(np.einsum("kni,kni->kn", v, v), k, axis=1)[:, : k + 1])
        near = np.concatenate(rows)
    pairs = np.stack(np.broadcast_arrays(np.arange(len(nodes))[:, None], near), axis=-1).reshape(-1, 2)
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return np.unique(pairs, axis=0).astype(np.intp)


def verified(checker: Checker, roads: Roadmap) -> Roadmap:
    """The roadmap with its free edges alone, all of them checked."""
    space, free = checker.space, roads.checked.copy()
    open_edges = np.flatnonzero(~free)
    for at in np.array_split(open_edges, max(-(-len(open_edges) // _EDGES), 1)):
        q_0, q_1 = roads.nodes[roads.edges[at, 0]], roads.nodes[roads.edges[at, 1]]
        free[at] = free_edges(checker, q_0, space.difference(q_0, q_1)) if len(at) else True
    return Roadmap(roads.nodes, roads.edges[free], roads.lengths[free], free[free], roads.resolution)
