"""Motions of a robot in time: `spline_motion` between two states, and `optimal_motion` of least effort or energy.

Both return a `Motion`.

| file | contents |
|---|---|
| `piecewise` | `Trajectory`: pieces of polynomials, sampled, cut, joined, stretched and reversed |
| `polynomials` | values, rates, pieces and extremes of polynomials |
| `manifold` | coordinates about a configuration, for joints of several degrees of freedom |
| `states` | `cubic`, `quintic`, `septic` between two states |
| `path_timing` | `time_optimal` along a given path, and its `phase_plane` |
| `path_problem`, `path_solution` | its arguments, and the fastest speed or the reason why there is none |
| `path_grid` | paths on grids of their parameter, and their pieces in time |
| `reachability` | the fastest speed along a path, by reachable sets |
| `path_jerk` | the fastest motion along a path with bounded jerk |
| `path_torque` | torques along a path, as limits of its speed and acceleration |
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

from .motion import Motion as Motion
from .motion import spline_motion as spline_motion
from .optimal import optimal_motion as optimal_motion
from .path_timing import PhasePlane as PhasePlane
from .path_timing import phase_plane as phase_plane
from .path_timing import time_optimal as time_optimal
from .piecewise import Sample as Sample
from .piecewise import Trajectory as Trajectory
from .piecewise import joined as joined
from .solution import Step as Step
from .states import cubic as cubic
from .states import quintic as quintic
from .states import septic as septic

__all__ = [
    "Motion",
    "PhasePlane",
    "Sample",
    "Step",
    "Trajectory",
    "cubic",
    "joined",
    "optimal_motion",
    "phase_plane",
    "quintic",
    "septic",
    "spline_motion",
    "time_optimal",
]


def __dir__() -> list[str]:
    return __all__
