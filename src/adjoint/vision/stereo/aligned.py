"""Aligned stereo as in the textbook: two equal cameras whose axes are parallel, and whose images lie in one plane.

Fu, Gonzalez & Lee (1987), §7.4.5. The frame is that of camera 1 in the book: the image plane is Z = 0, the centre of
the lens is at Z = λ, the scene at Z > λ, and images are inverted, x = λ X / (λ - Z). The second camera stands at
X = -B: (7.4-52) says X_2 = X_1 + B. So x_2 - x_1 = λ B / (λ - Z) is negative for all points in front of the lenses.

In the frame of this library, whose origin is the lens centre of camera 1, x_cv = X, y_cv = Y, Z_cv = Z - λ. There the
image is upright, and camera 2 is the left one of the two: the disparity u_2 - u_1 = f B / Z_cv is -(x_2 - x_1), divided
by the width of a pixel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import kernel

__all__ = ["AlignedImages", "aligned_covariance", "aligned_images", "aligned_point"]


class AlignedImages(NamedTuple):
    """Where two aligned cameras see a point, in the book's coordinates on their image planes [m]; y_2 is y_1."""

    x_1: np.ndarray
    y_1: np.ndarray
    x_2: np.ndarray


@kernel(point=3)
def aligned_images(point, focal_length, baseline) -> AlignedImages:
    """The images of a `point` (X, Y, Z) (3,) [m] in two aligned cameras: (7.4-54) and (7.4-55); NaN where Z <= λ.

        >>> aligned_images([0.2, 0.1, 1.5], 0.035, 0.1).x_2.round(7)
        np.float64(-0.0071672)

    `focal_length` is the book's λ and `baseline` its B [m]. Reference: Fu, Gonzalez & Lee (1987), §7.4.5.
    """
    X, Y, Z = point
    scale = focal_length / np.where(focal_length < Z, focal_length - Z, np.nan)
    return AlignedImages(scale * X, scale * Y, scale * (X + baseline))


@kernel
def aligned_point(x_1, y_1, x_2, focal_length, baseline) -> np.ndarray:
    """The point (X, Y, Z) (3,) [m], in the book's frame of camera 1, that two aligned cameras see at x_1, y_1 and x_2.

        >>> aligned_point(*aligned_images([0.2, 0.1, 1.5], 0.035, 0.1), 0.035, 0.1).round(9)
        array([0.2, 0.1, 1.5])

    Z = λ - λ B / (x_2 - x_1), (7.4-56), is the distance from the image plane, not from the lens. X and Y follow from
    (7.4-30) and (7.4-31). Images with x_2 >= x_1 belong to no point in front of the lenses, and give NaN.
    """
    difference = x_2 - x_1
    Z = focal_length - focal_length * baseline / np.where(difference < 0, difference, np.nan)
    scale = (focal_length - Z) / focal_length
    return np.stack([scale * x_1, scale * y_1, Z])


@kernel
def aligned_covariance(x_1, y_1, x_2, focal_length, baseline, sigma) -> np.ndarray:
    """The covariance (3, 3) [m²] of `aligned_point` where x_1, y_1 and x_2 have independent errors of `sigma` [m].

        >>> C = aligned_covariance(*aligned_images([0.0, 0.0, 2.0], 0.035, 0.1), 0.035, 0.1, 5e-6)
        >>> float(np.sqrt(C[2, 2]).round(4))                            # √2 σ (Z - λ)² / (λ B)
        0.0078

    It is J Jᵀ σ² to first order: errors of depth grow with the square of the distance.
    """
    by = aligned_point.jacobian("x_1", "y_1", "x_2")(x_1, y_1, x_2, focal_length, baseline)
    J = np.stack([by.x_1, by.y_1, by.x_2], axis=-1)
    return sigma**2 * (J @ J.T)
