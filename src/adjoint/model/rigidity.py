"""Matrices that should be rotations or rigid motions: nearly rigid ones are corrected, others are refused."""

from __future__ import annotations

import numpy as np

from ..compile import kernel
from ..errors import ArgumentError
from .input_checks import nearest_motions

__all__ = ["EXACT", "corrected", "off_motion", "off_rotation"]

EXACT = 1e-12
"""A matrix that is this near to a rigid motion is taken as it is."""


@kernel(R=(3, 3))
def off_rotation(R) -> np.ndarray:
    """How far a matrix is from a rotation: max |R Rᵀ - 1|, and 1 more if it mirrors."""
    return np.max(np.abs(R @ R.T - np.eye(3))) + np.where(np.linalg.det(R) > 0, 0.0, 1.0)


@kernel(T=(4, 4))
def off_motion(T) -> np.ndarray:
    """How far a matrix is from a rigid motion [R p; 0 1]."""
    return off_rotation(T[:3, :3]) + np.max(np.abs(T[3] - np.array([0.0, 0.0, 0.0, 1.0])))


def corrected(T: np.ndarray, label: str) -> np.ndarray:
    """Motions T (..., 4, 4) or rotations (..., 3, 3), made exact by `nearest_motions`; samples with NaN stay.

    An `ArgumentError` names the first sample that is not even nearly rigid; `label` is the argument's name.
    """
    n = T.shape[-1]
    rows = np.tile(np.eye(4), (T[..., 0, 0].size, 1, 1))
    rows[:, :n, :n] = T.reshape(-1, n, n)
    known = np.isfinite(rows).all(axis=(1, 2))
    fixed, bad = nearest_motions(rows[known])
    if bad is not None:
        place = np.unravel_index(np.flatnonzero(known)[bad], T.shape[:-2])
        which = f"[{', '.join(map(str, place))}]" if place else ""
        what, group = ("rigid motion [R p; 0 1]", "se3") if n == 4 else ("rotation R", "so3")
        raise ArgumentError(
            f"{label}{which} is not a {what} with R Rᵀ = 1, det R = 1; it differs by {off_motion(fixed[bad]):.2g} "
            f"(`adjoint.lie.{group}.project` gives the nearest one)"
        )
    rows[known] = fixed
    return rows[:, :n, :n].reshape(T.shape)
