"""What is wrong with a program, and where: messages with line, column, the text underlined, and a suggestion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import AdjointError
from .sources import NOWHERE, Position, Source, Span

__all__ = ["Diagnostic", "ProgramError", "rendered"]

_MOST = 20  # diagnostics that one message shows
_WIDE = 100  # characters of a line that one message shows


@dataclass(frozen=True)
class Diagnostic:
    """One thing that is wrong, or doubtful, in a program."""

    message: str
    span: Span = NOWHERE
    hint: str = ""
    """what would be right, such as "write 90*deg"; may be empty"""
    severity: str = "error"
    """"error", "warning" or "note"; a program with errors does not run"""
    code: str = ""
    """a short name of the kind, such as "syntax", "type", "unit", "name", "limit", "reach", "branch", "collision\""""


class ProgramError(AdjointError):
    """A program cannot be read, checked or run. `diagnostics` has every finding, `source` the text.

    `position` is the place (line, column) of the first finding, or None if the program was made in Python.
    """

    def __init__(self, diagnostics: Diagnostic | Sequence[Diagnostic], source: Source | None = None):
        found = [diagnostics] if isinstance(diagnostics, Diagnostic) else list(diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(found)
        self.source = source
        text = "\n".join(rendered(d, source) for d in found[:_MOST])
        if len(found) > _MOST:
            text += f"\n... and {len(found) - _MOST} more"
        super().__init__(text)

    def __reduce__(self):
        return type(self), (self.diagnostics, self.source)

    @property
    def position(self) -> Position | None:
        """The line and the column of the first finding."""
        span = self.diagnostics[0].span
        return self.source.position(span.start) if self.source is not None and span.start >= 0 else None


def rendered(diagnostic: Diagnostic, source: Source | None = None) -> str:
    """A diagnostic as text: the place, the message, the line with the piece underlined, and the hint.

    insertion.al:12:18: error: ROT needs an angle, and 90 is a plain number
        beam <- FRAME(ROT(Z, 90), VECTOR(20, 15, 0)*inches);
                             ^^
        hint: write 90*deg
    """
    head = f"{diagnostic.severity}: {diagnostic.message}"
    hint = [f"    hint: {diagnostic.hint}"] if diagnostic.hint else []
    if source is None or diagnostic.span.start < 0:
        return "\n".join([head, *hint])
    line, column = source.position(diagnostic.span.start)
    text = source.line(line)
    skipped = max(0, column - 1 - _WIDE // 2) if len(text) > _WIDE else 0
    shown = text[skipped : skipped + _WIDE]
    length = max(1, min(diagnostic.span.end - diagnostic.span.start, len(text) - column + 1))
    # Tabs stay tabs, so that the marks stand below what they mark; characters that move the cursor become spaces.
    before = "".join("\t" if c == "\t" else " " for c in text[skipped : column - 1])
    marks = "^" * min(length, _WIDE)
    shown = "".join(c if c == "\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in shown)
    return "\n".join([f"{source.name}:{line}:{column}: {head}", f"    {shown}", f"    {before}{marks}", *hint])
