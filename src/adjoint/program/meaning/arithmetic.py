"""What operators do with values: numbers quickly, arrays and ticks by one table."""

from __future__ import annotations

import operator as op
from collections.abc import Callable
from typing import Any

import numpy as np

from .functions import product
from .values import OverTicks, kind_of

__all__: list[str] = []

SAME = 1e-9  # numbers that differ by less, of themselves or at all, are equal: 1 nm, or the last digits of a width
COMPARISONS = ("<", "<=", ">", ">=", "=", "<>")


def _equal(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= SAME * max(1.0, abs(a), abs(b))


NUMBERS: dict[str, Callable[[float, float], Any]] = {
    "+": op.add,
    "-": op.sub,
    "*": op.mul,
    "/": op.truediv,
    "mod": op.mod,
    "<": lambda a, b: a < b and not _equal(a, b),
    ">": lambda a, b: a > b and not _equal(a, b),
    "<=": lambda a, b: a < b or _equal(a, b),
    ">=": lambda a, b: a > b or _equal(a, b),
    "=": _equal,
    "<>": lambda a, b: not _equal(a, b),
}


def combined(operator: str, left: Any, right: Any) -> Any:
    """The value of `left operator right`; None if this has no meaning."""
    a_kind, b_kind = kind_of(left), kind_of(right)
    if "aggregate" in (a_kind, b_kind):
        return _aggregates(operator, left, right)
    # A plain array that is no vector is a number at ticks, unless both are configurations.
    if a_kind == "joints" and b_kind == "scalar":
        left, a_kind = OverTicks(left), "scalar"
    elif b_kind == "joints" and a_kind == "scalar":
        right, b_kind = OverTicks(right), "scalar"
    rule = _RULES.get((operator, a_kind, b_kind))
    if rule is None:
        return None
    ticks = type(left) is OverTicks or type(right) is OverTicks
    a = left.values if type(left) is OverTicks else left
    b = right.values if type(right) is OverTicks else right
    try:
        with np.errstate(all="ignore"):
            result = rule(a, b)
    except ValueError:  # a configuration and a number at ticks, or configurations of several arms
        return None
    if result is None:
        return None
    return OverTicks(np.asarray(result)) if ticks else result


def _aggregates(operator: str, left: Any, right: Any) -> Any:
    """Operators of aggregates go element by element, and a single value goes with each element (AML)."""
    if operator in ("=", "<>"):
        if type(left) is not tuple or type(right) is not tuple:
            return None
        same = len(left) == len(right) and all(_same(a, b) for a, b in zip(left, right, strict=True))
        return same if operator == "=" else not same
    if type(left) is tuple and type(right) is tuple:
        if len(left) != len(right):
            return None
        pairs = list(zip(left, right, strict=True))
    elif type(left) is tuple:
        pairs = [(item, right) for item in left]
    else:
        pairs = [(left, item) for item in right]
    items = [combined(operator, a, b) for a, b in pairs]
    return None if any(item is None for item in items) else tuple(items)


def _same(a: Any, b: Any) -> bool:
    found = combined("=", a, b)
    return False if found is None else bool(np.all(found.values if type(found) is OverTicks else found))


# --- the table: (operator, kind, kind) -> function of arrays, which may have an axis of ticks before their own --------


def _close(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    return (a == b) | (np.abs(a - b) <= _spread(a, b))


def _above(a, b):
    """Whether a > b, and they are not equal."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    return a - b > _spread(a, b)


def _spread(a, b):
    return SAME * np.maximum(np.abs(a), np.maximum(1.0, np.abs(b)))


def _truth(value: Any) -> Any:
    return bool(value) if np.ndim(value) == 0 else value


def _scaled(s, v):
    return np.asarray(s)[..., None] * v


def _shifted(sign: int) -> Callable[[Any, Any], Any]:
    def shift(T, v):
        p = T[..., :3, 3] + sign * v
        result = np.array(np.broadcast_to(T, (*p.shape[:-1], 4, 4)))
        result[..., :3, 3] = p
        return result

    return shift


def _times(a_kind: str, b_kind: str) -> Callable[[Any, Any], Any]:
    return lambda a, b: product(a_kind, a, b_kind, b)[1]


def _table() -> dict[tuple[str, str, str], Callable[[Any, Any], Any]]:
    numbers: dict[str, Callable[[Any, Any], Any]] = {
        "+": np.add,
        "-": np.subtract,
        "*": np.multiply,
        "/": lambda a, b: None if np.ndim(b) == 0 and b == 0 else np.divide(a, b),
        "mod": lambda a, b: None if np.ndim(b) == 0 and b == 0 else np.mod(a, b),
        "<": lambda a, b: _truth(_above(b, a)),
        ">": lambda a, b: _truth(_above(a, b)),
        "<=": lambda a, b: _truth((np.asarray(a) < b) | _close(a, b)),
        ">=": lambda a, b: _truth((np.asarray(a) > b) | _close(a, b)),
        "=": lambda a, b: _truth(_close(a, b)),
        "<>": lambda a, b: _truth(~_close(a, b)),
    }
    table = {(operator, "scalar", "scalar"): compute for operator, compute in numbers.items()}
    for kind, axes in (("vector", (-1,)), ("rotation", (-2, -1)), ("frame", (-2, -1)), ("joints", (-1,))):
        table["=", kind, kind] = lambda a, b, axes=axes: _truth(_close(a, b).all(axes))
        table["<>", kind, kind] = lambda a, b, axes=axes: _truth(~_close(a, b).all(axes))
    for kind in ("vector", "joints"):
        table["+", kind, kind], table["-", kind, kind] = np.add, np.subtract
    table["*", "scalar", "vector"] = _scaled
    table["*", "vector", "scalar"] = lambda v, s: _scaled(s, v)
    table["/", "vector", "scalar"] = lambda v, s: (
        None if np.ndim(s) == 0 and s == 0 else v / np.asarray(s, float)[..., None]
    )
    table["+", "frame", "vector"], table["-", "frame", "vector"] = _shifted(1), _shifted(-1)
    for pair in (("frame", "frame"), ("frame", "vector"), ("frame", "rotation"), ("rotation", "rotation"),
                 ("rotation", "vector")):  # fmt: skip
        table["*", *pair] = _times(*pair)
    table["and", "boolean", "boolean"] = lambda a, b: _truth(np.logical_and(a, b))
    table["or", "boolean", "boolean"] = lambda a, b: _truth(np.logical_or(a, b))
    table["=", "boolean", "boolean"] = lambda a, b: _truth(np.equal(a, b))
    table["<>", "boolean", "boolean"] = lambda a, b: _truth(np.not_equal(a, b))
    table["+", "text", "text"] = op.add
    table["=", "text", "text"], table["<>", "text", "text"] = op.eq, op.ne
    return table


_RULES = _table()
