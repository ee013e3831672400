"""Thresholds that are given: one for all pixels, one for each pixel, several at once, and the mean around a pixel.

Fu, Gonzalez & Lee (1987), §7.6.5 and (8.2-9), (8.2-10). Where thresholds come from is in the files `thresholds_*`.
"""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ..image_checks import gray
from ..images.options import finite_number
from ..images.smoothing import mean_filter

__all__ = ["local_threshold", "threshold", "threshold_bands"]


def threshold(image, level, *, objects: str = "light") -> np.ndarray:
    """The binary image g, (rows, columns) bool: True where f > T. With `objects="dark"` it is True where f <= T.

    `level` is one number T (a global threshold), or one for each pixel, (rows, columns), as `local_threshold` and
    `dynamic_threshold` give them. A pixel that is NaN belongs to no object.

        >>> threshold(np.array([[10, 90, 91]], np.uint8), 90)
        array([[False, False,  True]])

    Fu, Gonzalez & Lee (1987), (7.6-48) and (8.2-10).
    """
    f = gray(image, "threshold")
    if np.ndim(level):
        T = np.asarray(level)
        if T.shape != f.shape or T.dtype.kind not in "buif":
            raise ArgumentError(
                f"threshold: level has shape {T.shape}; one number, or {f.shape} as the image, is needed"
            )
    else:
        T = finite_number(level, "level", "threshold")
        if f.dtype.kind in "iub":
            T = int(np.floor(T))  # f > T for whole numbers, which are compared faster
            f = f.view(np.uint8) if f.dtype == np.bool_ else f
    if objects not in ("light", "dark"):
        raise ArgumentError(f"threshold: objects is {objects!r:.60}; it must be 'light' or 'dark'")
    with np.errstate(over="ignore"):  # a threshold beyond the range of float16 is infinite there
        return f > T if objects == "light" else f <= T


def threshold_bands(image, levels) -> np.ndarray:
    """The band of each pixel, (rows, columns) uint8: how many of the thresholds T₁ < T₂ < ... are below its level.

    Band 0 is f <= T₁, band 1 is T₁ < f <= T₂, and so on. `levels` are up to 255 thresholds (k,).

        >>> threshold_bands(np.array([[10, 50, 51, 200]], np.uint8), [50, 100])
        array([[0, 0, 1, 2]], dtype=uint8)

    Fu, Gonzalez & Lee (1987), §7.6.5.
    """
    f = gray(image, "threshold_bands")
    T = np.asarray(levels)
    if T.ndim != 1 or not 0 < T.size < 256 or T.dtype.kind not in "iuf" or not (np.diff(T) > 0).all():
        raise ArgumentError(f"threshold_bands: levels is {levels!r:.80}; it must be 1 to 255 numbers that grow")
    found = np.zeros(f.shape, np.uint8)
    for t in T:
        found += threshold(f, t).view(np.uint8)
    return found


def local_threshold(image, size: int | tuple[int, int] = 15, *, factor: float = 1.0, offset: float = 0.0) -> np.ndarray:
    """A threshold for each pixel from the mean m around it: T = factor · m + offset, (rows, columns) float.

    `size` is that of the window, odd. With an offset above the noise, flat areas belong to the background.

        >>> f = np.array([[9, 9, 12, 9, 9]], np.uint8)
        >>> threshold(f, local_threshold(f, 3, offset=1))
        array([[False, False,  True, False, False]])

    It wraps `cv2.blur`. Fu, Gonzalez & Lee (1987), (8.2-9), with the mean as the local property p(x, y).
    """
    a, b = (finite_number(x, name, "local_threshold") for x, name in ((factor, "factor"), (offset, "offset")))
    f = gray(image, "local_threshold")
    small = f.dtype.itemsize <= 2 or f.dtype == np.float32
    m = mean_filter(f.astype(np.float32 if small else np.float64, copy=False), size)
    return a * m + b
