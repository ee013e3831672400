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

    Reference: Fu, Gonzalez & Lee (1987), Fig. 8.30; Sklansky, Chazin & Hansen (1972); the algorithm is that of Gonzalez
    & Woods, Digital Image Processing, section 11.1: "MPP algorithm".
    """
    corners, convex = _walls(_cracks(shape))
    # The first corner in the order of rows is a convex corner of the hull, so the polygon has it.
    first = int(np.lexsort((*corners.T, ~convex))[0])
    order = np.r_[first : len(corners), 0 : first + 1]
    found = _pull(corners[order].tolist(), convex[order].tolist())
    return corners[order][found]


def _cracks(shape) -> np.ndarray:
    if isinstance(shape, ChainCode | str):
        code = ChainCode(shape) if isinstance(shape, str) else shape
        points = chain_points(code)
    elif isinstance(shape, Boundary):
        code, points = chain_code(shape, directions=4), boundary_points(shape, "minimum_perimeter_polygon")
    else:
        return outer_boundary(shape, "minimum_perimeter_polygon").points
    if code.directions != 4 or not code.closed:
        raise ArgumentError("minimum_perimeter_polygon: a closed code of 4 directions, along cracks, is needed")
    u, v = points.T
    if u @ np.roll(v, -1) < v @ np.roll(u, -1):
        raise ArgumentError(
            "minimum_perimeter_polygon: the boundary runs counter-clockwise as seen; reverse its points"
        )
    return points


def _walls(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners (k, 2) of the walls that the band can touch, one for each of the boundary; which are convex."""
    before, after = points - np.roll(points, 1, axis=0), np.roll(points, -1, axis=0) - points
    turn = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    # A convex corner of the boundary gives the object pixel inside of it, a concave one the background pixel outside.
    return (points + (after - before) / 2)[turn != 0], turn[turn != 0] > 0


def _pull(corners: list[list[float]], convex: list[bool]) -> list[int]:
    """Numbers of the corners that a band touches which is pulled tight from the first corner to the last, its repeat.

    Two crawlers stand on the corners of the inner (white) and the outer wall (black) that limit the view from the last
    corner of the polygon. A corner that is out of the view makes one of them the next corner of the polygon.
    """
    found, last, k, end = [], 0, 1, len(corners) - 1
    white = black = 0
    while True:
        found.append(last)
        white = black = last
        k = last + 1
        while k <= end:
            at = corners[k]
            if _beyond(corners[last], corners[white], at, 1.0):
                last = white
                break
            if _beyond(corners[last], corners[black], at, -1.0):
                last = black
                break
            if convex[k]:
                white = k
            else:
                black = k
            k += 1
        else:
            return found


def _beyond(a: list[float], b: list[float], c: list[float], side: float) -> bool:
    """Whether c is right (side 1) or left (-1) of the line from a to b as seen, or back from b towards a."""
    du, dv, eu, ev = b[0] - a[0], b[1] - a[1], c[0] - b[0], c[1] - b[1]
    turn = side * (du * ev - dv * eu)
    return turn > 0 or (turn == 0 and du * eu + dv * ev < 0)
