"""From tokens to declarations, procedures, and statements that talk with the world and the user."""

from __future__ import annotations

from ...instructions.diagnostics import Diagnostic
from ...instructions.expressions import Expression, Literal
from ...instructions.statements import (
    Abort,
    Block,
    Body,
    Declare,
    Delay,
    Parameter,
    Pause,
    Print,
    Procedure,
    Return,
    Signal,
    SignalEvent,
    Statement,
    Stop,
    Wait,
    WaitEvent,
    statement_types,
)
from ...instructions.value_types import ANY, Type
from .move_reader import MoveReader
from .words import KINDS, POWERS

__all__: list[str] = []

_AFTER = frozenset((";", "END", "ELSE", "UNTIL", "COEND"))


class ActionReader(MoveReader):
    """A place among tokens of AL, which reads declarations and simple statements."""

    def block(self, also: str = "") -> tuple[str, Body]:
        """BEGIN ... END."""
        raise NotImplementedError

    # --- declarations -------------------------------------------------------------------------------------------------

    def type(self) -> Type:
        """A type: SCALAR, DISTANCE VECTOR, FRAME, ..."""
        powers = POWERS.get(self.key)
        if powers is not None:
            self.next()
            if self.key not in ("SCALAR", "VECTOR"):
                raise self.unexpected("SCALAR or VECTOR is missing", choices=("SCALAR", "VECTOR"))
        kind = KINDS.get(self.key)
        if kind is None:
            raise self.unexpected("the word of a type is missing", choices=tuple(KINDS))
        self.next()
        return kind if powers is None else Type(kind.kind, powers)

    def declaration(self) -> Statement | Body:
        """SCALAR a, b; FRAME ARRAY bins[1:9]; SCALAR PROCEDURE f(...); ..."""
        start = self.start
        found = self.type()
        if self.key == "PROCEDURE":
            return self.procedure(found, start)
        array = self.accept("ARRAY")
        declared: list[Statement] = []
        names: list[str] = []
        while True:
            names.append(self.variable("the variable"))
            self.bound.add(names[-1])
            if self.key == "[":
                bounds = self._bounds()
                # As in ALGOL, ARRAY a, b[1:3] gives both these bounds; without ARRAY they are those of b alone.
                if not array and len(names) > 1:
                    declared.append(Declare(found, tuple(names[:-1]), at=self.since(start)))
                    del names[:-1]
                declared.append(Declare(found, tuple(names), bounds, at=self.since(start)))
                names = []
            if not self.accept(","):
                break
        if names and array:
            raise self.unexpected(f"the bounds of '{names[-1][:40]}' are missing", hint="write them as [1:9]")
        if names:
            declared.append(Declare(found, tuple(names), at=self.since(start)))
        return declared[0] if len(declared) == 1 else tuple(declared)

    def _bounds(self) -> tuple[Expression, Expression]:
        opened = self.start
        self.next()
        first = self.expression()
        self.expect(":", "between the first and the last index")
        last = self.expression()
        if self.key == ",":
            hint = "use one index: element (i, j) of a 3 by 3 array is [3*(i - 1) + j]"
            raise self.unexpected("an array has one index", hint=hint)
        self.close("]", "[", opened)
        return first, last

    def procedure(self, result: Type | None = None, start: int = -1) -> Statement:
        """PROCEDURE name(parameters); statement."""
        start = self.start if start < 0 else start
        self.next()
        name = self.variable("the procedure")
        parameters = self._parameters() if self.key == "(" else ()
        self.expect(";", f"behind the head of the procedure '{name[:40]}'")
        if self.key == "BEGIN":
            begun = self.start
            inner, body = self.block(name)
            body = (Block(body, inner, at=self.since(begun)),) if inner else body
        else:
            body = self.single("of the procedure")
        return Procedure(name, parameters, body, result, at=self.since(start))

    def _parameters(self) -> tuple[Parameter, ...]:
        """(SCALAR n; FRAME a, b); a parameter without a type has any."""
        opened = self.start
        self.next()
        found: list[Parameter] = []
        kind = ANY
        while self.key != ")":
            start = self.start
            if self.key == "REFERENCE":
                message = "parameters are handed over by value, not by reference"
                hint = "assign to a variable of the program, or RETURN a value"
                self.report(Diagnostic(message, self.here(), hint, code="syntax"))
                self.next()
            elif self.key == "VALUE" and self.ahead() not in (",", ";", ")"):
                self.next()
            if (self.key in KINDS or self.key in POWERS) and self.ahead() not in (",", ";", ")"):
                kind = self.type()
            name = self.variable("a parameter")
            self.bound.add(name)
            found.append(Parameter(name, kind, at=self.since(start)))
            if self.key == ";":
                kind = ANY
            elif self.key != ",":
                break
            self.next()
        self.close(")", "(", opened)
        names = [p.name for p in found]
        for n, parameter in enumerate(found):
            if parameter.name in names[:n]:
                message = f"the parameter '{parameter.name[:40]}' stands twice"
                self.report(Diagnostic(message, parameter.at, code="name"))
        return tuple(found)

    def give_back(self) -> Statement:
        """RETURN, RETURN(value)."""
        start = self.start
        self.next()
        value = None if self.key in _AFTER or self.kind == "end" else self.expression()
        return Return(value, at=self.since(start))

    # --- the world and the user ---------------------------------------------------------------------------------------

    def abort(self) -> Statement:
        """ABORT(message)."""
        start = self.start
        self.next()
        if self.key in _AFTER or self.kind == "end":
            return Abort(Literal("", at=self.since(start)), at=self.since(start))
        return Abort(self.expression(), at=self.since(start))

    def stop(self) -> Statement:
        """STOP."""
        at = self.here()
        self.next()
        return Stop(at=at)

    def pause(self) -> Statement:
        """PAUSE, PAUSE "message", PAUSE 2*seconds."""
        start = self.start
        self.next()
        if self.key in _AFTER or self.kind == "end":
            return Pause(at=self.since(start))
        value = self.expression()
        if isinstance(value, Literal) and isinstance(value.value, str):
            return Pause(value.value, at=self.since(start))
        value = self.fitting(value, statement_types(Delay)["duration"], "PAUSE", "a time")
        return self.made(Delay, start, value)

    def prompt(self) -> Statement:
        """PROMPT("message")."""
        start = self.start
        self.next()
        opened = self.start
        inside = self.accept("(")
        message = self.quoted("the message of PROMPT")
        if inside:
            self.close(")", "(", opened)
        return Pause(message, at=self.since(start))

    def print(self) -> Statement:
        """PRINT(values)."""
        start = self.start
        self.next()
        if self.key != "(":
            raise self.unexpected("'(' is missing behind PRINT", hint='PRINT("tries:", tries)')
        values = self.arguments()
        return Print(values, at=self.since(start))

    def signal(self) -> Statement:
        """SIGNAL event."""
        start = self.start
        self.next()
        if self.kind == "number":
            raise self.unexpected("SIGNAL needs the name of an event", hint="an output line is set by OUTPUT 3 ON")
        return SignalEvent(self.variable("an event"), at=self.since(start))

    def wait(self) -> Statement:
        """WAIT event, WAIT UNTIL condition."""
        start = self.start
        self.next()
        if self.accept("UNTIL"):
            return self.made(Wait, start, self.expression())
        if self.kind == "number":
            raise self.unexpected("WAIT needs the name of an event", hint="a time passes with PAUSE 2*seconds")
        return WaitEvent(self.variable("an event"), at=self.since(start))

    def output(self) -> Statement:
        """OUTPUT line ON, OUTPUT line OFF."""
        start = self.start
        self.next()
        line = self.expression()
        if self.key not in ("ON", "OFF"):
            raise self.unexpected("ON or OFF is missing behind the number of the output line")
        on = self.key == "ON"
        self.next()
        return self.made(Signal, start, line, on)
