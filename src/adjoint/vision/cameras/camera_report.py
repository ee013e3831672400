"""`CameraCalibration` is the result of `calibrate_camera`: the camera, its errors, a report and plots."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...calibration.report import Estimates
from ...calibration.unseen import in_words
from ...display import html_table
from ...identification.base import some
from ...lazy import cached_property
from .camera import Camera

__all__ = ["CameraCalibration", "CameraParameter"]

_LISTED = 12
_SAME_ANGLE = np.radians(5.0)  # normals of flat targets that differ by less show one angle
_DOUBTFUL = 1e-4
_PART = 0.1  # a parameter with this part in a direction that is not seen is not known, whatever its error


class CameraParameter(NamedTuple):
    """An estimated number of a camera: its name, its unit, and the standard error from which on it counts as unseen."""

    name: str
    unit: str
    scale: float

    @property
    def owner(self) -> str:
        """The thing that it belongs to."""
        return "camera"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False, repr=False)
class CameraCalibration(Estimates):
    """The result of `calibrate_camera`. `print(found)` shows the report, and `found.camera` is the camera.

    Views and points have the order in which they were given.
    """

    camera: Camera  # at the origin of the world
    T_camera_target: np.ndarray  # (views, 4, 4) where the target was; NaN for views that could not be used
    parameters: tuple[CameraParameter, ...]  # p of them
    values: np.ndarray  # (p,) [pixels or 1]
    covariance: np.ndarray  # (p, p) of the values; 0 along directions that are not seen
    pose_covariance: np.ndarray  # (views, 6, 6) of twists (ω, v) in the target's frame: T_camera_target exp(ξ)
    noise: float  # [pixels] standard deviation of each coordinate
    noise_known: bool  # whether it was given
    pixels: np.ndarray  # (views, n, 2) that were used; NaN where nothing was seen
    residuals: np.ndarray  # (views, n, 2) [pixels] measured minus predicted; NaN where nothing was seen
    outliers: np.ndarray  # (m, 2) view and point of those that are too far off to be noise
    unseen_directions: np.ndarray  # (d, p) combinations that the views do not show, by scaled parameters
    first: Camera  # the camera that the fit began with
    loss: str
    iterations: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names (p) of the parameters, such as "fx" and "k1"."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def rms(self) -> float:
        """The root mean square [pixels] of the lengths of residuals, which OpenCV calls the reprojection error."""
        return float(np.sqrt(np.nansum(self.residuals**2) / max(self.seen.sum(), 1)))

    @property
    def seen(self) -> np.ndarray:
        """(views, n) Which points were used."""
        return np.isfinite(self.residuals[..., 0])

    @property
    def view_rms(self) -> np.ndarray:
        """(views,) The root mean square [pixels] of each view; NaN for those that were not used."""
        count = self.seen.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(np.nansum(self.residuals**2, axis=(1, 2)) / np.where(count > 0, count, np.nan))

    # --- what is seen -------------------------------------------------------------------------------------------------

    @cached_property
    def unseen(self) -> tuple[str, ...]:
        """The combinations of parameters that the views do not show, and why, in words; they stay as they were."""
        words: Any = self.parameters
        return tuple(f"{text}: {self._cause(text)}" for text in in_words(self.unseen_directions, words))

    def _cause(self, combination: str) -> str:
        """What views would have to be like to show a combination of parameters."""
        used = self.seen.any(axis=1)
        normals = self.T_camera_target[used, :3, 2]
        names = set(combination.replace("+", " ").replace("-", " ").split())
        if names & {"fx", "fy", "f", "cx", "cy", "skew"}:
            if np.all(np.abs(normals[:, 2]) > np.cos(_SAME_ANGLE)):
                return (
                    "all views see the target face on, so the focal length and the distance cannot be told apart, nor "
                    "the principal point and the place; tilt the target by 30° or more, in several directions"
                )
            if np.all(np.abs(normals @ normals[0]) > np.cos(_SAME_ANGLE)):
                return "all views see the target at one angle; tilt it by 30° or more, in several directions"
            return "more views with other tilts of the target would show it"
        reach = self._reach
        return f"the points reach to {reach:.0%} of the way to the corners of the image; fill more of it"

    @property
    def _reach(self) -> float:
        """How far from the principal point the points were seen, as a part of the largest distance in the image."""
        middle, (columns, rows) = self.camera.matrix[:2, 2], self.camera.size
        corners = np.array([[0, 0], [columns - 1, 0], [0, rows - 1], [columns - 1, rows - 1]])
        far = np.linalg.norm(self.pixels[self.seen] - middle, axis=1).max()
        return float(min(1.0, far / np.linalg.norm(corners - middle, axis=1).max()))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Signs that more or other views are needed, in words; empty if all is well."""
        found = [f"the views do not show {text}" for text in self.unseen]
        if self.loss == "squares" and len(self.outliers):
            places = [f"{point} of view {view}" for view, point in self.outliers]
            found += [
                f"{len(places)} points are too far off to be noise: {some(places)}; loss='tukey' keeps them from "
                "spoiling the rest"
            ]
        if self.noise_known and self.loss == "squares" and self._improbable:
            found += ["the residuals are larger than the noise that was given: the model cannot explain the views"]
        return tuple(found)

    @property
    def _improbable(self) -> bool:
        from scipy.special import gammaincc

        used = int(self.seen.any(axis=1).sum())
        freedom = 2 * int(self.seen.sum()) - len(self.parameters) + len(self.unseen_directions) - 6 * used
        return freedom > 0 and bool(
            gammaincc(freedom / 2, np.nansum(self.residuals**2) / self.noise**2 / 2) < _DOUBTFUL
        )

    # --- the report ---------------------------------------------------------------------------------------------------

    def summary(self) -> str:
        """The report as text: residuals, each parameter with its error, the views, and what is not seen."""
        used = self.seen.any(axis=1)
        left = f" ({np.sum(~used)} left out)" if not used.all() else ""
        lines = [
            f"Calibration of a camera with {self.camera.size[0]} x {self.camera.size[1]} pixels from {self.seen.sum()} "
            f"points in {used.sum()} views{left}",
            f"root mean square of residuals {self.rms:.4g} pixels, noise {self.noise:.4g} pixels"
            f"{' (given)' if self.noise_known else ''}; loss '{self.loss}', {self.iterations} iterations",
            *(f"WARNING: {text}" for text in self.warnings),
            "",
            f"{'value':>14} {'error':>10}          parameter",
        ]
        doubtful = np.abs(self.unseen_directions).max(axis=0, initial=0.0) > _PART
        for parameter, x, error, hidden in zip(
            self.parameters, self.values, self.standard_error, doubtful, strict=True
        ):
            unit = "" if parameter.unit == "1" else parameter.unit
            known = "unseen" if hidden else f"{error:.3g}"
            lines.append(f"{x:14.6g} {known:>10}  {unit:7} {parameter}")
        lines += ["", "view   points   rms [pixels]   distance [m]"]
        for k in np.flatnonzero(used)[:_LISTED]:
            far = np.linalg.norm(self.T_camera_target[k, :3, 3])
            lines.append(f"{k:4d} {self.seen[k].sum():8d} {self.view_rms[k]:14.4f} {far:14.4f}")
        lines += [f"and {used.sum() - _LISTED} more"] if used.sum() > _LISTED else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        doubts = f", {len(self.warnings)} warnings" if self.warnings else ""
        return (
            f"<CameraCalibration from {self.seen.sum()} points in {self.seen.any(axis=1).sum()} views: "
            f"rms {self.rms:.3g} pixels{doubts}>"
        )

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        rows = zip(self.names, self.values, self.standard_error, [p.unit for p in self.parameters], strict=True)
        notes = [f"WARNING: {text}" for text in self.warnings]
        return html_table(repr(self), ["parameter", "value", "standard error", "unit"], rows, notes)

    def plot(self, path: str | Path) -> Path:
        """Draws residuals over the image, their distribution, the views and the lens into a file; returns its path."""
        from .camera_plots import draw

        return draw(self, path)
