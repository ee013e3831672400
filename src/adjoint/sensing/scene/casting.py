"""Rays in a scene: the nearest hit of each ray over all solids."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import kernel, row_at, scan, static
from ...errors import ArgumentError
from .mesh_rays import mesh_distance
from .ray_solids import KINDS, first_hit, normal_at, span, unit
from .scene_checks import number, vectors_of
from .scenes import ROW_SIZE, Scene

__all__ = ["Hits", "cast_rays", "need_scene", "occluded", "ray_distances", "solid_table", "surface_normal", "turned"]


class Hits(NamedTuple):
    """What rays (...) meet first: see `cast_rays`."""

    distance: np.ndarray
    """(...) along the ray [m]; ∞ where nothing is met, NaN where the ray is none"""
    point: np.ndarray
    """(..., 3) in the world [m]; NaN without a hit"""
    normal: np.ndarray
    """(..., 3) outward unit normal of the surface; NaN without a hit"""
    solid: np.ndarray
    """(...) number of the solid in the scene, or -1"""
    triangle: np.ndarray
    """(...) number of the triangle in a mesh, or -1"""


class _Start(NamedTuple):
    direction: np.ndarray
    distance: np.ndarray


class _Nearest(NamedTuple):
    distance: np.ndarray
    solid: np.ndarray


@kernel(origin=3, direction=3)
def _started(origin, direction, farthest) -> _Start:
    """The unit direction of a ray, and the distance it may go: NaN for rays without direction or place."""
    sum_of_all = np.sum(np.abs(origin)) + np.sum(np.abs(direction))
    valid = (sum_of_all < np.inf) & (np.max(np.abs(direction)) > 0)
    return _Start(unit(np.where(valid, direction, 1.0)), np.where(valid, farthest, np.nan))


@kernel(kind=static, solids=(..., ROW_SIZE), origin=3, direction=3)
def _nearest_of(kind, solids, origin, direction, distance, solid, backfaces=True) -> _Nearest:
    """The nearest hit of a ray over all solids of one kind, if it is nearer than the given one."""

    def step(carry, row):
        best, which = carry
        R, p = row[:9].reshape(3, 3), row[9:12]
        o, d = (origin - p, direction) if kind == "sphere" else (R.T @ (origin - p), R.T @ direction)
        t = first_hit(*span(kind, o, d, row[12:15]), backfaces)
        nearer = t < best
        return (np.where(nearer, t, best), np.where(nearer, row[15], which)), None

    return _Nearest(*scan(step, (distance, solid), solids)[0])


@kernel(table=(..., ROW_SIZE), point=3)
def surface_normal(table, point, solid):
    """The outward unit normal (3,) at a point of the surface of solid number `solid`; 0 for those with triangles.

    `table` is `solid_table(scene)`, whose last column is the number of the kind.
    """
    row = row_at(table, solid)
    R, size, number_of_kind = row[:9].reshape(3, 3), row[12:15], row[15]
    p = R.T @ (point - row[9:12])
    normal = np.zeros(3)
    for k, kind in enumerate(KINDS):
        normal = np.where(number_of_kind == k, normal_at(kind, p, size), normal)
    return R @ normal


@kernel(R=(3, 3), vector=3)
def turned(R, vector):
    """R · vector: NumPy's matrix product is slow for many short vectors."""
    return R @ vector


@kernel(point=3, normal=3, direction=3)
def _lifted(point, normal, direction):
    """A point a little off its surface, by a small part of its coordinates, on the side of a direction."""
    side = np.where(normal @ direction < 0, -1.0, 1.0)
    return point + (1e-7 * side * (1 + np.max(np.abs(point)))) * normal


def solid_table(scene: Scene) -> np.ndarray:
    """The table (n, 16) of all solids: rotation, position, dimensions, number of the kind (-1 of meshes)."""
    table = np.zeros((max(len(scene), 1), ROW_SIZE))
    for row, solid in zip(table, scene, strict=False):
        T, kind = solid.T_world_solid, solid.KIND
        row[:9], row[9:12], row[12:15] = T[:3, :3].flat, T[:3, 3], solid.dimensions
        row[15] = KINDS.index(kind) if kind in KINDS else -1
    return table


def need_scene(scene, caller: str) -> None:
    """Raise an `ArgumentError` if `scene` is no scene."""
    if not isinstance(scene, Scene):
        hint = "; write Scene([...])" if isinstance(scene, list | tuple) else ""
        raise ArgumentError(f"{caller}: 'scene' must be a Scene, got {type(scene).__name__}{hint}")


def _nearest(scene: Scene, origins, directions, farthest, backfaces: bool):
    """Unit directions, distance, solid and triangle of flat rays: origins and directions (n, 3), or (3,) for all."""
    directions, distance = _started(origins, directions, farthest)
    distance, solid, triangle = np.array(distance), np.full(distance.shape, -1.0), np.full(distance.shape, -1.0)
    for kind, table in scene.tables.items():
        distance, solid = _nearest_of(kind, table, origins, directions, distance, solid, backfaces=backfaces)
    for k, mesh in scene.meshes:
        at, hit = mesh_distance(mesh.triangles, mesh.T_world_solid, origins, directions, distance, backfaces)
        distance[at], solid[at], triangle[at] = hit.distance, k, hit.triangle
    distance = np.where((solid < 0) & ~np.isnan(distance), np.inf, distance)
    return directions, distance, solid, triangle


def _flat(scene, origins, directions, farthest, caller: str):
    """The batch shape of rays, and their origins and directions as (n, 3), or (3,) if they are the same for all."""
    need_scene(scene, caller)
    origins, directions = vectors_of(origins, "origins", caller), vectors_of(directions, "directions", caller)
    try:
        shape = np.broadcast_shapes(origins.shape, directions.shape)[:-1]
    except ValueError:
        raise ArgumentError(
            f"{caller}: origins {origins.shape} and directions {directions.shape} do not broadcast"
        ) from None
    if farthest != np.inf:
        farthest = number(farthest, "farthest", caller, least=0)

    def flat(x):
        return x if x.ndim == 1 else np.broadcast_to(x, (*shape, 3)).reshape(-1, 3)

    # A batch of one axis serves single rays, too.
    directions = flat(directions)
    return shape, flat(origins), directions if directions.ndim == 2 or origins.ndim > 1 else directions[None], farthest


def cast_rays(scene: Scene, origins, directions, *, backfaces: bool = True, farthest: float = np.inf) -> Hits:
    """What rays meet first in a scene: `Hits(distance, point, normal, solid, triangle)`.

        >>> from adjoint.sensing import Plane, Scene, Sphere
        >>> scene = Scene([Plane(name="floor"), Sphere(0.5, T_world_solid=[0, 0, 0.5])])
        >>> hits = cast_rays(scene, [0, 0, 3.0], [[0, 0, -1.0], [2, 0, -3]])
        >>> hits.distance, hits.solid
        (array([2.        , 3.60555128]), array([1, 0], dtype=int32))

    Parameters
    ----------
    scene
        The `Scene`; one without solids is met nowhere.
    origins, directions
        Arrays (..., 3) that broadcast: where rays start [m], and where they go. Directions have any length but 0. A
        ray with NaN or infinity, or without a direction, has the distance NaN; others do not notice.
    backfaces
        Whether rays that start inside of a solid meet it where they leave it; likewise the back of triangles.
    farthest
        Solids beyond this distance [m] are not met.
    """
    shape, o, d, farthest = _flat(scene, origins, directions, farthest, "cast_rays")
    d, distance, solid, triangle = _nearest(scene, o, d, farthest, backfaces)
    met = solid >= 0
    point = np.where(met[:, None], o + np.where(met, distance, 0.0)[:, None] * d, np.nan)
    normal = surface_normal(solid_table(scene), point, solid)
    for k, mesh in scene.meshes:
        own = np.flatnonzero(solid == k)
        normal[own] = turned(mesh.T_world_solid[:3, :3], mesh.triangles.normals[triangle[own].astype(int)])
    normal[~met] = np.nan
    return Hits(
        distance.reshape(shape), point.reshape(*shape, 3), normal.reshape(*shape, 3),
        solid.astype(np.int32).reshape(shape), triangle.astype(np.int32).reshape(shape),
    )  # fmt: skip


def ray_distances(scene: Scene, origins, directions, *, backfaces: bool = True, farthest: float = np.inf) -> np.ndarray:
    """Only the distances (...) [m] of `cast_rays`, which takes less time.

    >>> from adjoint.sensing import Plane, Scene
    >>> ray_distances(Scene([Plane()]), [0, 0, 2.0], [0, 0, -5.0])
    array(2.)
    """
    shape, o, d, farthest = _flat(scene, origins, directions, farthest, "ray_distances")
    return _nearest(scene, o, d, farthest, backfaces)[1].reshape(shape)


def occluded(scene: Scene, points, normals, directions, farthest=np.inf) -> np.ndarray:
    """Whether something lies between points (n, 3) of surfaces and what is seen from them along unit `directions`.

    Points are lifted off their surface by a small part of their coordinates, so that it does not hide itself.
    """
    directions = np.broadcast_to(directions, points.shape)
    return np.isfinite(_nearest(scene, _lifted(points, normals, directions), directions, farthest, True)[1])
