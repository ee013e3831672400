"""How far convex solids are apart, for many poses of one of them at once, by separating axes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from ...collision.collision_solids import HeightField, hull_tables
from ...compile import kernel
from ...errors import ArgumentError
from ...sensing.scene import Box, Capsule, Cylinder, Mesh, Plane, Solid, Sphere, Textured
from ..state.part_contents import surface_of

__all__: list[str] = []

_SIDES = 32  # of the prism around a cylinder
_MANY = 40  # directions of edges; of a hull with more, only the normals of faces are asked
_CHUNK = 2_000_000  # numbers of one intermediate array


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of points (k, 3), grown by a radius [m], with the directions that can separate it from others.

    `normals` (f, 3) of its faces and directions `edges` (e, 3) are unit vectors, one of each pair ±. A half-space has
    `plane`, the pose of its border.
    """

    points: np.ndarray
    normals: np.ndarray
    edges: np.ndarray
    radius: float = 0.0
    plane: np.ndarray | None = None
    box: tuple[np.ndarray, np.ndarray] | None = None
    """pose (4, 4) and half edges (3,), if the hull is a box"""

    @property
    def center(self) -> np.ndarray:
        return (self.points.min(axis=0) + self.points.max(axis=0)) / 2

    @property
    def reach(self) -> float:
        """The radius [m] of a ball about the centre that has everything in it."""
        return float(np.linalg.norm(self.points - self.center, axis=1).max() + self.radius)

    def at(self, T: np.ndarray) -> Hull:
        """The hull at the pose T (4, 4)."""
        R = T[:3, :3]
        plane = None if self.plane is None else T @ self.plane
        box = None if self.box is None else (T @ self.box[0], self.box[1])
        return Hull(self.points @ R.T + T[:3, 3], self.normals @ R.T, self.edges @ R.T, self.radius, plane, box)


_CORNERS = np.array(list(product((-0.5, 0.5), repeat=3)))


def box_hull(size) -> Hull:
    """The hull of a box with its middle in the origin."""
    half = np.asarray(size, float) / 2
    return Hull(2 * _CORNERS * half, np.eye(3), np.eye(3), 0.0, None, (np.eye(4), half))


def hull_of(solid: Solid) -> Hull | None:
    """The hull of a solid where it stands; None for ground, which the model of the arm checks.

    A mesh counts as its convex hull, and a cylinder as a prism around it, whose corners are outside by less than 0.5 %
    of the radius.
    """
    T, none = solid.T_world_solid, np.zeros((0, 3))
    if isinstance(solid, Plane):
        return Hull(T[None, :3, 3], T[None, :3, 2], none, 0.0, T)
    if isinstance(solid, Sphere):
        return Hull(np.zeros((1, 3)), none, none, solid.radius).at(T)
    if isinstance(solid, Capsule):
        end = np.array([0, 0, solid.length / 2])
        return Hull(np.array([-end, end]), none, np.array([[0.0, 0.0, 1.0]]), solid.radius).at(T)
    if isinstance(solid, Cylinder):
        return _prism(solid.radius, solid.length).at(T)
    if isinstance(solid, Box):
        return box_hull(solid.size).at(T)
    if isinstance(solid, HeightField):
        return None
    if isinstance(solid, Textured):
        return box_hull(np.ptp(surface_of(solid)[0], axis=0)).at(T)  # type: ignore[index]
    if isinstance(solid, Mesh):
        tables = hull_tables(solid.triangles.vertices, "grasps")
        a, b, c = tables.vertices[tables.faces].transpose(1, 0, 2)
        sides = np.concatenate([b - a, c - b, a - c])
        return Hull(tables.vertices, _lines(np.cross(b - a, c - a)), _lines(sides)).at(T)
    raise ArgumentError(f"grasps: a {type(solid).__name__} has no convex hull")


def _prism(radius: float, length: float) -> Hull:
    """The prism around a cylinder along z."""
    around = 2 * np.pi * (np.arange(_SIDES) + 0.5) / _SIDES
    ring = radius / np.cos(np.pi / _SIDES) * np.column_stack([np.cos(around), np.sin(around)])
    points = np.concatenate([np.column_stack([ring, np.full(_SIDES, z)]) for z in (-length / 2, length / 2)])
    turns = np.pi * np.arange(_SIDES // 2) * 2 / _SIDES
    flat = np.column_stack([np.cos(turns), np.sin(turns), np.zeros(len(turns))])
    up = np.array([[0.0, 0.0, 1.0]])
    return Hull(points, np.concatenate([up, flat]), np.concatenate([up, flat @ [[0, 1, 0], [-1, 0, 0], [0, 0, 1.0]]]))


def _lines(v: np.ndarray) -> np.ndarray:
    """The different directions of vectors (n, 3), one of each pair ±."""
    size = np.linalg.norm(v, axis=1)
    unit = v[size > 1e-12 * size.max(initial=0.0)] / size[size > 1e-12 * size.max(initial=0.0), None]
    key = np.round(unit, 7) + 0.0
    lead = np.where(key[:, 0] != 0, key[:, 0], np.where(key[:, 1] != 0, key[:, 1], key[:, 2]))
    _, first = np.unique(key * np.where(lead < 0, -1.0, 1.0)[:, None] + 0.0, axis=0, return_index=True)
    return unit[np.sort(first)]


def separations(moving: Hull, T: np.ndarray, fixed: Hull, near: float = np.inf) -> np.ndarray:
    """How far (n,) [m] a hull is from another when it is moved by T (n, 4, 4): the largest gap along any direction.

    For polytopes, this is below 0 just if they overlap, and then the depth; above 0 it is the distance, or less where
    corners and edges are nearest to each other. For poses that are farther away than `near` [m] it is a lower bound.
    """
    R, p = T[:, :3, :3], T[:, :3, 3]
    if fixed.plane is not None:
        up, at = fixed.plane[:3, 2], fixed.plane[:3, 3]
        points = np.einsum("nij,kj->nki", R, moving.points) + p[:, None]
        return (points @ up).min(axis=1) - at @ up - moving.radius
    if moving.box is not None and fixed.box is not None and len(T):
        return np.asarray(box_separation(T @ moving.box[0], moving.box[1], *fixed.box))
    middles = np.einsum("nij,j->ni", R, moving.center) + p
    found = np.linalg.norm(middles - fixed.center, axis=1) - moving.reach - fixed.reach
    todo = np.flatnonzero(found < near)
    e, f = len(moving.edges), len(fixed.edges)
    count = len(moving.normals) + len(fixed.normals) + (e * f if max(e, f) <= _MANY else 0) + 1
    step = max(1, _CHUNK // (count * (len(moving.points) + len(fixed.points))))
    for k in range(0, len(todo), step):
        some = todo[k : k + step]
        found[some] = np.maximum(found[some], _largest_gaps(moving, R[some], p[some], fixed))
    return found


@kernel(T_a=(4, 4), half_a=3, T_b=(4, 4), half_b=3)
def box_separation(T_a, half_a, T_b, half_b):
    """The largest gap [m] of two boxes along the 15 directions that can separate them: faces, and products of edges.

    With R = R_aᵀ R_b and t from a to b, seen from a, the gap along a unit vector u is |u·t| - |u|·h_a - |Rᵀu|·h_b.
    """
    R = T_a[:3, :3].T @ T_b[:3, :3]
    t = T_a[:3, :3].T @ (T_b[:3, 3] - T_a[:3, 3])
    A, s = np.abs(R), R.T @ t
    gaps = [np.abs(t[i]) - half_a[i] - A[i] @ half_b for i in range(3)]
    gaps += [np.abs(s[j]) - half_b[j] - A[:, j] @ half_a for j in range(3)]
    for i in range(3):
        m, n = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            k, l = (j + 1) % 3, (j + 2) % 3
            size = np.sqrt(R[m, j] * R[m, j] + R[n, j] * R[n, j])  # of e_i × (axis j of b)
            reach = half_a[m] * A[n, j] + half_a[n] * A[m, j] + half_b[k] * A[i, l] + half_b[l] * A[i, k]
            gap = np.abs(R[m, j] * t[n] - R[n, j] * t[m]) - reach
            gaps.append(np.where(size > 1e-6, gap / np.where(size > 1e-6, size, 1.0), -np.inf))
    best = gaps[0]
    for gap in gaps[1:]:
        best = np.maximum(best, gap)
    return best


def _largest_gaps(moving: Hull, R: np.ndarray, p: np.ndarray, fixed: Hull) -> np.ndarray:
    points = np.einsum("nij,kj->nki", R, moving.points) + p[:, None]
    n = len(points)
    axes = [np.broadcast_to(fixed.normals, (n, *fixed.normals.shape)), np.einsum("nij,kj->nki", R, moving.normals)]
    if max(len(moving.edges), len(fixed.edges)) <= _MANY:
        own = np.einsum("nij,kj->nki", R, moving.edges)
        axes.append(np.cross(own[:, :, None], fixed.edges[None, None]).reshape(n, -1, 3))
    if moving.radius or fixed.radius:
        axes += _round_axes(points, np.einsum("nij,kj->nki", R, moving.edges), fixed)
    u = np.concatenate(axes, axis=1)
    size = np.sqrt(np.einsum("nki,nki->nk", u, u))
    good = size > 1e-6 * np.maximum(1.0, size.max(axis=1, initial=1.0, keepdims=True))
    a, b = points @ u.transpose(0, 2, 1), fixed.points @ u.transpose(0, 2, 1)
    gap = np.maximum(a.min(axis=1) - b.max(axis=1), b.min(axis=1) - a.max(axis=1))
    gap = np.where(good, gap / np.where(good, size, 1.0), -np.inf)
    return gap.max(axis=1, initial=-np.inf) - moving.radius - fixed.radius


def _round_axes(points: np.ndarray, edges: np.ndarray, fixed: Hull) -> list[np.ndarray]:
    """Directions from corner to corner, and from corners straight to edges: what separates rounded solids."""
    d = (points[:, :, None] - fixed.points[None, None]).reshape(len(points), -1, 3)
    found = [1e3 * d]  # lengths of directions do not count; short ones are not mistaken for none
    both = np.concatenate([edges, np.broadcast_to(fixed.edges, (len(points), *fixed.edges.shape))], axis=1)
    for k in range(both.shape[1]):
        u = both[:, k]
        found.append(1e3 * (d - np.einsum("nki,ni->nk", d, u)[..., None] * u[:, None]))
    return found
