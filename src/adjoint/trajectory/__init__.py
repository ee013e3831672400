"""Motions of a robot in time: `spline_motion` between two states, and `optimal_motion` of least effort or energy.

Both return a `Motion`.

| file | contents |
|---|---|
| `piecewise` | `Trajectory`: pieces of polynomials, sampled, cut, joined, stretched and reversed |
| `polynomials` | values, rates, pieces and extremes of polynomials |
| `manifold` | coordinates about a configuration, for joints of several degrees of freedom |
| `states` | `cubic`, `quintic`, `septic` between two states |
| `extrema` | the lowest and highest q, v, a and jerk of a trajectory |
| `along` | torques along a trajectory |
| `limits` | whether a trajectory keeps a robot's limits, `LimitReport` |
| `peaks` | extremes of what is no polynomial, by refined samples |
| `storage` | trajectories in .npz, .json and .csv files |
| `torque` | the torque at one instant, with its derivatives |
| `optimal` | a folder: `Motion`, its costs and limits, `spline_motion`, and `optimal_motion` |
| `draw` | plots |
"""

from .along import Torques as Torques
from .extrema import Extrema as Extrema
from .limits import LimitReport as LimitReport
from .limits import Reach as Reach
from .limits import Worst as Worst
from .optimal.motion import Motion as Motion
from .optimal.motion import spline_motion as spline_motion
from .optimal.search import optimal_motion as optimal_motion
from .optimal.solution import Step as Step
from .piecewise import Sample as Sample
from .piecewise import Trajectory as Trajectory
from .piecewise import joined as joined
from .polynomials import Extremes as Extremes
from .states import cubic as cubic
from .states import quintic as quintic
from .states import septic as septic

__all__ = [
    "Extrema",
    "Extremes",
    "LimitReport",
    "Motion",
    "Reach",
    "Sample",
    "Step",
    "Torques",
    "Trajectory",
    "Worst",
    "cubic",
    "joined",
    "optimal_motion",
    "quintic",
    "septic",
    "spline_motion",
]


def __dir__() -> list[str]:
    return __all__
