"""Flow of control of programs that are made in Python: branches, loops, threads, procedures and monitors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

from ...errors import ArgumentError
from ..instructions.expressions import Expression, Name
from ..instructions.programs import Program
from ..instructions.sources import NOWHERE
from ..instructions.statements import (
    Abort,
    CallProcedure,
    Case,
    For,
    Goto,
    Guard,
    If,
    Label,
    Move,
    MoveJoints,
    Parallel,
    Parameter,
    Pause,
    Procedure,
    Repeat,
    Return,
    Statement,
    Stop,
    Unwatch,
    Watch,
    While,
)  # fmt: skip
from ..instructions.value_types import BOOLEAN, NUMBER, TEXT, Type
from ..meaning.operator_types import ZERO
from .formulas import Formula, fitted, formula
from .python_lines import PythonLines, placed

__all__ = ["ParallelBuilder", "SelectBuilder"]

Body = tuple[Statement, ...]


class ParallelBuilder:
    """Threads of a program: each `with both.branch():` is one."""

    def __init__(self, task: FlowBuilder):
        self._task, self._branches = task, []

    def branch(self) -> AbstractContextManager[None]:
        """The statements of one thread."""
        return self._task.block(self._branches.append)


class SelectBuilder:
    """Branches of a selection: `with case.of(1, 2):` and `with case.otherwise():`."""

    def __init__(self, task: FlowBuilder, type: Type):
        self._task, self._type = task, type
        self._branches: list[tuple[tuple[Expression, ...], Body]] = []
        self._otherwise: Body = ()

    def of(self, *values) -> AbstractContextManager[None]:
        """The statements that run if the selector has one of these values."""
        expressions = tuple(fitted(v, (self._type,), "of", "values") for v in values)
        return self._task.block(lambda body: self._branches.append((expressions, body)))

    def otherwise(self) -> AbstractContextManager[None]:
        """The statements that run if no branch has the selector's value."""

        def keep(body: Body) -> None:
            self._otherwise = body

        return self._task.block(keep)


class FlowBuilder:
    """Statements of a program under construction, and its flow of control."""

    def __init__(self, name: str, lines: PythonLines):
        self.name, self._lines = name, lines
        self._bodies: list[list[Statement]] = [[]]
        self.variables: dict[str, Type] = {}

    def program(self) -> Program:
        """The program that the statements so far make; frozen."""
        if len(self._bodies) > 1:
            raise ArgumentError("program: a `with` block of the task is still open")
        return Program(tuple(self._bodies[0]), self.name, "python", self._lines.source())

    def add(self, statement: Statement) -> Statement:
        """Append a statement of the instruction set, at the line of Python that runs now, and return it."""
        if not isinstance(statement, Statement):
            raise ArgumentError(f"add: a statement is needed, got {type(statement).__name__}")
        if statement.at == NOWHERE:
            statement = _stamped(statement, self._lines)
        self._bodies[-1].append(statement)
        return statement

    @contextmanager
    def block(self, done: Callable[[Body], Any]) -> Iterator[None]:
        """Statements that are made inside become a body, which `done` gets; for other builders."""
        self._bodies.append([])
        try:
            yield
        except BaseException:
            self._bodies.pop()
            raise
        done(tuple(self._bodies.pop()))

    def guarded(self, move: Statement, guard: Guard) -> Statement:
        """The last statement, a move, with one more guard."""
        body = self._bodies[-1]
        if not body or body[-1] is not move or not isinstance(move, Move | MoveJoints):
            raise ArgumentError("on: the move must be the last statement")
        condition = placed(guard.condition, move.at)
        body[-1] = replace(move, guards=(*move.guards, replace(guard, condition=condition, at=move.at)))
        return body[-1]

    # --- flow of control ----------------------------------------------------------------------------------------------

    def when(self, condition) -> AbstractContextManager[None]:
        """IF condition THEN: the block runs if the condition holds."""
        test = fitted(condition, (BOOLEAN,), "when", "condition")
        return self.block(lambda body: self.add(If(test, body)))

    def otherwise(self) -> AbstractContextManager[None]:
        """ELSE: the block runs if the condition of the `when` before it does not hold."""
        at = self._last_if("otherwise")
        return self.block(lambda body: self._set_otherwise(at, body))

    def otherwise_when(self, condition) -> AbstractContextManager[None]:
        """ELSE IF: the block runs if the condition holds, and none of the `when` before it does."""
        test, at = fitted(condition, (BOOLEAN,), "otherwise_when", "condition"), self._last_if("otherwise_when")
        span = self._lines.here()
        return self.block(lambda body: self._set_otherwise(at, (If(placed(test, span), body, at=span),)))

    def _last_if(self, caller: str) -> int:
        body = self._bodies[-1]
        if not body or not isinstance(body[-1], If):
            raise ArgumentError(f"{caller}: there is no `when` right before it")
        last = _innermost(body[-1])
        if last.otherwise:
            raise ArgumentError(f"{caller}: the `when` before it has its otherwise already")
        return len(body) - 1

    def _set_otherwise(self, at: int, otherwise: Body) -> None:
        statement = self._bodies[-1][at]
        assert isinstance(statement, If)
        self._bodies[-1][at] = _with_otherwise(statement, otherwise)

    def repeat(self, *, until) -> AbstractContextManager[None]:
        """DO ... UNTIL condition: the block runs at least once."""
        test = fitted(until, (BOOLEAN,), "repeat", "until")
        return self.block(lambda body: self.add(Repeat(body, test)))

    def loop_while(self, condition) -> AbstractContextManager[None]:
        """WHILE condition DO ..."""
        test = fitted(condition, (BOOLEAN,), "loop_while", "condition")
        return self.block(lambda body: self.add(While(test, body)))

    @contextmanager
    def count(self, name: str, first, last, *, step=None) -> Iterator[Formula]:
        """FOR name from `first` to `last` (with it) by `step`: the block gets the variable as a formula."""
        begin = formula(first)
        kind = NUMBER if begin.type is ZERO else begin.type
        end = fitted(last, (kind,), "count", "last")
        by = None if step is None else fitted(step, (kind,), "count", "step")
        self.variables[name] = kind
        with self.block(lambda body: self.add(For(name, begin.expression, end, by, body))):
            yield Formula(Name(name), kind)

    @contextmanager
    def select(self, selector) -> Iterator[SelectBuilder]:
        """CASE selector OF: `with task.select(n) as case:`, and inside `with case.of(1, 2):` for each branch."""
        chosen = formula(selector)
        case = SelectBuilder(self, chosen.type)
        with self._only_blocks("select"):
            yield case
        self.add(Case(chosen.expression, tuple(case._branches), case._otherwise))

    @contextmanager
    def parallel(self) -> Iterator[ParallelBuilder]:
        """COBEGIN ... COEND: `with task.parallel() as both:`, and inside one `with both.branch():` for each thread."""
        both = ParallelBuilder(self)
        with self._only_blocks("parallel"):
            yield both
        self.add(Parallel(tuple(both._branches)))

    def _only_blocks(self, caller: str) -> AbstractContextManager[None]:
        def none(body: Body) -> None:
            if body:
                raise ArgumentError(f"{caller}: statements stand inside its branches, not between them")

        return self.block(none)

    @contextmanager
    def procedure(self, name: str, *, result: Type | None = None, **parameters: Type) -> Iterator[tuple[Formula, ...]]:
        """A procedure; `with task.procedure("bring", part=FRAME) as (part,):` gives its parameters as formulas."""
        hidden = {p: self.variables.get(p) for p in parameters}
        self.variables.update(parameters)
        own = tuple(Parameter(p, type) for p, type in parameters.items())
        with self.block(lambda body: self.add(Procedure(name, own, body, result))):
            yield tuple(Formula(Name(p), type) for p, type in parameters.items())
        for parameter, before in hidden.items():
            if before is None:
                self.variables.pop(parameter, None)
            else:
                self.variables[parameter] = before

    def call(self, name: str, *arguments) -> None:
        """A procedure runs."""
        self.add(CallProcedure(name, tuple(formula(a).expression for a in arguments)))

    def give_back(self, value=None) -> None:
        """A procedure ends, with a value: RETURN."""
        self.add(Return(None if value is None else formula(value).expression))

    def watch(
        self, name: str, condition, *, interrupts: bool = False, once: bool = True
    ) -> AbstractContextManager[None]:
        """A monitor in the background: when the condition becomes true, the block runs before the program goes on."""
        test = fitted(condition, (BOOLEAN,), "watch", "condition")
        return self.block(lambda body: self.add(Watch(name, test, body, interrupts, once)))

    def unwatch(self, name: str) -> None:
        """The monitor of this name ends."""
        self.add(Unwatch(name))

    def label(self, name: str) -> None:
        """A place to jump to."""
        self.add(Label(name))

    def goto(self, label: str) -> None:
        """The program goes on at a label of the same body."""
        self.add(Goto(label))

    def abort(self, message) -> None:
        """Everything stops, with a message: the program has failed."""
        self.add(Abort(fitted(message, (TEXT,), "abort", "message")))

    def stop(self) -> None:
        """The program ends."""
        self.add(Stop())

    def pause(self, message: str = "") -> None:
        """The program stops, and a session can let it go on."""
        self.add(Pause(message))


def _innermost(statement: If) -> If:
    """The last IF of a chain of ELSE IF."""
    while len(statement.otherwise) == 1 and isinstance(statement.otherwise[0], If):
        statement = statement.otherwise[0]
    return statement


def _with_otherwise(statement: If, otherwise: Body) -> If:
    if len(statement.otherwise) == 1 and isinstance(statement.otherwise[0], If):
        return replace(statement, otherwise=(_with_otherwise(statement.otherwise[0], otherwise),))
    return replace(statement, otherwise=otherwise)


def _stamped(statement: Statement, lines: PythonLines) -> Statement:
    """The statement at the line of Python that runs now, with its expressions and clauses."""
    span = lines.here()
    if span == NOWHERE:
        return statement
    changes: dict[str, Any] = {"at": span}
    for name, value in vars(statement).items():
        if isinstance(value, Expression):
            changes[name] = placed(value, span)
        elif type(value) is tuple and value and not isinstance(value[0], Statement):
            changes[name] = tuple(_placed_clause(item, span) for item in value)
    return replace(statement, **changes)


def _placed_clause(item: Any, span) -> Any:
    if isinstance(item, Expression):
        return placed(item, span)
    if type(item) is tuple:
        return tuple(_placed_clause(x, span) for x in item)
    if isinstance(item, Statement):
        return item
    inside = {n: placed(v, span) for n, v in getattr(item, "__dict__", {}).items() if isinstance(v, Expression)}
    return replace(item, **inside, at=span) if inside else item
