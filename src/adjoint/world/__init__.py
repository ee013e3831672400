"""A world to work in: parts, frames and what is attached to what; relations, motion plans and grasps.

A `World` never changes: every edit gives a new one. Lengths are in m and angles in rad; `si` converts others. The
packages that parts and exact checks call (trimesh, manifold3d, coal) are the extra `adjoint[world]`.

| where | what |
|---|---|

"""

from typing import TYPE_CHECKING

from ..lazy import later, suggesting

if TYPE_CHECKING:
    pass

# Where each name is defined: a file or folder is loaded when one of its names is first used. A test keeps this table and
# the imports above, which editors and type checkers read, the same.
_HOMES = {}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]

if not TYPE_CHECKING:
    __getattr__ = later(__name__, _HOME_OF | {home: home for home in _HOMES}, suggesting(__all__))


def __dir__() -> list[str]:
    return __all__
