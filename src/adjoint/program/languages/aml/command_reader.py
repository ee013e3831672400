"""From tokens to statements of AML that are one word with values in parentheses."""

from __future__ import annotations

from ...instructions.diagnostics import Diagnostic
from ...instructions.expressions import Literal, Reading
from ...instructions.statements import Abort, Delay, Print, Signal, Statement, Stop, Wait
from ...texts.cursor import Unexpected
from .move_reader import MoveReader
from .plain_numbers import is_number, with_unit
from .words import TIME_UNIT

__all__: list[str] = []


class CommandReader(MoveReader):
    """A place among tokens of AML, which reads DELAY, DISPLAY, ABORT, QUIT, WRITEO, WAIT and WAITMOVE, and moves."""

    @property
    def commands(self):
        """{word: what reads it, given the offset of the word}."""
        return {
            "MOVE": self.move, "DMOVE": self.move, "DELAY": self._delay, "DISPLAY": self._display,
            "ABORT": self._abort, "QUIT": self._quit, "WRITEO": self._write, "WAIT": self._wait,
            "WAITMOVE": self._wait_move,
        }  # fmt: skip

    def _delay(self, start: int) -> Statement:
        self.next()
        if self.key != "(":
            raise self.unexpected("'(' is missing after DELAY", hint="write DELAY(0.5);")
        return Delay(with_unit(self.only_value("DELAY", "a time in seconds"), TIME_UNIT), at=self.since(start))

    def _display(self, start: int) -> Statement:
        self.next()
        return Print(self.values_after("DISPLAY"), at=self.since(start))

    def _abort(self, start: int) -> Statement:
        self.next()
        message = self.only_value("ABORT", "a message") if self.key == "(" else Literal("", at=self.since(start))
        return Abort(message, at=self.since(start))

    def _quit(self, start: int) -> Statement:
        self.next()
        return Stop(at=self.since(start))

    def _write(self, start: int) -> Statement:
        self.next()
        values = self.values_after("WRITEO")
        if len(values) != 2:
            message = f"WRITEO needs a line and 1 or 0; it got {len(values)} values"
            raise Unexpected(Diagnostic(message, self.since(start), "write WRITEO(1, 1);", code="syntax"))
        line, state = values
        if not (isinstance(state, Literal) and is_number(state) and state.value in (0.0, 1.0)):
            raise Unexpected(Diagnostic("a line is set to 1 or 0", state.at, "write WRITEO(1, 1);", code="syntax"))
        return Signal(line, state.value == 1.0, at=self.since(start))

    def _wait(self, start: int) -> Statement:
        self.next()
        if self.key != "(":
            raise self.unexpected("'(' is missing after WAIT", hint="write WAIT(SENSIO(3) EQ 1);")
        return Wait(self.only_value("WAIT", "a condition"), at=self.since(start))

    def _wait_move(self, start: int) -> Statement:
        self.next()
        at = self.since(start)
        return Wait(Reading("done", at=at), at=at)
