"""Collisions and distances: robots as capsules and spheres against solids and themselves, as machine code.

Solids are those of `aj.sensing` (`Sphere`, `Box`, `Plane`, ...), `ConvexHull` and `HeightField`; so what a robot can hit
is what a camera can see. Distances are signed, in m: negative ones are depths of penetration.

| where | what |
|---|---|
| `collision_solids` | `ConvexHull` and `HeightField`: solids that collide as such and are seen as meshes |
| `link_shapes` | `link_shapes`: capsules or spheres around the links of a robot, fixed to its bodies, with stated errors |
| `pair_boxes` | Signed distances of capsules and boxes, exact, with witness points, as kernels of one pair |
| `pair_cylinders` | Signed distances of capsules and cylinders with flat ends, as kernels of one pair |
| `pair_distances` | Signed distances of one pair of balls, capsules and half-spaces, with witness points, as kernels |
"""

from typing import TYPE_CHECKING

from ..lazy import later, suggesting

if TYPE_CHECKING:
    from .collision_solids import ConvexHull as ConvexHull
    from .collision_solids import HeightField as HeightField
    from .collision_solids import HullTables as HullTables
    from .link_shapes import LinkShapes as LinkShapes
    from .link_shapes import link_shapes as link_shapes
    from .link_shapes import shape_solids as shape_solids
    from .pair_boxes import capsule_box as capsule_box
    from .pair_boxes import capsule_box_apart as capsule_box_apart
    from .pair_cylinders import capsule_cylinder as capsule_cylinder
    from .pair_cylinders import capsule_cylinder_apart as capsule_cylinder_apart
    from .pair_distances import DistanceGradients as DistanceGradients
    from .pair_distances import PairDistance as PairDistance
    from .pair_distances import capsule_capsule as capsule_capsule
    from .pair_distances import capsule_plane as capsule_plane
    from .pair_distances import capsules_apart as capsules_apart
    from .pair_distances import distance_gradients as distance_gradients
    from .pair_distances import sphere_sphere as sphere_sphere

# Where each name is defined: a file is loaded when one of its names is first used. A test keeps this table and
# the imports above, which editors and type checkers read, the same.
_HOMES = {
    "collision_solids": "ConvexHull HeightField HullTables",
    "link_shapes": "LinkShapes link_shapes shape_solids",
    "pair_boxes": "capsule_box capsule_box_apart",
    "pair_cylinders": "capsule_cylinder capsule_cylinder_apart",
    "pair_distances": "DistanceGradients PairDistance capsule_capsule capsule_plane capsules_apart "
    "distance_gradients sphere_sphere",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]

if not TYPE_CHECKING:
    __getattr__ = later(__name__, _HOME_OF | {home: home for home in _HOMES}, suggesting(__all__))


def __dir__() -> list[str]:
    return __all__
