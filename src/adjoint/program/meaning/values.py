"""Values of programs while they run, and types and values in words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..instructions.value_types import Dimension, Type

__all__ = ["Value", "type_in_words", "value_in_words"]

Value = float | bool | str | np.ndarray | tuple
"""What an expression is while a program runs, in SI units: numbers, truth values, texts, vectors (3,), rotations
(3, 3), frames (4, 4), configurations (nq,), and tuples of values, which are aggregates."""

_KINDS = {
    "vector": "a vector",
    "rotation": "a rotation",
    "frame": "a frame",
    "joints": "a configuration of joints",
    "boolean": "a truth value",
    "text": "a text",
    "aggregate": "an aggregate",
    "event": "an event",
    "any": "a value",
    "array": "an array",
}
_SCALARS: dict[Dimension, str] = {
    (0, 0, 0, 0): "a plain number",
    (1, 0, 0, 0): "a length [m]",
    (0, 0, 0, 1): "an angle [rad]",
    (0, 0, 1, 0): "a time [s]",
    (0, 1, 0, 0): "a mass [kg]",
    (1, 0, -1, 0): "a speed [m/s]",
    (0, 0, -1, 1): "a rate of turning [rad/s]",
    (1, 0, -2, 0): "an acceleration [m/s^2]",
    (1, 1, -2, 0): "a force [N]",
    (2, 1, -2, 0): "a torque [N m]",
    (2, 0, 0, 0): "an area [m^2]",
}
_UNITS: dict[Dimension, str] = {d: words[words.index("[") + 1 : -1] for d, words in _SCALARS.items() if "[" in words}
_BASES = ("m", "kg", "s", "rad")


class OverTicks(NamedTuple):
    """A value at each of N ticks: `values` has a leading axis (N, ...) before the axes of the value itself.

    The axis cannot be told from the shape alone: (3,) is a vector, or a number at three ticks.
    """

    values: np.ndarray


def unit_of(dimension: Dimension) -> str:
    """The SI unit of a dimension, such as "N" or "m^2 s"."""
    if dimension in _UNITS:
        return _UNITS[dimension]
    return " ".join(b if k == 1 else f"{b}^{k}" for b, k in zip(_BASES, dimension, strict=True) if k)


def type_in_words(type: Type) -> str:
    """A type of values in words, with its article and unit.

    >>> from adjoint.program.instructions import LENGTH, vector
    >>> type_in_words(LENGTH), type_in_words(vector())
    ('a length [m]', 'a vector without unit')
    """
    kind, dimension = type
    if kind == "scalar":
        return _SCALARS.get(dimension) or f"a number [{unit_of(dimension)}]"
    if kind == "vector":
        return f"a vector [{unit_of(dimension)}]" if any(dimension) else "a vector without unit"
    return _KINDS.get(kind, kind)


def kind_of(value: Any) -> str:
    """The kind of a value, as in `Type`."""
    if isinstance(value, OverTicks):
        array = value.values
        shape = array.shape[1:]
        return ("boolean" if array.dtype == bool else "scalar") if not shape else _kind_of_shape(shape)
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, int | float | np.number):
        return "scalar"
    if isinstance(value, np.ndarray):
        return _kind_of_shape(value.shape) if value.ndim else ("boolean" if value.dtype == bool else "scalar")
    return "text" if isinstance(value, str) else "aggregate" if isinstance(value, tuple) else "array"


def _kind_of_shape(shape: tuple[int, ...]) -> str:
    return {(3,): "vector", (3, 3): "rotation", (4, 4): "frame"}.get(shape, "joints")


def value_in_words(value: Any) -> str:
    """What kind of thing a value is, in words. A value knows no unit, so a length is "a number".

    >>> value_in_words(np.eye(4)), value_in_words(2.5)
    ('a frame', 'a number')
    """
    kind = kind_of(value)
    return "a number" if kind == "scalar" else _KINDS[kind]
