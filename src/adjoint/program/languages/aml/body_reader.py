"""Rows of statements of AML, with their comments, and how reading goes on after what was wrong."""

from __future__ import annotations

from ...instructions.diagnostics import Diagnostic
from ...instructions.sources import Source, Span
from ...instructions.statements import Body, Comment, Statement
from ...texts.cursor import MOST_FINDINGS, Unexpected
from ...texts.scanner import Tokens
from .command_reader import CommandReader

__all__: list[str] = []

CLOSERS = {"": frozenset(), "END": frozenset({"END"}), "UNTIL": frozenset({"UNTIL"})}
"""Words that end a row of statements."""


class BodyReader(CommandReader):
    """A place among tokens of AML, which reads rows of statements. `findings` has what was wrong on the way."""

    def __init__(self, tokens: Tokens, source: Source):
        keys = tokens.keys
        found = [i for i, key in enumerate(keys) if key == "SUBR" and i > 1 and keys[i - 1] == ":"]
        super().__init__(tokens, source, {tokens.texts[i - 2] for i in found})
        self.findings: list[Diagnostic] = []
        self.comments = tokens.comments
        self.comment = 0  # the number of the first comment that is not yet a statement

    def statement(self, out: list[Statement]) -> None:
        """One statement; a variable of its own is two."""
        raise NotImplementedError

    def program(self) -> Body:
        """All statements of the text."""
        found: list[Statement] = []
        while True:
            found.extend(self.body(CLOSERS[""]))
            if self.kind == "end" or len(self.findings) >= MOST_FINDINGS:
                return tuple(found)
            # A word such as END that ends nothing: it was reported, and is passed.
            self.next()

    # --- bodies -------------------------------------------------------------------------------------------------------

    def body(self, closers: frozenset[str]) -> Body:
        """Statements up to one of the words, which is not passed, or up to the end."""
        out: list[Statement] = []
        while True:
            self._take_comments(out, self.starts[self.index])
            if self.key == ";":
                self.next()
                continue
            if self.kind == "end" or self.key in closers:
                return tuple(out)
            if not closers and self.key in ("END", "UNTIL"):
                self._report(self.stray().diagnostic)
                return tuple(out)
            depth, first = self.depth, self.index
            try:
                self._one_statement(out, closers)
            except Unexpected as error:
                self.begin_afresh(depth)
                self._report(error.diagnostic)
                if len(self.findings) >= MOST_FINDINGS or error.diagnostic.code == "size":
                    self.skip_to(())
                else:
                    self._recover(first)

    def _report(self, diagnostic: Diagnostic) -> None:
        self.findings.append(diagnostic)

    def _one_statement(self, out: list[Statement], closers: frozenset[str]) -> None:
        """A statement with its semicolon; comments inside it come before it."""
        at = len(out)
        self.statement(out)
        end = self.ends[self.index - 1]
        if self.comment < len(self.comments) and self.comments[self.comment][0] < end:
            before: list[Statement] = []
            self._take_comments(before, end)
            out[at:at] = before
        if self.key == ";":
            self.next()
        elif self.kind != "end" and self.key not in closers:
            self._missing_semicolon()

    def _missing_semicolon(self) -> None:
        before, here = self.index - 1, self.index
        line = self.source.position(self.starts[here]).line
        if self.key in ("END", "UNTIL", "ELSE", "THEN", "DO"):
            raise self.stray()
        last = Span(self.starts[before], self.ends[before])
        if line == self.source.position(last.start).line:
            raise self.unexpected("';' is missing", hint="a semicolon ends every statement")
        message = f"';' is missing after '{self.texts[before][:40]}'"
        hint = f"the next statement begins on line {line} with '{self.texts[here][:40]}'"
        self._report(Diagnostic(message, last, hint, code="syntax"))

    def _recover(self, first: int) -> None:
        """Skip the rest of a statement that began at the token `first`, with blocks that begin in it."""
        if self.index == first:
            self.next()
        opened = 0
        while self.kind != "end":
            key = self.key
            if key in ("BEGIN", "REPEAT", "SUBR"):
                opened += 1
            elif key in ("END", "UNTIL"):
                if not opened:
                    return
                opened -= 1
            elif key == ";" and not opened:
                return
            self.next()

    def _take_comments(self, out: list[Statement], end: int) -> None:
        """Comments that begin before an offset become statements."""
        comments, k = self.comments, self.comment
        while k < len(comments) and comments[k][0] < end:
            at, text = comments[k]
            out.append(Comment(text[2:].removeprefix(" ").rstrip(), at=Span(at, at + len(text))))
            k += 1
        self.comment = k

    def stray(self) -> Unexpected:
        """What to say about a word that no statement begins with."""
        hints = {
            "END": "no BEGIN and no SUBR is open here",
            "UNTIL": "no REPEAT is open here",
            "ELSE": "a ';' before ELSE ends the IF: remove it",
            "THEN": "IF begins a choice: IF a LT b THEN ...",
            "DO": "WHILE begins a loop: WHILE a LT b DO ...",
        }
        return self.unexpected(f"{self.key} is out of place", hint=hints.get(self.key, ""))

    def nested(self, word: str) -> Body:
        """The body after THEN, ELSE or DO: one statement, or those from BEGIN to END."""
        self.deeper()
        if self.key == "BEGIN":
            found = self.enclosed()
        elif self.key == ";" or self.kind == "end":
            raise self.unexpected(f"a statement is missing after {word}", hint=f"{word} BEGIN END does nothing")
        else:
            out: list[Statement] = []
            self._take_comments(out, self.start)
            self.statement(out)
            found = tuple(out)
        self.depth -= 1
        return found

    def enclosed(self) -> Body:
        """The statements from BEGIN to END."""
        start = self.start
        self.next()
        found = self.body(CLOSERS["END"])
        self.end_of(start, "BEGIN")
        return found

    def end_of(self, start: int, what: str) -> None:
        if self.key == "END":
            self.next()
            return
        line, column = self.source.position(start)
        raise self.unexpected("END is missing", hint=f"the {what} at line {line}, column {column} is open")
