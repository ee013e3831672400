"""Sessions: a program that runs step by step, with breakpoints, and goes on from checkpoints."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import numpy as np

from ...errors import ArgumentError, nearest
from ...model.input_checks import positive
from ...world.state import World
from ..instructions.programs import Program
from ..instructions.statements import Procedure, Statement
from .arms import checked_arms
from .backends import Backend
from .beliefs import true_start
from .checkpoints import Checkpoint, check_state, checkpoint_of, damaged, moved_to, state_of
from .flat_code import FlatCode, flattened
from .kinematic import KinematicBackend
from .looking import Images
from .machine import Machine, RunLimits
from .machine_state import Entry, MachineState, Thread
from .program_runs import ProgramRun, run_of
from .readings import Input, Inputs
from .recording import Recording
from .task_effects import Refine
from .traces import plain

__all__: list[str] = []

_OPTIONS = {"backend", "period", "arms", "rng", "noise", "inputs", "limits"}


_OF_A_BACKEND = "start", "ahead", "commit", "brake"


def backend_of(backend: str | Backend, known: Mapping[str, Callable[[], Backend]]) -> Backend:
    """A back end, given itself or by its name."""
    if not isinstance(backend, str):
        if isinstance(backend, type):
            raise ArgumentError(f"run: the back end is a class; {backend.__name__}() makes one")
        if missing := [name for name in _OF_A_BACKEND if not callable(getattr(backend, name, None))]:
            names = " or ".join(map(repr, known))
            raise ArgumentError(f"run: the back end must be {names}, or have '{missing[0]}'; got {backend!r:.60}")
        return backend
    if backend not in known:
        raise ArgumentError(f"run: the back end {backend!r} is not known; {nearest(backend, list(known))}")
    return known[backend]()


def limits_of(limit: int | RunLimits | None) -> RunLimits:
    """The limits of a run: all of them, or a number of ticks."""
    if limit is None:
        return RunLimits()
    if isinstance(limit, RunLimits):
        return limit
    if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or limit < 1:
        raise ArgumentError(f"run: 'limit' must be a number of ticks or RunLimits, got {limit!r:.60}")
    return RunLimits(ticks=int(limit))


def _left_stack(code: FlatCode, thread: Thread, pc: int) -> list[Entry] | None:
    """What a thread goes back to if it jumps to a place: None if it is not inside of what the place is in."""
    ends = [
        k for k, op in enumerate(code.operations)
        if op.action in ("end", "resume") or (op.action == "return" and isinstance(op.statement, Procedure))
    ]  # fmt: skip
    target = bisect_left(ends, pc)
    if target == 0:
        return []
    here = thread.pc
    for k in range(len(thread.stack), -1, -1):
        if bisect_left(ends, here) == target:
            return thread.stack[:k]
        if k:
            here = thread.stack[k - 1].back
    return None


class BasicSession:
    """A program that runs under control; `Session` adds the planner of tasks and the check before the start."""

    backends: Mapping[str, Callable[[], Backend]] = {"kinematic": KinematicBackend}
    refine: Refine | None = None

    def __init__(
        self, program: Program, world: World, *, backend: str | Backend = "kinematic", period: float = 0.01,
        arms: Mapping[str, str] | None = None, inputs: Mapping[str, Input] | None = None,
        noise: Mapping[str, float] | None = None, limit: int | RunLimits | None = None, rng: int = 0,
        breakpoints: Iterable[int] = (), actual: World | None = None, images: Images | None = None,
    ):  # fmt: skip
        if not isinstance(program, Program) or not isinstance(world, World):
            what = "a World"
            if not isinstance(program, Program):
                what = "a Program (parse a text, or take program() of a task)"
            got = program if not isinstance(program, Program) else world
            raise ArgumentError(f"a run needs {what}, got {type(got).__name__}")
        period = positive(period, "run: period [s]")
        place = backend_of(backend, self.backends)
        true = true_start(world, actual, "run")
        inner = place.start(world if true is None else true, period)
        state = MachineState(world, threads=[Thread(0, 0)], inner=inner, actual=true)
        self._start(
            flattened(program), state, place, period, checked_arms(world, arms, "run"),
            Inputs(inputs, period, rng, noise, images), limits_of(limit), rng,
        )  # fmt: skip
        self.breakpoints: set[int] = set(breakpoints)
        """lines before which `go_on` stops"""

    def _start(self, code: FlatCode, state, backend, period, arms, inputs, limits, rng) -> None:
        record = Recording(state.world, period, state.tick)
        self._machine = Machine(
            code, state, backend, period, arms, inputs, limits, type(self).refine, rng, record
        )  # fmt: skip
        self._asked_to_pause = False

    # --- what there is ------------------------------------------------------------------------------------------------

    @property
    def program(self) -> Program:
        """The program."""
        return self._machine.code.program

    @property
    def world(self) -> World:
        """The world now."""
        return self._machine.state.world

    @property
    def actual(self) -> World | None:
        """The world as it is now, if the run has one that differs from what the program has."""
        return self._machine.state.actual

    @property
    def time(self) -> float:
        """The time now [s]."""
        return self._machine.state.tick * self._machine.period

    @property
    def variables(self) -> dict[str, Any]:
        """The values of all variables of the program, and of procedures that have begun."""
        state = self._machine.state
        found = dict(state.variables)
        for thread in state.threads:
            for entry in thread.stack:
                found.update(entry.own or {})
        return {k: x for k, x in found.items() if not k.startswith("# ")}

    @property
    def status(self) -> str:
        """The status of the run so far: "running" (it can go on), or one of `ProgramRun`."""
        return self._machine.state.status or "running"

    @property
    def statement(self) -> Statement | None:
        """The statement that comes next, or is under way, in the first thread; None if the program has ended."""
        threads = self._machine.state.threads
        return self._machine.code.operations[threads[0].pc].statement if threads else None

    @property
    def line(self) -> int:
        """The line of this statement, or 0."""
        threads = self._machine.state.threads
        return self._machine.code.lines[threads[0].pc] if threads else 0

    @property
    def result(self) -> ProgramRun:
        """What has happened so far."""
        machine = self._machine
        options = {
            "backend": machine.backend.name, "period": machine.period, "arms": dict(machine.arms), "rng": machine.rng,
            "noise": dict(machine.inputs.noise), "inputs": machine.inputs.given,
        }  # fmt: skip
        return run_of(machine, machine.record, options)

    # --- going on -----------------------------------------------------------------------------------------------------

    def step(self, over: bool = False) -> ProgramRun:
        """Run up to the beginning of the next statement of any thread, and return what has happened so far.

        With `over`, statements of procedures, subroutines and bodies that the first thread now begins, and those of
        other threads, are done without a stop, unless a breakpoint is there.
        """
        self._resume()
        state, code = self._machine.state, self._machine.code
        begun, first = state.statements, state.threads[0] if state.threads else None
        depth = 0 if first is None else len(first.stack)

        def stops(thread: Thread) -> bool:
            if state.statements == begun or not code.operations[thread.pc].begins:
                return False
            return not over or (thread is first and len(thread.stack) <= depth) or (
                code.lines[thread.pc] in self.breakpoints
            )  # fmt: skip

        self._machine.advance(stops)
        return self.result

    def go_on(self, until: float | None = None) -> ProgramRun:
        """Run up to a breakpoint, a pause, the time `until` [s], or the end; return what has happened so far."""
        self._resume()
        machine, first = self._machine, self._machine.state.statements
        self._asked_to_pause = False

        def stops(thread: Thread) -> bool:
            if self._asked_to_pause:
                return True
            if not self.breakpoints or machine.state.statements == first:
                return False
            return machine.code.operations[thread.pc].begins and machine.code.lines[thread.pc] in self.breakpoints

        tick = None if until is None else round(until / machine.period)
        machine.advance(stops, tick)
        return self.result

    def pause(self) -> None:
        """Let `go_on`, which runs in another thread of Python, stop before the next statement."""
        self._asked_to_pause = True

    # --- checkpoints --------------------------------------------------------------------------------------------------

    def checkpoint(self) -> Checkpoint:
        """Everything that decides how the program goes on, as frozen data and JSON; see `restore`."""
        machine = self._machine
        given = {k: plain(x) for k, x in machine.inputs.given.items() if not callable(x)}
        options = {
            "backend": machine.backend.name, "period": machine.period, "arms": dict(machine.arms), "rng": machine.rng,
            "noise": dict(machine.inputs.noise), "inputs": given, "limits": list(machine.limits),
        }  # fmt: skip
        return checkpoint_of(machine.state, self.program, options)

    @classmethod
    def restore(
        cls, checkpoint: Checkpoint, program: Program | None = None, *, backend: str | Backend | None = None,
        inputs: Mapping[str, Input] | None = None, limit: int | RunLimits | None = None, images: Images | None = None,
    ) -> Self:  # fmt: skip
        """A session that goes on where a checkpoint was made, in the same program or in an edited one.

        In an edited program, statements that were there before keep their meaning, so that the program goes on after
        the last one that was done. A `ProgramError` says if a statement that is under way is gone. Inputs that are
        functions are not in a checkpoint, and neither are `images`: give them again. A back end of your own has to be
        given again, too.
        """
        if not isinstance(checkpoint, Checkpoint):
            raise ArgumentError(f"restore needs a Checkpoint, got {type(checkpoint).__name__}")
        data = checkpoint.data
        options = data.get("options")
        if not isinstance(options, dict) or not options.keys() >= _OPTIONS:
            raise damaged("it does not tell how the program was run")
        place = backend_of(options["backend"] if backend is None else backend, cls.backends)
        state, code = state_of(data, place), flattened(checkpoint.program)
        check_state(state, code)
        if program is not None:
            edited = flattened(program)
            moved_to(state, code, edited)
            code = edited
        try:
            kept = {k: np.asarray(x, float) for k, x in options["inputs"].items()}
            period, rng = float(options["period"]), int(options["rng"])
            given = Inputs({**kept, **(inputs or {})}, period, rng, options["noise"], images)
            limits = RunLimits(*map(int, options["limits"])) if limit is None else limits_of(limit)
            arms = checked_arms(state.world, options["arms"], "restore")
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise damaged(f"{type(error).__name__} {error}") from None
        found = object.__new__(cls)
        found._start(code, state, place, period, arms, given, limits, rng)
        found.breakpoints = set()
        return found

    def jump(self, to: int | Statement) -> None:
        """Let the program go on at a statement, or at the first statement of a line; arms that move brake before.

        Variables and the world stay. Only the first thread goes on. The statement must be in the main program, or in a
        procedure, a branch or a body that the thread is in; procedures inside of which it is not are left.
        """
        code, state = self._machine.code, self._machine.state
        found = [
            k for k, op in enumerate(code.operations)
            if op.begins and (code.lines[k] == to if isinstance(to, int) else op.statement is to or op.statement == to)
        ]  # fmt: skip
        if not found:
            raise ArgumentError(
                f"Session.jump: no statement {'begins on line ' if isinstance(to, int) else ''}{to!r:.60}"
            )
        first = state.threads[0] if state.threads else Thread(0, 0)
        stack = _left_stack(code, first, found[0])
        if stack is None:
            raise ArgumentError(
                "Session.jump: this statement is in a procedure, a branch or a body that has not begun; jump to the "
                "statement that begins it"
            )
        self._machine.rest()
        first.stack, first.pc, first.busy, first.begun, first.pending = stack, found[0], None, -1, []
        state.threads, state.status, state.message, state.still = [first], "", "", 0
        self._machine.steps.clear()
        self._machine.error = None

    def _resume(self) -> None:
        if self._machine.state.status == "paused":
            self._machine.state.status = ""
