"""A polyhedron as convex pieces: it is split by the planes of faces that meet in reflex edges until none is left."""

from __future__ import annotations

from typing import Any

import numpy as np

from .part_meshes import mesh_from
from .surface_queries import triangle_normals
from .sweeps import PartMesh

__all__ = ["convex_pieces", "is_convex"]

_FLAT = 1e-6  # of the size of the part: dents up to this depth count as convex, and thinner pieces as nothing
_CANDIDATES = 24  # planes that are compared


def is_convex(mesh: PartMesh, depth: float) -> bool:
    """Whether a connected closed mesh has no dents deeper than `depth` [m]."""
    return not len(_reflex_edges(mesh, depth)[0])


def convex_pieces(manifold: Any, most: int) -> list[np.ndarray] | None:
    """Points (k, 3) of convex pieces that fill a `Manifold`, or None if more than `most` are needed."""
    size = max(np.subtract(manifold.bounding_box()[3:], manifold.bounding_box()[:3]))
    depth = _FLAT * size
    todo, found = manifold.decompose(), []
    while todo:
        piece = todo.pop()
        if len(found) + len(todo) >= most:
            return None
        mesh = mesh_from(piece)
        if len(mesh.faces) < 4 or _thickness(mesh) < depth:
            continue
        planes = _planes(mesh, depth)
        if not planes:
            found.append(mesh.vertices)
            continue
        for normal, offset in planes:
            sides = [x for x in piece.split_by_plane(normal, offset) if x.num_tri() > 0]
            if len(sides) == 2 and min(x.volume() for x in sides) > 1e-12 * size**3:
                todo += [x for side in sides for x in side.decompose()]
                break
        else:
            return None
    return found


def _thickness(mesh: PartMesh) -> float:
    """The least of three extents of a mesh, along its principal axes."""
    x = mesh.vertices - mesh.vertices.mean(axis=0)
    _, _, axes = np.linalg.svd(x, full_matrices=False)
    return float(np.ptp(x @ axes.T, axis=0).min())


def _reflex_edges(mesh: PartMesh, depth: float) -> tuple[np.ndarray, np.ndarray]:
    """The edges (e, 2) at which the surface is not convex, and the numbers (e, 2) of their two triangles."""
    m = len(mesh.faces)
    normals = triangle_normals(mesh)
    edges = np.concatenate([mesh.faces[:, [i, (i + 1) % 3]] for i in range(3)])
    opposite = np.concatenate([mesh.faces[:, (i + 2) % 3] for i in range(3)])
    owner = np.tile(np.arange(m), 3)
    order = np.lexsort((edges.min(axis=1), edges.max(axis=1)))
    i, j = order[::2], order[1::2]
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
    planes = np.unique(np.round(np.column_stack([normals, offsets]), 9), axis=0, return_index=True)[1]
    planes = planes[np.linspace(0, len(planes) - 1, min(len(planes), _CANDIDATES)).astype(int)]
    ends = mesh.vertices[edges]  # (e, 2, 3)
    scores = []
    for k in planes:
        away = ends @ normals[k] - offsets[k]
        cut = (away.min(axis=1) < -depth) & (away.max(axis=1) > depth)
        settled = (np.abs(away) <= depth).all(axis=1)
        scores.append(cut.sum() - 0.5 * settled.sum())
    return [(normals[planes[k]].tolist(), float(offsets[planes[k]])) for k in np.argsort(scores, kind="stable")]
