"""Fits of Gaussian classes to histograms: grouped levels, Otsu's classes, and expectation-maximization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError

__all__ = ["Mixture", "expectation_maximization", "fitted", "grouped", "merged", "otsu_cuts", "split"]

_LEVELS = 512  # more levels than these are merged, where the work grows with their square
_ROUNDS = 400
_TOLERANCE = 1e-9  # of the mean log-likelihood, in a round


class Mixture(NamedTuple):
    """Gaussian classes of gray levels: `weights` P (k,), which sum to 1, `means` and standard `deviations` (k,)."""

    weights: np.ndarray
    means: np.ndarray
    deviations: np.ndarray


def grouped(counts, at, caller: str) -> tuple[np.ndarray, np.ndarray, float]:
    """The levels that occur, how often, and the step between levels."""
    try:
        n = np.asarray(counts, float)
        z = np.arange(n.size, dtype=float) if at is None else np.asarray(at, float)
    except (TypeError, ValueError):
        n = z = np.empty((0, 0))
    if n.ndim != 1 or n.shape != z.shape or not (np.isfinite(n).all() and (n >= 0).all() and n.any()):
        raise ArgumentError(f"{caller}: counts (L,) are needed, finite, not negative, not all zero; got {counts!r:.60}")
    if not (np.isfinite(z).all() and (np.diff(z) > 0).all()):
        raise ArgumentError(f"{caller}: the levels 'at' must be finite and grow")
    step = float(np.diff(z).min()) if z.size > 1 else 1.0
    there = n > 0
    return z[there], n[there], step


def merged(z: np.ndarray, n: np.ndarray, step: float, most: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Levels in at most so many cells, of about equally many successive levels, each at the mean of what it holds."""
    if z.size <= most:
        return z, n, step
    cell = np.arange(z.size) * most // z.size
    size, total = (np.bincount(cell, weights, most) for weights in (n, n * z))
    return total / size, size, step * z.size / most


def otsu_cuts(z: np.ndarray, n: np.ndarray, k: int) -> list[int]:
    """The indices of the last levels of all classes but the lightest, with the least sum of squares within classes."""
    if k == 1:
        return []
    if k == 2:
        size, total = np.cumsum(n), np.cumsum(n * (z - z[0]))
        left, right = total[:-1] / size[:-1], (total[-1] - total[:-1]) / (size[-1] - size[:-1])
        return [int(np.argmax(size[:-1] * (size[-1] - size[:-1]) * (left - right) ** 2))]
    coarse, counts, _ = merged(z, n, 1.0, _LEVELS)
    cuts = _least_squares(coarse, counts, k)
    edges = 0.5 * (coarse[cuts] + coarse[np.array(cuts) + 1])
    return [int(i) - 1 for i in np.searchsorted(z, edges)]


def _least_squares(z: np.ndarray, n: np.ndarray, k: int) -> list[int]:
    """Fisher's dynamic program: the best classes of levels 0 to j, from the best ones with one class less."""
    x = z - z.mean()
    sums = [np.concatenate([[0.0], np.cumsum(n * x**p)]) for p in range(3)]
    size, first, second = (s[None, :] - s[:, None] for s in sums)  # of levels i to j - 1, at [i, j]
    with np.errstate(divide="ignore", invalid="ignore"):
        within = second - first**2 / size
    within[~(size > 0)] = np.inf
    best, came = within[0].copy(), []
    for _ in range(k - 1):
        joined = best[:, None] + within
        came.append(joined.argmin(axis=0))
        best = joined.min(axis=0)
    cuts, j = [], z.size
    for froms in reversed(came):
        j = int(froms[j])
        cuts.append(j - 1)
    return cuts[::-1]


def split(z: np.ndarray, n: np.ndarray, cuts: np.ndarray, step: float) -> np.ndarray:
    """Classes (B, 3, k) of weights, means and variances, from counts (B, L), cut behind the indices (B, k - 1)."""
    k = cuts.shape[1] + 1
    which = (np.arange(z.size) > cuts[:, :, None]).sum(axis=1)  # (B, L)
    r = (which[:, None] == np.arange(k)[None, :, None]) * n[:, None]
    return _moments(z, r, step)


def _moments(z: np.ndarray, r: np.ndarray, step: float) -> np.ndarray:
    """Weights, means and variances (B, 3, k) of classes whose shares of the counts are r (B, k, L)."""
    size = np.maximum(r.sum(axis=2), 1e-300)
    mean = (r @ z) / size
    variance = (r * (z - mean[:, :, None]) ** 2).sum(axis=2) / size
    return np.stack([size / size.sum(axis=1, keepdims=True), mean, np.maximum(variance, step**2 / 12)], axis=1)


def expectation_maximization(
    z: np.ndarray, n: np.ndarray, classes: np.ndarray, step: float, rounds: int = _ROUNDS
) -> tuple[np.ndarray, np.ndarray]:
    """Classes (B, 3, k) that fit B histograms n (B, L) at the levels z (L,) better than the given ones do.

    The second result is the mean log-likelihood (B,) of a pixel.
    """
    total = n.sum(axis=1)
    last = np.full(len(n), -np.inf)
    for _ in range(rounds):
        w, m, v = (classes[:, i, :, None] for i in range(3))
        d = np.log(w) - 0.5 * np.log(2 * np.pi * v) - 0.5 * (z - m) ** 2 / v
        top = d.max(axis=1, keepdims=True)
        e = np.exp(d - top)
        whole = e.sum(axis=1, keepdims=True)
        likely = ((top + np.log(whole))[:, 0] * n).sum(axis=1) / total
        if (likely - last <= _TOLERANCE).all():
            return classes, likely
        last = likely
        classes = _moments(z, e * (n[:, None] / whole), step)
    return classes, last


def fitted(z: np.ndarray, n: np.ndarray, step: float, starts: Sequence[Sequence[int]]) -> Mixture:
    """The most likely of the mixtures that are reached from these cuts, from dark to light."""
    cuts = np.array(starts, int).reshape(len(starts), -1)
    counts = np.tile(n, (len(starts), 1))
    classes, likely = expectation_maximization(z, counts, split(z, counts, cuts, step), step)
    w, m, v = classes[np.argmax(likely)]
    order = np.argsort(m)
    return Mixture(w[order], m[order], np.sqrt(v[order]))
