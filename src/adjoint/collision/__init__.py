"""Collisions and distances: robots as capsules and spheres against solids and themselves, as machine code.

Solids are those of `aj.sensing` (`Sphere`, `Box`, `Plane`, ...), `ConvexHull` and `HeightField`: what a robot can hit
is what a camera can see. Distances are signed, in m: negative ones are depths of penetration.

| where | what |
|---|---|
| `collision_solids` | `ConvexHull` and `HeightField`: solids that collide as such and are seen as meshes |
| `body_pairs` | `colliding_pairs`: which bodies of a robot are checked against each other, and why the others are not |
| `checking` | Is a configuration free of collisions, and what touches what, in words |
| `clearances` | How far a robot is from what it may hit: the least distance, its derivative, and the pair that has it |
| `collision_models` | `CollisionModel`: a robot as capsules among obstacles, with what it carries |
| `edges` | Edges, straight motions between two configurations: are they free of collisions, by samples or by proof |
| `exact_checks` | Exact checks: the meshes of the links and the solids themselves, by coal (extra `[world]`) |
| `pair_boxes` | Signed distances of capsules and boxes, exact, with witness points, as kernels of one pair |
| `pair_cylinders` | Signed distances of capsules and cylinders with flat ends, as kernels of one pair |
| `pair_distances` | Signed distances of one pair of balls, capsules and half-spaces, with witness points, as kernels |
| `pair_height_fields` | Signed distances of capsules and height fields, by a walk over the cells near the capsule |
| `pair_hulls` | Signed distances of capsules and convex hulls, exact, from a table of the faces and edges of the hull |
| `shapes_of_links` | `link_shapes`: capsules or spheres around the links of a robot, with stated errors |
| `solid_distances` | `solid_distance`: how far any two solids of a scene are apart |
"""

from typing import TYPE_CHECKING

from ..lazy import later, suggesting

if TYPE_CHECKING:
    from .body_pairs import BodyPairs as BodyPairs
    from .body_pairs import colliding_pairs as colliding_pairs
    from .body_pairs import disabled_links as disabled_links
    from .checking import Contact as Contact
    from .checking import contacts as contacts
    from .checking import is_free as is_free
    from .clearances import ClearanceGradient as ClearanceGradient
    from .clearances import Nearest as Nearest
    from .clearances import PairClearances as PairClearances
    from .clearances import clearance as clearance
    from .clearances import clearance_gradient as clearance_gradient
    from .clearances import nearest_pair as nearest_pair
    from .clearances import pair_clearances as pair_clearances
    from .collision_models import CollisionModel as CollisionModel
    from .collision_models import collision_model as collision_model
    from .collision_solids import ConvexHull as ConvexHull
    from .collision_solids import HeightField as HeightField
    from .collision_solids import HullTables as HullTables
    from .edges import Certified as Certified
    from .edges import edge_motions as edge_motions
    from .edges import edges_certified as edges_certified
    from .edges import edges_free as edges_free
    from .exact_checks import exact_contacts as exact_contacts
    from .exact_checks import exact_distance as exact_distance
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
    from .pair_height_fields import capsule_height_field as capsule_height_field
    from .pair_hulls import capsule_hull as capsule_hull
    from .pair_hulls import capsule_hull_apart as capsule_hull_apart
    from .shapes_of_links import LinkShapes as LinkShapes
    from .shapes_of_links import link_shapes as link_shapes
    from .shapes_of_links import shape_solids as shape_solids
    from .solid_distances import is_convex as is_convex
    from .solid_distances import solid_distance as solid_distance

# Where each name is defined: a file is loaded when one of its names is first used. A test keeps this
# table and the imports above, which editors and type checkers read, the same.
_HOMES = {
    "body_pairs": "BodyPairs colliding_pairs disabled_links",
    "checking": "Contact contacts is_free",
    "clearances": "ClearanceGradient Nearest PairClearances clearance clearance_gradient nearest_pair pair_clearances",
    "collision_models": "CollisionModel collision_model",
    "collision_solids": "ConvexHull HeightField HullTables",
    "edges": "Certified edge_motions edges_certified edges_free",
    "exact_checks": "exact_contacts exact_distance",
    "pair_boxes": "capsule_box capsule_box_apart",
    "pair_cylinders": "capsule_cylinder capsule_cylinder_apart",
    "pair_distances": "DistanceGradients PairDistance capsule_capsule capsule_plane capsules_apart "
    "distance_gradients sphere_sphere",
    "pair_height_fields": "capsule_height_field",
    "pair_hulls": "capsule_hull capsule_hull_apart",
    "shapes_of_links": "LinkShapes link_shapes shape_solids",
    "solid_distances": "is_convex solid_distance",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]

if not TYPE_CHECKING:
    __getattr__ = later(__name__, _HOME_OF | {home: home for home in _HOMES}, suggesting(__all__))


def __dir__() -> list[str]:
    return __all__
