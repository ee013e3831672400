"""Pairs of parallel faces that look away from each other, and where fingers can stand on both."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..features import Feature, feature_frame
from ..state.grippers import Gripper
from .graspable import Graspable

__all__: list[str] = []

_PARALLEL = np.cos(np.radians(0.5))
_PAD = 12  # points along each side of a finger, at which contact is looked for


class Sites(NamedTuple):
    """Places where fingers can close on a part: poses T (n, 4, 4) of the grip frame, and what is known of each."""

    T_part_grip: np.ndarray
    width: np.ndarray  # [m]
    area: np.ndarray  # [m²] of contact of one finger
    tilt: np.ndarray  # [rad] the largest angle between the line of the fingers and a normal
    kind: tuple[str, ...]
    faces: tuple[tuple[str, str], ...]


def joined(sites: list[Sites]) -> Sites:
    """Sites one after the other."""
    arrays = [np.concatenate(x) for x in zip(*(s[:4] for s in sites), strict=True)]
    return Sites(*arrays, sum((s.kind for s in sites), ()), sum((s.faces for s in sites), ()))  # type: ignore[arg-type]


class _Region(NamedTuple):
    """What two faces have in common, seen along their normal, in the axes (u, v) of the first face."""

    frame: np.ndarray  # (4, 4): x is the normal of the first face, (y, z) are (u, v)
    width: float
    polygons: tuple[np.ndarray, np.ndarray]
    surfaces: tuple[np.ndarray | None, ...]  # triangles (k, 3, 2) of faces with holes

    def has(self, points: np.ndarray) -> np.ndarray:
        """Whether points (..., 2) are on both faces."""
        flat = points.reshape(-1, 2)
        found = np.ones(len(flat), bool)
        for polygon in self.polygons:
            found[found] = in_polygon(flat[found], polygon)
        for triangles in self.surfaces:
            if triangles is not None:
                found[found] = _in_triangles(flat[found], triangles)
        return found.reshape(points.shape[:-1])


def face_sites(thing: Graspable, gripper: Gripper, approaches: int, positions: int) -> list[Sites]:
    """Sites on all pairs of parallel faces, whatever their distance is."""
    found = []
    for a, b in combinations(thing.faces, 2):
        if a.axis @ b.axis > -_PARALLEL or (width := (a.origin - b.origin) @ a.axis) <= 0:
            continue
        region = _region(thing, a, b, float(width))
        if len(points := _positions(region, thing.center, positions)):
            found.append(_sites(region, points, (a.name, b.name), gripper, approaches))
    return found


def _region(thing: Graspable, a: Feature, b: Feature, width: float) -> _Region:
    frame = a.T_part_feature
    polygons, surfaces = [], []
    for face in (a, b):
        corners = (face.corners() - frame[:3, 3]) @ frame[:3, 1:3]  # type: ignore[operator]
        polygons.append(corners if face is a else corners[::-1])
        surfaces.append(_holed(thing, face, frame, polygons[-1]))
    return _Region(frame, width, (polygons[0], polygons[1]), tuple(surfaces))


def _holed(thing: Graspable, face: Feature, frame: np.ndarray, polygon: np.ndarray) -> np.ndarray | None:
    """The triangles (k, 3, 2) of a face, if they fill less than its outline."""
    corners = thing.mesh.vertices[thing.mesh.faces]
    size = np.ptp(thing.mesh.vertices, axis=0).max()
    flat = (thing.normals @ face.axis > 1 - 1e-6) & (
        np.abs((corners.mean(axis=1) - face.origin) @ face.axis) < 1e-6 * size
    )
    triangles = (corners[flat] - frame[:3, 3]) @ frame[:3, 1:3]
    triangles = triangles[in_polygon(triangles.mean(axis=1), polygon)]
    filled = np.abs(_doubled(triangles)).sum() / 2
    x, y = polygon.T
    whole = abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2
    return triangles if filled < whole * (1 - 1e-6) else None


def _doubled(triangles: np.ndarray) -> np.ndarray:
    """Twice the areas of triangles (k, 3, 2)."""
    p, q = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    return p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]


def _positions(region: _Region, center: np.ndarray, positions: int) -> np.ndarray:
    """Points (k, 2) of a region: under the centre of mass, and on a grid over the region."""
    low = np.max([p.min(axis=0) for p in region.polygons], axis=0)
    high = np.min([p.max(axis=0) for p in region.polygons], axis=0)
    if not (high > low).all():
        return np.zeros((0, 2))
    steps = (np.arange(positions) + 0.5) / positions
    u, v = np.meshgrid(*(low[i] + steps * (high[i] - low[i]) for i in (0, 1)), indexing="ij")
    middle = (center - region.frame[:3, 3]) @ region.frame[:3, 1:3]
    points = np.concatenate([middle[None], np.column_stack([u.ravel(), v.ravel()])])
    new = np.linalg.norm(points - middle, axis=1) > 1e-6 * np.ptp(points)
    new[0] = True
    points = points[new]
    # Points on a border are left out: rounding would decide on which side they are.
    around = 1e-6 * np.ptp(points) * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    return points[region.has(points[:, None] + around).all(axis=1)]


def _sites(
    region: _Region, points: np.ndarray, names: tuple[str, str], gripper: Gripper, approaches: int
) -> Sites:  # fmt: skip
    angles = 2 * np.pi * np.arange(approaches) / approaches
    middle = np.column_stack([np.full(len(points), -region.width / 2), points]) @ region.frame[:3, :3].T
    T = hands_around(region.frame[:3, :3], middle + region.frame[:3, 3], angles)
    # The pads, in the axes (u, v) of the region.
    s = (np.arange(_PAD) + 0.5) / _PAD
    x, z = np.meshgrid(gripper.breadth * (s - 0.5), gripper.tip - gripper.depth * s, indexing="ij")
    flat = T[:, :3, 0] @ region.frame[:3, 1:3], T[:, :3, 2] @ region.frame[:3, 1:3]
    at = (T[:, :3, 3] - region.frame[:3, 3]) @ region.frame[:3, 1:3]
    pads = at[:, None] + x.ravel()[:, None] * flat[0][:, None] + z.ravel()[:, None] * flat[1][:, None]
    area = region.has(pads).mean(axis=1) * gripper.breadth * gripper.depth
    n = len(T)
    first, second = names
    pairs = ((first, second), (second, first)) * (n // 2)
    return Sites(T, np.full(n, region.width), area, np.zeros(n), ("faces",) * n, pairs)


def hands_around(frame: np.ndarray, middles: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Grip frames (k · a · 2, 4, 4) at `middles` (k, 3), which close along ±x of a frame (3, 3) or frames (k, 3, 3).

    They come from the directions cos(a) y + sin(a) z of the frame; neighbours in the list differ by a turn of the
    fingers, which exchanges them.
    """
    frame = np.broadcast_to(frame, (len(middles), 3, 3))
    z = frame[:, None, :, 1] * np.cos(angles)[:, None] + frame[:, None, :, 2] * np.sin(angles)[:, None]
    y = np.broadcast_to(frame[:, None, :, 0], z.shape)
    T = np.zeros((len(middles), len(angles), 2, 4, 4))
    T[..., 3, 3] = 1
    for k, sign in enumerate((1.0, -1.0)):
        T[:, :, k, :3, 1], T[:, :, k, :3, 2] = sign * y, z
        T[:, :, k, :3, 0] = np.cross(sign * y, z)
        T[:, :, k, :3, 3] = middles[:, None]
    return T.reshape(-1, 4, 4)


def frames_along(axes: np.ndarray) -> np.ndarray:
    """Rotations (k, 3, 3) whose x axes are the unit vectors (k, 3)."""
    return np.array([feature_frame(np.zeros(3), axis)[:3, :3] for axis in axes]).reshape(-1, 3, 3)


def in_polygon(points: np.ndarray, polygon: np.ndarray) -> np.ndarray:
    """Whether points (k, 2) are inside of a polygon: a ray to the right crosses its edges an odd number of times."""
    x, y = points[:, :1], points[:, 1:]
    a, b = polygon, np.roll(polygon, -1, axis=0)
    crosses = (a[:, 1] > y) != (b[:, 1] > y)
    height = np.where(b[:, 1] == a[:, 1], 1.0, b[:, 1] - a[:, 1])
    return (crosses & (x < a[:, 0] + (y - a[:, 1]) * (b[:, 0] - a[:, 0]) / height)).sum(axis=1) % 2 == 1


def _in_triangles(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Whether points (k, 2) are in one of the triangles (m, 3, 2)."""
    signs = []
    for i in range(3):
        a, b = triangles[:, i], triangles[:, (i + 1) % 3]
        d = points[:, None] - a
        signs.append((b - a)[:, 0] * d[..., 1] - (b - a)[:, 1] * d[..., 0])
    side = np.stack(signs) * np.sign(_doubled(triangles))
    return np.any(np.all(side >= 0, axis=0), axis=-1)
