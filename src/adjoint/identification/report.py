"""`Identification`: what was found, how sure it is, and how it looks."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..dynamics.regressor import dof_names, parameters
from ..robot.model import Robot
from .base import BaseParameters
from .data import Samples

__all__ = ["Identification"]


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """Result of `identify`: base parameters with their errors, and a robot that can exist and has them."""

    model: Robot  # the first guess
    base: BaseParameters
    estimate: np.ndarray  # β (b,), base parameters
    covariance: np.ndarray  # (b, b) of the estimate
    noise: np.ndarray  # (nv,) [N m or N] standard deviation of each joint's torque about the prediction
    r_squared: np.ndarray  # (nv,) the part of each torque's variance that is explained
    condition: float  # number of the regressor, its columns in units of their usual sizes
    samples: int
    dropped: int  # samples with NaN
    parameters: np.ndarray  # π (p,) of a robot that can exist
    deviation: float  # (B π - β)ᵀ Σ⁻¹ (B π - β) of it; about the number of base parameters or less if all is well
    shown: Samples  # some of the samples

    @functools.cached_property
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

        freedom = self.samples * self.model.nv - self.base.rank
        reach = stats.t.ppf(0.5 + level / 2, freedom) * self.standard_error
        return np.stack([self.estimate - reach, self.estimate + reach], axis=-1)

    def value(self, name: str) -> tuple[float, float]:
        """Estimate and standard error of one parameter, such as "damping_elbow", that can be told alone.

        An `ArgumentError` says for all others that nothing depends on them, or which combinations are known.
        """
        k = self.base.place(name)
        return float(self.estimate[k]), float(self.standard_error[k])

    def predict(self, q, v, a) -> np.ndarray:
        """Torques (..., nv) of motions, of the base parameters."""
        return self.base.regressor(q, v, a) @ self.estimate

    @property
    def unsure(self) -> tuple[str, ...]:
        """Base parameters whose standard error is larger than themselves and than the model's value: not known yet."""
        model = self.base.to_base(parameters(self.model, self.base.joints))
        weak = self.standard_error > np.maximum(np.abs(self.estimate), np.abs(model))
        return tuple(self.base.groups[k] for k in np.flatnonzero(weak))

    def summary(self, level: float = 0.95) -> str:
        """The report as text: residuals of each joint, then each base parameter with its interval."""
        dropped = f" ({self.dropped} dropped with NaN)" if self.dropped else ""
        lines = [
            f"Identification of '{self.model.name}' from {self.samples} samples{dropped}",
            f"{self.base.rank} base parameters (of {len(self.base.names)}), condition number {self.condition:.3g}",
            f"a robot that can exist is at χ² = {self.deviation:.3g} from them, of {self.base.rank} degrees of freedom",
            "",
            f"{'joint':24} {'noise':>10} {'R²':>9}",
        ]
        rows = zip(dof_names(self.model), self.noise, self.r_squared, strict=True)
        lines += [f"{name:24.24} {sigma:10.3g} {r:9.5f}" for name, sigma, r in rows]
        lines += ["", f"{'estimate':>12} {'error':>9} {f'{100 * level:g} % interval':^25}  base parameter"]
        found = zip(self.estimate, self.standard_error, self.interval(level), self.base.groups, strict=True)
        lines += [f"{x:12.5g} {e:9.2g} {low:12.5g} {high:12.5g}  {_short(group)}" for x, e, (low, high), group in found]
        if self.unsure:
            lines += ["", "errors larger than values, the model's too: " + ", ".join(map(_short, self.unsure))]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Identification of '{self.model.name}': {self.base.rank} base parameters from {self.samples} samples>"

    def __str__(self) -> str:
        return self.summary()

    def plot(self, path: str | Path) -> None:
        """Measured and predicted torques, residuals, and parameters with their intervals, drawn into a file."""
        from .drawing import draw

        draw(self, path)


def _short(group: str, terms: int = 3) -> str:
    """The group, or its first terms and how many more there are."""
    found = re.split(r" (?=[+-] [^()]*(?:\(|$))", group)  # at signs that are not inside parentheses
    return group if len(found) <= terms else f"{' '.join(found[:terms])} + {len(found) - terms} more"
