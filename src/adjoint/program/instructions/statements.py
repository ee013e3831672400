"""The instruction set: what AL, VAL, AML, AUTOPASS, RAPT and the Python builder all say, as frozen data.

Two statements are equal if they say the same, wherever they were written. Fields that are expressions tell in
`statement_types` which type they need; a constant with a wrong unit is refused when the statement is made.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache

from ...errors import ArgumentError, nearest
from .expressions import Expression, Index, Name, Quantity
from .sources import NOWHERE, Span
from .value_types import (
    ANY,
    BOOLEAN,
    FORCE,
    FRAME,
    LENGTH,
    NUMBER,
    TIME,
    TORQUE,
    TURNING,
    Type,
    vector,
)  # fmt: skip

__all__ = [
    "Abort", "Assign", "Attach", "Block", "CallProcedure", "Case", "Comment", "Declare", "DefineMonitor", "Delay",
    "Detach", "For", "ForceClause", "Gosub", "Goto", "Guard", "If", "Label", "Locate", "Move", "MoveHand",
    "MoveJoints", "Operate", "Parallel", "Parameter", "Pause", "Place", "Print", "Procedure", "RelationClause",
    "Repeat", "Return", "SetBase", "SetConfiguration", "SetSpeed", "SetTool", "Signal", "SignalEvent", "Statement",
    "Stop", "TaskState", "Unwatch", "Wait", "WaitEvent", "Watch", "While", "statement_types",
]  # fmt: skip

CONFIGURATIONS = ("lefty", "righty", "above", "below", "flip", "noflip")
ATTACHMENTS = ("rigid", "nonrigid", "conditional")
PURPOSES = ("define", "check", "achieve")
_DIRECTION = vector()


def of(*types: Type) -> dict[str, tuple[Type, ...]]:
    """The metadata of a field with an expression of one of these types."""
    return {"types": types}


@cache
def statement_types(kind: type) -> dict[str, tuple[Type, ...]]:
    """{name of a field: types that its expression may have} of a class of statements or clauses."""
    return {f.name: f.metadata["types"] for f in fields(kind) if "types" in f.metadata}


@dataclass(frozen=True)
class _Checked:
    """Data whose quantities have the units that its fields need."""

    at: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)

    def __post_init__(self):
        for name, types in statement_types(type(self)).items():
            value = getattr(self, name)
            if isinstance(value, Quantity) and not any(t == ANY or t.dimension == value.dimension for t in types):
                raise ArgumentError(f"{type(self).__name__}: {name} cannot be {value.value:g} {value.unit}")


@dataclass(frozen=True)
class Statement(_Checked):
    """A statement; `at` is where it was written."""


Body = tuple[Statement, ...]


def _one_of(statement, name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ArgumentError(f"{type(statement).__name__}: {name} '{value}'; {nearest(value, choices)}")


# --- motion -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Guard(_Checked):
    """ON condition DO body: while an arm moves, the condition is asked at every tick; the first time that it holds,
    the arm brakes (if `stops`), and the body runs. AL's ON, AML's monitors, `until=` of the builder."""

    condition: Expression = field(metadata=of(BOOLEAN))
    body: Body = ()
    stops: bool = True


@dataclass(frozen=True)
class ForceClause(_Checked):
    """WITH FORCE(axis) = value: along this axis the arm exerts a force [N], or about it a torque [N m]; 0 complies."""

    axis: str
    value: Expression = field(metadata=of(FORCE, TORQUE))
    rotates: bool = False
    """whether it is a torque"""

    def __post_init__(self):
        super().__post_init__()
        _one_of(self, "axis", self.axis, ("x", "y", "z"))


@dataclass(frozen=True)
class Move(Statement):
    """An arm, or a frame that is attached to an arm, moves to a pose or to a configuration.

    - `mover` is an arm ("" is the only one), or a frame that the arm holds: AL's MOVE bolt_tip TO beam_bore.
    - `to` and `via` are frames, or configurations; via points are passed without a stop.
    - With `straight` the tool moves on straight lines (VAL's MOVES), else the joints do.
    - `approach` and `departure` are directions of travel (unit vectors, AL's WITH APPROACH = -Z WRT feeder) or offsets
      [m] along axes of the station: the last, or the first, piece of the motion is straight along it.
    - `duration` stretches the motion; `speed` is a fraction of the full speed (1 is full).
    - `forces`: along these axes of the `force_frame` (axes of the station by default) the arm is controlled in force.
    - `guards` are asked at every tick. With `avoiding` a motion plan goes around what is in the way.
    - `nonstop`: the next move begins without a stop at `to`.
    """

    mover: str
    to: Expression = field(metadata=of(FRAME, Type("joints")))
    via: tuple[Expression, ...] = ()
    straight: bool = False
    approach: Expression | None = field(default=None, metadata=of(_DIRECTION, vector(m=1)))
    departure: Expression | None = field(default=None, metadata=of(_DIRECTION, vector(m=1)))
    duration: Expression | None = field(default=None, metadata=of(TIME))
    speed: Expression | None = field(default=None, metadata=of(NUMBER))
    forces: tuple[ForceClause, ...] = ()
    force_frame: Expression | None = field(default=None, metadata=of(FRAME, Type("rotation")))
    guards: tuple[Guard, ...] = ()
    avoiding: bool = False
    nonstop: bool = False


@dataclass(frozen=True)
class MoveJoints(Statement):
    """Some joints move to values, or by values: AML's MOVE and DMOVE, VAL's DRIVE.

    `joints` are numbers from 1, as one number or an aggregate; `values` are as many. Plain numbers count in
    `length_unit` for joints that slide, and in `angle_unit` for joints that turn. `speed`, `acceleration` and
    `deceleration` are in the same units per second (and second²); `speed_fraction` is a part of the full speed.
    """

    joints: Expression
    values: Expression
    relative: bool = False
    arm: str = ""
    length_unit: str = "m"
    angle_unit: str = "rad"
    speed: Expression | None = None
    acceleration: Expression | None = None
    deceleration: Expression | None = None
    speed_fraction: Expression | None = field(default=None, metadata=of(NUMBER))
    monitors: tuple[Expression, ...] = ()
    guards: tuple[Guard, ...] = ()


@dataclass(frozen=True)
class MoveHand(Statement):
    """The fingers of a hand open or close to a width; None is as far as they go.

    `hand` is the name of a hand (AL's bhand) or of an arm, "" is the only one. Fingers that meet a part stop there, and
    the hand then holds the part; fingers that open let go of it. `wait`: the next statement waits until they rest.
    `grasp` (VAL's GRASP): at least `width` must be left, or the program jumps to `otherwise` (a label), or aborts.
    With `either_way` (AML's MOVE(GRIPPER, 2.5)) the fingers open or close, whichever leads to `width`, and `opens` says
    nothing. `monitors` stop the fingers, as those of `MoveJoints` stop the arm.
    """

    hand: str
    opens: bool
    width: Expression | None = field(default=None, metadata=of(LENGTH))
    wait: bool = True
    grasp: bool = False
    otherwise: str = ""
    either_way: bool = False
    monitors: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class SetSpeed(Statement):
    """The fraction of the full speed of the next move, or of all further moves if it is `permanent`."""

    fraction: Expression = field(metadata=of(NUMBER))
    permanent: bool = False
    arm: str = ""


@dataclass(frozen=True)
class SetConfiguration(Statement):
    """How the arm shall be from the next move on: "lefty", "righty", "above", "below", "flip", "noflip" (VAL)."""

    flag: str
    arm: str = ""

    def __post_init__(self):
        super().__post_init__()
        _one_of(self, "flag", self.flag, CONFIGURATIONS)


@dataclass(frozen=True)
class SetTool(Statement):
    """Frames that moves name are poses of this frame, as seen from the arm's flange; None is the arm's own (VAL)."""

    tool: Expression | None = field(default=None, metadata=of(FRAME))
    arm: str = ""


@dataclass(frozen=True)
class SetBase(Statement):
    """Poses are seen from this frame, given in the station, instead of from the station itself; None undoes it."""

    base: Expression | None = field(default=None, metadata=of(FRAME))
    arm: str = ""


# --- the world and its sensors ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attach(Statement):
    """AL's AFFIX child TO parent: "rigid" (writing either moves both), "nonrigid", or "conditional" (by gravity).

    `parent` is a frame, a part, or an arm, which then holds the child. `pose` sets where the child is in the parent.
    """

    child: str
    parent: str
    attachment: str = "nonrigid"
    pose: Expression | None = field(default=None, metadata=of(FRAME))

    def __post_init__(self):
        super().__post_init__()
        _one_of(self, "attachment", self.attachment, ATTACHMENTS)


@dataclass(frozen=True)
class Detach(Statement):
    """AL's UNFIX child FROM parent. Nothing moves."""

    child: str
    parent: str = ""


@dataclass(frozen=True)
class Locate(Statement):
    """A camera looks for a part, and the world then has the part where it was seen; `found` is a truth value."""

    part: str
    camera: str
    found: str = ""


@dataclass(frozen=True)
class DefineMonitor(Statement):
    """AML's name = MONITOR(sensors, test, low, high): it triggers where a reading leaves [low, high]."""

    name: str
    sensors: Expression
    test: Expression
    low: Expression
    high: Expression


@dataclass(frozen=True)
class Signal(Statement):
    """An output line goes on or off (VAL's SIGNAL 1, SIGNAL -1)."""

    line: Expression = field(metadata=of(NUMBER))
    on: bool = True


@dataclass(frozen=True)
class Wait(Statement):
    """The program waits until a condition holds, such as an input line (VAL's WAIT)."""

    condition: Expression = field(metadata=of(BOOLEAN))


@dataclass(frozen=True)
class Delay(Statement):
    """The program waits for some time."""

    duration: Expression = field(metadata=of(TIME))


@dataclass(frozen=True)
class SignalEvent(Statement):
    """A semaphore counts up; one thread that waits for it goes on."""

    event: str


@dataclass(frozen=True)
class WaitEvent(Statement):
    """The thread waits until a semaphore is above 0, and counts it down."""

    event: str


@dataclass(frozen=True)
class Watch(Statement):
    """A monitor in the background: when the condition becomes true, the body runs before the program goes on.

    With `interrupts` motions brake at once (VAL's REACTI), else the move under way is finished first (REACT). It is
    `once` only, or again whenever the condition becomes true after it was false.
    """

    name: str
    condition: Expression = field(metadata=of(BOOLEAN))
    body: Body = ()
    interrupts: bool = False
    once: bool = True


@dataclass(frozen=True)
class Unwatch(Statement):
    """The monitor of this name ends (VAL's IGNORE)."""

    name: str


# --- flow of control --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Declare(Statement):
    """Variables of a type; `sizes` has the first and last index of arrays, or None."""

    type: Type
    names: tuple[str, ...]
    bounds: tuple[Expression, Expression] | None = None


@dataclass(frozen=True)
class Assign(Statement):
    """A variable, or an element of one, gets a value. A frame of the world moves, with what is attached to it."""

    target: Name | Index
    value: Expression


@dataclass(frozen=True)
class Block(Statement):
    """Statements between BEGIN and END that are one statement."""

    body: Body
    name: str = ""
    """AL's BEGIN name ... END name; may be empty"""


@dataclass(frozen=True)
class If(Statement):
    """IF condition THEN ... ELSE ..."""

    condition: Expression = field(metadata=of(BOOLEAN))
    then: Body = ()
    otherwise: Body = ()


@dataclass(frozen=True)
class While(Statement):
    """WHILE condition DO ..."""

    condition: Expression = field(metadata=of(BOOLEAN))
    body: Body = ()


@dataclass(frozen=True)
class Repeat(Statement):
    """DO ... UNTIL condition; the body runs at least once."""

    body: Body
    until: Expression = field(metadata=of(BOOLEAN))


@dataclass(frozen=True)
class For(Statement):
    """FOR variable from `first` by `step` to `last` (with it) DO ..."""

    variable: str
    first: Expression
    last: Expression
    step: Expression | None
    body: Body


@dataclass(frozen=True)
class Case(Statement):
    """CASE selector OF: the body whose values have the selector's runs; else `otherwise`."""

    selector: Expression
    branches: tuple[tuple[tuple[Expression, ...], Body], ...]
    otherwise: Body = ()


@dataclass(frozen=True)
class Parameter(_Checked):
    """A parameter of a procedure; it is handed over by value."""

    name: str
    type: Type = ANY


@dataclass(frozen=True)
class Procedure(Statement):
    """A procedure; its parameters and its own declarations are local, all else is the program's."""

    name: str
    parameters: tuple[Parameter, ...]
    body: Body
    result: Type | None = None


@dataclass(frozen=True)
class CallProcedure(Statement):
    """A procedure runs."""

    name: str
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class Return(Statement):
    """A procedure, or a subroutine that Gosub called, ends."""

    value: Expression | None = None


@dataclass(frozen=True)
class Label(Statement):
    """A place to jump to."""

    name: str


@dataclass(frozen=True)
class Goto(Statement):
    """The program goes on at a label of the same body."""

    label: str


@dataclass(frozen=True)
class Gosub(Statement):
    """A subroutine at a label of the same body runs up to its Return."""

    label: str


@dataclass(frozen=True)
class Parallel(Statement):
    """COBEGIN ... COEND: every branch is a thread; the program goes on when all have ended."""

    branches: tuple[Body, ...]


@dataclass(frozen=True)
class Abort(Statement):
    """Everything stops, with a message: the program has failed."""

    message: Expression


@dataclass(frozen=True)
class Stop(Statement):
    """The program ends; in the body of a guard of AL: the motion stops."""


@dataclass(frozen=True)
class Pause(Statement):
    """The program stops, and a session can let it go on (VAL's PAUSE)."""

    message: str = ""


@dataclass(frozen=True)
class Print(Statement):
    """Values are shown to the user."""

    values: tuple[Expression, ...]


@dataclass(frozen=True)
class Comment(Statement):
    """A comment on a line of its own, which printers keep."""

    text: str


# --- tasks ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RelationClause(_Checked):
    """A relation between two features, such as Block2-face3 AGAINST Block3-face1; names are places of the world."""

    relation: str
    """"against", "fits", "coplanar", "aligned", "parallel", ...: a function of `world.relations`"""
    first: str
    second: str
    value: Expression | None = None


@dataclass(frozen=True)
class Place(Statement):
    """A part is picked, and placed so that relations hold: RAPT's PLACE ... SO THAT, AUTOPASS's PLACE ... ON|IN ...

    `where` is "on" or "in" with `support`, or "" . `grasp` names a feature to hold it by. With `hold` the hand then
    stays on the part. `constraint` holds during the motion, `final` ends it.
    """

    part: str
    where: str = ""
    support: str = ""
    relations: tuple[RelationClause, ...] = ()
    grasp: str = ""
    constraint: Expression | None = field(default=None, metadata=of(BOOLEAN))
    final: Expression | None = field(default=None, metadata=of(BOOLEAN))
    hold: bool = False
    arm: str = ""


@dataclass(frozen=True)
class Operate(Statement):
    """A tool works at a place until a condition holds: AUTOPASS's OPERATE, and DRIVE IN part AT place USING tool.

    `action` is "operate" or "drive in"; `loads` are accessories; `final` such as TORQUE EQ 12 IN-LBS ends the work.
    """

    tool: str
    action: str = "operate"
    part: str = ""
    loads: tuple[str, ...] = ()
    place: str = ""
    attachment: str = ""
    final: Expression | None = field(default=None, metadata=of(BOOLEAN))
    turning: str = ""
    """"clockwise" or "counterclockwise", or "" """
    speed: Expression | None = field(default=None, metadata=of(TURNING))
    hold: bool = False
    arm: str = ""


@dataclass(frozen=True)
class TaskState(Statement):
    """A state of the world, as a list of relations: RAPT's STATE A: (Block1-face1 AGAINST Table) ... (Table 9.9).

    `purpose` is "define" (nothing happens), "check" (the program fails if a relation does not hold now) or "achieve"
    (parts are picked and placed until all relations hold). `relations` are all that the state has in each case.
    """

    name: str
    relations: tuple[RelationClause, ...] = ()
    purpose: str = "define"
    arm: str = ""

    def __post_init__(self):
        super().__post_init__()
        _one_of(self, "purpose", self.purpose, PURPOSES)
