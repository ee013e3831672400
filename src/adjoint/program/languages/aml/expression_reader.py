"""From tokens to expressions of AML, by precedence climbing."""

from __future__ import annotations

import math
import re

from ...instructions.diagnostics import Diagnostic
from ...instructions.expressions import (
    Aggregate,
    Binary,
    Call,
    Expression,
    Index,
    Literal,
    Name,
    Reading,
    Unary,
    UnitName,
)
from ...instructions.sources import Source, Span
from ...texts.cursor import DEEPEST, Cursor, Unexpected, check_chain
from ...texts.scanner import Tokens
from .plain_numbers import with_unit
from .words import (
    ANGLE_UNIT,
    ANGLES,
    CLOSED_STRING,
    COMPARISON,
    FUNCTIONS,
    INNER_OPERATORS,
    NEGATION,
    OF_ANGLES,
    OPERATORS,
    READING_WORDS,
    RESERVED,
    SENSORS,
    SIGN,
)

__all__: list[str] = []

_CLOSED = re.compile(CLOSED_STRING)
_ELEMENTS = 20  # elements of elements: m(1)(2) ...
_MANY = 50  # tokens of an expression that may be too deep for those who walk over it by recursion


class ExpressionReader(Cursor):
    """A place among tokens of AML, which reads expressions.

    `subroutines` are the names that the text defines by SUBR: f(3) calls one of them, and is the third element of any
    other f.
    """

    def __init__(self, tokens: Tokens, source: Source, subroutines: set[str]):
        super().__init__(tokens, source)
        self.starts, self.ends, self.texts = tokens.starts, tokens.ends, tokens.texts
        self.subroutines = subroutines
        self.begin_afresh(0)

    def begin_afresh(self, depth: int) -> None:
        """Forget what was open when a statement was found wrong."""
        self.depth, self.operators, self.inside = depth, OPERATORS, False

    # --- operators ----------------------------------------------------------------------------------------------------

    def expression(self) -> Expression:
        """An expression; one whose tree would be too deep for those who walk over it is refused."""
        first, outermost = self.index, not self.inside
        self.inside = True
        found = self._climb(0)
        if outermost:
            self.inside = False
            if self.index - first > _MANY:
                self.check_height(found, first)
        return found

    def _climb(self, least: int) -> Expression:
        """An expression of operators that bind at least as tight as `least`."""
        start = self.starts[self.index]
        kind = self.kind
        if kind == "number":
            left = self._number()
        elif kind == "name":
            left = self._negation() if self.key == "NOT" else self._postfix()
        else:
            left = self._signed()
        operators = self.operators
        row = operators.get(self.key)
        count = 0
        while row is not None and row[0] >= least:
            level, operator = row
            count += 1
            if count > DEEPEST:
                check_chain(self, count, DEEPEST)
            self.next()
            self.depth += 1
            if self.depth > DEEPEST:
                self.deeper()
            right = self._climb(level + 1)
            self.depth -= 1
            at = Span(start, self.ends[self.index - 1])
            if type(left) is Reading:
                left = _line_state(operator, left, right, at) or Binary(operator, left, right, at=at)
            else:
                left = Binary(operator, left, right, at=at)
            row = operators.get(self.key)
            if level == COMPARISON and row is not None and row[0] == COMPARISON:
                raise self.unexpected("a comparison is compared once more", hint="write a LT b AND b LT c")
        return left

    def _negation(self) -> Expression:
        start = self.start
        self.next()
        self.deeper()
        value = self._climb(NEGATION)
        self.depth -= 1
        return Unary("not", value, at=self.since(start))

    def _signed(self) -> Expression:
        """An operand with its sign; a number takes its sign with it."""
        if self.key != "-":
            if self.key == "+":
                self.next()
            return self._postfix()
        start = self.start
        self.next()
        if self.kind == "number":
            number = self._number()
            return Literal(-float(number.value), at=self.since(start))
        self.deeper()
        value = self._climb(SIGN)
        self.depth -= 1
        return Unary("-", value, at=self.since(start))

    # --- operands -----------------------------------------------------------------------------------------------------

    def _postfix(self) -> Expression:
        """An operand with the numbers of its elements after it."""
        kind = self.kind
        start = self.starts[self.index]
        if kind == "name":
            found = self._named(start)
        elif kind == "number":
            return self._number()
        elif self.key == "<" or self.key == "<>":
            found = self._aggregate(start)
        elif self.key == "(":
            found = self._bracketed(start)
        elif kind == "string":
            found = Literal(self.string(), at=self.since(start))
        else:
            raise self.unexpected("a value is missing")
        return self.elements(found, start) if self.key == "(" or self.key == "[" else found

    def _number(self) -> Literal:
        tokens, index = self.tokens, self.index
        text = tokens.texts[index]
        number = float(text)
        if number == math.inf:
            raise Unexpected(Diagnostic(f"the number {text[:40]} is too large", self.here(), code="syntax"))
        self.index = index + 1
        self.key, self.kind = tokens.keys[index + 1], tokens.kinds[index + 1]
        return Literal(number, at=Span(tokens.starts[index], tokens.ends[index]))

    def string(self) -> str:
        """Go past a string, and return its text."""
        text = self.texts[self.index]
        if _CLOSED.fullmatch(text) is None:
            message, hint = "this string has no end on its line", f"close it with {text[0]}"
            raise Unexpected(Diagnostic(message, self.here(), hint, code="syntax"))
        self.next()
        return text[1:-1].replace("''", "'") if text[0] == "'" else text[1:-1]

    def _named(self, start: int) -> Expression:
        """A name, a call of a function or of a subroutine, a reading, or a truth value."""
        key = self.key
        if key in RESERVED:
            return self._word(key, start)
        name = self.next()
        if self.key != "(":
            return Name(name, at=Span(start, self.ends[self.index - 1]))
        if name in self.subroutines:
            return Call(name, self.arguments(), at=self.since(start))
        if key not in FUNCTIONS:
            return Name(name, at=Span(start, start + len(name)))
        values = self.arguments()
        if key in OF_ANGLES:
            values = tuple(with_unit(x, ANGLE_UNIT) for x in values)
        found = Call(key, values, at=self.since(start))
        return Binary("/", found, UnitName(ANGLE_UNIT, at=found.at), at=found.at) if key in ANGLES else found

    def _word(self, key: str, start: int) -> Expression:
        """What a reserved word means as a value."""
        if key == "TRUE" or key == "FALSE":
            self.next()
            return Literal(key == "TRUE", at=self.since(start))
        if key in SENSORS:
            self.next()
            return Reading("sensor", name=key, at=self.since(start))
        if key in READING_WORDS:
            self.next()
            if self.key != "(":
                raise self.unexpected(f"'(' is missing after {key}")
            return self.reading(key, start)
        if key == "IF":
            raise self.unexpected("IF gives no value here", hint="write IF ... THEN x = ...; ELSE x = ...;")
        if key == "GRIPPER":
            hint = "GRIPPER stands alone in MOVE, DMOVE and QPOSITION: MOVE(GRIPPER, 2.5)"
            raise self.unexpected("GRIPPER is no value", hint=hint)
        if key == "MONITOR":
            raise self.unexpected("a monitor needs a name", hint="write m = MONITOR(<SLP, SRP>, 1, 0, f);")
        if key == "MOVE" or key == "DMOVE":
            raise self.unexpected(f"{key} gives no value", hint="a move is a statement of its own")
        raise self.unexpected("a value is missing")

    def reading(self, key: str, start: int) -> Expression:
        """What the word of a reading says; `SensorReader` tells."""
        raise NotImplementedError

    def _aggregate(self, start: int) -> Expression:
        """<a, b, ...>, or the empty <>."""
        if self.key == "<>":
            self.next()
            return Aggregate((), at=self.since(start))
        self.next()
        outer, self.operators = self.operators, INNER_OPERATORS
        self.deeper()
        items: list[Expression] = []
        if self.key != ">":
            climb, following = self._climb, self.next
            items.append(climb(0))
            while self.key == ",":
                following()
                items.append(climb(0))
        self.depth -= 1
        self.operators = outer
        if self.key != ">":
            raise self._open(start, "<", ">")
        self.next()
        return Aggregate(tuple(items), at=Span(start, self.ends[self.index - 1]))

    def _bracketed(self, start: int) -> Expression:
        self.next()
        found = self.inner_expression()
        self.close(start, "(", ")")
        return found

    def inner_expression(self) -> Expression:
        """An expression in parentheses, where < and > compare."""
        outer, self.operators = self.operators, OPERATORS
        self.deeper()
        found = self._climb(0) if self.inside else self.expression()
        self.depth -= 1
        self.operators = outer
        return found

    def arguments(self) -> tuple[Expression, ...]:
        """Values in parentheses, with commas between them."""
        start = self.starts[self.index]
        self.next()
        values: list[Expression] = []
        if self.key != ")":
            values.append(self.inner_expression())
            while self.key == ",":
                self.next()
                values.append(self.inner_expression())
        self.close(start, "(", ")")
        return tuple(values)

    def only_value(self, key: str, what: str) -> Expression:
        """The only argument of a word."""
        opened = self.here()
        values = self.arguments()
        if len(values) != 1:
            span = Span(opened.start, self.ends[self.index - 1])
            raise Unexpected(Diagnostic(f"{key} needs {what}; it got {len(values)} values", span, code="syntax"))
        return values[0]

    def elements(self, found: Expression, start: int) -> Expression:
        """Elements of a value: v(3), v[3], m(2)(1), or m(2, 1)."""
        height = 0
        while self.key == "(" or self.key == "[":
            closing = ")" if self.key == "(" else "]"
            opened, opening = self.start, self.next()
            separator = ""
            while not separator or self.accept(","):
                separator = ","
                height += 1
                if height > _ELEMENTS:
                    message = f"elements of elements are taken more than {_ELEMENTS} times"
                    raise Unexpected(Diagnostic(message, self.here(), code="size"))
                index = self.inner_expression()
                found = Index(found, index, at=Span(start, self.ends[self.index - 1]))
            self.close(opened, opening, closing)
        return found

    # --- what is open -------------------------------------------------------------------------------------------------

    def close(self, start: int, opening: str, closing: str) -> None:
        """Go past a closing bracket, or say which bracket is open."""
        if self.key != closing:
            raise self._open(start, opening, closing)
        self.next()

    def _open(self, start: int, opening: str, closing: str) -> Unexpected:
        line, column = self.source.position(start)
        hint = f"the '{opening}' at line {line}, column {column} is open: close it with '{closing}'"
        if self.key in ("<", ">=") and opening == "<":
            hint += "; inside < > comparisons are words: " + ("LT" if self.key == "<" else "GE")
        elif self.key == ">":
            hint += "; in front of this '>' no '<' is open"
        wanted = f"',' or '{closing}' is missing"
        return self.unexpected(wanted, hint=hint)


def _line_state(operator: str, left: Reading, right: Expression, at: Span) -> Expression | None:
    """SENSIO(3) = 1 is the truth value of line 3, and SENSIO(3) = 0 its opposite; None of anything else."""
    if left.kind != "signal" or operator not in ("=", "<>"):
        return None
    if not isinstance(right, Literal) or right.value not in (0.0, 1.0):
        return None
    return left if (right.value == 1.0) == (operator == "=") else Unary("not", left, at=at)
