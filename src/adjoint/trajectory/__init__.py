"""Motions of a robot in time: `spline_motion` between two states, and `optimal_motion` of least effort or energy.

Both return a `Motion`.

| file | contents |
|---|---|
| `piecewise` | `Trajectory`: pieces of polynomials, sampled, cut, joined, stretched and reversed |
| `polynomials` | values, rates, pieces and extremes of polynomials |
| `manifold` | coordinates about a configuration, for joints of several degrees of freedom |
| `poses` | `PoseTrajectory`, motions of a frame in space: lines, arcs, screw motions, splines |
| `following` | `joint_motion`: the motion of joints that moves a frame so |
| `deviation` | `bounded_deviation`: knots between which straight joint motion stays near a line |
| `states` | `cubic`, `quintic`, `septic` between two states |
| `motion` | `Motion`, its costs and limits, and `spline_motion` |
| `optimal` | `optimal_motion` |
| `splines` | quintic B-splines |
| `torque` | the torque at one instant, with its derivatives |
| `problem` | the nonlinear program behind an optimal motion, with its derivatives |
| `solver`, `solution` | the program's solution by IPOPT |
| `reaching` | goals that are placements of frames |
| `explain` | why no motion was found |
| `draw` | plots |
"""

from .deviation import BoundedPath as BoundedPath
from .deviation import bounded_deviation as bounded_deviation
from .following import joint_motion as joint_motion
from .motion import Motion as Motion
from .motion import spline_motion as spline_motion
from .optimal import optimal_motion as optimal_motion
from .piecewise import Sample as Sample
from .piecewise import Trajectory as Trajectory
from .piecewise import joined as joined
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
from .poses import task_pose as task_pose
from .solution import Step as Step
from .states import cubic as cubic
from .states import quintic as quintic
from .states import septic as septic

__all__ = [
    "BoundedPath",
    "Motion",
    "PoseSample",
    "PoseTrajectory",
    "Sample",
    "Step",
    "Trajectory",
    "arc",
    "bounded_deviation",
    "circle",
    "cubic",
    "drive",
    "drive_transform",
    "in_next_frame",
    "joined",
    "joint_motion",
    "line",
    "lines",
    "optimal_motion",
    "paul_lines",
    "pose_spline",
    "quintic",
    "screw_motion",
    "septic",
    "spline_motion",
    "task_pose",
]


def __dir__() -> list[str]:
    return __all__
