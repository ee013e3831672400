"""Lines of the Python file that makes a program, so that messages can name them."""

from __future__ import annotations

import linecache
import sys
from dataclasses import fields, replace
from functools import cache
from typing import Any

from ..instructions.expressions import Expression
from ..instructions.sources import NOWHERE, Source, Span

__all__: list[str] = []

_FAR = 30  # frames of the stack that are looked at
_HERE = __file__.rpartition("python_lines")[0]
_LONGEST = 1_000_000  # characters of a file that is shown


class PythonLines:
    """The file that calls the builder, and the spans of its lines. Files that cannot be read have empty lines."""

    def __init__(self, file: str):
        self.file = file
        lines = linecache.getlines(file)
        self.readable = 0 < sum(map(len, lines)) <= _LONGEST
        self.starts, self.ends = [], []
        at = 0
        for line in lines if self.readable else ():
            self.starts.append(at + len(line) - len(line.lstrip()))
            self.ends.append(at + len(line.rstrip()))
            at += len(line)
        self.text = "".join(lines) if self.readable else ""
        self.last = 0

    def here(self) -> Span:
        """The span of the line of the file that is running now."""
        frame = sys._getframe(1)
        for _ in range(_FAR):
            if frame is None:
                return NOWHERE
            if frame.f_code.co_filename == self.file:
                return self._line(frame.f_lineno)
            frame = frame.f_back
        return NOWHERE

    def _line(self, number: int) -> Span:
        self.last = max(self.last, number)
        if self.readable:
            return Span(self.starts[number - 1], self.ends[number - 1]) if number <= len(self.starts) else NOWHERE
        return Span(number - 1, number - 1)

    def source(self) -> Source:
        """The text of the file, or as many empty lines, under the name of the file."""
        name = self.file.replace("\\", "/").rpartition("/")[2]
        return Source(self.text if self.readable else "\n" * self.last, name)


def calling_file() -> str:
    """The file outside this folder that called the builder."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return frame.f_code.co_filename


@cache
def _inside(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if f.name != "at")


def placed(thing: Any, span: Span) -> Any:
    """An instruction whose expressions that stand nowhere stand at a span."""
    if span is NOWHERE:
        return thing
    if type(thing) is tuple:
        return tuple(placed(item, span) for item in thing)
    if not isinstance(thing, Expression):
        return thing
    changes = {"at": span} if thing.at == NOWHERE else {}
    for name in _inside(type(thing)):
        value = getattr(thing, name)
        if isinstance(value, Expression) or type(value) is tuple:
            changes[name] = placed(value, span)
    return replace(thing, **changes) if changes else thing
