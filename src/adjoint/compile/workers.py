"""Worker threads, and calls that can be stopped: whatever is raised, no call ends before its workers have.

Python raises the exceptions of signal handlers (KeyboardInterrupt on Ctrl-C) between any two steps of its main thread,
in the midst of starting workers or waiting for them too. So a part of a batch says itself that it begins and ends, and
the last thing a call does is one wait, in C, that no signal breaks off.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import runtime
from .watch import BUDGET, KEPT, LEFT, STOP, TABLE, WATCH_WORDS

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

__all__ = ["new_watches", "raise_kept", "start_watch", "together"]

_pool: ThreadPoolExecutor | None = None
_pool_lock = threading.Lock()


def _executor() -> ThreadPoolExecutor:
    global _pool
    with _pool_lock:
        if _pool is None:
            from concurrent.futures import ThreadPoolExecutor

            _pool = ThreadPoolExecutor(max(os.cpu_count() or 1, 64), thread_name_prefix="adjoint")
        return _pool


def _forget_pool() -> None:
    """In a forked child the pool's threads are gone: start afresh."""
    global _pool, _pool_lock
    _pool, _pool_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


# --- watches -----------------------------------------------------------------------------------------


def new_watches(count: int) -> np.ndarray:
    """Words of watches (count, 8), see `watch`."""
    return np.zeros((count, WATCH_WORDS), np.int64)


def start_watch(watch: np.ndarray) -> None:
    """Make a watch ready for a call of this thread: only Python's main thread has to ask for signals."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    watch[LEFT], watch[TABLE] = BUDGET, runtime.ask_table() if in_main_thread else 0


def raise_kept(watch: np.ndarray) -> None:
    """After a call that was stopped: raise what a handler of a signal raised, if that is the cause."""
    kept = watch[KEPT : KEPT + 3].tolist()
    watch[KEPT : KEPT + 3], watch[STOP] = 0, 0
    if kept[0]:
        _set_raised(*kept)  # ctypes raises what is set


# --- parts -------------------------------------------------------------------------------------------


if hasattr(ctypes, "pythonapi"):
    _set_raised = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 3)(("PyErr_Restore", ctypes.pythonapi))
    # Calls of these let go of Python's global lock.
    _allocate = ctypes.CFUNCTYPE(ctypes.c_void_p)(("PyThread_allocate_lock", ctypes.pythonapi))
    _acquire = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(
        ("PyThread_acquire_lock", ctypes.pythonapi)
    )
    _release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(("PyThread_release_lock", ctypes.pythonapi))
    _free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(("PyThread_free_lock", ctypes.pythonapi))

    class _SteadyLock:
        """A lock like Python's own, but waiting for it is a call of C that goes on whatever signals come."""

        def __init__(self) -> None:
            self._handle = _allocate()
            # No methods in Python: a handler of a signal could run, and raise, as soon as they are entered.
            self.acquire = functools.partial(_acquire, self._handle)
            self.release = functools.partial(_release, self._handle)

        def __del__(self, free: Callable = _free) -> None:
            free(self._handle)
else:
    _SteadyLock = threading.Lock  # type: ignore[assignment]


class _Door:
    """Parts of a call come in and leave; `shut` waits until all have left, and lets nobody in any more."""

    def __init__(self) -> None:
        self._count, self._inside = threading.Lock(), 0
        self._taken = _SteadyLock()  # by those inside
        self.shut = functools.partial(self._taken.acquire, True)

    def enter(self) -> bool:
        """Come in, unless the door is shut."""
        with self._count:
            if self._inside == 0 and not self._taken.acquire(False):
                return False
            self._inside += 1
            return True

    def leave(self) -> None:
        with self._count:
            self._inside -= 1
            if self._inside == 0:
                self._taken.release()


class _Part:
    """A part of a call: run once, by the first thread that claims it, and not after the door is shut."""

    def __init__(self, run: Callable[[], None], stop: Callable[[], object], door: _Door):
        self.run, self._stop, self._door = run, stop, door
        self._claim, self._ended = threading.Lock(), threading.Lock()
        self._error: BaseException | None = None
        self._ended.acquire()

    def claim(self) -> bool:
        return self._claim.acquire(blocking=False)

    def in_worker(self) -> None:
        """What a worker thread does, if nobody else does it already."""
        if not self.claim():
            return
        try:
            if self._door.enter():
                try:
                    self.run()
                finally:
                    self._door.leave()
        except BaseException as error:
            self._error = error
            self._stop()
        finally:
            self._ended.release()

    def wait(self) -> None:
        """Until the worker thread that claimed it has ended; raise what it raised."""
        with self._ended:
            if self._error is not None:
                raise self._error


def together(runs: Sequence[Callable[[], None]], stop: Callable[[], object]) -> None:
    """Run the first function in this thread, the others in worker threads, or here too if those are late.

    Return, or raise what any of them or a handler of a signal raised, when none of them runs any more. `stop` tells
    those that run to end soon.
    """
    door, (own, *others) = _Door(), runs
    parts = [_Part(run, stop, door) for run in others]
    try:
        with contextlib.suppress(RuntimeError):  # there are no new threads, or the interpreter is about to end
            for part in parts:
                _executor().submit(part.in_worker)
        own()
        elsewhere = []
        for part in reversed(parts):  # workers begin with the first
            if part.claim():
                part.run()
            else:
                elsewhere.append(part)
        for part in elsewhere:
            part.wait()
    except BaseException:
        stop()
        raise
    finally:
        door.shut()
