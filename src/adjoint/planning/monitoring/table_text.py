"""A triangle table as text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from ..strips.task_types import Action, Fact
from .literals import literal_text

__all__ = ["table_html", "table_text"]

Cells = Mapping[tuple[int, int], tuple[Fact, ...]]


def lines_of(actions: Sequence[Action], cells: Cells, row: int, column: int) -> list[str]:
    """The lines of a cell: its literals, or the name of the step on the diagonal."""
    if row == column:
        return [f"{row} {actions[row - 1]}"]
    return [literal_text(literal) for literal in cells.get((row, column), ())]


def table_text(actions: Sequence[Action], cells: Cells) -> str:
    """The triangle in letters: a row for each step, which stands at the end of its row and at the top of its column."""
    last = len(actions) + 1
    grid = {(r, c): lines_of(actions, cells, r, c) for r in range(1, last + 1) for c in range(min(r, last - 1) + 1)}
    widths = [max(len(line) for (_, k), lines in grid.items() if k == c for line in (*lines, "0")) for c in range(last)]
    margin = len(str(last))
    out = [" " * margin + "   " + "0"]
    for r in range(1, last + 1):
        columns = range(min(r, last - 1) + 1)
        out.append(" " * margin + " +" + "+".join("-" * (widths[c] + 2) for c in columns) + "+")
        for k in range(max(1, *(len(grid[r, c]) for c in columns))):
            label = str(r) if k == 0 else ""
            words = [(grid[r, c][k] if k < len(grid[r, c]) else "").ljust(widths[c]) for c in columns]
            out.append(f"{label:>{margin}} | {' | '.join(words)} |")
    out.append(" " * margin + " +" + "+".join("-" * (width + 2) for width in widths) + "+")
    return "\n".join(out)


def table_html(actions: Sequence[Action], cells: Cells) -> str:
    """The triangle for notebooks."""
    last = len(actions) + 1
    head = "".join(f"<th>{c}</th>" for c in range(last))
    rows = []
    for r in range(1, last + 1):
        row = [f"<th>{r}</th>"]
        for c in range(min(r, last - 1) + 1):
            text = "<br>".join(map(html.escape, lines_of(actions, cells, r, c)))
            row.append(f"<td style='text-align:left;border:1px solid'>{f'<b>{text}</b>' if r == c else text}</td>")
        rows.append(f"<tr>{''.join(row)}</tr>")
    return f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"
