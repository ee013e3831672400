"""Figures of runs over time; they need matplotlib, the extra `[plot]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..control.references import Target
from ..drawing.style import finished, house_style, time_figure
from ..dynamics.regressors import coordinate_names, dof_names

if TYPE_CHECKING:
    from .runs import Run

__all__ = ["run_figure"]


def run_figure(run: Run) -> Any:
    """Positions, velocities, joint forces and errors of a run over time; see `Run.plot`."""
    rows: list[tuple[np.ndarray, str, tuple[str, ...]]] = [
        (run.q, "position [rad or m]", coordinate_names(run.robot)),
        (run.v, "velocity [rad/s or m/s]", dof_names(run.robot)),
        (run.tau, "joint force [N m or N]", dof_names(run.robot)),
    ]
    follows = run.setup.law is not None and isinstance(run.reference, Target)
    if follows:
        rows.append((run.error, "error [rad or m]", dof_names(run.robot)))
    with house_style("Run.plot"):
        figure = time_figure("Run.plot", len(rows))
        for axes, (values, label, names) in zip(figure.axes, rows, strict=True):
            _curves(axes, run, values, names)
            axes.set_ylabel(label)
        if follows and run.robot.nq == run.robot.nv:
            goal = np.broadcast_to(run.reference.q if run.reference.q.ndim > 1 else run.reference.q[None], run.q.shape)
            one = goal.reshape(-1, *goal.shape[-2:])[0]
            for line, column in zip(figure.axes[0].lines, one.T, strict=False):
                figure.axes[0].plot(run.t, column, ":", color=line.get_color(), lw=1)
        return finished(figure, repr(run).strip("<>"))


def _curves(axes, run: Run, values: np.ndarray, names: tuple[str, ...]) -> None:
    """One line for each joint; of a batch, the median with a band from the lowest to the highest."""
    every = np.broadcast_to(values, (*run.batch, *values.shape[-2:])).reshape(-1, *values.shape[-2:])
    middle = every[0] if len(every) == 1 else np.nanmedian(every, axis=0)
    lines = axes.plot(run.t, middle, label=names)
    if len(every) > 1:
        low, high = np.nanmin(every, axis=0), np.nanmax(every, axis=0)
        for line, bottom, top in zip(lines, low.T, high.T, strict=True):
            axes.fill_between(run.t, bottom, top, color=line.get_color(), alpha=0.2, lw=0)
