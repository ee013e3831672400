"""How results show themselves: shapes of arrays in a `repr`, counts in words, and tables for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

import numpy as np

__all__ = ["counted", "html_table", "shapes"]

_SHOWN = 200  # a table shows this many rows and says how many more there are


def shapes(**arrays) -> str:
    """Return the names and shapes of arrays, such as "q (9, 6), v and a (9, 5)"; arrays that are None are left out."""
    groups: dict[str, list[str]] = {}
    for name, array in arrays.items():
        if array is not None:
            groups.setdefault(_shape(array), []).append(name)
    return ", ".join(f"{_listed(names)} {shape}" for shape, names in groups.items())


def _shape(array) -> str:
    try:
        return str(np.shape(array))
    except ValueError:  # a list has rows of different lengths
        return "(no array)"


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def counted(number: int, thing: str) -> str:
    """Return a count in words: counted(1, "state") is "1 state", and counted(2, "state") is "2 states"."""
    return f"{number} {thing}{'s' * (number != 1)}"


def html_table(title: str, header: Sequence[str], rows: Iterable[Sequence], notes: Iterable[str] = ()) -> str:
    """Return the HTML of a title, a table below it, and notes below the table.

    Texts are escaped; numbers have five digits and are aligned to the right.
    """
    rows = list(rows)
    head = "".join(f"<th style='text-align:left'>{html.escape(text)}</th>" for text in header)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:_SHOWN])
    left = [f"... and {len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
    below = "".join(f"<p>{html.escape(note)}</p>" for note in [*left, *notes])
    return f"<p><b>{html.escape(title)}</b></p><table><tr>{head}</tr>{body}</table>{below}"


def _cell(value) -> str:
    number = isinstance(value, (int, float, np.number))
    text = f"{value:.5g}" if number else html.escape(str(value))
    return f"<td style='text-align:{'right' if number else 'left'}'>{text}</td>"
