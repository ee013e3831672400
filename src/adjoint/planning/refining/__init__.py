"""From symbols to motion: actions of a plan become motions, and failures of geometry become facts.

| file | contents |
|---|---|
| `manipulation` | `manipulation_domain`, `problem_of`, `sensed_facts`: a world as a planning task |
| `goal_facts` | goals as facts: tuples, PDDL texts, relations of faces |
| `learned_facts` | `Learned`: (obstructs b a) and (unreachable arm a shelf), and where parts were |
| `refinements` | `refine`, `Refinement`: the motions of one action |
| `free_places`, `transfers` | where a part can be put; picks and placements with one grasp |
| `reasons` | which parts stand in the way of an action |
| `task_plans` | `plan_task`, `TaskPlan`, `TaskRound`: search and geometry in turns |
| `prepared_runs` | `run_refinement`: motions that are run as they were planned |
| `executing` | `execute_task`, `TaskRun`, `TaskEvent`: kernels first, new plans second |
| `joined_runs` | `joined_run`: all motions of a task as one run, for plots and pages |
| `perceptions`, `symptoms` | what is seen of the world as it is, `NotSeen`; what is not as expected |
| `withdrawals` | a robot steps aside, so that a camera sees what it hides |

Reference: Fu, Gonzalez & Lee (1987), Secs. 9.3.3, 10.6, 10.8.3, 10.9.3.
"""

from .executing import TaskEvent as TaskEvent
from .executing import TaskRun as TaskRun
from .executing import execute_task as execute_task
from .joined_runs import joined_run as joined_run
from .learned_facts import Learned as Learned
from .manipulation import manipulation_domain as manipulation_domain
from .manipulation import problem_of as problem_of
from .manipulation import sensed_facts as sensed_facts
from .perceptions import NotSeen as NotSeen
from .prepared_runs import run_refinement as run_refinement
from .refinements import Refinement as Refinement
from .refinements import refine as refine
from .task_plans import TaskPlan as TaskPlan
from .task_plans import TaskRound as TaskRound
from .task_plans import plan_task as plan_task

__all__ = [
    "Learned",
    "NotSeen",
    "Refinement",
    "TaskEvent",
    "TaskPlan",
    "TaskRound",
    "TaskRun",
    "execute_task",
    "joined_run",
    "manipulation_domain",
    "plan_task",
    "problem_of",
    "refine",
    "run_refinement",
    "sensed_facts",
]


def __dir__() -> list[str]:
    return __all__
