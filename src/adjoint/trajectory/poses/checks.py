"""Checks of poses, points and times that people give to makers of motions in space."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import floats, vectors
from ...model.rigidity import corrected

__all__ = ["poses_of", "vectors_of"]


def poses_of(value, label: str, core: int = 2) -> np.ndarray:
    """Rigid motions (..., 4, 4), made exact; `core` = 3 asks for a row of them, (..., N, 4, 4).

    An `ArgumentError` names `label` and the first matrix that has NaN, mirrors, or is otherwise no rigid motion.
    """
    T = floats(value)
    needed = "(..., 4, 4)" if core == 2 else "(..., N, 4, 4)"
    if T.ndim < core or T.shape[-2:] != (4, 4):
        raise ArgumentError(f"{label} must be poses of shape {needed}, got {_shown(value, T)}")
    bad = ~np.isfinite(T).all(axis=(-2, -1))
    if bad.any():
        place = ", ".join(str(k[0]) for k in np.nonzero(bad)) if bad.ndim else ""
        raise ArgumentError(f"{label}{f'[{place}]' if place else ''} contains NaN or infinity")
    return corrected(T, label)


def _shown(value, T: np.ndarray) -> str:
    return f"{value!r:.60}" if T.ndim == 0 else f"shape {T.shape}"


def vectors_of(value, label: str, caller: str) -> np.ndarray:
    """Finite vectors (..., 3), or an `ArgumentError` that names `label`."""
    found = vectors(value, 3, label, caller)
    if not np.isfinite(found).all():
        raise ArgumentError(f"{caller}: {label} contains NaN or infinity")
    return found
