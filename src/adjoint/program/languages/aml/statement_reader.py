"""From tokens to statements of AML; `parse_aml`."""

from __future__ import annotations

from ....errors import nearest
from ...instructions.diagnostics import Diagnostic, ProgramError
from ...instructions.expressions import Index, Name
from ...instructions.programs import Program, statements_in
from ...instructions.sources import Source, Span
from ...instructions.statements import (
    Assign,
    Block,
    Body,
    CallProcedure,
    Comment,
    Declare,
    If,
    Parameter,
    Procedure,
    Repeat,
    Return,
    Statement,
    While,
)
from ...instructions.value_types import ANY, NUMBER, TEXT
from ...texts.cursor import Unexpected
from ...texts.scanner import Tokens, scan
from .command_reader import CommandReader
from .words import AML_TOKENS, FUNCTIONS, RESERVED

__all__ = ["parse_aml"]

_ENOUGH = 50  # findings after which a text is given up
_NONE = frozenset()
_END, _UNTIL = frozenset({"END"}), frozenset({"UNTIL"})
_TYPES = {"REAL": NUMBER, "INT": NUMBER, "STRING": TEXT}
_LATER = {
    "AMOVE": "AMOVE, which would not wait for the arm, is not offered: write MOVE",
    "STATIC": "STATIC is not offered: give the variable a value outside of the subroutine",
    "APPLY": "APPLY is not offered: write the call itself",
    "FOR": "AML has no FOR: write i = 1; WHILE i LE 3 DO BEGIN ...; i = i + 1; END;",
    "GOTO": "AML's jumps are not offered: write WHILE, REPEAT or IF",
    "LET": "write x = 5;",
    "PRINT": "write DISPLAY(...)",
}


def parse_aml(source: Source) -> Program:
    """Read a program in AML: the instructions that a text says.

        >>> program = parse_aml(Source("-- home\\nMOVE(<1, 4>, <10, 20>);"))
        >>> [type(s).__name__ for s in program.statements]
        ['Comment', 'MoveJoints']

    Numbers for joints count in inches and degrees, times in seconds, and those of FORCE in ounces. A `ProgramError` has
    all findings with their places. Reference: Taylor, Summers & Meyer (1983); Fu, Gonzalez & Lee (1987), Tables
    9.2-9.6.
    """
    tokens = scan(source, AML_TOKENS)
    reader = _Reader(tokens, source)
    statements = reader.program()
    if reader.findings:
        raise ProgramError(sorted(reader.findings, key=lambda d: d.span.start), source)
    return Program(statements, language="aml", source=source)


class _Reader(CommandReader):
    """A place among tokens of AML, which reads statements. `findings` has what was wrong on the way."""

    def __init__(self, tokens: Tokens, source: Source):
        keys = tokens.keys
        found = [i for i, key in enumerate(keys) if key == "SUBR" and i > 1 and keys[i - 1] == ":"]
        super().__init__(tokens, source, {tokens.texts[i - 2] for i in found})
        self.findings: list[Diagnostic] = []
        self.comments = tokens.comments
        self.comment = 0  # the number of the first comment that is not yet a statement
        self.ready = self.commands | {
            "IF": self._if, "WHILE": self._while, "REPEAT": self._repeat, "BEGIN": self._block, "RETURN": self._return,
        }  # fmt: skip

    def program(self) -> Body:
        """All statements of the text."""
        found: list[Statement] = []
        while True:
            found.extend(self._body(_NONE))
            if self.kind == "end" or len(self.findings) >= _ENOUGH:
                return tuple(found)
            # A word such as END that ends nothing: it was reported, and is passed.
            self.next()

    # --- bodies -------------------------------------------------------------------------------------------------------

    def _body(self, closers: frozenset[str]) -> Body:
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
                self._report(self._stray().diagnostic)
                return tuple(out)
            depth, first = self.depth, self.index
            try:
                self._one_statement(out, closers)
            except Unexpected as error:
                self.begin_afresh(depth)
                self._report(error.diagnostic)
                if len(self.findings) >= _ENOUGH or error.diagnostic.code == "size":
                    self.skip_to(())
                else:
                    self._recover(first)

    def _report(self, diagnostic: Diagnostic) -> None:
        self.findings.append(diagnostic)

    def _one_statement(self, out: list[Statement], closers: frozenset[str]) -> None:
        """A statement with its semicolon; comments inside it come before it."""
        at = len(out)
        self._statement(out)
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
            raise self._stray()
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

    def _stray(self) -> Unexpected:
        """What to say about a word that no statement begins with."""
        hints = {
            "END": "no BEGIN and no SUBR is open here",
            "UNTIL": "no REPEAT is open here",
            "ELSE": "a ';' before ELSE ends the IF: remove it",
            "THEN": "IF begins a choice: IF a LT b THEN ...",
            "DO": "WHILE begins a loop: WHILE a LT b DO ...",
        }
        return self.unexpected(f"{self.key} is out of place", hint=hints.get(self.key, ""))

    def _nested(self, word: str) -> Body:
        """The body after THEN, ELSE or DO: one statement, or those from BEGIN to END."""
        self.deeper()
        if self.key == "BEGIN":
            found = self._enclosed()
        elif self.key == ";" or self.kind == "end":
            raise self.unexpected(f"a statement is missing after {word}", hint=f"{word} BEGIN END does nothing")
        else:
            out: list[Statement] = []
            self._take_comments(out, self.start)
            self._statement(out)
            found = tuple(out)
        self.depth -= 1
        return found

    def _enclosed(self) -> Body:
        """The statements from BEGIN to END."""
        start = self.start
        self.next()
        found = self._body(_END)
        self._end(start, "BEGIN")
        return found

    def _end(self, start: int, what: str) -> None:
        if self.key == "END":
            self.next()
            return
        line, column = self.source.position(start)
        raise self.unexpected("END is missing", hint=f"the {what} at line {line}, column {column} is open")

    # --- statements ---------------------------------------------------------------------------------------------------

    def _statement(self, out: list[Statement]) -> None:
        """One statement; a variable of its own is two."""
        start = self.starts[self.index]
        ready = self.ready.get(self.key)
        if ready is not None:
            out.append(ready(start))
        elif self.kind == "name" and self.key not in RESERVED:
            self._named_statement(out, start)
        elif self.key in ("END", "UNTIL", "ELSE", "THEN", "DO"):
            raise self._stray()
        elif self.kind == "name":
            hint = "it is a word of AML; give the variable another name" if self.ahead() in ("=", ":=", ":") else ""
            raise self.unexpected(f"no statement begins with {self.key}", hint=hint)
        else:
            raise self.unexpected("a statement is missing")

    def _named_statement(self, out: list[Statement], start: int) -> None:
        """An assignment, a call, a subroutine, or a variable of its own."""
        key = self.key
        name = self.next()
        target = Name(name, at=Span(start, start + len(name)))
        if self.key == "=" or self.key == ":=":
            out.append(self._assignment(target, start))
        elif self.key == ":" or self.key == ",":
            self._definition(out, name, start)
        elif self.key == "(" or self.key == "[":
            out.append(self._call_or_element(target, key, start))
        elif name in self.subroutines:
            out.append(CallProcedure(name, at=self.since(start)))
        else:
            raise self._unknown(name, key, start)

    def _unknown(self, name: str, key: str, start: int) -> Unexpected:
        words = [*self.ready, *sorted(self.subroutines)]
        hint = _LATER.get(key) or nearest(key, words)
        if key in FUNCTIONS:
            hint = f"{key} gives a value: write x = {key}(...);"
        message = f"'{name[:40]}' is neither a statement of AML nor a subroutine of this text"
        return Unexpected(Diagnostic(message, Span(start, start + len(name)), hint, code="name"))

    def _assignment(self, target: Name | Index, start: int) -> Statement:
        self.next()
        if self.key == "MONITOR":
            if isinstance(target, Index):
                raise self.unexpected("a monitor needs a name of its own")
            return self.monitor_definition(target.name, start)
        value = self.expression()
        return Assign(target, value, at=Span(start, self.ends[self.index - 1]))

    def _call_or_element(self, target: Name, key: str, start: int) -> Statement:
        """f(a, b); calls a subroutine, and v(2) = 5; sets an element."""
        name = target.name
        if self.key == "(" and name in self.subroutines:
            return CallProcedure(name, self.arguments(), at=self.since(start))
        before = self.index
        if self.key == "(" and self.ahead() == ")":
            raise self._unknown(name, key, start)
        found = self.elements(target, start)
        if (self.key == "=" or self.key == ":=") and isinstance(found, Index):
            return self._assignment(found, start)
        if self.tokens.keys[before] == "(":
            raise self._unknown(name, key, start)
        raise self.unexpected("'=' is missing after the element", hint=f"write {name}[1] = ...;")

    # --- subroutines and variables ------------------------------------------------------------------------------------

    def _definition(self, out: list[Statement], name: str, start: int) -> None:
        """name: SUBR(...); ... END;  or  name: NEW value;"""
        names = [name]
        while self.accept(","):
            names.append(self._fresh("a variable"))
        if self.key != ":":
            raise self.unexpected("':' is missing after the name", hint="write x, y: NEW;")
        self.next()
        if self.key == "SUBR" and len(names) == 1:
            out.append(self._subroutine(name, start))
        elif self.key == "NEW":
            self._variables(out, names, start)
        else:
            hint = _LATER.get(self.key, "write f: SUBR(a); ... END; or x: NEW 0;")
            raise self.unexpected("SUBR or NEW is missing after ':'", hint=hint)

    def _fresh(self, what: str) -> str:
        if self.key in RESERVED:
            raise self.unexpected(f"the name of {what} cannot be a word of AML")
        return self.name(what)

    def _variables(self, out: list[Statement], names: list[str], start: int) -> None:
        self.next()
        bare = self.key == ";" or self.key in ("END", "UNTIL", "ELSE") or self.kind == "end"
        typed = self.key in _TYPES and self.ahead() in (";", "")
        if bare or typed:
            kind = _TYPES[self.key] if typed else ANY
            if typed:
                self.next()
            out.append(Declare(kind, tuple(names), at=self.since(start)))
            return
        if len(names) > 1:
            raise self.unexpected("several variables get no value at once", hint="write x: NEW 0; y: NEW 0;")
        out.append(Declare(ANY, tuple(names), at=self.since(start)))
        target = Name(names[0], at=Span(start, start + len(names[0])))
        if self.key == "MONITOR":
            out.append(self.monitor_definition(names[0], start))
        else:
            out.append(Assign(target, self.expression(), at=self.since(start)))

    def _subroutine(self, name: str, start: int) -> Statement:
        if self.depth:
            hint = "end the subroutine or block around it first"
            raise self.unexpected(f"the subroutine '{name[:40]}' begins inside something else", hint=hint)
        self.next()
        parameters = self._parameters() if self.key == "(" else ()
        if self.key != ";":
            raise self.unexpected(f"';' is missing after SUBR of '{name[:40]}'", hint="write f: SUBR(a, b);")
        self.next()
        self.deeper()
        body = self._body(_END)
        self.depth -= 1
        self._end(start, "SUBR")
        gives = any(isinstance(s, Return) and s.value is not None for s in statements_in(body))
        return Procedure(name, parameters, body, ANY if gives else None, at=self.since(start))

    def _parameters(self) -> tuple[Parameter, ...]:
        start = self.start
        self.next()
        found: dict[str, Parameter] = {}
        while self.key != ")":
            at = self.here()
            name = self._fresh("a parameter")
            if name in found:
                raise Unexpected(Diagnostic(f"two parameters have the name '{name[:40]}'", at, code="name"))
            found[name] = Parameter(name, at=at)
            if not self.accept(","):
                break
        self.close(start, "(", ")")
        return tuple(found.values())

    # --- flow of control ----------------------------------------------------------------------------------------------

    def _after(self, word: str, condition: str) -> None:
        if self.key != word:
            meant = nearest(self.key, [word])
            hint = "compare with EQ or =" if self.key == ":=" else meant if meant.startswith("did") else ""
            raise self.unexpected(f"{word} is missing after the condition of {condition}", hint=hint)
        self.next()

    def _if(self, start: int) -> Statement:
        self.next()
        condition = self.expression()
        self._after("THEN", "IF")
        then = self._nested("THEN")
        otherwise: Body = ()
        if self.key == "ELSE":
            self.next()
            otherwise = self._nested("ELSE")
        return If(condition, then, otherwise, at=self.since(start))

    def _while(self, start: int) -> Statement:
        self.next()
        condition = self.expression()
        self._after("DO", "WHILE")
        return While(condition, self._nested("DO"), at=self.since(start))

    def _repeat(self, start: int) -> Statement:
        self.next()
        self.deeper()
        body = self._body(_UNTIL)
        self.depth -= 1
        if self.key != "UNTIL":
            line, column = self.source.position(start)
            raise self.unexpected("UNTIL is missing", hint=f"the REPEAT at line {line}, column {column} is open")
        self.next()
        return Repeat(body, self.expression(), at=self.since(start))

    def _block(self, start: int) -> Statement:
        self.deeper()
        body = self._enclosed()
        self.depth -= 1
        return Block(body, at=self.since(start))

    def _return(self, start: int) -> Statement:
        self.next()
        if self.key in (";", "END", "UNTIL", "ELSE") or self.kind == "end":
            return Return(at=self.since(start))
        return Return(self.expression(), at=self.since(start))
