"""Checkpoints: the whole state of a running program as frozen data and JSON, and going on in an edited program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...world.state import World
from ..instructions.diagnostics import Diagnostic, ProgramError
from ..instructions.programs import Program
from ..instructions.statements import (
    DefineMonitor,
    Move,
    MoveHand,
    MoveJoints,
    Operate,
    Place,
    TaskState,
    Wait,
    Watch,
)  # fmt: skip
from .arms import ArmSettings
from .backends import ArmMotion, Backend, Compliance, HandMotion
from .beliefs import true_start
from .data_checks import misfit
from .flat_code import FlatCode, Operation
from .instruction_json import program_from_data, program_to_data
from .machine_state import (
    Busy,
    Entry,
    MachineState,
    MonitorState,
    Thread,
    WatchState,
    busy_from_data,
    busy_to_data,
    motion_to_data,
    value_from_data,
    value_to_data,
)  # fmt: skip

__all__ = ["Checkpoint"]

_WHO = "Checkpoint.from_json"
_KINDS = ("move", "hand", "brake", "wait", "delay", "event", "join", "task")
_BEGINS = {"move": (Move, MoveJoints), "hand": MoveHand, "wait": Wait, "task": (Operate, Place, TaskState)}
_MOST_TICK = 10**12


@dataclass(frozen=True)
class Checkpoint:
    """A running program at one instant: its `text` is JSON with the program, its threads, variables, world and motions.

    `to_json` and `from_json` write and read it; `Session.restore` goes on from it. Two are equal if all is, to the last
    bit.
    """

    text: str

    def to_json(self) -> str:
        """The checkpoint as JSON."""
        return self.text

    @classmethod
    def from_json(cls, text: str) -> Checkpoint:
        """The checkpoint that `to_json` wrote; it is looked at when a session goes on from it."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ArgumentError(f"{_WHO}: the text is no JSON: {error}") from None
        if not isinstance(found, dict) or found.get("checkpoint") != 1:
            raise ArgumentError(f"{_WHO}: this is no checkpoint of a program")
        return cls(text)

    @property
    def data(self) -> dict[str, Any]:
        """What the text says."""
        return json.loads(self.text)

    @property
    def program(self) -> Program:
        """The program."""
        return program_from_data(self.data.get("program"))

    @property
    def world(self) -> World:
        """The world then."""
        return World.from_json(self.data["world"])

    @property
    def time(self) -> float:
        """The time then [s]."""
        data = self.data
        return data["tick"] * data["options"]["period"]

    def __repr__(self) -> str:
        return f"<Checkpoint at {self.time:g} s>"


def checkpoint_of(state: MachineState, program: Program, options: dict[str, Any]) -> Checkpoint:
    """The checkpoint of a machine."""
    data = {
        "checkpoint": 1,
        "program": program_to_data(program),
        "options": options,
        "world": state.world.to_json(),
        "actual": None if state.actual is None else state.actual.to_json(),
        "tick": state.tick,
        "variables": _named(state.variables),
        "threads": [_thread_to_data(t) for t in state.threads],
        "watches": [[w.name, w.pc, w.thread, w.was] for w in state.watches],
        "events": state.events,
        "settings": {k: list(s) for k, s in state.settings.items()},
        "monitors": {k: [m.pc, value_to_data(m.low), value_to_data(m.high), m.triggered]
                     for k, m in state.monitors.items()},
        "motions": {k: motion_to_data(m) for k, m in state.motions.items()},
        "inner": _plain(state.inner),
        "counts": [state.spawned, state.statements, state.still],
        "status": [state.status, state.message],
    }  # fmt: skip
    return Checkpoint(json.dumps(data))


def state_of(data: Mapping[str, Any], backend: Backend) -> MachineState:
    """The state that a checkpoint has."""
    try:
        world = World.from_json(data["world"])
        told = data.get("actual")
        actual = None if told is None else true_start(world, World.from_json(told), _WHO)
        period = float(data["options"]["period"])
        spawned, statements, still = data["counts"]
        return MachineState(
            world, int(data["tick"]), _unnamed(data["variables"]), [_thread_from_data(t) for t in data["threads"]],
            [WatchState(*w) for w in data["watches"]], dict(data["events"]),
            {k: _settings(s) for k, s in data["settings"].items()},
            {k: MonitorState(m[0], value_from_data(m[1]), value_from_data(m[2]), m[3])
             for k, m in data["monitors"].items()},
            {k: _motion(m) for k, m in data["motions"].items()},
            _like(backend.start(world if actual is None else actual, period), data["inner"]),
            spawned, statements, still, *data["status"], actual=actual,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise damaged(f"{type(error).__name__} {error}") from None


def damaged(what: str) -> ArgumentError:
    """The error about a checkpoint that cannot be one."""
    return ArgumentError(f"{_WHO}: the checkpoint is damaged: {what}")


def check_state(state: MachineState, code: FlatCode) -> None:
    """Raise an error unless all of a state has its type, and counters and motions fit to the program and the arms."""
    wrong = misfit(state, (Thread, Entry, Busy, WatchState, MonitorState, ArmSettings, HandMotion))
    if wrong is not None or not 0 <= state.tick < _MOST_TICK:
        raise damaged(f"its {wrong or 'tick'} cannot be so")
    for arm in state.settings.values():
        if not all(x is None or np.shape(x) == (4, 4) for x in (arm.tool, arm.base)):
            raise damaged("a tool or a base is no frame")
    counters = [w.pc for w in state.watches] + [m.pc for m in state.monitors.values()]
    for thread in state.threads:
        waits = [thread.busy, *(e.kept for e in thread.stack)]
        counters += [thread.pc, thread.begun, *thread.pending, *(e.back for e in thread.stack)]
        counters += [pc for b in waits if b is not None for pc in (b.then, b.back, *(pc for _, pc in b.marks))]
        if any(b is not None and b.kind not in _KINDS for b in waits):
            raise damaged("a thread waits for something that is not known")
    if not all(-1 <= pc < len(code.operations) for pc in counters) or any(t.pc < 0 for t in state.threads):
        raise damaged("a program counter is outside of the program")
    _check_places(state, code)
    for key, motion in state.motions.items():
        known = state.world.robots.get(motion.robot) if isinstance(motion.robot, str) else None
        if known is None or key not in (motion.robot, f"{motion.robot}.hand"):
            raise damaged(f"{key!r:.60} moves, and is no arm")
        if isinstance(motion, ArmMotion) and not (motion.q.shape == motion.v.shape == (len(motion.q), known.robot.nq)):
            raise damaged(f"the motion of '{key}' does not fit")
        if isinstance(motion, ArmMotion) and not (np.isfinite(motion.q).all() and np.isfinite(motion.v).all()):
            raise damaged(f"the motion of '{key}' has a number that is not finite")
    if state.status not in ("", "paused", "done", "aborted", "failed", "limit"):
        raise damaged(f"the status {state.status!r:.60}")


def _check_places(state: MachineState, code: FlatCode) -> None:
    """Raise an error unless what threads wait for is what the statements at their places begin."""
    places: list[tuple[int, type | tuple[type, ...]]] = [(w.pc, Watch) for w in state.watches]
    places += [(m.pc, DefineMonitor) for m in state.monitors.values()]
    for thread in state.threads:
        at = [(thread.pc, thread.busy), *((e.back, e.kept) for e in thread.stack)]
        places += [(pc, _BEGINS[busy.kind]) for pc, busy in at if busy is not None and busy.kind in _BEGINS]
    for pc, kinds in places:
        if pc < 0 or not isinstance(code.operations[pc].statement, kinds):
            raise damaged("a thread waits for what its statement does not begin")


def _named(variables: Mapping[str, Any]) -> dict[str, Any]:
    return {k: value_to_data(x) for k, x in variables.items()}


def _unnamed(data: Mapping[str, Any]) -> dict[str, Any]:
    return {k: value_from_data(x) for k, x in data.items()}


def _thread_to_data(t: Thread) -> dict[str, Any]:
    stack = [
        [e.kind, e.back, None if e.own is None else _named(e.own), e.result, busy_to_data(e.kept)] for e in t.stack
    ]
    return {
        "number": t.number, "pc": t.pc, "parent": t.parent, "stack": stack, "busy": busy_to_data(t.busy),
        "pending": t.pending, "begun": t.begun,
    }  # fmt: skip


def _thread_from_data(data: Mapping[str, Any]) -> Thread:
    stack = [
        Entry(kind, back, None if own is None else _unnamed(own), result, busy_from_data(kept))
        for kind, back, own, result, kept in data["stack"]
    ]
    return Thread(
        data["number"], data["pc"], data["parent"], stack, busy_from_data(data["busy"]), list(data["pending"]),
        data["begun"],
    )  # fmt: skip


def _settings(data: list) -> ArmSettings:
    speed, once, flags, tool, base = data
    rows = [None if x is None else tuple([tuple(row) for row in x]) for x in (tool, base)]
    return ArmSettings(speed, once, tuple(flags), *rows)


def _motion(data: Mapping[str, Any]) -> ArmMotion | HandMotion:
    if "width" in data:
        return HandMotion(data["robot"], data["width"], data["opens"])
    q, v = (np.array(data[k], float).reshape(-1, data["n"]) for k in ("q", "v"))
    held = data["compliance"]
    axes = None if held is None else Compliance(np.array(held[0]), np.array(held[1]), np.array(held[2], bool))
    return ArmMotion(data["robot"], q, v, axes)


# --- states of back ends ----------------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """The state of a back end as JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {k: _plain(x) for k, x in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(x) for x in value] if isinstance(value, list | tuple) else value


def _like(pattern: Any, data: Any) -> Any:
    """The state of a back end from JSON, made as the state at the start is made."""
    if is_dataclass(pattern) and not isinstance(pattern, type):
        return type(pattern)(**{f.name: _like(getattr(pattern, f.name), data[f.name]) for f in fields(pattern)})
    if isinstance(pattern, Mapping):
        if not isinstance(data, Mapping) or not pattern.keys() <= data.keys():
            raise ValueError("the state of the back end")
        return {k: _like(pattern.get(k), x) for k, x in data.items()}
    if isinstance(pattern, np.ndarray):
        found = np.array(data, pattern.dtype)
        if found.shape != pattern.shape:
            raise ValueError("the state of the back end")
        return found
    if isinstance(pattern, int | float) and not (isinstance(data, int | float) and abs(data) < 1e300):
        raise ValueError("the state of the back end")
    return data


# --- edited programs --------------------------------------------------------------------------------------------------


def moved_to(state: MachineState, old: FlatCode, new: FlatCode) -> None:
    """All program counters of a state become those of an edited program.

    Operations that both programs have keep their place; a `ProgramError` names a statement that is under way or to
    return to and that the edited program does not have.
    """
    a, b = ([_mark(op) for op in code.operations] for code in (old, new))
    if a == b:
        return
    found: dict[int, int] = {}
    for i, j, n in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
        found.update({i + k: j + k for k in range(n)})

    def now(pc: int, next_too: bool = False) -> int:
        if pc < 0:
            return pc
        if pc in found:
            return found[pc]
        if next_too:  # what was to come next is gone: what now follows the last one that was done comes next
            done = [k for k in range(pc) if k in found]
            return found[done[-1]] + 1 if done else 0
        statement = old.operations[pc].statement
        line = old.program.line_of(statement.at)
        raise ProgramError(
            Diagnostic(
                f"the edited program has no {type(statement).__name__}{f' of line {line}' * bool(line)}, which is "
                "under way; jump to another statement first",
                code="edit",
            )
        )

    def busy(one: Busy | None) -> None:
        if one is not None:
            one.then, one.back = now(one.then), now(one.back, True)
            one.marks = [(tick, now(pc)) for tick, pc in one.marks]

    for thread in state.threads:
        thread.pc = now(thread.pc, thread.busy is None)
        thread.begun = now(thread.begun)
        thread.pending = [now(pc) for pc in thread.pending]
        busy(thread.busy)
        for entry in thread.stack:
            entry.back = now(entry.back, True)
            busy(entry.kept)
    for watch in state.watches:
        watch.pc = now(watch.pc)
    for monitor in state.monitors.values():
        monitor.pc = now(monitor.pc)


def _mark(op: Operation) -> tuple:
    """What makes an operation the same in an edited program: not where it jumps to."""
    if op.action in ("do", "return"):
        return op.action, op.statement
    return op.action, type(op.statement), op.expression, op.arguments, op.name
