"""Gradients, the Laplacian, and edges where the gradient is large.

Fu, Gonzalez & Lee (1987), §7.6.4. Their x points down and y to the right, so their G_x is our `v` and their G_y our
`u`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ..image_checks import gray, maybe_opencv, opencv, opencv_image
from .options import border_type, finite_number

__all__ = [
    "Gradient",
    "first_differences",
    "gradient_direction",
    "gradient_edges",
    "gradient_magnitude",
    "laplacian",
    "sobel",
]


class Gradient(NamedTuple):
    """A gradient: `u` (rows, columns) is the slope to the right (the textbook's G_y), and `v` downwards (its G_x)."""

    u: np.ndarray
    v: np.ndarray


def _real(f: np.ndarray) -> type:
    """The float type that holds differences of the image: float32 for up to 16 bits, where it is exact."""
    return (
        np.float32
        if f.dtype.type in (np.bool_, np.uint8, np.int8, np.uint16, np.int16, np.float16, np.float32)
        else np.float64
    )


def first_differences(image) -> Gradient:
    """The differences to the left neighbour, f(r, c) - f(r, c - 1), and to the upper one, f(r, c) - f(r - 1, c).

    They are 0 in the first column and the first row. The result is float32 for images of up to 16 bits and for float32,
    else float64.

        >>> first_differences(np.array([[10, 30], [10, 25]], np.uint8)).u
        array([[ 0., 20.],
               [ 0., 15.]], dtype=float32)

    Fu, Gonzalez & Lee (1987), (7.6-40) and (7.6-41).
    """
    f = gray(image, "first_differences")
    u, v = np.zeros((2, *f.shape), _real(f))
    f = f.view(np.uint8) if f.dtype == np.bool_ else f
    np.subtract(f[:, 1:], f[:, :-1], out=u[:, 1:], dtype=u.dtype, casting="unsafe")
    np.subtract(f[1:], f[:-1], out=v[1:], dtype=v.dtype, casting="unsafe")
    return Gradient(u, v)


def sobel(image, *, border: str = "nearest") -> Gradient:
    """The gradient by Sobel's masks: differences across two pixels, averaged with weights 1, 2, 1.

    On a ramp of slope 1 for each pixel it is 8. The masks for `u` are [-1 0 1; -2 0 2; -1 0 1]; those for `v` are their
    transpose. `border` is as in `apply_mask`. The result is float32 for up to 16 bits and for float32, else float64.

        >>> sobel(np.tile(np.array([10, 10, 10, 20, 30, 30, 30], np.uint8), (3, 1))).u[1]
        array([ 0.,  0., 40., 80., 40.,  0.,  0.], dtype=float32)

    It wraps `cv2.Sobel`. Fu, Gonzalez & Lee (1987), (7.6-42) and (7.6-43).
    """
    cv2 = opencv("sobel")
    f = opencv_image(gray(image, "sobel"))
    depth = cv2.CV_64F if f.dtype == np.float64 else cv2.CV_32F
    edge = border_type(border, cv2, "sobel")
    return Gradient(cv2.Sobel(f, depth, 1, 0, borderType=edge), cv2.Sobel(f, depth, 0, 1, borderType=edge))


def gradient_magnitude(gradient: Gradient, form: str = "euclidean") -> np.ndarray:
    """The magnitude of a gradient: √(u² + v²), or |u| + |v| with `form="absolute"`, which is up to √2 times as large.

        >>> gradient_magnitude(Gradient(np.array([[3.0]]), np.array([[4.0]])))
        array([[5.]])

    Fu, Gonzalez & Lee (1987), (7.6-38) and (7.6-39).
    """
    u, v = _parts(gradient, "gradient_magnitude")
    if form == "absolute":
        return np.abs(u) + np.abs(v)
    if form != "euclidean":
        raise ArgumentError(f"gradient_magnitude: form is {form!r:.60}; it must be 'euclidean' or 'absolute'")
    cv2 = maybe_opencv()
    if cv2 is None or np.ndim(u) != 2 or u.dtype.type not in (np.float32, np.float64):
        return np.hypot(u, v)
    return cv2.magnitude(u, v)


def gradient_direction(gradient: Gradient) -> np.ndarray:
    """The direction in which the levels grow most: atan2(v, u) in (-π, π] [rad], from the axis u towards the axis v.

    It is 0 where levels grow to the right, and π/2 where they grow downwards. Where the gradient is 0 it is 0.

        >>> gradient_direction(Gradient(np.array([[0.0]]), np.array([[2.0]])))
        array([[1.57079633]])

    Fu, Gonzalez & Lee (1987), (8.2-2).
    """
    u, v = _parts(gradient, "gradient_direction")
    return np.arctan2(v, u)


def _parts(gradient, caller: str) -> Gradient:
    """Both parts of a gradient as arrays of one shape; they may have any number of dimensions."""
    try:
        u, v = (np.asarray(x) for x in gradient)
    except (TypeError, ValueError):
        u = v = np.empty(0, object)
    if u.shape != v.shape or u.dtype.kind not in "buif" or v.dtype.kind not in "buif":
        raise ArgumentError(f"{caller}: a pair (u, v) of arrays of one shape is needed, such as sobel(image)")
    return Gradient(u, v)


def gradient_edges(image, threshold, *, operator: str = "sobel", form: str = "euclidean") -> np.ndarray:
    """Where the magnitude of the gradient is greater than a `threshold`, (rows, columns) bool.

    `operator` is "sobel" or "differences"; `form` is that of `gradient_magnitude`.

        >>> gradient_edges(np.array([[0, 0, 9, 9]] * 3, np.uint8), 20)[1]
        array([False,  True,  True, False])

    Fu, Gonzalez & Lee (1987), (7.6-45).
    """
    t = finite_number(threshold, "threshold", "gradient_edges")
    if operator not in ("sobel", "differences"):
        raise ArgumentError(f"gradient_edges: operator is {operator!r:.60}; it must be 'sobel' or 'differences'")
    return gradient_magnitude(sobel(image) if operator == "sobel" else first_differences(image), form) > t


def laplacian(image, *, border: str = "nearest") -> np.ndarray:
    """The sum of the four neighbours less four times the pixel, float32 or float64 as `sobel`.

    It is positive on the dark side of an edge, negative on the light side, and 0 on a ramp. It is -4 times the pixel
    less the mean of its 4-neighbours. `skimage.filters.laplace` has the other sign.

        >>> laplacian(np.tile(np.array([10, 10, 10, 20, 30, 30, 30], np.uint8), (3, 1)))[1]
        array([  0.,   0.,  10.,   0., -10.,   0.,   0.], dtype=float32)

    It wraps `cv2.Laplacian`. Fu, Gonzalez & Lee (1987), the first of two equations (7.6-47).
    """
    cv2 = opencv("laplacian")
    f = opencv_image(gray(image, "laplacian"))
    depth = cv2.CV_64F if f.dtype == np.float64 else cv2.CV_32F
    return cv2.Laplacian(f, depth, ksize=1, borderType=border_type(border, cv2, "laplacian"))
