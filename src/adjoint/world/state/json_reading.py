"""Strict reading of JSON of unknown origin: every value is checked, and messages name the place of a bad one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import ArgumentError

__all__ = ["flag", "items", "listing", "numbers", "parsed", "plain", "record", "word"]

WHO = "World.from_json"
_FAR = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}


def parsed(text) -> Any:
    """The contents of a JSON text; NaN, doubled names, and what is no JSON raise an `ArgumentError`."""
    if not isinstance(text, str):
        raise ArgumentError(f"{WHO}: 'text' must be a string, got {type(text).__name__}")
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except RecursionError:
        raise ArgumentError(f"{WHO}: the text is nested too deeply") from None
    except ArgumentError:
        raise
    except ValueError as error:
        raise ArgumentError(f"{WHO}: the text is no JSON: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ArgumentError(f"{WHO}: the name {name!r:.60} is there twice in one object")
        found[name] = value
    return found


def _constant(name: str):
    raise ArgumentError(f"{WHO}: {name} is no number of JSON")


def record(value, where: str, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """An object with these names, and no others."""
    found = items(value, where)
    for name in needed:
        if name not in found:
            raise ArgumentError(f"{WHO}: {where} has no '{name}'")
    for name in found:
        if name not in needed and name not in optional:
            raise ArgumentError(f"{WHO}: {where} has {name!r:.60}; it may have {', '.join((*needed, *optional))}")
    return found


def items(value, where: str) -> dict[str, Any]:
    """An object with any names."""
    if not isinstance(value, dict):
        raise ArgumentError(f"{WHO}: {where} must be an object {{...}}, got {_shown(value)}")
    return value


def listing(value, where: str) -> list:
    """A list."""
    if not isinstance(value, list):
        raise ArgumentError(f"{WHO}: {where} must be a list [...], got {_shown(value)}")
    return value


def word(value, where: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise ArgumentError(f"{WHO}: {where} must be a string, got {_shown(value)}")
    return value


def flag(value, where: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ArgumentError(f"{WHO}: {where} must be true or false, got {_shown(value)}")
    return value


def whole(value, where: str) -> int:
    """A whole number."""
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > 2**53:
        raise ArgumentError(f"{WHO}: {where} must be a whole number, got {_shown(value)}")
    return value


def numbers(value, shape: tuple[int | None, ...], where: str, *, infinite: bool = False) -> np.ndarray:
    """An array of this shape, where None stands for any length; "inf", "-inf", "nan" are numbers if `infinite`."""
    found = np.array(_floats(value, len(shape), where, infinite), float)
    if found.size == 0 and shape[:1] == (None,):
        found = found.reshape(0, *[n or 0 for n in shape[1:]])
    if found.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, found.shape, strict=False)):
        wanted = str(shape).replace("None", "n")
        raise ArgumentError(f"{WHO}: {where} has shape {found.shape}; it must be {wanted}")
    return found


def _floats(value, depth: int, where: str, infinite: bool) -> Any:
    if depth:
        rows = [_floats(x, depth - 1, where, infinite) for x in listing(value, where)]
        if depth > 1 and len({np.shape(row) for row in rows}) > 1:
            raise ArgumentError(f"{WHO}: {where} has rows of several lengths")
        return rows
    if infinite and isinstance(value, str) and value in _FAR:
        return _FAR[value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            found = float(value)
        except OverflowError:
            found = np.inf
        if np.isfinite(found):
            return found
    raise ArgumentError(f"{WHO}: {where} must be finite numbers, got {_shown(value)}")


def _shown(value) -> str:
    return (
        f"{value!r:.60}"
        if not isinstance(value, dict | list)
        else f"{'an object' if isinstance(value, dict) else 'a list'}"
    )


def plain(value) -> Any:
    """A value as JSON writes it: arrays and tuples become lists, numbers that are not finite become words."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(x) for x in value]
    if isinstance(value, Mapping):
        return {k: plain(x) for k, x in value.items()}
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value
