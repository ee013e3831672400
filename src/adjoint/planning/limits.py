"""Checks of arguments that many functions of planning have: budgets, and objects of a certain kind."""

from __future__ import annotations

import sys
from typing import Any

from ..errors import ArgumentError

__all__: list[str] = []


def check_limits(caller: str, **limits: Any) -> None:
    """Refuse limits that are no numbers above 0; infinity is one. Whole numbers must not be too large for a float."""
    for name, value in limits.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not value > 0 or (isinstance(value, int) and value > sys.float_info.max):
            raise ArgumentError(f"{caller}: {name} must be a number above 0, got {value!r:.60}")


def check_kind(caller: str, value: Any, kind: type, name: str) -> None:
    """Refuse an argument that is something else."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise ArgumentError(f"{caller}: {name} must be {article} {kind.__name__}, got {type(value).__name__}")
