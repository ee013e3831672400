"""`identify` finds a robot's parameters from recorded motions and torques.

It makes two estimates from one recording. The first are the base parameters with their standard errors, by weighted
least squares: they are unbiased, and all that the torques tell. The second is a full set of parameters of a robot that
can physically exist: every mass is positive, every pseudo-inertia is positive definite, and where the torques tell
nothing the parameters stay near to those of the model. See Wensing, Kim & Slotine (2018), "Linear matrix inequalities
for physically consistent inertial parameter identification", IEEE RA-L 3(1), and Lee, Wensing & Park (2020), "Geometric
robot dynamic identification", IEEE Trans. Robot. 36(2), whose entropic divergence is used here.
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
from .data import Samples, checked_samples, each_piece, finite_rows, pick
from .files import stream_samples
from .linear import least_squares, triangle
from .physical import physical_parameters
from .plausibility import doubts
from .report import Identification

__all__ = ["identify"]

_MEMORY = 3e7  # [bytes] that the regressors of one piece of a recording may take
_SHOWN = 1000  # a plot shows at least so many samples, if the recording has them, and at most twice as many
_LOOKED_AT = 2000  # the number of samples in which `doubts` looks for mistakes
_LARGEST = 1e60  # the largest number allowed, so that products of several numbers do not overflow
_EXACT = 1e-9  # the least noise of a torque that is assumed, as a part of the torque's root mean square
_FLOOR = 1e-4  # the least error of the model's torque that is assumed, as a part of the torque's root mean square


def identify(
    robot: Robot,
    samples: Samples | Iterable[Samples] | str | Path,
    *,
    joints: tuple[str, ...] = tuple(JOINT_TERMS),
    noise=None,
    prior: float = 1.0,
    check: bool = True,
) -> Identification:
    """The `Identification` of a robot: its parameters from recorded motions and torques, with their errors.

        found = identify(robot, "recording.csv")
        print(found)
        better = found.robot

    - `robot` is the model; its parameters are the first guess.
    - `samples` are `Samples` in SI units, an iterable of them (such as `stream_samples` gives), or the path of a file.
      Pieces are read once, and memory does not grow with their number. Rows with NaN or infinity are dropped and
      counted.
    - `joints` names the terms of each joint that are identified together with the inertias: some of "armature",
      "damping", "friction" (dry) and "offset".
    - `noise` (nv,) [N m or N] is the standard deviation of the noise of each torque. With None it is estimated from
      what the fit leaves unexplained, by repeated fits (iteratively reweighted least squares).
    - `prior` weighs the model against the recording, see below.
    - `check=False` accepts samples that look wrong.

    The base parameters β (b,) follow from weighted least squares. Their covariance Σ is that of white noise in the
    torques. The parameters π (p,) of a robot that can exist minimise, over bodies i, joint terms j and offsets k,

        ½ (B π - β)ᵀ Σ⁻¹ (B π - β) + prior · (Σ_i D_i + Σ_j (x_j/x̂_j - log(x_j/x̂_j) - 1) + ½ Σ_k (o_k / ô_k)²)
        D_i = tr(P_i P̂_i⁻¹) - log det(P_i P̂_i⁻¹) - 4

    The pseudo-inertias of the bodies are P_i, those of the model P̂_i; x_j are armature, damping and friction; o_k are
    the offsets. In this formula, Σ assumes a noise of at least 1e-4 of each joint's torque. The problem is convex, so
    there is one minimum. Near the model each sum is half the square of relative errors: `prior` 1 means that the
    model's values are uncertain by about 100 %. x̂_j is the model's value, or if that is 0 the value that makes a
    hundredth of the joint's torque; ô_k is all of the joint's torque. Joint terms that are 0 in the model and that
    torques do not show separately stay 0.

    An `ArgumentError` tells which parameters the motion does not show, or that the samples look wrong: degrees, N mm,
    signs, the order of joints. A `SolveError` tells that no robot was found, for example because torques have the wrong
    sign. Python warnings tell what looks wrong about the result.

    See Lee, Wensing & Park (2020), "Geometric robot dynamic identification", IEEE Trans. Robot. 36(2).
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
    """All that least squares needs to know of a recording; its size does not depend on the recording's length."""

    R: np.ndarray  # (nv, b + 1, b + 1), triangular: R_iᵀ R_i is the sum of [y τ_i]ᵀ [y τ_i] with the rows y of joint i
    count: int  # the number of samples used
    dropped: int  # the number of rows with NaN or infinity
    rms: np.ndarray  # (nv,) root mean squares of the torques
    spread: np.ndarray  # (nv,) standard deviations of the torques
    terms: np.ndarray  # (terms, nv) root mean squares of the regressor's columns of the joints' own terms
    shown: Samples  # every `stride`-th sample, for plots
    stride: int


def _record(base: BaseParameters, pieces: Iterator[tuple[Samples, int]], check: bool) -> _Record:
    """The `_Record` of all pieces, each with its number of dropped rows; the first piece is checked for mistakes."""
    nv, b = base.robot.nv, base.rank
    R, count, dropped, shown, stride = np.zeros((nv, 0, b + 1)), 0, 0, None, 1
    first, total, squares, terms = *np.zeros((3, nv)), np.zeros((len(base.joints), nv))
    for piece, lost in pieces:
        dropped += lost
        if not len(piece.q):
            continue
        if shown is None:
            first, shown = piece.tau[0], pick(piece, slice(0))
            if check:
                _raise_doubts(base, pick(piece, slice(_LOOKED_AT)))
        shown, stride = _thinned(shown, pick(piece, slice(-count % stride, None, stride)), stride)
        Y = np.concatenate([base.regressor(*piece[:3], piece.slide), piece.tau[..., None]], axis=-1)
        R = triangle(np.concatenate([R, Y.swapaxes(0, 1)], axis=1))
        moved = piece.tau - first  # so that a large constant part costs no digits of the spread
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
    """Every `stride`-th sample of the recording so far, and the stride, which doubles when the samples are too many."""
    pairs = zip(shown, more, strict=True)
    both = Samples(*(None if x is None or y is None else np.concatenate([x, y]) for x, y in pairs))
    while len(both.q) > 2 * _SHOWN:
        both, stride = pick(both, slice(None, None, 2)), 2 * stride
    return both, stride


def _raise_doubts(base: BaseParameters, samples: Samples) -> None:
    """Raises an `ArgumentError` if something looks wrong about the samples."""
    if found := doubts(base, samples):
        raise ArgumentError("identify: " + "; ".join(found) + " (check=False takes the samples as they are)")


def _clean_pieces(robot: Robot, samples: Samples | Iterable[Samples] | str | Path) -> Iterator[tuple[Samples, int]]:
    """Checked pieces without NaN, small enough that their regressors fit into memory, and how many rows each lost."""
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
            whole = finite_rows(*part)
            yield pick(part, whole), int((~whole).sum())


def _need_moderate(samples: Samples) -> None:
    """Raises an error that names a field whose numbers are so large that their products overflow."""
    for field, x in samples._asdict().items():
        largest = 0.0 if x is None else np.abs(x, where=np.isfinite(x), out=np.zeros_like(x)).max(initial=0.0)
        if largest > _LARGEST:
            raise ArgumentError(f"identify: {field} reaches {largest:.3g}, which no recording in SI units does")


# --- least squares ----------------------------------------------------------------------------------------------------


def _weighted(R: np.ndarray, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R (b, b) and z (b,): the weighted least squares estimate solves R β = z and has the covariance (RᵀR)⁻¹."""
    both = (R / sigma[:, None, None]).reshape(-1, R.shape[-1])
    return least_squares(both[:, :-1], both[:, -1])


def _residuals(R: np.ndarray, estimate: np.ndarray) -> np.ndarray:
    """(nv,) Norms of the residuals τ - Y β of each joint over the whole recording."""
    return np.linalg.norm(R @ np.append(-estimate, 1.0), axis=-1)


def _r_squared(record: _Record, estimate: np.ndarray) -> np.ndarray:
    """(nv,) The part of each torque's variance that the estimate explains; NaN where a torque is constant."""
    variance = np.where(record.spread > 0, record.spread, np.nan) ** 2
    return 1 - _residuals(record.R, estimate) ** 2 / (record.count * variance)


def _noise(base: BaseParameters, record: _Record, rounds: int = 50) -> np.ndarray:
    """(nv,) The standard deviation of each joint's residuals in the fit that is weighted with these deviations.

    It is a fixed point, which the loop finds by fitting with the deviations of the fit before.
    """
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
    """(nv,) The degrees of freedom that the estimate takes from each joint's torques; their sum is b.

    Each is the trace of the joint's part of the hat matrix Y (YᵀY)⁻¹ Yᵀ of weighted rows; (YᵀY)⁻¹ = errors errorsᵀ.
    """
    return np.sum((record.R[:, :, :-1] / sigma[:, None, None] @ errors) ** 2, axis=(1, 2))


def _freedom(record: _Record, sigma: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """(b,) The degrees of freedom of the estimate's variances, by the formula of Welch and Satterthwaite.

    Each variance is a sum of parts, one for each joint's noise.
    """
    own = np.maximum(record.count - _used(record, sigma, errors), 0.5)
    parts = np.sum((record.R[:, :, :-1] / sigma[:, None, None] @ (errors @ errors.T)) ** 2, axis=1)  # (nv, b)
    return parts.sum(axis=0) ** 2 / np.sum(parts**2 / own[:, None], axis=0)


def _given_noise(robot: Robot, noise) -> np.ndarray:
    """The `noise` argument of `identify` as an array (nv,); an `ArgumentError` if it is not one of positive numbers."""
    sigma = floats(noise)
    if sigma.shape != (robot.nv,) or not ((sigma > 1 / _LARGEST) & (sigma < _LARGEST)).all():
        raise ArgumentError(f"identify: noise must be {robot.nv} positive numbers [N m or N], got {noise!r}")
    return sigma


def _condition(base: BaseParameters, record: _Record) -> float:
    """The condition number of the regressor; an `ArgumentError` if the motion does not show all base parameters."""
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
    """(len(joints), nv) Joint terms that make a hundredth of the joint's torque: guesses where the model has 0."""
    torque = 0.01 * np.where(record.rms > 0, record.rms, record.rms.max())
    return torque / np.maximum(record.terms, 1e-6)
