"""First values for the calibration of a camera: focal lengths and poses by linear equations, view by view."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ...lie import se3
from .camera import Camera
from .linear_camera import decompose_projection, direct_linear_transform, flatness, homography

__all__ = ["first_camera", "first_poses"]

_FLAT = 0.05  # views whose points are this flat are taken as views of a plane
_VIEWS = 40  # the number of views that choose the focal length
_GUESSES = (0.7, 1.0, 1.5, 2.5, 5.0)  # focal lengths to try, in widths of the image


def first_camera(points: np.ndarray, pixels: np.ndarray, seen: np.ndarray, size: tuple[int, int]) -> Camera:
    """The camera without distortion, with its principal point in the middle, that explains the views best.

    Candidates are the focal lengths of Zhang's equations, those of direct linear transforms of views that are not
    flat, and a few guesses; poses follow from each, and the one with the smallest residuals is taken. Views are points
    (v, n, 3) and pixels (v, n, 2), where `seen` (v, n).
    """
    few = np.unique(np.linspace(0, len(points) - 1, _VIEWS).astype(int))
    points, pixels, seen = points[few], pixels[few], seen[few]
    lengths = [guess * max(size) for guess in _GUESSES]
    middle = (np.array(size) - 1) / 2
    columns = []
    for X, u, there in zip(points, pixels, seen, strict=True):
        flat = flatness(X[there])
        if flat.extents[2] < _FLAT * flat.extents[0]:
            H = homography((X[there] - flat.center) @ flat.axes[:, :2], u[there] - middle)
            columns += [] if H is None else [H]
        else:
            lengths += _linear_focal_lengths(X[there], u[there], size)
    lengths += _zhang_focal_lengths(np.array(columns)) if columns else []
    best, least = None, np.inf
    for f in lengths:
        camera = Camera.pinhole(size, focal_length=float(f))
        T = first_poses(camera, points, pixels, seen)
        error = _median_error(camera, T, points, pixels, seen)
        if best is None or error < least:
            best, least = camera, error
    assert best is not None
    return best


def _linear_focal_lengths(X: np.ndarray, u: np.ndarray, size: tuple[int, int]) -> list[float]:
    """The focal length that the direct linear transform of a view finds, or nothing if it finds none."""
    try:
        K = decompose_projection(direct_linear_transform(X, u).matrix, size).matrix
    except ArgumentError:
        return []
    f = float(np.sqrt(K[0, 0] * K[1, 1]))
    return [f] if 0.1 * max(size) < f < 100 * max(size) else []


def _zhang_focal_lengths(H: np.ndarray) -> list[float]:
    """The focal length from homographies (v, 3, 3) to pixels from the principal point; nothing if all are face on.

    The first two columns of K⁻¹ H are orthogonal and of one length: Zhang (2000), "A flexible new technique for camera
    calibration", (3) and (4), where K = diag(f, f, 1).
    """
    h, g = H[:, :, 0], H[:, :, 1]
    a = np.concatenate([np.sum(h[:, :2] * g[:, :2], axis=1), np.sum(h[:, :2] ** 2 - g[:, :2] ** 2, axis=1)])
    b = np.concatenate([h[:, 2] * g[:, 2], h[:, 2] ** 2 - g[:, 2] ** 2])
    # a / f² + b = 0 for all rows; each view counts with its own size.
    scale = np.tile(np.sum(h[:, :2] ** 2 + g[:, :2] ** 2, axis=1), 2)
    a, b = a / scale, b / scale
    above, below = float(a @ a), float(-a @ b)
    return [float(np.sqrt(above / below))] if below > 0 and above > 0 else []


def first_poses(camera: Camera, points: np.ndarray, pixels: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """The poses T_camera_target (v, 4, 4) that linear equations give for a camera without distortion.

    A view whose points do not determine a pose has NaN.
    """
    found = np.full((len(points), 4, 4), np.nan)
    inverse = np.linalg.inv(camera.matrix)
    for k, (X, u, there) in enumerate(zip(points, pixels, seen, strict=True)):
        x = u[there] @ inverse[:2, :2].T + inverse[:2, 2]
        T = _pose(X[there], x)
        if T is not None:
            found[k] = T
    return found


def _pose(X: np.ndarray, x: np.ndarray) -> np.ndarray | None:
    """The pose (4, 4) of points (n, 3) that are seen at x (n, 2) on the plane z = 1; None if they do not tell."""
    flat = flatness(X)
    if flat.extents[2] >= _FLAT * flat.extents[0]:
        try:
            P = direct_linear_transform(X, x).matrix
        except ArgumentError:
            P = None
        if P is not None:
            U, s, Vt = np.linalg.svd(P[:, :3])
            return _motion(U @ Vt, P[:, 3] / s.mean())
    H = homography((X - flat.center) @ flat.axes[:, :2], x)
    if H is None:
        return None
    H = H * np.sign(H[2, 2]) / np.sqrt(np.linalg.norm(H[:, 0]) * np.linalg.norm(H[:, 1]))
    R = np.column_stack([H[:, 0], H[:, 1], np.cross(H[:, 0], H[:, 1])])
    U, _, Vt = np.linalg.svd(R)
    T_plane = _motion(U @ Vt, H[:, 2])
    return T_plane @ se3.inverse.eager(_motion(flat.axes, flat.center))


def _motion(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def _median_error(camera: Camera, T: np.ndarray, points, pixels, seen) -> float:
    """The median length [pixels] of residuals, which few views with bad poses do not spoil."""
    local = np.einsum("vij,vnj->vni", T[:, :3, :3], points) + T[:, None, :3, 3]
    with np.errstate(invalid="ignore", divide="ignore"):
        u = local[..., :2] / np.where(local[..., 2:] > 0, local[..., 2:], np.nan) * camera.matrix[0, 0]
        far = np.linalg.norm(u + camera.matrix[:2, 2] - pixels, axis=-1)[seen]
    return float(np.median(np.where(np.isfinite(far), far, np.inf)))
