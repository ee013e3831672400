"""Flow of control: what operations other than "do" do with a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .conditions import brake
from .flat_code import Operation
from .machine_state import Busy, Entry, Thread, own_variables

if TYPE_CHECKING:
    from .machine import Machine

__all__: list[str] = []

_ROUNDING = 1e-9  # of a step: FOR x FROM 0 BY 0.1 TO 1 comes to 1


def do_flow(machine: Machine, thread: Thread, op: Operation) -> None:
    """One operation of a thread that is no statement of its own."""
    _ACTIONS[op.action](machine, thread, op)


def _truth(machine: Machine, thread: Thread, op: Operation) -> bool:
    assert op.expression is not None
    found = machine.asked(thread, op.expression)
    if not isinstance(found, bool | np.bool_):
        machine.fail("a condition must be true or false", op.statement, op.expression.at, code="type")
    return bool(found)


def _unless(machine: Machine, thread: Thread, op: Operation) -> None:
    machine.done(thread, thread.pc + 1 if _truth(machine, thread, op) else op.target)


def _jump(machine: Machine, thread: Thread, op: Operation) -> None:
    leave_bodies(thread, op.leaves)
    machine.done(thread, op.target)


def leave_bodies(thread: Thread, count: int) -> None:
    """A jump leaves so many bodies of guards and watches, and the subroutines that they called."""
    while count > 0 and thread.stack:
        if thread.stack.pop().kind == "body":
            count -= 1


def variables_of(machine: Machine, thread: Thread, name: str) -> dict[str, Any]:
    """The table in which a variable is: that of the procedure, or of the program."""
    own = own_variables(machine.state, thread, machine.code.operations[thread.pc])
    return own if own is not None and (name in own or name.startswith("# ")) else machine.state.variables


def _for(machine: Machine, thread: Thread, op: Operation) -> None:
    values = [machine.asked(thread, x) for x in op.arguments]
    first, last, step = values[0], values[1], (values[2] if len(values) > 2 else 1.0)
    if any(isinstance(x, bool) or np.ndim(x) or isinstance(x, str | tuple) for x in values):
        machine.fail("a loop counts with numbers", op.statement, code="type")
    if step == 0:
        machine.fail("this loop has the step 0 and would never end", op.statement, code="limit")
    variables_of(machine, thread, op.name)[op.name] = (float(last), float(step))
    _loop(machine, thread, op, float(first), thread.pc + 1, op.target)


def _again(machine: Machine, thread: Thread, op: Operation) -> None:
    name = op.statement.variable  # type: ignore[attr-defined]
    _, step = variables_of(machine, thread, op.name)[op.name]
    _loop(machine, thread, op, variables_of(machine, thread, name)[name] + step, op.target, thread.pc + 1)


def _loop(machine: Machine, thread: Thread, op: Operation, value: float, inside: int, outside: int) -> None:
    last, step = variables_of(machine, thread, op.name)[op.name]
    name = op.statement.variable  # type: ignore[attr-defined]
    goes_on = (last - value) * np.sign(step) >= -_ROUNDING * abs(step)
    if goes_on:
        variables_of(machine, thread, name)[name] = value
    machine.done(thread, inside if goes_on else outside)


def _case(machine: Machine, thread: Thread, op: Operation) -> None:
    assert op.expression is not None
    selector = machine.asked(thread, op.expression)
    for (values, _), target in zip(op.statement.branches, op.targets, strict=True):  # type: ignore[attr-defined]
        if any(_same(machine.asked(thread, x), selector) for x in values):
            machine.done(thread, target)
            return
    machine.done(thread, op.target)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return np.shape(a) == np.shape(b) and bool(np.allclose(a, b, rtol=1e-9, atol=1e-9))


def _call(machine: Machine, thread: Thread, op: Operation) -> None:
    name, _, result = op.name.partition(" ")
    code = machine.code.procedures[name]
    values = [machine.asked(thread, x) for x in op.arguments]
    own: dict[str, Any] = dict.fromkeys(code.own)
    own.update(zip(code.parameters, values, strict=False))
    machine.push(thread, Entry("call", thread.pc + 1, own, result))
    thread.begun = -1
    thread.pc = op.target


def _gosub(machine: Machine, thread: Thread, op: Operation) -> None:
    machine.push(thread, Entry("gosub", thread.pc + 1))
    machine.done(thread, op.target)


def _return(machine: Machine, thread: Thread, op: Operation) -> None:
    value = None if op.expression is None else machine.asked(thread, op.expression)
    while thread.stack and thread.stack[-1].kind == "body":  # a guard's body that returns leaves its move, too
        thread.stack.pop()
    if not thread.stack:
        _end(machine, thread, op)
        return
    entry = thread.stack.pop()
    if entry.result and value is None:
        machine.fail("this procedure returned no value, and an expression needs one", op.statement, code="type")
    machine.done(thread, entry.back)
    if entry.result:  # it is asked where the procedure was called
        variables_of(machine, thread, entry.result)[entry.result] = value


def _fork(machine: Machine, thread: Thread, op: Operation) -> None:
    children = [machine.spawn(target, thread) for target in op.targets]
    if children:
        thread.busy = Busy("join", children=children)
    else:
        machine.done(thread)


def _end(machine: Machine, thread: Thread, op: Operation) -> None:
    """A thread ends; its watches go to its parent, which may have waited for it.

    A parent that runs the body of a watch now, and waited before, asks for its children when it waits again.
    """
    state = machine.state
    state.threads = [t for t in state.threads if t is not thread]
    parent = machine.thread(thread.parent)
    for watch in state.watches:
        if watch.thread == thread.number and parent is not None:
            watch.thread = parent.number
    if parent is not None and parent.busy is not None:
        busy = parent.busy
        busy.children = [n for n in busy.children if n != thread.number]
        if busy.kind == "join" and not busy.children:
            machine.done(parent)


def _resume(machine: Machine, thread: Thread, op: Operation) -> None:
    """The body of a guard or of a watch ends."""
    if not thread.stack:  # the body of a guard that does not stop its move is a thread of its own
        _end(machine, thread, op)
        return
    entry = thread.stack.pop()
    thread.pc, thread.busy = entry.back, entry.kept
    thread.begun = thread.pc if entry.kept is not None else -1
    if thread.busy is not None and _over(machine, thread.busy):
        machine.done(thread)


def _over(machine: Machine, busy: Busy) -> bool:
    """Whether what a thread waits for has come while the body of a watch ran."""
    state = machine.state
    if busy.kind == "join":
        busy.children = [n for n in busy.children if machine.thread(n) is not None]
        return not busy.children
    if busy.kind == "event" and state.events.get(busy.key, 0) > 0:
        state.events[busy.key] -= 1
        return True
    return busy.kind == "delay" and busy.until <= state.tick


def _stop(machine: Machine, thread: Thread, op: Operation) -> None:
    """STOP in the body of a guard: the motion stops, if it has not done so already."""
    parent = machine.thread(thread.parent)
    if not thread.stack and parent is not None and parent.busy is not None and parent.busy.kind == "move":
        brake(machine, parent, parent.busy.key, -1, parent.pc + 1)
    machine.done(thread)


_ACTIONS: dict[str, Callable[[Machine, Thread, Operation], None]] = {
    "unless": _unless, "jump": _jump, "for": _for, "again": _again, "case": _case, "call": _call, "gosub": _gosub,
    "return": _return, "fork": _fork, "end": _end, "resume": _resume, "brake": _stop,
}  # fmt: skip
