"""Polygons that approximate boundaries: by merging points into lines, and by splitting at the farthest point."""

from __future__ import annotations

import itertools

import numpy as np

from ...model.input_checks import positive
from .boundaries import boundary_points
from .extents import diameter

__all__ = ["merged_polygon", "split_polygon"]


def split_polygon(boundary, tolerance: float) -> np.ndarray:
    """A polygon (m, 2) of some points of a closed boundary (n, 2), by splitting it at the farthest points.

    It starts with the two ends of the diameter. A part of the boundary whose largest distance from the line through its
    ends is above the `tolerance` [pixel] is split there. With tolerance 0, every point that is not on a straight part
    is a corner. OpenCV's `approxPolyDP` and scikit-image's `approximate_polygon` split in the same way, from the first
    point of the list.

        >>> corners = np.array([[0.0, 0], [4, 0.1], [8, 0], [8, 4], [0, 4]])
        >>> split_polygon(corners, 0.25 * diameter(corners).length).tolist()
        [[0.0, 0.0], [8.0, 0.0], [8.0, 4.0], [0.0, 4.0]]

    Reference: Fu, Gonzalez & Lee (1987), Fig. 8.31.
    """
    points = boundary_points(boundary, "split_polygon")
    most = positive(tolerance, "split_polygon: tolerance", or_zero=True)
    points, half = _from_diameter(points)
    n = len(points)
    around = np.concatenate([points, points[:1]])
    slack = most + 1e-12 * np.abs(points).max()
    kept, parts = {0, half}, [(0, half), (half, n)]
    while parts:
        i, k = parts.pop()
        if k - i < 2:
            continue
        off = _distances(around[i + 1 : k], around[i], around[k])
        far = int(off.argmax())
        if off[far] > slack:
            j = i + 1 + far
            kept.add(j)
            parts += [(i, j), (j, k)]
    return points[sorted(kept)]


def _from_diameter(points: np.ndarray) -> tuple[np.ndarray, int]:
    """The points from one end of the diameter on, and the number of its other end there."""
    ends = diameter(points).ends
    first, second = ((points == end).all(axis=1).argmax() for end in ends)
    return np.roll(points, -first, axis=0), int((second - first) % len(points))


def _distances(points: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Distances of points from the line through a and b, or from a if both are one."""
    along, off = b - a, points - a
    length = np.hypot(*along)
    if not length:
        return np.hypot(*off.T)
    return np.abs(off[:, 0] * along[1] - off[:, 1] * along[0]) / length


def merged_polygon(boundary, tolerance: float) -> np.ndarray:
    """A polygon (m, 2) whose sides are least-squares lines through parts of a closed boundary (n, 2).

    From one end of the diameter on, points are merged into a line as long as the root of the mean squared distance from
    it is at most the `tolerance` [pixel]; then a new line starts at the last point that fitted. Corners are where
    successive lines meet; where they are so nearly parallel that this is farther away than half of the shorter line,
    it is the middle between the points of both that are nearest to where the second one starts. If one line fits all
    points, the diameter's ends on it are the two corners. As the textbook warns, a line runs past a corner of the
    boundary until the tolerance is used up; `split_polygon` does not.

        >>> square = [[0, 0], [1, 0], [2, 0], [2, 1], [2, 2], [1, 2], [0, 2], [0, 1]]
        >>> merged_polygon(square, 0.0).round(9).tolist()
        [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]]

    Reference: Fu, Gonzalez & Lee (1987), section 8.3.1; Pavlidis (1977).
    """
    points = boundary_points(boundary, "merged_polygon")
    most = positive(tolerance, "merged_polygon: tolerance", or_zero=True)
    points, half = _from_diameter(points)
    around = np.concatenate([points, points[:1]])
    middle = points.mean(axis=0)
    x, y = (around - middle).T
    # Sums up to each point give the scatter of any part of the boundary at once.
    sums = np.zeros((6, len(around) + 1))
    np.cumsum(np.stack([np.ones_like(x), x, y, x * x, x * y, y * y]), axis=1, out=sums[:, 1:])
    slack = most**2 + 1e-14 * (x @ x + y @ y)
    starts = [0]
    while starts[-1] < len(around) - 1:
        starts.append(_longest(sums, starts[-1], slack))
    lines = [_line(sums, i, k) for i, k in itertools.pairwise(starts)]
    if len(lines) == 1:
        (p, d), both = lines[0], points[[0, half]] - middle
        return p + ((both - p) @ d)[:, None] * d + middle
    ends = around[starts] - middle
    lengths = np.hypot(*np.diff(ends, axis=0).T)
    reach = np.minimum(lengths, np.roll(lengths, 1)) / 2
    return np.array([_meet(lines[k - 1], lines[k], ends[k], reach[k]) for k in range(len(lines))]) + middle


def _scatter(sums: np.ndarray, i: int, k) -> tuple[np.ndarray, ...]:
    """Of the points i to k: their number, means, and sums of squares about them; k may be an array."""
    n, x, y, xx, xy, yy = sums[:, np.asarray(k) + 1] - (sums[:, i] if np.ndim(k) == 0 else sums[:, i, None])
    return n, x / n, y / n, xx - x * x / n, xy - x * y / n, yy - y * y / n


def _longest(sums: np.ndarray, i: int, most: float) -> int:
    """The last point of the longest line from point i: the one before the first that makes the error too large."""
    end, size = sums.shape[1] - 2, 16
    low = i + 1
    while low < end:
        k = np.arange(low + 1, min(low + size, end) + 1)
        n, _, _, xx, xy, yy = _scatter(sums, i, k)
        # The least eigenvalue of the scatter is the sum of squared distances from the best line.
        squares = (xx + yy) / 2 - np.hypot((xx - yy) / 2, xy)
        bad = np.flatnonzero(squares / n > most)
        if bad.size:
            return int(k[bad[0]]) - 1
        low, size = int(k[-1]), 2 * size
    return end


def _line(sums: np.ndarray, i: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """A point of the best line through the points i to k, and its direction."""
    _, x, y, xx, xy, yy = _scatter(sums, i, k)
    angle = 0.5 * np.arctan2(2 * xy, xx - yy)
    return np.array([x, y]), np.array([np.cos(angle), np.sin(angle)])


def _meet(one, two, between: np.ndarray, reach: float) -> np.ndarray:
    """Where two lines meet, or if that is out of reach, the middle of what is nearest on both to the point between."""
    (p, d), (q, e) = one, two
    cross = d[0] * e[1] - d[1] * e[0]
    if abs(cross) > 1e-9:
        t = ((q[0] - p[0]) * e[1] - (q[1] - p[1]) * e[0]) / cross
        if np.hypot(*(p + t * d - between)) <= reach:
            return p + t * d
    return (p + (between - p) @ d * d + q + (between - q) @ e * e) / 2
