"""The pose with the least residuals near a first one: Levenberg and Marquardt's method as one kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import kernel, scan, while_loop
from ...lie import se3
from .projection_slopes import pixel_slopes

__all__ = ["RefinedPose", "refine_pose"]

_STEPS, _DAMPING, _MOST = 100, 1e-4, 1e9
_ENOUGH = 1e-12  # the iteration ends when the sum of squares would fall by less than this part of it


class RefinedPose(NamedTuple):
    """A pose at a minimum of the residuals."""

    T_camera_target: np.ndarray  # (4, 4)
    information: np.ndarray  # (6, 6) Σ Jᵀ J [pixels²] by a twist (ω, v) in the target's frame: T_camera_target exp(ξ)
    squares: np.ndarray  # Σ |r|² [pixels²]


@kernel(rows=(..., 5), T_camera_target=(4, 4), matrix=(3, 3), distortion=8)
def refine_pose(rows, T_camera_target, matrix, distortion) -> RefinedPose:
    """The `RefinedPose` of a target near a first pose: a minimum of Σ |pixel - projection|², for one camera.

        >>> K = np.array([[500.0, 0, 320], [0, 500, 240], [0, 0, 1]])
        >>> points = np.array([[0, 0, 1.0], [1, 0, 1], [0, 1, 1], [1, 1, 2]])
        >>> pixels = points[:, :2] / points[:, 2:] * 500 + [320, 240]
        >>> first = aj.lie.se3.exp(0.05 * np.ones(6))
        >>> found = refine_pose(np.hstack([points, pixels]), first, K, np.zeros(8))
        >>> np.allclose(found.T_camera_target, np.eye(4), atol=1e-9)
        True

    `rows` (n, 5) are a point (X, Y, Z) [m] of the target and its pixel (u, v) each; `matrix` (3, 3) and `distortion`
    (8,) are those of `Camera`. It is `pose_from_points` without a search for first poses, for control loops and for
    batches: σ² information⁻¹ is the covariance for pixels with the standard deviation σ. A first pose with points
    behind the lens stays as it is.
    """

    def normal_equations(T):
        T_target_camera = se3.inverse(T)

        def step(carry, row):
            N, g, squares = carry
            found = pixel_slopes(row[:3], T_target_camera, matrix, distortion)
            moments = np.stack([np.cross(row[:3], found.point[0]), np.cross(row[:3], found.point[1])])
            J, r = np.concatenate([moments, found.point], axis=1), row[3:] - found.pixels
            return (N + J.T @ J, g + J.T @ r, squares + r @ r), None

        return scan(step, (np.zeros((6, 6)), np.zeros(6), 0.0), rows)[0]

    def body(carry):
        T, N, g, squares, damping, growth, _ = carry
        D = np.diag(N)
        x = np.linalg.solve(N + damping * np.diag(D), g)
        trial = T @ se3.exp(x)
        N_then, g_then, squares_then = normal_equations(trial)
        better = squares_then <= squares
        gain = np.where(better, np.dot(x, g), np.inf)
        chosen = [np.where(better, a, b) for a, b in ((trial, T), (N_then, N), (g_then, g), (squares_then, squares))]
        # Nielsen's rule: with fixed factors, every second step would fail in a curved valley.
        share = (squares - squares_then) / (np.dot(x, g + damping * D * x) + 1e-300)
        less = np.maximum(0.1, 1 - (2 * share - 1) ** 3)
        return *chosen, damping * np.where(better, less, growth), np.where(better, 2.0, 2 * growth), gain

    def goes_on(carry):
        return (carry[6] > _ENOUGH * carry[3] + 1e-24) & (carry[4] < _MOST)

    N, g, squares = normal_equations(T_camera_target)
    first = (T_camera_target, N, g, squares, _DAMPING + 0.0 * squares, 2.0 + 0.0 * squares, np.inf + 0.0 * squares)
    T, N, _, squares, *_ = while_loop(goes_on, body, first, max_iterations=_STEPS)
    return RefinedPose(se3.project(T), N, squares)
