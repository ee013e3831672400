"""`Calibration` is the result of `calibrate`: the robot, the parameters with their errors, a report and plots."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..display import html_table
from ..errors import ArgumentError, nearest
from ..identification.base import some
from ..lazy import cached_property
from ..model.input_checks import vectors
from ..model.robot import Robot
from .chain import Numbers, placement, pose_rows
from .fit import Problem
from .parameters import Parameter
from .unseen import in_words

__all__ = ["Calibration", "CrossValidation", "Estimates"]

# {unit: (factor, the unit in reports)}
_UNITS = {"rad": (1e3, "mrad"), "m": (1e3, "mm"), "1": (1e3, "1e-3"), "px": (1.0, "px")}
_DOUBTFUL = 1e-4  # if the noise is known, a χ² that is so improbable says that the model cannot explain the samples
_LISTED = 12  # the number of outliers, and of combinations, that a report names


class CrossValidation(NamedTuple):
    """Root mean squares of residuals, one for each group of measured numbers (rotation [rad], position [m], ...).

    `prediction` is of samples that the calibration has not seen, `training` of those that it has. They are medians if
    the loss is robust.
    """

    folds: int
    training: np.ndarray
    prediction: np.ndarray


class Estimates:
    """What results with `names` (p,), `values` (p,) and their `covariance` (p, p) have in common."""

    names: tuple[str, ...]
    values: np.ndarray
    covariance: np.ndarray

    @property
    def standard_error(self) -> np.ndarray:
        """The standard errors (p,) of the values: roots of the diagonal of `covariance`."""
        return np.sqrt(np.diag(self.covariance))

    def value(self, name: str) -> tuple[float, float]:
        """The value and the standard error of one parameter, in its own unit, by its name in `names`."""
        if name not in self.names:
            raise ArgumentError(f"value: there is no parameter {name!r}; {nearest(name, self.names)}")
        k = self.names.index(name)
        return float(self.values[k]), float(self.standard_error[k])


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Estimates):
    """The result of `calibrate`: a robot with corrected numbers, the parameters with their errors, and what is unseen.

    `print(found)` shows the report, `found.robot` is the calibrated robot, `found.to_robot(q)` what its q is where the
    encoders read q, and `found.predict(q)` the pose of the frame in the measuring frame.
    """

    model: Robot  # the model that was the first guess
    frame: str
    robot: Robot  # the calibrated robot; offsets are part of its home placements
    base: np.ndarray  # (4, 4) the placement of the robot's base in the measuring frame
    radius: float | None  # [m] of the sphere, if contacts with one were measured
    parameters: tuple[Parameter, ...]  # p of them
    values: np.ndarray  # (p,) [rad, m or 1] the changes from the model; those of the base are from its first guess
    covariance: np.ndarray  # (p, p) of the values; 0 along directions that are not seen
    problem: Problem  # the samples that were used
    first: Numbers  # the numbers before the calibration
    numbers: Numbers  # the numbers after it
    noise: np.ndarray  # (groups,) [rad, m] the standard deviation of each group of measured numbers
    noise_known: bool  # whether it was given
    residuals: np.ndarray  # (n, m) [rad, m] measured minus predicted, of all samples used
    residuals_before: np.ndarray  # (n, m) [rad, m] with the model's numbers and the first guess of the base
    lengths: np.ndarray  # (n,) lengths of the residuals in units of the noise; their squares have the mean m
    outliers: np.ndarray  # numbers of the samples, of those used, that are too far off to be noise
    gauge_directions: np.ndarray  # (d, p) combinations that no measurement of this kind can tell, by scaled parameters
    unseen_directions: np.ndarray  # (d, p) further combinations that these samples do not show
    condition: float  # the condition number of the seen combinations, with parameters divided by their scales
    rank: int  # the number of combinations that are seen
    loss: str
    iterations: int
    dropped: int  # the number of samples with NaN or infinity, which were not used
    validation: CrossValidation | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names (p) of the parameters, such as "tilt x of elbow"."""
        return tuple(map(str, self.parameters))

    @property
    def gears(self) -> np.ndarray:
        """The factors γ (nq,): the robot's q is γ times what the encoders read; 1 where no gear was estimated."""
        found, chain = np.ones(self.model.nq), self.problem.chain
        path = self.model.path(self.model.frame(self.frame).body)
        for i, joint, gear in zip(path, chain.joints, self.numbers.gears, strict=True):
            if joint.gear and i not in self.model.mimics:
                found[joint.start] = gear
        return found

    def to_robot(self, q) -> np.ndarray:
        """The calibrated robot's configuration γ q (..., nq) where the encoders read q (..., nq)."""
        return vectors(q, self.model.nq, "q", "to_robot") * self.gears

    def to_encoders(self, q) -> np.ndarray:
        """What the encoders read, q / γ (..., nq), where the calibrated robot is at q (..., nq): where to send it."""
        return vectors(q, self.model.nq, "q", "to_encoders") / self.gears

    def predict(self, q) -> np.ndarray:
        """The pose (..., 4, 4) of the frame in the measuring frame where the encoders read q (..., nq).

        It is `found.base @ forward_kinematics(found.robot, found.to_robot(q), found.frame)`, without compiling for the
        new robot.
        """
        return placement(self.problem.chain, q, **self.numbers._asdict())

    def prediction_covariance(self, q) -> np.ndarray:
        """The covariance (..., 6, 6) of `predict` due to errors of the parameters, as twists seen from the frame."""
        q = vectors(q, self.model.nq, "q", "prediction_covariance")
        chain = self.problem.chain._replace(radius=False)
        J = pose_rows(chain, q, self.predict(q), **self.numbers._asdict()).slopes
        C = self.covariance[: J.shape[-1], : J.shape[-1]]
        return J @ C @ np.swapaxes(J, -1, -2)

    # --- what is seen -------------------------------------------------------------------------------------------------

    @cached_property
    def gauge(self) -> tuple[str, ...]:
        """The combinations of parameters that no measurement of this kind can tell, in words; they stay as they were.

        "turn z of base - offset of joint1", for example, says that turning the base and the first encoder against each
        other changes nothing.
        """
        return in_words(self.gauge_directions, self.parameters)

    @cached_property
    def unseen(self) -> tuple[str, ...]:
        """The combinations that these samples do not show, but others would, in words; they stay as they were."""
        return in_words(self.unseen_directions, self.parameters)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Signs that more or other samples are needed, in words; empty if all is well."""
        found = []
        if self.unseen:
            found += [
                f"the samples do not show {len(self.unseen)} combinations of parameters that others would show: "
                f"{some(list(self.unseen), 3)}; `adjoint.calibration.choose_poses` finds poses that do"
            ]
        if self.loss == "squares" and len(self.outliers):
            found += [
                f"{len(self.outliers)} samples are too far off to be noise: {_listed(self.outliers)}; loss='tukey' "
                "keeps them from spoiling the rest"
            ]
        if self.noise_known and self._improbable:
            found += ["the residuals are larger than the noise that was given: the model cannot explain the samples"]
        return tuple(found)

    @property
    def _improbable(self) -> bool:
        from scipy.special import gammaincc

        if self.loss != "squares":
            return False
        freedom = self.residuals.size - self.rank
        return bool(gammaincc(freedom / 2, np.sum(self.lengths**2) / 2) < _DOUBTFUL)

    # --- the report ---------------------------------------------------------------------------------------------------

    def errors(self, residuals: np.ndarray | None = None) -> np.ndarray:
        """Root mean squares (groups,) [rad, m] of residuals (n, m), without outliers; of those after the fit."""
        kept = np.delete(self.residuals if residuals is None else residuals, self.outliers, axis=0)
        parts = self.problem._replace(whitening=None).groups
        return np.array([np.sqrt(np.mean(kept[:, part] ** 2)) for part in parts])

    def summary(self) -> str:
        """The report as text: residuals before and after, each parameter with its error, and what is not seen."""
        n, reading = len(self.problem.q), self.problem.reading
        dropped = f" ({self.dropped} dropped with NaN)" if self.dropped else ""
        lines = [
            f"Calibration of '{self.model.name}', frame '{self.frame}', from {n} {reading.kind}{dropped}",
            f"{self.rank} combinations of {len(self.parameters)} parameters are seen, condition number "
            f"{self.condition:.3g}; loss '{self.loss}', {self.iterations} iterations",
            *(f"WARNING: {text}" for text in self.warnings),
            "",
            *self._residual_lines(),
            "",
            f"{'change':>12} {'error':>9}         parameter",
        ]
        for parameter, x, error in zip(self.parameters, self.values, self.standard_error, strict=True):
            factor, unit = _UNITS[parameter.unit]
            lines.append(f"{factor * x:12.4f} {factor * error:9.4f}  {unit:5}  {parameter}")
        lines += [f"{self.radius:12.6f} m: radius of the sphere"] if self.radius is not None else []
        lines += self._unseen_lines()
        if len(self.outliers):
            lines += ["", f"{len(self.outliers)} outliers: samples {_listed(self.outliers)}"]
        return "\n".join(lines)

    def _residual_lines(self) -> list[str]:
        """A table of root mean squares of residuals, and of the cross-validation."""
        columns = {"before": self.errors(self.residuals_before), "after": self.errors(), "noise": self.noise}
        if self.validation is not None:
            name = f"{self.validation.folds}-fold"
            columns |= {f"{name} seen": self.validation.training, f"{name} unseen": self.validation.prediction}
        header = "".join(f"{name:>14}" for name in columns)
        lines = [f"{'root mean square of':20}{header}"]
        for k, (name, unit, _) in enumerate(self.problem.reading.groups):
            factor, unit = _UNITS[unit]
            lines.append(f"{f'{name} [{unit}]':20}" + "".join(f"{factor * x[k]:14.5g}" for x in columns.values()))
        return lines

    def _unseen_lines(self) -> list[str]:
        """What stays as it was, and why."""
        lines = []
        for names, why in (
            (self.unseen, "not shown by these samples, so they stay as in the model; other poses would show them"),
            (self.gauge, f"not told apart by any {self.problem.reading.kind}, so they stay as in the model"),
        ):
            if names:
                lines += ["", f"{len(names)} combinations are {why}:", *(f"  {name}" for name in names[:_LISTED])]
                lines += [f"  and {len(names) - _LISTED} more"] if len(names) > _LISTED else []
        return lines

    def __repr__(self) -> str:
        before, after = self.errors(self.residuals_before), self.errors()
        groups = enumerate(self.problem.reading.groups)
        words = [
            f"{name} {_UNITS[unit][0] * before[k]:.3g} -> {_UNITS[unit][0] * after[k]:.3g} {_UNITS[unit][1]}"
            for k, (name, unit, _) in groups
        ]
        doubts = f", {len(self.warnings)} warnings" if self.warnings else ""
        return (
            f"<Calibration of '{self.model.name}' from {len(self.problem.q)} {self.problem.reading.kind}: "
            f"{', '.join(words)}{doubts}>"
        )

    def _repr_html_(self) -> str:
        rows = zip(self.names, self.values, self.standard_error, [p.unit for p in self.parameters], strict=True)
        notes = [f"WARNING: {text}" for text in self.warnings] + [line for line in self._unseen_lines() if line]
        return html_table(repr(self), ["parameter", "change", "standard error", "unit"], rows, notes)

    def __str__(self) -> str:
        return self.summary()

    def save(self, path: str | Path) -> None:
        """Writes the result into a .json file (everything), or a .csv file (the parameters).

        The file appears, or is replaced, when everything is written.
        """
        from .files import save_report

        save_report(self, path)

    def plot(self, path: str | Path) -> Path:
        """Draws residuals before and after, their distribution, and the parameters into a file; returns its path."""
        from .drawing import draw

        return draw(self, path)


def _listed(numbers: np.ndarray) -> str:
    return some([str(k) for k in numbers], _LISTED)
