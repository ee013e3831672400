"""Robots as JSON: all fields, to the last bit; or the name of a robot of the catalog or of a file in a folder."""

from __future__ import annotations

import inspect
import os
from typing import Any

import numpy as np

from ... import robots as catalog
from ...errors import AdjointError, ArgumentError
from ...model.loading import load
from ...model.meshes import Meshes
from ...model.parts import Finding, Frame, JointSpec, Link, Mimic, Visual, Where
from ...model.robot import Robot
from ...model.robot_checks import ARRAYS
from .json_reading import WHO, items, listing, numbers, plain, record, whole, word

__all__ = ["robot_from_data", "robot_to_data"]

_WORDS = ("body_names", "body_joint_names", "joint_types")
_RECORDS: dict[str, Any] = {"visuals": Visual, "links": Link, "findings": Finding, "specs": JointSpec}
_ARRAYS_OF = {Visual: ("placement",), Link: ("placement", "inertia"), JointSpec: ("placement", "screw"), Finding: ()}
_READY = [name for name in catalog.__all__ if not inspect.signature(getattr(catalog, name)).parameters or name in
          ("two_link", "park3r", "scara", "gantry")]  # fmt: skip


def robot_to_data(robot: Robot, source: str | None) -> dict[str, Any]:
    """What JSON says of a robot: its fields, or, with a `source`, where it is found and its fingerprint."""
    if source is not None:
        return {"source": source, "fingerprint": robot.fingerprint}
    found: dict[str, Any] = {"name": robot.name, "base_name": robot.base_name}
    found |= {name: list(getattr(robot, name)) for name in _WORDS}
    found |= {name: plain(getattr(robot, name)) for name in ARRAYS}
    found["mimics"] = [[i, m.source, m.multiplier, m.offset] for i, m in robot.mimics.items()]
    found["frames"] = [[f.name, f.body, plain(f.placement)] for f in robot.frames]
    for field in _RECORDS:
        found[field] = [{k: plain(x) for k, x in entry._asdict().items()} for entry in getattr(robot, field)]
    return found


def robot_from_data(data, where: str, folder: str | os.PathLike | None) -> Robot:
    """The robot that JSON describes, or an `ArgumentError`; files are read only below `folder`."""
    if "source" in items(data, where):
        return _found(record(data, where, ("source", "fingerprint")), where, folder)
    array_names = tuple(ARRAYS)
    needed = ("name", "base_name", *_WORDS, *array_names, "mimics", "frames")
    record(data, where, needed, tuple(_RECORDS))
    fields: dict[str, Any] = {name: word(data[name], f"{where}.{name}") for name in ("name", "base_name")}
    for name in _WORDS:
        rows = listing(data[name], f"{where}.{name}")
        fields[name] = tuple(word(x, f"{where}.{name}") for x in rows)
    for name in array_names:
        shape = (None,) * np.ndim(np.zeros((1,) * len(ARRAYS[name])))
        if name == "parents":
            rows = listing(data[name], f"{where}.{name}")
            fields[name] = np.array([whole(x, f"{where}.{name}") for x in rows], int)
        else:
            fields[name] = numbers(data[name], shape, f"{where}.{name}", infinite=True)
    fields["mimics"] = dict(_mimic(row, f"{where}.mimics") for row in listing(data["mimics"], f"{where}.mimics"))
    fields["frames"] = tuple(_frame(row, f"{where}.frames") for row in listing(data["frames"], f"{where}.frames"))
    meshes = Meshes(None, [] if folder is None else [folder])
    for name, kind in _RECORDS.items():
        rows = listing(data.get(name, []), f"{where}.{name}")
        fields[name] = tuple(_entry(row, kind, f"{where}.{name}[{k}]", meshes) for k, row in enumerate(rows))
    try:
        return Robot(**fields)
    except AdjointError as error:
        raise ArgumentError(f"{WHO}: {where}: {error}") from None


def _mimic(row, where: str) -> tuple[int, Mimic]:
    if len(listing(row, where)) != 4:
        raise ArgumentError(f"{WHO}: {where} must have [body, source, multiplier, offset]")
    multiplier, start = numbers(row[2:], (2,), where)
    return whole(row[0], where), Mimic(whole(row[1], where), float(multiplier), float(start))


def _frame(row, where: str) -> Frame:
    if len(listing(row, where)) != 3:
        raise ArgumentError(f"{WHO}: {where} must have [name, body, placement]")
    return Frame(word(row[0], where), whole(row[1], where), numbers(row[2], (4, 4), where))


def _entry(row, kind: Any, where: str, meshes: Meshes) -> Any:
    """A `Visual`, `Link`, `Finding` or `JointSpec`."""
    data = record(row, where, (), kind._fields)
    values = {name: _value(x, f"{where}.{name}") for name, x in data.items() if name != "where"}
    for name in _ARRAYS_OF[kind]:
        if values.get(name) is not None:
            shape = (4, 4) if name == "placement" else (None,)
            values[name] = numbers(data[name], shape, f"{where}.{name}", infinite=True)
    if data.get("where") is not None:
        place = listing(data["where"], where)
        if len(place) != 2:
            raise ArgumentError(f"{WHO}: {where}.where must have [file, line]")
        values["where"] = Where(word(place[0], where), None if place[1] is None else whole(place[1], where))
    try:
        found = kind(**values)
    except TypeError as error:
        raise ArgumentError(f"{WHO}: {where}: {error}") from None
    if kind is Visual and found.mesh is not None and not found.fault:
        # A world of unknown origin may name any file; drawing would open it.
        elsewhere = meshes.outside(found.mesh)
        if elsewhere is not None:
            found = found._replace(fault="is outside of the folder that World.from_json(text, folder=...) allows")
    return found


def _value(value, where: str) -> Any:
    """Words, truth values, numbers, None, and tuples of them."""
    if isinstance(value, list):
        return tuple(_value(x, where) for x in value)
    if value in ("inf", "-inf", "nan"):
        return float(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise ArgumentError(f"{WHO}: {where} must be a word, a number or a list of them")


# --- by name ----------------------------------------------------------------------------------------------------------


def _found(data: dict[str, Any], where: str, folder: str | os.PathLike | None) -> Robot:
    """The robot of the catalog, or of a file below the folder, that has this name and fingerprint."""
    source = word(data["source"], f"{where}.source")
    if source in _READY:
        robot = getattr(catalog, source)()
    else:
        robot = _loaded(source, where, folder)
    if robot.fingerprint != data["fingerprint"]:
        raise ArgumentError(
            f"{WHO}: {where}: robot '{source}' is not the one that the world was written with; its numbers differ"
        )
    return robot


def _loaded(source: str, where: str, folder: str | os.PathLike | None) -> Robot:
    if folder is None:
        raise ArgumentError(
            f"{WHO}: {where} names '{source}', which is no robot of the catalog ({', '.join(_READY)}); for a file give "
            "the folder that it is in: World.from_json(text, folder=...)"
        )
    root = os.path.realpath(folder)
    path = os.path.realpath(os.path.join(root, source))
    if os.path.commonpath([root, path]) != root or not os.path.isfile(path):
        raise ArgumentError(f"{WHO}: {where} names '{source}', which is no file in {root}")
    return load(path)


def check_sources(sources: dict[str, str], robots, caller: str) -> None:
    """Raise an `ArgumentError` unless `sources` has words for robots of the world."""
    for name, source in sources.items():
        if name not in robots or not isinstance(source, str):
            raise ArgumentError(
                f"{caller}: 'sources' must be {{robot of the world: catalog name or path}}, got {name!r:.60}"
            )
