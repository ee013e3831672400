"""Meshes with fewer triangles: vertices in one cell of a grid become one, where the planes of their triangles meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .triangles import Mesh

__all__ = ["clustered", "shares", "simplified", "welded"]

_TRIALS = 12  # sizes of cells that are tried
_FLAT = 1e-3  # how much the middle of a cell's vertices counts beside their planes


def welded(mesh: Mesh) -> Mesh:
    """The mesh with equal vertices as one, without triangles that have no area and vertices that none uses."""
    x = mesh.vertices.astype(np.float32) + np.float32(0)  # -0 becomes 0
    ranks = [np.unique(column, return_inverse=True)[1] for column in x.T]
    first, number = _numbered(np.stack(ranks, axis=-1))
    return _used(x[first], _proper(number[mesh.faces]))


def simplified(mesh: Mesh, most: int) -> Mesh:
    """The mesh with at most so many triangles, by the smallest cells that allow it; itself, if it has no more."""
    if len(mesh.faces) <= most:
        return mesh
    low, high = 0.0, 1.01 * float(np.ptp(mesh.vertices, axis=0).max())
    for _ in range(_TRIALS):
        cell = np.sqrt(low * high) if low > 0 else high / 8
        a, b, c = _numbered(_cubes(mesh, cell))[1][mesh.faces].T
        fits = np.count_nonzero((a != b) & (b != c) & (c != a)) <= most
        low, high = (low, cell) if fits else (cell, high)
        if high < 1.03 * low:
            break
    return clustered(mesh, high)


def clustered(mesh: Mesh, cell: float) -> Mesh:
    """The mesh with the vertices of each cube of a grid with edges `cell` [m] as one, inside of that cube.

    It is the point nearest to the planes of all triangles at these vertices, weighted by their areas, as in Lindstrom
    (2000), "Out-of-core simplification of large polygonal models", SIGGRAPH; so edges and corners stay sharp.
    """
    x, cubes = mesh.vertices.astype(float), _cubes(mesh, cell)
    first, number = _numbered(cubes)
    low, count = x.min(axis=0), np.bincount(number)
    middle = np.stack([np.bincount(number, column) for column in x.T], axis=-1) / count[:, None]
    a, b, c = x[mesh.faces].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a) / 2  # its length is the area
    area = np.maximum(np.linalg.norm(normal, axis=-1), 1e-300)
    A, rest = np.zeros((len(count), 3, 3)), np.zeros((len(count), 3))
    for corner in mesh.faces.T:
        cube = number[corner]
        reach = np.sum(normal * (a - middle[cube]), axis=-1)  # from the middle of the cell's vertices to the plane
        for i in range(3):
            rest[:, i] += np.bincount(cube, reach * normal[:, i] / area, len(count))
            for j in range(i, 3):
                A[:, i, j] += np.bincount(cube, normal[:, i] * normal[:, j] / area, len(count))
                A[:, j, i] = A[:, i, j]
    weight = _FLAT * np.trace(A, axis1=1, axis2=2) + 1e-300
    step = np.linalg.solve(A + weight[:, None, None] * np.eye(3), rest[..., None])[..., 0]
    corner = low + cubes[first] * cell
    vertices = np.clip(middle + step, corner, np.minimum(corner + cell, x.max(axis=0)))
    return _used(vertices.astype(np.float32), _proper(number[mesh.faces]))


def _cubes(mesh: Mesh, cell: float) -> np.ndarray:
    """The cube of a grid that each vertex is in, as three whole numbers."""
    x = mesh.vertices.astype(float)
    return np.floor((x - x.min(axis=0)) / cell).astype(np.int64)


def _numbered(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For rows (k, 3) of numbers from 0: where each different row is first, and the number of every row among these."""
    most = rows.max(axis=0, initial=0) + 1
    plane = np.unique(rows[:, 0] * most[1] + rows[:, 1], return_inverse=True)[1]
    _, first, number = np.unique(plane * most[2] + rows[:, 2], return_index=True, return_inverse=True)
    return first, number.reshape(-1)


def shares(counts: Sequence[int], budget: int) -> list[int]:
    """How many triangles each mesh may keep so that all have at most `budget`: small meshes all, large ones as many."""
    left, waiting, found = budget, sorted(range(len(counts)), key=lambda k: counts[k]), [0] * len(counts)
    for place, k in enumerate(waiting):
        found[k] = min(counts[k], left // (len(waiting) - place))
        left -= found[k]
    return found


def _proper(faces: np.ndarray) -> np.ndarray:
    """Triangles with three different vertices, each only once."""
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    smallest = np.argmin(faces, axis=1)[:, None] if len(faces) else np.zeros((0, 1), int)
    roll = np.take_along_axis(faces, (smallest + np.arange(3)) % 3, axis=1)
    return np.unique(roll, axis=0)


def _used(vertices: np.ndarray, faces: np.ndarray) -> Mesh:
    used, number = np.unique(faces, return_inverse=True)
    return Mesh(vertices[used], number.reshape(faces.shape).astype(np.int32))
