"""Where a target is in front of a camera, from one image: from points, flat targets and markers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...calibration.robust import EFFICIENCY, LOSSES
from ...errors import ArgumentError, SolveError, nearest
from ...lie import se3, so3
from ...model.input_checks import positive
from ..image_checks import opencv
from .camera import Camera
from .camera_checks import finite_rows, motion, points_of
from .camera_fit import EXACT, CameraProblem, camera_numbers, fitted_camera, residuals_of
from .linear_camera import flatness
from .marker_images import marker_points
from .pose_refinement import refine_pose
from .projecting import undistort_points

__all__ = ["PlanarPoses", "TargetPose", "marker_poses", "planar_poses", "pose_from_points"]

_LEAST = 4
_SAME = 1e-6  # poses that differ by less are the same minimum
_FLAT = 1e-3  # points are flat if they are thinner than this part of their length


class TargetPose(NamedTuple):
    """The pose of a target in front of a camera, and how certain it is."""

    T_camera_target: np.ndarray  # (4, 4)
    covariance: np.ndarray  # (6, 6) of a twist (ω, v) in the target's frame: T_camera_target exp(ξ)
    rms: float  # [pixels] root mean square of the lengths of the inliers' residuals
    residuals: np.ndarray  # (n, 2) [pixels] measured minus predicted; NaN for points that were not seen
    inliers: np.ndarray  # (n,) truth values: the points that were used
    noise: float  # [pixels] standard deviation of each coordinate


class PlanarPoses(NamedTuple):
    """The two poses of a flat target that explain an image, the better one first."""

    T_camera_target: np.ndarray  # (..., 2, 4, 4)
    rms: np.ndarray  # (..., 2) [pixels] root mean square of the lengths of residuals


def pose_from_points(
    camera: Camera,
    points,
    pixels,
    *,
    first=None,
    ransac: float | None = None,
    noise: float | None = None,
    loss: str = "squares",
) -> TargetPose:
    """The `TargetPose` of a target whose `points` (n, 3) [m] are seen at `pixels` (n, 2): T_camera_target.

        >>> camera = Camera.pinhole((640, 480), focal_length=500)
        >>> points = np.array([[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2], [0.1, 0.2, 0.1]])
        >>> T = aj.lie.se3.exp([0.3, -0.2, 0.5, 0.1, 0, 1.0])
        >>> pixels = aj.vision.project(camera.at(aj.lie.se3.inverse(T)), points)
        >>> np.allclose(pose_from_points(camera, points, pixels).T_camera_target, T, atol=1e-9)
        True

    The target's pose in the world is `camera.T_world_camera @ found.T_camera_target`. Four points or more are needed,
    not on a line; rows with NaN are not seen. OpenCV's solver gives first poses (SQPnP; for flat targets both of IPPE),
    or `first` (4, 4) does; then the sum of squared residuals in the image, with the lens's distortion, is minimised on
    SE(3) (`refine_pose`), and the covariance is the inverse of the information.

    - `ransac` [pixels] is the largest residual of points that belong to the target; others are found (by OpenCV's
      `solvePnPRansac`) and left out. Without it all points are used.
    - `noise` [pixels] is the standard deviation of each coordinate; with None it is estimated from the residuals.
    - `loss` is "squares", "huber" or "tukey", as in `calibrate_camera`.
    """
    caller = "pose_from_points"
    X, u, seen = _correspondences(points, pixels, caller)
    if loss not in LOSSES:
        raise ArgumentError(f"{caller}: loss is {loss!r}; {nearest(loss, LOSSES)}")
    sigma = None if noise is None else positive(noise, f"{caller}: noise [pixels]")
    starts = None if first is None else motion(first, "first", caller)[None]
    if ransac is not None:
        inside, start = _consensus(camera, X[seen], u[seen], positive(ransac, f"{caller}: ransac [pixels]"), caller)
        seen[np.flatnonzero(seen)[~inside]] = False
        starts = start[None] if starts is None else starts
    _need_pose(X[seen], caller)
    if starts is None:
        starts = _starts(camera, X[seen], u[seen], caller)
    fits = [_refined(camera, X[seen], u[seen], T, sigma, loss, caller) for T in starts]
    best = min(fits, key=lambda fit: fit.rms)
    residuals = np.full(u.shape, np.nan)
    residuals[seen] = best.residuals
    return best._replace(residuals=residuals, inliers=seen)


def planar_poses(camera: Camera, points, pixels, *, refine: bool = True) -> PlanarPoses:
    """Both poses of a flat target whose `points` (n, 3) [m] lie on a plane and are seen at `pixels` (..., n, 2).

        >>> camera = Camera.pinhole((640, 480), focal_length=500)
        >>> T = aj.lie.se3.exp([0.5, -0.2, 0.1, 0.1, 0, 1.0])
        >>> points = np.array([[0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0], [0, 0.1, 0]])
        >>> pixels = aj.vision.project(camera.at(aj.lie.se3.inverse(T)), points)
        >>> found = planar_poses(camera, points, pixels)
        >>> np.allclose(found.T_camera_target[0], T, atol=1e-9), bool(found.rms[1] > 0.1)
        (True, True)

    Seen from far away, a flat target tilted one way looks like one tilted the other way, and only `rms` [pixels] tells
    them apart: if both are about as large as the noise, both are possible. The closed form is IPPE (by OpenCV), and
    with `refine` each solution is moved to its own minimum of the residuals; near the camera there may be only one, and
    the second stays as IPPE gives it. Collins & Bartoli (2014), "Infinitesimal
    plane-based pose estimation", IJCV 109(3). A pose that IPPE does not find has NaN, as have samples with NaN.
    """
    caller = "planar_poses"
    X, u = points_of(points, 3, "points", caller), points_of(pixels, 2, "pixels", caller)
    if X.ndim != 2 or u.ndim < 2 or u.shape[-2] != len(X):
        raise ArgumentError(f"{caller}: 'points' {X.shape} and 'pixels' {u.shape} must be (n, 3) and (..., n, 2)")
    flat = flatness(X[finite_rows(X)])
    if len(X) < _LEAST or not flat.extents[1] > 1e-6 * flat.extents[0] or flat.extents[2] > _FLAT * flat.extents[0]:
        raise ArgumentError(f"{caller}: 'points' must be {_LEAST} or more points of a plane that are not on a line")
    batch = u.shape[:-2]
    u = u.reshape(-1, len(X), 2)
    T, rms = np.full((len(u), 2, 4, 4), np.nan), np.full((len(u), 2), np.nan)
    for k in np.flatnonzero(np.isfinite(u).all(axis=(1, 2))):
        for j, fit in enumerate(_both(camera, X, u[k], _flat_starts(camera, X, u[k], caller), refine, caller)):
            T[k, j], rms[k, j] = fit.T_camera_target, fit.rms
    return PlanarPoses(T.reshape(*batch, 2, 4, 4), rms.reshape(*batch, 2))


def marker_poses(camera: Camera, corners, length: float, *, refine: bool = True) -> PlanarPoses:
    """Both poses of square markers with sides of `length` [m], from their `corners` (..., 4, 2): see `planar_poses`.

        >>> camera = Camera.pinhole((640, 480), focal_length=500)
        >>> corners = aj.vision.project(camera, [[-.1, -.1, 1], [.1, -.1, 1], [.1, .1, 1], [-.1, .1, 1]])
        >>> marker_poses(camera, corners, 0.2).T_camera_target[0, :3, 3].round(9) + 0.0
        array([0., 0., 1.])

    `corners` are those of `find_markers`. The marker's frame has its origin in the middle, x right and y up in the
    printed marker, z out of it: see `marker_points`.
    """
    u = points_of(corners, 2, "corners", "marker_poses")
    if u.shape[-2:] != (4, 2):
        raise ArgumentError(f"marker_poses: 'corners' has shape {u.shape}; (..., 4, 2) is needed")
    return planar_poses(camera, marker_points(length), u, refine=refine)


# --- first poses ------------------------------------------------------------------------------------------------------


def _correspondences(points, pixels, caller: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, u = points_of(points, 3, "points", caller), points_of(pixels, 2, "pixels", caller)
    if X.ndim != 2 or u.shape != (len(X), 2):
        raise ArgumentError(f"{caller}: 'points' {X.shape} and 'pixels' {u.shape} must be (n, 3) and (n, 2)")
    return X, u, finite_rows(X) & finite_rows(u)


def _need_pose(X: np.ndarray, caller: str) -> None:
    if len(X) < _LEAST:
        raise ArgumentError(f"{caller}: {len(X)} seen points are too few; {_LEAST} or more are needed for one pose")
    extents = flatness(X).extents
    if not extents[1] > 1e-6 * extents[0]:
        raise ArgumentError(f"{caller}: the {len(X)} points lie on a line, about which the target may turn as it likes")


def _ideal(camera: Camera, u: np.ndarray, caller: str) -> np.ndarray:
    """The points (n, 2) of the plane z = 1 that pixels show, or an `ArgumentError` for those outside of the lens."""
    K = camera.matrix
    straight = undistort_points(camera, u)
    if np.isnan(straight).any():
        raise ArgumentError(f"{caller}: some pixels are where the distortion of the camera cannot be inverted")
    return np.linalg.solve(K, np.column_stack([straight, np.ones(len(u))]).T)[:2].T


def _motions(rvecs, tvecs) -> np.ndarray:
    w, t = (np.asarray(x, float).reshape(-1, 3) for x in (rvecs, tvecs))
    return se3.from_rotation_translation(so3.exp(w), t)


def _solved(X: np.ndarray, x: np.ndarray, method: int, caller: str) -> list[np.ndarray]:
    """OpenCV's solutions (4, 4) for points seen at x on the plane z = 1; those in front of the camera."""
    cv2 = opencv(caller)
    try:
        _, rvecs, tvecs, _ = cv2.solvePnPGeneric(X, x, np.eye(3), None, flags=method)
    except cv2.error:
        return []
    found = _motions(rvecs, tvecs) if len(rvecs) else np.zeros((0, 4, 4))
    depths = X @ found[:, 2, :3].T + found[:, 2, 3]
    return [T for T, z in zip(found, depths.T, strict=True) if np.isfinite(T).all() and (z > 0).all()]


def _flat_starts(camera: Camera, X: np.ndarray, u: np.ndarray, caller: str) -> list[np.ndarray]:
    """Both solutions of IPPE, for points of any plane."""
    flat = flatness(X)
    local = (X - flat.center) @ flat.axes
    T_target_plane = se3.from_rotation_translation(flat.axes, flat.center)
    local[:, 2] = 0.0
    cv2 = opencv(caller)
    found = _solved(local, _ideal(camera, u, caller), cv2.SOLVEPNP_IPPE, caller)
    return [T @ se3.inverse(T_target_plane) for T in found]


def _starts(camera: Camera, X: np.ndarray, u: np.ndarray, caller: str) -> list[np.ndarray]:
    flat = flatness(X)
    found = _flat_starts(camera, X, u, caller) if flat.extents[2] <= _FLAT * flat.extents[0] else []
    found = found or _solved(X, _ideal(camera, u, caller), opencv(caller).SOLVEPNP_SQPNP, caller)
    if not found:
        raise SolveError(
            f"{caller}: no pose explains these points in front of the camera; are they in the right order?"
        )
    return found


def _consensus(camera: Camera, X, u, threshold: float, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """Which points belong to one pose, and this pose, by OpenCV's RANSAC."""
    _need_pose(X, caller)
    cv2, f = opencv(caller), float(np.abs(np.diag(camera.matrix)[:2]).mean())
    x = f * _ideal(camera, u, caller)
    found, rvec, tvec, inside = cv2.solvePnPRansac(
        X, x, np.diag([f, f, 1.0]), None, reprojectionError=threshold, iterationsCount=500, confidence=0.9999
    )
    if not found or inside is None or len(inside) < _LEAST:
        raise SolveError(f"{caller}: no pose has {_LEAST} points within ransac = {threshold:g} pixels")
    kept = np.zeros(len(X), bool)
    kept[np.ravel(inside)] = True
    return kept, _motions(rvec, tvec)[0]


def _both(camera: Camera, X, u, starts: list[np.ndarray], refine: bool, caller: str) -> list[TargetPose]:
    """The poses near two first ones, the better one first; the other one stays where it began if it has no minimum."""
    rough = [_refined(camera, X, u, T, None, "squares", caller, steps=False) for T in starts]
    rough = sorted(rough, key=lambda fit: fit.rms)[:2]
    if not refine or not rough:
        return rough
    fits = [_refined(camera, X, u, fit.T_camera_target, None, "squares", caller) for fit in rough]
    if len(fits) == 2 and np.allclose(fits[1].T_camera_target, fits[0].T_camera_target, atol=_SAME):
        fits[1] = rough[1]
    return sorted(fits, key=lambda fit: fit.rms)


# --- refinement -------------------------------------------------------------------------------------------------------


def _refined(camera: Camera, X, u, T, noise: float | None, loss: str, caller: str, steps: bool = True) -> TargetPose:
    """The minimum of the residuals near a first pose; without `steps`, the first pose itself."""
    problem = CameraProblem(X[None], u[None], np.ones((1, len(X))), np.zeros((13, 0)), np.zeros(0), noise)
    numbers = camera_numbers(camera)
    covariance, sigma = np.full((6, 6), np.nan), np.nan
    if steps and loss == "squares":
        found = refine_pose(np.hstack([X, u]), T, camera.matrix, camera.distortion)
        T, sigma = found.T_camera_target, noise or max(np.sqrt(found.squares / (2 * len(X) - 6)), EXACT)
        covariance = sigma**2 * np.linalg.inv(found.information)
    elif steps:
        fit = fitted_camera(problem, numbers, np.asarray(T)[None], loss, caller)
        T, covariance, sigma = fit.poses[0], fit.pose_covariance[0] / EFFICIENCY, fit.sigma
    residuals = residuals_of(problem, numbers, np.asarray(T)[None])[0]
    rms = float(np.sqrt(np.sum(residuals**2) / len(X)))
    return TargetPose(T, covariance, rms, residuals, np.ones(len(X), bool), float(sigma))
