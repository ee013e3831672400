"""Ways between configurations, checked point by point in a few calls of compiled code: coarse first, then the rest."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .spaces import ConfigurationSpace

__all__ = ["Checker", "all_free", "edge_steps", "free_edges", "free_path", "free_steps"]

_COARSE = (16, 4)  # every 16th point of a way is checked first, then every fourth,
_SHORT = 32  # if all ways together have more points than that
_CHUNK = 64  # so many steps of each way are checked at a time, the first ones first


@dataclass(frozen=True, eq=False)
class Checker:
    """What planners ask: the space, and `free`, a function that takes q (n, nq) and gives n truth values.

    `resolution` [rad, m] is the largest distance of neighbouring points of an edge that are checked. `checked` counts
    the configurations that were.
    """

    space: ConfigurationSpace
    is_free: Callable[[np.ndarray], np.ndarray]
    resolution: float
    checked: list[int]

    def free(self, q: np.ndarray) -> np.ndarray:
        """Whether each of q (n, nq) is free."""
        self.checked[0] += len(q)
        return self.is_free(q)

    @classmethod
    def of(cls, space: ConfigurationSpace, is_free: Callable[[np.ndarray], np.ndarray], resolution: float) -> Checker:
        """A checker that has checked nothing yet."""
        return cls(space, is_free, resolution, [0])

    def with_resolution(self, resolution: float) -> Checker:
        """The same checker with another resolution; both count together."""
        return Checker(self.space, self.is_free, resolution, self.checked)


def edge_steps(v: np.ndarray, resolution: float) -> np.ndarray:
    """How many steps (n,) of the resolution the motions v (n, nv) need, 1 at least."""
    lengths = np.sqrt(np.vecdot(v, v))
    return np.maximum(np.ceil(lengths / resolution - 1e-9), 1).astype(np.intp)


def free_edges(checker: Checker, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Whether the motions v (n, nv) from q (n, nq) are free; q is not checked, the ends are."""
    if len(q) == 1:
        return np.array([_free_edge(checker, q[0], v[0])])
    steps = edge_steps(v, checker.resolution)
    which, k = points_of(steps)
    found = np.ones(len(q), bool)
    left = np.ones(len(which), bool)
    for coarse in _COARSE if len(which) > _SHORT else ():
        now = left & ((k % coarse == 0) | (k == steps[which]))
        left &= ~now
        _check(checker, q, v, steps, which[now], k[now], found)
        left &= found[which]
    _check(checker, q, v, steps, which[left], k[left], found)
    return found


def all_free(checker: Checker, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """`free_edges` of ways (n,) that most likely are free: all points are checked at once."""
    steps, found = edge_steps(v, checker.resolution), np.ones(len(q), bool)
    _check(checker, q, v, steps, *points_of(steps), found)
    return found


def _check(checker: Checker, q, v, steps, at: np.ndarray, k: np.ndarray, found: np.ndarray) -> None:
    """Set found (n,) to False for those of the ways `at` (m,) that are not free after k (m,) steps."""
    if len(at):
        found[at[~checker.free(checker.space.moved(q[at], v[at], k / steps[at]))]] = False


def _free_edge(checker: Checker, q: np.ndarray, v: np.ndarray) -> bool:
    """Whether one motion v (nv,) from q (nq,) is free."""
    steps = max(math.ceil(math.sqrt(v @ v) / checker.resolution - 1e-9), 1)
    return all(checker.free(checker.space.moved(q, v, s)).all() for s in _coarse_to_fine(steps))


@functools.lru_cache(4096)
def _coarse_to_fine(steps: int) -> tuple[np.ndarray, ...]:
    """The parts 1 / steps ... 1 of a way, in the order in which they are checked."""
    k = np.arange(1, steps + 1)
    found, left = [], np.ones(steps, bool)
    for coarse in _COARSE if steps > _SHORT else ():
        now = left & ((k % coarse == 0) | (k == steps))
        left &= ~now
        found.append(k[now] / steps)
    return (*found, k[left] / steps)


def free_steps(checker: Checker, q: np.ndarray, v: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """How many of `steps` (n,) equal steps of the motions v (n, nv) from q (n, nq) are free before one that is not.

    All ways are checked together, a chunk of their steps at a time. A way ends where it hits something.
    """
    done, ways, at = steps.copy(), np.arange(len(q)), 0
    while len(ways):
        end = min(at + _CHUNK, int(steps.max()))
        free, which, k = _free_between(checker, q, v, steps, at, end)
        on = steps > end
        hits = (~free).nonzero()[0][::-1]  # of the hits of a way, the first one is written last
        on[which[hits]] = False
        done[ways[which[hits]]] = k[hits] - 1
        left = on.nonzero()[0]
        q, v, steps, ways, at = q[left], v[left], steps[left], ways[left], end
    return done


def _free_between(
    checker: Checker, q: np.ndarray, v: np.ndarray, steps: np.ndarray, at: int, end: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whether points after the steps at + 1 ... end are free, of ways that have so many; their ways and numbers."""
    counts = np.minimum(steps, end) - at
    which = np.arange(len(q)).repeat(counts)
    k = np.arange(at + 1, at + 1 + len(which)) - (counts.cumsum() - counts).repeat(counts)
    return checker.free(checker.space.moved(q[which], v[which], k / steps[which])), which, k


def points_of(steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The edge and the number 1 ... steps of each point of edges with so many steps (n,)."""
    which = np.repeat(np.arange(len(steps)), steps)
    k = np.arange(1, len(which) + 1) - np.repeat(np.cumsum(steps) - steps, steps)
    return which, k


def free_path(checker: Checker, path: np.ndarray) -> bool:
    """Whether a path (k, nq) is free, its first point included."""
    v = checker.space.difference(path[:-1], path[1:])
    which, k = points_of(steps := edge_steps(v, checker.resolution))
    q = checker.space.moved(path[which], v[which], k / steps[which])
    return bool(checker.free(np.concatenate([path[:1], q])).all())
