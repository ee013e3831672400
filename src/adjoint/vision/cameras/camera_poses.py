"""Where a target is in front of a camera, from one image: from points, flat targets and markers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...calibration.robust import EFFICIENCY, LOSSES, loss_of
from ...errors import ArgumentError, SolveError, nearest
from ...model.input_checks import positive
from .camera import Camera, need_camera
from .camera_checks import finite_rows, motion, points_of
from .camera_fit import EXACT, CameraProblem, camera_numbers, fitted_camera, residuals_of
from .first_poses import FLAT, LEAST, consensus_pose, first_poses, flat_poses, need_pose, poses_of_triples
from .linear_camera import flatness
from .marker_images import marker_points
from .pose_refinement import refine_pose

__all__ = ["PlanarPoses", "TargetPose", "marker_poses", "planar_poses", "pose_from_points"]

_SAME = 1e-6  # poses that differ by less are the same minimum
_TRIED = 3  # a robust fit begins at the best first poses only


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
    not on a line; rows with NaN are not seen. OpenCV's solvers give first poses (SQPnP; for flat targets both of IPPE;
    for few points or a robust loss those of triples), or `first` (4, 4) does; then the sum of squared residuals in the
    image, with the lens's distortion, is minimised on SE(3) from each of them (`refine_pose`), and the best minimum is
    returned. The covariance is the inverse of the information.

    - `ransac` [pixels] is the largest residual of points that belong to the target; others are found (by OpenCV's
      `solvePnPRansac`) and left out. Without it all points are used.
    - `noise` [pixels] is the standard deviation of each coordinate; with None it is estimated from the residuals.
    - `loss` is "squares", "huber" or "tukey", as in `calibrate_camera`.
    """
    caller = "pose_from_points"
    need_camera(camera, caller)
    X, u, seen = _correspondences(points, pixels, caller)
    if loss not in LOSSES:
        raise ArgumentError(f"{caller}: loss is {loss!r}; {nearest(loss, LOSSES)}")
    sigma = None if noise is None else positive(noise, f"{caller}: noise [pixels]")
    starts = None if first is None else motion(first, "first", caller)[None]
    if ransac is not None:
        inside, start = consensus_pose(camera, X[seen], u[seen], positive(ransac, f"{caller}: ransac [pixels]"), caller)
        seen[np.flatnonzero(seen)[~inside]] = False
        starts = np.concatenate([[start], _starts(camera, X[seen], u[seen], loss, caller)]) if first is None else starts
    need_pose(X[seen], caller)
    if starts is None:
        starts = _starts(camera, X[seen], u[seen], loss, caller)
    best = _best(_refined(camera, X[seen], u[seen], starts, sigma, loss, caller), loss, caller)
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
    need_camera(camera, caller)
    X, u = points_of(points, 3, "points", caller), points_of(pixels, 2, "pixels", caller)
    if X.ndim != 2 or u.ndim < 2 or u.shape[-2] != len(X):
        raise ArgumentError(f"{caller}: 'points' {X.shape} and 'pixels' {u.shape} must be (n, 3) and (..., n, 2)")
    flat = flatness(X) if len(X) >= LEAST and np.isfinite(X).all() else None
    if flat is None or not flat.extents[1] > 1e-6 * flat.extents[0] or flat.extents[2] > FLAT * flat.extents[0]:
        raise ArgumentError(f"{caller}: 'points' must be {LEAST} or more finite points of a plane, not on a line")
    batch = u.shape[:-2]
    u = u.reshape(-1, len(X), 2)
    T, rms = np.full((len(u), 2, 4, 4), np.nan), np.full((len(u), 2), np.nan)
    for k in np.flatnonzero(np.isfinite(u).all(axis=(1, 2))):
        for j, fit in enumerate(_both(camera, X, u[k], refine, caller)):
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


def _correspondences(points, pixels, caller: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, u = points_of(points, 3, "points", caller), points_of(pixels, 2, "pixels", caller)
    u = u[:, 0] if u.ndim == 3 and u.shape[1] == 1 else u  # OpenCV's corners are (n, 1, 2)
    if X.ndim != 2 or u.shape != (len(X), 2):
        raise ArgumentError(f"{caller}: 'points' {X.shape} and 'pixels' {u.shape} must be (n, 3) and (n, 2)")
    return X, u, finite_rows(X) & finite_rows(u)


# --- refinement -------------------------------------------------------------------------------------------------------


def _starts(camera: Camera, X, u, loss: str, caller: str) -> np.ndarray:
    """First poses (k, 4, 4); those of a robust loss are good for half of the points, too."""
    if loss == "squares":
        return first_poses(camera, X, u, caller)
    robust = poses_of_triples(camera, X, u, caller)
    try:
        return np.concatenate([robust, first_poses(camera, X, u, caller)])
    except SolveError:  # outliers may leave no pose for all points
        if len(robust):
            return robust
        raise


def _best(fits: list[TargetPose], loss: str, caller: str) -> TargetPose:
    """The fit with the least loss; the lengths of residuals count in units of one noise for all fits."""
    if not fits:
        raise SolveError(f"{caller}: no first pose leads to a minimum; do points and pixels belong together?")
    law, sigma = loss_of(loss, 2), min(fit.noise for fit in fits)
    return min(fits, key=lambda fit: law.cost(np.linalg.norm(fit.residuals, axis=-1) / sigma))


def _both(camera: Camera, X, u, refine: bool, caller: str) -> list[TargetPose]:
    """The two poses of a flat target, the better one first; the other one stays as IPPE gives it if it has no minimum.

    IPPE may miss a minimum that the refinement from elsewhere finds.
    """
    rough = flat_poses(camera, X, u, caller)
    rough = sorted(_fits(camera, X, u, rough, np.full(len(rough), np.nan)), key=lambda fit: fit.rms)[:2]
    if not refine or not rough:
        return rough
    fits: list[TargetPose] = []
    starts = first_poses(camera, X, u, caller)
    for fit in sorted(_refined(camera, X, u, starts, None, "squares", caller), key=lambda fit: fit.rms):
        if not any(np.allclose(fit.T_camera_target, other.T_camera_target, atol=_SAME) for other in fits):
            fits.append(fit)
    return (fits if len(fits) > 1 else fits + rough[1:])[:2]


def _refined(camera: Camera, X, u, starts, noise: float | None, loss: str, caller: str) -> list[TargetPose]:
    """The minima of the loss near first poses (k, 4, 4); a first pose that leads to none is left out."""
    found = refine_pose(np.hstack([X, u])[None], starts, camera.matrix, camera.distortion)
    good = np.isfinite(found.squares)
    T, information, squares = (x[good] for x in found)
    sigma = np.full(len(T), noise) if noise else np.maximum(np.sqrt(squares / (2 * len(X) - 6)), EXACT)
    if loss == "squares":
        return _fits(camera, X, u, T, sigma, sigma[:, None, None] ** 2 * np.linalg.inv(information))
    problem, numbers = _problem(X, u, noise), camera_numbers(camera)
    fits = []
    for start in _different(camera, X, u, np.concatenate([starts, T])):
        try:
            fit = fitted_camera(problem, numbers, start[None], loss, caller)
        except SolveError:
            continue
        fits += _fits(camera, X, u, fit.poses, np.array([fit.sigma]), fit.pose_covariance / EFFICIENCY)
    return fits


def _different(camera: Camera, X, u, poses: np.ndarray) -> np.ndarray:
    """The poses that are best for half of the points, at most `_TRIED` of them, no two of them alike."""
    lengths = np.linalg.norm(residuals_of(_problem(X, u, None), camera_numbers(camera), poses), axis=-1)
    median = np.median(lengths, axis=1)
    order = np.argsort(np.where(np.isnan(median), np.inf, median), kind="stable")
    order = order[np.diff(median[order], prepend=-1.0) > 1e-6 * median[order]]
    return poses[order[:_TRIED]]


def _problem(X: np.ndarray, u: np.ndarray, noise: float | None) -> CameraProblem:
    """The problem of one view, in which the camera's own numbers are known."""
    return CameraProblem(X[None], u[None], np.ones((1, len(X))), np.zeros((13, 0)), np.zeros(0), noise)


def _fits(camera: Camera, X, u, T: np.ndarray, sigma: np.ndarray, covariance=None) -> list[TargetPose]:
    """The results for poses (k, 4, 4) as they are, with noises (k,) and covariances (k, 6, 6)."""
    covariance = np.full((len(T), 6, 6), np.nan) if covariance is None else covariance
    residuals = [residuals_of(_problem(X, u, None), camera_numbers(camera), pose[None])[0] for pose in T]
    rms = [float(np.sqrt(np.sum(r**2) / len(X))) for r in residuals]
    return [
        TargetPose(pose, C, e, r, np.ones(len(X), bool), float(s))
        for pose, C, e, r, s in zip(T, covariance, rms, residuals, sigma, strict=True)
    ]
