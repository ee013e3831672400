"""Animations of runs; GIF files need matplotlib, the extra `[plot]`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..drawing.actors import frame_times, thinned
from ..drawing.films import film
from ..drawing.pages import page_text
from ..files import whole_file
from ..model.input_checks import positive
from .run_actors import actor_of_run, run_curves
from .run_files import run_path

if TYPE_CHECKING:
    from .runs import Run

__all__ = ["animate_runs"]

_MOST_DRAWN = 50  # runs of a batch that an animation draws


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
