"""Linear equations with symmetric positive definite matrices, for one sample."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["factored", "positive_solve"]


def factored(A) -> Callable:
    """The function b -> x with A x = b, for vectors b (n,) and matrices (n, k), by Cholesky's factors A = L Lᵀ.

    A (n, n) is read below its diagonal only. Entries that are zero whatever the sample stay zero in L, as far as the
    order of the rows allows, and cost nothing.
    """
    n = len(A)
    L, inverse = [[0.0] * n for _ in range(n)], []
    for j in range(n):
        inverse.append(1 / np.sqrt(A[j, j] - sum(L[j][k] * L[j][k] for k in range(j))))
        for i in range(j + 1, n):
            L[i][j] = (A[i, j] - sum(L[i][k] * L[j][k] for k in range(j))) * inverse[j]

    def solve(b):
        y, x = [], [None] * n
        for i in range(n):
            y.append((b[i] - sum(L[i][k] * y[k] for k in range(i))) * inverse[i])
        for i in reversed(range(n)):
            x[i] = (y[i] - sum(L[k][i] * x[k] for k in range(i + 1, n))) * inverse[i]
        return np.stack(x)  # type: ignore[arg-type]

    return solve


def positive_solve(A, b) -> np.ndarray:
    """The solution x of A x = b; see `factored`."""
    return factored(A)(b)
