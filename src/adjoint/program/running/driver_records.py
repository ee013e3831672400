"""What was sent to robots and read from them, as lines of JSON, and runs from such a record."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ArgumentError
from .driver import Driver
from .driver_messages import (
    MOST_BYTES,
    VERSION,
    DriverError,
    DriverReading,
    SetPoint,
    line_of,
    message_of,
    reading_data,
    reading_of,
    set_point_data,
    set_points_of,
)

__all__ = ["RecordedDriver", "RecordingDriver"]

_MOST_TICKS = 10_000_000


class RecordingDriver:
    """A driver that hands everything on to another, and writes what was sent and read to a file, line by line.

        >>> from adjoint.program.running.driver_sockets import SocketDriver
        >>> driver = RecordingDriver(SocketDriver(port=7001), "run.jsonl")

    Each line has a tick: {"tick": 3, "sent": {robot: set point}, "read": reading}. A line is on disk before the next
    tick begins, so that the record of a run that ends badly has all that happened.
    """

    def __init__(self, driver: Driver, path: str | os.PathLike):
        self.driver, self.path = driver, Path(path)

    def begin(self, joints: Mapping[str, int], period: float) -> DriverReading:
        """Begin a new file."""
        reading = self.driver.begin(joints, period)
        head = {"type": "begin", "joints": dict(joints), "period": period, "read": reading_data(reading)}
        self.path.write_bytes(line_of(head))
        return reading

    def exchange(self, tick: int, points: Mapping[str, SetPoint]) -> DriverReading:
        """One tick, and one line."""
        sent = {name: set_point_data(point) for name, point in points.items()}
        try:
            reading = self.driver.exchange(tick, points)
        except DriverError as error:
            self._add({"type": "error", "tick": tick, "sent": sent, "message": str(error)})
            raise
        self._add({"type": "tick", "tick": tick, "sent": sent, "read": reading_data(reading)})
        return reading

    def halt(self) -> None:
        """The robots stop."""
        self.driver.halt()

    def _add(self, message: dict[str, Any]) -> None:
        with self.path.open("ab") as file:
            file.write(line_of(message))


class RecordedDriver:
    """A driver that says again what a `RecordingDriver` has written: the same program runs in the same way again.

        >>> again = RecordedDriver("run.jsonl")                                              # doctest: +SKIP

    A program that sends other set points than those of the record, by more than `tolerance` [rad, m], ends with a
    `DriverError` that tells the tick. `len(driver)` is the number of ticks. The file is not trusted.
    """

    def __init__(self, path: str | os.PathLike, *, tolerance: float = 1e-9):
        self.path, self.tolerance = Path(path), float(tolerance)
        who = f"the record {self.path.name}"
        try:
            with self.path.open("rb") as file:
                lines = [
                    line
                    for line, _ in zip(
                        iter(lambda: file.readline(MOST_BYTES + 2), b""), range(_MOST_TICKS), strict=False
                    )
                ]
        except OSError as error:
            raise ArgumentError(f"RecordedDriver: {who} cannot be read: {error}") from None
        if not lines:
            raise DriverError(f"{who} is empty")
        self.head = message_of(lines[0], who)
        self.rows = [message_of(line, who) for line in lines[1:]]
        if self.head["type"] != "begin" or self.head.get("adjoint") != VERSION:
            raise DriverError(f"{who} does not begin with 'begin'")

    def __len__(self) -> int:
        return sum(row["type"] == "tick" for row in self.rows)

    def begin(self, joints: Mapping[str, int], period: float) -> DriverReading:
        """What was read at first."""
        asked, known = {"joints": dict(joints), "period": period}, {k: self.head.get(k) for k in ("joints", "period")}
        if asked != known:
            raise DriverError(
                f"the record is of {json.dumps(known)[:120]}, and the program needs {json.dumps(asked)[:120]}"
            )
        return reading_of(self.head.get("read"), "the record")

    def exchange(self, tick: int, points: Mapping[str, SetPoint]) -> DriverReading:
        """What was read at this tick."""
        if not 0 < tick <= len(self.rows):
            raise DriverError(f"the record ends after {len(self.rows)} ticks")
        row = self.rows[tick - 1]
        if row["type"] == "error":
            raise DriverError(f"the record has an error at tick {tick}: {str(row.get('message', ''))[:200]}")
        if row.get("tick") != tick:
            raise DriverError(f"the record has tick {row.get('tick')!r:.20} in the place of tick {tick}")
        for name, sent in set_points_of(row.get("sent"), "the record").items():
            now = points.get(name)
            if (
                now is None
                or len(now.q) != len(sent.q)
                or np.abs(np.array(now.q) - np.array(sent.q)).max() > self.tolerance
            ):
                raise DriverError(f"at tick {tick} the program sends robot '{name}' elsewhere than in the record")
            if (now.width is None) != (sent.width is None) or abs(
                (now.width or 0) - (sent.width or 0)
            ) > self.tolerance:
                raise DriverError(f"at tick {tick} the program moves the hand of '{name}' otherwise than in the record")
        return reading_of(row.get("read"), "the record")

    def halt(self) -> None:
        """Nothing moves."""
