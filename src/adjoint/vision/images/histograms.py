"""Histograms of gray levels: counts, equalization, and images with a specified histogram.

Fu, Gonzalez & Lee (1987), §7.6.3. All of this works for 8 and 16 bits, truth values, floats from 0 to 1 (with so many
`levels`), and other whole numbers, for which `levels` must be given.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...errors import ArgumentError
from ..image_checks import gray
from .levels import as_levels, counts_of, map_levels

__all__ = ["equalise_histogram", "histogram", "match_histogram", "specify_histogram"]


def histogram(image, levels: int | None = None) -> np.ndarray:
    """How often each gray level occurs, (L,) int64: n_k for k = 0 to L - 1. Divided by its sum it is p(r_k).

    L is 256 for 8 bits, 65536 for 16 bits, 2 for truth values. `levels` sets it for other whole numbers, for images
    that do not use the whole range, and for floats from 0 to 1, whose level k is k/L <= r < (k + 1)/L (256 of them by
    default).

        >>> histogram(np.array([[0, 1, 1], [2, 1, 0]]), 4)
        array([2, 3, 1, 0])

    It wraps `cv2.calcHist`, or `numpy.bincount` without OpenCV. Fu, Gonzalez & Lee (1987), (7.6-26).
    """
    return counts_of(*as_levels(gray(image, "histogram"), levels, "histogram"))


def equalise_histogram(image, levels: int | None = None) -> np.ndarray:
    """The image whose levels are spread evenly: s_k = Σ_{j <= k} n_j / n, the share of pixels that are not lighter.

    Whole numbers get the levels round((L - 1) s_k), with halves rounded up and in exact arithmetic. Floats from 0 to 1
    become s_k itself, a step for each of `levels` (256). `levels` is as in `histogram`, and the dtype stays.

        >>> equalise_histogram(np.array([[0, 1, 1, 2], [1, 1, 2, 2], [1, 2, 2, 3], [2, 2, 3, 7]]), 8)
        array([[0, 3, 3, 6],
               [3, 3, 6, 6],
               [3, 6, 6, 7],
               [6, 6, 7, 7]])

    `cv2.equalizeHist` uses another formula, (cdf - cdf_min)/(n - cdf_min), which makes the darkest level 0. Fu,
    Gonzalez & Lee (1987), (7.6-27).
    """
    f = gray(image, "equalise_histogram")
    index, L = as_levels(f, levels, "equalise_histogram")
    below = counts_of(index, L).cumsum()
    if f.dtype.kind == "f":
        return np.take((below / f.size).astype(f.dtype), index)
    return _mapped(f, index, (2 * (L - 1) * below + f.size) // (2 * f.size))


def _mapped(f: np.ndarray, index: np.ndarray, table: np.ndarray) -> np.ndarray:
    """The levels from a table, with the dtype of the image."""
    kind = np.uint8 if f.dtype == np.bool_ else f.dtype
    if index.dtype == np.uint8 and table.size < 256:
        table = np.pad(table, (0, 256 - table.size))  # so that no level need be checked again
    found = map_levels(index, table.astype(kind))
    return found.view(bool) if f.dtype == np.bool_ else found


def specify_histogram(image, wanted: np.ndarray | Callable, levels: int | None = None) -> np.ndarray:
    """The image whose histogram is as near to a wanted one as whole levels allow, with the dtype of the image.

    `wanted` are weights (L,) of the levels, of any sum, or a function p(z) of z from 0 (level 0) to 1 (level L - 1).
    With G(z) = Σ p up to z and s = T(r) of the equalization, each level r becomes the *smallest* z with G(z) >= s, so
    no level is used whose weight is 0. Floats from 0 to 1 become z/(L - 1). `levels` is as in `histogram`.

        >>> f = np.array([[0, 1, 1, 2], [1, 1, 2, 2], [1, 2, 2, 3], [2, 2, 3, 7]])
        >>> specify_histogram(f, [0, 0, 0, 0, 1, 1, 1, 1], 8)
        array([[4, 5, 5, 7],
               [5, 5, 7, 7],
               [5, 7, 7, 7],
               [7, 7, 7, 7]])

    Fu, Gonzalez & Lee (1987), (7.6-32) to (7.6-34).
    """
    f = gray(image, "specify_histogram")
    index, L = as_levels(f, levels, "specify_histogram")
    weights = np.asarray(wanted(np.arange(L) / (L - 1)) if callable(wanted) else wanted)
    if weights.shape != (L,) or weights.dtype.kind not in "buif":
        raise ArgumentError(
            f"specify_histogram: wanted has shape {weights.shape}; weights ({L},) of the levels are needed"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ArgumentError("specify_histogram: the wanted weights must be finite, not negative, and not all zero")
    s = counts_of(index, L).cumsum() / f.size
    G = weights.astype(float).cumsum()
    G /= G[-1]
    # Both sums are rounded; levels that are equal but for that count as equal.
    z = np.searchsorted(G, s - L * np.finfo(float).eps)
    return _specified(f, index, np.minimum(z, np.flatnonzero(weights)[-1]))


def _specified(f: np.ndarray, index: np.ndarray, z: np.ndarray) -> np.ndarray:
    if f.dtype.kind == "f":
        return np.take((z / (z.size - 1)).astype(f.dtype), index)
    return _mapped(f, index, z)


def match_histogram(image, reference, levels: int | None = None) -> np.ndarray:
    """The image with the histogram of a `reference` image, which may have another size.

    It is `specify_histogram` with the counts of the reference, in exact arithmetic: each level becomes the smallest one
    below which at least as large a share of the reference lies. So an image that is matched with itself stays as it is.

        >>> match_histogram(np.array([[0, 0, 1, 2]], np.uint8), np.array([[10, 10, 20, 30]], np.uint8))
        array([[10, 10, 20, 30]], dtype=uint8)

    `skimage.exposure.match_histograms` interpolates between levels and gives floats. Fu, Gonzalez & Lee (1987),
    (7.6-34).
    """
    f, other = gray(image, "match_histogram"), gray(reference, "match_histogram")
    if f.dtype != other.dtype:
        raise ArgumentError(
            f"match_histogram: the image has dtype {f.dtype} and the reference {other.dtype}; they must be equal"
        )
    index, L = as_levels(f, levels, "match_histogram")
    counts = counts_of(as_levels(other, levels, "match_histogram")[0], L)
    # s <= G as whole numbers: sums · pixels of the other image
    s, G = counts_of(index, L).cumsum() * other.size, counts.cumsum() * f.size
    return _specified(f, index, np.minimum(np.searchsorted(G, s), np.flatnonzero(counts)[-1]))
