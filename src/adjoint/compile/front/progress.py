"""Functions that take long to compile say so while they are compiled.

After two seconds there is a record of the logger "adjoint", of level INFO, and another one at the end. Where logging is
not set up and standard error is a terminal, one line appears there. The environment variable ADJOINT_QUIET turns that
off.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator

__all__ = ["log", "reported", "tell"]

INFO, WARNING = 20, 30  # levels, as `logging` has them
SLOW = 2.0  # seconds after which the user is told


class _Note:
    """What is known of the function that is being compiled."""

    def __init__(self, name: str):
        self.name, self.operations, self.is_reported = name, 0, False
        self.timer: threading.Timer | None = None
        self.start = 0.0

    def begin(self, operations: int = 0) -> None:
        """Start the timer, because something begins that may take long: tracing, or compiling so many operations."""
        self.operations = operations
        if self.timer is None:
            self.timer, self.start = threading.Timer(SLOW, self._report), time.monotonic()
            self.timer.daemon = True
            with contextlib.suppress(RuntimeError):  # Python starts no threads while the interpreter ends
                self.timer.start()

    def end(self) -> None:
        """Stop the timer; if the user was told, tell how long it took."""
        if self.timer is not None:
            self.timer.cancel()
        if self.is_reported:
            log(f"compiled {self.name} in {time.monotonic() - self.start:.1f} s")

    def _report(self) -> None:
        """Tell the user, from the timer's thread; it gets to run, because LLVM runs without Python's global lock."""
        self.is_reported = True
        size = f" ({self.operations:,} operations)".replace(",", " ") if self.operations else ""
        tell(f"compiling {self.name}{size} ...")


_current: _Note | None = None  # one thread compiles at a time, see `machine.locks`


@contextlib.contextmanager
def reported(name: str) -> Iterator[_Note]:
    """Within this context a function is compiled, by a thread that holds the lock.

    A context inside it is the same one.
    """
    global _current
    if _current is not None:
        yield _current
        return
    note = _Note(name)
    try:
        _current = note
        yield note
    finally:
        _current = None
        note.end()


def _forget() -> None:
    """In a forked child nothing is being compiled."""
    global _current
    _current = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def tell(text: str, level: int = INFO) -> None:
    """Write a log record; where nobody has set up logging and standard error is a terminal, a line appears there."""
    if not log(text, level) and _has_terminal():
        print(f"adjoint: {text}", file=sys.stderr, flush=True)


def log(text: str, level: int = INFO) -> bool:
    """Write a log record; returns whether anybody has set up logging."""
    import logging  # imported only here, because that takes time

    logger = logging.getLogger("adjoint")
    if not any(isinstance(h, logging.NullHandler) for h in logger.handlers):
        logger.addHandler(logging.NullHandler())
    logger.log(level, text)
    return any(not isinstance(h, logging.NullHandler) for h in (*logger.handlers, *logging.getLogger().handlers))


def _has_terminal() -> bool:
    """Return whether standard error is a terminal that the user wants to see messages on."""
    try:
        return not os.environ.get("ADJOINT_QUIET") and sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is no standard error, or it is closed
        return False
