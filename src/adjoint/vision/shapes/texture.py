"""Texture: moments of histograms, and co-occurrence matrices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import count, floats, one_of, positive
from ..image_checks import gray, maybe_opencv
from ..images.levels import counts_of
from .boundaries import real_floats
from .signatures import histogram_moments

__all__ = [
    "CooccurrenceDescriptors",
    "HistogramTexture",
    "cooccurrence",
    "cooccurrence_descriptors",
    "histogram_texture",
    "relative_smoothness",
]

_SPAN = {np.uint8: 255.0, np.uint16: 65535.0}
_LARGE = 1e70  # fourth powers of what is smaller do not overflow
_MOST = 4096  # levels, whose matrix takes 128 MB
_EXACT = 2**24  # OpenCV counts in float32, which holds whole numbers up to here


class HistogramTexture(NamedTuple):
    """What a histogram tells: `mean`, `variance`, `third` and `fourth` central moment, and the `smoothness` R."""

    mean: float
    variance: float
    third: float
    fourth: float
    smoothness: float


def relative_smoothness(variance, span: float = 1.0) -> np.ndarray:
    """R = 1 - 1/(1 + σ²): 0 where the intensity is constant, and towards 1 for large variances.

    The variance is divided by `span`² first, the square of the largest possible difference of intensities. With 8 bits
    and without that, which the textbook does not mention, R would be nearly 1 for everything.

        >>> round(float(relative_smoothness(0.84)), 6)
        0.456522

    Reference: Fu, Gonzalez & Lee (1987), (8.3-5).
    """
    full = positive(span, "relative_smoothness: 'span'")
    normal = floats(variance) / full / full
    if not (normal >= 0).all():
        raise ArgumentError("relative_smoothness: 'variance' must be numbers, 0 or more")
    return 1 - 1 / (1 + normal)


def histogram_texture(image, *, span: float | None = None) -> HistogramTexture:
    """Moments of the histogram of an image or of a region's pixels, as measures of texture.

    The image is (rows, columns). `span` is the largest possible difference of intensities, for `relative_smoothness`:
    255 and 65535 for 8 and 16 bits, and 1 for other dtypes if it is not given. Moments have the unit of the intensity.

        >>> round(histogram_texture(np.array([[0, 255], [255, 0]], np.uint8)).smoothness, 6)
        0.2

    Reference: Fu, Gonzalez & Lee (1987), (8.3-3) to (8.3-5).
    """
    f = gray(image, "histogram_texture")
    span = _SPAN.get(f.dtype.type, 1.0) if span is None else span
    span = positive(span, "histogram_texture: 'span'")
    if f.dtype.type in _SPAN:
        levels = np.arange(int(_SPAN[f.dtype.type]) + 1)
        m = histogram_moments(levels, counts_of(f, len(levels)))
    else:
        if not max(float(f.max()), -float(f.min())) < _LARGE:
            raise ArgumentError(f"histogram_texture: the image has a NaN, or a number beyond {_LARGE:g}")
        mean = f.mean(dtype=float)
        off = f - mean
        square = off * off
        m = np.array([mean, square.mean(), (square * off).mean(), (square * square).mean()])
    mean, variance, third, fourth = m.tolist()
    return HistogramTexture(mean, variance, third, fourth, float(relative_smoothness(variance, span)))


def cooccurrence(
    image, displacement: tuple[int, int] = (1, 0), *, levels: int | None = None, rows: str = "displaced"
) -> np.ndarray:
    """The counts A (levels, levels) of pairs of intensities at a `displacement` (Δu, Δv) from each other.

    A[i, j] counts pixels of intensity i that lie at the displacement from a pixel of intensity j, which is the
    textbook's matrix: `rows` are of the "displaced" pixels. With `rows="reference"` it is the transposed matrix, that
    of `skimage.feature.graycomatrix`. Pairs that reach out of the image do not count, so the sum is (columns - |Δu|)
    (rows - |Δv|). The image has whole numbers from 0; `levels` is one more than the largest if it is not given.
    `requantise(image, 8, spread=False)` makes few levels of many.

        >>> image = np.array([[0, 0, 0, 1, 2], [1, 1, 0, 1, 1], [2, 2, 1, 0, 0], [1, 1, 0, 2, 0], [0, 0, 1, 0, 1]])
        >>> cooccurrence(image, (1, 1)).tolist()
        [[4, 2, 1], [2, 3, 2], [0, 2, 0]]

    Reference: Fu, Gonzalez & Lee (1987), section 8.3.2; Haralick (1979).
    """
    f = gray(image, "cooccurrence")
    one_of(rows, ("displaced", "reference"), "cooccurrence: rows")
    if f.dtype.kind == "f":
        raise ArgumentError(
            f"cooccurrence: the image has {f.dtype}; it must have whole numbers: requantise(image, 8, spread=False)"
        )
    f = f.view(np.uint8) if f.dtype == np.bool_ else f
    k = _levels(f, levels)
    here, there = _pairs(f, displacement)
    first, second = (there, here) if rows == "displaced" else (here, there)
    return _joint(first, second, k)


def _levels(f: np.ndarray, levels: int | None) -> int:
    high = int(f.max())
    k = high + 1 if levels is None else count(levels, "cooccurrence: levels")
    if high >= k or (f.dtype.kind == "i" and f.min() < 0):
        raise ArgumentError(f"cooccurrence: the image has values from {f.min()} to {high}; 0 to {k - 1} are needed")
    if k > _MOST:
        raise ArgumentError(f"cooccurrence: {k} levels make a matrix that is too large; requantise to {_MOST} or fewer")
    return k


def _pairs(f: np.ndarray, displacement) -> tuple[np.ndarray, np.ndarray]:
    """The pixels that have a partner, and their partners."""
    try:
        du, dv = (int(count(abs(x), "cooccurrence: displacement")) * (1 if x >= 0 else -1) for x in displacement)
    except (TypeError, ValueError):
        raise ArgumentError(f"cooccurrence: 'displacement' is {displacement!r}; two whole numbers (Δu, Δv)") from None
    (n, m), a, b = f.shape, abs(dv), abs(du)
    if a >= n or b >= m:
        raise ArgumentError(f"cooccurrence: no two pixels of an image {f.shape} are {(du, dv)} apart, in (u, v)")
    low, high = (slice(0, n - a), slice(a, n)), (slice(0, m - b), slice(b, m))
    down, right = dv >= 0, du >= 0
    return f[low[not down], high[not right]], f[low[down], high[right]]


def _joint(first: np.ndarray, second: np.ndarray, k: int) -> np.ndarray:
    """How often each pair of values occurs: (k, k)."""
    cv2 = maybe_opencv() if first.dtype == np.uint8 else None
    rows = max(1, _EXACT // first.shape[1])
    if cv2 is None or first.shape[1] > _EXACT:
        total = np.zeros(k * k, np.int64)
        for r in range(0, len(first), rows):
            pairs = first[r : r + rows].astype(np.int64) * k + second[r : r + rows].astype(np.int64)
            total += np.bincount(pairs.ravel(), minlength=k * k)
        return total.reshape(k, k)
    parts = ([first[r : r + rows], second[r : r + rows]] for r in range(0, len(first), rows))
    counts = [cv2.calcHist(part, [0, 1], None, [k, k], [0, k, 0, k]).astype(np.int64) for part in parts]
    return np.sum(counts, axis=0)


class CooccurrenceDescriptors(NamedTuple):
    """Descriptors of co-occurrence matrices C = A / n: arrays with the leading shape of the matrices.

    | field | formula |
    |---|---|
    | `maximum` | max c |
    | `difference_moment` | Σ (i - j)^k c |
    | `inverse_difference_moment` | Σ c / (i - j)^k over i ≠ j |
    | `entropy` | -Σ c ln c [nat] |
    | `entropy_bits` | -Σ c log₂ c [bit] |
    | `uniformity` | Σ c² |
    """

    maximum: np.ndarray
    difference_moment: np.ndarray
    inverse_difference_moment: np.ndarray
    entropy: np.ndarray
    entropy_bits: np.ndarray
    uniformity: np.ndarray


def cooccurrence_descriptors(matrix, order: int = 2) -> CooccurrenceDescriptors:
    """Haralick's descriptors of co-occurrence matrices (..., k, k), counts or probabilities, which are scaled to sum 1.

    `order` is the power of i - j in both moments; with an odd one, terms of opposite sign cancel. Order 2 is what
    `skimage.feature.graycoprops` calls contrast, and the uniformity is its "ASM". Its homogeneity is another measure
    than the inverse moment.

        >>> found = cooccurrence_descriptors([[4, 2, 1], [2, 3, 2], [0, 2, 0]])
        >>> float(found.maximum), float(found.difference_moment), float(found.uniformity)
        (0.25, 0.75, 0.1640625)

    Reference: Fu, Gonzalez & Lee (1987), section 8.3.2, items 1 to 5; in item 3 the sum belongs before the fraction.
    """
    A, k = real_floats(matrix), count(order, "cooccurrence_descriptors: order")
    if A.ndim < 2 or A.shape[-1] != A.shape[-2] or not A.size:
        raise ArgumentError(f"cooccurrence_descriptors: the matrix has shape {A.shape}; (..., k, k) is needed")
    total = A.sum(axis=(-2, -1), keepdims=True)
    if not ((A >= 0).all() and (total > 0).all()):
        raise ArgumentError("cooccurrence_descriptors: counts must be 0 or more, with a positive sum")
    C = A / total
    difference = np.subtract.outer(np.arange(A.shape[-1]), np.arange(A.shape[-1])).astype(float)
    apart = difference != 0
    powers = difference**k
    entropy = -(C * np.log(np.where(C > 0, C, 1.0))).sum(axis=(-2, -1))
    return CooccurrenceDescriptors(
        C.max(axis=(-2, -1)),
        (powers * C).sum(axis=(-2, -1)),
        (apart * C / np.where(apart, powers, 1.0)).sum(axis=(-2, -1)),
        entropy,
        entropy / np.log(2.0),
        (C * C).sum(axis=(-2, -1)),
    )
