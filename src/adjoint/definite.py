"""Symmetric matrices, and linear equations with positive definite ones, for one sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

__all__ = ["Factors", "factored", "positive_solve", "symmetric"]


class Factors(NamedTuple):
    """What Cholesky's factors A = L Lᵀ are for: functions of vectors b (n,) and matrices (n, k)."""

    solve: Callable  # b -> A⁻¹ b
    half: Callable  # b -> L⁻¹ b, so that half(b) · half(b) = b · solve(b)


def factored(A) -> Factors:
    """The `Factors` of A (n, n), which is read below its diagonal only.

    Entries that are zero whatever the sample stay zero in L, as far as the order of the rows allows, and cost nothing.
    """
    n = len(A)
    L, inverse = [[0.0] * n for _ in range(n)], []
    for j in range(n):
        inverse.append(1 / np.sqrt(A[j, j] - sum(L[j][k] * L[j][k] for k in range(j))))
        for i in range(j + 1, n):
            L[i][j] = (A[i, j] - sum(L[i][k] * L[j][k] for k in range(j))) * inverse[j]

    def forward(b) -> list:
        y: list = []
        for i in range(n):
            y.append((b[i] - sum(L[i][k] * y[k] for k in range(i))) * inverse[i])
        return y

    def solve(b):
        y, x = forward(b), list(b)
        for i in reversed(range(n)):
            x[i] = (y[i] - sum(L[k][i] * x[k] for k in range(i + 1, n))) * inverse[i]
        return np.stack(x)

    return Factors(solve, lambda b: np.stack(forward(b)))


def positive_solve(A, b) -> np.ndarray:
    """The solution x of A x = b."""
    return factored(A).solve(b)


def symmetric(A) -> np.ndarray:
    """The symmetric matrix with the entries of A (n, n) below the diagonal; a kernel does not compute those above."""
    n = len(A)
    return np.stack([np.stack([A[max(i, j), min(i, j)] for j in range(n)]) for i in range(n)])
