"""Boundaries of regions: as cracks between pixels, and as lists of pixels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import floats
from ..image_checks import binary, opencv

__all__ = ["Boundary", "boundary_points", "crack_boundaries", "four_or_eight", "pixel_boundaries", "real_floats"]

_FAR = 1e100  # [pixel]: squares of what is nearer do not overflow

# Cracks run to the east, north, west and south, as the digits 0, 1, 2, 3 of a chain code, with the object on the right.
# A vertex is between four pixels, and its pattern has their bits NW 1, NE 2, SW 4, SE 8. The crack that leaves a vertex
# follows from the pattern, except where two pixels touch at their corner (6 and 9), which two cracks leave.
_LEAVES = np.array([0, 2, 1, 2, 3, 3, 1, 3, 0, 0, 1, 2, 0, 0, 1, 0], np.uint8)
_TOUCH_LEAVES = {6: 3, 9: 2}  # the second crack
_STEPS_U, _STEPS_V = np.array([1, 0, -1, 0]), np.array([0, -1, 0, 1])


class Boundary(NamedTuple):
    """A closed boundary, or an open contour: `points` (n, 2), pixels (u, v), and whether it is that of a `hole`.

    The last point of a closed boundary is not the first one again. The object is on the right of whoever walks along
    it: outer boundaries run clockwise as one sees them in the image, those of holes run counter-clockwise.

        >>> square = Boundary(np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]]))
        >>> square.closed
        True
    """

    points: np.ndarray
    hole: bool = False

    @property
    def closed(self) -> bool:
        """Whether the last point is as near to the first one as neighbours are: max(|Δu|, |Δv|) is no larger."""
        points = np.asarray(self.points)
        if len(points) < 3:
            return len(points) == 1
        return bool(np.abs(points[0] - points[-1]).max() <= np.abs(np.diff(points, axis=0)).max())


def real_floats(value) -> np.ndarray:
    """The value as floats, or a single NaN if it is no real numbers; of complex ones, NumPy would lose a half."""
    return floats(None if isinstance(value, np.ndarray) and value.dtype.kind == "c" else value)


def boundary_points(boundary, caller: str, least: int = 3) -> np.ndarray:
    """The points (n, 2) of a `Boundary`, or of an array, as float64, without a last one that is the first again."""
    given = boundary.points if isinstance(boundary, Boundary) else boundary
    points = real_floats(given)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ArgumentError(
            f"{caller}: the boundary has shape {points.shape}; points (n, 2), pixels (u, v), are needed"
        )
    if len(points) > 1 and (points[0] == points[-1]).all():
        points = points[:-1]
    if len(points) < least:
        raise ArgumentError(f"{caller}: the boundary has {len(points)} different points; {least} or more are needed")
    if not (np.abs(points) < _FAR).all():
        raise ArgumentError(
            f"{caller}: the boundary has a NaN, an infinity or a number beyond {_FAR:g}; pixels (u, v) are needed"
        )
    return points


def four_or_eight(value, label: str) -> int:
    """Return 4 or 8, or raise an `ArgumentError` that names `label`."""
    if not isinstance(value, int | np.integer) or value not in (4, 8):
        raise ArgumentError(f"{label} is {value!r:.60}; 4 or 8 is needed")
    return int(value)


def crack_boundaries(image, *, connectivity: int = 8) -> list[Boundary]:
    """The boundaries of all regions of a binary image, as polygons along the cracks between object and background.

    Points are corners of pixels, one after every crack, so their coordinates (u, v) are whole numbers and a half; the
    area that an outer polygon encloses is its number of pixels, holes included. Each begins at its first corner in the
    order of rows. Pixels that touch at a corner are one region if `connectivity` is 8, and two if it is 4.

        >>> block = np.pad(np.ones((2, 3), bool), 1)
        >>> [boundary] = crack_boundaries(block)
        >>> boundary.points[:2]
        array([[0.5, 0.5],
               [1.5, 0.5]])

    Reference: Fu, Gonzalez & Lee (1987), section 8.3.1, Fig. 8.27.
    """
    four_or_eight(connectivity, "crack_boundaries: 'connectivity'")
    vertices, leaves, after = _links(binary(image, "crack_boundaries"), connectivity)
    order, starts = _loops(after)
    width = np.shape(image)[1] + 1
    points = np.stack(np.divmod(vertices[order], width)[::-1], axis=1) - 0.5
    if not starts:
        return []
    # The area on the right of a loop is the sum of u dv; of holes it is negative.
    areas = np.add.reduceat(points[:, 0] * _STEPS_V[leaves[order]], starts)
    ends = [*starts[1:], len(points)]
    return [Boundary(points[i:k], area < 0) for i, k, area in zip(starts, ends, areas.tolist(), strict=True)]


def _links(image: np.ndarray, connectivity: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All cracks: the vertex where each begins (i · (columns + 1) + j), its direction, and the crack after it."""
    framed = np.pad(image, 1)
    beside = framed[:, 1:] != framed[:, :-1]
    differ = beside[1:] | beside[:-1] | (framed[1:, 1:] != framed[:-1, 1:])
    vertices, width = np.flatnonzero(differ), differ.shape[1]
    here = vertices + vertices // width  # the pixel at the north-west of each vertex, in the frame
    bits, row = framed.view(np.uint8).ravel(), width + 1
    here = bits[here] | bits[here + 1] << 1 | bits[here + row] << 2 | bits[here + row + 1] << 3
    touch = np.flatnonzero((here == 6) | (here == 9))
    number = np.empty(differ.size, np.int64)  # only what the next line writes is read
    number[vertices] = np.arange(len(vertices))
    leaves = np.concatenate([_LEAVES[here], np.where(here[touch] == 6, _TOUCH_LEAVES[6], _TOUCH_LEAVES[9])])
    leaves = leaves.astype(np.uint8)
    steps = _STEPS_U + width * _STEPS_V
    vertices = np.concatenate([vertices, vertices[touch]])
    after = number[vertices + steps[leaves]]
    if len(touch):
        second = np.full(len(vertices), -1)
        second[touch] = np.arange(len(vertices) - len(touch), len(vertices))
        # Among four neighbours, the walk turns right here, and otherwise left: west to north, east to south,
        # north to east, south to west. The first crack of pattern 6 leads north, that of 9 leads east.
        met = here[after]
        goes_second = np.where(met == 6, leaves == 0, leaves == 3) ^ (connectivity == 8)
        after = np.where(((met == 6) | (met == 9)) & goes_second, second[after], after)
    return vertices, leaves, after


def _loops(after: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The cycles of a permutation: its numbers in their order, and where each cycle begins."""
    # Following a list costs 0.1 µs a step; doubling pointers with NumPy is slower: it jumps through memory log n times.
    following, unseen = after.tolist(), bytearray(b"\1") * len(after)
    order, starts = [], []
    k = unseen.find(1)
    while k >= 0:
        starts.append(len(order))
        while unseen[k]:
            unseen[k] = 0
            order.append(k)
            k = following[k]
        k = unseen.find(1, k)
    return np.array(order, np.int64), starts


def pixel_boundaries(image) -> list[Boundary]:
    """The boundaries of all 8-connected regions of a binary image, as lists of the object's pixels, by OpenCV.

    Neighbours in a list touch at a side or a corner. A line that is one pixel wide is passed on both of its sides. The
    boundary of a hole has the pixels around the hole. This is `cv2.findContours`, with lists turned (not copied) so
    that the object is on the right; an outer one ends at its first pixel in the order of rows.

        >>> [boundary] = pixel_boundaries(np.pad(np.ones((2, 3), bool), 1))
        >>> boundary.points.tolist()
        [[2, 1], [3, 1], [3, 2], [2, 2], [1, 2], [1, 1]]
    """
    cv2 = opencv("pixel_boundaries")
    image = binary(image, "pixel_boundaries")
    contours, tree = cv2.findContours(image.view(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    if not len(contours):
        return []
    holes = (tree[0, :, 3] >= 0).tolist()
    return [Boundary(points[::-1, 0], hole) for points, hole in zip(contours, holes, strict=True)]
