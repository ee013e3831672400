"""Arms and hands of a program that is made in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from ...errors import ArgumentError
from ..instructions.expressions import Aggregate, Here, Literal, Name, Reading
from ..instructions.statements import (
    Attach,
    ForceClause,
    Guard,
    Move,
    MoveHand,
    MoveJoints,
    SetBase,
    SetConfiguration,
    SetSpeed,
    SetTool,
    Statement,
    statement_types,
)  # fmt: skip
from ..instructions.value_types import ANGLE, BOOLEAN, FORCE, FRAME, JOINTS, LENGTH, NUMBER, TORQUE
from .formulas import Formula, fitted, formula, frame_formula

if TYPE_CHECKING:
    from .task_builder import TaskBuilder

__all__ = ["ArmBuilder", "HandBuilder", "MoveBuilder"]


class _Axes:
    """What an arm feels along x, y and z."""

    def __init__(self, kind: str, arm: str):
        self.kind, self.arm = kind, arm

    def __getattr__(self, axis: str) -> Formula:
        if axis not in ("x", "y", "z"):
            raise AttributeError(axis)
        return Formula(Reading(self.kind, self.arm, axis), FORCE if self.kind == "force" else TORQUE)


class MoveBuilder:
    """A move that was just made: `with move.on(condition):` adds what happens when a condition holds during it."""

    def __init__(self, task: TaskBuilder, move: Statement):
        self._task, self._move = task, move

    def on(self, condition, *, stops: bool = True) -> AbstractContextManager[None]:
        """While the arm moves, the condition is asked at every tick; when it holds, the arm brakes, and the block runs.

        >>> from adjoint.program.building import newtons, task
        >>> t = task("press")
        >>> arm = t.arm("barm")
        >>> with arm.move("bore").on(arm.force.z > 10 * newtons):
        ...     t.abort("No hole")
        """
        expression = fitted(condition, (BOOLEAN,), "on", "condition")

        def add(body: tuple[Statement, ...]) -> None:
            self._move = self._task.guarded(self._move, Guard(expression, body, stops))

        return self._task.block(add)


class HandBuilder:
    """A hand of a program."""

    def __init__(self, task: TaskBuilder, name: str, arm: str):
        self._task, self.name, self.arm = task, name, arm

    @property
    def width(self) -> Formula:
        """How far apart the fingers are."""
        named = self.name.lower().endswith("hand")
        return Formula(Name(self.name) if named else Reading("width", self.arm), LENGTH)

    def open(self, width=None, *, wait: bool = True) -> None:
        """The fingers open to a width, or as far as they go."""
        self._task.add(MoveHand(self.name, True, _width(width, "open"), wait))

    def close(self, width=None, *, wait: bool = True) -> None:
        """The fingers close to a width, or until they meet something."""
        self._task.add(MoveHand(self.name, False, _width(width, "close"), wait))

    def grasp(self, width, *, otherwise: str = "") -> None:
        """The fingers close; if less than `width` is left, the program jumps to the label `otherwise`, or aborts."""
        self._task.add(MoveHand(self.name, False, _width(width, "grasp"), grasp=True, otherwise=otherwise))


def _width(width, caller: str):
    return None if width is None else fitted(width, (LENGTH,), caller, "width")


class ArmBuilder:
    """An arm of a program: `force.z`, `torque.x`, `here` and `hand` are read, the methods are its statements."""

    def __init__(self, task: TaskBuilder, name: str, hand: str):
        self._task, self.name = task, name
        self.hand = HandBuilder(task, hand, name)
        self.force, self.torque = _Axes("force", name), _Axes("torque", name)
        self.here = Formula(Here(name), FRAME)
        self.joints_here = Formula(Here(name, True), JOINTS)
        self.rests = Formula(Reading("done", name), BOOLEAN)

    def joint(self, number) -> Formula:
        """The value of a joint, which counts from 1 [rad or m]."""
        return Formula(Reading("joints", self.name, number=fitted(number, (NUMBER,), "joint", "number")), NUMBER)

    def move(
        self, to, *, via: Iterable[Any] = (), straight: bool = False, approach=None, departure=None, duration=None,
        speed=None, until=None, forces: Mapping[str, Any] | None = None, torques: Mapping[str, Any] | None = None,
        force_frame=None, avoiding: bool = False, nonstop: bool = False, carrying: str = "",
    ) -> MoveBuilder:  # fmt: skip
        """The arm moves to a frame or a configuration; see `Move` for the arguments.

        `until` is a condition, or several, that stop the move. `carrying` names a frame that the arm holds: this frame
        then gets to the goal. `forces` and `torques` are {"x", "y" or "z": value}, and 0 complies.
        """
        fields: dict[str, Any] = {
            name: fitted(value, statement_types(Move)[name], "move", name)
            for name, value in (
                ("approach", approach), ("departure", departure), ("duration", duration), ("speed", speed)
            )
            if value is not None
        }  # fmt: skip
        if force_frame is not None:
            fields["force_frame"] = frame_formula(force_frame, "move", "force_frame").expression
        conditions = until if isinstance(until, list | tuple) else [] if until is None else [until]
        guards = tuple(Guard(fitted(c, (BOOLEAN,), "move", "until")) for c in conditions)
        points = tuple(frame_formula(point, "move", "via").expression for point in via)
        clauses = (*_clauses(forces, False), *_clauses(torques, True))
        goal = frame_formula(to, "move", "to").expression
        move = Move(
            carrying or self.name, goal, points, straight, **fields, forces=clauses, guards=guards, avoiding=avoiding,
            nonstop=nonstop,
        )  # fmt: skip
        return MoveBuilder(self._task, self._task.add(move))

    def move_joints(self, values: Mapping[int, Any], *, by: bool = False, speed=None) -> MoveBuilder:
        """Some joints {number from 1: value} move to values, or `by` values; angles and lengths have units."""
        if not isinstance(values, Mapping) or not values:
            raise ArgumentError("move_joints: 'values' must be {number of a joint: value}, such as {1: 30 * deg}")
        numbers = Aggregate(tuple(Literal(float(k)) for k in values))
        goals = Aggregate(tuple(fitted(v, (ANGLE, LENGTH), "move_joints", f"values[{k}]") for k, v in values.items()))
        fraction = None if speed is None else fitted(speed, (NUMBER,), "move_joints", "speed")
        return MoveBuilder(
            self._task, self._task.add(MoveJoints(numbers, goals, by, self.name, speed_fraction=fraction))
        )

    def attach(self, child, *, rigidly: bool = False, at=None) -> None:
        """A frame or a part goes with the hand from now on: AL's AFFIX child TO arm."""
        pose = None if at is None else frame_formula(at, "attach", "at").expression
        self._task.add(Attach(name_of(child, "attach"), self.name, "rigid" if rigidly else "nonrigid", pose))

    def set_speed(self, fraction, *, permanent: bool = True) -> None:
        """The fraction of the full speed, of all further moves or of the next one alone."""
        self._task.add(SetSpeed(fitted(fraction, (NUMBER,), "set_speed", "fraction"), permanent, self.name))

    def set_configuration(self, flag: str) -> None:
        """How the arm shall be: "lefty", "righty", "above", "below", "flip" or "noflip"."""
        self._task.add(SetConfiguration(flag, self.name))

    def set_tool(self, tool=None) -> None:
        """Frames that moves name are poses of this frame, as seen from the arm's flange; None is the arm's own."""
        pose = None if tool is None else frame_formula(tool, "set_tool", "tool").expression
        self._task.add(SetTool(pose, self.name))

    def set_base(self, base=None) -> None:
        """Poses are seen from this frame; None is the station."""
        pose = None if base is None else frame_formula(base, "set_base", "base").expression
        self._task.add(SetBase(pose, self.name))


def _clauses(values: Mapping[str, Any] | None, rotates: bool) -> Iterable[ForceClause]:
    what, type = ("torques", TORQUE) if rotates else ("forces", FORCE)
    for axis, value in (values or {}).items():
        if axis not in ("x", "y", "z"):
            raise ArgumentError(f"move: '{what}' has the axis {axis!r}; axes are x, y and z")
        yield ForceClause(axis, fitted(value, (type,), "move", f"{what}[{axis!r}]"), rotates)


def name_of(value, caller: str) -> str:
    """The name of a frame, given as a text or as the formula of a variable."""
    if isinstance(value, str):
        return value
    if isinstance(value, Formula) and isinstance(value.expression, Name):
        return value.expression.name
    raise ArgumentError(f"{caller}: the name of a frame is needed, got {formula(value)!r}")
