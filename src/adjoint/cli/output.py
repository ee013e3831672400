"""How results leave the program: tables and lines on the screen, plain text in a pipe, JSON, and files."""

import json
import shutil
import sys
import textwrap
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

UNITS = "SI, angles in rad"
"""The units of all data in JSON and in files, whatever the units of tables are."""

_LEAST_FOLD = 16  # letters of a column that is broken into lines


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


def print_table(
    header: Sequence[str], rows: Sequence[Sequence], title: str = "", fold: str = "", digits: int = 6
) -> None:
    """Print a table: numbers are aligned to the right, and columns without any content are left out.

    In a pipe, every row is one line. On a terminal that is too narrow, the text of the last column is broken into lines
    if it is called `fold`; else the columns that do not fit come below, with the first column before them again.
    """
    cells = [
        [x if isinstance(x, str) else str(x) if isinstance(x, int) else number(x, digits) for x in row] for row in rows
    ]
    kept = [k for k in range(len(header)) if any(row[k] for row in cells)] if cells else list(range(len(header)))
    right = [all(isinstance(row[k], (int, float)) for row in rows) for k in kept]
    table = [[header[k] for k in kept], *([row[k] for k in kept] for row in cells)]
    if title:
        print_line(title, "bold")
    widths = [max(len(row[k]) for row in table) for k in range(len(kept))]
    room = shutil.get_terminal_size().columns if is_terminal() else sys.maxsize
    folds = table[0][-1] == fold and sum(widths[:-1]) + 2 * len(widths) + _LEAST_FOLD <= room
    for count, block in enumerate([list(range(len(kept)))] if folds else _blocks(widths, room)):
        if count:
            print_line()
        for k, row in enumerate(table):
            if count == 0 or any(row[j] for j in block[1:]):  # else it has nothing in these columns
                line = [row[j].rjust(widths[j]) if right[j] else row[j].ljust(widths[j]) for j in block]
                _print_row(line, room, "dim" if k == 0 else None, folds)


def _blocks(widths: list[int], room: int) -> list[list[int]]:
    """Return the columns of each block, so that it fits into the room; each has the first column."""
    found, used = [[0]], widths[0]
    for k, width in enumerate(widths[1:], 1):
        if used + 2 + width > room and len(found[-1]) > 1:
            found.append([0])
            used = widths[0]
        found[-1].append(k)
        used += 2 + width
    return found


def _print_row(cells: list[str], room: int, style: str | None, fold: bool) -> None:
    """Print a row; if it is too long and may be folded, its last cell takes several lines."""
    line = "  ".join(cells).rstrip()
    before = len("  ".join(cells[:-1])) + 2
    if fold and len(line) > room:
        first, *others = textwrap.wrap(cells[-1], room - before)
        line = "\n".join(["  ".join([*cells[:-1], first]), *(" " * before + text for text in others)])
    print_line(line, style)


def print_matrix(matrix: "np.ndarray", rows: Sequence[str], columns: Sequence[str]) -> None:
    """Print a matrix with names for its rows and columns."""
    print_table(["", *columns], [[name, *map(float, row)] for name, row in zip(rows, matrix, strict=True)])


def _console():
    from rich.console import Console

    return Console(highlight=False, markup=False)


@contextmanager
def progress(label: str) -> Iterator[Callable[[float], None]]:
    """Show a bar on standard error, if it is a terminal; give a function of the part, 0 to 1, that is done."""
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
