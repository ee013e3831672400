"""Which regions of an image of labels touch, and which parts hang together."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ...errors import ArgumentError
from ..image_checks import gray

__all__ = ["checked_labels", "components_of_pairs", "different_pairs", "neighbours", "region_adjacency"]


def region_adjacency(labels) -> np.ndarray:
    """The pairs (m, 2) of regions that touch along a side of a pixel: the smaller label first, sorted, each once.

        >>> region_adjacency([[1, 1, 2], [3, 3, 2]]).tolist()
        [[1, 2], [1, 3], [2, 3]]

    `labels` (rows, columns) has whole numbers. 0 and negative numbers are of no region, and in no pair.
    """
    labels = checked_labels(labels, "region_adjacency")
    n = int(labels.max()) + 1
    pairs = np.concatenate([np.stack([a[a != b], b[a != b]], axis=1) for a, b in neighbours(labels)])
    return different_pairs(pairs[(pairs > 0).all(axis=1)], max(n, 1)).astype(labels.dtype)


def checked_labels(labels, caller: str) -> np.ndarray:
    """Labels (rows, columns) that are whole numbers, not too large to be paired in one number."""
    labels = gray(labels, caller)
    if labels.dtype.kind not in "ui":
        raise ArgumentError(f"{caller}: labels must be whole numbers, got {labels.dtype}")
    if labels.max() >= 2**31:
        raise ArgumentError(f"{caller}: labels must be below 2**31, got {labels.max()}")
    return labels


def neighbours(image: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Views of all pixels and of their neighbours to the right, and of all pixels and of their neighbours below."""
    return [(image[:, :-1], image[:, 1:]), (image[:-1], image[1:])]


def different_pairs(pairs: np.ndarray, n: int) -> np.ndarray:
    """Pairs (m, 2) of different numbers from 0 to n - 1: the smaller one first, sorted, each once."""
    a, b = pairs[pairs[:, 0] != pairs[:, 1]].T.astype(np.int64)
    keys = np.sort(np.minimum(a, b) * n + np.maximum(a, b))  # np.unique hashes, and takes ten times as long
    keys = keys[np.diff(keys, prepend=-1) > 0]
    return np.stack(np.divmod(keys, n), axis=1).astype(np.int32)


def components_of_pairs(pairs: np.ndarray, n: int) -> np.ndarray:
    """The component (n,) of each of n members if pairs (m, 2) of them are joined: from 0, by first members."""
    graph = coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return connected_components(graph, directed=False)[1]
