"""`cached_property`: a property whose value is computed once for each object, without a lock."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING

__all__ = ["cached_property"]

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
