"""`ConvexHull` and `HeightField`: solids that collide as such and are seen as meshes."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.spatial import ConvexHull as _QuickHull
from scipy.spatial import QhullError

from ..compile.front.arguments import as_input
from ..errors import ArgumentError
from ..lazy import cached_property
from ..sensing.scene import Mesh, Solid
from ..sensing.scene.scene_checks import lengths, number
from ..sensing.scene.triangle_sets import Triangles

__all__ = ["ConvexHull", "HeightField", "HullTables"]

_FLAT = 1e-9  # points whose hull is thinner than this part of its size have no volume
_SAME_PLANE = 1e-12  # the sine of the angle between two triangles of one face


@dataclass(frozen=True, eq=False, repr=False)
class HullTables:
    """A convex polytope as tables that kernels read; all copies of a `ConvexHull` at other poses share them.

    - `vertices` (k, 3) [m] are the corners, in the frame of the hull.
    - `faces` (m, 3) are numbers of vertices, counterclockwise seen from outside; larger faces are several triangles.
    - `rows` (k, 24) have a triangle and an edge each; the shorter list is filled up with its last entry.
      The triangle is (n, h, g, g₀, f, f₀): the unit normal, the plane n · x = h, and the coordinates g · x - g₀ and
      f · x - f₀ of a point along two sides of the triangle, which are 0 at its first corner.
      The edge is (start, direction, n₁, n₂), with the unit normals on both of its sides.
    """

    vertices: np.ndarray
    faces: np.ndarray
    rows: np.ndarray

    def __repr__(self) -> str:
        return f"<HullTables: {len(self.vertices)} vertices, {len(self.faces)} triangles>"

    @cached_property
    def triangles(self) -> Triangles:
        return Triangles(self.vertices, self.faces)


def hull_tables(points, caller: str) -> HullTables:
    """The tables of the convex hull of points (k, 3), or an `ArgumentError` if the hull has no volume."""
    points = np.array(as_input(points, "points", caller), float)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4:
        raise ArgumentError(f"{caller}: 'points' has shape {points.shape}; (k, 3) is needed, with at least 4 points")
    if not np.isfinite(points).all():
        raise ArgumentError(f"{caller}: point {int(np.argmin(np.isfinite(points).all(axis=1)))} is not finite")
    center = (points.min(axis=0) + points.max(axis=0)) / 2
    size = np.abs(points - center).max()
    thickness = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    if not size > 0 or thickness[2] <= _FLAT * thickness[0]:
        raise ArgumentError(
            f"{caller}: the points lie in a plane, on a line or in one place, so that their hull has no volume; "
            "use a thin Box for a plate, or a Capsule for a rod"
        )
    try:
        hull = _QuickHull((points - center) / size)
    except QhullError as error:
        raise ArgumentError(f"{caller}: 'points' have no convex hull: {str(error).splitlines()[0]}") from None
    number_of = np.full(len(points), -1)
    number_of[hull.vertices] = np.arange(len(hull.vertices))
    x = (points - center)[hull.vertices]
    faces, normals = number_of[hull.simplices], _shared_normals(hull.equations[:, :3], hull.neighbors)
    a, b, c = x[faces].transpose(1, 0, 2)
    inward = np.einsum("ni,ni->n", np.cross(b - a, c - a), normals) < 0
    faces[inward] = faces[inward][:, ::-1]
    triangles, edges = _face_rows(x, faces, normals, center), _edge_rows(x, faces, normals, hull.neighbors, center)
    each = np.arange(max(len(triangles), len(edges)))
    rows = np.column_stack([t[np.minimum(each, len(t) - 1)] for t in (triangles, edges)])
    tables = HullTables(points[hull.vertices], faces, rows)
    for table in (tables.vertices, tables.faces, tables.rows):
        table.setflags(write=False)
    return tables


def _shared_normals(normals, neighbors) -> np.ndarray:
    """The normals with one and the same for all triangles of a plane face, so that kernels can tell its border."""
    found, seen = normals.copy(), np.zeros(len(normals), bool)
    for first in range(len(normals)):
        stack = [] if seen[first] else [first]
        while stack:
            i = stack.pop()
            seen[i], found[i] = True, normals[first]
            stack += [j for j in neighbors[i] if not seen[j] and _in_one_plane(normals[first], normals[j])]
    return found


def _in_one_plane(n, m) -> bool:
    return bool(n @ m > 0 and np.abs(np.cross(n, m)).max() < _SAME_PLANE)


def _face_rows(x, faces, normals, center) -> np.ndarray:
    a, b, c = x[faces].transpose(1, 0, 2)
    u, v = b - a, c - a
    uu, uv, vv = (np.einsum("ni,ni->n", p, q) for p, q in ((u, u), (u, v), (v, v)))
    # A triangle without an area has no coordinates: then it is never below a point, and its edges are.
    area2 = np.einsum("ni,ni->n", np.cross(u, v), np.cross(u, v))
    inverse = np.where(area2 > 0, 1 / np.where(area2 > 0, area2, 1.0), 0.0)[:, None]
    g = (vv[:, None] * u - uv[:, None] * v) * inverse
    k = (uu[:, None] * v - uv[:, None] * u) * inverse
    at = a + center
    h = np.max(x @ normals.T, axis=0) + normals @ center  # all vertices are behind the plane
    away = np.where(area2 > 0, 0.0, 1.0)
    rows = [normals, h, g, np.sum(g * at, axis=1) + away, k, np.sum(k * at, axis=1) + away]
    return np.column_stack(rows)


def _edge_rows(x, faces, normals, neighbors, center) -> np.ndarray:
    rows = []
    corners = [set(face) for face in faces.tolist()]
    for i, others in enumerate(neighbors):
        for j in others:
            ends = sorted(corners[i] & corners[j])
            if i < j and len(ends) == 2 and not np.array_equal(normals[i], normals[j]):
                rows.append(np.concatenate([x[ends[0]] + center, x[ends[1]] - x[ends[0]], normals[i], normals[j]]))
    return np.array(rows)


@dataclass(frozen=True, eq=False, repr=False)
class ConvexHull(Mesh):
    """The convex hull of `points` (k, 3) [m] in its frame: the smallest convex solid that has them in it.

        >>> ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]], name="corner")
        <ConvexHull 'corner' at (0, 0, 0)>

    It is a `Mesh` for cameras and other sensors. `points` become the corners of the hull, and `tables` are what kernels
    such as `capsule_hull` read: copies at other poses share them. Points in one plane raise an `ArgumentError`.
    """

    triangles: Any = dataclasses.field(init=False, default=None)
    points: Any = ()
    tables: HullTables = dataclasses.field(init=False, default=None)  # type: ignore[assignment]

    def __post_init__(self):
        Solid.__post_init__(self)
        tables = self.points if isinstance(self.points, HullTables) else hull_tables(self.points, "ConvexHull")
        self._set(points=tables.vertices, tables=tables, triangles=tables.triangles)

    def at(self, T_world_solid) -> Self:
        return self.replace(T_world_solid=T_world_solid)

    def replace(self, **fields) -> Self:
        return super().replace(**{"points": self.tables, **fields})


@dataclass(frozen=True, eq=False, repr=False)
class HeightField(Mesh):
    """Ground below a surface over a rectangle: `heights` (nx, ny) [m] at the points of a grid, `spacing` apart.

        >>> hills = HeightField(0.1 * np.random.default_rng(0).uniform(size=(20, 30)), 0.05, name="hills")
        >>> hills.spacing
        array([0.05, 0.05])

    The height `heights[i, j]` stands at (x, y) = (i dx, j dy) of its frame, as in `simulation.terrain`, and `spacing`
    [m] is one number or (dx, dy). Each cell is two triangles, which meet in the diagonal from (i, j) to (i + 1, j + 1).
    In collisions the ground below the rectangle has no end; cameras see it as a closed block, whose bottom is one
    spacing below the lowest point.
    """

    triangles: Any = dataclasses.field(init=False, default=None)
    heights: Any = ()
    spacing: Any = 1.0

    def __post_init__(self):
        Solid.__post_init__(self)
        who = "HeightField"
        z = np.array(as_input(self.heights, "heights", who), float)
        if z.ndim != 2 or min(z.shape) < 2:
            raise ArgumentError(f"{who}: 'heights' has shape {z.shape}; it must be (nx, ny), each 2 or more")
        if not np.isfinite(z).all():
            raise ArgumentError(f"{who}: 'heights' contain NaN or infinity")
        apart = np.array(as_input(self.spacing, "spacing", who), float)
        if apart.shape == ():
            apart = np.full(2, number(apart, "spacing", who, least=0, above=True))
        spacing = lengths(apart, (2,), "spacing", who)
        z.setflags(write=False)
        self._set(heights=z, spacing=spacing, triangles=_block(z, spacing))

    @property
    def grid(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What `capsule_height_field` reads: the heights (nx · ny, 1), their shape (nx, ny), the spacing (2,) [m]."""
        return self.heights.reshape(-1, 1), np.array(self.heights.shape, float), self.spacing

    def at(self, T_world_solid) -> Self:
        moved = object.__new__(type(self))
        moved.__dict__.update(self.__dict__)  # the grid was checked and cut into triangles once
        pose = Solid(T_world_solid=T_world_solid).T_world_solid
        moved._set(T_world_solid=pose)
        return moved


def _block(z: np.ndarray, spacing: np.ndarray) -> Triangles:
    """The closed surface of the ground under a grid: its cells, its four walls, and its bottom."""
    nx, ny = z.shape
    number_of = np.arange(nx * ny).reshape(nx, ny)
    x, y = np.meshgrid(np.arange(nx) * spacing[0], np.arange(ny) * spacing[1], indexing="ij")
    top = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    border = np.concatenate([number_of[:, 0], number_of[-1, 1:], number_of[-2::-1, -1], number_of[0, -2:0:-1]])
    below = np.column_stack([top[border, :2], np.full(len(border), z.min() - spacing.max())])
    foot = len(top) + np.arange(len(border))
    middle = np.append(below[:, :2].mean(axis=0), below[0, 2])
    a, b, c, d = number_of[:-1, :-1], number_of[1:, :-1], number_of[1:, 1:], number_of[:-1, 1:]
    cells = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    after, foot_after = np.roll(border, -1), np.roll(foot, -1)
    walls = np.stack([border, foot, foot_after, border, foot_after, after], axis=-1).reshape(-1, 3)
    bottom = np.stack([foot_after, foot, np.full(len(foot), len(top) + len(foot))], axis=-1)
    vertices, faces = np.concatenate([top, below, middle[None]]), np.concatenate([cells, walls, bottom])
    vertices.setflags(write=False)
    faces.setflags(write=False)
    return Triangles(vertices, faces)
