"""Inverse kinematics in closed form: all configurations in which a frame is at a given pose.

`inverse_kinematics` gives all branches, of one pose or of millions; `within_limits`, `nearest_solution` and
`follow_path` choose among them. `find_configuration` of `adjoint.goals` searches numerically, for any robot.

| file | contents |
|---|---|
| `closed_form` | `inverse_kinematics`, and the kernel that it runs |
| `choice` | solutions inside the limits, nearest to a configuration, continuous along a path |
| `redundancy` | arms with seven joints: the parameter of a configuration, and the best one |
| `meaning` | what the branches mean; the indicators ARM, ELBOW and WRIST |
| `textbook` | the formulas of Fu, Gonzalez & Lee for the PUMA, as a second way |
| `arms` | how an arm is solved: decided once, from its screws |
| `ideal`, `trials` | the ideal arm nearest to a real one; trials of a plan on random poses |
| `families` | arms with three axes that meet, three parallel axes, or three slides |
| `arm_angle` | seven joints with a spherical shoulder and a spherical wrist |
| `general` | six revolute joints of any geometry, by elimination |
| `newton` | answers of an ideal arm become those of the real arm |
| `position`, `orientation`, `subproblems` | the equations that all this is made of |
| `chains`, `axes` | the joints on the way to a frame, as lines in space |
"""

from .choice import Followed as Followed
from .choice import Jump as Jump
from .choice import Nearest as Nearest
from .choice import follow_path as follow_path
from .choice import nearest_solution as nearest_solution
from .choice import with_turns as with_turns
from .choice import within_limits as within_limits
from .closed_form import AllBranches as AllBranches
from .closed_form import Solutions as Solutions
from .closed_form import all_branches as all_branches
from .closed_form import inverse_kinematics as inverse_kinematics
from .meaning import Branch as Branch
from .meaning import Branches as Branches
from .meaning import Indicators as Indicators
from .meaning import branches as branches
from .meaning import indicators as indicators
from .redundancy import BestRedundancy as BestRedundancy
from .redundancy import best_redundancy as best_redundancy
from .redundancy import redundancy_of as redundancy_of
from .textbook import puma_solution as puma_solution

__all__ = [
    "AllBranches",
    "BestRedundancy",
    "Branch",
    "Branches",
    "Followed",
    "Indicators",
    "Jump",
    "Nearest",
    "Solutions",
    "all_branches",
    "best_redundancy",
    "branches",
    "follow_path",
    "indicators",
    "inverse_kinematics",
    "nearest_solution",
    "puma_solution",
    "redundancy_of",
    "with_turns",
    "within_limits",
]


def __dir__() -> list[str]:
    return __all__
