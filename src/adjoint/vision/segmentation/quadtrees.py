"""Quadtrees: an image is split into quadrants until a predicate holds for each of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ..image_checks import gray
from .uniformity import Uniformity

__all__ = ["Quadtree", "checked_numbers", "checked_predicate", "quadtree", "split"]


class Quadtree(NamedTuple):
    """The k leaves of a quadtree, large ones first, and those of one size row by row.

    - `leaves` (k, 4) are their (u, v, width, height): the first pixel, and the size in pixels;
    - `depths` (k,) tell how often the image was split to get each of them;
    - `index` (rows, columns) is the number of the leaf in which each pixel is.
    """

    leaves: np.ndarray
    depths: np.ndarray
    index: np.ndarray


def quadtree(image, predicate: Uniformity) -> Quadtree:
    """Split an image into quadrants, and these again, until the predicate holds for every leaf.

        >>> image = np.zeros((8, 8), int)
        >>> image[2:4, 4:6] = image[4:6, 2:6] = image[6, 3:5] = 1
        >>> tree = quadtree(image, Uniformity("equal"))
        >>> len(tree.leaves), np.bincount(tree.depths).tolist()               # leaves after 0, 1, 2, 3 splits
        (19, [0, 1, 10, 8])

    - `image` (rows, columns) may have any size. The quadrants are those of the smallest square of 2ⁿ x 2ⁿ pixels that
      has the image in its top left corner, cut at the borders of the image; what lies outside is no leaf. A leaf of one
      pixel is never split.
    - `predicate` is a `vision.Uniformity`.

    Fu, Gonzalez & Lee (1987), §8.2.3, figure 8.18.
    """
    return split(checked_numbers(image, "quadtree"), checked_predicate(predicate, "quadtree"))


def checked_predicate(predicate, caller: str) -> Uniformity:
    """The predicate, if it is a `Uniformity`; else an `ArgumentError` shows one."""
    if not isinstance(predicate, Uniformity):
        raise ArgumentError(
            f"{caller}: predicate must be a vision.Uniformity, such as Uniformity('range', 10), got {predicate!r:.60}"
        )
    return predicate


def checked_numbers(image, caller: str) -> np.ndarray:
    """The image as bytes, 16-bit numbers or floats: differences of a larger and a smaller value are then exact."""
    image = gray(image, caller)
    if image.dtype in (np.uint8, np.uint16):
        return image
    found = image.astype(np.uint8 if image.dtype == np.bool_ else np.float64)
    if image.dtype.kind == "f" and not np.isfinite(found).all():
        raise ArgumentError(f"{caller}: the image contains NaN or infinity; finite numbers are needed")
    return found


def split(f: np.ndarray, predicate: Uniformity) -> Quadtree:
    """`quadtree` of numbers that have been checked: a pyramid upwards, and then the leaves of each level downwards."""
    holds = _deviations_hold(f, predicate) if predicate.kind == "deviation" else _ranges_hold(f, predicate)
    top, first = len(holds) - 1, 0
    index, leaves, depths = np.full((1, 1), -1, np.int32), [], []
    for level in range(top, -1, -1):
        if level < top:  # each block becomes four
            rows, columns = holds[level].shape
            index = index.repeat(2, axis=0)[:rows].repeat(2, axis=1)[:, :columns]
        v, u = np.nonzero((index < 0) & holds[level])
        index[v, u] = np.arange(first, first + len(u), dtype=np.int32)
        first, size = first + len(u), 1 << level
        corner = np.stack([u, v], axis=1) * size
        leaves.append(np.concatenate([corner, np.minimum(size, f.shape[::-1] - corner)], axis=1))
        depths.append(np.full(len(u), top - level))
    return Quadtree(np.concatenate(leaves), np.concatenate(depths), index)


def _ranges_hold(f: np.ndarray, predicate: Uniformity) -> list[np.ndarray]:
    """For each level, from pixels to the whole image, where the range of a block is within the limit."""
    least = most = f
    holds = [np.ones(f.shape, bool)]
    while least.size > 1:
        least, most = _reduced(least, np.minimum), _reduced(most, np.maximum)
        holds.append((most - least) <= predicate.limit)
    return holds


def _reduced(x: np.ndarray, ufunc: np.ufunc) -> np.ndarray:
    """The minimum, maximum or sum over blocks of 2 x 2; those at the last row or column may be smaller."""
    for axis in (0, 1):
        odd = x.shape[axis] % 2
        pairs, last = (x[:-1], x[-1:]) if axis == 0 and odd else (x[:, :-1], x[:, -1:]) if odd else (x, x)
        even, uneven = (pairs[::2], pairs[1::2]) if axis == 0 else (pairs[:, ::2], pairs[:, 1::2])
        found = ufunc(even, uneven)
        x = np.concatenate([found, last], axis=axis) if odd else found
    return x


def _deviations_hold(f: np.ndarray, predicate: Uniformity) -> list[np.ndarray]:
    """For each level where the standard deviation of a block is within the limit: Σ (f - mean)² <= n limit².

    The mean of a block moves its parts' sums of squares: Σ (f - mean)² = Σ parts (squares + n (own mean - mean)²).
    """
    limit = predicate.deviation_limit(float(np.abs(f.astype(float)).max()))
    count, mean, squares = np.ones(f.shape), f.astype(float), np.zeros(f.shape)
    holds = [np.ones(f.shape, bool)]
    while count.size > 1:
        n = _reduced(count, np.add)
        m = _reduced(count * mean, np.add) / n
        own = mean - m.repeat(2, axis=0)[: len(mean)].repeat(2, axis=1)[:, : mean.shape[1]]
        squares = _reduced(squares + count * own**2, np.add)
        count, mean = n, m
        holds.append(squares <= count * limit**2)
    return holds
