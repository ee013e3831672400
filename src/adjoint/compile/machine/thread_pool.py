"""Worker threads, and calls that can be stopped: whatever is raised, no call ends before its workers have ended.

Python raises the exceptions of signal handlers (KeyboardInterrupt on Ctrl-C) between any two steps of its main thread,
and so also while that thread is starting workers or waiting for them. Therefore each part of a batch notes itself when
it begins and ends, and the last thing that a call does is a single wait, in C, which no signal breaks off.
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

__all__ = ["new_watches", "raise_kept", "run_together", "start_watch"]

# --- watches -----------------------------------------------------------------------------------------


def new_watches(count: int) -> np.ndarray:
    """Return the words of so many watches, shape (count, 8); see `codegen.watch`."""
    return np.zeros((count, WATCH_WORDS), np.int64)


def start_watch(watch: np.ndarray) -> None:
    """Make a watch ready for a call of this thread: only Python's main thread has to ask for signals."""
    in_main_thread = threading.get_ident() == threading.main_thread().ident
    watch[LEFT], watch[TABLE] = BUDGET, strided_loop.ask_table() if in_main_thread else 0


def raise_kept(watch: np.ndarray) -> None:
    """Raise the exception of the signal handler that stopped a call, if one did, and clear the watch."""
    kept = watch[KEPT : KEPT + 3].tolist()
    watch[KEPT : KEPT + 3], watch[STOP] = 0, 0
    if kept[0]:
        _set_raised(*kept)  # ctypes raises the exception that is set here


if hasattr(ctypes, "pythonapi"):
    _set_raised = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 3)(("PyErr_Restore", ctypes.pythonapi))


# --- parts -------------------------------------------------------------------------------------------


class _Part:
    """A part of a call. It is run once, by the first thread that claims it, unless the call's door is shut before.

    A *door* is a word in memory that counts the workers inside a call (see `strided_loop.Door`).
    """

    def __init__(self, run: Callable[[], None], stop: Callable[[], object], door: np.ndarray):
        self.run, self._stop, self._door = run, stop, door
        self._claim, self._ended = threading.Lock(), threading.Lock()
        self._error: BaseException | None = None
        self._ended.acquire()

    def claim(self) -> bool:
        """Return whether this thread is the first to ask, and so has to run the part."""
        return self._claim.acquire(blocking=False)

    def in_worker(self) -> None:
        """Run the part in a worker thread, if no other thread has claimed it."""
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
        """Wait until the worker thread that claimed the part has ended; raise what it raised."""
        with self._ended:
            if self._error is not None:
                raise self._error


def run_together(runs: Sequence[Callable[[], None]], stop: Callable[[], object]) -> None:
    """Run the first function in this thread, and the others in worker threads, or here if no worker has begun with one.

    It returns when none of them runs any more, or raises what any of them or a signal handler raised. `stop` tells
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
        for part in reversed(parts):  # workers begin with the first part, so this thread begins with the last
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

# Python's own ThreadPoolExecutor is not used: if a signal handler raises an exception while code in Python is taking a
# lock of it, that lock stays taken for ever. Here every step is a single call of C.
_MOST = max(os.cpu_count() or 1, 64)  # the most worker threads
_queue: SimpleQueue[_Part] = SimpleQueue()
_idle: list[None] = []  # one item for each worker that waits
_workers: list[int] = []


def _leave_to_workers(part: _Part) -> None:
    """Put a part into the queue of the worker threads; start one more thread if all are busy."""
    _queue.put(part)
    if _queue.qsize() > len(_idle) and len(_workers) < _MOST:
        _workers.append(_thread.start_new_thread(_serve, (_queue, _idle)))


def _serve(queue: SimpleQueue[_Part], idle: list[None]) -> None:
    """Run part after part: the loop of a worker thread. Python does not wait for these threads when it ends."""
    while True:
        idle.append(None)
        part = queue.get()
        idle.pop()
        part.in_worker()
        del part  # this frees the arrays that it worked on


def _forget_workers() -> None:
    """Start afresh in a forked child, where the worker threads are gone."""
    global _queue, _idle, _workers
    _queue, _idle, _workers = SimpleQueue(), [], []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)
