"""Plots of a `Calibration`; matplotlib is imported when something is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..extras import package
from .robust import outlier_length

if TYPE_CHECKING:
    from .report import Calibration

__all__ = ["draw"]

_BEFORE, _AFTER, _OUTLIER = "0.6", "tab:blue", "tab:red"
_DRAWN = 2000  # the largest number of samples that are drawn
_UNITS = {"rad": (1e3, "mrad"), "m": (1e3, "mm"), "px": (1.0, "px")}


def draw(found: Calibration, path: str | Path) -> Path:
    """Draws `Calibration.plot`: errors before and after, their distribution, and the parameters with their errors."""
    Figure = package("matplotlib.figure", "plot", "Calibration.plot").Figure
    groups = found.problem.reading.groups
    figure = Figure(figsize=(13, 3.0 * len(groups) + 4.2), layout="constrained")
    grid = figure.add_gridspec(len(groups) + 1, 2, width_ratios=[3, 2], height_ratios=[3.0] * len(groups) + [4.2])
    parts = found.problem._replace(whitening=None).groups
    for k, ((name, unit, _), part) in enumerate(zip(groups, parts, strict=True)):
        _draw_errors(found, figure.add_subplot(grid[k, 0]), part, name, unit, first=k == 0)
    _draw_lengths(found, figure.add_subplot(grid[: len(groups), 1]))
    _draw_parameters(found, figure.add_subplot(grid[len(groups), :]))
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    return path


def _draw_errors(found: Calibration, axis, part: slice, name: str, unit: str, first: bool) -> None:
    """Draws the error of each sample, before and after, on a logarithmic scale."""
    factor, unit = _UNITS[unit]
    each = -(-len(found.residuals) // _DRAWN)
    x = np.arange(0, len(found.residuals), each)
    for residuals, color, label in (
        (found.residuals_before, _BEFORE, "model"),
        (found.residuals, _AFTER, "calibrated"),
    ):
        size = factor * np.linalg.norm(residuals[:, part], axis=1)
        axis.plot(x, size[::each], ".", color=color, ms=5, label=label)
        axis.axhline(np.median(size), color=color, lw=1)
    if len(found.outliers):
        size = factor * np.linalg.norm(found.residuals[found.outliers, part], axis=1)
        axis.plot(found.outliers, size, "o", mfc="none", color=_OUTLIER, ms=8, label="outlier")
    axis.set_yscale("log")
    axis.set_ylabel(f"{name} error [{unit}]")
    axis.grid(alpha=0.3)
    if first:
        axis.set_title("error of each sample; lines are medians", fontsize=10, loc="left")
        axis.legend(frameon=False, ncols=3, fontsize=8, loc="lower right", bbox_to_anchor=(1, 1))
    axis.set_xlabel("sample")


def _draw_lengths(found: Calibration, axis) -> None:
    """Draws the sorted lengths of residuals in units of the noise, beside those that normal noise would have."""
    from scipy.special import gammaincinv

    n, m = len(found.lengths), found.problem.reading.rows
    levels = (np.arange(n) + 0.5) / n
    expected, measured = np.sqrt(2 * gammaincinv(m / 2, levels)), np.sort(found.lengths)
    limit = outlier_length(m, n)
    far = measured > limit
    axis.plot([0, expected[-1]], [0, expected[-1]], color="0.5", lw=1, label="normal noise")
    axis.axhline(limit, color=_OUTLIER, lw=0.8, ls="--", label="limit of outliers")
    axis.plot(expected[~far], measured[~far], ".", color=_AFTER, ms=5)
    axis.plot(expected[far], np.minimum(measured[far], 2 * limit), "^", color=_OUTLIER, ms=5)
    axis.set_xlabel("length of residual that normal noise would have")
    axis.set_ylabel("length of residual / noise")
    axis.set_title("do residuals look like noise?", fontsize=10)
    axis.set_ylim(0, 1.1 * (2 * limit if far.any() else limit))
    axis.grid(alpha=0.3)
    axis.legend(frameon=False, fontsize=8, loc="upper left")


def _draw_parameters(found: Calibration, axis) -> None:
    """Draws each change from the model with two standard errors; angles and lengths share the axis, mrad and mm."""
    places = np.arange(len(found.parameters))
    for turns, color, label in ((True, "tab:orange", "angle [mrad]"), (False, "tab:green", "length [mm], gear [1e-3]")):
        own = np.array([(p.unit == "rad") == turns for p in found.parameters])
        if own.any():
            axis.errorbar(
                places[own], 1e3 * found.values[own], 2e3 * found.standard_error[own],
                fmt="o", ms=4, capsize=2, lw=1, color=color, label=label,
            )  # fmt: skip
    axis.axhline(0, color="0.5", lw=0.8)
    axis.set_xticks(places, found.names, rotation=90, fontsize=6)
    axis.set_xlim(-1, len(places))
    axis.set_title("changes from the model, with two standard errors", fontsize=10, loc="left")
    axis.grid(alpha=0.3)
    axis.legend(frameon=False, fontsize=8, ncols=2, loc="lower right", bbox_to_anchor=(1, 1))
