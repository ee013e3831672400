"""The minimum-perimeter polygon of a digital region: a rubber band between the object and the background."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from .boundaries import Boundary, boundary_points
from .chain_codes import ChainCode, chain_code, chain_points, outer_boundary

__all__ = ["minimum_perimeter_polygon"]


def minimum_perimeter_polygon(shape) -> np.ndarray:
    """The shortest closed polygon around the object's pixel centres that has no background centre inside: (m, 2).

    The shape is a binary image with one region, one of its `crack_boundaries`, or a closed 4-code; holes are ignored. A
    cell of one pixel's size lies around each lattice point of the boundary. The cells make a strip, whose inner wall
    goes through centres of object pixels and whose outer wall goes through centres of background pixels; a rubber band
    in the strip shrinks to this polygon. So its corners are pixels (u, v): convex corners touch the inner wall, and
    concave ones the outer wall. It is at most √2/2 pixels from the boundary. Of a region that is one pixel wide, it
    goes to and fro; of one pixel, it is that pixel.

        >>> minimum_perimeter_polygon(np.ones((3, 4), bool)).tolist()
        [[0.0, 0.0], [3.0, 0.0], [3.0, 2.0], [0.0, 2.0]]

    Reference: Fu, Gonzalez & Lee (1987), Fig. 8.30; Sklansky, Chazin & Hansen (1972). The algorithm is the funnel of
    Lee & Preparata (1984); the crawlers of Gonzalez & Woods' "MPP algorithm" may leave corners that are not needed.
    """
    inside, outside = _links(_cracks(shape))
    found = _pull(inside.tolist(), outside.tolist())
    return _without_straight(np.array(found))


def _without_straight(polygon: np.ndarray) -> np.ndarray:
    """The polygon without corners where it goes straight on, as it may where it touches both walls in a line."""
    new = (polygon != np.roll(polygon, -1, axis=0)).any(axis=1)  # corners may be there twice, where links meet
    polygon = polygon[new] if new.any() else polygon[:1]
    if len(polygon) < 3:
        return polygon
    before, after = polygon - np.roll(polygon, 1, axis=0), np.roll(polygon, -1, axis=0) - polygon
    turn = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return polygon[(turn != 0) | ((before * after).sum(axis=1) < 0)]


def _cracks(shape) -> np.ndarray:
    if isinstance(shape, ChainCode | str):
        code = ChainCode(shape) if isinstance(shape, str) else shape
        points = chain_points(code)
    elif isinstance(shape, Boundary):
        code, points = chain_code(shape, directions=4), boundary_points(shape, "minimum_perimeter_polygon")
    else:
        return outer_boundary(shape, "minimum_perimeter_polygon").points
    if code.directions != 4 or not code.closed or not len(code):
        raise ArgumentError("minimum_perimeter_polygon: a closed code of 4 directions, along cracks, is needed")
    u, v = points.T
    if u @ np.roll(v, -1) < v @ np.roll(u, -1):
        raise ArgumentError(
            "minimum_perimeter_polygon: the boundary runs counter-clockwise as seen; reverse its points"
        )
    return points


def _links(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The links that the band crosses, one by one: object pixels (k, 2), and the background pixels beside them.

    There is one link across each crack; those inside of straight parts limit nothing, and are left out. The first
    link is at the object's first pixel in the order of rows, which is a corner of the convex hull; all ends there, too.
    """
    step = np.roll(points, -1, axis=0) - points
    right = np.stack([-step[:, 1], step[:, 0]], axis=1) / 2
    middle = points + step / 2
    ends = (step != np.roll(step, 1, axis=0)).any(axis=1) | (step != np.roll(step, -1, axis=0)).any(axis=1)
    inside, outside, east = (middle + right)[ends], (middle - right)[ends], step[ends, 0] > 0
    first = int(np.lexsort((inside[:, 0], inside[:, 1], ~east))[0])
    order = np.r_[first : len(inside), 0:first]
    start = inside[first : first + 1]
    return np.concatenate([inside[order], start]), np.concatenate([outside[order], start])


def _pull(inside: list[list[float]], outside: list[list[float]]) -> list[list[float]]:
    """The corners of the shortest path that crosses all links, from the first object pixel back to it.

    What can be seen from the last corner lies between two rays: along the walls on the right (inside) and on the left
    (outside). Links make the view narrower. If one closes it, the point where the other wall stands becomes a corner.
    """
    found, k = [], 0
    corner = right = left = inside[0]
    at_right = at_left = 0
    while k < len(inside) - 1:
        k += 1
        if _turn(corner, right, inside[k]) <= 0:
            if right != corner and _turn(corner, left, inside[k]) <= 0:  # beyond the left ray
                found.append(corner)
                corner, k = left, at_left
                right, at_right = corner, k
                continue
            right, at_right = inside[k], k
        if _turn(corner, left, outside[k]) >= 0:
            if left != corner and _turn(corner, right, outside[k]) >= 0:
                found.append(corner)
                corner, k = right, at_right
                left, at_left = corner, k
                continue
            left, at_left = outside[k], k
    return [*found, corner]


def _turn(a: list[float], b: list[float], c: list[float]) -> float:
    """Positive if c is on the right of the line from a to b as seen, and negative on its left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
