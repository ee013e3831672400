"""The state of a running program: threads, what they wait for, variables and the world. All of it becomes JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...world.state import World
from .arms import ArmSettings
from .backends import ArmMotion, HandMotion
from .flat_code import Operation

__all__: list[str] = []


@dataclass
class Busy:
    """What a thread waits for.

    `kind` is "move" or "hand" (a motion of `key`), "brake" (then it goes on at `then`), "wait" (a condition), "delay"
    (`until` a tick), "event" (a semaphore `key`), "join" (its `children`) or "task" (its steps).
    """

    kind: str
    key: str = ""
    until: int = 0
    then: int = -1
    back: int = -1
    fired: list[int] = field(default_factory=list)
    """numbers of the guards that have held"""
    axes: np.ndarray | None = None
    """axes of the force frame of a move, in columns"""
    children: list[int] = field(default_factory=list)
    done: int = 0
    """steps of a task that have begun"""
    start: World | None = None
    """the world before a task"""
    marks: list[tuple[int, int]] = field(default_factory=list)
    """(tick, program counter) at which further moves of a motion without stops begin"""


@dataclass
class Entry:
    """What a thread goes back to: `kind` is "call", "gosub" or "body" (of a guard or a watch)."""

    kind: str
    back: int
    own: dict[str, Any] | None = None
    result: str = ""
    kept: Busy | None = None


@dataclass
class Thread:
    """A thread: its program counter, and what it goes back to."""

    number: int
    pc: int
    parent: int = -1
    stack: list[Entry] = field(default_factory=list)
    busy: Busy | None = None
    pending: list[int] = field(default_factory=list)
    """bodies of watches that run before the next statement"""
    begun: int = -1
    """the program counter of the statement that has begun and not ended"""


@dataclass
class WatchState:
    """A monitor in the background: its program counter, its thread, and whether its condition held at the last tick."""

    name: str
    pc: int
    thread: int
    was: bool = False


@dataclass
class MonitorState:
    """A monitor of AML: its program counter, its limits, and whether a reading has left them."""

    pc: int
    low: Any
    high: Any
    triggered: bool = False


@dataclass
class MachineState:
    """Everything that a program has done so far and that decides how it goes on."""

    world: World
    tick: int = 0
    variables: dict[str, Any] = field(default_factory=dict)
    threads: list[Thread] = field(default_factory=list)
    watches: list[WatchState] = field(default_factory=list)
    events: dict[str, int] = field(default_factory=dict)
    settings: dict[str, ArmSettings] = field(default_factory=dict)
    monitors: dict[str, MonitorState] = field(default_factory=dict)
    motions: dict[str, ArmMotion | HandMotion] = field(default_factory=dict)
    inner: Any = None
    """the state of the back end"""
    spawned: int = 0
    """the number of the last thread that began"""
    statements: int = 0
    still: int = 0
    """statements since the last tick"""
    status: str = ""
    message: str = ""
    actual: World | None = None
    """the world as it is, if it differs from what the program has"""

    @property
    def true_world(self) -> World:
        """The world that cameras see and hands touch."""
        return self.world if self.actual is None else self.actual


def own_variables(state: MachineState, thread: Thread, op: Operation) -> dict[str, Any] | None:
    """The variables of the procedure in which a thread does an operation, or None in the main program.

    A body of a watch of the main program that interrupts a procedure has none of its variables; a branch in a procedure
    has those of the thread that waits for it.
    """
    child: int | None = None
    while op.local:
        stack = thread.stack
        for k, entry in enumerate(stack):  # what is above is a body that runs while the thread's own wait is kept
            if child is not None and entry.kept is not None and child in entry.kept.children:
                stack = stack[:k]
                break
        found = next((e.own for e in reversed(stack) if e.own is not None), None)
        above = next((t for t in state.threads if t.number == thread.parent), None)
        if found is not None or above is None:
            return found
        child, thread = thread.number, above
    return None


# --- JSON -------------------------------------------------------------------------------------------------------------


def value_to_data(value: Any) -> Any:
    """A value of a program as JSON, to the last bit."""
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "shape": list(value.shape)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return {"tuple": [value_to_data(x) for x in value]}
    if isinstance(value, dict):
        return {"indexed": [[value_to_data(k), value_to_data(x)] for k, x in value.items()]}
    return value


def value_from_data(data: Any) -> Any:
    """The value that `value_to_data` wrote."""
    if isinstance(data, dict):
        if "array" in data:
            return np.array(data["array"], float).reshape(data["shape"])
        if "tuple" in data:
            return tuple([value_from_data(x) for x in data["tuple"]])
        return {value_from_data(k): value_from_data(x) for k, x in data["indexed"]}
    if isinstance(data, list) or (isinstance(data, int) and not abs(data) < 1e300):
        raise ValueError(f"{data!r:.40} is no value")
    return data


def motion_to_data(motion: ArmMotion | HandMotion) -> dict[str, Any]:
    """A motion as JSON."""
    if isinstance(motion, HandMotion):
        return {"robot": motion.robot, "width": motion.width, "opens": motion.opens}
    c = motion.compliance
    held = None if c is None else [c.axes.tolist(), c.wrench.tolist(), np.asarray(c.selected, bool).tolist()]
    n = motion.q.shape[1]
    return {"robot": motion.robot, "q": motion.q.tolist(), "v": motion.v.tolist(), "n": n, "compliance": held}


def busy_to_data(busy: Busy | None) -> dict[str, Any] | None:
    """What a thread waits for, as JSON."""
    if busy is None:
        return None
    found = {k: getattr(busy, k) for k in ("kind", "key", "until", "then", "back", "fired", "children", "done")}
    found["marks"] = [list(m) for m in busy.marks]
    found["axes"] = None if busy.axes is None else busy.axes.tolist()
    found["start"] = None if busy.start is None else busy.start.to_json()
    return found


def busy_from_data(data: dict[str, Any] | None) -> Busy | None:
    """What `busy_to_data` wrote."""
    if data is None:
        return None
    rest = {k: data[k] for k in ("kind", "key", "until", "then", "back", "fired", "children", "done")}
    axes = None if data["axes"] is None else np.array(data["axes"], float)
    start = None if data["start"] is None else World.from_json(data["start"])
    return Busy(**rest, axes=axes, start=start, marks=[(int(a), int(b)) for a, b in data["marks"]])
