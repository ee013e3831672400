"""The memory that machine code works in; each thread keeps some of it from call to call."""

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
_KEPT_MEMORY = 1 << 20  # the most bytes of work memory that a thread keeps from call to call


class WorkMemory(NamedTuple):
    """Work memory of one thread, and the watch of its calls. `start` is the first address that is a multiple of 64."""

    block: np.ndarray
    start: int
    watch: np.ndarray


def take_work(size: int) -> WorkMemory:
    """Take work memory for one call. Nobody else has it, because a signal handler may call kernels during the call."""
    kept = getattr(_memory, "work", None)
    if kept is not None and len(kept.block) >= size + 64:
        _memory.work = None
        return kept
    # Sizes are rounded up, so that the memory fits later calls with sequences of about the same length.
    step = max(size >> 3, 64)
    step = 1 << step.bit_length()
    block, (watch,) = new_array((-(-size // step) * step + 64,), np.dtype(np.uint8)), new_watches(1)
    start_watch(watch)
    return WorkMemory(block, (address(block) + 63) // 64 * 64, watch)


def keep_work(work: WorkMemory) -> None:
    """Keep the memory of a call that was not stopped for the next call of this thread."""
    if len(work.block) <= _KEPT_MEMORY:
        _memory.work = work


def _forget_work() -> None:
    """Forget all memory in a forked child, whose main thread may be another one: see `start_watch`."""
    global _memory
    _memory = threading.local()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_work)
