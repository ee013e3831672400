"""Plots of a `CameraCalibration`; matplotlib is imported when something is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...calibration.robust import outlier_length
from ...drawing.style import CURVES
from ...extras import package

if TYPE_CHECKING:
    from .camera_report import CameraCalibration

__all__ = ["draw"]

_OUTLIER = "tab:red"
_DRAWN = 4000  # the largest number of points that are drawn


def draw(found: CameraCalibration, path: str | Path) -> Path:
    """Draws `CameraCalibration.plot`: residuals in the image, their distribution, each view, and the lens."""
    Figure = package("matplotlib.figure", "plot", "CameraCalibration.plot").Figure
    figure = Figure(figsize=(12, 8), layout="constrained")
    axes = figure.subplots(2, 2)
    _draw_image(found, axes[0, 0])
    _draw_lengths(found, axes[0, 1])
    _draw_views(found, axes[1, 0])
    _draw_lens(found, axes[1, 1])
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    return path


def _draw_image(found: CameraCalibration, axis) -> None:
    """Draws the residuals as arrows where the points are seen in the image, magnified."""
    r = found.residuals[found.seen]
    lens = found.camera
    places = found.pixels[found.seen]
    each = -(-len(r) // _DRAWN)
    columns, rows = lens.size
    gain = 0.04 * columns / max(found.rms, 1e-12)
    axis.quiver(
        *places[::each].T, *r[::each].T, angles="xy", scale_units="xy", scale=1 / gain, width=0.0018, color=CURVES[1]
    )
    axis.plot(*lens.matrix[:2, 2], "+", color=_OUTLIER, ms=12, label="principal point")
    axis.set_xlim(-0.5, columns - 0.5)
    axis.set_ylim(rows - 0.5, -0.5)
    axis.set_aspect("equal")
    axis.set_title(f"residuals in the image, {gain:.0f} times as long", fontsize=10, loc="left")
    axis.legend(frameon=False, fontsize=8, loc="upper right")


def _draw_lengths(found: CameraCalibration, axis) -> None:
    """Draws the sorted lengths of residuals in units of the noise, beside those that normal noise would have."""
    measured = np.sort(np.linalg.norm(found.residuals[found.seen], axis=1)) / found.noise
    n = len(measured)
    expected = np.sqrt(-2 * np.log1p(-(np.arange(n) + 0.5) / n))  # Rayleigh's distribution
    limit = outlier_length(2, n)
    axis.plot([0, expected[-1]], [0, expected[-1]], color="0.5", lw=1, label="normal noise")
    axis.axhline(limit, color=_OUTLIER, lw=0.8, ls="--", label="limit of outliers")
    axis.plot(expected, np.minimum(measured, 2 * limit), ".", color=CURVES[1], ms=4)
    axis.set_xlabel("length of residual that normal noise would have")
    axis.set_ylabel("length of residual / noise")
    axis.set_title("do residuals look like noise?", fontsize=10, loc="left")
    axis.grid(alpha=0.3)
    axis.legend(frameon=False, fontsize=8, loc="upper left")


def _draw_views(found: CameraCalibration, axis) -> None:
    """Draws the root mean square of each view."""
    axis.bar(np.arange(len(found.view_rms)), np.nan_to_num(found.view_rms), color=CURVES[1])
    axis.axhline(found.rms, color="0.3", lw=1, label=f"all: {found.rms:.3g} pixels")
    axis.set_xlabel("view")
    axis.set_ylabel("rms of residuals [pixels]")
    axis.set_title("views", fontsize=10, loc="left")
    axis.legend(frameon=False, fontsize=8, loc="upper right")


def _draw_lens(found: CameraCalibration, axis) -> None:
    """Draws how far the lens moves points from where an ideal one shows them, with two standard errors."""
    lens = found.camera
    corner = np.abs(np.array(lens.size) - lens.matrix[:2, 2]).max() / np.abs(np.diag(lens.matrix)[:2]).min()
    r = np.linspace(0, min(1.1 * corner, lens.largest_radius), 200)
    names = ("k1", "k2", "k3")
    k = lens.distortion
    rho = (1 + r**2 * (k[0] + r**2 * (k[1] + r**2 * k[4]))) / (1 + r**2 * (k[5] + r**2 * (k[6] + r**2 * k[7])))
    f = lens.matrix[0, 0]
    shift = f * r * (rho - 1)
    chosen = [found.names.index(name) for name in names if name in found.names]
    slopes = np.array([f * r ** (3 + 2 * names.index(found.names[j])) for j in chosen]).reshape(len(chosen), -1)
    error = 2 * np.sqrt(np.maximum(np.sum(slopes * (found.covariance[np.ix_(chosen, chosen)] @ slopes), axis=0), 0.0))
    axis.fill_between(
        f * r, shift - error, shift + error, color=CURVES[0], alpha=0.3, lw=0, label="two standard errors"
    )
    axis.plot(f * r, shift, color=CURVES[0])
    axis.axhline(0, color="0.5", lw=0.8)
    axis.set_xlabel("distance from the principal point without distortion [pixels]")
    axis.set_ylabel("radial distortion [pixels]")
    axis.set_title("the lens", fontsize=10, loc="left")
    axis.grid(alpha=0.3)
    axis.legend(frameon=False, fontsize=8, loc="lower left")
