"""The lens for one sample: distortion and its inverse, the pixel of a point and the direction of a pixel, as kernels.

The kernels have the camera's numbers as inputs, so no camera is compiled on its own; a batch of poses, or of cameras,
is a batch of the kernels `pixel_of_point` and `direction_of_pixel`.
"""

from __future__ import annotations

import numpy as np

from ...compile import kernel, while_loop

__all__ = [
    "direction_of_pixel",
    "distorted",
    "ideal_point",
    "pixel_of_point",
    "pixel_on_image",
    "radial_factor",
    "undistorted",
]

_STEPS, _CLOSE = 40, 1e-9  # Newton's iteration ends when its step was this small; then its error is about the square


def radial_factor(s, k):
    """ρ and dρ/ds at s = r², where k (8,) are OpenCV's coefficients."""
    N, D = 1 + s * (k[0] + s * (k[1] + s * k[4])), 1 + s * (k[5] + s * (k[6] + s * k[7]))
    dN, dD = k[0] + s * (2 * k[1] + 3 * s * k[4]), k[5] + s * (2 * k[6] + 3 * s * k[7])
    rho = N / D
    return rho, (dN - rho * dD) / D


@kernel(point=2, distortion=8)
def distorted(point, distortion) -> np.ndarray:
    """The point (x_d, y_d) (2,) where a lens with this `distortion` (8,) shows the `point` (x, y) of the plane z = 1.

        >>> distorted([0.5, 0.0], [-0.2, 0, 0, 0, 0, 0, 0, 0])
        array([0.475, 0.   ])

    The formula is that of `Camera`; Brown (1971), "Close-range camera calibration".
    """
    x, y, k = point[0], point[1], distortion
    s = x * x + y * y
    rho = (1 + s * (k[0] + s * (k[1] + s * k[4]))) / (1 + s * (k[5] + s * (k[6] + s * k[7])))
    two = 2 * x * y
    return np.stack([x * rho + k[2] * two + k[3] * (s + 2 * x * x), y * rho + k[2] * (s + 2 * y * y) + k[3] * two])


@kernel(point=2, distortion=8)
def undistorted(point, distortion, largest_radius=np.inf) -> np.ndarray:
    """The point (x, y) (2,) of the plane z = 1 that a lens shows at `point` (x_d, y_d): the inverse of `distorted`.

        >>> undistorted([0.475, 0.0], [-0.2, 0, 0, 0, 0, 0, 0, 0]).round(12) + 0.0
        array([0.5, 0. ])

    Newton's iteration ends with errors of about 1e-13. Where the model is not invertible, the result is NaN: no point
    with a radius below `largest_radius` (that of `Camera`) is shown there, or the lens would turn the image inside out.
    """
    k = distortion

    def slopes(x, y):
        s = x * x + y * y
        rho, slope = radial_factor(s, k)
        a = rho + 2 * slope * x * x + 2 * k[2] * y + 6 * k[3] * x
        b = 2 * slope * x * y + 2 * k[2] * x + 2 * k[3] * y
        d = rho + 2 * slope * y * y + 6 * k[2] * y + 2 * k[3] * x
        return a, b, d

    def body(carry):
        x, y, _ = carry
        a, b, d = slopes(x, y)
        miss = distorted(np.stack([x, y]), k) - point
        det = a * d - b * b
        dx, dy = (d * miss[0] - b * miss[1]) / det, (a * miss[1] - b * miss[0]) / det
        return x - dx, y - dy, dx * dx + dy * dy

    def goes_on(carry):
        x, y, step = carry
        return step > _CLOSE * _CLOSE * (1 + x * x + y * y)

    # Newton's steps do not pass the solution of a barrel or a pincushion if they begin at the distorted point.
    x, y, step = while_loop(goes_on, body, (point[0], point[1], 1.0 + 0.0 * point[0]), max_iterations=_STEPS)
    a, b, d = slopes(x, y)
    found = (step <= _CLOSE * _CLOSE * (1 + x * x + y * y)) & (a * d - b * b > 0) & (a + d > 0)
    found = found & (x * x + y * y <= largest_radius * largest_radius)
    return np.where(found, np.stack([x, y]), np.nan)


def pixel_on_image(x, y, K):
    """The pixel (2,) of the point (x, y) of the plane z = 1, after distortion."""
    return np.stack([K[0, 0] * x + K[0, 1] * y + K[0, 2], K[1, 1] * y + K[1, 2]])


@kernel(point=3, T_world_camera=(4, 4), matrix=(3, 3), distortion=8)
def pixel_of_point(point, T_world_camera, matrix, distortion=None) -> np.ndarray:
    """The pixel (u, v) (2,) of a `point` (3,) [m] of the world, for a camera given by its numbers; NaN behind the lens.

        >>> camera = aj.vision.Camera.pinhole((640, 480), focal_length=500)
        >>> poses = np.tile(np.eye(4), (7, 1, 1))                                 # one camera at seven places
        >>> pixel_of_point([0, 0, 1.0], poses, camera.matrix, camera.distortion).shape
        (7, 2)

    `project` calls it for one camera. Its derivatives are `pixel_of_point.jacobian("point", "matrix", "distortion")`,
    and those by a motion of the camera are in `project_derivatives`.
    """
    R = T_world_camera[:3, :3]
    X, Y, Z = R.T @ (point - T_world_camera[:3, 3])
    over = 1 / np.where(Z > 0, Z, np.nan)
    x, y = X * over, Y * over
    if distortion is not None:
        x, y = distorted(np.stack([x, y]), distortion)
    return pixel_on_image(x, y, matrix)


@kernel(pixel=2, T_world_camera=(4, 4), matrix=(3, 3), distortion=8)
def direction_of_pixel(pixel, T_world_camera, matrix, distortion=None, largest_radius=np.inf) -> np.ndarray:
    """The unit direction (3,) in the world of the ray of a `pixel` (u, v), for a camera given by its numbers.

        >>> camera = aj.vision.Camera.pinhole((640, 480), focal_length=500)
        >>> direction_of_pixel([319.5, 239.5], camera.T_world_camera, camera.matrix)
        array([0., 0., 1.])

    Pixels outside of what the lens can show have NaN.
    """
    x, y = ideal_point(pixel[0], pixel[1], matrix, distortion, largest_radius)
    over = 1 / np.sqrt(1 + x * x + y * y)
    return T_world_camera[:3, :3] @ np.stack([x * over, y * over, over])


def ideal_point(u, v, K, distortion, largest_radius):
    """The point (x, y) of the plane z = 1 that the pixel (u, v) shows."""
    y = (v - K[1, 2]) / K[1, 1]
    x = (u - K[0, 2] - K[0, 1] * y) / K[0, 0]
    return (x, y) if distortion is None else undistorted(np.stack([x, y]), distortion, largest_radius)
