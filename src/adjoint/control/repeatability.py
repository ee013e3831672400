"""Whether functions give the same for the same inputs: machine code would freeze a hidden state or a random number."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np

from ..compile.front.inline import eagerly
from ..compile.graph.nested import leaves
from ..errors import TraceError

__all__ = ["need_repeatable"]

_PACKAGE = __name__.partition(".")[0]


def need_repeatable(name: str, function: Callable, ask: Callable, one: tuple, other: tuple) -> None:
    """Raise `TraceError` if `ask(*one)`, which asks a user's `function`, gives something else after `ask(*other)`.

    A function that keeps the last input gives the same twice in a row, hence the other inputs in between. An error in
    the function is left to the tracing, which names its line.
    """
    if not any(map(_is_of_users, _functions_in(function))):
        return
    try:
        with eagerly(), np.errstate(all="ignore"):
            first, _, again = (ask(*given) for given in (one, other, one))
            same = all(np.array_equal(x, y, equal_nan=True) for x, y in zip(leaves(first), leaves(again), strict=True))
    except Exception:
        return
    if not same:
        raise TraceError(
            f"{name}: the function gives different results for the same inputs, so it has a hidden state, or it draws "
            "random numbers; machine code would have one frozen value of them. Write a state as control.law(..., "
            "state=...), and noise as control.noisy; or run a plain function f(t, q, v) in Python, by "
            "simulate(..., trace=False)"
        )


def _functions_in(x) -> Iterator[Callable]:
    """A function, and the functions that frozen data of this library are made of, such as a law around a law."""
    if callable(x):
        yield x
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        for field in dataclasses.fields(x):
            yield from _functions_in(getattr(x, field.name))


def _is_of_users(function: Callable) -> bool:
    module = getattr(function, "__module__", None)
    return not isinstance(module, str) or module.partition(".")[0] != _PACKAGE
