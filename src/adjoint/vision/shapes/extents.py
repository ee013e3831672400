"""How far boundaries reach: their diameter, convex hull and basic rectangle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...extras import package
from ..image_checks import binary
from .boundaries import boundary_points

__all__ = ["BasicRectangle", "Diameter", "basic_rectangle", "convex_deficiency", "convex_hull", "diameter", "diameters"]

_FEW = 48  # for so many points, all pairs are compared faster than Qhull finds the hull


class Diameter(NamedTuple):
    """The `length` of a boundary's diameter [pixel], and its `ends` (2, 2), pixels (u, v)."""

    length: float
    ends: np.ndarray


class BasicRectangle(NamedTuple):
    """The rectangle around a boundary whose sides are along its diameter, and across it.

    `center` (2,) and `corners` (4, 2) are pixels (u, v); the first side of the corners is along the `major` axis. The
    `angle` of that axis is from u towards v [rad], in (-π/2, π/2]. `eccentricity` is major / minor, as in the textbook.
    """

    center: np.ndarray
    angle: float
    major: float
    minor: float
    eccentricity: float
    corners: np.ndarray


def convex_hull(boundary) -> np.ndarray:
    """The corners (m, 2) of the convex hull of points (n, 2) or a `Boundary`, clockwise as seen, by SciPy (Qhull).

    Points on one line have a hull of two corners.

        >>> convex_hull([[0, 0], [4, 0], [2, 1], [4, 4], [0, 4]]).tolist()
        [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]]
    """
    from scipy.spatial import ConvexHull

    points = boundary_points(boundary, "convex_hull", 1)
    middle = points.mean(axis=0)
    # Along their principal axes, one can see whether the points have any width.
    _, sizes, axes = np.linalg.svd(points - middle, full_matrices=False)
    if len(points) < 3 or sizes[1] <= 1e-12 * max(sizes[0], np.abs(points).max()):
        along = (points - middle) @ axes[0]
        ends = points[[along.argmin(), along.argmax()]]
        return ends[:1] if (ends[0] == ends[1]).all() else ends
    corners = points[ConvexHull(points).vertices]  # counter-clockwise for v up: clockwise as seen
    return np.roll(corners, -np.lexsort(corners.T)[0], axis=0)


def diameters(points: np.ndarray) -> tuple[float, np.ndarray]:
    """The largest distance of two of the points (n, 2), and all pairs (k, 2, 2) that are so far apart."""
    if len(points) > _FEW:
        points = convex_hull(points)
    du, dv = (np.subtract.outer(x, x) for x in points.T)
    squares = du * du + dv * dv
    most = squares.max()
    i, j = np.nonzero(np.triu(squares >= most * (1 - 1e-12)))
    return float(np.sqrt(most)), np.stack([points[i], points[j]], axis=1)


def diameter(boundary) -> Diameter:
    """The two points of a boundary (n, 2) that are farthest from each other; the major axis joins them.

    >>> diameter([[0, 0], [8, 0], [8, 4], [0, 4]]).length
    8.94427190999916
    """
    length, pairs = diameters(boundary_points(boundary, "diameter", 2))
    return Diameter(length, pairs[0])


def rectangles(points: np.ndarray) -> list[BasicRectangle]:
    """The basic rectangles of all diameters of points (n, 2)."""
    length, pairs = diameters(points)
    if not length:
        raise ArgumentError("basic_rectangle: all points of the boundary are one; it has no axes")
    return [_along(points, ends, length) for ends in pairs]


def _along(points: np.ndarray, ends: np.ndarray, length: float) -> BasicRectangle:
    e = (ends[1] - ends[0]) / length
    e = -e if (e[0], e[1]) < (0.0, 0.0) else e
    across = np.array([-e[1], e[0]])
    low, high = (points @ across).min(), (points @ across).max()
    center = ends.mean(axis=0) @ e * e + (low + high) / 2 * across
    minor = float(high - low)
    sides = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * np.array([length, minor]) / 2
    ratio = length / minor if minor > 1e-12 * length else np.inf
    corners = center + sides @ np.stack([e, across])
    return BasicRectangle(center, float(np.arctan2(e[1], e[0])), length, minor, ratio, corners)


def basic_rectangle(boundary) -> BasicRectangle:
    """The basic rectangle of a boundary (n, 2): along its diameter, which is the major axis, and across it.

    The minor axis is as long as it must be for the rectangle to enclose the boundary. If several diameters are equally
    long, the one with the narrowest rectangle is taken. `cv2.minAreaRect` is another rectangle: that of least area.

        >>> found = basic_rectangle([[0, 0], [8, 0], [8, 4], [0, 4]])
        >>> round(found.eccentricity, 3)
        1.25

    Reference: Fu, Gonzalez & Lee (1987), section 8.3.1; Freeman & Shapira (1975).
    """
    return min(rectangles(boundary_points(boundary, "basic_rectangle", 2)), key=lambda found: found.minor)


def convex_deficiency(image) -> np.ndarray:
    """What a binary image's convex hull has more than its object: truth values (rows, columns), by scikit-image.

    >>> convex_deficiency(np.array([[1, 0, 1], [1, 0, 1], [1, 1, 1]], bool)).tolist()
    [[False, True, False], [False, True, False], [False, False, False]]
    """
    image = binary(image, "convex_deficiency")
    rows = np.flatnonzero(image.any(axis=1))
    if not rows.size:
        raise ArgumentError("convex_deficiency: the image has no object pixels; one or more are needed")
    # The first and last pixel of each row have the hull of all; scikit-image has none of pixels on one line.
    first, last = image[rows].argmax(axis=1), image.shape[1] - 1 - image[rows, ::-1].argmax(axis=1)
    ends = convex_hull(np.concatenate([np.stack([first, rows], axis=1), np.stack([last, rows], axis=1)]))
    if len(ends) < 3:
        line = np.zeros_like(image)
        steps = np.gcd(*np.abs(ends[-1] - ends[0]).astype(int))
        u, v = np.rint(np.linspace(ends[0], ends[-1], steps + 1)).astype(int).T
        line[v, u] = True
        return line & ~image
    hull = package("skimage.morphology", "vision", "convex_deficiency").convex_hull_image
    return hull(image, offset_coordinates=False) & ~image
