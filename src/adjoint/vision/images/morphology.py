"""Erosion, dilation, opening and closing of binary and gray images, through OpenCV."""

from __future__ import annotations

import functools

import numpy as np

from ...errors import ArgumentError
from ..image_checks import gray, opencv, opencv_image
from .options import window

__all__ = ["closing", "dilation", "erosion", "opening"]

_CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.uint8)


@functools.lru_cache(maxsize=64)
def _rectangle(shape: tuple[int, int]) -> np.ndarray:
    return np.ones(shape, np.uint8)


def _element(element, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """The structuring element as uint8, with odd sides, and the same turned by 180°."""
    if isinstance(element, str) and element == "cross":
        return _CROSS, _CROSS
    if isinstance(element, (str, int, np.integer, tuple)):
        found = _rectangle(window(element, caller))
        return found, found
    found = np.asarray(element)
    if found.ndim != 2 or not all(n % 2 for n in found.shape) or not found.any():
        raise ArgumentError(
            f"{caller}: element has shape {found.shape}; it must be an odd number, 'cross', or an array (odd, odd) "
            "with at least one pixel set"
        )
    found = (found != 0).astype(np.uint8)
    return found, found[::-1, ::-1].copy()


def _run(image, element, caller: str, *steps: str) -> np.ndarray:
    cv2 = opencv(caller)
    f, (e, turned) = gray(image, caller), _element(element, caller)
    truth = f.dtype == np.bool_
    if not truth and f.dtype.kind in "iu" and f.dtype.itemsize > 2:
        raise ArgumentError(f"{caller}: an image of {f.dtype} is not taken; bool, 8 or 16 bits or floats are needed")
    g = f.view(np.uint8) if truth else opencv_image(f)
    for k, step in enumerate(steps):
        own = g if k else None  # the second step may overwrite the first one's image, which saves the memory of another
        # OpenCV looks at f(x + b) in both; the set a + b of a dilation asks for f(x - b).
        g = cv2.erode(g, e, own) if step == "erode" else cv2.dilate(g, turned, own)
    if g.dtype == f.dtype:
        return g
    if f.dtype == np.int8:  # which OpenCV sees as float64
        g = np.clip(g, -128, 127)
    with np.errstate(over="ignore"):  # where the element meets no pixel at all
        return g.view(bool) if truth else g.astype(f.dtype, copy=False)


def erosion(image, element=3) -> np.ndarray:
    """The least level under the element B at each pixel, min f(x + b), with the dtype of the image.

    Of a binary image it is A ⊖ B, the pixels at which B fits into the object. `element` is the odd side of a square,
    (rows, columns), "cross", or an array of 0 and 1 with odd sides, whose middle is its origin. Pixels beyond the
    border do not count; where an element without its middle meets no pixel, the level is the largest of the dtype.

        >>> erosion(np.array([[0, 0, 0, 0], [1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 0]], bool)).sum()
        np.int64(4)

    It wraps `cv2.erode`.
    """
    return _run(image, element, "erosion", "erode")


def dilation(image, element=3) -> np.ndarray:
    """The greatest level under the reflected element, max f(x - b), with the dtype of the image.

    Of a binary image it is A ⊕ B = {a + b}. Where B̂ is the element turned by 180°, the dual of dilation is erosion:
    not (A ⊖ B) = (not A) ⊕ B̂. `element` is as in `erosion`.

        >>> dilation(np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], bool), "cross").sum()
        np.int64(5)

    It wraps `cv2.dilate`, with the element turned.
    """
    return _run(image, element, "dilation", "dilate")


def opening(image, element=3) -> np.ndarray:
    """An erosion and then a dilation: what of the object the element can cover from inside. It removes what is small.

    Twice is once: opening(opening(A)) = opening(A) ⊆ A.

        >>> opening(np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], bool)).any()
        np.False_
    """
    return _run(image, element, "opening", "erode", "dilate")


def closing(image, element=3) -> np.ndarray:
    """A dilation and then an erosion: it fills what the element cannot reach from outside. Twice is once.

    >>> closing(np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]], bool)).all()
    np.True_
    """
    return _run(image, element, "closing", "dilate", "erode")
