"""Links in several parts: planes cut a mesh where capsules, or balls, around the parts are smaller than one around all.

The shapes cover what is inside of a closed mesh, too. Each part is a mesh in a convex cell between planes. Where a
plane cuts the solid, the outline of the cut consists of points of the part, so the cut lies in their convex hull; so
does an edge of the cell, between the points where it leaves the solid. Only a corner of the cell, where three planes
meet, may be inside of the solid, and is added to the points. Therefore the hull contains the solid in the cell, and the
shape, which is convex and contains the points, contains the hull.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np

from .shape_excess import MeshSamples, inside_depth, surface_samples
from .shape_fitting import (
    Fit,
    around,
    directions_of,
    fitted_ball,
    fitted_capsule,
    hull_points,
    outermost,
    principal_frame,
)
from .shape_kernels import side_capsule

__all__ = ["FitOf", "clipped", "split_fits"]

_POINTS = 240  # of a part, that trial cuts are judged by
_TRIED = 2  # cuts that are made and fitted with care
_PAYS = 0.8  # a further shape is worth its cost if it leaves less than this part of the room, ...
_WORSE = 1.05  # ... and the distance between shape and mesh does not become larger by more than this factor
_WAYS, _PLACES = 13, 9  # directions of trial cuts beside the principal axes, and places of each
_AXES = 12  # directions of capsules beside the principal axes
_KEPT = 6  # trial cuts that are judged with care
_INSIDE = 0.1  # points around which the mesh goes more often are inside, also if it has holes
_SPREAD = 120  # points on the surface of a shape


class _Part(NamedTuple):
    """The triangles in a cell, where normal · x >= offset of all walls; the corners of their hull; a capsule around."""

    triangles: np.ndarray
    walls: tuple[tuple[np.ndarray, float], ...]
    corners: np.ndarray
    fit: Fit
    surface: _Surface


class _Surface(NamedTuple):
    """Points (k, 3) spread over the surface of a shape, their distances to the mesh [m], and the area of each [m²]."""

    points: np.ndarray
    distances: np.ndarray
    area: float


class FitOf(NamedTuple):
    """A shape, and the corners (n, 3) of a convex hull that it contains; all hulls together contain the link."""

    fit: Fit
    corners: np.ndarray


def split_fits(triangles: np.ndarray, kind: str, most: int, tolerance: float, mesh: MeshSamples) -> list[FitOf]:
    """At most `most` capsules or balls around triangles (m, 3, 3), fewer if each is within `tolerance` [m] of them.

    Balls are rows of balls along capsules, of which there are at most `most` // 4.
    """
    parts = _capsules(triangles, most if kind == "capsules" else max(most // 4, 1), tolerance, mesh)
    if kind == "capsules":
        return [_checked(part.fit, part.triangles, part.corners) for part in parts]
    return _balls(parts, triangles, most, tolerance)


def _checked(fit: Fit, piece: np.ndarray, corners: np.ndarray) -> FitOf:
    """A shape around the corners of the hull of a piece, made to contain every corner of its triangles."""
    radius = around(piece.reshape(-1, 3), fit.start, fit.end).radius
    return FitOf(fit._replace(radius=max(radius, fit.radius)), corners)


def _capsules(triangles: np.ndarray, most: int, tolerance: float, mesh: MeshSamples) -> list[_Part]:
    """Parts of a mesh with a capsule around each.

    The part with the most room between its capsule and the mesh is cut again and again. Of all stages, the one is
    chosen that has the least room, where every further capsule must pay.
    """
    parts = [_part(triangles, (), triangles, mesh)]
    found, least, limit, done = parts, np.inf, np.inf, set()
    while True:
        open_surfaces = [_uncovered(part, parts) for part in parts]
        off = [float(x.distances.max(initial=0.0)) for x in open_surfaces]
        limit = _WORSE * off[0] if len(parts) == 1 else limit
        rooms = [_room(x) for x in open_surfaces]
        score = sum(rooms) * _PAYS ** (1 - len(parts))
        if score < least and max(off) <= limit:
            found, least = parts, score
        waiting = [k for k in np.argsort(rooms)[::-1] if off[k] > tolerance and id(parts[k]) not in done]
        if not waiting or len(parts) >= most:
            return found
        part = parts[waiting[0]]
        halves = _halves(part, triangles, mesh)
        if halves is None:
            done.add(id(part))
        else:
            parts = [x for x in parts if x is not part] + halves


def _balls(parts: list[_Part], triangles: np.ndarray, most: int, tolerance: float) -> list[FitOf]:
    """Rows of balls along the capsules of parts: so many that their radii are within `tolerance` of the capsule's."""
    rows, counts = [_row(part, 1, triangles) for part in parts], [1] * len(parts)
    while True:
        wider = [max(ball.fit.radius for ball in row) - part.fit.radius for row, part in zip(rows, parts, strict=True)]
        wider = [0.0 if (part.fit.start == part.fit.end).all() else w for w, part in zip(wider, parts, strict=True)]
        worst = int(np.argmax(wider))
        if wider[worst] <= tolerance or sum(counts) >= most:
            return [ball for row in rows for ball in row]
        counts[worst] += 1
        rows[worst] = _row(parts[worst], counts[worst], triangles)


def _row(part: _Part, count: int, triangles: np.ndarray) -> list[FitOf]:
    """Balls around slabs of a part, which planes across the axis of its capsule cut."""
    if count == 1:
        return [_checked(fitted_ball(part.corners), part.triangles, part.corners)]
    axis = part.fit.end - part.fit.start
    axis = axis / np.linalg.norm(axis)
    s = part.triangles @ axis
    places = np.linspace(s.min(), s.max(), count + 1)
    found = []
    for k in range(count):
        piece, walls = part.triangles, part.walls
        for side, place, cut in ((axis, places[k], k > 0), (-axis, -places[k + 1], k + 1 < count)):
            if cut:
                piece, walls = clipped(piece, side, place), (*walls, (side, place))
        if len(piece):
            corners = _hull(piece, walls, triangles)
            found.append(_checked(fitted_ball(corners), piece, corners))
    return found


def _hull(piece: np.ndarray, walls: tuple, triangles: np.ndarray) -> np.ndarray:
    """The corners of the convex hull of a piece, in a cell, of a solid that has the surface `triangles`."""
    return hull_points(np.concatenate([piece.reshape(-1, 3), _corners(walls, triangles)]))


def _part(piece: np.ndarray, walls: tuple, triangles: np.ndarray, mesh: MeshSamples) -> _Part:
    corners = _hull(piece, walls, triangles)
    fit = fitted_capsule(corners)
    return _Part(piece, walls, corners, fit, _surface(fit, mesh))


def _surface(fit: Fit, mesh: MeshSamples) -> _Surface:
    points = surface_samples(fit, _SPREAD)
    area = 2 * np.pi * fit.radius * float(np.linalg.norm(fit.end - fit.start) + 2 * fit.radius)
    return _Surface(points, mesh.rough.query(points, eps=0.1)[0], area / len(points))


def _uncovered(part: _Part, parts: list[_Part]) -> _Surface:
    """The surface of a shape where no other shape covers it."""
    points, distances, area = part.surface
    free = np.ones(len(points), bool)
    for other in parts:
        if other is not part:
            free &= inside_depth(other.fit, points) < 0
    return _Surface(points[free], distances[free], area)


def _room(surface: _Surface) -> float:
    """The squared distances between a surface and the mesh, summed over the surface [m⁴]."""
    return surface.area * float(surface.distances @ surface.distances)


def _room_of(fits: list[Fit], mesh: MeshSamples) -> float:
    none = np.zeros((0, 3, 3))
    parts = [_Part(none, (), none, fit, _surface(fit, mesh)) for fit in fits]
    return sum(_room(_uncovered(part, parts)) for part in parts)


# --- cuts -------------------------------------------------------------------------------------------------------------


def _halves(part: _Part, triangles: np.ndarray, mesh: MeshSamples) -> list[_Part] | None:
    """The two parts that the best cut leaves; None if there is nothing to cut."""
    best, least = None, np.inf
    for normal, offset in _cuts(part, mesh):
        sides = [(normal, offset), (-normal, -offset)]
        cut = [(clipped(part.triangles, *side), (*part.walls, side)) for side in sides]
        if all(len(piece) for piece, _ in cut):
            halves = [_part(piece, walls, triangles, mesh) for piece, walls in cut]
            room = sum(_room(_uncovered(x, halves)) for x in halves)
            if room < least:
                best, least = halves, room
    return best


def _cuts(part: _Part, mesh: MeshSamples) -> list[tuple[np.ndarray, float]]:
    """The most promising planes (normal, offset), by quick fits to some points on both sides of many planes."""
    points = _some_points(part)
    frame, middle = principal_frame(points)
    local = (points - middle) @ frame
    size = float(np.abs(local).max())
    if size == 0:
        return []
    local /= size
    ways = np.concatenate([np.eye(3), directions_of(_WAYS)])
    low, high = (local @ ways.T).min(axis=0), (local @ ways.T).max(axis=0)
    offsets = low[:, None] + (high - low)[:, None] * np.linspace(0.1, 0.9, _PLACES)
    normals, offsets = np.repeat(ways, _PLACES, axis=0), offsets.reshape(-1)
    rng, known = np.random.default_rng(0), []
    for step in (0.15, 0.07, 0.03):
        known += _judged(local, normals, offsets, mesh, lambda x: middle + frame @ (size * x), size)
        known = sorted(known, key=lambda x: x[0])[:_KEPT]
        if not known:
            return []
        best = np.array([x[1] for x in known]), np.array([x[2] for x in known])
        normals = np.repeat(best[0], 8, axis=0) + step * rng.standard_normal((8 * len(known), 3))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        offsets = np.repeat(best[1], 8) + step * rng.standard_normal(8 * len(known))
    return [(frame @ normal, float(size * offset + (frame @ normal) @ middle)) for _, normal, offset in known[:_TRIED]]


def _some_points(part: _Part) -> np.ndarray:
    """Points of a part: some that are spread over the areas of its triangles, and its outermost corners."""
    triangles = part.triangles
    size = np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    places = (np.arange(_POINTS) + 0.5) / _POINTS * size.sum()
    chosen = triangles[np.minimum(np.searchsorted(np.cumsum(size), places), len(triangles) - 1)]
    weights = np.random.default_rng(0).dirichlet(np.ones(3), _POINTS)
    return np.concatenate([np.einsum("pc,pcx->px", weights, chosen), outermost(part.corners, 60)])


def _judged(points: np.ndarray, normals, offsets, mesh: MeshSamples, placed: Callable, size: float) -> list:
    """(room between quick fits and mesh, normal, offset) of the planes with the least sums of volumes."""
    above = points @ normals.T - offsets >= 0  # (n, planes)
    fair = (above.sum(axis=0) >= 3) & ((~above).sum(axis=0) >= 3)
    normals, offsets = normals[fair], offsets[fair]
    if not len(normals):
        return []
    n = np.stack([normals, -normals], axis=1)  # (planes, 2, 3)
    c = np.stack([offsets, -offsets], axis=1)
    inside = (n @ points.T >= c[..., None]).astype(float)  # (planes, 2, n)
    count = inside.sum(axis=-1)[..., None]
    middle = inside @ points / count
    squares = (inside @ (points[:, :, None] * points[:, None]).reshape(-1, 9) / count).reshape(*count.shape[:2], 3, 3)
    own = np.linalg.eigh(squares - middle[..., None] * middle[..., None, :])[1].mT
    axes = np.concatenate([own, np.broadcast_to(directions_of(_AXES), (*own.shape[:2], _AXES, 3))], axis=2)
    found = side_capsule(points, axes, n[:, :, None], c[..., None])
    which = np.argmin(found.volume, axis=2)[..., None]
    volume = np.take_along_axis(found.volume, which, 2)[..., 0].sum(axis=1)
    judged = []
    for k in np.argsort(volume, kind="stable")[:_KEPT]:
        fits = []
        for side in (0, 1):
            w = (k, side, which[k, side, 0])
            fits.append(Fit(placed(found.start[w]), placed(found.end[w]), size * float(found.radius[w])))
        judged.append((_room_of(fits, mesh), normals[k], offsets[k]))
    return judged


def clipped(triangles: np.ndarray, normal: np.ndarray, offset: float) -> np.ndarray:
    """The parts of triangles (m, 3, 3) where normal · x >= offset, as triangles."""
    s = triangles @ normal - offset
    inside = s >= 0
    number = inside.sum(axis=1)
    found = [triangles[number == 3]]
    for corners in (1, 2):  # the first corner is the only one inside, or the only one outside
        chosen = number == corners
        first = np.argmax(inside[chosen] if corners == 1 else ~inside[chosen], axis=1)
        order = (first[:, None] + np.arange(3)) % 3
        a, b, c = np.take_along_axis(triangles[chosen], order[..., None], axis=1).transpose(1, 0, 2)
        sa, sb, sc = np.take_along_axis(s[chosen], order, axis=1).T
        ab = a + (sa / (sa - sb))[:, None] * (b - a)
        ac = a + (sa / (sa - sc))[:, None] * (c - a)
        if corners == 1:
            found.append(np.stack([a, ab, ac], axis=1))
        else:
            found += [np.stack([ab, b, c], axis=1), np.stack([ab, c, ac], axis=1)]
    return np.concatenate(found)


# --- corners of cells -------------------------------------------------------------------------------------------------


def _corners(walls: tuple[tuple[np.ndarray, float], ...], triangles: np.ndarray) -> np.ndarray:
    """The corners (k, 3) of a cell, each of three planes, that are inside of a solid with the surface `triangles`."""
    found = []
    for three in combinations(walls, 3):
        A, b = np.array([n for n, _ in three]), np.array([c for _, c in three])
        if abs(np.linalg.det(A)) > 1e-9:
            x = np.linalg.solve(A, b)
            others = [n @ x - c for n, c in walls if not any(n is m for m, _ in three)]
            if min(others, default=0.0) >= -1e-9 and abs(_turns(triangles, x)) > _INSIDE:
                found.append(x)
    return np.array(found).reshape(-1, 3)


def _turns(triangles: np.ndarray, x: np.ndarray) -> float:
    """How often triangles go around a point: 1 inside of a closed mesh, and 0 outside.

    The sum of the solid angles of the triangles, by van Oosterom & Strackee (1983), over 4π.
    """
    a, b, c = (triangles - x).transpose(1, 0, 2)
    la, lb, lc = (np.linalg.norm(side, axis=1) for side in (a, b, c))
    up = np.sum(a * np.cross(b, c), axis=1)
    down = la * lb * lc + np.sum(a * b, axis=1) * lc + np.sum(b * c, axis=1) * la + np.sum(c * a, axis=1) * lb
    return float(np.arctan2(up, down).sum() / (2 * np.pi))
