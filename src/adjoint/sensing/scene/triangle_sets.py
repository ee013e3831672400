"""`Triangles`: checked triangles with their normals and the tree that rays are cast against."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...compile.front.arguments import as_input
from ...drawing.mesh_files import read_pieces
from ...drawing.triangles import joined
from ...errors import ArgumentError
from ...lazy import cached_property
from .hierarchy import Hierarchy, hierarchy, octant_rows

__all__ = ["Triangles", "triangles_of"]


@dataclass(frozen=True, eq=False, repr=False)
class Triangles:
    """Triangles: `vertices` (k, 3) [m] and `faces` (m, 3), the numbers of the three vertices of each.

    `Mesh` makes them. All copies of a mesh at other poses have the same `Triangles`, and one tree over them.
    """

    vertices: np.ndarray
    faces: np.ndarray

    def __len__(self) -> int:
        return len(self.faces)

    def __repr__(self) -> str:
        return f"<Triangles: {len(self.vertices)} vertices, {len(self)} faces>"

    @cached_property
    def corners(self) -> np.ndarray:
        """The corners (m, 3, 3) of all triangles."""
        return self.vertices[self.faces]

    @cached_property
    def lowest(self) -> np.ndarray:
        """The lowest corner (3,) of a box around all."""
        return self.corners.min(axis=(0, 1))

    @cached_property
    def highest(self) -> np.ndarray:
        """The highest corner (3,) of a box around all."""
        return self.corners.max(axis=(0, 1))

    @cached_property
    def normals(self) -> np.ndarray:
        """Unit normals (m, 3), from where the corners are seen counterclockwise; 0 for triangles without an area."""
        a, b, c = self.corners.transpose(1, 0, 2)
        sides = np.stack([b - a, c - a])
        sides /= np.maximum(np.abs(sides).max(axis=(0, 2), keepdims=True), 1e-300)
        normal = np.cross(sides[0], sides[1])
        size = np.linalg.norm(normal, axis=1, keepdims=True)
        return normal / np.where(size > 0, size, 1.0)

    @cached_property
    def tree(self) -> Hierarchy:
        """The tree of boxes around the triangles."""
        return hierarchy(self.corners)

    @cached_property
    def _tables(self) -> dict[int, np.ndarray]:
        return {}

    def table(self, octant: int) -> np.ndarray:
        """The table for rays of an octant of directions, see `hierarchy`; it is made once."""
        if octant not in self._tables:
            self._tables[octant] = octant_rows(self.tree, self.corners, octant)
        return self._tables[octant]


def triangles_of(value: Any, caller: str) -> Triangles:
    """What describes triangles, as `Triangles`: pairs of arrays, objects of trimesh, paths of files."""
    if isinstance(value, Triangles):
        return value
    if isinstance(value, str | os.PathLike):
        value = joined([piece.mesh for piece in read_pieces(os.fspath(value))])  # type: ignore[arg-type]
    pair = (value.vertices, value.faces) if hasattr(value, "vertices") and hasattr(value, "faces") else value
    try:
        vertices, faces = pair
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{caller}: 'triangles' must be a pair (vertices (k, 3), faces (m, 3)), an object of trimesh or a path, "
            f"got {type(value).__name__}"
        ) from None
    return Triangles(_vertices(vertices, caller), _faces(faces, len(vertices), caller))


def _vertices(vertices, caller: str) -> np.ndarray:
    found = np.array(as_input(vertices, "vertices", caller), float)
    if found.ndim != 2 or found.shape[1] != 3 or not len(found):
        raise ArgumentError(f"{caller}: vertices have shape {found.shape}; (k, 3) is needed, k above 0")
    if not np.isfinite(found).all():
        bad = int(np.argmin(np.isfinite(found).all(axis=1)))
        raise ArgumentError(f"{caller}: vertex {bad} is not finite")
    found.setflags(write=False)
    return found


def _faces(faces, count: int, caller: str) -> np.ndarray:
    found: np.ndarray = np.empty(0)
    with contextlib.suppress(ValueError):  # polygons of several lengths make no array
        found = np.asarray(faces)
    if found.ndim != 2 or found.shape[1] != 3 or not len(found):
        hint = "; cut polygons into triangles first" if found.ndim != 2 or found.shape[1:] != (3,) else ""
        raise ArgumentError(f"{caller}: faces have shape {found.shape}; (m, 3) is needed, m above 0{hint}")
    if found.dtype.kind not in "iu" and not (found.dtype.kind == "f" and (found == np.floor(found)).all()):
        raise ArgumentError(f"{caller}: faces must be whole numbers, the numbers of vertices, got {found.dtype}")
    if found.min() < 0 or found.max() >= count:
        raise ArgumentError(
            f"{caller}: faces name the vertices {found.min()} to {found.max()}; there are 0 to {count - 1}"
        )
    found = found.astype(np.int64)
    found.setflags(write=False)
    return found
