"""Checks of what users give to cameras: intrinsic matrices, sizes, distortions, poses, points and pixels."""

from __future__ import annotations

import operator

import numpy as np

from ...compile.front.arguments import as_input
from ...errors import ArgumentError
from ...model.input_checks import nearest_motions

__all__ = ["distortion_of", "finite", "finite_rows", "image_size", "intrinsics", "motion", "points_of"]

_COEFFICIENTS = (0, 4, 5, 8)


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


def image_size(size, caller: str) -> tuple[int, int]:
    """The size (columns, rows) of an image as two positive whole numbers, or an `ArgumentError`."""
    try:
        columns, rows = (operator.index(n) for n in size)
    except (TypeError, ValueError):
        columns = rows = 0
    if columns < 1 or rows < 1:
        raise ArgumentError(f"{caller}: 'size' is {size!r:.60}; it must be (columns, rows), two positive whole numbers")
    return columns, rows


def intrinsics(matrix, caller: str) -> np.ndarray:
    """The intrinsic matrix K (3, 3), or an `ArgumentError` that says what K looks like."""
    K = finite(matrix, (3, 3), "matrix", caller)
    if np.any(K[[1, 2, 2], [0, 0, 1]] != 0) or K[2, 2] != 1 or K[0, 0] == 0 or K[1, 1] == 0:
        raise ArgumentError(
            f"{caller}: 'matrix' must be [[fx, s, cx], [0, fy, cy], [0, 0, 1]] in pixels, with fx and fy not 0; "
            f"got {K.tolist()}"
        )
    return K


def distortion_of(values, caller: str) -> np.ndarray:
    """OpenCV's coefficients k1 k2 p1 p2 k3 k4 k5 k6 (8,), filled with zeros, or an `ArgumentError`."""
    found = np.array(as_input(() if values is None else values, "distortion", caller), dtype=float)
    found = found.reshape(-1) if found.ndim == 2 and 1 in found.shape else found  # OpenCV gives (1, n) or (n, 1)
    if found.ndim != 1 or len(found) not in _COEFFICIENTS:
        raise ArgumentError(
            f"{caller}: 'distortion' has shape {found.shape}; OpenCV's k1 k2 p1 p2 [k3 [k4 k5 k6]] are needed: "
            "0, 4, 5 or 8 numbers"
        )
    if not np.isfinite(found).all():
        raise ArgumentError(f"{caller}: 'distortion' contains NaN or infinity")
    return np.concatenate([found, np.zeros(8 - len(found))])
