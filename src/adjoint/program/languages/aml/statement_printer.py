"""Statements as text of AML; `aml_text`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...instructions.diagnostics import Diagnostic, ProgramError
from ...instructions.expressions import Aggregate, Binary, Expression, Index, Literal, Name, Reading
from ...instructions.programs import Program
from ...instructions.statements import (
    Abort,
    Assign,
    Block,
    Body,
    CallProcedure,
    Comment,
    Declare,
    DefineMonitor,
    Delay,
    If,
    MoveHand,
    MoveJoints,
    Print,
    Procedure,
    Repeat,
    Return,
    Signal,
    Statement,
    Stop,
    Wait,
    While,
)
from ...instructions.value_types import ANY, NUMBER, TEXT
from .expression_printer import ExpressionPrinter, Unsayable, check_characters, check_units
from .sensor_reader import has_reading
from .words import LENGTH_UNIT, TIME_UNIT

__all__ = ["aml_text"]

_INDENT = "    "
_TYPES = {ANY: "", NUMBER: " REAL", TEXT: " STRING"}


def aml_text(program: Program) -> str:
    """The text of a program in AML, in one layout; `parse_aml` reads the same instructions from it.

        >>> from adjoint.program import Source, parse_aml
        >>> print(aml_text(parse_aml(Source("move(<1,4>,<10,20>) ; if a<b then quit"))))
        MOVE(<1, 4>, <10, 20>);
        IF a LT b THEN QUIT;

    A `ProgramError` names each instruction for which AML has no words.
    """
    printer = _Printer(program)
    printer.body(program.statements, 0)
    if printer.findings:
        raise ProgramError(printer.findings, program.source)
    return "\n".join(printer.lines)


class _Printer(ExpressionPrinter):
    """Lines of text, and what could not be said."""

    def __init__(self, program: Program):
        super().__init__(set(program.procedures))
        self.lines: list[str] = []
        self.findings: list[Diagnostic] = []

    def body(self, body: Body, level: int) -> None:
        """Statements, each on lines of its own."""
        k = 0
        while k < len(body):
            depth = self.depth
            try:
                k += self._statement(body, k, level)
            except Unsayable as error:
                self.depth = depth
                self.findings.append(Diagnostic(str(error), body[k].at, code="language"))
                k += 1

    def _line(self, level: int, text: str) -> None:
        self.lines.append(_INDENT * level + text)

    def _statement(self, body: Body, k: int, level: int) -> int:
        """Print the statement k of a body; the number of statements that were printed."""
        statement = body[k]
        if isinstance(statement, Declare):
            return self._declared(statement, body[k + 1] if k + 1 < len(body) else None, level)
        if isinstance(statement, Comment):
            for line in statement.text.split("\n"):
                check_characters(line, "a comment")
                self._line(level, f"-- {line}".rstrip())
        elif isinstance(statement, Procedure):
            self._procedure(statement, level)
        else:
            compound = _COMPOUND.get(type(statement))
            if compound is not None:
                self.depth += 1
                compound(self, statement, level, "")
                self.depth -= 1
                self.lines[-1] += ";"
            else:
                self._line(level, self._simple(statement) + ";")
        return 1

    # --- compound statements: their last line gets its semicolon from the caller --------------------------------------

    def _if(self, statement: If, level: int, before: str) -> None:
        head = f"{before}IF {self.text(statement.condition)} THEN"
        self._nested(head, statement.then, level)
        if not statement.otherwise:
            return
        word = f"{self.lines.pop().strip()} ELSE" if self.lines[-1].strip() == "END" else "ELSE"
        otherwise = statement.otherwise
        if len(otherwise) == 1 and isinstance(otherwise[0], If):
            self._if(otherwise[0], level, f"{word} ")
        else:
            self._nested(word, otherwise, level)

    def _while(self, statement: While, level: int, before: str) -> None:
        self._nested(f"{before}WHILE {self.text(statement.condition)} DO", statement.body, level)

    def _repeat(self, statement: Repeat, level: int, before: str) -> None:
        self._line(level, f"{before}REPEAT")
        self.body(statement.body, level + 1)
        self._line(level, f"UNTIL {self.text(statement.until)}")

    def _block(self, statement: Block, level: int, before: str) -> None:
        if statement.name:
            raise Unsayable(f"AML has no words for the name '{statement.name[:40]}' of a block")
        self._enclosed(f"{before}BEGIN", statement.body, level)

    def _enclosed(self, head: str, body: Body, level: int) -> None:
        self._line(level, head)
        self.body(body, level + 1)
        self._line(level, "END")

    def _nested(self, head: str, body: Body, level: int) -> None:
        """A body after THEN, ELSE or DO: one statement on the same line, or BEGIN ... END."""
        one = body[0] if len(body) == 1 else None
        if one is None or type(one) in _COMPOUND or isinstance(one, Comment | Declare | Procedure):
            self._enclosed(f"{head} BEGIN", body, level)
        else:
            self._line(level, f"{head} {self._simple(one)}")

    # --- definitions --------------------------------------------------------------------------------------------------

    def _declared(self, statement: Declare, following: Statement | None, level: int) -> int:
        if statement.type not in _TYPES or statement.bounds is not None or not statement.names:
            raise Unsayable("AML declares numbers (REAL), texts (STRING) and values of any type, without bounds")
        names = ", ".join(self.name(x) for x in statement.names)
        if statement.type == ANY and len(statement.names) == 1:
            if isinstance(following, DefineMonitor) and following.name == names:
                self._line(level, f"{names}: NEW {self._monitor(following)};")
                return 2
            if isinstance(following, Assign) and following.target == Name(names):
                value = self.text(following.value)
                if value.upper() not in ("REAL", "INT", "STRING"):
                    self._line(level, f"{names}: NEW {value};")
                    return 2
        self._line(level, f"{names}: NEW{_TYPES[statement.type]};")
        return 1

    def _procedure(self, statement: Procedure, level: int) -> None:
        if level:
            raise Unsayable(
                f"AML has subroutines at the top only; '{statement.name[:40]}' stands inside something else"
            )
        if statement.result not in (None, ANY) or any(p.type != ANY for p in statement.parameters):
            raise Unsayable(f"parameters and results of AML have no types; those of '{statement.name[:40]}' have")
        names = ", ".join(self.name(p.name) for p in statement.parameters)
        self._line(level, f"{self.name(statement.name)}: SUBR{f'({names})' if names else ''};")
        self.body(statement.body, level + 1)
        self._line(level, "END;")

    # --- simple statements --------------------------------------------------------------------------------------------

    def _simple(self, statement: Statement) -> str:
        match statement:
            case Assign(target, value):
                return f"{self._target(target)} = {self.text(value)}"
            case CallProcedure(name, arguments):
                if name not in self.subroutines:
                    raise Unsayable(f"AML calls subroutines at the top only, and there is no '{name[:40]}'")
                return self.name(name) + (f"({self.items(arguments)})" if arguments else "")
            case MoveJoints():
                return self._move_joints(statement)
            case MoveHand():
                return self._move_hand(statement)
            case DefineMonitor(name):
                return f"{self.name(name)} = {self._monitor(statement)}"
            case Return(value):
                return "RETURN" if value is None else f"RETURN({self.text(value)})"
            case Delay(duration):
                return f"DELAY({self.counted(duration, TIME_UNIT)})"
            case Print(values):
                return f"DISPLAY({self.items(values)})"
            case Abort(Literal("")):
                return "ABORT"
            case Abort(message):
                return f"ABORT({self.text(message)})"
            case Stop():
                return "QUIT"
            case Signal(line, on):
                return f"WRITEO({self.text(line)}, {int(on)})"
            case Wait(Reading("done", arm="")):
                return "WAITMOVE"
            case Wait(condition):
                return f"WAIT({self.text(condition)})"
        raise Unsayable(f"AML has no words for the instruction {type(statement).__name__}")

    def _target(self, target: Name | Index) -> str:
        base: Expression = target
        while isinstance(base, Index):
            base = base.value
        if not isinstance(base, Name):
            raise Unsayable("in AML only variables and their elements get values")
        return self.text(target)

    def _monitor(self, statement: DefineMonitor) -> str:
        if not has_reading(statement.sensors):
            raise Unsayable("AML's monitors watch sensors and lines alone")
        values = (statement.sensors, statement.test, statement.low, statement.high)
        return f"MONITOR({self.items(values)})"

    def _move_joints(self, statement: MoveJoints) -> str:
        check_units(statement.length_unit, statement.angle_unit)
        if statement.arm or statement.speed_fraction is not None or statement.guards:
            what = "an arm" if statement.arm else "guards" if statement.guards else "a fraction of the full speed"
            raise Unsayable(f"moves of joints in AML cannot name {what}")
        speeds = (statement.speed, statement.acceleration, statement.deceleration)
        given = tuple(x for x in speeds if x is not None)
        if len(given) not in (0, 3):
            raise Unsayable("AML gives speed, acceleration and deceleration together")
        word = "DMOVE" if statement.relative else "MOVE"
        head = f"{word}({self.text(statement.joints)}, {self.text(statement.values)}"
        return f"{head}{self._rest(given, statement.monitors)})"

    def _rest(self, speeds: tuple[Expression, ...], monitors: tuple[Expression, ...]) -> str:
        """Speeds and monitors after the values of a move."""
        if not speeds and len(monitors) == 1 and isinstance(monitors[0], Name):
            return f", {self.text(monitors[0])}"
        if not speeds and not monitors:
            return ""
        named = f", {self._several(monitors)}" if monitors else ""
        return f", <{self.items(speeds)}>{named}"

    def _several(self, monitors: tuple[Expression, ...]) -> str:
        one = len(monitors) == 1 and isinstance(monitors[0], Name)
        return self.text(monitors[0]) if one else f"<{self.items(monitors)}>"

    def _move_hand(self, statement: MoveHand) -> str:
        width = statement.width
        if statement.hand or not statement.either_way or not statement.wait or statement.grasp or width is None:
            raise Unsayable("AML moves the fingers of its only hand to an opening, with MOVE(GRIPPER, ...)")
        by = isinstance(width, Binary) and width.operator == "+" and width.left == Reading("width")
        opening = width.right if by else width  # type: ignore[union-attr]
        if isinstance(opening, Aggregate):
            raise Unsayable("the opening of AML's fingers is one number")
        goal = self.counted(opening, LENGTH_UNIT)
        return f"{'DMOVE' if by else 'MOVE'}(GRIPPER, {goal}{self._rest((), statement.monitors)})"


_COMPOUND: dict[type, Callable[[_Printer, Any, int, str], None]] = {
    If: _Printer._if,
    While: _Printer._while,
    Repeat: _Printer._repeat,
    Block: _Printer._block,
}
