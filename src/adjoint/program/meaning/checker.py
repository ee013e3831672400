"""`check`: types and units, names, labels and procedures of a whole program, before anything moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

from ...world.state import World
from ..instructions.diagnostics import Diagnostic
from ..instructions.expressions import Expression
from ..instructions.programs import Program
from ..instructions.sources import Span
from ..instructions.statements import (
    Abort,
    Assign,
    Attach,
    Body,
    CallProcedure,
    Case,
    Declare,
    DefineMonitor,
    Detach,
    For,
    ForceClause,
    Gosub,
    Goto,
    Guard,
    If,
    Label,
    Locate,
    Move,
    MoveHand,
    Parameter,
    Procedure,
    RelationClause,
    Repeat,
    Return,
    SignalEvent,
    Statement,
    Stop,
    Unwatch,
    WaitEvent,
    Watch,
    While,
    statement_types,
)  # fmt: skip
from ..instructions.value_types import ANY, BOOLEAN, FORCE, FRAME, JOINTS, LENGTH, TEXT, TORQUE, Type
from .operator_types import ZERO, fits, in_words, unit_hint
from .variable_checks import VariableChecker

__all__ = ["check"]

_ENDS = (Goto, Stop, Abort, Return)
_WORDS = {"Move": "a move", "MoveHand": "a hand", "MoveJoints": "a move", "Guard": "ON", "If": "IF", "While": "WHILE",
          "Repeat": "a loop", "Wait": "WAIT", "Delay": "a delay", "Watch": "ON", "SetSpeed": "SPEED"}  # fmt: skip


def check(
    program: Program, world: World | None = None, *, arms: Mapping[str, str] | None = None
) -> tuple[Diagnostic, ...]:
    """What is wrong in a program, or doubtful, in the order of its text; empty if nothing is.

        >>> from adjoint.program.instructions import Assign, Call, Literal, Name, Program
        >>> turn = Call("ROT", (Name("Z"), Literal(90.0)))
        >>> check(Program((Assign(Name("r"), turn),)))[0].hint
        'write 90*deg'

    Types and units of all expressions are inferred in the order of the text: a variable has the type and the unit of
    its first value, and keeps them; 0 fits any unit. Functions, procedures, labels and events are looked up, and
    statements that nothing reaches are found. With a `world`, names must be frames, parts, arms and sensors of it;
    `arms` {name in the program: robot} tells which robots are meant. A program with an "error" does not run.
    """
    checker = _Checker(program, world, arms)
    try:
        checker.body(program.statements)
        checker.finish()
    except RecursionError:
        checker.report("this program is nested too deep to be checked", Span(-1, -1), code="size")
    return tuple(sorted(checker.found, key=lambda d: d.span.start))


@cache
def _plan(kind: type) -> tuple[tuple[str, tuple[Type, ...] | None, str], ...]:
    """(field, types that it needs, what it is in words) of the fields of a class that may have something inside."""
    types = statement_types(kind)
    where = _WORDS.get(kind.__name__, kind.__name__)
    plain = ("at", "type", "name", "names", "straight", "opens", "wait", "axis", "rotates", "stops", "avoiding",
             "nonstop", "grasp", "label", "otherwise" if kind is MoveHand else "at")  # fmt: skip
    names = [f.name for f in fields(kind) if f.name not in plain]
    return tuple((name, types.get(name), f"the {name.replace('_', ' ')} of {where}") for name in names)


class _Checker(VariableChecker):
    """Walks over statements in the order of the text."""

    def __init__(self, program: Program, world: World | None, arms: Mapping[str, str] | None):
        super().__init__(program.source, world, dict(arms or {}), program.line_of)
        self.procedures = {s.name: s for s in program.statements if type(s) is Procedure}
        self.defined: set[str] = set()
        self.results: list[Type | None] = []
        self.statements: dict[type, Callable[[Any], None]] = {
            Assign: self.assign_rule, Declare: self.declare_rule, For: self.for_rule, Case: self._case,
            Procedure: self._procedure,
            CallProcedure: self._call_procedure, Return: self._return, Move: self._move, MoveHand: self._hand,
            ForceClause: self._force, Attach: self._attach, Detach: self._detach, Locate: self._locate,
            DefineMonitor: self._monitor, SignalEvent: self._signal, WaitEvent: self._wait, Watch: self._watch,
            Unwatch: self._unwatch, Goto: self._jump, Gosub: self._jump, If: self._if, While: self._while,
            Repeat: self._repeat, Abort: self._abort, RelationClause: self._relation,
        }  # fmt: skip

    # --- bodies -------------------------------------------------------------------------------------------------------

    def body(self, statements: Body) -> None:
        """Check statements; those behind a jump that no label leads to are found."""
        ended: Statement | None = None
        for statement in statements:
            kind = type(statement)
            if ended is not None and kind.__name__ not in ("Comment", "Procedure"):
                if kind is not Label:
                    name = type(ended).__name__.upper()
                    text = f"nothing reaches this statement, which stands behind {name}"
                    self.report(text, statement.at, "put a label before it, or leave it out", "flow", "warning")
                ended = None
            rule = self.statements.get(kind)
            if rule is not None:
                rule(statement)
            elif kind is Label:
                self._label(statement)  # type: ignore[arg-type]
            else:
                self.inside(statement)
            if kind in _ENDS:
                ended = statement

    def inside(self, statement: Any) -> None:
        """Check the fields of a statement or a clause by the types that they need."""
        around = self.about_arm
        self.about_arm = around or hasattr(statement, "arm")
        for name, types, what in _plan(type(statement)):
            value = getattr(statement, name)
            if value is None or value is False or value is True or value == ():
                continue
            if name == "arm":
                self.arms.append((value, statement.at, "arm"))
            elif isinstance(value, Expression):
                if types is None:
                    self.rules[type(value)](value)
                else:
                    self.needs(what, value, types)
            elif value.__class__ is tuple:
                self._several(value)
        self.about_arm = around

    def _several(self, values: tuple) -> None:
        if isinstance(values[0], Statement):
            self.body(values)
            return
        for value in values:
            if isinstance(value, Expression):
                self.rules[type(value)](value)
            elif value.__class__ is tuple and value:
                self._several(value)
            elif hasattr(value, "__dataclass_fields__"):
                rule = self.statements.get(type(value))
                if rule is not None:
                    rule(value)
                elif not isinstance(value, Parameter):
                    self.inside(value)

    # --- flow of control ----------------------------------------------------------------------------------------------

    def _if(self, s: If) -> None:
        self.needs("the condition of IF", s.condition, (BOOLEAN,))
        self.body(s.then)
        self.body(s.otherwise)

    def _while(self, s: While) -> None:
        self.needs("the condition of WHILE", s.condition, (BOOLEAN,))
        self.body(s.body)

    def _repeat(self, s: Repeat) -> None:
        self.body(s.body)
        self.needs("the condition of UNTIL", s.until, (BOOLEAN,))

    def _case(self, s: Case) -> None:
        selector = self.type_of(s.selector)
        for values, body in s.branches:
            for value in values:
                found = self.type_of(value)
                if not fits(found, selector) and selector is not ZERO:
                    text = f"CASE selects by {in_words(selector)}, and {self.shown(value)} is {in_words(found)}"
                    self.report(text, value.at, unit_hint(value, found, selector))
            self.body(body)
        self.body(s.otherwise)

    def _procedure(self, s: Procedure) -> None:
        """Parameters and declarations of a procedure are its own; its labels, too."""
        before, labels, jumps = dict(self.variables), self.labels, self.jumps
        own = {p.name for p in s.parameters} | {n for x in s.body if type(x) is Declare for n in x.names}
        self.procedures.setdefault(s.name, s)
        if s.name in self.defined:
            self.report(f"the procedure '{s.name}' stands twice", s.at, code="name")
        self.defined.add(s.name)
        self.variables.update({p.name: p.type for p in s.parameters})
        self.labels, self.jumps = set(), []
        self.results.append(s.result)
        around, self.about_arm = self.about_arm, False
        self.body(s.body)
        self.about_arm = around
        self.results.pop()
        self.check_jumps()
        self.labels, self.jumps = labels, jumps
        for name in own:
            self.variables.pop(name, None)
        self.variables.update({name: before[name] for name in own if name in before})

    def _return(self, s: Return) -> None:
        if s.value is None:
            return
        needed = self.results[-1] if self.results else None
        if self.results and needed is None:
            self.report("this procedure returns no value", s.value.at, "give it a type: SCALAR PROCEDURE ...")
        if needed is None:
            self.type_of(s.value)
        else:
            self.needs("the value of RETURN", s.value, (needed,))

    def _call_procedure(self, s: CallProcedure) -> None:
        procedure = self.procedures.get(s.name)
        if procedure is not None:
            self.arguments(procedure, s.arguments, s.at)
            return
        self.calls.append(s)
        for argument in s.arguments:
            self.type_of(argument)

    def _label(self, s: Label) -> None:
        if s.name in self.labels:
            self.report(f"the label '{s.name}' stands twice", s.at, code="name")
        self.labels.add(s.name)

    def _jump(self, s: Goto | Gosub) -> None:
        self.jumps.append((s.label, s.at))

    def _abort(self, s: Abort) -> None:
        self.needs("the message of ABORT", s.message, (TEXT,))

    # --- motion and the world -----------------------------------------------------------------------------------------

    def _move(self, s: Move) -> None:
        self.movers.append((s.mover, s.at))
        around, self.about_arm = self.about_arm, True  # ⊗ and FORCE(Z) mean the arm that moves
        self.needs("the goal of a move", s.to, (FRAME, JOINTS))
        for point in s.via:
            self.needs("a via point", point, (FRAME, JOINTS))
        for name, types, what in _MOVE_CLAUSES:
            value = getattr(s, name)
            if value is not None:
                self.needs(what, value, types)
        for clause in s.forces:
            self._force(clause)
        for guard in s.guards:
            self._guard(guard)
        self.about_arm = around

    def _guard(self, s: Guard) -> None:
        self.needs("the condition of ON", s.condition, (BOOLEAN,))
        self.body(s.body)

    def _force(self, s: ForceClause) -> None:
        word, needed = ("TORQUE", TORQUE) if s.rotates else ("FORCE", FORCE)
        self.needs(f"{word}({s.axis.upper()})", s.value, (needed,))

    def _hand(self, s: MoveHand) -> None:
        self.hands.add(s.hand)
        self.arms.append((s.hand, s.at, "hand"))
        around, self.about_arm = self.about_arm, True
        if s.width is not None:
            self.needs("the width of a hand", s.width, (LENGTH,))
        self.about_arm = around
        if s.otherwise:
            self.jumps.append((s.otherwise, s.at))
        for monitor in s.monitors:
            self.type_of(monitor)

    def _attach(self, s: Attach) -> None:
        self.attached.add(s.child)
        self.frames.append((s.child, s.at, "frame"))
        self.frames.append((s.parent, s.at, "frame or arm"))
        if s.pose is not None:
            self.needs("the pose of AFFIX", s.pose, (FRAME,))

    def _detach(self, s: Detach) -> None:
        self.frames.append((s.child, s.at, "frame"))
        if s.parent:
            self.frames.append((s.parent, s.at, "frame or arm"))

    def _locate(self, s: Locate) -> None:
        if s.found:
            self.variables.setdefault(s.found, BOOLEAN)
        self.sensors.append((s.camera, s.at))
        self.frames.append((s.part, s.at, "part"))

    def _monitor(self, s: DefineMonitor) -> None:
        known = len(self.unknown)
        self.type_of(s.sensors)
        self.sensors.extend(self.unknown[known:])  # names that are no variables are sensors here
        del self.unknown[known:]
        for value in (s.test, s.low, s.high):
            self.type_of(value)
        self.variables[s.name] = ANY

    def _relation(self, s: RelationClause) -> None:
        for name in (s.first, s.second):
            self.frames.append((name, s.at, "place"))
        if s.value is not None:
            self.type_of(s.value)

    def _signal(self, s: SignalEvent) -> None:
        self.signalled.add(s.event)

    def _wait(self, s: WaitEvent) -> None:
        self.waited.setdefault(s.event, s.at)

    def _watch(self, s: Watch) -> None:
        self.watches.add(s.name)
        around, self.about_arm = self.about_arm, False  # it runs whatever moves
        self.needs("the condition of ON", s.condition, (BOOLEAN,))
        self.body(s.body)
        self.about_arm = around

    def _unwatch(self, s: Unwatch) -> None:
        self.unwatched.append((s.name, s.at))


_MOVE_CLAUSES = tuple(
    (name, statement_types(Move)[name], what)
    for name, what in (
        ("approach", "APPROACH"),
        ("departure", "DEPARTURE"),
        ("duration", "DURATION"),
        ("speed", "the speed of a move"),
        ("force_frame", "FORCE_FRAME"),
    )
)
