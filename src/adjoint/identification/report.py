"""`Identification` is the result of `identify`: the parameters, their errors, a report and plots."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..display import html_table
from ..dynamics.regressors import dof_names, parameters
from ..errors import ArgumentError
from ..lazy import cached_property
from ..model.robot import Robot
from .base import BaseParameters, short, some
from .data import Samples

__all__ = ["Identification"]

_POOR = 0.5  # an R² below this says that something other than the model makes the torque
_CONTRADICTS = 10  # a χ² per degree of freedom above this says that no robot that can exist has the base parameters
_FEW = 2  # degrees of freedom below which Student's t does not make up for estimated weights


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """The result of `identify`: base parameters with their errors, and a robot that can exist and nearly has them.

    `print(found)` shows the report, `found.robot` is the identified robot, and `found.predict(q, v, a)` its torques.
    """

    model: Robot  # the model that was the first guess
    base: BaseParameters
    estimate: np.ndarray  # (b,) the base parameters β
    covariance: np.ndarray  # (b, b) the covariance Σ of the estimate
    freedom: np.ndarray  # (b,) the degrees of freedom of the errors: infinity if the noise was given
    noise: np.ndarray  # (nv,) [N m or N] the standard deviation of each joint's torque about the prediction
    r_squared: np.ndarray  # (nv,) the part of each torque's variance that is explained; NaN where a torque is constant
    condition: float  # the condition number of the regressor, with columns divided by their usual sizes
    samples: int  # the number of samples used
    dropped: int  # the number of samples with NaN or infinity, which were not used
    parameters: np.ndarray  # (p,) the parameters π of a robot that can exist
    deviation: float  # χ² = (B π - β)ᵀ Σ⁻¹ (B π - β); about the number of base parameters or less if all is well
    shown: Samples  # every `stride`-th sample of the whole recording, for plots
    stride: int = 1

    @cached_property
    def robot(self) -> Robot:
        """The model with the identified parameters. A robot has no place for constant torques: see `offset`."""
        n = len(self.model.body_names)
        terms = {name: x for name, x in self._terms.items() if name != "offset"}
        return self.model.replace(inertias=self.parameters[: 10 * n].reshape(n, 10), **terms)

    @property
    def _terms(self) -> dict[str, np.ndarray]:
        """{joint term: its values (nv,)} of the identified parameters."""
        rest = self.parameters[10 * len(self.model.body_names) :].reshape(-1, self.model.nv)
        return dict(zip(self.base.joints, rest, strict=True))

    @property
    def offset(self) -> np.ndarray:
        """The constant torques (nv,) [N m or N]; 0 if they were not identified."""
        return self._terms.get("offset", np.zeros(self.model.nv))

    @property
    def standard_error(self) -> np.ndarray:
        """The standard errors (b,) of the estimate: roots of the diagonal of `covariance`."""
        return np.sqrt(np.diag(self.covariance))

    def interval(self, level: float = 0.95) -> np.ndarray:
        """The confidence intervals (b, 2) of the base parameters, each for itself, by Student's t distribution."""
        from scipy import stats

        if not (isinstance(level, (int, float)) and 0 < level < 1):
            raise ArgumentError(f"interval: level must be between 0 and 1, got {level!r}")
        reach = stats.t.ppf(0.5 + level / 2, self.freedom) * self.standard_error
        return np.stack([self.estimate - reach, self.estimate + reach], axis=-1)

    def value(self, name: str) -> tuple[float, float]:
        """The estimate and the standard error of one parameter, such as "damping_elbow", that is a base parameter.

        For any other parameter an `ArgumentError` says that no torque depends on it, or which combinations are known.
        """
        k = self.base.place(name)
        return float(self.estimate[k]), float(self.standard_error[k])

    def predict(self, q, v, a, slide=None) -> np.ndarray:
        """The torques (..., nv) that the base parameters predict for q (..., nq), v and a (..., nv).

        `slide` (..., nv), if it is given, takes the place of sign(v) in dry friction, as in `Samples`.
        """
        return self.base.regressor(q, v, a, slide) @ self.estimate

    @property
    def unsure(self) -> tuple[str, ...]:
        """The base parameters whose standard error is larger than both their estimate and the model's value."""
        model = self.base.to_base(parameters(self.model, self.base.joints))
        weak = self.standard_error > np.maximum(np.abs(self.estimate), np.abs(model))
        return tuple(self.base.groups[k] for k in np.flatnonzero(weak))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Signs that the recording and the model do not belong together, in words; empty if all is well."""
        poor = [name for name, r in zip(dof_names(self.model), self.r_squared, strict=True) if r < _POOR]
        found = [f"less than {_POOR:.0%} of the torque of {', '.join(poor)} is explained"] if poor else []
        if self.deviation > _CONTRADICTS * self.base.rank:
            found += [f"no robot that can exist has these base parameters: χ² = {self.deviation:.3g}"]
        if self.freedom.min() < _FEW:
            found += [
                f"few samples: {self.freedom.min():.2g} degrees of freedom leave the noise, and errors, uncertain"
            ]
        return tuple(found)

    def summary(self, level: float = 0.95) -> str:
        """The report as text: the residuals of each joint, then each base parameter with its interval."""
        intervals = self.interval(level)
        dropped = f" ({self.dropped} dropped with NaN)" if self.dropped else ""
        lines = [
            f"Identification of '{self.model.name}' from {self.samples} samples{dropped}",
            f"{self.base.rank} base parameters (of {len(self.base.names)}), condition number {self.condition:.3g}",
            f"a robot that can exist is at χ² = {self.deviation:.3g} from them, of {self.base.rank} degrees of freedom",
            *(f"WARNING: {text}" for text in self.warnings),
            "",
            f"{'joint':24} {'noise':>10} {'R²':>9}",
        ]
        rows = zip(dof_names(self.model), self.noise, self.r_squared, strict=True)
        lines += [f"{name:24.24} {sigma:10.3g} {r:9.5f}" for name, sigma, r in rows]
        lines += ["", f"{'estimate':>12} {'error':>9} {f'{100 * level:g} % interval':^25}  base parameter"]
        found = zip(self.estimate, self.standard_error, intervals, self.base.groups, strict=True)
        lines += [f"{x:12.5g} {e:9.2g} {low:12.5g} {high:12.5g}  {short(group)}" for x, e, (low, high), group in found]
        if self.unsure:
            weak = some([short(group) for group in self.unsure])
            lines += ["", f"{len(self.unsure)} are not known yet, as their errors are larger than their values: {weak}"]
        return "\n".join(lines)

    def __repr__(self) -> str:
        worst = np.nanmin(self.r_squared) if np.isfinite(self.r_squared).any() else np.nan
        doubts = f", {len(self.warnings)} warnings" if self.warnings else ""
        return (
            f"<Identification of '{self.model.name}': {self.base.rank} base parameters from {self.samples} samples, "
            f"least R² {worst:.4f}, condition {self.condition:.3g}{doubts}>"
        )

    def _repr_html_(self) -> str:
        columns = self.base.groups, self.estimate, self.standard_error, *self.interval().T
        rows = [(short(group), *numbers) for group, *numbers in zip(*columns, strict=True)]
        header = ["base parameter", "estimate", "standard error", "95 % from", "to"]
        return html_table(repr(self), header, rows, [f"WARNING: {text}" for text in self.warnings])

    def __str__(self) -> str:
        return self.summary()

    def plot(self, path: str | Path) -> Path:
        """Draws measured and predicted torques, residuals, and parameters with intervals into a file; returns its path.

        The torques are those of the whole recording; of a long one every k-th sample is drawn, as the title says.
        """
        from .drawing import draw

        return draw(self, path)
