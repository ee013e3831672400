"""What is done only when it is needed: properties that are computed once, and modules that are imported late."""

from __future__ import annotations

import difflib
import functools
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property", "later", "suggesting"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):
        """Python's `functools.cached_property` without the lock that it has before Python 3.12.

        If a process forks while another thread holds that lock, the lock is never released in the child, which then
        waits forever. Without the lock, two threads may compute a value at the same time; both then get the value that
        was stored first.
        """

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            known = instance.__dict__
            if self.attrname not in known:
                known.setdefault(self.attrname, self.func(instance))
            return known[self.attrname]


def later(
    package: str, homes: Mapping[str, str], hint: Callable[[str], str] = lambda name: ""
) -> Callable[[str], Any]:
    """The `__getattr__` of a package: it imports the module that has a name when the name is first asked for.

    `homes` is {name: module in the package}; a name that is a module itself is its own home. So a process that only
    calls kernels does not load files that it has no use for. `hint(name)` is the end of the message about a name that
    the package lacks.
    """

    def __getattr__(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'{hint(name)}")
        module = import_module(f"{package}.{homes[name]}")
        found = module if homes[name].rpartition(".")[2] == name else getattr(module, name)
        setattr(sys.modules[package], name, found)  # the next time Python finds it without this function
        return found

    return __getattr__


def suggesting(names: Iterable[str], peers: Mapping[str, tuple[str, str]] | None = None) -> Callable[[str], str]:
    """A `hint` for `later`: what a name of another library is here, or which of the `names` are close.

    `peers` is {a name in another library, in lower case: (that library, what is meant here)}.
    """
    known = list(names)

    def hint(name: str) -> str:
        if name.lower() in (peers or {}):
            owner, ours = (peers or {})[name.lower()]
            return f"; what {owner} calls {name} is {ours}"
        close = difflib.get_close_matches(name, known, 3, 0.6) or [x for x in known if name.lower() in x.lower()][:3]
        return f"; did you mean {' or '.join(close)}?" if close else ""

    return hint
