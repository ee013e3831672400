"""Best-first search among cracks, as Fu, Gonzalez & Lee describe it: for small images, and to count expanded nodes."""

from __future__ import annotations

import heapq

import numpy as np

__all__ = ["best_first"]

_DOWN, _LEFT, _UP, _RIGHT = range(4)  # each is the last one turned to the right
_STEPS = ((1, 0), (0, -1), (-1, 0), (0, 1))


def best_first(f: np.ndarray, H: int, *, informed: bool) -> tuple[np.ndarray, int]:
    """The corners (row, column) of a path from the first row to the last, and the number of expanded cracks.

    A node is a crack with a direction, (i, j, d): the corner where it starts, and where it goes. The steps are those of
    the book. Its bound h is consistent, h(n) <= c(n, n_i) + h(n_i): so no closed node is ever opened again.
    """
    rows, columns = f.shape
    cost, bound = _costs(f, H), np.zeros(rows + 1, np.int64)
    if informed:
        cheapest = (H - f[:, :-1] + f[:, 1:]).min(axis=1)
        bound[:-1] = np.cumsum(cheapest[::-1])[::-1]
    h = bound.tolist()
    g, parent, closed, expanded = {}, {}, set(), 0
    opened: list[tuple[int, bool, tuple[int, int, int]]] = []  # a goal comes before others with the same r

    def reach(node: tuple[int, int, int], g_new: int, before) -> None:  # steps 6 and 7
        if g_new < g.get(node, g_new + 1):
            g[node], parent[node] = g_new, before
            end = node[0] + _STEPS[node[2]][0]
            heapq.heappush(opened, (g_new + h[end], end < rows, node))

    for j in range(1, columns):  # step 1: the successors of the start node
        reach((0, j, _DOWN), cost(0, j, _DOWN), None)
    while opened:  # step 2
        _, is_inside, node = heapq.heappop(opened)  # step 3
        if node in closed:
            continue
        if not is_inside:  # step 4
            return _traced(node, parent), expanded
        closed.add(node)
        expanded += 1
        i, j, d = node
        i, j = i + _STEPS[d][0], j + _STEPS[d][1]
        for turn in (0, 1, 3):  # step 5: straight on, to the right, to the left
            way = (d + turn) % 4
            i_end, j_end = i + _STEPS[way][0], j + _STEPS[way][1]
            if 0 < i_end <= rows and 0 < j_end < columns and (i, j, way) not in closed:
                reach((i, j, way), g[node] + cost(i, j, way), node)
    raise AssertionError("every image with two columns has a straight path")


def _costs(f: np.ndarray, H: int):
    """A function (i, j, d) that gives the cost of the crack from corner (i, j) in the direction d."""
    values = f.tolist()

    def cost(i: int, j: int, d: int) -> int:
        if d == _DOWN:
            return H - values[i][j - 1] + values[i][j]
        if d == _UP:
            return H - values[i - 1][j] + values[i - 1][j - 1]
        if d == _RIGHT:
            return H - values[i][j] + values[i - 1][j]
        return H - values[i - 1][j - 1] + values[i][j - 1]

    return cost


def _traced(goal: tuple[int, int, int], parent: dict) -> np.ndarray:
    """The corners of the path to a goal, by the pointers."""
    i, j, d = goal
    corners, node = [(i + _STEPS[d][0], j + _STEPS[d][1])], goal
    while node is not None:
        corners.append(node[:2])
        node = parent[node]
    return np.array(corners[::-1])
