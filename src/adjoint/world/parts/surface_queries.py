"""What is where on a closed mesh: points inside it, points on it, and the part of a plane that belongs to it."""

from __future__ import annotations

import numpy as np

from .sweeps import PartMesh

__all__ = ["inside_mesh", "on_surface", "triangle_normals"]


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


def on_surface(mesh: PartMesh, normals: np.ndarray, point, normal, tolerance: float) -> bool:
    """Whether some triangle of the mesh has the point (3,) and about this outward normal (3,)."""
    corners = mesh.vertices[mesh.faces[normals @ normal > 1 - 1e-6]]
    if not len(corners):
        return False
    near = np.abs((corners[:, 0] - point) @ normal) < tolerance
    a, b, c = (corners[near] - point).transpose(1, 0, 2)
    # Distances from the three sides, positive inside.
    sides = [
        np.cross(x, y) @ normal / np.maximum(np.linalg.norm(y - x, axis=1), 1e-300) for x, y in ((a, b), (b, c), (c, a))
    ]
    return bool((np.min(sides, axis=0) > -tolerance).any()) if near.any() else False
