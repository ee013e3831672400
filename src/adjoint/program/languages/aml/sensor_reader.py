"""From tokens to readings of AML: joints, fingers, monitors, lines, sensors and forces."""

from __future__ import annotations

from ...instructions.diagnostics import Diagnostic
from ...instructions.expressions import Binary, Expression, Literal, Name, Reading, UnitName
from ...instructions.programs import expressions_in
from ...texts.cursor import Unexpected
from .expression_reader import ExpressionReader
from .words import ANGLE_UNIT, FORCE_UNIT, LENGTH_UNIT, TORQUE_UNIT

__all__: list[str] = []


class SensorReader(ExpressionReader):
    """A place among tokens of AML, which reads expressions with all readings."""

    def reading(self, key: str, start: int) -> Expression:
        """What a word of `READING_WORDS`, which was passed, says."""
        if key == "QPOSITION":
            return self._position(key, start)
        if key == "QMONITOR":
            return self._monitor(key, start)
        if key == "SENSIO":
            return self._line(key, start)
        return self._line_number(key) if key == "DEFIO" else self._force(key, start)

    def _position(self, key: str, start: int) -> Expression:
        """QPOSITION(<1, 5>) and QPOSITION(GRIPPER)."""
        opened = self.start
        if self.ahead() == "GRIPPER":
            self.next()
            self.next()
            self.close(opened, "(", ")")
            at = self.since(start)
            return Binary("/", Reading("width", at=at), UnitName(LENGTH_UNIT, at=at), at=at)
        joints = self.only_value(key, "joints, such as <1, 5>")
        return Reading(
            "joints", number=joints, length_unit=LENGTH_UNIT, angle_unit=ANGLE_UNIT, at=self.since(start)
        )  # fmt: skip

    def _monitor(self, key: str, start: int) -> Expression:
        value = self.only_value(key, "the name of a monitor")
        if not isinstance(value, Name):
            raise Unexpected(Diagnostic(f"{key} needs the name of a monitor", value.at, code="syntax"))
        return Reading("monitor", name=value.name, at=self.since(start))

    def _line(self, key: str, start: int) -> Expression:
        return self.sensor(self.only_value(key, "the number of a line, or the name of a sensor"), start)

    def sensor(self, value: Expression, start: int) -> Expression:
        """The reading that a text or the number of a line stands for; what has a reading in it is one already."""
        if has_reading(value):
            return value
        if isinstance(value, Literal) and isinstance(value.value, str):
            return Reading("sensor", name=value.value, at=self.since(start))
        return Reading("signal", number=value, at=self.since(start))

    def _line_number(self, key: str) -> Expression:
        return self.only_value(key, "the number of a line")

    def _force(self, key: str, start: int) -> Expression:
        opened = self.start
        self.next()
        if self.key not in ("X", "Y", "Z"):
            raise self.unexpected(f"{key} needs an axis, X, Y or Z", hint=f"write {key}(Z)")
        axis = self.next().lower()
        self.close(opened, "(", ")")
        at = self.since(start)
        unit = FORCE_UNIT if key == "FORCE" else TORQUE_UNIT
        return Binary("/", Reading(key.lower(), axis=axis, at=at), UnitName(unit, at=at), at=at)


def has_reading(value: Expression) -> bool:
    """Whether a value depends on what a sensor says, such as SLP - SRP."""
    return any(isinstance(x, Reading) for x in expressions_in(value))
