"""A world to work in: parts, frames and what is attached to what; relations, motion plans and grasps.

A `World` never changes: every edit gives a new one. Lengths are in m and angles in rad; `si` converts others. The
packages that parts and exact checks call (trimesh, manifold3d, coal) are the extra `adjoint[world]`.

| where | what |
|---|---|
| `units` | Units at the boundary: the book's inches, degrees and ounces become SI units here, and nowhere else |
| `features` | Features of parts: faces, shafts, holes, edges, vertices and balls, each with a frame |
| `parts` | Parts: solids made of primitives by unions, intersections and differences, with masses and features |
| `relations` | Relations between features of parts, and all placements that they allow |
| `state` | `World`: frames, parts, robots and sensors, what is attached to what, and what follows from edits |
| `predicates` | Predicates of a world, from its geometry with hysteresis, and its state as facts and relations |
| `motion` | Motion plans: by trees and roadmaps, by fields, and in the plane; shortcuts, timing, adapters |
| `grasps` | Grasps: where a gripper can hold a part, which of them a robot can use, and plans that pick and place |
| `views` | What a world is for others: images, motions in time, surfaces and falls, drawings |
| `world_models` | The collision model of a robot of a world |
"""

from typing import TYPE_CHECKING

from ..lazy import later, suggesting

if TYPE_CHECKING:
    from .features import FEATURE_KINDS as FEATURE_KINDS
    from .features import Feature as Feature
    from .features import feature_frame as feature_frame
    from .grasps import Grasp as Grasp
    from .grasps import Grasps as Grasps
    from .grasps import PickAndPlace as PickAndPlace
    from .grasps import PickPhase as PickPhase
    from .grasps import find_grasps as find_grasps
    from .grasps import grasp_candidates as grasp_candidates
    from .grasps import plan_pick as plan_pick
    from .grasps import plan_pick_and_place as plan_pick_and_place
    from .motion import ConfigurationGrid as ConfigurationGrid
    from .motion import ControlPoints as ControlPoints
    from .motion import Descent as Descent
    from .motion import FieldState as FieldState
    from .motion import ForbiddenRegion as ForbiddenRegion
    from .motion import ForceField as ForceField
    from .motion import Freeway as Freeway
    from .motion import GridPlan as GridPlan
    from .motion import HypothesisTest as HypothesisTest
    from .motion import MotionPlan as MotionPlan
    from .motion import PathMeasures as PathMeasures
    from .motion import PlanePlan as PlanePlan
    from .motion import PlanStatistics as PlanStatistics
    from .motion import PointDistance as PointDistance
    from .motion import Recheck as Recheck
    from .motion import RepairedPath as RepairedPath
    from .motion import Roadmap as Roadmap
    from .motion import SegmentInside as SegmentInside
    from .motion import SmoothedPath as SmoothedPath
    from .motion import VisibilityGraph as VisibilityGraph
    from .motion import configuration_grid as configuration_grid
    from .motion import control_points as control_points
    from .motion import convex_pieces as convex_pieces
    from .motion import descend_field as descend_field
    from .motion import enclosing_sphere as enclosing_sphere
    from .motion import field_law as field_law
    from .motion import field_potential as field_potential
    from .motion import field_state as field_state
    from .motion import field_torque as field_torque
    from .motion import find_freeways as find_freeways
    from .motion import forbidden_region as forbidden_region
    from .motion import force_field as force_field
    from .motion import grow_obstacle as grow_obstacle
    from .motion import hypothesize_and_test as hypothesize_and_test
    from .motion import minkowski_sum as minkowski_sum
    from .motion import plan_by_freeways as plan_by_freeways
    from .motion import plan_in_plane as plan_in_plane
    from .motion import plan_motion as plan_motion
    from .motion import plan_on_grid as plan_on_grid
    from .motion import plan_with_ompl as plan_with_ompl
    from .motion import point_solid_distance as point_solid_distance
    from .motion import repair_path as repair_path
    from .motion import roadmap as roadmap
    from .motion import roadmap_path as roadmap_path
    from .motion import segment_inside as segment_inside
    from .motion import smooth_path as smooth_path
    from .motion import swept_polygon as swept_polygon
    from .motion import visibility_graph as visibility_graph
    from .parts import Part as Part
    from .parts import PartCover as PartCover
    from .parts import PartMesh as PartMesh
    from .parts import center as center
    from .parts import cone as cone
    from .parts import cuboid as cuboid
    from .parts import cylinder as cylinder
    from .parts import difference as difference
    from .parts import hemisphere as hemisphere
    from .parts import inertia as inertia
    from .parts import intersection as intersection
    from .parts import lamination as lamination
    from .parts import mass as mass
    from .parts import mesh_part as mesh_part
    from .parts import part_cover as part_cover
    from .parts import part_from_json as part_from_json
    from .parts import part_solids as part_solids
    from .parts import part_to_data as part_to_data
    from .parts import part_to_json as part_to_json
    from .parts import revolution as revolution
    from .parts import sphere as sphere
    from .parts import union as union
    from .parts import volume as volume
    from .parts import wedge as wedge
    from .predicates import facts as facts
    from .predicates import is_above as is_above
    from .predicates import is_aligned as is_aligned
    from .predicates import is_clear as is_clear
    from .predicates import is_holding as is_holding
    from .predicates import is_inside as is_inside
    from .predicates import is_near as is_near
    from .predicates import is_on as is_on
    from .predicates import is_touching as is_touching
    from .predicates import state_relations as state_relations
    from .relations import Conflict as Conflict
    from .relations import ContradictionError as ContradictionError
    from .relations import Family as Family
    from .relations import Freedom as Freedom
    from .relations import Placements as Placements
    from .relations import PoseBounds as PoseBounds
    from .relations import Relation as Relation
    from .relations import Tolerance as Tolerance
    from .relations import against as against
    from .relations import against_pose as against_pose
    from .relations import aligned as aligned
    from .relations import at_angle as at_angle
    from .relations import at_distance as at_distance
    from .relations import centred as centred
    from .relations import coincident as coincident
    from .relations import coplanar as coplanar
    from .relations import coplanar_pose as coplanar_pose
    from .relations import fit_clearance as fit_clearance
    from .relations import fits as fits
    from .relations import fits_pose as fits_pose
    from .relations import fixed_at as fixed_at
    from .relations import in_ as in_
    from .relations import on as on
    from .relations import parallel as parallel
    from .relations import perpendicular as perpendicular
    from .relations import placements as placements
    from .relations import pose_bounds as pose_bounds
    from .relations import socket_pose as socket_pose
    from .relations import solve_relations as solve_relations
    from .state import Assembly as Assembly
    from .state import Changes as Changes
    from .state import Configured as Configured
    from .state import Gripper as Gripper
    from .state import History as History
    from .state import Moved as Moved
    from .state import Placed as Placed
    from .state import PlacedSensor as PlacedSensor
    from .state import Reattached as Reattached
    from .state import Settled as Settled
    from .state import World as World
    from .state import WorldRobot as WorldRobot
    from .state import changes as changes
    from .state import frame_from_points as frame_from_points
    from .state import gripper_solids as gripper_solids
    from .state import hand_target as hand_target
    from .state import settle as settle
    from .units import DEGREE as DEGREE
    from .units import IN_LBF as IN_LBF
    from .units import INCH as INCH
    from .units import LBF as LBF
    from .units import OZF as OZF
    from .units import STANDARD_GRAVITY as STANDARD_GRAVITY
    from .units import UNITS as UNITS
    from .units import Unit as Unit
    from .units import convert as convert
    from .units import si as si
    from .views import CameraView as CameraView
    from .views import Dropped as Dropped
    from .views import Followed as Followed
    from .views import dropped as dropped
    from .views import follow as follow
    from .views import seen_by as seen_by
    from .views import world_props as world_props
    from .views import world_surfaces as world_surfaces
    from .world_models import world_collision_model as world_collision_model

# Where each name is defined: a file or folder is loaded when one of its names is first used. A test keeps this
# table and the imports above, which editors and type checkers read, the same.
_HOMES = {
    "features": "FEATURE_KINDS Feature feature_frame",
    "grasps": "Grasp Grasps PickAndPlace PickPhase find_grasps grasp_candidates plan_pick plan_pick_and_place",
    "motion": "ConfigurationGrid ControlPoints Descent FieldState ForbiddenRegion ForceField "
    "Freeway GridPlan HypothesisTest MotionPlan PathMeasures PlanStatistics PlanePlan "
    "PointDistance Recheck RepairedPath Roadmap SegmentInside SmoothedPath "
    "VisibilityGraph configuration_grid control_points convex_pieces descend_field "
    "enclosing_sphere field_law field_potential field_state field_torque find_freeways "
    "forbidden_region force_field grow_obstacle hypothesize_and_test minkowski_sum "
    "plan_by_freeways plan_in_plane plan_motion plan_on_grid plan_with_ompl "
    "point_solid_distance repair_path roadmap roadmap_path segment_inside smooth_path "
    "swept_polygon visibility_graph",
    "parts": "Part PartCover PartMesh center cone cuboid cylinder difference hemisphere inertia "
    "intersection lamination mass mesh_part part_cover part_from_json part_solids "
    "part_to_data part_to_json revolution sphere union volume wedge",
    "predicates": "facts is_above is_aligned is_clear is_holding is_inside is_near is_on is_touching state_relations",
    "relations": "Conflict ContradictionError Family Freedom Placements PoseBounds Relation Tolerance "
    "against against_pose aligned at_angle at_distance centred coincident coplanar "
    "coplanar_pose fit_clearance fits fits_pose fixed_at in_ on parallel perpendicular "
    "placements pose_bounds socket_pose solve_relations",
    "state": "Assembly Changes Configured Gripper History Moved Placed PlacedSensor Reattached "
    "Settled World WorldRobot changes frame_from_points gripper_solids hand_target settle",
    "units": "DEGREE INCH IN_LBF LBF OZF STANDARD_GRAVITY UNITS Unit convert si",
    "views": "CameraView Dropped Followed dropped follow seen_by world_props world_surfaces",
    "world_models": "world_collision_model",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]

if not TYPE_CHECKING:
    __getattr__ = later(__name__, _HOME_OF | {home: home for home in _HOMES}, suggesting(__all__))


def __dir__() -> list[str]:
    return __all__
