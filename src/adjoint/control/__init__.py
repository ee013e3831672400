"""Control laws: data and a function of one instant, to call alone, in batches, in `simulate`, and as C.

| file | contents |
|---|---|
| `laws` | `Law`, the one type, and `law`, which makes one of any NumPy function; `wrapped`, a law around another |
| `references` | what a law follows: `Target` of joints, `PoseTarget` of a frame, trajectories, functions of time |
| `assembled` | kernels put together from functions with parameters |
| `joint_laws` | PD feedback and computed torque |
| `gains` | checks of gains |
| `least_squares` | recursive least squares with forgetting, which the laws that identify something share |
| `adaptive` | adaptive laws of single joints: `model_reference` and `self_tuning` |
| `perturbations` | `perturbation` about a nominal motion with an identified model, of joints or of a frame |
| `slotine` | `slotine_li`: adaptive control with the robot's own equations |
"""

from .adaptive import ModelReferenceState as ModelReferenceState
from .adaptive import SelfTuningState as SelfTuningState
from .adaptive import ServoGains as ServoGains
from .adaptive import model_reference as model_reference
from .adaptive import self_tuning as self_tuning
from .adaptive import servo_gains as servo_gains
from .joint_laws import computed_torque as computed_torque
from .joint_laws import pd as pd
from .laws import Control as Control
from .laws import Law as Law
from .laws import law as law
from .laws import wrapped as wrapped
from .least_squares import Estimate as Estimate
from .least_squares import recursive_least_squares as recursive_least_squares
from .perturbations import PerturbationState as PerturbationState
from .perturbations import perturbation as perturbation
from .perturbations import resolved_motion_adaptive as resolved_motion_adaptive
from .references import PoseTarget as PoseTarget
from .references import Target as Target
from .slotine import CompositeState as CompositeState
from .slotine import slotine_li as slotine_li

__all__ = [
    "CompositeState",
    "Control",
    "Estimate",
    "Law",
    "ModelReferenceState",
    "PerturbationState",
    "PoseTarget",
    "SelfTuningState",
    "ServoGains",
    "Target",
    "computed_torque",
    "law",
    "model_reference",
    "pd",
    "perturbation",
    "recursive_least_squares",
    "resolved_motion_adaptive",
    "self_tuning",
    "servo_gains",
    "slotine_li",
    "wrapped",
]


def __dir__() -> list[str]:
    return __all__
