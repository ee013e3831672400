"""Local enhancement: what a pixel becomes depends on the levels around it.

Fu, Gonzalez & Lee (1987), §7.6.3.
"""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ...extras import package
from ..image_checks import gray, opencv
from .options import border_type, finite_number, window

__all__ = ["enhance_locally", "equalise_locally"]

_COUNTED = 900  # pixels of a window, up to which counting is faster than moving a histogram


def equalise_locally(image, size: int | tuple[int, int] = 7) -> np.ndarray:
    """The image in which every pixel is equalized by the histogram of a window around it alone.

    A pixel becomes s, the share of the window's pixels that are not lighter: s itself for floats, and ⌊(L - 1) s⌋ for 8
    and 16 bits, with L = 256 and 65536. `size` is odd, or (rows, columns). Windows end at the border of the image.

        >>> equalise_locally(np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.uint8), 3)[1, 1]      # 255 · 5/9
        np.uint8(141)

    Small windows are counted directly. For large ones of 8 bits it wraps `skimage.filters.rank.equalize`, which gives
    the same. CLAHE is another method. Fu, Gonzalez & Lee (1987), §7.6.3, Fig. 7.32.
    """
    f = gray(image, "equalise_locally")
    rows, columns = window(size, "equalise_locally")
    if f.dtype.kind != "f" and f.dtype.type not in (np.uint8, np.uint16):
        raise ArgumentError(
            f"equalise_locally: an image of {f.dtype} is not taken; 8 or 16 bits, or floats, are needed"
        )
    if f.dtype == np.uint8 and rows * columns > _COUNTED:
        rank = package("skimage.filters.rank", "vision", "equalise_locally")
        f = f if f.flags.writeable else f.copy()  # scikit-image takes no others
        return rank.equalize(f, np.ones((rows, columns), np.uint8))
    counts, pixels = _not_lighter(f, rows, columns)
    if f.dtype.kind == "f":
        return (counts / pixels).astype(f.dtype, copy=False)
    most = np.iinfo(f.dtype).max
    return (counts * np.uint64(most) // pixels).astype(f.dtype)


def _not_lighter(f: np.ndarray, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """How many pixels of the window around each pixel are not lighter, and how many there are in the image."""
    (height, width), whole = f.shape, f.dtype.kind != "f"
    beyond = np.iinfo(f.dtype).max if whole else np.nan  # is lighter than all, or equal to the lightest
    framed = np.pad(f, ((rows // 2,) * 2, (columns // 2,) * 2), constant_values=beyond)
    counts = np.zeros(f.shape, np.uint64)
    step = max(1, 2**16 // width)  # a strip of so many rows stays in the cache
    for top in range(0, height, step):
        middle = f[top : top + step]
        hit, part = np.empty(middle.shape, np.uint8), np.empty(middle.shape, np.uint8)
        for i in range(top, top + rows):
            strip = framed[i : i + len(middle)]
            for first in range(0, columns, 255):  # sums that fit into 8 bits
                part[:] = 0
                for j in range(first, min(first + 255, columns)):
                    np.less_equal(strip[:, j : j + width], middle, out=hit.view(bool))
                    part += hit
                counts[top : top + step] += part
    inside = np.multiply.outer(*(_window_lengths(n, m) for n, m in ((height, rows), (width, columns))))
    if whole:
        counts -= (np.uint64(rows * columns) - inside) * (f == beyond)
    return counts, inside


def _window_lengths(n: int, size: int) -> np.ndarray:
    """How much of a window of `size` lies within 0 to n - 1, for each middle."""
    at = np.arange(n)
    return (np.minimum(at + size // 2, n - 1) - np.maximum(at - size // 2, 0) + 1).astype(np.uint64)


def enhance_locally(
    image,
    size: int | tuple[int, int] = 15,
    *,
    gain: float = 0.5,
    gain_limits: tuple[float, float] = (1.0, 5.0),
    mean_share: float = 1.0,
    global_mean: float | None = None,
    border: str = "nearest",
) -> np.ndarray:
    """The image with more contrast where there is little: g = A (f - m) + share · m, with A = gain · M / σ.

    m and σ are the mean and the standard deviation in a window of `size` around each pixel, and M is the mean of the
    image, or `global_mean`. A is kept within `gain_limits`: without an upper limit, flat areas with a little noise
    become all noise. Where σ = 0, g is share · m. The dtype stays; whole numbers are rounded and kept in its range, and
    truth values become float64.

        >>> f = np.full((3, 3), 50.0)
        >>> f[1, 1] = 60
        >>> round(float(enhance_locally(f, 3, global_mean=100, gain_limits=(0, 1e9))[1, 1]), 2)
        192.53

    Fu, Gonzalez & Lee (1987), (7.6-35) and (7.6-36), after Narendra and Fitch (1981).
    """
    cv2 = opencv("enhance_locally")
    f = gray(image, "enhance_locally")
    rows, columns = window(size, "enhance_locally")
    k, share = (finite_number(x, name, "enhance_locally") for x, name in ((gain, "gain"), (mean_share, "mean_share")))
    try:
        low, high = (float(x) for x in gain_limits)
    except (TypeError, ValueError):
        low = high = np.nan
    if not (k > 0 and 0 <= low <= high):
        raise ArgumentError(
            f"enhance_locally: gain is {gain!r:.40} and gain_limits is {gain_limits!r:.60}; a positive gain and limits "
            "0 <= least <= most are needed"
        )
    M = float(f.mean()) if global_mean is None else finite_number(global_mean, "global_mean", "enhance_locally")
    edge = border_type(border, cv2, "enhance_locally")
    away = f.astype(float)
    middle = float(away.ravel()[0]) if global_mean is None and not np.isfinite(M) else M
    with np.errstate(invalid="ignore"):
        away -= middle  # variances of small numbers lose fewer digits
    m = cv2.blur(away, (columns, rows), borderType=edge)
    variance = cv2.sqrBoxFilter(away, -1, (columns, rows), borderType=edge)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        variance -= m * m
        sigma = np.sqrt(np.maximum(variance, 0.0, out=variance), out=variance)
        A = np.clip(k * M / sigma, low, high)
        A[sigma == 0] = 0.0
        g = A * (away - m) + share * (m + middle)
    if f.dtype.kind not in "iu":
        return g if f.dtype == np.bool_ else g.astype(f.dtype, copy=False)
    least, most = float(np.iinfo(f.dtype).min), float(np.iinfo(f.dtype).max)
    if most > np.iinfo(f.dtype).max:  # 64 bits: the next float above it does not fit
        most = np.nextafter(most, 0.0)
    return np.clip(np.floor(g + 0.5), least, most).astype(f.dtype)
