"""`DriverBackend`: programs run on robots behind a `Driver`: set points go out at each tick, readings come back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Protocol

import numpy as np

from ...errors import ArgumentError
from ...world.state import World
from .backends import Ahead, ArmMotion, HandMotion
from .driver_messages import DriverError, DriverReading, SetPoint
from .dynamic import braking_motion
from .fingers import finger_stop, let_go, taken
from .joint_paths import speed_limits

__all__ = ["Driver", "DriverBackend", "DriverState"]

_STILL_TICKS = 3  # a hand whose width has not changed for so many ticks rests
_STILL = 1e-5  # [m]
_REACHED = 2e-4  # [m] a hand this near to its goal has reached it


class Driver(Protocol):
    """A robot, or several, behind a wire: what `DriverBackend` asks for. Every method may raise `DriverError`."""

    def begin(self, joints: Mapping[str, int], period: float) -> DriverReading:
        """The robots {name: number of joints} get ready for ticks of `period` [s]; where they are now."""
        ...

    def exchange(self, tick: int, points: Mapping[str, SetPoint]) -> DriverReading:
        """Send the set points for the end of this tick, wait until it is over, and read."""
        ...

    def halt(self) -> None:
        """All robots stop at once, by themselves."""
        ...


@dataclass(frozen=True, eq=False)
class DriverState:
    """What was sent and read last, and for how many ticks each hand has rested."""

    reading: DriverReading
    sent: Mapping[str, SetPoint]
    period: float
    tick: int = 0
    still: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class DriverBackend:
    """A place where programs run on hardware, or on what stands for it.

        >>> from adjoint.program.running.driver_mocks import mock_robot
        >>> from adjoint.program.running.driver_sockets import SocketDriver
        >>> with mock_robot(World().add_robot("arm", robot)) as mock:
        ...     backend = DriverBackend(SocketDriver(mock.host, mock.port))
        ...     backend.lookahead
        1

    One tick is looked at at a time. Conditions are asked of what was read at the end of the tick before; then the set
    points of the tick are sent, and the world gets the joints that are read. A set point beyond the limits of the
    robot's model, or faster than they allow by more than `speeding` (a factor), a robot that is off its set point by
    more than `following` [rad, m], and every `DriverError` stop all robots, and end the run as "failed".

    Hands move by themselves to the width that is asked for. A hand that closes, and rests before it gets there, holds
    the part that the world has between its fingers.
    """

    driver: Driver
    name: str = "driver"
    lookahead: int = 1
    following: float = 0.1
    speeding: float = 1.5

    def start(self, world: World, period: float) -> DriverState:
        """The robots get ready. They must be where the world has them."""
        joints = {name: known.robot.nq for name, known in world.robots.items()}
        reading = self._asked(lambda: self.driver.begin(joints, period), world)
        for name, known in world.robots.items():
            off = float(np.abs(np.array(reading.q[name]) - known.q).max())
            if off > self.following:
                raise DriverError(
                    f"robot '{name}' is not where the world has it: a joint is off by {off:.3g}; "
                    "World.set_configuration puts it where it is read"
                )
        sent = {name: SetPoint(reading.q[name], (0.0,) * known.robot.nv) for name, known in world.robots.items()}
        return DriverState(reading, MappingProxyType(sent), float(period))

    def ahead(
        self, world: World, state: DriverState, motions: Mapping[str, ArmMotion | HandMotion | None], ticks: int,
        felt: bool,
    ) -> Ahead:  # fmt: skip
        """The next tick: set points as they will be sent, and the last readings."""
        points, q, v, width, wrench, ended = {}, {}, {}, {}, {}, {}
        for name, known in world.robots.items():
            motion, hand = motions.get(name), motions.get(f"{name}.hand")
            point = _rest(state.sent[name])
            if isinstance(motion, ArmMotion):
                point = _point(motion)
                if len(motion.q) <= 1:
                    ended[name] = 1
            if isinstance(hand, HandMotion) and known.gripper is not None:
                goal = float(np.clip(hand.width, known.gripper.least, known.gripper.opening))
                point = replace(point, width=goal)
                if self._rests(state, name, goal):
                    ended[f"{name}.hand"] = 1
            points[name] = point
            q[name], v[name] = np.array([point.q]), np.array([point.v])
            width[name] = np.array([state.reading.width.get(name, known.width)])
            wrench[name] = np.array([state.reading.wrench.get(name, (0.0,) * 6)])
        readings = {name: np.array([x]) for name, x in state.reading.readings.items()}
        return Ahead(1, q, v, width, wrench, readings, ended, (points, dict(motions)))

    def commit(self, world: World, state: DriverState, ahead: Ahead, ticks: int) -> tuple[World, DriverState]:
        """The tick happens."""
        points, motions = ahead.inner
        for name, point in points.items():
            self._check(world, name, point, state)
        reading = self._asked(lambda: self.driver.exchange(state.tick + 1, points), world)
        still = {}
        for name in world.robots:
            off = float(np.abs(np.array(reading.q[name]) - np.array(points[name].q)).max())
            if off > self.following and not points[name].selected:
                self._stop(f"robot '{name}' is off its set point by {off:.3g} at tick {state.tick + 1}; "
                           f"{self.following:g} is allowed")  # fmt: skip
            world = world.set_configuration(name, np.array(reading.q[name]))
            world = self._hand(world, name, motions.get(f"{name}.hand"), f"{name}.hand" in ahead.ended, reading)
            before, now = state.reading.width.get(name), reading.width.get(name)
            rests = before is not None and now is not None and abs(now - before) < _STILL
            asked = points[name].width is not None
            still[name] = state.still.get(name, 0) + 1 if rests and asked else 0
        return world, DriverState(reading, MappingProxyType(points), state.period, state.tick + 1, still)

    def brake(self, world: World, state: DriverState, robot: str, period: float) -> ArmMotion:
        """The motion to rest from the last set point."""
        sent = state.sent[robot]
        return braking_motion(world, robot, np.array(sent.q), np.array(sent.v), period)

    # --- checks -------------------------------------------------------------------------------------------------------

    def _rests(self, state: DriverState, name: str, goal: float) -> bool:
        now = state.reading.width.get(name)
        return now is None or abs(now - goal) < _REACHED or state.still.get(name, 0) >= _STILL_TICKS

    def _hand(self, world: World, name: str, motion, rests: bool, reading: DriverReading) -> World:
        """The world with the hand as wide as it is read; it has taken, or let go of, a part."""
        known = world.robots[name]
        if known.gripper is None or name not in reading.width:
            return world
        width = float(np.clip(reading.width[name], known.gripper.least, known.gripper.opening))
        if isinstance(motion, HandMotion) and motion.opens and width > known.width + _STILL and world.holding(name):
            return let_go(world, name, width)
        if isinstance(motion, HandMotion) and not motion.opens and rests and width > motion.width + _REACHED:
            stop = finger_stop(world.set_gripper(name, known.gripper.opening), name)
            if stop.part is not None:
                return taken(world, name, stop.part, width)
        return world.set_gripper(name, width)

    def _check(self, world: World, name: str, point: SetPoint, state: DriverState) -> None:
        """Refuse a set point beyond the limits of the robot's model."""
        robot, q, before = world.robots[name].robot, np.array(point.q), np.array(state.sent[name].q)
        numbers = [*point.q, *point.v, *point.wrench, *point.axes, 0.0 if point.width is None else point.width]
        if not np.isfinite(numbers).all():
            self._stop(f"the set point of robot '{name}' has a number that is not finite")
        slack = 1e-6
        over = np.maximum(robot.lower - slack - q, q - robot.upper - slack)
        if (over > 0).any():
            k = int(np.argmax(over))
            self._stop(f"joint {k + 1} of robot '{name}' would go to {q[k]:.4g}, beyond its limits "
                       f"{robot.lower[k]:.4g} ... {robot.upper[k]:.4g}")  # fmt: skip
        if len(q) == robot.nv:
            rate = np.abs(q - before) / state.period
            most = self.speeding * speed_limits(robot).velocity
            if (rate > most).any():
                k = int(np.argmax(rate / most))
                self._stop(f"joint {k + 1} of robot '{name}' would move at {rate[k]:.4g} a second; "
                           f"{most[k]:.4g} is allowed")  # fmt: skip

    def _stop(self, message: str) -> None:
        try:
            self.driver.halt()
        except DriverError as error:
            raise DriverError(f"{message}; and it cannot be told to stop: {error}") from None
        raise DriverError(f"{message}; all robots have been stopped")

    def _asked(self, ask, world: World) -> DriverReading:
        """What a driver answers; if it fails, or the user interrupts it, all robots are told to stop."""
        try:
            reading = ask()
        except BaseException as error:
            try:
                self.driver.halt()
            except DriverError:
                raise error from None
            raise
        if not isinstance(reading, DriverReading):
            raise ArgumentError(f"DriverBackend: the driver must give a DriverReading, got {type(reading).__name__}")
        for name, known in world.robots.items():
            if len(reading.q.get(name, ())) != known.robot.nq:
                self._stop(f"the reading of robot '{name}' has {len(reading.q.get(name, ()))} joints, "
                           f"it must have {known.robot.nq}")  # fmt: skip
            read = [*reading.q[name], *reading.wrench.get(name, ()), reading.width.get(name, 0.0)]
            if not np.isfinite(read).all():
                self._stop(f"the reading of robot '{name}' has a number that is not finite")
        return reading


def _point(motion: ArmMotion) -> SetPoint:
    q, v, c = tuple(map(float, motion.q[0])), tuple(map(float, motion.v[0])), motion.compliance
    if c is None:
        return SetPoint(q, v)
    axes = tuple(map(float, np.ravel(c.axes)))
    return SetPoint(q, v, None, tuple(map(float, c.wrench)), tuple(bool(x) for x in c.selected), axes)


def _rest(point: SetPoint) -> SetPoint:
    return SetPoint(point.q, (0.0,) * len(point.v), point.width)
