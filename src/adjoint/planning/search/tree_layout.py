"""Where the nodes of a small graph are drawn: columns by depth, rows such that branches of a tree do not cross."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__: list[str] = []


def columns_and_rows(root: Any, children: Mapping[Any, Sequence[Any]]) -> dict[Any, tuple[int, float]]:
    """{node: (column, row)} of all nodes that can be reached from the root.

    The column is the length of the longest path from the root, so that arcs lead to the right; arcs that close a cycle
    do not count. A node is in the middle of those first reached from it.
    """
    tree: dict[Any, list[Any]] = {}
    finished: list[Any] = []
    forward: dict[Any, list[Any]] = {}

    def visit(node: Any, above: frozenset[Any]) -> None:
        tree[node], inside = [], above | {node}
        forward[node] = [child for child in children.get(node, ()) if child not in inside]
        for child in forward[node]:
            if child not in tree:
                tree[node].append(child)
                visit(child, inside)
        finished.append(node)

    visit(root, frozenset())
    column = dict.fromkeys(tree, 0)
    for node in reversed(finished):  # every node comes before its successors
        for child in forward[node]:
            column[child] = max(column[child], column[node] + 1)
    rows = _rows(tree, column, finished)
    return {node: (column[node], rows[node]) for node in tree}


def _rows(tree: dict[Any, list[Any]], column: dict[Any, int], finished: list[Any]) -> dict[Any, float]:
    """{node: row}: branches are as near to each other as they can be without meeting in a column."""
    reach: dict[Any, dict[int, tuple[float, float]]] = {}  # {node: {column: rows of its branch, counted from its own}}
    offset: dict[Any, float] = {finished[-1]: 0.0}
    for node in finished:  # every node comes after those of its own branch
        taken: dict[int, tuple[float, float]] = {}
        shifts = []
        for child in tree[node]:
            branch = reach.pop(child) | dict.fromkeys(range(column[node] + 1, column[child]), (0.0, 0.0))
            shift = max((taken[c][1] + 1.0 - low for c, (low, _) in branch.items() if c in taken), default=0.0)
            shifts.append(shift)
            for c, (low, high) in branch.items():
                taken[c] = (taken[c][0] if c in taken else low + shift, high + shift)
        middle = (shifts[0] + shifts[-1]) / 2 if shifts else 0.0
        offset.update((child, shift - middle) for child, shift in zip(tree[node], shifts, strict=True))
        reach[node] = {c: (low - middle, high - middle) for c, (low, high) in taken.items()} | {
            column[node]: (0.0, 0.0)
        }
    rows = {}
    for node in reversed(finished):
        rows[node] = rows.get(node, 0.0) + offset[node]
        rows.update((child, rows[node]) for child in tree[node])
    first = min(rows.values())
    return {node: row - first for node, row in rows.items()}
