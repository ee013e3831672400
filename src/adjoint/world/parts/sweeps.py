"""Closed meshes of prisms and of solids of revolution, as arrays. They need no package."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .outlines import triangulated

__all__ = ["FACETS", "PartMesh", "closed_mesh", "is_identity", "lathed", "moved_mesh", "prism"]

FACETS = 64  # around a round surface for which the user gives no number


class PartMesh(NamedTuple):
    """A closed surface: `vertices` (k, 3) [m], and `faces` (m, 3), counterclockwise seen from outside."""

    vertices: np.ndarray
    faces: np.ndarray


def closed_mesh(vertices, faces) -> PartMesh:
    """A mesh of arrays that cannot be written to."""
    mesh = PartMesh(np.ascontiguousarray(vertices, float) + 0.0, np.ascontiguousarray(faces, np.int64))
    for x in mesh:
        x.setflags(write=False)
    return mesh


def is_identity(T: np.ndarray) -> bool:
    """Whether T (4, 4) moves nothing."""
    return np.array_equal(T, np.eye(4))


def moved_mesh(mesh: PartMesh, T: np.ndarray) -> PartMesh:
    """The mesh at a pose T (4, 4)."""
    if is_identity(T):
        return mesh
    return closed_mesh(mesh.vertices @ T[:3, :3].T + T[:3, 3], mesh.faces)


def prism(outline: np.ndarray, height: float) -> PartMesh:
    """The mesh of a counterclockwise polygon (k, 2) in x and y between z = -height/2 and z = height/2."""
    k = len(outline)
    low = np.column_stack([outline, np.full(k, -height / 2)])
    high = np.column_stack([outline, np.full(k, height / 2)])
    cap = triangulated(outline)
    i, j = np.arange(k), np.roll(np.arange(k), -1)
    sides = np.concatenate([np.column_stack([i, j, j + k]), np.column_stack([i, j + k, i + k])])
    return closed_mesh(np.concatenate([low, high]), np.concatenate([cap[:, ::-1], cap + k, sides]))


def lathed(profile: np.ndarray, facets: int) -> PartMesh:
    """The mesh of a counterclockwise polygon (k, 2) of (radius, height) turned about z, in `facets` steps from x on.

    Corners at radius 0 are single points; sides along the axis make no surface.
    """
    angles = 2 * np.pi * np.arange(facets) / facets
    vertices, rings = [], []
    for radius, height in profile:
        first = sum(map(len, vertices))
        if radius == 0:
            vertices.append(np.array([[0.0, 0.0, height]]))
            rings.append(np.full(facets, first))
        else:
            ring = np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(facets, height)])
            vertices.append(ring)
            rings.append(first + np.arange(facets))
    faces = []
    for k, low in enumerate(rings):
        high = rings[(k + 1) % len(rings)]
        a, b, c, d = low, np.roll(low, -1), np.roll(high, -1), high
        if profile[k, 0] > 0:
            faces.append(np.column_stack([a, b, c]))
        if profile[(k + 1) % len(profile), 0] > 0:
            faces.append(np.column_stack([a, c, d]))
    return closed_mesh(np.concatenate(vertices), np.concatenate(faces))
