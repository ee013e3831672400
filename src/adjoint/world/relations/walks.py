"""Motions along the solutions of relations: descents from many starts, and walks that never leave the relations."""

from __future__ import annotations

import numpy as np

from ...lie import so3
from .freedoms import RANK
from .relation_systems import RelationSystem

__all__ = ["holds", "solutions", "tangents", "towards", "walk"]

_TURN = 0.5  # rad in one step of a walk
_NEAR = 1e-7  # walks arrive at this distance, in units of the system


def random_starts(system: RelationSystem, count: int, rng: np.random.Generator) -> np.ndarray:
    """Variables (count, 12 n) with random rotations, and positions about the middle of the fixed features."""
    n = len(system.parts)
    R, p = so3.random((count, n), rng=rng), rng.normal(size=(count, n, 3, 1))
    return np.concatenate([R, p], axis=-1).reshape(count, 12 * n)


def holds(system: RelationSystem, x: np.ndarray, tolerance: float) -> np.ndarray:
    """Whether all relations hold at variables (..., 12 n), up to a tolerance [rad, m]."""
    return np.abs(system.residuals(x)).max(axis=-1, initial=0.0) <= tolerance


def solutions(system: RelationSystem, x: np.ndarray, tolerance: float) -> np.ndarray:
    """The ends (k, 12 n) of those descents from x that reach the relations.

    Rotations come first, as in Fu, Gonzalez & Lee (10.9-5): the equations between directions do not depend on the
    positions. Positions then follow, from equations that are linear in them, and rotations adapt.
    """
    turning = system.rows.copy()
    turning[system.lengths, 3] = 0.0
    x = system.settled(system.settled(x, turning).poses).poses
    return x[holds(system, x, tolerance)]


def tangents(system: RelationSystem, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Projectors P (k, 6 n, 6 n) onto the motions that keep the equations, and their ranks (k,), the freedoms."""
    J = system.slopes(x)[1][:, ~system.bounds]
    size = J.shape[-1]
    if J.shape[1] == 0:
        return np.broadcast_to(np.eye(size), (len(x), size, size)), np.full(len(x), size)
    _, s, Vt = np.linalg.svd(J, full_matrices=True)
    taken = np.zeros((len(x), size), bool)
    taken[:, : s.shape[1]] = s > RANK * np.maximum(1.0, s[:, :1])
    free = np.where(taken[..., None], 0.0, Vt)
    return np.swapaxes(free, 1, 2) @ free, (~taken).sum(axis=1)


def towards(x: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The motions (k, 6 n) that lead from variables (k, 12 n) to others."""
    n = x.shape[-1] // 12
    M, N = x.reshape(-1, n, 3, 4), np.broadcast_to(target, x.shape).reshape(-1, n, 3, 4)
    turn = so3.log(N[..., :3] @ np.swapaxes(M[..., :3], -1, -2))
    return np.concatenate([turn, N[..., 3] - M[..., 3]], axis=-1).reshape(len(x), 6 * n)


def _limited(move: np.ndarray) -> np.ndarray:
    """The motions (k, 6 n), shortened where a part would turn by more than a step allows."""
    turns = np.linalg.norm(move.reshape(len(move), -1, 6)[..., :3], axis=-1).max(axis=1)
    return move / np.maximum(turns / _TURN, 1.0)[:, None]


def walk(system: RelationSystem, x: np.ndarray, target: np.ndarray, steps: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Walk from solutions (k, 12 n) as near to a target as the relations allow: (the ends, whether they arrived).

    A step goes along the tangent and settles on the relations again; where settling undoes a large share of a step,
    the step is shortened, so that a walk does not jump to another family. Bounds stop a walk only in their direction.
    """
    x = x.copy()
    target = np.broadcast_to(target, x.shape)
    equations = system.rows[~system.bounds]
    share, active = np.ones(len(x)), np.ones(len(x), bool)
    for _ in range(steps):
        at = np.flatnonzero(active)
        if len(at) == 0:
            break
        P, _ = tangents(system, x[at])
        move = _limited(np.einsum("kij,kj->ki", P, towards(x[at], target[at]))) * share[at, None]
        size = np.linalg.norm(move, axis=1)
        ahead = system.moved(x[at], move)
        ends = system.settled(ahead, equations).poses
        corrected = np.linalg.norm(towards(ahead, ends), axis=1)
        ends = system.settled(ends).poses if system.bounds.any() else ends
        nearer = np.linalg.norm(towards(ends, target[at]), axis=1) <= np.linalg.norm(towards(x[at], target[at]), axis=1)
        good = (corrected <= 0.5 * size) & nearer & holds(system, ends, 1e-8 * system.length + 1e-8)
        x[at[good]] = ends[good]
        share[at] = np.where(good, np.minimum(2 * share[at], 1.0), share[at] / 4)
        active[at] = (size > 1e-10) & (share[at] > 1e-4)
    return x, np.linalg.norm(towards(x, target), axis=1) < _NEAR


def __dir__() -> list[str]:
    return __all__
