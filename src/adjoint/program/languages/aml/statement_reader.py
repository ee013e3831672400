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
from .body_reader import CLOSERS, BodyReader
from .words import AML_TOKENS, FUNCTIONS, RESERVED

__all__ = ["parse_aml"]

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

        >>> from adjoint.program import Source
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


class _Reader(BodyReader):
    """A place among tokens of AML, which reads statements. `findings` has what was wrong on the way."""

    def __init__(self, tokens: Tokens, source: Source):
        super().__init__(tokens, source)
        self.ready = self.commands | {
            "IF": self._if, "WHILE": self._while, "REPEAT": self._repeat, "BEGIN": self._block, "RETURN": self._return,
        }  # fmt: skip

    # --- statements ---------------------------------------------------------------------------------------------------

    def statement(self, out: list[Statement]) -> None:
        """One statement; a variable of its own is two."""
        start = self.starts[self.index]
        ready = self.ready.get(self.key)
        if ready is not None:
            out.append(ready(start))
        elif self.kind == "name" and self.key not in RESERVED:
            self._named_statement(out, start)
        elif self.key in ("END", "UNTIL", "ELSE", "THEN", "DO"):
            raise self.stray()
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
        body = self.body(CLOSERS["END"])
        self.depth -= 1
        self.end_of(start, "SUBR")
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
        then = self.nested("THEN")
        otherwise: Body = ()
        if self.key == "ELSE":
            self.next()
            otherwise = self.nested("ELSE")
        return If(condition, then, otherwise, at=self.since(start))

    def _while(self, start: int) -> Statement:
        self.next()
        condition = self.expression()
        self._after("DO", "WHILE")
        return While(condition, self.nested("DO"), at=self.since(start))

    def _repeat(self, start: int) -> Statement:
        self.next()
        self.deeper()
        body = self.body(CLOSERS["UNTIL"])
        self.depth -= 1
        if self.key != "UNTIL":
            line, column = self.source.position(start)
            raise self.unexpected("UNTIL is missing", hint=f"the REPEAT at line {line}, column {column} is open")
        self.next()
        return Repeat(body, self.expression(), at=self.since(start))

    def _block(self, start: int) -> Statement:
        self.deeper()
        body = self.enclosed()
        self.depth -= 1
        return Block(body, at=self.since(start))

    def _return(self, start: int) -> Statement:
        self.next()
        if self.key in (";", "END", "UNTIL", "ELSE") or self.kind == "end":
            return Return(at=self.since(start))
        return Return(self.expression(), at=self.since(start))
