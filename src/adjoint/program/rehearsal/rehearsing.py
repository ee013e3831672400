"""A session that goes on after a move that cannot be made, and remembers which statement moved which robot when."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..execution import Session
from ..instructions.diagnostics import Diagnostic, ProgramError
from ..instructions.statements import Move, MoveHand, MoveJoints, Operate, Place, Statement
from ..running.machine import Machine
from ..running.machine_state import Busy, Thread
from ..running.recording import Recording

__all__: list[str] = []

_MOST_FAILURES = 200  # moves that cannot be made, after which a dry run ends
_MOVES = (Move, MoveJoints, MoveHand, Place, Operate)


class Begun(NamedTuple):
    """A statement that has begun at a tick, and the robot that it moves ("" if it moves none)."""

    tick: int
    thread: int
    statement: Statement
    robot: str


class RehearsingMachine(Machine):
    """A machine that notes moves that cannot be made in `problems`, leaves them out, and goes on."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.problems: list[Diagnostic] = []
        self.begun: list[Begun] = []
        self._moving: dict[int, bool] = {}  # of each thread: whether the statement that began last moves an arm

    def _do(self, thread: Thread) -> None:
        tick, op = self.state.tick, self.code.operations[thread.pc]
        begins = op.begins and not thread.pending
        try:
            super()._do(thread)
        except ProgramError as error:
            if not isinstance(op.statement, _MOVES) or len(self.problems) >= _MOST_FAILURES:
                raise
            self.problems += error.diagnostics
            self.steps.pop(thread.number, None)
            if thread in self.state.threads:
                self.done(thread)
        if begins:
            self._note(tick, thread, op.statement)

    def _pass_mark(self, thread: Thread, busy: Busy) -> None:
        super()._pass_mark(thread, busy)
        self._note(self.state.tick, thread, self.code.operations[thread.pc].statement)

    def _note(self, tick: int, thread: Thread, statement: Statement) -> None:
        moves = thread.busy is not None and thread.busy.kind in ("move", "task")
        robot = thread.busy.key.partition(".")[0] if moves and thread.busy is not None else ""
        if robot or self._moving.get(thread.number):
            self.begun.append(Begun(tick, thread.number, statement, robot))
        self._moving[thread.number] = bool(robot)


class RehearsingSession(Session):
    """A session whose machine goes on after moves that cannot be made."""

    rehearsing: RehearsingMachine

    def _start(self, code, state, backend, period, arms, inputs, limits, rng) -> None:
        super()._start(code, state, backend, period, arms, inputs, limits, rng)
        record = Recording(state.world, period, state.tick)
        self._machine = self.rehearsing = RehearsingMachine(
            code, state, backend, period, arms, inputs, limits, type(self).refine, rng, record
        )
