"""Learning from plans: schemata, macros, and memories of solved tasks.

| file | contents |
|---|---|
| `plan_schemas` | `PlanSchema`: a plan with parameters, and what must differ |
| `generalisation` | `generalise`: from a plan to its schema |
| `matching` | objects for parameters |
| `instances` | `instantiate`: from a schema to a plan |
| `macros` | `macro_operator`, `with_macros`, `expand` |
| `macro_store` | `MacroStore`, `MacroUse`, `relevant_part`: the part of a macro that helps |
| `task_distances` | `task_distance`: how unlike two tasks are, by the best renaming |
| `plan_memory` | `PlanMemory`, `Candidate`: plans of similar tasks |
| `difference_learning` | `learn_differences`: which operator gave which fact |

Reference: Fu, Gonzalez & Lee (1987), Sec. 10.7.
"""

from .difference_learning import learn_differences as learn_differences
from .generalisation import generalise as generalise
from .instances import instantiate as instantiate
from .macro_store import MacroStore as MacroStore
from .macro_store import MacroUse as MacroUse
from .macro_store import relevant_part as relevant_part
from .macros import expand as expand
from .macros import macro_operator as macro_operator
from .macros import with_macros as with_macros
from .plan_memory import Candidate as Candidate
from .plan_memory import PlanMemory as PlanMemory
from .plan_memory import load_memory as load_memory
from .plan_schemas import PlanSchema as PlanSchema
from .task_distances import TaskDistance as TaskDistance
from .task_distances import task_distance as task_distance

__all__ = [
    "Candidate",
    "MacroStore",
    "MacroUse",
    "PlanMemory",
    "PlanSchema",
    "TaskDistance",
    "expand",
    "generalise",
    "instantiate",
    "learn_differences",
    "load_memory",
    "macro_operator",
    "relevant_part",
    "task_distance",
    "with_macros",
]


def __dir__() -> list[str]:
    return __all__
