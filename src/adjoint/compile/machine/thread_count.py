"""How many threads a large batch is split over."""

from __future__ import annotations

import operator
import os

from ...errors import ArgumentError

__all__ = ["check_threads", "default_threads"]


def check_threads(value, source: str) -> int:
    """Return a number of threads, or raise an error that says where the value came from."""
    try:
        n = int(value) if isinstance(value, str) else operator.index(value)
    except (TypeError, ValueError):
        n = 0
    if n < 1:
        raise ArgumentError(f"{source} must be a whole number of threads, 1 or more; got {value!r}")
    return n


def default_threads() -> int:
    """Return ADJOINT_THREADS, or the number of processors that this process may use."""
    chosen = os.environ.get("ADJOINT_THREADS")
    if chosen:
        return check_threads(chosen, "the environment variable ADJOINT_THREADS")
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
