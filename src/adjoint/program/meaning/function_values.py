"""Functions of values that are known: arguments that fit, and errors at their places."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..instructions.diagnostics import Diagnostic, ProgramError
from ..instructions.expressions import Call, Expression, Quantity
from ..instructions.value_types import Type
from .functions import ProgramFunction
from .values import OverTicks, kind_of, type_in_words, value_in_words

__all__: list[str] = []


def fail(expression: Expression, message: str, hint: str = "", code: str = "type") -> NoReturn:
    """Raise the error that says what is wrong with an expression, at its place."""
    raise ProgramError(Diagnostic(message, expression.at, hint, code=code))


def words_of(expression: Expression, value: Any) -> str:
    """What an operand is; if it was written as a quantity, with its unit."""
    if isinstance(expression, Quantity):
        return type_in_words(Type("scalar", expression.dimension))
    return value_in_words(value)


def function_value(expression: Call, function: ProgramFunction, arguments: list[Any]) -> Any:
    """The value of a function of values that were evaluated; a `ProgramError` at what does not fit."""
    _check_count(expression, function, len(arguments))
    parameters, last = function.parameters, len(function.parameters) - 1
    ticks, kinds = False, []
    for k, argument in enumerate(arguments):
        accepted = [t.kind for t in parameters[min(k, last)].types]
        kind, value, at_ticks = _fitted(argument, accepted)
        if kind not in accepted:
            needed = " or ".join(dict.fromkeys(type_in_words(t) for t in parameters[min(k, last)].types))
            given = words_of(expression.arguments[k], argument)
            fail(expression.arguments[k], f"{function.name}: {parameters[min(k, last)].name} is {needed}, not {given}")
        arguments[k], ticks = value, ticks or at_ticks
        kinds.append(kind)
    try:
        with np.errstate(all="ignore"):
            result = function.compute(kinds, *arguments) if function.by_kind else function.compute(*arguments)
    except (ValueError, TypeError, OverflowError) as error:
        fail(expression, f"{function.form}: {error}", code="value")
    if ticks:
        return OverTicks(result)
    if not np.isfinite(result).all():
        fail(expression, f"{function.form} has no value for these arguments", code="value")
    return result if np.ndim(result) else float(result)


def _check_count(expression: Call, function: ProgramFunction, count: int) -> None:
    least = len(function.parameters)
    if count < least or (count > least and not function.repeats):
        fail(expression, f"{function.form} takes {least} arguments, and here {'is' if count == 1 else 'are'} {count}")


def _fitted(value: Any, accepted: list[str]) -> tuple[str, Any, bool]:
    """The kind and the array of an argument; aggregates of numbers are vectors, rotations and frames where they fit."""
    kind = kind_of(value)
    if kind == "aggregate":
        try:
            array = as_array(value)
        except (ValueError, TypeError, AttributeError):
            return kind, value, False
        found = kind_of(array)
        # A vector stands where only an aggregate of three numbers is asked for.
        return ("aggregate" if found not in accepted and "aggregate" in accepted else found), array, False
    if type(value) is OverTicks:
        return kind, value.values, True
    return kind, value, False


def as_array(value: Any) -> np.ndarray:
    """An aggregate as an array: <x, y, z> is a vector, three rows are a rotation, <position, rotation> is a frame."""
    if type(value) is tuple and len(value) == 2:
        p, R = (as_array(item) if type(item) is tuple else np.asarray(item, float) for item in value)
        if p.shape == (3,) and R.shape == (3, 3):
            T = np.eye(4)
            T[:3, :3], T[:3, 3] = R, p
            return T
    return np.array([as_array(item) if type(item) is tuple else item for item in value], float)
