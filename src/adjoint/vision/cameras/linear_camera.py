"""Cameras by linear equations: the direct linear transform and its decomposition, and homographies of flat targets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...sensing.scene.lenses import image_size
from .camera import Camera
from .camera_checks import finite, finite_rows, points_of

__all__ = ["ProjectionFit", "decompose_projection", "direct_linear_transform", "flatness", "homography"]

_BLIND = 1e-9  # a singular value below this part of the largest is 0
_CLEAR = 4.0  # the second smallest singular value must be so many times the smallest, which is the noise
_STRAIGHT, _FLAT, _EXACT = (
    1e-3,
    1e-2,
    1e-6,
)  # extents across a line or plane, as parts of the length, of degenerate points
_LEAST = 6  # points: 11 unknowns, two equations from each


class ProjectionFit(NamedTuple):
    """A projection matrix that was fitted to points and pixels."""

    matrix: np.ndarray  # (3, 4) P, with λ (u, v, 1) = P (X, Y, Z, 1), λ the depth [m] of points
    residuals: np.ndarray  # (n, 2) [pixels] measured minus projected; NaN where a point was missing
    rms: float  # [pixels] root mean square of the residuals' lengths
    singular_values: np.ndarray  # (12,) of the normalised equations, the largest first


def direct_linear_transform(points, pixels) -> ProjectionFit:
    """The projection matrix P (3, 4) that takes `points` (n, 3) [m] to `pixels` (n, 2), by linear least squares.

        >>> camera = Camera.pinhole((640, 480), focal_length=500)
        >>> points = np.random.default_rng(0).uniform([-1, -1, 3], [1, 1, 5], (8, 3))
        >>> x = camera.projection_matrix @ np.vstack([points.T, np.ones(8)])
        >>> fit = direct_linear_transform(points, (x[:2] / x[2]).T)
        >>> np.allclose(fit.matrix, camera.projection_matrix, atol=1e-9)
        True

    Each point gives two equations for the 12 entries of P, of which 11 are free: six points are enough. Coordinates are
    normalised first, and the solution is the last singular vector. Rows with NaN are left out. Points that do not
    determine P are refused, and the message names what they have in common: they lie on a plane, on a line, or with the
    camera on a twisted cubic. Pixels without lens distortion are assumed. Fu, Gonzalez & Lee (1987), (7.4-44) to
    (7.4-49), with rows 1, 2 and 4 of their matrix A; Hartley & Zisserman (2003), "Multiple View Geometry", §7.1.
    """
    caller = "direct_linear_transform"
    X, u = points_of(points, 3, "points", caller), points_of(pixels, 2, "pixels", caller)
    if X.ndim != 2 or u.shape != (len(X), 2):
        raise ArgumentError(f"{caller}: 'points' {X.shape} and 'pixels' {u.shape} must be (n, 3) and (n, 2)")
    seen = finite_rows(X) & finite_rows(u)
    n = int(seen.sum())
    if n < _LEAST:
        raise ArgumentError(f"{caller}: {n} points are too few for 11 unknowns; {_LEAST} or more are needed")
    A, U, N = _equations(X[seen], u[seen], caller)
    _, s, Vt = np.linalg.svd(A, full_matrices=False)  # 12 rows or more
    _need_clear(s, X[seen], caller)
    P = np.linalg.inv(U) @ Vt[-1].reshape(3, 4) @ N
    P = _with_depths(P, X[seen], caller)
    w = np.column_stack([X, np.ones(len(X))]) @ P.T
    residuals = np.where(seen[:, None], u - w[:, :2] / w[:, 2:], np.nan)
    return ProjectionFit(P, residuals, float(np.sqrt(np.nansum(residuals**2) / n)), s)


def _equations(X: np.ndarray, u: np.ndarray, caller: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows (2n, 12) of (7.4-49) for normalised coordinates, and the matrices (3, 3), (4, 4) that normalise them."""
    U, N = _normalising(u), _normalising(X)
    if U is None or N is None:
        what = "pixels" if U is None else "points"
        raise ArgumentError(f"{caller}: all {what} are the same; different ones are needed")
    Xn, un = X @ N[:3, :3].T + N[:3, 3], u @ U[:2, :2].T + U[:2, 2]
    Xh, zero = np.column_stack([Xn, np.ones(len(X))]), np.zeros((len(X), 4))
    rows = [np.hstack([Xh, zero, -un[:, :1] * Xh]), np.hstack([zero, Xh, -un[:, 1:] * Xh])]
    return np.concatenate(rows), U, N


def _normalising(x: np.ndarray) -> np.ndarray | None:
    """The matrix that moves points (n, d) to their mean and scales their mean square to d; None if they coincide."""
    d, mean = x.shape[1], x.mean(axis=0)
    size = np.sqrt(np.mean(np.sum((x - mean) ** 2, axis=1)) / d)
    if not size > 1e-12 * np.abs(x).max(initial=0.0):
        return None
    N = np.diag([*np.full(d, 1 / size), 1.0])
    N[:d, d] = -mean / size
    return N


def _need_clear(s: np.ndarray, X: np.ndarray, caller: str) -> None:
    """Raises an `ArgumentError` that names what the points have in common if two solutions fit nearly as well."""
    if s[10] > _BLIND * s[0] and s[10] > _CLEAR * s[11]:
        return
    rank = int(np.sum(s > max(_BLIND * s[0], _CLEAR * s[11])))
    extents = flatness(X).extents
    if extents[1] < _STRAIGHT * extents[0]:
        why = "the points lie on a line (collinear)"
    elif extents[2] < (_FLAT if rank <= 8 else _EXACT) * extents[0]:
        why = "the points lie on a plane (coplanar); calibrate_camera takes several views of flat targets"
    else:
        why = (
            "the points are in a critical position: they lie with the camera on a twisted cubic, or all but a few on a "
            "plane, or their noise is too large"
        )
    raise ArgumentError(f"{caller}: the {len(X)} points do not determine the 11 unknowns (rank {rank} of 11): {why}")


def _with_depths(P: np.ndarray, X: np.ndarray, caller: str) -> np.ndarray:
    """P scaled so that its third row gives depths, which are positive; left-handed pixels are refused."""
    P = P / np.linalg.norm(P[2, :3])
    depth = X @ P[2, :3] + P[2, 3]
    if np.median(depth) < 0:
        P, depth = -P, -depth
    if np.any(depth <= 0):
        raise ArgumentError(
            f"{caller}: {np.sum(depth <= 0)} of the {len(X)} points would be behind the lens of the camera that fits "
            "best; do points and pixels belong together?"
        )
    if np.linalg.det(P[:, :3]) < 0:
        raise ArgumentError(
            f"{caller}: the pixels are a mirror image of what a camera sees; are u and v exchanged, or is an axis of "
            "the points or of the image reversed?"
        )
    return P


class Flatness(NamedTuple):
    """How flat a set of points is: root mean square extents (3,), the largest first, and axes (3, 3) as columns."""

    extents: np.ndarray
    axes: np.ndarray
    center: np.ndarray


def flatness(X: np.ndarray) -> Flatness:
    """The `Flatness` of points (n, 3): their principal extents and axes, which are right-handed."""
    center = X.mean(axis=0)
    _, s, Vt = np.linalg.svd(np.vstack([X - center, np.zeros((3, 3))]), full_matrices=False)
    s /= np.sqrt(len(X))
    axes = Vt.T * np.array([1.0, 1.0, np.sign(np.linalg.det(Vt))])
    return Flatness(s, axes, center)


def decompose_projection(matrix, size) -> Camera:
    """The `Camera` of a projection matrix P (3, 4) = λ K [R | t], for an image of `size` (columns, rows).

        >>> camera = Camera.pinhole((640, 480), focal_length=500, T_world_camera=aj.lie.se3.exp([0.1, 0.2, 0, 1, 2, 3]))
        >>> again = decompose_projection(-2 * camera.projection_matrix, (640, 480))
        >>> np.allclose(again.matrix, camera.matrix) and np.allclose(again.T_world_camera, camera.T_world_camera)
        True

    K has positive focal lengths, and its skew is that of P: 11 numbers in, 11 numbers out. The factors are those of an
    RQ decomposition of the first three columns; the scale and sign of P do not matter. The lens centre is the null
    vector of P. Hartley & Zisserman (2003), "Multiple View Geometry", §6.2.4.
    """
    from scipy.linalg import rq

    P = finite(matrix, (3, 4), "matrix", "decompose_projection")
    M = P[:, :3] * (-1.0 if np.linalg.det(P[:, :3]) < 0 else 1.0)
    s = np.linalg.svd(M / np.abs(M).max(initial=1e-300), compute_uv=False)
    # Focal lengths of thousands of pixels make the rows of M differ in size, so only true singularity counts.
    if not s[2] > 1e-14 * s[0]:
        raise ArgumentError(
            "decompose_projection: the first three columns of 'matrix' are singular: the lens centre is at infinity "
            "(a parallel projection), which a Camera cannot be"
        )
    K, R = rq(M)
    signs = np.sign(np.diag(K))
    K, R = K * signs, signs[:, None] * R
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R.T, -np.linalg.solve(P[:, :3], P[:, 3])
    K = np.triu(K / K[2, 2])
    return Camera(K, image_size(size, "decompose_projection"), np.zeros(8), T)


def homography(plane_points: np.ndarray, image_points: np.ndarray) -> np.ndarray | None:
    """The matrix H (3, 3) that takes points (n, 2) of a plane to an image (n, 2); None if they do not determine it.

    It is the linear least-squares solution in normalised coordinates, with |H| = 1.
    """
    N, U = _normalising(plane_points), _normalising(image_points)
    if N is None or U is None:
        return None
    p, u = plane_points @ N[:2, :2].T + N[:2, 2], image_points @ U[:2, :2].T + U[:2, 2]
    ph, zero = np.column_stack([p, np.ones(len(p))]), np.zeros((len(p), 3))
    A = np.concatenate([np.hstack([ph, zero, -u[:, :1] * ph]), np.hstack([zero, ph, -u[:, 1:] * ph])])
    information, V = np.linalg.eigh(A.T @ A)  # eigenvalues are squares of singular values: 1e-7 of the largest is seen
    if not information[1] > 1e-14 * information[-1]:
        return None
    H = np.linalg.inv(U) @ V[:, 0].reshape(3, 3) @ N
    return H / np.linalg.norm(H)
