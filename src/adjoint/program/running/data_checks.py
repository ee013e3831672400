"""Whether data from outside have the types that their classes say: texts, numbers, tuples and instructions."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

__all__: list[str] = []

_LARGEST = 1e308  # whole numbers of JSON have no end
_MOST_WHOLE = 2**53


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def misfit(thing: Any, inner: Collection[type] = ()) -> str | None:
    """The name of the first field of a dataclass or named tuple whose value is not what its type says, or None.

    Values of the classes `inner` are looked into, too.
    """
    for name, hint in _hints(type(thing)).items():
        if not _fits(getattr(thing, name), hint, inner):
            return name
    return None


def _fits(value: Any, hint: Any, inner: Collection[type]) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(_fits(value, one, inner) for one in arguments)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return all(_fits(x, arguments[0], inner) for x in value)
        both = zip(value, arguments, strict=False)
        return len(value) == len(arguments) and all(_fits(x, one, inner) for x, one in both)
    if origin is list:
        return isinstance(value, list) and all(_fits(x, arguments[0], inner) for x in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            _fits(k, arguments[0], inner) and _fits(x, arguments[1], inner) for k, x in value.items()
        )
    if hint in (None, NoneType):
        return value is None
    if hint is float:
        return isinstance(value, float) or (_is_whole(value) and abs(value) < _LARGEST)
    if hint is int:
        return _is_whole(value) and abs(value) < _MOST_WHOLE
    return isinstance(value, hint) and (type(value) not in inner or misfit(value, inner) is None)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
