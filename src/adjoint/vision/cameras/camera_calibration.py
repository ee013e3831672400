"""`calibrate_camera`: the numbers of a camera from views of a target whose points are known."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from ...calibration.robust import EFFICIENCY, LOSSES, outlier_length
from ...errors import ArgumentError, nearest
from ...identification.base import some
from ...model.input_checks import positive
from ...sensing.scene.lenses import image_size
from .camera import Camera
from .camera_checks import finite_rows, points_of
from .camera_first import first_camera, first_poses
from .camera_fit import COEFFICIENTS, CameraFit, CameraProblem, camera_numbers, fitted_camera, residuals_of
from .camera_report import CameraCalibration, CameraParameter
from .linear_camera import flatness
from .projecting import undistort_points

__all__ = ["calibrate_camera"]

_DEFAULT = ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2", "k3")
_LEAST = 4  # points of a view
_POWERS = {"k1": 2, "k4": 2, "k2": 4, "k5": 4, "k3": 6, "k6": 6, "p1": 1, "p2": 1}  # of the radius, of each coefficient


def calibrate_camera(
    points,
    pixels,
    size,
    *,
    estimate: Sequence[str] = _DEFAULT,
    noise: float | None = None,
    loss: str = "squares",
    first: Camera | None = None,
) -> CameraCalibration:
    """The `CameraCalibration` of a camera: its matrix and distortion, and where the target was in each view.

        >>> target = np.stack(np.meshgrid(np.arange(6), np.arange(5), [0]), axis=-1).reshape(-1, 3) * 0.03
        >>> true = Camera.pinhole((640, 480), focal_length=600, distortion=[-0.1, 0.02, 0, 0])
        >>> poses = aj.lie.se3.exp(np.random.default_rng(0).uniform(-0.5, 0.5, (9, 6)) * [1, 1, 1, 0.2, 0.2, 0.2])
        >>> poses[:, 2, 3] += 0.5
        >>> pixels = [aj.vision.project(true.at(aj.lie.se3.inverse(T)), target) for T in poses]
        >>> found = calibrate_camera(target, pixels, (640, 480))
        >>> np.allclose(found.camera.matrix, true.matrix, atol=1e-5)
        True

    - `points` are the target's, (n, 3) or (n, 2) [m] in its own frame, (views, n, 3) if each view has others, or a list
      of arrays of different lengths. Flat targets and solid ones will do.
    - `pixels` (views, n, 2) is where the points were seen, or a list of arrays. NaN stands for points that were not
      seen. Views with fewer than four points, or with points on a line only, are left out: their poses are NaN.
    - `size` is (columns, rows) of the images.
    - `estimate` names what is estimated: of "fx", "fy", "cx", "cy", "skew", and OpenCV's distortion k1 to k6, p1, p2.
      "f" stands for fx and fy that change together. The rest stays as in `first`: without distortion and with the
      principal point in the middle by default. `estimate=()` finds only poses.
    - `noise` [pixels] is the standard deviation of each coordinate; with None it is estimated from the residuals.
    - `loss` is "squares", or "huber" or "tukey" if some points may be wrong altogether: see `calibration.robust`.
    - `first` is a camera to begin with; the linear equations of Zhang (2000) and the direct linear transform give one
      if it is None.

    The result minimises Σ ρ(|u - project(camera, T x)| / σ) over the camera and all poses T_camera_target, by the
    method of Levenberg and Marquardt with exact derivatives; poses are eliminated by Schur complements, so a thousand
    views are no trouble. Directions that the views do not show stay as they were, and a Python warning names them: for
    example, views of a flat target face on cannot tell the focal length from the distance. Zhang (2000), "A flexible
    new technique for camera calibration", IEEE PAMI 22(11).
    """
    caller = "calibrate_camera"
    size = image_size(size, caller)
    names = _chosen(estimate, caller)
    if loss not in LOSSES:
        raise ArgumentError(f"{caller}: loss is {loss!r}; {nearest(loss, LOSSES)}")
    sigma = None if noise is None else positive(noise, f"{caller}: noise [pixels]")
    X, u, seen = _views(points, pixels, caller)
    _check_size(u, seen, size, caller)
    used = _usable(X, seen, caller)
    camera = _first(first, X[used], u[used], seen[used], size, caller)
    problem = _problem(X[used], u[used], seen[used], names, camera, sigma)
    _need_enough(problem, caller)
    straight = undistort_points(camera, problem.pixels) if camera.distorts else problem.pixels
    there = (problem.seen > 0) & finite_rows(straight)
    T = first_poses(camera, problem.points, straight, there)
    if np.isnan(T).any():
        bad = np.flatnonzero(used)[np.isnan(T[:, 0, 0])]
        raise ArgumentError(f"{caller}: the points of view {some([str(k) for k in bad])} do not determine a pose")
    fit = fitted_camera(problem, camera_numbers(camera), T, loss, caller)
    found = _result(problem, names, camera, fit, seen, used, loss, sigma)
    for text in found.warnings:
        warnings.warn(f"{caller}: {text}", stacklevel=2)
    return found


# --- arguments --------------------------------------------------------------------------------------------------------


def _chosen(estimate, caller: str) -> tuple[str, ...]:
    names = (estimate,) if isinstance(estimate, str) else tuple(estimate)
    known = ("f", *COEFFICIENTS)
    for name in names:
        if name not in known:
            raise ArgumentError(f"{caller}: estimate has {name!r:.60}; {nearest(name, known)}")
    if len(set(names)) < len(names) or ("f" in names and {"fx", "fy"} & set(names)):
        raise ArgumentError(f"{caller}: estimate is {names}; each name may be there once, and 'f' stands for fx and fy")
    return names


def _views(points, pixels, caller: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points (v, n, 3), pixels (v, n, 2) with 0 for what is not seen, and `seen` (v, n), of arrays or lists."""
    u = _padded(pixels, 2, "pixels", caller)
    X = _padded(points, (2, 3), "points", caller)
    X = np.concatenate([X, np.where(np.isnan(X[..., :1]), np.nan, 0.0)], axis=-1) if X.shape[-1] == 2 else X
    if X.shape[1] != u.shape[1] or len(X) not in (1, len(u)):
        raise ArgumentError(
            f"{caller}: there are {len(u)} views of up to {u.shape[1]} pixels, and {len(X)} sets of up to "
            f"{X.shape[1]} points; each pixel needs a point, (views, n, 2) and (n, 3) or (views, n, 3)"
        )
    X = np.broadcast_to(X, (len(u), *X.shape[1:]))
    seen = finite_rows(X) & finite_rows(u)
    return np.where(seen[..., None], X, 0.0), np.where(seen[..., None], u, 0.0), seen


def _without_middle_axis(values):
    """The values with OpenCV's lists of points (n, 1, 2) as (n, 2)."""
    if isinstance(values, (list, tuple)):
        parts = [np.asarray(v)[:, 0] if np.ndim(v) == 3 and np.shape(v)[1] == 1 else v for v in values]
        return parts if any(a is not b for a, b in zip(parts, values, strict=True)) else values
    return values[:, :, 0] if isinstance(values, np.ndarray) and values.ndim == 4 and values.shape[2] == 1 else values


def _check_size(u: np.ndarray, seen: np.ndarray, size: tuple[int, int], caller: str) -> None:
    """Raises an `ArgumentError` if pixels fit only into an image whose size is turned, or are far outside."""
    most = u[seen].max(axis=0, initial=0.0)
    turned = (most > size).any() and (most <= size[::-1]).all()
    if turned or (most > 2 * np.array(size)).any():
        raise ArgumentError(
            f"{caller}: pixels reach (u, v) = ({most[0]:.0f}, {most[1]:.0f}), outside of an image of size {size}; "
            "size is (columns, rows), which is image.shape[1::-1]"
        )


def _padded(values, width, name: str, caller: str) -> np.ndarray:
    """Arrays (views, n, width): one array (n, width) is one view, and shorter ones of a list are filled with NaN."""
    widths = width if isinstance(width, tuple) else (width,)
    values = _without_middle_axis(values)
    if isinstance(values, (list, tuple)) and len({np.shape(v)[:1] for v in values if np.ndim(v) == 2}) > 1:
        parts = [np.asarray(v, float) for v in values]
        if not all(part.ndim == 2 and part.shape[1] == parts[0].shape[1] for part in parts):
            raise ArgumentError(f"{caller}: '{name}' must be a list of arrays (n, {widths[-1]})")
        found = np.full((len(parts), max(map(len, parts)), parts[0].shape[1]), np.nan)
        for k, part in enumerate(parts):
            found[k, : len(part)] = part
    else:
        last = np.shape(values)[-1:]
        found = points_of(values, last[0] if last and last[0] in widths else widths[-1], name, caller)
    found = found[None] if found.ndim == 2 else found
    if found.ndim != 3 or found.shape[-1] not in widths or not found.size:
        raise ArgumentError(
            f"{caller}: '{name}' has shape {found.shape}; (n, {widths[-1]}) or (views, n, {widths[-1]}) is needed"
        )
    return found


def _usable(X: np.ndarray, seen: np.ndarray, caller: str) -> np.ndarray:
    """Which views (v,) have four points or more that are not on a line."""
    used = seen.sum(axis=1) >= _LEAST
    for k in np.flatnonzero(used):
        extents = flatness(X[k][seen[k]]).extents
        used[k] = extents[1] > 1e-6 * extents[0]
    if not used.any():
        raise ArgumentError(
            f"{caller}: no view has {_LEAST} or more seen points that are not on one line, so no pose can be found; "
            f"the views have {some([str(n) for n in seen.sum(axis=1)])} points"
        )
    return used


def _first(first: Camera | None, X, u, seen, size: tuple[int, int], caller: str) -> Camera:
    if first is None:
        return first_camera(X, u, seen, size)
    if not isinstance(first, Camera) or first.size != size:
        what = f"a camera of {first.size}" if isinstance(first, Camera) else type(first).__name__
        raise ArgumentError(f"{caller}: 'first' must be a Camera of the images' size {size}, got {what}")
    return first


def _problem(X, u, seen, names: tuple[str, ...], camera: Camera, noise: float | None) -> CameraProblem:
    basis = np.zeros((len(COEFFICIENTS), len(names)))
    for k, name in enumerate(names):
        for part in ("fx", "fy") if name == "f" else (name,):
            basis[COEFFICIENTS.index(part), k] = 1.0
    scales = np.array([_scale(name, camera, u[seen]) for name in names])
    return CameraProblem(X, u, seen.astype(float), basis, scales, noise)


def _scale(name: str, camera: Camera, pixels: np.ndarray) -> float:
    """A change of a parameter that moves pixels by a tenth of their distance from the middle, or so.

    A parameter that is less certain than this is not seen: the fit would wander along a curved valley.
    """
    f = float(np.abs(np.diag(camera.matrix)[:2]).mean())
    radius = max(np.linalg.norm(pixels - camera.matrix[:2, 2], axis=1).max() / f, 1e-3)
    if name in _POWERS:
        return float(0.1 * radius ** -_POWERS[name])
    return {"cx": camera.size[0], "cy": camera.size[1]}.get(name, f) / 20


def _need_enough(problem: CameraProblem, caller: str) -> None:
    rows, unknowns = 2 * int(problem.seen.sum()), problem.basis.shape[1] + 6 * len(problem.seen)
    if rows <= unknowns and problem.noise is None:
        raise ArgumentError(
            f"{caller}: {rows // 2} points in {len(problem.seen)} views give {rows} equations for {unknowns} unknowns, "
            "and nothing is left to tell the noise from; more points or views, or fewer terms in 'estimate', are needed"
        )


# --- the result -------------------------------------------------------------------------------------------------------


def _result(
    problem: CameraProblem, names, first: Camera, fit: CameraFit, seen: np.ndarray, used: np.ndarray, loss: str, noise
) -> CameraCalibration:
    """The `CameraCalibration` of a fit, with all views in their places."""
    x = fit.numbers
    camera = Camera(np.array([[x[0], x[4], x[2]], [0, x[1], x[3]], [0, 0, 1]]), first.size, x[5:])
    places = [0 if name == "f" else COEFFICIENTS.index(name) for name in names]
    units = ["pixels" if k < 5 else "1" for k in places]
    v, n = seen.shape
    poses, covariances = np.full((v, 4, 4), np.nan), np.full((v, 6, 6), np.nan)
    residuals, pixels = np.full((2, v, n, 2), np.nan)
    efficiency = 1.0 if loss == "squares" else EFFICIENCY
    poses[used], covariances[used] = fit.poses, fit.pose_covariance / efficiency
    r = residuals_of(problem, fit.numbers, fit.poses)
    there = problem.seen[..., None] > 0
    residuals[used], pixels[used] = np.where(there, r, np.nan), np.where(there, problem.pixels, np.nan)
    far = np.linalg.norm(residuals, axis=-1) > fit.sigma * outlier_length(2, int(problem.seen.sum()))
    return CameraCalibration(
        camera=camera,
        T_camera_target=poses,
        parameters=tuple(map(CameraParameter, names, units, problem.scales)),
        values=x[places],
        covariance=fit.covariance / efficiency,
        pose_covariance=covariances,
        noise=fit.sigma,
        noise_known=noise is not None,
        pixels=pixels,
        residuals=residuals,
        outliers=np.argwhere(far),
        unseen_directions=fit.unseen,
        first=first,
        loss=loss,
        iterations=fit.iterations,
    )
