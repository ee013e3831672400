"""Texts of programs, and places in them: every instruction remembers where it was written."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

from ...lazy import cached_property

__all__ = ["NOWHERE", "Position", "Source", "Span"]


class Span(NamedTuple):
    """A piece of a text: characters `start` to `end` (without it), counted from 0."""

    start: int
    end: int


class Position(NamedTuple):
    """A place in a text as editors count: `line` and `column` begin with 1."""

    line: int
    column: int


NOWHERE = Span(-1, -1)
"""The span of an instruction that no text has: one that was made in Python."""


@dataclass(frozen=True)
class Source:
    """The text of a program, and the `name` of its file for messages."""

    text: str = field(repr=False)
    name: str = "program"

    @cached_property
    def _line_starts(self) -> list[int]:
        starts, at = [0], self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        return starts

    @property
    def lines(self) -> int:
        """The number of lines."""
        return len(self._line_starts)

    def position(self, offset: int) -> Position:
        """The line and the column of a character."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """The text of a line, without its end."""
        starts = self._line_starts
        start = starts[number - 1]
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[start:end].rstrip("\r")

    def line_of(self, span: Span) -> int:
        """The number of the line in which a span begins, or 0 of `NOWHERE`."""
        return self.position(span.start).line if span.start >= 0 else 0

    def __getitem__(self, span: Span) -> str:
        return self.text[span.start : span.end] if span.start >= 0 else ""
