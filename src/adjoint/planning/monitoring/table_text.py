"""A triangle table as text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from ..strips.task_types import Action, Fact
from .literals import literal_text

__all__ = ["table_html", "table_text"]

Cells = Mapping[tuple[int, int], tuple[Fact, ...]]


def table_text(actions: Sequence[Action], cells: Cells) -> str:
    """The triangle in letters: a row for each step, which stands at the end of its row and at the top of its column."""
    last = len(actions) + 1
    rows = _lines(actions, cells)
    widths = [1] * last
    for lines in rows:
        for c, words in lines.items():
            widths[c] = max(widths[c], *map(len, words))
    margin, blanks, dashes = len(str(last)), [" " * width for width in widths], ["-" * (width + 2) for width in widths]
    out = [" " * margin + "   " + "0"]
    for r, lines in enumerate(rows, 1):
        count = min(r, last - 1) + 1
        out.append(" " * margin + " +" + "+".join(dashes[:count]) + "+")
        for k in range(max(map(len, lines.values()), default=1)):
            line = blanks[:count]  # of long plans almost all cells are empty
            for c, words in lines.items():
                line[c] = (words[k] if k < len(words) else "").ljust(widths[c])
            out.append(f"{str(r) if k == 0 else '':>{margin}} | {' | '.join(line)} |")
    out.append(" " * margin + " +" + "+".join(dashes) + "+")
    return "\n".join(out)


def table_html(actions: Sequence[Action], cells: Cells) -> str:
    """The triangle for notebooks."""
    last = len(actions) + 1
    head = "".join(f"<th>{c}</th>" for c in range(last))
    rows = []
    for r, lines in enumerate(_lines(actions, cells), 1):
        row = [f"<th>{r}</th>"]
        for c in range(min(r, last - 1) + 1):
            text = "<br>".join(map(html.escape, lines.get(c, ())))
            row.append(f"<td style='text-align:left;border:1px solid'>{f'<b>{text}</b>' if r == c else text}</td>")
        rows.append(f"<tr>{''.join(row)}</tr>")
    return f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"


def _lines(actions: Sequence[Action], cells: Cells) -> list[dict[int, list[str]]]:
    """For each row {column: lines of the cell}: its literals, or on the diagonal the step; not of empty cells."""
    rows: list[dict[int, list[str]]] = [{} for _ in range(len(actions) + 1)]
    for (row, column), there in cells.items():
        rows[row - 1][column] = list(map(literal_text, there))
    for k, action in enumerate(actions, 1):
        rows[k - 1][k] = [f"{k} {action}"]
    return rows
