"""What a run has done: arrays over the ticks, events, and worlds at which something else than a joint has moved."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...world.state import World
from ..instructions.statements import Statement
from .backends import Ahead
from .machine_state import MachineState

__all__ = ["TraceEvent"]


class TraceEvent(NamedTuple):
    """Something that happened at a tick.

    `kind` is "start" or "end" of a statement, "read" (what sensors said), "set" (what a variable got), "guard",
    "monitor" or "watch" (a condition has held), "seen" (what a camera found), "print",
    "signal", "grasp" or "release", or the status with which the run ended. `data` has its values.
    """

    tick: int
    kind: str
    line: int
    """the line of the source, or 0"""
    thread: int
    statement: str
    """the class of the statement, such as "Move\""""
    data: dict[str, Any]


class Recording:
    """A run as it grows."""

    def __init__(self, world: World, period: float, tick: int = 0):
        self.start, self.period, self.first = world, period, tick
        self.events: list[TraceEvent] = []
        self.q: dict[str, list[np.ndarray]] = {name: [known.q[None]] for name, known in world.robots.items()}
        self.width: dict[str, list[np.ndarray]] = {n: [np.array([k.width])] for n, k in world.robots.items()}
        self.wrench: dict[str, list[np.ndarray]] = {n: [_unknown(1, 6)] for n in world.robots}
        self.tau: dict[str, list[np.ndarray]] = {n: [_unknown(1, k.robot.nv)] for n, k in world.robots.items()}
        self.lines: list[np.ndarray] = [np.zeros(1, int)]
        self.worlds: list[tuple[int, World]] = [(tick, world)]
        self.printed: list[str] = []
        self.signals: list[tuple[int, int, bool]] = []

    def event(
        self, tick: int, kind: str, line: int, thread: int, statement: Statement | None, data: dict | None = None
    ) -> None:
        """Something has happened."""
        name = "" if statement is None else type(statement).__name__
        self.events.append(TraceEvent(tick, kind, line, thread, name, data or {}))

    def ticks(self, state: MachineState, ahead: Ahead, ticks: int, line: int) -> None:
        """Ticks have passed. Where a robot then is, is what the world says: on hardware, what was read."""
        for name in self.q:
            known = state.world.robots[name]
            self.q[name].append(_ended(ahead.q[name][:ticks], known.q))
            if name in ahead.width:
                self.width[name].append(_ended(ahead.width[name][:ticks], known.width))
            else:
                self.width[name].append(np.zeros(ticks))
            felt, drive = ahead.wrench.get(name), ahead.tau.get(name)
            self.wrench[name].append(_unknown(ticks, 6) if felt is None else felt[:ticks])
            self.tau[name].append(_unknown(ticks, known.robot.nv) if drive is None else drive[:ticks])
        self.lines.append(np.full(ticks, line))

    def world(self, tick: int, before: World, after: World, line: int = 0) -> None:
        """The world has changed at a line: if more than joints and fingers moved, it is kept."""
        if before.frames is after.frames and before.fallen is after.fallen:
            return
        for name in before.robots:
            held, now = set(before.holding(name)), set(after.holding(name))
            for part in sorted(now - held):
                self.event(tick, "grasp", line, 0, None, {"robot": name, "part": part})
            for part in sorted(held - now):
                self.event(tick, "release", line, 0, None, {"robot": name, "part": part})
        if self.worlds[-1][0] == tick:
            self.worlds[-1] = tick, after
        else:
            self.worlds.append((tick, after))

    def places(self, state: MachineState) -> dict[str, Any]:
        """Where the arms are, for events."""
        return {f"{name} joints": known.q.tolist() for name, known in state.world.robots.items()}


def _unknown(ticks: int, size: int) -> np.ndarray:
    return np.full((ticks, size), np.nan)


def _ended(rows: np.ndarray, last: np.ndarray | float) -> np.ndarray:
    """The rows with this last one."""
    if np.array_equal(rows[-1], last):
        return rows
    found = np.array(rows)
    found[-1] = last
    return found
