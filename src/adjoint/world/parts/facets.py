"""Plane facets of a mesh: triangles that lie in one plane and hang together, with their outlines."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csgraph

from ..features import feature_frame
from .marks import Mark
from .surface_queries import triangle_normals
from .sweeps import PartMesh

__all__ = ["facet_marks"]

_MOST = 200  # facets that become features, the largest first
_LEAST = 1e-3  # part of the whole surface


def facet_marks(mesh: PartMesh) -> list[Mark]:
    """Marks "face0", "face1", ... at the plane facets of a mesh, the largest first."""
    normals = triangle_normals(mesh)
    a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    groups = _groups(mesh, normals)
    total = np.bincount(groups, areas)
    normal = np.stack([np.bincount(groups, areas * normals[:, i]) for i in range(3)], axis=1)
    middle = np.stack([np.bincount(groups, areas * ((a + b + c) / 3)[:, i]) for i in range(3)], axis=1)
    middle /= np.maximum(total, 1e-300)[:, None]
    chosen = np.flatnonzero(total > _LEAST * areas.sum())
    size = np.ptp(mesh.vertices, axis=0).max()
    # Equal facets stand in the order of their places, so that the names do not depend on the order of the triangles.
    keys = [(-round(total[g] / size**2, 9), *np.round(middle[g] / size, 6)) for g in chosen]
    marks = []
    for g in [chosen[k] for k in sorted(range(len(chosen)), key=keys.__getitem__)][:_MOST]:
        T = feature_frame(middle[g], normal[g])
        loops = _loops(mesh.faces[groups == g])
        borders = [(mesh.vertices[loop] - T[:3, 3]) @ T[:3, 1:3] for loop in loops]
        outline = max(borders, key=_area)
        marks.append(Mark(f"face{len(marks)}", "face", T, outline=outline))
    return marks


def _area(points: np.ndarray) -> float:
    x, y = points.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _groups(mesh: PartMesh, normals: np.ndarray) -> np.ndarray:
    """The number (m,) of the facet of each triangle: neighbours across an edge with the same normal share one."""
    m = len(mesh.faces)
    edges = np.concatenate([mesh.faces[:, [i, (i + 1) % 3]] for i in range(3)])
    owner = np.tile(np.arange(m), 3)
    order = np.lexsort((edges.min(axis=1), edges.max(axis=1)))
    i, j = owner[order[::2]], owner[order[1::2]]  # each edge of a closed mesh has two triangles
    flat = np.einsum("ij,ij->i", normals[i], normals[j]) > 1 - 1e-9
    graph = coo_array((np.ones(flat.sum()), (i[flat], j[flat])), shape=(m, m))
    return csgraph.connected_components(graph, directed=False)[1]


def _loops(faces: np.ndarray) -> list[np.ndarray]:
    """The borders of some triangles of one plane, as numbers of vertices in the order of the triangles' corners."""
    edges = {(int(f[i]), int(f[(i + 1) % 3])) for f in faces for i in range(3)}
    after: dict[int, list[int]] = {}
    for a, b in sorted(edges):
        if (b, a) not in edges:
            after.setdefault(a, []).append(b)
    loops = []
    while after:
        start = next(iter(after))
        loop, here = [], start
        while here in after:
            loop.append(here)
            following = after[here].pop()
            if not after[here]:
                del after[here]
            here = following
        loops.append(np.array(loop))
    return loops
