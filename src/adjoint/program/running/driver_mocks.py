"""`mock_robot`: robots of a world behind a socket, which follow set points, obey limits, and fail on request."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...world.state import World
from .driver_messages import (
    MOST_BYTES,
    DriverError,
    DriverReading,
    SetPoint,
    line_of,
    message_of,
    reading_data,
    set_points_of,
    whole_number,
)
from .driver_sockets import LOOPBACK, SocketLine
from .joint_paths import speed_limits

__all__ = ["MockRobot", "mock_robot"]

FAULTS = ("late", "lost", "garbage", "oversized", "other tick", "fault", "nan", "other version")


@dataclass(frozen=True)
class _Sensors:
    """What the mock's sensors say at a tick, and what it does wrong."""

    stops: Mapping[str, float]
    wrench: Callable[[int, str], Any] | None
    readings: Callable[[int], Mapping[str, float]] | None
    fault: str
    fault_tick: int
    finger_speed: float


class MockRobot:
    """The robots of a world behind a socket: see `mock_robot`. `host` and `port` are where it listens.

    `log` has the types and ticks of the messages that came; `halted` tells whether it was told to stop, or lost its
    connection.
    """

    def __init__(self, world: World, host: str, port: int, sensors: _Sensors):
        self.sensors = sensors
        self.log: list[tuple[str, int]] = []
        self.halted = False
        self.q = {name: np.array(known.q) for name, known in world.robots.items()}
        self.width = {name: known.width for name, known in world.robots.items() if known.gripper is not None}
        self.models = {name: known.robot for name, known in world.robots.items()}
        self.period = 0.01
        self.closing = threading.Event()
        self.server = socket.create_server((host, port))
        self.host, self.port = self.server.getsockname()[:2]
        self.server.settimeout(0.05)
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def close(self) -> None:
        """Stop answering."""
        self.closing.set()
        self.thread.join(timeout=5.0)
        self.server.close()

    def _serve(self) -> None:
        while not self.closing.is_set():
            try:
                connection, _ = self.server.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            connection.settimeout(0.05)
            line = SocketLine(connection)
            try:
                self._talk(line)
            except OSError:
                pass
            finally:
                self.halted = True  # a robot without a connection does not move
                line.close()

    def _talk(self, line: SocketLine) -> None:
        while not self.closing.is_set():
            try:
                text = line.receive()
            except TimeoutError:
                continue
            except DriverError as error:
                line.send(line_of({"type": "fault", "message": str(error)}))
                return
            if not text:
                return
            try:
                message = message_of(text, "the program")
                answer = self._answer(message)
            except DriverError as error:
                line.send(line_of({"type": "fault", "message": str(error)}))
                return
            if answer is None:
                return
            wrong = self._wrong(message, answer)
            if wrong is None:
                return
            line.send(wrong)

    def _answer(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        kind, tick = message["type"], whole_number(message.get("tick", 0), "tick", "the program")
        self.log.append((kind, tick))
        if kind == "begin":
            joints, period = message.get("joints", {}), message.get("period", 0.01)
            if not isinstance(joints, dict) or not isinstance(period, int | float) or not 0 < period < 3600:
                raise DriverError("'joints' must be a table, and 'period' a number of seconds")
            for name, count in joints.items():
                if name not in self.q or len(self.q[name]) != count:
                    raise DriverError(f"there is no robot '{name[:40]}' with {count!r:.40} joints")
            self.period, self.halted = float(period), False
            return {"type": "ready", "tick": 0, "reading": reading_data(self._reading(0))}
        if kind == "tick":
            self._move(set_points_of(message.get("points"), "the program"))
            return {"type": "reading", "tick": tick, "reading": reading_data(self._reading(tick))}
        if kind == "halt":
            self.halted = True
            return None
        raise DriverError(f"there is no message '{kind[:40]}'")

    def _move(self, points: Mapping[str, SetPoint]) -> None:
        """The robots go to their set points, if their limits allow it."""
        for name, point in points.items():
            if name not in self.q or len(point.q) != len(self.q[name]):
                raise DriverError(f"there is no robot '{name}' with {len(point.q)} joints")
            model, q = self.models[name], np.array(point.q)
            if ((q < model.lower - 1e-6) | (q > model.upper + 1e-6)).any():
                raise DriverError(f"robot '{name}' cannot go beyond the limits of its joints")
            most = 2.0 * speed_limits(model).velocity * self.period
            if len(most) == len(q) and (np.abs(q - self.q[name]) > most).any():
                raise DriverError(f"robot '{name}' cannot go so fast")
            self.q[name] = q
            if point.width is not None and name in self.width:
                goal = (
                    max(point.width, self.sensors.stops.get(name, 0.0))
                    if point.width < self.width[name]
                    else point.width
                )
                step = self.sensors.finger_speed * self.period
                self.width[name] += float(np.clip(goal - self.width[name], -step, step))

    def _reading(self, tick: int) -> DriverReading:
        wrench = self.sensors.wrench
        felt = {name: tuple(map(float, wrench(tick, name))) for name in self.q} if wrench is not None else {}
        readings = self.sensors.readings(tick) if self.sensors.readings is not None else {}
        q = {name: tuple(map(float, x)) for name, x in self.q.items()}
        return DriverReading(q, {}, dict(self.width), felt, dict(readings))

    def _wrong(self, message: Mapping[str, Any], answer: dict[str, Any]) -> bytes | None:
        """The answer as bytes; something else at the tick of the fault; None: the connection is cut."""
        fault, right = self.sensors.fault, line_of(answer)
        if not fault or int(message.get("tick", 0)) != self.sensors.fault_tick:
            return right
        if fault == "late":
            self.closing.wait(2.0)
            return right
        if fault == "lost":
            return None
        if fault == "garbage":
            return b"\xff\x00 [[[ no JSON\n"
        if fault == "oversized":
            return b"x" * (2 * MOST_BYTES) + b"\n"
        if fault == "other tick":
            return line_of(answer | {"tick": 10**6})
        if fault == "nan":
            return right.replace(b'"q": {', b'"q": {"x": [NaN], ', 1)
        if fault == "other version":
            return right.replace(b'"adjoint": 1', b'"adjoint": 99', 1)
        return line_of({"type": "fault", "message": "the drives are too hot"})


@contextlib.contextmanager
def mock_robot(
    world: World, *, host: str = LOOPBACK, port: int = 0, stops: Mapping[str, float] | None = None,
    wrench: Callable[[int, str], Any] | None = None, readings: Callable[[int], Mapping[str, float]] | None = None,
    fault: str = "", fault_tick: int = 0, finger_speed: float = 0.1,
) -> Iterator[MockRobot]:  # fmt: skip
    """The robots of a world behind a socket, in a thread: they follow set points exactly, and obey their limits.

        >>> with mock_robot(World().add_robot("arm", robot)) as mock:
        ...     print(mock.host)
        127.0.0.1

    - It listens on loopback, at a free port, unless `host` and `port` say otherwise.
    - `stops` {robot: width} are where closing fingers meet something.
    - `wrench(tick, robot)` (6,) and `readings(tick)` {name: number} are what its sensors say.
    - `fault` at `fault_tick`: "late", "lost", "garbage", "oversized", "other tick", "fault", "nan", "other version".
    """
    if not isinstance(world, World):
        raise ArgumentError(f"mock_robot: 'world' must be a World, got {type(world).__name__}")
    if fault and fault not in FAULTS:
        raise ArgumentError(f"mock_robot: 'fault' is {fault!r:.40}; there are {', '.join(map(repr, FAULTS))}")
    mock = MockRobot(world, host, port, _Sensors(dict(stops or {}), wrench, readings, fault, fault_tick, finger_speed))
    try:
        yield mock
    finally:
        mock.close()
