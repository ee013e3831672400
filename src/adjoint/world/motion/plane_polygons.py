"""Polygons in the plane: checks, convex pieces, Minkowski sums, and what a turning polygon sweeps.

A polygon is an array (k, 2) [m] of its corners in order, without the first one again at the end. What these functions
return is counterclockwise and has no corner of 180 degrees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import floats

__all__ = ["convex_pieces", "grow_obstacle", "minkowski_sum", "swept_polygon"]

_NEAR = 1e-10  # lengths, relative to the size of a polygon, that count as zero


def cross(a, b):
    """The third component of the cross product of vectors (..., 2)."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def area(polygon: np.ndarray) -> float:
    """The area of a polygon; it is negative if its corners run clockwise."""
    return float(cross(polygon, np.roll(polygon, -1, axis=0)).sum() / 2)


def _size(points: np.ndarray) -> float:
    return float(np.ptp(points, axis=0).max())


def checked_polygon(caller: str, label: str, points) -> np.ndarray:
    """The polygon as a counterclockwise array (k, 2) without straight corners, or an `ArgumentError` that names it."""
    p = floats(points)
    if p.ndim != 2 or p.shape[1:] != (2,) or len(p) < 3 or not np.isfinite(p).all():
        shape = f"shape {p.shape}" if p.ndim else f"{points!r:.60}"
        raise ArgumentError(f"{caller}: {label} must be a polygon: three or more finite corners (k, 2); got {shape}")
    size = _size(p)
    p = p[np.linalg.norm(p - np.roll(p, 1, axis=0), axis=1) > _NEAR * size]
    if len(p) < 3 or np.linalg.svd(p - p[0], compute_uv=False)[1] <= _NEAR * size:
        raise ArgumentError(f"{caller}: {label} has no area: its corners lie on one line")
    crossing = _crossing_edges(p, size)
    if crossing is not None:
        a, b = crossing
        raise ArgumentError(
            f"{caller}: {label} crosses or touches itself: its edge {_shown(p, a)} meets its edge {_shown(p, b)}"
        )
    return without_straight_corners(p if area(p) > 0 else p[::-1])


def _shown(polygon: np.ndarray, edge: int) -> str:
    a, b = polygon[edge], polygon[(edge + 1) % len(polygon)]
    return f"({a[0]:g}, {a[1]:g}) to ({b[0]:g}, {b[1]:g})"


def _crossing_edges(p: np.ndarray, size: float) -> tuple[int, int] | None:
    """Two edges of the polygon that have a point in common which is not their common corner, or None."""
    n, ends = len(p), np.roll(p, -1, axis=0)
    i, j = np.triu_indices(n, 1)
    a, b, c, d = p[i], ends[i], p[j], ends[j]
    near = _NEAR * size**2
    u, v, w, x = cross(b - a, c - a), cross(b - a, d - a), cross(d - c, a - c), cross(d - c, b - c)
    apart = (np.minimum(u, v) > near) | (np.maximum(u, v) < -near) | (np.minimum(w, x) > near)
    apart |= np.maximum(w, x) < -near
    flat = np.maximum(np.abs(u), np.abs(v)) <= near  # on one line: compare them along it
    along = (b - a) / np.linalg.norm(b - a, axis=1, keepdims=True)
    s, t = ((c - a) * along).sum(axis=1), ((d - a) * along).sum(axis=1)
    length = np.linalg.norm(b - a, axis=1)
    overlap = (np.minimum(s, t) < length - _NEAR * size) & (np.maximum(s, t) > _NEAR * size)
    neighbours = (j == i + 1) | ((i == 0) & (j == n - 1))
    bad = np.where(flat, overlap, ~apart & ~neighbours)
    k = int(np.argmax(bad))
    return (int(i[k]), int(j[k])) if bad.any() else None


def without_straight_corners(p: np.ndarray) -> np.ndarray:
    """The polygon without its corners of 180 degrees."""
    before, after = p - np.roll(p, 1, axis=0), np.roll(p, -1, axis=0) - p
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    bent = np.abs(cross(before, after)) > _NEAR * lengths
    return p[bent]


def named_polygons(caller: str, obstacles) -> dict[str, np.ndarray]:
    """Obstacles, a sequence of polygons or {name: polygon}, as checked polygons with names."""
    if not isinstance(obstacles, Mapping | Sequence | np.ndarray):
        raise ArgumentError(f"{caller}: obstacles must be a sequence of polygons (k, 2) or {{name: polygon}}")
    items = obstacles.items() if isinstance(obstacles, Mapping) else enumerate(obstacles)
    return {str(name): checked_polygon(caller, f"obstacle '{name}'", p) for name, p in items}


def hull(points: np.ndarray) -> np.ndarray:
    """The convex hull of points (n, 2), counterclockwise (Andrew's monotone chain)."""
    ordered = points[np.lexsort((points[:, 1], points[:, 0]))]
    near = _NEAR * max(_size(points), np.finfo(float).tiny) ** 2

    def chain(points) -> list[Any]:
        kept: list[Any] = []
        for p in points:
            while len(kept) > 1 and cross(kept[-1] - kept[-2], p - kept[-2]) <= near:
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


# --- convex pieces ----------------------------------------------------------------------------------------------------


def convex_pieces(polygon) -> tuple[np.ndarray, ...]:
    """Convex polygons that make up a simple polygon (k, 2) and overlap in edges only.

        >>> pieces = convex_pieces([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]])          # an L
        >>> len(pieces)
        2

    Ears are cut off (Meisters 1975), and diagonals that no reflex corner needs are taken out again (Hertel & Mehlhorn
    1983), so there are at most four times as many pieces as there must be. A convex polygon is its only piece.
    """
    p = checked_polygon("convex_pieces", "polygon", polygon)
    if (_turns(p) > 0).all():
        return (p,)
    pieces = _merged(p, _triangles(p))
    return tuple(p[piece] for piece in pieces)


def _turns(p: np.ndarray) -> np.ndarray:
    return cross(p - np.roll(p, 1, axis=0), np.roll(p, -1, axis=0) - p)


def _triangles(p: np.ndarray) -> list[list[int]]:
    """Triangles of corner numbers, by cutting off ears; after each cut only its two neighbours are looked at again."""
    n, near = len(p), _NEAR * _size(p) ** 2
    left, before, after = np.ones(n, bool), np.roll(np.arange(n), 1), np.roll(np.arange(n), -1)
    heights, is_ear, found = np.zeros(n), np.zeros(n, bool), []

    def look(k: int) -> None:
        others = left.copy()
        others[[before[k], k, after[k]]] = False
        heights[k], is_ear[k] = _ear(p[before[k]], p[k], p[after[k]], p[others], near)

    for k in range(n):
        look(k)
    for _ in range(n - 3):
        # Rounding may leave a rest without any ear; its corners then lie on one line to within rounding.
        choice = left & is_ear if (left & is_ear).any() else left
        k = int(np.argmax(np.where(choice, heights, -np.inf)))  # slender triangles come last
        a, c = int(before[k]), int(after[k])
        found.append([a, k, c])
        left[k], after[a], before[c] = False, c, a
        look(a)
        look(c)
    k = int(np.argmax(left))
    return [t for t in [*found, [int(before[k]), k, int(after[k])]] if abs(area(p[t])) > 0]


def _ear(a: np.ndarray, b: np.ndarray, c: np.ndarray, others: np.ndarray, near: float) -> tuple[float, bool]:
    """The least height of the triangle at a corner b, and whether it is an ear: it has no other corner inside."""
    turn = float(cross(b - a, c - b))
    longest = max(np.linalg.norm(b - a), np.linalg.norm(c - b), np.linalg.norm(a - c))
    inside = (
        (cross(b - a, others - a) > -near) & (cross(c - b, others - b) > -near) & (cross(a - c, others - c) > -near)
    )
    return turn / float(longest), turn > near and not inside.any()


def _merged(p: np.ndarray, pieces: list[list[int]]) -> list[list[int]]:
    """The pieces, joined over common edges where the results are convex.

    Joining others makes no angle smaller, so that each edge is tried once.
    """
    near = _NEAR * _size(p) ** 2
    owner = {edge: piece for piece in pieces for edge in _edges(piece)}
    for edge in list(owner):
        a, b = owner.get(edge), owner.get((edge[1], edge[0]))
        if a is None or b is None or edge[0] > edge[1]:
            continue
        both = _joined(a, b, edge)
        if (_turns(p[both]) > -near).all():
            owner |= dict.fromkeys(_edges(both), both)
            del owner[edge], owner[edge[1], edge[0]]
    return list({id(piece): piece for piece in owner.values()}.values())


def _edges(piece: list[int]) -> list[tuple[int, int]]:
    return list(zip(piece, [*piece[1:], piece[0]], strict=True))


def _joined(a: list[int], b: list[int], edge: tuple[int, int]) -> list[int]:
    """Two pieces joined over an edge, along which a runs from its first corner to its second, and b back."""
    i, j = a.index(edge[0]), b.index(edge[0])
    return a[: i + 1] + (b[j + 1 :] + b[:j])[:-1] + a[i + 1 :]


# --- Minkowski sums ---------------------------------------------------------------------------------------------------


def minkowski_sum(a, b) -> np.ndarray:
    """The Minkowski sum {x + y : x in a, y in b} of two convex polygons, a convex polygon (k, 2).

        >>> square = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
        >>> minkowski_sum(square, 2 * square).max(axis=0).tolist()
        [3.0, 3.0]

    The edges of the sum are those of both, in the order of their directions: one merge, O(n + m) (Lozano-Pérez 1983).
    """
    p, q = (checked_polygon("minkowski_sum", f"polygon '{name}'", x) for name, x in (("a", a), ("b", b)))
    for name, x in (("a", p), ("b", q)):
        if (_turns(x) <= 0).any():
            raise ArgumentError(
                f"minkowski_sum: polygon '{name}' is not convex; grow_obstacle takes such polygons, by convex_pieces"
            )
    return convex_sum(p, q)


def convex_sum(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The Minkowski sum of convex counterclockwise polygons, which may be single points (1, 2)."""
    p, q = (np.roll(x, -np.lexsort((x[:, 0], x[:, 1]))[0], axis=0) for x in (p, q))  # from the lowest corner on
    u, v = np.roll(p, -1, axis=0) - p, np.roll(q, -1, axis=0) - q
    if len(p) == 1 or len(q) == 1:
        return p + q
    corners, i, j = [p[0] + q[0]], 0, 0
    while i < len(u) or j < len(v):
        if i < len(u) and j < len(v):
            turn = cross(u[i], v[j])
            step, (i, j) = (u[i], (i + 1, j)) if turn > 0 else (v[j], (i, j + 1))
        else:
            step, (i, j) = (u[i], (i + 1, j)) if i < len(u) else (v[j], (i, j + 1))
        corners.append(corners[-1] + step)
    return without_straight_corners(np.array(corners[:-1]))


def grow_obstacle(obstacle, robot) -> tuple[np.ndarray, ...]:
    """The positions of a robot's reference point at which the robot overlaps an obstacle: obstacle ⊕ (-robot).

        >>> robot = [[0, 0], [1, 0], [1, 1], [0, 1]]                    # its reference point is its lower left corner
        >>> grown, = grow_obstacle([[2, 1], [4, 1], [4, 3], [2, 3]], robot)
        >>> grown.min(axis=0).tolist(), grown.max(axis=0).tolist()
        ([1.0, 0.0], [4.0, 3.0])

    Parameters
    ----------
    obstacle
        A simple polygon (k, 2) [m], convex or not.
    robot
        The robot as a simple polygon (m, 2), whose reference point is the origin; None stands for a point.

    Returns
    -------
    Convex polygons whose union is the grown obstacle: one of each convex piece of the obstacle and of the robot. The
    robot hits the obstacle where its reference point is inside of the union; on its border the two just touch.
    Lozano-Pérez (1983), "Spatial planning: a configuration space approach"; Fu, Gonzalez & Lee (1987), Sec. 10.9.2.
    """
    p = checked_polygon("grow_obstacle", "obstacle", obstacle)
    return grown_pieces(convex_pieces(p), robot_pieces("grow_obstacle", robot))


def robot_pieces(caller: str, robot) -> tuple[np.ndarray, ...]:
    """The convex pieces of a robot; that of a point is the origin (1, 2)."""
    if robot is None:
        return (np.zeros((1, 2)),)
    return convex_pieces(checked_polygon(caller, "robot", robot))


def grown_pieces(obstacle: Sequence[np.ndarray], robot: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """The Minkowski sums of all convex pieces of an obstacle with all mirrored pieces of a robot."""
    return tuple(convex_sum(a, -b) for a in obstacle for b in robot)


def turned(points: np.ndarray, angle: float) -> np.ndarray:
    """Points (n, 2), turned about the origin by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[c, s], [-s, c]])


def swept_polygon(polygon, start: float, end: float) -> np.ndarray:
    """A convex polygon that contains a polygon (k, 2) at all angles from `start` to `end` [rad].

        >>> square = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
        >>> swept_polygon(square, 0.0, np.pi / 8).shape
        (6, 2)

    It turns about the origin, by less than π. A corner at the distance r runs on an arc, which the two tangents at its
    ends enclose: the hull of both ends and of the point at r / cos(Δ/2) between them, Δ = end - start, contains it. So
    the hull of these points over all corners contains the polygon at each angle; it exceeds the sweep by at most
    r (1 / cos(Δ/2) - 1).
    """
    p = checked_polygon("swept_polygon", "polygon", polygon)
    if not abs(end - start) < np.pi:
        raise ArgumentError(f"swept_polygon: the angle must be less than π; got {start} to {end}")
    return swept_hull(p, start, end)


def swept_hull(p: np.ndarray, start: float, end: float) -> np.ndarray:
    """`swept_polygon` of a checked polygon, or of a point robot, the origin (1, 2)."""
    if len(p) == 1:
        return p
    middle, half = (start + end) / 2, (end - start) / 2
    return hull(np.concatenate([turned(p, start), turned(p, end), turned(p, middle) / np.cos(half)]))
