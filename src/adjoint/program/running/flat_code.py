"""Statements as a flat row of operations with jumps: the program counter of a machine is an index of this row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from ...errors import nearest
from ..instructions.diagnostics import Diagnostic, ProgramError
from ..instructions.expressions import Call, Expression, Name, Reading
from ..instructions.programs import Program, expressions_in, statements_in
from ..instructions.statements import (
    Block,
    CallProcedure,
    Case,
    Comment,
    Declare,
    For,
    Gosub,
    Goto,
    Guard,
    If,
    Label,
    Move,
    MoveHand,
    MoveJoints,
    Parallel,
    Procedure,
    Repeat,
    Return,
    Statement,
    Stop,
    Watch,
    While,
)  # fmt: skip

__all__: list[str] = []

NO_BODY = -1


class Operation(NamedTuple):
    """One step of a machine.

    `action` is "do" (what the statement says), "unless" (jump to `target` if the `expression` is false), "jump",
    "for" and "again" (the head and the foot of a loop), "case", "call", "gosub", "return", "fork", "end" (of a thread)
    or "resume" (the end of the body of a guard or a watch). `leaves` is the number of such bodies that a jump leaves.
    """

    action: str
    statement: Statement
    begins: bool = False
    """whether the statement begins with this operation: sessions stop here"""
    expression: Expression | None = None
    target: int = NO_BODY
    targets: tuple[int, ...] = ()
    name: str = ""
    leaves: int = 0
    arguments: tuple[Expression, ...] = ()
    felt: bool = False
    """whether conditions of this statement read forces"""
    around: Statement | None = None
    """the move in the body of whose guard this is: what reads no named arm means the arm of this move"""
    local: bool = False
    """whether this is in a procedure, whose own variables it then has"""


class ProcedureCode(NamedTuple):
    """A procedure: where it begins, its parameters, and the names that are its own."""

    entry: int
    parameters: tuple[str, ...]
    own: frozenset[str]


@dataclass(frozen=True, eq=False)
class FlatCode:
    """A program as operations; the main program begins with the first. `lines` has the source line of each, or 0."""

    program: Program
    operations: tuple[Operation, ...]
    procedures: Mapping[str, ProcedureCode]
    lines: tuple[int, ...]
    reads: frozenset[str]
    """kinds of readings that the program has anywhere"""


class _Place:
    """A place in the row that is not known yet."""

    __slots__ = ("at",)

    def __init__(self):
        self.at = NO_BODY


class _Labels(NamedTuple):
    """The labels of a body, those of the bodies around it, and the number of guards and watches around it."""

    own: dict[str, _Place]
    outer: _Labels | None
    depth: int
    guarded: bool = False

    def find(self, name: str) -> tuple[_Place, int] | None:
        scope: _Labels | None = self
        while scope is not None:
            if name in scope.own:
                return scope.own[name], scope.depth
            scope = scope.outer
        return None

    def names(self) -> list[str]:
        return [*self.own, *(self.outer.names() if self.outer else ())]


def flattened(program: Program) -> FlatCode:
    """The operations of a program. A `ProgramError` has all labels and procedures that are not there."""
    return _Flattening(program).code()


class _Flattening:
    """The work of `flattened`: operations so far, and the bodies that still have to be laid out."""

    def __init__(self, program: Program):
        self.program = program
        self.operations: list[dict[str, Any]] = []
        self.findings: list[Diagnostic] = []
        self.temporaries = 0
        every = list(statements_in(program))
        self.procedures = {s.name: s for s in every if isinstance(s, Procedure)}
        self.entries = {name: _Place() for name in self.procedures}
        self.later: list[tuple[_Place, tuple[Statement, ...], _Labels, Statement, str, Statement | None, bool]] = []
        self.around: Statement | None = None
        self.local = False

    def code(self) -> FlatCode:
        try:
            self._main()
        except RecursionError:
            raise ProgramError(Diagnostic("the statements are nested too deeply", code="limit"), None) from None
        if self.findings:
            raise ProgramError(self.findings, self.program.source)
        operations = tuple([Operation(**{k: _settled(x) for k, x in found.items()}) for found in self.operations])
        lines = tuple([self.program.line_of(op.statement.at) for op in operations])
        procedures = {
            name: ProcedureCode(self.entries[name].at, tuple(p.name for p in s.parameters), _own_names(s))
            for name, s in self.procedures.items()
        }
        reads = frozenset(x.kind for x in expressions_in(self.program) if isinstance(x, Reading))
        return FlatCode(self.program, operations, procedures, lines, reads)

    def _main(self) -> None:
        self.body(self.program.statements, None, 0)
        self.emit("end", Block(()))
        self.local = True
        for name, procedure in self.procedures.items():
            self.entries[name].at = len(self.operations)
            self.body(procedure.body, None, 0)
            self.emit("return", procedure)
        while self.later:
            place, body, outer, statement, end, self.around, self.local = self.later.pop(0)
            place.at = len(self.operations)
            inside = outer if end == "resume" else None  # threads do not jump into each other
            self.body(body, inside, outer.depth + 1 if end == "resume" else 0, guarded=end == "resume")
            self.emit(end, statement)

    def emit(self, action: str, statement: Statement, **rest) -> None:
        self.operations.append(
            {"action": action, "statement": statement, "around": self.around, "local": self.local, **rest}
        )

    def body(self, body: Iterable[Statement], outer: _Labels | None, depth: int, guarded: bool = False) -> None:
        body = tuple(body)
        labels = _Labels({}, outer, depth, guarded or (outer is not None and outer.guarded))
        for statement in body:
            if isinstance(statement, Label):
                if statement.name in labels.own:
                    self.findings.append(
                        Diagnostic(f"the label {statement.name} is here twice", statement.at, code="name")
                    )
                labels.own[statement.name] = _Place()
        for statement in body:
            self.statement(statement, labels)

    # --- one statement ------------------------------------------------------------------------------------------------

    def statement(self, s: Statement, labels: _Labels) -> None:
        match s:
            case Comment() | Procedure():
                return
            case Label():
                labels.own[s.name].at = len(self.operations)
            case Block():
                self.body(s.body, labels, labels.depth)
            case If():
                self._if(s, labels)
            case While():
                self._while(s, labels)
            case Repeat():
                start = len(self.operations)
                self.body(s.body, labels, labels.depth)
                self.emit("unless", s, expression=self.lifted(s.until, s), target=start)
            case For():
                self._for(s, labels)
            case Case():
                self._case(s, labels)
            case Goto():
                self._goto(s, labels)
            case Gosub():
                place = self._label(s.label, s, labels)
                self.emit("gosub", s, begins=True, target=place[0])
            case CallProcedure():
                self._call(s.name, tuple(self.lifted(a, s) for a in s.arguments), s, begins=True)
            case Return():
                value = None if s.value is None else self.lifted(s.value, s)
                self.emit("return", s, begins=True, expression=value)
            case Parallel():
                self.emit("fork", s, begins=True, targets=[self._later(b, labels, s, "end") for b in s.branches])
            case Stop() if labels.guarded:
                self.emit("brake", s, begins=True)
            case _:
                self._leaf(s, labels)

    def _if(self, s: If, labels: _Labels) -> None:
        otherwise, end = _Place(), _Place()
        condition = self.lifted(s.condition, s)
        self.emit("unless", s, begins=True, expression=condition, target=otherwise)
        self.body(s.then, labels, labels.depth)
        if s.otherwise:
            self.emit("jump", s, target=end)
        otherwise.at = len(self.operations)
        self.body(s.otherwise, labels, labels.depth)
        end.at = len(self.operations)

    def _while(self, s: While, labels: _Labels) -> None:
        start, end = len(self.operations), _Place()
        self.emit("unless", s, begins=True, expression=self.lifted(s.condition, s), target=end)
        self.body(s.body, labels, labels.depth)
        self.emit("jump", s, target=start)
        end.at = len(self.operations)

    def _for(self, s: For, labels: _Labels) -> None:
        bounds = [self.lifted(x, s) for x in (s.first, s.last, *(() if s.step is None else (s.step,)))]
        loop, end = self._temporary(), _Place()
        self.emit("for", s, begins=True, name=loop, arguments=bounds, target=end)
        start = len(self.operations)
        self.body(s.body, labels, labels.depth)
        self.emit("again", s, name=loop, target=start)
        end.at = len(self.operations)

    def _case(self, s: Case, labels: _Labels) -> None:
        places, end, otherwise = [_Place() for _ in s.branches], _Place(), _Place()
        selector = self.lifted(s.selector, s)
        self.emit("case", s, begins=True, expression=selector, targets=places, target=otherwise)
        for place, (_, body) in zip(places, s.branches, strict=True):
            place.at = len(self.operations)
            self.body(body, labels, labels.depth)
            self.emit("jump", s, target=end)
        otherwise.at = len(self.operations)
        self.body(s.otherwise, labels, labels.depth)
        end.at = len(self.operations)

    def _goto(self, s: Goto, labels: _Labels) -> None:
        place, depth = self._label(s.label, s, labels)
        self.emit("jump", s, begins=True, target=place, leaves=labels.depth - depth)

    def _label(self, name: str, s: Statement, labels: _Labels) -> tuple[_Place, int]:
        found = labels.find(name)
        if found is None:
            known = labels.names()
            hint = nearest(name, known) if known else "there is no label here"
            self.findings.append(Diagnostic(f"there is no label {name} to jump to", s.at, hint=hint, code="name"))
            return _Place(), labels.depth
        return found

    def _call(self, name: str, arguments, s: Statement, *, result: str = "", begins: bool = False) -> None:
        if name not in self.procedures:
            known = list(self.procedures)
            hint = nearest(name, known) if known else "the program has no procedures"
            self.findings.append(Diagnostic(f"there is no procedure {name}", s.at, hint=hint, code="name"))
            return
        needed = len(self.procedures[name].parameters)
        if needed != len(arguments):
            self.findings.append(
                Diagnostic(f"{name} has {needed} parameters, and {len(arguments)} values are given", s.at, code="type")
            )
        # The name of the procedure, and where its result goes: a temporary variable, if an expression calls it.
        self.emit(
            "call", s, begins=begins, name=f"{name} {result}", target=self.entries[name], arguments=tuple(arguments)
        )

    def _leaf(self, s: Statement, labels: _Labels) -> None:
        """A statement that the machine does as one; bodies of its guards are laid out later."""
        if isinstance(s, Move | MoveJoints):
            targets = [self._later(g.body, labels, s, "resume") for g in s.guards]
            felt = _feels(g.condition for g in s.guards) or (isinstance(s, MoveJoints) and bool(s.monitors))
            self.emit("do", self._lifted_statement(s), begins=True, targets=targets, felt=felt)
        elif isinstance(s, Watch):
            felt = _feels([s.condition])
            self.emit("do", s, begins=True, targets=[self._later(s.body, labels, s, "resume")], felt=felt)
        elif isinstance(s, MoveHand) and s.otherwise:
            place, depth = self._label(s.otherwise, s, labels)
            self.emit("do", self._lifted_statement(s), begins=True, target=place, leaves=labels.depth - depth)
        else:
            self.emit("do", self._lifted_statement(s), begins=True, felt=_feels([s]))

    def _later(self, body, labels: _Labels, s: Statement, end: str) -> _Place | int:
        place = _Place()
        around = self.around if end == "end" else s if isinstance(s, Move | MoveJoints) else None
        self.later.append((place, tuple(body), labels, s, end, around, self.local))
        return place

    # --- procedures in expressions ------------------------------------------------------------------------------------

    def _temporary(self) -> str:
        self.temporaries += 1
        return f"# {self.temporaries}"  # with a blank: VAL has names that begin with #

    def lifted(self, expression: Expression, s: Statement) -> Expression:
        """The expression with procedures that it calls replaced by variables, which they set before it is asked."""
        return self._lifted(expression, s) if self._calls(expression) else expression

    def _calls(self, thing: Expression | Statement) -> bool:
        """Whether an expression, or one of a statement, calls a procedure."""
        return bool(self.procedures) and any(
            isinstance(x, Call) and x.function in self.procedures for x in expressions_in(thing)
        )

    def _lifted(self, thing: Any, s: Statement) -> Any:
        if isinstance(thing, tuple):
            return tuple([self._lifted(x, s) for x in thing])
        if isinstance(thing, Guard) or not isinstance(thing, Expression):
            return thing
        changed = {f.name: self._lifted(getattr(thing, f.name), s) for f in fields(thing) if f.name != "at"}
        if isinstance(thing, Call) and thing.function in self.procedures:
            result = self._temporary()
            self._call(thing.function, changed["arguments"], s, result=result)
            return Name(result, at=thing.at)
        return replace(thing, **changed)

    def _lifted_statement(self, s: Statement) -> Statement:
        if not self._calls(s):
            return s
        changed = {}
        for f in fields(s):
            value = getattr(s, f.name)
            if f.name == "at" or not isinstance(value, Expression | tuple):
                continue
            found = self._lifted(value, s)
            if found != value:
                changed[f.name] = found
        return replace(s, **changed) if changed else s


def _settled(value: Any) -> Any:
    if isinstance(value, _Place):
        return value.at
    return tuple([_settled(x) for x in value]) if isinstance(value, list | tuple) else value


def _feels(things: Iterable[Any]) -> bool:
    found = (x for thing in things for x in expressions_in(thing))
    return any(isinstance(x, Reading) and x.kind in ("force", "torque") for x in found)


def _own_names(procedure: Procedure) -> frozenset[str]:
    declared = [n for s in statements_in(procedure.body) if isinstance(s, Declare) for n in s.names]
    return frozenset([*(p.name for p in procedure.parameters), *declared])
