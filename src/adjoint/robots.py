"""Robots that are ready to use, such as `adjoint.robots.puma560()`: arms of the literature, and families of any size.

- arms: `puma560`, `stanford`, `scara`, `gantry`, `two_link`, `park3r`;
- families: `planar(n)` and `chain(n)` of n equal rods, `random_tree(seed, n)` of n random joints.

Their functions are in `adjoint.model.catalog`.
"""

from typing import TYPE_CHECKING

from .model.catalog import chain as chain
from .model.catalog import gantry as gantry
from .model.catalog import park3r as park3r
from .model.catalog import planar as planar
from .model.catalog import puma560 as puma560
from .model.catalog import random_tree as random_tree
from .model.catalog import scara as scara
from .model.catalog import stanford as stanford
from .model.catalog import two_link as two_link

__all__ = ["chain", "gantry", "park3r", "planar", "puma560", "random_tree", "scara", "stanford", "two_link"]


if not TYPE_CHECKING:

    def __getattr__(name: str):
        ready = ", ".join(__all__)
        raise AttributeError(f"the catalog has no robot {name!r}; it has {ready}. adjoint.load reads others from files")


def __dir__() -> list[str]:
    return __all__
