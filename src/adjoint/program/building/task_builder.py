"""`task`: a robot program that is made in Python, statement by statement, and reads like the languages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...errors import ArgumentError
from ..instructions.expressions import Name, Reading
from ..instructions.statements import (
    Assign,
    Attach,
    Comment,
    Delay,
    Detach,
    Locate,
    Place,
    Print,
    RelationClause,
    Signal,
    SignalEvent,
    Wait,
    WaitEvent,
)  # fmt: skip
from ..instructions.value_types import ANY, BOOLEAN, FRAME, NUMBER, TIME
from ..meaning.operator_types import ZERO, ZEROS, fits, in_words, unit_hint
from .arm_builders import ArmBuilder, name_of
from .flow_builder import FlowBuilder
from .formulas import Formula, fitted, formula, frame_formula
from .python_lines import PythonLines, calling_file

__all__ = ["EventBuilder", "TaskBuilder", "task"]


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


class TaskBuilder(FlowBuilder):
    """A program under construction; see `task`."""

    # --- names --------------------------------------------------------------------------------------------------------

    def arm(self, name: str = "", *, hand: str | None = None) -> ArmBuilder:
        """An arm of the world. AL's "barm" has the hand "bhand"; the hand of another arm has the name of the arm."""
        if hand is None:
            hand = name[:-3] + "hand" if name.lower().endswith("arm") else name
        return ArmBuilder(self, name, hand)

    def let(self, name: str, value) -> Formula:
        """A variable gets a value, and is returned as a formula. It keeps the type and the unit of its first value."""
        found = formula(value)
        known = self.variables.get(name, ANY)
        if known in (ZERO, ZEROS) and found.type.kind in ("scalar", "vector"):
            known = ANY
        if not fits(found.type, known):
            hint = unit_hint(found.expression, found.type, known)
            raise ArgumentError(
                f"let: '{name}' is {in_words(known)}, got {in_words(found.type)}{'; ' + hint if hint else ''}"
            )
        self.variables[name] = found.type if known == ANY else known
        self.add(Assign(Name(name), found.expression))
        return Formula(Name(name), self.variables[name])

    def frame(self, name: str, value=None) -> Formula:
        """A frame: a variable that gets a value (a formula or a pose (4, 4)), or without one a frame of the world."""
        if value is None:
            self.variables[name] = FRAME
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
        self.variables[found] = BOOLEAN
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
