"""From the tokens of a line of VAL to statements: one function for each form of instruction."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...instructions.diagnostics import Diagnostic
from ...instructions.expressions import Binary, Call, Expression, Here, Literal, Name, Quantity, Reading, Unary
from ...instructions.sources import Span
from ...instructions.statements import (
    Assign,
    CallProcedure,
    Delay,
    Gosub,
    Goto,
    If,
    Move,
    MoveHand,
    MoveJoints,
    Pause,
    Print,
    Return,
    SetBase,
    SetConfiguration,
    SetSpeed,
    SetTool,
    Signal,
    Statement,
    Stop,
    Unwatch,
    Wait,
    Watch,
)  # fmt: skip
from ...texts.cursor import Unexpected
from .shapes import READY, back, based, posed, watch_name
from .val_expressions import LineReader
from .words import FLAGS, RELATIONS

__all__: list[str] = []

Instruction = Callable[[LineReader, str, int], Statement | list[Statement]]
"""What reads the rest of a line after its word, which began at an offset."""


# --- motion -----------------------------------------------------------------------------------------------------------


def _move(reader: LineReader, word: str, start: int) -> Statement:
    to = reader.location(joints=True)
    return Move("", to, straight=word == "MOVES", at=reader.since(start))


def _move_and_hand(reader: LineReader, word: str, start: int) -> list[Statement]:
    to = reader.location(joints=True)
    reader.expect(",", "after the location")
    width = reader.amount("mm")
    at = reader.since(start)
    hand = MoveHand("", True, width, wait=False, either_way=True, at=at)
    return [hand, Move("", to, straight=word == "MOVEST", at=at)]


def _approach(reader: LineReader, word: str, start: int) -> Statement:
    location = reader.location()
    reader.expect(",", "after the location")
    distance = reader.amount("mm")
    at = reader.since(start)
    return Move("", back(location, distance, at), straight=word == "APPROS", at=at)


def _depart(reader: LineReader, word: str, start: int) -> Statement:
    distance = reader.amount("mm")
    at = reader.since(start)
    return Move("", back(Here(at=at), distance, at), straight=word == "DEPARTS", at=at)


def _draw(reader: LineReader, word: str, start: int) -> Statement:
    by = _displacement(reader)
    at = reader.since(start)
    return Move("", Binary("+", Here(at=at), by, at=at), straight=True, at=at)


def _displacement(reader: LineReader) -> Call:
    start = reader.start
    amounts = reader.amounts(("mm", "mm", "mm"), 3)
    return Call("VECTOR", tuple(amounts), at=reader.since(start))


def _drive(reader: LineReader, word: str, start: int) -> Statement:
    joint = reader.whole()
    if isinstance(joint, Literal) and joint.value < 1:  # type: ignore[operator]
        raise Unexpected(Diagnostic("joints are numbered from 1", joint.at, code="limit"))
    reader.expect(",", "after the number of the joint")
    change = reader.whole(fractions=True)
    speed = reader.percentage("a speed") if reader.accept(",") else None
    return MoveJoints(
        joint, change, True, length_unit="mm", angle_unit="deg", speed_fraction=speed, at=reader.since(start)
    )


def _ready(reader: LineReader, word: str, start: int) -> Statement:
    return MoveJoints(READY.joints, READY.values, length_unit="mm", angle_unit="deg", at=reader.since(start))


def _speed(reader: LineReader, word: str, start: int) -> Statement:
    fraction = reader.percentage("a speed")
    return SetSpeed(fraction, reader.accept("ALWAYS"), at=reader.since(start))


def _hand(reader: LineReader, word: str, start: int) -> Statement:
    width = None if reader.kind in ("newline", "end") else reader.amount("mm")
    return MoveHand("", word.startswith("OPEN"), width, wait=word.endswith("I"), at=reader.since(start))


def _grasp(reader: LineReader, word: str, start: int) -> Statement:
    width = reader.amount("mm")
    label = reader.jump("after the comma") if reader.accept(",") else ""
    return MoveHand("", False, width, grasp=True, otherwise=label, at=reader.since(start))


def _flag(reader: LineReader, word: str, start: int) -> Statement:
    return SetConfiguration(word.lower(), at=reader.since(start))


def _tool(reader: LineReader, word: str, start: int) -> Statement:
    tool = None if reader.kind in ("newline", "end") else reader.location()
    return SetTool(tool, at=reader.since(start))


def _base(reader: LineReader, word: str, start: int) -> Statement:
    if reader.kind in ("newline", "end"):
        return SetBase(at=reader.since(start))
    if reader.kind == "name" and reader.ahead() in (":", "(", ""):  # a location, not a number in a variable
        base = reader.location()
        return SetBase(base, at=reader.since(start))
    amounts = reader.amounts(("mm", "mm", "mm", "deg"), 3)
    at = reader.since(start)
    x, y, z, angle = amounts if len(amounts) == 4 else [*amounts, Quantity(0.0, "deg", at=at)]
    return SetBase(based(x, y, z, angle, at), at=at)


# --- locations and numbers --------------------------------------------------------------------------------------------


def _target(reader: LineReader, what: str, *, joints: bool = False) -> Name:
    start = reader.start
    name = reader.spelt(what, joints=joints)
    return Name(name, at=reader.since(start))


def _here(reader: LineReader, word: str, start: int) -> Statement:
    target = _target(reader, "a location", joints=True)
    if target.name[0] == "#":
        at = reader.since(start)
        return Assign(target, Here(joints=True, at=at), at=at)
    before: Expression | None = None
    while reader.accept(":"):  # HERE A:B makes B so that A:B is here
        before = target if before is None else Binary("*", before, target, at=reader.since(start))
        target = _target(reader, "a location")
    at = reader.since(start)
    here: Expression = Here(at=at)
    if before is not None:
        here = Binary("*", Call("INVERSE", (before,), at=at), here, at=at)
    return Assign(target, here, at=at)


def _set(reader: LineReader, word: str, start: int) -> Statement:
    target = _target(reader, "a location", joints=True)
    reader.expect("=", "after the location")
    value = reader.location(joints=True)
    given = isinstance(value, Name) and value.name[0] == "#"
    if given != (target.name[0] == "#"):
        message = "a precision point and a location cannot be made from each other here"
        raise Unexpected(Diagnostic(message, value.at, "write HERE to take either from where the arm is", code="type"))
    return Assign(target, value, at=reader.since(start))


def _inverse(reader: LineReader, word: str, start: int) -> Statement:
    target = _target(reader, "a location")
    reader.expect("=", "after the location")
    value = reader.location()
    at = reader.since(start)
    return Assign(target, Call("INVERSE", (value,), at=at), at=at)


def _frame(reader: LineReader, word: str, start: int) -> Statement:
    target = _target(reader, "a location")
    reader.expect("=", "after the location")
    value = reader.framed(reader.start)
    return Assign(target, value, at=reader.since(start))


def _point(reader: LineReader, word: str, start: int) -> Statement:
    target = _target(reader, "a location", joints=True)
    reader.expect("=", "after the location")
    if target.name[0] == "#":
        value: Expression = reader.joint_angles()
    else:
        first = reader.start
        amounts = reader.amounts(("mm", "mm", "mm", "deg", "deg", "deg"), 6)
        value = posed(amounts, reader.since(first))
    return Assign(target, value, at=reader.since(start))


def _shift(reader: LineReader, word: str, start: int) -> Statement:
    target = _target(reader, "a location")
    reader.expect("BY", "after the location")
    by = _displacement(reader)
    at = reader.since(start)
    return Assign(target, Binary("+", target, by, at=at), at=at)


def _seti(reader: LineReader, word: str, start: int) -> Statement:
    target = _target(reader, "a variable")
    reader.expect("=", "after the variable")
    value = reader.whole()
    return Assign(target, value, at=reader.since(start))


def _typei(reader: LineReader, word: str, start: int) -> Statement:
    value = _target(reader, "a variable")
    return Print((value,), at=reader.since(start))


def _type(reader: LineReader, word: str, start: int) -> Statement:
    values: list[Expression] = []
    while True:
        first = reader.start
        if reader.kind == "string":
            text = reader.next()
            values.append(Literal(text[1:-1], at=reader.since(first)))
        elif not values and reader.kind in ("newline", "end"):
            return Print((Literal(""),), at=reader.since(start))
        else:
            values.append(reader.whole(fractions=True))
        if not reader.accept(","):
            return Print(tuple(values), at=reader.since(start))


# --- flow of control, input and output --------------------------------------------------------------------------------


def _goto(reader: LineReader, word: str, start: int) -> Statement:
    label = reader.jump("after GOTO")
    return Goto(label, at=reader.since(start))


def _gosub(reader: LineReader, word: str, start: int) -> Statement:
    if reader.kind == "number":
        label = reader.jump("after GOSUB")
        return Gosub(label, at=reader.since(start))
    name = reader.spelt("a program")
    return CallProcedure(name, at=reader.since(start))


def _if(reader: LineReader, word: str, start: int) -> Statement:
    first = reader.start
    if word == "IFSIG":
        condition = reader.lines_hold()
    else:
        left = reader.whole()
        relation = RELATIONS.get(reader.key)
        if relation is None:
            raise reader.unexpected("a relation is missing", choices=("EQ", "NE", "LT", "GT", "LE", "GE"))
        reader.next()
        right = reader.whole()
        condition = Binary(relation, left, right, at=reader.since(first))
    reader.expect("THEN", f"after the condition of {word}")
    first = reader.start
    label = reader.jump("after THEN")
    jump = Goto(label, at=reader.since(first))
    return If(condition, (jump,), at=reader.since(start))


def _signal(reader: LineReader, word: str, start: int) -> list[Statement]:
    lines = reader.lines()
    at = reader.since(start)
    return [Signal(line, on, at=at) for line, on in lines]


def _wait(reader: LineReader, word: str, start: int) -> Statement:
    condition = reader.lines_hold()
    return Wait(condition, at=reader.since(start))


def _react(reader: LineReader, word: str, start: int) -> Statement:
    line, on = reader.signed_line()
    reader.expect(",", "after the number of the line")
    first = reader.start
    name = reader.spelt("a program")
    call = CallProcedure(name, at=reader.since(first))
    always = reader.accept("ALWAYS")
    reading: Expression = Reading("signal", number=line, at=line.at)
    reading = reading if on else Unary("not", reading, at=line.at)
    return Watch(
        watch_name(line, on), reading, (call,), interrupts=word == "REACTI", once=not always, at=reader.since(start)
    )


def _ignore(reader: LineReader, word: str, start: int) -> Statement:
    line, on = reader.signed_line()
    return Unwatch(watch_name(line, on), at=reader.since(start))


def _delay(reader: LineReader, word: str, start: int) -> Statement:
    duration = reader.amount("s")
    if getattr(duration, "value", 0.0) < 0:  # type: ignore[operator]
        raise Unexpected(Diagnostic("a time is not negative", duration.at, code="limit"))
    return Delay(duration, at=reader.since(start))


def _return(reader: LineReader, word: str, start: int) -> Statement:
    return Return(at=reader.since(start))


def _stop(reader: LineReader, word: str, start: int) -> Statement:
    return Stop(at=reader.since(start))


def _pause(reader: LineReader, word: str, start: int) -> Statement:
    message = reader.next()[1:-1] if reader.kind == "string" else ""
    return Pause(message, at=reader.since(start))


def raw_text(token: str, at: Span) -> Statement:
    """TYPE and PAUSE with a text that is not in quotation marks."""
    word, _, text = token.replace("\t", " ").partition(" ")
    text = token[len(word) :].strip()
    return Print((Literal(text, at=at),), at=at) if word.upper() == "TYPE" else Pause(text, at=at)


INSTRUCTIONS: Mapping[str, Instruction] = {
    "MOVE": _move, "MOVES": _move, "MOVET": _move_and_hand, "MOVEST": _move_and_hand,
    "APPRO": _approach, "APPROS": _approach, "DEPART": _depart, "DEPARTS": _depart, "DRAW": _draw,
    "DRIVE": _drive, "READY": _ready, "DELAY": _delay, "SPEED": _speed,
    "OPEN": _hand, "OPENI": _hand, "CLOSE": _hand, "CLOSEI": _hand, "GRASP": _grasp,
    "HERE": _here, "SET": _set, "INVERSE": _inverse, "FRAME": _frame, "POINT": _point, "SHIFT": _shift,
    "TOOL": _tool, "BASE": _base, "SETI": _seti, "TYPEI": _typei, "TYPE": _type,
    "IF": _if, "IFSIG": _if, "GOTO": _goto, "GOSUB": _gosub, "RETURN": _return,
    "SIGNAL": _signal, "WAIT": _wait, "REACT": _react, "REACTI": _react, "IGNORE": _ignore,
    "PAUSE": _pause, "STOP": _stop,
} | dict.fromkeys(FLAGS, _flag)  # fmt: skip
