"""Measurements and results in files.

A file of measurements has one row for each sample, and a first line that names the columns, each with its unit:

    q_<joint> [rad]                                 what the encoders read; [deg], and [m] or [mm] of joints that slide
    T11 [1], ..., T34 [m]                           a pose, by the first three rows of its matrix; or, instead of it,
    x [m], y [m], z [m], qw [1], qx, qy, qz [1]     a pose, by its position and its unit quaternion; or
    x [m], y [m], z [m]                             a position; of several points x_1, y_1, z_1, x_2, ...; or
    distance [m]                                    a distance

A column without a unit is in SI units and radians. Empty cells are read as NaN.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..dynamics.regressors import coordinate_names
from ..errors import ArgumentError, nearest
from ..files import whole_file
from ..identification.base import some
from ..identification.data import angles
from ..identification.files import csv_header, csv_pieces, file_errors
from ..lie import se3
from ..model.joints import JOINTS
from ..model.needs import need_robot
from ..model.robot import Robot
from .measured import Distances, Poses, Positions, as_reading
from .problem import configurations

if TYPE_CHECKING:
    from .report import Calibration

__all__ = ["Recording", "read_measurements", "save_report", "write_measurements"]

_ROWS = 20_000  # rows that are read at once
_MATRIX = [f"T{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3, 4)]
_POSITION, _QUATERNION = ["x", "y", "z"], ["qw", "qx", "qy", "qz"]
_FACTORS = {"rad": 1.0, "deg": np.pi / 180, "m": 1.0, "mm": 1e-3, "1": 1.0}
_COLUMN = re.compile(r"(?P<name>[^\[\]]*?)\s*(?:\[(?P<unit>[^\[\]]*)\])?")


class Recording(NamedTuple):
    """Measurements of a file: what the encoders read, q (n, nq), and `measured`, the arguments of `calibrate`.

    `measured` is `Poses`, `Positions` or `Distances`, or None if the file has q alone, as for contacts.
    """

    q: np.ndarray
    measured: Poses | Positions | Distances | None


# --- writing ----------------------------------------------------------------------------------------------------------


def write_measurements(path: str | Path, robot: Robot, q, measured=None) -> None:
    """Writes q (n, nq) and what was measured (poses, positions, distances, or None for contacts) into a .csv file.

    The file appears, or is replaced, when everything is written. Numbers have 17 digits, so that reading the file gives
    exactly the same numbers.

        >>> q = random_configuration(robot, 5, rng=0)
        >>> write_measurements("poses.csv", robot, q, forward_kinematics(robot, q, "tool"))
        >>> read_measurements("poses.csv", robot).q.shape
        (5, 6)
    """
    need_robot(robot, "write_measurements")
    q = configurations(robot, q, "write_measurements")
    names, columns = _q_columns(robot), [q]
    if measured is not None:
        more, table = _measured_columns(measured, len(q))
        names, columns = names + more, [*columns, table]
    with whole_file(_csv_path(path, "write_measurements")) as unfinished, unfinished.open(
        "w", encoding="utf-8", newline=""
    ) as file:  # fmt: skip
        csv.writer(file).writerow(names)
        np.savetxt(file, np.column_stack(columns), delimiter=",", fmt="%.17g")


def _q_columns(robot: Robot) -> list[str]:
    """The names of the columns of q, with their units."""
    return [f"q_{name} [{unit}]" for name, unit in zip(coordinate_names(robot), _units(robot), strict=True)]


def _units(robot: Robot) -> list[str]:
    """The unit of each coordinate of q: "rad", "m", or "1" for those of joints with several coordinates."""
    turns, found = set(angles(robot).tolist()), []
    for i in range(len(robot.body_names)):
        if i not in robot.mimics:
            nq = JOINTS[robot.joint_types[i]].nq
            single = "rad" if robot.layout.q_start[i] in turns else "m"
            found += [single] if nq == 1 else ["1"] * nq
    return found


def _measured_columns(measured, n: int) -> tuple[list[str], np.ndarray]:
    """The names and columns (n, k) of measured numbers."""
    reading = as_reading(measured, n, "write_measurements")
    if reading.generic is not None:
        raise ArgumentError(f"write_measurements: {reading.kind} are not written; poses, positions and distances are")
    if reading.kind == "poses":
        units = ["m" if name.endswith("4") else "1" for name in _MATRIX]
        names = [f"{name} [{unit}]" for name, unit in zip(_MATRIX, units, strict=True)]
        return names, reading.samples["measured"][:, :3].reshape(n, 12)
    if reading.kind == "distances":
        return ["distance [m]"], reading.samples["length"][:, None]
    if reading.is_contact:
        return [], np.zeros((n, 0))
    return [f"{name} [m]" for name in _point_names(reading.points)], reading.samples["measured"].reshape(n, -1)


def _point_names(points: int) -> list[str]:
    return _POSITION if points == 1 else [f"{axis}_{k}" for k in range(1, points + 1) for axis in _POSITION]


# --- reading ----------------------------------------------------------------------------------------------------------


def read_measurements(path: str | Path, robot: Robot, *, columns: Mapping[str, str] | None = None) -> Recording:
    """The `Recording` of a .csv file: q and what was measured, in SI units and radians.

        >>> q = random_configuration(robot, 40, rng=0)
        >>> write_measurements("poses.csv", robot, q, forward_kinematics(robot, q, "tool"))
        >>> recording = read_measurements("poses.csv", robot)
        >>> found = calibrate(robot, "tool", *recording)

    The first line names the columns, with units in brackets, as in "q_elbow [deg]": rad or deg of joints that turn, m
    or mm of lengths. The columns q_<joint> of all joints are needed, and either T11 to T34 (poses by matrices), or x,
    y, z with qw, qx, qy, qz (poses by quaternions) or without (positions), or x_1, y_1, z_1, x_2, ... (of several
    points), or distance. `columns` maps these names to those of the file where they differ: {"q_elbow": "axis 3"}.
    Other columns are skipped. Of several points, say where they are: `recording.measured._replace(points=...)`.
    """
    need_robot(robot, "read_measurements")
    path = _csv_path(path, "read_measurements")
    with file_errors(path):
        header = csv_header(path)
        names, units = _split(path, header)
        own = [f"q_{name}" for name in coordinate_names(robot)]
        theirs = _renamed(columns, own)
        found = _present(names, theirs)
        wanted = [*own, *found]
        places = _places(path, names, [theirs.get(name, name) for name in wanted])
        table = np.concatenate([np.zeros((0, len(wanted))), *csv_pieces(path, _ROWS, header, places)])
    q_units = _units(robot)
    expected = q_units + [_unit_of(name) for name in found]
    for k, (name, place) in enumerate(zip(wanted, places, strict=True)):
        table[:, k] *= _factor(path, name, units[place], expected[k])
    if not len(table):
        raise ArgumentError(f"{path}: no samples in the file")
    return Recording(table[:, : len(own)], _assembled(path, found, table[:, len(own) :]))


def _split(path: Path, header: list[str]) -> tuple[list[str], list[str | None]]:
    """The names and the units of the columns; a unit is None if the file does not say it."""
    names, units = [], []
    for text in header:
        match = _COLUMN.fullmatch(text)
        if match is None:
            raise ArgumentError(f"{path}:1: column {text!r} must be a name, or a name and a unit: 'x [m]'")
        names.append(match["name"])
        units.append(match["unit"] and match["unit"].strip())
    return names, units


def _renamed(columns, own: list[str]) -> Mapping[str, str]:
    """The `columns` argument, as a mapping with known names."""
    if columns is not None and not isinstance(columns, Mapping):
        raise ArgumentError(f"columns must be {{our name: the file's}}, got {type(columns).__name__}")
    every = [*own, *_MATRIX, *_POSITION, *_QUATERNION, "distance"]
    for name in columns or {}:
        if name not in every and not re.fullmatch(r"[xyz]_[1-9]\d*", str(name)):
            raise ArgumentError(f"columns: {name!r} is none of ours; {nearest(name, every)}")
    return columns or {}


def _present(names: list[str], theirs: Mapping[str, str]) -> list[str]:
    """Our names of the measured columns that a file has; of incomplete sets all names are returned, to be missed."""
    has = {ours for ours in [*_MATRIX, *_POSITION, *_QUATERNION, "distance"] if theirs.get(ours, ours) in names}
    points = [int(n[2:]) for n in names if re.fullmatch(r"[xyz]_[1-9]\d{0,3}", n)]
    if has & set(_MATRIX):
        return _MATRIX
    if has & set(_QUATERNION):
        return _POSITION + _QUATERNION
    if has & set(_POSITION):
        return _POSITION
    if points:
        return _point_names(max(points)) if max(points) > 1 else [f"{axis}_1" for axis in _POSITION]
    return ["distance"] if "distance" in has else []


def _places(path: Path, names: list[str], wanted: list[str]) -> list[int]:
    """Where the columns are in the file."""
    missing = [name for name in wanted if name not in names]
    if missing:
        others = [name for name in names if name not in wanted]
        hint = f"{nearest(missing[0], others)} (columns={{ours: the file's}})" if others else "it has no others"
        raise ArgumentError(f"{path}:1: no column {some(missing)}; {hint}")
    twice = [name for name in wanted if names.count(name) > 1 or wanted.count(name) > 1]
    if twice:
        raise ArgumentError(f"{path}:1: column {some(twice)} is there twice, or meant twice by `columns`")
    return [names.index(name) for name in wanted]


def _unit_of(name: str) -> str:
    """The unit of a measured column."""
    return "1" if name in _QUATERNION or (name in _MATRIX and not name.endswith("4")) else "m"


def _factor(path: Path, name: str, unit: str | None, expected: str) -> float:
    """The factor that turns numbers of a column into those of the expected unit."""
    choices = {"rad": ("rad", "deg"), "m": ("m", "mm"), "1": ("1", "")}[expected]
    if unit is None:
        return 1.0
    if unit not in choices:
        raise ArgumentError(
            f"{path}:1: column {name} has the unit [{unit}]; it must be [{choices[0]}] or [{choices[1]}]"
        )
    return _FACTORS.get(unit, 1.0)


def _assembled(path: Path, names: list[str], table: np.ndarray) -> Poses | Positions | Distances | None:
    """What was measured, of its columns (n, k)."""
    n = len(table)
    if names == _MATRIX:
        T = np.zeros((n, 4, 4))
        T[:, :3], T[:, 3, 3] = table.reshape(n, 3, 4), 1.0
        return Poses(T)
    if names == _POSITION + _QUATERNION:
        size = np.linalg.norm(table[:, 3:], axis=1)
        if (np.abs(size - 1) > 1e-3).any():  # NaN is not above
            k = int(np.argmax(np.abs(size - 1) > 1e-3))
            raise ArgumentError(f"{path}: the quaternion of sample {k} has length {size[k]:g}; it must be 1")
        return Poses(se3.from_xyz_quat_wxyz(np.concatenate([table[:, :3], table[:, 3:] / size[:, None]], axis=1)))
    if names == ["distance"]:
        return Distances(table[:, 0])
    if not names:
        return None
    return (
        Positions(table) if names == _POSITION else Positions(table.reshape(n, -1, 3), np.zeros((len(names) // 3, 3)))
    )


def _csv_path(path: str | Path, caller: str) -> Path:
    if not isinstance(path, str | Path) or Path(path).suffix.lower() != ".csv":
        raise ArgumentError(f"{caller}: path must end in .csv, got {path!r}")
    return Path(path)


# --- results ----------------------------------------------------------------------------------------------------------


def save_report(found: Calibration, path: str | Path) -> None:
    """Writes a `Calibration` into a .json or .csv file; see `Calibration.save`."""
    path = Path(path)
    if path.suffix.lower() not in (".json", ".csv"):
        raise ArgumentError(f"save: {path} must end in .json or .csv")
    with whole_file(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        if path.suffix.lower() == ".json":
            json.dump(_as_json(found), file, indent=1)
            return
        table = csv.writer(file)
        table.writerow(["parameter", "unit", "change", "standard error"])
        rows = zip(found.names, found.parameters, found.values, found.standard_error, strict=True)
        table.writerows([name, p.unit, repr(float(x)), repr(float(error))] for name, p, x, error in rows)


def _as_json(found: Calibration) -> dict[str, Any]:
    """Everything that a reader of the result needs, as plain lists and numbers in SI units and radians."""
    groups = [name for name, _, _ in found.problem.reading.groups]
    validation = found.validation and {
        "folds": found.validation.folds,
        "training": found.validation.training.tolist(),
        "prediction": found.validation.prediction.tolist(),
    }
    return {
        "robot": found.model.name,
        "frame": found.frame,
        "measured": found.problem.reading.kind,
        "samples": len(found.problem.q),
        "dropped": found.dropped,
        "parameters": list(found.names),
        "units": [p.unit for p in found.parameters],
        "changes": found.values.tolist(),
        "covariance": found.covariance.tolist(),
        "residual_groups": groups,
        "root_mean_square_before": found.errors(found.residuals_before).tolist(),
        "root_mean_square_after": found.errors().tolist(),
        "noise": found.noise.tolist(),
        "cross_validation": validation,
        "outliers": found.outliers.tolist(),
        "unseen": list(found.unseen),
        "gauge": list(found.gauge),
        "joints": list(found.robot.body_joint_names),
        "placements": found.robot.placements.tolist(),
        "screws": found.robot.screws.tolist(),
        "gears": dict(zip(coordinate_names(found.model), found.gears.tolist(), strict=True)),
        "base": found.base.tolist(),
        "tool": found.robot.frame(found.frame).placement.tolist(),
        "radius": found.radius,
    }
