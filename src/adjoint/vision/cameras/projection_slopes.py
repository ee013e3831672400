"""Derivatives of pixels by the point, the pose, the intrinsic numbers and the distortion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import kernel
from ...sensing.scene.lenses import radial_factor
from .camera import Camera, need_camera
from .camera_checks import points_of
from .lens_model import pixel_on_image

__all__ = ["ProjectionDerivatives", "pixel_slopes", "project_derivatives"]


class ProjectionDerivatives(NamedTuple):
    """A pixel and its derivatives: see `project_derivatives`."""

    pixels: np.ndarray  # (..., 2)
    point: np.ndarray  # (..., 2, 3) by the point in the world [pixel/m]
    pose: np.ndarray  # (..., 2, 6) by a twist (ω, v) of the camera in its own frame
    intrinsics: np.ndarray  # (..., 2, 5) by fx, fy, cx, cy, s
    distortion: np.ndarray  # (..., 2, 8) by k1 k2 p1 p2 k3 k4 k5 k6


@kernel(point=3, T_world_camera=(4, 4), matrix=(3, 3), distortion=8)
def pixel_slopes(point, T_world_camera, matrix, distortion) -> ProjectionDerivatives:
    """The `ProjectionDerivatives` of `pixel_of_point`, in closed form for one sample."""
    R, k, K = T_world_camera[:3, :3], distortion, matrix
    X, Y, Z = R.T @ (point - T_world_camera[:3, 3])
    over = 1 / np.where(Z > 0, Z, np.nan)
    x, y = X * over, Y * over
    s, two = x * x + y * y, 2 * x * y
    rho, slope = radial_factor(s, k)
    D = 1 + s * (k[5] + s * (k[6] + s * k[7]))
    one, zero = 1.0 + 0.0 * x, 0.0 * x
    lens = np.stack([
        np.stack([rho + 2 * slope * x * x + 2 * k[2] * y + 6 * k[3] * x, slope * two + 2 * k[2] * x + 2 * k[3] * y]),
        np.stack([slope * two + 2 * k[2] * x + 2 * k[3] * y, rho + 2 * slope * y * y + 6 * k[2] * y + 2 * k[3] * x]),
    ])  # fmt: skip
    focal = np.stack([np.stack([K[0, 0], K[0, 1]]), np.stack([0.0 * K[0, 0], K[1, 1]])])
    # d(x, y)/d(X, Y, Z); a twist of the camera moves the point by -v - ω × X in the camera's frame.
    by_local = np.stack([np.stack([over, zero, -x * over]), np.stack([zero, over, -y * over])])
    by_twist = np.stack([
        np.stack([x * y, -(1 + x * x), y, -over, zero, x * over]),
        np.stack([1 + y * y, -x * y, -x, zero, -over, y * over]),
    ])  # fmt: skip
    to_pixels = focal @ lens
    xd = x * rho + k[2] * two + k[3] * (s + 2 * x * x)
    yd = y * rho + k[2] * (s + 2 * y * y) + k[3] * two
    u, v = s / D, -s * rho / D
    gains = np.stack([u, u * s, u * s * s, v, v * s, v * s * s])
    by_lens = np.stack([
        np.stack([x * gains[0], x * gains[1], two, s + 2 * x * x, *(x * gains[i] for i in range(2, 6))]),
        np.stack([y * gains[0], y * gains[1], s + 2 * y * y, two, *(y * gains[i] for i in range(2, 6))]),
    ])  # fmt: skip
    return ProjectionDerivatives(
        pixel_on_image(xd, yd, K),
        to_pixels @ by_local @ R.T,
        to_pixels @ by_twist,
        np.stack([np.stack([xd, zero, one, zero, yd]), np.stack([zero, yd, zero, one, zero])]),
        focal @ by_lens,
    )


def project_derivatives(camera: Camera, points) -> ProjectionDerivatives:
    """The pixels of `points` (..., 3) and their derivatives by point, pose, intrinsics and distortion.

        >>> camera = Camera.pinhole((640, 480), focal_length=500)
        >>> project_derivatives(camera, [0.1, 0.2, 1.0]).point
        array([[ 500.,    0.,  -50.],
               [   0.,  500., -100.]])

    `pose` (..., 2, 6) is by a small motion T_world_camera exp(ξ), ξ = (ω, v) in the camera's own frame: for a pixel in
    units of the focal length it is the interaction matrix of visual servoing. Fields are in `ProjectionDerivatives`.
    """
    need_camera(camera, "project_derivatives")
    points = points_of(points, 3, "points", "project_derivatives")
    return pixel_slopes(points, camera.T_world_camera, camera.matrix, camera.distortion)
