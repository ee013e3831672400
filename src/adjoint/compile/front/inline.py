"""Kernels that run as plain Python: eagerly on numbers, or on symbols while another kernel is traced."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ..graph import current, loops, tracing
from ..graph.expressions import Expr
from .arguments import as_input
from .function import Function

__all__ = ["eager", "eagerly", "inline", "is_inline"]

_mode = local()


@contextmanager
def eagerly() -> Iterator[None]:
    """Within this context every kernel runs as plain Python."""
    outer = getattr(_mode, "eager", False)
    _mode.eager = True
    try:
        with current.tracing_into(None):
            yield
    finally:
        _mode.eager = outer


def is_inline(inputs: dict[str, Any]) -> bool:
    """Return whether a call with these inputs runs as plain Python."""
    return (
        getattr(_mode, "eager", False)
        or current.current_graph() is not None
        or any(map(tracing.is_traced, inputs.values()))
    )


def eager(function: Function, args: tuple, kwargs: dict):
    """Run a kernel on one sample of numbers; see `Kernel.eager`."""
    inputs, statics = function.arguments.sort(args, kwargs)
    found = function.specialisation(statics, list(inputs))
    values = []
    for o, (name, x) in zip(found.inputs, inputs.items(), strict=True):
        a = np.array(as_input(x, name, f"{function.__name__}.eager"), dtype=np.float64)
        if a.shape[o.sequence :] != o.shape or a.ndim != len(o.shape) + o.sequence:
            raise ArgumentError(
                f"{function.__name__}.eager: argument '{name}' has shape {a.shape}; it takes one sample, "
                f"of shape {('length', *o.shape) if o.sequence else o.shape}{o.note}"
            )
        a.flags.writeable = False
        values.append(a if a.ndim else a[()])
    with eagerly():
        return found.run_in_python(values)


def inline(function: Function, inputs: dict[str, Any], statics: dict[str, Any]):
    """Run the function itself on traced values or numbers; a Python loop runs over leading batch axes."""
    found = function.specialisation(statics, list(inputs))
    values = [x if isinstance(x, loops.Sequence | Expr) else tracing.as_operand(x) for x in inputs.values()]
    extra = [
        x.shape[: x.ndim - len(o.shape)] if isinstance(x, np.ndarray) and not o.sequence else ()
        for x, o in zip(values, found.inputs, strict=True)
    ]
    for x, o, e in zip(values, found.inputs, extra, strict=True):
        if not isinstance(x, loops.Sequence) and not o.sequence and np.shape(x)[len(e) :] != o.shape:
            raise ArgumentError(
                f"{function.__name__}: argument '{o.name}' has shape {np.shape(x)}; "
                f"{o.shape} is needed, after any batch axes{o.note}"
            )
    batch = np.broadcast_shapes(*extra) if extra else ()
    if batch == ():
        return found.run_in_python(values)
    whole = [isinstance(x, loops.Sequence) or o.sequence for x, o in zip(values, found.inputs, strict=True)]
    wide: list[Any] = [
        x if is_whole else _broadcast(x, batch + o.shape)
        for x, o, is_whole in zip(values, found.inputs, whole, strict=True)
    ]
    rows = [
        found.run_in_python([w if is_whole else w[i] for w, is_whole in zip(wide, whole, strict=True)])
        for i in np.ndindex(batch)
    ]
    if isinstance(rows[0], tuple):
        return type(rows[0])(*(_stack(list(column), batch) for column in zip(*rows, strict=True)))
    return _stack(rows, batch)


def _broadcast(x, shape) -> Any:
    if isinstance(x, Expr):
        box = np.empty((), dtype=object)
        box[()] = x
        x = box.view(tracing.Traced)
    return np.broadcast_to(x, shape, subok=True)


def _stack(rows: list, batch):
    return np.reshape(np.stack(rows), batch + np.shape(rows[0]))
