"""Smoothing of gray images: means and medians of neighbourhoods, and means of many frames.

Fu, Gonzalez & Lee (1987), §7.6.2; binary images are in `binary_smoothing`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import count
from ..image_checks import gray, maybe_opencv, opencv, opencv_image
from .options import border_type, window

__all__ = ["FrameMean", "average_frames", "mean_filter", "median_filter"]

_CROSS = np.array([[0, 0.2, 0], [0.2, 0.2, 0.2], [0, 0.2, 0]])
_OPENCV_MEDIANS = (np.uint16, np.int16, np.float32)  # of these, OpenCV has medians of 3 × 3 and 5 × 5 windows


def mean_filter(image, size: int | tuple[int, int] | str = 3, *, border: str = "nearest") -> np.ndarray:
    """The image with every pixel replaced by the mean of its neighbourhood, (rows, columns).

    `size` is that of a square window, or (rows, columns), odd; or "cross" for the pixel and its 4-neighbours. `border`
    is as in `apply_mask`. The dtype stays, with 8 and 16 bits rounded; truth values become float32, other whole numbers
    float64.

        >>> mean_filter(np.array([[10, 20, 20], [20, 15, 20], [20, 25, 100]], np.uint8))[1, 1]
        np.uint8(28)

    It wraps `cv2.blur`, or `cv2.filter2D` for the cross. Fu, Gonzalez & Lee (1987), (7.6-8).
    """
    cv2 = opencv("mean_filter")
    f = gray(image, "mean_filter")
    f = f.astype(np.float32) if f.dtype == np.bool_ else opencv_image(f)
    edge = border_type(border, cv2, "mean_filter")
    if isinstance(size, str) and size == "cross":
        return cv2.filter2D(f, -1, _CROSS, borderType=edge)
    rows, columns = window(size, "mean_filter")
    return cv2.blur(f, (columns, rows), borderType=edge)


def median_filter(image, size: int = 3, *, passes: int = 1) -> np.ndarray:
    """The image with every pixel replaced by the median of a square window around it, with its dtype.

    The median of n × n levels is the one of rank (n² + 1)/2. Beyond its border the image repeats its last pixel. With
    `passes` the filter runs again on its result, which removes dense impulse noise.

        >>> median_filter(np.array([[10, 20, 20], [20, 15, 20], [20, 25, 100]], np.uint8))[1, 1]
        np.uint8(20)

    It wraps `cv2.medianBlur` for 8 bits, and for windows of 3 and 5 where float32 holds the image exactly; the rest is
    `scipy.ndimage.median_filter`, which takes 0.1 s to 1 s for a megapixel. Fu, Gonzalez & Lee (1987), §7.6.2.
    """
    f = gray(image, "median_filter")
    rows, columns = window(size, "median_filter")
    if rows != columns:
        raise ArgumentError(f"median_filter: size is {size!r:.60}; the window must be square")
    for _ in range(count(passes, "median_filter: passes")):
        f = _median(f, rows)
    return f


def _median(f: np.ndarray, size: int) -> np.ndarray:
    cv2, kind = maybe_opencv(), f.dtype.type
    if cv2 is not None and size > 1:
        if kind is np.uint8 and size < 256:
            return cv2.medianBlur(f, size)
        if kind is np.bool_ and size < 256:
            return cv2.medianBlur(f.view(np.uint8), size).view(bool)
        if size <= 5:
            if kind in _OPENCV_MEDIANS:
                return cv2.medianBlur(f, size)
            single = f.astype(np.float32)
            if (single == f).all():
                return cv2.medianBlur(single, size).astype(f.dtype)
    from scipy import ndimage  # slow to load

    if kind is np.float16:  # SciPy has none of these
        return ndimage.median_filter(f.astype(np.float32), size, mode="nearest").astype(f.dtype)
    return ndimage.median_filter(f, size, mode="nearest")


class FrameMean(NamedTuple):
    """The mean of frames: `image` float64, the standard `deviation` of its pixels, and the number of `frames`.

    The deviation of one frame is estimated from the scatter of the K frames, and divided by √K for their mean
    (7.6-13). It has the shape of the image, and is NaN for one frame.
    """

    image: np.ndarray
    deviation: np.ndarray
    frames: int


def average_frames(frames: Iterable) -> FrameMean:
    """The mean of K frames of a scene at rest, (rows, columns) or (rows, columns, 3) each, and how certain it is.

    `frames` is any sequence of images of one shape, read one by one, so a generator may deliver them. Noise that is
    independent from frame to frame falls as 1/√K; what moves is smeared. Where a frame has NaN or infinity, the result
    has NaN.

        >>> mean = average_frames(np.array([[[1.0]], [[2.0]], [[3.0]]]))
        >>> float(mean.image[0, 0]), round(float(mean.deviation[0, 0]), 4)
        (2.0, 0.5774)

    Fu, Gonzalez & Lee (1987), (7.6-9) to (7.6-13).
    """
    first, total, squares, K = None, None, None, 0
    for frame in frames:
        f = np.asarray(frame)
        if (
            f.dtype.kind not in "buif"
            or f.ndim not in (2, 3)
            or not f.size
            or (first is not None and f.shape != first.shape)
        ):
            needed = "(rows, columns[, 3])" if first is None else str(first.shape)
            raise ArgumentError(
                f"average_frames: frame {K} has dtype {f.dtype} and shape {f.shape}; real numbers {needed} are needed"
            )
        if first is None or total is None or squares is None:
            first, total, squares = f.astype(float), np.zeros(f.shape), np.zeros(f.shape)
        with np.errstate(invalid="ignore"):  # pixels that are infinite become NaN
            away = f - first  # small numbers, whose squares lose no digits
        total += away
        away *= away
        squares += away
        K += 1
    if first is None or total is None or squares is None:
        raise ArgumentError("average_frames: there are no frames")
    mean = total / K
    if K == 1:
        return FrameMean(first, np.full(first.shape, np.nan), 1)
    variance = np.maximum(squares - total * mean, 0.0) / (K - 1)
    return FrameMean(first + mean, np.sqrt(variance / K), K)
