"""The pose of a circle from one image: two solutions, from the cone of rays through its elliptical image.

The rays through the image of a circle form a cone xᵀ Q x = 0. With the eigenvalues λ1 >= λ2 > 0 > λ3 of Q and its axes
e1, e2, e3, the planes that cut it in circles have the normals

    n = ± sin β e1 + cos β e3,    sin² β = (λ1 - λ2) / (λ1 - λ3),

and the circle of radius r on them has its centre at

    c = r (∓ sin β √(-λ3/λ1) e1 + cos β √(-λ1/λ3) e3).

In the words of Chen & Huang (1999): the plane of e2 and e3 holds the largest apex angle of the cone, the plane of e1
and e3 bisects it and cuts the circle in a diameter, whose middle is c; the normal is the cross product of this diameter
and the chord along e2. Z. Chen & J.-B. Huang (1999), "A vision-based method for the circle pose determination with a
direct geometric interpretation", IEEE Trans. Robot. Autom. 15(6).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...compile import kernel
from ...errors import ArgumentError
from ...lie import se3
from ...model.input_checks import positive
from .camera import Camera, need_camera
from .camera_checks import finite_rows, points_of
from .ellipses import ellipse_conic
from .projecting import undistort_points
from .projection_slopes import pixel_slopes

__all__ = ["CirclePoses", "ConeCircles", "circle_poses", "cone_circles"]

_SWEEPS = 6  # of Jacobi's method: each one squares the error, and the third is exact to rounding as a rule
_STEPS = 40
_LEAST = 6  # points on the image of a circle: one more than unknowns
_BLIND = 1e-6  # directions with singular values below this part of the largest are not seen


class ConeCircles(NamedTuple):
    """The two circles of a given radius on a cone: their centres, and unit normals that point to the apex's side."""

    centers: np.ndarray  # (2, 3) [m]
    normals: np.ndarray  # (2, 3)


class CirclePoses(NamedTuple):
    """Both poses of a circle that explain an image: z of the circle's frame is its normal, on the camera's side."""

    T_camera_circle: np.ndarray  # (..., 2, 4, 4)
    covariance: np.ndarray  # (..., 2, 5, 5) of turns about x, y [rad] and moves along x, y, z [m] of the circle's frame
    rms: np.ndarray  # (...) [pixels] root mean square of the distances of the points from the ellipse
    noise: np.ndarray  # (...) [pixels] standard deviation of a coordinate


# --- the closed form --------------------------------------------------------------------------------------------------


def _rotated(Q, V, p: int, q: int):
    """One rotation of Jacobi's method, which makes Q[p, q] zero; V collects the axes."""
    apart, off = Q[q, q] - Q[p, p], Q[p, q]
    none = off == 0
    size = np.abs(apart) + np.sqrt(apart * apart + 4 * off * off)
    t = np.where(none, 0.0, 2 * off * np.where(apart < 0, -1.0, 1.0) / np.where(none, 1.0, size))
    c = 1 / np.sqrt(1 + t * t)
    s = t * c
    G: list[list[Any]] = [[1.0 * (i == j) for j in range(3)] for i in range(3)]
    G[p][p], G[q][q], G[p][q], G[q][p] = c, c, s, -s
    turn = np.array(G)
    return turn.T @ Q @ turn, V @ turn


def _eigen(Q):
    """The eigenvalues of a symmetric matrix (3, 3), the largest first, and its axes as rows (3, 3)."""
    V = np.eye(3)
    for _ in range(_SWEEPS):
        for p, q in ((0, 1), (0, 2), (1, 2)):
            Q, V = _rotated(Q, V, p, q)
    values, axes = [Q[0, 0], Q[1, 1], Q[2, 2]], [V[:, 0], V[:, 1], V[:, 2]]
    for i, j in ((0, 1), (1, 2), (0, 1)):
        less = values[i] < values[j]
        values[i], values[j] = np.where(less, values[j], values[i]), np.where(less, values[i], values[j])
        first, second = np.stack(list(axes[i])), np.stack(list(axes[j]))
        axes[i], axes[j] = np.where(less, second, first), np.where(less, first, second)
    return values, axes


@kernel(cone=(3, 3))
def cone_circles(cone, radius) -> ConeCircles:
    """The two circles of a `radius` [m] on the `cone` xᵀ Q x = 0, Q (3, 3), with its apex at the origin, where z > 0.

        >>> Q = np.diag([1.0, 1.0, -0.25])                                # a circle of radius ½ at z = 1, face on
        >>> cone_circles(Q, 0.5).centers[0].round(9) + 0.0
        array([0., 0., 1.])

    Q may have any scale and sign. The two solutions are the same where the circle is seen from straight above its
    centre, or where it is centred on the cone's axis; near that, errors of the tilt are as large as the root of the
    relative errors of Q. If the matrix is not that of a cone, the result is NaN. Chen & Huang (1999); see this module.
    """
    Q = 0.5 * (cone + cone.T)
    Q = Q / np.sqrt(np.sum(Q * Q))
    det = np.dot(Q[0], np.cross(Q[1], Q[2]))
    (a, b, c), (e1, _, e3) = _eigen(np.where(det > 0, -1.0, 1.0) * Q)
    valid = (b > 0) & (c < 0)
    a, b, c = np.where(valid, a, np.nan), np.where(valid, b, 1.0), np.where(valid, c, -1.0)
    sin, cos = np.sqrt(np.maximum(a - b, 0.0) / (a - c)), np.sqrt((b - c) / (a - c))
    e3 = np.where(e3[2] < 0, -1.0, 1.0) * e3
    across, along = sin * np.sqrt(-c / a), cos * np.sqrt(-a / c)
    centers = [radius * (along * e3 - sign * across * e1) for sign in (1.0, -1.0)]
    normals = [-(cos * e3 + sign * sin * e1) for sign in (1.0, -1.0)]
    return ConeCircles(np.stack(centers), np.stack(normals))


@kernel(center=3, normal=3)
def _frame(center, normal):
    """A frame (4, 4) at the centre with z along the normal, and x as near as can be to the camera's x, or its y."""
    first = np.abs(normal[0]) < 0.9
    near = np.stack([np.where(first, 1.0, 0.0), np.where(first, 0.0, 1.0), 0.0 * normal[0]])
    x = near - np.dot(near, normal) * normal
    x = x / np.sqrt(np.dot(x, x))
    y = np.cross(normal, x)
    return se3.from_rotation_translation(np.stack([x, y, normal], axis=1), center)


# --- refinement -------------------------------------------------------------------------------------------------------


@kernel(point=2, metric=(2, 2), T=(4, 4))
def _rows(point, metric, T, radius, seen):
    """The row (6,) [slopes by 5 numbers | residual] of a point (x, y) on z = 1; `metric` is d(x, y)/d(u, v).

    The residual [pixels] is Sampson's distance of the pixel from the image of the circle: g / |dg/d(u, v)|, where
    g = ln(|q| / r) and q is where the ray meets the plane of the circle.
    """
    R, c = T[:3, :3], T[:3, 3]
    w, o = R.T @ np.stack([point[0], point[1], 1.0 + 0.0 * point[0]]), -(R.T @ c)
    over = 1 / w[2]
    t = -o[2] * over
    qx, qy = o[0] + t * w[0], o[1] + t * w[1]
    size2 = qx * qx + qy * qy
    gx, gy = qx / size2, qy / size2
    slant = (gx * w[0] + gy * w[1]) * over
    # dq = t (dw - w dw_z / w_z) as the ray turns; dq = do - w do_z / w_z as the circle moves.
    by_w = t * np.stack([gx, gy, -slant])
    by_point = (R @ by_w)[:2]
    by_pixel = metric.T @ by_point
    scale = 1 / np.sqrt(np.dot(by_pixel, by_pixel))
    # T exp(ξ): o changes by -ω × o - v, and w by -ω × w.
    by_o = np.stack([gx, gy, -slant])
    turn = -(np.cross(o, by_o) + np.cross(w, by_w))
    g = 0.5 * np.log(size2 / (radius * radius))
    row = np.stack([turn[0], turn[1], -by_o[0], -by_o[1], -by_o[2], -g])
    return np.where(seen > 0, scale * row, 0.0)


def circle_poses(
    camera: Camera, pixels, radius: float, *, refine: bool = True, noise: float | None = None
) -> CirclePoses:
    """Both poses of a circle of known `radius` [m] whose edge is seen at `pixels` (..., n, 2): `CirclePoses`.

        >>> camera = Camera.pinhole((640, 480), focal_length=500)
        >>> T = aj.lie.se3.exp([0.6, 0.2, 0, 0, 0, 1.0])
        >>> t = np.linspace(0, 6, 30)
        >>> edge = 0.1 * np.stack([np.cos(t), np.sin(t), 0 * t], axis=1) @ T[:3, :3].T + T[:3, 3]
        >>> found = circle_poses(camera, aj.vision.project(camera, edge), 0.1)
        >>> np.linalg.norm(found.T_camera_circle[:, :3, 3] - T[:3, 3], axis=1).min() < 1e-9
        np.True_

    One image of a circle alone does not tell which of the two it is. Six points or more are needed, in any order; rows
    with NaN are left out. Pixels are undistorted, the ellipse is fitted (`ellipse_conic`), and `cone_circles` gives the
    poses in closed form. With `refine`, the distances of the points from the ellipse in the image are minimised, which
    takes away the bias of the algebraic fit, and covariances follow from `noise` [pixels], or from what the fit leaves
    if it is None. The order of the two is that of the closed form and has no meaning. A circle seen face on has both in
    one place; its tilt is not seen to first order, and its covariance is infinite there.
    """
    caller = "circle_poses"
    need_camera(camera, caller)
    u, size = points_of(pixels, 2, "pixels", caller), positive(radius, f"{caller}: radius [m]")
    given = None if noise is None else positive(noise, f"{caller}: noise [pixels]")
    if u.ndim < 2 or u.shape[-2] < _LEAST:
        raise ArgumentError(f"{caller}: 'pixels' has shape {u.shape}; (..., n, 2) with n of {_LEAST} or more is needed")
    batch, n = u.shape[:-2], u.shape[-2]
    x, metric, seen = _ideal(camera, u.reshape(-1, n, 2))
    circles = cone_circles(ellipse_conic(np.where(seen[..., None], x, np.nan)), size)
    T = _frame(circles.centers, circles.normals)
    rows = _rows(x[:, None], metric[:, None], T[:, :, None], size, seen[:, None])
    if refine:
        T, rows = _refined(T, rows, x, metric, size, seen)
    squares = np.sum(rows[..., -1] ** 2, axis=-1)
    count = np.where(seen.sum(axis=-1) >= _LEAST, seen.sum(axis=-1), np.nan)
    rms = np.sqrt(squares.min(axis=-1) / count)
    sigma = np.full(len(x), given) if given else np.sqrt(squares.min(axis=-1) / np.maximum(count - 5, 0.5))
    C = sigma[:, None, None, None] ** 2 * _inverse(rows)
    T, C = T.reshape(*batch, 2, 4, 4), C.reshape(*batch, 2, 5, 5)
    return CirclePoses(T, C, rms.reshape(batch), sigma.reshape(batch))


def _ideal(camera: Camera, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points (b, n, 2) of the plane z = 1, their slopes (b, n, 2, 2) by the pixel, and which are seen (b, n)."""
    K = camera.matrix
    straight = undistort_points(camera, u)
    x = (straight - K[:2, 2]) @ np.linalg.inv(K[:2, :2]).T
    seen = finite_rows(x)
    x = np.where(seen[..., None], x, 0.0)
    slopes = pixel_slopes(np.concatenate([x, np.ones_like(x[..., :1])], axis=-1), np.eye(4), K, camera.distortion)
    return x, np.linalg.inv(slopes.point[..., :2]), seen


def _refined(T, rows, x, metric, radius: float, seen) -> tuple[np.ndarray, np.ndarray]:
    """Steps of Gauss and Newton for all poses (b, 2) at once; one that would get worse stays and steps shorter next."""
    cost, damping = np.sum(rows[..., -1] ** 2, axis=-1), np.full(T.shape[:2], 1e-6)
    for _ in range(_STEPS):
        N, g = _normal(rows)
        d = np.diagonal(N, axis1=-2, axis2=-1)
        heavy = N + (damping[..., None] * d + 1e-300)[..., None] * np.eye(5)
        good = np.asarray(np.isfinite(heavy).all(axis=(-2, -1)))
        step = np.linalg.solve(
            np.where(good[..., None, None], heavy, np.eye(5)), np.where(good[..., None], g, 0.0)[..., None]
        )
        step = np.clip(step[..., 0], -0.5, 0.5)
        twist = np.concatenate([step[..., :2], np.zeros((*step.shape[:-1], 1)), step[..., 2:]], axis=-1)
        trial = T @ se3.exp(twist)
        then = _rows(x[:, None], metric[:, None], trial[:, :, None], radius, seen[:, None])
        after = np.sum(then[..., -1] ** 2, axis=-1)
        better = after <= cost
        settled = (better & (cost - after <= 1e-14 * cost)) | ~(damping < 1e6)
        T, rows = np.where(better[..., None, None], trial, T), np.where(better[..., None, None], then, rows)
        cost, damping = np.where(better, after, cost), np.where(better, damping / 10, damping * 10)
        if np.all(settled | ~good):
            break
    return T, rows


def _normal(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    products = np.swapaxes(rows, -1, -2) @ rows
    return products[..., :5, :5], products[..., :5, 5]


def _inverse(rows: np.ndarray) -> np.ndarray:
    """(b, 2, 5, 5) The inverse of the information; infinite along directions that are not seen."""
    N, _ = _normal(rows)
    size = np.sqrt(np.diagonal(N, axis1=-2, axis2=-1))
    good = np.asarray(np.isfinite(N).all(axis=(-2, -1)) & (size > 0).all(axis=-1))
    safe = np.where(good[..., None], size, 1.0)
    unit = np.where(good[..., None, None], N, np.eye(5)) / (safe[..., None] * safe[..., None, :])
    e, V = np.linalg.eigh(unit)
    seen = e > _BLIND**2 * e[..., -1:]
    inverse = (V / np.where(seen, e, 1.0)[..., None, :] * seen[..., None, :]) @ np.swapaxes(V, -1, -2)
    lost = np.any((np.abs(V) > 1e-3) & ~seen[..., None, :], axis=-1)  # numbers that have a part in what is not seen
    found = inverse / (safe[..., None] * safe[..., None, :])
    found = np.where((lost[..., None] | lost[..., None, :]) & np.eye(5, dtype=bool), np.inf, found)
    return np.where(good[..., None, None], found, np.nan)
