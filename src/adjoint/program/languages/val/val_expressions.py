"""From tokens of VAL to expressions: locations, whole numbers, and amounts in millimetres, degrees and seconds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal

from ....errors import nearest
from ...instructions.diagnostics import Diagnostic
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
from ...instructions.sources import Span
from ...texts.cursor import DEEPEST, Cursor, Unexpected
from .shapes import fraction, posed, shift
from .words import RESERVED

__all__: list[str] = []

_OPERATORS = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2}
_LONGEST_LABEL = 9  # digits


def _hundredth(text: str) -> float:
    try:
        return float(Decimal(text).scaleb(-2))
    except ArithmeticError:
        return math.inf


class LineReader(Cursor):
    """A place among tokens of VAL, and how names were spelt first: case does not count, and names keep one spelling."""

    def __init__(self, tokens, source):
        super().__init__(tokens, source)
        self.spellings: dict[str, str] = {}
        self.jumps: list[tuple[str, Span]] = []

    def unexpected(self, message: str, *, hint: str = "", choices: Iterable[str] = (), span: Span | None = None):
        """The exception of `Cursor`, with a hint only if a word looks like one of the choices."""
        meant = nearest(self.key[:40], list(choices)) if self.kind == "name" else ""
        hint = hint or (meant if meant.startswith("did you mean") else "")
        return Unexpected(Diagnostic(f"{message}; {self.found()}", span or self.here(), hint, code="syntax"))

    # --- names and labels ---------------------------------------------------------------------------------------------

    def spelt(self, what: str, *, joints: bool = False) -> str:
        """The name here, as it was spelt first; `joints` allows the # of precision points."""
        key = self.key
        if self.kind != "name" or key[0] == ".":
            raise self.unexpected(f"the name of {what} is missing")
        if key in RESERVED:
            raise self.unexpected(f"the name of {what} is missing", hint=f"{key} is a word of VAL: choose another name")
        if key[0] == "#" and not joints:
            raise self.unexpected(
                f"the name of {what} is missing",
                hint="# begins a precision point: only HERE, POINT, SET and MOVE take it",
            )
        text = self.next()
        return self.spellings.setdefault(key, text)

    def label(self, where: str) -> str:
        """The label here, without leading zeros."""
        text = self.tokens.texts[self.index]
        if self.kind != "number" or not text.isdigit():
            raise self.unexpected(f"a label is missing {where}", hint="labels are whole numbers, such as 10")
        self.next()
        return self.plain_label(text)

    def jump(self, where: str) -> str:
        """The label here, which must be a label of the same program."""
        span = self.here()
        name = self.label(where)
        self.jumps.append((name, span))
        return name

    def plain_label(self, text: str) -> str:
        """The digits of a label, which was just read, without leading zeros."""
        text = text.lstrip("0") or "0"
        if len(text) > _LONGEST_LABEL:
            raise Unexpected(Diagnostic(f"this label has more than {_LONGEST_LABEL} digits", self.last(), code="size"))
        return text

    def last(self):
        """The span of the token before this one."""
        return self.since(self.tokens.starts[max(self.index - 1, 0)])

    # --- numbers ------------------------------------------------------------------------------------------------------

    def number(self, *, percent: bool = False) -> float:
        """The number here, or a hundredth of it, which is rounded once."""
        text = self.next()
        if percent:
            value = _hundredth(text)
        else:
            value = float(text)
        if not math.isfinite(value):
            raise Unexpected(
                Diagnostic("this number is too large, or has too large an exponent", self.last(), code="size")
            )
        return value

    def whole(self, least: int = 0, *, fractions: bool = False) -> Expression:
        """An expression of whole numbers, by precedence climbing; `fractions` allows decimals, too."""
        start = self.start
        left = self._factor(fractions)
        for _ in range(DEEPEST):
            key = self.key
            rank = _OPERATORS.get(key)
            if rank is None or rank < least:
                return left
            self.next()
            self.deeper()
            right = self.whole(rank + 1, fractions=fractions)
            self.shallower()
            at = self.since(start)
            left = Binary("mod" if key == "%" else key, left, right, at=at)
            if key == "/":  # VAL's whole numbers have no remainders: they are cut towards 0
                left = Call("INT", (left,), at=at)
        raise self.unexpected(f"an expression has more than {DEEPEST} operators")

    def _factor(self, fractions: bool) -> Expression:
        start = self.start
        if self.kind == "number":
            return self._literal(start, fractions, 1.0)
        if self.key == "-":
            self.next()
            if self.kind == "number":
                return self._literal(start, fractions, -1.0)
            self.deeper()
            value = self._factor(fractions)
            self.shallower()
            if isinstance(value, Literal):
                return Literal(0.0 - float(value.value), at=self.since(start))
            return Unary("-", value, at=self.since(start))
        if self.key == "(":
            self.next()
            self.deeper()
            value = self.whole(fractions=fractions)
            self.shallower()
            self.expect(")", "after the expression")
            return value
        if self.kind != "name":
            raise self.unexpected("a number or a variable is missing")
        name = self.spelt("a variable")
        return Name(name, at=self.since(start))

    def _literal(self, start: int, fractions: bool, sign: float) -> Literal:
        value = self.number()
        if not fractions and value != math.floor(value):
            raise Unexpected(
                Diagnostic(
                    f"{value:g} is no whole number", self.last(), "variables of VAL are whole numbers", code="type"
                )
            )
        return Literal(0.0 + sign * value, at=self.since(start))

    # --- amounts ------------------------------------------------------------------------------------------------------

    def amount(self, unit: str) -> Expression:
        """A number, or an expression, that counts in a unit."""
        start = self.start
        value = self.whole(fractions=True)
        if isinstance(value, Literal):
            return Quantity(float(value.value), unit, at=value.at)
        return Binary("*", value, UnitName(unit), at=self.since(start))

    def amounts(self, units: tuple[str, ...], least: int, ends: tuple[str, ...] = ()) -> list[Expression]:
        """Amounts between commas, of which all after the `least` may be missing; an empty place is 0."""
        found: list[Expression] = []
        while True:
            if self.key == "," or self.key in ends or self.kind in ("newline", "end"):
                found.append(Quantity(0.0, units[len(found)], at=self.here()))
            else:
                found.append(self.amount(units[len(found)]))
            if self.key == "," and len(found) < len(units):
                self.next()
                continue
            if len(found) < least:
                raise self.unexpected(f"{least} numbers are needed, and {len(found)} are given")
            return found

    def percentage(self, what: str) -> Expression:
        """A percentage of the full speed as a fraction: above 0, and at most 1."""
        start = self.start
        if self.kind == "number" and self.ahead() not in _OPERATORS:
            value = self.number(percent=True)
            found = Literal(value, at=self.since(start))
        else:
            found = self.whole(fractions=True)
            if not isinstance(found, Literal):
                return fraction(found)
            value = float(found.value) / 100
        if not 0 < value <= 1:
            span = self.since(start)
            message = f"{what} of {value * 100:g} % is not possible"
            raise Unexpected(Diagnostic(message, span, "it is above 0, and at most 100, the full speed", code="limit"))
        return Literal(value, at=found.at)

    # --- input and output lines ---------------------------------------------------------------------------------------

    def signed_line(self) -> tuple[Expression, bool]:
        """The number of a line, and whether it is on: -3 is line 3, off."""
        on = not self.accept("-")
        start = self.start
        if self.kind == "name":
            name = self.spelt("a variable")
            return Name(name, at=self.since(start)), on
        if self.kind != "number":
            raise self.unexpected("the number of a line is missing")
        value = self.number()
        if value < 1 or value != math.floor(value) or value > 999_999:
            raise Unexpected(
                Diagnostic(f"{value:g} is no number of a line", self.last(), "lines are numbered from 1", code="limit")
            )
        return Literal(value, at=self.since(start)), on

    def lines(self) -> list[tuple[Expression, bool]]:
        """Lines between commas."""
        found = [self.signed_line()]
        while self.accept(","):
            found.append(self.signed_line())
            if len(found) > DEEPEST:
                raise self.unexpected(f"more than {DEEPEST} lines are named")
        return found

    def lines_hold(self) -> Expression:
        """The condition that lines are on, or off."""
        start = self.start
        condition: Expression | None = None
        for line, on in self.lines():
            one: Expression = Reading("signal", number=line, at=line.at)
            one = one if on else Unary("not", one, at=line.at)
            condition = one if condition is None else Binary("and", condition, one, at=self.since(start))
        assert condition is not None
        return condition

    # --- locations ----------------------------------------------------------------------------------------------------

    def location(self, *, joints: bool = False) -> Expression:
        """A location, a product of locations, or with `joints` a precision point."""
        start = self.start
        if joints and self.kind == "name" and self.key[0] == "#":
            name = self.spelt("a location", joints=True)
            return Name(name, at=self.since(start))
        left = self._place()
        for _ in range(DEEPEST):
            if self.key != ":":
                return left
            self.next()
            right = self._place()
            left = Binary("*", left, right, at=self.since(start))
        raise self.unexpected(f"a product has more than {DEEPEST} locations")

    def _place(self) -> Expression:
        start, key = self.start, self.key
        if key == "HERE":
            self.next()
            return Here(at=self.since(start))
        if key in ("INVERSE", "FRAME", "TRANS", "("):
            self.next()
            if key != "(":
                self.expect("(", f"after {key}")
            self.deeper()
            value = self._inside(key, start)
            self.shallower()
            self.expect(")", "after " + ("the location" if key == "(" else f"what {key} needs"))
            return value
        name = self.spelt("a location")
        return Name(name, at=self.since(start))

    def _inside(self, key: str, start: int) -> Expression:
        if key == "(":
            return self.location()
        if key == "INVERSE":
            value = self.location()
            return Call("INVERSE", (value,), at=self.since(start))
        if key == "TRANS":
            amounts = self.amounts(("mm", "mm", "mm", "deg", "deg", "deg"), 3, (")",))
            if len(amounts) == 3:
                return shift(*amounts, at=self.since(start))
            if len(amounts) < 6:
                raise self.unexpected("TRANS needs a position of 3 numbers, and 3 angles or none")
            return posed(amounts, self.since(start))
        return self.framed(start)

    def framed(self, start: int) -> Expression:
        """The frame of three or four locations between commas."""
        places = [self.location()]
        while len(places) < 4 and (self.key == "," or len(places) < 3):
            self.expect(",", "between the locations of FRAME")
            places.append(self.location())
        at = self.since(start)
        frame = Call("CONSTRUCT", tuple(places[:3]), at=at)
        if len(places) == 3:
            return frame
        return Call("FRAME", (Call("ORIENT", (frame,), at=at), Call("POS", (places[3],), at=at)), at=at)

    def joint_angles(self) -> Expression:
        """The angles of a precision point [deg], between commas."""
        start = self.start
        items = [self.amount("deg")]
        while self.accept(","):
            items.append(self.amount("deg"))
            if len(items) > DEEPEST:
                raise self.unexpected(f"more than {DEEPEST} joints are given")
        return Aggregate(tuple(items), at=self.since(start))
