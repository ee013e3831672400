"""Recordings in files: how their columns are named, read and written in pieces.

A file has one row per sample and columns q_<joint>, v_<joint>, a_<joint>, tau_<joint>, in SI units, and may have time
and slide_<joint>; joints of several coordinates have theirs numbered, q_<joint>_0, q_<joint>_1, and so on. Empty cells
are NaN.
"""

from __future__ import annotations

import contextlib
import csv
import importlib
import itertools
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from ..errors import ArgumentError, MissingPackageError
from ..robot.model import Robot, nearest, need_robot
from ..robot.numbers import count
from .base import some
from .data import Samples, checked_samples, column_names, each_piece

__all__ = ["read_samples", "stream_samples", "write_samples"]

ROWS = 20_000  # of a piece of a file


# --- writing ----------------------------------------------------------------------------------------------------------


def write_samples(path: str | Path, robot: Robot, samples: Samples | Iterable[Samples]) -> None:
    """Samples, or pieces of them one after the other, into a file .csv or .parquet (needs pyarrow).

    The file appears, or is replaced, when all is written: pieces may come from that very file, and nothing is left of
    what an error interrupts.
    """
    need_robot(robot, "write_samples")
    write, path = _format(path, "write_samples")[2], Path(path)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(unfinished, _tables(robot, samples))
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _tables(robot: Robot, samples: Samples | Iterable[Samples]) -> Iterator[tuple[list[str], np.ndarray]]:
    """Names and columns (n, k) of what is known, of each piece; the names of all are the same."""
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


def read_samples(path: str | Path, robot: Robot, *, columns: Mapping[str, str] | None = None) -> Samples:
    """All `Samples` of a file; see `stream_samples`, which reads files larger than memory."""
    pieces = list(stream_samples(path, robot, columns=columns))
    if not pieces:
        raise ArgumentError(f"{path}: no samples in the file")
    return Samples(*(None if field[0] is None else np.concatenate(field) for field in zip(*pieces, strict=True)))


def stream_samples(
    path: str | Path, robot: Robot, *, columns: Mapping[str, str] | None = None, rows: int = ROWS
) -> Iterator[Samples]:
    """`Samples` of a .csv or .parquet file (needs pyarrow), piece by piece of at most so many rows.

    `columns` maps our names to the file's where they are others, {"q_elbow": "joint_3/position"}; further columns are
    skipped. q and tau must be there, and v and a or time; they and slide are None where all their columns are missing.
    """
    need_robot(robot, "stream_samples")
    if not count(rows, "stream_samples: rows"):
        raise ArgumentError("stream_samples: rows must be 1 or more")
    header, pieces, _ = _format(path, "stream_samples")
    with _named(path):
        names = header(Path(path))
        places = _places(str(path), robot, names, columns or {})
        ends = np.cumsum([len(at) for at in places.values()])[:-1]
        for table in pieces(Path(path), rows, names, list(itertools.chain(*places.values()))):
            parts = dict(zip(places, np.split(table, ends, axis=1), strict=True))
            parts |= {"time": parts["time"][:, 0]} if "time" in parts else {}
            if len(table):
                yield Samples(**(dict.fromkeys(Samples._fields) | parts))


@contextlib.contextmanager
def _named(path: str | Path) -> Iterator[None]:
    """Errors of what cannot be read as numbers, with the file's name; those of pyarrow are of these types too."""
    try:
        yield
    except ArgumentError:
        raise
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{path}: not text in UTF-8: {error}") from None
    except (ValueError, TypeError, NotImplementedError, csv.Error) as error:
        raise ArgumentError(f"{path}: not a file of numbers: {error}") from None


def _places(path: str, robot: Robot, names: list[str], columns: Mapping[str, str]) -> dict[str, list[int]]:
    """{field: places of its columns in the file}, without fields of which there is nothing."""
    ours = column_names(robot)
    every = list(itertools.chain(*ours.values()))
    unknown = sorted(columns.keys() - set(every))
    if unknown:
        raise ArgumentError(f"columns: {unknown[0]!r} is none of ours; {nearest(unknown[0], every)}")
    theirs = {field: [columns.get(name, name) for name in group] for field, group in ours.items()}
    found = {field: group for field, group in theirs.items() if field in ("q", "tau") or set(group) & set(names)}
    if not {"v", "a"} <= found.keys() and "time" not in found:
        found["time"] = theirs["time"]  # from which `differentiate` finds the rates
    wanted = list(itertools.chain(*found.values()))
    missing = [name for name in wanted if name not in names]
    if missing:
        why = ", which is needed where v or a is missing" if missing == theirs["time"] else ""
        others = [name for name in names if name not in wanted]
        hint = f"{nearest(missing[0], others)} (columns={{ours: the file's}})" if others else "it has no others"
        raise ArgumentError(f"{path}: no column {some(missing)}{why}; {hint}")
    twice = [name for name, times in Counter(names + wanted).items() if name in wanted and times > 2]
    if twice:
        raise ArgumentError(f"{path}: column {', '.join(twice)} is there twice, or meant twice by `columns`")
    return {field: [names.index(name) for name in group] for field, group in found.items()}


def _csv_header(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [name.strip() for name in next(csv.reader(file), [])]


def _csv_pieces(path: Path, rows: int, names: list[str], places: list[int]) -> Iterator[np.ndarray]:
    """Columns at `places` (n, k), at most so many rows at once."""
    commas = len(names) - 1
    with path.open(encoding="utf-8-sig", newline="") as file:
        next(file)
        for start in itertools.count(2, rows):
            lines = list(itertools.islice(file, rows))
            if not lines:
                return
            even = all(line.count(",") == commas and '"' not in line for line in lines)
            try:  # the fast way, which does not look at the other columns
                table = np.loadtxt(lines, delimiter=",", ndmin=2, comments=None, usecols=places) if even else None
            except ValueError:  # empty cells, or something that is wrong
                table = None
            yield _cell_by_cell(lines, len(names), places, path, start) if table is None else table


def _cell_by_cell(lines: list[str], width: int, places: list[int], path: Path, start: int) -> np.ndarray:
    """The same; empty cells are NaN, blank lines are skipped, all else that is no number is an error with its line."""
    found = []
    for number, row in enumerate(csv.reader(lines), start):
        if row and len(row) != width:
            raise ArgumentError(f"{path}:{number}: {len(row)} cells, the header has {width} (decimals need points)")
        try:
            found += [[float(row[at]) if row[at].strip() else np.nan for at in places]] if row else []
        except ValueError as error:
            raise ArgumentError(f"{path}:{number}: {error}") from None
    return np.array(found).reshape(-1, len(places))


def _parquet_header(path: Path) -> list[str]:
    return _pyarrow("stream_samples")[1].read_schema(path).names


def _parquet_pieces(path: Path, rows: int, names: list[str], places: list[int]) -> Iterator[np.ndarray]:
    wanted = [names[at] for at in places]
    with _pyarrow("stream_samples")[1].ParquetFile(path) as file:
        for batch in file.iter_batches(rows, columns=wanted):
            columns = (batch.column(name).cast("float64") for name in wanted)
            yield np.column_stack([column.to_numpy(zero_copy_only=False) for column in columns])


def _pyarrow(caller: str):
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise MissingPackageError(
            f"{caller}: Parquet files need pyarrow: pip install 'adjoint[data]', or use .csv"
        ) from None


_FORMATS = {
    ".csv": (_csv_header, _csv_pieces, _write_csv),
    ".parquet": (_parquet_header, _parquet_pieces, _write_parquet),
}


def _format(path: str | Path, caller: str):
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise ArgumentError(f"{caller}: {path} must end in {' or '.join(_FORMATS)}")
    return _FORMATS[suffix]
