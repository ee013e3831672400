"""`simplified`: a mesh with fewer triangles, for pages with many robots."""

from __future__ import annotations

import numpy as np

from .triangles import Mesh

__all__ = ["simplified"]

_ROUNDS = 12


def simplified(mesh: Mesh, most: int) -> Mesh:
    """The mesh, or one like it with at most about `most` triangles: vertices in the same cell of a grid become one.

    The grid is the finest of a few that leaves no more triangles; its cells are cubes.
    """
    if len(mesh.faces) <= most:
        return mesh
    size = float(np.ptp(mesh.vertices, axis=0).max())
    fine, coarse = np.log2(2.0), np.log2(1024.0)  # cells along the longest edge: found by halving
    best = _clustered(mesh, size / 2)
    for _ in range(_ROUNDS):
        middle = (fine + coarse) / 2
        found = _clustered(mesh, size / 2**middle)
        if len(found.faces) <= most:
            best, fine = found, middle
        else:
            coarse = middle
    return best


def _clustered(mesh: Mesh, cell: float) -> Mesh:
    """The mesh whose vertices in one cell are their mean; triangles that lost a corner are gone."""
    keys = np.floor((mesh.vertices - mesh.vertices.min(axis=0)) / cell).astype(np.int64)
    _, cells = np.unique(keys, axis=0, return_inverse=True)
    cells = cells.reshape(-1)
    count = np.bincount(cells)
    vertices = np.stack([np.bincount(cells, column) / count for column in mesh.vertices.T], axis=-1)
    faces = cells[mesh.faces]
    a, b, c = faces.T
    faces = np.unique(faces[(a != b) & (b != c) & (c != a)], axis=0)
    return Mesh(vertices.astype(np.float32), faces.astype(np.int32))
