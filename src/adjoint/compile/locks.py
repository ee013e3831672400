"""One lock for all that traces, differentiates, compiles and loads, so that there is no order of locks to get wrong."""

from __future__ import annotations

import os
import threading

__all__ = ["compiling"]


class _Renewable:
    """A re-entrant lock that is new in a forked child, where the thread that held the old one is gone."""

    def __init__(self) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_) -> None:
        self._lock.release()


compiling = _Renewable()
