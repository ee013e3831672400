"""A place among tokens: what all parsers of programs do with it, and how they report what they did not expect."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...errors import nearest
from ..instructions.diagnostics import Diagnostic
from ..instructions.expressions import Aggregate, Binary, Call, Expression, Index, Reading, Unary, Wrt
from ..instructions.sources import Source, Span
from .scanner import Tokens

__all__: list[str] = []

DEEPEST = 100  # statements and parentheses inside each other
LONGEST_CHAIN = 200  # operators that stand beside each other, as in a + b + c
MOST_FINDINGS = 100  # in one text; one with more is no program, and would only take time


class Unexpected(Exception):
    """A parser met something else than the language allows; the parser of statements catches it and goes on."""

    def __init__(self, diagnostic: Diagnostic):
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Cursor:
    """A place among tokens. `key` is the token here in capitals, or "" of a number, a string and the end."""

    def __init__(self, tokens: Tokens, source: Source):
        self.tokens, self.source = tokens, source
        self.index, self.depth = 0, 0
        self.key, self.kind = tokens.keys[0], tokens.kinds[0]

    # --- going on -----------------------------------------------------------------------------------------------------

    def next(self) -> str:
        """Go to the next token, and return the text of this one."""
        tokens, index = self.tokens, self.index
        if self.kind != "end":
            self.index = index + 1
            self.key, self.kind = tokens.keys[index + 1], tokens.kinds[index + 1]
        return tokens.texts[index]

    def ahead(self, count: int = 1) -> str:
        """The key of a later token."""
        keys = self.tokens.keys
        return keys[min(self.index + count, len(keys) - 1)]

    def accept(self, key: str) -> bool:
        """Whether this token is `key`; if it is, go on."""
        if self.key == key:
            self.next()
            return True
        return False

    def expect(self, key: str, where: str) -> None:
        """Go past `key`, or report that it is missing `where`, such as "after the condition of IF"."""
        if self.key == key:
            self.next()
            return
        raise self.unexpected(f"'{key}' is missing {where}", choices=[key])

    def name(self, what: str) -> str:
        """Go past a name, and return it; `what` it is the name of."""
        if self.kind != "name":
            raise self.unexpected(f"the name of {what} is missing")
        return self.next()

    def skip_to(self, keys: Iterable[str]) -> None:
        """Go to the next token that is one of `keys`, or to the end."""
        stops = set(keys)
        while self.kind != "end" and self.key not in stops:
            self.next()

    # --- places -------------------------------------------------------------------------------------------------------

    @property
    def start(self) -> int:
        """The offset at which this token begins."""
        return self.tokens.starts[self.index]

    def since(self, start: int) -> Span:
        """The span from an offset to the end of the token before this one."""
        return Span(start, self.tokens.ends[self.index - 1] if self.index else start)

    def here(self) -> Span:
        """The span of this token."""
        return Span(self.tokens.starts[self.index], self.tokens.ends[self.index])

    # --- what is wrong ------------------------------------------------------------------------------------------------

    def found(self) -> str:
        """This token in words."""
        if self.kind == "end":
            return "the text ends here"
        if self.kind == "newline":
            return "the line ends here"
        return f"'{self.tokens.texts[self.index][:40]}' stands here"

    def unexpected(self, message: str, *, hint: str = "", choices: Iterable[str] = (), span: Span | None = None):
        """The exception that says what is missing, and what stands here; `choices` are keywords that would fit."""
        words = [choice for choice in choices if choice[:1].isalpha()]
        meant = nearest(self.key, words) if self.kind == "name" and words else ""
        hint = hint or meant.lstrip("; ")
        return Unexpected(Diagnostic(f"{message}; {self.found()}", span or self.here(), hint, code="syntax"))

    def deeper(self) -> None:
        """Count a nesting; it is refused before Python's stack is full."""
        self.depth += 1
        if self.depth > DEEPEST:
            message = f"statements and parentheses are nested more than {DEEPEST} deep"
            raise Unexpected(Diagnostic(message, self.here(), code="size"))

    def shallower(self) -> None:
        """End a nesting."""
        self.depth -= 1

    def check_height(self, expression: Expression, first: int, most: int = DEEPEST) -> None:
        """Refuse an expression from the token `first` on whose tree is too high for those who walk over it."""
        level: list[Expression] = [expression]
        for _ in range(most):
            level = [inside for x in level for inside in parts_of(x)]
            if not level:
                return
        message = f"this expression has more than {most} levels; compute it in several steps"
        raise Unexpected(Diagnostic(message, self.since(self.tokens.starts[first]), code="size"))


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside one."""
    match expression:
        case Binary(_, left, right):
            return left, right
        case Unary(_, value):
            return (value,)
        case Call(_, arguments):
            return arguments
        case Aggregate(items):
            return items
        case Wrt(value, frame):
            return value, frame
        case Index(value, index):
            return value, index
        case Reading(number=Expression() as number):
            return (number,)
    return ()


def climb(
    cursor: Cursor, operators: dict[str, tuple[int, str]], operand: Callable[[Cursor], Expression], least: int = 0
) -> Expression:
    """An expression of binary operators, which all associate to the left, by precedence climbing.

    `operators` is {key: (precedence, operator of `Binary`)}, and higher precedences bind tighter; `operand` reads what
    stands between operators.
    """
    start = cursor.start
    left = operand(cursor)
    count = 0
    while True:
        row = operators.get(cursor.key)
        if row is None or row[0] < least:
            return left
        cursor.next()
        count += 1
        check_chain(cursor, count)
        cursor.deeper()
        right = climb(cursor, operators, operand, row[0] + 1)
        cursor.shallower()
        left = Binary(row[1], left, right, at=cursor.since(start))


def check_chain(cursor: Cursor, count: int, most: int = LONGEST_CHAIN) -> None:
    """Refuse a chain of so many operators: its tree is too deep for those who walk over it by recursion."""
    if count > most:
        message = f"this expression has more than {most} levels of operators; compute it in several steps"
        raise Unexpected(Diagnostic(message, cursor.here(), code="size"))
