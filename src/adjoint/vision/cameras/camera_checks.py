"""Checks of what users give to cameras: poses, points and pixels."""

from __future__ import annotations

import numpy as np

from ...compile.front.arguments import as_input
from ...errors import ArgumentError
from ...model.input_checks import nearest_motions

__all__ = ["finite", "finite_rows", "motion", "points_of"]


def points_of(value, size: int, name: str, caller: str) -> np.ndarray:
    """The value as an array (..., size) of floats, which may hold NaN, or an `ArgumentError`."""
    found = np.asarray(as_input(value, name, caller), dtype=float)
    if found.shape[-1:] != (size,):
        raise ArgumentError(f"{caller}: '{name}' has shape {found.shape}; (..., {size}) is needed")
    return found


def finite_rows(x: np.ndarray) -> np.ndarray:
    """Which rows (...) of an array (..., n) are finite."""
    return np.asarray(np.isfinite(x).all(axis=-1))


def finite(value, shape: tuple[int, ...], name: str, caller: str) -> np.ndarray:
    """The value as finite floats of this shape, or an `ArgumentError`."""
    found = np.array(as_input(value, name, caller), dtype=float)
    if found.shape != shape:
        raise ArgumentError(f"{caller}: '{name}' has shape {found.shape}; {shape} is needed")
    if not np.isfinite(found).all():
        raise ArgumentError(f"{caller}: '{name}' contains NaN or infinity")
    return found


def motion(value, name: str, caller: str) -> np.ndarray:
    """The value as a rigid motion (4, 4), made exact if it has few digits, or an `ArgumentError`."""
    T, bad = nearest_motions(finite(value, (4, 4), name, caller)[None])
    if bad is not None:
        raise ArgumentError(f"{caller}: '{name}' is not a rigid motion [R p; 0 1] with R Rᵀ = 1, det R = 1")
    return T[0]
