"""From expressions to the text of VAL; None where VAL has no words."""

from __future__ import annotations

import re
from decimal import Decimal

from ....world.units import UNITS, convert
from ...instructions.expressions import (
    Aggregate,
    Binary,
    Call,
    Expression,
    Here,
    Literal,
    Name,
    Quantity,
    Reading,
    Unary,
    UnitName,
)
from ...texts.number_texts import number_text
from .shapes import as_percent, as_posed, as_shift
from .words import RELATIONS, RESERVED

__all__: list[str] = []

_NAME = re.compile(r"#?[A-Za-z_][A-Za-z0-9_.]*\Z")
_LABEL = re.compile(r"(0|[1-9][0-9]{0,8})\Z")
_RANKS = {"+": 1, "-": 1, "*": 2, "/": 2, "mod": 2}
_RELATION_WORDS = {operator: word for word, operator in RELATIONS.items() if word.isalpha()}


class NoWords(Exception):
    """VAL has no words for something, which the message names."""


def name_text(name: str, *, joints: bool = False) -> str:
    """A name, if VAL can write it."""
    if not _NAME.match(name) or name.upper() in RESERVED:
        raise NoWords(f"the name '{name}'")
    if name[0] == "#" and not joints:
        raise NoWords(f"the precision point '{name}' inside an expression")
    return name


def label_text(label: str) -> str:
    """A label, if it is a number."""
    if not _LABEL.match(label):
        raise NoWords(f"the label '{label}', which is no number")
    return label


def whole_text(expression: Expression, least: int = 0, *, fractions: bool = False) -> str:
    """An expression of whole numbers, or with `fractions` of any numbers."""
    if isinstance(expression, Literal) and not isinstance(expression.value, bool | str):
        if not fractions and expression.value != int(expression.value):
            raise NoWords(f"the number {expression.value:g}, which is not whole")
        return number_text(expression.value + 0.0)
    if isinstance(expression, Name):
        return name_text(expression.name)
    if isinstance(expression, Unary) and expression.operator == "-":
        inner = whole_text(expression.value, 3, fractions=fractions)
        return f"-{inner}"
    divided = _quotient(expression)
    found = divided or expression
    if isinstance(found, Binary) and found.operator in _RANKS and (found.operator != "/" or divided is not None):
        rank = _RANKS[found.operator]
        left, right = (whole_text(x, r, fractions=fractions) for x, r in ((found.left, rank), (found.right, rank + 1)))
        text = f"{left} {'%' if found.operator == 'mod' else found.operator} {right}"
        return f"({text})" if rank < least else text
    raise NoWords(_kind(expression))


def _quotient(expression: Expression) -> Binary | None:
    if isinstance(expression, Call) and expression.function.upper() == "INT" and len(expression.arguments) == 1:
        inner = expression.arguments[0]
        return inner if isinstance(inner, Binary) and inner.operator == "/" else None
    return None


def amount_text(expression: Expression, unit: str) -> str:
    """An amount in a unit."""
    if isinstance(expression, Quantity):
        if UNITS[expression.unit].dimension != UNITS[unit].dimension:
            raise NoWords(f"{expression.value:g} {expression.unit} as an amount in {unit}")
        value = expression.value if expression.unit == unit else float(convert(expression.value, expression.unit, unit))
        return whole_text(Literal(value), fractions=True)
    if isinstance(expression, Literal) and expression.value == 0 and not isinstance(expression.value, bool | str):
        return "0"
    if isinstance(expression, Unary) and expression.operator == "-":
        return f"-({amount_text(expression.value, unit)})"
    if isinstance(expression, Binary) and expression.operator == "*" and expression.right == UnitName(unit):
        return whole_text(expression.left, fractions=True)
    raise NoWords(f"{_kind(expression)} as an amount in {unit}")


def amount_texts(expressions: tuple[Expression, ...], units: str) -> str:
    """Amounts between commas."""
    return ",".join(amount_text(x, unit) for x, unit in zip(expressions, units.split(), strict=True))


def percent_text(expression: Expression) -> str:
    """A fraction of the full speed in percent."""
    if isinstance(expression, Literal) and not isinstance(expression.value, bool | str):
        if not 0 < expression.value <= 1:
            raise NoWords(f"the speed {expression.value:g}, which is not between 0 and 1")
        text = f"{Decimal(repr(float(expression.value))).scaleb(2):f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    percent = as_percent(expression)
    if percent is None or isinstance(percent, Literal):
        raise NoWords(f"{_kind(expression)} as a speed")
    return whole_text(percent, fractions=True)


def location_text(expression: Expression, *, joints: bool = False) -> str:
    """A location, a product of locations, or with `joints` a precision point."""
    if joints and isinstance(expression, Name):
        return name_text(expression.name, joints=True)
    if isinstance(expression, Binary) and expression.operator == "*":
        right = location_text(expression.right)
        compound = isinstance(expression.right, Binary)
        return f"{location_text(expression.left)}:{f'({right})' if compound else right}"
    if isinstance(expression, Name):
        return name_text(expression.name)
    if isinstance(expression, Here) and not expression.arm and not expression.joints:
        return "HERE"
    amounts = as_posed(expression)
    if amounts is not None:
        return f"TRANS({amount_texts(amounts, 'mm mm mm deg deg deg')})"
    amounts = as_shift(expression)
    if amounts is not None:
        return f"TRANS({amount_texts(amounts, 'mm mm mm')})"
    if isinstance(expression, Call):
        return _function_text(expression)
    raise NoWords(f"{_kind(expression)} as a location")


def _function_text(call: Call) -> str:
    function, arguments = call.function.upper(), call.arguments
    if function == "INVERSE" and len(arguments) == 1:
        return f"INVERSE({location_text(arguments[0])})"
    if function == "CONSTRUCT" and len(arguments) == 3:
        return f"FRAME({','.join(map(location_text, arguments))})"
    if function == "FRAME" and len(arguments) == 2:
        turn, position = arguments
        if (
            isinstance(turn, Call) and turn.function.upper() == "ORIENT" and len(turn.arguments) == 1
            and isinstance(position, Call) and position.function.upper() == "POS" and len(position.arguments) == 1
        ):  # fmt: skip
            axes = turn.arguments[0]
            if isinstance(axes, Call) and axes.function.upper() == "CONSTRUCT" and len(axes.arguments) == 3:
                return f"FRAME({','.join(map(location_text, (*axes.arguments, position.arguments[0])))})"
    raise NoWords(f"the function {call.function}")


def condition_text(expression: Expression) -> tuple[str, str]:
    """The word IF or IFSIG, and the condition after it."""
    if isinstance(expression, Binary) and expression.operator in _RELATION_WORDS:
        word = _RELATION_WORDS[expression.operator]
        return "IF", f"{whole_text(expression.left)} {word} {whole_text(expression.right)}"
    return "IFSIG", lines_text(expression)


def lines_text(expression: Expression) -> str:
    """The input lines of a condition."""
    if isinstance(expression, Binary) and expression.operator == "and":
        return f"{lines_text(expression.left)},{_line_text(expression.right)}"
    return _line_text(expression)


def _line_text(expression: Expression) -> str:
    off = isinstance(expression, Unary) and expression.operator == "not"
    reading = expression.value if isinstance(expression, Unary) and off else expression
    if not isinstance(reading, Reading) or reading.kind != "signal" or reading.arm or reading.number is None:
        raise NoWords(f"{_kind(expression)} as a condition")
    return signed_line_text(reading.number, not off)


def signed_line_text(line: Expression, on: bool) -> str:
    """The number of a line, with - if it is off."""
    if not (isinstance(line, Name) or (isinstance(line, Literal) and line.value in range(1, 1_000_000))):
        raise NoWords("this number of a line")
    return f"{'' if on else '-'}{whole_text(line)}"


def joints_text(expression: Expression) -> str | None:
    """The angles of a precision point."""
    if isinstance(expression, Aggregate) and expression.items:
        return ",".join(amount_text(item, "deg") for item in expression.items)
    return None


def _kind(expression: Expression) -> str:
    """An expression in words."""
    if isinstance(expression, Binary | Unary):
        return f"the operator '{expression.operator}'"
    if isinstance(expression, Call):
        return f"the function {expression.function}"
    if isinstance(expression, Literal):
        return f"the value {expression.value!r}"
    return f"{type(expression).__name__}"
