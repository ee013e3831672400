"""Parts: solids made of primitives by unions, intersections and differences, with masses and features.

| file | contents |
|---|---|
| `part_trees` | `Part`, a frozen tree of primitives, placements and booleans; `union`, `intersection`, `difference` |
| `primitives` | `cuboid`, `cylinder`, `wedge`, `cone`, `sphere`, `hemisphere`, `lamination`, `revolution` |
| `mesh_parts`, `mesh_checks` | `mesh_part`: parts of mesh files, and what may be wrong with them |
| `mass_properties`, `moments` | `volume`, `mass`, `center`, `inertia`, in closed form where there is one |
| `part_covers` | `part_solids`, `part_cover`: convex solids of a scene that cover a part |
| `convex_cells`, `convex_splitting`, `rings` | convex polytopes and their cuts, meshes and rings as convex pieces |
| `part_files` | `part_to_json`, `part_from_json`, `part_to_data` |
| `primitive_kinds`, `sweeps`, `outlines` | the table of primitives, their meshes, polygons |
| `part_meshes`, `surface_queries` | meshes of booleans by manifold3d, and what is where on them |
| `marks`, `part_features`, `facets` | where features are on primitives, and which of them are left on a part |
"""

from .mass_properties import center as center
from .mass_properties import inertia as inertia
from .mass_properties import mass as mass
from .mass_properties import volume as volume
from .mesh_parts import mesh_part as mesh_part
from .part_covers import PartCover as PartCover
from .part_covers import part_cover as part_cover
from .part_covers import part_solids as part_solids
from .part_files import part_from_json as part_from_json
from .part_files import part_to_data as part_to_data
from .part_files import part_to_json as part_to_json
from .part_trees import Part as Part
from .part_trees import difference as difference
from .part_trees import intersection as intersection
from .part_trees import union as union
from .primitives import cone as cone
from .primitives import cuboid as cuboid
from .primitives import cylinder as cylinder
from .primitives import hemisphere as hemisphere
from .primitives import lamination as lamination
from .primitives import revolution as revolution
from .primitives import sphere as sphere
from .primitives import wedge as wedge
from .sweeps import PartMesh as PartMesh

__all__ = [
    "Part",
    "PartCover",
    "PartMesh",
    "center",
    "cone",
    "cuboid",
    "cylinder",
    "difference",
    "hemisphere",
    "inertia",
    "intersection",
    "lamination",
    "mass",
    "mesh_part",
    "part_cover",
    "part_from_json",
    "part_solids",
    "part_to_data",
    "part_to_json",
    "revolution",
    "sphere",
    "union",
    "volume",
    "wedge",
]


def __dir__() -> list[str]:
    return __all__
