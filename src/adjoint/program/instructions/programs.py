"""`Program`: statements with their language and text; walks over statements and expressions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

from .expressions import Expression
from .sources import Source, Span
from .statements import Procedure, Statement

__all__ = ["Program", "expressions_in", "statements_in"]

LANGUAGES = ("al", "val", "aml", "autopass", "rapt", "python")


@dataclass(frozen=True)
class Program:
    """A robot program: what `parse` reads, the builder makes, `check` checks and `run` runs.

    Two programs are equal if their statements and names are; language and text do not count.
    """

    statements: tuple[Statement, ...]
    name: str = ""
    language: str = field(default="python", compare=False)
    source: Source | None = field(default=None, compare=False, repr=False)

    @property
    def procedures(self) -> dict[str, Procedure]:
        """{name: procedure} of the procedures at the top."""
        return {s.name: s for s in self.statements if isinstance(s, Procedure)}

    def line_of(self, span: Span) -> int:
        """The number of the line in which a span begins; 0 if there is no text."""
        return 0 if self.source is None else self.source.line_of(span)


@cache
def _inner_fields(kind: type) -> tuple[str, ...]:
    """The names of the fields of a class of instructions, without its place in the text."""
    return tuple([f.name for f in fields(kind) if f.name != "at"])


def _inside(thing: Any) -> list[Any]:
    """The dataclasses inside an instruction, in order; tuples in its fields are opened."""
    found: list[Any] = []
    for name in _inner_fields(type(thing)):
        value = getattr(thing, name)
        if isinstance(value, tuple):
            _open(value, found)
        elif hasattr(value, "__dataclass_fields__"):
            found.append(value)
    return found


def _open(values: tuple, found: list[Any]) -> None:
    for value in values:
        if isinstance(value, tuple):
            _open(value, found)
        elif hasattr(value, "__dataclass_fields__"):
            found.append(value)


def statements_in(body) -> Iterator[Statement]:
    """All statements of a program, of a statement or of a body, with those inside others, in the order of the text."""
    todo = [body.statements if isinstance(body, Program) else body]
    while todo:
        thing = todo.pop()
        if isinstance(thing, Statement):
            yield thing
        if isinstance(thing, tuple):
            todo.extend(reversed([x for x in thing if isinstance(x, tuple) or hasattr(x, "__dataclass_fields__")]))
        elif not isinstance(thing, Expression):
            todo.extend(reversed([x for x in _inside(thing) if not isinstance(x, Expression)]))


def expressions_in(thing) -> Iterator[Expression]:
    """All expressions inside an expression, a statement, a clause or a body, outer ones first."""
    todo = [thing.statements if isinstance(thing, Program) else thing]
    while todo:
        inside = todo.pop()
        if isinstance(inside, Expression):
            yield inside
        if isinstance(inside, tuple):
            todo.extend(reversed([x for x in inside if isinstance(x, tuple) or hasattr(x, "__dataclass_fields__")]))
        else:
            todo.extend(reversed(_inside(inside)))
