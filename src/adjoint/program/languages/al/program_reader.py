"""From the text of an AL program to its instructions."""

from __future__ import annotations

from ...instructions.diagnostics import Diagnostic, ProgramError
from ...instructions.programs import Program
from ...instructions.sources import Source, Span
from ...instructions.statements import Block, Statement
from ...texts.cursor import Unexpected
from ...texts.scanner import Words, scan
from .statement_reader import Enough, StatementReader
from .words import SIGNS

__all__ = ["parse_al"]

# A comment without end reaches to the end of the text, so that it is found; units that are no words have apostrophes.
_PATTERN = Words(r"\{[^}]*\}?", SIGNS, string=r'"(?:[^"\r\n\f]|"")*"|\'[^\'\n]*\'').pattern()


def parse_al(source: Source) -> Program:
    """The instructions of an AL program (Fu, Gonzalez & Lee 1987, Tables 9.2-9.7).

        >>> from adjoint.program.instructions import Source
        >>> from adjoint.program.languages.al import parse_al
        >>> program = parse_al(Source("OPEN bhand TO 2.5*inches;"))
        >>> program.statements
        (MoveHand(hand='bhand', opens=True, width=Quantity(value=2.5, unit='inches'), wait=True, ...),)

    `source` is a whole program, BEGIN name ... END name., or statements alone. ←, =, := and <- assign; ⊗, ⊕, HERE and
    GRINCH are where the arm is; comments in {...} become `Comment` statements. A name is a unit of `world.UNITS` unless
    the text above it gives it a value. A `ProgramError` has all findings, each with its place.
    """
    tokens = scan(source, _PATTERN)
    if tokens.comments and tokens.comments[-1][1][-1] != "}":
        start = tokens.comments[-1][0]
        raise ProgramError(
            Diagnostic("this comment has no end", Span(start, start + 1), "close it with }", code="syntax"), source
        )
    reader = StatementReader(tokens, source)
    name, statements = "", ()
    try:
        name, statements = _program(reader)
    except Unexpected as error:
        reader.findings.append(error.diagnostic)
    except Enough:
        pass
    except RecursionError:  # the caller itself is deep in calls
        reader.findings.append(Diagnostic("this is nested too deep", reader.here(), code="size"))
    if reader.findings:
        raise ProgramError(sorted(reader.findings, key=lambda d: d.span.start), source)
    return Program(statements, name, "al", source)


def _program(reader: StatementReader) -> tuple[str, tuple[Statement, ...]]:
    """The name and the statements. A block that a '.' ends, or a block with a name that ends the text, is a program."""
    found = reader.comments_before(reader.start)
    if reader.key == "BEGIN":
        start = reader.start
        name, body = reader.block()
        if reader.key == "." or (name and reader.kind == "end"):
            reader.accept(".")
            if reader.kind != "end":
                error = reader.unexpected("the program has ended, but the text goes on", hint="put it before the END")
                reader.report(error.diagnostic)
            return name, (*found, *body, *reader.comments_before(len(reader.source.text)))
        found.append(Block(body, name, at=reader.since(start)))
        if reader.key != ";":
            try:
                reader.separate()
            except Unexpected as error:
                reader.report(error.diagnostic)
                reader.recover(reader.index, ())
    return "", reader.body(found)
