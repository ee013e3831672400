"""Freeways: the free space of the plane as generalized cones between edges of obstacles.

After Brooks (1983), "Solving the find-path problem by good representation of free space", IEEE Trans. SMC 13 (3),
190-197; Fu, Gonzalez & Lee (1987), Sec. 9.3.3 and 10.9.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .plane_graphs import bounds_box, obstacle_pieces
from .plane_polygons import named_polygons
from .plane_regions import half_planes

__all__ = ["Freeway", "find_freeways"]

_NEAR = 1e-9  # relative to the size of the scene


class Freeway(NamedTuple):
    """A generalized cone between two edges that face each other.

    The spine is the line {origin + s along}, on which both edges are equally far away; it is free for stations s from
    `low` to `high` [m]. Between the stations `cone` (2,) the edges bound the cone, whose cross-sections are free; its
    radius changes linearly between `radii` (2,) [m] there. `edges`: the names of the two obstacles.
    """

    origin: np.ndarray
    along: np.ndarray
    low: float
    high: float
    cone: np.ndarray
    radii: np.ndarray
    edges: tuple[str, str]

    def point(self, s) -> np.ndarray:
        """The points (..., 2) of the spine at stations s (...)."""
        return self.origin + np.asarray(s, float)[..., None] * self.along

    @property
    def across(self) -> np.ndarray:
        """The unit vector (2,) to the left of the spine."""
        return np.array([-self.along[1], self.along[0]])

    @property
    def outline(self) -> np.ndarray:
        """The corners (4, 2) of the cone."""
        r = self.radii[:, None] * self.across
        ends = self.point(self.cone)
        return np.stack([ends[0] - r[0], ends[1] - r[1], ends[1] + r[1], ends[0] + r[0]])


class _Edge(NamedTuple):
    owner: str
    start: np.ndarray
    end: np.ndarray
    normal: np.ndarray  # out of the obstacle, of length 1


def find_freeways(obstacles, *, bounds=None) -> tuple[Freeway, ...]:
    """All freeways of a scene: cones between pairs of edges that face each other, without an obstacle inside.

        >>> walls = [[[0, 1], [4, 1], [4, 2], [0, 2]], [[0, -2], [4, -2], [4, -1], [0, -1]]]
        >>> freeway, = find_freeways(walls)
        >>> freeway.radii.tolist(), float(abs(freeway.origin[1]))        # the corridor between them: the spine is y = 0
        ([1.0, 1.0], 0.0)

    Parameters
    ----------
    obstacles
        Simple polygons (k, 2) [m], as a sequence or {name: polygon}.
    bounds
        (low, high), two corners of a rectangle around everything, whose sides count as edges, too.

    The spine of edges with outward normals n_1, n_2 through p_1, p_2 is the line of points at the same distance in
    front of both: n_1·(x - p_1) = n_2·(x - p_2). The cone reaches along the stations of both edges, less those
    where another obstacle is between them; the spine goes on, beyond the cone, until it meets an obstacle, the bounds,
    or the end of the scene.
    """
    caller = "find_freeways"
    outlines = named_polygons(caller, obstacles)
    solids = [p for pieces in obstacle_pieces(caller, obstacles, bounds, None).values() for p in pieces]
    edges = [e for name, p in outlines.items() for e in _edges_of(name, p)]
    box = bounds_box(caller, bounds)
    if box is not None:
        (a, b), (c, d) = box
        edges += _edges_of("bounds", np.array([[a, b], [a, d], [c, d], [c, b]]))  # clockwise: its outside is the room
    if not edges:
        return ()
    corners = np.concatenate([[e.start, e.end] for e in edges])
    planes, size = [half_planes(p) for p in solids], float(np.ptp(corners, axis=0).sum())
    ends = corners.mean(axis=0), size
    found = [f for i, a in enumerate(edges) for b in edges[:i] for f in _between(a, b, planes, ends)]
    return tuple(_distinct(found, _NEAR * size))


def _edges_of(name: str, polygon: np.ndarray) -> list[_Edge]:
    found = []
    for a, b in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        t = (b - a) / np.linalg.norm(b - a)
        found.append(_Edge(name, a, b, np.array([t[1], -t[0]])))
    return found


def _between(a: _Edge, b: _Edge, planes: list[np.ndarray], ends: tuple[np.ndarray, float]) -> list[Freeway]:
    """The freeways between two edges; others are between them, so there may be several, or none."""
    near = _NEAR * ends[1]
    if a.normal @ b.normal > -_NEAR or not (_in_front(a, b, near) and _in_front(b, a, near)):
        return []
    width = np.linalg.norm(a.normal - b.normal)
    m = (a.normal - b.normal) / width
    origin = m * ((a.normal @ a.start - b.normal @ b.start) / width)
    along = np.array([m[1], -m[0]])
    spans = [np.sort([(x - origin) @ along for x in (e.start, e.end)]) for e in (a, b)]
    low, high = max(s[0] for s in spans), min(s[1] for s in spans)
    # Across the spine, at station s, both edges are r0 + s slope away; n_1 · m = width / 2 is the cosine of their tilt.
    r0, slope = a.normal @ (origin - a.start) * 2 / width, a.normal @ along * 2 / width
    if abs(slope) > _NEAR:  # the edges meet at the apex, where the radius is 0
        low, high = (max(low, -r0 / slope), high) if slope > 0 else (low, min(high, -r0 / slope))
    if high - low <= near or r0 + slope * (low + high) / 2 <= near:
        return []
    blocked = [_cone_cut(p, origin, along, low, high, r0, slope) for p in planes]
    cones = _gaps(low, high, [x for x in blocked if x is not None], near)
    middle = float((ends[0] - origin) @ along)
    lines = [_line_cut(p, origin, along) for p in planes]
    free = _gaps(middle - ends[1], middle + ends[1], [x for x in lines if x is not None], near)
    found = []
    for u, v in cones:
        around = [g for g in free if g[0] <= (u + v) / 2 <= g[1]]
        if around:
            radii = r0 + slope * np.array([u, v])
            found.append(Freeway(origin, along, *around[0], np.array([u, v]), radii, (a.owner, b.owner)))
    return found


def _in_front(a: _Edge, b: _Edge, near: float) -> bool:
    """Whether some of the edge b is in front of the edge a."""
    return bool(max(a.normal @ (b.start - a.start), a.normal @ (b.end - a.start)) > near)


def _line_cut(planes: np.ndarray, origin: np.ndarray, along: np.ndarray) -> tuple[float, float] | None:
    """The stations between which a line is inside of a convex polygon, or None."""
    height, rise = planes[:, :2] @ origin - planes[:, 2], planes[:, :2] @ along
    flat = np.abs(rise) < 1e-12
    if (height[flat] >= -1e-12 * np.abs(planes[flat, 2])).any():
        return None
    at = -height / np.where(flat, np.inf, rise)
    low, high = at[~flat & (rise < 0)].max(initial=-np.inf), at[~flat & (rise > 0)].min(initial=np.inf)
    return (low, high) if low < high else None


def _cone_cut(planes, origin, along, low, high, r0, slope) -> tuple[float, float] | None:
    """The stations of the part of a cone that is inside of a convex polygon, or None."""
    across = np.array([-along[1], along[0]])
    corners = [(s, side * max(r0 + slope * s, 0.0)) for s, side in ((low, -1), (high, -1), (high, 1), (low, 1))]
    p = np.array([origin + s * along + y * across for s, y in corners])
    shrink = 1e-9 * (high - low + r0)  # the two edges themselves touch their cone
    if (p @ planes[:, :2].T - planes[:, 2] + shrink > 0).all(axis=0).any():  # a line separates them: the usual case
        return None
    for plane in planes:
        p = _clipped(p, p @ plane[:2] - plane[2] + shrink)
        if len(p) < 3:
            return None
    s = (p - origin) @ along
    return float(s.min()), float(s.max())


def _clipped(p: np.ndarray, f: np.ndarray) -> np.ndarray:
    """The part of a convex polygon where the linear function with the values f at its corners is not positive."""
    q, g = np.roll(p, -1, axis=0), np.roll(f, -1)
    rows = []
    for a, b, fa, fb in zip(p, q, f, g, strict=True):
        if fa <= 0:
            rows.append(a)
        if fa * fb < 0:
            rows.append(a + fa / (fa - fb) * (b - a))
    return np.array(rows).reshape(-1, 2)


def _gaps(low: float, high: float, blocked: list[tuple[float, float]], near: float) -> list[tuple[float, float]]:
    """The parts of the interval from low to high that are outside of all blocked ones."""
    found, at = [], low
    for a, b in sorted(blocked):
        if a - at > near:
            found.append((at, min(a, high)))
        at = max(at, b)
        if at >= high:
            return [g for g in found if g[1] - g[0] > near]
    return [g for g in [*found, (at, high)] if g[1] - g[0] > near]


def _distinct(found: list[Freeway], near: float) -> list[Freeway]:
    """The freeways without those whose spine is that of another one."""
    kept: list[Freeway] = []
    for f in found:
        ends = f.point([f.low, f.high])
        same = (np.abs(ends - g.point([g.low, g.high])[::k]).max() < near for g in kept for k in (1, -1))
        if not any(same):
            kept.append(f)
    return kept
