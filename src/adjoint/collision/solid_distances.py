"""`solid_distance`: how far any two solids of a scene are apart."""

from __future__ import annotations

from functools import partial
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import ArgumentError
from ..sensing.scene import Box, Capsule, Cylinder, Mesh, Plane, Solid, Sphere
from ..sensing.scene.triangle_sets import Triangles
from .collision_solids import ConvexHull, HeightField, HullTables, hull_tables
from .pair_boxes import capsule_box
from .pair_coal import coal_distance
from .pair_convex import Convex, convex_distance
from .pair_cylinders import capsule_cylinder
from .pair_distances import PairDistance, capsule_capsule, capsule_plane
from .pair_height_fields import capsule_height_field
from .pair_hulls import capsule_hull

__all__ = ["is_convex", "solid_distance"]

_CONVEX = 1e-9  # a mesh is convex if it fills its hull but for this part of the volume
_HULLS: WeakKeyDictionary[Triangles, HullTables | None] = WeakKeyDictionary()


def solid_distance(solid_a: Solid, solid_b: Solid, *, exact: bool = False) -> PairDistance:
    """The signed distance of any two solids of a scene, with witness points and the normal; see `PairDistance`.

        >>> from adjoint.sensing import Box, Sphere
        >>> pair = solid_distance(Box([1, 1, 1.0]), Sphere(0.25, T_world_solid=[0, 0, 2.0]))
        >>> float(pair.distance), pair.normal
        (1.25, array([0., 0., 1.]))

    - A `Sphere` or a `Capsule` with anything convex, and a `Plane` with anything but ground, are exact closed forms.
    - A `Box`, `Cylinder`, `ConvexHull` or convex `Mesh` with another is exact for polytopes, and right to 1e-11 of the
      size of both for cylinders: a growing polytope, whose bounds from both sides agree.
    - A `Sphere` or `Capsule` and a `HeightField`: see `capsule_height_field` for depths.
    - A `Mesh` that is not convex with anything but a `Plane`, and a `HeightField` with other solids, need `exact=True`.

    With `exact=True` coal computes all pairs without a `Plane`, meshes by their triangles (extra `[world]`); coal ends
    its iterations at 1e-6. A mesh must be closed, and counts as solid: what is inside it has a negative distance.
    Depths of a mesh that is not convex are those of its triangles, or the way to its surface from inside, which are
    lower bounds of the way out. A height field is then a closed block, as cameras see it.
    """
    who = "solid_distance"
    for name, solid in (("solid_a", solid_a), ("solid_b", solid_b)):
        _need_solid(solid, name, who)
    if isinstance(solid_a, Plane):
        return _turned(_from_plane(solid_b, solid_a, who))
    if isinstance(solid_b, Plane):
        return _from_plane(solid_a, solid_b, who)
    if exact:
        return coal_distance(solid_a, solid_b, who)
    if isinstance(solid_a, Sphere | Capsule):
        return _from_capsule(solid_a, solid_b, who)
    if isinstance(solid_b, Sphere | Capsule):
        return _turned(_from_capsule(solid_b, solid_a, who))
    return convex_distance(_convex(solid_a, solid_b, who), _convex(solid_b, solid_a, who))


def is_convex(mesh: Mesh) -> bool:
    """Whether a mesh is the closed surface of a convex solid: its volume is that of its hull, up to 1e-9 of it.

    >>> is_convex(ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]))
    True
    """
    _need_solid(mesh, "mesh", "is_convex")
    if not isinstance(mesh, Mesh):
        raise ArgumentError(f"is_convex: 'mesh' must be a Mesh, got {type(mesh).__name__}")
    return not isinstance(mesh, HeightField) and _tables(mesh) is not None


# --- the ways to a result ---------------------------------------------------------------------------------------------


def _need_solid(solid, name: str, caller: str) -> None:
    if not isinstance(solid, Plane | Sphere | Box | Cylinder | Capsule | Mesh):
        kinds = "Plane, Sphere, Box, Cylinder, Capsule, Mesh, ConvexHull or HeightField"
        raise ArgumentError(f"{caller}: '{name}' must be a {kinds}, got {type(solid).__name__}")


def _turned(pair: PairDistance) -> PairDistance:
    """The same pair with a and b exchanged."""
    return PairDistance(pair.distance, pair.point_b, pair.point_a, 0.0 - pair.normal)  # not -0


def _arrays(pair: PairDistance) -> PairDistance:
    return PairDistance(*(np.asarray(x) for x in pair))


def _ends(solid: Sphere | Capsule) -> tuple[np.ndarray, np.ndarray, float]:
    half = solid.length / 2 if isinstance(solid, Capsule) else 0.0
    center, axis = solid.T_world_solid[:3, 3], solid.T_world_solid[:3, 2]
    return center - half * axis, center + half * axis, solid.radius


def _from_capsule(a: Sphere | Capsule, b: Solid, caller: str) -> PairDistance:
    ends, T = _ends(a), b.T_world_solid
    match b:
        case Sphere() | Capsule():
            return _arrays(capsule_capsule(*ends, *_ends(b)))
        case Box():
            return _arrays(capsule_box(*ends, T, b.size / 2))
        case Cylinder():
            return _arrays(capsule_cylinder(*ends, T, b.radius, b.length / 2))
        case HeightField():
            top = b.triangles.vertices[: b.heights.size] @ T[:3, :3].T + T[:3, 3]
            reach = np.linalg.norm(top - ends[0], axis=1).min() * (1 + 1e-9)  # nothing is farther than a point of it
            return _arrays(capsule_height_field(*ends, T, *b.grid, reach))
    return _arrays(capsule_hull(*ends, T, _need_tables(b, a, caller).rows))


def _from_plane(a: Solid, plane: Plane, caller: str) -> PairDistance:
    """The distance of a solid and a half-space: that of the lowest point of the solid."""
    up, point = plane.T_world_solid[:3, 2], plane.T_world_solid[:3, 3]
    if isinstance(a, Sphere | Capsule):
        return _arrays(capsule_plane(*_ends(a), plane.T_world_solid))
    if isinstance(a, Plane):
        if not np.allclose(a.T_world_solid[:3, 2], -up, rtol=0, atol=1e-12):
            raise ArgumentError(
                f"{caller}: two planes have a distance only if they face each other; these half-spaces meet without end"
            )
        x = a.T_world_solid[:3, 3]
    elif isinstance(a, HeightField):
        raise ArgumentError(
            f"{caller}: the ground of a HeightField has no bottom, so that it meets a Plane without end"
        )
    elif isinstance(a, Mesh):
        used = a.triangles.vertices[np.unique(a.triangles.faces)] @ a.T_world_solid[:3, :3].T + a.T_world_solid[:3, 3]
        x = used[np.argmin(used @ up)]
    else:
        x = _convex(a, plane, caller).support(-up[None])[0]
    d = up @ (x - point)
    return PairDistance(np.asarray(d), x, x - d * up, -up)


def _tables(mesh: Mesh) -> HullTables | None:
    """The tables of a convex mesh, or None if it is not convex; they are made once."""
    if isinstance(mesh, ConvexHull):
        return mesh.tables
    triangles = mesh.triangles
    if triangles not in _HULLS:
        _HULLS[triangles] = _tables_if_convex(triangles)
    return _HULLS[triangles]


def _tables_if_convex(triangles: Triangles) -> HullTables | None:
    vertices, same = np.unique(triangles.vertices, axis=0, return_inverse=True)
    faces = same.reshape(-1)[triangles.faces]
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    there, back = ({tuple(side) for side in s.tolist()} for s in (sides, sides[:, ::-1]))
    if there != back or len(there) < len(sides):  # each side belongs to two triangles, one way and the other
        return None
    try:
        tables = hull_tables(vertices[np.unique(faces)], "solid_distance")
    except ArgumentError:
        return None
    volume, hull = _volume(vertices, faces), _volume(tables.vertices, tables.faces)
    return tables if abs(abs(volume) - hull) <= _CONVEX * hull else None


def _volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (vertices[faces] - vertices.mean(axis=0)).transpose(1, 0, 2)
    return float(np.einsum("ki,ki->", a, np.cross(b, c)) / 6)


def _need_tables(solid: Solid, other: Solid, caller: str) -> HullTables:
    named = f" '{solid.name}'" if solid.name else ""
    if isinstance(solid, HeightField):
        raise ArgumentError(
            f"{caller}: the distance of the HeightField{named} and a {type(other).__name__} needs coal: exact=True. "
            "Without coal, cover the other solid by Spheres or Capsules"
        )
    tables = _tables(solid) if isinstance(solid, Mesh) else None
    if tables is None:
        raise ArgumentError(
            f"{caller}: the {type(solid).__name__}{named} is not convex, or not closed; exact=True asks coal about its "
            "triangles, and ConvexHull(mesh.triangles.vertices) is a larger, convex solid"
        )
    return tables


def _convex(solid: Solid, other: Solid, caller: str) -> Convex:
    """The solid by its support points in the world."""
    R, p = solid.T_world_solid[:3, :3], solid.T_world_solid[:3, 3]
    if isinstance(solid, Box):
        local = partial(_farthest_of_box, solid.size / 2)
    elif isinstance(solid, Cylinder):
        local = partial(_farthest_of_cylinder, solid.radius, solid.length / 2)
    else:
        local = partial(_farthest_of_points, _need_tables(solid, other, caller).vertices)
    return Convex(lambda d: local(d @ R) @ R.T + p)


def _farthest_of_box(half, d):
    return np.where(d < 0, -half, half)


def _farthest_of_cylinder(radius, half, d):
    across = np.hypot(d[:, 0], d[:, 1])[:, None]
    flat = np.where(across > 0, d[:, :2] / np.where(across > 0, across, 1.0), [1.0, 0.0])
    return np.column_stack([radius * flat, np.where(d[:, 2] < 0, -half, half)])


def _farthest_of_points(vertices, d):
    return vertices[np.argmax(d @ vertices.T, axis=1)]
