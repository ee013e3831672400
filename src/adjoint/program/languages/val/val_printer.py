"""`val_text`: from instructions to the text of a VAL program."""

from __future__ import annotations

from collections.abc import Sequence

from ...instructions.diagnostics import Diagnostic, ProgramError
from ...instructions.expressions import Name
from ...instructions.programs import Program, expressions_in, statements_in
from ...instructions.statements import CallProcedure, Comment, Label, MoveHand, Procedure, Statement
from .val_expression_texts import NoWords, label_text, name_text
from .val_statement_texts import WRITERS, hand_and_move, number_names, shown_text

__all__ = ["val_text"]

_INDENT = 8  # columns for labels


# What VAL has in place of what it has no words for.
_JUMPS = "VAL has labels, IF i LT j THEN label, and GOTO"
_INSTEAD = {
    "If": _JUMPS, "While": _JUMPS, "Repeat": _JUMPS, "For": _JUMPS, "Case": _JUMPS,
    "Move": "VAL has one arm without a name, places by name, and compound places such as SET A = B:C",
    "Assign": "VAL has POINT A = x,y,z,o,a,t in mm and degrees, SET A = B:C, and whole numbers",
    "Parallel": "VAL has one thread; REACT answers to input lines",
    "Attach": "VAL knows no attachments; a hand that closes on a part holds it",
    "Abort": "VAL has TYPE and STOP",
}  # fmt: skip


class _Printer:
    """Writes lines; `numbers` are the names of variables that are whole numbers as far as the program shows."""

    def __init__(self, program: Program):
        self.program = program
        self.numbers = number_names(program)
        self.lines: list[str] = []
        self.findings: list[Diagnostic] = []
        self.label = ""

    def line(self, text: str) -> None:
        """Write a line, after the label that waits for one."""
        self.lines.append(f"{self.label:<{_INDENT}}{text}".rstrip())
        self.label = ""

    def put_label(self) -> None:
        """Write the label that waits on a line of its own."""
        if self.label:
            self.line("")

    def body(self, statements: Sequence[Statement]) -> None:
        """Write statements in order."""
        index = 0
        while index < len(statements):
            statement = statements[index]
            following = statements[index + 1] if index + 1 < len(statements) else None
            try:
                index += self.statement(statement, following)
            except NoWords as problem:
                hint = _INSTEAD.get(type(statement).__name__, "")
                kind = type(statement).__name__
                message = f"VAL has no words for {problem}" + (f" ({kind})" if str(problem) != kind else "")
                self.findings.append(Diagnostic(message, statement.at, hint, code="language"))
                index += 1
        self.put_label()

    def statement(self, statement: Statement, following: Statement | None) -> int:
        """Write a statement, and return how many were written."""
        if isinstance(statement, Label):
            self.put_label()
            self.label = label_text(statement.name)
        elif isinstance(statement, Comment):
            self.put_label()  # on a line with a label, a comment would come before the label
            for text in statement.text.split("\n"):
                self.line(f"; {shown_text(text)}")
        elif isinstance(statement, MoveHand) and statement.either_way:
            self.line(hand_and_move(statement, following))
            return 2
        else:
            write = WRITERS.get(type(statement))
            if write is None:
                raise NoWords(f"{type(statement).__name__}")
            self.line(write(self.numbers, statement))
        return 1

    def section(self, name: str, statements: Sequence[Statement]) -> None:
        """Write statements between .PROGRAM and .END."""
        self.lines.append(f".PROGRAM {name}".rstrip())
        self.body(statements)
        self.lines.append(".END")

    def procedure(self, statement: Procedure) -> None:
        """Write a procedure as a program of the text."""
        try:
            if statement.parameters or statement.result is not None:
                raise NoWords(f"the parameters or the result of '{statement.name}'")
            name = name_text(statement.name)
        except NoWords as problem:
            message = f"VAL has no words for {problem} (Procedure)"
            self.findings.append(Diagnostic(message, statement.at, code="language"))
            return
        self.section(name, statement.body)


# --- programs ---------------------------------------------------------------------------------------------------------


def val_text(program: Program) -> str:
    """The text of a program in VAL, one instruction on each line; `parse_val` reads the same instructions from it.

        >>> from adjoint.program.instructions import Move, MoveHand, Name, Program
        >>> print(val_text(Program((Move("", Name("BIN"), straight=True), MoveHand("", opens=True)))), end="")
                MOVES BIN
                OPENI

    A `ProgramError` names each instruction for which VAL has no words, such as a thread, a procedure with parameters or
    a second arm. Lengths in other units than mm are converted.

    Shimano, B. (1979), "VAL: A versatile robot programming and control system"; Fu, Gonzalez & Lee (1987), Table 9.11.
    """
    printer = _Printer(program)
    statements = program.statements
    procedures = [k for k, s in enumerate(statements) if isinstance(s, Procedure)]
    first = procedures[0] if procedures else len(statements)
    main = [s for s in statements if not isinstance(s, Procedure | Comment)]
    later = any(not isinstance(s, Procedure | Comment) for s in statements[first:])
    try:
        name = name_text(program.name) if program.name else ""
    except NoWords:
        name = ""  # a title with blanks, or the name of a file
    if not later and (name or (procedures and not main)):
        while procedures and first and isinstance(statements[first - 1], Comment):
            first -= 1  # what stands before a program is a comment on it
        printer.section(name, statements[:first])
        statements = statements[first:]
    for statement in _runs(statements):
        if isinstance(statement, Procedure):
            printer.procedure(statement)
        else:
            printer.body(statement)
    printer.findings += _one_spelling(program)
    if printer.findings:
        raise ProgramError(printer.findings, program.source)
    return "\n".join([*printer.lines, ""])


def _one_spelling(program: Program) -> list[Diagnostic]:
    """Names that differ in case alone, which VAL does not tell apart."""
    spellings: dict[str, str] = {}
    findings = []
    calls = [(s.name, s.at) for s in statements_in(program) if isinstance(s, CallProcedure | Procedure)]
    for name, at in [*((x.name, x.at) for x in expressions_in(program) if isinstance(x, Name)), *calls]:
        if spellings.setdefault(name.upper(), name) != name:
            message = f"VAL has no words for two names that differ in case: {spellings[name.upper()]} and {name}"
            findings.append(Diagnostic(message, at, code="language"))
    return findings[:1]


def _runs(statements: Sequence[Statement]) -> list[Procedure | list[Statement]]:
    """Procedures, and the statements between them."""
    runs: list[Procedure | list[Statement]] = []
    for statement in statements:
        if isinstance(statement, Procedure):
            runs.append(statement)
        elif runs and isinstance(runs[-1], list):
            runs[-1].append(statement)
        else:
            runs.append([statement])
    return runs
