"""What is done only when it is needed: properties that are computed once, and modules that are imported late."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property", "later"]

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


def later(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package: it imports the module that has a name when the name is first asked for.

    `homes` is {name: module in the package}; a name that is a module itself is its own home. So a process that only
    calls kernels does not load files that it has no use for.
    """

    def __getattr__(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module = import_module(f"{package}.{homes[name]}")
        return module if homes[name].rpartition(".")[2] == name else getattr(module, name)

    return __getattr__
