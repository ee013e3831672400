"""Calibration of a wrist sensor: its matrix from known loads, with errors, and which loads are missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..calibration.parameters import Parameter
from ..calibration.unseen import in_words
from ..errors import ArgumentError, SolveError
from ..model.input_checks import truth
from .noise import Noise
from .sensor_data import readings_of
from .wrist_gauges import WristSensor

__all__ = ["WristCalibration", "calibrate_wrist"]

COMPONENTS = ("moment x", "moment y", "moment z", "force x", "force y", "force z")
_BLIND = 1e-6  # singular values of the loads below this part of the largest are rounding errors: nothing is known there
_WEAK = 0.03  # singular values below this part are weak: the matrix is some thirty times less accurate there


class _Component(Parameter):
    """A component of a wrench, for words about combinations of them."""

    def __str__(self) -> str:
        return self.what


@dataclass(frozen=True, eq=False, repr=False)
class WristCalibration:
    """The result of `calibrate_wrist`: the `sensor`, what its errors are, and how well the loads show it.

    `print(found)` shows the report.
    """

    sensor: WristSensor  # the calibrated sensor
    sensitivity: np.ndarray  # (n, 6) [V/(N m), V/N] R*: the readings of unit loads
    covariance: np.ndarray  # (p, p) of a row of (sensitivity, offset), for gauges with a noise of 1 V
    gauge_sigma: np.ndarray  # (n,) [V] the noise of each gauge; NaN if there are no more loads than unknowns
    residuals: np.ndarray  # (k, n) [V] measured minus fitted readings
    condition: float  # of the loads, with moments and forces divided by the largest of them; 1 is best
    weak: tuple[str, ...]  # the combinations of load components that hardly vary, in words

    def wrench_covariance(self, wrench) -> np.ndarray:
        """The covariance (6, 6) of a resolved `wrench` (6,), with errors of the gauges and of the calibration.

        Noise σ of the gauges gives R_F diag(σ²) R_Fᵀ. Errors of the sensitivity give the same, times the variance of
        the fitted line there: fᵀ P f, with f = (wrench, 1) if the offset was fitted, too.
        """
        F = readings_of(wrench, "wrench", "wrench_covariance", 6)
        f = np.concatenate([F, np.ones((*F.shape[:-1], len(self.covariance) - 6))], axis=-1)
        spread = np.einsum("...i,ij,...j->...", f, self.covariance, f)
        scaled = self.sensor.matrix * self.gauge_sigma
        return (1 + spread)[..., None, None] * (scaled @ scaled.T)

    def summary(self) -> str:
        """The report as text."""
        k, n = self.residuals.shape
        rms = np.sqrt(np.mean(self.residuals**2))
        errors = np.sqrt(np.diag(self.wrench_covariance(np.zeros(6))))
        lines = [
            f"Calibration of a wrist sensor with {n} gauges from {k} loads",
            f"residuals {rms:.3g} V (root mean square), condition number of the loads {self.condition:.3g}",
            *(f"WARNING: {text} hardly varies in these loads: the matrix is weak there" for text in self.weak),
            "standard errors of a resolved wrench near 0:",
            *(
                f"  {name}: {error:.3g} {'N m' if name.startswith('moment') else 'N'}"
                for name, error in zip(COMPONENTS, errors, strict=True)
            ),
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        k, n = self.residuals.shape
        weak = f", {len(self.weak)} weak combinations" if self.weak else ""
        return f"<WristCalibration of {n} gauges from {k} loads, condition number {self.condition:.3g}{weak}>"


def calibrate_wrist(wrenches, readings, *, offset=None, fit_offset: bool = True) -> WristCalibration:
    """The `WristCalibration` from known loads: `wrenches` (k, 6) [N m, N] and gauge `readings` (k, n) [V].

        W = R* F + w_0,   R_F = (R*ᵀ R*)⁻¹ R*ᵀ                                              (6.5-4), (6.5-8)

    R* (n, 6) and the offset w_0 (n,), the tare, are fitted by least squares, and R_F is the pseudoinverse of R*. So
    R_F R* = 1 (6, 6). The textbook's (6.5-5), R* R_F ≈ 1 (n, n), cannot hold: the product has rank 6, and is √(n - 6)
    away from 1. A known `offset` (n,) is subtracted instead of being fitted; with `fit_offset=False` it is 0.

    Six independent loads are needed, seven with the offset. If some are missing, a `SolveError` names the combinations
    that never vary. Fu, Gonzalez & Lee (1987), section 6.5.3.

        >>> from adjoint.sensing.wrist_gauges import cross_bar_sensor, gauge_readings
        >>> true = cross_bar_sensor()
        >>> loads = np.concatenate([np.diag([1, 1, 1, 20.0, 20, 20]), np.zeros((1, 6))])
        >>> found = calibrate_wrist(loads, gauge_readings(true, loads))
        >>> bool(np.allclose(found.sensor.matrix, true.matrix))
        True
    """
    caller = "calibrate_wrist"
    F = readings_of(wrenches, "wrenches", caller, None, 6)
    W = readings_of(readings, "readings", caller, None, None)
    if F.ndim != 2 or W.ndim != 2 or len(F) != len(W) or W.shape[1] < 6:
        raise ArgumentError(
            f"{caller}: 'wrenches' has shape {F.shape}, 'readings' {W.shape}; (k, 6) and (k, n) with n >= 6 are needed"
        )
    if not (np.isfinite(F).all() and np.isfinite(W).all()):
        raise ArgumentError(f"{caller}: 'wrenches' and 'readings' must be finite; NaN or infinity is in them")
    fits = truth(fit_offset, f"{caller}: fit_offset") and offset is None
    known = np.zeros(W.shape[1]) if offset is None else readings_of(offset, "offset", caller, W.shape[1])
    largest = np.abs(F).reshape(-1, 2, 3).max(axis=(0, 2))  # of moments and of forces
    scale = np.repeat(np.where(largest > 0, largest, 1.0), 3)
    condition, weak = _looked_at(F / scale, scale, fits)
    X = np.column_stack([F / scale, np.ones((len(F), int(fits)))])
    solution = np.linalg.lstsq(X, W - known, rcond=None)[0]
    residuals = W - known - X @ solution
    freedom = len(X) - X.shape[1]
    sigma = np.sqrt(np.sum(residuals**2, axis=0) / freedom) if freedom > 0 else np.full(W.shape[1], np.nan)
    back = np.concatenate([1 / scale, np.ones(int(fits))])
    P = back[:, None] * np.linalg.inv(X.T @ X) * back
    sensitivity = (solution[:6] / scale[:, None]).T
    w_0 = solution[6] if fits else known
    noise = Noise(sigma=tuple(sigma)) if freedom > 0 else Noise()
    sensor = WristSensor(np.linalg.pinv(sensitivity), w_0, noise)
    return WristCalibration(sensor, sensitivity, P, sigma, residuals, condition, weak)


def _looked_at(loads: np.ndarray, scale: np.ndarray, fits: bool) -> tuple[float, tuple[str, ...]]:
    """The condition number of scaled loads (k, 6) and their weak combinations; a `SolveError` if some never vary."""
    varied = loads - loads.mean(axis=0) if fits else loads
    _, sizes, axes = np.linalg.svd(varied, full_matrices=True)
    sizes = np.concatenate([sizes, np.zeros(6 - len(sizes))])
    # A row d of `axes` says that d · (F / scale) hardly varies, so 1 / scale are the factors in words.
    names = tuple(
        _Component(what, "load", "N m" if what.startswith("moment") else "N", 1 / s)
        for what, s in zip(COMPONENTS, scale, strict=True)
    )
    blind = sizes <= _BLIND * sizes[0] if sizes[0] > 0 else np.ones(6, bool)
    if blind.any():
        missing = ", ".join(in_words(axes[blind], names))
        how = "never vary (a constant load cannot be told from the offset)" if fits else "are 0 in all loads"
        raise SolveError(
            f"calibrate_wrist: {6 - blind.sum()} of 6 independent loads are there; these combinations {how}: {missing}"
        )
    return float(sizes[0] / sizes[-1]), in_words(axes[sizes < _WEAK * sizes[0]], names)
