"""`ProgramRun`: what a program has done, tick by tick, for reports and viewers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...lazy import cached_property
from ...world.state import World
from ...world.state.frame_tree import known_place
from ..instructions.diagnostics import ProgramError
from ..instructions.programs import Program
from .readings import poses_ahead
from .recording import Recording, TraceEvent
from .traces import write_trace

__all__ = ["ProgramRun"]


@dataclass(frozen=True, eq=False, repr=False)
class ProgramRun:
    """What a program has done.

    - `status`: "done"; "aborted" (the program said so, with a `message`); "failed" (it could not go on: `error` has the
      place in the text); "limit" (one of `RunLimits`); "paused" (a session can go on).
    - `start` and `world`: the world before and after; `variables` {name: value}.
    - `t` (N,) [s]: the times of the ticks, beginning with the time at which the run began. `q` {robot: (N, nq)},
      `width` {robot: (N,)} [m], `wrench` {robot: (N, 6)}, moments before forces, NaN where nobody asked.
    - `tau` {robot: (N, nv)} [N m or N]: what the drives exert, as a mean over each tick; NaN where there are no forces,
      as in kinematics, and at the first tick.
    - `line` (N,): the line of the source that was under way at each tick, or 0.
    - `trace`: what happened (`TraceEvent`); `printed`: texts; `signals`: (tick, line, on) of output lines.
    - `worlds`: (tick, world) at the beginning and whenever more than joints and fingers had changed.
    """

    program: Program
    status: str
    message: str
    start: World
    world: World
    period: float
    t: np.ndarray
    q: dict[str, np.ndarray]
    width: dict[str, np.ndarray]
    wrench: dict[str, np.ndarray]
    tau: dict[str, np.ndarray]
    line: np.ndarray
    trace: tuple[TraceEvent, ...]
    printed: tuple[str, ...]
    signals: tuple[tuple[int, int, bool], ...]
    worlds: tuple[tuple[int, World], ...]
    variables: dict[str, Any]
    error: ProgramError | None = None
    options: dict[str, Any] | None = None
    """how it was run: what `replay` needs"""
    actual: World | None = None
    """the world as it is after the run, if it was not the one that the program had"""

    @property
    def duration(self) -> float:
        """The time that passed [s]."""
        return float(self.t[-1] - self.t[0])

    @property
    def robots(self) -> tuple[str, ...]:
        """The names of the robots."""
        return tuple(self.q)

    @cached_property
    def _first(self) -> int:
        return self.worlds[0][0]

    def poses(self, name: str) -> np.ndarray:
        """The poses (N, 4, 4) in the station, at all ticks, of a frame, or of a place such as "arm.tool".

        A frame that came later has NaN before.
        """
        found = np.full((len(self.t), 4, 4), np.nan)
        bounds = [tick - self._first for tick, _ in self.worlds]
        known = False
        for (_, world), a, b in zip(self.worlds, bounds, [*bounds[1:], len(self.t)], strict=True):
            if name.partition(".")[0] in world.frames or name == "world":
                known = True
                found[a:b] = poses_ahead(world, name, {robot: q[a:b] for robot, q in self.q.items()})
        if not known:
            known_place(self.world, name, "ProgramRun.poses")
        return found

    def world_at(self, t: float) -> World:
        """The world at a time [s]: that of the last tick that is not later."""
        if not self.t[0] - 1e-9 <= t <= self.t[-1] + 1e-9:
            raise ArgumentError(
                f"ProgramRun.world_at: the run lasts from {self.t[0]:g} to {self.t[-1]:g} s, not {t:g} s"
            )
        k = int(np.clip(np.floor((t - self.t[0]) / self.period + 1e-6), 0, len(self.t) - 1))
        world = [w for tick, w in self.worlds if tick - self._first <= k][-1]
        for robot, q in self.q.items():
            world = world.set_configuration(robot, q[k])
            if world.robots[robot].gripper is not None:
                world = world.set_gripper(robot, float(self.width[robot][k]))
        return world

    @cached_property
    def moved(self) -> tuple[str, ...]:
        """The frames, other than robots, that are not at the same place at all ticks."""
        names = dict.fromkeys(name for _, world in self.worlds for name in world.frames if name not in world.robots)
        found = []
        for name in names:
            T = self.poses(name)
            if np.isnan(T).any() or not (T[0] == T).all():
                found.append(name)
        return tuple(found)

    def to_jsonl(self, path: str | os.PathLike) -> None:
        """Write the trace as lines of JSON: see `write_trace`."""
        write_trace(self, path)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        said = f": {self.message}" if self.message else ""
        return f"<ProgramRun {self.program.name or 'program'}: {self.status}{said}, {self.duration:g} s>"


def run_of(machine: Any, record: Recording, options: dict[str, Any]) -> ProgramRun:
    """The run that a machine has recorded so far."""
    state = machine.state
    line = np.concatenate(record.lines)
    ticks = record.first + np.arange(len(line))
    return ProgramRun(
        machine.code.program, state.status or "paused", state.message, record.start, state.world, record.period,
        ticks * record.period,
        {name: np.concatenate(rows) for name, rows in record.q.items()},
        {name: np.concatenate(rows) for name, rows in record.width.items()},
        {name: np.concatenate(rows) for name, rows in record.wrench.items()},
        {name: np.concatenate(rows) for name, rows in record.tau.items()},
        line, tuple(record.events), tuple(record.printed), tuple(record.signals), tuple(record.worlds),
        {k: x for k, x in state.variables.items() if not k.startswith("# ")}, machine.error, options,
        state.actual,
    )  # fmt: skip
