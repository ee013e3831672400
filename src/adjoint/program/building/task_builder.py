"""`task`: a robot program that is made in Python, statement by statement, and reads like the languages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from ...errors import ArgumentError
from ..instructions.expressions import Expression, Name, Reading
from ..instructions.programs import Program
from ..instructions.sources import NOWHERE
from ..instructions.statements import (
    Abort,
    Assign,
    Attach,
    CallProcedure,
    Case,
    Comment,
    Delay,
    Detach,
    For,
    Goto,
    Guard,
    If,
    Label,
    Locate,
    Move,
    MoveJoints,
    Parallel,
    Parameter,
    Pause,
    Place,
    Print,
    Procedure,
    RelationClause,
    Repeat,
    Return,
    Signal,
    SignalEvent,
    Statement,
    Stop,
    Unwatch,
    Wait,
    WaitEvent,
    Watch,
    While,
)  # fmt: skip
from ..instructions.value_types import ANY, BOOLEAN, FRAME, NUMBER, TEXT, TIME, Type
from ..meaning.operator_types import ZERO, ZEROS, fits, in_words, unit_hint
from .arm_builders import ArmBuilder, name_of
from .formulas import Formula, fitted, formula, frame_formula
from .python_lines import PythonLines, calling_file, placed

__all__ = ["EventBuilder", "ParallelBuilder", "SelectBuilder", "TaskBuilder", "task"]

Body = tuple[Statement, ...]


def task(name: str) -> TaskBuilder:
    """Begin a robot program in Python; its methods are the statements, and `program()` gives the frozen `Program`.

    >>> from adjoint.program.building import inches, task
    >>> hop = task("hop")
    >>> arm = hop.arm("barm")
    >>> arm.hand.open(2.5 * inches)
    >>> hop.program().statements
    (MoveHand(hand='bhand', opens=True, width=Quantity(value=2.5, unit='inches'), ...),)
    """
    if not isinstance(name, str):
        raise ArgumentError(f"task: a task has a name, got {type(name).__name__}")
    return TaskBuilder(name, PythonLines(calling_file()))


class EventBuilder(NamedTuple):
    """A semaphore: `signal()` counts it up, `wait()` waits until it is above 0 and counts it down."""

    task: TaskBuilder
    name: str

    def signal(self) -> None:
        """One thread that waits for the event goes on."""
        self.task.add(SignalEvent(self.name))

    def wait(self) -> None:
        """The thread waits for the event."""
        self.task.add(WaitEvent(self.name))


class ParallelBuilder:
    """Threads of a program: each `with both.branch():` is one."""

    def __init__(self, task: TaskBuilder):
        self._task, self._branches = task, []

    def branch(self) -> AbstractContextManager[None]:
        """The statements of one thread."""
        return self._task.block(self._branches.append)


class SelectBuilder:
    """Branches of a selection: `with case.of(1, 2):` and `with case.otherwise():`."""

    def __init__(self, task: TaskBuilder, type: Type):
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


class TaskBuilder:
    """A program under construction; see `task`."""

    def __init__(self, name: str, lines: PythonLines):
        self.name, self._lines = name, lines
        self._bodies: list[list[Statement]] = [[]]
        self._variables: dict[str, Type] = {}

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

    # --- names --------------------------------------------------------------------------------------------------------

    def arm(self, name: str = "", *, hand: str | None = None) -> ArmBuilder:
        """An arm of the world. AL's "barm" has the hand "bhand"; the hand of another arm has the name of the arm."""
        if hand is None:
            hand = name[:-3] + "hand" if name.lower().endswith("arm") else name
        return ArmBuilder(self, name, hand)

    def let(self, name: str, value) -> Formula:
        """A variable gets a value, and is returned as a formula. It keeps the type and the unit of its first value."""
        found = formula(value)
        known = self._variables.get(name, ANY)
        if known in (ZERO, ZEROS) and found.type.kind in ("scalar", "vector"):
            known = ANY
        if not fits(found.type, known):
            hint = unit_hint(found.expression, found.type, known)
            raise ArgumentError(
                f"let: '{name}' is {in_words(known)}, got {in_words(found.type)}{'; ' + hint if hint else ''}"
            )
        self._variables[name] = found.type if known == ANY else known
        self.add(Assign(Name(name), found.expression))
        return Formula(Name(name), self._variables[name])

    def frame(self, name: str, value=None) -> Formula:
        """A frame: a variable that gets a value (a formula or a pose (4, 4)), or without one a frame of the world."""
        if value is None:
            self._variables[name] = FRAME
            return Formula(Name(name), FRAME)
        found = formula(value)
        if not fits(found.type, FRAME) or found.type.kind == "aggregate":
            raise ArgumentError(f"frame: '{name}' must be a frame, got {in_words(found.type)}")
        return self.let(name, found)

    def event(self, name: str) -> EventBuilder:
        """A semaphore."""
        return EventBuilder(self, name)

    def line(self, number) -> Formula:
        """Whether an input line is on."""
        return Formula(Reading("signal", number=fitted(number, (NUMBER,), "line", "number")), BOOLEAN)

    def sensor(self, name: str) -> Formula:
        """What a sensor of the world, or of the back end, says."""
        return Formula(Reading("sensor", name=name), ANY)

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
        self._variables[name] = kind
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
        hidden = {p: self._variables.get(p) for p in parameters}
        self._variables.update(parameters)
        own = tuple(Parameter(p, type) for p, type in parameters.items())
        with self.block(lambda body: self.add(Procedure(name, own, body, result))):
            yield tuple(Formula(Name(p), type) for p, type in parameters.items())
        for parameter, before in hidden.items():
            if before is None:
                self._variables.pop(parameter, None)
            else:
                self._variables[parameter] = before

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

    # --- the world and its sensors ------------------------------------------------------------------------------------

    def attach(self, child, parent, *, rigidly: bool = False, at=None) -> None:
        """A frame or a part goes with another from now on; `at` is its pose in the other: AL's AFFIX."""
        pose = None if at is None else frame_formula(at, "attach", "at").expression
        kind = "rigid" if rigidly else "nonrigid"
        self.add(Attach(name_of(child, "attach"), name_of(parent, "attach"), kind, pose))

    def detach(self, child, parent="") -> None:
        """A frame or a part goes with another no longer: AL's UNFIX."""
        self.add(Detach(name_of(child, "detach"), name_of(parent, "detach")))

    def locate(self, part, camera: str, *, found: str = "") -> Formula | None:
        """A camera looks for a part, and the world then has it where it was seen. `found` names a truth value."""
        self.add(Locate(name_of(part, "locate"), camera, found))
        if not found:
            return None
        self._variables[found] = BOOLEAN
        return Formula(Name(found), BOOLEAN)

    def place(
        self, part, *, on: str = "", into: str = "", so_that: Iterable[tuple] = (), grasp: str = "", constraint=None,
        final=None, hold: bool = False, arm: str = "",
    ) -> None:  # fmt: skip
        """A part is picked, and placed on or into another, so that relations hold: ("against", "a-top", "b-bottom")."""
        if on and into:
            raise ArgumentError("place: a part is placed `on` something or `into` it, not both")
        clauses = []
        for row in so_that:
            if not isinstance(row, tuple) or len(row) not in (3, 4):
                raise ArgumentError(f"place: 'so_that' has (relation, first, second[, value]), got {row!r}")
            clauses.append(RelationClause(*row[:3], *(formula(v).expression for v in row[3:])))
        tests = [
            None if value is None else fitted(value, (BOOLEAN,), "place", what)
            for value, what in ((constraint, "constraint"), (final, "final"))
        ]
        self.add(
            Place(
                name_of(part, "place"), "on" if on else "in" if into else "", on or into, tuple(clauses), grasp,
                tests[0], tests[1], hold, arm,
            )
        )  # fmt: skip

    def wait(self, condition) -> None:
        """The program waits until a condition holds."""
        self.add(Wait(fitted(condition, (BOOLEAN,), "wait", "condition")))

    def delay(self, duration) -> None:
        """The program waits for some time."""
        self.add(Delay(fitted(duration, (TIME,), "delay", "duration")))

    def signal(self, line, on: bool = True) -> None:
        """An output line goes on or off."""
        self.add(Signal(fitted(line, (NUMBER,), "signal", "line"), on))

    def print(self, *values) -> None:
        """Values are shown to the user."""
        self.add(Print(tuple(formula(v).expression for v in values)))

    def comment(self, text: str) -> None:
        """A comment, which printers of the languages keep."""
        self.add(Comment(text))


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
