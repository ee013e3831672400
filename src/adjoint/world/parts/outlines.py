"""Polygons in a plane: checks, triangles that fill them, and convex pieces. They need no package."""

from __future__ import annotations

import numpy as np

from ...compile.front.arguments import as_input
from ...errors import ArgumentError

__all__ = ["area_of", "convex_polygons", "outline_of", "triangulated"]

_MOST = 2000  # corners; checks compare all pairs of sides


def area_of(points: np.ndarray) -> float:
    """The signed area of a polygon (k, 2): positive if its corners go counterclockwise."""
    x, y = (points - points.mean(axis=0)).T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) / 2)


def outline_of(value, caller: str) -> np.ndarray:
    """A polygon (k, 2) without crossings, counterclockwise, without corners in the middle of straight sides."""
    points = np.array(as_input(value, "outline", caller), float)
    if points.ndim != 2 or points.shape[1] != 2 or not 3 <= len(points) <= _MOST:
        raise ArgumentError(f"{caller}: 'outline' must have shape (k, 2), k from 3 to {_MOST}, got {points.shape}")
    if not np.isfinite(points).all():
        bad = int(np.argmin(np.isfinite(points).all(axis=1)))
        raise ArgumentError(f"{caller}: corner {bad} of 'outline' is not finite")
    if (points[0] == points[-1]).all() and len(points) > 3:
        points = points[:-1]  # the way of other programs to close a polygon
    size = np.ptp(points, axis=0).max()
    same = np.linalg.norm(points - np.roll(points, -1, axis=0), axis=1) <= 1e-12 * size
    if same.any():
        k = int(np.argmax(same))
        raise ArgumentError(f"{caller}: corners {k} and {(k + 1) % len(points)} of 'outline' are the same point")
    area = area_of(points)
    if abs(area) <= 1e-12 * size**2:
        raise ArgumentError(f"{caller}: 'outline' has no area; all its corners lie on a line, or it crosses itself")
    points = points if area > 0 else points[::-1]
    crossing = _crossing(points)
    if crossing is not None:
        raise ArgumentError("{}: sides {} and {} of 'outline' meet; it must not cross itself".format(caller, *crossing))
    points = points[_turns(points) != 0]
    points.setflags(write=False)
    return points


def _turns(points: np.ndarray) -> np.ndarray:
    """For each corner (k,): 1 for a convex one, -1 for a reflex one, 0 for one on a straight line."""
    before, after = points - np.roll(points, 1, axis=0), np.roll(points, -1, axis=0) - points
    sine = (before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]) / (
        np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    )
    return np.where(np.abs(sine) < 1e-12, 0, np.sign(sine)).astype(int)


def _crossing(points: np.ndarray) -> tuple[int, int] | None:
    """The numbers of two sides that are not neighbours and meet, or of neighbours that turn back; or None."""
    k = len(points)
    a, b = points, np.roll(points, -1, axis=0)

    def side(p, q, r):
        return (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])

    A, B, C, D = a[:, None], b[:, None], a[None], b[None]
    across = (side(A, B, C) * side(A, B, D) <= 0) & (side(C, D, A) * side(C, D, B) <= 0)
    boxes = (np.maximum(A, B) >= np.minimum(C, D)).all(-1) & (np.maximum(C, D) >= np.minimum(A, B)).all(-1)
    i, j = np.indices((k, k))
    apart = (i < j) & (j - i > 1) & (j - i < k - 1)
    found = np.argwhere(across & boxes & apart)
    if len(found):
        return int(found[0][0]), int(found[0][1])
    back = (np.einsum("ij,ij->i", b - a, np.roll(b - a, -1, axis=0)) < 0) & (np.roll(_turns(points), -1) == 0)
    return (int(np.argmax(back)), (int(np.argmax(back)) + 1) % k) if back.any() else None


def triangulated(points: np.ndarray) -> np.ndarray:
    """Triangles (k - 2, 3) of the numbers of the corners that fill a polygon of `outline_of`, by cutting off ears."""
    left = list(range(len(points)))
    found = []
    while len(left) > 3:
        ring = points[left]
        # A corner that lies on a line stays as an obstacle: no triangle may have it in the middle of a side.
        turns = _turns(ring)
        blocking = np.flatnonzero(turns <= 0)
        for k in np.flatnonzero(turns > 0):
            i, j = k - 1, (k + 1) % len(left)
            others = blocking[(blocking != i % len(left)) & (blocking != j)]
            if not _inside(ring[others], ring[i], ring[k], ring[j]).any():
                found.append((left[i], left[k], left[j]))
                del left[k]
                break
        else:  # rounding errors alone lead here
            found.append((left[-1], left[0], left[1]))
            del left[0]
    return np.array([*found, tuple(left)])


def _inside(points, a, b, c) -> np.ndarray:
    """Whether points (m, 2) lie in the triangle a, b, c or on its border."""
    sides = [
        (q[0] - p[0]) * (points[:, 1] - p[1]) - (q[1] - p[1]) * (points[:, 0] - p[0])
        for p, q in ((a, b), (b, c), (c, a))
    ]
    return np.min(sides, axis=0) >= 0


def convex_polygons(points: np.ndarray) -> list[list[int]]:
    """Convex polygons that fill a polygon, as numbers of its corners (Hertel & Mehlhorn 1983).

    Triangles grow together across the diagonals between them as long as they stay convex; at most four times as many
    pieces as needed are left.
    """
    pieces = [list(t) for t in triangulated(points).tolist()]
    merged = True
    while merged:
        merged = False
        owner = {(p[i], p[(i + 1) % len(p)]): n for n, p in enumerate(pieces) for i in range(len(p))}
        for (a, b), n in owner.items():
            m = owner.get((b, a))
            if m is None or m == n:
                continue
            p, q = pieces[n], pieces[m]
            i, j = p.index(a), q.index(b)
            joined = p[i + 1 :] + p[: i + 1] + (q[j + 1 :] + q[: j + 1])[1:-1]
            if len(set(joined)) == len(joined) and (_turns(points[joined]) >= 0).all():
                pieces = [x for k, x in enumerate(pieces) if k not in (n, m)] + [joined]
                merged = True
                break
    return pieces
