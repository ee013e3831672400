"""A tree of boxes around triangles, built level by level by the surface area heuristic, and its tables for rays.

A ray walks a table from its first row to its last. The row of a box says where to go on if the ray misses the box:
behind all that is in it. So a walk needs no memory but the number of its row. Children are in the order in which rays
of one octant of directions meet them, which lets a hit hide what comes later; there is a table for each octant.

References: Wald (2007), "On fast construction of SAH-based bounding volume hierarchies"; Smits (1998), "Efficiency
issues for ray tracing", for links that skip a box.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["ROW", "Hierarchy", "hierarchy", "octant_rows"]

ROW = 10  # numbers in a row: a link, then a box (6) or the corners of a triangle (9)
MOST_IN_LEAF = 4  # a box of a triangle takes as long as the triangle, so small boxes do not pay
MOST_UNEVEN = 48  # levels below which boxes are cut in halves, so that no tree is deep


class Level(NamedTuple):
    """The boxes of one level: which triangles of `Hierarchy.order` are in them, and their children.

    `child` is the number, in the next level, of the first of two children, or -1; `axis` is what they lie along; `size`
    is the number of rows of a box with all that is in it.
    """

    first: np.ndarray
    count: np.ndarray
    child: np.ndarray
    axis: np.ndarray
    size: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Hierarchy(NamedTuple):
    """The levels of a tree from its root, and the `order` (n,) of the triangles in it."""

    levels: list[Level]
    order: np.ndarray


def hierarchy(corners: np.ndarray) -> Hierarchy:
    """Return the tree over triangles with `corners` (n, 3, 3). Boxes are a little larger than what they hold."""
    low, high = corners.min(axis=1), corners.max(axis=1)
    slack = 1e-15 * np.maximum(np.abs(corners).max(axis=(0, 1)), 1e-280)  # so that no ray lies in a face of a box
    low, high = low - slack, high + slack
    middle = low.min(axis=0) / 2 + high.max(axis=0) / 2
    scale = max(np.abs(high.max(axis=0) - middle).max(), 1e-300)
    order = np.arange(len(corners))
    spans = [(np.array([0]), np.array([len(corners)]))]
    children, axes = [], []
    small_low, small_high = (low - middle) / scale, (high - middle) / scale  # areas of these do not overflow
    while True:
        first, count = spans[-1]
        large = count > MOST_IN_LEAF
        child, axis = np.full(len(first), -1), np.zeros(len(first), int)
        children.append(child)
        axes.append(axis)
        if not large.any():
            break
        child[large] = 2 * np.arange(large.sum())
        left, axis[large] = _cuts(
            order, first[large], count[large], small_low, small_high, even=len(spans) > MOST_UNEVEN
        )
        spans.append((_woven(first[large], first[large] + left), _woven(left, count[large] - left)))
    levels: list[Level] = []
    for (first, count), child, axis in zip(reversed(spans), reversed(children), reversed(axes), strict=True):
        below = levels[-1] if levels else None
        levels.append(Level(first, count, child, axis, *_enclosed(first, count, child, order, low, high, below)))
    return Hierarchy(levels[::-1], order)


def _woven(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.stack([a, b], axis=1).reshape(-1, *a.shape[1:])


def _members(first: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places of all members of groups, the group of each, and where each group starts among them."""
    starts = np.cumsum(count) - count
    group = np.repeat(np.arange(len(first)), count)
    return first[group] + np.arange(len(group)) - starts[group], group, starts


def _cuts(order, first, count, low, high, even: bool) -> tuple[np.ndarray, np.ndarray]:
    """Sort the triangles of every group along its longest axis, in `order`; return how many go left, and the axes.

    The cut is where Σ area · number of both sides is least. Offsets that grow from group to group make one cumulative
    minimum or maximum serve all groups.
    """
    places, group, starts = _members(first, count)
    ids = order[places]
    middles = low[ids] + high[ids]
    spread = np.maximum.reduceat(middles, starts) - np.minimum.reduceat(middles, starts)
    axis = np.argmax(spread, axis=1)
    ids = ids[np.lexsort((middles[np.arange(len(ids)), axis[group]], group))]
    order[places] = ids
    if even:
        return count // 2, axis
    apart, down, up = 8.0 * group[:, None], low[ids], high[ids]
    before = _area(np.minimum.accumulate(down - apart) + apart, np.maximum.accumulate(up + apart) - apart)
    apart, down, up = apart[::-1], down[::-1], up[::-1]
    after = _area(np.minimum.accumulate(down + apart) - apart, np.maximum.accumulate(up - apart) + apart)[::-1]
    left = np.arange(len(ids)) - starts[group] + 1
    right = count[group] - left
    cost = np.where(right > 0, before * left + np.append(after[1:], 0.0) * right, np.inf)
    best = np.flatnonzero(cost <= np.minimum.reduceat(cost, starts)[group])
    best = best[np.append(True, group[best][1:] != group[best][:-1])]  # the first one of each group
    return np.clip(left[best], 1, count - 1), axis


def _area(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    x, y, z = (high - low).T
    return x * y + y * z + z * x


def _enclosed(first, count, child, order, low, high, below: Level | None):
    """The number of rows in each box of a level, and its corners."""
    size, box_low, box_high = np.where(count > 1, count + 1, 1), np.empty((len(first), 3)), np.empty((len(first), 3))
    leaf = child < 0
    if leaf.any():
        places, _, starts = _members(first[leaf], count[leaf])
        box_low[leaf] = np.minimum.reduceat(low[order[places]], starts)
        box_high[leaf] = np.maximum.reduceat(high[order[places]], starts)
    if below is not None and not leaf.all():
        a = child[~leaf]
        size[~leaf] = 1 + below.size[a] + below.size[a + 1]
        box_low[~leaf] = np.minimum(below.low[a], below.low[a + 1])
        box_high[~leaf] = np.maximum(below.high[a], below.high[a + 1])
    return size, box_low, box_high


def octant_rows(tree: Hierarchy, corners: np.ndarray, octant: int) -> np.ndarray:
    """Return the table (rows, 10) for rays whose directions are negative along the axes of the bits of `octant`.

    A row has a link L. If L < 0, triangle -L - 1 with its corners follows, and the walk goes on with the next row. Else
    the corners of a box follow; L is the row where a ray goes on that misses it.
    """
    rows = np.zeros((int(tree.levels[0].size[0]), ROW))
    place = np.zeros(1, int)
    for k, level in enumerate(tree.levels):
        boxed = level.count > 1
        rows[place[boxed], 0] = (place + level.size)[boxed]
        rows[place[boxed], 1:4], rows[place[boxed], 4:7] = level.low[boxed], level.high[boxed]
        leaf = level.child < 0
        members, group, starts = _members(level.first[leaf], level.count[leaf])
        at = (place + boxed)[leaf][group] + np.arange(len(group)) - starts[group]
        ids = tree.order[members]
        rows[at, 0], rows[at, 1:] = -1.0 - ids, corners[ids].reshape(-1, 9)
        if leaf.all():
            break
        inner = ~leaf
        a, sizes = level.child[inner], tree.levels[k + 1].size
        turned = (octant >> level.axis[inner]) & 1  # rays that go down along the axis meet the second child first
        above = place[inner] + 1
        place = _woven(above + turned * sizes[a + 1], above + (1 - turned) * sizes[a])
    return rows
