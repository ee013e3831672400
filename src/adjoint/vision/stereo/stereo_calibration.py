"""`calibrate_stereo`: where the right camera is beside the left one, from views of a target that both see.

The numbers are the pose of the right camera and those of the target in all views. Views meet only through the first, so
the normal equations have blocks, and the pose of the right camera follows from their Schur complement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...compile import kernel
from ...errors import ArgumentError, SolveError
from ...lie import se3
from ...model.input_checks import floats, positive
from ..cameras.camera import Camera
from ..cameras.camera_first import first_poses
from ..cameras.projecting import undistort_points
from ..cameras.projection_slopes import pixel_slopes
from .pairs import StereoPair

__all__ = ["StereoCalibration", "calibrate_stereo", "target_poses"]

_STEPS, _ENOUGH, _EXACT = 60, 1e-8, 1e-9  # iterations; the least gain of χ²; the least noise [pixels]
_LEAST = 4  # points that both cameras see in a view


@dataclass(frozen=True, eq=False, repr=False)
class StereoCalibration:
    """The result of `calibrate_stereo`."""

    pair: StereoPair  # the left camera where it was, and the right one beside it
    covariance: np.ndarray  # (6, 6) of the twist ξ (rotation, position) [rad, m] in T_left_right exp(ξ)
    T_left_target: np.ndarray  # (v, 4, 4) the target in all views
    noise: float  # [pixels] the standard deviation of each coordinate, as given or as estimated
    residuals: np.ndarray  # (v, k, 2, 2) [pixels] measured minus predicted, of the left and the right camera
    iterations: int

    @property
    def standard_error(self) -> np.ndarray:
        """(6,) [rad, m] The roots of the diagonal of `covariance`."""
        return np.sqrt(np.diag(self.covariance))

    def __repr__(self) -> str:
        turn, shift = np.linalg.norm(self.standard_error.reshape(2, 3), axis=1)
        rms = np.sqrt(np.nanmean(self.residuals**2))
        return (
            f"<StereoCalibration from {len(self.T_left_target)} views: {rms:.3g} px, T_left_right to {1e3 * turn:.3g} "
            f"mrad and {1e3 * shift:.3g} mm>"
        )


@kernel(point=3, pixel=2, T_left_target=(4, 4), T_right_left=(4, 4), matrix=(3, 3), distortion=8)
def _rows(point, pixel, seen, T_left_target, T_right_left, matrix, distortion):
    """[slopes by a twist of the left camera in the right one | by one of the target | residual] (2, 13); 0: unseen."""
    T = se3.compose(T_right_left, T_left_target)
    found = pixel_slopes(point, se3.inverse(T), matrix, distortion)
    by_target = np.concatenate(
        [np.stack([np.cross(point, found.point[0]), np.cross(point, found.point[1])]), found.point], axis=1
    )  # T exp(ζ) moves the point by v + w × point, in the target's axes
    by_pair = by_target @ se3.Ad(se3.inverse(T_left_target))
    return np.where(seen > 0, np.concatenate([by_pair, by_target, (pixel - found.pixels)[:, None]], axis=1), 0.0)


def calibrate_stereo(
    pixels_left, pixels_right, target_points, left: Camera, right: Camera, *, noise: float | None = None
) -> StereoCalibration:
    """The `StereoCalibration` of two cameras with known lenses: the right one beside the left, from shared views.

        >>> left = Camera.pinhole((640, 480), focal_length=500)
        >>> points = [[x, y, 0] for x in (0, 0.1, 0.2) for y in (0, 0.1, 0.2)]
        >>> true = StereoPair(left, left.at(se3.exp([0, 0.1, 0, 0.2, 0, 0])))
        >>> from adjoint.vision.cameras import project
        >>> shown = [se3.act(se3.exp([0.3 * a, 0.2, a, -0.1, 0, 1]), points) for a in (0.0, 0.5, 1.0)]
        >>> seen = [[project(camera, X) for X in shown] for camera in (true.left, true.right)]
        >>> found = calibrate_stereo(*seen, points, left, left)
        >>> np.allclose(found.pair.T_left_right, true.T_left_right)
        True

    - `pixels_left` and `pixels_right` (v, k, 2) are where both cameras see the `target_points` (k, 3) [m] in v views,
      with NaN for points that a camera does not see. `left` and `right` have the lenses; the pair stands where `left`
      stands, and where `right` stands does not matter.
    - `noise` [pixels] is the standard deviation of each coordinate; it is estimated if it is None.

    All residuals of both cameras are minimised together over T_left_right and the poses of the target: maximum
    likelihood, whose covariance is the bound of Cramér and Rao.
    """
    caller = "calibrate_stereo"
    pixels, points = _arguments(pixels_left, pixels_right, target_points, left, right, caller)
    sigma = None if noise is None else positive(noise, f"{caller}: noise [pixels]")
    seen = np.asarray(np.isfinite(pixels).all(axis=-1))
    poses = np.stack([target_poses(camera, pixels[:, c], points) for c, camera in enumerate((left, right))])
    both = np.isfinite(poses).all(axis=(0, 2, 3))
    if not both.any():
        raise ArgumentError(f"{caller}: in no view both cameras see {_LEAST} points that determine the target's pose")
    T = se3.project(np.median(poses[1, both] @ se3.inverse(poses[0, both]), axis=0))  # T_right_left
    Z = np.where(np.isfinite(poses[0]), poses[0], se3.inverse(T) @ poses[1])
    used = np.isfinite(Z).all(axis=(1, 2))
    problem = (points, np.where(seen[..., None], pixels, 0.0)[used], seen[used], (left, right))
    T, Z, rows, products, steps = _fitted(problem, T, Z[used], caller)
    free = 2 * np.sum(problem[2]) - 6 - 6 * len(Z)
    if free <= 0:
        raise ArgumentError(f"{caller}: {2 * np.sum(problem[2])} numbers are too few for {6 + 6 * len(Z)} unknown ones")
    residuals = np.full((len(used), len(points), 2, 2), np.nan)
    residuals[used] = np.moveaxis(np.where(problem[2][..., None], rows[..., -1], np.nan), 1, 2)
    sigma = max(float(np.sqrt(np.nansum(residuals**2) / free)), _EXACT) if sigma is None else sigma
    # T_left_right = T⁻¹ becomes exp(-x) T⁻¹ = T⁻¹ exp(-Ad(T) x)
    A = -se3.Ad(T)
    covariance = sigma**2 * A @ np.linalg.inv(_schur(products, 0.0)[0]) @ A.T
    pair = StereoPair(left, right.at(left.T_world_camera @ se3.inverse(T)))
    poses = np.full((len(used), 4, 4), np.nan)
    poses[used] = Z
    return StereoCalibration(pair, covariance, poses, sigma, residuals, steps)


def _arguments(pixels_left, pixels_right, target_points, left, right, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """Pixels (v, 2, k, 2) and points (k, 3)."""
    if not isinstance(left, Camera) or not isinstance(right, Camera):
        raise ArgumentError(f"{caller}: 'left' and 'right' must be Cameras")
    points, both = floats(target_points), [floats(x) for x in (pixels_left, pixels_right)]
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise ArgumentError(f"{caller}: 'target_points' has shape {points.shape}; finite numbers (k, 3) [m] are needed")
    if both[0].shape != both[1].shape or both[0].ndim != 3 or both[0].shape[1:] != (len(points), 2):
        raise ArgumentError(
            f"{caller}: pixels have shapes {both[0].shape} and {both[1].shape}; with {len(points)} target points, both "
            f"must be (v, {len(points)}, 2)"
        )
    return np.stack(both, axis=1), points


def target_poses(camera: Camera, pixels: np.ndarray, points: np.ndarray) -> np.ndarray:
    """T_camera_target (v, 4, 4) of one camera by linear equations; NaN where too few points are seen."""
    straight = undistort_points(camera, pixels)
    seen = np.asarray(np.isfinite(straight).all(axis=-1))
    found, enough = np.full((len(pixels), 4, 4), np.nan), seen.sum(axis=1) >= _LEAST
    if enough.any():
        every = np.broadcast_to(points, (int(enough.sum()), *points.shape))
        found[enough] = first_poses(camera, every, straight[enough], seen[enough])
    return found


def _linear(problem, T, Z) -> np.ndarray:
    """The rows (v, 2, k, 2, 13) of all views and both cameras."""
    points, pixels, seen, cameras = problem
    found = [
        _rows(points, pixels[:, c], seen[:, c], Z[:, None], there, camera.matrix, camera.distortion)
        for c, (camera, there) in enumerate(zip(cameras, (np.eye(4), T), strict=True))
    ]
    found[0][..., :6] = 0.0  # the left camera does not see where the right one is
    return np.stack(found, axis=1)


def _schur(products: np.ndarray, damping: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The Schur complement (6, 6), the step (6,) of the pair, and those (v, 6) of the target; products (v, 13, 13)."""
    grown = products * (1 + damping * np.eye(13))
    A, B, C = grown[:, :6, :6].sum(axis=0), grown[:, :6, 6:12], grown[:, 6:12, 6:12]
    a, c = products[:, :6, 12].sum(axis=0), products[:, 6:12, 12]
    CB = np.linalg.solve(C, np.concatenate([np.swapaxes(B, 1, 2), c[..., None]], axis=-1))
    S = A - np.sum(B @ CB[..., :6], axis=0)
    step = np.linalg.solve(S, a - np.sum(B @ CB[..., 6:], axis=0)[:, 0])
    return S, step, CB[..., 6] - CB[..., :6] @ step


def _fitted(problem, T, Z, caller: str):
    """Levenberg and Marquardt's method from T_right_left and the poses Z (v, 4, 4) of the target."""
    rows = _linear(problem, T, Z)
    damping = 1e-4
    for steps in range(1, _STEPS + 1):
        flat = rows.reshape(len(rows), -1, 13)
        products = np.swapaxes(flat, 1, 2) @ flat
        try:
            _, step, moves = _schur(products, damping)
        except np.linalg.LinAlgError:
            raise SolveError(f"{caller}: the points of some view do not determine the target's pose") from None
        there = se3.project(T @ se3.exp(step)), se3.project(Z @ se3.exp(moves))
        then = _linear(problem, *there)
        before, after = (float(np.sum(x[..., -1] ** 2)) for x in (rows, then))
        if not after <= before * (1 + 1e-12) + _EXACT**2:  # NaN, too: a point would be behind a lens
            damping *= 10
            if damping > 1e12:
                break
            continue
        (T, Z), rows, damping = there, then, damping / 10
        if before - after <= _ENOUGH * (after + _EXACT**2) / rows[..., -1].size and damping < 1e-6:
            flat = rows.reshape(len(rows), -1, 13)
            return T, Z, rows, np.swapaxes(flat, 1, 2) @ flat, steps
    raise SolveError(f"{caller}: no convergence after {steps} iterations; do points and pixels belong together?")
