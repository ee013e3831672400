"""Robot programs made in Python, which read like the languages and give the same instructions.

| file | contents |
|---|---|
| `formulas` | expressions by operators of Python, and constants |
| `formula_words` | axes, vectors, rotations, frames and units, with which formulas begin |
| `flow_builder` | branches, loops, threads and procedures |
| `unit_words` | units by the words that programs use |
| `task_builder` | `task`: variables, the world and its sensors |
| `arm_builders` | arms and hands |
| `python_lines` | lines of the Python file that makes a program |
"""

from .arm_builders import ArmBuilder as ArmBuilder
from .arm_builders import HandBuilder as HandBuilder
from .arm_builders import MoveBuilder as MoveBuilder
from .flow_builder import ParallelBuilder as ParallelBuilder
from .flow_builder import SelectBuilder as SelectBuilder
from .formula_words import X as X
from .formula_words import Y as Y
from .formula_words import Z as Z
from .formula_words import frame_at as frame_at
from .formula_words import function_of as function_of
from .formula_words import nilrot as nilrot
from .formula_words import nilvect as nilvect
from .formula_words import rot as rot
from .formula_words import station as station
from .formula_words import trans as trans
from .formula_words import xyz as xyz
from .formulas import Formula as Formula
from .formulas import formula as formula
from .task_builder import EventBuilder as EventBuilder
from .task_builder import TaskBuilder as TaskBuilder
from .task_builder import task as task
from .unit_words import N as N
from .unit_words import cm as cm
from .unit_words import deg as deg
from .unit_words import degrees as degrees
from .unit_words import inch as inch
from .unit_words import inches as inches
from .unit_words import lbf as lbf
from .unit_words import meters as meters
from .unit_words import mm as mm
from .unit_words import ms as ms
from .unit_words import newtons as newtons
from .unit_words import ounces as ounces
from .unit_words import ozf as ozf
from .unit_words import rad as rad
from .unit_words import rpm as rpm
from .unit_words import seconds as seconds
from .unit_words import unit as unit

__all__ = [
    "ArmBuilder",
    "EventBuilder",
    "Formula",
    "HandBuilder",
    "MoveBuilder",
    "N",
    "ParallelBuilder",
    "SelectBuilder",
    "TaskBuilder",
    "X",
    "Y",
    "Z",
    "cm",
    "deg",
    "degrees",
    "formula",
    "frame_at",
    "function_of",
    "inch",
    "inches",
    "lbf",
    "meters",
    "mm",
    "ms",
    "newtons",
    "nilrot",
    "nilvect",
    "ounces",
    "ozf",
    "rad",
    "rot",
    "rpm",
    "seconds",
    "station",
    "task",
    "trans",
    "unit",
    "xyz",
]


def __dir__() -> list[str]:
    return __all__
