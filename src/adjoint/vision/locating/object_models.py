"""`ObjectModel`: what `locate` knows of an object: its surface, its edges, and how it can lie on a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError, ModelError
from ...lazy import cached_property
from ...lie import so3
from ...model.input_checks import floats, numbers, positive

__all__ = ["Edges", "ObjectModel", "Rest", "block_model", "cylinder_model", "mesh_model", "prism_model"]

_FLAT = 1e-6  # normals of one face differ by less [rad]
_CREASE = np.radians(20.0)  # a sharper edge between two faces can be seen
_SAME = 1e-6  # vertices of two positions are the same within this part of the object's size
_MOST_RESTS = 40  # ways to lie that are looked at; more belong to curved surfaces
_SIDES = 60  # of the prism that stands for a cylinder


class Edges(NamedTuple):
    """The k edges of a surface that may be seen, in the object's frame."""

    ends: np.ndarray  # (k, 2, 3) [m]
    normals: np.ndarray  # (k, 2, 3) outward normals of the two faces that meet there
    crease: np.ndarray  # (k,) whether both faces differ so much that the edge is seen between them


class Rest(NamedTuple):
    """A way to lie on a plane: the object is at `T_plane_object` (4, 4), moved in the plane and turned about its z.

    `symmetry` is the number of turns, of 2π/symmetry each, that nobody can tell apart.
    """

    T_plane_object: np.ndarray
    symmetry: int
    height: float


@dataclass(frozen=True, eq=False)
class ObjectModel:
    """An object that `locate` can find: triangles of its surface, and its colour if that tells it from others.

    `vertices` (n, 3) [m] are in the frame of the object, and `faces` (m, 3) are the numbers of the vertices of each
    triangle, counterclockwise from outside. `colour` (3,) is red, green, blue from 0 to 1, or None.
    `block_model`, `cylinder_model`, `prism_model` and `mesh_model` make such models.
    """

    vertices: np.ndarray
    faces: np.ndarray
    colour: tuple[float, float, float] | None = None

    def __post_init__(self):
        vertices = numbers(self.vertices, (None, 3), "ObjectModel: vertices")
        faces = np.array(self.faces)
        if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu" or len(faces) < 4:
            raise ArgumentError(f"ObjectModel: faces must be whole numbers (m, 3), m > 3; got shape {faces.shape}")
        if faces.min() < 0 or faces.max() >= len(vertices):
            raise ArgumentError(f"ObjectModel: a face names vertex {faces.max()}; there are {len(vertices)} vertices")
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces.astype(np.intp))
        if self.colour is not None:
            object.__setattr__(self, "colour", tuple(numbers(self.colour, (3,), "ObjectModel: colour").tolist()))
        if not self.volume > 0:
            raise ModelError("ObjectModel: the surface encloses no volume; are faces counterclockwise from outside?")

    def __repr__(self) -> str:
        return f"<ObjectModel: {len(self.vertices)} vertices, {len(self.faces)} faces, size {self.size:.3g} m>"

    @cached_property
    def triangles(self) -> np.ndarray:
        """The corners (m, 3, 3) [m] of the triangles."""
        return self.vertices[self.faces]

    @cached_property
    def volume(self) -> float:
        """The volume [m³]: the sum of the signed tetrahedra between the origin and the triangles."""
        return float(np.linalg.det(self.triangles).sum() / 6)

    @cached_property
    def center(self) -> np.ndarray:
        """The centre of mass (3,) [m] of the solid, with the same density everywhere."""
        return np.linalg.det(self.triangles) @ self.triangles.sum(axis=1) / (24 * self.volume)

    @cached_property
    def size(self) -> float:
        """The greatest distance [m] of a vertex from the centre, twice."""
        return 2 * float(np.linalg.norm(self.vertices - self.center, axis=1).max())

    @cached_property
    def is_convex(self) -> bool:
        """Whether the object has no notches: it fills its convex hull."""
        from scipy.spatial import ConvexHull

        return float(ConvexHull(self.vertices).volume) <= self.volume * (1 + 1e-6)

    @cached_property
    def normals(self) -> np.ndarray:
        """The unit normals (m, 3) of the triangles, outward."""
        a, b, c = np.moveaxis(self.triangles, 1, 0)
        n = np.cross(b - a, c - a)
        return n / np.maximum(np.linalg.norm(n, axis=1), 1e-300)[:, None]

    @cached_property
    def edges(self) -> Edges:
        """The `Edges` of the surface; those inside flat faces are left out."""
        sides = np.sort(self.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        faces = np.repeat(np.arange(len(self.faces)), 3)
        order = np.lexsort(sides.T)
        sides, faces = sides[order], faces[order]
        paired = (sides[:-1] == sides[1:]).all(axis=1)
        if 2 * paired.sum() != len(sides):
            raise ModelError("ObjectModel: the surface is not closed: an edge does not belong to exactly two triangles")
        first = np.flatnonzero(paired)
        normals = self.normals[np.stack([faces[first], faces[first + 1]], axis=1)]
        bend = np.arccos(np.clip(np.sum(normals[:, 0] * normals[:, 1], axis=1), -1.0, 1.0))
        kept = bend > np.sqrt(_FLAT)
        return Edges(self.vertices[sides[first[kept]]], normals[kept], bend[kept] > _CREASE)

    @cached_property
    def rests(self) -> tuple[Rest, ...]:
        """The ways to lie on a plane without falling over, each once, the flattest first; see `rests_of`."""
        return rests_of(self)


def rests_of(model: ObjectModel) -> tuple[Rest, ...]:
    """The ways to lie on a plane without falling over, each once, the flattest first.

    A face of the convex hull bears the object if the centre of mass is above it.
    """
    found: list[Rest] = []
    for normal in _bearing_normals(model.vertices, model.center):
        R = _turned_down(normal)
        placed = (model.vertices - model.center) @ R.T
        lowest = placed[:, 2].min()
        if any(_turns(placed - [0, 0, lowest], _laid(model, rest)) for rest in found):
            continue
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = R, np.array([0, 0, -lowest]) - R @ model.center
        points = placed - [0, 0, lowest]
        found.append(Rest(T, len(_turns(points, points)), float(np.ptp(placed[:, 2]))))
    return tuple(sorted(found, key=lambda rest: rest.height))


def _laid(model: ObjectModel, rest: Rest) -> np.ndarray:
    """The vertices (n, 3) of an object that lies, with its centre of mass above the origin."""
    return model.vertices @ rest.T_plane_object[:3, :3].T + rest.T_plane_object[:3, 3]


def _bearing_normals(vertices: np.ndarray, center: np.ndarray) -> np.ndarray:
    """The outward normals (k, 3) of the faces of the convex hull above which the centre is, the largest face first.

    A curved surface of many small faces lies on any of them. Of so many, those are left out that differ least from
    larger ones.
    """
    from scipy.spatial import ConvexHull

    hull = ConvexHull(vertices)
    normals, triangles = hull.equations[:, :3], vertices[hull.simplices]
    face = _same_face(hull.equations)
    areas = np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    bears = np.bincount(face, _are_below(triangles, normals, center)) > 0
    order = np.argsort(-np.bincount(face, areas), kind="stable")
    _, first = np.unique(face, return_index=True)
    found, apart = normals[first[order[bears[order]]]], np.radians(3.0)
    while len(found) > _MOST_RESTS:
        found, apart = _spread(found, apart), 1.5 * apart
    return found


def _same_face(equations: np.ndarray) -> np.ndarray:
    """The number of the face (k,) in which each triangle of a hull lies, from the equations (k, 4) of their planes."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import KDTree

    n, pairs = len(equations), KDTree(equations).query_pairs(np.sqrt(_FLAT), output_type="ndarray")
    return connected_components(coo_array((np.ones(len(pairs)), pairs.T), shape=(n, n)), directed=False)[1]


def _spread(normals: np.ndarray, apart: float) -> np.ndarray:
    """Those of unit normals (k, 3) that are farther apart than an angle [rad] from all kept before."""
    kept: list[int] = []
    for k, n in enumerate(normals):
        if not kept or (normals[kept] @ n).max() < np.cos(apart):
            kept.append(k)
    return normals[kept]


def _are_below(triangles: np.ndarray, normals: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Whether a point, moved along their normals (k, 3), falls into triangles (k, 3, 3) or on their borders."""
    sides = np.roll(triangles, -1, axis=1) - triangles
    turns = np.einsum("kij,kj->ki", np.cross(sides, point - triangles), normals)
    slack = 1e-9 * np.abs(turns).max(axis=1, keepdims=True)
    return (turns >= -slack).all(axis=1) | (turns <= slack).all(axis=1)


def _turned_down(normal: np.ndarray) -> np.ndarray:
    """The rotation R (3, 3) with R normal = -z that turns least."""
    axis = np.cross(normal, [0.0, 0.0, -1.0])
    sine, cosine = np.linalg.norm(axis), -normal[2]
    if sine < 1e-12:
        return np.eye(3) if cosine > 0 else np.diag([1.0, -1.0, -1.0])
    return so3.exp(axis / sine * np.arctan2(sine, cosine))


def _turns(points: np.ndarray, others: np.ndarray) -> list[float]:
    """The angles [rad] by which `points` (n, 3), turned about z, become `others` (n, 3) in some order."""
    from scipy.spatial import KDTree

    if points.shape != others.shape:
        return []
    size = np.abs(points).max()
    radius, height = np.hypot(points[:, 0], points[:, 1]), points[:, 2]
    if np.abs(np.sort(height) - np.sort(others[:, 2])).max() > _SAME * size:
        return []  # a turn changes no height
    outer = radius > _SAME * size
    if not outer.any():
        return [0.0] if np.allclose(points, others, atol=_SAME * size) else []
    tree = KDTree(others)
    k = int(np.flatnonzero(outer)[np.argmax(radius[outer])])
    alike = np.abs(np.hypot(others[:, 0], others[:, 1]) - radius[k]) < _SAME * size
    alike &= np.abs(others[:, 2] - height[k]) < _SAME * size
    found = []
    for x, y, _ in others[alike]:
        angle = np.arctan2(y, x) - np.arctan2(points[k, 1], points[k, 0])
        turned = points @ so3.rotation_z(angle).T
        if tree.query(turned)[0].max() < _SAME * size:
            found.append(float(angle))
    return found


# --- makers -----------------------------------------------------------------------------------------------------------


def block_model(size, *, colour=None) -> ObjectModel:
    """A block with edges `size` (3,) [m], whose frame is at its centre.

    >>> block_model((0.06, 0.04, 0.02)).rests[0].height
    0.02
    """
    edges = floats(size)
    if edges.shape != (3,) or not (edges > 0).all() or not np.isfinite(edges).all():
        raise ArgumentError(f"block_model: size must be three positive numbers [m], got {size!r}")
    half = edges / 2
    rectangle = half[:2] * [[-1, -1], [1, -1], [1, 1], [-1, 1]]
    return _extruded(rectangle, edges[2], colour)


def cylinder_model(radius: float, height: float, *, colour=None) -> ObjectModel:
    """A cylinder about the z axis of its frame, which is at its centre; `radius` and `height` in m.

    A prism stands for it, whose sides lie as far outside as its edges inside are.

        >>> [rest.symmetry for rest in cylinder_model(0.02, 0.05).rests]     # lying, and standing
        [2, 60]
    """
    radius, height = positive(radius, "cylinder_model: radius"), positive(height, "cylinder_model: height")
    angles = 2 * np.pi * np.arange(_SIDES) / _SIDES
    between = radius * 2 / (1 + np.cos(np.pi / _SIDES))  # corners are as far outside as the middles of sides are inside
    return _extruded(between * np.stack([np.cos(angles), np.sin(angles)], axis=1), height, colour)


def prism_model(outline, height: float, *, colour=None) -> ObjectModel:
    """A flat part: a polygon `outline` (n, 2) [m], counterclockwise, from z = -height/2 to height/2 [m].

    The outline may have notches, but no holes, and must not cross itself.

        >>> prism_model([(0, 0), (0.06, 0), (0.06, 0.02), (0.02, 0.02), (0.02, 0.05), (0, 0.05)], 0.01)
        <ObjectModel: 12 vertices, 20 faces, size 0.0826 m>
    """
    points = numbers(outline, (None, 2), "prism_model: outline")
    if len(points) < 3:
        raise ArgumentError(f"prism_model: an outline has three points or more, got {len(points)}")
    return _extruded(points, positive(height, "prism_model: height"), colour)


def mesh_model(mesh: Any, *, colour=None) -> ObjectModel:
    """A model of a closed mesh: an object with `vertices` (n, 3) [m] and `faces` (m, 3), such as a trimesh.Trimesh.

    Vertices at the same place become one.

        >>> from adjoint.drawing import triangles
        >>> [round(rest.height, 3) for rest in mesh_model(triangles.box(0.1, 0.1, 0.2)).rests]
        [0.1, 0.2]
    """
    try:
        vertices, faces = np.asarray(mesh.vertices, float), np.asarray(mesh.faces)
    except (AttributeError, TypeError, ValueError):
        raise ArgumentError(f"mesh_model: a mesh has vertices and faces; got {type(mesh).__name__}") from None
    if vertices.ndim != 2 or vertices.shape[1:] != (3,) or not len(vertices):
        raise ArgumentError(f"mesh_model: vertices must have shape (n, 3), got {vertices.shape}")
    rounded = np.round(vertices, 9)
    unique, place = np.unique(rounded, axis=0, return_inverse=True)
    return ObjectModel(unique, place.reshape(-1)[faces], colour)


def _extruded(outline: np.ndarray, height: float, colour) -> ObjectModel:
    """The prism over an outline (n, 2), from -height/2 to height/2."""
    n, ears = len(outline), _ear_clipped(outline)
    bottom, top = (np.column_stack([outline, np.full(n, z)]) for z in (-height / 2, height / 2))
    this, following = np.arange(n), np.roll(np.arange(n), -1)
    walls = np.concatenate([
        np.stack([this, following, n + following], axis=1), np.stack([this, n + following, n + this], axis=1)
    ])  # fmt: skip
    return ObjectModel(np.concatenate([bottom, top]), np.concatenate([walls, n + ears, ears[:, ::-1]]), colour)


def _ear_clipped(outline: np.ndarray) -> np.ndarray:
    """Triangles (n - 2, 3) of a polygon (n, 2) that runs counterclockwise: ears are cut off one after the other."""

    def turn(a, b, c):
        (x, y), (z, w) = outline[b] - outline[a], outline[c] - outline[a]
        return x * w - y * z

    left, found = list(range(len(outline))), []
    while len(left) > 3:
        for k in range(len(left)):
            a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
            others = [p for p in left if p not in (a, b, c)]
            if turn(a, b, c) > 0 and not any(min(turn(a, b, p), turn(b, c, p), turn(c, a, p)) >= 0 for p in others):
                found.append((a, b, c))
                del left[k]
                break
        else:
            raise ArgumentError("prism_model: the outline must run counterclockwise, and must not cross itself")
    if turn(*left) <= 0:
        raise ArgumentError("prism_model: the outline must run counterclockwise, and must not cross itself")
    return np.array([*found, left])
