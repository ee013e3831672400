"""From tokens to expressions of AL, by precedence climbing."""

from __future__ import annotations

import math

from ....errors import nearest
from ....world.units import UNITS
from ...instructions.diagnostics import Diagnostic
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
from ...instructions.sources import Source, Span
from ...texts.cursor import DEEPEST, Cursor, Unexpected, check_chain
from ...texts.scanner import Tokens
from .words import AL_WORDS, OPERATORS, READINGS, RESERVED

__all__: list[str] = []

AXES = {"X": "x", "Y": "y", "Z": "z", "XHAT": "x", "YHAT": "y", "ZHAT": "z"}
OTHER_UNITS = {"sec": "seconds"}  # AL's own short word
_COMPARES, _NOT, _MINUS = 4, 3, 7  # precedences
_MANY = 100  # tokens of an expression that may be too deep to walk over by recursion


class ExpressionReader(Cursor):
    """A place among tokens of AL, which reads expressions.

    `bound` are the names that the text has given values so far: a variable m hides the unit m.
    """

    def __init__(self, tokens: Tokens, source: Source):
        super().__init__(tokens, source)
        self.keys, self.texts, self.starts, self.ends = tokens.keys, tokens.texts, tokens.starts, tokens.ends
        self.bound: set[str] = set()

    def expression(self) -> Expression:
        """An expression; one whose tree would be too deep for those who walk over it is refused."""
        first = self.index
        found = self._climb(0)
        if self.index - first > _MANY:
            self.check_height(found, first)
        return found

    def _climb(self, least: int) -> Expression:
        """An expression of operators that bind at least as tight as `least`."""
        start = self.starts[self.index]
        if self.key == "NOT" or self.key == "¬":
            left = self._negation(least)
        else:
            left = self._unary()
        row = OPERATORS.get(self.key)
        count = 0
        while row is not None and row[0] >= least:
            level, operator = row
            at = self.index
            count += 1
            if count > DEEPEST:
                check_chain(self, count, DEEPEST)
            self.next()
            self.deeper()
            right = self._climb(level + 1)
            self.depth -= 1
            span = Span(start, self.ends[self.index - 1])
            if (
                isinstance(right, UnitName)
                and operator == "*"
                and isinstance(left, Literal)
                and self.index == at + 2
                and self.tokens.kinds[at - 1] == "number"
            ):
                left = Quantity(left.value, right.unit, at=span)  # type: ignore[arg-type]
            else:
                left = Binary(operator, left, right, at=span)
            row = OPERATORS.get(self.key)
            if level == _COMPARES and row is not None and row[0] == _COMPARES:
                hint = "join comparisons by AND: a < b AND b < c"
                raise self.unexpected("a comparison is compared once more", hint=hint)
        return left

    def _negation(self, least: int) -> Expression:
        """NOT and what it negates: a comparison, or another NOT."""
        if least > _NOT:
            raise self.unexpected("NOT stands where a value is needed", hint="put NOT ... into parentheses")
        start = self.start
        self.next()
        self.deeper()
        value = self._climb(_NOT)
        self.depth -= 1
        return Unary("not", value, at=self.since(start))

    def _unary(self) -> Expression:
        """A minus and its value, or a value with WRT."""
        if self.key == "-":
            return self._minus()
        if self.key == "+":
            self.next()
        start = self.starts[self.index]
        value = self._atom()
        count = 0
        while self.key == "WRT":
            count += 1
            check_chain(self, count, DEEPEST)
            self.next()
            value = Wrt(value, self._atom(), at=self.since(start))
        return value

    def _minus(self) -> Expression:
        start, index = self.start, self.index
        self.next()
        self.deeper()
        value = self._unary()
        self.depth -= 1
        span = self.since(start)
        # -10 is a number; -(10) and -2 WRT f are not.
        if isinstance(value, Literal) and self.index == index + 2 and self.tokens.kinds[index + 1] == "number":
            return Literal(-value.value, at=span)  # type: ignore[operator]
        return Unary("-", value, at=span)

    def _atom(self) -> Expression:
        kind = self.kind
        index = self.index
        start = self.starts[index]
        if kind == "name":
            return self._from_name(index, start)
        if kind == "number":
            value = float(self.next())
            if not math.isfinite(value):
                raise Unexpected(Diagnostic("this number is too large", self.since(start), code="syntax"))
            return Literal(value, at=Span(start, self.ends[index]))
        if kind == "string":
            return self._quoted(index, start)
        if self.key == "(":
            self.next()
            self.deeper()
            value = self._climb(0)
            self.depth -= 1
            self.close(")", "(", start)
            return self.indexed(value, start) if self.key == "[" else value
        if self.key == "⊗" or self.key == "⊕":
            self.next()
            return Here(at=self.since(start))
        raise self.unexpected("a value is missing")

    def _from_name(self, index: int, start: int) -> Expression:
        """What begins with a name: a variable, a unit, a function, a reading, or an element of a list."""
        key = self.key
        if key in RESERVED:
            return self._word(key, start)
        text = self.next()
        if self.key == "(":
            value = self._called(text, key, start)
        else:
            unit = OTHER_UNITS.get(text, text)
            span = Span(start, self.ends[index])
            if unit in UNITS and text not in self.bound:
                return UnitName(unit, at=span)
            value = Name(text, at=span)
        return self.indexed(value, start) if self.key == "[" else value

    def _word(self, key: str, start: int) -> Expression:
        if key == "TRUE" or key == "FALSE":
            self.next()
            return Literal(key == "TRUE", at=self.since(start))
        if key == "HERE" or key == "GRINCH":
            self.next()
            arm = self._arm(start) if self.key == "(" else ""
            return Here(arm, at=self.since(start))
        if key == "IF":
            raise self.unexpected("IF is a statement, and has no value", hint="IF ... THEN x ← a ELSE x ← b")
        raise self.unexpected("a value is missing")

    def _quoted(self, index: int, start: int) -> Expression:
        text = self.next()
        span = Span(start, self.ends[index])
        if text[0] == '"':
            return Literal(text[1:-1].replace('""', '"'), at=span)
        unit = text[1:-1]
        if unit in UNITS:
            return UnitName(unit, at=span)
        message = f"{text[:40]} is no unit; texts stand between double quotes"
        raise Unexpected(Diagnostic(message, span, nearest(unit, list(UNITS)).lstrip("; "), code="unit"))

    def indexed(self, value: Expression, start: int) -> Expression:
        """An element of a list; a[i, j] is a[i][j]."""
        count = 0
        while self.key == "[":
            opened = self.start
            self.next()
            while True:
                count += 1
                check_chain(self, count, DEEPEST)
                self.deeper()
                index = self._climb(0)
                self.depth -= 1
                value = Index(value, index, at=self.since(start))
                if not self.accept(","):
                    break
            self.close("]", "[", opened)
        return value

    # --- parentheses --------------------------------------------------------------------------------------------------

    def close(self, key: str, opened: str, start: int) -> None:
        """Go past a closing parenthesis, or tell where it was opened."""
        if self.key == key:
            self.next()
            return
        line = self.source.position(start).line
        hint = f"write '{key}' before it" if self.kind != "end" else ""
        raise self.unexpected(f"'{key}' is missing, which closes the '{opened}' of line {line}", hint=hint)

    def arguments(self) -> tuple[Expression, ...]:
        """(a, b, ...), or ()."""
        start = self.start
        self.next()
        if self.accept(")"):
            return ()
        found = []
        while True:
            self.deeper()
            found.append(self._climb(0))
            self.depth -= 1
            if self.key != ",":
                break
            self.next()
        self.close(")", "(", start)
        return tuple(found)

    def _called(self, text: str, key: str, start: int) -> Expression:
        if key in READINGS:
            return self._reading(key, start)
        if key == "JOINTS":
            return Here(self._arm(start), joints=True, at=self.since(start))
        arguments = self.arguments()
        return Call(text, arguments, at=Span(start, self.ends[self.index - 1]))

    def _arm(self, start: int) -> str:
        """The name of an arm in parentheses, or ""."""
        self.next()
        arm = "" if self.key == ")" else self.variable("an arm")
        self.close(")", "(", start)
        return arm

    def axis(self) -> str:
        """An axis of FORCE or TORQUE."""
        axis = AXES.get(self.key)
        if axis is None:
            hint = "axes are X, Y and Z; WITH FORCE_FRAME = f of a move turns them"
            raise self.unexpected("an axis is missing", hint=hint)
        self.next()
        return axis

    def _reading(self, key: str, start: int) -> Expression:
        """FORCE(Z), FORCE(Z, barm), WIDTH(bhand), JOINT(3), SENSOR("name"), INPUT(3), DONE(barm)."""
        kind, axis, name, number = READINGS[key], "", "", None
        opened = self.start
        self.next()
        if kind in ("force", "torque"):
            axis = self.axis()
        elif kind == "sensor":
            name = self.quoted("the name of the sensor")
        elif kind in ("joints", "signal"):
            self.deeper()
            number = self._climb(0)
            self.depth -= 1
        arm = ""
        if kind in ("width", "done"):
            arm = "" if self.key == ")" else self.variable("an arm or a hand")
        elif kind != "signal" and self.accept(","):
            arm = self.variable("an arm")
        self.close(")", "(", opened)
        return Reading(kind, arm, axis, name, number, at=self.since(start))

    # --- names --------------------------------------------------------------------------------------------------------

    def variable(self, what: str) -> str:
        """Go past a name that is no word of AL, and return it."""
        if self.kind != "name":
            raise self.unexpected(f"the name of {what} is missing")
        if self.key in RESERVED:
            meaning = AL_WORDS.get(self.key, "")
            raise self.unexpected(f"the name of {what} is missing, and '{self.key}' is a word of AL", hint=meaning)
        return self.next()

    def quoted(self, what: str) -> str:
        """Go past a text between double quotes, and return what is between them."""
        if self.kind != "string" or self.texts[self.index][0] != '"':
            raise self.unexpected(f"{what} is missing, between double quotes")
        return self.next()[1:-1].replace('""', '"')
