"""The features of a part: the marks of its primitives that are still on the surface after all booleans."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from ...extras import package
from ..features import Feature
from .facets import facet_marks
from .marks import Mark, flipped, moved_mark, renamed
from .part_meshes import mesh_of
from .primitive_kinds import KINDS
from .surface_queries import Surface, inside_mesh, on_surface
from .sweeps import PartMesh

if TYPE_CHECKING:
    from .part_trees import Part

__all__ = ["features_of"]


@lru_cache(maxsize=512)
def features_of(part: Part) -> Mapping[str, Feature]:
    """The features of a part by name; a boolean, and a solid of revolution, is asked what is left on its surface."""
    found: dict[str, Feature] = {}
    if part.standing != part:
        own = {f.name: f for f in part.added}
        found = {name: f.at(part.T_part_solid) for name, f in features_of(part.standing).items() if name not in own}
        return MappingProxyType(found | own)
    marks = _marks(part)
    if part.operands or part.kind == "revolution":
        surface = _Surface(mesh_of(part))
        for mark in marks:
            found |= {f.name: f for f in surface.features(mark, checked=bool(part.operands))}
    else:
        found = {mark.name: _feature(mark) for mark in marks}
    return MappingProxyType(found)


def _marks(part: Part) -> list[Mark]:
    """The marks of a part in its frame. A name that is taken gets a number: "top", "top2", "top3"."""
    if part.kind == "mesh":
        marks = facet_marks(PartMesh(*part.values))
    elif part.kind in KINDS:
        marks = KINDS[part.kind].marks(part.values)
    else:
        marks = []
        for k, operand in enumerate(part.operands):
            cut = part.kind == "difference" and k > 0
            for mark in _marks(operand):
                if not (cut and mark.kind == "given"):
                    mark = flipped(mark) if cut else mark
                    marks.append(mark._replace(name=renamed(mark.name, operand.name, cut)))
    marks = [moved_mark(mark, part.T_part_solid) for mark in marks]
    own = {f.name for f in part.added}
    marks = _numbered([mark for mark in marks if mark.name not in own])
    return marks + [Mark(f.name, "given", f.T_part_feature, feature=f) for f in part.added]


def _numbered(marks: list[Mark]) -> list[Mark]:
    taken = {mark.name for mark in marks}
    seen: set[str] = set()
    found = []
    for mark in marks:
        name, k = mark.name, 2
        if name in seen:
            while f"{name}{k}" in taken:
                k += 1
            name = f"{name}{k}"
            taken.add(name)
        seen.add(name)
        found.append(mark._replace(name=name))
    return found


def _feature(mark: Mark) -> Feature:
    """The feature of a mark whose surface is whole."""
    if mark.kind == "given":
        assert mark.feature is not None
        return mark.feature if mark.feature.name == mark.name else mark.feature.renamed(mark.name)
    if mark.kind == "wall":
        T = mark.T.copy()
        T[:3, 3] += mark.length / 2 * T[:3, 0]
        return Feature(mark.name, "shaft" if mark.sign > 0 else "hole", T, mark.radius, mark.length)
    if mark.kind == "ball":
        return Feature(mark.name, "sphere" if mark.sign > 0 else "socket", mark.T, mark.radius)
    return Feature(mark.name, mark.kind, mark.T, mark.radius, mark.length, mark.outline)


class _Surface:
    """The surface of a part, which is asked for what is left of marks."""

    def __init__(self, mesh: PartMesh):
        self.mesh, self.surface = mesh, Surface.of(mesh)
        self.corners, self.normals = self.surface.corners, self.surface.normals
        self.tolerance = 1e-8 * float(np.ptp(mesh.vertices, axis=0).max())

    def features(self, mark: Mark, checked: bool) -> list[Feature]:
        """What is left of a mark: no feature, one, or several holes along one axis."""
        if mark.kind == "wall":
            return self._walls(mark)
        if not checked or mark.kind == "given":
            return [_feature(mark)]
        if mark.kind == "face":
            outline = self._outline(mark)
            return [] if outline is None else [_feature(mark._replace(outline=outline))]
        left = self._ball_left(mark) if mark.kind == "ball" else self._corner_left(mark)
        return [_feature(mark)] if left else []

    def _walls(self, mark: Mark) -> list[Feature]:
        """The shaft, or the holes, where triangles are left on the side of a cylinder."""
        axis, origin = mark.T[:3, 0], mark.T[:3, 3]
        spans = _joined(self._spans(mark), 10 * self.tolerance)
        if not spans:
            return []
        step = 1e-4 * mark.radius
        if mark.sign > 0:
            spans = [(spans[0][0], spans[-1][1])]  # a shaft stays one, whatever stands across it
        ends = np.array([[low - step, high + step] for low, high in spans])
        free = ~inside_mesh(self.mesh, origin + ends.reshape(-1, 1) * axis).reshape(-1, 2)
        found = []
        for k, ((low, high), (below, above)) in enumerate(zip(spans[::-1], free[::-1], strict=True)):
            name = mark.name if k == 0 else f"{mark.name}-{k + 1}"
            sizes = {"radius": mark.radius, "length": high - low}
            if mark.sign > 0:
                T = _along(mark.T, low, -1) if below and not above else _along(mark.T, high, 1)
                return [Feature(name, "shaft", T, **sizes)]
            if above or below:
                T = _along(mark.T, high, 1) if above else _along(mark.T, low, -1)
                found.append(Feature(name, "hole", T, **sizes))
            if above and below:
                found.append(Feature(f"{name}-far", "hole", _along(mark.T, low, -1), **sizes))
        return found

    def _spans(self, mark: Mark) -> list[tuple[float, float]]:
        """From where to where along the axis each triangle on the side of a cylinder goes."""
        axis, sign = mark.T[:3, 0], mark.sign
        local = self.corners - mark.T[:3, 3]
        t = local @ axis
        radial = np.linalg.norm(local - t[..., None] * axis, axis=-1).max(axis=1)
        depth = np.einsum("ij,ij->i", local.mean(axis=1), self.normals)
        on = (np.abs(self.normals @ axis) < 1e-6) & (radial < mark.radius + self.tolerance)
        on &= np.abs(depth - sign * mark.apothem) < self.tolerance
        reach = mark.length / 2 + self.tolerance
        on &= (t.min(axis=1) >= -reach) & (t.max(axis=1) <= reach)
        return [(float(x.min()), float(x.max())) for x in t[on]]

    def _ball_left(self, mark: Mark) -> bool:
        """Whether some triangle lies on the surface of a ball and looks away from its centre, or towards it."""
        local = self.corners.mean(axis=1) - mark.T[:3, 3]
        away = np.linalg.norm(local, axis=1)
        facing = np.einsum("ij,ij->i", local, self.normals) * mark.sign / np.maximum(away, 1e-300)
        inside = (away > mark.apothem - self.tolerance) & (away < mark.radius + self.tolerance)
        return bool((inside & (facing > mark.apothem / mark.radius - 1e-9)).any())

    def _corner_left(self, mark: Mark) -> bool:
        """Whether an edge, in one of nine points, or a vertex is left: all faces that meet there are."""
        steps = np.linspace(-0.48, 0.48, 9) * mark.length if mark.kind == "edge" else np.zeros(1)
        assert mark.normals is not None
        points = mark.T[:3, 3] + steps[:, None] * mark.T[:3, 0]
        for normal in mark.normals:
            points = points[on_surface(self.surface, points, normal, self.tolerance)]
            if not len(points):
                return False
        return True

    def _outline(self, mark: Mark) -> np.ndarray | None:
        """The border of the largest piece of a face that is left, or None."""
        assert mark.outline is not None
        normal, origin = mark.T[:3, 0], mark.T[:3, 3]
        level = np.flatnonzero(np.abs(self.corners[:, 0] @ normal - origin @ normal) < self.tolerance)
        local = self.corners[level] - origin
        flat = (np.abs(local @ normal) < self.tolerance).all(axis=1) & (self.normals[level] @ normal > 0.5)
        flat &= self._beside(local @ mark.T[:3, 1:3], mark.outline)
        if not flat.any():
            return None
        m3 = package("manifold3d", "world", "features of unions, intersections and differences")
        size = float(np.ptp(mark.outline, axis=0).max())
        left = m3.CrossSection(list(local[flat] @ mark.T[:3, 1:3] / size), m3.FillRule.Positive)
        whole = m3.CrossSection([mark.outline / size], m3.FillRule.Positive)
        left = left ^ whole
        if left.area() < 1e-6 * whole.area():
            return None
        if left.area() > (1 - 1e-9) * whole.area():
            return mark.outline
        pieces = [np.asarray(x) for x in left.simplify(1e-7).to_polygons()]
        return max(pieces, key=_area) * size

    def _beside(self, triangles: np.ndarray, outline: np.ndarray) -> np.ndarray:
        """Whether the rectangles around triangles (m, 3, 2) overlap with that around an outline (k, 2)."""
        low, high = outline.min(axis=0) - self.tolerance, outline.max(axis=0) + self.tolerance
        return ((triangles.min(axis=1) <= high) & (triangles.max(axis=1) >= low)).all(axis=1)


def _area(points: np.ndarray) -> float:
    x, y = points.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _joined(spans: list[tuple[float, float]], gap: float) -> list[tuple[float, float]]:
    """Intervals in ascending order; those that overlap, or nearly meet, are one."""
    found: list[tuple[float, float]] = []
    for low, high in sorted(spans):
        if found and low <= found[-1][1] + gap:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found


def _along(T: np.ndarray, distance: float, sign: int) -> np.ndarray:
    """The frame T moved by a distance along its x axis, which turns about y if `sign` is -1."""
    found = T.copy()
    found[:3, 3] += distance * T[:3, 0]
    found[:3, [0, 2]] *= sign
    return found
