"""The cheapest path along cracks from the first row of an image to the last, by relaxing whole rows.

The corners (i, j), i = 0 ... rows, j = 1 ... columns - 1, are joined by cracks in both directions. Costs are whole
numbers c K + 1, with K above the number of corners: sums are exact, and no cycle is free, so that a path can be read
off the distances D. Both directions of a crack cost `twice` together.

A row is relaxed from one side to the other by sums of costs and running minima:

    D(j) = min over k <= j of D(k) - S(k) + S(j),   S(j) the cost of going right from the first corner to j,

and likewise from right to left. One sweep down the rows finds all paths that never go up. Sweeps up and down follow
for rows that these can improve, until none is left; an improvement counts only if D + h, h being the least cost of the
rows that remain, is below the best path so far. In gray images few paths go up, and one or two sweeps are enough. Where
cracks cost nothing, as in binary images, they wind: then Dijkstra's algorithm takes over.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

__all__ = ["cheapest_path", "largest_cost"]

_FEWER = 0.8  # sweeps go on while each leaves this share of the rows, at most, that the last one left to improve
_FREE = 0.02  # with this share of cracks that cost nothing, paths wind so much that sweeps are not tried


def largest_cost(shape: tuple[int, int]) -> float:
    """The largest cost of a crack for which sums along rows and columns are exact, here and in floats."""
    return min(2.0**61 / _unit(shape), 2.0**52) / sum(shape)


def _unit(shape: tuple[int, int]) -> int:
    """K, by which costs are multiplied so that 1 can be added for each crack of a path."""
    return 1 << ((shape[0] + 1) * (shape[1] + 1)).bit_length()


def cheapest_path(f: np.ndarray, H: int) -> np.ndarray:
    """The corners (n, 2) as (row, column) of the cheapest path, for whole numbers f (rows, columns) and H."""
    rows, K = len(f), _unit(f.shape)
    down = (f[:, 1:] - f[:, :-1] + H) * K + 1
    right = (f[:-1, 1:-1] - f[1:, 1:-1] + H) * K + 1
    row = _Rows(down, right, 2 * (H * K + 1))
    D = row.downward()
    least = np.zeros(rows + 1, np.int64)
    least[:-1] = np.cumsum(down.min(axis=1)[::-1])[::-1]
    if (down == 1).mean() > _FREE:
        return _dijkstra(f, H, D[-1].min() // K)
    changed, before = row.improve_upward(D, least, None), np.inf
    while changed.any():
        changed = row.improve_downward(D, least, changed)
        if changed.sum() > _FEWER * before:
            return _dijkstra(f, H, D[-1].min() // K)
        before = changed.sum()
        changed = row.improve_upward(D, least, changed)
    return _read_off(D, row)


class _Rows:
    """Costs of cracks, and rows of distances that are relaxed with them."""

    def __init__(self, down: np.ndarray, right: np.ndarray, twice: int):
        self.down, self.right, self.twice = down, right, twice
        n = down.shape[1]
        self.both = np.arange(n, dtype=np.int64) * twice  # of going right to a corner and back
        self.sums = np.zeros(n, np.int64)
        self.from_left, self.from_right = np.empty(n, np.int64), np.empty(n, np.int64)

    def relax(self, i: int, x: np.ndarray) -> None:
        """Distances x (columns - 1,) of row i become those after walks along the row."""
        S, left, right = self.sums, self.from_left, self.from_right
        np.cumsum(self.right[i - 1], out=S[1:])
        np.subtract(x, S, out=left)
        np.minimum.accumulate(left, out=left)
        left += S
        np.subtract(self.both, S, out=S)  # costs of going left
        np.add(x, S, out=right)
        np.minimum.accumulate(right[::-1], out=right[::-1])
        right -= S
        np.minimum(left, right, out=x)
        S[0] = 0

    def downward(self) -> np.ndarray:
        """Distances (rows + 1, columns - 1) by paths that never go up."""
        rows, n = self.down.shape
        D = np.zeros((rows + 1, n), np.int64)
        for i in range(1, rows + 1):
            np.add(D[i - 1], self.down[i - 1], out=D[i])
            if i < rows:
                self.relax(i, D[i])
        return D

    def improve_upward(self, D: np.ndarray, least: np.ndarray, below: np.ndarray | None) -> np.ndarray:
        """Improve rows from the row below each, where that has changed (anywhere if None); which rows got better."""
        rows, best = len(self.down), D[-1].min()
        better = np.zeros(rows + 1, bool)
        if below is None:
            found = D[2:rows] + (self.twice - self.down[1:-1])
            found[found >= (best - least[1 : rows - 1])[:, None]] = best
            below = np.zeros(rows + 1, bool)
            below[2:rows] = (found < D[1 : rows - 1]).any(axis=1)
        for i in range(rows - 2, 0, -1):
            if below[i + 1] or better[i + 1]:
                better[i] = self._improve(D, i, D[i + 1] + (self.twice - self.down[i]), best - least[i])
        return better

    def improve_downward(self, D: np.ndarray, least: np.ndarray, above: np.ndarray) -> np.ndarray:
        """Improve rows from the row above each, where that has changed; which rows got better."""
        rows = len(self.down)
        better = np.zeros(rows + 1, bool)
        for i in range(2, rows + 1):
            if above[i - 1] or better[i - 1]:
                better[i] = self._improve(D, i, D[i - 1] + self.down[i - 1], D[-1].min() - least[i])
        return better

    def _improve(self, D: np.ndarray, i: int, found: np.ndarray, limit: int) -> bool:
        good = (found < D[i]) & (found < limit)
        if not good.any():
            return False
        np.copyto(D[i], found, where=good)
        if i < len(self.down):
            self.relax(i, D[i])
        return True


def _read_off(D: np.ndarray, row: _Rows) -> np.ndarray:
    """The path to the nearest corner of the last row: back along cracks whose cost is the difference of distances."""
    rows, n = row.down.shape
    i, j = rows, int(D[-1].argmin())
    corners = [(i, j)]
    while i > 0:
        d = D[i, j]
        if D[i - 1, j] + row.down[i - 1, j] == d:
            i -= 1
        elif j > 0 and D[i, j - 1] + row.right[i - 1, j - 1] == d:
            j -= 1
        elif j < n - 1 and D[i, j + 1] + row.twice - row.right[i - 1, j] == d:
            j += 1
        else:
            i += 1
        corners.append((i, j))
    return np.add(corners[::-1], [0, 1])


def _dijkstra(f: np.ndarray, H: int, limit: int) -> np.ndarray:
    """The path by SciPy's search in the graph of corners, each with four cracks, for paths up to a cost."""
    rows, n = len(f), f.shape[1] - 1
    here = np.arange((rows + 1) * n, dtype=np.int32).reshape(rows + 1, n)
    to, cost = np.repeat(here[..., None], 4, axis=2), np.zeros((rows + 1, n, 4))  # a missing crack leads nowhere
    across, along = f[:, 1:] - f[:, :-1], f[:-1, 1:-1] - f[1:, 1:-1]
    for k, start, end, price in (
        (0, np.s_[:-1, :], np.s_[1:, :], H + across),
        (1, np.s_[2:-1, :], np.s_[1:-2, :], H - across[1:-1]),
        (2, np.s_[1:-1, :-1], np.s_[1:-1, 1:], H + along),
        (3, np.s_[1:-1, 1:], np.s_[1:-1, :-1], H - along),
    ):
        to[(*start, k)], cost[(*start, k)] = here[end], price
    edges = csr_array((cost.ravel(), to.ravel(), np.arange(0, to.size + 1, 4)), shape=(here.size, here.size))
    D, before, _ = dijkstra(edges, indices=here[0], min_only=True, limit=float(limit), return_predecessors=True)
    node = here[-1, D[here[-1]].argmin()]
    path = [node]
    while node >= n:
        node = before[node]
        path.append(node)
    return np.add(np.stack(np.divmod(path[::-1], n), axis=1), [0, 1])
