"""Connected components, shortest paths, and distances along paths, for 4-, 8- and m-connectivity.

Fu, Gonzalez & Lee (1987), §7.5.2-7.5.3.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from ...errors import SolveError
from .neighbourhoods import NEIGHBOUR_STEPS, members, rule, structure
from .options import pixel

__all__ = ["Components", "connected_components", "path_between", "path_distance", "path_distances"]


class Components(NamedTuple):
    """Connected components: `labels` (rows, columns) int32, 0 for the rest and 1 to `count`."""

    labels: np.ndarray
    count: int


def connected_components(image, values: Collection | None = None, connectivity: int | str = 8) -> Components:
    """The connected components of the pixels whose level is in the set `values`, or is not 0 if `values` is None.

    `connectivity` is 4, 8 or "m". The m-connected components are the 8-connected ones: where m-connectivity leaves out
    a diagonal step, it goes around the corner by two steps to the side. Only paths and their lengths differ.

        >>> connected_components(np.array([[1, 0], [0, 1]]), connectivity=4).count
        2

    It wraps `scipy.ndimage.label`. Fu, Gonzalez & Lee (1987), §7.5.2.
    """
    from scipy import ndimage  # slow to load

    inside = members(image, values, "connected_components")
    labels, count = ndimage.label(inside, structure(connectivity, "connected_components"))  # type: ignore[misc]
    return Components(labels, int(count))


class _Search(NamedTuple):
    """A breadth-first search: pixels in the order of their distance, and the pixel before each (by its flat index)."""

    order: np.ndarray
    before: np.ndarray
    width: int


def _search(inside: np.ndarray, start: int, connectivity, caller: str) -> _Search:
    """All pixels of the set that paths from `start` reach; pixels are numbered in the set with a frame of one pixel."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    how = rule(connectivity, caller)
    framed = np.pad(inside, 1)
    width, flat = framed.shape[1], framed.ravel()
    nodes = np.flatnonzero(flat)
    steps = [int(dv) * width + int(du) for du, dv in NEIGHBOUR_STEPS["8" if how.diagonal else "4"]]
    links = np.empty((nodes.size, len(steps)), bool)
    for k, step in enumerate(steps):
        links[:, k] = flat[nodes + step]
        if how.mixed and k >= 4:  # the pixels beside both ends of this diagonal step
            du, dv = NEIGHBOUR_STEPS["8"][k]
            links[:, k] &= ~(flat[nodes + int(du)] | flat[nodes + int(dv) * width])
    # The graph has only pixels of the set as its nodes, so its size follows from the set and not from the image.
    number = np.zeros(flat.size, np.int32)
    number[nodes] = np.arange(nodes.size, dtype=np.int32)
    ends = [number[nodes + step] for step in steps]
    columns = np.stack(ends, axis=1)[links]
    rows = np.concatenate([[0], np.cumsum(links.sum(axis=1, dtype=np.int32), dtype=np.int32)])
    graph = csr_array((np.ones(columns.size, np.int8), columns, rows), shape=(nodes.size, nodes.size))
    order, before = breadth_first_order(graph, int(number[start]), directed=True, return_predecessors=True)
    parent = before[order]
    parent[0] = order[0]
    return _Search(nodes[order], nodes[parent], width)


def _levels(search: _Search, size: int) -> np.ndarray:
    """The distance of each found pixel, in the order of the search.

    Pixels come in the order in which the pixels before them came. So the pixels at distance k are one stretch, and
    where it ends follows from where that of the pixels before them ends.
    """
    place = np.empty(size, np.int64)
    place[search.order] = np.arange(search.order.size)
    before = place[search.before]
    before[0] = -1
    found, ends = before.tolist(), [1]
    while ends[-1] < len(found):
        ends.append(bisect_left(found, ends[-1], lo=ends[-1]))
    return np.repeat(np.arange(len(ends)), np.diff([0, *ends]))


def path_distances(image, start, values: Collection | None = None, connectivity: int | str = "m") -> np.ndarray:
    """The length of the shortest path from a pixel to every pixel, (rows, columns) int32; -1 where no path leads.

    `start` is (u, v); paths go through pixels with levels from the set `values` (all but 0 if it is None), and each
    step goes to an adjacent pixel, which counts 1. `connectivity` is 4, 8 or "m".

        >>> path_distances(np.array([[1, 1, 1], [0, 0, 1], [1, 0, 1]]), (0, 0), connectivity=4)
        array([[ 0,  1,  2],
               [-1, -1,  3],
               [-1, -1,  4]], dtype=int32)

    Fu, Gonzalez & Lee (1987), §7.5.3.
    """
    inside = members(image, values, "path_distances")
    row, column = pixel(start, inside.shape, "start", "path_distances")
    far = np.full((inside.shape[0] + 2, inside.shape[1] + 2), -1, np.int32)
    if inside[row, column]:
        found = _search(inside, (row + 1) * far.shape[1] + column + 1, connectivity, "path_distances")
        far.ravel()[found.order] = _levels(found, far.size)
    else:
        rule(connectivity, "path_distances")
    return far[1:-1, 1:-1].copy()


def path_distance(image, p, q, values: Collection | None = None, connectivity: int | str = "m") -> float:
    """The length of the shortest path between two pixels (u, v): the number of its steps, or inf if there is none.

    With connectivity "m" it is the distance D_m, which depends on the levels of pixels beside the path:

        >>> path_distance(np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]]), (0, 2), (2, 0))
        2.0
        >>> path_distance(np.array([[0, 1, 1], [1, 1, 0], [1, 0, 0]]), (0, 2), (2, 0))
        4.0

    Fu, Gonzalez & Lee (1987), §7.5.3.
    """
    far = path_distances(image, p, values, connectivity)
    steps = far[pixel(q, far.shape, "q", "path_distance")]
    return float(steps) if steps >= 0 else np.inf


def path_between(image, p, q, values: Collection | None = None, connectivity: int | str = "m") -> np.ndarray:
    """A shortest path between two pixels: its pixels (n + 1, 2), each (u, v), from p to q; n is its length.

    `values` and `connectivity` are as in `path_distances`. A `SolveError` says that there is no path.

        >>> path_between(np.array([[0, 1, 1], [1, 1, 0], [1, 0, 0]]), (0, 2), (2, 0))
        array([[0, 2],
               [0, 1],
               [1, 1],
               [1, 0],
               [2, 0]])

    Fu, Gonzalez & Lee (1987), §7.5.2.
    """
    inside = members(image, values, "path_between")
    first, last = (pixel(x, inside.shape, name, "path_between") for x, name in ((p, "p"), (q, "q")))
    none = SolveError(
        f"path_between: no {connectivity}-path leads from {tuple(p)} to {tuple(q)} through pixels of the set"
    )
    if not (inside[first] and inside[last]):
        raise none
    width = inside.shape[1] + 2
    start, goal = ((r + 1) * width + c + 1 for r, c in (first, last))
    found = _search(inside, start, connectivity, "path_between")
    before = np.full((inside.shape[0] + 2) * width, -1)
    before[found.order] = found.before
    if before[goal] < 0:
        raise none
    path, at = [goal], goal
    while at != start:
        at = int(before[at])
        path.append(at)
    flat = np.array(path[::-1])
    return np.stack([flat % width - 1, flat // width - 1], axis=1)
