"""A camera for one sample: the pixel of a point and the direction of a pixel, as kernels.

The kernels have the camera's numbers as inputs, so no camera is compiled on its own; a batch of poses, or of cameras,
is a batch of the kernels `pixel_of_point` and `direction_of_pixel`.
"""

from __future__ import annotations

import numpy as np

from ...compile import kernel
from ...sensing.scene.lenses import distorted, undistorted

__all__ = [
    "direction_of_pixel",
    "ideal_point",
    "pixel_of_point",
    "pixel_on_image",
]


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
