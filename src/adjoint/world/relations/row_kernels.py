"""One equation between two parts as a row of numbers, its exact slope, and Levenberg-Marquardt's descent over rows.

All relations are made of one form. With the directions u = R_i a and w = R_j b and the points x = R_i P + p_i and
y = R_j Q + p_j of the parts i and j, and Δ = x - y, a row says

    s₀ u·w + s₁ w·Δ + s₂ Δ·Δ + s₃ (w·Δ)² = c,      or <= c.

So one kernel serves every set of relations: rows are an input of any length. A pose (12,) is [R p] row by row; part 0
is the world. Small motions are ω (3,) about the origin of a part and v (3,) of its origin, along the world's axes:
R ← exp(ω) R, p ← p + v.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import kernel, row_at, scan, static, while_loop
from ...definite import positive_solve
from ...lie.so3 import exp as rotation_by

__all__ = ["Lane", "Size", "descend", "moved", "row_slopes"]

WIDTH = 21  # i, j, inequality, weight, s (4), a, b, P, Q (3 each), c
_WORLD = np.eye(3, 4).reshape(12)
_DAMPING, _LESS, _MORE = 0.1, 0.2, 4.0  # λ of the first step, and its factors after steps that help and that do not
_LEAST, _MOST = 1e-14, 1e8


class Size(NamedTuple):
    """What the machine code of a descent depends on: how many parts there are."""

    parts: int

    @property
    def fingerprint(self) -> str:
        """What stands for it in the names of files with machine code."""
        return f"relations of {self.parts} parts"

    @property
    def poses(self) -> int:
        """How many numbers their poses have."""
        return 12 * self.parts

    @property
    def moves(self) -> int:
        """How many numbers their small motions have."""
        return 6 * self.parts


class Slopes(NamedTuple):
    """A row's residual, without its weight, and its derivatives (6,) by the small motions (ω, v) of both parts."""

    residual: np.ndarray
    first: np.ndarray
    second: np.ndarray


class Lane(NamedTuple):
    """Where a descent ended: poses (12 n,), the sum of squares, and its iterations."""

    poses: np.ndarray
    cost: np.ndarray
    iterations: np.ndarray


@kernel(row=WIDTH, pose_i=12, pose_j=12)
def row_slopes(row, pose_i, pose_j) -> Slopes:
    """The `Slopes` of one row between parts with these poses; those of an inequality that holds with room are 0."""
    M, N = pose_i.reshape(3, 4), pose_j.reshape(3, 4)
    s, c = row[4:8], row[20]
    u, w = M[:, :3] @ row[8:11], N[:, :3] @ row[11:14]
    x, y = M[:, :3] @ row[14:17], N[:, :3] @ row[17:20]
    gap = x + M[:, 3] - y - N[:, 3]
    along = w @ gap
    value = s[0] * (u @ w) + s[1] * along + s[2] * (gap @ gap) + s[3] * along * along - c
    bend = s[1] + 2 * s[3] * along
    by_gap = bend * w + 2 * s[2] * gap
    first = np.concatenate([s[0] * np.cross(u, w) + np.cross(x, by_gap), by_gap])
    by_w = s[0] * u + bend * gap
    second = np.concatenate([np.cross(w, by_w) - np.cross(y, by_gap), -by_gap])
    holds = (row[2] > 0) & (value < 0)
    return Slopes(np.where(holds, 0.0, value), np.where(holds, 0.0, first), np.where(holds, 0.0, second))


def _normal(poses, rows, n: int):
    """Jᵀ J (6 n, 6 n) below its diagonal, Jᵀ r (6 n,) and |r|² over all rows, with their weights."""
    table = np.concatenate([_WORLD, poses]).reshape(n + 1, 12)
    size = 6 * n
    below = [(i, j) for i in range(size) for j in range(i + 1)]

    def step(carry, row):
        A, g, cost = carry
        found = row_slopes(row, row_at(table, row[0]), row_at(table, row[1]))
        pieces = []
        for k in range(1, n + 1):
            first, second = np.where(row[0] == k, row[3], 0.0), np.where(row[1] == k, row[3], 0.0)
            pieces.append(first * found.first + second * found.second)
        J, r = np.concatenate(pieces), row[3] * found.residual
        return (A + np.stack([J[i] * J[j] for i, j in below]), g + r * J, cost + r * r), None

    A, g, cost = scan(step, (np.zeros(len(below)), np.zeros(size), 0.0), rows)[0]
    # The entries above the diagonal are never read.
    whole = [[A[i * (i + 1) // 2 + j] if j <= i else 0.0 for j in range(size)] for i in range(size)]
    return np.stack([np.stack(row) for row in whole]), g, cost


def _ahead(poses, move, n: int):
    """The poses after small motions (6 n,)."""
    pieces = []
    for k in range(n):
        T, step = poses[12 * k : 12 * k + 12].reshape(3, 4), move[6 * k : 6 * k + 6]
        R = rotation_by(step[:3]) @ T[:, :3]
        # One step of Newton's iteration for the nearest rotation keeps rounding errors from adding up.
        R = 1.5 * R - 0.5 * R @ R.T @ R
        pieces.append(np.concatenate([R, (T[:, 3] + step[3:])[:, None]], axis=1).reshape(12))
    return np.concatenate(pieces)


@kernel(size=static, poses="poses", rows=(..., WIDTH))
def descend(size: Size, poses, rows, most, enough) -> Lane:
    """Levenberg-Marquardt's descent on |r|² from poses (12 n,), one lane per start.

    It ends when |r|² is at most `enough`, after `most` iterations, or when no step helps. The damping falls with |r|²,
    so that the last steps are Newton's, also where the relations leave freedoms.
    """
    n = size.parts

    def step(carry):
        at, trial, move, cost, damping, k = carry
        A, g, found = _normal(trial, rows, n)
        better = found < cost
        damping = np.where(better, np.maximum(np.minimum(damping * _LESS, found), _LEAST), damping * _MORE)
        step_ahead = -positive_solve(A + damping * np.eye(6 * n), g)
        # A turn of more than a radian says little, since the slopes are those of small turns.
        turns = step_ahead.reshape(n, 6)[:, :3]
        step_ahead = step_ahead / np.maximum(np.sqrt((turns * turns).sum() / n), 1.0)
        # A step that does not help is shortened.
        move = np.where(better, step_ahead, move / _MORE)
        at, cost = np.where(better, trial, at), np.where(better, found, cost)
        return at, _ahead(at, move, n), move, cost, damping, k + 1

    def goes_on(carry):
        *_, cost, damping, k = carry
        return (cost > enough) & (damping < _MOST) & (k <= most)

    first = (poses, poses, np.zeros(6 * n), np.inf, _DAMPING / _LESS, 0.0)
    at, _, _, cost, _, k = while_loop(goes_on, step, first, max_iterations=10_000)
    return Lane(at, cost, k)


@kernel(size=static, poses="poses", move="moves")
def moved(size: Size, poses, move) -> np.ndarray:
    """Poses (12 n,) after small motions (6 n,)."""
    return _ahead(poses, move, size.parts)


def __dir__() -> list[str]:
    return __all__
