"""Solids of a scene that cover a part: what robots can hit and cameras can see."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...collision.collision_solids import ConvexHull
from ...errors import ArgumentError
from ...sensing.scene import Box, Cylinder, Solid, Sphere
from .convex_splitting import convex_pieces, is_convex
from .outlines import convex_polygons
from .part_meshes import is_round, manifold_of, mesh_of, region_of
from .part_trees import Part, difference
from .primitive_kinds import KINDS, closeness, round_profile
from .rings import covering_points
from .sweeps import PartMesh

__all__ = ["PartCover", "part_cover", "part_solids"]


class PartCover(NamedTuple):
    """Solids that cover a part.

    - `solids` are in the frame of the part, with its colours; they may overlap.
    - `exact` says whether they fill the part and nothing else (up to rounding).
    - `error` [m] says how far the surface of the solids is outside the surface of the primitives, at most.
    - `note` tells what is not exact, in words; it is empty if all is.
    """

    solids: tuple[Solid, ...]
    exact: bool
    error: float
    note: str


def part_solids(part: Part, *, facets: int = 16, most: int = 100) -> tuple[Solid, ...]:
    """Solids of a scene, in the frame of the part, that cover the part: what `Scene`, cameras and collisions take.

        >>> part_solids(cuboid(0.1, 0.2, 0.3) | sphere(0.1, at=[0, 0, 0.2]))
        (<Box at (0, 0, 0)>, <Sphere at (0, 0, 0.2)>)

    `part_cover` gives the same with its error, and explains how they are made.
    """
    return part_cover(part, facets=facets, most=most).solids


def part_cover(part: Part, *, facets: int = 16, most: int = 100) -> PartCover:
    """Convex solids that cover a part, with the error that they make.

        >>> cover = part_cover(cuboid(0.1, 0.1, 0.02) - cylinder(0.02, 0.1))
        >>> len(cover.solids), cover.exact, round(cover.error, 5)
        (16, False, 0.00038)

    Cuboids, round cylinders, balls and convex polyhedra are one exact solid each, and unions the solids of their parts.
    What has something cut away, or is an intersection, is split into convex pieces by the planes of the faces at its
    reflex edges; this is exact for polyhedra. Round surfaces have `facets` there, and in cones and solids of
    revolution, which touch the surface so that the solids cover the part: those of a radius r are off by at most
    r (1 / cos(π/n) - 1), and a round hole of the radius r by r (1 - cos(π/n)). A term that needs more than `most`
    pieces is covered by its convex hull, and `note` says so.
    """
    if not isinstance(part, Part):
        raise ArgumentError(f"part_cover: 'part' must be a Part, got {type(part).__name__}")
    for name, value, least in (("facets", facets, 6), ("most", most, 1)):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not least <= value <= 10_000:
            raise ArgumentError(f"part_cover: '{name}' must be a whole number from {least} to 10000, got {value!r:.40}")
    return _cover(part, int(facets), int(most))


@lru_cache(maxsize=256)
def _cover(part: Part, facets: int, most: int) -> PartCover:
    if part.kind in KINDS:
        cover = _primitive_cover(part, facets, most)
    elif part.kind == "union":
        cover = _together([_cover(p, facets, most) for p in part.operands])
    elif part.kind == "difference":
        mesh_of(part)  # an empty one is refused
        cover = _together([_term_cover(term, facets, most) for term in _terms(part.operands[0], part.operands[1:])])
    else:
        mesh_of(part)
        cover = _split_cover(_standing(part), facets, most)
    T = part.T_part_solid
    return cover._replace(solids=tuple(solid.at(T @ solid.T_world_solid) for solid in cover.solids))


def _together(covers: list[PartCover]) -> PartCover:
    notes = dict.fromkeys(c.note for c in covers if c.note)
    solids = tuple(solid for c in covers for solid in c.solids)
    return PartCover(
        solids, all(c.exact for c in covers), max((c.error for c in covers), default=0.0), "; ".join(notes)
    )


def _standing(part: Part) -> Part:
    """The part with its solid in the frame of the part."""
    return Part(kind=part.kind, values=part.values, operands=part.operands, density=part.density, colour=part.colour)


# --- primitives -------------------------------------------------------------------------------------------------------


def _primitive_cover(part: Part, facets: int, most: int) -> PartCover:
    """The solids of a primitive in its own frame."""
    kind, values, colour = part.kind, part.values, part.colour
    own = KINDS[kind].round and values[-1] is not None
    if kind == "cuboid":
        return _exact([Box(values, colour=colour)])
    if kind == "sphere" and not own:
        return _exact([Sphere(values[0], colour=colour)])
    if kind == "cylinder" and not own:
        return _exact([Cylinder(values[0], values[1], colour=colour)])
    if kind == "lamination":
        return _exact([_hull(_prism_points(values[0][p], values[1]), colour) for p in convex_polygons(values[0])])
    if kind in ("revolution", "cone") and not own:
        pieces = covering_points(round_profile(kind, values, facets), facets)
        error = _round_error(part, facets)
        return PartCover(tuple(_hull(p, colour) for p in pieces), False, error, _round_note(facets, error))
    if kind == "hemisphere" and not own:
        error = _round_error(part, 2 * facets)
        points = KINDS[kind].mesh(values, 2 * facets, "out").vertices
        return PartCover((_hull(points, colour),), False, error, _round_note(2 * facets, error))
    mesh: PartMesh = KINDS[kind].mesh(values, facets, "on")
    if kind in ("wedge", "cylinder", "cone", "sphere", "hemisphere"):
        return _exact([_hull(mesh.vertices, colour)])
    pieces = manifold_of(_standing(part)).decompose() if kind == "mesh" else [None]
    if len(pieces) == 1 and is_convex(mesh, 1e-6 * float(np.ptp(mesh.vertices, axis=0).max())):
        return _exact([_hull(mesh.vertices, colour)])
    return _split_cover(_standing(part), facets, most)


def _exact(solids: list[Solid]) -> PartCover:
    return PartCover(tuple(solids), True, 0.0, "")


def _hull(points: np.ndarray, colour) -> Solid:
    return ConvexHull(points=points, colour=colour)


def _prism_points(outline: np.ndarray, height: float) -> np.ndarray:
    return np.concatenate([np.column_stack([outline, np.full(len(outline), z)]) for z in (-height / 2, height / 2)])


def _round_error(part: Part, facets: int) -> float:
    """How far facets that touch round surfaces from outside are from them at most [m]."""
    if part.operands:
        return max(_round_error(p, facets) for p in part.operands)
    if not is_round(part):
        return 0.0
    if part.kind in ("sphere", "hemisphere"):
        return part.values[0] * (1 / closeness(part.kind, facets) - 1)
    return float(round_profile(part.kind, part.values, facets)[:, 0].max() * (1 / np.cos(np.pi / facets) - 1))


def _round_note(facets: int, error: float) -> str:
    return f"round surfaces have {facets} facets, up to {error:.3g} m away" if error else ""


# --- differences and intersections ------------------------------------------------------------------------------------


def _terms(part: Part, cuts: tuple[Part, ...]) -> list[tuple[Part, tuple[Part, ...]]]:
    """The operands of a union, each with those of the `cuts` that touch it: (A ∪ B) - C = (A - C) ∪ (B - C)."""
    if part.kind == "union":
        T = part.T_part_solid
        return [term for p in part.operands for term in _terms(p.at(T), cuts)]
    solid = manifold_of(part)
    tiny = 1e-12 * abs(solid.volume())
    touching = [c for c in cuts if abs(region_of([solid, manifold_of(c)], "intersection").volume()) > tiny]
    return [(part, tuple(touching))]


def _term_cover(term: tuple[Part, tuple[Part, ...]], facets: int, most: int) -> PartCover:
    part, cuts = term
    if not cuts:
        return _cover(part, facets, most)
    for cut in cuts:
        part = difference(part, cut)
    return _split_cover(part, facets, most)


def _split_cover(part: Part, facets: int, most: int) -> PartCover:
    """Convex pieces of the polyhedron that covers a part, or its hull if they are too many."""
    solid = manifold_of(part, facets, "out")
    if solid.num_tri() == 0:
        return PartCover((), True, 0.0, "")
    error = _round_error(part, facets)
    pieces = convex_pieces(solid, most)
    if pieces is not None:
        solids = tuple(_hull(p, part.colour) for p in pieces)
        return PartCover(solids, not error, error, _round_note(facets, error))
    points = np.asarray(solid.hull().to_mesh64().vert_properties)[:, :3]
    hull = _hull(points, part.colour)
    t = hull.triangles  # type: ignore[attr-defined]
    sides = np.linalg.norm(t.corners - np.roll(t.corners, 1, axis=1), axis=2)
    # Every point of a triangle is within its longest side / √3 of one of its corners, which are points of the part.
    far = float(sides.max() / np.sqrt(3)) + error
    more = solid.hull().volume() / solid.volume()
    note = (
        f"more than {most} convex pieces would be needed, so the convex hull stands for them, {more:.3g} times as large"
    )
    return PartCover((hull,), False, far, note)
