"""Control laws: data and a function of one instant, to call alone, in batches, in `simulate`, and as C.

| file | contents |
|---|---|
| `laws` | `Law`, the one type, and `law`, which makes one of any NumPy function; `wrapped`, a law around another |
| `references` | what a law follows: `Target` of joints, `PoseTarget` of a frame, trajectories, functions of time |
| `assembled` | kernels put together from functions with parameters |
| `joint_laws` | PD feedback and computed torque |
"""

from .joint_laws import computed_torque as computed_torque
from .joint_laws import pd as pd
from .laws import Control as Control
from .laws import Law as Law
from .laws import law as law
from .laws import wrapped as wrapped
from .references import PoseTarget as PoseTarget
from .references import Target as Target

__all__ = [
    "Control",
    "Law",
    "PoseTarget",
    "Target",
    "computed_torque",
    "law",
    "pd",
    "wrapped",
]


def __dir__() -> list[str]:
    return __all__
