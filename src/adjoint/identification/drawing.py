"""Plots of an `Identification`; matplotlib is imported when something is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..dynamics.regressors import dof_names, parameters
from ..extras import package

if TYPE_CHECKING:
    from .report import Identification

__all__ = ["draw"]

_JOINTS = 8  # the largest number of joints that are drawn


def draw(found: Identification, path: str | Path) -> Path:
    """Draws `Identification.plot`: torques and residuals in one row for each joint, and below all base parameters."""
    Figure = package("matplotlib.figure", "plot", "Identification.plot").Figure
    names = dof_names(found.model)[:_JOINTS]
    figure = Figure(figsize=(13, 1.6 * len(names) + 3.5), layout="constrained")
    grid = figure.add_gridspec(len(names) + 2, 2, width_ratios=[3, 2])
    _draw_torques(found, names, [[figure.add_subplot(grid[k, c]) for c in (0, 1)] for k in range(len(names))])
    _draw_parameters(found, figure.add_subplot(grid[len(names) :, :]))
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    return path


def _draw_torques(found: Identification, names: tuple[str, ...], axes: list) -> None:
    """Draws measured and predicted torques of each joint on the left, and their differences on the right."""
    tau, time, each = found.shown.tau, found.shown.time, found.stride
    predicted = found.predict(*found.shown[:3], found.shown.slide)
    x, label = (each * np.arange(len(tau)), "sample") if time is None else (time, "time [s]")
    for k, (name, (left, right)) in enumerate(zip(names, axes, strict=True)):
        left.plot(x, tau[:, k], color="0.6", lw=2, label="measured")
        left.plot(x, predicted[:, k], color="tab:red", lw=0.8, label="predicted")
        left.set_ylabel(name, fontsize=8)
        right.plot(x, tau[:, k] - predicted[:, k], ".", color="tab:blue", ms=2)
        for side in (-2, 2):
            right.axhline(side * found.noise[k], color="0.5", lw=0.8, ls="--")
        right.set_ylabel(f"±{2 * found.noise[k]:.2g}", fontsize=8)
    axes[0][0].legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1, 1), fontsize=8)
    which = f", every {each}th of {found.samples} samples" if each > 1 else ""
    axes[0][0].set_title(f"torque [N m or N]{which}", fontsize=10)
    axes[0][1].set_title("residual, and two standard deviations", fontsize=10)
    for axis in axes[-1]:
        axis.set_xlabel(label, fontsize=8)


def _draw_parameters(found: Identification, axis) -> None:
    """Draws each estimate with its interval, multiplied by the usual size of its column: the torque it makes."""
    sizes, places = found.base.sizes, np.arange(found.base.rank)
    low, high = (found.interval() * sizes[:, None]).T
    axis.errorbar(places, found.estimate * sizes, [(high - low) / 2] * 2, fmt="o", ms=3, capsize=2, color="tab:red")
    model = found.base.to_base(parameters(found.model, found.base.joints)) * sizes
    axis.plot(places, model, "x", color="0.4", ms=5, label="model before")
    axis.set_yscale("symlog", linthresh=max(1e-2, float(np.median(high - low))))
    axis.set_xticks(places, [found.base.names[k] for k in found.base.selected], rotation=90, fontsize=6)
    axis.set_ylabel("torque they usually make [N m or N]", fontsize=8)
    axis.set_title("base parameters with 95 % intervals, named by their first term", fontsize=10)
    axis.grid(alpha=0.3)
    axis.legend(frameon=False, fontsize=8)
