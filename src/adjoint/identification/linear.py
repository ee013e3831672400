"""Least squares for matrices with many rows, of which only the triangular factor is kept."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["least_squares", "triangle"]


def triangle(A: np.ndarray) -> np.ndarray:
    """The upper triangular R (..., k, k) with RᵀR = AᵀA, for A (..., n, k) with many rows.

    The rows are factored by QR in blocks of 2k, then the triangles of these blocks are, and so on. Blocks of this size
    stay in the cache, and are too small for BLAS to start threads, which wait for each other on a busy machine.
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
    """R (k, k) and Z, (k,) or (k, m): the X that minimises |A X - B| solves R X = Z.

    A (n, k) has full rank, and B is (n,) or (n, m).
    """
    k = A.shape[1]
    both = triangle(np.column_stack([A, B]))
    return both[:k, :k], both[:k, k] if B.ndim == 1 else both[:k, k:]
