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
from scipy.spatial import ConvexHull as QuickHull
from scipy.spatial import QhullError

from .shape_excess import MeshSamples, inside_depth, surface_samples
from .shape_fitting import Fit, directions_of, fitted_ball, fitted_capsule, hull_points, outermost, principal_frame
from .shape_kernels import side_capsule

__all__ = ["clipped", "split_fits"]

_POINTS = 240  # of a part, that trial cuts are judged by
_TRIED = 2  # cuts that are made and fitted with care
_PAYS = {
    "capsules": 0.8,
    "spheres": 1.0,
}  # a further shape is worth its cost if it leaves less than this part of the room, ...
_WORSE = 1.05  # ... and the distance between shape and mesh does not become larger by more than this factor
_WAYS, _PLACES = 13, 9  # directions of trial cuts beside the principal axes, and places of each
_AXES = 12  # directions of capsules beside the principal axes
_KEPT = 6  # trial cuts that are judged with care
_SPREAD = 120  # points on the surface of a shape


class _Part(NamedTuple):
    triangles: np.ndarray
    walls: tuple[tuple[np.ndarray, float], ...]  # the cell: normal · x >= offset
    fit: Fit


def split_fits(triangles: np.ndarray, kind: str, most: int, tolerance: float, mesh: MeshSamples) -> list[Fit]:
    """At most `most` capsules or balls around triangles (m, 3, 3), fewer if each is within `tolerance` [m] of them.

    The part whose shape is farthest from the mesh is cut again and again. Of all stages, the one is chosen that has the
    least room between shapes and mesh, where every further capsule must pay.
    """
    fitted = fitted_capsule if kind == "capsules" else fitted_ball
    parts = [_Part(triangles, (), fitted(triangles.reshape(-1, 3)))]
    hull = _half_spaces(triangles.reshape(-1, 3))
    found, least, first, done = [], np.inf, np.inf, set()
    while True:
        fits = [part.fit for part in parts]
        off = [_off(fit, [x for x in fits if x is not fit], mesh) for fit in fits]
        first = min(first, _WORSE * max(off))
        score = _room(fits, mesh) * _PAYS[kind] ** (1 - len(fits))
        if score < least and max(off) <= first:
            found, least = fits, score
        waiting = [k for k in np.argsort(off)[::-1] if off[k] > tolerance and id(parts[k]) not in done]
        if not waiting or len(parts) >= most:
            return found
        part = parts[waiting[0]]
        halves = _halves(part, kind, fitted, hull, mesh)
        if halves is None:
            done.add(id(part))
        else:
            parts = [x for x in parts if x is not part] + list(halves)


def _off(fit: Fit, others: list[Fit], mesh: MeshSamples) -> float:
    """About how far the surface is from the mesh where no other shape covers it [m]."""
    return float(_distances(fit, others, mesh).max(initial=0.0))


def _room(fits: list[Fit], mesh: MeshSamples) -> float:
    """About the room between shapes and mesh [m³]: the distance from a point of their surfaces, over these surfaces."""
    total = 0.0
    for fit in fits:
        girth = 2 * np.pi * fit.radius
        area = girth * float(np.linalg.norm(fit.end - fit.start) + 2 * fit.radius)
        total += area * float((_distances(fit, [x for x in fits if x is not fit], mesh) ** 2).sum()) / _SPREAD
    return total


def _distances(fit: Fit, others: list[Fit], mesh: MeshSamples) -> np.ndarray:
    """Distances [m] from points all over the surface of a shape, where no other covers it, to the mesh."""
    points = surface_samples(fit, _SPREAD)
    for other in others:
        points = points[inside_depth(other, points) < 0]
    return mesh.tree.query(points)[0] if len(points) else np.zeros(0)


# --- cuts -------------------------------------------------------------------------------------------------------------


def _halves(
    part: _Part, kind: str, fitted: Callable, hull: np.ndarray, mesh: MeshSamples
) -> tuple[_Part, _Part] | None:
    """The two parts that the best cut leaves; None if there is nothing to cut."""
    best, least = None, np.inf
    for normal, offset in _cuts(part, mesh) if kind == "capsules" else _middle(part):
        cut = []
        for n, c in ((normal, offset), (-normal, -offset)):
            triangles, walls = clipped(part.triangles, n, c), (*part.walls, (n, c))
            if not len(triangles):
                break
            points = np.concatenate([triangles.reshape(-1, 3), _corners(walls, hull)])
            cut.append(_Part(triangles, walls, fitted(points)))
        if len(cut) == 2 and (total := _room([x.fit for x in cut], mesh)) < least:
            best, least = (cut[0], cut[1]), total
    return best


def _middle(part: _Part) -> list[tuple[np.ndarray, float]]:
    """The plane in the middle of a part, across its longest principal axis."""
    points = _some_points(part.triangles)
    way = principal_frame(points)[0][:, 0]
    s = points @ way
    return [(way, float(s.min() + s.max()) / 2)] if np.ptp(s) > 0 else []


def _cuts(part: _Part, mesh: MeshSamples) -> list[tuple[np.ndarray, float]]:
    """The most promising planes (normal, offset), by quick fits to some points on both sides of many planes."""
    points = _some_points(part.triangles)
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


def _some_points(triangles: np.ndarray) -> np.ndarray:
    """Points of triangles: some that are spread over their areas, and their outermost corners."""
    size = np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    rng = np.random.default_rng(0)
    places = (np.arange(_POINTS) + 0.5) / _POINTS * size.sum()
    chosen = triangles[np.minimum(np.searchsorted(np.cumsum(size), places), len(triangles) - 1)]
    weights = rng.dirichlet(np.ones(3), _POINTS)
    spread = np.einsum("pc,pcx->px", weights, chosen)
    return np.concatenate([spread, outermost(hull_points(triangles.reshape(-1, 3)), 60)])


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
        judged.append((_room(fits, mesh), normals[k], offsets[k]))
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


def _half_spaces(points: np.ndarray) -> np.ndarray:
    """The half-spaces (m, 4), (normal, -offset), around the convex hull of points; none if they are flat."""
    try:
        return QuickHull(points).equations
    except QhullError:
        return np.zeros((0, 4))


def _corners(walls: tuple[tuple[np.ndarray, float], ...], hull: np.ndarray) -> np.ndarray:
    """The corners (k, 3) of a cell, each of three planes, that are inside of the hull of the mesh."""
    found = []
    for three in combinations(walls, 3):
        A, b = np.array([n for n, _ in three]), np.array([c for _, c in three])
        if abs(np.linalg.det(A)) > 1e-9:
            x = np.linalg.solve(A, b)
            others = [n @ x - c for n, c in walls if not any(n is m for m, _ in three)]
            if min(others, default=0.0) >= -1e-9 and (hull[:, :3] @ x + hull[:, 3]).max(initial=-1.0) <= 0:
                found.append(x)
    return np.array(found).reshape(-1, 3)
