"""Checks of arguments that many functions of planning have: budgets, and objects of a certain kind."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError

__all__: list[str] = []


def check_limits(caller: str, **limits: Any) -> None:
    """Refuse limits that are no numbers above 0; infinity is one."""
    for name, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
            raise ArgumentError(f"{caller}: {name} must be a number above 0, got {value!r:.60}")


def check_kind(caller: str, value: Any, kind: type, name: str) -> None:
    """Refuse an argument that is something else."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise ArgumentError(f"{caller}: {name} must be {article} {kind.__name__}, got {type(value).__name__}")
