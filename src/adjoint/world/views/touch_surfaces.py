"""Parts of a world as surfaces that simulated robots touch: `aj.simulation.contact` takes them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...collision.collision_solids import ConvexHull
from ...errors import ArgumentError
from ...lie import series
from ...sensing.scene import Box, Capsule, Cylinder, Mesh, Plane, Scene, Solid, Sphere
from ...simulation.surfaces import Surface, box, plane, sphere
from ..state import World
from ..state.placements import inverted

__all__ = ["world_surfaces"]


def world_surfaces(world: World, *, relative_to: str = "world", exclude: Iterable[str] = ()) -> dict[str, Surface]:
    """The solids of all parts as surfaces {name: `Surface`}, for `aj.simulation.contact`.

        >>> from adjoint.sensing import Plane
        >>> w = World().add("floor", Plane(), at=[0, 0, -0.3]).add_robot("arm", robot)
        >>> ground = world_surfaces(w, relative_to="arm")["floor"]
        >>> touch = aj.simulation.contact("tool", ground, stiffness=1e4)

    Names are those of `World.scene`. Surfaces are seen from the frame `relative_to`: "world" for a robot of
    `World.mounted`, the name of a robot for this robot as it is. Planes, boxes, balls, capsules and cylinders are
    exact. The distance from a convex polyhedron, which also stands for a mesh, is that of the farthest of its face
    planes: exact inside and in front of faces, too small in front of edges and corners.
    """
    if not isinstance(world, World):
        raise ArgumentError(f"world_surfaces: 'world' must be a World, got {type(world).__name__}")
    T = inverted(world.pose(relative_to))
    scene: Scene = world.scene(exclude, robots=False)
    return {solid.name: surface_of_solid(solid.at(T @ solid.T_world_solid)) for solid in scene}


def surface_of_solid(solid: Solid) -> Surface:
    """A solid as a surface, at its pose."""
    T = solid.T_world_solid
    if isinstance(solid, Plane):
        return plane(T[:3, 3], T[:3, 2])
    if isinstance(solid, Sphere):
        return sphere(T[:3, 3], solid.radius)
    if isinstance(solid, Box):
        return box(T, solid.size)
    if isinstance(solid, Cylinder | Capsule):
        kind = _cylinder if isinstance(solid, Cylinder) else _capsule
        sizes = np.array([solid.radius, solid.length / 2])
        return Surface(kind, {"pose": np.array(T), "sizes": sizes})
    if isinstance(solid, Mesh):
        hull = solid if isinstance(solid, ConvexHull) else ConvexHull(points=solid.triangles.vertices)
        outward, first = hull.triangles.normals, hull.triangles.corners[:, 0]
        rows = np.column_stack([outward, np.sum(outward * first, axis=1)])[(outward != 0).any(axis=1)]
        planes = np.unique(np.round(rows, 9), axis=0, return_index=True)[1]  # triangles of one face share a plane
        normals = rows[planes, :3] @ T[:3, :3].T
        return Surface(_polyhedron, {"normals": normals, "heights": rows[planes, 3] + normals @ T[:3, 3]})
    raise ArgumentError(f"world_surfaces: a {type(solid).__name__} cannot be touched; leave it out by 'exclude'")


def _cylinder(p, x):
    R = p.pose[:3, :3]
    local = R.T @ (x - p.pose[:3, 3])
    radial = np.sqrt(local[0] ** 2 + local[1] ** 2)
    safe = np.where(radial > 0, radial, 1.0)
    out = np.stack([local[0] / safe, local[1] / safe, 0.0 * radial])
    up = np.stack([0.0 * radial, 0.0 * radial, np.where(local[2] < 0, -1.0, 1.0)])
    a, b = radial - p.sizes[0], np.abs(local[2]) - p.sizes[1]
    outside_a, outside_b = np.maximum(a, 0.0), np.maximum(b, 0.0)
    away = np.sqrt(outside_a**2 + outside_b**2)
    is_out = away > 0
    safe_away = np.where(is_out, away, 1.0)
    # Inside, the nearest point is on the wall or on an end, whichever is nearer.
    normal = np.where(is_out, (outside_a * out + outside_b * up) / safe_away, np.where(a > b, out, up))
    return np.where(is_out, away, np.maximum(a, b)), R @ normal


def _capsule(p, x):
    R = p.pose[:3, :3]
    local = R.T @ (x - p.pose[:3, 3])
    near = np.stack([0.0 * local[0], 0.0 * local[1], np.clip(local[2], -p.sizes[1], p.sizes[1])])
    away = local - near
    size = series.norm(away)
    return size - p.sizes[0], R @ (away / np.where(size > 0, size, 1.0))


def _polyhedron(p, x):
    distances = p.normals @ x - p.heights
    most, normal = distances[0], p.normals[0]
    for k in range(1, np.shape(p.normals)[0]):
        farther = distances[k] > most
        most, normal = np.where(farther, distances[k], most), np.where(farther, p.normals[k], normal)
    return most, normal
