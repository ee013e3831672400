"""Motions of a robot in time: `spline_motion` between two states, and `optimal_motion` of least effort or energy.

Both return a `Motion`.

| file | contents |
|---|---|
| `piecewise` | `Trajectory`: pieces of polynomials, sampled, cut, joined, stretched and reversed |
| `polynomials` | values, rates, pieces and extremes of polynomials |
| `manifold` | coordinates about a configuration, for joints of several degrees of freedom |
| `states` | `cubic`, `quintic`, `septic` between two states |
| `torque` | the torque at one instant, with its derivatives |
| `optimal` | a folder: `Motion`, its costs and limits, `spline_motion`, and `optimal_motion` |
| `draw` | plots |
"""

from .optimal.motion import Motion as Motion
from .optimal.motion import spline_motion as spline_motion
from .optimal.search import optimal_motion as optimal_motion
from .optimal.solution import Step as Step
from .piecewise import Sample as Sample
from .piecewise import Trajectory as Trajectory
from .piecewise import joined as joined
from .states import cubic as cubic
from .states import quintic as quintic
from .states import septic as septic

__all__ = [
    "Motion",
    "Sample",
    "Step",
    "Trajectory",
    "cubic",
    "joined",
    "optimal_motion",
    "quintic",
    "septic",
    "spline_motion",
]


def __dir__() -> list[str]:
    return __all__
