"""What goes between programs and robots: set points and readings as data, and as lines of JSON that are not trusted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import AdjointError

__all__ = ["DriverError", "DriverReading", "SetPoint"]

VERSION = 1
MOST_BYTES = 65_536
"""The length of a message at most; longer ones are refused before they are read."""
_MOST_NAMES, _MOST_NUMBERS, _MOST_TEXT = 64, 64, 200
_LARGEST = 1e300  # whole numbers of JSON have no end, and floats have one


class DriverError(AdjointError):
    """A robot that cannot go on: the connection is lost, an answer is late or wrong, or a limit is exceeded."""


@dataclass(frozen=True)
class SetPoint:
    """What a robot shall do by the end of a tick: joints q, v [rad, m, and per s], and the width of its hand [m].

    `wrench` (6,), `selected` (6,) and `axes` (9,) are those of a `Compliance`, or empty.
    """

    q: tuple[float, ...]
    v: tuple[float, ...]
    width: float | None = None
    wrench: tuple[float, ...] = ()
    selected: tuple[bool, ...] = ()
    axes: tuple[float, ...] = ()


@dataclass(frozen=True)
class DriverReading:
    """What is read at the end of a tick: {robot: joints}, {robot: width}, {robot: wrench (6,)}, {name: reading}.

    Wrenches are what the surroundings exert on the tool, at its origin, along axes of the station.
    """

    q: Mapping[str, tuple[float, ...]]
    v: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    width: Mapping[str, float] = field(default_factory=dict)
    wrench: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    readings: Mapping[str, float] = field(default_factory=dict)


# --- to JSON and back -------------------------------------------------------------------------------------------------


def line_of(message: Mapping[str, Any]) -> bytes:
    """A message as one line."""
    try:
        line = (json.dumps({"adjoint": VERSION} | dict(message), allow_nan=False) + "\n").encode()
    except ValueError:
        raise DriverError("a message has a number that is not finite") from None
    if len(line) > MOST_BYTES:
        raise DriverError(f"a message of {len(line)} bytes is longer than {MOST_BYTES}")
    return line


def message_of(line: bytes, who: str) -> dict[str, Any]:
    """The message of a line, or a `DriverError`."""
    if len(line) > MOST_BYTES:
        raise DriverError(f"{who} sent a message of more than {MOST_BYTES} bytes")
    try:
        found = json.loads(line.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise DriverError(f"{who} sent what is no JSON: {str(error)[:80]}") from None
    if not isinstance(found, dict) or not isinstance(found.get("type"), str):
        raise DriverError(f"{who} sent a message without a 'type'")
    if found.get("adjoint") != VERSION:
        raise DriverError(f"{who} speaks version {found.get('adjoint')!r:.20} of the protocol, not {VERSION}")
    return found


def _no_constant(name: str):
    raise ValueError(f"{name} is no number")


def set_point_data(point: SetPoint) -> dict[str, Any]:
    """What JSON says of a set point."""
    found: dict[str, Any] = {"q": list(point.q), "v": list(point.v)}
    if point.width is not None:
        found["width"] = point.width
    if point.selected:
        found |= {"wrench": list(point.wrench), "selected": list(point.selected), "axes": list(point.axes)}
    return found


def set_points_of(data: Any, who: str) -> dict[str, SetPoint]:
    """{robot: set point} of what JSON says, or a `DriverError`."""
    found = {}
    for name, one in _table(data, "points", who).items():
        if not isinstance(one, dict):
            raise DriverError(f"{who}: the set point of '{name}' is no table")
        selected = one.get("selected", [])
        if (
            not isinstance(selected, list)
            or len(selected) not in (0, 6)
            or not all(x in (True, False) for x in selected)
        ):
            raise DriverError(f"{who}: 'selected' of '{name}' must be six truth values")
        width = one.get("width")
        found[name] = SetPoint(
            _numbers(one.get("q"), f"q of '{name}'", who),
            _numbers(one.get("v"), f"v of '{name}'", who),
            None if width is None else _number(width, f"the width of '{name}'", who),
            _numbers(one.get("wrench", []), f"wrench of '{name}'", who),
            tuple(bool(x) for x in selected),
            _numbers(one.get("axes", []), f"axes of '{name}'", who),
        )
    return found


def reading_data(reading: DriverReading) -> dict[str, Any]:
    """What JSON says of a reading."""
    lists = {k: {name: list(x) for name, x in getattr(reading, k).items()} for k in ("q", "v", "wrench")}
    return lists | {"width": dict(reading.width), "readings": dict(reading.readings)}


def reading_of(data: Any, who: str) -> DriverReading:
    """The reading of what JSON says, or a `DriverError`."""
    if not isinstance(data, dict):
        raise DriverError(f"{who} sent no reading")
    rows = {
        key: {name: _numbers(x, f"{key} of '{name}'", who) for name, x in _table(data.get(key, {}), key, who).items()}
        for key in ("q", "v", "wrench")
    }
    for name, wrench in rows["wrench"].items():
        if len(wrench) != 6:
            raise DriverError(f"{who}: the wrench of '{name}' has {len(wrench)} numbers; it must have 6")
    plain = {
        key: {name: _number(x, f"{key} '{name}'", who) for name, x in _table(data.get(key, {}), key, who).items()}
        for key in ("width", "readings")
    }
    return DriverReading(rows["q"], rows["v"], plain["width"], rows["wrench"], plain["readings"])


def _table(data: Any, name: str, who: str) -> dict[str, Any]:
    if not isinstance(data, dict) or len(data) > _MOST_NAMES or not all(0 < len(k) <= _MOST_TEXT for k in data):
        raise DriverError(f"{who}: '{name}' must be a table of at most {_MOST_NAMES} names")
    return data


def _numbers(data: Any, name: str, who: str) -> tuple[float, ...]:
    if not isinstance(data, list) or len(data) > _MOST_NUMBERS:
        raise DriverError(f"{who}: {name} must be a list of at most {_MOST_NUMBERS} numbers")
    return tuple(_number(x, name, who) for x in data)


def _number(x: Any, name: str, who: str) -> float:
    if isinstance(x, bool) or not isinstance(x, int | float) or not abs(x) < _LARGEST:
        raise DriverError(f"{who}: {name} must be a finite number, got {x!r:.40}")
    return float(x)


def whole_number(x: Any, name: str, who: str) -> int:
    """A whole number of what JSON says, or a `DriverError`."""
    if isinstance(x, bool) or not isinstance(x, int) or not 0 <= x < _LARGEST:
        raise DriverError(f"{who}: {name} must be a whole number of at least 0, got {x!r:.40}")
    return x
