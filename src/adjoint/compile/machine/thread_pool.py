"""Worker threads, and calls that can be stopped: whatever is raised, no call ends before its workers have.

Python raises the exceptions of signal handlers (KeyboardInterrupt on Ctrl-C) between any two steps of its main thread,
in the midst of starting workers or waiting for them too. So a part of a batch says itself that it begins and ends, and
the last thing a call does is one wait, in C, that no signal breaks off.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import functools
import os
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue

import numpy as np

from ..codegen.watch import BUDGET, KEPT, LEFT, STOP, TABLE, WATCH_WORDS
from . import strided_loop

__all__ = ["new_watches", "raise_kept", "start_watch", "together"]

# --- watches -----------------------------------------------------------------------------------------


def new_watches(count: int) -> np.ndarray:
    """Words of watches (count, 8), see `watch`."""
    return np.zeros((count, WATCH_WORDS), np.int64)


def start_watch(watch: np.ndarray) -> None:
    """Make a watch ready for a call of this thread: only Python's main thread has to ask for signals."""
    in_main_thread = threading.get_ident() == threading.main_thread().ident
    watch[LEFT], watch[TABLE] = BUDGET, strided_loop.ask_table() if in_main_thread else 0


def raise_kept(watch: np.ndarray) -> None:
    """After a call that was stopped: raise what a handler of a signal raised, if that is the cause."""
    kept = watch[KEPT : KEPT + 3].tolist()
    watch[KEPT : KEPT + 3], watch[STOP] = 0, 0
    if kept[0]:
        _set_raised(*kept)  # ctypes raises what is set


if hasattr(ctypes, "pythonapi"):
    _set_raised = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 3)(("PyErr_Restore", ctypes.pythonapi))


# --- parts -------------------------------------------------------------------------------------------


class _Part:
    """A part of a call: run once, by the first thread that claims it, and not after the call's door is shut."""

    def __init__(self, run: Callable[[], None], stop: Callable[[], object], door: np.ndarray):
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
        door, place = strided_loop.door(), self._door.ctypes.data
        try:
            if door.enter(place):
                try:
                    self.run()
                finally:
                    door.leave(place)
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
    door, (own, *others) = np.zeros(1, np.int64), runs
    shut = functools.partial(strided_loop.door().shut, door.ctypes.data)
    parts = [_Part(run, stop, door) for run in others]
    try:
        with contextlib.suppress(RuntimeError):  # no thread can be started, or the interpreter is about to end
            for part in parts:
                _leave_to_workers(part)
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
        shut()


# --- threads -----------------------------------------------------------------------------------------

# Python's own pool of threads is not used: an exception out of a signal's handler, raised while one of its locks is
# being taken in Python, leaves that lock taken for ever. Here all steps are single calls of C.
_MOST = max(os.cpu_count() or 1, 64)
_queue: SimpleQueue[_Part] = SimpleQueue()
_idle: list[None] = []  # one for each worker that waits
_workers: list[int] = []


def _leave_to_workers(part: _Part) -> None:
    """Let a worker thread run a part; start one more if they are all busy."""
    _queue.put(part)
    if _queue.qsize() > len(_idle) and len(_workers) < _MOST:
        _workers.append(_thread.start_new_thread(_serve, (_queue, _idle)))


def _serve(queue: SimpleQueue[_Part], idle: list[None]) -> None:
    """What a worker thread does: part after part. Python does not wait for it when it ends."""
    while True:
        idle.append(None)
        part = queue.get()
        idle.pop()
        part.in_worker()
        del part  # and with it the arrays it worked on


def _forget_workers() -> None:
    """In a forked child the threads are gone: start afresh."""
    global _queue, _idle, _workers
    _queue, _idle, _workers = SimpleQueue(), [], []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)
