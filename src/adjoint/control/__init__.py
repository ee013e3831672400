"""Control laws: data and a function of one instant, to call alone, in batches, in `simulate`, and as C.

| file | contents |
|---|---|
| `laws` | `Law`, the one type, and `law`, which makes one of any NumPy function; `wrapped`, a law around another |
| `references` | what a law follows: `Target` of joints, `PoseTarget` of a frame, trajectories, functions of time |
| `assembled` | kernels put together from functions with parameters |
| `joint_laws` | PD feedback and computed torque |
| `gains` | checks of gains |
| `decoupling` | nonlinear decoupled feedback, of arms and of any system that is affine in its inputs |
| `resolution` | from the motion of a frame to that of joints |
| `resolved` | laws that move a hand: resolved motion rate, acceleration and force |
| `switching` | laws that switch: nearly least time, and sliding modes |
"""

from .decoupling import Decoupling as Decoupling
from .decoupling import decoupled as decoupled
from .decoupling import decoupling_law as decoupling_law
from .joint_laws import computed_torque as computed_torque
from .joint_laws import pd as pd
from .laws import Control as Control
from .laws import Law as Law
from .laws import law as law
from .laws import wrapped as wrapped
from .references import PoseTarget as PoseTarget
from .references import Target as Target
from .resolution import ForceConvergence as ForceConvergence
from .resolution import force_convergence as force_convergence
from .resolution import hand_twist as hand_twist
from .resolution import resolve_acceleration as resolve_acceleration
from .resolution import resolve_twist as resolve_twist
from .resolution import rpy_rate_matrix as rpy_rate_matrix
from .resolution import rpy_velocity_matrix as rpy_velocity_matrix
from .resolved import ForceRounds as ForceRounds
from .resolved import resolved_acceleration as resolved_acceleration
from .resolved import resolved_force as resolved_force
from .resolved import resolved_rate as resolved_rate
from .switching import bang_bang as bang_bang
from .switching import equivalent_control as equivalent_control
from .switching import minimum_time as minimum_time
from .switching import sliding_mode as sliding_mode
from .switching import switching_curve as switching_curve
from .switching import switching_gain as switching_gain

__all__ = [
    "Control",
    "Decoupling",
    "ForceConvergence",
    "ForceRounds",
    "Law",
    "PoseTarget",
    "Target",
    "bang_bang",
    "computed_torque",
    "decoupled",
    "decoupling_law",
    "equivalent_control",
    "force_convergence",
    "hand_twist",
    "law",
    "minimum_time",
    "pd",
    "resolve_acceleration",
    "resolve_twist",
    "resolved_acceleration",
    "resolved_force",
    "resolved_rate",
    "rpy_rate_matrix",
    "rpy_velocity_matrix",
    "sliding_mode",
    "switching_curve",
    "switching_gain",
    "wrapped",
]


def __dir__() -> list[str]:
    return __all__
