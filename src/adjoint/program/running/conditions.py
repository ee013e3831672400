"""Conditions that are asked at every tick, and what happens when one holds: guards, monitors, watches and waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..instructions.expressions import Expression
from .backends import ArmMotion
from .flat_code import Operation
from .joint_paths import velocities
from .machine_state import Busy, Thread

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

    def settle(self, machine: Machine, holds: bool, last: bool) -> None:
        """What follows from the ticks that have passed."""
        if self.kind == "watch":
            self.data.was = last if not holds else True
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
    else:
        machine.enter_body(thread, body, thread.pc, kept=busy)


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
    state = machine.state
    motion, left = machine.backend.brake(state.world, state.inner, key, machine.period), state.motions.get(key)
    if isinstance(left, ArmMotion) and len(motion.q) > 1:
        motion = on_its_way(state.world.robots[key].q, left, len(motion.q), machine.period)
    thread.busy = Busy("brake", key, then=body, back=back)
    if len(motion.q):
        state.motions[key] = motion
    else:
        state.motions.pop(key, None)
        machine.motion_over(thread, thread.busy)


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
