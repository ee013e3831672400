"""Collisions and distances: robots as capsules and spheres against solids and themselves, as machine code.

Solids are those of `aj.sensing` (`Sphere`, `Box`, `Plane`, ...), `ConvexHull` and `HeightField`; so what a robot can hit
is what a camera can see. Distances are signed, in m: negative ones are depths of penetration.

| where | what |
|---|---|

"""

from typing import TYPE_CHECKING

from ..lazy import later, suggesting

if TYPE_CHECKING:
    pass

# Where each name is defined: a file is loaded when one of its names is first used. A test keeps this table and
# the imports above, which editors and type checkers read, the same.
_HOMES = {}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]

if not TYPE_CHECKING:
    __getattr__ = later(__name__, _HOME_OF | {home: home for home in _HOMES}, suggesting(__all__))


def __dir__() -> list[str]:
    return __all__
