"""Moments of images and regions, and the seven invariants of Hu."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...compile import kernel
from ...errors import ArgumentError
from ..image_checks import gray, opencv, opencv_image
from .label_runs import label_runs

__all__ = ["Moments", "RegionMoments", "hu_invariants", "image_moments", "region_moments"]

_ORDERS = [(p, q) for p in range(4) for q in range(4 - p)]  # p + q <= 3
_MOST = 1e100  # the sum of intensities whose powers do not overflow
_NAMES = [f"{name}{p}{q}" for name in ("m", "mu", "nu") for p in range(4) for q in range(4)]  # OpenCV has most of them
_SECOND = [(p, q) for p, q in _ORDERS if p + q >= 2]


class Moments(NamedTuple):
    """Moments of an image up to order 3; [p, q] belongs to u^p v^q, and is 0 where p + q > 3.

    `raw` (4, 4), `centroid` (2,) as a pixel (u, v), `central` (4, 4), `normalized` (4, 4) central ones.
    """

    raw: np.ndarray
    centroid: np.ndarray
    central: np.ndarray
    normalized: np.ndarray


class RegionMoments(NamedTuple):
    """Moments of n regions: `labels` (n,), `area` (n,), `centroid` (n, 2), `central` and `normalized` (n, 4, 4)."""

    labels: np.ndarray
    area: np.ndarray
    centroid: np.ndarray
    central: np.ndarray
    normalized: np.ndarray


def image_moments(image) -> Moments:
    """Moments of an image's intensities f(u, v), by OpenCV: m_pq = Σ u^p v^q f, and those about the centroid.

    Normalized central moments are η_pq = μ_pq / μ_00^γ with γ = (p + q)/2 + 1, for p + q >= 2. Truth values count as 0
    and 1. The textbook's x is the row v and its y the column u, so its η_pq is `normalized[q, p]` here.

        >>> moments = image_moments(np.ones((3, 5)))
        >>> moments.centroid.tolist(), moments.central[2, 0].tolist()
        ([2.0, 1.0], 30.0)

    Reference: Fu, Gonzalez & Lee (1987), (8.3-10) to (8.3-14).
    """
    cv2 = opencv("image_moments")
    image = gray(image, "image_moments")
    if image.shape[1] == 2 and image.dtype == np.float32:
        image = image.astype(float)  # OpenCV would take single floats in two columns for corners of a polygon
    found = cv2.moments(image.view(np.uint8) if image.dtype == np.bool_ else opencv_image(image))
    if not 0 < found["m00"] < _MOST or not all(map(math.isfinite, found.values())):
        raise ArgumentError(
            f"image_moments: the sum of all intensities is {found['m00']:g}; it must be above 0, below {_MOST:g}, and "
            "without NaN, for a centroid"
        )
    raw, central, normalized = np.array([found.get(name, 0.0) for name in _NAMES]).reshape(3, 4, 4)
    central[0, 0] = raw[0, 0]
    return Moments(raw, np.array([raw[1, 0], raw[0, 1]]) / raw[0, 0], central, normalized)


def _normalized(central: np.ndarray) -> np.ndarray:
    """η_pq of central moments (..., 4, 4)."""
    eta, area = np.zeros_like(central), central[..., 0, 0]
    for p, q in _SECOND:
        eta[..., p, q] = central[..., p, q] / area ** ((p + q) / 2 + 1)  # (8.3-13), (8.3-14)
    return eta


def region_moments(labels) -> RegionMoments:
    """Moments of all regions of a labelled image (rows, columns) at once: each pixel of a region counts 1.

    Labels are whole numbers, of which 0 is the background; truth values are one region. Sums go over the runs of equal
    labels in rows, about the centroid of each region, so that nothing is lost far from the origin.

        >>> region_moments(np.array([[1, 1, 0, 2], [1, 1, 0, 2]])).centroid.tolist()
        [[0.5, 0.5], [3.0, 0.5]]

    Reference: Fu, Gonzalez & Lee (1987), (8.3-10) to (8.3-14).
    """
    runs = label_runs(labels, "region_moments")
    k, v, n = runs.region, runs.row.astype(float), runs.length.astype(float)
    middle = runs.first + (n - 1) / 2
    count = len(runs.labels)
    area = np.bincount(k, n, count)
    centroid = np.stack([np.bincount(k, n * middle, count), np.bincount(k, n * v, count)], axis=1) / area[:, None]
    c, v = middle - centroid[k, 0], v - centroid[k, 1]
    # Sums over a run of n pixels around c of 1, u, u², u³.
    spread = n * (n * n - 1) / 12
    sums = [n, n * c, n * c * c + spread, c * (n * c * c + 3 * spread)]
    central = np.zeros((count, 4, 4))
    for p, q in _ORDERS:
        if p + q != 1:
            central[:, p, q] = np.bincount(k, sums[p] * v**q, count)
    return RegionMoments(runs.labels, area.astype(np.int64), centroid, central, _normalized(central))


@kernel(normalized=(4, 4))
def hu_invariants(normalized):
    """The seven moment invariants φ₁ ... φ₇ of Hu, (7,), of normalized central moments η (4, 4), η[p, q] of u^p v^q.

    They stay the same if the object is moved, turned or scaled; mirrored, it has the opposite φ₇. The textbook's x is
    the row, which mirrors all images: its φ₇ is the negative of this one, which is that of `cv2.HuMoments`. On pixels,
    turns by quarters and mirrors are exact; magnified pixels change φ₁ by the size of a pixel.

        >>> letter = np.array([[1, 0], [1, 0], [1, 1]])
        >>> phi = hu_invariants(image_moments(letter).normalized)
        >>> turned = hu_invariants(image_moments(np.rot90(letter)).normalized)
        >>> np.allclose(phi, turned)
        True

    Reference: Fu, Gonzalez & Lee (1987), (8.3-15) to (8.3-21); Hu (1962).
    """
    e = normalized
    a, b = e[3, 0] - 3 * e[1, 2], 3 * e[2, 1] - e[0, 3]
    c, d = e[3, 0] + e[1, 2], e[2, 1] + e[0, 3]
    first, second = c * c - 3 * d * d, 3 * c * c - d * d
    return np.stack([
        e[2, 0] + e[0, 2],
        (e[2, 0] - e[0, 2]) ** 2 + 4 * e[1, 1] ** 2,
        a * a + b * b,
        c * c + d * d,
        a * c * first + b * d * second,
        (e[2, 0] - e[0, 2]) * (c * c - d * d) + 4 * e[1, 1] * c * d,
        b * c * first - a * d * second,
    ])  # fmt: skip
