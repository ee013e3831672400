"""Pictures of runs: plots over time, and the moving robot; they need matplotlib, the extra `[plot]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..control.references import Target
from ..dynamics.regressors import coordinate_names, dof_names
from ..errors import ArgumentError
from ..extras import package
from ..files import whole_file
from ..kinematics.forward import forward_kinematics
from ..model.input_checks import positive
from ..model.robot import Robot
from .run_files import run_path

if TYPE_CHECKING:
    from .runs import Run

__all__ = ["animate_run", "draw_run", "robot_lines"]

_MOST_DRAWN = 50  # runs of a batch that an animation draws
_WIDTH = 100  # letters that fit beside each other below the figure


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
    return _saved(figure, repr(run).strip("<>"), target)


def _curves(axes, run: Run, values: np.ndarray, names: tuple[str, ...]) -> None:
    """One line for each joint; of a batch, the median with a band from the lowest to the highest."""
    every = np.broadcast_to(values, (*run.batch, *values.shape[-2:])).reshape(-1, *values.shape[-2:])
    middle = every[0] if len(every) == 1 else np.nanmedian(every, axis=0)
    lines = axes.plot(run.t, middle, label=names)
    if len(every) > 1:
        low, high = np.nanmin(every, axis=0), np.nanmax(every, axis=0)
        for line, bottom, top in zip(lines, low.T, high.T, strict=True):
            axes.fill_between(run.t, bottom, top, color=line.get_color(), alpha=0.2, lw=0)


def _saved(figure, title: str, target: Path) -> Path:
    figure.axes[0].set_title(title, fontsize=10)
    figure.axes[-1].set_xlabel("time [s]")
    lines, names = figure.axes[0].get_legend_handles_labels()
    columns = max(1, min(6, len(names), _WIDTH // (max(map(len, names)) + 6)))
    figure.legend(lines, names, loc="outside lower center", frameon=False, ncols=columns)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        figure.savefig(target, dpi=150)
    except ValueError as error:
        raise ArgumentError(f"plot: {target}: {error}") from None
    return target


# --- the moving robot -------------------------------------------------------------------------------------------------


def robot_lines(robot: Robot, q: np.ndarray) -> list[np.ndarray]:
    """Points (..., k, 3) along each path from the base to a leaf of the robot: origins of bodies, then of frames.

    A body on a free or planar joint is not tied to the base: paths through it begin there.
    """
    places = {-1: np.zeros((*q.shape[:-1], 3))}
    for i, name in enumerate(robot.body_names):
        places[i] = forward_kinematics(robot, q, name)[..., :3, 3]
    ends = [f for f in robot.frames if f.name not in robot.body_names]
    found = []
    for i in range(len(robot.body_names)):
        if i in robot.parents:  # not a leaf
            continue
        chain = [i]
        while chain[-1] != -1 and robot.bodies[chain[-1]].joint.type not in ("free", "planar"):
            chain.append(int(robot.parents[chain[-1]]))
        points = [places[k] for k in reversed(chain)]
        points += [forward_kinematics(robot, q, f.name)[..., :3, 3] for f in ends if f.body == i][:1]
        found.append(np.stack(points, axis=-2))
    return found


def animate_run(run: Run, path, frames_per_second: float) -> Path:
    """Draws the moving robot into a file; see `Run.animate`."""
    target = run_path(path, "Run.animate", ".gif", ".html")
    rate = positive(frames_per_second, "Run.animate: frames_per_second")
    times = np.arange(0.0, run.t[-1] - run.t[0] + 1e-9, 1 / rate) + run.t[0]
    kept = np.unique(np.clip(np.searchsorted(run.t, times), 0, len(run.t) - 1))
    q = run.q.reshape(-1, *run.q.shape[-2:])[:_MOST_DRAWN, kept]
    lines = robot_lines(run.robot, q)
    figure, update = _stage(run, lines, run.t[kept])
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as unfinished:
        if target.suffix.lower() == ".html":
            animation = package("matplotlib.animation", "plot", "Run.animate")
            film = animation.FuncAnimation(figure, update, frames=len(kept), interval=1000 / rate, blit=False)
            page = f"<!doctype html>\n<meta charset='utf-8'>\n{film.to_jshtml(fps=rate)}"
            unfinished.write_text(page, encoding="utf-8")
        else:
            pictures = [_picture(figure, update, k) for k in range(len(kept))]
            options = {"save_all": True, "append_images": pictures[1:], "duration": 1000 / rate, "loop": 0}
            pictures[0].save(unfinished, format="GIF", **options)
    return target


def _picture(figure, update, k: int):
    """Picture number k of an animation."""
    update(k)
    figure.canvas.draw()
    image = package("PIL.Image", "plot", "Run.animate").fromarray(np.asarray(figure.canvas.buffer_rgba()))
    return image.convert("RGB").quantize(64)


def _stage(run: Run, lines: list[np.ndarray], t: np.ndarray) -> tuple[Any, Any]:
    """A figure in space, and the function that draws picture number k in it."""
    backend = package("matplotlib.backends.backend_agg", "plot", "Run.animate")
    figure = package("matplotlib.figure", "plot", "Run.animate").Figure(figsize=(5, 5))
    backend.FigureCanvasAgg(figure)
    axes = figure.add_subplot(projection="3d")
    every = np.concatenate([x.reshape(-1, 3) for x in lines])
    every = every[np.isfinite(every).all(axis=1)]
    middle, reach = (every.max(axis=0) + every.min(axis=0)) / 2, max(np.ptp(every, axis=0).max() / 2, 1e-3)
    for set_limits, x in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), middle, strict=True):
        set_limits(x - reach, x + reach)
    axes.set_box_aspect((1, 1, 1))
    count = len(lines[0])
    faint = {} if count == 1 else {"alpha": max(0.06, 1 / count)}
    drawn = [
        [axes.plot([], [], [], "o-", lw=2, ms=3, color=f"C{k}", **faint)[0] for _ in range(count)]
        for k in range(len(lines))
    ]

    def update(frame: int):
        for group, points in zip(drawn, lines, strict=True):
            for line, way in zip(group, points[:, frame], strict=True):
                line.set_data_3d(*way.T)
        axes.set_title(f"{run.robot.name}, {t[frame]:.2f} s", fontsize=10)
        return [line for group in drawn for line in group]

    return figure, update
