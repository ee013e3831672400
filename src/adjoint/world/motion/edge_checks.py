"""Edges between configurations, checked point by point in a few calls of compiled code: coarse first, then the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .spaces import ConfigurationSpace

__all__ = ["Checker", "edge_steps", "free_edges", "free_path", "free_steps"]

_COARSE = 8  # of the points of an edge, so many are skipped by the first look


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


def edge_steps(v: np.ndarray, resolution: float) -> np.ndarray:
    """How many steps (n,) of the resolution the motions v (n, nv) need, 1 at least."""
    lengths = np.sqrt(np.einsum("ki,ki->k", v, v))
    return np.maximum(np.ceil(lengths / resolution - 1e-9), 1).astype(np.intp)


def free_edges(checker: Checker, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Whether the motions v (n, nv) from q (n, nq) are free; q is not checked, the ends are."""
    steps = edge_steps(v, checker.resolution)
    which, k = _points(steps)
    s = k / steps[which]
    coarse = (k % _COARSE == 0) | (k == steps[which])
    found = np.ones(len(q), bool)
    at = which[coarse]
    hit = at[~checker.free(checker.space.moved(q[at], v[at], s[coarse]))]
    found[hit] = False
    rest = ~coarse & found[which]
    if rest.any():
        at = which[rest]
        found[at[~checker.free(checker.space.moved(q[at], v[at], s[rest]))]] = False
    return found


def free_steps(checker: Checker, q: np.ndarray, v: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """How many of the steps (n,) of the motions v (n, nv) from q (n, nq) are free before the first that is not."""
    which, k = _points(steps)
    s = k / steps[which]
    coarse = (k % _COARSE == 0) | (k == steps[which])
    first = steps + 1  # the first step that is not free
    at = which[coarse]
    hit = ~checker.free(checker.space.moved(q[at], v[at], s[coarse]))
    np.minimum.at(first, at[hit], k[coarse][hit])
    rest = ~coarse & (k < first[which])
    if rest.any():
        at = which[rest]
        hit = ~checker.free(checker.space.moved(q[at], v[at], s[rest]))
        np.minimum.at(first, at[hit], k[rest][hit])
    return first - 1


def _points(steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The edge and the number 1 ... steps of each point of edges with so many steps (n,)."""
    which = np.repeat(np.arange(len(steps)), steps)
    k = np.arange(1, len(which) + 1) - np.repeat(np.cumsum(steps) - steps, steps)
    return which, k


def free_path(checker: Checker, path: np.ndarray) -> bool:
    """Whether a path (k, nq) is free, its first point included."""
    if not checker.free(path[:1])[0]:
        return False
    return len(path) < 2 or bool(free_edges(checker, path[:-1], checker.space.difference(path[:-1], path[1:])).all())
