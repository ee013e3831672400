"""Control laws: data and a function of one instant, to call alone, in batches, in `simulate`, and as C.

| file | contents |
|---|---|
| `laws` | `Law`, the one type, and `law`, which makes one of any NumPy function; `wrapped`, a law around another |
| `references` | what a law follows: `Target` of joints, `PoseTarget` of a frame, trajectories, functions of time |
| `assembled` | kernels put together from functions with parameters |
| `joint_laws` | PD feedback and computed torque |
| `riccati` | linear quadratic regulators: of linear systems, `lqr` about a configuration, `tvlqr` along a trajectory |
"""

from .joint_laws import computed_torque as computed_torque
from .joint_laws import pd as pd
from .laws import Control as Control
from .laws import Law as Law
from .laws import law as law
from .laws import wrapped as wrapped
from .references import PoseTarget as PoseTarget
from .references import Target as Target
from .riccati import Gains as Gains
from .riccati import dlqr_gains as dlqr_gains
from .riccati import lqr as lqr
from .riccati import lqr_gains as lqr_gains
from .riccati import tvlqr as tvlqr

__all__ = [
    "Control",
    "Gains",
    "Law",
    "PoseTarget",
    "Target",
    "computed_torque",
    "dlqr_gains",
    "law",
    "lqr",
    "lqr_gains",
    "pd",
    "tvlqr",
    "wrapped",
]


def __dir__() -> list[str]:
    return __all__
