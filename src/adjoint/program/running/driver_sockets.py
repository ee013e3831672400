"""Robots over a socket: `SocketDriver`, the client."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Mapping
from typing import Any

from ...errors import ArgumentError
from .driver_messages import (
    MOST_BYTES,
    DriverError,
    DriverReading,
    SetPoint,
    line_of,
    message_of,
    reading_of,
    set_point_data,
)

__all__ = ["SocketDriver"]

LOOPBACK = "127.0.0.1"


class SocketLine:
    """A connection that carries lines of bounded length."""

    def __init__(self, connection: socket.socket):
        self.connection, self.rest, self.timeout = connection, b"", connection.gettimeout()

    def send(self, line: bytes) -> None:
        """Send a line, within the timeout."""
        self.connection.settimeout(self.timeout)
        self.connection.sendall(line)

    def receive(self) -> bytes:
        """The next line; b"" if the other side has closed. The timeout is that of the whole line, however it comes."""
        ends = None if self.timeout is None else time.monotonic() + self.timeout
        while b"\n" not in self.rest:
            if len(self.rest) > MOST_BYTES:
                raise DriverError(f"a message of more than {MOST_BYTES} bytes came")
            if ends is not None:
                left = ends - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                self.connection.settimeout(left)
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

        >>> from adjoint.program.running.driver_mocks import mock_robot
        >>> with mock_robot(aj.world.World().add_robot("arm", robot)) as mock:
        ...     with SocketDriver(mock.host, mock.port, timeout=2.0) as driver:
        ...         reading = driver.begin({"arm": 6}, 0.01)
        >>> len(reading.q["arm"])
        6

    Every message has the version of the protocol. An answer that does not come within `timeout` [s], that is too long,
    or that is not what the protocol says, is a `DriverError`, and the connection is closed: a robot's controller must
    stop the robot when the connection is lost.
    """

    def __init__(self, host: str = LOOPBACK, port: int = 0, *, timeout: float = 1.0):
        self.line: SocketLine | None = None
        if not (isinstance(timeout, int | float) and 0 < timeout < 3600):
            raise ArgumentError(f"SocketDriver: 'timeout' must be above 0 and below 3600 s, got {timeout!r:.40}")
        if not (isinstance(port, int) and 0 < port < 65536):
            raise ArgumentError(f"SocketDriver: 'port' must be a number from 1 to 65535, got {port!r:.40}")
        self.address, self.timeout = (host, port), float(timeout)

    def begin(self, joints: Mapping[str, int], period: float) -> DriverReading:
        """Connect, and get the robots ready."""
        self.close()
        try:
            self.line = SocketLine(socket.create_connection(self.address, timeout=self.timeout))
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
