"""Shorter paths: straight ways between random points of a path, for all joints or for one, checked many at once."""

from __future__ import annotations

import numpy as np

from .edge_checks import Checker, free_edges
from .tree_search import Budget

__all__: list[str] = []

LANES = 6  # shortcuts that are checked together
PATIENCE = 6  # so many rounds without a gain end the search
LEAST_GAIN = 0.01  # a shortcut must save this part of the path's length


def shortened(
    checker: Checker, path: np.ndarray, rng: np.random.Generator, rounds: int, budget: Budget, *, partial: bool = True
) -> np.ndarray:
    """A path (m, nq) between the same ends that is free and not longer than `path` (k, nq), after so many rounds.

    Of random shortcuts, those that would save most are checked together, and the best one that is free is taken. With
    `partial`, every third round straightens one degree of freedom alone: Geraerts & Overmars (2007), "Creating
    high-quality paths for motion planning", Int. J. Robotics Research 26(8).
    """
    path, idle = _through_corners(checker, path), 0
    for k in range(rounds):
        if len(path) < 3 or idle >= PATIENCE or budget.is_over:
            break
        one = partial and k % 3 == 2 and checker.space.plain
        found = _one_joint(checker, path, rng) if one else _all_joints(checker, path, rng)
        idle = 0 if found is not None else idle + 1
        path = path if found is None else found
    return path


def _through_corners(checker: Checker, path: np.ndarray) -> np.ndarray:
    """The path without the corners that it can leave out, the longest shortcut first."""
    while len(path) > 2:
        first, last = np.triu_indices(len(path), 2)
        length = np.concatenate([[0.0], np.cumsum(checker.space.lengths(path))])
        v = checker.space.difference(path[first], path[last])
        gain = length[last] - length[first] - np.sqrt(np.einsum("ki,ki->k", v, v))
        order = np.argsort(-gain)[:LANES]
        order = order[gain[order] > 1e-12 * length[-1]]
        if not len(order):
            return path
        free = free_edges(checker, path[first[order]], v[order])
        if not free.any():
            return path
        best = order[int(np.argmax(free))]
        path = np.concatenate([path[: first[best] + 1], path[last[best] :]])
    return path


def _places(checker: Checker, path: np.ndarray, rng: np.random.Generator) -> tuple:
    """Random pairs of places on a path: the pieces (n,) and the points (n, nq) of both, and how far apart they are."""
    lengths = checker.space.lengths(path)
    ends = np.cumsum(lengths)
    s = np.sort(rng.random((4 * LANES, 2)), axis=1) * ends[-1]
    piece = np.minimum(np.searchsorted(ends, s), len(lengths) - 1)
    part = np.clip((s - (ends - lengths)[piece]) / np.maximum(lengths[piece], 1e-300), 0.0, 1.0)
    v = checker.space.difference(path[piece], path[piece + 1])
    q = checker.space.moved(path[piece], v, part)
    return piece[:, 0], piece[:, 1], q[:, 0], q[:, 1], s[:, 1] - s[:, 0], ends[-1]


def _all_joints(checker: Checker, path: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
    """The path with the best of some random shortcuts, or None if none of them is free and worth it."""
    i, j, a, b, apart, whole = _places(checker, path, rng)
    v = checker.space.difference(a, b)
    gain = apart - np.sqrt(np.einsum("ki,ki->k", v, v))
    worth = np.flatnonzero((gain > LEAST_GAIN * whole) & (i < j))
    if not len(worth):
        return None
    order = worth[np.argsort(-gain[worth])]
    if len(order) > LANES:  # the best ones, and some others: where the way is narrow, only short ones are free
        order = np.concatenate([order[: LANES // 2], order[-LANES // 2 :]])
    free = free_edges(checker, a[order], v[order])
    if not free.any():
        return None
    k = order[int(np.argmax(free))]
    return np.concatenate([path[: i[k] + 1], a[k : k + 1], b[k : k + 1], path[j[k] + 1 :]])


def _one_joint(checker: Checker, path: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
    """The path with one degree of freedom straight between two random places, or None if nothing is gained."""
    i, j, a, b, apart, whole = _places(checker, path, rng)
    k = int(np.argmax(np.where(i < j, apart, -1.0)))
    if i[k] >= j[k]:
        return None
    part = np.concatenate([a[k : k + 1], path[i[k] + 1 : j[k] + 1], b[k : k + 1]])
    steps = checker.space.lengths(part)
    s = np.concatenate([[0.0], np.cumsum(steps)]) / max(float(steps.sum()), 1e-300)
    options, gains = [], []
    for joint in range(path.shape[1]):
        straight = part.copy()
        straight[:, joint] = part[0, joint] + s * checker.space.difference(part[0], part[-1])[joint]
        options.append(straight)
        gains.append(float(steps.sum() - checker.space.lengths(straight).sum()))
    best = int(np.argmax(gains))
    if gains[best] <= LEAST_GAIN * whole:
        return None
    straight = options[best]
    v = checker.space.difference(straight[:-1], straight[1:])
    if not free_edges(checker, straight[:-1], v).all():
        return None
    straight[-1] = b[k]  # the same up to rounding, and to full turns
    return np.concatenate([path[: i[k] + 1], straight, path[j[k] + 1 :]])
