"""Meshes of parts: those of primitives are arrays; booleans are computed by manifold3d, in double precision."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentError
from ...extras import package
from .primitive_kinds import KINDS
from .sweeps import FACETS, PartMesh, closed_mesh, is_identity, moved_mesh

if TYPE_CHECKING:
    from .part_trees import Part

__all__ = ["is_round", "manifold_from", "manifold_of", "mesh_from", "mesh_of", "region_of"]


@lru_cache(maxsize=512)
def mesh_of(part: Part, facets: int = FACETS) -> PartMesh:
    """The mesh of a part, in the frame of the part; round surfaces have `facets` with their corners on the surface."""
    if not is_identity(part.T_part_solid):
        return moved_mesh(mesh_of(part.standing, facets), part.T_part_solid)
    if part.kind in KINDS:
        return KINDS[part.kind].mesh(part.values, facets, "on")
    found = manifold_of(part, facets)
    if found.num_tri() == 0:
        raise ArgumentError(f"{_called(part)} is empty: {_WHY[part.kind]}")
    return mesh_from(found)


_WHY = {
    "union": "all its parts are",
    "intersection": "its parts have no point inside in common",
    "difference": "nothing is left of its first part",
}


def _called(part: Part) -> str:
    return f"the {part.kind} '{part.name}'" if part.name else f"the {part.kind}"


@lru_cache(maxsize=512)
def manifold_of(part: Part, facets: int = FACETS) -> Any:
    """The `Manifold` of a part, in the frame of the part; round surfaces have `facets` with their corners on them."""
    if not is_identity(part.T_part_solid):
        return manifold_of(part.standing, facets).transform(part.T_part_solid[:3])
    if part.kind in KINDS:
        return manifold_from(KINDS[part.kind].mesh(part.values, facets, "on"), part.kind)
    return region_of([manifold_of(p, facets) for p in part.operands], part.kind)


def region_of(manifolds: list, kind: str) -> Any:
    """The union, intersection or difference of manifolds."""
    m3 = _manifold3d()
    operation = {"union": m3.OpType.Add, "intersection": m3.OpType.Intersect, "difference": m3.OpType.Subtract}[kind]
    return m3.Manifold.batch_boolean(manifolds, operation)


def manifold_from(mesh: PartMesh, who: str) -> Any:
    """The `Manifold` of a closed mesh."""
    m3 = _manifold3d()
    # manifold3d takes no array that cannot be written to.
    data = m3.Mesh64(np.array(mesh.vertices, np.float64), np.array(mesh.faces, np.uint64))
    found = m3.Manifold(data)
    if found.status() != m3.Error.NoError:
        raise ArgumentError(f"{who}: its triangles are no closed surface ({found.status().name})")
    return found


def mesh_from(manifold) -> PartMesh:
    """The mesh of a `Manifold`."""
    data = manifold.to_mesh64()
    return closed_mesh(np.asarray(data.vert_properties)[:, :3], np.asarray(data.tri_verts))


def is_round(part: Part) -> bool:
    """Whether some surface of the part is round, so that its mesh is not exact."""
    if part.operands:
        return any(map(is_round, part.operands))
    return KINDS[part.kind].round and part.values[-1] is None


def _manifold3d() -> Any:
    return package("manifold3d", "world", "unions, intersections and differences of parts")
