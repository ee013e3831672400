"""Robots over a socket: `SocketDriver`, the client, and `mock_robot`, a kinematic robot that answers."""

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
    reading_of,
    set_point_data,
    set_points_of,
)
from .joint_paths import speed_limits

__all__ = ["MockRobot", "SocketDriver", "mock_robot"]

LOOPBACK = "127.0.0.1"
FAULTS = ("late", "lost", "garbage", "oversized", "other tick", "fault", "nan", "other version")


class _Line:
    """A connection that carries lines of bounded length."""

    def __init__(self, connection: socket.socket):
        self.connection, self.rest = connection, b""

    def send(self, line: bytes) -> None:
        self.connection.sendall(line)

    def receive(self) -> bytes:
        """The next line; b"" if the other side has closed."""
        while b"\n" not in self.rest:
            if len(self.rest) > MOST_BYTES:
                raise DriverError(f"a message of more than {MOST_BYTES} bytes came")
            some = self.connection.recv(4096)
            if not some:
                return b""
            self.rest += some
        line, _, self.rest = self.rest.partition(b"\n")
        return line

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.connection.close()


class SocketDriver:
    """A `Driver` over TCP: lines of JSON, one for each tick, to the robot's controller at `host`, `port`.

        >>> with mock_robot(World().add_robot("arm", robot)) as mock:
        ...     with SocketDriver(mock.host, mock.port, timeout=2.0) as driver:
        ...         reading = driver.begin({"arm": 6}, 0.01)
        >>> len(reading.q["arm"])
        6

    Every message has the version of the protocol. An answer that does not come within `timeout` [s], that is too long,
    or that is not what the protocol says, is a `DriverError`, and the connection is closed: a robot's controller must
    stop the robot when the connection is lost.
    """

    def __init__(self, host: str = LOOPBACK, port: int = 0, *, timeout: float = 1.0):
        self.line: _Line | None = None
        if not (isinstance(timeout, int | float) and 0 < timeout < 3600):
            raise ArgumentError(f"SocketDriver: 'timeout' must be above 0 and below 3600 s, got {timeout!r:.40}")
        if not (isinstance(port, int) and 0 < port < 65536):
            raise ArgumentError(f"SocketDriver: 'port' must be a number from 1 to 65535, got {port!r:.40}")
        self.address, self.timeout = (host, port), float(timeout)

    def begin(self, joints: Mapping[str, int], period: float) -> DriverReading:
        """Connect, and get the robots ready."""
        self.close()
        try:
            self.line = _Line(socket.create_connection(self.address, timeout=self.timeout))
        except OSError as error:
            host, port = self.address
            raise DriverError(f"no robot answers at {host}, port {port}: {error}") from None
        return self._ask({"type": "begin", "period": period, "joints": dict(joints)}, "ready", 0)

    def exchange(self, tick: int, points: Mapping[str, SetPoint]) -> DriverReading:
        """Send the set points of a tick, and wait for the reading."""
        data = {name: set_point_data(point) for name, point in points.items()}
        return self._ask({"type": "tick", "tick": tick, "points": data}, "reading", tick)

    def halt(self) -> None:
        """The robots stop; without a connection they stop by themselves."""
        if self.line is None:
            return
        try:
            self.line.send(line_of({"type": "halt"}))
        except OSError:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """End the connection."""
        if self.line is not None:
            self.line.close()
        self.line = None

    def __enter__(self) -> SocketDriver:
        return self

    def __exit__(self, *error) -> None:
        self.close()

    def __del__(self):
        self.close()

    def _ask(self, message: Mapping[str, Any], kind: str, tick: int) -> DriverReading:
        if self.line is None:
            raise DriverError("there is no connection to the robot; begin again")
        try:
            self.line.send(line_of(message))
            answer = self.line.receive()
        except TimeoutError:
            self._lost()
            raise DriverError(f"the robot has not answered within {self.timeout:g} s at tick {tick}") from None
        except OSError as error:
            self._lost()
            raise DriverError(f"the connection to the robot is lost at tick {tick}: {error}") from None
        except DriverError:
            self._lost()
            raise
        if not answer:
            self._lost()
            raise DriverError(f"the connection to the robot is lost at tick {tick}: it was closed")
        try:
            found = message_of(answer, "the robot")
            if found["type"] == "fault":
                raise DriverError(f"the robot has a fault at tick {tick}: {str(found.get('message', ''))[:200]}")
            if found["type"] != kind or found.get("tick", 0) != tick:
                asked = f"'{kind}' of tick {tick}"
                raise DriverError(
                    f"the robot answered '{found['type'][:40]}' of tick {found.get('tick')!r:.20}, not {asked}"
                )
            return reading_of(found.get("reading"), "the robot")
        except DriverError:
            self._lost()
            raise

    def _lost(self) -> None:
        self.close()


# --- a robot that answers ---------------------------------------------------------------------------------------------


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
            line = _Line(connection)
            try:
                self._talk(line)
            except OSError:
                pass
            finally:
                self.halted = True  # a robot without a connection does not move
                line.close()

    def _talk(self, line: _Line) -> None:
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
        kind, tick = message["type"], int(message.get("tick", 0))
        self.log.append((kind, tick))
        if kind == "begin":
            for name, count in dict(message.get("joints", {})).items():
                if name not in self.q or len(self.q[name]) != count:
                    raise DriverError(f"there is no robot '{name}' with {count} joints")
            self.period, self.halted = float(message.get("period", 0.01)), False
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
