"""The machine: threads do statements until all of them wait, then time passes up to the first event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

from ...errors import AdjointError
from ..instructions.diagnostics import Diagnostic, ProgramError
from ..instructions.expressions import Expression, Reading
from ..instructions.programs import expressions_in
from ..instructions.sources import NOWHERE, Span
from ..instructions.statements import Move, MoveJoints, Statement
from ..meaning.evaluation import evaluate
from .backends import Ahead, ArmMotion, Backend
from .beliefs import believed_after
from .conditions import braking, conditions_of, first_held, held_back, react
from .flat_code import FlatCode, Operation
from .flow import do_flow
from .knot_configurations import UnreachableError
from .machine_state import Busy, Entry, MachineState, Thread
from .readings import Inputs, RunningScope
from .recording import Recording
from .statement_effects import perform
from .task_effects import Refine, next_step

__all__ = ["RunLimits"]

_PATIENCE = 64  # ticks that conditions alone are looked at ahead, at first
_FARTHEST = 8192  # ticks that are looked at ahead


class RunLimits(NamedTuple):
    """Where a run stops with the status "limit"."""

    ticks: int = 1_000_000
    """ticks of the whole run"""
    statements: int = 10_000_000
    """statements of the whole run"""
    still: int = 100_000
    """statements without a tick between them: a loop that moves nothing"""
    depth: int = 200
    """procedures and subroutines that have begun and not returned"""
    events: int = 2_000_000
    """events of the trace, which are all kept in memory"""


class LimitReachedError(AdjointError):
    """A run has come to one of its `RunLimits`."""


class Machine:
    """A program while it runs. `state` decides how it goes on; `record` has what happened."""

    def __init__(
        self, code: FlatCode, state: MachineState, backend: Backend, period: float, arms: Mapping[str, str],
        inputs: Inputs, limits: RunLimits, refine: Refine | None, rng: int, record: Recording,
    ):  # fmt: skip
        self.code, self.state, self.backend, self.period = code, state, backend, period
        self.arms, self.inputs, self.limits, self.refine, self.rng = arms, inputs, limits, refine, rng
        self.record = record
        self.patience = _PATIENCE
        self.steps: dict[int, tuple] = {}  # of tasks under way, by thread
        self.error: ProgramError | None = None
        self.felt: dict[Statement, bool] = {}  # statements whose forces the back end has to find

    # --- running ------------------------------------------------------------------------------------------------------

    def advance(self, stops: Callable[[Thread], bool] | None = None, until: int | None = None) -> bool:
        """Run until the program has ended (True), `stops` says so before a statement, or a tick is reached (False)."""
        state = self.state
        try:
            while not state.status:
                thread = self._ready()
                if thread is not None:
                    if stops is not None and stops(thread):
                        return False
                    self._do(thread)
                elif not state.threads:
                    if not state.motions:
                        self.finish("done", "")
                        break
                    self._pass_time(until)
                else:
                    self._pass_time(until)
                if until is not None and state.tick >= until and self._ready() is None:
                    return bool(state.status)
        except LimitReachedError as error:
            self.finish("limit", str(error))
        except ProgramError as error:
            self.error = error
            self.finish("failed", error.diagnostics[0].message)
        except AdjointError as error:  # the back end cannot go on, and nothing more is asked of it
            self.error = ProgramError(
                Diagnostic(str(error), self._under_way(), code="backend"), self.code.program.source
            )
            self.finish("failed", str(error), brakes=False)
        return True

    def _ready(self) -> Thread | None:
        threads = self.state.threads
        held = held_back(self) if len(threads) > 1 else ()
        for thread in threads:
            if thread.busy is None and thread.number not in held:
                return thread
        return None

    def _under_way(self) -> Span:
        """Where the statement is written that is under way."""
        begun = next((t.begun for t in self.state.threads if t.begun >= 0), -1)
        return NOWHERE if begun < 0 else self.code.operations[begun].statement.at

    def _do(self, thread: Thread) -> None:
        """One operation of a thread."""
        state = self.state
        op = self.code.operations[thread.pc]
        if thread.pending and (op.begins or op.action == "end"):
            self.enter_body(thread, thread.pending.pop(0), thread.pc)
            return
        state.statements += 1
        state.still += 1
        if state.still > self.limits.still:
            line = self.where(op.statement)
            raise LimitReachedError(
                f"{line}: {self.limits.still} statements without a tick; a loop that moves nothing?"
            )
        if state.statements > self.limits.statements:
            raise LimitReachedError(f"{self.where(op.statement)}: the limit of {self.limits.statements} statements")
        if len(self.record.events) > self.limits.events:
            raise LimitReachedError(f"{self.where(op.statement)}: the limit of {self.limits.events} events")
        if op.begins:
            thread.begun = thread.pc
            self.record.event(state.tick, "start", self.code.lines[thread.pc], thread.number, op.statement)
        if op.action == "do":
            try:
                perform(self, thread, op)
            except UnreachableError as error:
                self.fail(str(error), op.statement, hint=error.hint, code=error.code)
            except ProgramError:
                raise
            except AdjointError as error:
                self.fail(str(error), op.statement, code="world")
        else:
            do_flow(self, thread, op)

    def finish(self, status: str, message: str, brakes: bool = True) -> None:
        """The program ends, and all arms come to rest, unless nothing more can be asked of the back end."""
        state = self.state
        if brakes:
            try:
                self.rest()
            except AdjointError as error:
                status, message = "failed", f"{message}; and the arms cannot brake: {error}".removeprefix("; and ")
        state.motions = {}
        state.status, state.message = status, message
        state.threads = []
        self.record.event(state.tick, status, 0, 0, None, {"message": message} if message else {})

    def rest(self) -> None:
        """All arms brake, and all fingers stop where they then are."""
        state = self.state
        for key in [k for k, m in state.motions.items() if isinstance(m, ArmMotion)]:
            state.motions[key] = braking(self, key)
        while ticks := max([len(m.q) for m in state.motions.values() if isinstance(m, ArmMotion)], default=0):
            ahead = self._ahead(min(ticks, self.backend.lookahead), False)
            self._commit(ahead, min(ticks, ahead.ticks))
        state.motions = {}

    # --- time ---------------------------------------------------------------------------------------------------------

    def _pass_time(self, until: int | None) -> None:
        """Ticks pass up to the first event, and then it happens."""
        state = self.state
        conditions = conditions_of(self)
        ends = [b.until - state.tick for t in state.threads if (b := t.busy) is not None and b.kind == "delay"]
        ends += [len(m.q) for m in state.motions.values() if isinstance(m, ArmMotion)]
        ends += [b.marks[0][0] - state.tick for t in state.threads if (b := t.busy) is not None and b.marks]
        if not conditions and not ends and not state.motions:
            raise self._deadlock()
        ticks = min([*ends, self.backend.lookahead, _FARTHEST if ends else self.patience])
        if until is not None:
            ticks = min(ticks, until - state.tick)
        ticks = min(max(ticks, 1), self.limits.ticks - state.tick)
        if ticks <= 0:
            busy = next((t for t in state.threads if t.begun >= 0), None)
            where = "" if busy is None else f"{self.where(self.code.operations[busy.begun].statement)}: "
            raise LimitReachedError(f"{where}the limit of {self.limits.ticks} ticks")
        ahead = self._ahead(ticks, any(c.op.felt and self._unscripted(c.op) for c in conditions))
        ticks = min(ticks, ahead.ticks)
        held = [first_held(self, c, ahead) for c in conditions]
        first = min([k for k, _ in held if k], default=ticks)
        first = min([first, ticks, *ahead.ended.values(), *(k for k in ends if k > 0)])
        if not state.motions and first == ticks and not any(k == first for k, _ in held):
            self.patience = min(2 * self.patience, _FARTHEST)
        else:
            self.patience = _PATIENCE
        self._commit(ahead, first)
        for condition, (k, values) in zip(conditions, held, strict=True):
            condition.settle(self, k == first, bool(values[first - 1]))
        self._go_on()

    def _ahead(self, ticks: int, felt: bool) -> Ahead:
        return self.backend.ahead(self.state.true_world, self.state.inner, self.state.motions, ticks, felt)

    def _unscripted(self, op: Operation) -> bool:
        """Whether a statement reads forces that no input gives: those the back end has to find."""
        if op.statement not in self.felt:
            names = [f"{x.kind} {x.axis}" for x in expressions_in(op.statement) if isinstance(x, Reading) and x.axis]
            given, robots = self.inputs.given, self.state.world.robots
            scripted = [name in given or all(f"{robot} {name}" in given for robot in robots) for name in names]
            self.felt[op.statement] = not all(scripted) or not names
        return self.felt[op.statement]

    def next_tick(self, felt: bool) -> Ahead:
        """What sensors would say at the next tick, if the program now reads them."""
        return self._ahead(1, felt)

    def _commit(self, ahead: Ahead, ticks: int) -> None:
        state = self.state
        before, line = state.world, self.line_now()
        was = state.true_world
        now, state.inner = self.backend.commit(was, state.inner, ahead, ticks)
        if state.actual is None:
            state.world = now
        else:
            state.world, state.actual = believed_after(before, was, now), now
        self.record.ticks(state, ahead, ticks, line)
        state.tick += ticks
        state.still = 0
        for key, motion in list(state.motions.items()):
            if isinstance(motion, ArmMotion):
                left = motion.q[ticks:] if len(motion.q) > ticks else motion.q[-1:]
                v = motion.v[ticks:] if len(motion.q) > ticks else motion.v[-1:]
                state.motions[key] = ArmMotion(motion.robot, left, v, motion.compliance)
            if ahead.ended.get(key, ticks + 1) <= ticks:
                del state.motions[key]
        self.record.world(state.tick, before, state.world, line)

    def _go_on(self) -> None:
        """Threads whose motions have ended, or whose delays are over, go on."""
        state = self.state
        for thread in list(state.threads):
            busy = thread.busy
            if busy is None:
                continue
            if busy.kind in ("move", "hand", "brake") and busy.key not in state.motions:
                self.motion_over(thread, busy)
            elif busy.kind == "task" and busy.key not in state.motions:
                next_step(self, thread)
            elif busy.kind == "delay" and busy.until <= state.tick:
                self.done(thread)
            elif busy.kind == "move":
                while busy.marks and busy.marks[0][0] <= state.tick:
                    self._pass_mark(thread, busy)
        for thread in list(state.threads):
            react(self, thread)

    def _pass_mark(self, thread: Thread, busy: Busy) -> None:
        _, pc = busy.marks.pop(0)
        self._trace_end(thread)
        thread.pc = thread.begun = pc
        self.record.event(
            self.state.tick, "start", self.code.lines[pc], thread.number, self.code.operations[pc].statement
        )

    def motion_over(self, thread: Thread, busy: Busy) -> None:
        """The motion that a thread has waited for has ended."""
        if busy.kind == "brake":
            body, back = busy.then, busy.back
            thread.busy = None
            if body >= 0:
                self.enter_body(thread, body, back)
            else:
                self.done(thread, back)
            return
        if any(child.number in busy.children for child in self.state.threads):
            busy.kind = "join"
            return
        while busy.marks:
            self._pass_mark(thread, busy)
        if busy.kind == "hand":
            thread.busy = None
            perform(self, thread, self.code.operations[thread.pc], after=True)
            return
        self.done(thread)

    def done(self, thread: Thread, pc: int | None = None) -> None:
        """The statement of a thread has ended."""
        thread.busy = None
        self._trace_end(thread)
        thread.pc = thread.pc + 1 if pc is None else pc

    def _trace_end(self, thread: Thread) -> None:
        if thread.begun >= 0:
            op = self.code.operations[thread.begun]
            where = self.record.places(self.state) if isinstance(op.statement, Move | MoveJoints) else {}
            line = self.code.lines[thread.begun]
            self.record.event(self.state.tick, "end", line, thread.number, op.statement, where)
            thread.begun = -1

    def enter_body(self, thread: Thread, body: int, back: int, kept: Busy | None = None) -> None:
        """The body of a guard or a watch runs before a thread goes on at `back`."""
        self.push(thread, Entry("body", back, kept=kept))
        thread.pc, thread.busy = body, None

    def push(self, thread: Thread, entry: Entry) -> None:
        """A thread begins something from which it comes back."""
        if len(thread.stack) >= self.limits.depth:
            statement = self.code.operations[thread.pc].statement
            raise LimitReachedError(
                f"{self.where(statement)}: {self.limits.depth} procedures have begun and not returned; no end?"
            )
        thread.stack.append(entry)

    def spawn(self, pc: int, parent: Thread) -> int:
        """A new thread begins."""
        self.state.spawned += 1
        self.state.threads.append(Thread(self.state.spawned, pc, parent.number))
        return self.state.spawned

    # --- helpers ------------------------------------------------------------------------------------------------------

    def thread(self, number: int) -> Thread | None:
        """The thread of this number, if it has not ended."""
        return next((t for t in self.state.threads if t.number == number), None)

    def evaluated(self, expression: Expression, scope: RunningScope, statement: Statement) -> Any:
        """The value of an expression of a statement; errors know the text of the program."""
        try:
            return evaluate(expression, scope)
        except ProgramError as error:
            found = [d if d.span != NOWHERE else replace(d, span=statement.at) for d in error.diagnostics]
            raise ProgramError(found, self.code.program.source) from None

    def asked(self, thread: Thread, expression: Expression) -> Any:
        """The value of an expression now; what sensors said is in the trace."""
        log: dict[str, Any] = {}
        statement = self.code.operations[thread.pc].statement
        found = self.evaluated(expression, RunningScope(self, thread, None, log), statement)
        if log:
            self.record.event(self.state.tick, "read", self.code.lines[thread.pc], thread.number, None, log)
        return found

    def fail(
        self, message: str, statement: Statement, at: Span = NOWHERE, hint: str = "", code: str = "run"
    ) -> NoReturn:
        """Raise the error that ends the run."""
        span = at if at != NOWHERE else statement.at
        raise ProgramError(Diagnostic(message, span, hint=hint, code=code), self.code.program.source)

    def where(self, statement: Statement) -> str:
        """The place of a statement in words."""
        line = self.code.program.line_of(statement.at)
        return f"line {line}" if line else type(statement).__name__

    def line_now(self) -> int:
        """The line of the statement that is under way: of parallel branches that of the first, not their COBEGIN."""
        parents = {thread.parent for thread in self.state.threads}
        for thread in sorted(self.state.threads, key=lambda thread: thread.number in parents):
            if thread.begun >= 0:
                return self.code.lines[thread.begun]
        return 0

    def _deadlock(self) -> ProgramError:
        waiting = []
        for thread in self.state.threads:
            busy = thread.busy
            if busy is not None and busy.kind == "event":
                statement = self.code.operations[thread.pc].statement
                waiting.append((f"{self.where(statement)} waits for the event {busy.key}", statement.at))
        text = "; ".join(words for words, _ in waiting)
        at = waiting[0][1] if waiting else NOWHERE
        return ProgramError(
            Diagnostic(f"deadlock: {text}, which nobody signals", at, code="deadlock"), self.code.program.source
        )
