"""`parse_val`: from the text of a VAL program to instructions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ....errors import nearest
from ...instructions.diagnostics import Diagnostic, ProgramError
from ...instructions.programs import Program
from ...instructions.sources import NOWHERE, Source, Span
from ...instructions.statements import Comment, Label, Procedure, Statement
from ...texts.cursor import MOST_FINDINGS, Unexpected
from ...texts.scanner import scan
from .val_expressions import LineReader
from .val_instructions import INSTRUCTIONS, raw_text
from .words import ELSEWHERE, FORMS

__all__ = ["parse_val"]

_FEW = 200  # labels among which one that looks like another is looked for
_OPERATORS = ("<=", ">=", "<>", "==", ",", ":", "=", "(", ")", "+", "-", "*", "/", "%", "<", ">")
# The words TYPE and PAUSE take the text behind them, up to a semicolon, and REMARK takes all of it.
_PATTERN = re.compile(
    r"(?P<space>[ \t\r\f]+)|(?P<newline>\n)"
    r"|(?P<text>(?i:TYPE|PAUSE)[ \t]+(?=[^ \t\r\f\n;\"])[^\n;]*|(?i:REMARK)(?![A-Za-z0-9_.])[^\n]*)"
    r"|(?P<name>[.#]?[A-Za-z_][A-Za-z0-9_.]*)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    rf"|(?P<operator>{'|'.join(map(re.escape, _OPERATORS))})"
    r"|(?P<comment>;[^\n]*)|(?P<string>\"[^\"\n]*\")"
)


@dataclass
class _Body:
    """The statements of one program of the text, with its labels and the jumps to them."""

    name: str = ""
    at: Span = NOWHERE
    statements: list[Statement] = field(default_factory=list)
    labels: dict[str, Span] = field(default_factory=dict)
    jumps: list[tuple[str, Span]] = field(default_factory=list)


class _Reader(LineReader):
    """Reads all lines of a text, and goes on after a bad one."""

    def __init__(self, source: Source):
        super().__init__(scan(source, _PATTERN), source)
        self.findings: list[Diagnostic] = []
        self.main = _Body()
        self.body = self.main
        self.jumps = self.main.jumps
        self.sections: list[_Body] = []
        self.order: list[tuple[int, _Body]] = []  # how many statements stand before each section
        self.comment = 0

    # --- lines --------------------------------------------------------------------------------------------------------

    def read(self) -> None:
        """Read all lines."""
        while self.kind != "end" and len(self.findings) < MOST_FINDINGS:
            first = len(self.body.statements)
            before = self.body
            if self.kind != "newline":
                self._line()
            self._comments(before if self.body is not before and before is not self.main else self.body, first)
            self.next()
        self._comments(self.body, len(self.body.statements))
        if self.body is not self.main and len(self.findings) < MOST_FINDINGS:
            self.findings.append(
                Diagnostic("this .PROGRAM has no .END", self.body.at, "end it with .END", code="syntax")
            )
        for body in [self.main, *self.sections]:
            self._check_jumps(body)

    def _comments(self, body: _Body, index: int) -> None:
        """Put the comments of a line before its statements."""
        comments = self.tokens.comments
        end, found = self.start, []
        while self.comment < len(comments) and (comments[self.comment][0] < end or self.kind == "end"):
            offset, text = comments[self.comment]
            found.append(Comment(text[1:].strip(), at=Span(offset, offset + len(text))))
            self.comment += 1
        if found:
            index = min(index, len(body.statements))
            body.statements[index:index] = found

    def _line(self) -> None:
        try:
            if self.kind == "number":
                self._label()
            if self.kind not in ("newline", "end"):
                self._instruction()
        except Unexpected as problem:
            self.depth = 0
            self.findings.append(problem.diagnostic)
            while self.kind not in ("newline", "end"):
                self.next()

    def _label(self) -> None:
        span = self.here()
        name = self.label("here")
        first = self.body.labels.setdefault(name, span)
        if first != span:
            line = self.source.position(first.start).line
            message = f"the label {name} is there twice"
            self.findings.append(Diagnostic(message, span, f"line {line} has it, too", code="name"))
        self.body.statements.append(Label(name, at=span))

    def _instruction(self) -> None:
        start, word = self.start, self.key
        if self.kind == "text":
            self._text()
            return
        if word in (".PROGRAM", ".END"):
            self._section(word, start)
            return
        read = INSTRUCTIONS.get(word)
        if read is None:
            raise self._unknown(word)
        self.next()
        try:
            made = read(self, word, start)
            if self.kind not in ("newline", "end"):
                raise self.unexpected(f"{word} ends before this")
        except Unexpected as problem:
            found = problem.diagnostic
            if found.hint or found.code != "syntax":
                raise
            raise Unexpected(Diagnostic(found.message, found.span, f"write {FORMS[word]}", code="syntax")) from None
        if isinstance(made, list):
            self.body.statements.extend(made)
        else:
            self.body.statements.append(made)

    def _text(self) -> None:
        span, token = self.here(), self.next()
        remark = token[:6].upper() == "REMARK"
        self.body.statements.append(Comment(token[6:].strip(), at=span) if remark else raw_text(token, span))

    def _unknown(self, word: str) -> Unexpected:
        if self.kind != "name":
            return self.unexpected("an instruction is missing")
        text, span = self.tokens.texts[self.index], self.here()
        if self.ahead() == "=":
            message, hint = f"'{text[:40]}' is no instruction", "write SET for locations, or SETI for whole numbers"
        elif word in ELSEWHERE:
            message, hint = f"{word} has no meaning here", ELSEWHERE[word]
        else:
            message, hint = f"'{text[:40]}' is no instruction", nearest(word[:40], [*INSTRUCTIONS, ".PROGRAM", ".END"])
        return Unexpected(Diagnostic(message, span, hint, code="syntax"))

    # --- programs of the text -----------------------------------------------------------------------------------------

    def _section(self, word: str, start: int) -> None:
        self.next()
        if word == ".PROGRAM":
            name = "" if self.kind in ("newline", "end") else self.spelt("a program")
            if self.body is not self.main:
                self.findings.append(
                    Diagnostic("a program ends with .END before the next one begins", self.since(start), code="syntax")
                )
            same = next((s for s in self.sections if name and s.name == name), None)
            if same is not None:
                line = self.source.position(same.at.start).line
                message = f"the program {name} is there twice"
                self.findings.append(Diagnostic(message, self.since(start), f"line {line} has it, too", code="name"))
            self.body = _Body(name, self.since(start))
            self.jumps = self.body.jumps
            self.sections.append(self.body)
            self.order.append((len(self.main.statements), self.body))
        elif self.body is self.main:
            span = self.since(start)
            raise Unexpected(Diagnostic(".END has no .PROGRAM before it", span, "a file without .PROGRAM just ends"))
        else:
            self.body, self.jumps = self.main, self.main.jumps
        if self.kind not in ("newline", "end"):
            raise self.unexpected(f"{word} ends before this")

    def _check_jumps(self, body: _Body) -> None:
        for name, span in body.jumps:
            if name in body.labels or len(self.findings) >= MOST_FINDINGS:
                continue
            few = list(body.labels) if len(body.labels) <= _FEW else []
            hint = nearest(name, few) if few else "a label is a number at the beginning of a line"
            self.findings.append(Diagnostic(f"there is no label {name}", span, hint, code="name"))

    def program(self) -> Program:
        """The statements in the order of the text, with the programs of the text as procedures."""
        alone = bool(self.sections) and all(isinstance(s, Comment) for s in self.main.statements)
        main = self.sections[0] if alone else None
        statements: list[Statement] = []
        done = 0
        for count, section in self.order:
            statements += self.main.statements[done:count]
            done = count
            if section is main:
                statements += section.statements
                continue
            if not section.name:
                message = "the name of this program is missing"
                self.findings.append(Diagnostic(message, section.at, "write .PROGRAM name", code="syntax"))
            statements.append(Procedure(section.name, (), tuple(section.statements), at=section.at))
        statements += self.main.statements[done:]
        name = main.name if main is not None else ""
        return Program(tuple(statements), name, "val", self.source)


def parse_val(source: Source) -> Program:
    """Read a VAL program: the instructions that its lines say.

        >>> from adjoint.program.instructions import Source
        >>> program = parse_val(Source("10 APPRO BIN,50\\n MOVES BIN\\n GOTO 10"))
        >>> program.statements[0], program.statements[-1]
        (Label(name='10'), Goto(label='10'))

    `source` is the text with the name of its file. Distances are in mm, angles in degrees, speeds in percent. A
    `ProgramError` has all findings, each with its line, its column and a suggestion. The programs of a text between
    .PROGRAM and .END become procedures; if nothing stands outside of them, the first is the main program.

    Shimano, B. (1979), "VAL: A versatile robot programming and control system"; Fu, Gonzalez & Lee (1987), Table 9.11.
    """
    reader = _Reader(source)
    reader.read()
    program = reader.program()
    if reader.findings:
        findings = sorted(reader.findings, key=lambda finding: finding.span.start)
        raise ProgramError(findings, source)
    return program
