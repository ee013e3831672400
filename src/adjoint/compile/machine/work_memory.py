"""Memory that machine code works in: each thread keeps some from call to call."""

from __future__ import annotations

import os
import threading
from typing import NamedTuple

import numpy as np

from .layouts import address
from .result_arrays import new_array
from .thread_pool import new_watches, start_watch

__all__ = ["WorkMemory", "keep_work", "take_work"]

_memory = threading.local()
_KEPT_MEMORY = 1 << 20  # bytes of work memory a thread keeps from call to call


class WorkMemory(NamedTuple):
    """Work memory of one thread: bytes, where in them 64-byte lines begin; and the watch of its calls."""

    block: np.ndarray
    start: int
    watch: np.ndarray


def take_work(size: int) -> WorkMemory:
    """Work memory for one call, which nobody else has: a signal's handler may call kernels in the midst of it."""
    kept = getattr(_memory, "work", None)
    if kept is not None and len(kept.block) >= size + 64:
        _memory.work = None
        return kept
    step = max(size >> 3, 64)  # sizes are rounded up, so that memory fits calls of about the same length
    step = 1 << step.bit_length()
    block, (watch,) = new_array((-(-size // step) * step + 64,), np.dtype(np.uint8)), new_watches(1)
    start_watch(watch)
    return WorkMemory(block, (address(block) + 63) // 64 * 64, watch)


def keep_work(work: WorkMemory) -> None:
    """After a call that was not stopped: this thread's next one uses the same memory."""
    if len(work.block) <= _KEPT_MEMORY:
        _memory.work = work


def _forget_work() -> None:
    """In a forked child another thread may be the main one."""
    global _memory
    _memory = threading.local()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_work)
