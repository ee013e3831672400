"""Shape numbers: of chain codes, and of given order, from a grid along the basic rectangle."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...errors import ArgumentError, SolveError
from ...model.input_checks import count
from .boundaries import Boundary, boundary_points, crack_boundaries
from .chain_codes import (
    ChainCode,
    at_least_one,
    chain_area,
    chain_code,
    chain_points,
    closed_digits,
    first_difference,
    least_rotation,
    outer_boundary,
)
from .extents import BasicRectangle, rectangles

__all__ = ["grid_coverage", "shape_number", "shape_numbers"]

_ONLY = {4: "3333", 6: "033033"}  # the orders that have one shape alone
_MOST = 10**8  # cells of a grid, or places where sides may meet its lines
_HALF = 0.5 - 1e-9  # cells that are half inside count, whatever rounding makes of them


def shape_number(shape, *, order: int | None = None) -> str:
    """The shape number: the least rotation of the circular first difference of a clockwise 4-code, as text.

    The shape is a chain code (a `ChainCode`, or a text of digits), a binary image with one region, or a `Boundary`. A
    code that runs counter-clockwise is reversed first. Its number of digits is the order. It stays the same if the
    object is moved or turned by quarter turns; the number of its mirror image may be another one.

    With `order` (even, at least 4) the object is coded on a grid along its basic rectangle: a · b cells with
    2 (a + b) = order, whose a/b is nearest to the eccentricity; a cell that is at least half inside the outer boundary
    belongs to the object. If the code has another order, grids of other orders are tried: smaller ones first, then
    larger ones, and at last all with other a/b. If several diameters are equally long, those with the narrowest
    rectangle count, and of their numbers the least. A `SolveError` says that no grid gives the order; orders 4 and 6
    have one shape each, which is then the answer.

        >>> shape_number("10103322")
        '03033133'
        >>> shape_number(np.ones((2, 3), bool))
        '0030300303'

    Reference: Fu, Gonzalez & Lee (1987), section 8.3.1; Bribiesca & Guzman (1980).
    """
    if order is None:
        return _number(shape if _is_code(shape) else chain_code(shape))
    n = count(order, "shape_number: order")
    if n < 4 or n % 2:
        raise ArgumentError(f"shape_number: 'order' is {order}; an even number from 4 is needed")
    return _of_order(_outline(shape), n)


def shape_numbers(shape, orders: Iterable[int] = range(4, 21, 2)) -> dict[int, str]:
    """The shape numbers {order: number} of one shape; orders that no grid gives are left out. See `shape_number`.

    >>> shape_numbers(np.ones((2, 5), bool), (4, 6, 8))[8]
    '00330033'
    """
    outline, found = _outline(shape), {}
    if not np.iterable(orders):
        raise ArgumentError(f"shape_numbers: 'orders' is {orders!r:.60}; even numbers such as (4, 6, 8) are needed")
    for order in orders:
        try:
            found[order] = shape_number(outline, order=order)
        except SolveError:
            continue
    return found


def _is_code(shape) -> bool:
    """Whether a shape is given by digits: as a code, a text, or a sequence of whole numbers."""
    if isinstance(shape, ChainCode | str):
        return True
    plain = np.iterable(shape) and not isinstance(shape, Boundary)
    return plain and all(isinstance(digit, int | np.integer) for digit in shape)


def _number(code) -> str:
    digits, directions = closed_digits(code, 4, "shape_number")
    if directions != 4:
        raise ArgumentError("shape_number: the code has 8 directions; shape numbers are of codes with 4")
    if chain_area(digits) < 0:
        digits = (digits[::-1] + 2) % 4
    return least_rotation(first_difference(digits, circular=True))


def _outline(shape) -> Boundary:
    """The corners of the outer boundary of a shape; those where it goes straight on are left out."""
    if _is_code(shape):
        digits, directions = closed_digits(shape, 4, "shape_number")
        points = chain_points(digits, directions=directions)
    elif isinstance(shape, Boundary):
        points = boundary_points(shape, "shape_number")
    else:
        points = outer_boundary(shape, "shape_number").points
    before, after = points - np.roll(points, 1, axis=0), np.roll(points, -1, axis=0) - points
    turns = before[:, 0] * after[:, 1] != before[:, 1] * after[:, 0]
    if turns.sum() < 3:
        raise ArgumentError("shape_number: the boundary encloses no area")
    u, v = points.T
    clockwise = u @ np.roll(v, -1) >= v @ np.roll(u, -1)
    return Boundary(points[turns] if clockwise else points[turns][::-1])


def _of_order(outline: Boundary, n: int) -> str:
    boxes = rectangles(outline.points)
    least = min(box.minor for box in boxes)
    boxes = [box for box in boxes if box.minor <= least * (1 + 1e-9)]
    for a, b in _grids(n, boxes[0].eccentricity):
        numbers = [number for box in boxes if (number := _on_grid(outline.points, box, a, b))]
        if right := [number for number in numbers if len(number) == n]:
            return min(right)
    if n in _ONLY:
        return _ONLY[n]
    raise SolveError(f"shape_number: no grid of up to {2 * n} steps around on the basic rectangle gives order {n}")


def _grids(n: int, eccentricity: float) -> list[tuple[int, int]]:
    """Grids (a, b) in the order in which they are tried: those nearest to the eccentricity, then all the others."""
    trials = [*range(n // 2, 1, -1), *range(n // 2 + 1, n + 1)]  # a + b
    ranked = [
        sorted(((half - b, b) for b in range(1, half // 2 + 1)), key=lambda ab: abs(ab[0] / ab[1] - eccentricity))
        for half in trials
    ]
    others = [(rank, k, grid) for k, grids in enumerate(ranked) for rank, grid in enumerate(grids) if rank]
    return [grids[0] for grids in ranked] + [grid for _, _, grid in sorted(others)]


def _on_grid(points: np.ndarray, box: BasicRectangle, a: int, b: int) -> str | None:
    """The shape number on a grid of a · b cells, of the largest connected part; None if no cell is half inside.

    If several parts are equally large, the least number counts.
    """
    sides = np.stack([box.corners[1] - box.corners[0], box.corners[3] - box.corners[0]], axis=1)
    local = np.linalg.solve(sides, (points - box.corners[0]).T).T * (a, b)
    cells = grid_coverage(local, (b, a)) >= _HALF
    outer = [chain_code(boundary) for boundary in crack_boundaries(cells, connectivity=4) if not boundary.hole]
    areas = [chain_area(code) for code in outer]
    largest = [code for code, area in zip(outer, areas, strict=True) if area == max(areas)]
    return min(map(_number, largest), default=None)


def grid_coverage(polygon, size: tuple[int, int]) -> np.ndarray:
    """The part of each cell of a grid (rows, columns) that is inside a polygon (n, 2): exact areas, from 0 to 1.

    Cell (i, j) is the unit square from (j, i) to (j + 1, i + 1) in the polygon's coordinates; the polygon must lie
    within the grid, and run clockwise as seen (counter-clockwise ones have negative parts).

        >>> grid_coverage([[0, 0], [2, 0], [2, 1]], (1, 2))
        array([[0.25, 0.75]])
    """
    points = boundary_points(polygon, "grid_coverage")
    rows, columns = size if isinstance(size, tuple | list) and len(size) == 2 else (None, None)
    rows, columns = (at_least_one(n, "grid_coverage: 'size', rows and columns,") for n in (rows, columns))
    if len(points) * (rows + columns) > _MOST or rows * columns > _MOST:
        raise ArgumentError(f"grid_coverage: a grid {rows, columns} for {len(points)} corners is too large")
    inside = np.clip(points, 0.0, (columns, rows))
    if np.abs(inside - points).max() > 1e-6:
        raise ArgumentError(f"grid_coverage: the polygon reaches out of the grid {rows, columns} of rows and columns")
    points = inside
    steps = np.diff(points, axis=0, append=points[:1])
    # Every side is cut where it meets a line of the grid; then each piece lies in one cell.
    with np.errstate(divide="ignore", invalid="ignore"):
        cuts = [(np.arange(n + 1) - points[:, k, None]) / steps[:, k, None] for k, n in ((0, columns), (1, rows))]
    t = np.nan_to_num(np.concatenate([*cuts, np.zeros((len(points), 1)), np.ones((len(points), 1))], axis=1))
    t = np.sort(np.clip(t, 0.0, 1.0), axis=1)
    middle, part = (t[:, 1:] + t[:, :-1]) / 2, np.diff(t, axis=1)
    u, v = (points[:, k, None] + middle * steps[:, k, None] for k in (0, 1))
    rise = part * steps[:, 1, None]
    j, i = np.clip(np.floor(u).astype(int), 0, columns - 1), np.clip(np.floor(v).astype(int), 0, rows - 1)
    # The area inside is the sum of u dv: a piece that goes down covers what is on its left, of its own cell in part.
    own = np.bincount((i * columns + j).ravel(), (rise * (u - j)).ravel(), rows * columns).reshape(rows, columns)
    whole = np.bincount((i * columns + j).ravel(), rise.ravel(), rows * columns).reshape(rows, columns)
    to_the_right = np.cumsum(whole[:, ::-1], axis=1)[:, ::-1] - whole
    return own + to_the_right
