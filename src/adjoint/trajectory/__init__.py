"""Motions in time: splines, and motions of least effort or energy.

`optimal_motion` and `spline_motion` make a `Motion` (`motion`). Behind them: `splines` (B-splines), `torque` (at one
instant), `problem` (the nonlinear program and its derivatives), `solver` (IPOPT), `reach` (goals of
frames), `explain` (failures).
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
