"""Split and merge: leaves of a quadtree are joined to regions as long as a predicate holds for what is joined."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .adjacency import components_of_pairs, different_pairs
from .quadtrees import Quadtree, checked_numbers, checked_predicate, split
from .uniformity import Uniformity

__all__ = ["SplitMerge", "split_and_merge"]


class SplitMerge(NamedTuple):
    """Regions 1 ... n of an image, numbered in the order of their first leaves.

    - `labels` (rows, columns) is the region of each pixel;
    - `tree` is the `Quadtree`, and `leaf_labels` (k,) the region of each of its leaves;
    - `adjacent` (m, 2) are the pairs of regions that touch along a side of a pixel, the smaller number first.
    """

    labels: np.ndarray
    tree: Quadtree
    leaf_labels: np.ndarray
    adjacent: np.ndarray


def split_and_merge(image, predicate: Uniformity) -> SplitMerge:
    """Segment an image: split it into quadrants until P holds for each, then merge neighbours while P holds for both.

        >>> from adjoint.vision.segmentation import Uniformity
        >>> image = np.zeros((8, 8), int)
        >>> image[2:4, 4:6] = image[4:6, 2:6] = image[6, 3:5] = 1
        >>> found = split_and_merge(image, Uniformity("equal"))
        >>> len(found.tree.leaves), found.labels.max(), found.adjacent.tolist()
        (19, np.int32(2), [[1, 2]])

    The result meets the five conditions of a segmentation (`vision.is_segmentation`): every pixel is in one region,
    regions are connected along sides of pixels, P holds for each, and for no two that touch does it hold for both
    together. The regions depend on the order of merging, unless P is "equal". The order is this. First, leaves that
    touch and have one and the same value become one region. Then, in rounds, all pairs of regions that touch and for
    which P holds together are sorted by their common range, or standard deviation, and equal ones by the numbers of the
    regions, which are those of their first leaves. In this order, what the two regions of a pair have become in this
    round is merged if P holds for it. Rounds end when there is no such pair. For "range" one round is enough, since a
    union that has failed fails for ever.

    - `image` (rows, columns) and `predicate` are those of `vision.quadtree`.

    Fu, Gonzalez & Lee (1987), §8.2.3; S. L. Horowitz, T. Pavlidis, "Picture segmentation by a directed split-and-merge
    procedure", 2nd Int. Joint Conf. Pattern Recognition (1974) 424-433.
    """
    f = checked_numbers(image, "split_and_merge")
    tree = split(f, checked_predicate(predicate, "split_and_merge"))
    pairs = _touching(tree.index)
    least, most = _extremes(f, tree.index, len(tree.leaves))
    same = (least == most)[pairs].all(axis=1) & (least[pairs[:, 0]] == least[pairs[:, 1]])
    regions = components_of_pairs(pairs[same], len(least))
    if predicate.kind == "range":
        regions = _merged_by_range(regions, least, most, pairs, predicate.limit)
    elif predicate.kind == "deviation":
        limit = predicate.deviation_limit(float(np.abs([least.min(), most.max()], dtype=float).max()))
        regions = _merged_by_deviation(regions, f, tree.index, pairs, limit)
    adjacent = different_pairs(regions[pairs], int(regions.max()) + 1)
    return SplitMerge((regions + 1)[tree.index], tree, regions + 1, adjacent + 1)


def _touching(index: np.ndarray) -> np.ndarray:
    """Pairs (m, 2) of leaves that touch, each once: squares touch along one stretch, whose first pixel counts."""
    pairs = []
    for x in (index, index.T):
        a, b = x[:, :-1], x[:, 1:]
        first = a != b
        first[1:] &= (a[1:] != a[:-1]) | (b[1:] != b[:-1])
        pairs.append(np.stack([a[first], b[first]], axis=1))
    return np.sort(np.concatenate(pairs), axis=1)


def _extremes(f: np.ndarray, index: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and the largest value of each of n leaves."""
    order = np.argsort(index, axis=None, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(index.reshape(-1), minlength=n))[:-1]])
    values = f.reshape(-1)[order]
    return np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)


def _renumbered(parent: list[int]) -> np.ndarray:
    """The region of each member, from what each points to: numbers from 0 in the order of first members."""
    return components_of_pairs(np.stack([np.arange(len(parent)), parent], axis=1), len(parent))


# --- ranges -----------------------------------------------------------------------------------------------------------


def _merged_by_range(regions, least, most, pairs, limit: float) -> np.ndarray:
    """The region (k,) of each leaf, from regions of equal leaves."""
    n = int(regions.max()) + 1
    low, high = np.empty(n, least.dtype), np.empty(n, most.dtype)
    low[regions], high[regions] = least, most  # leaves of one region are equal
    ranges = np.maximum(*most[pairs].T) - np.minimum(*least[pairs].T)
    pairs = different_pairs(regions[pairs[ranges <= limit]], n)
    ranges = np.maximum(*high[pairs].T) - np.minimum(*low[pairs].T)
    order = np.argsort(ranges, kind="stable")
    return _renumbered(_union_by_range(low.tolist(), high.tolist(), pairs[order], limit))[regions]


def _union_by_range(least: list, most: list, pairs: np.ndarray, limit: float) -> list[int]:
    """What each region points to after a round over pairs (m, 2) in their order; the range of a union is known."""
    parent = list(range(len(least)))
    for a, b in zip(*pairs.T.tolist(), strict=True):
        while parent[a] != a:
            parent[a] = a = parent[parent[a]]
        while parent[b] != b:
            parent[b] = b = parent[parent[b]]
        if a != b:
            low = least[a] if least[a] < least[b] else least[b]
            high = most[a] if most[a] > most[b] else most[b]
            if high - low <= limit:
                parent[b], least[a], most[a] = a, low, high
    return parent


# --- standard deviations ----------------------------------------------------------------------------------------------


def _merged_by_deviation(regions, f, index, pairs, limit: float) -> np.ndarray:
    """The region (k,) of each leaf, from regions of equal leaves."""
    f, pairs = f.reshape(-1).astype(float), different_pairs(regions[pairs], int(regions.max()) + 1)
    while True:
        n, of_pixels = int(regions.max()) + 1, regions[index.reshape(-1)]
        count = np.bincount(of_pixels, minlength=n).astype(float)
        mean = np.bincount(of_pixels, f, n) / count
        squares = np.bincount(of_pixels, (f - mean[of_pixels]) ** 2, n)
        a, b = pairs.T
        total = count[a] + count[b]
        variance = (squares[a] + squares[b] + (mean[a] - mean[b]) ** 2 * count[a] * count[b] / total) / total
        good = np.flatnonzero(variance <= limit**2)
        if not len(good):
            return regions
        order = good[np.argsort(variance[good], kind="stable")]
        moments = (count.tolist(), mean.tolist(), squares.tolist())
        new = _renumbered(_union_by_deviation(*moments, pairs[order], limit**2))
        regions, pairs = new[regions], different_pairs(new[pairs], n)


def _union_by_deviation(count: list, mean: list, squares: list, pairs: np.ndarray, limit: float) -> list[int]:
    """What each region points to after a round over pairs in their order; `limit` is one of variances."""
    parent = list(range(len(count)))
    for a, b in zip(*pairs.T.tolist(), strict=True):
        while parent[a] != a:
            parent[a] = a = parent[parent[a]]
        while parent[b] != b:
            parent[b] = b = parent[parent[b]]
        if a != b:
            n, apart = count[a] + count[b], mean[b] - mean[a]
            both = squares[a] + squares[b] + apart * apart * count[a] * count[b] / n
            if both <= n * limit:
                parent[b], mean[a] = a, mean[a] + apart * count[b] / n
                count[a], squares[a] = n, both
    return parent
