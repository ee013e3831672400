"""From points to pixels, and from pixels to rays: `project`, `rays`, and what is built on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import kernel
from ...errors import ArgumentError
from ...lie import se3
from ...sensing.scene.lenses import distorted
from .camera import Camera, need_camera
from .camera_checks import motion, points_of
from .lens_model import ideal_point, pixel_on_image

__all__ = [
    "Rays",
    "depth_points",
    "on_plane",
    "project",
    "rays",
    "undistort_points",
    "visible",
]


class Rays(NamedTuple):
    """Rays in the world: origins (..., 3) [m], and unit directions (..., 3). Pixels without a ray have NaN."""

    origins: np.ndarray
    directions: np.ndarray


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
    return pixel_on_image(x, y, matrix)


@kernel(matrix=(3, 3), R=(3, 3), distortion=8)
def _direction(u, v, matrix, R, distortion=None, largest_radius=np.inf):
    x, y = ideal_point(u, v, matrix, distortion, largest_radius)
    over = 1 / np.sqrt(1 + x * x + y * y)
    return R @ np.stack([x * over, y * over, over])


@kernel(matrix=(3, 3), T=(4, 4), distortion=8)
def _point_at_depth(u, v, depth, matrix, T, distortion=None, largest_radius=np.inf):
    x, y = ideal_point(u, v, matrix, distortion, largest_radius)
    z = np.where((depth > 0) & (depth < np.inf), depth, np.nan)
    return T[:3, :3] @ np.stack([x * z, y * z, z]) + T[:3, 3]


@kernel(pixel=2, T=(4, 4), matrix=(3, 3), T_world_plane=(4, 4), distortion=8)
def _point_on_plane(pixel, T, matrix, T_world_plane, distortion=None, largest_radius=np.inf):
    x, y = ideal_point(pixel[0], pixel[1], matrix, distortion, largest_radius)
    along = T[:3, :3] @ np.stack([x, y, 1.0 + 0.0 * x])
    n = T_world_plane[:3, 2]
    down = n @ along
    depth = n @ (T_world_plane[:3, 3] - T[:3, 3]) / np.where(down != 0, down, np.nan)
    return T[:3, 3] + np.where(depth > 0, depth, np.nan) * along


@kernel(pixel=2, matrix=(3, 3), distortion=8)
def _straightened(pixel, matrix, distortion, largest_radius):
    x, y = ideal_point(pixel[0], pixel[1], matrix, distortion, largest_radius)
    return pixel_on_image(x, y, matrix)


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
    need_camera(camera, "project")
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
    need_camera(camera, "visible")
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
    need_camera(camera, "rays")
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
    need_camera(camera, "depth_points")
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
    need_camera(camera, "on_plane")
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
    need_camera(camera, "undistort_points")
    pixels = points_of(pixels, 2, "pixels", "undistort_points")
    if not camera.distorts:
        return pixels.copy()
    return _straightened(pixels, camera.matrix, camera.distortion, camera.largest_radius)
