"""From tokens to moves, guards, hands and affixments of AL."""

from __future__ import annotations

from typing import Any

from ....errors import ArgumentError
from ...instructions.diagnostics import Diagnostic
from ...instructions.expressions import Expression, Literal, Quantity
from ...instructions.sources import Span
from ...instructions.statements import (
    Attach,
    Body,
    Detach,
    ForceClause,
    Guard,
    Locate,
    Move,
    MoveHand,
    Statement,
    Unwatch,
    Watch,
    statement_types,
)
from ...instructions.value_types import ANY, FORCE, TORQUE, Type
from .expression_reader import ExpressionReader

__all__: list[str] = []

CLAUSES = {"APPROACH": "approach", "DEPARTURE": "departure", "DURATION": "duration", "SPEED_FACTOR": "speed",
           "FORCE_FRAME": "force_frame"}  # fmt: skip
_FORCES = ("FORCE", "TORQUE")
_FLAGS = {"DIRECTLY": "straight", "AVOIDING": "avoiding", "NONSTOP": "nonstop"}
_FIXED = {"RIGIDLY": "rigid", "NONRIGIDLY": "nonrigid", "CONDITIONALLY": "conditional"}
_NEEDED = {"approach": "a direction or lengths", "departure": "a direction or lengths", "duration": "a time",
           "speed": "a plain number", "force_frame": "a frame"}  # fmt: skip
_SUCH = {
    "a direction or lengths": "-Z, or -3*Z*inches",
    "a time": "5*seconds",
    "a plain number": "0.5",
    "a frame": "the name of a frame",
    "a width": "2*inches",
    "a force": "10*ounces",
    "a torque": "12*'in-lbf'",
}


class MoveReader(ExpressionReader):
    """A place among tokens of AL, which reads what arms and hands do."""

    def report(self, diagnostic: Diagnostic) -> None:
        """Remember a finding."""
        raise NotImplementedError

    def single(self, where: str) -> Body:
        """The statement behind THEN, ELSE and DO."""
        raise NotImplementedError

    def expect_word(self, key: str, where: str) -> None:
        """Go past a word, or report that it is missing."""
        raise NotImplementedError

    def made(self, kind: type, start: int, *arguments: Any, **fields: Any) -> Any:
        """A statement from `start` to here. One that its class refuses, for its units, is reported at its place."""
        span = self.since(start)
        try:
            return kind(*arguments, **fields, at=span)
        except ArgumentError as error:
            self.report(Diagnostic(str(error), span, code="unit"))
            return Statement(at=span)

    def fitting(self, value: Expression, types: tuple[Type, ...], what: str, needed: str) -> Expression:
        """A value; a constant whose unit does not fit is reported, and 0 stands for it."""
        if isinstance(value, Quantity) and not any(t == ANY or t.dimension == value.dimension for t in types):
            message = f"{what} needs {needed}, and {value.value:g}*{value.unit} is none"
            self.report(Diagnostic(message, value.at, f"write {_SUCH[needed]}", code="unit"))
            return Literal(0.0, at=value.at)
        return value

    # --- moves --------------------------------------------------------------------------------------------------------

    def move(self) -> Statement:
        """MOVE arm TO frame, with clauses in any order."""
        start = self.start
        self.next()
        mover = "" if self.key == "TO" else self.variable("the arm, or of the frame, that moves")
        self.expect_word("TO", "between what moves and where it goes")
        fields: dict[str, Any] = {"to": self.expression()}
        via: list[Expression] = []
        forces: list[ForceClause] = []
        guards: list[Guard] = []
        while True:
            key = self.key
            if key == "VIA":
                self.next()
                via.append(self.expression())
                while self.accept(","):
                    via.append(self.expression())
            elif key == "WITH":
                self._with(fields, forces)
            elif key == "ON":
                guards.append(self._guard())
            elif key in _FLAGS:
                self._once(fields, _FLAGS[key], key)
                fields[_FLAGS[key]] = True
                self.next()
            else:
                break
        if via:
            fields["via"] = tuple(via)
        if forces:
            fields["forces"] = tuple(forces)
        if guards:
            fields["guards"] = tuple(guards)
        return self.made(Move, start, mover, **fields)

    def _once(self, fields: dict[str, Any], field: str, key: str) -> None:
        if field in fields:
            message = f"{key} stands twice in this move"
            self.report(Diagnostic(message, self.here(), "leave one of them out", code="syntax"))

    def _with(self, fields: dict[str, Any], forces: list[ForceClause]) -> None:
        """A WITH clause."""
        self.next()
        key, start = self.key, self.start
        field = CLAUSES.get(key)
        if field is not None:
            self._once(fields, field, key)
            self.next()
            self._equals(key)
            value = self.expression()
            fields[field] = self.fitting(value, statement_types(Move)[field], key, _NEEDED[field])
        elif key in _FORCES:
            rotates = key == "TORQUE"
            self.next()
            opened = self.start
            self.expect("(", f"behind {key}, before its axis")
            axis = self.axis()
            self.close(")", "(", opened)
            if any(f.axis == axis and f.rotates == rotates for f in forces):
                message = f"{key}({axis.upper()}) stands twice in this move"
                self.report(Diagnostic(message, self.since(start), code="syntax"))
            self._equals(f"{key}({axis.upper()})")
            types, needed = ((TORQUE,), "a torque") if rotates else ((FORCE,), "a force")
            value = self.fitting(self.expression(), types, key, needed)
            forces.append(ForceClause(axis, value, rotates, at=self.since(start)))
        else:
            raise self.unexpected("WITH needs the word of a clause", choices=[*CLAUSES, *_FORCES])

    def _equals(self, what: str) -> None:
        if self.key not in ("=", "←", ":="):
            raise self.unexpected(f"'=' is missing behind {what}")
        self.next()

    def _guard(self) -> Guard:
        """ON condition DO statement. DO STOP only stops the move, as every guard does."""
        start = self.start
        self.next()
        condition = self.expression()
        stops = not self.accept("NOSTOP")
        self.expect_word("DO", "behind the condition of ON")
        body: Body = ()
        if self.key == "STOP":
            self.next()
        else:
            body = self.single("behind DO")
        return self.made(Guard, start, condition, body, stops)

    # --- monitors -----------------------------------------------------------------------------------------------------

    def watch(self, name: str = "", start: int = -1) -> Statement:
        """ON condition DO statement, as a statement of its own: a monitor in the background."""
        start = self.start if start < 0 else start
        self.next()
        condition = self.expression()
        interrupts = self.accept("INTERRUPT")
        repeatedly = self.accept("REPEATEDLY")
        self.expect_word("DO", "behind the condition of ON")
        body = self.single("behind DO")
        return self.made(Watch, start, name, condition, body, interrupts, not repeatedly)

    def disable(self) -> Statement:
        """DISABLE monitor."""
        start = self.start
        self.next()
        return Unwatch(self.variable("a monitor"), at=self.since(start))

    # --- hands and affixments -----------------------------------------------------------------------------------------

    def hand(self) -> Statement:
        """OPEN hand TO width, CLOSE hand TO width."""
        start = self.start
        word = self.key
        self.next()
        name = self.variable("the hand") if self.kind == "name" and self.key not in _AFTER_HAND else ""
        width = None
        if self.key == "TO":
            self.next()
            width = self.fitting(self.expression(), statement_types(MoveHand)["width"], f"{word} ... TO", "a width")
        wait = not self.accept("NOWAIT")
        return self.made(MoveHand, start, name, word == "OPEN", width, wait)

    def affix(self) -> Statement:
        """AFFIX child TO parent [AT frame] [RIGIDLY]."""
        start = self.start
        self.next()
        child = self.variable("the frame that is affixed")
        self.expect_word("TO", "between the two frames of AFFIX")
        parent = self.variable("the frame, or of the arm, that carries the other")
        pose = None
        attachment = ""
        while True:
            if self.key == "AT" and pose is None:
                self.next()
                pose = self.expression()
            elif self.key in _FIXED and not attachment:
                attachment = _FIXED[self.key]
                self.next()
            else:
                break
        return self.made(Attach, start, child, parent, attachment or "nonrigid", pose)

    def unfix(self) -> Statement:
        """UNFIX child [FROM parent]."""
        start = self.start
        self.next()
        child = self.variable("the frame that is unfixed")
        parent = self.variable("the frame, or of the arm, that carries it") if self.accept("FROM") else ""
        return Detach(child, parent, at=self.since(start))

    def locate(self) -> Statement:
        """LOCATE part WITH camera [INTO found]: a statement of our own."""
        start = self.start
        self.next()
        part = self.variable("the part that is looked for")
        self.expect_word("WITH", "between the part and the camera of LOCATE")
        camera = self.variable("the camera")
        found = self.variable("the truth value") if self.accept("INTO") else ""
        if found:
            self.bound.add(found)
        return Locate(part, camera, found, at=self.since(start))

    def span_before(self) -> Span:
        """The place directly behind the token before this one."""
        end = self.ends[self.index - 1] if self.index else 0
        return Span(end, end + 1)


_AFTER_HAND = ("TO", "NOWAIT", "END", "ELSE", "UNTIL", "COEND")
