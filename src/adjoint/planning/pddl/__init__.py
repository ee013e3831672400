"""PDDL: planning tasks and plans from texts, as texts, and from and to unified-planning.

| file | contents |
|---|---|
| `forms` | from a text to nested lists of words, and back to their places |
| `typed_lists` | names with their types, and the tree of types |
| `formulas` | facts, conditions and effects, checked |
| `requirements` | the requirements of PDDL, and which of them a domain needs |
| `domain_reader`, `problem_reader` | the two kinds of definitions |
| `task_reader` | `read_domain`, `read_problem`, `read_task`: texts and files |
| `task_writer` | `write_domain`, `write_problem` |
| `plan_reader` | `read_plan` |
| `book_tasks` | `book_task`, `book_text`: the tasks of the book; their texts are in the folder `book` |
| `generated_tasks` | `blocks_task`, `delivery_task`, `hanoi_task`: tasks of any size |
| `to_unified`, `from_unified` | `to_unified_planning`, `from_unified_planning` |
"""

from .book_tasks import BOOK_TASKS as BOOK_TASKS
from .book_tasks import book_task as book_task
from .book_tasks import book_text as book_text
from .from_unified import from_unified_planning as from_unified_planning
from .generated_tasks import blocks_task as blocks_task
from .generated_tasks import delivery_task as delivery_task
from .generated_tasks import hanoi_task as hanoi_task
from .plan_reader import read_plan as read_plan
from .task_reader import read_domain as read_domain
from .task_reader import read_problem as read_problem
from .task_reader import read_task as read_task
from .task_writer import write_domain as write_domain
from .task_writer import write_problem as write_problem
from .to_unified import to_unified_planning as to_unified_planning

__all__ = [
    "BOOK_TASKS",
    "blocks_task",
    "book_task",
    "book_text",
    "delivery_task",
    "from_unified_planning",
    "hanoi_task",
    "read_domain",
    "read_plan",
    "read_problem",
    "read_task",
    "to_unified_planning",
    "write_domain",
    "write_problem",
]


def __dir__() -> list[str]:
    return __all__
