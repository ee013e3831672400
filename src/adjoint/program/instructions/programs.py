"""`Program`: statements with their language and text; walks over statements and expressions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
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


def _children(thing: Any) -> Iterator[Any]:
    """The dataclasses inside a field's value, in order."""
    if isinstance(thing, tuple):
        for item in thing:
            yield from _children(item)
    elif hasattr(thing, "__dataclass_fields__"):
        yield thing


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
            inside = [x for f in fields(thing) if f.name != "at" for x in _children(getattr(thing, f.name))]
            todo.extend(reversed([x for x in inside if not isinstance(x, Expression)]))


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
            found = [x for f in fields(inside) if f.name != "at" for x in _children(getattr(inside, f.name))]
            todo.extend(reversed(found))
