"""From tokens to moves and monitors of AML."""

from __future__ import annotations

from ...instructions.diagnostics import Diagnostic
from ...instructions.expressions import Aggregate, Binary, Expression, Index, Literal, Reading
from ...instructions.sources import Span
from ...instructions.statements import DefineMonitor, MoveHand, MoveJoints, Statement
from ...texts.cursor import Unexpected
from .plain_numbers import with_unit
from .sensor_reader import SensorReader
from .words import ANGLE_UNIT, LENGTH_UNIT

__all__: list[str] = []


class MoveReader(SensorReader):
    """A place among tokens of AML, which reads moves and monitors."""

    def monitor_definition(self, name: str, start: int) -> Statement:
        at = self.start
        self.next()
        values = self.values_after("MONITOR")
        if len(values) != 4:
            hint = "write MONITOR(<SLP, SRP>, 1, 0, f): sensors, type of the test, lowest and highest value"
            message = f"MONITOR needs 4 values; it got {len(values)}"
            raise Unexpected(Diagnostic(message, self.since(at), hint, code="syntax"))
        sensors = values[0]
        if isinstance(sensors, Aggregate):
            sensors = Aggregate(tuple(self._sensor(x) for x in sensors.items), at=sensors.at)
        else:
            sensors = self._sensor(sensors)
        return DefineMonitor(name, sensors, *values[1:], at=self.since(start))

    def _sensor(self, value: Expression) -> Expression:
        found = self.sensor(value, value.at.start)
        if isinstance(found, Reading) and found is not value:
            return Reading(found.kind, name=found.name, number=found.number, at=value.at)
        return found

    def values_after(self, word: str) -> tuple[Expression, ...]:
        """The values in parentheses after a word."""
        if self.key != "(":
            raise self.unexpected(f"'(' is missing after {word}")
        return self.arguments()

    def move(self, start: int) -> Statement:
        """MOVE(joints, values[, <speed, acceleration, deceleration>][, monitors]) and DMOVE."""
        word = self.key
        self.next()
        if self.key == "(" and (self.ahead() == "GRIPPER" or (self.ahead() == "<" and self.ahead(2) == "GRIPPER")):
            return self._move_hand(word, start)
        values = self.values_after(word)
        if not 2 <= len(values) <= 4:
            raise self._wrong_count(word, len(values), start)
        joints, goals = values[0], values[1]
        if isinstance(joints, Aggregate) and isinstance(goals, Aggregate) and len(joints.items) != len(goals.items):
            message = f"{word} names {len(joints.items)} joints and gives {len(goals.items)} values"
            raise Unexpected(Diagnostic(message, Span(joints.at.start, goals.at.end), code="syntax"))
        speeds, monitors = _speeds_and_monitors(values[2:])
        return MoveJoints(
            joints,
            goals,
            word == "DMOVE",
            length_unit=LENGTH_UNIT,
            angle_unit=ANGLE_UNIT,
            speed=speeds[0],
            acceleration=speeds[1],
            deceleration=speeds[2],
            monitors=monitors,
            at=self.since(start),
        )

    def _wrong_count(self, word: str, count: int, start: int) -> Unexpected:
        hint = f"write {word}(<1, 4>, <10, 20>), with <speed, acceleration, deceleration> and monitors after them"
        return Unexpected(
            Diagnostic(f"{word} needs 2 to 4 values; it got {count}", self.since(start), hint, code="syntax")
        )

    def _move_hand(self, word: str, start: int) -> Statement:
        """MOVE(GRIPPER, 2.5[, monitors]) and DMOVE."""
        opened = self.start
        self.next()
        enclosed = self.accept("<")
        self.next()
        if enclosed:
            if self.key != ">":
                hint = f"move the fingers alone: {word}(GRIPPER, 2.5)"
                raise self.unexpected("GRIPPER moves with no other joint", hint=hint)
            self.next()
        if not self.accept(","):
            raise self.unexpected("the opening is missing", hint=f"write {word}(GRIPPER, 2.5), in inches")
        width = self.inner_expression()
        if isinstance(width, Aggregate) and len(width.items) == 1:
            width = width.items[0]
        rest: list[Expression] = []
        while self.accept(","):
            rest.append(self.inner_expression())
        self.close(opened, "(", ")")
        if len(rest) > 2:
            raise self._wrong_count(word, 2 + len(rest), start)
        speeds, monitors = _speeds_and_monitors(tuple(rest))
        if speeds[0] is not None:
            message = "the fingers have a speed of their own"
            raise Unexpected(Diagnostic(message, rest[0].at, "leave the speeds out", code="syntax"))
        goal = with_unit(width, LENGTH_UNIT)
        if word == "DMOVE":
            goal = Binary("+", Reading("width", at=width.at), goal, at=width.at)
        return MoveHand("", True, goal, either_way=True, monitors=monitors, at=self.since(start))


_Speeds = tuple[Expression | None, Expression | None, Expression | None]


def _speeds_and_monitors(values: tuple[Expression, ...]) -> tuple[_Speeds, tuple[Expression, ...]]:
    """What stands after the values of a move. Of one value, an aggregate has speeds, and anything else is a monitor."""
    none: _Speeds = (None, None, None)
    if not values:
        return none, ()
    given, *others = values
    if not others and not isinstance(given, Aggregate):
        return none, (given,)
    monitors = tuple(m for x in others for m in (x.items if isinstance(x, Aggregate) else (x,)))
    if isinstance(given, Aggregate):
        if len(given.items) not in (0, 3):
            hint = (
                "write <speed, acceleration, deceleration>; several monitors stand after it: MOVE(<1>, <2>, <>, <m, n>)"
            )
            message = f"speeds are three numbers; here are {len(given.items)}"
            raise Unexpected(Diagnostic(message, given.at, hint, code="syntax"))
        return (given.items or none), monitors  # type: ignore[return-value]
    return tuple(Index(given, Literal(float(k), at=given.at), at=given.at) for k in (1, 2, 3)), monitors  # type: ignore[return-value]
