"""Sessions: a program that runs step by step, with breakpoints, and goes on from checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ...errors import ArgumentError, nearest
from ...model.input_checks import positive
from ...world.state import World
from ..instructions.programs import Program
from ..instructions.statements import Statement
from .arms import checked_arms
from .backends import Backend
from .flat_code import FlatCode, flattened
from .kinematic import KinematicBackend
from .machine import Machine, RunLimits
from .machine_state import MachineState, Thread
from .program_runs import ProgramRun, run_of
from .readings import Input, Inputs
from .recording import Recording
from .statement_effects import Refine

__all__: list[str] = []


def backend_of(backend: str | Backend, known: Mapping[str, Callable[[], Backend]]) -> Backend:
    """A back end, given itself or by its name."""
    if not isinstance(backend, str):
        return backend
    if backend not in known:
        raise ArgumentError(f"run: the back end {backend!r} is not known{nearest(backend, list(known))}")
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


class BasicSession:
    """A program that runs under control; `Session` adds the planner of tasks and the check before the start."""

    backends: Mapping[str, Callable[[], Backend]] = {"kinematic": KinematicBackend}
    refine: Refine | None = None

    def __init__(
        self, program: Program, world: World, *, backend: str | Backend = "kinematic", period: float = 0.01,
        arms: Mapping[str, str] | None = None, inputs: Mapping[str, Input] | None = None,
        noise: Mapping[str, float] | None = None, limit: int | RunLimits | None = None, rng: int = 0,
        breakpoints: Iterable[int] = (),
    ):  # fmt: skip
        if not isinstance(program, Program) or not isinstance(world, World):
            what = "a Program (parse a text first)" if not isinstance(program, Program) else "a World"
            got = program if not isinstance(program, Program) else world
            raise ArgumentError(f"a run needs {what}, got {type(got).__name__}")
        period = positive(period, "run: period [s]")
        place = backend_of(backend, self.backends)
        state = MachineState(world, threads=[Thread(0, 0)], inner=place.start(world, period))
        self._start(
            flattened(program), state, place, period, checked_arms(world, arms, "run"),
            Inputs(inputs, period, rng, noise), limits_of(limit), rng,
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
        return {k: x for k, x in found.items() if not k.startswith("#")}

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

    def step(self) -> ProgramRun:
        """Run up to the beginning of the next statement of any thread, and return what has happened so far."""
        self._resume()
        begun = self._machine.state.statements
        operations = self._machine.code.operations

        def stops(thread: Thread) -> bool:
            return self._machine.state.statements > begun and operations[thread.pc].begins

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

    def _resume(self) -> None:
        if self._machine.state.status == "paused":
            self._machine.state.status = ""
