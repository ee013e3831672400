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

__all__ = [
    "angle_scales",
    "configurations",
    "csv_rows",
    "need_finite",
    "numbers",
    "parsed_number",
    "rates",
    "read_text",
    "rows_of",
    "turning",
]

_ANGLE = re.compile(r"(?P<sign>[+-]?)(?P<factor>\d+\.?\d*|\.\d+)?\*?pi(?:/(?P<divisor>\d+\.?\d*))?")
_UNITS = {"rad": 1.0, "deg": math.pi / 180, "m": 1.0, "mm": 1e-3, "1": 1.0}
_COLUMN = re.compile(r"(?P<name>[^\[\]]*?)\s*(?:\[(?P<unit>[^\[\]]*)\])?")
Scales = Sequence[float] | None
_ENDINGS = (".csv", ".npz", ".npy", ".txt", ".tsv", ".dat")  # what ends so is meant as a file
FILES = ".csv, .npz or .npy"


# --- numbers as text --------------------------------------------------------------------------------------------------


def parsed_number(text: str, scale: float = 1.0) -> float | None:
    """Return the number that a text means, such as 0.5, -1e-3, 30deg, pi/2 or -2pi; None if it means none.

    A number without a unit is multiplied by `scale`; degrees and multiples of pi are angles in any case.
    """
    plain, factor = text.strip().lower(), scale
    for suffix in ("deg", "°"):
        if plain.endswith(suffix):
            plain, factor = plain.removesuffix(suffix), math.pi / 180
    try:
        if match := _ANGLE.fullmatch(plain):
            turn = factor if plain != text.strip().lower() else 1.0  # pi is in radians, unless "deg" comes after it
            sign = -1.0 if match["sign"] == "-" else 1.0
            return sign * float(match["factor"] or 1) * math.pi / float(match["divisor"] or 1) * turn
        return float(plain) * factor
    except (ValueError, ZeroDivisionError):
        return None


def _typed(text: str) -> list[list[str]] | None:
    """Return the rows of numbers that are typed: separated by commas or blanks, with ";" between rows; None if none."""
    rows = [re.split(r"[,\s]+", row.strip("[]() ,")) for row in text.split(";")]
    return None if any(parsed_number(word) is None for row in rows for word in row) else rows


# --- arrays -----------------------------------------------------------------------------------------------------------


def numbers(
    text: str, columns: Sequence[str], option: str, alike: bool = True, scales: Scales = None, finite: bool = True
) -> "np.ndarray":
    """Return the numbers (n,) or (N, n) that an option means; `columns` are the names of the n numbers of a row.

    If they may be `alike`, one number that is typed stands for all n. A file whose first line has names may have more
    columns than n. `scales` (n,) are factors of numbers that come without a unit. If they must be `finite`, NaN and
    infinity are refused.
    """
    import numpy as np

    rows = _typed(text) if text.strip() and text != "-" else None
    if rows is None:
        found = rows_of(text, columns, option, scales)
        return need_finite(found, columns, option if text == "-" else f"{option}: {text}") if finite else found
    lengths = (1, len(columns)) if alike else (len(columns),)
    wrong = next((row for row in rows if len(row) not in lengths), None)
    if wrong is not None:
        given = f"{len(wrong)} number{'s' * (len(wrong) > 1)}"
        raise ArgumentError(f"{option}: {given}, but there must be {len(columns)}: {_some(columns)}")
    wide = [row * len(columns) if len(row) == 1 else row for row in rows]
    factors = _factors(scales, columns)
    found = np.array([[parsed_number(x, scale) for x, scale in zip(row, factors, strict=True)] for row in wide], float)
    found = need_finite(found, columns, option) if finite else found
    return found[0] if len(found) == 1 else found


def _factors(scales: Scales, columns: Sequence[str]) -> Sequence[float]:
    return [1.0] * len(columns) if scales is None else scales


def need_finite(rows: "np.ndarray", columns: Sequence[str], where: str) -> "np.ndarray":
    """Return rows (N, n) that have neither NaN nor infinity; else raise an error that names the first such place."""
    import numpy as np

    wrong = np.argwhere(~np.isfinite(rows))
    if len(wrong):
        i, k = wrong[0]
        row = f" in row {i + 1}" if len(rows) > 1 else ""
        raise ArgumentError(f"{where}: {columns[k]} is {rows[i, k]}{row}; it must be a finite number")
    return rows


def rows_of(text: str, columns: Sequence[str], option: str, scales: Scales = None) -> "np.ndarray":
    """Return the rows (N, n) of a file, or of standard input for "-"."""
    if text == "-":
        return csv_rows(_lines_of(sys.stdin), columns, f"{option}: standard input", scales)
    name, _, key = text.partition(".npz:") if ".npz:" in text else (text, "", "")
    path = Path(f"{name}.npz" if key else name)
    if path.is_dir():
        raise ArgumentError(f"{option}: {path} is a folder, not a file ({FILES})")
    if not path.is_file() and (path.suffix.lower() in _ENDINGS or text.startswith(("/", "./", "../", "~"))):
        raise ArgumentError(f"{option}: {path}: there is no such file")
    if not path.is_file():
        raise ArgumentError(
            f"{option}: {text!r} is neither {len(columns)} numbers (0.1,0.2,... or '0.1 0.2 ...'), nor a file "
            f"({FILES}), nor - for standard input"
        )
    suffix = path.suffix.lower()
    if suffix in (".npz", ".npy"):
        return _from_numpy(path, key, columns, option) * _factors(scales, columns)
    return csv_rows(read_text(path).splitlines(), columns, str(path), scales)


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


def csv_rows(file: Iterable[str], columns: Sequence[str], where: str, scales: Scales = None) -> "np.ndarray":
    """Return the columns of these names; without a line of names, all columns, in their order.

    `scales` (n,) are factors of numbers without a unit, be it in their cell or in the name of their column.
    """
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
    places, units = _places(header, len(rows[0]) if rows else 0, columns, where)
    pairs = zip(units, _factors(scales, columns), strict=True)
    wanted = list(zip(places, (scale if unit is None else unit for unit, scale in pairs), strict=True))
    found = []
    for count, row in enumerate(rows, 1 if header is None else 2):
        try:
            found.append([_cell(row[place], factor) for place, factor in wanted])
        except (IndexError, ValueError):
            raise ArgumentError(f"{where}: line {count} has no {len(places)} numbers: {','.join(row)!r:.60}") from None
    return np.array(found).reshape(-1, len(columns))


def _cell(text: str, factor: float) -> float:
    found = parsed_number(text, factor)
    if found is None:
        raise ValueError(text)
    return found


def _places(
    header: list[str] | None, width: int, columns: Sequence[str], where: str
) -> tuple[list[int], list[float | None]]:
    """Return the places of the wanted columns in a file, and the factors to SI units of those that have a unit."""
    if header is None:
        if width != len(columns):
            raise ArgumentError(f"{where}: {width} columns, but there must be {len(columns)}: {_some(columns)}")
        return list(range(width)), [None] * width
    named = [match for cell in header if (match := _COLUMN.fullmatch(cell.strip()))]
    names, units = [match["name"] for match in named], [(match["unit"] or "").strip() for match in named]
    bare = [name.partition("_")[2] for name in columns]  # q_elbow may be called elbow
    wanted = columns if all(name in names for name in columns) else bare
    missing = [name for name in columns if name not in names] if not all(name in names for name in wanted) else []
    if missing and len(header) == len(columns) and not any(name in names for name in columns):
        wanted, missing = names, []  # names of another kind, but as many as there must be
    if missing:
        raise ArgumentError(f"{where}: no column {_some(missing)}; {nearest(missing[0], names)}")
    places = [names.index(name) for name in wanted]
    unknown = next((units[place] for place in places if units[place] and units[place] not in _UNITS), None)
    if unknown is not None:
        raise ArgumentError(f"{where}: unit [{unknown}]; there are {', '.join(_UNITS)}")
    return places, [_UNITS.get(units[place]) for place in places]


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
    alike = robot.nq == robot.nv  # orientations have no equal numbers
    return numbers(text, columns, option, alike, angle_scales(turning(robot, "q"), degrees))


def rates(robot: "Robot", text: str | None, option: str, degrees: bool = False) -> "np.ndarray":
    """Return velocities, accelerations or forces (nv,) or (N, nv); None means 0."""
    import numpy as np

    from ..dynamics.regressors import dof_names

    if text is None:
        return np.zeros(robot.nv)
    columns = [f"{option.lstrip('-')}_{name}" for name in dof_names(robot)]
    return numbers(text, columns, option, scales=angle_scales(turning(robot, "v"), degrees))


def turning(robot: "Robot", of: str) -> "np.ndarray":
    """Return which coordinates of q (nq,), or of v (nv,), are angles of joints with one degree of freedom."""
    import numpy as np

    starts = robot.layout.q_start if of == "q" else robot.layout.v_start
    found = np.zeros(robot.nq if of == "q" else robot.nv, bool)
    for i, kind in enumerate(robot.joint_types):
        if i not in robot.mimics and kind in ("revolute", "continuous", "helical"):
            found[starts[i]] = True
    return found


def angle_scales(angles: Iterable[bool], degrees: bool) -> Scales:
    """Return the factors to radians of numbers without a unit, of which some are angles that may be in degrees."""
    return [math.pi / 180 if angle else 1.0 for angle in angles] if degrees else None
