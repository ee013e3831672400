"""Properties that are computed once."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING

__all__ = ["cached_property"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):
        """Python's own, without the lock it had before 3.12: in a forked child nobody opens one that was shut.

        Two threads may compute a value at the same time; the first one is kept.
        """

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            known = instance.__dict__
            if self.attrname not in known:
                known.setdefault(self.attrname, self.func(instance))
            return known[self.attrname]
