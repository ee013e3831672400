"""Motions of a robot in time: `spline_motion` between two states, and `optimal_motion` of least effort or energy.

Both return a `Motion`.

| file | contents |
|---|---|
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
from .motion import Sample as Sample
from .motion import spline_motion as spline_motion
from .optimal import optimal_motion as optimal_motion
from .solution import Step as Step

__all__ = [
    "Motion",
    "Sample",
    "Step",
    "optimal_motion",
    "spline_motion",
]


def __dir__() -> list[str]:
    return __all__
