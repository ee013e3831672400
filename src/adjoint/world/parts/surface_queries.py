"""What is where on a closed mesh: points inside it, points on it, and the part of a plane that belongs to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...lie import so3
from .sweeps import PartMesh

__all__ = ["Surface", "inside_mesh", "on_surface", "triangle_normals"]


def triangle_normals(mesh: PartMesh) -> np.ndarray:
    """Unit normals (m, 3) of all triangles; 0 for triangles without an area."""
    a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    return normal / np.where(size > 0, size, 1.0)


def inside_mesh(mesh: PartMesh, points) -> np.ndarray:
    """Whether points (k, 3) are inside a closed mesh, by its winding number: the sum of the solid angles over 4π.

    tan(Ω/2) = a·(b × c) / (|a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|), with a, b, c from the point to the corners
    (Van Oosterom & Strackee 1983).
    """
    points = np.atleast_2d(np.asarray(points, float))
    corners = mesh.vertices[mesh.faces]
    winding = np.empty(len(points))
    for k, p in enumerate(points):
        a, b, c = (corners - p).transpose(1, 0, 2)
        la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
        dots = [np.einsum("ij,ij->i", x, y) for x, y in ((a, b), (b, c), (c, a))]
        below = la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb
        winding[k] = np.arctan2(np.einsum("ij,ij->i", a, np.cross(b, c)), below).sum() / (2 * np.pi)
    return winding > 0.5


class Surface(NamedTuple):
    """The triangles of a mesh: corners (m, 3, 3), normals (m, 3), and the ends (3, m) of their boxes."""

    corners: np.ndarray
    normals: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, mesh: PartMesh) -> Surface:
        """The triangles of a mesh."""
        corners = mesh.vertices[mesh.faces]
        low, high = (np.ascontiguousarray(end(corners, axis=1).T) for end in (np.min, np.max))
        return cls(corners, triangle_normals(mesh), low, high)


def on_surface(surface: Surface, points: np.ndarray, normal: np.ndarray, tolerance: float) -> np.ndarray:
    """Whether some triangle of a surface has each of the points (k, 3) and about this outward normal (3,)."""
    corners, normals, lows, highs = surface
    low, high = points.min(axis=0)[:, None] - tolerance, points.max(axis=0)[:, None] + tolerance
    near = np.flatnonzero((lows <= high).all(axis=0) & (highs >= low).all(axis=0))
    near = near[normals[near] @ normal > 1 - 1e-6]
    heights, levels = points @ normal, corners[near, 0] @ normal
    if not len(near):
        return np.zeros(len(points), bool)
    a, b, c = (corners[near, None] - points[None, :, None]).transpose(2, 0, 1, 3)
    # Distances from the three sides, positive inside: (x × y)·n = x·(y × n).
    across = so3.hat.eager(normal)
    inside = np.abs(levels[:, None] - heights) < tolerance
    for x, y in ((a, b), (b, c), (c, a)):
        size = np.maximum(np.linalg.norm(y - x, axis=-1), 1e-300)
        inside &= np.einsum("ijk,ijk->ij", x, -y @ across.T) / size > -tolerance
    return inside.any(axis=0)
