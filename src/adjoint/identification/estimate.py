"""Identification: a robot's parameters from recorded motions and torques.

Two estimates of one recording. The base parameters by weighted least squares, unbiased, with standard errors: all that
the torques tell. And a robot that can exist, which needs all parameters: every mass positive, every pseudo-inertia
positive definite, near to the model where the torques tell nothing (Wensing, Kim & Slotine 2018, "Linear matrix
inequalities for physically consistent inertial parameter identification", IEEE RA-L 3(1); Lee, Wensing & Park 2020,
"Geometric robot dynamic identification", IEEE Trans. Robot. 36(2), whose entropic divergence is used here).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..dynamics.regressors import JOINT_TERMS
from ..errors import ArgumentError
from ..model.input_checks import floats, truth
from ..model.needs import need_robot
from ..model.robot import Robot
from .base import BaseParameters, base_parameters, some
from .data import Samples, checked_samples, each_piece, pick
from .files import stream_samples
from .linear import least_squares, triangle
from .physical import physical_parameters
from .plausibility import doubts
from .report import Identification

__all__ = ["identify"]

_MEMORY = 3e7  # [bytes] of a piece's regressors
_SHOWN = 1000  # samples of a recording that are drawn at least, if it has so many; twice that at most
_LOOKED_AT = 2000  # samples that are looked at for doubts
_LARGEST = 1e60  # numbers whose products are numbers too
_EXACT = 1e-9  # of a joint's torque: no noise is less
_FLOOR = 1e-4  # of a joint's torque: no model is better


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
    with NaN or infinity are dropped and counted. `joints` are the terms of each joint to identify with the inertias, of
    "armature", "damping", "friction" (dry) and "offset".

    Base parameters β: weighted least squares, with the torque `noise` (nv,) [N m or N] of each joint; None: that which
    remains, found by repetition (iteratively reweighted). Their errors are those of noise that is white in the torques.

    Robot: the minimum over all admissible parameters π, of bodies and joints, of

        ½ (B π - β)ᵀ Σ⁻¹ (B π - β) + prior · (Σ_i D_i + Σ_j (x_j/x̂_j - log(x_j/x̂_j) - 1) + ½ Σ_k (o_k / ô_k)²)
        D_i = tr(P_i P̂_i⁻¹) - log det(P_i P̂_i⁻¹) - 4

    with the covariance Σ of β, for noise of at least 1e-4 of a joint's torque, the pseudo-inertias P_i of the bodies
    and P̂_i of the model, its armature, damping and friction x_j and the offsets o_k: convex, so there is one. Near the
    model the sums are half of squared relative errors: with `prior` 1 the model is as if known to 100 %. x̂_j is the
    model's, or makes a hundredth of the joint's torque where that is 0, and ô_k is all of it. Joint terms that are 0 in
    the model and do not show alone stay 0.

    Raises `ArgumentError` for motions that leave parameters in the dark, saying which, and for samples that look wrong:
    degrees, N mm, signs, order of joints; `check=False` takes these as they are. A `SolveError` says that no robot was
    found, as with torques of the wrong sign, and Python warnings what looks wrong about a result.
    """
    need_robot(robot, "identify")
    if not robot.nv:
        raise ArgumentError(f"identify: robot '{robot.name}' has no joints that move: there are no torques")
    base = base_parameters(robot, joints)
    record = _record(base, _clean_pieces(robot, samples), truth(check, "identify: check"))
    condition = _condition(base, record)
    sigma = _noise(base, record) if noise is None else _given_noise(robot, noise)
    R, z = _weighted(record.R, sigma)
    estimate = solve_triangular(R, z)
    errors = solve_triangular(R, np.eye(base.rank))
    trusted, _ = _weighted(record.R, np.maximum(sigma, _FLOOR * record.rms))
    fit = physical_parameters(base, trusted, estimate, _term_sizes(record), prior)
    found = Identification(
        model=robot, base=base, estimate=estimate, covariance=errors @ errors.T,
        freedom=_freedom(record, sigma, errors) if noise is None else np.full(base.rank, np.inf),
        noise=sigma, r_squared=_r_squared(record, estimate), condition=condition,
        samples=record.count, dropped=record.dropped, shown=record.shown, stride=record.stride,
        parameters=fit.parameters, deviation=fit.deviation,
    )  # fmt: skip
    for text in found.warnings:
        warnings.warn(f"identify: {text}", stacklevel=2)
    return found


# --- the recording ----------------------------------------------------------------------------------------------------


class _Record(NamedTuple):
    """All that least squares needs of a recording, of any length."""

    R: np.ndarray  # (nv, b + 1, b + 1), triangular: R_iᵀ R_i is the sum of [y τ_i]ᵀ [y τ_i] with the rows y of joint i
    count: int
    dropped: int  # rows with NaN
    rms: np.ndarray  # (nv,) root mean squares of the torques
    spread: np.ndarray  # (nv,) their standard deviation
    terms: np.ndarray  # (terms, nv) root mean squares of the columns of the joints' own terms
    shown: Samples  # every so many-th of them
    stride: int  # how many


def _record(base: BaseParameters, pieces: Iterator[tuple[Samples, int]], check: bool) -> _Record:
    nv, b = base.robot.nv, base.rank
    R, count, dropped, shown, stride = np.zeros((nv, 0, b + 1)), 0, 0, None, 1
    first, total, squares, terms = *np.zeros((3, nv)), np.zeros((len(base.joints), nv))
    for piece, lost in pieces:
        dropped += lost
        if not len(piece.q):
            continue
        if shown is None:
            first, shown = piece.tau[0], pick(piece, slice(0))
            _raise_doubts(base, pick(piece, slice(_LOOKED_AT)) if check else None)
        shown, stride = _thinned(shown, pick(piece, slice(-count % stride, None, stride)), stride)
        Y = np.concatenate([base.regressor(*piece[:3], piece.slide), piece.tau[..., None]], axis=-1)
        R = triangle(np.concatenate([R, Y.swapaxes(0, 1)], axis=1))
        moved = piece.tau - first  # a constant part, however large, takes no digits from the spread
        count, total, squares = count + len(moved), total + moved.sum(0), squares + (moved**2).sum(0)
        terms += [(JOINT_TERMS[name](piece.v, piece.a) ** 2).sum(0) for name in base.joints] or 0.0
    if shown is None:
        raise ArgumentError(f"identify: no samples{f'; all {dropped} rows have NaN' if dropped else ''}")
    spread = np.sqrt(np.maximum(squares / count - (total / count) ** 2, 0.0))
    rms = np.hypot(spread, first + total / count)
    if rms.max() < 1 / _LARGEST:
        raise ArgumentError("identify: all torques are 0; which column of the recording has them?")
    return _Record(R, count, dropped, rms, spread, np.sqrt(terms / count), shown, stride)


def _thinned(shown: Samples, more: Samples, stride: int) -> tuple[Samples, int]:
    """Every so many-th sample of a recording of any length, and how many: half of them go when there are too many."""
    pairs = zip(shown, more, strict=True)
    both = Samples(*(None if x is None or y is None else np.concatenate([x, y]) for x, y in pairs))
    while len(both.q) > 2 * _SHOWN:
        both, stride = pick(both, slice(None, None, 2)), 2 * stride
    return both, stride


def _raise_doubts(base: BaseParameters, samples: Samples | None) -> None:
    found = doubts(base, samples) if samples is not None else []
    if found:
        raise ArgumentError("identify: " + "; ".join(found) + " (check=False takes the samples as they are)")


def _clean_pieces(robot: Robot, samples: Samples | Iterable[Samples] | str | Path) -> Iterator[tuple[Samples, int]]:
    """Pieces without NaN, small enough for their regressors, and how many rows each has lost."""
    if isinstance(samples, (str, Path)):
        samples = stream_samples(samples, robot)
    rows = max(16, int(_MEMORY / (8 * robot.nv * 10 * len(robot.body_names))))
    for piece in each_piece(samples, "identify"):
        piece = checked_samples(robot, piece, "identify")
        if piece.v is None or piece.a is None:
            raise ArgumentError(
                "identify: samples have no v or a; samples = read_samples(path, robot), if they are in a file, then "
                "differentiate(robot, samples, cutoff=...) finds them from q and time"
            )
        for start in range(0, len(piece.q), rows):
            part = pick(piece, slice(start, start + rows))
            _need_moderate(part)
            whole = np.isfinite(np.column_stack([x for x in part if x is not None])).all(axis=1)
            yield pick(part, whole), int((~whole).sum())


def _need_moderate(samples: Samples) -> None:
    """An error that names a number so large that its square is none."""
    for field, x in samples._asdict().items():
        largest = 0.0 if x is None else np.abs(x, where=np.isfinite(x), out=np.zeros_like(x)).max(initial=0.0)
        if largest > _LARGEST:
            raise ArgumentError(f"identify: {field} reaches {largest:.3g}, which no recording in SI units does")


# --- least squares ----------------------------------------------------------------------------------------------------


def _weighted(R: np.ndarray, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R (b, b), z (b,): the weighted least squares estimate solves R β = z and has covariance (RᵀR)⁻¹."""
    both = (R / sigma[:, None, None]).reshape(-1, R.shape[-1])
    return least_squares(both[:, :-1], both[:, -1])


def _residuals(R: np.ndarray, estimate: np.ndarray) -> np.ndarray:
    """(nv,) Lengths of what the estimate leaves of each joint's torques."""
    return np.linalg.norm(R @ np.append(-estimate, 1.0), axis=-1)


def _r_squared(record: _Record, estimate: np.ndarray) -> np.ndarray:
    """(nv,) The part of the torques' variance that is explained; NaN where there is none."""
    variance = np.where(record.spread > 0, record.spread, np.nan) ** 2
    return 1 - _residuals(record.R, estimate) ** 2 / (record.count * variance)


def _noise(base: BaseParameters, record: _Record, rounds: int = 50) -> np.ndarray:
    """(nv,) The noise of each joint's torque that weighted least squares leaves, weighted with that very noise."""
    least = _EXACT * np.where(record.rms > 0, record.rms, record.rms.max(initial=1e-300))
    sigma = np.maximum(record.rms, least)
    for _ in range(rounds):
        R, z = _weighted(record.R, sigma)
        freedom = record.count - _used(record, sigma, solve_triangular(R, np.eye(base.rank)))
        new = _residuals(record.R, solve_triangular(R, z)) / np.sqrt(np.maximum(freedom, 0.5))
        new = np.maximum(new, least)
        if np.allclose(new, sigma, rtol=1e-6, atol=0):
            break
        sigma = new
    return new


def _used(record: _Record, sigma: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """(nv,) Degrees of freedom that the estimate takes from each joint's torques: the trace of its part of the hat
    matrix Y (YᵀY)⁻¹ Yᵀ of weighted rows, with (YᵀY)⁻¹ = errors errorsᵀ; together the number of base parameters."""
    return np.sum((record.R[:, :, :-1] / sigma[:, None, None] @ errors) ** 2, axis=(1, 2))


def _freedom(record: _Record, sigma: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """(b,) Degrees of freedom of the estimate's variances, sums of parts that are in proportion to the joints' own
    (Welch & Satterthwaite)."""
    own = np.maximum(record.count - _used(record, sigma, errors), 0.5)
    parts = np.sum((record.R[:, :, :-1] / sigma[:, None, None] @ (errors @ errors.T)) ** 2, axis=1)  # (nv, b)
    return parts.sum(axis=0) ** 2 / np.sum(parts**2 / own[:, None], axis=0)


def _given_noise(robot: Robot, noise) -> np.ndarray:
    sigma = floats(noise)
    if sigma.shape != (robot.nv,) or not ((sigma > 1 / _LARGEST) & (sigma < _LARGEST)).all():
        raise ArgumentError(f"identify: noise must be {robot.nv} positive numbers [N m or N], got {noise!r}")
    return sigma


def _condition(base: BaseParameters, record: _Record) -> float:
    """The condition number of the regressor; an error if the motion does not show all base parameters."""
    b = base.rank
    if record.count * base.robot.nv <= b:
        raise ArgumentError(
            f"identify: {record.count} samples of {base.robot.nv} torques are too few for {b} base parameters"
        )
    condition, dark = base.dark(triangle(record.R[:, :, :b].reshape(-1, b)))
    if dark:
        raise ArgumentError(
            f"identify: the motion excites too little: {len(dark)} of {b} base parameters do not show, or not apart: "
            f"{some(dark)}; the condition number is {condition:.1e}. `excitation(robot, ...)` plans a motion that does"
        )
    return condition


def _term_sizes(record: _Record) -> np.ndarray:
    """(len(joints), nv) Joint parameters that make a hundredth of the joint's torque: a guess where the model has 0."""
    torque = 0.01 * np.where(record.rms > 0, record.rms, record.rms.max())
    return torque / np.maximum(record.terms, 1e-6)
