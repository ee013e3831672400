"""Recorded motions: how they are named in files, read and written in pieces, and differentiated.

A file has one row per sample and columns q_<joint>, v_<joint>, a_<joint>, tau_<joint>, in SI units, and may have time;
joints of several coordinates have theirs numbered, q_<joint>_0, q_<joint>_1, and so on. Empty cells are NaN.
"""

from __future__ import annotations

import contextlib
import csv
import importlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..dynamics.regressor import coordinate_names, dof_names
from ..errors import ArgumentError
from ..robot.configuration import difference
from ..robot.model import Robot, need_robot

__all__ = ["Samples", "differentiate", "read_samples", "stream_samples", "write_samples"]

ROWS = 20_000  # of a piece of a file


class Samples(NamedTuple):
    """n recorded states: q (n, nq), v, a and tau (n, nv) [SI units], time (n,) [s]; None for what is not known."""

    q: np.ndarray
    v: Any
    a: Any
    tau: np.ndarray
    time: Any = None


def _columns(robot: Robot) -> dict[str, list[str]]:
    """{field of `Samples`: names of its columns}."""
    rates = {field: [f"{field}_{name}" for name in dof_names(robot)] for field in ("v", "a", "tau")}
    return {"q": [f"q_{name}" for name in coordinate_names(robot)], **rates, "time": ["time"]}


# --- writing ----------------------------------------------------------------------------------------------------------


def write_samples(path: str | Path, robot: Robot, samples: Samples | Iterable[Samples]) -> None:
    """Samples, or pieces of them one after the other, into a file .csv or .parquet (needs pyarrow)."""
    need_robot(robot, "write_samples")
    write = _format(path, "write_samples")[2]
    write(Path(path), (_table(robot, piece) for piece in ([samples] if isinstance(samples, Samples) else samples)))


def _table(robot: Robot, samples: Samples) -> tuple[list[str], np.ndarray]:
    """Names and columns (n, k) of what is known."""
    known = {field: np.asarray(x, float) for field, x in samples._asdict().items() if x is not None}
    names = [name for field in known for name in _columns(robot)[field]]
    table = np.column_stack(list(known.values()))
    if table.shape[1] != len(names):
        shapes = ", ".join(f"{field} {x.shape}" for field, x in known.items())
        raise ArgumentError(
            f"robot '{robot.name}' has nq {robot.nq}, nv {robot.nv}, which the samples do not fit: {shapes}"
        )
    return names, table


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
    skipped. q and tau must be there; v, a and time are None where all their columns are missing.
    """
    need_robot(robot, "stream_samples")
    header, pieces, _ = _format(path, "stream_samples")
    names = header(Path(path))
    places = _places(str(path), robot, names, columns or {})
    for table in pieces(Path(path), rows, names, list(itertools.chain(*places.values()))):
        parts = dict(
            zip(places, np.split(table, np.cumsum([len(at) for at in places.values()])[:-1], axis=1), strict=True)
        )
        time = parts["time"][:, 0] if "time" in parts else None
        yield Samples(parts["q"], parts.get("v"), parts.get("a"), parts["tau"], time)


def _places(path: str, robot: Robot, names: list[str], columns: Mapping[str, str]) -> dict[str, list[int]]:
    """{field: places of its columns in the file}, without fields of which there is nothing."""
    ours = _columns(robot)
    unknown = columns.keys() - {name for group in ours.values() for name in group}
    if unknown:
        wanted = ", ".join(itertools.chain(*ours.values()))
        raise ArgumentError(f"columns: {', '.join(sorted(unknown))} is none of ours, which are {wanted}")
    found = {}
    for field, group in ours.items():
        theirs = [columns.get(name, name) for name in group]
        missing = [name for name in theirs if name not in names]
        if missing and (field in ("q", "tau") or len(missing) < len(theirs)):
            have = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "") or "none"
            raise ArgumentError(
                f"{path}: no column {', '.join(missing)}; it has {have}. `columns` maps our names to others"
            )
        if not missing:
            found[field] = [names.index(name) for name in theirs]
    return found


def _csv_header(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [name.strip() for name in next(csv.reader(file), [])]


def _csv_pieces(path: Path, rows: int, names: list[str], places: list[int]) -> Iterator[np.ndarray]:
    """Columns at `places` (n, k), at most so many rows at once."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        next(file)
        for start in itertools.count(2, rows):
            lines = list(itertools.islice(file, rows))
            if not lines:
                return
            try:
                yield np.loadtxt(lines, delimiter=",", ndmin=2, comments=None, usecols=places)
            except ValueError:  # empty cells, or something that is wrong
                yield _cell_by_cell(lines, len(names), places, path, start)


def _cell_by_cell(lines: list[str], width: int, places: list[int], path: Path, start: int) -> np.ndarray:
    """The same; empty cells are NaN, blank lines are skipped, all else that is no number is an error with its line."""
    found = []
    for number, row in enumerate(csv.reader(lines), start):
        if row and len(row) != width:
            raise ArgumentError(f"{path}:{number}: {len(row)} cells, the header has {width}")
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
        raise ArgumentError(f"{caller}: Parquet files need pyarrow: pip install adjoint[data], or use .csv") from None


_FORMATS = {
    ".csv": (_csv_header, _csv_pieces, _write_csv),
    ".parquet": (_parquet_header, _parquet_pieces, _write_parquet),
}


def _format(path: str | Path, caller: str):
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise ArgumentError(f"{caller}: {path} must end in {' or '.join(_FORMATS)}")
    return _FORMATS[suffix]


# --- velocities and accelerations -------------------------------------------------------------------------------------


def differentiate(robot: Robot, samples: Samples, cutoff: float) -> Samples:
    """Velocities and accelerations of recorded q and time: central differences, low-pass filtered without delay.

    A Butterworth filter of fourth order runs forward and backward over v and, as what belongs together must be filtered
    alike, over tau. `cutoff` [Hz] is some ten times the highest frequency of the motion. Of the result every k-th
    sample is kept, two and a half for each period of the cutoff: those between tell nothing new, and would make the
    confidence intervals of `identify` too narrow. Three periods of the cutoff are dropped at either end.
    """
    from scipy import signal

    need_robot(robot, "differentiate")
    step = _time_step(samples.time, cutoff)
    q, tau = np.asarray(samples.q, float), np.asarray(samples.tau, float)
    if not (np.isfinite(q).all() and np.isfinite(tau).all()):
        raise ArgumentError(
            "differentiate: q or tau has NaN; differences need samples without gaps: cut them into parts"
        )
    band = signal.butter(4, 2 * step * cutoff, output="sos")
    edge = max(2, round(3 / cutoff / step))
    v = difference(robot, q[:-2], q[2:]) / (2 * step)
    v = signal.sosfiltfilt(band, v, axis=0, padlen=min(3 * edge, len(v) - 1))
    tau = signal.sosfiltfilt(band, tau, axis=0, padlen=min(3 * edge, len(tau) - 1))
    a = np.gradient(v, step, axis=0)
    keep = slice(edge, len(q) - edge, max(1, int(0.4 / cutoff / step)))
    pad = [(1, 1), (0, 0)]
    v, a = np.pad(v, pad), np.pad(a, pad)
    return Samples(q[keep], v[keep], a[keep], tau[keep], np.asarray(samples.time)[keep])


def _time_step(time: np.ndarray | None, cutoff: float) -> float:
    """The time step [s] of evenly spaced samples that are enough for a filter of this cutoff [Hz]."""
    if time is None:
        raise ArgumentError("differentiate: samples need time (n,) [s]")
    steps = np.diff(np.asarray(time, float))
    step = float(np.median(steps)) if len(steps) else 0.0
    if not (step > 0 and np.abs(steps - step).max() < 0.1 * step):
        raise ArgumentError(
            "differentiate: time must grow in even steps; resample q and tau, or cut the recording at gaps"
        )
    if not 0 < cutoff < 0.4 / step:
        raise ArgumentError(
            f"differentiate: cutoff {cutoff:g} Hz must be between 0 and 0.4 of the sampling rate {1 / step:g} Hz"
        )
    if len(steps) * step < 10 / cutoff:
        raise ArgumentError(
            f"differentiate: {len(steps) * step:g} s are too short for a cutoff of {cutoff:g} Hz: record 10 periods"
        )
    return step
