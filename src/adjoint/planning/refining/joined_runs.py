"""`joined_run`: all motions of a task as one run of a program, whose text is the story."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import ArgumentError
from ...program.instructions import Program, Source
from ...program.running.program_runs import ProgramRun
from .executing import TaskEvent, TaskRun

__all__ = ["joined_run"]


def joined_run(run: TaskRun) -> ProgramRun:
    """The motions of a task, one after the other, as one `ProgramRun`, for plots and pages.

        joined_run(execute_task(world, plan)).q["arm"]                      # (N, nq) at the ticks of all actions

    Its text has a line for each event of the task, and `line` tells which one is under way at each tick. The first tick
    of each action is the state at its beginning: there `tau`, the torques in dynamics, is NaN, and `t` counts it, too.
    """
    if not isinstance(run, TaskRun):
        inside = "; its .run is one" if isinstance(getattr(run, "run", None), TaskRun) else ""
        raise ArgumentError(f"joined_run: the run must be a TaskRun of execute_task, got {type(run).__name__}{inside}")
    if not run.runs:
        raise ArgumentError(f"joined_run: nothing was run: {run.reason or 'the goal was true from the start'}")
    first, sizes = run.runs[0], [len(each) for each in run.runs]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    lines = [k + 1 for k, event in enumerate(run.events) if event.what == "run"]
    program = Program((), name="task", source=Source("\n".join(map(_line, run.events)), "the task"))
    worlds = [
        (int(start) + tick - each.worlds[0][0], world)
        for start, each in zip(starts, run.runs, strict=True)
        for tick, world in each.worlds
    ]
    return replace(
        first, program=program, status="done" if run.reached else "failed", message=run.reason, world=run.world,
        t=first.period * np.arange(sum(sizes)), line=np.repeat(lines, sizes), trace=(), printed=(), signals=(),
        worlds=tuple(worlds), variables={}, error=None if run.reached else run.runs[-1].error, actual=run.actual,
        **{name: {r: np.concatenate([getattr(each, name)[r] for each in run.runs]) for r in first.robots}
           for name in ("q", "width", "wrench", "tau")},
    )  # fmt: skip


def _line(event: TaskEvent) -> str:
    cause = f"  {event.diagnosis.cause}" if event.diagnosis is not None else ""
    return f"{event.action or event.what}{cause}"
