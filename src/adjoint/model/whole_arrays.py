"""Rigid motions of many bodies at once, in plain NumPy: loading a model must not wait for kernels to be compiled."""

from __future__ import annotations

import numpy as np

__all__ = ["adjoint_actions", "inverses", "moved_inertias"]


def inverses(T: np.ndarray) -> np.ndarray:
    """Return the inverses T⁻¹ (n, 4, 4) of motions T (n, 4, 4)."""
    found = np.zeros_like(T)
    found[:, :3, :3] = T[:, :3, :3].swapaxes(1, 2)
    found[:, :3, 3:] = -found[:, :3, :3] @ T[:, :3, 3:]
    found[:, 3, 3] = 1
    return found


def adjoint_actions(T: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return Ad(T) V (n, 6) of motions T (n, 4, 4) and twists V (n, 6)."""
    R, p = T[:, :3, :3], T[:, :3, 3]
    w, v = (np.einsum("nij,nj->ni", R, part) for part in (V[:, :3], V[:, 3:]))
    return np.concatenate([w, v + np.cross(p, w)], axis=1)


_FULL = np.array([4, 5, 6, 5, 7, 8, 6, 8, 9])  # where the 9 entries of the matrix I are among the ten numbers
_UPPER = np.array([0, 1, 2, 4, 5, 8])  # where the upper triangle of I is among its 9 entries
_DIAGONAL = slice(0, 9, 4)  # where the diagonal of I is among its 9 entries


def moved_inertias(T: np.ndarray, inertias: np.ndarray) -> np.ndarray:
    """Return inertias (n, 10), which are given in frames b, in frames a; T = T_ab (n, 4, 4).

    The formula is that of `lie.inertia.transform`.
    """
    R, p, m = T[:, :3, :3], T[:, :3, 3], inertias[:, :1]
    h = (R @ inertias[:, 1:4, None])[:, :, 0]
    pu = p[:, :, None] * (h + 0.5 * m * p)[:, None, :]
    shift = pu + pu.mT
    I = (R @ inertias.take(_FULL, axis=1).reshape(-1, 3, 3) @ R.mT).reshape(-1, 9)
    I[:, _DIAGONAL] += shift.reshape(-1, 9)[:, _DIAGONAL].sum(axis=1, keepdims=True)
    return np.concatenate([m, h + m * p, (I - shift.reshape(-1, 9)).take(_UPPER, axis=1)], axis=1)
