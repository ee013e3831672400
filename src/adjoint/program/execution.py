"""`run` runs a program in a world, `Session` runs it step by step, and `replay` compares a run with its trace."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..errors import ArgumentError
from ..world.state import World
from .instructions.diagnostics import ProgramError
from .instructions.programs import Program
from .meaning.checker import check as findings
from .running.backends import Backend
from .running.dynamic import DynamicBackend
from .running.kinematic import KinematicBackend
from .running.looking import Images
from .running.machine import RunLimits
from .running.program_runs import ProgramRun
from .running.readings import Input
from .running.sessions import BasicSession
from .running.traces import ProgramTrace, first_difference, read_trace, trace_lines, trace_of
from .tasks.task_planning import task_steps

__all__ = ["Replay", "Session", "replay", "run"]


class Session(BasicSession):
    """A program that runs under control: step by step, to breakpoints, from checkpoints.

        >>> from adjoint.program.instructions import Assign, Delay, Literal, Name, Program, Quantity
        >>> program = Program((Assign(Name("n"), Literal(1.0)), Delay(Quantity(0.5, "s"))))
        >>> session = Session(program, aj.world.World())
        >>> run = session.step()
        >>> session.variables, session.time
        ({'n': 1.0}, 0.0)
        >>> session.go_on().status
        'done'

    - The arguments are those of `run`; `breakpoints` are lines before which `go_on` stops. They can be changed.
    - `step` runs up to the next statement, `go_on` up to a breakpoint, a pause, a time or the end. Both return the
      `ProgramRun` so far, as `result` does.
    - `status`, `statement`, `line`, `time`, `variables` and `world` tell where it stands.
    - `checkpoint` keeps everything, `restore` goes on from there, also in an edited program; `jump` goes on elsewhere.
    """

    backends: Mapping[str, Callable[[], Backend]] = {"kinematic": KinematicBackend, "dynamic": DynamicBackend}
    refine = staticmethod(task_steps)

    def __init__(self, program: Program, world: World, *, check: bool = True, **options: Any):
        if check and isinstance(program, Program) and isinstance(world, World):
            _checked(program, world, options.get("arms"))
        super().__init__(program, world, **options)


def _checked(program: Program, world: World, arms: Mapping[str, str] | None) -> None:
    wrong = [d for d in findings(program, world, arms=arms) if d.severity == "error"]
    if wrong:
        raise ProgramError(wrong, program.source)


def run(
    program: Program, world: World, *, backend: str | Backend = "kinematic", period: float = 0.01,
    arms: Mapping[str, str] | None = None, inputs: Mapping[str, Input] | None = None,
    noise: Mapping[str, float] | None = None, limit: int | RunLimits | None = None, check: bool = True, rng: int = 0,
    actual: World | None = None, images: Images | None = None,
) -> ProgramRun:  # fmt: skip
    """Run a program in a world up to its end, and return what it did: a `ProgramRun`.

        >>> from adjoint.program.instructions import Move, Name, Print, Literal, Program
        >>> w = aj.world.World().add_robot("arm", robot, q=[0.3, -0.8, 2.0, 0.3, 0.7, 0.0])
        >>> w = w.add("goal", at=w.pose("arm.tool"))
        >>> w = w.move("goal", w.pose("goal")[:3, 3] + [0, 0, -0.1]).set_configuration("arm", [0, -0.8, 2, 0, 0.7, 0])
        >>> done = run(Program((Move("arm", Name("goal")), Print((Literal("there"),)))), w)
        >>> done.status, done.printed
        ('done', ('there',))

    - `backend` is "kinematic" (arms are where their motions say), "dynamic" (masses, controllers, contact), or a back
      end of your own; `period` [s] is the time between two ticks.
    - `arms` {name in the program: robot of the world}. With one robot, AL's barm and bhand mean it without that.
    - `inputs` {"signal 3", "force z", or the name of a sensor: number, array with a value for each tick, or function of
      the time}; `noise` {the same names: standard deviation} is the same in every run with the same `rng`.
    - `actual` is the world as it is, if the program has a wrong one: cameras see it, hands close on what is there, and
      `world` is what the program believes. `images` {camera: function of the world that the program has} give images
      of real cameras, or `CameraShot`s; other cameras see the simulated world (Locate).
    - `limit` is a number of ticks, or `RunLimits`. With `check`, a program with errors raises a `ProgramError` before
      anything moves; what goes wrong later ends the run with the status "failed".

    Time passes only in ticks, in moves, hands, delays and waits; all other statements take none. Reference: Fu,
    Gonzalez & Lee (1987), Chap. 9.
    """
    return Session(
        program, world, check=check, backend=backend, period=period, arms=arms, inputs=inputs, noise=noise,
        limit=limit, rng=rng, actual=actual, images=images,
    ).go_on()  # fmt: skip


class Replay(NamedTuple):
    """What `replay` found: whether all events are `equal`, the first `difference` in words, and the new `run`."""

    equal: bool
    difference: str
    run: ProgramRun


def replay(
    trace: ProgramRun | ProgramTrace | str | os.PathLike, program: Program, world: World, *,
    backend: str | Backend | None = None, inputs: Mapping[str, Input] | None = None,
    limit: int | RunLimits | None = None, actual: World | None = None, images: Images | None = None,
) -> Replay:  # fmt: skip
    """Run a program again as a trace tells, with the same inputs, and compare all events to the last bit.

        >>> from adjoint.program.instructions import Delay, Program, Quantity
        >>> program = Program((Delay(Quantity(0.5, "s")),))
        >>> replay(run(program, aj.world.World()), program, aj.world.World()).equal
        True

    `trace` is a run, a trace, or the path of a file that `write_trace` wrote. The program may be an edited one: the
    first difference then tells from which event on it does something else. `actual` and `images` are those of `run`.
    """
    if isinstance(trace, ProgramRun):
        trace = trace_of(trace_lines(trace))
    elif not isinstance(trace, ProgramTrace):
        trace = read_trace(trace)
    options = trace.options
    kept = {k: options[k] for k in ("period", "arms", "rng", "noise") if k in options}
    if len(kept) < 4:
        raise ArgumentError("replay: the trace does not tell how the program was run")
    again = run(
        program, world, backend=options["backend"] if backend is None else backend, check=False, limit=limit,
        inputs={**trace.inputs, **(inputs or {})}, actual=actual, images=images, **kept,
    )  # fmt: skip
    difference = first_difference(trace.events, again.trace)
    if not difference and options.get("world") not in (None, world.fingerprint):
        difference = "the world at the start is another one"
    return Replay(not difference, difference, again)
