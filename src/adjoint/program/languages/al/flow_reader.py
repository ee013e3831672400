"""From tokens to statements that decide what runs next: IF, CASE, loops and COBEGIN."""

from __future__ import annotations

from collections.abc import Iterable

from ...instructions.diagnostics import Diagnostic
from ...instructions.expressions import Expression, Literal
from ...instructions.statements import Block, Body, Case, Comment, For, If, Parallel, Repeat, Statement, While
from ...texts.cursor import Unexpected
from .action_reader import ActionReader

__all__: list[str] = []

CLOSERS = ("END", "COEND", "UNTIL")


class FlowReader(ActionReader):
    """A place among tokens of AL, which reads statements that contain others."""

    open: list[tuple[str, str]]
    """(word that ends it, name) of every block around this place"""

    def body(self, found: list[Statement], *stops: str) -> Body:
        """Statements up to one of the words `stops`."""
        raise NotImplementedError

    def comments_before(self, offset: int) -> list[Statement]:
        """The comments up to an offset that no body has yet."""
        raise NotImplementedError

    def assigns(self) -> bool:
        """Whether an assignment stands here; if it does, go past it."""
        raise NotImplementedError

    def recover(self, first: int, stops: Iterable[str]) -> None:
        """Go to the end of a statement."""
        raise NotImplementedError

    def _branches(self, closer: str, what: str) -> list[Body]:
        """The statements of COBEGIN, each with the comments before it."""
        opened = self.here()
        self.next()
        self.open.append((closer, ""))
        found = self.body([], closer)
        self.open.pop()
        if self.key == closer:
            self.next()
        else:
            self.report(Diagnostic(f"this {what} has no {closer}", opened, code="syntax"))
        branches: list[Body] = []
        comments: list[Statement] = []
        for statement in found:
            if isinstance(statement, Comment):
                comments.append(statement)
                continue
            inside = statement.body if isinstance(statement, Block) and not statement.name else (statement,)
            branches.append((*comments, *inside))
            comments = []
        return [*branches, tuple(comments)] if comments else branches

    def cobegin_statement(self) -> Statement:
        """COBEGIN ... COEND."""
        start = self.start
        branches = self._branches("COEND", "COBEGIN")
        return Parallel(tuple(branches), at=self.since(start))

    # --- flow of control ----------------------------------------------------------------------------------------------

    def if_statement(self) -> Statement:
        """IF condition THEN ... ELSE ..."""
        start = self.start
        self.next()
        condition = self.expression()
        self.expect_word("THEN", "behind the condition of IF")
        then = self.single("behind THEN")
        otherwise: Body = ()
        if self.key == "ELSE":
            self.next()
            otherwise = self.single("behind ELSE")
        return self.made(If, start, condition, then, otherwise)

    def while_statement(self) -> Statement:
        """WHILE condition DO ..."""
        start = self.start
        self.next()
        condition = self.expression()
        self.expect_word("DO", "behind the condition of WHILE")
        return self.made(While, start, condition, self.single("behind DO"))

    def repeat_statement(self) -> Statement:
        """DO ... UNTIL condition."""
        start, opened = self.start, self.here()
        self.next()
        self.open.append(("UNTIL", ""))
        body = self.body([], "UNTIL")
        self.open.pop()
        if self.key != "UNTIL":
            hint = "a loop is DO ... UNTIL condition, or WHILE condition DO ..."
            raise Unexpected(Diagnostic("this DO has no UNTIL", opened, hint, code="syntax"))
        self.next()
        return self.made(Repeat, start, body, self.expression())

    def for_statement(self) -> Statement:
        """FOR v ← a STEP b UNTIL c DO ..."""
        start = self.start
        self.next()
        name = self.variable("the variable of FOR")
        if not self.assigns():
            raise self.unexpected("'←' is missing behind the variable of FOR")
        self.bound.add(name)
        first = self.expression()
        step = None
        if self.key == "STEP":
            self.next()
            step = self.expression()
        if self.key == "TO":
            self.next()
        else:
            self.expect_word("UNTIL", "before the last value of FOR")
        last = self.expression()
        self.expect_word("DO", "before the statement of FOR")
        return self.made(For, start, name, first, last, step, self.single("behind DO"))

    def case_statement(self) -> Statement:
        """CASE n OF BEGIN [1] a; [2, 3] b; ELSE c; END; statements without numbers count from 0."""
        start = self.start
        self.next()
        selector = self.expression()
        self.expect_word("OF", "behind the value of CASE")
        opened = self.here()
        self.expect("BEGIN", "behind OF")
        self.open.append(("END", ""))
        branches: list[tuple[tuple[Expression, ...], Body]] = []
        otherwise: Body = ()
        while self.key not in CLOSERS and self.kind != "end":
            comments = self.comments_before(self.start)
            first, depth, around = self.index, self.depth, len(self.open)
            try:
                if self.accept(";"):
                    continue
                if self.accept("ELSE"):
                    otherwise = (*comments, *self.single("behind ELSE"))
                else:
                    values = self._values(len(branches))
                    branches.append((values, (*comments, *self.single("of CASE"))))
                if self.key not in CLOSERS:
                    self.expect(";", "between the statements of CASE")
            except Unexpected as error:
                if error.diagnostic.code == "size":
                    raise
                self.report(error.diagnostic)
                self.depth = depth
                del self.open[around:]
                self.recover(first, ())
        self.open.pop()
        if self.key != "END":
            raise Unexpected(Diagnostic("the BEGIN of this CASE has no END", opened, code="syntax"))
        self.next()
        return self.made(Case, start, selector, tuple(branches), otherwise)

    def _values(self, number: int) -> tuple[Expression, ...]:
        """[1, 2] before a statement of CASE, or the number of the statement."""
        if self.key != "[":
            return (Literal(float(number), at=self.here()),)
        bracket = self.start
        self.next()
        values = [self.expression()]
        while self.accept(","):
            values.append(self.expression())
        self.close("]", "[", bracket)
        return tuple(values)
