"""Ready robots: `from adjoint.robots import puma560`; see `adjoint.robot.catalog`."""

from .robot import catalog as _catalog
from .robot.catalog import chain as chain
from .robot.catalog import park3r as park3r
from .robot.catalog import planar as planar
from .robot.catalog import puma560 as puma560
from .robot.catalog import random_tree as random_tree
from .robot.catalog import scara as scara
from .robot.catalog import stanford as stanford
from .robot.catalog import two_link as two_link


def __getattr__(name: str):
    ready = ", ".join(_catalog.__all__)
    raise AttributeError(f"the catalog has no robot {name!r}; it has {ready}. adjoint.load reads others from files")
