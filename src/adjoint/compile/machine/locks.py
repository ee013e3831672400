"""One lock for all that traces, differentiates, compiles and loads, so that locks cannot be taken in a wrong order.

Inside it there is a second lock for calls of LLVM. A thread takes both before it forks: the child has no other threads,
and so nothing is half done there of what the locks guard. The thread does not wait for ever, because the function that
another thread is tracing is the user's, and may itself wait for the thread that forks.
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
    """A re-entrant lock that a thread takes before it forks, if it gets the lock within `patience` seconds."""

    patience: float

    def __init__(self) -> None:
        self._lock, self._fork = threading.RLock(), threading.local()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before, after_in_parent=self._in_parent, after_in_child=self._in_child)

    def _before(self) -> None:
        self._fork.taken = False  # set first, because a signal handler may raise while the lock is awaited
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
        """Called in a child whose parent had another thread that held the lock; that thread is gone in the child."""


class _CallingLLVM(_ForkedLock):
    """The lock that is held during every call of LLVM.

    LLVM has locks of its own, which nobody would release in a child.
    """

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
    """The lock that is held during compilation. Python's garbage collector is off meanwhile.

    It would visit all nodes of a graph again and again, and find nothing.
    """

    patience = 5

    def __init__(self) -> None:
        self._depth, self._collects = 0, False
        super().__init__()

    def _before(self) -> None:
        super()._before()
        # Modules of this library are imported when they are needed. Wait for those that another thread is importing: in
        # the child nobody would finish that.
        for name in [name for name in sys.modules if name.startswith(("adjoint.", "llvmlite."))]:
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


calling_llvm = _CallingLLVM()  # made first, because a thread that forks takes the lock first that was made last
compiling = _Compiling()
