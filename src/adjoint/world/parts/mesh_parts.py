"""`mesh_part`: a part whose surface is a mesh, from a file or from arrays."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...sensing.scene.triangle_sets import triangles_of
from .mesh_checks import merged, mesh_faults, repaired
from .moments import mesh_moments
from .part_trees import DENSITY, Part
from .sweeps import PartMesh

__all__ = ["mesh_part"]


def mesh_part(
    mesh,
    *,
    scale: float = 1.0,
    repair: bool = False,
    at=None,
    name: str = "",
    density: float = DENSITY,
    colour: Any = 0.7,
) -> Part:
    """A part whose surface is a closed mesh.

        >>> vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
        >>> corner = mesh_part((vertices, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
        >>> round(aj.world.volume(corner), 6), list(corner.features)
        (0.166667, ['face0', 'face1', 'face2', 'face3'])

    `mesh` is a pair (vertices (k, 3) [m], faces (m, 3)), an object of trimesh, or the path of a file (STL, OBJ, PLY,
    ...; read by trimesh, of the extra `adjoint[world]`). Vertices are multiplied by `scale`: 0.001 for a file in mm.
    Equal vertices become one.

    The mesh must be closed, its triangles counterclockwise seen from outside, and it must not touch itself; else an
    `ArgumentError` says what is wrong and where. `repair=True` leaves out triangles without an area and turns those
    that look to the wrong side; it closes no holes. The features are "face0", "face1", ...: plane facets with more than
    a thousandth of the surface, the largest first, up to 200.
    """
    who = f"mesh_part '{os.fspath(mesh)}'" if isinstance(mesh, str | os.PathLike) else "mesh_part"
    found = triangles_of(mesh, who)
    if not isinstance(scale, (int, float, np.number)) or not 0 < scale < np.inf:
        raise ArgumentError(f"{who}: 'scale' must be a number above 0, got {scale!r:.40}")
    surface = merged(found.vertices * float(scale), found.faces)
    if not np.ptp(surface.vertices, axis=0).max() > 0:
        raise ArgumentError(f"{who}: all vertices are one point")
    if repair:
        surface = repaired(surface)
        if len(surface.faces) and mesh_moments(*surface)[3, 3] < 0:
            surface = PartMesh(surface.vertices, np.ascontiguousarray(surface.faces[:, ::-1]))
    faults = mesh_faults(surface) if len(surface.faces) else ["no triangle has an area"]
    if faults:
        hint = "" if repair else "; repair=True may help" if _repairable(faults) else ""
        raise ArgumentError(f"{who}: the mesh is not the surface of a solid: {'; '.join(faults)}{hint}")
    values = tuple(np.ascontiguousarray(x) for x in (surface.vertices, surface.faces.astype(np.int64)))
    for x in values:
        x.setflags(write=False)
    return Part(kind="mesh", values=values, T_part_solid=at, name=name, density=density, colour=colour)


def _repairable(faults: list[str]) -> bool:
    return all("no area" in x or "different sides" in x or "inside out" in x for x in faults)
