"""`triangulate`: points in the world from their pixels in two or more cameras, by maximum likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...compile import kernel, static, while_loop
from ...errors import ArgumentError
from ...model.input_checks import floats
from ..cameras.camera import Camera
from ..cameras.lens_model import direction_of_pixel
from ..cameras.projection_slopes import pixel_slopes
from .pairs import StereoPair

__all__ = ["Triangulated", "Views", "triangulate", "triangulated_point"]

_STEPS, _CLOSE = 25, 1e-12  # Gauss-Newton steps, and the relative step that ends them


class Views(NamedTuple):
    """The structure of `triangulated_point`: how many cameras there are."""

    count: int


class Triangulated(NamedTuple):
    """Points in the world, and how well they are known."""

    points: np.ndarray  # (..., 3) [m]; NaN where two cameras do not see a point in front of them
    covariance: np.ndarray  # (..., 3, 3) [m²]
    error: np.ndarray  # (...) [sigma] root mean square of residuals, 2n - 3 of which are free; near 1 if all is well
    linear: np.ndarray  # (..., 3) [m] the points nearest to all rays, where the refinement begins


_CAMERAS = {"T_world_camera": ("count", 4, 4), "matrix": ("count", 3, 3), "distortion": ("count", 8)}


@kernel(views=static, pixels=("count", 2), sigma="count", largest_radius="count", **_CAMERAS)
def triangulated_point(views: Views, pixels, sigma, T_world_camera, matrix, distortion, largest_radius) -> Triangulated:
    """The point that n cameras see at `pixels` (n, 2), where `sigma` (n,) [pixels] is infinite for cameras that do not.

    First the point nearest to all rays, Σ (1 - d dᵀ) (x - o) = 0; then steps of Gauss and Newton on the sum of squares
    of the pixels' residuals. The covariance is (Σ Jᵀ J / σ²)⁻¹. `triangulate` calls it for `Camera`s.
    """
    n = views.count
    weights = [1 / s for s in sigma]
    used = [np.where(w > 0, 1.0, 0.0) for w in weights]
    A, b = 0.0, 0.0
    for k in range(n):
        d = direction_of_pixel(pixels[k], T_world_camera[k], matrix[k], distortion[k], largest_radius[k])
        P = np.where(used[k] > 0, np.eye(3) - np.outer(d, d), 0.0)
        A, b = A + P, b + P @ T_world_camera[k][:3, 3]
    first = np.linalg.solve(A, b)

    def equations(x):
        N, g, cost = 0.0, 0.0, 0.0
        for k in range(n):
            found = pixel_slopes(x, T_world_camera[k], matrix[k], distortion[k])
            J = np.where(used[k] > 0, weights[k] * found.point, 0.0)
            r = np.where(used[k] > 0, weights[k] * (pixels[k] - found.pixels), 0.0)
            N, g, cost = N + J.T @ J, g + J.T @ r, cost + r @ r
        return N, g, cost

    def step(carry):
        x, _ = carry
        N, g, _ = equations(x)
        dx = np.linalg.solve(N, g)
        return x + dx, np.max(np.abs(dx)) / (1e-300 + np.max(np.abs(x - T_world_camera[0][:3, 3])))

    x, _ = while_loop(lambda c: c[1] > _CLOSE, step, (first, 1.0 + 0.0 * first[0]), max_iterations=_STEPS)
    N, _, cost = equations(x)
    count = sum(used)
    error = np.sqrt(cost / np.maximum(2 * count - 3, 1.0))
    enough = count > 1
    return Triangulated(
        np.where(enough, x, np.nan), np.where(enough, np.linalg.inv(N), np.nan), np.where(enough, error, np.nan),
        np.where(enough, first, np.nan),
    )  # fmt: skip


def triangulate(cameras: StereoPair | Sequence[Camera], pixels, *, sigma=1.0) -> Triangulated:
    """The points (..., 3) of the world that two or more cameras see at `pixels` (..., n, 2), with their covariance.

        >>> pair = StereoPair.aligned(Camera.pinhole((640, 480), focal_length=500), baseline=0.1)
        >>> found = triangulate(pair, [[369.5, 239.5], [319.5, 239.5]], sigma=0.5)
        >>> found.points
        array([0.1, 0. , 1. ])

    - `cameras` is a `StereoPair` or n >= 2 `Camera`s, anywhere in the world, with distortion.
    - `pixels` (..., n, 2) are (u, v) of one point in each of them, NaN in cameras that do not see it.
    - `sigma` [pixels] is the standard deviation of each coordinate: one number, or one for each camera.

    The result minimises Σ |pixel - projected|²/σ²: the maximum likelihood for normal noise, which for two cameras is
    the optimal triangulation. It begins at the point nearest to all rays. Where rays are parallel, or a point would be
    behind a camera, the result is NaN. Reference: Hartley & Sturm (1997), "Triangulation", CVIU 68(2).
    """
    caller = "triangulate"
    every = [cameras.left, cameras.right] if isinstance(cameras, StereoPair) else list(cameras)
    if len(every) < 2 or not all(isinstance(camera, Camera) for camera in every):
        raise ArgumentError(f"{caller}: 'cameras' must be a StereoPair, or two or more Cameras")
    pixels, s = floats(pixels), floats(sigma)
    if pixels.shape[-2:] != (len(every), 2):
        raise ArgumentError(
            f"{caller}: 'pixels' has shape {pixels.shape}; (..., {len(every)}, 2) is needed, a pixel of each camera"
        )
    if s.shape not in ((), (len(every),)) or not ((s > 0) & np.isfinite(s)).all():
        raise ArgumentError(f"{caller}: 'sigma' [pixels] must be positive: one number, or one for each camera")
    seen = np.asarray(np.isfinite(pixels).all(axis=-1))
    middle = np.array([[camera.matrix[0, 2], camera.matrix[1, 2]] for camera in every])
    return triangulated_point(
        Views(len(every)),
        np.where(seen[..., None], pixels, middle),
        np.where(seen, s, np.inf),
        np.stack([camera.T_world_camera for camera in every]),
        np.stack([camera.matrix for camera in every]),
        np.stack([camera.distortion for camera in every]),
        np.array([camera.largest_radius for camera in every]),
    )
