"""Edges as paths of least cost along the cracks between pixels (Martelli)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import one_of, positive
from ..image_checks import gray
from .crack_search import best_first
from .crack_sweeps import cheapest_path, largest_cost

__all__ = ["EdgePath", "edge_path"]

_QUARTERS = {"down": 0, "right": 3, "up": 2, "left": 1}  # quarter turns of the image that make a direction point down


class EdgePath(NamedTuple):
    """A path of n cracks between pixels, in the order of travel.

    - `corners` (n + 1, 2) are its points (u, v), corners of pixels: halves, since centres of pixels are whole numbers;
    - `right` and `left` (n, 2) are the pixels (u, v) on both sides of each crack, which the book calls p and q;
    - `costs` (n,) and `cost` are H - [f(p) - f(q)] of each crack, and their sum;
    - `expanded` is the number of cracks that a search has expanded, and 0 for sweeps.
    """

    corners: np.ndarray
    right: np.ndarray
    left: np.ndarray
    costs: np.ndarray
    cost: float
    expanded: int


def edge_path(image, *, direction: str = "down", highest: float | None = None, method: str = "sweeps") -> EdgePath:
    """The edge that crosses the image with the least cost, with its bright side on the right of the direction.

        >>> image = np.array([[7, 2, 2], [5, 7, 2], [5, 1, 0]])
        >>> found = edge_path(image)
        >>> found.cost, found.costs.tolist()
        (10.0, [2.0, 2.0, 2.0, 1.0, 3.0])
        >>> found.corners.T.tolist()                                       # u, v: down, right, down, left, down
        [[0.5, 0.5, 1.5, 1.5, 0.5, 0.5], [-0.5, 0.5, 0.5, 1.5, 1.5, 2.5]]

    A node is a crack between two 4-neighbours, p on the right of the travel and q on the left; it costs

        c(p, q) = H - [f(p) - f(q)],                                                                        (8.2-7)

    and a path is a sequence of cracks, each of which goes straight on, left or right from the end of the last. It
    starts on the first row, ends on the last, may wander up and down between them, and meets no corner twice. Of
    several paths with the least cost, any one is found.

    - `image` (rows, columns) has two columns or more (or rows, for "right" and "left").
    - `direction` "down" leads from the first row to the last, with p on the left side of the image; "up", "right" and
      "left" are these turned: "up" finds edges that are bright on the right side of the image.
    - `highest` is H, by default the largest value of the image (and less its smallest one if that is negative). A
      larger H makes straight paths cheaper than winding ones.
    - `method` "sweeps" relaxes whole rows, down and up, until nothing changes: exact, and fast for large images.
      "a_star" is the book's search with r(n) = g(n) + h(n) (8.2-8), where h is the cost of the cheapest crack down in
      each row that is left, a lower bound; "uniform_cost" has h = 0 (Dijkstra). Both count expanded nodes. All three
      find the least cost.

    Costs of whole numbers are exact. Floats are rounded for the search, to about 1e-9 of H in an image of a megapixel;
    the costs that are returned are not.

    Step 6 of the book's algorithm sets r(n_i) = g(n) + c(n, n_i); it must set g(n_i) to this, and r(n_i) = g(n_i) +
    h(n_i). Fu, Gonzalez & Lee (1987), §8.2.1; A. Martelli, "Edge detection using heuristic search methods", Computer
    Graphics and Image Processing 1 (1972) 169-182.
    """
    image = gray(image, "edge_path")
    one_of(direction, tuple(_QUARTERS), "edge_path: direction")
    one_of(method, ("sweeps", "a_star", "uniform_cost"), "edge_path: method")
    turns = _QUARTERS[direction]
    f = np.rot90(image, turns)
    if f.shape[1] < 2:
        raise ArgumentError(
            f"edge_path: the image has shape {image.shape}; to go {direction}, it needs two pixels beside each other"
        )
    H = _highest(image, highest)
    levels, H_levels = _whole(f, H)
    if method == "sweeps":
        path, expanded = cheapest_path(levels, H_levels), 0
    else:
        path, expanded = best_first(levels, H_levels, informed=method == "a_star")
    return _result(image, _turned_back(path, f.shape, turns), H, expanded)


def _highest(image: np.ndarray, highest: float | None) -> float:
    """H, such that no cost is negative."""
    most, least = float(image.max()), float(image.min())
    if not np.isfinite([most, least]).all():
        raise ArgumentError("edge_path: the image contains NaN or infinity; finite numbers are needed")
    if highest is None:
        return most - min(least, 0.0)
    H, f = positive(highest, "edge_path: highest", or_zero=True), image.astype(float, copy=False)
    steps = [np.abs(np.diff(f, axis=axis)).max(initial=0.0) for axis in (0, 1)]
    if max(steps) > H:
        raise ArgumentError(
            f"edge_path: highest is {H:g}; it must be {max(steps):g}, the largest difference of neighbours, or more, "
            "so that no cost is negative"
        )
    return H


def _whole(f: np.ndarray, H: float) -> tuple[np.ndarray, int]:
    """The image and H as whole numbers, multiplied by a power of two if they are none, for exact sums."""
    room = largest_cost(f.shape) / 2
    if f.dtype.kind in "bui" and H.is_integer() and room >= H:
        return f.astype(np.int64), int(H)
    scale = 2.0 ** np.floor(np.log2(room / H)) if H else 1.0
    levels = np.rint((f.astype(float) - float(f.min())) * scale).astype(np.int64)
    return levels, int(np.ceil(H * scale)) + 1  # rounding adds at most 1 to a difference


def _turned_back(path: np.ndarray, shape: tuple[int, int], turns: int) -> np.ndarray:
    """Corners (n, 2) as (row, column) of the image that was turned by so many quarters, in the image itself."""
    rows, columns = shape
    for _ in range(turns):  # a quarter turn brings (row, column) to (columns - column, row)
        path = np.stack([path[:, 1], rows - path[:, 0]], axis=1)
        rows, columns = columns, rows
    return path


def _result(image: np.ndarray, path: np.ndarray, H: float, expanded: int) -> EdgePath:
    """The pixels beside the cracks, and their costs, from corners (row, column)."""
    middle, step = (path[1:] + path[:-1] - 1) / 2, np.diff(path, axis=0)
    to_right = np.stack([step[:, 1], -step[:, 0]], axis=1) / 2  # of a step down, the right is at smaller columns
    p, q = (np.rint(middle + side).astype(int) for side in (to_right, -to_right))
    f = image.astype(float, copy=False)
    costs = H - (f[p[:, 0], p[:, 1]] - f[q[:, 0], q[:, 1]])
    return EdgePath((path - 0.5)[:, ::-1], p[:, ::-1], q[:, ::-1], costs, float(costs.sum()), expanded)
