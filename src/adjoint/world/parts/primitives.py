"""The makers of primitive parts: cuboids, cylinders, wedges, cones, balls, laminations and solids of revolution."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...sensing.scene.scene_checks import number
from .outlines import outline_of
from .part_trees import DENSITY, Part

__all__ = ["cone", "cuboid", "cylinder", "hemisphere", "lamination", "revolution", "sphere", "wedge"]

_RATIO = 1e9  # of the largest to the least size of a primitive; beyond it a solid is a sheet or a wire


def _lengths(who: str, **sizes) -> list[float]:
    """Sizes [m] above 0 of a solid that is neither a sheet nor a wire."""
    found = [number(value, name, who, least=0, above=True) for name, value in sizes.items()]
    if max(found) > _RATIO * min(found) or not 1e-9 < min(found) <= max(found) < 1e9:
        raise ArgumentError(
            f"{who}: sizes must be from 1e-9 to 1e9 m and within a factor 1e9 of each other, got {found}"
        )
    return found


def _facets(value, who: str, least: int = 3) -> int | None:
    if value is None:
        return None
    try:
        found = operator.index(value)
    except TypeError:
        found = 0
    if not least <= found <= 1024:
        raise ArgumentError(f"{who}: 'facets' must be a whole number from {least} to 1024, or None, got {value!r:.40}")
    return found


def _part(kind: str, values: list, at, name: str, density: float, colour) -> Part:
    return Part(kind=kind, values=tuple(values), T_part_solid=at, name=name, density=density, colour=colour)


def cuboid(
    x: float, y: float, z: float, *, at=None, name: str = "", density: float = DENSITY, colour: Any = 0.7
) -> Part:
    """A cuboid with edges x, y, z [m] along the axes; the origin is its centre.

        >>> cuboid(0.1, 0.2, 0.3).features["top"]
        <Feature 'top': face at (0, 0, 0.15) along (0, 0, 1)>

    Its faces are "top" and "bottom" (±z), "front" and "back" (∓y), "left" and "right" (∓x); its edges and vertices are
    named after their faces in this order: "top-front", "top-front-left". As for all primitives, `at` (4, 4) or (3,)
    places it, `density` is in kg/m³, and `colour` is a gray or (red, green, blue) from 0 to 1.
    """
    return _part("cuboid", _lengths("cuboid", x=x, y=y, z=z), at, name, density, colour)


def cylinder(
    radius: float,
    height: float,
    facets: int | None = None,
    *,
    at=None,
    name: str = "",
    density: float = DENSITY,
    colour: Any = 0.7,
) -> Part:
    """A cylinder of a `radius` and a `height` [m] along z; the origin is its centre.

        >>> cylinder(0.01, 0.1).features["shaft"].radius
        0.01

    With `facets` it is a prism of that many sides, whose corners are on the cylinder and the first of them on the x
    axis: the polyhedra of GDP, of the volume n/2 r² sin(2π/n) h. Without, it is round. Its features are "top",
    "bottom", "shaft", and the sides "side0", "side1", ... of a prism.
    """
    values = [*_lengths("cylinder", radius=radius, height=height), _facets(facets, "cylinder")]
    return _part("cylinder", values, at, name, density, colour)


def wedge(
    x: float, y: float, z: float, *, at=None, name: str = "", density: float = DENSITY, colour: Any = 0.7
) -> Part:
    """Half of a cuboid with edges x, y, z [m]: below the plane through its edges at the top left and the bottom right.

        >>> wedge(0.2, 0.1, 0.1).features["slope"].axis.round(4)
        array([0.4472, 0.    , 0.8944])

    The origin is the centre of the cuboid. The faces are "bottom" (-z), "left" (-x), "front" and "back" (∓y) and
    "slope"; edges and vertices are named after them.
    """
    return _part("wedge", _lengths("wedge", x=x, y=y, z=z), at, name, density, colour)


def cone(
    radius: float,
    height: float,
    top_radius: float = 0.0,
    facets: int | None = None,
    *,
    at=None,
    name: str = "",
    density: float = DENSITY,
    colour: Any = 0.7,
) -> Part:
    """A cone about z of a `radius` at its bottom, a `top_radius` (0: a tip) and a `height` [m].

        >>> cone(0.05, 0.1).features["tip"].origin
        array([0.  , 0.  , 0.05])

    The origin is on the axis in the middle of the height. Its features are "bottom", and "top" or the vertex "tip".
    """
    sizes = _lengths("cone", radius=radius, height=height)
    top = number(top_radius, "top_radius", "cone", least=0)
    if top > 0:
        _lengths("cone", radius=radius, height=height, top_radius=top_radius)
    return _part("cone", [*sizes, top, _facets(facets, "cone")], at, name, density, colour)


def sphere(
    radius: float, facets: int | None = None, *, at=None, name: str = "", density: float = DENSITY, colour: Any = 0.7
) -> Part:
    """A ball of a `radius` [m] about the origin. Its feature is "sphere".

    >>> sphere(0.05).features["sphere"].kind
    'sphere'
    """
    values = [*_lengths("sphere", radius=radius), _facets(facets, "sphere", 4)]
    return _part("sphere", values, at, name, density, colour)


def hemisphere(
    radius: float, facets: int | None = None, *, at=None, name: str = "", density: float = DENSITY, colour: Any = 0.7
) -> Part:
    """The half z ≥ 0 of a ball of a `radius` [m] about the origin. Its features are "bottom" and "dome".

    >>> hemisphere(0.05).features["bottom"]
    <Feature 'bottom': face at (0, 0, 0) along (0, 0, -1)>
    """
    values = [*_lengths("hemisphere", radius=radius), _facets(facets, "hemisphere", 4)]
    return _part("hemisphere", values, at, name, density, colour)


def lamination(
    outline, thickness: float, *, at=None, name: str = "", density: float = DENSITY, colour: Any = 0.7
) -> Part:
    """A plate with an `outline` (k, 2) [m] in x and y, from z = -thickness/2 to z = thickness/2.

        >>> bracket = lamination([[0, 0], [0.1, 0], [0.1, 0.02], [0.02, 0.02], [0.02, 0.1], [0, 0.1]], 0.03)

    The outline may go either way round and need not be convex, but must not cross itself; holes are cut by
    `difference`. Corners on a straight line between their neighbours are left out. Its faces are "top", "bottom", and
    "side0" from the first corner to the second (counterclockwise), and so on.
    """
    points = outline_of(outline, "lamination")
    _lengths("lamination", thickness=thickness, width=np.ptp(points, axis=0).max())
    values = [points, number(thickness, "thickness", "lamination", least=0, above=True)]
    return _part("lamination", values, at, name, density, colour)


def revolution(
    outline, facets: int | None = None, *, at=None, name: str = "", density: float = DENSITY, colour: Any = 0.7
) -> Part:
    """What an `outline` (k, 2) [m] of points (radius, height) sweeps when it turns about z.

        >>> ring = revolution([[0.02, 0], [0.03, 0], [0.03, 0.01], [0.02, 0.01]])

    The outline is a closed polygon with radii of 0 or more, either way round. Where it touches the axis, it must do so
    with a whole side. Level sides are faces, sides parallel to the axis shafts or holes, all with the number of the
    side, counted counterclockwise: "face0", "shaft1", "hole3", "hole3-far".
    """
    points = outline_of(outline, "revolution")
    if points[:, 0].min() < 0:
        raise ArgumentError(f"revolution: radii of 'outline' must be 0 or more, got {points[:, 0].min():g}")
    axis = points[:, 0] == 0
    alone = axis & ~np.roll(axis, 1) & ~np.roll(axis, -1)
    if alone.any():
        raise ArgumentError(
            f"revolution: corner {int(np.argmax(alone))} of 'outline' touches the axis alone, where the solid would "
            "touch itself; it must touch with a side, or not at all"
        )
    if axis.sum() > 2:
        raise ArgumentError(
            "revolution: 'outline' touches the axis with more than one side, where the solid would touch itself"
        )
    return _part("revolution", [points, _facets(facets, "revolution")], at, name, density, colour)
