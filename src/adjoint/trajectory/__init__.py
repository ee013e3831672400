"""Motions in time: `Trajectory` of joints and `PoseTrajectory` of a frame, the ways to make them, and optimal ones.

| file | contents |
|---|---|
| `piecewise` | `Trajectory`: what it is, and all it can do |
| `pieces`, `polynomials` | pieces of polynomials: cut, joined, stretched and reversed; their rates and extremes |
| `manifold` | coordinates about a configuration, for joints of several degrees of freedom |
| `extrema`, `peaks` | the lowest and highest q, v, a and jerk; extremes of what is no polynomial, by refined samples |
| `torque`, `along` | the torque at one instant, with its derivatives; torques along a trajectory |
| `limits` | whether a trajectory keeps a robot's limits, `LimitReport` |
| `storage`, `draw` | trajectories in .npz, .json and .csv files; plots |
| `states` | `cubic`, `quintic`, `septic` between two states |
| `profiles` | `trapezoidal`, `s_curve`: from rest to rest under limits, synchronised |
| `blends` | `linear_blends`: lines through waypoints, joined by parabolas |
| `textbook` | the polynomials of Fu, Gonzalez & Lee: degree 7, 4-3-4, 3-5-3, and five cubics |
| `picking` | `pick_and_place`: from two poses, by lift-off and set-down knots, to a motion of joints |
| `joint_splines`, `smoothing` | splines through knots, with free end knots, of control points, and near knots |
| `knot_times` | `minimum_time_spline`: the times between knots under limits |
| `checks`, `quantities` | checks of knots, times, rates and limits that users give |
| `fastest` | a folder: `time_optimal` along a given path, and its `phase_plane` |
| `online` | `jerk_limited` and `OnlineMotion`: state to state, and each cycle to a moving target, by ruckig |
| `poses` | a folder: `PoseTrajectory`, motions of a frame in space: lines, arcs, screw motions, splines |
| `following` | `joint_motion`: the motion of joints that moves a frame along its path |
| `deviation` | `bounded_deviation`: knots between which straight joint motion stays near a line |
| `optimal` | a folder: `optimal_motion` of least effort or energy, `spline_motion`, and `Motion`, which they return |
"""

from .along import Torques as Torques
from .blends import linear_blends as linear_blends
from .deviation import BoundedPath as BoundedPath
from .deviation import bounded_deviation as bounded_deviation
from .extrema import Extrema as Extrema
from .fastest.timing import PhasePlane as PhasePlane
from .fastest.timing import phase_plane as phase_plane
from .fastest.timing import time_optimal as time_optimal
from .following import joint_motion as joint_motion
from .joint_splines import b_spline as b_spline
from .joint_splines import free_end_spline as free_end_spline
from .joint_splines import spline as spline
from .knot_times import minimum_time_spline as minimum_time_spline
from .limits import LimitReport as LimitReport
from .limits import Reach as Reach
from .limits import Worst as Worst
from .online import OnlineMotion as OnlineMotion
from .online import State as State
from .online import jerk_limited as jerk_limited
from .optimal.motion import Motion as Motion
from .optimal.motion import spline_motion as spline_motion
from .optimal.search import optimal_motion as optimal_motion
from .optimal.solution import Step as Step
from .picking import pick_and_place as pick_and_place
from .picking import withdrawn as withdrawn
from .piecewise import Sample as Sample
from .piecewise import Trajectory as Trajectory
from .polynomials import Extremes as Extremes
from .poses import PoseSample as PoseSample
from .poses import PoseTrajectory as PoseTrajectory
from .poses import arc as arc
from .poses import circle as circle
from .poses import drive as drive
from .poses import drive_transform as drive_transform
from .poses import in_next_frame as in_next_frame
from .poses import line as line
from .poses import lines as lines
from .poses import paul_lines as paul_lines
from .poses import pose_spline as pose_spline
from .poses import screw_motion as screw_motion
from .poses import segment_durations as segment_durations
from .poses import task_pose as task_pose
from .profiles import s_curve as s_curve
from .profiles import trapezoidal as trapezoidal
from .smoothing import smoothing_spline as smoothing_spline
from .states import cubic as cubic
from .states import quintic as quintic
from .states import septic as septic
from .textbook import degree_seven as degree_seven
from .textbook import five_cubic as five_cubic
from .textbook import four_three_four as four_three_four
from .textbook import normalised_coefficients as normalised_coefficients
from .textbook import three_five_three as three_five_three

__all__ = [
    "BoundedPath",
    "Extrema",
    "Extremes",
    "LimitReport",
    "Motion",
    "OnlineMotion",
    "PhasePlane",
    "PoseSample",
    "PoseTrajectory",
    "Reach",
    "Sample",
    "State",
    "Step",
    "Torques",
    "Trajectory",
    "Worst",
    "arc",
    "b_spline",
    "bounded_deviation",
    "circle",
    "cubic",
    "degree_seven",
    "drive",
    "drive_transform",
    "five_cubic",
    "four_three_four",
    "free_end_spline",
    "in_next_frame",
    "jerk_limited",
    "joint_motion",
    "line",
    "linear_blends",
    "lines",
    "minimum_time_spline",
    "normalised_coefficients",
    "optimal_motion",
    "paul_lines",
    "phase_plane",
    "pick_and_place",
    "pose_spline",
    "quintic",
    "s_curve",
    "screw_motion",
    "segment_durations",
    "septic",
    "smoothing_spline",
    "spline",
    "spline_motion",
    "task_pose",
    "three_five_three",
    "time_optimal",
    "trapezoidal",
    "withdrawn",
]


def __dir__() -> list[str]:
    return __all__
