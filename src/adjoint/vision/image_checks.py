"""Checks of images that users give: `gray`, `binary` and `colour` name what is wrong, and copy only what must be."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compile.front.arguments import unmasked
from ..errors import ArgumentError
from ..extras import package

__all__ = ["binary", "colour", "gray", "maybe_opencv", "opencv", "opencv_image"]

_FITS_OPENCV = (np.uint8, np.uint16, np.int16, np.float32, np.float64)


def gray(image, caller: str) -> np.ndarray:
    """The image (rows, columns) as it is, of truth values, whole numbers or floats, or an `ArgumentError`.

    NaN and infinity are not looked for: that would take longer than many filters do. Numbers in the byte order of
    another machine become those of this one, and floats of more than 64 bits become float64.
    """
    if type(image) is np.ndarray and image.ndim == 2 and image.size and _is_plain(image.dtype):
        return image  # some filters need 100 µs for a megapixel, so that 5 µs of checks would count
    found = _array(image, caller)
    if found.ndim != 2:
        hint = "; a colour image has a gray one in vision.gray_levels(image)" if found.ndim == 3 else ""
        raise ArgumentError(f"{caller}: the image has shape {found.shape}; (rows, columns) is needed{hint}")
    return _not_empty(found, caller)


def colour(image, caller: str) -> np.ndarray:
    """The image (rows, columns, 3), red, green, blue, as it is, or an `ArgumentError`."""
    if type(image) is np.ndarray and image.shape[2:] == (3,) and image.size and _is_plain(image.dtype):
        return image
    found = _array(image, caller)
    if found.ndim != 3 or found.shape[2] != 3:
        raise ArgumentError(
            f"{caller}: the image has shape {found.shape}; (rows, columns, 3), red, green, blue, is needed"
        )
    return _not_empty(found, caller)


def binary(image, caller: str) -> np.ndarray:
    """The image (rows, columns) as truth values: True is the object.

    Truth values are taken as they are. Numbers may be 0 and one other value, such as 1 or OpenCV's 255.
    """
    found = gray(image, caller)
    if found.dtype == np.bool_:
        return found
    truth = found.astype(bool)
    values = found[truth]
    if values.size and not (values == values[0]).all():
        raise ArgumentError(
            f"{caller}: a binary image is needed, of truth values, or of 0 and one other number; this one has more "
            "than two values. A threshold makes one: image > 128"
        )
    return truth


def _array(image, caller: str) -> np.ndarray:
    try:
        found = np.asarray(unmasked(image))
    except (TypeError, ValueError):
        found = np.asarray(None)
    if found.dtype.kind not in "buif":
        kind = found.dtype if isinstance(image, np.ndarray) else type(image).__name__
        raise ArgumentError(f"{caller}: the image must be an array of real numbers, got {kind}")
    if _is_plain(found.dtype):
        return found
    return found.astype(np.float64 if found.dtype.itemsize > 8 else found.dtype.newbyteorder("="))


def _is_plain(dtype: np.dtype) -> bool:
    """Whether numbers are real, in the byte order of this machine, and of a size that libraries know."""
    return dtype.kind in "buif" and dtype.isnative and dtype.itemsize <= 8


def _not_empty(image: np.ndarray, caller: str) -> np.ndarray:
    if not image.size:
        raise ArgumentError(f"{caller}: the image has shape {image.shape}, which has no pixels")
    return image


def opencv(caller: str) -> Any:
    """The module `cv2`, or a `MissingPackageError` that names the function and the extra."""
    return maybe_opencv() or package("cv2", "vision", caller)


def maybe_opencv() -> Any:
    """The module `cv2`, or None if it is not installed: for what NumPy does too, but not as fast."""
    try:
        import cv2
    except ImportError:
        return None
    return cv2


def opencv_image(image: np.ndarray) -> np.ndarray:
    """The image with a dtype that OpenCV filters: itself, or a copy as uint8 (truth values) or float64 (the rest)."""
    if image.dtype in _FITS_OPENCV:
        return image
    return image.astype(np.uint8 if image.dtype == np.bool_ else np.float64)
