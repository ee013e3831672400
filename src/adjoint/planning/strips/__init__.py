"""STRIPS: tasks as data, from variables to ground actions, and what heuristics know of them.

| file | contents |
|---|---|
| `task_types` | `Fact`, `Condition`, `Operator`, `Action`, `Domain`, `Problem`, `Plan` |
| `ground_tasks` | `GroundTask`: facts and actions by number; a state is a whole number |
| `grounding` | `ground`: the actions that can ever apply |
| `relaxation` | `h_max`, `h_add`, `h_ff`, `lm_cut`: costs where nothing is deleted |
| `landmarks` | `find_landmarks`: facts that every plan makes true, and their orders |
| `mutexes` | `together`: pairs of facts that exclude each other |
| `landmark_search` | the greedy search of `solve` |
"""

from .ground_tasks import GroundTask as GroundTask
from .grounding import ground as ground
from .landmarks import Landmarks as Landmarks
from .landmarks import find_landmarks as find_landmarks
from .mutexes import exclusive_goals as exclusive_goals
from .mutexes import together as together
from .relaxation import RelaxedPlan as RelaxedPlan
from .relaxation import h_add as h_add
from .relaxation import h_ff as h_ff
from .relaxation import h_max as h_max
from .relaxation import lm_cut as lm_cut
from .relaxation import relaxed_plan as relaxed_plan
from .task_types import Action as Action
from .task_types import Condition as Condition
from .task_types import Domain as Domain
from .task_types import Fact as Fact
from .task_types import Operator as Operator
from .task_types import Parameter as Parameter
from .task_types import Plan as Plan
from .task_types import Problem as Problem
from .task_types import fact_text as fact_text

__all__ = [
    "Action",
    "Condition",
    "Domain",
    "Fact",
    "GroundTask",
    "Landmarks",
    "Operator",
    "Parameter",
    "Plan",
    "Problem",
    "RelaxedPlan",
    "exclusive_goals",
    "fact_text",
    "find_landmarks",
    "ground",
    "h_add",
    "h_ff",
    "h_max",
    "lm_cut",
    "relaxed_plan",
    "together",
]


def __dir__() -> list[str]:
    return __all__
