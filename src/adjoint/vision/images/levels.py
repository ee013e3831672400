"""Gray levels as whole numbers 0 to L - 1, for images of any dtype; maps s = T(r) of levels, and counts of them."""

from __future__ import annotations

import operator

import numpy as np

from ...errors import ArgumentError
from ..image_checks import gray, maybe_opencv

__all__ = ["LEVELS_OF", "as_levels", "counts_of", "map_levels"]

LEVELS_OF = {np.bool_: 2, np.uint8: 256, np.uint16: 65536}
"""How many levels an image of a dtype has."""

_MOST = 2**24
_EXACT = 2**24  # OpenCV counts in float32, which holds whole numbers up to here


def as_levels(image: np.ndarray, levels, caller: str) -> tuple[np.ndarray, int]:
    """The levels of an image as whole numbers 0 to L - 1 (uint8 or uint16 if they fit), and L.

    Truth values, 8 and 16 bits are their own levels. Floats lie between 0 and 1; level k has k/L <= r < (k + 1)/L, and
    1 belongs to the last one; `levels` is 256 if it is None. Other whole numbers need `levels`.
    """
    kind = image.dtype.type
    most = LEVELS_OF.get(kind)
    L = _level_count(levels, most or (256 if image.dtype.kind == "f" else None), image.dtype, caller)
    if most is not None:
        index = image.view(np.uint8) if kind is np.bool_ else image
        if most > L and index.max() >= L:
            raise ArgumentError(
                f"{caller}: the image has level {index.max()}, but levels={L}, so 0 to {L - 1} are possible"
            )
        return index, L
    low, high = image.min(), image.max()
    whole = image.dtype.kind != "f"
    if not (low >= 0 and high <= (L - 1 if whole else 1)):
        what = f"whole numbers from 0 to {L - 1}, as levels={L} says" if whole else "numbers from 0 to 1, and no NaN"
        raise ArgumentError(f"{caller}: the image has values from {low} to {high}; it must have {what}")
    small = np.uint8 if L <= 256 else np.uint16 if L <= 65536 else np.int64
    if whole:
        return image.astype(small), L
    scale = np.float64(L) if kind is np.float64 else np.float32(L)  # float16 ends at 65504
    return np.minimum(image * scale, L - 1).astype(small), L


def _level_count(levels, usual: int | None, dtype, caller: str) -> int:
    if levels is None:
        if usual is None:
            raise ArgumentError(
                f"{caller}: an image of {dtype} may have any number of levels; say how many, as in levels=256"
            )
        return usual
    try:
        found = operator.index(levels)
    except TypeError:
        found = 0
    if not 2 <= found <= _MOST:
        raise ArgumentError(f"{caller}: levels is {levels!r:.60}; it must be a whole number from 2 to {_MOST}")
    return found


def counts_of(index: np.ndarray, L: int) -> np.ndarray:
    """How often each of L levels occurs, (L,) int64."""
    cv2 = maybe_opencv() if index.dtype.itemsize == 1 or (index.dtype == np.uint16 and index.size > 2**17) else None
    if cv2 is None:
        return np.bincount(index.ravel(), minlength=L)
    rows = max(1, _EXACT // index.shape[1])
    if index.shape[0] <= rows:
        return cv2.calcHist([index], [0], None, [L], [0, L]).ravel().astype(np.int64)
    parts = (index[k : k + rows] for k in range(0, index.shape[0], rows))
    return sum(counts_of(part, L) for part in parts)  # type: ignore[return-value]


def map_levels(image, table) -> np.ndarray:
    """The image g = T(f), whose level at each pixel is looked up in a table (L,) of levels: `table[image]`.

    The image has whole numbers 0 to L - 1; the result has the dtype of the table.

        >>> negative = map_levels(np.array([[0, 1, 255]], np.uint8), np.arange(255, -1, -1).astype(np.uint8))

    Fu, Gonzalez & Lee (1987), (7.6-2), where the text below the equation swaps r and s: r is the level of f.
    """
    f = gray(image, "map_levels")
    T = np.asarray(table)
    if T.ndim != 1 or not T.size or f.dtype.kind not in "bui":
        raise ArgumentError(
            f"map_levels: an image of whole numbers and a table (L,) are needed, got {f.dtype} and shape {T.shape}"
        )
    if f.dtype == np.uint8 and T.size == 256:
        cv2 = maybe_opencv()
        if cv2 is not None and T.dtype.type in (np.uint8, np.uint16, np.int16, np.float32, np.float64):
            return cv2.LUT(f, T)
        return T[f]
    index = f.view(np.uint8) if f.dtype == np.bool_ else f
    low, high = index.min(), index.max()
    if low < 0 or high >= T.size:
        raise ArgumentError(
            f"map_levels: the image has levels {low} to {high}, but the table has entries for 0 to {T.size - 1}"
        )
    return np.take(T, index)
