"""`rapt_text`: instructions as a RAPT program."""

from __future__ import annotations

import re

from ...instructions.programs import Program
from ...instructions.statements import Comment, Place, RelationClause, Statement, TaskState
from .rapt_parser import KEYWORDS, NAME
from .relation_texts import cannot_say, relation_text, said

__all__ = ["rapt_text"]

_PLAIN = re.compile(NAME, re.ASCII)


def rapt_text(program: Program) -> str:
    """The text of a program in RAPT: `parse_rapt` reads the same instructions from it.

        >>> from adjoint.program.instructions import Place, Program, RelationClause
        >>> relation = RelationClause("against", "Block2.face3", "Block3.face1")
        >>> print(rapt_text(Program((Place("Block3", relations=(relation,)),))))
        PLACE Block3 SO THAT (Block2-face3 AGAINST Block3-face1);

    RAPT has words for `Place` by relations, `TaskState` and `Comment`; other instructions are a `ProgramError`.
    """
    states: dict[str, TaskState] = {}
    return said(program, lambda statement: [_statement(statement, states)])


def _statement(statement: Statement, states: dict[str, TaskState]) -> str:
    if isinstance(statement, Comment):
        return "\n".join(f"$$ {line.strip()}".rstrip() for line in statement.text.split("\n"))
    if isinstance(statement, Place):
        extra = (statement.where, statement.support, statement.grasp, statement.constraint, statement.final)
        if any(extra) or statement.hold or not statement.relations:
            raise cannot_say("RAPT", "PLACE other than by relations", statement.at)
        relations = " AND ".join(map(_relation, statement.relations))
        return f"PLACE {_feature(statement.part)}{_by(statement.arm)} SO THAT {relations};"
    if isinstance(statement, TaskState) and statement.relations:
        relations = "\n    ".join(map(_relation, statement.relations))
        if statement.purpose == "define" and statement.name and not statement.arm and statement.name not in states:
            states[statement.name] = statement
            return f"STATE {_name(statement.name)}:\n    {relations};"
        known = states.get(statement.name)
        by = _by(statement.arm) if statement.purpose == "achieve" else ""
        if statement.purpose != "define" and bool(by) == bool(statement.arm):
            if known is not None and known.relations == statement.relations:
                return f"{statement.purpose.upper()} {_name(statement.name)}{by};"
            if not statement.name:
                return f"{statement.purpose.upper()}\n    {relations}{by};"
        raise cannot_say("RAPT", f"the state '{statement.name}' here", statement.at)
    raise cannot_say("RAPT", f"the instruction {type(statement).__name__}", statement.at)


def _relation(clause: RelationClause) -> str:
    return f"({relation_text(clause, _feature, 'RAPT')})"


def _by(arm: str) -> str:
    return f" BY {_name(arm)}" if arm else ""


def _feature(name: str) -> str:
    """A place such as "Block2.face3" as RAPT writes it, Block2-face3."""
    head, mark, tail = name.partition(".")
    if mark and "-" not in head and _is_plain(f"{head}-{tail}"):
        return f"{head}-{tail}"
    return name if "-" not in head and _is_plain(name) else _quoted(name)


def _name(name: str) -> str:
    return name if _is_plain(name) else _quoted(name)


def _is_plain(name: str) -> bool:
    return bool(_PLAIN.fullmatch(name)) and name.upper() not in KEYWORDS


def _quoted(name: str) -> str:
    if not name or '"' in name or "\n" in name:
        raise cannot_say("RAPT", f"the name {name!r}")
    return f'"{name}"'
