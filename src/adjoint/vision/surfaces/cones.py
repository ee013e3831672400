"""Generalized cones: the surfaces that a cross section sweeps along a spine.

A generalized cone is the volume described by a planar cross section that is translated along a space curve, its spine,
held at a constant angle to it, and transformed according to a sweeping rule: Fu, Gonzalez & Lee, "Robotics" (1987),
§8.4.4; Agin & Binford (1973). Here, the rule is a scale that is piecewise linear along the spine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...compile import kernel
from ...errors import ArgumentError
from ...lie import se3
from ...model.input_checks import count, floats, positive
from .spines import Spine

__all__ = [
    "ConeMesh", "ConePoints", "GeneralizedCone", "circle_section", "cone_mesh", "cone_points", "cone_volume",
    "ring_section", "swept_point",
]  # fmt: skip


def circle_section(radius: float, *, points: int = 64) -> np.ndarray:
    """A circle as a polygon (points, 2), counter-clockwise, whose area is that of the circle.

    >>> circle_section(0.1, points=4).shape
    (4, 2)
    """
    radius = positive(radius, "circle_section: radius")
    if count(points, "circle_section: points") < 3:
        raise ArgumentError(f"circle_section: 3 points are needed at least, got {points}")
    angle = 2 * np.pi / points * np.arange(points)
    fit = np.sqrt(2 * np.pi / points / np.sin(2 * np.pi / points))  # of radii: the areas are equal
    return fit * radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def ring_section(inner: float, outer: float, *, points: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """A ring between two radii: its outer circle, and its inner one, which is a hole.

    >>> [loop.shape for loop in ring_section(0.1, 0.2)]
    [(64, 2), (64, 2)]
    """
    inner, outer = positive(inner, "ring_section: inner"), positive(outer, "ring_section: outer")
    if not inner < outer:
        raise ArgumentError(f"ring_section: radii 0 < inner < outer are needed, got {inner} and {outer}")
    return circle_section(outer, points=points), circle_section(inner, points=points)[::-1]


@dataclass(frozen=True, eq=False)
class GeneralizedCone:
    """A generalized cone: a cross `section` on a `spine`, with a sweeping rule and an angle.

    - `section` is a polygon (m, 2) [m], or several of them: the outline first, and then holes. The orientation of
      polygons does not matter; the outline becomes counter-clockwise, and holes clockwise.
    - `spine` is a `Spine`: sections lie in the x-y planes of its frames.
    - `knots` (k,), from 0 to 1, and `scales` (k,): the section is enlarged by `scales` at these parameters of the
      spine, and linearly between them. Two equal scales hold the section constant.
    - `angle` [rad] between the plane of the section and the spine: π/2 is a right cone; sections are turned about
      their x axis.

    A hollow cylinder, and one whose diameter grows from the middle on:

        >>> from adjoint.vision.surfaces.spines import straight_spine
        >>> spine = straight_spine((0, 0, 0), (0, 0, 1))
        >>> tube = GeneralizedCone(ring_section(0.1, 0.2), spine)
        >>> horn = GeneralizedCone(ring_section(0.1, 0.2), spine, knots=(0, 0.5, 1), scales=(1, 1, 2))
    """

    section: tuple[np.ndarray, ...]
    spine: Spine
    knots: np.ndarray = (0.0, 1.0)  # type: ignore[assignment]
    scales: np.ndarray = (1.0, 1.0)  # type: ignore[assignment]
    angle: float = np.pi / 2

    def __post_init__(self):
        if not isinstance(self.spine, Spine):
            raise ArgumentError("GeneralizedCone: spine must be a Spine, as straight_spine makes one")
        knots, scales = floats(self.knots), floats(self.scales)
        scales = np.full(knots.shape, scales) if scales.ndim == 0 else scales
        rising = knots.ndim == 1 and len(knots) >= 2 and (np.diff(knots) > 0).all() and knots[0] == 0 and knots[-1] == 1
        if not rising:
            raise ArgumentError("GeneralizedCone: knots must rise from 0 to 1")
        if scales.shape != knots.shape or not (np.isfinite(scales) & (scales >= 0)).all():
            raise ArgumentError(f"GeneralizedCone: scales must be {knots.shape} numbers, finite, 0 or more")
        if not positive(self.angle, "GeneralizedCone: angle") < np.pi:
            raise ArgumentError(f"GeneralizedCone: angle is {self.angle}; it must be between 0 and π")
        object.__setattr__(self, "section", _loops(self.section))
        object.__setattr__(self, "knots", knots)
        object.__setattr__(self, "scales", scales)

    def scale(self, t) -> np.ndarray:
        """The scale of the section at parameters t of the spine."""
        return np.interp(t, self.knots, self.scales)

    def __repr__(self) -> str:
        corners = " + ".join(str(len(loop)) for loop in self.section)
        return f"<GeneralizedCone: section with {corners} corners on {self.spine!r}>"


def _loops(section) -> tuple[np.ndarray, ...]:
    several = isinstance(section, tuple | list) and len(section) > 0 and np.ndim(section[0]) == 2
    given = section if several else (section,)
    loops = []
    for k, loop in enumerate(given):
        loop = floats(loop)
        if loop.ndim != 2 or loop.shape[1:] != (2,) or len(loop) < 3 or not np.isfinite(loop).all():
            raise ArgumentError(f"GeneralizedCone: polygon {k} of the section must be finite (m, 2), 3 points at least")
        size = _area(loop)
        if not abs(size) > 0:
            raise ArgumentError(f"GeneralizedCone: polygon {k} of the section has no area")
        loops.append(loop if (size > 0) == (k == 0) else loop[::-1])
    return tuple(loops)


def _area(loop: np.ndarray) -> float:
    """The area of a polygon, negative if it is clockwise."""
    x, y = loop.T
    return float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2)


# --- points -----------------------------------------------------------------------------------------------------------


class ConePoints(NamedTuple):
    """Points (..., 3) [m] of a surface, and its unit normals (..., 3) there, which point out of the volume."""

    points: np.ndarray
    normals: np.ndarray


@kernel(frame=(4, 4), twist=6, corner=2, side=2)
def swept_point(frame, twist, tau, corner, side, scale, rate, angle):
    """The `ConePoints` of one point of a section that a screw motion sweeps.

    The `frame` T moves to T exp(τ ξ). A `corner` c (2,) of the section, on a line along `side` (2,), is enlarged by
    `scale`, which grows at the `rate` dscale/dτ, and lies in a plane at the `angle` to the spine:

        x(τ) = T exp(τ ξ) p,   p = scale · (c₀, c₁ sin α, c₁ cos α),   n ∝ ∂x/∂side × ∂x/∂τ.

        >>> found = swept_point(np.eye(4), [0, 0, 0, 0, 0, 1], 0.5, [1, 0], [0, 1], 1.0, 0.0, np.pi / 2)
        >>> found.points, found.normals
        (array([1. , 0. , 0.5]), array([1., 0., 0.]))
    """
    tilt = np.stack([1.0 + 0 * angle, np.sin(angle), np.cos(angle)])
    plane = np.stack([corner[0], corner[1], corner[1]]) * tilt
    along = scale * np.stack([side[0], side[1], side[1]]) * tilt
    p = scale * plane
    T = frame @ se3.exp(twist * tau)
    onward = np.cross(twist[:3], p) + twist[3:] + rate * plane
    n = np.cross(along, onward)
    size = np.sqrt(n @ n)
    normal = T[:3, :3] @ (n / np.where(size > 0, size, 1.0))
    return ConePoints(T[:3, :3] @ p + T[:3, 3], normal)


def cone_points(cone: GeneralizedCone, t, s, *, loop: int = 0) -> ConePoints:
    """Points and normals of the side of a `cone` at parameters `t` of its spine and `s` of its section.

        >>> from adjoint.vision.surfaces.spines import straight_spine
        >>> cone = GeneralizedCone(circle_section(0.1), straight_spine((0, 0, 0), (0, 0, 1)), scales=(1, 0))
        >>> cone_points(cone, 0.5, np.linspace(0, 1, 9)).points.shape
        (9, 3)

    Both go from 0 to 1 and broadcast; s counts the corners of the polygon number `loop` evenly. Each point is a sample
    of the kernel `swept_point`.
    """
    _need_cone(cone, "cone_points")
    if not 0 <= count(loop, "cone_points: loop") < len(cone.section):
        raise ArgumentError(f"cone_points: there is no polygon {loop}; the section has {len(cone.section)}")
    t, s = floats(t), floats(s)
    if not (np.isfinite(t).all() and np.isfinite(s).all()):
        raise ArgumentError("cone_points: t and s must be finite numbers")
    try:
        t, s = np.broadcast_arrays(t, s)
    except ValueError:
        raise ArgumentError(f"cone_points: the shapes {t.shape} of t and {s.shape} of s do not broadcast") from None
    corners = cone.section[loop]
    sides = np.roll(corners, -1, axis=0) - corners
    along = s * len(corners)
    edge = np.clip(np.floor(along), 0, len(corners) - 1).astype(int)
    corner = corners[edge] + (along - edge)[..., None] * sides[edge]
    piece, tau = cone.spine.pieces(t)
    knot = np.clip(np.searchsorted(cone.knots, t, side="right") - 1, 0, len(cone.knots) - 2)
    rate = (np.diff(cone.scales) / np.diff(cone.knots))[knot] / len(cone.spine.frames)
    return swept_point(
        cone.spine.frames[piece], cone.spine.twists[piece], tau, corner, sides[edge], cone.scale(t), rate, cone.angle
    )


def _need_cone(cone, caller: str) -> None:
    if not isinstance(cone, GeneralizedCone):
        raise ArgumentError(f"{caller}: a GeneralizedCone is needed, got {type(cone).__name__}")


def cone_volume(cone: GeneralizedCone, *, along: int = 256) -> float:
    """The volume [m³] of a `cone`, by the divergence theorem on its mesh with so many sections `along` the spine.

    >>> from adjoint.vision.surfaces.spines import straight_spine
    >>> tube = GeneralizedCone(ring_section(0.1, 0.2), straight_spine((0, 0, 0), (0, 0, 1)))
    >>> round(cone_volume(tube) / (np.pi * (0.2**2 - 0.1**2)), 9)
    1.0
    """
    vertices, triangles = cone_mesh(cone, along=along)
    a, b, c = (vertices - vertices.mean(axis=0))[triangles].swapaxes(0, 1)
    return float(np.einsum("ki,ki->", a, np.cross(b, c)) / 6)


# --- meshes -----------------------------------------------------------------------------------------------------------


class ConeMesh(NamedTuple):
    """A closed surface of triangles: `vertices` (n, 3) [m], and `triangles` (m, 3), counter-clockwise from outside."""

    vertices: np.ndarray
    triangles: np.ndarray


def cone_mesh(cone: GeneralizedCone, *, along: int = 32) -> ConeMesh:
    """The `ConeMesh` of a `cone`: its sides between `along` + 1 sections, knots of the rule included, and both ends.

        >>> from adjoint.vision.surfaces.spines import straight_spine
        >>> square = GeneralizedCone([[0, 0], [1, 0], [1, 1], [0, 1]], straight_spine((0, 0, 0), (0, 0, 1)))
        >>> mesh = cone_mesh(square, along=1)
        >>> mesh.vertices.shape, mesh.triangles.shape
        ((10, 3), (16, 3))

    The ends of a section with one hole that has as many corners as the outline are strips between both; those of a
    section without a hole are fans about its centroid, which must see all corners. Other ends are an `ArgumentError`.
    """
    _need_cone(cone, "cone_mesh")
    if count(along, "cone_mesh: along") < 1:
        raise ArgumentError("cone_mesh: along must be 1 or more")
    t = np.union1d(np.linspace(0, 1, along + 1), cone.knots)
    vertices, triangles, first = [], [], 0
    rings = []
    for loop, corners in enumerate(cone.section):
        m = len(corners)
        points = cone_points(cone, t[:, None], np.arange(m) / m, loop=loop).points
        number = first + np.arange(len(t) * m).reshape(len(t), m)
        a, b = number[:-1], np.roll(number, -1, axis=1)[:-1]
        c, d = np.roll(number, -1, axis=1)[1:], number[1:]
        triangles += [np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([a, c, d], axis=-1).reshape(-1, 3)]
        vertices.append(points.reshape(-1, 3))
        rings.append(number)
        first += number.size
    ends, middles = _ends(cone, rings, first)
    return ConeMesh(np.concatenate([*vertices, middles]), np.concatenate([*triangles, *ends]))


def _ends(cone: GeneralizedCone, rings: list[np.ndarray], first: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Triangles of both ends, and the vertices in their middle, if there are any."""
    if len(rings) == 2 and rings[0].shape == rings[1].shape:
        # Corners of outline and hole run in opposite orders; the strip joins nearest ones.
        outline, hole = cone.section[0], cone.section[1][::-1]
        turn = int(np.argmin(np.linalg.norm(hole - outline[0], axis=1)))
        triangles = []
        for row, way in ((0, -1), (-1, 1)):
            o, h = rings[0][row], np.roll(rings[1][row][::-1], -turn)
            o2, h2 = np.roll(o, -1), np.roll(h, -1)
            triangles += [np.stack([o, o2, h2], axis=1)[:, ::way], np.stack([o, h2, h], axis=1)[:, ::way]]
        return triangles, np.zeros((0, 3))
    corners = cone.section[0]
    x, y = corners.T
    wedge = x * np.roll(y, -1) - y * np.roll(x, -1)
    middle = ((corners + np.roll(corners, -1, axis=0)) * wedge[:, None]).sum(axis=0) / (3 * wedge.sum())
    away = corners - middle
    seen = away[:, 0] * np.roll(away[:, 1], -1) - away[:, 1] * np.roll(away[:, 0], -1) > 0
    if len(rings) > 1 or not seen.all():
        raise ArgumentError(
            "cone_mesh: ends are made for sections that their centroid sees, or with one hole like the outline"
        )
    both = cone.scale([0, 1])[:, None] * np.stack([middle * [1, np.sin(cone.angle)]] * 2)
    local = np.column_stack([both, cone.scale([0, 1]) * middle[1] * np.cos(cone.angle), np.ones(2)])
    points = np.einsum("kij,kj->ki", cone.spine.at(np.array([0.0, 1.0])), local)[:, :3]
    triangles = []
    for k, (row, way) in enumerate(((0, -1), (-1, 1))):
        ring = rings[0][row]
        triangles.append(np.stack([np.full(len(ring), first + k), ring, np.roll(ring, -1)], axis=1)[:, ::way])
    return triangles, points


def __dir__() -> list[str]:
    return __all__
