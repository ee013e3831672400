"""Relations between features, as frozen data: `against`, `fits`, `coplanar`, `aligned`, `on`, `in_` and their kin.

A relation names two features, such as "peg.bottom" and "block.top", or is given a `Feature` that is fixed in the world.
It says nothing of poses: `placements` finds those that fulfil it. Fu, Gonzalez & Lee (1987), Sec. 10.9.1, after Ambler
& Popplestone (1975).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ArgumentError, nearest
from ...sensing.scene.scene_checks import number, pose
from ..features import Feature

__all__ = [
    "Relation",
    "against",
    "aligned",
    "at_angle",
    "at_distance",
    "centred",
    "coincident",
    "coplanar",
    "fits",
    "fixed_at",
    "in_",
    "on",
    "parallel",
    "perpendicular",
]

Named = str | Feature
SENSES = ("same", "opposed", "either")


@dataclass(frozen=True, eq=False)
class Relation:
    """A relation between two features or parts; the functions of this module make it.

    - `kind` is its name, such as "against".
    - `first` and `second` are "part.feature", the name of a part, or a `Feature` whose frame is given in the world.
    - `value` is its distance [m] or angle [rad], NaN for relations without one.
    - `sense` is "same", "opposed" or "either" for relations that compare the senses of two x axes, and "" for others.
    - `T` has the sixteen numbers of the pose of `fixed_at`, row by row.

    Relations are equal and have equal hashes if all of these are equal. `str` says a relation in words.
    """

    kind: str
    first: Any
    second: Any
    value: float = math.nan
    sense: str = ""
    T: tuple[float, ...] = ()

    def __post_init__(self):
        for side in (self.first, self.second):
            if not isinstance(side, (str, Feature)) or side == "":
                what = "'part.feature', or a Feature that is fixed in the world"
                raise ArgumentError(f"{self.kind}: a side must be {what}, got {side!r:.60}")
        if isinstance(self.first, str) and self.first == self.second:
            raise ArgumentError(f"{self.kind}: '{self.first}' is related to itself; a relation needs two sides")
        if isinstance(self.first, Feature) and isinstance(self.second, Feature):
            both = f"'{self.first.name}' and '{self.second.name}'"
            raise ArgumentError(f"{self.kind}: {both} are both fixed in the world; one side must be a part's feature")

    @property
    def sides(self) -> tuple[str, str]:
        """The names of both sides; that of a `Feature` is its own."""
        return _called(self.first), _called(self.second)

    def _key(self) -> tuple:
        # NaN, which a relation without a value has, differs from itself.
        value = None if math.isnan(self.value) else self.value
        return self.kind, self.first, self.second, value, self.sense, self.T

    def __eq__(self, other) -> bool:
        return self._key() == other._key() if isinstance(other, Relation) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        a, b = self.sides
        if self.kind == "at_distance":
            return f"{a} at distance {_length(self.value)} from {b}"
        if self.kind == "at_angle":
            return f"{a} at angle {math.degrees(self.value):.6g}° to {b}"
        if self.kind == "fixed_at":
            return f"{a} fixed in {b}"
        joined = {"parallel": "parallel to", "perpendicular": "perpendicular to", "aligned": "aligned with"}
        joined |= {"coplanar": "coplanar with", "coincident": "coincident with", "centred": "centred on", "in_": "in"}
        return f"{a} {joined.get(self.kind, self.kind)} {b}"

    def __repr__(self) -> str:
        return f"<Relation: {self}>"


def _called(side: Named) -> str:
    return side.name if isinstance(side, Feature) else side


def _length(metres: float) -> str:
    return f"{metres:.6g} m" if abs(metres) >= 0.1 or metres == 0 else f"{1000 * metres:.6g} mm"


def _sense(sense, caller: str) -> str:
    if sense not in SENSES:
        raise ArgumentError(
            f"{caller}: sense must be 'same', 'opposed' or 'either', got {sense!r:.60}; {nearest(sense, SENSES)}"
        )
    return sense


def against(first: Named, second: Named) -> Relation:
    """The relation that two surfaces touch.

        >>> against("peg.bottom", "block.top")
        <Relation: peg.bottom against block.top>

    For faces with outward normals x and origins o this is x₁ = -x₂ and x₂·(o₁ - o₂) = 0, which leaves three freedoms.
    In column form, (10.9-1) with the word `trans` that the print lacks is

        T_A = T_B G trans(0, y, z) Rx(θ) M F⁻¹,      M = diag(-1, 1, -1, 1),

    with the frames F and G of the two faces in their parts; `against_pose` computes it. A ball or a shaft touches a
    face with its radius away from it, an edge lies in it, and a vertex is in its plane. Balls, shafts, edges and
    vertices touch each other at the sum of their radii (0 for edges and vertices); shafts touch along a line.
    """
    return Relation("against", first, second)


def coplanar(first: Named, second: Named) -> Relation:
    """The relation that two faces lie in one plane and look to the same side: x₁ = x₂ and x₂·(o₁ - o₂) = 0.

    >>> coplanar("block.top", "bracket.top")
    <Relation: block.top coplanar with bracket.top>
    """
    return Relation("coplanar", first, second)


def aligned(first: Named, second: Named, *, sense: str = "either") -> Relation:
    """The relation that the axes of two shafts, holes or edges lie on one line.

        >>> aligned("peg.shaft", "block.hole")
        <Relation: peg.shaft aligned with block.hole>

    `sense` says whether the axes point the "same" way, "opposed" ways, or "either".
    """
    return Relation("aligned", first, second, sense=_sense(sense, "aligned"))


def fits(first: Named, second: Named) -> Relation:
    """The relation that a shaft fits a hole, or a ball fits a socket or a hole.

        >>> fits("peg.shaft", "block.hole")
        <Relation: peg.shaft fits block.hole>

    The axes of shaft and hole lie on one line with opposed senses, since the axis of a shaft points out of its free end
    and that of a hole out of its mouth; the part may turn and slide. The centre of a ball is that of its socket, or on
    the axis of the hole. A shaft or ball that is thicker than its hole is refused with an error that tells by how much.
    `pose_bounds` takes the clearance, the difference of the radii, as play.
    """
    return Relation("fits", first, second)


def on(first: Named, second: Named) -> Relation:
    """The relation that a face is against another face and the middle of its outline is inside of the other's outline.

        >>> on("cup.bottom", "table.top")
        <Relation: cup.bottom on table.top>

    The second face needs an outline; where this is not convex, its convex hull counts.
    """
    return Relation("on", first, second)


def in_(first: Named, second: Named) -> Relation:
    """The relation that a shaft is in a hole, a ball in a hole, or a part in a box.

        >>> in_("peg.shaft", "block.hole"), in_("cup", "crate")
        (<Relation: peg.shaft in block.hole>, <Relation: cup in crate>)

    A shaft or ball in a hole `fits` it, and the end of the shaft or the centre of the ball is between the mouth and the
    bottom of the hole. Both sides may be names of parts: then all corners of the first part are inside of the smallest
    box along the axes of the second part that has the second part in it.
    """
    return Relation("in_", first, second)


def parallel(first: Named, second: Named, *, sense: str = "either") -> Relation:
    """The relation that two faces, two axes, or an axis and a face are parallel.

        >>> parallel("peg.shaft", "block.side")
        <Relation: peg.shaft parallel to block.side>

    Faces are parallel if their normals are. `sense` is for two faces or two axes: "same", "opposed" or "either".
    """
    return Relation("parallel", first, second, sense=_sense(sense, "parallel"))


def perpendicular(first: Named, second: Named) -> Relation:
    """The relation that two faces, two axes, or an axis and a face make a right angle.

    >>> perpendicular("peg.shaft", "block.top")
    <Relation: peg.shaft perpendicular to block.top>
    """
    return Relation("perpendicular", first, second)


def at_distance(first: Named, second: Named, distance: float, *, sense: str | None = None) -> Relation:
    """The relation that two features are at a `distance` [m] from each other.

        >>> at_distance("lid.bottom", "box.top", 0.002)
        <Relation: lid.bottom at distance 2 mm from box.top>

    - Two faces are parallel, with normals that are "opposed" (the default), the "same" or "either"; the origin of the
      first is that far along the normal of the second. Seen from a face, points and axes are that far along its normal,
      and axes are parallel to it. These distances have signs.
    - Two axes are parallel ("either" is the default); a point (a vertex or the centre of a ball) and an axis, and two
      points, are at that distance, which is at least 0.
    """
    value = number(distance, "distance", "at_distance")
    return Relation("at_distance", first, second, value, "" if sense is None else _sense(sense, "at_distance"))


def at_angle(first: Named, second: Named, angle: float) -> Relation:
    """The relation that the x axes of two features make an `angle` [rad] from 0 to π: x₁·x₂ = cos(angle).

    >>> at_angle("lid.edge", "box.edge", np.pi / 3)
    <Relation: lid.edge at angle 60° to box.edge>
    """
    return Relation("at_angle", first, second, number(angle, "angle", "at_angle", least=0, most=np.pi))


def centred(first: Named, second: Named) -> Relation:
    """The relation that the middle of one feature lies on the normal or axis through the middle of the second.

        >>> centred("lid.bottom", "box.top")
        <Relation: lid.bottom centred on box.top>

    The middle of a face is the centroid of its outline, or its origin without an outline; that of others is the origin.
    It takes two freedoms, and is commonly used beside `against`.
    """
    return Relation("centred", first, second)


def coincident(first: Named, second: Named) -> Relation:
    """The relation that points, lines or planes lie in each other, whatever their senses and radii are.

        >>> coincident("pin.tip", "plate.corner")
        <Relation: pin.tip coincident with plate.corner>

    Points are vertices and the centres of balls, lines are edges and the axes of shafts and holes, planes are faces.
    Equal classes coincide; a point lies on a line or plane, and a line lies in a plane.
    """
    return Relation("coincident", first, second)


def fixed_at(part: str, T, *, relative_to: str = "world") -> Relation:
    """The relation that a part, or the frame of a feature, has the pose T (4, 4) in another part, feature or the world.

    >>> fixed_at("peg", [0, 0, 0.1], relative_to="block")
    <Relation: peg fixed in block>
    """
    return Relation("fixed_at", part, relative_to, T=tuple(pose(T, "T", "fixed_at").ravel().tolist()))


def __dir__() -> list[str]:
    return __all__
