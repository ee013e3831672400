"""Conditions that are asked at every tick, and what happens when one holds: guards, monitors, watches and waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..instructions.expressions import Expression
from ..instructions.statements import Move, MoveJoints
from .backends import Ahead, ArmMotion
from .flat_code import Operation
from .joint_paths import velocities
from .machine_state import Busy, Thread
from .readings import RunningScope

if TYPE_CHECKING:
    from .machine import Machine

__all__: list[str] = []


class Condition(NamedTuple):
    """A condition that is asked at every tick, and what happens when it holds."""

    kind: str
    expression: Expression
    thread: Thread | None
    op: Operation
    data: Any = None

    @property
    def felt(self) -> bool:
        """Whether it reads forces."""
        return self.op.felt

    def settle(self, machine: Machine, holds: bool, now: bool) -> None:
        """What follows from the ticks that have passed; `now` is the value at the last of them."""
        if self.kind == "watch":
            self.data.was = now
        if holds and self.thread is not None:
            _SETTLED[self.kind](machine, self)


def _watch_holds(machine: Machine, condition: Condition) -> None:
    thread, op, watch = condition.thread, condition.op, condition.data
    assert thread is not None
    state = machine.state
    machine.record.event(state.tick, "watch", machine.code.lines[watch.pc], thread.number, op.statement)
    if op.statement.once:  # type: ignore[attr-defined]
        state.watches = [w for w in state.watches if w is not watch]
    body, busy = op.targets[0], thread.busy
    if busy is None or busy.kind in ("brake", "hand", "task") or (
        busy.kind == "move" and not op.statement.interrupts  # type: ignore[attr-defined]
    ):  # fmt: skip
        thread.pending.append(body)
    elif busy.kind == "move":
        brake(machine, thread, busy.key, body, thread.pc + 1)
    elif busy.kind == "join":
        thread.pending.append(body)
        for child in _below(machine, thread) if op.statement.interrupts else ():  # type: ignore[attr-defined]
            if child.busy is not None and child.busy.kind == "move":
                brake(machine, child, child.busy.key, -1, child.pc + 1)
    else:
        machine.enter_body(thread, body, thread.pc, kept=busy)


def _below(machine: Machine, thread: Thread) -> list[Thread]:
    """The threads that a thread has begun, and those that they have."""
    found, numbers = [], {thread.number}
    for other in machine.state.threads:  # a thread comes after the one that began it
        if other.parent in numbers:
            numbers.add(other.number)
            found.append(other)
    return found


def held_back(machine: Machine) -> set[int]:
    """Numbers of the threads that begin no statement now: a watch of a thread that waits for them has held.

    Their moves go on to the end, then the body of the watch runs, and then they go on.
    """
    found: set[int] = set()
    for thread in machine.state.threads:
        busy = thread.busy
        if thread.pending and busy is not None and busy.kind == "join":
            found.update(t.number for t in _below(machine, thread))
        elif any(e.kept is not None and e.kept.kind == "join" for e in thread.stack):
            begun = {n for e in thread.stack if e.kept is not None and e.kept.kind == "join" for n in e.kept.children}
            for child in machine.state.threads:
                if child.number in begun:
                    found.update([child.number, *(t.number for t in _below(machine, child))])
    return found


def react(machine: Machine, thread: Thread) -> None:
    """The body of a watch runs in a thread that waits for others, as soon as nothing that they have begun moves."""
    busy = thread.busy
    if not thread.pending or busy is None or busy.kind != "join":
        return
    moving = ("move", "hand", "brake", "task")
    if not any(t.busy is not None and t.busy.kind in moving for t in _below(machine, thread)):
        machine.enter_body(thread, thread.pending.pop(0), thread.pc, kept=busy)


# --- asking -----------------------------------------------------------------------------------------------------------


def conditions_of(machine: Machine) -> list[Condition]:
    """All conditions that are asked at the next tick."""
    found: list[Condition] = []
    operations = machine.code.operations
    for watch in machine.state.watches:
        op = operations[watch.pc]
        found.append(Condition("watch", op.statement.condition, machine.thread(watch.thread), op, watch))  # type: ignore[attr-defined]
    for thread in machine.state.threads:
        busy = thread.busy
        if busy is None:
            continue
        op = operations[thread.pc]
        if busy.kind == "wait":
            found.append(Condition("wait", op.statement.condition, thread, op))  # type: ignore[attr-defined]
        elif busy.kind == "move" and isinstance(op.statement, Move | MoveJoints):
            for i, guard in enumerate(op.statement.guards):
                if i not in busy.fired:
                    found.append(Condition("guard", guard.condition, thread, op, i))
        if busy.kind in ("move", "hand"):
            names = getattr(op.statement, "monitors", ())
            found += [Condition("monitor", name, thread, op) for name in names]
    return found


def first_held(machine: Machine, condition: Condition, ahead: Ahead) -> tuple[int, np.ndarray]:
    """The first tick ahead, from 1, at which a condition holds (0 if at none), and its values (ticks,)."""
    scope = RunningScope(machine, condition.thread, ahead, op=condition.op)
    if condition.kind == "monitor":
        found = _left(machine, condition, scope)
    else:
        found = machine.evaluated(condition.expression, scope, condition.op.statement)
    values = np.broadcast_to(np.asarray(found, bool), (ahead.ticks,))
    held = values
    if condition.kind == "watch":
        held = values & ~np.concatenate([[condition.data.was], values[:-1]])
    k = int(np.argmax(held))
    return (k + 1 if held[k] else 0), values


def _left(machine: Machine, condition: Condition, scope: RunningScope) -> np.ndarray:
    """Whether a reading of a monitor has left its limits, at each tick."""
    name = getattr(condition.expression, "name", "")
    monitor = machine.state.monitors.get(name)
    if monitor is None:
        machine.fail(f"'{name}' is no monitor", condition.op.statement, condition.expression.at, code="name")
    defined: Any = machine.code.operations[monitor.pc].statement
    values = machine.evaluated(defined.sensors, scope, defined)
    values = values if isinstance(values, tuple) else (values,)
    low = monitor.low if isinstance(monitor.low, tuple) else (monitor.low,) * len(values)
    high = monitor.high if isinstance(monitor.high, tuple) else (monitor.high,) * len(values)
    out: Any = False
    for x, a, b in zip(values, low, high, strict=False):
        out = out | (np.asarray(x, float) < a) | (np.asarray(x, float) > b)
    return out


# --- holding ----------------------------------------------------------------------------------------------------------


def _guard_holds(machine: Machine, condition: Condition) -> None:
    thread, op, i = condition.thread, condition.op, condition.data
    assert thread is not None
    busy, state = thread.busy, machine.state
    if busy is None or busy.kind != "move":  # another guard has stopped the motion at this tick
        return
    guard = op.statement.guards[i]  # type: ignore[attr-defined]
    machine.record.event(
        state.tick, "guard", machine.code.lines[thread.pc], thread.number, op.statement,
        {"guard": i + 1, **machine.record.places(state)},
    )  # fmt: skip
    busy.fired.append(i)
    if guard.stops:
        brake(machine, thread, busy.key, op.targets[i], thread.pc + 1)
    elif guard.body:
        busy.children.append(machine.spawn(op.targets[i], thread))


def _monitor_holds(machine: Machine, condition: Condition) -> None:
    thread = condition.thread
    assert thread is not None
    name, state = getattr(condition.expression, "name", ""), machine.state
    state.monitors[name].triggered = True
    machine.record.event(
        state.tick, "monitor", machine.code.lines[thread.pc], thread.number, condition.op.statement,
        {"monitor": name, **machine.record.places(state)},
    )  # fmt: skip
    if thread.busy is not None and thread.busy.kind == "move":
        brake(machine, thread, thread.busy.key, -1, thread.pc + 1)
    elif thread.busy is not None and thread.busy.kind == "hand":  # fingers stop where they are
        state.motions.pop(thread.busy.key, None)
        machine.motion_over(thread, thread.busy)


def _wait_holds(machine: Machine, condition: Condition) -> None:
    if condition.thread is not None and condition.thread.busy is not None and condition.thread.busy.kind == "wait":
        machine.done(condition.thread)


def brake(machine: Machine, thread: Thread, key: str, body: int, back: int) -> None:
    """A motion brakes; then a body runs, and the thread goes on at `back`."""
    state, motion = machine.state, braking(machine, key)
    thread.busy = Busy("brake", key, then=body, back=back)
    if len(motion.q):
        state.motions[key] = motion
    else:
        state.motions.pop(key, None)
        machine.motion_over(thread, thread.busy)


def braking(machine: Machine, key: str) -> ArmMotion:
    """How an arm comes to rest: on the way of its motion, if it has one."""
    state = machine.state
    motion, left = machine.backend.brake(state.world, state.inner, key, machine.period), state.motions.get(key)
    if isinstance(left, ArmMotion) and len(motion.q) > 1:
        motion = on_its_way(state.world.robots[key].q, left, len(motion.q), machine.period)
    return motion


def on_its_way(q: np.ndarray, left: ArmMotion, ticks: int, period: float) -> ArmMotion:
    """A motion under way that comes to rest within so many ticks, on the way that is left of it.

    Its pace is 1 - k/ticks after k ticks, so that half as many ticks of the way are done.
    """
    k = np.arange(1, ticks + 1)
    place = np.minimum(k - k * k / (2 * ticks), len(left.q))
    rows = np.concatenate([q[None], left.q])
    low = np.minimum(place.astype(int), len(rows) - 2)
    way = rows[low] + (place - low)[:, None] * (rows[low + 1] - rows[low])
    return ArmMotion(left.robot, way, velocities(q, way, period), left.compliance)


_SETTLED: dict[str, Callable[[Machine, Condition], None]] = {
    "watch": _watch_holds, "guard": _guard_holds, "monitor": _monitor_holds, "wait": _wait_holds,
}  # fmt: skip
