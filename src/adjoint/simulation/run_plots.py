"""Pictures of runs: plots over time and animations; all but the pages need matplotlib, the extra `[plot]`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..control.references import Target
from ..drawing.actors import frame_times, thinned
from ..drawing.films import film
from ..drawing.pages import page_text
from ..dynamics.regressors import coordinate_names, dof_names
from ..extras import package
from ..files import whole_file
from ..model.input_checks import positive
from ..trajectory.draw import saved_figure
from .run_actors import actor_of_run, run_curves
from .run_files import run_path

if TYPE_CHECKING:
    from .runs import Run

__all__ = ["animate_runs", "draw_run"]

_MOST_DRAWN = 50  # runs of a batch that an animation draws


def draw_run(run: Run, path) -> Path:
    """Draws a run into a file; see `Run.plot`."""
    target = Path(path)
    rows: list[tuple[np.ndarray, str, tuple[str, ...]]] = [
        (run.q, "position [rad or m]", coordinate_names(run.robot)),
        (run.v, "velocity [rad/s or m/s]", dof_names(run.robot)),
        (run.tau, "joint force [N m or N]", dof_names(run.robot)),
    ]
    follows = run.setup.law is not None and isinstance(run.reference, Target)
    if follows:
        rows.append((run.error, "error [rad or m]", dof_names(run.robot)))
    figure = package("matplotlib.figure", "plot", "Run.plot").Figure(figsize=(8, 2.6 * len(rows)), layout="constrained")
    for axes, (values, label, names) in zip(figure.subplots(len(rows), 1, sharex=True), rows, strict=True):
        _curves(axes, run, values, names)
        axes.set_ylabel(label)
        axes.margins(x=0)
    if follows and run.robot.nq == run.robot.nv:
        goal = np.broadcast_to(run.reference.q if run.reference.q.ndim > 1 else run.reference.q[None], run.q.shape)
        one = goal.reshape(-1, *goal.shape[-2:])[0]
        for line, column in zip(figure.axes[0].lines, one.T, strict=False):
            figure.axes[0].plot(run.t, column, ":", color=line.get_color(), lw=1)
    return saved_figure(figure, repr(run).strip("<>"), target)


def _curves(axes, run: Run, values: np.ndarray, names: tuple[str, ...]) -> None:
    """One line for each joint; of a batch, the median with a band from the lowest to the highest."""
    every = np.broadcast_to(values, (*run.batch, *values.shape[-2:])).reshape(-1, *values.shape[-2:])
    middle = every[0] if len(every) == 1 else np.nanmedian(every, axis=0)
    lines = axes.plot(run.t, middle, label=names)
    if len(every) > 1:
        low, high = np.nanmin(every, axis=0), np.nanmax(every, axis=0)
        for line, bottom, top in zip(lines, low.T, high.T, strict=True):
            axes.fill_between(run.t, bottom, top, color=line.get_color(), alpha=0.2, lw=0)


# --- the moving robot -------------------------------------------------------------------------------------------------


def animate_runs(runs: Mapping[str, Run], path, frames_per_second: float, caller: str) -> Path:
    """Draws moving robots into a file; see `Run.animate` and `animate`."""
    target = run_path(path, caller, ".gif", ".html")
    rate = positive(frames_per_second, f"{caller}: frames_per_second")
    title = ", ".join(dict.fromkeys(run.robot.name for run in runs.values()))
    draw = _page if target.suffix.lower() == ".html" else _film
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as unfinished:
        draw(runs, title, rate, unfinished, caller)
    return target


def _page(runs: Mapping[str, Run], title: str, rate: float, path: Path, caller: str) -> None:
    actors = []
    for name, run in runs.items():
        times = thinned(run.t, rate, caller)
        actor = actor_of_run(run, name, times, caller, most=_MOST_DRAWN)
        actors.append(actor._replace(curves=run_curves(run, times, forces=False)))
    path.write_text(page_text(title, actors), encoding="utf-8")


def _film(runs: Mapping[str, Run], title: str, rate: float, path: Path, caller: str) -> None:
    start, end = min(run.t[0] for run in runs.values()), max(run.t[-1] for run in runs.values())
    times = frame_times(float(start), float(end), rate, caller)
    actors = [actor_of_run(run, name, times, caller, most=_MOST_DRAWN) for name, run in runs.items()]
    first, *others = film(title, actors, caller)
    first.save(path, format="GIF", save_all=True, append_images=others, duration=1000 / rate, loop=0)
