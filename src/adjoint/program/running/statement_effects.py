"""What statements do: variables, frames and attachments, signals, waits and messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..instructions.expressions import Index, Name
from ..instructions.statements import (
    Abort,
    Assign,
    Attach,
    Declare,
    DefineMonitor,
    Delay,
    Detach,
    Locate,
    Move,
    MoveHand,
    MoveJoints,
    Operate,
    Pause,
    Place,
    Print,
    SetBase,
    SetConfiguration,
    SetSpeed,
    SetTool,
    Signal,
    SignalEvent,
    Statement,
    Stop,
    TaskState,
    Unwatch,
    Wait,
    WaitEvent,
    Watch,
)  # fmt: skip
from .arms import ArmSettings
from .flat_code import Operation
from .flow import variables_of
from .joint_paths import ticks_of
from .machine_state import Busy, MonitorState, Thread, WatchState
from .move_effects import arm_named, hand_rests, move, move_hand, move_joints, number, positive
from .task_effects import task
from .world_effects import attach, detach, edit, locate

if TYPE_CHECKING:
    from .machine import Machine

__all__: list[str] = []

_MOST_ELEMENTS = 100_000  # of an array that a program declares


def perform(machine: Machine, thread: Thread, op: Operation, after: bool = False) -> None:
    """What a statement does, or does `after` the fingers that it moves have come to rest."""
    if after:
        hand_rests(machine, thread, op)
        return
    effect = _EFFECTS.get(type(op.statement))
    if effect is None:
        machine.fail(f"{type(op.statement).__name__} cannot be run", op.statement)
    effect(machine, thread, op)
    if thread.busy is None and not machine.state.status and thread.begun == thread.pc:
        machine.done(thread)


# --- variables --------------------------------------------------------------------------------------------------------


def _declare(machine: Machine, thread: Thread, op: Operation) -> None:
    s: Declare = op.statement  # type: ignore[assignment]
    for name in s.names:
        table = variables_of(machine, thread, name)
        if s.type.kind == "event":
            machine.state.events[name] = 0
        elif s.bounds is not None:
            first, last = (int(number(machine, thread, x, op, "a bound") or 0) for x in s.bounds)
            if not 0 <= last - first < _MOST_ELEMENTS:
                machine.fail(f"an array from {first} to {last} has no elements, or too many", s, code="limit")
            table[name] = dict.fromkeys(range(first, last + 1))
        else:
            table[name] = None


def _assign(machine: Machine, thread: Thread, op: Operation) -> None:
    s: Assign = op.statement  # type: ignore[assignment]
    value = machine.asked(thread, s.value)
    target: Any = s.target
    root = target
    while isinstance(root, Index):
        root = root.value
    name = root.name if isinstance(root, Name) else ""
    machine.record.event(machine.state.tick, "set", machine.code.lines[thread.pc], thread.number, None, {name: value})
    if isinstance(target, Name):
        _set(machine, thread, op, target.name, value)
        return
    places = []
    while isinstance(target, Index):
        places.insert(0, _whole(machine, thread, target.index, op))
        target = target.value
    if not isinstance(target, Name):
        machine.fail("only a variable, or an element of one, can get a value", s, code="type")
    table = variables_of(machine, thread, target.name)
    table[target.name] = _with(machine, op, table.get(target.name), places, value, target.name)


def _set(machine: Machine, thread: Thread, op: Operation, name: str, value: Any) -> None:
    table, world = variables_of(machine, thread, name), machine.state.world
    if table is machine.state.variables and name in world.frames:
        if name in world.robots or not (isinstance(value, np.ndarray) and value.shape == (4, 4)):
            what = "an arm, which only moves move" if name in world.robots else "a frame of the world"
            machine.fail(f"'{name}' is {what}", op.statement, code="type")
        settings = machine.state.settings
        base = next(iter(settings.values())) if len(world.robots) == 1 and settings else ArmSettings()
        edit(machine, world.move(name, base.meant(value)))
        return
    table[name] = value


def _whole(machine: Machine, thread: Thread, expression, op: Operation) -> int:
    found = number(machine, thread, expression, op, "an index")
    if found is None or abs(found - round(found)) > 1e-9:
        machine.fail("an index must be a whole number", op.statement, expression.at, code="type")
    return round(found)


def _with(machine: Machine, op: Operation, whole: Any, places: list[int], value: Any, name: str) -> Any:
    """An array or an aggregate with another element."""
    if not places:
        return value
    k, rest = places[0], places[1:]
    if isinstance(whole, Mapping):
        if k not in whole:
            last = list(whole)[-1]
            machine.fail(f"{name} has elements {next(iter(whole))} to {last}, and no {k}", op.statement, code="limit")
        return {**whole, k: _with(machine, op, whole[k], rest, value, name)}
    items = list(whole) if isinstance(whole, tuple) else [float(x) for x in whole] if np.ndim(whole) == 1 else []
    if not 1 <= k <= len(items):
        machine.fail(f"{name} has {len(items)} elements, and no number {k}", op.statement, code="limit")
    items[k - 1] = _with(machine, op, items[k - 1], rest, value, name)
    return tuple(items) if isinstance(whole, tuple) else np.array(items)


# --- settings ---------------------------------------------------------------------------------------------------------


def _settings(machine: Machine, thread: Thread, op: Operation) -> None:
    s: Any = op.statement
    names = list(machine.state.world.robots) if s.arm == "" else [arm_named(machine, s.arm, op)]
    for robot in names:
        old = machine.state.settings.get(robot, ArmSettings())
        match s:
            case SetSpeed():
                fraction = positive(machine, thread, s.fraction, op, "a speed") or 1.0
                new = old._replace(speed=fraction) if s.permanent else old._replace(once=fraction)
            case SetConfiguration():
                other = _OPPOSITES[s.flag]
                new = old._replace(flags=(*(f for f in old.flags if f not in (other, s.flag)), s.flag))
            case SetTool():
                new = old._replace(tool=_frame(machine, thread, s.tool, op))
            case _:
                new = old._replace(base=_frame(machine, thread, s.base, op))
        machine.state.settings[robot] = new


_OPPOSITES = {"lefty": "righty", "above": "below", "flip": "noflip"}
_OPPOSITES |= {b: a for a, b in _OPPOSITES.items()}


def _frame(machine: Machine, thread: Thread, expression, op: Operation) -> tuple[tuple[float, ...], ...] | None:
    if expression is None:
        return None
    found = machine.asked(thread, expression)
    if not isinstance(found, np.ndarray) or found.shape != (4, 4):
        machine.fail("this must be a frame", op.statement, expression.at, code="type")
    return tuple([tuple(row) for row in found.tolist()])


# --- events -----------------------------------------------------------------------------------------------------------


def _monitor(machine: Machine, thread: Thread, op: Operation) -> None:
    s: DefineMonitor = op.statement  # type: ignore[assignment]
    low, high = machine.asked(thread, s.low), machine.asked(thread, s.high)
    machine.state.monitors[s.name] = MonitorState(thread.pc, low, high)


def _signal(machine: Machine, thread: Thread, op: Operation) -> None:
    s: Signal = op.statement  # type: ignore[assignment]
    line = _whole(machine, thread, s.line, op)
    machine.record.signals.append((machine.state.tick, line, s.on))
    machine.record.event(machine.state.tick, "signal", machine.code.lines[thread.pc], thread.number, None,
                         {"line": line, "on": s.on})  # fmt: skip


def _wait(machine: Machine, thread: Thread, op: Operation) -> None:
    s: Wait = op.statement  # type: ignore[assignment]
    if not machine.asked(thread, s.condition):
        thread.busy = Busy("wait")


def _delay(machine: Machine, thread: Thread, op: Operation) -> None:
    s: Delay = op.statement  # type: ignore[assignment]
    duration = number(machine, thread, s.duration, op, "a delay") or 0.0
    if duration < 0:
        machine.fail("a delay cannot be below 0", s, code="limit")
    ticks = ticks_of(duration, machine.period)
    if ticks:
        thread.busy = Busy("delay", until=machine.state.tick + ticks)


def _signal_event(machine: Machine, thread: Thread, op: Operation) -> None:
    s: SignalEvent = op.statement  # type: ignore[assignment]
    events = machine.state.events
    for other in machine.state.threads:
        if other.busy is not None and other.busy.kind == "event" and other.busy.key == s.event:
            machine.done(other)
            return
    events[s.event] = events.get(s.event, 0) + 1


def _wait_event(machine: Machine, thread: Thread, op: Operation) -> None:
    s: WaitEvent = op.statement  # type: ignore[assignment]
    events = machine.state.events
    if events.get(s.event, 0) > 0:
        events[s.event] -= 1
    else:
        thread.busy = Busy("event", s.event)


def _watch(machine: Machine, thread: Thread, op: Operation) -> None:
    s: Watch = op.statement  # type: ignore[assignment]
    others = [w for w in machine.state.watches if w.name != s.name]
    machine.state.watches = [*others, WatchState(s.name, thread.pc, thread.number)]


def _unwatch(machine: Machine, thread: Thread, op: Operation) -> None:
    name = op.statement.name  # type: ignore[attr-defined]
    machine.state.watches = [w for w in machine.state.watches if w.name != name]


# --- messages and ends ------------------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """A value as PRINT shows it, in SI units."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "TRUE" if value else "FALSE"
    if isinstance(value, tuple):
        return f"<{', '.join(shown(x) for x in value)}>"
    if isinstance(value, dict):
        return f"[{', '.join(shown(x) for x in value.values())}]"
    if isinstance(value, np.ndarray):
        if value.shape == (4, 4):
            return f"FRAME at {shown(value[:3, 3])}"
        return f"({', '.join(f'{x:.6g}' for x in value.ravel() + 0.0)})"
    return f"{value:.6g}" if value is not None else "?"


def _print(machine: Machine, thread: Thread, op: Operation) -> None:
    s: Print = op.statement  # type: ignore[assignment]
    text = " ".join([shown(machine.asked(thread, x)) for x in s.values])
    machine.record.printed.append(text)
    line = machine.code.lines[thread.pc]
    machine.record.event(machine.state.tick, "print", line, thread.number, None, {"text": text})


def _abort(machine: Machine, thread: Thread, op: Operation) -> None:
    s: Abort = op.statement  # type: ignore[assignment]
    machine.finish("aborted", shown(machine.asked(thread, s.message)))


def _stop(machine: Machine, thread: Thread, op: Operation) -> None:
    machine.finish("done", "")


def _pause(machine: Machine, thread: Thread, op: Operation) -> None:
    s: Pause = op.statement  # type: ignore[assignment]
    machine.done(thread)
    machine.state.status, machine.state.message = "paused", s.message


_EFFECTS: dict[type[Statement], Callable[[Machine, Thread, Operation], None]] = {
    Abort: _abort, Assign: _assign, Attach: attach, Declare: _declare, DefineMonitor: _monitor, Delay: _delay,
    Detach: detach, Locate: locate, Move: move, MoveHand: move_hand, MoveJoints: move_joints, Operate: task,
    Pause: _pause, Place: task, Print: _print, SetBase: _settings, SetConfiguration: _settings, SetSpeed: _settings,
    SetTool: _settings, Signal: _signal, SignalEvent: _signal_event, Stop: _stop, TaskState: task, Unwatch: _unwatch,
    Wait: _wait, WaitEvent: _wait_event, Watch: _watch,
}  # fmt: skip
