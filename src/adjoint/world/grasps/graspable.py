"""What grasps ask of a part: its surface, plane faces, convex pieces, mass and centre."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ..features import Feature
from ..parts.surface_queries import triangle_normals
from ..parts.sweeps import PartMesh
from ..state.part_contents import check_part, features_of, mass_and_center, solids_of, surface_of
from .separations import Hull, hull_of

__all__: list[str] = []


class Graspable(NamedTuple):
    """A part as grasps see it, in the frame of the part."""

    mesh: PartMesh
    normals: np.ndarray  # (m, 3) of the triangles
    faces: tuple[Feature, ...]  # plane ones, with outlines
    curved: np.ndarray  # (m,) whether a triangle lies on no plane face
    pieces: tuple[Hull, ...]
    mass: float
    center: np.ndarray


def graspable(part, caller: str) -> Graspable:
    """A part, or a solid of a scene, as grasps see it; a solid counts as water."""
    check_part(part, f"{caller}: 'part'")
    surface = surface_of(part)
    if surface is None:
        raise ArgumentError(f"{caller}: 'part' is a half-space, which no gripper can hold")
    mesh = PartMesh(np.asarray(surface[0], float), np.asarray(surface[1]))
    normals = triangle_normals(mesh)
    faces = tuple(f for f in features_of(part).values() if f.kind == "face" and f.outline is not None)
    pieces = tuple(hull for solid in solids_of(part) if (hull := hull_of(solid)) is not None)
    mass, center = mass_and_center(part)
    return Graspable(mesh, normals, faces, _curved(mesh, normals, faces), pieces, mass, center)


def _curved(mesh: PartMesh, normals: np.ndarray, faces: tuple[Feature, ...]) -> np.ndarray:
    """Whether triangles (m,) lie on no plane face."""
    found = np.linalg.norm(normals, axis=1) > 0.5
    middle = mesh.vertices[mesh.faces].mean(axis=1)
    size = np.ptp(mesh.vertices, axis=0).max()
    for face in faces:
        flat = normals @ face.axis > 1 - 1e-6
        found &= ~(flat & (np.abs((middle - face.origin) @ face.axis) < 1e-6 * size))
    return found
