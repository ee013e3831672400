"""`Identification`: what was found, how sure it is, and how it looks."""

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

_POOR = 0.5  # R² that says that something else than the model is at work
_CONTRADICTS = 10  # χ² per degree of freedom
_FEW = 2  # degrees of freedom below which Student's t does not make up for guessed weights


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """Result of `identify`: base parameters with their errors, and a robot that can exist and has them."""

    model: Robot  # the first guess
    base: BaseParameters
    estimate: np.ndarray  # β (b,), base parameters
    covariance: np.ndarray  # (b, b) of the estimate
    freedom: np.ndarray  # (b,) degrees of freedom of its errors: infinite where the noise was given
    noise: np.ndarray  # (nv,) [N m or N] standard deviation of each joint's torque about the prediction
    r_squared: np.ndarray  # (nv,) the part of each torque's variance that is explained; NaN where a torque is constant
    condition: float  # number of the regressor, its columns in units of their usual sizes
    samples: int
    dropped: int  # samples with NaN
    parameters: np.ndarray  # π (p,) of a robot that can exist
    deviation: float  # (B π - β)ᵀ Σ⁻¹ (B π - β) of it; about the number of base parameters or less if all is well
    shown: Samples  # of the samples every `stride`-th, from all of the recording
    stride: int = 1

    @cached_property
    def robot(self) -> Robot:
        """The model with the identified parameters; its offsets are in `offset`, for which a robot has no place."""
        n = len(self.model.body_names)
        terms = {name: x for name, x in self._terms.items() if name != "offset"}
        return self.model.replace(inertias=self.parameters[: 10 * n].reshape(n, 10), **terms)

    @property
    def _terms(self) -> dict[str, np.ndarray]:
        rest = self.parameters[10 * len(self.model.body_names) :].reshape(-1, self.model.nv)
        return dict(zip(self.base.joints, rest, strict=True))

    @property
    def offset(self) -> np.ndarray:
        """(nv,) Constant torques [N m or N]; 0 if not identified."""
        return self._terms.get("offset", np.zeros(self.model.nv))

    @property
    def standard_error(self) -> np.ndarray:
        """(b,) of the estimate."""
        return np.sqrt(np.diag(self.covariance))

    def interval(self, level: float = 0.95) -> np.ndarray:
        """(b, 2) Confidence intervals of the base parameters, each for itself: Student's t."""
        from scipy import stats

        if not (isinstance(level, (int, float)) and 0 < level < 1):
            raise ArgumentError(f"interval: level must be between 0 and 1, got {level!r}")
        reach = stats.t.ppf(0.5 + level / 2, self.freedom) * self.standard_error
        return np.stack([self.estimate - reach, self.estimate + reach], axis=-1)

    def value(self, name: str) -> tuple[float, float]:
        """Estimate and standard error of one parameter, such as "damping_elbow", that can be told alone.

        An `ArgumentError` says for all others that nothing depends on them, or which combinations are known.
        """
        k = self.base.place(name)
        return float(self.estimate[k]), float(self.standard_error[k])

    def predict(self, q, v, a, slide=None) -> np.ndarray:
        """Torques (..., nv) of motions, of the base parameters; `slide` (..., nv), if any, as in `Samples`."""
        return self.base.regressor(q, v, a, slide) @ self.estimate

    @property
    def unsure(self) -> tuple[str, ...]:
        """Base parameters whose standard error is larger than themselves and than the model's value: not known yet."""
        model = self.base.to_base(parameters(self.model, self.base.joints))
        weak = self.standard_error > np.maximum(np.abs(self.estimate), np.abs(model))
        return tuple(self.base.groups[k] for k in np.flatnonzero(weak))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What says that the recording and the model do not belong together; empty if all is well."""
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
        """The report as text: residuals of each joint, then each base parameter with its interval."""
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
            lines += ["", f"errors larger than values, the model's too, of {len(self.unsure)}: {weak}"]
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
        """Measured and predicted torques, residuals, parameters with intervals, drawn into a file; returns its path.

        Torques are those of the whole recording, of long ones every so many-th sample, as the title says.
        """
        from .drawing import draw

        return draw(self, path)
