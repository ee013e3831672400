"""Convex polygons in a plane of space: hulls, what triangles cut out of them, and how far a point is outside."""

from __future__ import annotations

import numpy as np

__all__ = ["clipped", "hull", "outside_by"]


def _axes(normal: np.ndarray) -> np.ndarray:
    """Two unit vectors (2, 3) that span the plane; the normal is their cross product."""
    a = np.eye(3)[np.argmin(np.abs(normal))]
    u = _cross(normal, a)
    u /= np.linalg.norm(u)
    return np.stack([u, _cross(normal, u)])


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The cross product of two vectors (3,), much faster than NumPy's of any shape."""
    (a_1, a_2, a_3), (b_1, b_2, b_3) = a.tolist(), b.tolist()
    return np.array([a_2 * b_3 - a_3 * b_2, a_3 * b_1 - a_1 * b_3, a_1 * b_2 - a_2 * b_1])


def hull(points: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """The corners (m, 3) of the convex hull of points (k, 3), seen along a normal, counterclockwise (Andrew 1979)."""
    flat = points @ _axes(normal).T
    flat = flat - flat.min(axis=0)
    scale = float(flat.max(initial=0.0))
    # On a grid, points that differ by rounding are one, and the order along x is not a matter of rounding.
    flat = np.round(flat * (2**30 / scale)) if scale > 0 else 0 * flat
    order = np.unique(flat, axis=0, return_index=True)[1].tolist()
    if len(order) < 3:
        return points[order]

    def chain(numbers) -> list[int]:
        found: list[int] = []
        for k in numbers:
            while len(found) > 1 and _turn(flat[found[-2]], flat[found[-1]], flat[k]) <= 0:
                found.pop()
            found.append(k)
        return found[:-1]

    return points[chain(order) + chain(order[::-1])]


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def clipped(polygon: np.ndarray, triangles: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """The hull (m, 3) of what triangles (t, 3, 3) have in common with a convex polygon (k, 3) of the same plane.

    A polygon may be a segment or a point. (Sutherland & Hodgman 1974.)
    """
    found = []
    for triangle in triangles:
        if _cross(triangle[1] - triangle[0], triangle[2] - triangle[0]) @ normal < 0:
            triangle = triangle[::-1]
        rest = polygon
        for a, b in zip(triangle, triangle[[1, 2, 0]], strict=True):
            inward = _cross(normal, b - a)
            rest = _half(rest, a, inward / np.linalg.norm(inward))
            if not len(rest):
                break
        found += list(rest)
    return hull(np.array(found), normal) if found else np.zeros((0, 3))


def _half(polygon: np.ndarray, point: np.ndarray, inward: np.ndarray) -> np.ndarray:
    """The part of a convex polygon on one side of a line."""
    heights = (polygon - point) @ inward
    heights = np.where(np.abs(heights) < 1e-9, 0.0, heights)
    if (heights >= 0).all():
        return polygon
    before = np.arange(-1, len(polygon) - 1)
    earlier, start = heights[before], polygon[before]
    crosses, stays = earlier * heights < 0, heights >= 0
    cut = start + (earlier / np.where(crosses, earlier - heights, 1.0))[:, None] * (polygon - start)
    # Where an edge crosses the line, the point of crossing comes before the corner at the edge's end.
    return np.stack([cut, polygon], axis=1)[np.stack([crosses, stays], axis=1)]


def outside_by(point: np.ndarray, polygon: np.ndarray, normal: np.ndarray) -> float:
    """How far [m] a point is outside of a convex polygon (k, 3), seen along the normal; 0 inside."""
    axes = _axes(normal)
    p, corners = point @ axes.T, polygon @ axes.T
    if len(corners) == 1:
        return float(np.linalg.norm(p - corners[0]))
    inside, least = len(corners) > 2, np.inf
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        side = b - a
        inside &= _turn(a, b, p) >= 0
        along = np.clip((p - a) @ side / (side @ side), 0.0, 1.0)
        least = min(least, float(np.linalg.norm(p - a - along * side)))
    return 0.0 if inside else least
