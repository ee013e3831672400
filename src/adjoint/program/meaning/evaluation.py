"""The value of an expression, now or at many ticks at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from ...errors import nearest
from ...world.units import UNITS
from ..instructions.diagnostics import Diagnostic, ProgramError
from ..instructions.expressions import (
    Aggregate,
    Binary,
    Call,
    Expression,
    Here,
    Index,
    Literal,
    Name,
    Quantity,
    Reading,
    Unary,
    UnitName,
    Wrt,
)  # fmt: skip
from .arithmetic import COMPARISONS, NUMBERS, combined
from .constants import CONSTANTS
from .function_values import fail, function_value, words_of
from .functions import FUNCTIONS
from .scopes import Scope, VariableScope
from .values import OverTicks, kind_of

__all__ = ["evaluate"]

_FEW = 10_000  # values inside an aggregate, and characters of a text: a loop that doubles one must not fill the memory
_PLAIN = frozenset({float, int, np.float64})
_NOT_FINITE = "the result is no finite number"


def evaluate(expression: Expression, scope: Scope | Mapping[str, Any] | None = None) -> Any:
    """The value of an expression, a `Value` in SI units: a number, a truth value, a text, an array or a tuple.

        >>> from adjoint.program.instructions import Binary, Literal, Name
        >>> evaluate(Binary("<", Name("tries"), Literal(3.0)), {"tries": 2.0})
        True

    `scope` tells the values of names, where arms are, and what sensors say; a dictionary of variables will do. Where it
    gives arrays with a leading axis (ticks,), the result has this axis, and everything is computed for all ticks in
    one call. Numbers that differ by less than 1e-9 (of themselves, or at all) count as equal, so `width < diameter` is
    false for fingers that rest on a bolt. What cannot be computed is a `ProgramError` at its place in the text.
    """
    if scope is None or isinstance(scope, Mapping):
        scope = VariableScope(scope)
    try:
        result = _RULES[type(expression)](expression, scope)
    except RecursionError:
        raise ProgramError(
            Diagnostic("this expression is nested too deep to be evaluated", expression.at, code="size")
        ) from None
    return _plain(result)


def _plain(value: Any) -> Any:
    if type(value) is OverTicks:
        return value.values
    if type(value) is tuple:
        return tuple([_plain(item) for item in value])
    return value


# --- one rule for each class of expressions ---------------------------------------------------------------------------


def _literal(expression: Literal, scope: Scope) -> Any:
    value = expression.value
    return float(value) if type(value) is int else value


def _quantity(expression: Quantity, scope: Scope) -> Any:
    return expression.value * UNITS[expression.unit].factor


def _unit_name(expression: UnitName, scope: Scope) -> Any:
    return UNITS[expression.unit].factor


def _name(expression: Name, scope: Scope) -> Any:
    name = expression.name
    try:
        value = scope.value(name)
    except KeyError:
        known = CONSTANTS.get(name)
        if known is None:
            names = getattr(scope, "names", list)()
            hint = nearest(name, [*names, *CONSTANTS])
            fail(expression, f"'{name}' has no value here", hint, "name")
        return known[1]
    if type(value) is np.ndarray and (value.ndim == 3 or (value.ndim == 1 and value.dtype == bool)):
        return OverTicks(value)
    return value


def _unary(expression: Unary, scope: Scope) -> Any:
    value = _RULES[type(expression.value)](expression.value, scope)
    if type(value) is bool or kind_of(value) == "boolean":
        if expression.operator == "not":
            return OverTicks(~value.values) if type(value) is OverTicks else not value
    elif expression.operator == "-":
        if type(value) is float:
            return -value
        negative = _negative(value)
        if negative is not None:
            return negative
    needed = "a truth value" if expression.operator == "not" else "a number or a vector"
    fail(expression, f"'{expression.operator}' needs {needed}, and this is {words_of(expression.value, value)}")


def _negative(value: Any) -> Any:
    kind = kind_of(value)
    if kind == "aggregate":
        items = [_negative(item) for item in value]
        return None if any(item is None for item in items) else tuple(items)
    if kind not in ("scalar", "vector", "joints"):
        return None
    return OverTicks(-value.values) if type(value) is OverTicks else -value


def _binary(expression: Binary, scope: Scope) -> Any:
    operator = expression.operator
    left = _RULES[type(expression.left)](expression.left, scope)
    if type(left) is bool and (left if operator == "or" else not left if operator == "and" else False):
        return left
    right = _RULES[type(expression.right)](expression.right, scope)
    if type(left) in _PLAIN and type(right) in _PLAIN:
        compute = NUMBERS.get(operator)
        if compute is not None:
            try:
                result = compute(float(left), float(right))
            except ZeroDivisionError:
                fail(expression, f"'{operator}' by 0", code="value")
            if result - result == 0:
                return result
            fail(expression, _NOT_FINITE, code="value")
    result = combined(operator, left, right)
    if result is None:
        _no_rule(expression, operator, left, right)
    if type(result) in (str, tuple):
        _check_size(expression, result)
    elif type(result) is np.ndarray and not np.isfinite(result).all():
        fail(expression, _NOT_FINITE, code="value")
    return result


def _no_rule(expression: Binary, operator: str, left: Any, right: Any) -> NoReturn:
    both = f"{words_of(expression.left, left)} {operator} {words_of(expression.right, right)}"
    kinds = (kind_of(left), kind_of(right))
    if operator == "/" and kinds[1] == "scalar":
        fail(expression, "'/' by 0", code="value")
    hint = ""
    if operator == "*" and kinds == ("vector", "vector"):
        hint = "write DOT(v, w) or CROSS(v, w)"
    elif operator == "+" and kinds == ("vector", "frame"):
        hint = "write frame + vector"
    elif operator in COMPARISONS and "frame" in kinds:
        hint = "compare numbers, such as NORM(POS(f) - POS(g))"
    fail(expression, f"{both} has no meaning", hint)


def _check_size(expression: Expression, value: str | tuple) -> None:
    if (len(value) if isinstance(value, str) else _size(value, 0)) > _FEW:
        fail(expression, f"a value of a program has at most {_FEW} parts or characters", code="size")


def _size(value: Any, count: int) -> int:
    """How many values a value has inside, counted only until there are too many."""
    if type(value) is not tuple:
        return count + 1
    for item in value:
        count = _size(item, count)
        if count > _FEW:
            break
    return count + 1


def _wrt(expression: Wrt, scope: Scope) -> Any:
    value = _RULES[type(expression.value)](expression.value, scope)
    frame = _RULES[type(expression.frame)](expression.frame, scope)
    if kind_of(value) != "vector" or kind_of(frame) not in ("frame", "rotation"):
        given = f"{words_of(expression.value, value)} WRT {words_of(expression.frame, frame)}"
        fail(expression, f"WRT needs a vector and a frame, and this is {given}")
    ticks = type(value) is OverTicks or type(frame) is OverTicks
    result = (_plain(frame)[..., :3, :3] @ _plain(value)[..., None])[..., 0]
    return OverTicks(result) if ticks else result


def _here(expression: Here, scope: Scope) -> Any:
    try:
        value = scope.here(expression.arm, expression.joints)
    except KeyError:
        arm = f"the arm '{expression.arm}'" if expression.arm else "the only arm"
        fail(expression, f"there is nothing that says where {arm} is", code="name")
    return OverTicks(value) if np.ndim(value) == (2 if expression.joints else 3) else value


def _reading(expression: Reading, scope: Scope) -> Any:
    number = None
    if expression.number is not None:
        number = _plain(_RULES[type(expression.number)](expression.number, scope))
        if expression.kind in ("signal", "joints") and not all(
            map(_is_whole, number if type(number) is tuple else (number,))
        ):
            what = "a line" if expression.kind == "signal" else "a joint"
            fail(expression.number, f"{what} has a whole number, and this is {words_of(expression.number, number)}")
    try:
        value = scope.reading(expression, number)
    except KeyError:
        what = f"'{expression.name}'" if expression.name else f"of the {expression.kind}"
        fail(expression, f"no sensor {what} is there", code="name")
    one = not (expression.kind == "joints" and kind_of(number) != "scalar")
    return OverTicks(value) if one and np.ndim(value) == 1 and type(value) is np.ndarray else value


def _is_whole(number: Any) -> bool:
    return kind_of(number) == "scalar" and np.ndim(number) == 0 and float(number).is_integer()


def _aggregate(expression: Aggregate, scope: Scope) -> Any:
    items = tuple([_RULES[type(item)](item, scope) for item in expression.items])
    _check_size(expression, items)
    return items


def _index(expression: Index, scope: Scope) -> Any:
    value = _RULES[type(expression.value)](expression.value, scope)
    number = _RULES[type(expression.index)](expression.index, scope)
    if type(number) is OverTicks or not _is_whole(number):
        fail(expression, f"an index is a whole number, and this is {words_of(expression.index, number)}")
    k = int(number)
    if isinstance(value, Mapping):
        if k not in value:
            there = f"{min(value)} to {max(value)}" if value else "none"
            fail(expression, f"there is no element {k}; elements are {there}", code="value")
        return value[k]
    items = _elements(value)
    if items is None:
        fail(expression, f"{words_of(expression.value, value)} has no elements")
    if not 1 <= k <= len(items):
        fail(expression, f"there is no element {k}; elements are 1 to {len(items)}", code="value")
    return items[k - 1]


def _elements(value: Any) -> Any:
    """The elements of a value: those of aggregates and vectors, position and rotation of frames, rows of rotations."""
    kind, array = kind_of(value), _plain(value)
    if kind == "aggregate":
        return value
    if kind == "frame":
        parts = [array[..., :3, 3], array[..., :3, :3]]
    elif kind == "rotation":
        parts = [array[..., k, :] for k in range(3)]
    elif kind in ("vector", "joints"):
        parts = [array[..., k] for k in range(array.shape[-1])]
    else:
        return None
    if type(value) is OverTicks:
        return [OverTicks(part) for part in parts]
    return [float(part) if part.ndim == 0 else part for part in parts]


def _call(expression: Call, scope: Scope) -> Any:
    arguments = [_RULES[type(argument)](argument, scope) for argument in expression.arguments]
    function = FUNCTIONS.get(expression.function.upper())
    if function is None:
        run = getattr(scope, "call", None)
        if run is None:
            hint = nearest(expression.function.upper(), list(FUNCTIONS))
            fail(expression, f"there is no function '{expression.function}'", hint, "name")
        return run(expression.function, tuple(_plain(a) for a in arguments))
    return function_value(expression, function, arguments)


_RULES: dict[type, Callable[[Any, Scope], Any]] = {
    Literal: _literal,
    Quantity: _quantity,
    UnitName: _unit_name,
    Name: _name,
    Unary: _unary,
    Binary: _binary,
    Call: _call,
    Wrt: _wrt,
    Here: _here,
    Reading: _reading,
    Aggregate: _aggregate,
    Index: _index,
}
