"""One lock for all that traces, differentiates, compiles and loads, so that there is no order of locks to get wrong."""

from __future__ import annotations

import gc
import os
import threading

__all__ = ["compiling"]


class _Renewable:
    """A re-entrant lock that is new in a forked child, where the thread that held the old one is gone.

    While it is held Python looks for no garbage: it would go through all the nodes of a graph, time and again, in vain.
    """

    def __init__(self) -> None:
        self._lock, self._depth, self._collects = threading.RLock(), 0, False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        if self._depth and self._collects:
            gc.enable()
        self._lock, self._depth = threading.RLock(), 0

    def __enter__(self) -> None:
        self._lock.acquire()
        self._depth += 1
        if self._depth == 1:
            self._collects = gc.isenabled()
            gc.disable()

    def __exit__(self, *_) -> None:
        self._depth -= 1
        if self._depth == 0 and self._collects:
            gc.enable()
        self._lock.release()


compiling = _Renewable()
