"""Statements about parts: a planner refines them into steps, which run one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..instructions.expressions import Name
from ..instructions.statements import (
    TaskState,
)  # fmt: skip
from .backends import ArmMotion, HandMotion
from .flat_code import Operation
from .machine_state import Busy, Thread
from .move_effects import arm_named, begin
from .world_effects import edit

if TYPE_CHECKING:
    from .machine import Machine

__all__: list[str] = []

Refine = Callable[..., tuple]
"""What gives the steps of a task: (world, statement, robot, period, value=) to motions and edits of the world, where
`value(name)` is that of a variable, for names of parts with indices."""


def task(machine: Machine, thread: Thread, op: Operation) -> None:
    """A robot does what a statement about parts says."""
    s: Any = op.statement
    if isinstance(s, TaskState) and s.purpose == "define":
        return
    thread.busy = Busy("task", start=machine.state.world)
    next_step(machine, thread)


def next_step(machine: Machine, thread: Thread) -> None:
    """The next step of a task begins; when there is none, the statement has ended."""
    op, busy = machine.code.operations[thread.pc], thread.busy
    assert busy is not None and busy.start is not None
    if thread.number not in machine.steps:
        if machine.refine is None:
            machine.fail(f"{type(op.statement).__name__} needs a planner of tasks", op.statement)
        robot = arm_named(machine, op.statement.arm, op)  # type: ignore[attr-defined]
        machine.steps[thread.number] = machine.refine(
            busy.start, op.statement, robot, machine.period, value=lambda name: machine.asked(thread, Name(name))
        )
    steps = machine.steps[thread.number]
    while busy.done < len(steps):
        step = steps[busy.done]
        busy.done += 1
        if isinstance(step, ArmMotion) and len(step.q):
            busy.key = step.robot
            begin(machine, thread, step.robot, step)
            return
        if isinstance(step, HandMotion):
            busy.key = f"{step.robot}.hand"
            machine.state.motions[busy.key] = step
            return
        if not isinstance(step, ArmMotion):
            _changed(machine, op, step)
    del machine.steps[thread.number]
    machine.done(thread)


def _changed(machine: Machine, op: Operation, step: Any) -> None:
    """A step changes what is attached to what, in what the program has and in the world as it is."""
    state, before = machine.state, machine.state.world
    after = step.apply(before)
    if state.actual is not None:
        for robot in before.robots:
            for name in sorted({*after.holding(robot)} - {*state.actual.holding(robot)} - {*before.holding(robot)}):
                machine.fail(
                    f"'{robot}' has closed its hand on nothing: '{name}' is not there", op.statement, code="task"
                )
        state.actual = step.apply(state.actual)
    edit(machine, after)
