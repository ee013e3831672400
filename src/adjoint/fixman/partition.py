"""Fixman's theorem: the mass matrix of soft coordinates alone, from masses that are free.

N coordinates q = (s, h) describe masses that are free, with velocities ξ̇ (N,) and the mass matrix 𝓘 (N, N). The soft
coordinates s can move; the hard coordinates h, such as bond lengths, are held by constraints. The matrix

    H = G⁻¹ = ∂q/∂ξ 𝓘⁻¹ (∂q/∂ξ)ᵀ = [H_11 H_12; H_12ᵀ H_22]                    (4), (20)

is sparse if each coordinate involves few masses. With the hard coordinates held, the mass matrix M is G_11, and

    M⁻¹ = H_11 - H_12 H_22⁻¹ H_12ᵀ,   det M = det G det H_22.                  (6), Fixman's theorem

M⁻¹ b never needs M: c = H_12ᵀ b, H_22 d = c, x = H_11 b - H_12 d, (7). The forces b would accelerate the hard
coordinates of free masses by c. The constraints push with -d, which stops them: H_12ᵀ b + H_22 (-d) = 0.

Equation numbers are those of LWC = Lee, Wang & Chirikjian (2007), "O(n) mass matrix inversion for serial manipulators
and polypeptide chains using Lie derivatives", Robotica 25(6), after Fixman (1974), PNAS 71(8).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError

__all__ = [
    "Blocks",
    "Partition",
    "block_diagonal",
    "blocks",
    "blocks_at",
    "constrained_mass_matrix",
    "logdet",
    "soft_mask",
    "solve",
]


class Partition(NamedTuple):
    """A system of free masses with f soft and r hard coordinates, N = f + r, as SciPy sparse arrays.

    `soft` is ∂s/∂ξ (f, N), `hard` is ∂h/∂ξ (r, N), `inverse_masses` is 𝓘⁻¹ (N, N), and `logdet_G` is the number
    log det G. The module `fixman.partition` explains the symbols.
    """

    soft: Any
    hard: Any
    inverse_masses: Any
    logdet_G: float


class Blocks(NamedTuple):
    """The blocks H_11 (f, f), H_12 (f, r), H_22 (r, r) of H for f soft, r hard coordinates, as SciPy sparse arrays."""

    H11: Any
    H12: Any
    H22: Any


def blocks(partition: Partition) -> Blocks:
    """Return the `Blocks` of H, as products of sparse matrices; Lee, Wang & Chirikjian (2007), (8)."""
    s, h, W = partition.soft, partition.hard, partition.inverse_masses
    sW, hW = s @ W, h @ W
    return Blocks(sW @ s.T, sW @ h.T, hW @ h.T)


def solve(partition: Partition, b) -> np.ndarray:
    """Return x = M⁻¹ b (f,), or (f, k) for b with k columns, from H_22 d = H_12ᵀ b and x = H_11 b - H_12 d.

    The cost is O(n) for chains, and for trees whose bodies have few children: H_22 couples all joints on a body.

        x = solve(planar_partition(angles, lengths, masses), torques)

    Lee, Wang & Chirikjian (2007), (7).
    """
    H11, H12, H22 = blocks(partition)
    if not H22.shape[0]:
        return H11 @ b
    d = _factored(H22).solve(H12.T @ b)
    return H11 @ b - H12 @ d


def logdet(partition: Partition) -> float:
    """Return log det M = log det G + log det H_22; Fixman (1974), and Lee, Wang & Chirikjian (2007), (6)."""
    H22 = blocks(partition).H22
    if not H22.shape[0]:
        return partition.logdet_G
    return partition.logdet_G + float(np.sum(np.log(_factored(H22).U.diagonal())))


def constrained_mass_matrix(partition: Partition) -> np.ndarray:
    """Return M = G_11 (f, f) as a dense matrix, from its definition (∂ξ/∂s)ᵀ 𝓘 ∂ξ/∂s.

    It costs O(n³) and is there to check the other functions with.
    """
    from scipy import sparse

    f, r = partition.soft.shape[0], partition.hard.shape[0]
    moves = sparse.vstack([partition.soft, partition.hard]).toarray()
    J = np.linalg.solve(moves, np.eye(f + r, f))
    return J.T @ np.linalg.solve(partition.inverse_masses.toarray(), J)


def soft_mask(soft, names: Sequence[str], n: int) -> np.ndarray:
    """Return which coordinates are soft (n, len(names)), from a mask of that shape, a name, or several names."""
    chosen = (soft,) if isinstance(soft, str) else soft
    if all(isinstance(name, str) for name in chosen):
        if unknown := set(chosen) - set(names):
            raise ArgumentError(f"no coordinate {', '.join(sorted(unknown))}; there are {', '.join(names)}")
        return np.tile([name in chosen for name in names], (n, 1))
    mask = np.asarray(soft)
    if mask.shape != (n, len(names)) or mask.dtype != bool:
        raise ArgumentError(
            f"soft must be names among {', '.join(names)}, or truth values ({n}, {len(names)}); "
            f"got {mask.dtype} of shape {mask.shape}"
        )
    return mask


def _factored(H22):
    """Return the factors H_22 = L U, with pivots on the diagonal and an order of elimination that leaves little fill.

    Pivots on the diagonal are safe because H_22 is positive definite.
    """
    from scipy.sparse.linalg import splu

    options = {"SymmetricMode": True}
    return splu(H22.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)


# --- matrices of 6x6 blocks -------------------------------------------------------------------------------------------


def block_diagonal(blocks: np.ndarray) -> Any:
    """Return the sparse matrix (6n, 6n) with blocks (n, 6, 6) on its diagonal."""
    each = np.arange(len(blocks))
    return blocks_at(each, each, blocks, len(blocks))


def blocks_at(rows: np.ndarray, columns: np.ndarray, blocks: np.ndarray, n: int) -> Any:
    """Return the sparse matrix (6n, 6n) with blocks (k, 6, 6) at the given places, which must all be different."""
    from scipy import sparse

    i = np.broadcast_to(6 * rows[:, None, None] + np.arange(6)[:, None], blocks.shape)
    j = np.broadcast_to(6 * columns[:, None, None] + np.arange(6), blocks.shape)
    return sparse.coo_array((blocks.ravel(), (i.ravel(), j.ravel())), shape=(6 * n, 6 * n)).tocsr()
