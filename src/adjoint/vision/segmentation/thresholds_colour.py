"""Thresholds of several variables: histograms of colours, clusters in them, and pixels near a cluster.

Fu, Gonzalez & Lee (1987), §8.2.2, Fig. 8.16.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import count
from ...randomness import Rng, generator
from ..image_checks import colour
from ..images.levels import as_levels
from ..images.options import finite_number

__all__ = ["ColourClusters", "colour_clusters", "colour_histogram", "nearest_colour", "pixels_near_colour"]

_STARTS, _ROUNDS = 8, 100


class ColourClusters(NamedTuple):
    """Clusters of colours: `centroids` (k, 3) in the image's levels, and the `shares` (k,) of pixels, largest first."""

    centroids: np.ndarray
    shares: np.ndarray


def _cells(image, cells, caller: str) -> tuple[np.ndarray, np.ndarray, int]:
    """The image, the cell (rows · columns,) of each pixel, and the number of cells of one colour."""
    f = colour(image, caller)
    G = count(cells, f"{caller}: cells")
    if not 2 <= G <= 64:
        raise ArgumentError(f"{caller}: cells is {cells!r}; it must be from 2 to 64")
    flat = np.ascontiguousarray(f).reshape(f.shape[0], -1)
    if f.dtype.kind == "f":
        index = as_levels(flat, G, caller)[0]
    else:
        levels, L = as_levels(flat, None, caller)
        index = (np.arange(L) * G // L).astype(np.uint8)[levels]
    r, g, b = index.reshape(-1, 3).T
    return f, (r * np.int32(G) + g) * np.int32(G) + b, G


def colour_histogram(image, cells: int = 16) -> np.ndarray:
    """How many pixels of a colour image fall in each cell of the cube of colours, (cells, cells, cells) int64.

    The axes are red, green, blue. The image (rows, columns, 3) has 8 or 16 bits, or floats from 0 to 1.

        >>> colour_histogram(np.array([[[255, 0, 0], [250, 3, 9]]], np.uint8))[15, 0, 0]
        np.int64(2)

    Fu, Gonzalez & Lee (1987), §8.2.2.
    """
    _, cell, G = _cells(image, cells, "colour_histogram")
    return np.bincount(cell, minlength=G**3).reshape(G, G, G)


def colour_clusters(image, clusters: int, *, cells: int = 16, rng: Rng = 0) -> ColourClusters:
    """Clusters of the colours of an image, by k-means of the cells of its histogram.

    Each cell counts as its mean colour with the number of its pixels, so the work does not grow with the image. The
    best of several random starts (k-means++) is kept; `rng` is their seed. The largest cluster is the first.

        >>> f = np.zeros((4, 4, 3), np.uint8)
        >>> f[:, 1:] = (200, 30, 30)
        >>> colour_clusters(f, 2).centroids
        array([[200.,  30.,  30.],
               [  0.,   0.,   0.]])

    Fu, Gonzalez & Lee (1987), §8.2.2; Arthur and Vassilvitskii (2007).
    """
    f, cell, G = _cells(image, cells, "colour_clusters")
    k = count(clusters, "colour_clusters: clusters")
    sizes = np.bincount(cell, minlength=G**3)
    there = np.flatnonzero(sizes)
    n = sizes[there].astype(float)
    if not 1 <= k <= n.size:
        raise ArgumentError(f"colour_clusters: clusters is {clusters!r}; {n.size} cells of the histogram hold pixels")
    channels = f.reshape(-1, 3)
    points = np.stack([np.bincount(cell, channels[:, c], G**3)[there] for c in range(3)], axis=1) / n[:, None]
    random = generator(rng, "colour_clusters")
    best = min((_k_means(points, n, k, random) for _ in range(_STARTS if k > 1 else 1)), key=lambda found: found[2])
    order = np.argsort(-best[1], kind="stable")
    return ColourClusters(best[0][order], best[1][order] / n.sum())


def _squares(points: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    return ((points[:, None] - centroids) ** 2).sum(axis=2)


def _k_means(
    points: np.ndarray, n: np.ndarray, k: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, float]:
    """Centroids, sizes, and the sum of squares, from one random start."""
    centroids = points[[random.choice(n.size, p=n / n.sum())]]
    for _ in range(k - 1):
        far = n * _squares(points, centroids).min(axis=1)
        centroids = np.concatenate([centroids, points[[random.choice(n.size, p=far / far.sum())]]])
    nearest = np.full(n.size, -1)
    for _ in range(_ROUNDS):
        now = _squares(points, centroids).argmin(axis=1)
        if np.array_equal(now, nearest):
            break
        nearest = now
        sizes = np.bincount(nearest, n, k)
        sums = np.stack([np.bincount(nearest, n * points[:, c], k) for c in range(3)], axis=1)
        centroids = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1e-300)[:, None], centroids)
    squares = _squares(points, centroids)
    return centroids, np.bincount(nearest, n, k), float((n * squares.min(axis=1)).sum())


def _palette(centroids, caller: str) -> np.ndarray:
    c = np.asarray(centroids)
    if c.ndim != 2 or c.shape[1] != 3 or not len(c) or c.dtype.kind not in "buif" or not np.isfinite(c).all():
        raise ArgumentError(f"{caller}: the centroids have shape {c.shape}; finite colours (k, 3) are needed")
    return c.astype(np.float64)


def nearest_colour(image, centroids) -> np.ndarray:
    """The index of the nearest centroid of each pixel, (rows, columns), uint8 for up to 256 `centroids` (k, 3).

    Centroids are in the levels of the image; a pixel between two goes to the first.

        >>> nearest_colour(np.array([[[250, 9, 9], [9, 9, 9]]], np.uint8), [[0, 0, 0], [255, 0, 0]])
        array([[1, 0]], dtype=uint8)

    Fu, Gonzalez & Lee (1987), §8.2.2.
    """
    f, c = colour(image, "nearest_colour"), _palette(centroids, "nearest_colour")
    x = f.reshape(-1, 3).astype(np.float32 if f.dtype.itemsize == 1 else np.float64)
    c = c.astype(x.dtype)
    # |x - c|² - |x|², which has the same order
    found = np.zeros(len(x), np.uint8 if len(c) <= 256 else np.int64)
    with np.errstate(invalid="ignore"):  # a colour with NaN or infinity goes to the first
        least = (c[0] @ c[0]) - 2 * (x @ c[0])
        for k in range(1, len(c)):
            now = (c[k] @ c[k]) - 2 * (x @ c[k])
            np.copyto(found, k, where=now < least)
            np.minimum(now, least, out=least)
    return found.reshape(f.shape[:2])


def pixels_near_colour(image, centroid, radius) -> np.ndarray:
    """Where the colour of a pixel is at most `radius` away from a `centroid` (3,), (rows, columns) bool.

    Both are in the levels of the image: one cell of a histogram of 16 cells is 16 levels of 8 bits.

        >>> pixels_near_colour(np.array([[[250, 9, 9], [9, 9, 9]]], np.uint8), (255, 0, 0), 16)
        array([[ True, False]])

    Fu, Gonzalez & Lee (1987), §8.2.2, Fig. 8.16.
    """
    f = colour(image, "pixels_near_colour")
    c = _palette(np.asarray(centroid)[None], "pixels_near_colour")[0]
    r = finite_number(radius, "radius", "pixels_near_colour")
    if r < 0:
        raise ArgumentError(f"pixels_near_colour: radius is {radius!r}; it must not be negative")
    kind = np.float32 if f.dtype.itemsize == 1 else np.float64
    far = np.zeros(f.shape[:2], kind)
    for k in range(3):
        away = f[:, :, k] - kind(c[k])
        far += away * away
    return far <= r * r
