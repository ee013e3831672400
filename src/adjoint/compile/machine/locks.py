"""One lock for all that traces, differentiates, compiles and loads, so that there is no order of locks to get wrong.

Inside it there is one for LLVM. A thread that forks takes both before it does: in the child, where no other thread is
left, nobody is in the midst of what they guard. It does not wait for ever: what is traced is the user's function, which
may itself wait for the thread that forks.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
import threading

from ...errors import CompileError

__all__ = ["calling_llvm", "compiling"]


class _ForkedLock:
    """A re-entrant lock that a thread takes before it forks, if it gets it within some seconds."""

    patience: float

    def __init__(self) -> None:
        self._lock, self._fork = threading.RLock(), threading.local()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before, after_in_parent=self._in_parent, after_in_child=self._in_child)

    def _before(self) -> None:
        self._fork.taken = False  # in case that the handler of a signal raises meanwhile
        self._fork.taken = self._lock.acquire(timeout=self.patience)

    def _in_parent(self) -> None:
        if self._fork.taken:
            self._lock.release()

    def _in_child(self) -> None:
        if self._fork.taken:
            self._lock.release()
        else:
            self._lock = threading.RLock()
            self._abandoned()

    def _abandoned(self) -> None:
        """In a child, for ever without the thread that held the lock."""


class _CallingLLVM(_ForkedLock):
    """Held during every call of LLVM, which has locks of its own that nobody would open in a child."""

    patience = 60
    _is_usable = True

    def _abandoned(self) -> None:
        self._is_usable = False

    def __enter__(self) -> None:
        if not self._is_usable:
            raise CompileError(
                "this process was forked while another thread of its parent had been compiling one function for over "
                f"{self.patience} seconds, and cannot compile; fork before or after, or start processes by 'spawn'"
            )
        self._lock.acquire()

    def __exit__(self, *_) -> None:
        self._lock.release()


class _Compiling(_ForkedLock):
    """While it is held Python looks for no garbage: it would go through all nodes of a graph, in vain."""

    patience = 5

    def __init__(self) -> None:
        self._depth, self._collects = 0, False
        super().__init__()

    def _before(self) -> None:
        super()._before()
        # Files of this library are read when they are needed. Wait for those that another thread is reading: in the
        # child nobody would end that.
        for name in [name for name in sys.modules if name.startswith("adjoint.")]:
            importlib.import_module(name)

    def _abandoned(self) -> None:
        if self._depth and self._collects:
            gc.enable()
        self._depth = 0

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


calling_llvm = _CallingLLVM()  # a thread that forks takes the last one first
compiling = _Compiling()
