"""A sign of life: functions that take long to compile say so, while they are compiled.

After two seconds there is a record of the logger "adjoint", level INFO, and another one at the end. Where logging is
not set up and standard error is a terminal, one line appears there; the environment variable ADJOINT_QUIET turns that
off.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator

__all__ = ["log", "told"]

SLOW = 2.0  # seconds after which there is a sign of life


class _Note:
    """What is known of the function that is being compiled."""

    def __init__(self, name: str):
        self.name, self.operations, self.is_told = name, 0, False
        self.timer: threading.Timer | None = None
        self.start = 0.0

    def begin(self, operations: int = 0) -> None:
        """What may take long begins now: to trace a function, or to compile one of so many operations."""
        self.operations = operations
        if self.timer is None:
            self.timer, self.start = threading.Timer(SLOW, self._tell), time.monotonic()
            self.timer.daemon = True
            with contextlib.suppress(RuntimeError):  # no threads are started while the interpreter ends
                self.timer.start()

    def end(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        if self.is_told:
            log(f"compiled {self.name} in {time.monotonic() - self.start:.1f} s")

    def _tell(self) -> None:
        """Say so, from the timer's thread: it gets its turn, for LLVM runs without Python's global lock."""
        self.is_told = True
        size = f" ({self.operations:,} operations)".replace(",", " ") if self.operations else ""
        if not log(f"compiling {self.name}{size} ...") and _has_terminal():
            print(f"adjoint: compiling {self.name}{size} ...", file=sys.stderr, flush=True)


_current: _Note | None = None  # compiling is done by one thread at a time, see `locks`


@contextlib.contextmanager
def told(name: str) -> Iterator[_Note]:
    """Within this context a function is compiled, by the holder of the lock; contexts inside it are the same one."""
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


def log(text: str) -> bool:
    """A record of level INFO; returns whether anybody has set up logging."""
    import logging  # only here: importing it takes time

    logger = logging.getLogger("adjoint")
    if not any(isinstance(h, logging.NullHandler) for h in logger.handlers):
        logger.addHandler(logging.NullHandler())
    logger.info(text)
    return any(not isinstance(h, logging.NullHandler) for h in (*logger.handlers, *logging.getLogger().handlers))


def _has_terminal() -> bool:
    """Whether standard error is a terminal that is to show what goes on."""
    try:
        return not os.environ.get("ADJOINT_QUIET") and sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False
