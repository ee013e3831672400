"""The argument `rng` of public functions: a seed, a generator or None, always given by keyword."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np

from .errors import ArgumentError

__all__ = ["Rng", "batch_shape", "generator", "rng_by_keyword"]

Rng = np.random.Generator | int | None
"""The type of `rng`: a generator, the seed of one, or None for a new generator with a random seed at each call."""

F = TypeVar("F", bound=Callable)


def generator(rng, caller: str) -> np.random.Generator:
    """Return `rng` if it is a generator, else a new generator with this seed, or with a random one if `rng` is None.

    If `rng` is none of these, an `ArgumentError` names the function `caller`.
    """
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise ArgumentError(f"{caller}: rng must be a numpy.random.Generator, a seed or None, got {rng!r}") from None


def batch_shape(shape, caller: str) -> tuple[int, ...]:
    """Return `shape`, which is a whole number or a tuple of whole numbers, as a tuple; else raise `ArgumentError`."""
    sizes = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    try:
        found = tuple(operator.index(n) for n in sizes)
    except TypeError:
        found = (-1,)
    if not all(0 <= n < 2**62 for n in found):
        what = "it must be a whole number, 0 or more, or a tuple of such numbers"
        raise ArgumentError(f"{caller}: shape is {shape!r}; {what}")
    return found


def rng_by_keyword(function: F) -> F:
    """Decorate a function so that an `ArgumentError` shows how to call it if a generator is given without `rng=`."""
    parameters = inspect.signature(function).parameters.values()
    names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]

    @functools.wraps(function)
    def called(*args, **options):
        if len(args) > len(names) or any(isinstance(x, np.random.Generator) for x in args):
            usage = f"{function.__name__}({', '.join(names)}, rng=...)"
            raise ArgumentError(f"{function.__name__} takes its randomness by keyword: {usage}, a generator or a seed")
        return function(*args, **options)

    return called  # type: ignore[return-value]
