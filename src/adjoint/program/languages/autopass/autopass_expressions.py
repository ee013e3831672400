"""Expressions of AUTOPASS: those of PL/I, with units and with readings such as TORQUE."""

from __future__ import annotations

import re

from ...instructions.expressions import Binary, Call, Expression, Literal, Name, Quantity, Reading, Unary
from ...texts.cursor import LONGEST_CHAIN, Cursor, check_chain, climb
from ...texts.number_texts import number_text
from ...texts.scanner import Words
from .relation_texts import RELATION_WORDS, cannot_say, number_at, quantity_text, unit_at

__all__: list[str] = []

PATTERN = Words(
    # A comment without end reaches to the end of the text, so that it is found, and found once.
    comment=r"/\*(?:[^*]+|\*(?!/))*(?:\*/)?",
    operators=("<=", ">=", "^=", "<>", "=", "<", ">", "+", "-", "*", "/", "&", "|", "^", "(", ")", ",", ";", ":", "."),
    string=r"'(?:[^'\n]|'')*'",
    name=r"[A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*",
).pattern()
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z_0-9]*", re.ASCII)
READINGS = ("FORCE", "TORQUE", "WIDTH", "INPUT", "SENSOR")
_COMPARISONS = {"EQ": "=", "NE": "<>", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
_WORD_OF = {operator: word for word, operator in _COMPARISONS.items()}
OPERATORS: dict[str, tuple[int, str]] = {
    "OR": (1, "or"), "|": (1, "or"), "AND": (2, "and"), "&": (2, "and"),
    **{word: (3, operator) for word, operator in _COMPARISONS.items()},
    **{symbol: (3, symbol) for symbol in ("=", "<>", "<", "<=", ">", ">=")}, "^=": (3, "<>"),
    "+": (4, "+"), "-": (4, "-"), "*": (5, "*"), "/": (5, "/"), "MOD": (5, "mod"),
}  # fmt: skip
_LEVELS = {operator: level for level, operator in OPERATORS.values()}
STARTS = (
    "PLACE", "OPERATE", "DRIVE", "DO", "IF", "IN", "PUT", "SIGNAL", "WAIT", "DELAY", "ABORT", "PAUSE", "STOP", "BEGIN",
)  # fmt: skip
KEYWORDS = frozenset(
    {*STARTS, *READINGS, *RELATION_WORDS, *_COMPARISONS, "AND", "OR", "NOT", "MOD", "TRUE", "FALSE", "SUCH", "THAT"}
    | {"HOLD", "THEN", "ELSE", "END", "GRASPING", "BY", "USING", "ATTACHED", "CLOCKWISE", "COUNTERCLOCKWISE", "SPEED"}
    | {"PARALLEL", "WHILE", "UNTIL", "LIST", "OFF"}
)


def expression_at(cursor: Cursor, least: int = 0) -> Expression:
    """Go past an expression whose operators bind at least as tightly as `least`: 3 leaves AND and OR."""
    first = cursor.index
    found = climb(cursor, OPERATORS, _operand, least)
    if cursor.index - first > LONGEST_CHAIN:
        cursor.check_height(found, first, LONGEST_CHAIN + 1)
    return found


def conjunction_at(cursor: Cursor) -> Expression:
    """Go past conditions between ANDs, up to AND HOLD."""
    start = cursor.start
    found = expression_at(cursor, 3)
    count = 0
    while cursor.key in ("AND", "&") and cursor.ahead() != "HOLD":
        cursor.next()
        count += 1
        check_chain(cursor, count)
        found = Binary("and", found, expression_at(cursor, 3), at=cursor.since(start))
    return found


def _operand(cursor: Cursor) -> Expression:
    start, key, kind = cursor.start, cursor.key, cursor.kind
    if kind == "number":
        return _number(cursor, start, 1.0)
    if kind == "string":
        return Literal(unquoted(cursor.next()), at=cursor.since(start))
    if key == "-":
        cursor.next()
        if cursor.kind == "number":
            return _number(cursor, start, -1.0)
        return _prefixed(cursor, start, "-")
    if key in ("NOT", "^"):
        cursor.next()
        return _prefixed(cursor, start, "not")
    if key == "(":
        cursor.next()
        cursor.deeper()
        inner = climb(cursor, OPERATORS, _operand)
        cursor.shallower()
        cursor.expect(")", "after the expression in parentheses")
        return inner
    if key in ("TRUE", "FALSE"):
        cursor.next()
        return Literal(key == "TRUE", at=cursor.since(start))
    if key in READINGS:
        return _reading(cursor, start)
    if kind != "name" or key in KEYWORDS:
        raise cursor.unexpected("a value is missing")
    name = cursor.next()
    if cursor.key != "(":
        return Name(name, at=cursor.since(start))
    return Call(name, _arguments(cursor), at=cursor.since(start))


def _number(cursor: Cursor, start: int, sign: float) -> Expression:
    value = sign * number_at(cursor)
    unit = unit_at(cursor)
    at = cursor.since(start)
    return Quantity(value, unit, at=at) if unit else Literal(value, at=at)


def _prefixed(cursor: Cursor, start: int, operator: str) -> Expression:
    cursor.deeper()
    value = _operand(cursor)
    cursor.shallower()
    return Unary(operator, value, at=cursor.since(start))


def _reading(cursor: Cursor, start: int) -> Expression:
    """FORCE [(axis)], TORQUE [(axis)], WIDTH, INPUT(line), SENSOR('name'), and a word IS that may follow."""
    kind = cursor.next().lower()
    axis, name, number = "", "", None
    if kind in ("force", "torque"):
        axis = "z"
        if cursor.accept("("):
            if cursor.key not in ("X", "Y", "Z"):
                raise cursor.unexpected(f"the axis of {kind.upper()} is missing", hint="write X, Y or Z")
            axis = cursor.next().lower()
            cursor.expect(")", "after the axis")
    elif kind in ("input", "sensor"):
        cursor.expect("(", f"after {kind.upper()}")
        if kind == "sensor":
            if cursor.kind != "string":
                raise cursor.unexpected("the name of the sensor is missing", hint="write it in quotes: SENSOR('touch')")
            name = unquoted(cursor.next())
        else:
            cursor.deeper()
            number = climb(cursor, OPERATORS, _operand)
            cursor.shallower()
        cursor.expect(")", f"after what {kind.upper()} reads")
        kind = "signal" if kind == "input" else kind
    found = Reading(kind, axis=axis, name=name, number=number, at=cursor.since(start))
    if cursor.key == "IS" and cursor.ahead() in OPERATORS:
        cursor.next()
    return found


def _arguments(cursor: Cursor) -> tuple[Expression, ...]:
    cursor.next()
    cursor.deeper()
    found = []
    while cursor.key != ")":
        found.append(climb(cursor, OPERATORS, _operand))
        if not cursor.accept(","):
            break
    cursor.shallower()
    cursor.expect(")", "after the arguments")
    return tuple(found)


def unquoted(text: str) -> str:
    """The text between quotes."""
    return text[1:-1].replace("''", "'")


def quoted(text: str) -> str:
    """A text in quotes, as PL/I writes it."""
    if "\n" in text:
        raise cannot_say("AUTOPASS", "a text with several lines")
    return "'" + text.replace("'", "''") + "'"


# --- printing ---------------------------------------------------------------------------------------------------------


def expression_text(value: Expression, least: int = 0) -> str:
    """An expression as text, in parentheses if it binds less tightly than `least`."""
    if isinstance(value, Binary):
        level = _LEVELS[value.operator]
        word = _WORD_OF.get(value.operator, value.operator.upper())
        left = expression_text(value.left, level)
        if isinstance(value.left, Reading) and level == 3:
            left += " IS"
        text = f"{left} {word} {expression_text(value.right, level + 1)}"
        return f"({text})" if level < least else text
    if isinstance(value, Unary):
        plain = isinstance(value.value, Name | Call | Reading | Unary)
        inner = expression_text(value.value, 9)
        inner = inner if plain or inner.startswith("(") else f"({inner})"
        return f"NOT {inner}" if value.operator == "not" else f"-{inner}"
    if isinstance(value, Literal):
        return _literal(value)
    if isinstance(value, Quantity):
        return quantity_text(value, "AUTOPASS")
    if isinstance(value, Name):
        return variable_text(value.name, value)
    if isinstance(value, Call):
        arguments = ", ".join(map(expression_text, value.arguments))
        return f"{variable_text(value.function, value)}({arguments})"
    if isinstance(value, Reading) and not value.arm:
        return _reading_text(value)
    raise cannot_say("AUTOPASS", f"the expression {type(value).__name__}", value.at)


def _literal(value: Literal) -> str:
    if isinstance(value.value, bool):
        return "TRUE" if value.value else "FALSE"
    if isinstance(value.value, str):
        return quoted(value.value)
    return number_text(value.value)


def _reading_text(value: Reading) -> str:
    if value.kind in ("force", "torque"):
        return value.kind.upper() + ("" if value.axis == "z" else f"({value.axis.upper()})")
    if value.kind == "signal" and value.number is not None:
        return f"INPUT({expression_text(value.number)})"
    if value.kind == "sensor":
        return f"SENSOR({quoted(value.name)})"
    if value.kind == "width":
        return "WIDTH"
    raise cannot_say("AUTOPASS", f"the reading '{value.kind}'", value.at)


def variable_text(name: str, value: Expression | None = None) -> str:
    """The name of a variable, if AUTOPASS can say it."""
    if not all(_VARIABLE.fullmatch(piece) for piece in name.split(".")) or name.upper() in KEYWORDS:
        raise cannot_say("AUTOPASS", f"the variable '{name}'", None if value is None else value.at)
    return name
