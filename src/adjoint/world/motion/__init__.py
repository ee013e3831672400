"""Motion plans: free paths of robots by trees and roadmaps, by fields, and in the plane; shortcuts, timing, adapters.

| file | contents |
|---|---|
| `planning` | `plan_motion`: from a world, a start and a goal to a motion in time, or the reason why there is none |
| `plan_results` | `MotionPlan`, what a plan cost, and how it is checked again |
| `plan_steps` | the steps of a plan, each of which may fail with a reason |
| `plan_relations` | goals as relations of a part that a robot holds |
| `plan_goals` | goals as configurations: inverse kinematics and searches |
| `plan_timing` | rounded corners that stay free, and motions in time |
| `spaces` | configuration spaces as planners see them: differences, samples, limits |
| `model_checks` | collision models as planners ask them |
| `edge_checks` | ways between configurations, checked in batches |
| `tree_search` | RRT-Connect with ways in batches |
| `kept_goals` | ways on the manifold of goals that are kept |
| `roadmaps` | `roadmap`, a value that is saved and asked many times |
| `roadmap_search` | `roadmap_path`, and roadmaps that grow until there is a path |
| `shortcuts` | shorter paths, for all joints or for one |
| `ompl_plans` | `plan_with_ompl`: planners of OMPL with our checks |
| `field_descents` | descents in fields of force, and small repairs of a known path |
| `field_points` | Control points on the links of a robot, and distances of points to solids, for fields of force |
| `fields` | Khatib's field of force, and its joint torques |
| `hypotheses` | hypothesize and test: straight ways bent around what they hit |
| `path_checks` | paths as their corners: lengths, points, and whether they are free |
| `plane_freeway_plans` | `plan_by_freeways`: motions of a polygon along freeways |
| `plane_freeways` | Freeways: the free space of the plane as generalized cones between edges of obstacles |
| `plane_graphs` | Visibility graphs of grown obstacles, and the shortest ways through them |
| `plane_grids` | Configuration spaces of two or three joints as grids of cells: which are free, and ways through them |
| `plane_plans` | `plan_in_plane`: shortest motions of a polygon among polygons, with or without turns |
| `plane_polygons` | Polygons in the plane: checks, convex pieces, Minkowski sums, and what a turning polygon sweeps |
| `plane_regions` | what a point robot must not enter in the plane |
| `plane_slices` | shortest motions of a polygon that may turn |
| `smoothing` | `smooth_path`: paths that bend less and keep away from obstacles, by covariant gradient steps (CHOMP) |
"""

from .field_descents import Descent as Descent
from .field_descents import RepairedPath as RepairedPath
from .field_descents import descend_field as descend_field
from .field_descents import repair_path as repair_path
from .field_points import ControlPoints as ControlPoints
from .field_points import PointDistance as PointDistance
from .field_points import control_points as control_points
from .field_points import point_solid_distance as point_solid_distance
from .fields import FieldState as FieldState
from .fields import ForceField as ForceField
from .fields import field_law as field_law
from .fields import field_potential as field_potential
from .fields import field_state as field_state
from .fields import field_torque as field_torque
from .fields import force_field as force_field
from .hypotheses import HypothesisTest as HypothesisTest
from .hypotheses import enclosing_sphere as enclosing_sphere
from .hypotheses import hypothesize_and_test as hypothesize_and_test
from .ompl_plans import plan_with_ompl as plan_with_ompl
from .plan_results import MotionPlan as MotionPlan
from .plan_results import PlanStatistics as PlanStatistics
from .plan_results import Recheck as Recheck
from .plane_freeway_plans import plan_by_freeways as plan_by_freeways
from .plane_freeways import Freeway as Freeway
from .plane_freeways import find_freeways as find_freeways
from .plane_graphs import PlanePlan as PlanePlan
from .plane_graphs import VisibilityGraph as VisibilityGraph
from .plane_graphs import visibility_graph as visibility_graph
from .plane_grids import ConfigurationGrid as ConfigurationGrid
from .plane_grids import GridPlan as GridPlan
from .plane_grids import configuration_grid as configuration_grid
from .plane_grids import plan_on_grid as plan_on_grid
from .plane_plans import plan_in_plane as plan_in_plane
from .plane_polygons import convex_pieces as convex_pieces
from .plane_polygons import grow_obstacle as grow_obstacle
from .plane_polygons import minkowski_sum as minkowski_sum
from .plane_polygons import swept_polygon as swept_polygon
from .plane_regions import ForbiddenRegion as ForbiddenRegion
from .plane_regions import SegmentInside as SegmentInside
from .plane_regions import forbidden_region as forbidden_region
from .plane_regions import segment_inside as segment_inside
from .planning import plan_motion as plan_motion
from .roadmap_search import roadmap_path as roadmap_path
from .roadmaps import Roadmap as Roadmap
from .roadmaps import roadmap as roadmap
from .smoothing import PathMeasures as PathMeasures
from .smoothing import SmoothedPath as SmoothedPath
from .smoothing import smooth_path as smooth_path

__all__ = [
    "ConfigurationGrid",
    "ControlPoints",
    "Descent",
    "FieldState",
    "ForbiddenRegion",
    "ForceField",
    "Freeway",
    "GridPlan",
    "HypothesisTest",
    "MotionPlan",
    "PathMeasures",
    "PlanStatistics",
    "PlanePlan",
    "PointDistance",
    "Recheck",
    "RepairedPath",
    "Roadmap",
    "SegmentInside",
    "SmoothedPath",
    "VisibilityGraph",
    "configuration_grid",
    "control_points",
    "convex_pieces",
    "descend_field",
    "enclosing_sphere",
    "field_law",
    "field_potential",
    "field_state",
    "field_torque",
    "find_freeways",
    "forbidden_region",
    "force_field",
    "grow_obstacle",
    "hypothesize_and_test",
    "minkowski_sum",
    "plan_by_freeways",
    "plan_in_plane",
    "plan_motion",
    "plan_on_grid",
    "plan_with_ompl",
    "point_solid_distance",
    "repair_path",
    "roadmap",
    "roadmap_path",
    "segment_inside",
    "smooth_path",
    "swept_polygon",
    "visibility_graph",
]


def __dir__() -> list[str]:
    return __all__
