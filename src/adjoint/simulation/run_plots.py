"""Animations of runs; GIF files need matplotlib, the extra `[plot]`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError
from ..extras import package
from ..files import whole_file
from ..model.input_checks import positive
from .run_files import run_path
from .run_pages import COLOURS, run_page
from .run_scenes import Scene, Stage, scene_of, stage_of

if TYPE_CHECKING:
    from .runs import Run

__all__ = ["animate_runs"]

_MOST_PICTURES = 100_000  # of an animation


def animate_runs(runs: Mapping[str, Run], path, frames_per_second: float, caller: str) -> Path:
    """Draws moving robots into a file; see `Run.animate` and `animate`."""
    target = run_path(path, caller, ".gif", ".html")
    rate = positive(frames_per_second, f"{caller}: frames_per_second")
    start, end = min(run.t[0] for run in runs.values()), max(run.t[-1] for run in runs.values())
    if (end - start) * rate > _MOST_PICTURES:
        raise ArgumentError(f"{caller}: {rate:g} pictures a second are more than {_MOST_PICTURES} in all")
    times = start + np.arange(int((end - start) * rate + 1e-6) + 1) / rate
    scenes = [scene_of(run, name, times) for name, run in runs.items()]
    title = ", ".join(dict.fromkeys(run.robot.name for run in runs.values()))
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as unfinished:
        if target.suffix.lower() == ".html":
            unfinished.write_text(run_page(title, scenes, stage_of(scenes), times, rate), encoding="utf-8")
        else:
            pictures = _Pictures(title, scenes, stage_of(scenes), times, caller)
            first, *others = (pictures.drawn(k) for k in range(len(times)))
            first.save(unfinished, format="GIF", save_all=True, append_images=others, duration=1000 / rate, loop=0)
    return target


class _Pictures:
    """The pictures of a GIF: a figure in space, in which all that moves is drawn again for each of them."""

    def __init__(self, title: str, scenes: list[Scene], stage: Stage, times: np.ndarray, caller: str):
        backend = package("matplotlib.backends.backend_agg", "plot", caller)
        self.figure = package("matplotlib.figure", "plot", caller).Figure(figsize=(5, 5))
        self.image = package("PIL.Image", "plot", caller)
        self.canvas = backend.FigureCanvasAgg(self.figure)
        self.axes: Any = self.figure.add_axes((0, 0, 1, 0.96), projection="3d", computed_zorder=False)
        self.title, self.scenes, self.stage, self.times = title, scenes, stage, times
        self.points = 72 * 5 / (2.4 * stage.reach)  # widths of lines [1/72 inch] for 1 m
        x, y, _ = stage.middle
        for set_limits, at in zip(
            (self.axes.set_xlim, self.axes.set_ylim, self.axes.set_zlim), stage.middle, strict=True
        ):
            set_limits(at - stage.reach, at + stage.reach)
        self.axes.set_box_aspect((1, 1, 1), zoom=1.45)
        self.axes.view_init(20, -27)
        self.axes.set_axis_off()
        for k in np.linspace(-1.4, 1.4, 9) * stage.reach:
            ends = np.array([-1.4, 1.4]) * stage.reach
            self.axes.plot(x + ends, [y + k] * 2, [stage.floor] * 2, color="0.87", lw=0.7, zorder=0)
            self.axes.plot([x + k] * 2, y + ends, [stage.floor] * 2, color="0.87", lw=0.7, zorder=0)
        self.moving: list[Any] = []

    def drawn(self, k: int) -> Any:
        """Picture number k."""
        while self.moving:
            self.moving.pop().remove()
        for number, scene in enumerate(self.scenes):
            for run in reversed(range(len(scene.points))):
                self._robot(scene, run, k, COLOURS[number % len(COLOURS)])
        self.axes.set_title(f"{self.title}, {self.times[k]:.2f} s", fontsize=10)
        self.canvas.draw()
        return self.image.fromarray(np.asarray(self.canvas.buffer_rgba())).convert("RGB").quantize(64)

    def _line(self, points: np.ndarray, width: float, colour: str, zorder: float, alpha: float = 1.0) -> None:
        style = {"lw": width, "color": colour, "alpha": alpha, "zorder": zorder, "solid_capstyle": "round"}
        self.moving += self.axes.plot(*points.T, **style)

    def _robot(self, scene: Scene, run: int, k: int, colour: str) -> None:
        """One run: the first in full, with its shadow, its way and its loads; others are ghosts."""
        points, ghost = scene.points[run, k], float(np.clip(2 / len(scene.points), 0.05, 0.35))
        for (a, b), width in zip(scene.links, scene.widths, strict=True):
            link, size = points[[a, b]], width * self.points
            if run > 0:
                self._line(link, 0.45 * size, colour, 2, ghost)
                continue
            self._line(self._shadow(link), size, "black", 1, 0.1)
            self._line(link, size, "0.25", 4)
            self._line(link, 0.8 * size, colour, 5)
        if run > 0:
            return
        if scene.base is not None:
            column = np.stack([points[scene.base], self._shadow(points[scene.base])])
            self._line(column, 1.25 * scene.widths[0] * self.points, "0.6", 3)
        for tip in scene.tips:
            self._line(scene.points[0, : k + 1, tip], 1.5, colour, 6, 0.8)
        for centers, radii in scene.loads:
            style = {"marker": "o", "ms": 2 * radii[0] * self.points, "color": "0.45", "zorder": 7}
            self.moving += self.axes.plot(*centers[0, k, :, None], **style)

    def _shadow(self, points: np.ndarray) -> np.ndarray:
        """The points, on the floor."""
        return points * [1.0, 1.0, 0.0] + [0.0, 0.0, self.stage.floor]
