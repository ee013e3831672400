"""A threshold that varies over the image, from the histograms of its tiles.

Fu, Gonzalez & Lee (1987), §8.2.2, Fig. 8.12, after Chow and Kaneko (1972).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError, SolveError
from ...model.input_checks import count
from ..image_checks import gray
from ..images.options import finite_number
from .thresholds_fit import expectation_maximization, split
from .thresholds_optimum import gaussian_crossings

__all__ = ["DynamicThreshold", "dynamic_threshold"]

_CELLS = 128  # of the histogram of a tile
_ROUNDS = 60


class DynamicThreshold(NamedTuple):
    """A threshold for each pixel, `surface` (rows, columns); those of the `tiles`, and which of them were `bimodal`."""

    surface: np.ndarray
    tiles: np.ndarray
    bimodal: np.ndarray


def dynamic_threshold(
    image, tiles: int | tuple[int, int] = 8, *, valley: float = 0.8, contrast: float | None = None, share: float = 0.02
) -> DynamicThreshold:
    """A threshold surface T (rows, columns) for images whose light varies, by the method of Chow and Kaneko.

    1. The image is cut into `tiles` (rows, columns) of about equal size, and a mixture of two Gaussians is fitted to
       the histogram of each.
    2. A tile is bimodal if both classes have at least the `share` of its pixels; if their means differ by at least
       `contrast` (by default 4/256 of the range of the image); and if the smoothed histogram of the tile has a valley
       between the means that is lower than `valley` times the lower one of the peaks on its sides. Its threshold is the
       optimum one between the means, where P₁ p₁ = P₂ p₂.
    3. Each other tile is the mean of the tiles beside it, which bimodal ones determine.
    4. Between the centres of tiles, T is interpolated bilinearly; beyond the outermost centres it stays as it is.

    A `SolveError` says that no tile is bimodal. The binary image is `threshold(image, found.surface)`.

        >>> light = np.linspace(40, 160, 128) * np.ones((128, 1))
        >>> disks = ((np.indices((128, 128)) % 32 - 16) ** 2).sum(axis=0) < 80
        >>> found = dynamic_threshold(light + 50 * disks, 4)
        >>> bool(((light + 50 * disks > found.surface) == disks).all())
        True

    The test of bimodality is ours; the textbook leaves it open. Fu, Gonzalez & Lee (1987), §8.2.2.
    """
    f = gray(image, "dynamic_threshold")
    rows, columns = _tiling(tiles, f.shape)
    limits = [finite_number(x, n, "dynamic_threshold") for x, n in ((valley, "valley"), (share, "share"))]
    low, high = float(f.min()), float(f.max())
    if not np.isfinite(low + high):
        raise ArgumentError(f"dynamic_threshold: the image has values from {low} to {high}; they must be finite")
    if low == high:
        raise SolveError(f"dynamic_threshold: all pixels have the level {low:g}; no tile has a bimodal histogram")
    least = (high - low) * 4 / 256 if contrast is None else finite_number(contrast, "contrast", "dynamic_threshold")
    z, n = _tile_histograms(f, rows, columns, low, high)
    T, bimodal = _tile_thresholds(z, n, least, *limits)
    if not bimodal.any():
        raise SolveError(
            f"dynamic_threshold: none of the {rows} × {columns} tiles has a bimodal histogram; larger tiles, a larger "
            "'valley' or a smaller 'contrast' may find some"
        )
    grid = _filled(T.reshape(rows, columns), bimodal.reshape(rows, columns))
    surface = _weights(f.shape[0], rows) @ grid @ _weights(f.shape[1], columns).T
    return DynamicThreshold(surface, grid, bimodal.reshape(rows, columns))


def _tiling(tiles, shape: tuple[int, int]) -> tuple[int, int]:
    try:
        rows, columns = (count(n, "tiles") for n in (tiles if isinstance(tiles, (tuple, list)) else (tiles, tiles)))
    except (ArgumentError, ValueError):
        rows = columns = 0
    if not (1 <= rows <= shape[0] and 1 <= columns <= shape[1]):
        raise ArgumentError(
            f"dynamic_threshold: tiles is {tiles!r:.60}; it must be a whole number, or two, from (1, 1) to {shape}"
        )
    return rows, columns


def _tile_histograms(f: np.ndarray, rows: int, columns: int, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """The levels (L,) at the middle of cells, and counts (tiles, L)."""
    whole = f.dtype.kind != "f"
    cells = int(min(_CELLS, high - low + 1)) if whole else _CELLS
    width = max((high - low + whole) / cells, np.finfo(float).tiny)
    # The first level of whole numbers begins half a step below it.
    start = low - 0.5 * whole
    if whole and high - low < 2**16:
        table = np.minimum((np.arange(high - low + 1) + 0.5) / width, cells - 1).astype(np.int32)
        cell = table[f.astype(np.int64) - int(low)]
    else:
        cell = np.minimum((f - start) / width, cells - 1).astype(np.int32)
    sizes = ((f.shape[0], rows), (f.shape[1], columns))
    down, right = (np.arange(size, dtype=np.int32) * k // size for size, k in sizes)
    tile = down[:, None] * np.int32(columns) + right
    n = np.bincount((tile * np.int32(cells) + cell).ravel(), minlength=rows * columns * cells)
    return start + (np.arange(cells) + 0.5) * width, n.reshape(rows * columns, cells).astype(float)


def _tile_thresholds(z, n, contrast: float, valley: float, share: float) -> tuple[np.ndarray, np.ndarray]:
    """The optimum thresholds of histograms n (B, L), and which of them are bimodal (B,)."""
    B, step = len(n), float(z[1] - z[0]) if z.size > 1 else 1.0
    if z.size < 2:
        return np.zeros(B), np.zeros(B, bool)
    size, total = n.cumsum(axis=1), (n * (z - z[0])).cumsum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (total[:, -1:] * size - total * size[:, -1:]) ** 2 / (size * (size[:, -1:] - size))
    cuts = np.nan_to_num(between[:, :-1], nan=-1.0).argmax(axis=1)[:, None]  # Otsu's
    classes, _ = expectation_maximization(z, n, split(z, n, cuts, step), step, _ROUNDS)
    (w1, w2), (m1, m2), (s1, s2) = classes[:, 0].T, classes[:, 1].T, np.sqrt(classes[:, 2]).T
    roots = gaussian_crossings(m1, s1, w1, m2, s2, w2)
    least, most = np.minimum(m1, m2), np.maximum(m1, m2)
    inside = (roots >= least[:, None]) & (roots <= most[:, None])
    T = np.where(inside[:, 0], roots[:, 0], roots[:, 1])
    bimodal = inside.any(axis=1) & (most - least >= contrast) & (np.minimum(w1, w2) >= share)
    bimodal &= _valley_ratio(n, z, least, most, 0.5 * np.minimum(s1, s2) / step) < valley
    return np.where(bimodal, T, 0.0), bimodal


def _valley_ratio(n: np.ndarray, z: np.ndarray, low: np.ndarray, high: np.ndarray, width: np.ndarray) -> np.ndarray:
    """The lowest count between two levels, relative to the lower one of the peaks on both sides of it, at most.

    Histograms are smoothed with half the deviation of the narrower class, `width` in cells. The deviation that counts
    still have is added to the valley, so that few valleys by chance are taken for true ones.
    """
    from scipy.ndimage import gaussian_filter1d  # slow to load

    width = np.maximum(width, 1.0)
    smooth = np.stack([gaussian_filter1d(row, s, mode="constant") for row, s in zip(n, width, strict=True)])
    between = (z >= low[:, None]) & (z <= high[:, None])
    at = np.where(between, smooth, np.inf).argmin(axis=1)[:, None]
    left = np.where(np.arange(z.size) <= at, smooth, 0.0).max(axis=1)
    right = np.where(np.arange(z.size) >= at, smooth, 0.0).max(axis=1)
    peak = np.maximum(np.minimum(left, right), 1e-300)
    noise = np.sqrt(peak / (2 * np.sqrt(np.pi) * width))  # a Gaussian averages so many cells
    bottom = np.take_along_axis(smooth, at, axis=1)[:, 0]
    return np.where(between.any(axis=1), (bottom + noise) / peak, 1.0)


def _filled(T: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The grid in which each unknown value is the mean of its 4-neighbours."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import spsolve

    if known.all():
        return T
    at = np.arange(T.size).reshape(T.shape)
    beside = [np.stack([at[:, 1:], at[:, :-1]]), np.stack([at[1:], at[:-1]])]
    pairs = np.concatenate([pair.reshape(2, -1) for pair in beside], axis=1)
    i, j = np.concatenate([pairs, pairs[::-1]], axis=1)
    free = ~known.ravel()[i]
    i, j = i[free], j[free]
    degree = np.bincount(i, minlength=T.size)
    diagonal = np.where(known.ravel(), 1.0, degree)
    matrix = csr_array(
        (
            np.concatenate([diagonal, -np.ones(i.size)]),
            (np.concatenate([at.ravel(), i]), np.concatenate([at.ravel(), j])),
        )
    )
    return np.asarray(spsolve(matrix.tocsc(), np.where(known, T, 0.0).ravel())).reshape(T.shape)


def _weights(pixels: int, tiles: int) -> np.ndarray:
    """The weights (pixels, tiles) of a linear interpolation between the centres of tiles, constant at both ends."""
    edges = -(-np.arange(tiles + 1) * pixels // tiles)  # the first pixel of each tile
    centres = 0.5 * (edges[:-1] + edges[1:] - 1)
    return np.stack([np.interp(np.arange(pixels), centres, row) for row in np.eye(tiles)], axis=1)
