"""Trajectories in files, exact to the last bit: .npz and .json for any batch, .csv for one trajectory.

A .json file has lists `knots`, `coefficients` and, of robots with joints of several degrees of freedom, `anchors`, with
the axes of `Trajectory`; of a `PoseTrajectory` they are those of its variables, and `anchors` are its rows. An empty
batch has {"shape": [...]} in the place of a list. A .npz file has arrays of these names. A .csv file has one row for
each piece and the columns start, stop [s], c_<i>_<j>, the coefficient of the power j of coordinate i, and anchor_<k>.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError
from ..files import read_npz, whole_file

if TYPE_CHECKING:
    from .pieces import Pieces

__all__ = ["read_arrays", "save"]

_LARGEST = 2**30  # bytes of a file of text; numbers of larger ones belong into a .npz file
_FIELDS = {"knots": True, "coefficients": True, "anchors": False}  # whether a file must have it


# --- writing ----------------------------------------------------------------------------------------------------------


def save(pieces: Pieces, path: str | os.PathLike[str]) -> Path:
    """Writes the pieces of a trajectory into a file; see `Trajectory.save`."""
    target = _path(path, "save")
    all_fields = zip(_FIELDS, (pieces.knots, pieces.coefficients, pieces.rows), strict=True)
    arrays: dict[str, Any] = {name: array for name, array in all_fields if array is not None}
    suffix = target.suffix.lower()
    if suffix == ".csv" and pieces.batch:
        raise ArgumentError(f"save: {target} holds one trajectory, this is a batch {pieces.batch}; .npz holds it")
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as unfinished:
        if suffix == ".npz":
            with unfinished.open("wb") as file:
                np.savez(file, **arrays)
        elif suffix == ".json":
            lists = {name: x.tolist() if x.size else {"shape": x.shape} for name, x in arrays.items()}
            unfinished.write_text(json.dumps(lists), encoding="utf-8")
        else:
            _write_csv(unfinished, **arrays)
    return target


def _write_csv(path: Path, knots: np.ndarray, coefficients: np.ndarray, anchors: np.ndarray | None = None) -> None:
    pieces, n, order = coefficients.shape
    columns = [knots[:-1, None], knots[1:, None], coefficients.reshape(pieces, -1)]
    names = ["start", "stop", *(f"c_{i}_{j}" for i in range(n) for j in range(order))]
    if anchors is not None:
        columns.append(anchors)
        names += [f"anchor_{k}" for k in range(anchors.shape[-1])]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerow(names)
        np.savetxt(file, np.concatenate(columns, axis=1), delimiter=",", fmt="%.17g")


# --- reading ----------------------------------------------------------------------------------------------------------


def read_arrays(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """The arrays of a file that `save` wrote, {name: array}; `Trajectory` checks whether they fit together."""
    source = _path(path, "load")
    if not source.is_file():
        raise ArgumentError(f"{source}: {'it is no file' if source.exists() else 'there is no such file'}")
    suffix = source.suffix.lower()
    if suffix != ".npz" and source.stat().st_size > _LARGEST:
        raise ArgumentError(f"{source}: a file of text of {source.stat().st_size} bytes is too large; .npz takes more")
    with _errors_of(source):
        found = {".npz": _read_npz, ".json": _read_json, ".csv": _read_csv}[suffix](source)
    missing = [name for name, needed in _FIELDS.items() if needed and name not in found]
    if missing:
        raise ArgumentError(f"{source}: {' and '.join(missing)} missing; a trajectory has {', '.join(_FIELDS)}")
    return found


def _path(path, caller: str) -> Path:
    """The path, if it ends in the name of a format."""
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"{caller}: path must be a str or os.PathLike, got {type(path).__name__}")
    found = Path(os.fsdecode(path))
    if found.suffix.lower() not in (".npz", ".json", ".csv"):
        raise ArgumentError(f"{caller}: {found} must end in .npz, .json or .csv")
    return found


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Turns errors about a file's contents into an `ArgumentError` that names it."""
    try:
        yield
    except ArgumentError:
        raise
    except RecursionError:
        raise ArgumentError(f"{path}: lists are nested too deeply; no trajectory has such") from None
    except (ValueError, TypeError, KeyError, csv.Error) as error:  # that of wrong UTF-8 is a ValueError
        raise ArgumentError(f"{path}: not a file of a trajectory: {error}") from None


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    return read_npz(path, _FIELDS)


def _read_json(path: Path) -> dict[str, np.ndarray]:
    def refused(word: str):
        raise ArgumentError(f"{path}: {word} is no number that a trajectory has")

    with path.open(encoding="utf-8") as file:
        content = json.load(file, parse_constant=refused)
    if not isinstance(content, dict):
        raise ArgumentError(f"{path}: it must be an object with {', '.join(_FIELDS)}, not a {type(content).__name__}")
    found = {}
    for name in _FIELDS.keys() & content.keys():
        x = _no_numbers(content[name]) if isinstance(content[name], dict) else np.array(content[name])
        if x.dtype.kind not in "if" or x.ndim == 0:
            raise ArgumentError(f"{path}: '{name}' must be lists of numbers")
        found[name] = x.astype(float)
    return found


def _no_numbers(value: dict) -> np.ndarray:
    """The array of an empty batch, from its shape."""
    shape = value.get("shape")
    if not isinstance(shape, list) or 0 not in shape:
        raise ValueError(f"an object must have the shape of an empty array, got {value!r:.60}")
    return np.zeros(shape)


def _read_csv(path: Path) -> dict[str, np.ndarray]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        header = next(csv.reader(file), [])
        n, order, nq = _sizes(path, header)
        rows = [row for row in csv.reader(file) if row]
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise ArgumentError(f"{path}:{number}: {len(row)} cells, the header has {len(header)}")
    table = np.array([[float(cell) for cell in row] for row in rows]).reshape(len(rows), len(header))
    start, stop, c, anchors = np.split(table, [1, 2, 2 + n * order], axis=1)
    if not len(table) or not np.array_equal(start[1:], stop[:-1]):
        raise ArgumentError(f"{path}: each piece must start where the one before it stops")
    found = {"knots": np.append(start[:, 0], stop[-1]), "coefficients": c.reshape(-1, n, order)}
    return found | ({"anchors": anchors} if nq else {})


def _sizes(path: Path, header: list[str]) -> tuple[int, int, int]:
    """The numbers of coordinates, of their coefficients, and of anchors, by the names of all columns."""
    places = [match for name in header[2:] if (match := re.fullmatch(r"c_(\d{1,6})_(\d{1,6})", name))]
    n, order = (max((int(match[k]) for match in places), default=-1) + 1 for k in (1, 2))
    nq = len(header) - 2 - len(places)
    expected = itertools.chain(
        ("start", "stop"),
        (f"c_{i}_{j}" for i in range(n) for j in range(order)),
        (f"anchor_{k}" for k in range(nq)),
    )
    if n * order != len(places) or header != list(expected):
        raise ArgumentError(f"{path}:1: its columns must be start, stop, c_0_0, c_0_1, ..., anchor_0, ..., in order")
    return n, order, nq
