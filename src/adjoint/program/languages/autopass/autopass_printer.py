"""`autopass_text`: instructions as an AUTOPASS program."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...instructions.expressions import Expression, Name, Reading
from ...instructions.programs import Program
from ...instructions.statements import (
    Abort,
    Assign,
    Block,
    Comment,
    Delay,
    For,
    If,
    Operate,
    Parallel,
    Pause,
    Place,
    Print,
    Repeat,
    Signal,
    Statement,
    Stop,
    Wait,
    While,
)
from .autopass_expressions import KEYWORDS, expression_text, quoted, variable_text
from .autopass_parser import ATTACHMENTS
from .relation_texts import cannot_say, quantity_text, relation_text, said

__all__ = ["autopass_text"]

_WORD = r"[A-Za-z_][A-Za-z_0-9]*"
_DOTTED = rf"{_WORD}(?:\.{_WORD})*"
_INDEX = rf"(?:\d+|{_WORD}(?:[+-]\d+)?)"
_PLAIN = re.compile(rf"({_DOTTED})(?:\({_INDEX}(?:,{_INDEX})*\)(?:\.{_DOTTED})?)?", re.ASCII)
_LONG = 100  # characters; a longer statement goes on in the next line
_ADVERB = {kind: word for word, kind in ATTACHMENTS.items()}
Body = tuple[Statement, ...]


def autopass_text(program: Program) -> str:
    """The text of a program in AUTOPASS: `parse_autopass` reads the same instructions from it.

        >>> from adjoint.program.instructions import Place, Program
        >>> print(autopass_text(Program((Place("cup", "on", "table", hold=True),))))
        PLACE cup ON table AND HOLD;

    AUTOPASS has words for `Place` with IN or ON, `Operate`, and the flow of PL/I; other instructions are a
    `ProgramError` that names them.
    """
    return said(program, lambda statement: _statement(statement, ""))


def _body(body: Body, indent: str) -> list[str]:
    return [line for statement in body for line in _statement(statement, indent)]


def _statement(statement: Statement, indent: str) -> list[str]:
    printer = _PRINTERS.get(type(statement))
    if printer is not None:
        return _folded(printer(statement), indent)
    printer = _GROUPS.get(type(statement))
    if printer is None:
        raise cannot_say("AUTOPASS", f"the instruction {type(statement).__name__}", statement.at)
    return printer(statement, indent)


def _folded(text: str, indent: str) -> list[str]:
    """One statement in lines that are not too long, broken before the words that begin clauses."""
    lines, rest = [], indent + text
    while len(rest) > _LONG:
        cuts = [rest.rfind(word, len(indent) + 8, _LONG) for word in (" SUCH THAT ", " USING ", " WITH ", " AND ")]
        cut = max(cuts)
        if cut < 0 or "'" in rest or text.startswith("/*"):
            break
        lines.append(rest[:cut])
        rest = f"{indent}    {rest[cut + 1 :]}"
    return [*lines, rest]


# --- tasks ------------------------------------------------------------------------------------------------------------


def thing_text(name: str) -> str:
    """The name of a part, feature, tool or arm; in quotes if it is no plain name."""
    found = _PLAIN.fullmatch(name)
    words = re.findall(_WORD, name)
    if found and found[1].upper() not in KEYWORDS and not any(word.upper() in KEYWORDS for word in words[1:]):
        return name
    if not name:
        raise cannot_say("AUTOPASS", "an empty name")
    return quoted(name)


def _place(s: Place) -> str:
    if s.where not in ("in", "on") or not s.support:
        raise cannot_say("AUTOPASS", "PLACE without IN or ON", s.at)
    words = [f"PLACE {thing_text(s.part)} {s.where.upper()} {thing_text(s.support)}"]
    words += [f"BY {thing_text(s.arm)}"] if s.arm else []
    words += [f"GRASPING {thing_text(s.grasp)}"] if s.grasp else []
    conditions = [_relation(clause) for clause in s.relations]
    conditions += [] if s.final is None else [_condition(s.final)]
    words += [f"SUCH THAT {' AND '.join(conditions)}"] if conditions else []
    words += [] if s.constraint is None else [f"WITH {_condition(s.constraint)}"]
    return " ".join([*words, "AND HOLD"] if s.hold else words) + ";"


def _relation(clause) -> str:
    """bolt_tip IS ALIGNED WITH beam_bore; FITS needs no IS."""
    text = relation_text(clause, thing_text, "AUTOPASS")
    first = thing_text(clause.first)
    return text if clause.relation == "fits" else f"{first} IS{text[len(first) :]}"


def _condition(value: Expression) -> str:
    """Conditions with AND between them. What would be read as a relation gets parentheses."""
    pieces = []
    while getattr(value, "operator", "") == "and":
        pieces.append(value.right)  # type: ignore[attr-defined]
        value = value.left  # type: ignore[attr-defined]
    return " AND ".join(_one_condition(piece) for piece in [value, *reversed(pieces)])


def _one_condition(value: Expression) -> str:
    text = expression_text(value, 3)
    left = getattr(value, "left", None)
    clear = isinstance(value if left is None else left, Reading) or (left is None and text.startswith(("(", "NOT ")))
    return text if clear else f"({text})"


def _operate(s: Operate) -> str:
    drives = s.action == "drive in"
    if drives != bool(s.part) or s.action not in ("operate", "drive in"):
        raise cannot_say("AUTOPASS", f"the action '{s.action}' of a tool", s.at)
    words = [f"DRIVE IN {thing_text(s.part)}" if drives else f"OPERATE {thing_text(s.tool)}"]
    words += [f"WITH {', '.join(map(thing_text, s.loads))}"] if s.loads else []
    words += [f"AT {thing_text(s.place)}"] if s.place else []
    if s.attachment:
        if s.attachment not in _ADVERB:
            raise cannot_say("AUTOPASS", f"the attachment '{s.attachment}'", s.at)
        words.append(f"ATTACHED {_ADVERB[s.attachment]}")
    words += [] if s.final is None else [f"SUCH THAT {_condition(s.final)}"]
    words += [f"USING {thing_text(s.tool)}"] if drives else []
    if s.turning not in ("", "clockwise", "counterclockwise"):
        raise cannot_say("AUTOPASS", f"the direction '{s.turning}' of a tool", s.at)
    words += [s.turning.upper()] if s.turning else []
    words += [] if s.speed is None else [f"SPEED {quantity_text(s.speed, 'AUTOPASS')}"]
    words += [f"BY {thing_text(s.arm)}"] if s.arm else []
    return " ".join([*words, "AND HOLD"] if s.hold else words) + ";"


# --- flow of control --------------------------------------------------------------------------------------------------


def _group(head: str, body: Body, indent: str) -> list[str]:
    return [f"{indent}{head};", *_body(body, indent + "    "), f"{indent}END;"]


def _if(s: If, indent: str) -> list[str]:
    lines = _branch(f"{indent}IF {expression_text(s.condition)} THEN", s.then, indent)
    return [*lines, *_branch(f"{indent}ELSE", s.otherwise, indent)] if s.otherwise else lines


def _branch(head: str, body: Body, indent: str) -> list[str]:
    if len(body) == 1 and type(body[0]) in _PRINTERS and not isinstance(body[0], Comment):
        return [head, *_statement(body[0], indent + "    ")]
    return [f"{head} DO;", *_body(body, indent + "    "), f"{indent}END;"]


def _for(s: For, indent: str) -> list[str]:
    step = "" if s.step is None else f" BY {expression_text(s.step)}"
    values = f"{expression_text(s.first)} TO {expression_text(s.last)}{step}"
    return _group(f"DO {variable_text(s.variable)} = {values}", s.body, indent)


def _parallel(s: Parallel, indent: str) -> list[str]:
    body = tuple(
        branch[0] if len(branch) == 1 and not isinstance(branch[0], Block | Comment) else Block(branch)
        for branch in s.branches
    )
    return _group("IN PARALLEL DO", body, indent)


def _assign(s: Assign) -> str:
    if not isinstance(s.target, Name):
        raise cannot_say("AUTOPASS", "an element of an aggregate", s.at)
    return f"{variable_text(s.target.name)} = {expression_text(s.value)};"


def _print(s: Print) -> str:
    if not s.values:
        raise cannot_say("AUTOPASS", "PUT LIST without values", s.at)
    return f"PUT LIST ({', '.join(map(expression_text, s.values))});"


def _block(s: Block, indent: str) -> list[str]:
    if s.name:
        raise cannot_say("AUTOPASS", f"the name '{s.name[:40]}' of a block", s.at)
    return _group("DO", s.body, indent)


_PRINTERS: dict[type, Callable] = {
    Comment: lambda s: f"/* {s.text.replace('*/', '* /')} */",
    Place: _place,
    Operate: _operate,
    Assign: _assign,
    Signal: lambda s: f"SIGNAL {expression_text(s.line)}{'' if s.on else ' OFF'};",
    Wait: lambda s: f"WAIT ({expression_text(s.condition)});",
    Delay: lambda s: f"DELAY {expression_text(s.duration)};",
    Print: _print,
    Abort: lambda s: f"ABORT {expression_text(s.message)};",
    Pause: lambda s: f"PAUSE {quoted(s.message)};" if s.message else "PAUSE;",
    Stop: lambda s: "STOP;",
}
_GROUPS: dict[type, Callable] = {
    Block: _block,
    While: lambda s, indent: _group(f"DO WHILE ({expression_text(s.condition)})", s.body, indent),
    Repeat: lambda s, indent: _group(f"DO UNTIL ({expression_text(s.until)})", s.body, indent),
    For: _for,
    If: _if,
    Parallel: _parallel,
}
