"""News of a long run: a line on the terminal, or calls of a function."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from ..errors import ArgumentError

__all__ = ["Progress"]

_WIDTH = 30  # letters of the bar


class Progress:
    """Tells how far a run is."""

    def __init__(self, to: Callable[[float], object] | None):
        self._to = to

    def tell(self, part: float) -> None:
        """Say that a part of the run, from 0 to 1, is done; the first time, what was done before."""
        if self._to is not None:
            self._to(part)

    @classmethod
    @contextlib.contextmanager
    def shown(cls, progress) -> Iterator[Progress]:
        """News go to a line of standard error (True), to a function, or nowhere (False)."""
        if progress is not True and progress is not False and not callable(progress):
            raise ArgumentError(f"simulate: progress must be True, False or a function; got {progress!r:.60}")
        if progress is not True:
            yield cls(progress if callable(progress) else None)
            return
        line = _Line()
        try:
            yield cls(line)
        finally:
            line.end()


class _Line:
    """A bar on standard error, with the time that is left."""

    def __init__(self):
        self.start, self.first, self.drawn = time.monotonic(), 0.0, False

    def __call__(self, part: float) -> None:
        self.first = self.first if self.drawn else part  # a run that is resumed has a part that took no time now
        done, took = part - self.first, time.monotonic() - self.start
        left = f", {took * (1 - part) / done:.0f} s left" if done > 0 else ""
        bar = ("=" * round(_WIDTH * part)).ljust(_WIDTH)
        print(f"\rsimulate [{bar}] {part:4.0%}{left} ", end="", file=sys.stderr, flush=True)
        self.drawn = True

    def end(self) -> None:
        """Leave the line."""
        if self.drawn:
            print(file=sys.stderr)
