"""What each thread is tracing into, and how many functions are being traced or run eagerly."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, local

from .expressions import Graph

__all__ = ["current_graph", "python_calls", "tracing_into"]

_state = local()
_lock = Lock()
python_calls = ctypes.c_int64(0)
"""How many functions are being traced or run eagerly. While there are any, machine code leaves all calls to Python."""


@contextmanager
def tracing_into(graph: Graph | None) -> Iterator[None]:
    """Within this context, loops are built into `graph` instead of being run (None: they are run)."""
    outer = getattr(_state, "graph", None)
    _state.graph = graph
    _count_python(1)
    try:
        yield
    finally:
        _state.graph = outer
        _count_python(-1)


def _count_python(change: int) -> None:
    with _lock:
        python_calls.value += change


def _forget_tracing() -> None:
    """In a forked child no other thread traces, and this one starts afresh."""
    global _lock
    _lock, python_calls.value = Lock(), 0
    _state.graph = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_tracing)


def current_graph() -> Graph | None:
    """The graph being traced into by this thread, if any."""
    return getattr(_state, "graph", None)
