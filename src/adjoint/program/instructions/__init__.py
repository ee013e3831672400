"""The instruction set of robot programs: frozen data that remembers where it was written.

| file | contents |
|---|---|
| `sources` | texts of programs, and places in them |
| `diagnostics` | messages with line, column, the text underlined, and a suggestion; `ProgramError` |
| `value_types` | types of values: kinds, and powers of units |
| `expressions` | expressions |
| `statements` | statements |
| `programs` | `Program`, and walks over it |
"""

from .diagnostics import Diagnostic as Diagnostic
from .diagnostics import ProgramError as ProgramError
from .diagnostics import rendered as rendered
from .expressions import Aggregate as Aggregate
from .expressions import Binary as Binary
from .expressions import Call as Call
from .expressions import Expression as Expression
from .expressions import Here as Here
from .expressions import Index as Index
from .expressions import Literal as Literal
from .expressions import Name as Name
from .expressions import Quantity as Quantity
from .expressions import Reading as Reading
from .expressions import Unary as Unary
from .expressions import UnitName as UnitName
from .expressions import Wrt as Wrt
from .programs import Program as Program
from .programs import expressions_in as expressions_in
from .programs import statements_in as statements_in
from .sources import NOWHERE as NOWHERE
from .sources import Position as Position
from .sources import Source as Source
from .sources import Span as Span
from .statements import Abort as Abort
from .statements import Assign as Assign
from .statements import Attach as Attach
from .statements import Block as Block
from .statements import CallProcedure as CallProcedure
from .statements import Case as Case
from .statements import Comment as Comment
from .statements import Declare as Declare
from .statements import DefineMonitor as DefineMonitor
from .statements import Delay as Delay
from .statements import Detach as Detach
from .statements import For as For
from .statements import ForceClause as ForceClause
from .statements import Gosub as Gosub
from .statements import Goto as Goto
from .statements import Guard as Guard
from .statements import If as If
from .statements import Label as Label
from .statements import Locate as Locate
from .statements import Move as Move
from .statements import MoveHand as MoveHand
from .statements import MoveJoints as MoveJoints
from .statements import Operate as Operate
from .statements import Parallel as Parallel
from .statements import Parameter as Parameter
from .statements import Pause as Pause
from .statements import Place as Place
from .statements import Print as Print
from .statements import Procedure as Procedure
from .statements import RelationClause as RelationClause
from .statements import Repeat as Repeat
from .statements import Return as Return
from .statements import SetBase as SetBase
from .statements import SetConfiguration as SetConfiguration
from .statements import SetSpeed as SetSpeed
from .statements import SetTool as SetTool
from .statements import Signal as Signal
from .statements import SignalEvent as SignalEvent
from .statements import Statement as Statement
from .statements import Stop as Stop
from .statements import TaskState as TaskState
from .statements import Unwatch as Unwatch
from .statements import Wait as Wait
from .statements import WaitEvent as WaitEvent
from .statements import Watch as Watch
from .statements import While as While
from .statements import statement_types as statement_types
from .value_types import ACCELERATION as ACCELERATION
from .value_types import AGGREGATE as AGGREGATE
from .value_types import ANGLE as ANGLE
from .value_types import ANY as ANY
from .value_types import BOOLEAN as BOOLEAN
from .value_types import EVENT as EVENT
from .value_types import FORCE as FORCE
from .value_types import FRAME as FRAME
from .value_types import JOINTS as JOINTS
from .value_types import LENGTH as LENGTH
from .value_types import NUMBER as NUMBER
from .value_types import ROTATION as ROTATION
from .value_types import SPEED as SPEED
from .value_types import TEXT as TEXT
from .value_types import TIME as TIME
from .value_types import TORQUE as TORQUE
from .value_types import TURNING as TURNING
from .value_types import VECTOR as VECTOR
from .value_types import Type as Type
from .value_types import scalar as scalar
from .value_types import vector as vector

__all__ = [
    "ACCELERATION",
    "AGGREGATE",
    "ANGLE",
    "ANY",
    "BOOLEAN",
    "EVENT",
    "FORCE",
    "FRAME",
    "JOINTS",
    "LENGTH",
    "NOWHERE",
    "NUMBER",
    "ROTATION",
    "SPEED",
    "TEXT",
    "TIME",
    "TORQUE",
    "TURNING",
    "VECTOR",
    "Abort",
    "Aggregate",
    "Assign",
    "Attach",
    "Binary",
    "Block",
    "Call",
    "CallProcedure",
    "Case",
    "Comment",
    "Declare",
    "DefineMonitor",
    "Delay",
    "Detach",
    "Diagnostic",
    "Expression",
    "For",
    "ForceClause",
    "Gosub",
    "Goto",
    "Guard",
    "Here",
    "If",
    "Index",
    "Label",
    "Literal",
    "Locate",
    "Move",
    "MoveHand",
    "MoveJoints",
    "Name",
    "Operate",
    "Parallel",
    "Parameter",
    "Pause",
    "Place",
    "Position",
    "Print",
    "Procedure",
    "Program",
    "ProgramError",
    "Quantity",
    "Reading",
    "RelationClause",
    "Repeat",
    "Return",
    "SetBase",
    "SetConfiguration",
    "SetSpeed",
    "SetTool",
    "Signal",
    "SignalEvent",
    "Source",
    "Span",
    "Statement",
    "Stop",
    "TaskState",
    "Type",
    "Unary",
    "UnitName",
    "Unwatch",
    "Wait",
    "WaitEvent",
    "Watch",
    "While",
    "Wrt",
    "expressions_in",
    "rendered",
    "scalar",
    "statement_types",
    "statements_in",
    "vector",
]


def __dir__() -> list[str]:
    return __all__
