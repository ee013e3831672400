"""A mesh as convex pieces: it is split along the planes of faces that meet in reflex edges until none is left."""

from __future__ import annotations

from typing import Any

import numpy as np

from .part_meshes import manifold_from, mesh_from
from .surface_queries import triangle_normals
from .sweeps import PartMesh

__all__ = ["DENT", "convex_pieces"]

DENT = 1e-6  # of the size of the mesh: dents up to this depth count as convex
_CANDIDATES = 24  # planes that are compared


def convex_pieces(mesh: PartMesh, most: int) -> list[np.ndarray] | None:
    """Points (k, 3) of convex pieces that fill a closed mesh, or None if more than `most` are needed.

    A plane is moved by half of the depth of allowed dents to the free side of its face: a cut exactly along a face
    would leave films without a thickness there.
    """
    size = float(np.ptp(mesh.vertices, axis=0).max())
    depth = DENT * size
    todo: list[Any] = manifold_from(mesh, "mesh_part").decompose()
    found: list[np.ndarray] = []
    while todo:
        piece = todo.pop()
        if len(found) + len(todo) >= most:
            return None
        surface = mesh_from(piece)
        planes = _planes(surface, depth)
        if not planes:
            found.append(surface.vertices)
            continue
        for normal, offset in planes:
            sides = [x for x in piece.split_by_plane(normal, offset + depth / 2) if x.volume() > 1e-15 * size**3]
            if len(sides) == 2:
                todo += [x for side in sides for x in side.decompose() if x.volume() > 1e-15 * size**3]
                break
        else:
            return None
    return found


def _reflex_edges(mesh: PartMesh, depth: float) -> tuple[np.ndarray, np.ndarray]:
    """The edges (e, 2) at which the surface is not convex, and the numbers (e, 2) of their two triangles."""
    m = len(mesh.faces)
    normals = triangle_normals(mesh)
    edges = np.concatenate([mesh.faces[:, [i, (i + 1) % 3]] for i in range(3)])
    opposite = np.concatenate([mesh.faces[:, (i + 2) % 3] for i in range(3)])
    owner = np.tile(np.arange(m), 3)
    order = np.lexsort((edges.min(axis=1), edges.max(axis=1)))
    i, j = order[::2], order[1::2]  # each edge of a closed mesh has two triangles
    ahead = mesh.vertices[opposite[j]] - mesh.vertices[edges[i, 0]]
    behind = mesh.vertices[opposite[i]] - mesh.vertices[edges[i, 0]]
    above = np.maximum(
        np.einsum("ij,ij->i", ahead, normals[owner[i]]), np.einsum("ij,ij->i", behind, normals[owner[j]])
    )
    reflex = above > depth
    return edges[i][reflex], np.column_stack([owner[i], owner[j]])[reflex]


def _planes(mesh: PartMesh, depth: float) -> list[tuple[list[float], float]]:
    """The planes (normal, offset) of faces at reflex edges; first those that settle many and cut few of them."""
    edges, triangles = _reflex_edges(mesh, depth)
    if not len(edges):
        return []
    normals = triangle_normals(mesh)[triangles.ravel()]
    offsets = np.einsum("ij,ij->i", normals, mesh.vertices[mesh.faces[triangles.ravel(), 0]])
    size = np.ptp(mesh.vertices, axis=0).max()
    planes = np.unique(np.round(np.column_stack([normals, offsets / size]), 9), axis=0, return_index=True)[1]
    planes = planes[np.linspace(0, len(planes) - 1, min(len(planes), _CANDIDATES)).astype(int)]
    ends = mesh.vertices[edges]  # (e, 2, 3)
    scores = []
    for k in planes:
        away = ends @ normals[k] - offsets[k]
        cut = (away.min(axis=1) < -depth) & (away.max(axis=1) > depth)
        settled = (np.abs(away) <= depth).all(axis=1)
        scores.append(cut.sum() - 0.5 * settled.sum())
    return [(normals[planes[k]].tolist(), float(offsets[planes[k]])) for k in np.argsort(scores, kind="stable")]
