"""Expressions as text of AML."""

from __future__ import annotations

import math
import re

from ...instructions.expressions import Aggregate, Binary, Call, Expression, Index, Literal, Name, Reading, Unary
from ...instructions.programs import expressions_in
from ...texts.number_texts import number_text
from ...texts.scanner import HIDDEN
from .plain_numbers import counted_in, without_unit
from .words import (
    ANGLE_UNIT,
    ANGLES,
    COMPARISON,
    FORCE_UNIT,
    FUNCTIONS,
    LENGTH_UNIT,
    NEGATION,
    OF_ANGLES,
    OPERATORS,
    RESERVED,
    SENSORS,
    SIGN,
    TORQUE_UNIT,
)

__all__: list[str] = []

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
# Of several spellings of an operator the word is printed, so that < and > are brackets only.
WORDS = {operator: (key, level) for key, (level, operator) in reversed(OPERATORS.items()) if key not in "<>="}
_ATOM = 9  # the precedence of what needs no parentheses
_DEEPEST = 120  # levels of expressions and statements; no text of AML may have more


class Unsayable(Exception):
    """AML has no words for something; `aml_text` reports it with the place of the statement."""


class ExpressionPrinter:
    """Prints expressions of a program whose subroutines have these names."""

    def __init__(self, subroutines: set[str]):
        self.subroutines = subroutines
        self.depth = 0

    def name(self, name: str) -> str:
        """A name of AML."""
        if _NAME.fullmatch(name) is None:
            raise Unsayable(f"'{name[:40]}' is no name of AML, which has letters, digits and _")
        if name.upper() in RESERVED:
            raise Unsayable(f"the name '{name}' is a word of AML")
        return name

    def text(self, expression: Expression, least: int = 0) -> str:
        """The text of an expression, in parentheses if it binds less than `least`."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unsayable(f"statements and expressions are nested more than {_DEEPEST} deep")
        text, level = self._printed(expression)
        self.depth -= 1
        return f"({text})" if level < least else text

    def items(self, values: tuple[Expression, ...]) -> str:
        """Values with commas between them."""
        return ", ".join(self.text(x) for x in values)

    def counted(self, expression: Expression, unit: str) -> str:
        """A quantity as the plain number that AML understands in this unit."""
        plain = without_unit(expression, unit)
        if plain is None:
            raise Unsayable(f"AML writes plain numbers here, which count in {unit}")
        return self.text(plain)

    def _printed(self, expression: Expression) -> tuple[str, int]:
        match expression:
            case Literal(value):
                return self._literal(value)
            case Name(name):
                return self.name(name), _ATOM
            case Aggregate(items):
                return f"<{self.items(items)}>", _ATOM
            case Index(value, index):
                return self._element(value, index), _ATOM
            case Unary("-", value):
                text = self.text(value, SIGN)
                # Two signs would begin a comment, and a number would take the sign with it.
                return f"-({text})" if isinstance(value, Literal) or text.startswith("-") else f"-{text}", SIGN
            case Unary(_, value):
                return f"NOT {self.text(value, NEGATION)}", NEGATION
            case Call(function, arguments):
                return self._call(function, arguments, ()), _ATOM
            case Binary():
                return self._binary(expression)
            case Reading():
                return self._reading(expression), _ATOM
        raise Unsayable(f"AML has no words for {_described(expression)}")

    def _literal(self, value: float | bool | str) -> tuple[str, int]:
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE", _ATOM
        if isinstance(value, str):
            check_characters(value, "a string")
            return "'" + value.replace("'", "''") + "'", _ATOM
        return number_text(value), _ATOM if math.copysign(1.0, value) > 0 else SIGN

    def _element(self, value: Expression, index: Expression) -> str:
        called = isinstance(value, Name) and (value.name in self.subroutines or value.name.upper() in FUNCTIONS)
        number = isinstance(value, Literal) and not isinstance(value.value, str)
        base = f"({self.text(value)})" if number else self.text(value, _ATOM)
        return f"{base}[{self.text(index)}]" if called else f"{base}({self.text(index)})"

    def _call(self, function: str, arguments: tuple[Expression, ...], results: tuple[str, ...]) -> str:
        if function in self.subroutines:
            return f"{self.name(function)}({self.items(arguments)})"
        if function.upper() not in FUNCTIONS or (function.upper() in ANGLES) != (function.upper() in results):
            raise Unsayable(f"AML has no function {function[:40]}")
        if function.upper() in OF_ANGLES:
            return f"{function.upper()}({', '.join(self.counted(x, ANGLE_UNIT) for x in arguments)})"
        return f"{function.upper()}({self.items(arguments)})"

    def _binary(self, expression: Binary) -> tuple[str, int]:
        angle = counted_in(expression, ANGLE_UNIT)
        if isinstance(angle, Call) and angle.function.upper() in ANGLES:
            return self._call(angle.function, angle.arguments, ANGLES), _ATOM
        for kind, unit in (("width", LENGTH_UNIT), ("force", FORCE_UNIT), ("torque", TORQUE_UNIT)):
            reading = counted_in(expression, unit)
            if isinstance(reading, Reading) and reading.kind == kind and not reading.arm:
                return ("QPOSITION(GRIPPER)" if kind == "width" else f"{kind.upper()}({reading.axis.upper()})"), _ATOM
        word, level = WORDS[expression.operator]
        # Comparisons do not follow each other, and all other operators associate to the left.
        left = self.text(expression.left, level + 1 if level == COMPARISON else level)
        return f"{left} {word} {self.text(expression.right, level + 1)}", level

    def _reading(self, reading: Reading) -> str:
        if reading.arm:
            raise Unsayable(f"AML has one arm and does not name it; here it is '{reading.arm[:40]}'")
        if reading.kind == "sensor":
            known = reading.name in SENSORS
            return reading.name if known else f"SENSIO({self._literal(reading.name)[0]})"
        if reading.kind == "signal" and reading.number is not None:
            if _is_text_or_reading(reading.number):
                raise Unsayable("AML cannot take a text or a reading as the number of a line")
            return f"SENSIO({self.text(reading.number)})"
        if reading.kind == "monitor":
            return f"QMONITOR({self.name(reading.name)})"
        if reading.kind == "joints" and reading.number is not None:
            check_units(reading.length_unit, reading.angle_unit)
            return f"QPOSITION({self.text(reading.number)})"
        raise Unsayable(f"AML has no words for {_described(reading)}")


def check_characters(text: str, what: str) -> None:
    """Refuse texts that no program may have, and ends of lines."""
    if "\n" in text or HIDDEN.search(text):
        raise Unsayable(f"{what} of AML has no ends of lines, and no characters that cannot be seen")


def check_units(length_unit: str, angle_unit: str) -> None:
    """Refuse joints that do not count in inches and degrees."""
    if length_unit not in ("in", "inch", "inches") or angle_unit not in ("deg", "degree", "degrees"):
        raise Unsayable(f"AML counts joints in inches and degrees; here they count in {length_unit} and {angle_unit}")


def _is_text_or_reading(value: Expression) -> bool:
    text = isinstance(value, Literal) and isinstance(value.value, str)
    return text or any(isinstance(x, Reading) for x in expressions_in(value))


def _described(expression: Expression) -> str:
    """An expression in words, shortly."""
    kind = type(expression).__name__
    extra = f" of '{expression.kind}'" if isinstance(expression, Reading) else ""
    if kind == "Quantity":
        extra = f" {expression.value:g} {expression.unit}; its numbers have no units"  # type: ignore[attr-defined]
    return f"the expression {kind}{extra}"
