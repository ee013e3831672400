"""What a camera sees of a scene, pixel by pixel: directions of pixels, where solids are in the image, nearest depths.

A camera is any object with `matrix` (3, 3), `size` (columns, rows), `T_world_camera` (4, 4) and, perhaps, `distortion`,
such as `adjoint.vision.Camera`: z of its frame points forward along the axis, x to the right, y down.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from ...compile import kernel, static
from ...errors import ArgumentError
from .casting import turned
from .lenses import distortion_of, image_size, intrinsics, largest_radius, undistorted
from .mesh_rays import mesh_distance
from .ray_solids import first_hit, span
from .scene_checks import pose
from .scenes import Scene
from .solids import Mesh

__all__ = ["Depths", "View", "lattice", "nearest_depths", "pixel_directions", "rectangles", "view_of"]

_NEAR = 1e-9  # solids that reach nearer to the plane of the lens than this part of their size may be anywhere


class View(NamedTuple):
    """The pixels of a camera: the ray of each is the point (x, y, 1) of the camera's frame.

    x and y have shapes that broadcast to (rows, columns). `columns` and `rows` have the least and the largest x of each
    column and y of each row: (2, columns), (2, rows).
    """

    shape: tuple[int, int]
    x: np.ndarray
    y: np.ndarray
    columns: np.ndarray
    rows: np.ndarray
    T: np.ndarray  # (4, 4) T_world_camera

    def part(self, part: tuple[slice, slice]) -> tuple[np.ndarray, np.ndarray]:
        """x and y of some rows and columns."""
        return (self.x[part[1]], self.y[part[0]]) if self.x.ndim == 1 else (self.x[part], self.y[part])


def view_of(camera, caller: str, shift: tuple[float, float] = (0.0, 0.0)) -> View:
    """The `View` of a camera through the centres of its pixels, or through points that are shifted by (u, v) pixels."""
    for name in ("matrix", "size", "T_world_camera"):
        if not hasattr(camera, name):
            raise ArgumentError(
                f"{caller}: a camera has the attributes matrix, size and T_world_camera, such as vision.Camera; "
                f"{type(camera).__name__} has no {name}"
            )
    K = intrinsics(camera.matrix, caller)
    columns, rows = image_size(camera.size, caller)
    u, v = np.arange(columns) + shift[0], np.arange(rows)[:, None] + shift[1]
    y = (v - K[1, 2]) / K[1, 1]
    x = (u - K[0, 2] - K[0, 1] * y) / K[0, 0] if K[0, 1] else (u - K[0, 2]) / K[0, 0]
    if K[0, 1]:
        y = np.broadcast_to(y, x.shape)
    lens = distortion_of(getattr(camera, "distortion", ()), caller)
    if lens.any():
        points = np.stack(np.broadcast_arrays(x, y), axis=-1)
        x, y = np.moveaxis(undistorted(points, lens, largest_radius(lens)), -1, 0).copy()
    T = pose(camera.T_world_camera, "camera.T_world_camera", caller)
    across = np.atleast_2d(x)
    columns_x = np.stack([np.fmin.reduce(across, axis=0), np.fmax.reduce(across, axis=0)])
    rows_y = np.stack([np.fmin.reduce(y, axis=1), np.fmax.reduce(y, axis=1)])
    return View((rows, columns), x, y, columns_x, rows_y, T)


def pixel_directions(view: View) -> np.ndarray:
    """Directions (rows, columns, 3) of all pixels in the world, of length √(x² + y² + 1)."""
    local = np.stack(np.broadcast_arrays(view.x, view.y, 1.0), axis=-1)
    return np.asarray(turned(view.T[:3, :3], local))


# --- where solids are in an image -------------------------------------------------------------------------------------


def relative_poses(view: View, scene: Scene) -> np.ndarray:
    """T_camera_solid (n, 4, 4) of all solids."""
    R, T = view.T[:3, :3], scene.poses
    found = np.zeros_like(T)
    found[:, :3, :3], found[:, :3, 3], found[:, 3, 3] = R.T @ T[:, :3, :3], (T[:, :3, 3] - view.T[:3, 3]) @ R, 1.0
    return found


def rectangles(view: View, scene: Scene, T: np.ndarray) -> np.ndarray:
    """Parts of the image outside of which solids are not seen: rows and columns (n, 4), from, to, from, to.

    T (n, 4, 4) are the `relative_poses`. What reaches the plane of the lens may be anywhere in the image. Nothing of a
    solid that is behind the lens is in it.
    """
    ends, radii, infinite = scene.extents
    # A solid is inside of the hull of eight balls of one radius: the corners of a box have the radius 0.
    centres = np.einsum("nij,nkj->nik", T[:, :3, :3], ends) + T[:, :3, 3:]
    z, r = centres[:, 2], radii[:, None]
    reach = _NEAR * (np.abs(centres).max(axis=(1, 2)) + radii)
    anywhere = infinite | ((z - r).min(axis=1, initial=np.inf) <= reach)
    behind = ~infinite & ((z + r).max(axis=1, initial=-np.inf) < -reach)
    a = np.where(anywhere[:, None], 1.0, z * z - r * r)
    found = np.empty((len(T), 4), int)
    for k, edges in ((0, view.columns), (1, view.rows)):
        # The planes x = w z through the lens that touch a ball: (x_c - w z_c)² = r² (1 + w²).
        x = centres[:, k]
        root = r * np.sqrt(np.maximum(x * x + z * z - r * r, 0.0))
        low, high = ((x * z - root) / a).min(axis=1), ((x * z + root) / a).max(axis=1)
        slack = 1e-9 * (1 + np.abs(low) + np.abs(high))  # rounding must not cut a pixel off
        low, high = np.where(anywhere, -np.inf, low - slack), np.where(anywhere, np.inf, high + slack)
        met = (edges[0] <= high[:, None]) & (edges[1] >= low[:, None])
        met &= ~behind[:, None]
        first, count = met.argmax(axis=1), met.any(axis=1)
        found[:, 2 - 2 * k], found[:, 3 - 2 * k] = (
            first,
            np.where(count, met.shape[1] - met[:, ::-1].argmax(axis=1), first),
        )
    return found


# --- depths -----------------------------------------------------------------------------------------------------------


@kernel(kind=static, R=(3, 3), origin=3, size=3)
def _depth_of(kind, x, y, R, origin, size, backfaces=True):
    """The depth z of a solid at the pixel (x, y), or ∞; `origin` is the lens, R the camera's axes, in its frame."""
    d = R[:, 0] * x + (R[:, 1] * y + R[:, 2])
    return first_hit(*span(kind, origin, d, size), backfaces)


class Depths(NamedTuple):
    """Depth [m], and numbers of solids and triangles, at all pixels (rows, columns); the latter may be None."""

    depth: np.ndarray
    solid: np.ndarray | None
    triangle: np.ndarray | None


def nearest_depths(scene: Scene, view: View, *, named: bool = True, backfaces: bool = True, culled=True) -> Depths:
    """The nearest depth at every pixel, ∞ where there is nothing; with `named`, also what is there.

    Each solid is met only by the rays of its `rectangles` (all rays, if not `culled`: tests compare).
    """
    depth = np.full(view.shape, np.inf)
    solids = np.full(view.shape, -1, np.int32) if named else None
    triangles = np.full(view.shape, -1, np.int32) if named and scene.meshes else None
    if not len(scene):
        return Depths(depth, solids, triangles)
    T = relative_poses(view, scene)
    R = T[:, :3, :3].transpose(0, 2, 1)
    lens = -np.einsum("nij,nj->ni", R, T[:, :3, 3])
    parts = rectangles(view, scene, T) if culled else np.tile([0, view.shape[0], 0, view.shape[1]], (len(scene), 1))
    for k, solid in enumerate(scene):
        top, bottom, left, right = parts[k]
        if top == bottom or left == right:
            continue
        part = slice(top, bottom), slice(left, right)
        if isinstance(solid, Mesh):
            _see_mesh(view, solid, T[k], k, part, backfaces, depth, solids, triangles)
            continue
        found = _depth_of(solid.KIND, *view.part(part), R[k], lens[k], solid.dimensions, backfaces=backfaces)
        before = depth[part]
        if solids is None:
            np.minimum(before, found, out=before)
            continue
        nearer = found < before
        np.copyto(before, found, where=nearer)
        np.copyto(solids[part], k, where=nearer)
        if triangles is not None:
            np.copyto(triangles[part], -1, where=nearer)
    return Depths(depth, solids, triangles)


def _see_mesh(view: View, solid: Mesh, T, k: int, part, backfaces: bool, depth, solids, triangles) -> None:
    """Enter the pixels of a part of the image at which a mesh is the nearest solid."""
    x, y = (a.ravel() for a in np.broadcast_arrays(*view.part(part)))
    sizes = np.sqrt(1 + x * x + y * y)
    directions = np.stack([x, y, np.ones_like(x)], axis=1) / sizes[:, None]
    before = depth[part]
    at, hit = mesh_distance(solid.triangles, T, np.zeros(3), directions, before.ravel() * sizes, backfaces)
    places = np.unravel_index(at, before.shape)
    before[places] = hit.distance / sizes[at]
    if solids is not None:
        solids[part][places], triangles[part][places] = k, hit.triangle


@functools.cache
def lattice(count: int) -> np.ndarray:
    """Points (count, 2) of a square of side 1 about 0 that are even along both axes: a lattice of rank 1."""
    k = np.arange(count)
    step = max(1, round(count / ((1 + 5**0.5) / 2)))
    while np.gcd(step, count) > 1:
        step += 1
    return np.stack([(k + 0.5) / count - 0.5, (k * step % count + 0.5) / count - 0.5], axis=1)
