"""Expressions as text of AL, with the fewest parentheses that give the same expression again."""

from __future__ import annotations

import re

from ....world.units import UNITS
from ...instructions.expressions import (
    Binary,
    Call,
    Expression,
    Here,
    Index,
    Literal,
    Name,
    Quantity,
    Reading,
    Unary,
    UnitName,
    Wrt,
)
from ...instructions.sources import NOWHERE, Span
from ...texts.number_texts import number_text
from .expression_reader import OTHER_UNITS
from .words import OPERATORS, READINGS, RESERVED

__all__: list[str] = []

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_NOT, _COMPARES, _TERM, _MINUS, _WRT, _ATOM = 3, 4, 6, 7, 8, 9  # precedences
_SPELT = {operator: (level, sign) for sign, (level, operator) in reversed(OPERATORS.items())}
_READERS = {kind: word for word, kind in READINGS.items()}


class NoWords(Exception):
    """AL has no words for an instruction, which was written at `span`."""

    def __init__(self, message: str, span: Span = NOWHERE, hint: str = ""):
        super().__init__(message)
        self.message, self.span, self.hint = message, span, hint


class ExpressionPrinter:
    """Writes expressions; `bound` are the names that the text has given values so far."""

    def __init__(self) -> None:
        self.bound: set[str] = set()

    def expression(self, e: Expression, least: int = 0) -> str:
        """An expression as text, in parentheses if it binds less tight than `least`."""
        level, text = self._written(e)
        return text if level >= least else f"({text})"

    def _written(self, e: Expression) -> tuple[int, str]:
        """The precedence and the text of an expression."""
        match e:
            case Binary(operator, left, right):
                level, sign = _SPELT[operator]
                chained = level == _COMPARES  # a < b < c is refused
                a = self.expression(left, level + chained)
                b = self.expression(right, level + 1)
                if operator == "*" and isinstance(right, UnitName) and _is_number(left):
                    b = f"({b})"  # 2*inches would be a quantity
                space = "" if level == _TERM and operator != "mod" else " "
                return level, f"{a}{space}{sign}{space}{b}"
            case Literal(value):
                return self._literal(value, e.at)
            case Quantity(value, unit):
                return _TERM, f"{number_text(value)}*{self._unit(unit)}"
            case UnitName(unit):
                return _ATOM, self._unit(unit)
            case Name(name):
                if (OTHER_UNITS.get(name, name) in UNITS) and name not in self.bound:
                    message = f"AL reads '{name}' as a unit here"
                    raise NoWords(message, e.at, "give the variable a longer name, or assign to it above")
                return _ATOM, identifier(name, e.at)
            case Unary("-", value):
                inner = self.expression(value, _MINUS)
                return _MINUS, f"-({inner})" if _is_number(value) and inner[0] != "-" else f"-{inner}"
            case Unary(_, value):
                return _NOT, f"NOT {self.expression(value, _NOT)}"
            case Wrt(value, frame):
                return _WRT, f"{self.expression(value, _WRT)} WRT {self.expression(frame, _ATOM)}"
            case Index(value, index):
                plain = isinstance(value, (Name, Call, Index))
                inner = self.expression(value)
                return _ATOM, f"{inner if plain else f'({inner})'}[{self.expression(index)}]"
            case Call(function, arguments):
                if function.upper() in READINGS or function.upper() == "JOINTS":
                    raise NoWords(f"in AL {function} reads a sensor, and is no function", e.at)
                return _ATOM, f"{identifier(function, e.at)}({', '.join(self.expression(x) for x in arguments)})"
            case Here(arm, joints):
                name = identifier(arm, e.at) if arm else ""
                return _ATOM, f"JOINTS({name})" if joints else f"HERE({name})" if arm else "⊗"
            case Reading():
                return _ATOM, self._reading(e)
        raise NoWords(f"AL has no words for the expression {type(e).__name__}", e.at)

    def _literal(self, value: float | bool | str, at: Span) -> tuple[int, str]:
        if isinstance(value, bool):
            return _ATOM, "true" if value else "false"
        if isinstance(value, str):
            return _ATOM, quoted(value, at)
        text = number_text(value)
        return (_MINUS if text[0] == "-" else _ATOM), text

    def _unit(self, unit: str) -> str:
        plain = _IDENTIFIER.fullmatch(unit) and unit.upper() not in RESERVED and unit not in self.bound
        return unit if plain else f"'{unit}'"

    def _reading(self, e: Reading) -> str:
        word = _READERS.get(e.kind)
        if word is None:
            raise NoWords(f"AL has no words for a reading of a {e.kind}", e.at)
        inside: list[str] = []
        if e.kind in ("force", "torque"):
            inside.append(e.axis.upper())
        elif e.kind == "sensor":
            inside.append(quoted(e.name, e.at))
        elif e.kind in ("joints", "signal"):
            if e.number is None:
                raise NoWords(f"AL's {word} needs a number", e.at)
            inside.append(self.expression(e.number))
        if e.arm:
            inside.append(identifier(e.arm, e.at))
        text = f"{word}({', '.join(inside)})"
        again = Reading(
            e.kind,
            "" if e.kind == "signal" else e.arm,
            e.axis if e.kind in ("force", "torque") else "",
            e.name if e.kind == "sensor" else "",
            e.number if e.kind in ("joints", "signal") else None,
        )
        if again != e:
            raise NoWords(f"AL's {word} has no words for all of this reading", e.at)
        return text


def _is_number(e: Expression) -> bool:
    return isinstance(e, Literal) and not isinstance(e.value, (bool, str))


def identifier(name: str, at: Span) -> str:
    """A name, or the exception that it is none of AL."""
    if not _IDENTIFIER.fullmatch(name):
        raise NoWords(f"'{name}' is no name of AL", at, "names have letters, digits and _")
    if name.upper() in RESERVED:
        raise NoWords(f"'{name}' is a word of AL, and no name", at)
    return name


def quoted(text: str, at: Span) -> str:
    """A text between double quotes."""
    if any(c < " " and c != "\t" for c in text) or "\x7f" in text:
        raise NoWords("a text of AL has one line, without control characters", at)
    return '"' + text.replace('"', '""') + '"'
