"""Programs as JSON, read without trust: `program_to_json` and `program_from_json`."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from ...errors import AdjointError, ArgumentError
from .. import instructions
from ..instructions.expressions import Expression
from ..instructions.programs import Program
from ..instructions.sources import NOWHERE, Source, Span
from ..instructions.statements import ForceClause, Guard, Parameter, RelationClause, Statement
from ..instructions.value_types import Type
from .data_checks import misfit

__all__ = ["program_from_json", "program_to_json"]

_WHO = "program_from_json"
_CLAUSES = (ForceClause, Guard, Parameter, RelationClause)
_CLASSES: dict[str, type] = {
    name: found
    for name in instructions.__all__
    if isinstance(found := getattr(instructions, name), type)
    and (issubclass(found, Statement | Expression) or found in _CLAUSES)
}


def program_to_json(program: Program, *, indent: int | None = None) -> str:
    """A program as JSON, with its text and the place of every instruction in it.

    >>> from adjoint.program.instructions import Delay, Program, Quantity
    >>> text = program_to_json(Program((Delay(Quantity(2.0, "s")),)))
    >>> program_from_json(text) == Program((Delay(Quantity(2.0, "s")),))
    True
    """
    return json.dumps(program_to_data(program), indent=indent, ensure_ascii=False)


def program_from_json(text: str) -> Program:
    """The program that `program_to_json` wrote; an `ArgumentError` says what is wrong in the text."""
    try:
        return program_from_data(json.loads(text))
    except RecursionError:
        raise ArgumentError(f"{_WHO}: the text is nested too deeply") from None
    except ValueError as error:
        raise ArgumentError(f"{_WHO}: the text is no JSON: {error}") from None


def program_to_data(program: Program) -> dict[str, Any]:
    """What JSON says of a program."""
    source = None if program.source is None else {"name": program.source.name, "text": program.source.text}
    return {
        "name": program.name, "language": program.language, "source": source,
        "statements": _to_data(program.statements),
    }  # fmt: skip


def program_from_data(data: Any) -> Program:
    """The program that JSON describes."""
    if not isinstance(data, dict) or set(data) != {"name", "language", "source", "statements"}:
        raise ArgumentError(f"{_WHO}: a program has name, language, source and statements")
    source = data["source"]
    if source is not None:
        if not isinstance(source, dict) or not all(isinstance(source.get(k), str) for k in ("name", "text")):
            raise ArgumentError(f"{_WHO}: the source has a name and a text")
        source = Source(source["text"], source["name"])
    if not isinstance(data["name"], str) or not isinstance(data["language"], str):
        raise ArgumentError(f"{_WHO}: name and language must be texts")
    statements = _from_data(data["statements"])
    if not isinstance(statements, tuple) or not all(isinstance(s, Statement) for s in statements):
        raise ArgumentError(f"{_WHO}: the statements must be a list of statements")
    return Program(statements, data["name"], data["language"], source)


def _to_data(value: Any) -> Any:
    if isinstance(value, Type):
        return {"type": value.kind, "dimension": list(value.dimension)}
    if isinstance(value, tuple):
        return [_to_data(x) for x in value]
    if hasattr(value, "__dataclass_fields__"):
        found: dict[str, Any] = {"is": type(value).__name__}
        for f in fields(value):
            own = getattr(value, f.name)
            if f.name == "at":
                if own != NOWHERE:
                    found["at"] = [own.start, own.end]
            elif own != f.default:
                found[f.name] = _to_data(own)
        return found
    return value


def _from_data(data: Any) -> Any:
    if isinstance(data, list):
        return tuple([_from_data(x) for x in data])
    if not isinstance(data, dict):
        return data
    if "type" in data and "is" not in data:
        dimension = data.get("dimension")
        if not isinstance(data["type"], str) or not isinstance(dimension, list) or len(dimension) != 4:
            raise ArgumentError(f"{_WHO}: a type has a kind and four powers of units")
        return Type(data["type"], tuple(int(x) for x in dimension))  # type: ignore[arg-type]
    kind = _CLASSES.get(data.get("is", "") if isinstance(data.get("is", ""), str) else "")
    if kind is None:
        raise ArgumentError(f"{_WHO}: {data.get('is')!r:.60} is no instruction")
    known = {f.name for f in fields(kind)}
    given = {k: _from_data(x) for k, x in data.items() if k not in ("is", "at")}
    if not known.issuperset(given):
        raise ArgumentError(f"{_WHO}: {kind.__name__} has no {sorted(set(given) - known)[0]!r:.60}")
    at = data.get("at")
    if at is not None and not (isinstance(at, list) and len(at) == 2 and all(isinstance(x, int) for x in at)):
        raise ArgumentError(f"{_WHO}: a place is a list of two whole numbers")
    try:
        found = kind(**given, at=NOWHERE if at is None else Span(*at))
    except AdjointError:
        raise
    except Exception as error:
        raise ArgumentError(f"{_WHO}: {kind.__name__} cannot be made of {str(data)[:60]}: {error}") from None
    wrong = misfit(found)
    if wrong is not None:
        raise ArgumentError(f"{_WHO}: {wrong} of {kind.__name__} cannot be {getattr(found, wrong)!r:.60}")
    return found
