"""How results leave the program: tables and lines on the screen, plain text in a pipe, JSON, and files."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "is_terminal",
    "number",
    "print_json",
    "print_line",
    "print_lines",
    "print_matrix",
    "print_pairs",
    "print_table",
    "progress",
    "write_columns",
    "write_result",
]

SHOWN = 20
"""A table of samples shows this many rows, and says how many more there are."""


def is_terminal() -> bool:
    """Return whether results go to a terminal and not to a pipe or a file."""
    return sys.stdout.isatty()


def number(x: float, digits: int = 6) -> str:
    """Return a number for people: few digits, 0 for rounding errors, nothing for infinity."""
    if x != x:
        return "nan"
    return "" if abs(x) == float("inf") else f"{round(float(x), 12) + 0.0:.{digits}g}"


def print_line(text: str = "", style: str | None = None) -> None:
    """Print a line; on a terminal it may have a style, such as "bold" or "red"."""
    if style and is_terminal():
        _console().print(text, style=style, markup=False, highlight=False, soft_wrap=True)
    else:
        print(text)


def print_lines(text: str, styles: Mapping[str, str]) -> None:
    """Print lines; on a terminal, those that begin with one of these words have its style."""
    for line in text.splitlines():
        print_line(line, next((style for word, style in styles.items() if line.startswith(word)), None))


def print_json(data: Any) -> None:
    """Print data as JSON. Arrays become lists, and numbers that JSON does not know become null."""
    print(json.dumps(_plain(data), indent=2 if is_terminal() else None, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # an array or a number of NumPy
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(x) for key, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(x) for x in value]
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return None
    return str(value) if isinstance(value, Path) else value


def print_pairs(pairs: Mapping[str, str]) -> None:
    """Print names and values below each other; empty values are left out."""
    width = max(map(len, pairs), default=0)
    for name, value in pairs.items():
        if value:
            print_line(f"{name.ljust(width)}  {value}")


def print_table(header: Sequence[str], rows: Sequence[Sequence], title: str = "", fold: Sequence[str] = ()) -> None:
    """Print a table: numbers are aligned to the right, and columns without any content are left out.

    On a narrow terminal, the text of the columns `fold` is broken into several lines. In a pipe, every row is one line.
    """
    cells = [[x if isinstance(x, str) else str(x) if isinstance(x, int) else number(x) for x in row] for row in rows]
    kept = [k for k in range(len(header)) if any(row[k] for row in cells)] if cells else range(len(header))
    right = [all(isinstance(row[k], (int, float)) and not isinstance(row[k], bool) for row in rows) for k in kept]
    header, cells = [header[k] for k in kept], [[row[k] for k in kept] for row in cells]
    if title:
        print_line(title, "bold")
    if is_terminal():
        _print_rich_table(header, cells, right, fold)
        return
    widths = [max(len(row[k]) for row in [header, *cells]) for k in range(len(header))]
    for row in [header, *cells]:
        line = [x.rjust(w) if r else x.ljust(w) for x, w, r in zip(row, widths, right, strict=True)]
        print("  ".join(line).rstrip())


def _print_rich_table(header: Sequence[str], cells: list[list[str]], right: list[bool], fold: Sequence[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0), pad_edge=False)
    for name, is_number in zip(header, right, strict=True):
        table.add_column(Text(name), justify="right" if is_number else "left", no_wrap=name not in fold, overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    console = _console()
    needed = console.measure(table).maximum
    console.print(table, soft_wrap=not fold and needed > console.width)


def print_matrix(matrix: "np.ndarray", rows: Sequence[str], columns: Sequence[str]) -> None:
    """Print a matrix with names for its rows and columns."""
    print_table(["", *columns], [[name, *map(float, row)] for name, row in zip(rows, matrix, strict=True)])


def _console():
    from rich.console import Console

    return Console(highlight=False, markup=False)


@contextmanager
def progress(label: str) -> Iterator[Callable[[float], None]]:
    """Show a bar on standard error, if it is a terminal; the context is a function of the part, 0 to 1, that is done."""
    if not sys.stderr.isatty():
        yield lambda part: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=1.0)
        yield lambda part: bar.update(task, completed=part)


# --- files ------------------------------------------------------------------------------------------------------------


def write_columns(out: str, columns: Mapping[str, Any], arrays: Mapping[str, Any] | None = None) -> None:
    """Write results into a .csv file, into a .npz file, or, for "-", as CSV to standard output.

    `columns` are {name: numbers (n,)} for CSV, and `arrays` {name: array} for .npz; by default they are the columns.
    """
    import numpy as np

    suffix = Path(out).suffix.lower()
    if out == "-":
        _write_csv(sys.stdout, columns)
    elif suffix == ".csv":
        with _whole(out) as path, path.open("w", encoding="utf-8", newline="") as file:
            _write_csv(file, columns)
    elif suffix == ".npz":
        with _whole(out) as path, path.open("wb") as file:
            np.savez(file, **{name: np.asarray(x, float) for name, x in (arrays or columns).items()})  # type: ignore[arg-type]
    else:
        raise ArgumentError(f"--out: {out} must end in .csv or .npz, or be - for CSV on standard output")


def _write_csv(file, columns: Mapping[str, Any]) -> None:
    import csv

    import numpy as np

    csv.writer(file, lineterminator="\n").writerow(columns)
    np.savetxt(file, np.column_stack([np.asarray(x, float) for x in columns.values()]), delimiter=",", fmt="%.17g")


def write_result(out: str | None, text: str) -> None:
    """Write text into a file, which appears whole or not at all, or to standard output for None and "-"."""
    if out in (None, "-"):
        print(text.rstrip("\n"))
        return
    with _whole(str(out)) as path:
        path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


@contextmanager
def _whole(out: str) -> Iterator[Path]:
    """Give the path of a file that takes the place of `out` at the end, whose folder is made."""
    from ..files import whole_file

    target = Path(out)
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as unfinished:
        yield unfinished
