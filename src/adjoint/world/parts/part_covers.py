"""Solids of a scene that cover a part: what robots can hit and cameras can see."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...collision.collision_solids import ConvexHull
from ...errors import ArgumentError
from ...sensing.scene import Box, Cylinder, Solid, Sphere
from .convex_cells import Cell, cell_minus, cell_of, cell_within
from .convex_splitting import DENT, convex_pieces
from .moments import mesh_moments
from .outlines import convex_polygons
from .part_trees import Part
from .primitive_kinds import KINDS, closeness, round_profile
from .rings import ring_points

__all__ = ["PartCover", "part_cover", "part_solids"]


class PartCover(NamedTuple):
    """Solids that cover a part.

    - `solids` are in the frame of the part, with its colours; they may overlap.
    - `exact` says whether they fill the part and nothing else, up to rounding.
    - `error` [m] says how far the surface of the solids is outside the surfaces of the primitives, at most.
    - `note` tells what is not exact, in words; it is empty if all is.
    """

    solids: tuple[Solid, ...]
    exact: bool
    error: float
    note: str


def part_solids(part: Part, *, facets: int = 16, most: int = 100) -> tuple[Solid, ...]:
    """Solids of a scene, in the frame of the part, that cover the part: what `Scene`, cameras and collisions take.

        >>> part_solids(aj.world.cuboid(0.1, 0.2, 0.3) | aj.world.sphere(0.1, at=[0, 0, 0.2]))
        (<Box at (0, 0, 0)>, <Sphere at (0, 0, 0.2)>)

    `part_cover` gives the same with its error, and explains how they are made.
    """
    return part_cover(part, facets=facets, most=most).solids


def part_cover(part: Part, *, facets: int = 16, most: int = 100) -> PartCover:
    """Convex solids that cover a part, with the error that they make.

        >>> cover = part_cover(aj.world.cuboid(0.1, 0.1, 0.02) - aj.world.cylinder(0.02, 0.1))
        >>> len(cover.solids), cover.exact, round(cover.error, 5)
        (16, False, 0.00039)

    Cuboids, round cylinders, balls and convex polyhedra are one exact solid each, and unions the solids of their parts.
    An intersection is made of the intersections of convex pieces. From each piece of A, the difference A - B takes away
    each convex piece of B, plane by plane: what is outside of a plane stays, the rest is cut by the next. All this is
    exact for polyhedra, and what is not cut stays what it was.

    A round surface that is cut, and that of a cone, a hemisphere or a solid of revolution, has `facets`. They touch
    the surface from outside, and those of a round hole have their corners on it, so that the solids cover the part.
    Facets around a radius r are off by r (1/cos(π/n) - 1) at most. Meshes with dents are split along the planes of
    their faces; dents of up to a millionth of their size are filled. Where more than `most` pieces are needed, one
    convex hull takes their place, and `note` says so.
    """
    if not isinstance(part, Part):
        raise ArgumentError(f"part_cover: 'part' must be a Part, got {type(part).__name__}")
    for name, value, least in (("facets", facets, 6), ("most", most, 1)):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not least <= value <= 10_000:
            raise ArgumentError(f"part_cover: '{name}' must be a whole number from {least} to 10000, got {value!r:.40}")
    return _cover(part, int(facets), int(most))


@lru_cache(maxsize=256)
def _cover(part: Part, facets: int, most: int) -> PartCover:
    if part.standing != part:
        cover = _cover(part.standing, facets, most)
        return cover._replace(solids=tuple(s.at(part.T_part_solid @ s.T_world_solid) for s in cover.solids))
    pieces = _pieces(part, facets, most, True)
    if not pieces:
        raise ArgumentError(f"part_cover: the {part.kind} is empty")
    error = max(p.error for p in pieces)
    note = _noted(*(p.note for p in pieces))
    return PartCover(tuple(_solid(p) for p in pieces), not note, error, note)


class _Piece(NamedTuple):
    """A convex piece in the frame of a part: the corners of a polytope that covers it, or that it covers.

    `solid` is the solid that the piece is, as long as nothing is cut from it; then `error` and `note` are those of the
    solid, and `cut_error` and `cut_note` what they become when the piece is cut.
    """

    cell: Cell
    colour: np.ndarray
    solid: Solid | None = None
    error: float = 0.0
    note: str = ""
    cut_error: float = 0.0
    cut_note: str = ""


def _solid(piece: _Piece) -> Solid:
    return ConvexHull(points=piece.cell.points, colour=piece.colour) if piece.solid is None else piece.solid


def _noted(*notes: str) -> str:
    """Notes together, each once."""
    return "; ".join(dict.fromkeys(x for note in notes for x in note.split("; ") if x))


def _cut(piece: _Piece, cell: Cell, error: float, note: str) -> _Piece:
    """A piece of a piece, at whose surface an error has been made in addition to its own."""
    error, note = max(piece.cut_error, error), _noted(piece.cut_note, note)
    return _Piece(cell, piece.colour, None, error, note, error, note)


@lru_cache(maxsize=512)
def _pieces(part: Part, facets: int, most: int, outside: bool) -> tuple[_Piece, ...]:
    """Convex pieces that together cover a part (`outside`), or that are inside it."""
    if part.standing != part:
        return tuple(_moved(p, part.T_part_solid) for p in _pieces(part.standing, facets, most, outside))
    if part.kind in KINDS:
        found = _primitive_pieces(part, facets, most, outside)
    elif part.kind == "union":
        found = [x for p in part.operands for x in _pieces(p, facets, most, outside)]
    else:
        found = list(_pieces(part.operands[0], facets, most, outside))
        for operand in part.operands[1:]:
            if part.kind == "difference":
                for cutter in _pieces(operand, facets, most, not outside):
                    found = _without(found, cutter, most)
            else:
                others = _pieces(operand, facets, most, outside)
                found = _few([x for p in found for other in others for x in _both(p, other)], most)
    return tuple(found)


def _moved(piece: _Piece, T: np.ndarray) -> _Piece:
    R, p = T[:3, :3], T[:3, 3]
    normals = piece.cell.planes[:, :3] @ R.T
    planes = np.column_stack([normals, piece.cell.planes[:, 3] + normals @ p])
    solid = None if piece.solid is None else piece.solid.at(T @ piece.solid.T_world_solid)
    return piece._replace(cell=Cell(piece.cell.points @ R.T + p, planes, piece.cell.volume), solid=solid)


def _without(pieces: list[_Piece], cutter: _Piece, most: int) -> list[_Piece]:
    found = []
    for piece in pieces:
        left = cell_minus(piece.cell, cutter.cell)
        found += [piece] if left is None else [_cut(piece, x, cutter.cut_error, cutter.cut_note) for x in left]
    return _few(found, most)


def _both(piece: _Piece, other: _Piece) -> list[_Piece]:
    cell = cell_within(piece.cell, other.cell)
    if cell is piece.cell:
        error = max(piece.error, other.cut_error)
        return [piece._replace(error=error, note=_noted(piece.note, other.cut_note))]
    return [] if cell is None else [_cut(piece, cell, other.cut_error, other.cut_note)]


def _few(pieces: list[_Piece], most: int) -> list[_Piece]:
    """The pieces, or the convex hull of all of them if they are too many."""
    if len(pieces) <= most:
        return pieces
    points = np.concatenate([p.cell.points for p in pieces])
    error = max(p.cut_error for p in pieces)
    return _hull_instead(points, sum(p.cell.volume for p in pieces), error, most, pieces[0].colour)


def _hull_instead(points: np.ndarray, volume: float, error: float, most: int, colour) -> list[_Piece]:
    """One piece, the hull of points of a part, in the place of more than `most`."""
    cell = cell_of(points)
    assert cell is not None
    corners = ConvexHull(points=cell.points).triangles.corners
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    # Every point of a triangle is within its longest side / √3 of one of its corners, which are points of the part.
    error = error + float(sides.max() / np.sqrt(3))
    more = cell.volume / volume
    note = f"the convex hull stands for more than {most} convex pieces; it is {more:.3g} times as large"
    return [_Piece(cell, colour, None, error, note, error, note)]


# --- primitives -------------------------------------------------------------------------------------------------------


def _primitive_pieces(part: Part, facets: int, most: int, outside: bool) -> list[_Piece]:
    """The pieces of a primitive in its own frame."""
    kind, values, colour = part.kind, part.values, part.colour
    if kind == "mesh":
        return _mesh_pieces(part, most)
    if kind == "lamination":
        z = values[1] / 2
        corners = [values[0][p] for p in convex_polygons(values[0])]
        return _exact([np.concatenate([np.insert(c, 2, h, axis=1) for h in (-z, z)]) for c in corners], colour)
    own = values[-1] if KINDS[kind].round else 0  # the facets of a polyhedron; None for what is round
    if own is not None and kind == "revolution":
        return _exact(ring_points(values[0], own, "on"), colour)
    if own is not None:
        solid = Box(values, colour=colour) if kind == "cuboid" else None
        return _exact([KINDS[kind].mesh(values, facets, "on").vertices], colour, solid)
    error = _round_error(part, facets)
    note = f"round surfaces have {facets} facets"
    if kind in ("revolution", "cone"):
        cells = map(cell_of, ring_points(round_profile(kind, values, facets), facets, "out" if outside else "in"))
        return [_Piece(c, colour, None, error, note, error, note) for c in cells if c is not None]
    cell = cell_of(KINDS[kind].mesh(values, facets, "out" if outside else "on").vertices)
    assert cell is not None
    if kind == "hemisphere":
        return [_Piece(cell, colour, None, error, note, error, note)]
    solid = Sphere(values[0], colour=colour) if kind == "sphere" else Cylinder(*values[:2], colour=colour)
    return [_Piece(cell, colour, solid, 0.0, "", error, note)]


def _exact(corners: list[np.ndarray], colour, solid: Solid | None = None) -> list[_Piece]:
    cells = [cell_of(points) for points in corners]
    return [_Piece(cell, colour, solid) for cell in cells if cell is not None]


def _round_error(part: Part, facets: int) -> float:
    """How far facets that touch a round primitive from outside are from it at most [m]."""
    if part.kind in ("sphere", "hemisphere"):
        return part.values[0] * (1 / closeness(part.kind, facets) - 1)
    return float(round_profile(part.kind, part.values, facets)[:, 0].max() * (1 / np.cos(np.pi / facets) - 1))


def _mesh_pieces(part: Part, most: int) -> list[_Piece]:
    """The pieces of a mesh: one if it is convex."""
    mesh = KINDS["mesh"].mesh(part.values, 0, "on")
    pieces = convex_pieces(mesh, most)
    if pieces is None:
        return _hull_instead(mesh.vertices, float(mesh_moments(*mesh)[3, 3]), 0.0, most, part.colour)
    if len(pieces) == 1:
        return _exact(pieces, part.colour)
    error = DENT * float(np.ptp(mesh.vertices, axis=0).max())
    note = "small dents of meshes are filled"
    cells = map(cell_of, pieces)
    return [_Piece(c, part.colour, None, error, note, error, note) for c in cells if c is not None]
