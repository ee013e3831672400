"""From single statements to lines of VAL."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

from ...instructions.expressions import Binary, Call, Expression, Here, Literal, Name
from ...instructions.programs import Program, statements_in
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
from .shapes import READY, as_back, as_based, as_posed, as_vector, watch_name
from .val_expression_texts import (
    NoWords,
    amount_text,
    amount_texts,
    condition_text,
    joints_text,
    label_text,
    lines_text,
    location_text,
    name_text,
    percent_text,
    signed_line_text,
    whole_text,
)  # fmt: skip

__all__: list[str] = []

_HERE = Here()


def _only(statement: Any, allowed: str) -> None:
    """Refuse a statement with fields that VAL has no words for: all but these have their defaults."""
    plain = type(statement)(**{name: getattr(statement, name) for name in allowed.split()})
    if plain != statement:
        names = [
            name
            for name in statement.__dataclass_fields__
            if name not in ("at", *allowed.split()) and getattr(statement, name) != getattr(plain, name)
        ]
        raise NoWords(f"{names[0]} = {getattr(statement, names[0])!r:.60}")


def _plain_move(statement: Move) -> None:
    if statement.mover:
        raise NoWords(f"'{statement.mover}': VAL has one arm, without a name")
    _only(statement, "mover to straight")


def _move(numbers: set[str], statement: Move) -> str:
    _plain_move(statement)
    straight = "S" if statement.straight else ""
    found = as_back(statement.to)
    if found is not None:
        location, distance = found
        if location == _HERE:
            return f"DEPART{straight} {amount_text(distance, 'mm')}"
        return f"APPRO{straight} {location_text(location)},{amount_text(distance, 'mm')}"
    to = statement.to
    if isinstance(to, Binary) and to.operator == "+" and to.left == _HERE and statement.straight:
        by = as_vector(to.right)
        if by is not None:
            return f"DRAW {amount_texts(by, 'mm mm mm')}"
    return f"MOVE{straight} {location_text(to, joints=True)}"


def hand_and_move(hand: MoveHand, following: Statement | None) -> str:
    """MOVET and MOVEST: fingers and arm move together."""
    if hand.wait or hand.width is None or not hand.opens or not isinstance(following, Move):
        raise NoWords("fingers that open or close, without a move")
    _only(hand, "hand opens width wait either_way")
    _no_name(hand.hand)
    _plain_move(following)
    word = "MOVEST" if following.straight else "MOVET"
    return f"{word} {location_text(following.to, joints=True)},{amount_text(hand.width, 'mm')}"


def _hand(numbers: set[str], statement: MoveHand) -> str:
    _no_name(statement.hand)
    if statement.grasp:
        _only(statement, "hand opens width grasp otherwise")
        if statement.opens or statement.width is None:
            raise NoWords("a grasp without a width")
        label = f",{label_text(statement.otherwise)}" if statement.otherwise else ""
        return f"GRASP {amount_text(statement.width, 'mm')}{label}"
    _only(statement, "hand opens width wait")
    word = ("OPEN" if statement.opens else "CLOSE") + ("I" if statement.wait else "")
    return word if statement.width is None else f"{word} {amount_text(statement.width, 'mm')}"


def _no_name(name: str) -> None:
    if name:
        raise NoWords(f"'{name}': VAL has one arm with one hand, without names")


def _drive(numbers: set[str], statement: MoveJoints) -> str:
    if statement == READY:
        return "READY"
    _only(statement, "joints values relative arm length_unit angle_unit speed_fraction")
    _no_name(statement.arm)
    if not statement.relative or (statement.length_unit, statement.angle_unit) != ("mm", "deg"):
        raise NoWords("joints that move to values, or in other units than mm and degrees")
    joint = statement.joints
    if isinstance(joint, Literal) and (isinstance(joint.value, str) or not joint.value >= 1):
        raise NoWords(f"joint {joint.value}")
    speed = "" if statement.speed_fraction is None else f",{percent_text(statement.speed_fraction)}"
    return f"DRIVE {whole_text(joint)},{whole_text(statement.values, fractions=True)}{speed}"


def _speed(numbers: set[str], statement: SetSpeed) -> str:
    _no_name(statement.arm)
    return f"SPEED {percent_text(statement.fraction)}{' ALWAYS' if statement.permanent else ''}"


def _flag(numbers: set[str], statement: SetConfiguration) -> str:
    _no_name(statement.arm)
    return statement.flag.upper()


def _tool(numbers: set[str], statement: SetTool) -> str:
    _no_name(statement.arm)
    return "TOOL" if statement.tool is None else f"TOOL {location_text(statement.tool)}"


def _base(numbers: set[str], statement: SetBase) -> str:
    _no_name(statement.arm)
    if statement.base is None:
        return "BASE"
    amounts = as_based(statement.base)
    if amounts is not None:
        return f"BASE {amount_texts(amounts, 'mm mm mm deg')}"
    return f"BASE {location_text(statement.base)}"


def _assign(numbers: set[str], statement: Assign) -> str:
    if not isinstance(statement.target, Name):
        raise NoWords("an element of an array")
    value, name = statement.value, name_text(statement.target.name, joints=True)
    if name[0] == "#":
        if value == Here(joints=True):
            return f"HERE {name}"
        angles = joints_text(value)
        if angles is not None:
            return f"POINT {name} = {angles}"
        if isinstance(value, Name) and value.name[:1] == "#":
            return f"SET {name} = {name_text(value.name, joints=True)}"
        raise NoWords("this value of a precision point")
    if value == _HERE:
        return f"HERE {name}"
    amounts = as_posed(value)
    if amounts is not None:
        return f"POINT {name} = {amount_texts(amounts, 'mm mm mm deg deg deg')}"
    if isinstance(value, Binary) and value.operator == "+" and value.left == statement.target:
        by = as_vector(value.right)
        if by is not None:
            return f"SHIFT {name} BY {amount_texts(by, 'mm mm mm')}"
    if _is_number(value, numbers):
        return f"SETI {name} = {whole_text(value)}"
    return f"SET {name} = {location_text(value)}"


def _print(numbers: set[str], statement: Print) -> str:
    values = statement.values
    if len(values) == 1:
        value = values[0]
        if isinstance(value, Name):
            return f"TYPEI {name_text(value.name)}"
        if isinstance(value, Literal) and isinstance(value.value, str):
            return f"TYPE {_free_text(value.value)}".rstrip()
    if not values:
        raise NoWords("a message without values")
    texts = [_quoted(v.value) if isinstance(v, Literal) and isinstance(v.value, str) else
             whole_text(v, fractions=True) for v in values]  # fmt: skip
    if texts[0][0] != '"':
        raise NoWords("a message that begins with a number")
    return f"TYPE {','.join(texts)}"


def _free_text(text: str) -> str:
    """A text without quotation marks if it can be, and with them if it must be."""
    if text == text.strip() and text == shown_text(text) and not any(c in text for c in ";\n") and text[:1] != '"':
        return text
    return _quoted(text)


def _quoted(text: str) -> str:
    if '"' in text:
        raise NoWords(f"the text {text!r:.60}")
    return f'"{shown_text(text)}"'


def shown_text(text: str) -> str:
    """A text, if it has no characters that nobody sees, which would not be read again."""
    if any(c != "\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs") for c in text):
        raise NoWords(f"the text {text!r:.60}")
    return text


def _pause(numbers: set[str], statement: Pause) -> str:
    return f"PAUSE {_free_text(statement.message)}".rstrip()


def _if(numbers: set[str], statement: If) -> str:
    if len(statement.then) != 1 or not isinstance(statement.then[0], Goto) or statement.otherwise:
        raise NoWords("a branch that is no jump")
    word, condition = condition_text(statement.condition)
    return f"{word} {condition} THEN {label_text(statement.then[0].label)}"


def _call(numbers: set[str], statement: CallProcedure) -> str:
    if statement.arguments:
        raise NoWords("arguments")
    return f"GOSUB {name_text(statement.name)}"


def _return(numbers: set[str], statement: Return) -> str:
    if statement.value is not None:
        raise NoWords("the value of a procedure")
    return "RETURN"


def _signal(numbers: set[str], statement: Signal) -> str:
    return f"SIGNAL {signed_line_text(statement.line, statement.on)}"


def _wait(numbers: set[str], statement: Wait) -> str:
    return f"WAIT {lines_text(statement.condition)}"


def _watch(numbers: set[str], statement: Watch) -> str:
    call = statement.body[0] if len(statement.body) == 1 else None
    if not isinstance(call, CallProcedure) or call.arguments:
        raise NoWords("a reaction that is no program")
    line = lines_text(statement.condition)
    if "," in line or statement.name != f"signal {line}":
        raise NoWords(f"a monitor with the name '{statement.name}'")
    word = "REACTI" if statement.interrupts else "REACT"
    return f"{word} {line},{name_text(call.name)}{'' if statement.once else ' ALWAYS'}"


def _ignore(numbers: set[str], statement: Unwatch) -> str:
    line = statement.name.removeprefix("signal ")
    number = line.removeprefix("-")
    value: Expression = Literal(float(number)) if number.isdecimal() and number.isascii() else Name(number)
    text = signed_line_text(value, line == number)
    if statement.name != watch_name(value, line == number):
        raise NoWords(f"a monitor with the name '{statement.name}'")
    return f"IGNORE {text}"


def _delay(numbers: set[str], statement: Delay) -> str:
    text = amount_text(statement.duration, "s")
    if text[0] == "-" and text[1:2].isdigit():
        raise NoWords("a negative time")
    return f"DELAY {text}"


WRITERS: dict[type, Callable[[set[str], Any], str]] = {
    Assign: _assign,
    CallProcedure: _call,
    Delay: _delay,
    Gosub: lambda numbers, statement: f"GOSUB {label_text(statement.label)}",
    Goto: lambda numbers, statement: f"GOTO {label_text(statement.label)}",
    If: _if,
    Move: _move,
    MoveHand: _hand,
    MoveJoints: _drive,
    Pause: _pause,
    Print: _print,
    Return: _return,
    SetBase: _base,
    SetConfiguration: _flag,
    SetSpeed: _speed,
    SetTool: _tool,
    Signal: _signal,
    Stop: lambda numbers, statement: "STOP",
    Unwatch: _ignore,
    Wait: _wait,
    Watch: _watch,
}


# --- whole numbers ----------------------------------------------------------------------------------------------------


def _is_number(expression: Expression, numbers: set[str]) -> bool:
    """Whether an expression is a whole number, and no location, as far as it shows."""
    if isinstance(expression, Literal):
        return True
    if isinstance(expression, Name):
        return expression.name in numbers
    if isinstance(expression, Call):
        return expression.function.upper() == "INT"
    if isinstance(expression, Binary):
        if expression.operator != "*":
            return True
        return _is_number(expression.left, numbers) or _is_number(expression.right, numbers)
    return not isinstance(expression, Here)


def number_names(program: Program) -> set[str]:
    """The variables that get numbers, or are compared, shown or calculated with."""
    names: set[str] = set()
    for statement in statements_in(program):
        found: list[Expression] = []
        if isinstance(statement, If) and isinstance(statement.condition, Binary):
            found = [statement.condition.left, statement.condition.right]
        elif isinstance(statement, Print):
            found = list(statement.values)
        elif isinstance(statement, Assign) and _is_number(statement.value, names):
            found = [statement.target]
        names.update(x.name for x in found if isinstance(x, Name))
    return names
