"""Places in a text as editors count them: lines from 0, and columns in units of UTF-16, UTF-8 or whole characters."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from ...lazy import cached_property

__all__: list[str] = []

_LINE_END = re.compile(r"\r\n|\n|\r")  # what the protocol calls the end of a line, and nothing else
_UNITS = {"utf-8": lambda text: len(text.encode("utf-8", "surrogatepass")), "utf-32": len}


def _utf_16(text: str) -> int:
    return len(text) + sum(c > "\uffff" for c in text)


@dataclass(frozen=True)
class ClientPositions:
    """A text, and how an editor counts in it: `units` are "utf-16", "utf-8" or "utf-32"."""

    text: str
    units: str = "utf-16"

    @cached_property
    def _bounds(self) -> tuple[list[int], list[int]]:
        """Where lines begin, and where they end without their line ends."""
        found = list(_LINE_END.finditer(self.text))
        return [0, *(m.end() for m in found)], [*(m.start() for m in found), len(self.text)]

    def position(self, offset: int) -> tuple[int, int]:
        """The line, from 0, and the column of a character."""
        offset = min(max(offset, 0), len(self.text))
        starts, _ = self._bounds
        line = bisect_right(starts, offset) - 1
        return line, _UNITS.get(self.units, _utf_16)(self.text[starts[line] : offset])

    def offset(self, line: int, column: int) -> int:
        """The character at a line and column; beyond the end of a line it is the end of the line."""
        starts, ends = self._bounds
        if line >= len(starts):
            return len(self.text)
        start, end = starts[max(line, 0)], ends[max(line, 0)]
        size, left = _UNITS.get(self.units, _utf_16), column
        if self.units == "utf-32" or self.text[start:end].isascii():
            return min(start + max(left, 0), end)
        for at in range(start, end):
            left -= size(self.text[at])
            if left < 0:
                return at
        return end
