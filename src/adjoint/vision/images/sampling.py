"""Sampling and quantization: from colours to gray levels, from many pixels and levels to few, and what they cost.

Fu, Gonzalez & Lee (1987), §7.2. Their f(x, y) has x down and y to the right: f[x, y] of NumPy.
"""

from __future__ import annotations

import operator

import numpy as np

from ...errors import ArgumentError
from ..image_checks import colour, gray, maybe_opencv
from .levels import LEVELS_OF, as_levels, map_levels

__all__ = ["gray_levels", "image_bits", "requantise", "subsample"]

_WEIGHTS = (0.299, 0.587, 0.114)
_CONVERTED = (np.uint8, np.uint16, np.float32)  # dtypes of colours that OpenCV converts


def gray_levels(image, weights: tuple[float, float, float] = _WEIGHTS) -> np.ndarray:
    """The gray levels (rows, columns) of a colour image (rows, columns, 3), with its dtype.

    They are the weighted sum 0.299 red + 0.587 green + 0.114 blue (ITU-R BT.601, as in OpenCV), or one with other
    `weights`. Whole numbers are rounded; truth values and whole numbers of 32 or 64 bits become float64. Without
    OpenCV, levels may differ by one (8 bits) or two (16 bits), since OpenCV rounds its weights.

        >>> gray_levels(np.full((2, 2, 3), (255, 0, 0), np.uint8))
        array([[76, 76],
               [76, 76]], dtype=uint8)
    """
    f = colour(image, "gray_levels")
    cv2 = maybe_opencv()
    if cv2 is not None and weights is _WEIGHTS and f.dtype.type in _CONVERTED:
        return cv2.cvtColor(f, cv2.COLOR_RGB2GRAY)
    w = np.asarray(weights, float)
    if w.shape != (3,) or not np.isfinite(w).all():
        raise ArgumentError(
            f"gray_levels: weights is {weights!r:.60}; it must be three numbers, of red, green and blue"
        )
    if f.dtype.type not in (np.uint8, np.uint16, np.float32, np.float64):
        f = f.astype(float)
    if cv2 is not None:
        return cv2.transform(f, w[None])
    g = f @ w.astype(np.result_type(f.dtype, np.float32))
    if f.dtype.kind == "f":
        return g
    return np.clip(np.floor(g + 0.5), 0, LEVELS_OF[f.dtype.type] - 1).astype(f.dtype)


def image_bits(rows: int, columns: int, levels: int = 256) -> int:
    """The number of bits that an image takes, rows · columns · log₂(levels), with whole bits for each pixel.

        >>> image_bits(512, 512, 256)
        2097152

    Fu, Gonzalez & Lee (1987), §7.2.
    """
    try:
        n, m, g = operator.index(rows), operator.index(columns), operator.index(levels)
    except TypeError:
        n = m = g = 0
    if min(n, m, g) < 1:
        raise ArgumentError(
            f"image_bits: rows, columns, levels are {rows!r}, {columns!r}, {levels!r}; they must be positive and whole"
        )
    return n * m * (g - 1).bit_length()


def subsample(image, step: int | tuple[int, int]) -> np.ndarray:
    """Every `step`-th pixel of an image (rows, columns[, channels]), as a view; `step` may be (rows, columns).

    Nothing is smoothed first: details finer than two steps appear as others (aliasing). `mean_filter` before helps.

        >>> subsample(np.arange(16).reshape(4, 4), 2)
        array([[ 0,  2],
               [ 8, 10]])
    """
    f = colour(image, "subsample") if np.ndim(image) == 3 else gray(image, "subsample")
    try:
        down, right = map(operator.index, step if isinstance(step, (tuple, list)) else (step, step))
    except (TypeError, ValueError):
        down = right = 0
    if min(down, right) < 1:
        raise ArgumentError(f"subsample: step is {step!r:.60}; it must be a positive whole number, or two")
    return f[::down, ::right]


def requantise(image, levels: int, *, of: int | None = None, spread: bool = True) -> np.ndarray:
    """The image with fewer gray levels: k = ⌊f · levels / of⌋, spread over the old range again.

    `of` is the number of levels that the image has now: 256 and 65536 for 8 and 16 bits unless told otherwise; floats
    are between 0 and 1. With `spread=False` the result is k itself, 0 to levels - 1; else k (of - 1) / (levels - 1).

        >>> requantise(np.array([[0, 100, 200, 255]], np.uint8), 4)
        array([[  0,  85, 255, 255]], dtype=uint8)

    Fu, Gonzalez & Lee (1987), §7.2.
    """
    try:
        few = operator.index(levels)
    except TypeError:
        few = 0
    if not 2 <= few <= 65536:
        raise ArgumentError(f"requantise: levels is {levels!r:.60}; it must be a whole number from 2 to 65536")
    f = gray(image, "requantise")
    if f.dtype.kind == "f":
        k = as_levels(f, few, "requantise")[0]
        return (k / np.float64(few - 1)).astype(f.dtype) if spread else k
    index, L = as_levels(f, of, "requantise")
    table = np.arange(L) * few // L
    if spread:
        table = (2 * table * (L - 1) + few - 1) // (2 * (few - 1))  # rounded, in whole numbers
    return map_levels(index, table.astype(f.dtype if f.dtype != np.bool_ else np.uint8))
