"""From instructions to the text of an AL program."""

from __future__ import annotations

from ...instructions.diagnostics import Diagnostic, ProgramError
from ...instructions.expressions import Index, Literal, Name
from ...instructions.programs import Program
from ...instructions.statements import (
    Abort,
    Assign,
    Attach,
    Block,
    Body,
    CallProcedure,
    Case,
    Comment,
    Declare,
    Delay,
    Detach,
    For,
    Guard,
    If,
    Locate,
    Move,
    MoveHand,
    Parallel,
    Pause,
    Print,
    Procedure,
    Repeat,
    Return,
    SetSpeed,
    Signal,
    SignalEvent,
    Statement,
    Stop,
    Unwatch,
    Wait,
    WaitEvent,
    Watch,
    While,
)
from ...instructions.value_types import ANY, Type
from .expression_printer import ExpressionPrinter, NoWords, identifier, quoted
from .move_reader import CLAUSES
from .words import KINDS, POWERS, RESERVED

__all__ = ["al_text"]

_WIDE = 88  # columns of a move on one line
_PAD = "    "
# Statements that stand behind THEN and DO without BEGIN and END; behind ON ... DO another clause may follow them.
_CLOSED = (Assign, Abort, Print, SignalEvent, WaitEvent)
_SIMPLE = (*_CLOSED, Attach, CallProcedure, Delay, Detach, Locate, MoveHand, Pause, Return, SetSpeed, Signal, Stop,
           Unwatch, Wait)  # fmt: skip
_DEEP = "statements and expressions are nested too deep for a text"


def al_text(program: Program) -> str:
    """The text of a program in AL; `parse_al` gives the same instructions again, comments included.

        >>> from adjoint.program.instructions import Source
        >>> from adjoint.program.languages.al import al_text, parse_al
        >>> print(al_text(parse_al(Source("open bhand to (2.5*inches); move barm to here-1*Z*inches"))), end="")
        OPEN bhand TO 2.5*inches;
        MOVE barm TO ⊗ - 1*Z*inches;

    The text is in one canonical layout. A `ProgramError` names every instruction that AL has no words for, such as a
    configuration of VAL. A comment cannot contain }: it is written as ).
    """
    printer = _Printer()
    try:
        body = printer.lines(program.statements, _PAD if program.name else "", top=True)
        name = _block_name(program.name) if program.name else ""
    except RecursionError:
        raise ProgramError(Diagnostic(_DEEP, code="size"), program.source) from None
    except NoWords as found:
        printer.missing.append(found)
        body, name = [], ""
    if printer.missing:
        found = [Diagnostic(x.message, x.span, x.hint, code="language") for x in printer.missing]
        raise ProgramError(found, program.source)
    text = "".join(f"{line}\n" for line in body)
    return f"BEGIN {name}\n{text}END {name}.\n" if name else text


class _Printer(ExpressionPrinter):
    """Writes statements; `missing` is what AL has no words for."""

    def __init__(self) -> None:
        super().__init__()
        self.missing: list[NoWords] = []

    # --- bodies -------------------------------------------------------------------------------------------------------

    def lines(self, body: Body, pad: str, top: bool = False) -> list[str]:
        """The lines of statements, with a ';' behind each; at the top an empty line sets comments off."""
        found: list[str] = []
        for n, statement in enumerate(body):
            if isinstance(statement, Comment):
                if top and n and not isinstance(body[n - 1], Comment):
                    found.append("")
                found.append(_comment(statement.text, pad))
                continue
            try:
                found.append(f"{pad}{self.statement(statement, pad)};")
            except NoWords as error:
                at = statement.at if error.span.start < 0 else error.span
                self.missing.append(NoWords(error.message, at, error.hint))
        return found

    def single(self, body: Body, pad: str, closed: bool = False) -> str:
        """The statement behind THEN, ELSE or DO."""
        if len(body) == 1:
            (only,) = body
            if isinstance(only, _CLOSED if closed else _SIMPLE):
                return self.statement(only, pad)
            if not closed and isinstance(only, Move) and not only.guards:
                return self.statement(only, pad)
        inside = self.lines(body, pad + _PAD)
        return "\n".join(["BEGIN", *inside, f"{pad}END"]) if inside else "BEGIN END"

    def statement(self, s: Statement, pad: str) -> str:
        """A statement without its ';'; all lines but the first begin with `pad`."""
        write = _WRITERS.get(type(s))
        if write is None:
            raise NoWords(f"AL has no words for {type(s).__name__}", s.at)
        return write(self, s, pad)

    # --- motion -------------------------------------------------------------------------------------------------------

    def move(self, s: Move, pad: str) -> str:
        """MOVE with its clauses, on one line if it is short."""
        mover = f"{identifier(s.mover, s.at)} " if s.mover else ""
        pieces = [f"MOVE {mover}TO {self.expression(s.to)}"]
        if s.via:
            pieces.append("VIA " + ", ".join(self.expression(x) for x in s.via))
        flags = {"DIRECTLY": s.straight, "AVOIDING": s.avoiding, "NONSTOP": s.nonstop}
        pieces += [word for word, said in flags.items() if said]
        for word, field in CLAUSES.items():
            value = getattr(s, field)
            if value is not None:
                pieces.append(f"WITH {word} = {self.expression(value)}")
        seen = set()
        for clause in s.forces:
            word = f"{'TORQUE' if clause.rotates else 'FORCE'}({clause.axis.upper()})"
            if word in seen:
                raise NoWords(f"a move of AL has {word} only once", s.at)
            seen.add(word)
            pieces.append(f"WITH {word} = {self.expression(clause.value)}")
        pieces += [self.guard(guard, pad + _PAD) for guard in s.guards]
        line = " ".join(pieces)
        return line if len(pad) + len(line) < _WIDE and "\n" not in line else f"\n{pad}{_PAD}".join(pieces)

    def guard(self, guard: Guard, pad: str) -> str:
        """ON condition DO statement."""
        head = f"ON {self.expression(guard.condition)} {'' if guard.stops else 'NOSTOP '}DO"
        return f"{head} {self.single(guard.body, pad, closed=True) if guard.body else 'STOP'}"

    def watch(self, s: Watch, pad: str) -> str:
        """ON condition DO statement, in the background."""
        label = f"{identifier(s.name, s.at)}: " if s.name else ""
        words = ("INTERRUPT " if s.interrupts else "") + ("" if s.once else "REPEATEDLY ")
        return f"{label}ON {self.expression(s.condition)} {words}DO {self.single(s.body, pad, closed=True)}"

    def hand(self, s: MoveHand, pad: str) -> str:
        """OPEN or CLOSE."""
        if s.grasp or s.otherwise or s.either_way or s.monitors:
            raise NoWords("AL has no words for fingers that jump to a label, or that monitors stop", s.at)
        name = f" {identifier(s.hand, s.at)}" if s.hand else ""
        if s.hand.upper() == "NOWAIT":
            raise NoWords(f"'{s.hand}' is a word of AL, and no hand", s.at)
        width = f" TO {self.expression(s.width)}" if s.width is not None else ""
        return f"{'OPEN' if s.opens else 'CLOSE'}{name}{width}{'' if s.wait else ' NOWAIT'}"

    def affix(self, s: Attach, pad: str) -> str:
        """AFFIX child TO parent."""
        pose = f" AT {self.expression(s.pose)}" if s.pose is not None else ""
        word = {"rigid": " RIGIDLY", "conditional": " CONDITIONALLY"}.get(s.attachment, "")
        return f"AFFIX {identifier(s.child, s.at)} TO {identifier(s.parent, s.at)}{pose}{word}"

    def unfix(self, s: Detach, pad: str) -> str:
        """UNFIX child FROM parent."""
        parent = f" FROM {identifier(s.parent, s.at)}" if s.parent else ""
        return f"UNFIX {identifier(s.child, s.at)}{parent}"

    def locate(self, s: Locate, pad: str) -> str:
        """LOCATE part WITH camera INTO found."""
        found = f" INTO {identifier(s.found, s.at)}" if s.found else ""
        if s.found:
            self.bound.add(s.found)
        return f"LOCATE {identifier(s.part, s.at)} WITH {identifier(s.camera, s.at)}{found}"

    # --- values -------------------------------------------------------------------------------------------------------

    def speed(self, s: SetSpeed, pad: str) -> str:
        """SPEED_FACTOR ← fraction."""
        if not s.permanent or s.arm:
            raise NoWords("AL sets the speed of all moves, or WITH SPEED_FACTOR of one", s.at)
        self.bound.add("SPEED_FACTOR")
        return f"SPEED_FACTOR ← {self.expression(s.fraction)}"

    def assign(self, s: Assign, pad: str) -> str:
        """name ← value."""
        base = s.target
        while isinstance(base, Index):
            base = base.value  # type: ignore[assignment]
        if not isinstance(base, Name):
            raise NoWords("AL assigns to variables and to elements of lists only", s.at)
        name = identifier(base.name, s.at)
        if isinstance(s.target, Name) and name.upper() == "SPEED_FACTOR":
            raise NoWords("in AL SPEED_FACTOR is the speed of all moves, and no variable", s.at)
        indices, target = [], s.target
        while isinstance(target, Index):
            indices.append(target.index)
            target = target.value
        inside = "".join(f"[{self.expression(x)}]" for x in reversed(indices))
        self.bound.add(name)
        return f"{name}{inside} ← {self.expression(s.value)}"

    def declare(self, s: Declare, pad: str) -> str:
        """SCALAR a, b; FRAME ARRAY bins[1:9]."""
        if not s.names:
            raise NoWords("a declaration of AL has names", s.at)
        names = ", ".join(identifier(x, s.at) for x in s.names)
        self.bound.update(s.names)
        if s.bounds is None:
            return f"{type_words(s.type, s)} {names}"
        first, last = s.bounds
        return f"{type_words(s.type, s)} ARRAY {names}[{self.expression(first)}:{self.expression(last)}]"

    def procedure(self, s: Procedure, pad: str) -> str:
        """PROCEDURE name(parameters); BEGIN ... END."""
        groups: list[tuple[Type, list[str]]] = []
        for p in s.parameters:
            name = identifier(p.name, s.at)
            if name.upper() == "REFERENCE" or [q.name for q in s.parameters].count(name) > 1:
                raise NoWords(f"a parameter of AL cannot be '{name}'", s.at)
            if not groups or groups[-1][0] != p.type:
                groups.append((p.type, []))
            groups[-1][1].append(name)
        self.bound.update(p.name for p in s.parameters)
        inside = "; ".join((f"{type_words(t, s)} " if t != ANY else "") + ", ".join(n) for t, n in groups)
        head = f"{type_words(s.result, s)} " if s.result is not None else ""
        name = f"{identifier(s.name, s.at)}{f'({inside})' if inside else ''}"
        lines = self.lines(s.body, pad + _PAD)
        return "\n".join([f"{head}PROCEDURE {name};", f"{pad}BEGIN", *lines, f"{pad}END"])

    # --- flow of control ----------------------------------------------------------------------------------------------

    def block(self, s: Block, pad: str) -> str:
        """BEGIN ... END."""
        name = f" {_block_name(s.name)}" if s.name else ""
        return "\n".join([f"BEGIN{name}", *self.lines(s.body, pad + _PAD), f"{pad}END{name}"])

    def choice(self, s: If, pad: str) -> str:
        """IF ... THEN ... ELSE ..."""
        text = f"IF {self.expression(s.condition)} THEN {self.single(s.then, pad)}"
        if not s.otherwise:
            return text
        last = s.otherwise[0]
        if len(s.otherwise) == 1 and isinstance(last, If):
            return f"{text}\n{pad}ELSE {self.choice(last, pad)}"
        return f"{text}\n{pad}ELSE {self.single(s.otherwise, pad)}"

    def counted(self, s: For, pad: str) -> str:
        """FOR v ← a STEP b UNTIL c DO ..."""
        name = identifier(s.variable, s.at)
        self.bound.add(name)
        first = self.expression(s.first)
        step = f" STEP {self.expression(s.step)}" if s.step is not None else ""
        return f"FOR {name} ← {first}{step} UNTIL {self.expression(s.last)} DO {self.single(s.body, pad)}"

    def repeat(self, s: Repeat, pad: str) -> str:
        """DO ... UNTIL ..."""
        lines = self.lines(s.body, pad + _PAD)
        return "\n".join(["DO", *lines, f"{pad}UNTIL {self.expression(s.until)}"])

    def case(self, s: Case, pad: str) -> str:
        """CASE n OF BEGIN [1] ...; ELSE ...; END."""
        inner = pad + _PAD
        lines = [f"CASE {self.expression(s.selector)} OF", f"{pad}BEGIN"]
        for values, body in s.branches:
            if not values:
                raise NoWords("a branch of AL's CASE has numbers", s.at)
            numbers = ", ".join(self.expression(x) for x in values)
            lines.append(f"{inner}[{numbers}] {self.single(body, inner)};")
        if s.otherwise:
            lines.append(f"{inner}ELSE {self.single(s.otherwise, inner)};")
        return "\n".join([*lines, f"{pad}END"])

    def parallel(self, s: Parallel, pad: str) -> str:
        """COBEGIN ... COEND."""
        inner = pad + _PAD
        lines = [f"{inner}{self.single(body, inner)};" for body in s.branches]
        return "\n".join(["COBEGIN", *lines, f"{pad}COEND"])

    def pause(self, s: Pause, pad: str) -> str:
        """PAUSE "message"."""
        return f"PAUSE {quoted(s.message, s.at)}" if s.message else "PAUSE"

    def delay(self, s: Delay, pad: str) -> str:
        """PAUSE 2*seconds."""
        if isinstance(s.duration, Literal) and isinstance(s.duration.value, str):
            raise NoWords("PAUSE with a text waits for the user", s.at)
        return f"PAUSE {self.expression(s.duration)}"


_WRITERS = {
    Move: _Printer.move, MoveHand: _Printer.hand, Attach: _Printer.affix, Detach: _Printer.unfix,
    Watch: _Printer.watch, Assign: _Printer.assign, SetSpeed: _Printer.speed, Declare: _Printer.declare,
    Procedure: _Printer.procedure, Block: _Printer.block, If: _Printer.choice, For: _Printer.counted,
    Repeat: _Printer.repeat, Case: _Printer.case, Parallel: _Printer.parallel, Pause: _Printer.pause,
    Delay: _Printer.delay, Locate: _Printer.locate,
    While: lambda p, s, pad: f"WHILE {p.expression(s.condition)} DO {p.single(s.body, pad)}",
    Unwatch: lambda p, s, pad: f"DISABLE {identifier(s.name, s.at)}",
    SignalEvent: lambda p, s, pad: f"SIGNAL {identifier(s.event, s.at)}",
    WaitEvent: lambda p, s, pad: f"WAIT {identifier(s.event, s.at)}",
    Wait: lambda p, s, pad: f"WAIT UNTIL {p.expression(s.condition)}",
    Signal: lambda p, s, pad: f"OUTPUT {p.expression(s.line)} {'ON' if s.on else 'OFF'}",
    CallProcedure: lambda p, s, pad: f"{identifier(s.name, s.at)}({', '.join(map(p.expression, s.arguments))})",
    Return: lambda p, s, pad: "RETURN" if s.value is None else f"RETURN({p.expression(s.value)})",
    Abort: lambda p, s, pad: f"ABORT({p.expression(s.message)})",
    Stop: lambda p, s, pad: "STOP",
    Print: lambda p, s, pad: f"PRINT({', '.join(map(p.expression, s.values))})",
}  # fmt: skip


def type_words(kind: Type, s: Statement) -> str:
    """The words of a type, such as DISTANCE SCALAR."""
    for word, found in KINDS.items():
        if found == kind:
            return word
    for word, powers in POWERS.items():
        if kind.kind in ("scalar", "vector") and powers == kind.dimension:
            return f"{word} {kind.kind.upper()}"
    raise NoWords(f"AL has no word for the type {kind.kind} {kind.dimension}", s.at)


def _block_name(name: str) -> str:
    """A name behind BEGIN and END: a word if it can be one, else between quotes."""
    word = name.upper()
    plain = name.isidentifier() and name.isascii() and word not in RESERVED and word not in KINDS and word not in POWERS
    return name if plain else quoted(name, Comment("").at)


def _comment(text: str, pad: str) -> str:
    """A comment in braces; its further lines stand below its first."""
    lines = [line.strip() for line in text.replace("}", ")").strip().splitlines()] or [""]
    shown = f"\n{pad}  ".join(lines)
    shown = "".join(c if c == "\n" or c == "\t" or (c >= " " and c != "\x7f") else "?" for c in shown)
    return f"{pad}{{ {shown} }}"
