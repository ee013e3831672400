"""What expressions of a running program ask: variables, frames, arms and sensors, now or at all ticks ahead."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentError
from ...inverse.choice import turning_coordinates
from ...kinematics import forward_kinematics
from ...world.state import World
from ...world.state.frame_tree import is_base
from ...world.units import UNITS
from ..instructions.expressions import Reading
from ..meaning.arm_names import robot_named
from ..meaning.values import OverTicks
from .arms import ArmSettings, robot_of
from .backends import Ahead
from .flat_code import Operation
from .looking import Images
from .machine_state import own_variables

if TYPE_CHECKING:
    from .machine import Machine
    from .machine_state import Thread

__all__: list[str] = []

_AXES = {"x": 0, "y": 1, "z": 2}
_BLOCK = 256  # ticks whose noise is drawn together, so that it does not depend on how ticks are grouped
Input = float | np.ndarray | Callable[[np.ndarray], Any]


class Inputs:
    """What comes from outside: {name: number, array with a value for each tick, or function of the time t [s]}.

    Names are "signal 3", "force z", "torque x", with "arm " before it for one arm of several, and names of sensors.
    `noise` {name: standard deviation} is added, the same in every run with the same `rng`. `images` are those that
    cameras take.
    """

    def __init__(
        self, given: Mapping[str, Input] | None, period: float, rng: int, noise: Mapping[str, float] | None,
        images: Images | None = None,
    ):  # fmt: skip
        for name, value in (("inputs", given), ("noise", noise), ("images", images)):
            if value is not None and not isinstance(value, Mapping):
                raise ArgumentError(f"run: '{name}' must be a dictionary by names, got {value!r:.60}")
        self.given, self.period, self.rng = dict(given or {}), period, rng
        self.noise, self.images = dict(noise or {}), dict(images or {})
        for name, take in self.images.items():
            if not callable(take):
                raise ArgumentError(
                    f"run: the image of '{name}' must be a function of the world, got {type(take).__name__}"
                )
        for name, value in self.given.items():
            if not callable(value) and np.ndim(value) > 1:
                raise ArgumentError(f"run: the input '{name}' must be a number, an array (ticks,) or a function of t")

    def has(self, *names: str) -> str | None:
        """The first of these names for which there is an input."""
        return next((name for name in names if name in self.given), None)

    def at(self, name: str, ticks: np.ndarray) -> np.ndarray:
        """The values (N,) of an input at ticks (N,)."""
        value = self.given[name]
        if callable(value):
            found = np.asarray(value(ticks * self.period))
            if found.ndim == 0 and len(ticks) > 1:  # a function of one time
                found = np.array([float(value(t)) for t in ticks * self.period])
            found = np.broadcast_to(found.astype(float), ticks.shape)
        elif np.ndim(value) == 0:
            found = np.full(len(ticks), float(value))
        else:
            found = np.asarray(value, float)
            found = found[np.clip(ticks, 0, len(found) - 1)]
        return found + self.noise_at(name, ticks)

    def noise_at(self, name: str, ticks: np.ndarray) -> np.ndarray | float:
        """The noise (N,) of a reading at ticks."""
        size = self.noise.get(name)
        if not size:
            return 0.0
        mark, blocks = zlib.crc32(name.encode()), ticks // _BLOCK
        drawn = {int(b): np.random.default_rng([self.rng, mark, int(b)]).normal(size=_BLOCK) for b in np.unique(blocks)}
        return size * np.array([drawn[int(b)][int(k)] for b, k in zip(blocks, ticks % _BLOCK, strict=True)])


class RunningScope:
    """The scope of a thread: now, or with `ahead` at all ticks that are ahead. `log` gets what sensors have said."""

    def __init__(
        self, machine: Machine, thread: Thread | None, ahead: Ahead | None = None, log: dict | None = None,
        op: Operation | None = None,
    ):  # fmt: skip
        self.machine, self.thread, self.ahead_of, self.log = machine, thread, ahead, log
        state = machine.state
        self.world, self.variables = state.world, state.variables
        self.own = None
        if thread is not None:
            self.own = own_variables(state, thread, machine.code.operations[thread.pc] if op is None else op)

    def names(self) -> list[str]:
        """All names, for suggestions."""
        return [*(self.own or ()), *self.variables, *self.world.frames, *self.machine.inputs.given]

    def value(self, name: str) -> Any:
        """The value of a variable, of a frame or of a hand."""
        if self.own is not None and name in self.own and self.own[name] is not None:
            return self.own[name]
        if name in self.variables and self.variables[name] is not None:
            return self.variables[name]
        monitor = self.machine.state.monitors.get(name)
        if monitor is not None:
            return monitor.triggered
        if name in self.world.frames and name not in self.world.robots:
            return self._frame(name)
        robot = robot_named(self.world, name, self.machine.arms)
        if robot is not None and name:
            return self._width(robot) if name.lower().endswith("hand") else self.here(name, False)
        if self.machine.inputs.has(name):
            return self._input(name)
        raise KeyError(name)

    def here(self, arm: str, joints: bool) -> Any:
        """Where an arm is."""
        robot = self._robot(arm)
        known, settings = self.world.robots[robot], self.machine.state.settings.get(robot, ArmSettings())
        q = known.q if self.ahead_of is None else self.ahead_of.q[robot]
        if joints:
            return q
        hand = settings.hand(self.world, robot)
        if self.ahead_of is None:
            T = self.world.pose(robot) @ known.placement(known.tool)
        else:
            T = self.world.pose(robot) @ np.asarray(forward_kinematics(known.robot, q, known.tool))
        return settings.seen(T @ hand)

    def reading(self, reading: Reading, number: Any) -> Any:
        """What a sensor says."""
        found = self._reading(reading, number)
        if self.log is not None and self.ahead_of is None:
            words = " ".join(x for x in (reading.arm, reading.kind, reading.axis, reading.name) if x)
            self.log[words if number is None or isinstance(number, tuple) else f"{words} {number:g}"] = found
        return found

    def _reading(self, reading: Reading, number: Any) -> Any:
        match reading.kind:
            case "force" | "torque":
                return self._felt(reading)
            case "width":
                return _plain(self._width(self._robot(reading.arm)))
            case "joints":
                return self._joints(self._robot(reading.arm), reading, number)
            case "signal":
                return self._signal(number)
            case "done":
                return self._done(self._robot(reading.arm))
            case "monitor":
                return float(self.machine.state.monitors[reading.name].triggered)
        if self.machine.inputs.has(reading.name):
            return _plain(self._input(reading.name))
        if self.ahead_of is not None and reading.name in self.ahead_of.readings:
            return self.ahead_of.readings[reading.name]
        if self.ahead_of is None and reading.name in (found := self.machine.next_tick(False).readings):
            return float(found[reading.name][0])
        raise KeyError(reading.name)

    def _robot(self, arm: str) -> str:
        robot = robot_named(self.world, arm, self.machine.arms)
        if robot is None and self.thread is not None and arm == "":
            op = self.machine.code.operations[self.thread.pc]
            robot = robot_of(self.world, op.statement, self.machine.arms)
            if robot is None and op.around is not None:
                robot = robot_of(self.world, op.around, self.machine.arms)
        if robot is None:
            raise KeyError(arm)
        return robot

    def _ticks(self) -> np.ndarray:
        tick = self.machine.state.tick
        return np.array([tick]) if self.ahead_of is None else np.arange(tick + 1, tick + 1 + self.ahead_of.ticks)

    def _input(self, name: str) -> Any:
        found = self.machine.inputs.at(name, self._ticks())
        return float(found[0]) if self.ahead_of is None else OverTicks(found)

    def _signal(self, number: Any) -> Any:
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise KeyError("signal")
        name = f"signal {number:g}"
        if not self.machine.inputs.has(name):
            return False
        found = _plain(self._input(name))
        return found > 0.5 if isinstance(found, np.ndarray) else bool(found > 0.5)

    def _width(self, robot: str) -> Any:
        if self.world.robots[robot].gripper is None:
            raise KeyError(robot)
        if self.ahead_of is None:
            return float(self.world.robots[robot].width)
        return OverTicks(np.asarray(self.ahead_of.width[robot]))

    def _joints(self, robot: str, reading: Reading, number: Any) -> Any:
        """Values of joints as plain numbers, in the units that the reading says."""
        turns = turning_coordinates(self.world.robots[robot].robot)
        units = np.where(turns, UNITS[reading.angle_unit].factor, UNITS[reading.length_unit].factor)
        q = self.here(robot, True) / units
        if number is None:
            return q
        places = [int(n) - 1 for n in (number if isinstance(number, tuple) else (number,))]
        if not all(0 <= k < q.shape[-1] for k in places):
            raise KeyError("joints")
        values = [q[..., k] if self.ahead_of is not None else float(q[k]) for k in places]
        if not isinstance(number, tuple):
            return values[0]
        return tuple(OverTicks(np.asarray(x)) if self.ahead_of is not None else x for x in values)

    def _done(self, robot: str) -> Any:
        motion = self.machine.state.motions.get(robot)
        if self.ahead_of is None:
            return motion is None
        end = 0 if motion is None else self.ahead_of.ended.get(robot, self.ahead_of.ticks + 1)
        return np.arange(1, self.ahead_of.ticks + 1) >= end

    def _felt(self, reading: Reading) -> Any:
        """A force or torque along an axis of the force frame of the thread's move, from an input or the back end."""
        robot = self._robot(reading.arm)
        inputs, words = self.machine.inputs, f"{reading.kind} {reading.axis}"
        name = inputs.has(f"{robot} {words}", words)
        if name is not None:
            return _plain(self._input(name))
        ahead = self.machine.next_tick(True) if self.ahead_of is None else self.ahead_of
        rows = ahead.wrench.get(robot)
        if rows is None:
            found = np.zeros(ahead.ticks)
        else:
            part = rows[:, 3:] if reading.kind == "force" else rows[:, :3]
            axes = None if self.thread is None or self.thread.busy is None else self.thread.busy.axes
            k = _AXES[reading.axis]
            found = part[:, k] if axes is None else part @ axes[:, k]
        if self.ahead_of is None:
            return float(found[0] + np.sum(inputs.noise_at(words, np.array([self.machine.state.tick]))))
        return found + inputs.noise_at(words, self._ticks())

    def _frame(self, name: str) -> Any:
        world, settings = self.world, self.machine.state.settings
        base = next(iter(settings.values())) if len(world.robots) == 1 and settings else ArmSettings()
        if self.ahead_of is None:
            return base.seen(world.pose(name))
        T = poses_ahead(world, name, self.ahead_of.q)
        return base.seen(T) if T.ndim == 2 else OverTicks(base.seen(T))


def _plain(value: Any) -> Any:
    return value.values if isinstance(value, OverTicks) else value


def poses_ahead(world: World, place: str, q: Mapping[str, np.ndarray]) -> np.ndarray:
    """The pose (4, 4) of a place, or its poses (N, 4, 4) while robots of the world move through q {robot: (N, nq)}."""
    head, _, tail = place.partition(".")
    if place == "world" or head not in world.frames:
        return world.pose(place)
    if head in world.robots and tail and not is_base(world, place):
        own = np.asarray(forward_kinematics(world.robots[head].robot, q[head], tail))
        return poses_ahead(world, head, q) @ own
    placed = world.frames[head]
    above = placed.parent
    T = placed.T_parent_frame if above == "world" else poses_ahead(world, above, q) @ placed.T_parent_frame
    return T if not tail else T @ world.pose(place, head)
