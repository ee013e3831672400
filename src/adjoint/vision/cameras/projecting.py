"""From points to pixels, and from pixels to rays: `project`, `rays`, and what is built on them.

The kernels have the camera's numbers as inputs, so no camera is compiled on its own; a batch of poses, or of cameras,
is a batch of the kernels `pixel_of_point` and `direction_of_pixel`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import kernel, while_loop
from ...errors import ArgumentError
from ...lie import se3
from .camera import Camera
from .camera_checks import motion, points_of

__all__ = [
    "ProjectionDerivatives",
    "Rays",
    "depth_points",
    "direction_of_pixel",
    "distorted",
    "on_plane",
    "pixel_of_point",
    "project",
    "project_derivatives",
    "rays",
    "undistort_points",
    "undistorted",
    "visible",
]

_STEPS, _CLOSE = 40, 1e-9  # Newton's iteration ends when its step was this small; then its error is about the square


class Rays(NamedTuple):
    """Rays in the world: origins (..., 3) [m], and unit directions (..., 3). Pixels without a ray have NaN."""

    origins: np.ndarray
    directions: np.ndarray


# --- the model for one sample ---------------------------------------------------------------------------------------


def _radial(s, k):
    """ρ and dρ/ds at s = r², where k (8,) are OpenCV's coefficients."""
    N, D = 1 + s * (k[0] + s * (k[1] + s * k[4])), 1 + s * (k[5] + s * (k[6] + s * k[7]))
    dN, dD = k[0] + s * (2 * k[1] + 3 * s * k[4]), k[5] + s * (2 * k[6] + 3 * s * k[7])
    rho = N / D
    return rho, (dN - rho * dD) / D


@kernel(point=2, distortion=8)
def distorted(point, distortion) -> np.ndarray:
    """The point (x_d, y_d) (2,) where a lens with this `distortion` (8,) shows the `point` (x, y) of the plane z = 1.

        >>> distorted([0.5, 0.0], [-0.2, 0, 0, 0, 0, 0, 0, 0])
        array([0.475, 0.   ])

    The formula is that of `Camera`; Brown (1971), "Close-range camera calibration".
    """
    x, y, k = point[0], point[1], distortion
    s = x * x + y * y
    rho = (1 + s * (k[0] + s * (k[1] + s * k[4]))) / (1 + s * (k[5] + s * (k[6] + s * k[7])))
    two = 2 * x * y
    return np.stack([x * rho + k[2] * two + k[3] * (s + 2 * x * x), y * rho + k[2] * (s + 2 * y * y) + k[3] * two])


@kernel(point=2, distortion=8)
def undistorted(point, distortion, largest_radius=np.inf) -> np.ndarray:
    """The point (x, y) (2,) of the plane z = 1 that a lens shows at `point` (x_d, y_d): the inverse of `distorted`.

        >>> undistorted([0.475, 0.0], [-0.2, 0, 0, 0, 0, 0, 0, 0]).round(12) + 0.0
        array([0.5, 0. ])

    Newton's iteration ends with errors of about 1e-13. Where the model is not invertible, the result is NaN: no point
    with a radius below `largest_radius` (that of `Camera`) is shown there, or the lens would turn the image inside out.
    """
    k = distortion

    def slopes(x, y):
        s = x * x + y * y
        rho, slope = _radial(s, k)
        a = rho + 2 * slope * x * x + 2 * k[2] * y + 6 * k[3] * x
        b = 2 * slope * x * y + 2 * k[2] * x + 2 * k[3] * y
        d = rho + 2 * slope * y * y + 6 * k[2] * y + 2 * k[3] * x
        return a, b, d

    def body(carry):
        x, y, _ = carry
        a, b, d = slopes(x, y)
        miss = distorted(np.stack([x, y]), k) - point
        det = a * d - b * b
        dx, dy = (d * miss[0] - b * miss[1]) / det, (a * miss[1] - b * miss[0]) / det
        return x - dx, y - dy, dx * dx + dy * dy

    def goes_on(carry):
        x, y, step = carry
        return step > _CLOSE * _CLOSE * (1 + x * x + y * y)

    # Newton's steps do not pass the solution of a barrel or a pincushion if they begin at the distorted point.
    x, y, step = while_loop(goes_on, body, (point[0], point[1], 1.0 + 0.0 * point[0]), max_iterations=_STEPS)
    a, b, d = slopes(x, y)
    found = (step <= _CLOSE * _CLOSE * (1 + x * x + y * y)) & (a * d - b * b > 0) & (a + d > 0)
    found = found & (x * x + y * y <= largest_radius * largest_radius)
    return np.where(found, np.stack([x, y]), np.nan)


def _in_pixels(x, y, K):
    return np.stack([K[0, 0] * x + K[0, 1] * y + K[0, 2], K[1, 1] * y + K[1, 2]])


@kernel(point=3, T_world_camera=(4, 4), matrix=(3, 3), distortion=8)
def pixel_of_point(point, T_world_camera, matrix, distortion=None) -> np.ndarray:
    """The pixel (u, v) (2,) of a `point` (3,) [m] of the world, for a camera given by its numbers; NaN behind the lens.

        >>> camera = Camera.pinhole((640, 480), focal_length=500)
        >>> poses = np.tile(np.eye(4), (7, 1, 1))                                 # one camera at seven places
        >>> pixel_of_point([0, 0, 1.0], poses, camera.matrix, camera.distortion).shape
        (7, 2)

    `project` calls it for one camera. Its derivatives are `pixel_of_point.jacobian("point", "matrix", "distortion")`,
    and those by a motion of the camera are in `project_derivatives`.
    """
    R = T_world_camera[:3, :3]
    X, Y, Z = R.T @ (point - T_world_camera[:3, 3])
    over = 1 / np.where(Z > 0, Z, np.nan)
    x, y = X * over, Y * over
    if distortion is not None:
        x, y = distorted(np.stack([x, y]), distortion)
    return _in_pixels(x, y, matrix)


@kernel(pixel=2, T_world_camera=(4, 4), matrix=(3, 3), distortion=8)
def direction_of_pixel(pixel, T_world_camera, matrix, distortion=None, largest_radius=np.inf) -> np.ndarray:
    """The unit direction (3,) in the world of the ray of a `pixel` (u, v), for a camera given by its numbers.

        >>> camera = Camera.pinhole((640, 480), focal_length=500)
        >>> direction_of_pixel([319.5, 239.5], camera.T_world_camera, camera.matrix)
        array([0., 0., 1.])

    Pixels outside of what the lens can show have NaN.
    """
    x, y = _ideal(pixel[0], pixel[1], matrix, distortion, largest_radius)
    over = 1 / np.sqrt(1 + x * x + y * y)
    return T_world_camera[:3, :3] @ np.stack([x * over, y * over, over])


def _ideal(u, v, K, distortion, largest_radius):
    """The point (x, y) of the plane z = 1 that the pixel (u, v) shows."""
    y = (v - K[1, 2]) / K[1, 1]
    x = (u - K[0, 2] - K[0, 1] * y) / K[0, 0]
    return (x, y) if distortion is None else undistorted(np.stack([x, y]), distortion, largest_radius)


# --- kernels with what is the same for all points computed before ----------------------------------------------------


@kernel(point=3, P=(3, 4))
def _seen_straight(point, P):
    w = P[2, 0] * point[0] + P[2, 1] * point[1] + P[2, 2] * point[2] + P[2, 3]
    over = 1 / np.where(w > 0, w, np.nan)
    u = P[0, 0] * point[0] + P[0, 1] * point[1] + P[0, 2] * point[2] + P[0, 3]
    v = P[1, 0] * point[0] + P[1, 1] * point[1] + P[1, 2] * point[2] + P[1, 3]
    return np.stack([u * over, v * over])


@kernel(point=3, M=(3, 4), matrix=(3, 3), distortion=8)
def _seen_distorted(point, M, matrix, distortion):
    X, Y, Z = M[:, :3] @ point + M[:, 3]
    over = 1 / np.where(Z > 0, Z, np.nan)
    x, y = distorted(np.stack([X * over, Y * over]), distortion)
    return _in_pixels(x, y, matrix)


@kernel(matrix=(3, 3), R=(3, 3), distortion=8)
def _direction(u, v, matrix, R, distortion=None, largest_radius=np.inf):
    x, y = _ideal(u, v, matrix, distortion, largest_radius)
    over = 1 / np.sqrt(1 + x * x + y * y)
    return R @ np.stack([x * over, y * over, over])


@kernel(matrix=(3, 3), T=(4, 4), distortion=8)
def _point_at_depth(u, v, depth, matrix, T, distortion=None, largest_radius=np.inf):
    x, y = _ideal(u, v, matrix, distortion, largest_radius)
    z = np.where((depth > 0) & (depth < np.inf), depth, np.nan)
    return T[:3, :3] @ np.stack([x * z, y * z, z]) + T[:3, 3]


@kernel(pixel=2, T=(4, 4), matrix=(3, 3), T_world_plane=(4, 4), distortion=8)
def _point_on_plane(pixel, T, matrix, T_world_plane, distortion=None, largest_radius=np.inf):
    x, y = _ideal(pixel[0], pixel[1], matrix, distortion, largest_radius)
    along = T[:3, :3] @ np.stack([x, y, 1.0 + 0.0 * x])
    n = T_world_plane[:3, 2]
    down = n @ along
    depth = n @ (T_world_plane[:3, 3] - T[:3, 3]) / np.where(down != 0, down, np.nan)
    return T[:3, 3] + np.where(depth > 0, depth, np.nan) * along


@kernel(pixel=2, matrix=(3, 3), distortion=8)
def _straightened(pixel, matrix, distortion, largest_radius):
    x, y = _ideal(pixel[0], pixel[1], matrix, distortion, largest_radius)
    return _in_pixels(x, y, matrix)


def _lens(camera: Camera) -> dict:
    """The optional inputs of kernels: nothing if the lens has no distortion, which has machine code of its own."""
    return {"distortion": camera.distortion, "largest_radius": camera.largest_radius} if camera.distorts else {}


# --- public functions -------------------------------------------------------------------------------------------------


def project(camera: Camera, points) -> np.ndarray:
    """The pixels (..., 2), (u, v) = (column, row), where a camera sees `points` (..., 3) [m] of the world.

        >>> camera = Camera.pinhole((640, 480), focal_length=500)
        >>> project(camera, [[0.1, 0, 1.0], [0.0, 0, -1.0]])
        array([[369.5, 239.5],
               [  nan,   nan]])

    Points in or behind the plane of the lens (z <= 0) have NaN. Pixels outside of the image are given as they are, and
    far outside of it the polynomials of a distortion may fold back; `visible` tells which points the image really
    shows. The formula is in `Camera`; derivatives are in `project_derivatives` and those of the kernel
    `pixel_of_point`, which takes batches of cameras.
    """
    points = points_of(points, 3, "points", "project")
    if camera.distorts:
        return _seen_distorted(points, camera.T_camera_world[:3], camera.matrix, camera.distortion)
    return _seen_straight(points, camera.projection_matrix)


def visible(camera: Camera, points) -> np.ndarray:
    """Truth values (...): the image of a camera shows `points` (..., 3) [m], if nothing is in the way.

        >>> visible(Camera.pinhole((640, 480), 1.0), [[0, 0, 1.0], [0, 0, -1.0], [9.0, 0, 1.0]])
        array([ True, False, False])

    They are in front of the lens, inside of the image, and where the distortion can be inverted.
    """
    points = points_of(points, 3, "points", "visible")
    u, v = np.moveaxis(project(camera, points), -1, 0)
    columns, rows = camera.size
    with np.errstate(invalid="ignore"):
        inside = (u >= -0.5) & (u < columns - 0.5) & (v >= -0.5) & (v < rows - 0.5)
    if np.isfinite(camera.largest_radius):
        local = se3.act(camera.T_camera_world, points)
        inside &= np.hypot(local[..., 0], local[..., 1]) <= camera.largest_radius * local[..., 2]
    return inside


def rays(camera: Camera, pixels=None) -> Rays:
    """The rays along which a camera sees `pixels` (..., 2), (u, v): origins (..., 3) and unit directions (..., 3).

        >>> camera = Camera.pinhole((640, 480), focal_length=500)
        >>> rays(camera, [319.5, 239.5]).directions
        array([0., 0., 1.])
        >>> rays(camera).directions.shape                                        # of all pixels of the image
        (480, 640, 3)

    With None these are the rays of all pixels (rows, columns, 3). Origins are views of one point, the lens centre.
    Where the distortion cannot be inverted, directions are NaN.
    """
    if pixels is None:
        columns, rows = camera.size
        u, v = np.arange(float(columns)), np.arange(float(rows))[:, None]
    else:
        u, v = np.moveaxis(points_of(pixels, 2, "pixels", "rays"), -1, 0)
    directions = _direction(u, v, camera.matrix, camera.T_world_camera[:3, :3], **_lens(camera))
    return Rays(np.broadcast_to(camera.T_world_camera[:3, 3], directions.shape), directions)


def depth_points(camera: Camera, depth) -> np.ndarray:
    """The points (rows, columns, 3) [m] of the world that a depth image shows.

        >>> camera = Camera.pinhole((4, 3), focal_length=2)
        >>> depth_points(camera, np.full((3, 4), 2.0))[1, 0]
        array([-1.5,  0. ,  2. ])

    `depth` (rows, columns) [m] is the distance along the optical axis, z of the camera's frame, as depth cameras give
    it. Pixels without a depth (0, negative, infinite or NaN) have NaN. Whole numbers are refused: they are millimetres
    as a rule.
    """
    found = np.asarray(depth)
    columns, rows = camera.size
    if found.dtype.kind not in "f":
        raise ArgumentError(
            f"depth_points: 'depth' has dtype {found.dtype}; floats in metres are needed. Depth cameras with whole "
            "numbers count millimetres as a rule: depth / 1000"
        )
    if found.shape != (rows, columns):
        raise ArgumentError(f"depth_points: 'depth' has shape {found.shape}; the camera's is {(rows, columns)}")
    u, v = np.arange(float(columns)), np.arange(float(rows))[:, None]
    return _point_at_depth(u, v, found.astype(float, copy=False), camera.matrix, camera.T_world_camera, **_lens(camera))


def on_plane(camera: Camera, pixels, T_world_plane) -> np.ndarray:
    """The points (..., 3) [m] of the world where the rays of `pixels` (..., 2) meet a plane.

        >>> camera = Camera.pinhole((640, 480), 1.0)
        >>> on_plane(camera, [319.5, 239.5], aj.lie.se3.exp([0, 0, 0, 0, 0, 2.0]))
        array([0., 0., 2.])

    The plane is z = 0 of the frame `T_world_plane` (4, 4), such as a table. Rays that meet it nowhere, or behind the
    camera, have NaN.
    """
    pixels = points_of(pixels, 2, "pixels", "on_plane")
    plane = motion(T_world_plane, "T_world_plane", "on_plane")
    return _point_on_plane(pixels, camera.T_world_camera, camera.matrix, plane, **_lens(camera))


def undistort_points(camera: Camera, pixels) -> np.ndarray:
    """The pixels (..., 2) that the same camera would show without distortion; NaN where it cannot be inverted.

    >>> camera = Camera.pinhole((640, 480), focal_length=500, distortion=[-0.2, 0.05, 0.001, 0])
    >>> ideal = undistort_points(camera, project(camera, [0.3, 0.2, 1.0]))
    >>> np.allclose(ideal, project(camera.replace(distortion=()), [0.3, 0.2, 1.0]), atol=1e-9)
    True
    """
    pixels = points_of(pixels, 2, "pixels", "undistort_points")
    if not camera.distorts:
        return pixels.copy()
    return _straightened(pixels, camera.matrix, camera.distortion, camera.largest_radius)


class ProjectionDerivatives(NamedTuple):
    """A pixel and its derivatives: see `project_derivatives`."""

    pixels: np.ndarray  # (..., 2)
    point: np.ndarray  # (..., 2, 3) by the point in the world [pixel/m]
    pose: np.ndarray  # (..., 2, 6) by a twist (ω, v) of the camera in its own frame
    intrinsics: np.ndarray  # (..., 2, 5) by fx, fy, cx, cy, s
    distortion: np.ndarray  # (..., 2, 8) by k1 k2 p1 p2 k3 k4 k5 k6


@kernel(point=3, T_world_camera=(4, 4), matrix=(3, 3), distortion=8)
def pixel_slopes(point, T_world_camera, matrix, distortion) -> ProjectionDerivatives:
    """The `ProjectionDerivatives` of `pixel_of_point`, in closed form for one sample."""
    R, k, K = T_world_camera[:3, :3], distortion, matrix
    X, Y, Z = R.T @ (point - T_world_camera[:3, 3])
    over = 1 / np.where(Z > 0, Z, np.nan)
    x, y = X * over, Y * over
    s, two = x * x + y * y, 2 * x * y
    rho, slope = _radial(s, k)
    D = 1 + s * (k[5] + s * (k[6] + s * k[7]))
    one, zero = 1.0 + 0.0 * x, 0.0 * x
    lens = np.stack([
        np.stack([rho + 2 * slope * x * x + 2 * k[2] * y + 6 * k[3] * x, slope * two + 2 * k[2] * x + 2 * k[3] * y]),
        np.stack([slope * two + 2 * k[2] * x + 2 * k[3] * y, rho + 2 * slope * y * y + 6 * k[2] * y + 2 * k[3] * x]),
    ])  # fmt: skip
    focal = np.stack([np.stack([K[0, 0], K[0, 1]]), np.stack([0.0 * K[0, 0], K[1, 1]])])
    # d(x, y)/d(X, Y, Z); a twist of the camera moves the point by -v - ω × X in the camera's frame.
    by_local = np.stack([np.stack([over, zero, -x * over]), np.stack([zero, over, -y * over])])
    by_twist = np.stack([
        np.stack([x * y, -(1 + x * x), y, -over, zero, x * over]),
        np.stack([1 + y * y, -x * y, -x, zero, -over, y * over]),
    ])  # fmt: skip
    to_pixels = focal @ lens
    xd = x * rho + k[2] * two + k[3] * (s + 2 * x * x)
    yd = y * rho + k[2] * (s + 2 * y * y) + k[3] * two
    u, v = s / D, -s * rho / D
    gains = np.stack([u, u * s, u * s * s, v, v * s, v * s * s])
    by_lens = np.stack([
        np.stack([x * gains[0], x * gains[1], two, s + 2 * x * x, *(x * gains[i] for i in range(2, 6))]),
        np.stack([y * gains[0], y * gains[1], s + 2 * y * y, two, *(y * gains[i] for i in range(2, 6))]),
    ])  # fmt: skip
    return ProjectionDerivatives(
        _in_pixels(xd, yd, K),
        to_pixels @ by_local @ R.T,
        to_pixels @ by_twist,
        np.stack([np.stack([xd, zero, one, zero, yd]), np.stack([zero, yd, zero, one, zero])]),
        focal @ by_lens,
    )


def project_derivatives(camera: Camera, points) -> ProjectionDerivatives:
    """The pixels of `points` (..., 3) and their derivatives by point, pose, intrinsics and distortion.

        >>> camera = Camera.pinhole((640, 480), focal_length=500)
        >>> project_derivatives(camera, [0.1, 0.2, 1.0]).point
        array([[ 500.,    0.,  -50.],
               [   0.,  500., -100.]])

    `pose` (..., 2, 6) is by a small motion T_world_camera exp(ξ), ξ = (ω, v) in the camera's own frame: for a pixel in
    units of the focal length it is the interaction matrix of visual servoing. Fields are in `ProjectionDerivatives`.
    """
    points = points_of(points, 3, "points", "project_derivatives")
    return pixel_slopes(points, camera.T_world_camera, camera.matrix, camera.distortion)
