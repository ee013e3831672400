"""Ellipses through points: the direct least-squares fit, and the shape of a conic."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from .camera_checks import finite_rows, points_of

__all__ = ["Ellipse", "conic_ellipse", "ellipse_conic"]

_LEAST = 5


class Ellipse(NamedTuple):
    """The shape of ellipses; NaN where a conic is none."""

    center: np.ndarray  # (..., 2)
    axes: np.ndarray  # (..., 2) half of the long and of the short axis
    angle: np.ndarray  # (...) [rad] from u towards v to the long axis, in (-π/2, π/2]


def ellipse_conic(points) -> np.ndarray:
    """The matrix C (..., 3, 3) of the ellipse (x, y, 1) C (x, y, 1)ᵀ = 0 nearest to `points` (..., n, 2).

        >>> t = np.linspace(0, 5, 20)
        >>> points = np.stack([3 + 2 * np.cos(t), 1 + np.sin(t)], axis=1)
        >>> conic_ellipse(ellipse_conic(points)).axes.round(9)
        array([2., 1.])

    This is the direct least-squares fit: Σ (x, y, 1) C (x, y, 1)ᵀ² is minimised under the condition that the conic is
    an ellipse, 4 a c - b² = 1, in normalised coordinates. It is fast and always an ellipse, and with noise a little too
    small; `circle_poses` refines it. Rows with NaN are left out; samples with fewer than 5 points, or with points on a
    line, have NaN. C has the norm 1, and points inside of the ellipse make the form negative.
    Halíř & Flusser (1998), "Numerically stable direct least squares fitting of ellipses".
    """
    x = points_of(points, 2, "points", "ellipse_conic")
    if x.ndim < 2 or x.shape[-2] < _LEAST:
        raise ArgumentError(f"ellipse_conic: 'points' has shape {x.shape}; (..., n, 2) with n >= {_LEAST} is needed")
    seen = finite_rows(x)[..., None]
    x = np.where(seen, x, 0.0)
    n = np.maximum(seen.sum(axis=-2, keepdims=True), 1)
    mean = x.sum(axis=-2, keepdims=True) / n
    size = np.sqrt(np.sum(np.where(seen, x - mean, 0.0) ** 2, axis=(-1, -2), keepdims=True) / n / 2)
    z = np.where(seen, (x - mean) / np.where(size > 0, size, 1.0), 0.0)
    u, v = z[..., 0], z[..., 1]
    quadratic = np.stack([u * u, u * v, v * v], axis=-1)
    linear = np.stack([u, v, seen[..., 0].astype(float)], axis=-1)
    S1, S2, S3 = (
        np.swapaxes(a, -1, -2) @ b for a, b in ((quadratic, quadratic), (quadratic, linear), (linear, linear))
    )
    enough = (seen.sum(axis=(-1, -2)) >= _LEAST) & (size[..., 0, 0] > 0)
    e = np.linalg.eigvalsh(S3)
    enough &= e[..., 0] > 1e-12 * e[..., -1]  # not on a line
    S3 = np.where(enough[..., None, None], S3, np.eye(3))
    T = -np.linalg.solve(S3, np.swapaxes(S2, -1, -2))
    M = S1 + S2 @ T
    M = np.stack([M[..., 2, :] / 2, -M[..., 1, :], M[..., 0, :] / 2], axis=-2)
    vectors = np.real(np.linalg.eig(M)[1])
    condition = 4 * vectors[..., 0, :] * vectors[..., 2, :] - vectors[..., 1, :] ** 2
    best = np.argmax(condition, axis=-1)  # the one ellipse among three conics
    a = np.take_along_axis(vectors, best[..., None, None], axis=-1)[..., 0]
    enough &= np.max(condition, axis=-1) > 0
    d = (T @ a[..., None])[..., 0]
    a, d = a * np.where(a[..., :1] < 0, -1.0, 1.0), d * np.where(a[..., :1] < 0, -1.0, 1.0)
    C = _conic(a, d)
    N = np.zeros(C.shape)
    s = 1 / np.where(size > 0, size, 1.0)[..., 0, 0]
    N[..., 0, 0] = N[..., 1, 1] = s
    N[..., :2, 2] = -mean[..., 0, :] * s[..., None]
    N[..., 2, 2] = 1.0
    C = np.swapaxes(N, -1, -2) @ C @ N
    C = C / np.linalg.norm(C, axis=(-2, -1), keepdims=True)
    return np.where(enough[..., None, None], C, np.nan)


def _conic(a: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The symmetric matrix of a x² + b x y + c y² + d x + e y + f."""
    (A, B, C), (D, E, F) = np.moveaxis(a, -1, 0), np.moveaxis(d, -1, 0)
    rows = [[A, B / 2, D / 2], [B / 2, C, E / 2], [D / 2, E / 2, F]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def conic_ellipse(conic) -> Ellipse:
    """The centre, half axes and angle of the ellipse of a matrix `conic` (..., 3, 3); NaN if it is no ellipse.

    >>> conic_ellipse(np.diag([1.0, 4.0, -4.0])).axes
    array([2., 1.])
    """
    C = points_of(conic, 3, "conic", "conic_ellipse")
    if C.shape[-2:] != (3, 3):
        raise ArgumentError(f"conic_ellipse: 'conic' has shape {C.shape}; (..., 3, 3) is needed")
    C = C * np.where(C[..., :1, :1] < 0, -1.0, 1.0)
    A, b = C[..., :2, :2], C[..., :2, 2]
    det = A[..., 0, 0] * A[..., 1, 1] - A[..., 0, 1] ** 2
    good = det > 0
    A = np.where(good[..., None, None], A, np.eye(2))
    center = -np.linalg.solve(A, b[..., None])[..., 0]
    level = -(C[..., 2, 2] + np.sum(b * center, axis=-1))
    e, V = np.linalg.eigh(A)
    good = good & (level > 0)
    axes = np.sqrt(np.where(good, level, np.nan)[..., None] / e)
    angle = np.arctan2(V[..., 1, 0], V[..., 0, 0])
    angle = np.where(angle > np.pi / 2, angle - np.pi, np.where(angle <= -np.pi / 2, angle + np.pi, angle))
    return Ellipse(np.where(good[..., None], center, np.nan), axes, np.where(good, angle, np.nan))
