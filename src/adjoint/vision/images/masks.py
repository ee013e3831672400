"""Masks that move over an image: responses, and the detector of isolated points.

Fu, Gonzalez & Lee (1987), §7.6.1. A mask is not turned: what the book calls a convolution mask is a correlation.
"""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ..image_checks import gray, opencv, opencv_image
from .options import border_type, finite_number

__all__ = ["POINT_MASK", "apply_mask", "isolated_points"]

POINT_MASK = np.array([[-1.0, -1, -1], [-1, 8, -1], [-1, -1, -1]])
"""The mask of Fig. 7.21, which is 0 on constant levels and largest on isolated points."""
POINT_MASK.setflags(write=False)


def apply_mask(image, mask, *, border: str = "nearest") -> np.ndarray:
    """The response g(r, c) = Σ w(i, j) f(r + i, c + j) of a mask w (odd, odd) at every pixel, (rows, columns).

    The middle of the mask moves over the image; all responses follow from the image as it was. Beyond its border the
    image repeats its last pixel (`border="nearest"`), or is a mirror about the last pixel ("mirror") or behind it
    ("reflect"), or is 0 ("zero"). The result is float32 for 8-bit and float32 images, else float64.

        >>> apply_mask(np.array([[10, 10, 10], [10, 60, 10], [10, 10, 10]], np.uint8), POINT_MASK)[1]
        array([-50., 400., -50.], dtype=float32)

    It wraps `cv2.filter2D`. Fu, Gonzalez & Lee (1987), (7.6-3).
    """
    cv2 = opencv("apply_mask")
    f = gray(image, "apply_mask")
    w = np.asarray(mask)
    if w.ndim != 2 or not all(n % 2 for n in w.shape) or w.dtype.kind not in "buif":
        raise ArgumentError(
            f"apply_mask: the mask has shape {w.shape}; numbers of shape (rows, columns) are needed, both odd"
        )
    f = opencv_image(f)
    depth = cv2.CV_32F if f.dtype.type in (np.uint8, np.float32) else cv2.CV_64F
    return cv2.filter2D(f, depth, w.astype(np.float64, copy=False), borderType=border_type(border, cv2, "apply_mask"))


def isolated_points(image, threshold, *, border: str = "nearest") -> np.ndarray:
    """Where pixels differ from all around them, (rows, columns) bool: where |response of the point mask| > `threshold`.

    The response is 8 times the pixel less its eight neighbours. A neighbour of a point responds with an eighth of the
    point, and the other sign, so a threshold above an eighth of the strongest response finds points alone.

        >>> isolated_points(np.array([[10, 10, 10], [10, 60, 10], [10, 10, 10]], np.uint8), 100).sum()
        np.int64(1)

    Fu, Gonzalez & Lee (1987), Fig. 7.21.
    """
    t = finite_number(threshold, "threshold", "isolated_points")
    return np.abs(apply_mask(image, POINT_MASK, border=border)) > t
