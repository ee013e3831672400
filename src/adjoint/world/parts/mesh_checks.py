"""What may be wrong with a mesh that should enclose a solid, and small repairs."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csgraph

from .moments import mesh_moments
from .sweeps import PartMesh

__all__ = ["merged", "mesh_faults", "repaired"]


def merged(vertices: np.ndarray, faces: np.ndarray) -> PartMesh:
    """The mesh with equal vertices as one, as files such as STL need it, and without vertices of no face."""
    _, first, number = np.unique(vertices, axis=0, return_index=True, return_inverse=True)
    order = np.sort(first)  # the order of the file
    place = np.argsort(np.argsort(first))
    faces = place[number.ravel()][faces]
    used, faces = np.unique(faces, return_inverse=True)
    return PartMesh(vertices[order[used]], faces.reshape(-1, 3))


def mesh_faults(mesh: PartMesh) -> list[str]:
    """The reasons why triangles are not the surface of a solid; an empty list if they are.

    Triangles that pierce each other far from their borders are not looked for.
    """
    faults = []
    corners = mesh.vertices[mesh.faces]
    size = float(np.ptp(mesh.vertices, axis=0).max())
    flat = _flat(corners, size)
    if flat.any():
        faults.append(f"{flat.sum()} of {len(flat)} triangles have no area, the first is number {np.argmax(flat)}")
    edges = np.concatenate([mesh.faces[:, [i, (i + 1) % 3]] for i in range(3)])
    ways, count = np.unique(edges, axis=0, return_counts=True)
    both, number = np.unique(np.sort(edges, axis=1), axis=0, return_counts=True)
    opened, crowded, twice = (number == 1).sum(), (number > 2).sum(), (count > 1).sum()
    if opened:
        a, b = both[np.argmax(number == 1)]
        faults.append(
            f"it is open: {opened} edges belong to one triangle only, the first is between vertices {a} and {b}"
        )
    if crowded:
        a, b = both[np.argmax(number > 2)]
        faults.append(
            f"it touches itself: {crowded} edges belong to more than two triangles, the first is between {a} and {b}"
        )
    if twice and not crowded:
        a, b = ways[np.argmax(count > 1)]
        faults.append(f"at {twice} edges neighbours look to different sides, the first is between vertices {a} and {b}")
    if faults:
        return faults
    fans = _fans(mesh)
    if (fans > 1).any():
        faults.append(f"it touches itself in {(fans > 1).sum()} vertices, the first is number {np.argmax(fans > 1)}")
    volume = mesh_moments(*mesh)[3, 3]
    if abs(volume) <= 1e-12 * size**3:
        faults.append("it encloses no volume")
    elif volume < 0:
        faults.append(f"it is inside out: its volume is {volume:.6g} m³")
    return faults


def _flat(corners: np.ndarray, size: float) -> np.ndarray:
    a, b, c = corners.transpose(1, 0, 2)
    longest = np.max([np.linalg.norm(x, axis=1) for x in (b - a, c - b, a - c)], axis=0)
    height = np.linalg.norm(np.cross(b - a, c - a), axis=1) / np.where(longest > 0, longest, 1.0)
    return height <= 1e-12 * size


def _fans(mesh: PartMesh) -> np.ndarray:
    """In how many groups (k,) the triangles at each vertex hang together across edges."""
    m = len(mesh.faces)
    # One node for each corner of each triangle; corners of neighbours at the same vertex are joined.
    edges = np.concatenate([mesh.faces[:, [i, (i + 1) % 3]] for i in range(3)])
    node = np.concatenate([np.arange(m) + m * i for i in range(3)])
    other = np.concatenate([np.arange(m) + m * ((i + 1) % 3) for i in range(3)])
    order = np.lexsort((edges.min(axis=1), edges.max(axis=1)))
    i, j = order[::2], order[1::2]
    joins = np.concatenate([np.column_stack([node[i], other[j]]), np.column_stack([other[i], node[j]])])
    graph = coo_array((np.ones(len(joins)), joins.T), shape=(3 * m, 3 * m))
    group = csgraph.connected_components(graph, directed=False)[1]
    vertex = mesh.faces.T.ravel()
    pairs = np.unique(np.column_stack([vertex, group]), axis=0)
    return np.bincount(pairs[:, 0], minlength=len(mesh.vertices))


def repaired(mesh: PartMesh) -> PartMesh:
    """The mesh without triangles that have no area, with all neighbours on one side and the outside out.

    Holes stay open, and what touches itself still does.
    """
    size = float(np.ptp(mesh.vertices, axis=0).max())
    faces = mesh.faces[~_flat(mesh.vertices[mesh.faces], size)]
    faces = _turned(faces)
    return merged(mesh.vertices, faces)


def _turned(faces: np.ndarray) -> np.ndarray:
    """The faces, turned so that neighbours agree, with a positive volume of each connected piece left to the caller."""
    neighbours: dict[tuple[int, int], list[int]] = {}
    for k, face in enumerate(faces.tolist()):
        for i in range(3):
            a, b = face[i], face[(i + 1) % 3]
            neighbours.setdefault((min(a, b), max(a, b)), []).append(k)
    found, done = faces.copy(), np.zeros(len(faces), bool)
    for first in range(len(faces)):
        stack = [] if done[first] else [first]
        done[first] = True
        while stack:
            face = found[stack.pop()]
            for i in range(3):
                a, b = int(face[i]), int(face[(i + 1) % 3])
                for other in neighbours[min(a, b), max(a, b)]:
                    if not done[other]:
                        done[other] = True
                        ring = found[other].tolist()
                        if (ring.index(a) + 1) % 3 == ring.index(b):  # the neighbour runs the same way along the edge
                            found[other] = found[other][::-1]
                        stack.append(other)
    return found
