"""`animate`: several runs in one picture, such as those of different laws."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..errors import ArgumentError
from .run_animations import animate_runs
from .runs import Run

__all__ = ["animate"]


def animate(runs: Mapping[str, Run], path: str | os.PathLike[str], *, frames_per_second: float = 25.0) -> Path:
    """Draw several runs over each other, {name: run}, each in a colour of its own, into a .html page or a .gif file.

        run = aj.simulate(robot, law, q=q, duration=1.0, dt=0.001, record=10)
        animate({"with the law": run, "without": aj.simulate(robot, q=q, duration=1.0, dt=0.001)}, "both.html")

    Runs may differ in their laws, in their robots and in their times. The rest is as in `Run.animate`.
    """
    if not isinstance(runs, Mapping) or not runs:
        raise ArgumentError(f"animate: runs must be a dictionary of runs, {{name: run}}; got {type(runs).__name__}")
    for name, run in runs.items():
        if not isinstance(run, Run) or not isinstance(name, str):
            raise ArgumentError(f"animate: runs[{name!r:.60}] must be a Run with a name; got {type(run).__name__}")
    return animate_runs(runs, path, frames_per_second, "animate")
