"""Numbers that a user gives: typed on the command line, in CSV and NPZ files, or piped in as CSV."""

import csv
import functools
import math
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..errors import ArgumentError, nearest

if TYPE_CHECKING:
    import numpy as np

    from ..model import Robot

__all__ = ["configurations", "csv_rows", "numbers", "parsed_number", "rates", "read_text", "rows_of", "turning"]

_ANGLE = re.compile(r"(?P<sign>[+-]?)(?P<factor>\d+\.?\d*|\.\d+)?\*?pi(?:/(?P<divisor>\d+\.?\d*))?")
_UNITS = {"rad": 1.0, "deg": math.pi / 180, "m": 1.0, "mm": 1e-3, "1": 1.0}
_COLUMN = re.compile(r"(?P<name>[^\[\]]*?)\s*(?:\[(?P<unit>[^\[\]]*)\])?")
FILES = ".csv, .npz or .npy"


# --- numbers as text --------------------------------------------------------------------------------------------------


def parsed_number(text: str) -> float | None:
    """Return the number that a text means, such as 0.5, -1e-3, 30deg, pi/2 or -2pi; None if it means none."""
    plain, factor = text.strip().lower(), 1.0
    for suffix in ("deg", "°"):
        if plain.endswith(suffix):
            plain, factor = plain.removesuffix(suffix), math.pi / 180
    try:
        if match := _ANGLE.fullmatch(plain):
            sign = -1.0 if match["sign"] == "-" else 1.0
            return sign * float(match["factor"] or 1) * math.pi / float(match["divisor"] or 1) * factor
        return float(plain) * factor
    except (ValueError, ZeroDivisionError):
        return None


def _typed(text: str) -> list[list[float]] | None:
    """Return the rows of numbers that are typed: separated by commas or blanks, with ";" between rows; None if none."""
    rows = [[parsed_number(word) for word in re.split(r"[,\s]+", row.strip("[]() ,"))] for row in text.split(";")]
    if any(x is None for row in rows for x in row):
        return None
    return rows  # type: ignore[return-value]


# --- arrays -----------------------------------------------------------------------------------------------------------


def numbers(text: str, columns: Sequence[str], option: str, alike: bool = True) -> "np.ndarray":
    """Return the numbers (n,) or (N, n) that an option means; `columns` are the names of the n numbers of a row.

    If they may be `alike`, one number that is typed stands for all n. A file whose first line has names may have more
    columns than n.
    """
    import numpy as np

    rows = _typed(text) if text.strip() and text != "-" else None
    if rows is None:
        return rows_of(text, columns, option)
    lengths = (1, len(columns)) if alike else (len(columns),)
    wrong = next((row for row in rows if len(row) not in lengths), None)
    if wrong is not None:
        given = f"{len(wrong)} number{'s' * (len(wrong) > 1)}"
        raise ArgumentError(f"{option}: {given}, but there must be {len(columns)}: {_some(columns)}")
    found = np.array([row * len(columns) if len(row) == 1 else row for row in rows])
    return found[0] if len(found) == 1 else found


def rows_of(text: str, columns: Sequence[str], option: str) -> "np.ndarray":
    """Return the rows (N, n) of a file, or of standard input for "-"."""
    if text == "-":
        return csv_rows(_lines_of(sys.stdin), columns, f"{option}: standard input")
    name, _, key = text.partition(".npz:") if ".npz:" in text else (text, "", "")
    path = Path(f"{name}.npz" if key else name)
    if not path.is_file():
        raise ArgumentError(
            f"{option}: {text!r} is neither {len(columns)} numbers (0.1,0.2,... or '0.1 0.2 ...'), nor a file "
            f"({FILES}), nor - for standard input"
        )
    suffix = path.suffix.lower()
    if suffix in (".npz", ".npy"):
        return _from_numpy(path, key, columns, option)
    return csv_rows(read_text(path).splitlines(), columns, str(path))


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{path} is no text in UTF-8, from byte {error.start} on") from None


@functools.lru_cache(maxsize=1)
def _lines_of(stream: TextIO) -> list[str]:
    """Return the lines of standard input, which several options may ask for."""
    return stream.read().splitlines()


def _from_numpy(path: Path, key: str, columns: Sequence[str], option: str) -> "np.ndarray":
    import numpy as np

    from ..files import read_npz

    if path.suffix.lower() == ".npy":
        try:
            found = np.load(path, allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise ArgumentError(f"{path}: {error}") from None
    else:
        arrays = read_npz(path)
        key = key or (next(iter(arrays)) if len(arrays) == 1 else option.lstrip("-"))
        if key not in arrays:
            raise ArgumentError(f"{path} has no array '{key}'; {nearest(key, list(arrays))} ({path}:NAME chooses one)")
        found = arrays[key]
    if found.ndim == 0 or found.shape[-1] != len(columns) or found.dtype.kind not in "fiu":
        raise ArgumentError(f"{path}: {key or 'it'} has shape {found.shape}; it must be (..., {len(columns)}) numbers")
    return found.reshape(-1, len(columns)).astype(float)


def csv_rows(file: Iterable[str], columns: Sequence[str], where: str) -> "np.ndarray":
    """Return the columns of these names; without a line of names, all columns, in their order."""
    import numpy as np

    lines = [line for line in file if line.strip() and not line.startswith("#")]
    if not lines:
        raise ArgumentError(f"{where}: there are no numbers")
    separator = max(",;\t", key=lines[0].count)
    separator = separator if separator in lines[0] else " "
    try:
        rows = list(csv.reader((line.strip() for line in lines), delimiter=separator, skipinitialspace=True))
    except csv.Error as error:
        raise ArgumentError(f"{where}: {error}") from None
    header = None if all(parsed_number(cell) is not None for cell in rows[0]) else rows.pop(0)
    places, factors = _places(header, len(rows[0]) if rows else 0, columns, where)
    found = []
    for count, row in enumerate(rows, 1 if header is None else 2):
        try:
            found.append([_cell(row[place]) for place in places])
        except (IndexError, ValueError):
            raise ArgumentError(f"{where}: line {count} has no {len(places)} numbers: {','.join(row)!r:.60}") from None
    return np.array(found).reshape(-1, len(columns)) * np.array(factors)


def _cell(text: str) -> float:
    found = parsed_number(text)
    if found is None:
        raise ValueError(text)
    return found


def _places(header: list[str] | None, width: int, columns: Sequence[str], where: str) -> tuple[list[int], list[float]]:
    """Return the places of the wanted columns in a file, and the factors to SI units."""
    if header is None:
        if width != len(columns):
            raise ArgumentError(f"{where}: {width} columns, but there must be {len(columns)}: {_some(columns)}")
        return list(range(width)), [1.0] * width
    named = [match for cell in header if (match := _COLUMN.fullmatch(cell.strip()))]
    names, units = [match["name"] for match in named], [(match["unit"] or "1").strip() for match in named]
    bare = [name.partition("_")[2] for name in columns]  # q_elbow may be called elbow
    wanted = columns if all(name in names for name in columns) else bare
    missing = [name for name in columns if name not in names] if not all(name in names for name in wanted) else []
    if missing and len(header) == len(columns) and not any(name in names for name in columns):
        wanted, missing = names, []  # names of another kind, but as many as there must be
    if missing:
        raise ArgumentError(f"{where}: no column {_some(missing)}; {nearest(missing[0], names)}")
    places = [names.index(name) for name in wanted]
    unknown = next((units[place] for place in places if units[place] not in _UNITS), None)
    if unknown is not None:
        raise ArgumentError(f"{where}: unit [{unknown}]; there are {', '.join(_UNITS)}")
    return places, [_UNITS[units[place]] for place in places]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


# --- states of a robot ------------------------------------------------------------------------------------------------


def configurations(robot: "Robot", text: str | None, option: str = "--q", degrees: bool = False) -> "np.ndarray":
    """Return configurations (nq,) or (N, nq): numbers, a file, "neutral" (also for None), or "random", "random:7"."""
    from ..dynamics.regressors import coordinate_names
    from ..model import neutral, random_configuration

    if text is None or text == "neutral":
        return neutral(robot)
    if match := re.fullmatch(r"random(?::(\d+))?", text):
        return random_configuration(robot, rng=int(match[1] or 0))
    columns = [f"q_{name}" for name in coordinate_names(robot)]
    found = numbers(text, columns, option, alike=robot.nq == robot.nv)  # orientations have no equal numbers
    return _in_radians(found, turning(robot, "q"), degrees)


def rates(robot: "Robot", text: str | None, option: str, degrees: bool = False) -> "np.ndarray":
    """Return velocities, accelerations or forces (nv,) or (N, nv); None means 0."""
    import numpy as np

    from ..dynamics.regressors import dof_names

    if text is None:
        return np.zeros(robot.nv)
    columns = [f"{option.lstrip('-')}_{name}" for name in dof_names(robot)]
    return _in_radians(numbers(text, columns, option), turning(robot, "v"), degrees)


def turning(robot: "Robot", of: str) -> "np.ndarray":
    """Return which coordinates of q (nq,), or of v (nv,), are angles of joints with one degree of freedom."""
    import numpy as np

    starts = robot.layout.q_start if of == "q" else robot.layout.v_start
    found = np.zeros(robot.nq if of == "q" else robot.nv, bool)
    for i, kind in enumerate(robot.joint_types):
        if i not in robot.mimics and kind in ("revolute", "continuous", "helical"):
            found[starts[i]] = True
    return found


def _in_radians(x: "np.ndarray", angles: "np.ndarray", degrees: bool) -> "np.ndarray":
    import numpy as np

    return np.where(angles, np.radians(x), x) if degrees else x
