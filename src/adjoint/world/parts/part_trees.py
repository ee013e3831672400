"""`Part`: a tree of primitives, placements and booleans, as frozen data; and the three booleans."""

from __future__ import annotations

import dataclasses
import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ArgumentError, nearest
from ...lazy import cached_property
from ...sensing.scene.scene_checks import colour_of, number, pose
from ..features import Feature
from .part_features import features_of
from .part_meshes import mesh_of
from .primitive_kinds import KINDS
from .sweeps import PartMesh, is_identity

__all__ = ["DENSITY", "Part", "difference", "intersection", "union"]

DENSITY = 1000.0  # kg/m³, of water
_MOST_LEAVES, _MOST_DEPTH = 10_000, 100
_EYE = np.eye(4)
_EYE.setflags(write=False)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Part:
    """A solid part: a primitive, or a union, intersection or difference of parts, at a place, of some material.

        >>> block = aj.world.cuboid(0.08, 0.04, 0.03, name="block") - aj.world.cylinder(0.005, 0.1)
        >>> block.kind, sorted(block.features)[:3]
        ('difference', ['back', 'back-left', 'back-right'])

    `cuboid`, `cylinder`, `wedge`, `cone`, `sphere`, `hemisphere`, `lamination`, `revolution` and `mesh_part` make
    primitives; `a | b`, `a & b` and `a - b` (`union`, `intersection`, `difference`) combine them. Parts never change.
    Two parts are equal if their trees and all their numbers are; meshes, features and masses of equal parts are
    computed once.

    - `kind` is the name of a primitive, or "union", "intersection" or "difference" of the `operands`.
    - `sizes` are the numbers of a primitive by name.
    - `T_part_solid` (4, 4) is where the solid stands in the frame of the part; `at` changes it.
    - `name` goes before the names of its features when the part is an operand: "head.top".
    - `density` is in kg/m³; NaN for a union of parts of several densities.
    - `colour` (3,) is red, green and blue from 0 to 1.
    """

    kind: str
    values: tuple = ()
    operands: tuple[Part, ...] = ()
    T_part_solid: Any = None
    name: str = ""
    density: float = DENSITY
    colour: Any = 0.7
    added: tuple[Feature, ...] = ()

    def __post_init__(self):
        self._set(
            T_part_solid=_EYE if self.T_part_solid is None else pose(self.T_part_solid, "at", self.kind),
            name=_name(self.name, self.kind),
            colour=colour_of(self.colour, "colour", self.kind),
        )
        if not self.operands or not np.isnan(self.density):
            self._set(density=number(self.density, "density", self.kind, least=0, above=True))
        leaves = sum(p.leaves for p in self.operands) or 1
        depth = 1 + max((p.depth for p in self.operands), default=0)
        if leaves > _MOST_LEAVES or depth > _MOST_DEPTH:
            raise ArgumentError(
                f"{self.kind}: the part would have {leaves} primitives in {depth} levels; "
                f"at most {_MOST_LEAVES} in {_MOST_DEPTH} levels are allowed"
            )
        self._set(leaves=leaves, depth=depth)

    def _set(self, **values) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    leaves = 1  # how many primitives the tree has
    depth = 1  # how many levels the tree has

    @property
    def sizes(self) -> dict[str, Any]:
        """The numbers of a primitive by name [m]; of a union, intersection or difference none."""
        return dict(zip(KINDS[self.kind].sizes, self.values, strict=True)) if self.kind in KINDS else {}

    # --- the same part, a little different ----------------------------------------------------------------------------

    def at(self, T) -> Part:
        """The part moved by the pose T (4, 4), or by the position T (3,): x ↦ T x.

        >>> aj.world.cuboid(1, 1, 1).at([0, 0, 0.5]).features["bottom"].origin
        array([0., 0., 0.])
        """
        T = pose(T, "T", "Part.at")
        moved = T @ self.T_part_solid
        return dataclasses.replace(self, T_part_solid=moved, added=tuple(f.at(T) for f in self.added))

    def named(self, name: str) -> Part:
        """The part with another name, which goes before the names of its features in a union: "head.top"."""
        return dataclasses.replace(self, name=name)

    def with_density(self, density: float) -> Part:
        """The part of a material of another `density` [kg/m³], with all its operands."""
        density = number(density, "density", "Part.with_density", least=0, above=True)
        operands = tuple(p.with_density(density) for p in self.operands)
        return dataclasses.replace(self, density=density, operands=operands)

    def with_colour(self, colour) -> Part:
        """The part in another colour (3,), red, green and blue from 0 to 1, with all its operands."""
        operands = tuple(p.with_colour(colour) for p in self.operands)
        return dataclasses.replace(self, colour=colour, operands=operands)

    def with_feature(self, name: str, kind: str, T, **sizes) -> Part:
        """The part with one more feature, or another one of that name: a `Feature` with the frame T (4, 4) in the part.

            >>> part = aj.world.cuboid(0.1, 0.1, 0.1).with_feature("grip", "vertex", [0, 0, 0.05])
            >>> part.features["grip"]
            <Feature 'grip': vertex at (0, 0, 0.05) along (1, 0, 0)>

        `sizes` are `radius`, `length` and `outline` of the `Feature`. What the user adds stays through unions and
        differences without a check; it goes when the part itself is cut away from another.
        """
        feature = Feature(name, kind, T, **sizes)
        return dataclasses.replace(self, added=(*(f for f in self.added if f.name != name), feature))

    @cached_property
    def standing(self) -> Part:
        """The solid alone: without a placement, a name and added features. What is computed for it holds for all."""
        if is_identity(self.T_part_solid) and not self.name and not self.added:
            return self
        return dataclasses.replace(self, T_part_solid=None, name="", added=())

    # --- what it is made of -------------------------------------------------------------------------------------------

    @property
    def mesh(self) -> PartMesh:
        """The closed surface (vertices (k, 3) [m], faces (m, 3)), in the frame of the part.

        Round surfaces have 64 facets around with their corners on the surface: a circle of the radius r is at most
        r (1 - cos(π/64)) = 0.0012 r away. Booleans need manifold3d, of the extra `adjoint[world]`.
        """
        return mesh_of(self)

    @property
    def features(self) -> dict[str, Feature]:
        """The features {name: `Feature`} that are on the surface of the part, in its frame; see `docs/parts.md`."""
        return dict(features_of(self))

    def feature(self, name: str) -> Feature:
        """The feature of this name, or an `ArgumentError` with names that are like it."""
        found = features_of(self)
        if name not in found:
            of = f" '{self.name}'" if self.name else ""
            raise ArgumentError(f"the part{of} has no feature {name!r:.60}; {nearest(name, list(found))}")
        return found[name]

    # --- equality -----------------------------------------------------------------------------------------------------

    @cached_property
    def digest(self) -> bytes:
        """16 bytes that are equal for equal parts, in every process, and differ for others."""
        mill = hashlib.blake2b(digest_size=16)
        texts = [self.kind, self.name, *(repr(f._key()) for f in self.added)]
        pieces = [text.encode() for text in texts] + [_bytes(v) for v in self.values]
        pieces += [_bytes(self.T_part_solid), _bytes(self.density), _bytes(self.colour)]
        for piece in [*pieces, *(p.digest for p in self.operands)]:
            mill.update(struct.pack("<q", len(piece)) + piece)
        return mill.digest()

    def __eq__(self, other) -> bool:
        return self.digest == other.digest if isinstance(other, Part) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __or__(self, other) -> Part:
        return union(self, other) if isinstance(other, Part) else NotImplemented

    def __and__(self, other) -> Part:
        return intersection(self, other) if isinstance(other, Part) else NotImplemented

    def __sub__(self, other) -> Part:
        return difference(self, other) if isinstance(other, Part) else NotImplemented

    def __repr__(self) -> str:
        named = f" '{self.name}'" if self.name else ""
        if self.operands:
            return f"<Part{named}: {self.kind} of {len(self.operands)} parts>"
        shown = (f"{k}={_shown(v)}" for k, v in self.sizes.items() if v is not None)
        return f"<Part{named}: {self.kind} {', '.join(shown)}>"


def _name(name, who: str) -> str:
    if not isinstance(name, str) or len(name) > 200:
        raise ArgumentError(f"{who}: 'name' must be a string of at most 200 characters, got {name!r:.60}")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ArgumentError(f"{who}: 'name' has characters that are no text: {name!r:.60}") from None
    return name


def _bytes(value) -> bytes:
    """Bytes that are equal for equal sizes: numbers, arrays, or None."""
    if value is None:
        return b"none"
    value = np.asarray(value) + 0  # 0 in the place of -0
    return f"{value.dtype.kind}{value.shape}".encode() + value.tobytes()


def _shown(value) -> str:
    return f"{np.shape(value)}" if np.ndim(value) else f"{value:.6g}"


# --- booleans ---------------------------------------------------------------------------------------------------------


def union(a: Part, b: Part, *, at=None, name: str = "") -> Part:
    """Everything that belongs to `a` or to `b`, which is first moved by the pose `at` (4, 4) or (3,); also `a | b`.

        >>> bolt = union(aj.world.cylinder(0.25, 1, facets=16), aj.world.cylinder(0.45, 0.3, facets=6), at=[0, 0, 0.65])
        >>> bolt
        <Part: union of 2 parts>

    Where both are and their densities differ, `a` prevails: as if `b` had been pressed into place around it. The frame
    is that of `a`; Fu, Gonzalez & Lee (1987), Table 9.8, whose MERGE lacks the placement.
    """
    return _combined("union", a, b, at, name)


def intersection(a: Part, b: Part, *, at=None, name: str = "") -> Part:
    """What belongs to both `a` and `b`, which is first moved by the pose `at` (4, 4) or (3,); also `a & b`.

        >>> lens = intersection(aj.world.sphere(1), aj.world.sphere(1), at=[1.5, 0, 0])

    The material is that of `a`. An empty intersection is refused when its mesh is needed.
    """
    return _combined("intersection", a, b, at, name)


def difference(a: Part, b: Part, *, at=None, name: str = "") -> Part:
    """What belongs to `a` and not to `b`, which is first moved by the pose `at` (4, 4) or (3,); also `a - b`.

    >>> plate = difference(aj.world.cuboid(0.1, 0.1, 0.01), aj.world.cylinder(0.02, 0.02), at=[0.01, 0, 0])
    >>> plate.features["hole"]
    <Feature 'hole': hole at (0.01, 0, 0.005) along (0, 0, 1)>
    """
    return _combined("difference", a, b, at, name)


def _combined(kind: str, a: Part, b: Part, at, name: str) -> Part:
    for which, part in (("first", a), ("second", b)):
        if not isinstance(part, Part):
            raise ArgumentError(f"{kind}: the {which} argument must be a Part, got {type(part).__name__}")
    b = b if at is None else b.at(pose(at, "at", kind))
    if kind == "difference":  # a block with a hole is still the block, and its top is "top"
        name, a = name or a.name, a.named("")
    # A chain such as a | b | c is one node of three operands, so that long chains are not deep.
    plain = a.kind == kind and not a.name and not a.added and is_identity(a.T_part_solid)
    operands = (*a.operands, b) if plain else (a, b)
    return combined(kind, operands, name=name)


def combined(kind: str, operands: Sequence[Part], *, at=None, name: str = "") -> Part:
    """The union, intersection or difference of parts as one node, with the material of those that make it."""
    material = {p.density for p in (operands if kind == "union" else operands[:1])}
    density = material.pop() if len(material) == 1 else np.nan
    return Part(
        kind=kind, operands=tuple(operands), T_part_solid=at, name=name, density=density, colour=operands[0].colour
    )
