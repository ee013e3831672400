"""Marks of functions: equal for functions that compute the same, and new when something changes that a function reads.

Machine code is kept for the functions that users write: laws, forces, costs, references. A function reads more than its
arguments: constants of its module, what it closes over, attributes of the object whose method it is. All of that is in
the machine code, so all of it is in the mark by which the code is found again.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import sys
import types
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from ..model.robot import Robot

__all__ = ["mark_of"]

_MOST = 10_000  # things that are looked at; what reads more has a mark of its own every time
_PACKAGE = __name__.partition(".")[0]
_FIXED = {_PACKAGE, "numpy", "scipy", *sys.stdlib_module_names}  # packages whose modules nobody changes


def mark_of(x) -> Hashable:
    """A mark of a function, or of any other value.

    Two marks are equal only if both compute the same as long as nothing changes that they read; what is not known to be
    equal is compared by identity. Changes inside objects without a __dict__ are not seen, nor of what getattr reads.
    """
    marks = _Marks()
    found = marks.of(x)
    return found if len(marks.seen) < _MOST else _Same(object())


class _Same:
    """A thing that is equal to itself alone."""

    __slots__ = ("thing",)

    def __init__(self, thing):
        self.thing = thing

    def __hash__(self) -> int:
        return id(self.thing)

    def __eq__(self, other) -> bool:
        return isinstance(other, _Same) and self.thing is other.thing


class _Marks:
    """Marks of things that lead to each other. `names` are those that the code which reads a thing mentions."""

    def __init__(self):
        self.seen: dict[int, tuple[int, Any]] = {}  # {id: its number, itself, which keeps the id its own}

    def of(self, x, names: frozenset[str] = frozenset()) -> Hashable:
        kind = type(x)
        if x is None or kind in (bool, int, str, bytes):
            return kind, x
        if kind is float:
            return kind, x.hex()  # NaN is equal to NaN, and -0.0 is not 0.0
        if id(x) in self.seen or len(self.seen) >= _MOST:
            return "seen", self.seen.get(id(x), (None, None))[0]
        self.seen[id(x)] = len(self.seen), x
        return self._made_of_parts(kind, x, names)

    def _made_of_parts(self, kind: type, x, names: frozenset[str]) -> Hashable:
        if isinstance(x, Robot | types.ModuleType | type):
            return x if isinstance(x, Robot) else _Same(x)
        if isinstance(x, np.ndarray | np.generic):
            return _array_mark(x) if x.dtype != object else (kind, *map(self.of, np.ravel(x)))
        if isinstance(x, types.FunctionType):
            return self._function(x)
        if isinstance(x, types.MethodType):
            return kind, self.of(x.__func__), self.of(x.__self__, _names(x.__func__))
        if isinstance(x, functools.partial):
            return kind, self.of(x.func), self.of(x.args), self.of(x.keywords)
        if isinstance(x, Mapping):
            return kind, *((self.of(k), self.of(value, names)) for k, value in x.items())
        if isinstance(x, tuple | list):
            return kind, *(self.of(value, names) for value in x)
        if isinstance(x, set | frozenset):
            return kind, frozenset(map(self.of, x))
        return self._object(kind, x, names)

    def _object(self, kind: type, x, names: frozenset[str]) -> Hashable:
        """The mark of an object: its class, its methods and its attributes, as far as they are mentioned."""
        if dataclasses.is_dataclass(x):
            own = {f.name: getattr(x, f.name) for f in dataclasses.fields(x) if f.compare}
            return _Same(kind), self.of(own), *self._methods(kind, names | {"__call__"})[1]
        if kind.__module__.partition(".")[0] in _FIXED or not hasattr(x, "__dict__"):
            return _Same(x)
        names, methods = self._methods(kind, names | {"__call__"})
        return _Same(kind), self.of({k: value for k, value in vars(x).items() if k in names}, names), *methods

    def _methods(self, kind: type, names: frozenset[str]) -> tuple[frozenset[str], list]:
        """What a user's class defines under these names, and under those that its methods mention: names, and marks."""
        known: dict[str, Any] = {}
        for base in reversed(kind.__mro__):
            if base.__module__.partition(".")[0] not in _FIXED:
                known |= vars(base)
        found: dict[str, Any] = {}
        while more := {k: x for k, x in known.items() if k in names and k not in found}:
            found |= more
            for x in more.values():
                names |= _names(x)
        return names, [(k, self.of(x, names)) for k, x in found.items()]

    def _function(self, f: types.FunctionType) -> Hashable:
        """The mark of a function: its code, and what it reads besides its arguments."""
        cells = tuple(map(_contents, f.__closure__ or ()))
        if not cells and str(f.__module__).partition(".")[0] in _FIXED:
            return _Same(f)
        names = _names(f)
        read = {name: f.__globals__[name] for name in names if name in f.__globals__}
        for module in [x for x in read.values() if isinstance(x, types.ModuleType)]:
            if module.__name__.partition(".")[0] not in _FIXED:
                read |= {f"{module.__name__}.{k}": x for k, x in vars(module).items() if k in names}
        read = dict(sorted(read.items()))
        more = (f.__defaults__, f.__kwdefaults__, cells, read)
        return f.__code__, *(self.of(x, names) for x in more)


def _contents(cell: types.CellType):
    try:
        return cell.cell_contents
    except ValueError:  # a name that has no value yet
        return None


def _names(x) -> frozenset[str]:
    """The names that a function, or the function of a property, reads from its module or as attributes."""
    for part in ("fget", "func", "__func__", "__code__"):
        x = getattr(x, part, x)
    if not isinstance(x, types.CodeType):
        return frozenset()
    return frozenset(x.co_names).union(*map(_names, x.co_consts))


def _array_mark(x) -> Hashable:
    return type(x), x.dtype.str, x.shape, hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()
