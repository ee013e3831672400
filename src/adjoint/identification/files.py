"""Recordings in CSV and Parquet files are read and written in pieces.

A file has one row per sample and columns q_<joint>, v_<joint>, a_<joint> and tau_<joint> in SI units. It may also have
the columns time and slide_<joint>. The columns of a joint with several coordinates are numbered: q_<joint>_0,
q_<joint>_1, and so on. Empty cells are read as NaN.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from ..errors import ArgumentError, nearest
from ..extras import package
from ..files import whole_file
from ..model.input_checks import count, positive
from ..model.needs import need_robot
from ..model.robot import Robot
from .base import some
from .data import Samples, checked_samples, column_names, each_piece

__all__ = ["csv_header", "csv_pieces", "file_errors", "read_samples", "stream_samples", "write_samples"]

ROWS = 20_000  # the most rows that a piece of a file has


# --- writing ----------------------------------------------------------------------------------------------------------


def write_samples(path: str | Path, robot: Robot, samples: Samples | Iterable[Samples]) -> None:
    """Writes `Samples`, or an iterable of pieces of them, into a .csv or .parquet file (Parquet needs pyarrow).

    The file appears, or is replaced, when everything is written: so the pieces may come from the same file, and an
    error leaves no half-written file. The names of the columns are those that `read_samples` expects.

        write_samples("recording.csv", robot, samples)
    """
    need_robot(robot, "write_samples")
    write, path = _format(path, "write_samples")[2], Path(path)
    with whole_file(path) as unfinished:
        write(unfinished, _tables(robot, samples))


def _tables(robot: Robot, samples: Samples | Iterable[Samples]) -> Iterator[tuple[list[str], np.ndarray]]:
    """The names and columns (n, k) of the fields that each piece has; all pieces must have the same fields."""
    ours, first = column_names(robot), None
    for piece in each_piece(samples, "write_samples"):
        piece = checked_samples(robot, piece, "write_samples")
        known = {field: x for field, x in piece._asdict().items() if x is not None}
        first = first or list(known)
        if list(known) != first:
            raise ArgumentError(f"write_samples: a piece has {', '.join(known)}; the first one had {', '.join(first)}")
        yield [name for field in known for name in ours[field]], np.column_stack(list(known.values()))
    if first is None:
        raise ArgumentError("write_samples: no samples to write")


def _write_csv(path: Path, tables: Iterator) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        for k, (names, table) in enumerate(tables):
            if k == 0:
                csv.writer(file).writerow(names)
            np.savetxt(file, table, delimiter=",", fmt="%.17g")


def _write_parquet(path: Path, tables: Iterator) -> None:
    arrow, parquet = _pyarrow("write_samples")
    with contextlib.ExitStack() as files:
        writer = None
        for names, table in tables:
            piece = arrow.table(dict(zip(names, table.T, strict=True)))
            writer = writer or files.enter_context(parquet.ParquetWriter(path, piece.schema))
            writer.write_table(piece)


# --- reading ----------------------------------------------------------------------------------------------------------


def read_samples(
    path: str | Path, robot: Robot, *, columns: Mapping[str, str] | None = None, rate: float | None = None
) -> Samples:
    """All `Samples` of a .csv or .parquet file; `stream_samples` explains the arguments and reads larger files.

    samples = read_samples("recording.csv", robot, columns={"q_elbow": "joint_3/position"})
    """
    pieces = list(stream_samples(path, robot, columns=columns, rate=rate))
    if not pieces:
        raise ArgumentError(f"{path}: no samples in the file")
    return Samples(*(None if field[0] is None else np.concatenate(field) for field in zip(*pieces, strict=True)))


def stream_samples(
    path: str | Path,
    robot: Robot,
    *,
    columns: Mapping[str, str] | None = None,
    rate: float | None = None,
    rows: int = ROWS,
) -> Iterator[Samples]:
    """The `Samples` of a .csv or .parquet file (Parquet needs pyarrow), in pieces of at most `rows` rows.

        found = identify(robot, stream_samples("recording.parquet", robot))

    The columns are q_<joint>, v_<joint>, a_<joint>, tau_<joint>, slide_<joint> and time, in SI units. `columns` maps
    these names to those of the file where they differ: {"q_elbow": "joint_3/position"}. Other columns are skipped. The
    file must have q and tau, and either both v and a, or time. A field whose columns are all missing is None.

    `rate` [Hz] is for a file without time: its rows are then 1/rate apart. The first line of a .csv file names the
    columns; they are separated by `,`, `;` or tabs. With `;` or tabs, numbers may have decimal commas.
    """
    need_robot(robot, "stream_samples")
    if rate is not None:
        rate = positive(rate, "stream_samples: rate [Hz]")
    if not count(rows, "stream_samples: rows"):
        raise ArgumentError("stream_samples: rows must be 1 or more")
    header, pieces, _ = _format(path, "stream_samples")
    with file_errors(path):
        names = header(Path(path))
        places = _places(str(path), robot, names, _renamed(columns), rate)
        ends, read = np.cumsum([len(at) for at in places.values()])[:-1], 0
        for table in pieces(Path(path), rows, names, list(itertools.chain(*places.values()))):
            parts = dict(zip(places, np.split(table, ends, axis=1), strict=True))
            parts |= {"time": parts["time"][:, 0]} if "time" in parts else {}
            parts |= {} if rate is None else {"time": np.arange(read, read + len(table)) / rate}
            read += len(table)
            if len(table):
                yield Samples(**(dict.fromkeys(Samples._fields) | parts))


def _renamed(columns) -> Mapping[str, str]:
    """The `columns` argument of `stream_samples`, as a mapping."""
    if columns is not None and not isinstance(columns, Mapping):
        raise ArgumentError(f"columns must be {{our name: the file's}}, got {type(columns).__name__}")
    return columns or {}


@contextlib.contextmanager
def file_errors(path: str | Path) -> Iterator[None]:
    """Turns the errors of Python, NumPy and pyarrow about a file's contents into an `ArgumentError` that names it."""
    try:
        yield
    except ArgumentError:
        raise
    except OSError as error:
        if error.errno is not None:  # an error of the system: there is no such file, or it may not be read
            raise
        raise ArgumentError(f"{path}: not a Parquet file, or a damaged one: {error}") from None
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{path}: not text in UTF-8: {error}") from None
    except (ValueError, TypeError, NotImplementedError, csv.Error) as error:
        raise ArgumentError(f"{path}: not a file of numbers: {error}") from None


def _places(
    path: str, robot: Robot, names: list[str], columns: Mapping[str, str], rate: float | None
) -> dict[str, list[int]]:
    """{field: numbers of its columns in the file}, without the fields that the file does not have."""
    if names and all(map(_is_number, names)):
        wanted = some([*column_names(robot)["q"], *column_names(robot)["tau"]])
        raise ArgumentError(f"{path}: its first line has numbers; it must name the columns: {wanted}, ...")
    ours = column_names(robot)
    every = list(itertools.chain(*ours.values()))
    unknown = sorted(columns.keys() - set(every))
    if unknown:
        raise ArgumentError(f"columns: {unknown[0]!r} is none of ours; {nearest(unknown[0], every)}")
    theirs = {field: [columns.get(name, name) for name in group] for field, group in ours.items()}
    found = {field: group for field, group in theirs.items() if field in ("q", "tau") or set(group) & set(names)}
    if rate is not None and "time" in found:
        raise ArgumentError(f"{path}: it has a column {theirs['time'][0]}; `rate` is for files that have none")
    if not {"v", "a"} <= found.keys() and "time" not in found and rate is None:
        found["time"] = theirs["time"]  # `differentiate` needs it to find v and a
    wanted = list(itertools.chain(*found.values()))
    missing = [name for name in wanted if name not in names]
    if missing:
        why = ", which is needed where v or a is missing, or rate=... [Hz]" if missing == theirs["time"] else ""
        others = [name for name in names if name not in wanted]
        hint = f"{nearest(missing[0], others)} (columns={{ours: the file's}})" if others else "it has no others"
        raise ArgumentError(f"{path}: no column {some(missing)}{why}; {hint}")
    twice = [name for name, times in Counter(names + wanted).items() if name in wanted and times > 2]
    if twice:
        raise ArgumentError(f"{path}: column {', '.join(twice)} is there twice, or meant twice by `columns`")
    return {field: [names.index(name) for name in group] for field, group in found.items()}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_SEPARATORS = ",;\t"


def _separator(header: str) -> str:
    """The character that separates the names in the first line of a .csv file: the most frequent one outside quotes."""
    plain = re.sub(r'"[^"]*"', "", header)
    return max(_SEPARATORS, key=plain.count)


def csv_header(path: Path) -> list[str]:
    """The names in the first line of a .csv file."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.readline()
        return [name.strip() for name in next(csv.reader([first], delimiter=_separator(first)), [])]


def csv_pieces(path: Path, rows: int, names: list[str], places: list[int]) -> Iterator[np.ndarray]:
    """Arrays (n, k) of the columns at `places`, with n at most `rows`."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        separator = _separator(next(file))
        for start in itertools.count(2, rows):
            lines = list(itertools.islice(file, rows))
            if not lines:
                return
            even = all(line.count(separator) == len(names) - 1 and '"' not in line for line in lines)
            try:  # this is fast, and does not look at the other columns
                table = np.loadtxt(lines, delimiter=separator, ndmin=2, comments=None, usecols=places) if even else None
            except ValueError:  # there are empty cells, decimal commas, or mistakes
                table = None
            if table is None:
                table = _cell_by_cell(lines, separator, len(names), places, f"{path}:", start)
            yield table


def _cell_by_cell(lines: list[str], separator: str, width: int, places: list[int], path: str, start: int) -> np.ndarray:
    """The columns at `places` (n, k) of lines that `np.loadtxt` does not read.

    Empty cells are NaN and blank lines are skipped; an error names the line of any other cell that is not a number.
    """
    found, comma = [], "," if separator == "," else "."  # with other separators, commas are decimal points
    for number, row in enumerate(csv.reader(lines, delimiter=separator), start):
        if row and len(row) != width:
            raise ArgumentError(f"{path}{number}: {len(row)} cells, the header has {width}{_hint(row, width)}")
        try:
            cells = [row[at].replace(",", comma) for at in places] if row else []
            found += [[float(cell) if cell.strip() else np.nan for cell in cells]] if row else []
        except ValueError as error:
            raise ArgumentError(f"{path}{number}: {error}") from None
    return np.array(found).reshape(-1, len(places))


def _hint(row: list[str], width: int) -> str:
    """What may be wrong with a row that has more or fewer cells than the header."""
    if len(row) == 1 and any(mark in row[0] for mark in ";\t,"):
        return ": are they separated by another mark?"
    return " (decimal commas need ';' or tabs between columns)" if len(row) > width else ": the row is cut off"


def _parquet_header(path: Path) -> list[str]:
    return _pyarrow("stream_samples")[1].read_schema(path).names


def _parquet_pieces(path: Path, rows: int, names: list[str], places: list[int]) -> Iterator[np.ndarray]:
    wanted = [names[at] for at in places]
    with _pyarrow("stream_samples")[1].ParquetFile(path) as file:
        for batch in file.iter_batches(rows, columns=wanted):
            columns = (batch.column(name).cast("float64") for name in wanted)
            yield np.column_stack([column.to_numpy(zero_copy_only=False) for column in columns])


def _pyarrow(caller: str):
    """The modules pyarrow and pyarrow.parquet."""
    who = f"{caller} of Parquet files (CSV files need nothing)"
    return package("pyarrow", "data", who), package("pyarrow.parquet", "data", who)


_FORMATS = {
    ".csv": (csv_header, csv_pieces, _write_csv),
    ".parquet": (_parquet_header, _parquet_pieces, _write_parquet),
}


def _format(path: str | Path, caller: str):
    """The functions (header, pieces, write) for the kind of file that the path's ending tells."""
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"{caller}: path must be a str or os.PathLike, got {type(path).__name__}")
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise ArgumentError(f"{caller}: {path} must end in {' or '.join(_FORMATS)}")
    return _FORMATS[suffix]
