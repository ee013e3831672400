"""Whether the library in memory is what its files define, and which constants its functions see.

A function of this library is found in the disk cache by its name, without being traced: the key of every entry holds a
hash of the library's files. That is right only while memory and files agree. `state` is asked whenever a key is made.
It looks at the module of the function, at the modules which that one imports at its top, and so on. It answers None if
it finds anything there that is not known to come from a file of this library, of a dependency or of Python: a patched
function or method, a mock, another module under an old name, a file that was edited since it was loaded. Such a
function is traced, and its code is found by its graph.

Values of constants, imported names and defaults of arguments are part of the answer, and so of the key. By convention
constants have upper-case names; other containers at the top of a module are caches, which change no result.

Some changes are not seen: a patched compiler (`adjoint.compile`), a patched dependency, code that was forged to name
one of our files as its own, and changes in modules that a function imports only when it runs.
"""

from __future__ import annotations

import functools
import hashlib
import operator
import os
import sys
import time
import types
from collections.abc import Iterable, Mapping
from itertools import chain

import numpy as np

from ...folders import LIBRARY

__all__ = ["is_edited", "is_published", "state"]

_LOADED = time.time_ns()
_PACKAGE = __name__.partition(".")[0]
_COMPILER = f"{_PACKAGE}.compile"
_PYTHON = os.path.dirname(os.__file__) + os.sep
_DEPENDENCIES = {"numpy", "scipy", "casadi", "lxml", "mpmath"}
_PLAIN = {type(None), bool, int, float, complex, str, bytes, slice, range, type(...), np.float64}
_BUILTIN = (types.BuiltinFunctionType, types.MethodDescriptorType, np.ufunc)
_CONTAINERS = (tuple, list, set, frozenset, dict, types.MappingProxyType)
_TEXT = {  # classes of Python's objects that are told apart by their text
    "_Feature", "GenericAlias", "UnionType", "_SpecialForm", "_GenericAlias", "TypeVar", "Pattern", "attrgetter",
    "_tuplegetter", "member_descriptor", "PosixPath", "WindowsPath",
}  # fmt: skip
# Classes of objects that hold no constants.
_TOOLS = {"lock", "RLock", "_local", "deque", "WeakKeyDictionary", "WeakValueDictionary"}
_GENERATED = "<string>"  # the file name that Python gives to methods of dataclasses and NamedTuples


class _Unknown(Exception):
    """Something does not come from the file that it should come from."""


_surveys: dict[str, _Survey] = {}


def state(roots: Iterable[str]) -> str | None:
    """A hash of the constants that functions of these modules can see; None if anything there was replaced."""
    found: dict[str, str] = {}
    waiting = list(roots)
    try:
        while waiting:
            name = waiting.pop()
            if name not in found and not _is_compiler(name):
                survey = _survey(name)
                found[name] = survey.result
                waiting += survey.imports
    except (_Unknown, OSError):
        return None
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()


def is_edited(status: os.stat_result) -> bool:
    """Return whether a file was changed after this process loaded the library, by the clock that stamps files."""
    now = time.time_ns()
    # A time in the future comes from a clock that was wrong.
    return any(_LOADED < t <= now for t in (status.st_mtime_ns, status.st_ctime_ns))


def is_published(fn) -> bool:
    """Return whether a function is found under its name in a module of this library, or is that of the kernel there."""
    if not isinstance(fn, types.FunctionType) or not str(fn.__module__).startswith(_PACKAGE + "."):
        return False
    found = sys.modules.get(fn.__module__)
    for part in fn.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is fn or getattr(found, "__wrapped__", None) is fn


def _survey(name: str) -> _Survey:
    """Return what there is in a module; it is looked at again only if anything there is new."""
    module, known = _own(name), _surveys.get(name)
    if known is None or not known.holds_for(module):
        _surveys[name] = known = _Survey(module)
    return known


class _Survey:
    """What was seen in a module: a hash of its constants, the modules that it imports, and what to compare later."""

    def __init__(self, module: types.ModuleType):
        self._dicts: list[Mapping] = []  # those of the module and of its classes, and constants that are dicts
        self._lists: list[list | set] = []
        self._arrays: list[tuple[np.ndarray, bytes]] = []
        self._functions: list[types.FunctionType] = []
        self._module, self._names = module, vars(module)
        if is_edited(os.stat(module.__file__)):  # type: ignore[arg-type]
            raise _Unknown
        self.result = hashlib.sha256(repr(self._top()).encode()).hexdigest()
        self.imports = _imports(module)
        self._objects = self._collect()

    def holds_for(self, module: types.ModuleType) -> bool:
        """Return whether all that was seen is still there and the same."""
        now = self._collect()
        return (
            module is self._module
            and len(now) == len(self._objects)
            and all(map(operator.is_, now, self._objects))
            and all(array.tobytes() == data for array, data in self._arrays)
        )

    def _collect(self) -> list:
        """All objects that were seen, for a comparison by identity."""
        found = list(chain.from_iterable(d.values() for d in self._dicts))
        found += chain.from_iterable(self._lists)
        for f in self._functions:
            found += (f.__code__, f.__defaults__, f.__kwdefaults__)
        return found

    def _top(self) -> list:
        """The names at the top of the module, each with a mark of its value (see `_mark`)."""
        found = []
        self._dicts.append(self._names)
        for key, value in self._names.items():
            if key[:2] != "__" and not _is_submodule(self._module, key, value):
                found.append((key, self._mark(value, key.isupper())))
                if isinstance(value, type) and value.__module__ == self._module.__name__:
                    found.append((key, self._members(value)))
        return found

    def _members(self, made: type) -> list:
        """The methods of a class, and its constants, each with a mark."""
        found = []
        self._dicts.append(vars(made))
        for key, value in vars(made).items():
            # The functions in properties, cached properties, class methods and static methods.
            for part in ("fget", "func", "__func__"):
                value = getattr(value, part, value)
            if isinstance(value, types.FunctionType):
                found.append((key, self._function(value)))
            elif key[0] != "_":
                found.append((key, self._mark(value)))
        return found

    def _mark(self, value, constant: bool = True):
        """Return a text, or a tuple of such, that tells values apart and is the same in every process."""
        kind = type(value)
        if kind in _PLAIN:
            return repr(value)
        if kind is types.FunctionType:
            return self._function(value)
        if kind is types.ModuleType:
            return _home(value.__name__, sys.modules.get(value.__name__) is value)
        if isinstance(value, type):
            return _home(value.__module__), value.__qualname__
        if isinstance(wrapped := getattr(value, "__wrapped__", None), types.FunctionType):
            return _home(kind.__module__), self._function(wrapped)  # a kernel, or a function with a cache
        if isinstance(value, _CONTAINERS):
            return (kind.__qualname__, *self._elements(value)) if constant else kind.__qualname__
        if isinstance(value, _BUILTIN):
            return _home(getattr(value, "__module__", None) or "numpy"), value.__name__
        if kind is np.ndarray and value.dtype != object:
            self._arrays.append((value, value.tobytes()))
            return value.dtype.str, value.shape, self._arrays[-1][1]
        if kind is functools.partial:
            return self._mark(value.func), self._mark(value.args), self._mark(value.keywords)
        return _home(kind.__module__), kind.__qualname__, self._other(value)

    def _elements(self, value) -> list:
        """The marks of the elements of a container."""
        if isinstance(value, dict | types.MappingProxyType):
            self._dicts.append(value)
            return [(self._mark(k), self._mark(v)) for k, v in value.items()]
        if isinstance(value, list | set):
            self._lists.append(value)
        marks = [self._mark(v) for v in value]
        return sorted(marks, key=repr) if isinstance(value, set | frozenset) else marks

    def _other(self, value):
        """The mark of an object of a class of this library or of Python."""
        kind = type(value)
        if kind.__qualname__ in _TOOLS:
            return None
        if kind.__module__.startswith(_PACKAGE + "."):
            inside = getattr(value, "__dict__", {})
            # The `origin` of a kernel says from which kernel it was made, and how.
            return self._mark(inside.get("origin") or inside)
        if kind.__qualname__ not in _TEXT:
            raise _Unknown
        return repr(value)

    def _function(self, f: types.FunctionType):
        """The mark of a function: its name, if its code comes from the file of the module in which it was defined."""
        names, code = f.__globals__, f.__code__
        self._functions.append(f)
        if code.co_filename == _GENERATED and f.__name__[:2] == "__":
            return f.__name__
        if names is self._names:
            home = self._module
        else:
            home = sys.modules.get(_home(names.get("__name__", "")))
        if home is None or vars(home) is not names or code.co_filename != getattr(home, "__file__", None):
            raise _Unknown
        cells = [self._mark(cell.cell_contents) for cell in f.__closure__ or ()]
        if home is not self._module:
            return home.__name__, code.co_qualname, cells
        return code.co_qualname, cells, f.__defaults__ and self._mark(f.__defaults__), self._mark(f.__kwdefaults__)


def _is_compiler(name: str) -> bool:
    return name == _COMPILER or name.startswith(_COMPILER + ".")


def _own(name: str) -> types.ModuleType:
    """Return the module of this name, if it comes from a file of this library."""
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if name.partition(".")[0] != _PACKAGE or not isinstance(file, str) or not file.startswith(LIBRARY):
        raise _Unknown
    return module  # type: ignore[return-value]


def _home(name: str, there: bool = True) -> str:
    """Return the name of a module, if it is one of this library, of a dependency or of Python."""
    package = name.partition(".")[0]
    if package in sys.stdlib_module_names:
        file = getattr(sys.modules.get(name), "__file__", None)
        # A user's script may have the name of a module of Python, such as test.py or code.py.
        there = there and (file is None or file.startswith(_PYTHON))
    elif package not in _DEPENDENCIES:
        _own(name)
    if not there:
        raise _Unknown
    return name


def _imports(module: types.ModuleType) -> set[str]:
    """The names of modules of this library that a module has at its top, or has objects of."""
    found = set()
    for key, value in vars(module).items():
        name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
        if isinstance(name, str) and name.startswith(_PACKAGE + ".") and not _is_submodule(module, key, value):
            found.add(name)
    return found


def _is_submodule(module: types.ModuleType, key: str, value) -> bool:
    """Return whether a value is a submodule, which Python puts into its package whenever it is imported."""
    return isinstance(value, types.ModuleType) and value.__name__ == f"{module.__name__}.{key}"
