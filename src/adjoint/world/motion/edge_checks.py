"""Ways between configurations, checked point by point in a few calls of compiled code: coarse first, then the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .spaces import ConfigurationSpace

__all__ = ["Checker", "edge_steps", "free_edges", "free_path", "free_steps"]

_COARSE = 4  # every fourth point of a way is checked first,
_SHORT = 32  # if all ways together have more points than that


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
    lengths = np.sqrt(np.einsum("ki,ki->k", v, v))
    return np.maximum(np.ceil(lengths / resolution - 1e-9), 1).astype(np.intp)


def free_edges(checker: Checker, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Whether the motions v (n, nv) from q (n, nq) are free; q is not checked, the ends are."""
    steps = edge_steps(v, checker.resolution)
    which, k = points_of(steps)
    s = k / steps[which]
    found = np.ones(len(q), bool)
    if len(which) <= _SHORT:
        found[which[~checker.free(checker.space.moved(q[which], v[which], s))]] = False
        return found
    coarse = (k % _COARSE == 0) | (k == steps[which])
    at = which[coarse]
    found[at[~checker.free(checker.space.moved(q[at], v[at], s[coarse]))]] = False
    rest = ~coarse & found[which]
    if rest.any():
        at = which[rest]
        found[at[~checker.free(checker.space.moved(q[at], v[at], s[rest]))]] = False
    return found


def free_steps(checker: Checker, q: np.ndarray, v: np.ndarray, steps: int) -> np.ndarray:
    """How many of so many equal steps of the motions v (n, nv) from q (n, nq) are free before the first that is not."""
    n, space = len(q), checker.space
    if space.plain:
        points = q[:, None] + _parts(steps) * v[:, None]
    else:
        points = space.moved(q[:, None], v[:, None], np.broadcast_to(_parts(steps)[:, 0], (n, steps)))
    if n * steps <= _SHORT or steps < 2 * _COARSE:
        return _leading(checker.free(points.reshape(n * steps, -1)).reshape(n, steps))
    free = np.ones((n, steps), bool)
    some, few = free[:, _COARSE - 1 :: _COARSE], points[:, _COARSE - 1 :: _COARSE]
    some[:] = checker.free(few.reshape(-1, few.shape[-1])).reshape(some.shape)
    rest = np.arange(steps) < _leading(free)[:, None]
    rest[:, _COARSE - 1 :: _COARSE] = False
    free[rest] = checker.free(points[rest])
    return _leading(free)


@lru_cache(maxsize=1024)
def _parts(steps: int) -> np.ndarray:
    """The parts (steps, 1) of a way at the ends of its steps."""
    return np.arange(1, steps + 1)[:, None] / steps


def _leading(free: np.ndarray) -> np.ndarray:
    """How many of each row (n, steps) are true before the first that is not."""
    first = free.argmin(axis=1)
    first[free[np.arange(len(free)), first]] = free.shape[1]
    return first


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
