"""Identification: a robot's parameters from recorded motions and torques.

Two estimates of one recording. The base parameters by weighted least squares, unbiased, with standard errors: all that
the torques tell. And a robot that can exist, which needs all parameters: every mass positive, every pseudo-inertia
positive definite, near to the model where the torques tell nothing (Wensing, Kim & Slotine 2018, "Linear matrix
inequalities for physically consistent inertial parameter identification", IEEE RA-L 3(1); Lee, Wensing & Park 2020,
"Geometric robot dynamic identification", IEEE Trans. Robot. 36(2), whose entropic divergence is used here).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..dynamics.regressor import JOINT_TERMS
from ..errors import ArgumentError
from ..robot.model import Robot, need_robot
from .base import BaseParameters, base_parameters
from .data import Samples, stream_samples
from .doubts import doubts
from .linear import least_squares, triangle
from .physical import physical_parameters
from .report import Identification

__all__ = ["identify"]

_MEMORY = 3e7  # [bytes] of a piece's regressors
_EXACT = 1e-9  # of a joint's torque: no noise is less
_BLIND = 1e-8  # singular values of the regressor, of the largest, that rounding errors explain


def identify(
    robot: Robot,
    samples: Samples | Iterable[Samples] | str | Path,
    *,
    joints: tuple[str, ...] = tuple(JOINT_TERMS),
    noise=None,
    prior: float = 1.0,
    check: bool = True,
) -> Identification:
    """The parameters of `robot`, whose own are a first guess, from `Samples`, pieces of them, or a file; SI units.

    Pieces may come from anywhere (`stream_samples`) and are read once; memory does not grow with their number. Rows
    with NaN are dropped and counted. `joints` are the terms of each joint to identify with the inertias, of "armature",
    "damping", "friction" (dry) and "offset".

    Base parameters β: weighted least squares, with the torque `noise` (nv,) [N m or N] of each joint; None: that which
    remains, found by repetition (iteratively reweighted). Their errors are those of noise that is white in the torques.

    Robot: the minimum over all admissible parameters of

        ½ (B π - β)ᵀ Σ⁻¹ (B π - β) + prior · Σ_i (tr(P_i P̂_i⁻¹) - log det(P_i P̂_i⁻¹) - 4)

    with the covariance Σ of β, the pseudo-inertias P_i of the bodies and P̂_i of the model: convex, so there is one.
    Near the model the sum is half that of squared relative errors: with `prior` 1 the model is as if known to 100 %.

    Raises `ArgumentError` for motions that leave parameters in the dark, saying which, and for samples that look wrong:
    degrees, N mm, signs, order of joints; `check=False` takes these as they are.
    """
    need_robot(robot, "identify")
    base = base_parameters(robot, joints)
    record = _record(base, _clean_pieces(robot, samples), check)
    values = _excitation(base, record)
    sigma = _noise(base, record) if noise is None else _given_noise(robot, noise)
    R, z = _weighted(record.R, sigma)
    estimate = solve_triangular(R, z)
    errors = solve_triangular(R, np.eye(base.rank))
    # No model is better than a part in 10⁴, even where a simulation is.
    trusted, _ = _weighted(record.R, np.maximum(sigma, 1e-4 * record.rms))
    fit = physical_parameters(base, trusted, estimate, _term_sizes(record), prior)
    return Identification(
        model=robot,
        base=base,
        estimate=estimate,
        covariance=errors @ errors.T,
        noise=sigma,
        r_squared=1 - _residuals(record.R, estimate) ** 2 / np.maximum(record.spread, 1e-300) ** 2 / record.count,
        condition=float(values[0] / values[-1]),
        samples=record.count,
        dropped=record.dropped,
        parameters=fit.parameters,
        deviation=fit.deviation,
        shown=record.shown,
    )


# --- the recording ----------------------------------------------------------------------------------------------------


class _Record(NamedTuple):
    """All that least squares needs of a recording, of any length."""

    R: np.ndarray  # (nv, b + 1, b + 1), triangular: R_iᵀ R_i is the sum of [y τ_i]ᵀ [y τ_i] with the rows y of joint i
    count: int
    dropped: int  # rows with NaN
    rms: np.ndarray  # (nv,) of the torques
    spread: np.ndarray  # (nv,) their standard deviation
    terms: np.ndarray  # (terms, nv) root mean squares of the columns of the joints' own terms
    shown: Samples  # the first of them


def _record(base: BaseParameters, pieces: Iterator[tuple[Samples, int]], check: bool) -> _Record:
    robot, b = base.robot, base.rank
    R, count, dropped, shown = np.zeros((robot.nv, 0, b + 1)), 0, 0, None
    total, squares, terms = np.zeros(robot.nv), np.zeros(robot.nv), np.zeros((len(base.joints), robot.nv))
    for piece, lost in pieces:
        dropped += lost
        if not len(piece.q):
            continue
        if shown is None:
            shown = Samples(*(None if x is None else x[:SHOWN] for x in piece))
            _raise_doubts(base, shown if check else None)
        Y = np.concatenate([base.regressor(piece.q, piece.v, piece.a), piece.tau[..., None]], axis=-1)
        R = triangle(np.concatenate([R, Y.swapaxes(0, 1)], axis=1))
        count, total, squares = count + len(piece.q), total + piece.tau.sum(0), squares + (piece.tau**2).sum(0)
        terms += [(JOINT_TERMS[name](piece.v, piece.a) ** 2).sum(0) for name in base.joints] or 0.0
    if shown is None:
        raise ArgumentError(f"identify: no samples{f'; all {dropped} rows have NaN' if dropped else ''}")
    spread = np.sqrt(np.maximum(squares / count - (total / count) ** 2, 0.0))
    return _Record(R, count, dropped, np.sqrt(squares / count), spread, np.sqrt(terms / count), shown)


SHOWN = 2000  # samples of a recording that are looked at, and drawn


def _raise_doubts(base: BaseParameters, samples: Samples | None) -> None:
    found = doubts(base, samples) if samples is not None else []
    if found:
        raise ArgumentError("identify: " + "; ".join(found) + " (check=False takes the samples as they are)")


def _clean_pieces(robot: Robot, samples: Samples | Iterable[Samples] | str | Path) -> Iterator[tuple[Samples, int]]:
    """Pieces without NaN, small enough for their regressors, and how many rows each has lost."""
    if isinstance(samples, (str, Path)):
        samples = stream_samples(samples, robot)
    rows = max(16, int(_MEMORY / (8 * max(robot.nv, 1) * 10 * max(len(robot.body_names), 1))))
    for piece in [samples] if isinstance(samples, Samples) else samples:
        piece = checked_samples(robot, piece)
        for start in range(0, len(piece.q), rows):
            part = Samples(*(None if x is None else x[start : start + rows] for x in piece))
            whole = np.isfinite(np.column_stack([x for x in part if x is not None])).all(axis=1)
            yield Samples(*(None if x is None else x[whole] for x in part)), int((~whole).sum())


def checked_samples(robot: Robot, samples: Samples) -> Samples:
    """The samples as arrays of numbers, of the sizes that the robot needs."""
    if not isinstance(samples, Samples):
        raise ArgumentError(
            f"identify: expected Samples(q, v, a, tau), pieces of them or a file, got {type(samples)!r}"
        )
    if samples.v is None or samples.a is None:
        raise ArgumentError("identify: samples have no v or a; `differentiate` finds them from q and time")
    found = Samples(*(None if x is None else np.asarray(x, float) for x in samples))
    n = len(found.q) if found.q.ndim else 0
    sizes = {"q": robot.nq, "v": robot.nv, "a": robot.nv, "tau": robot.nv}
    for field, size in sizes.items():
        shape = getattr(found, field).shape
        if shape != (n, size):
            names = ", ".join(robot.joint_names)
            raise ArgumentError(f"identify: {field} has shape {shape}, it needs ({n}, {size}): joints {names}")
    if found.time is not None and found.time.shape != (n,):
        raise ArgumentError(f"identify: time has shape {found.time.shape}, it needs ({n},)")
    return found


# --- least squares ----------------------------------------------------------------------------------------------------


def _weighted(R: np.ndarray, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R (b, b), z (b,): the weighted least squares estimate solves R β = z and has covariance (RᵀR)⁻¹."""
    both = (R / sigma[:, None, None]).reshape(-1, R.shape[-1])
    return least_squares(both[:, :-1], both[:, -1])


def _residuals(R: np.ndarray, estimate: np.ndarray) -> np.ndarray:
    """(nv,) Lengths of what the estimate leaves of each joint's torques."""
    return np.linalg.norm(R @ np.append(-estimate, 1.0), axis=-1)


def _noise(base: BaseParameters, record: _Record, rounds: int = 50) -> np.ndarray:
    """(nv,) The noise of each joint's torque that weighted least squares leaves, weighted with that very noise."""
    least = _EXACT * np.where(record.rms > 0, record.rms, record.rms.max(initial=1e-300))
    freedom = record.count - base.rank / base.robot.nv
    sigma = np.maximum(record.rms, least)
    for _ in range(rounds):
        R, z = _weighted(record.R, sigma)
        new = np.maximum(_residuals(record.R, solve_triangular(R, z)) / np.sqrt(freedom), least)
        if np.allclose(new, sigma, rtol=1e-6, atol=0):
            break
        sigma = new
    return new


def _given_noise(robot: Robot, noise) -> np.ndarray:
    sigma = np.asarray(noise, float)
    if sigma.shape != (robot.nv,) or not (np.isfinite(sigma) & (sigma > 0)).all():
        raise ArgumentError(f"identify: noise must be {robot.nv} positive numbers [N m or N], got {noise!r}")
    return sigma


def _excitation(base: BaseParameters, record: _Record) -> np.ndarray:
    """Singular values of the regressor, of columns in units of their usual sizes; an error if some are 0."""
    b = base.rank
    if record.count * base.robot.nv <= b:
        raise ArgumentError(
            f"identify: {record.count} samples of {base.robot.nv} torques are too few for {b} base parameters"
        )
    _, values, V = np.linalg.svd(triangle(record.R[:, :, :b].reshape(-1, b) / base.sizes))
    dark = np.linalg.norm(V[values <= _BLIND * values[0]], axis=0)
    if dark.any():
        names = [base.groups[k] for k in np.flatnonzero(dark > 0.1)]
        raise ArgumentError(
            f"identify: the motion excites too little: {len(names)} of {b} base parameters do not show, or not apart: "
            f"{'; '.join(names[:8])}{'; ...' if len(names) > 8 else ''}; the condition number is "
            f"{values[0] / max(values[-1], 1e-300):.1e}. `excitation(robot, ...)` plans a motion that does"
        )
    return values


def _term_sizes(record: _Record) -> np.ndarray:
    """(len(joints), nv) Joint parameters that make a hundredth of the joint's torque: a guess where the model has 0."""
    torque = 0.01 * np.where(record.rms > 0, record.rms, record.rms.max())
    return torque / np.maximum(record.terms, 1e-6)
