"""Least squares with many rows: only the triangular factor of a tall matrix is kept."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["least_squares", "triangle"]


def triangle(A: np.ndarray) -> np.ndarray:
    """R (..., k, k), upper triangular with RᵀR = AᵀA, of tall A (..., n, k).

    QR in blocks of 2k rows, then of their triangles, and so on: in cache, and below the size at which BLAS would start
    threads, which on a busy machine wait for each other.
    """
    *outer, n, k = A.shape
    A = A.reshape(math.prod(outer), n, k)
    while A.shape[1] > 2 * k > 0:
        spare = -A.shape[1] % (2 * k)
        blocks = np.pad(A, [(0, 0), (0, spare), (0, 0)]).reshape(-1, 2 * k, k)
        A = np.asarray(np.linalg.qr(blocks, mode="r")).reshape(len(A), -1, k)
    R = np.asarray(np.linalg.qr(A, mode="r"))
    return R.reshape(*outer, *R.shape[1:])


def least_squares(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R (k, k), Z: the X that makes A X - B least solves R X = Z; A (n, k) has full rank, B is (n,) or (n, m)."""
    k = A.shape[1]
    both = triangle(np.column_stack([A, B]))
    return both[:k, :k], both[:k, k] if B.ndim == 1 else both[:k, k:]
