"""The mass, centre and inertia of a payload, from what a wrist sensor reads while it is moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..calibration.parameters import Parameter
from ..calibration.unseen import in_words
from ..compile import kernel
from ..errors import ArgumentError, SolveError
from ..identification.base import base_parameters
from ..identification.linear import triangle
from ..identification.physical import physical_parameters
from ..lie import inertia
from ..model.input_checks import truth
from ..model.robot import Robot
from .sensor_data import readings_of
from .tool_loads import motion_wrench

__all__ = ["Payload", "identify_payload", "payload_regressor"]

NAMES = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
_UNITS = ("kg", *("kg m",) * 3, *("kg m²",) * 6)
_OFFSETS = tuple(f"offset of {what} {axis}" for what in ("moment", "force") for axis in "xyz")
_BLIND = 1e-7  # singular values below this part of the largest are rounding errors
_EXACT = 1e-12  # the least noise that is assumed, as a part of the largest moment or force
_ROUNDS = 5  # of fits, in each of which the noise of moments and forces is estimated anew


@kernel(gravity=3, twist=6, acceleration=6)
def payload_regressor(gravity, twist, acceleration):
    """The matrix Y (6, 10) of wrench = Y π: what a payload of inertia π (10,) exerts on the sensor that carries it.

    `gravity` (3,) [m/s²], `twist` (6,) and its rate `acceleration` (6,), without gravity, are those of the sensor's
    frame, seen from it, as `sensor_motion` gives them. The wrench is weight minus rate of momentum, as for
    `tool_wrench`. Atkeson, An & Hollerbach (1986).

        >>> Y = payload_regressor([0, 0, -9.81], np.zeros(6), np.zeros(6))
        >>> (Y @ inertia.sphere(2.0, 0.1)).round(6)[5]
        np.float64(-19.62)
    """
    return -np.stack([motion_wrench(unit, gravity, twist, acceleration) for unit in np.eye(10)], axis=1)


class _Number(Parameter):
    """A parameter of a payload, for words about combinations."""

    def __str__(self) -> str:
        return self.what


@dataclass(frozen=True, eq=False, repr=False)
class Payload:
    """The result of `identify_payload`: the `inertia` (10,) of a payload in the sensor's frame, and its errors.

    `print(found)` shows the report, and `robot.with_payload(frame, found.inertia)` carries it.
    """

    inertia: np.ndarray  # (10,) [m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz] of a body that can exist
    estimate: np.ndarray  # (10,) the least-squares estimate, which noise may put outside of what can exist
    covariance: np.ndarray  # (10, 10) of the estimate; 0 along what is not seen
    offset: np.ndarray  # (6,) [N m, N] the constant error of the sensor, 0 if it was not fitted
    noise: np.ndarray  # (2,) the standard deviations of moments [N m] and forces [N]
    samples: int
    condition: float  # the condition number of the seen combinations, with columns of equal length
    seen: np.ndarray  # (10,) which numbers the samples show
    unseen: tuple[str, ...]  # combinations that they do not show, in words
    physical: bool  # whether the estimate itself is that of a body that can exist

    @property
    def mass(self) -> float:
        """The mass [kg]."""
        return float(self.inertia[0])

    @property
    def center(self) -> np.ndarray:
        """The centre of mass (3,) [m] in the sensor's frame."""
        return self.inertia[1:4] / self.inertia[0]

    @property
    def standard_error(self) -> np.ndarray:
        """The standard errors (10,) of the estimate."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def center_covariance(self) -> np.ndarray:
        """The covariance (3, 3) [m²] of the centre h/m, to first order."""
        m, h = self.estimate[0], self.estimate[1:4]
        J = np.column_stack([-h / m**2, np.eye(3) / m])
        return J @ self.covariance[:4, :4] @ J.T

    def summary(self) -> str:
        """The report as text."""
        spread = np.sqrt(np.diag(self.center_covariance))
        center = ", ".join(f"{1e3 * c:.3f} ± {1e3 * s:.3f}" for c, s in zip(self.center, spread, strict=True))
        lines = [
            f"Payload from {self.samples} samples: {self.mass:.5g} ± {self.standard_error[0]:.2g} kg, "
            f"centre ({center}) mm",
            f"noise {self.noise[0]:.3g} N m, {self.noise[1]:.3g} N; condition number {self.condition:.3g}",
        ]
        if self.unseen:
            lines.append(f"not seen: {', '.join(self.unseen)}")
        if set(NAMES[4:]) <= set(self.unseen):
            lines.append("The sensor was at rest: mass and centre only; the inertia is that of a point mass there.")
        if not self.physical:
            lines.append("The estimate is not that of a body that can exist; `inertia` is the nearest that can.")
        lines.append(f"{'value':>12} {'error':>10}")
        errors = [f"{e:.2g}" if seen else "not seen" for e, seen in zip(self.standard_error, self.seen, strict=True)]
        rows = zip(self.inertia, errors, NAMES, _UNITS, strict=True)
        return "\n".join(lines + [f"{x:12.5g} {e:>10}  {name} [{unit}]" for x, e, name, unit in rows])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        unseen = f", {len(self.unseen)} combinations not seen" if self.unseen else ""
        return f"<Payload of {self.mass:.4g} kg from {self.samples} samples{unseen}>"


def identify_payload(
    wrenches, gravity, *, twists=None, accelerations=None, fit_offset: bool = True, noise=None
) -> Payload:
    """The `Payload` that a wrist sensor carries, from `wrenches` (n, 6) [N m, N] and the motion of the sensor's frame.

    - `gravity` (n, 3) [m/s²], `twists` (n, 6) and `accelerations` (n, 6) are those of `sensor_motion`, seen from the
      sensor. Without the last two the sensor is at rest in each sample, and mass and centre are found only, from poses
      that differ.
    - With `fit_offset`, a constant error of the sensor (its tare) is found at the same time.
    - `noise` (2,) is that of moments [N m] and forces [N]; by default both are estimated from the residuals.

    wrench = Y π + offset is solved by weighted least squares; combinations that the samples do not show stay 0, and are
    named in `unseen`. If noise has made the estimate that of no real body, `inertia` is a body that can exist, near to
    it as in `identify` (Lee, Wensing & Park 2020).

        >>> rng = np.random.default_rng(0)
        >>> g = 9.81 * aj.lie.so3.exp(rng.normal(size=(20, 3)))[:, 2]              # gravity in 20 poses
        >>> tool = inertia.transform(aj.lie.se3.exp([0, 0, 0, 0.01, 0, 0.08]), inertia.sphere(1.5, 0.04))
        >>> found = identify_payload(payload_regressor(g, np.zeros(6), np.zeros(6)) @ tool, g)
        >>> found.center.round(6) + 0.0
        array([0.01, 0.  , 0.08])
    """
    caller = "identify_payload"
    F, g = readings_of(wrenches, "wrenches", caller, None, 6), readings_of(gravity, "gravity", caller, None, 3)
    moving = {"twists": twists, "accelerations": accelerations}
    V, dV = (np.zeros((len(F), 6)) if x is None else readings_of(x, k, caller, None, 6) for k, x in moving.items())
    given = {"wrenches": F, "gravity": g, "twists": V, "accelerations": dV}
    if any(x.ndim != 2 or len(x) != len(F) or not np.isfinite(x).all() for x in given.values()) or not len(F):
        shapes = ", ".join(f"{k} {x.shape}" for k, x in given.items())
        raise ArgumentError(f"{caller}: all arrays must be finite, with one row for each sample; got {shapes}")
    fits = truth(fit_offset, f"{caller}: fit_offset")
    X = payload_regressor(g, V, dV)
    X = np.concatenate([X, np.broadcast_to(np.eye(6), (len(F), 6, 6))], axis=-1) if fits else X
    sigma = None if noise is None else readings_of(noise, "noise", caller, 2)
    if sigma is not None and (sigma.ndim != 1 or not (np.isfinite(sigma) & (sigma > 0)).all()):
        raise ArgumentError(f"{caller}: 'noise' must be two positive numbers, of moments and forces, got {noise!r}")
    return _fitted(X, F, sigma)


class _Fit(NamedTuple):
    """A weighted least-squares fit of p numbers."""

    x: np.ndarray  # (p,) the numbers; combinations that are not seen are 0
    covariance: np.ndarray  # (p, p)
    rank: int
    condition: float
    blind: np.ndarray  # (p - rank, p) the combinations that are not seen, with the numbers divided by `scale`
    scale: np.ndarray  # (p,)
    information: np.ndarray  # (10, 10) of the payload's numbers, whatever the sensor's offset is


def _fitted(X: np.ndarray, F: np.ndarray, given: np.ndarray | None) -> Payload:
    """The payload of F (n, 6) = X (n, 6, p) π."""
    largest = np.abs(F).reshape(-1, 2, 3).max(axis=(0, 2))
    sigma = np.array([0.1, 1.0]) if given is None else given
    fit = _weighted(X, F, sigma)
    known = given is not None or F.size > fit.rank
    for _ in range(_ROUNDS if given is None and known else 0):
        rest = np.sum((F - X @ fit.x) ** 2, axis=0).reshape(2, 3).sum(axis=1)
        sigma = np.maximum(np.sqrt(rest / (1 - fit.rank / F.size) / (3 * len(F))), _EXACT * largest + 1e-300)
        fit = _weighted(X, F, sigma)
    unseen = _in_words(fit)
    seen = np.abs(fit.blind[:, :10]).max(axis=0, initial=0.0) < 1e-3
    if not seen[0]:
        remedy = "poses of the sensor must differ" if X.shape[-1] > 10 else "are the samples in free fall?"
        raise SolveError(f"identify_payload: the samples do not show the mass: {remedy}; not seen: {', '.join(unseen)}")
    estimate, covariance = fit.x[:10], fit.covariance[:10, :10] if known else np.full((10, 10), np.nan)
    own = estimate
    if set(NAMES[4:]) <= set(unseen):  # at rest: a point mass
        own = inertia.from_central.eager(own[0], own[1:4] / own[0], np.zeros((3, 3)))
    physical = not inertia.faults(own)
    offset = fit.x[10:] if X.shape[-1] > 10 else np.zeros(6)
    body = own if physical else _possible(estimate, fit.information)
    noise = sigma if known else np.full(2, np.nan)
    return Payload(body, estimate, covariance, offset, noise, len(F), fit.condition, seen, unseen, physical)


def _in_words(fit: _Fit) -> tuple[str, ...]:
    """What is not seen, in words."""
    labels = [*zip(NAMES, _UNITS, strict=True), *((name, "N") for name in _OFFSETS)]
    names = (_Number(name, "payload", unit, 1 / c) for (name, unit), c in zip(labels, fit.scale, strict=False))
    return in_words(fit.blind, tuple(names))


def _weighted(X: np.ndarray, F: np.ndarray, sigma: np.ndarray) -> _Fit:
    """The fit with the noise sigma (2,) of moments and forces."""
    weight = np.repeat(1 / sigma, 3)
    p = X.shape[-1]
    rows = np.concatenate([X * weight[:, None], (F * weight)[..., None]], axis=-1).reshape(-1, p + 1)
    R = triangle(np.concatenate([rows, np.zeros((p + 1, p + 1))]))  # at least as many rows as columns
    A, b = R[:, :p], R[:, p]
    sizes = np.linalg.norm(A, axis=0)
    scale = np.where(sizes > 0, sizes, 1.0)
    U, s, axes = np.linalg.svd(A / scale, full_matrices=False)
    seen = s > _BLIND * s[0]
    axes = np.where(sizes > 0, axes, np.where(seen[:, None], 0.0, axes))  # what acts on nothing is 0, not nearly so
    x = axes[seen].T @ (U[:, seen].T @ b / s[seen]) / scale
    covariance = (axes[seen].T / s[seen] ** 2) @ axes[seen] / np.outer(scale, scale)
    # What the offset of the sensor explains as well says nothing of the payload.
    Q = np.linalg.qr(A[:, 10:])[0] if p > 10 else np.zeros((len(A), 0))
    rest = A[:, :10] - Q @ (Q.T @ A[:, :10])
    condition = float(s[0] / s[seen][-1]) if seen.any() else np.inf
    return _Fit(x, covariance, int(seen.sum()), condition, axes[~seen], scale, rest.T @ rest)


def _possible(estimate: np.ndarray, information: np.ndarray) -> np.ndarray:
    """The inertia (10,) of a body that can exist, near to the estimate in the metric of its information (10, 10).

    A free body in space is a robot whose ten parameters are all base parameters, so the convex fit of `identify` does.
    """
    if not estimate[0] > 0:
        raise SolveError(
            f"identify_payload: the mass is {estimate[0]:.3g} kg; are signs right? A wrench is that which the payload "
            "exerts on the sensor: its force points along gravity"
        )
    size = max(float(np.linalg.norm(estimate[1:4] / estimate[0])), 0.05)
    at = np.eye(4)
    at[:3, 3] = estimate[1:4] / estimate[0]
    guess = inertia.transform.eager(at, inertia.sphere.eager(estimate[0], size))
    builder = Robot.builder("payload").link("sensor").link("body", guess)
    base = base_parameters(builder.joint("free", "free", "sensor", "body").build())
    B = base.matrix
    values, axes = np.linalg.eigh(information)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * axes.T
    return physical_parameters(base, root @ np.linalg.inv(B), B @ estimate, np.zeros((0, 6)), 1.0).parameters
