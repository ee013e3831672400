"""Checks of arguments that many functions of planning have: budgets, and objects of a certain kind."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any

from ..errors import ArgumentError

__all__: list[str] = []


def check_limits(caller: str, **limits: Any) -> None:
    """Refuse limits that are no numbers above 0; infinity is one. Whole numbers must not be too large for a float."""
    for name, value in limits.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not value > 0 or (isinstance(value, int) and value > sys.float_info.max):
            raise ArgumentError(f"{caller}: {name} must be a number above 0, got {value!r:.60}")


def not_negative(value: Any) -> float | None:
    """The value as a float, or None if it is no number >= 0 or too large for a float."""
    try:
        if value >= 0 and not getattr(value, "shape", ()):
            return float(value)
    except (TypeError, ValueError, ArithmeticError):  # such as texts, arrays, and Decimal("nan")
        pass
    return None


def check_not_negative(caller: str, **limits: Any) -> None:
    """Refuse limits that are no numbers from 0 on; infinity is one."""
    for name, value in limits.items():
        if isinstance(value, bool) or not_negative(value) is None:
            raise ArgumentError(f"{caller}: {name} must be a number >= 0, got {value!r:.60}")


def check_each(caller: str, values: Any, kind: type, name: str) -> None:
    """Refuse a collection that has something else."""
    if isinstance(values, str) or not isinstance(values, Collection):
        raise ArgumentError(f"{caller}: {name} must be a tuple, got {type(values).__name__}")
    for value in values:
        check_kind(caller, value, kind, f"each of the {name}")


def check_kind(caller: str, value: Any, kind: type, name: str) -> None:
    """Refuse an argument that is something else."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise ArgumentError(f"{caller}: {name} must be {article} {kind.__name__}, got {type(value).__name__}")
