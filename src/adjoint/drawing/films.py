"""`film`: the pictures of moving robots, one after the other, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..extras import package
from .actors import Actor
from .scenes import Scene, Stage, scene_of, stage_of
from .style import CURVES

__all__ = ["film"]


def film(title: str, actors: Sequence[Actor], caller: str) -> Iterator[Any]:
    """The pictures (PIL images) of actors that have the same times, one for each; `caller` is for errors."""
    scenes = [scene_of(actor) for actor in actors]
    pictures = _Pictures(title, scenes, stage_of(scenes), actors[0].t, caller)
    return (pictures.drawn(k) for k in range(len(actors[0].t)))


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
                self._robot(scene, run, k, CURVES[number % len(CURVES)])
        self.axes.set_title(f"{self.title}, {self.times[k]:.2f} s", fontsize=10)
        self.canvas.draw()
        return self.image.fromarray(np.asarray(self.canvas.buffer_rgba())).convert("RGB").quantize(64)

    def _line(self, points: np.ndarray, width: float, color: str, zorder: float, alpha: float = 1.0) -> None:
        style = {"lw": width, "color": color, "alpha": alpha, "zorder": zorder, "solid_capstyle": "round"}
        self.moving += self.axes.plot(*points.T, **style)

    def _robot(self, scene: Scene, run: int, k: int, color: str) -> None:
        """One run: the first in full, with its shadow, its way and its loads; others are ghosts."""
        points, ghost = scene.points[run, k], float(np.clip(2 / len(scene.points), 0.05, 0.35))
        for (a, b), width in zip(scene.links, scene.widths, strict=True):
            link, size = points[[a, b]], width * self.points
            if run > 0:
                self._line(link, 0.45 * size, color, 2, ghost)
                continue
            self._line(self._shadow(link), size, "black", 1, 0.1)
            self._line(link, size, "0.25", 4)
            self._line(link, 0.8 * size, color, 5)
        if run > 0:
            return
        if scene.base is not None:
            column = np.stack([points[scene.base], self._shadow(points[scene.base])])
            self._line(column, 1.25 * scene.widths[0] * self.points, "0.6", 3)
        for tip in scene.tips:
            self._line(scene.points[0, : k + 1, tip], 1.5, color, 6, 0.8)
        for centers, radii in scene.balls:
            style = {"marker": "o", "ms": 2 * radii[0] * self.points, "color": "0.45", "zorder": 7}
            self.moving += self.axes.plot(*centers[0, k, :, None], **style)

    def _shadow(self, points: np.ndarray) -> np.ndarray:
        """The points, on the floor."""
        return points * [1.0, 1.0, 0.0] + [0.0, 0.0, self.stage.floor]
