"""Parameters that a physical robot can have, near to identified base parameters and to a model: a convex problem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..dynamics.regressors import parameters
from ..errors import ArgumentError, SolveError
from ..lie import inertia
from ..model.input_checks import positive
from ..model.robot import Robot
from .base import BaseParameters
from .linear import least_squares

__all__ = ["Fit", "physical_parameters"]

_BASIS = np.array([inertia.pseudo_inertia.eager(e) for e in np.eye(10)])  # E_k (10, 4, 4) of P(π) = Σ π_k E_k
_ROUNDS = 150  # the most steps of Newton's method
_SOLVED, _NEARLY = 1e-8, 0.01  # squares of Newton's decrement, divided by the prior, at which a problem is solved
_ROUNDING = 1e-15  # eigenvalues below this part of the largest may be 0
_EASIER = 4.0  # each problem has a prior this many times larger than the next one, which starts from its solution
_TO_THE_BORDER = 0.9  # the part of the way to the border of what can exist that a step may go


class Fit(NamedTuple):
    """Admissible `parameters` (p,) and their `deviation` (B π - β)ᵀ Σ⁻¹ (B π - β) from the base parameters."""

    parameters: np.ndarray
    deviation: float


class _Problem(NamedTuple):
    """Minimise ½ |R (B π - β)|² + prior (Σ_bodies D(P_i, P̂_i) + Σ_terms d(x, x̂) + ½ Σ_offsets (x / x̂)²).

    Here π are the k parameters that are looked for; the others are 0.
    """

    data: np.ndarray  # (b, k) the columns of R B that belong to the k parameters
    aim: np.ndarray  # (b,) R β
    inverse: np.ndarray  # (n, 4, 4) P̂⁻¹
    terms: np.ndarray  # (k - 10 n,) x̂ of the joint terms that must be positive, NaN in the places of offsets
    offsets: np.ndarray  # (k - 10 n,) x̂ of the offsets, NaN in the places of the other terms
    prior: float


def physical_parameters(base: BaseParameters, R, estimate, sizes: np.ndarray, prior: float) -> Fit:
    """The minimum that the docstring of `identify` states, by Newton's method; each step is a least squares problem.

    `R` (b, b) is a root of the inverse covariance of the base parameters `estimate` (b,): Σ⁻¹ = RᵀR. `sizes`
    (terms, nv) are guesses for joint terms that are 0 in the model; those that torques do not show separately stay 0.

    The divergence of a body is D = tr(P P̂⁻¹) - log det(P P̂⁻¹) - 4, and that of a positive number is
    d = x/x̂ - log(x/x̂) - 1. Both are infinite at the border of what can exist. As in interior-point methods, a sequence
    of problems is solved, from a large prior, for which the minimum is easy to find, down to the prior asked for.
    """
    prior = positive(prior, "identify: prior")
    free = _free(base)
    problem, x = _problem(base, free, R, estimate, sizes)
    first = max(prior, float(np.sum((problem.data @ x - problem.aim) ** 2)) / len(x))
    for weight in np.geomspace(first, prior, 1 + int(np.ceil(np.log(first / prior) / np.log(_EASIER)))):
        problem = problem._replace(prior=float(weight))
        x = _minimum(problem, x, _SOLVED if weight == prior else _NEARLY)
    pi = np.zeros(len(free))
    pi[free] = x
    return Fit(pi, float(np.sum((problem.data @ x - problem.aim) ** 2)))


# --- the problem ------------------------------------------------------------------------------------------------------


def _free(base: BaseParameters) -> np.ndarray:
    """(p,) Which parameters are looked for: all but joint terms that are 0 in the model and no base parameter alone."""
    model = parameters(base.robot, base.joints)
    alone = np.zeros(len(model), bool)
    alone[base.selected] = ~base.K.any(axis=1)
    return alone | (model != 0) | (np.arange(len(model)) < 10 * len(base.robot.body_names))


def _problem(base: BaseParameters, free: np.ndarray, R, estimate, sizes) -> tuple[_Problem, np.ndarray]:
    """The problem, and the parameters to start from: those of the model, made admissible."""
    robot, guess = base.robot, _guesses(base.robot)
    bodies = 10 * len(guess)
    model, kept = parameters(robot, base.joints)[bodies:], free[bodies:]
    signed = np.repeat([name == "offset" for name in base.joints], robot.nv).astype(bool)
    scale = np.where(signed | (model <= 0), sizes.ravel(), model)
    start = np.concatenate([_inertias(guess).ravel(), np.where(signed, 0.0, scale)])[free]
    terms, offsets = np.where(signed, np.nan, scale)[kept], np.where(signed, 100 * scale, np.nan)[kept]
    return _Problem(R @ base.matrix[:, free], R @ estimate, np.linalg.inv(guess), terms, offsets, 1.0), start


def _guesses(robot: Robot) -> np.ndarray:
    """The model's pseudo-inertias P̂ (n, 4, 4), made positive definite where they are not.

    A body without mass is taken for a ball of 5 cm radius with a hundredth of the mean mass of the bodies.
    """
    if not robot.mass > 0:
        raise ArgumentError(
            f"identify: robot '{robot.name}' has no mass; a model with rough masses and sizes is needed"
        )
    ball = inertia.sphere.eager(0.01 * robot.mass / len(robot.body_names), 0.05)
    return np.array([_admissible(ball if own[0] <= 0 else own) for own in robot.inertias])


def _admissible(own: np.ndarray) -> np.ndarray:
    """The pseudo-inertia (4, 4) of an inertia (10,), with central second moments of at least a thousandth of their sum.

    So a thin rod gets some thickness. An inertia that is well inside what can exist stays as it is.
    """
    P = inertia.pseudo_inertia.eager(own)
    m, c = P[3, 3], P[:3, 3] / P[3, 3]
    values, axes = np.linalg.eigh(P[:3, :3] - m * np.outer(c, c))
    if values.min() > 1e-6 * values.sum():
        return P
    values = np.maximum(values, max(1e-3 * values.sum(), m * 1e-6))  # a radius of gyration of at least a millimetre
    shift = np.eye(4)
    shift[:3, 3] = c
    central = np.zeros((4, 4))
    central[:3, :3], central[3, 3] = axes * values @ axes.T, m
    return shift @ central @ shift.T


def _pseudo_inertias(inertias: np.ndarray) -> np.ndarray:
    """The pseudo-inertias (n, 4, 4) of inertias, 10 n numbers."""
    return np.einsum("nk,kab->nab", inertias.reshape(-1, 10), _BASIS)


def _inertias(P: np.ndarray) -> np.ndarray:
    """The inertias (n, 10) of pseudo-inertias P (n, 4, 4)."""
    second = P[:, :3, :3].trace(axis1=1, axis2=2)[:, None, None] * np.eye(3) - P[:, :3, :3]
    return np.column_stack([P[:, 3, 3], P[:, :3, 3], second[:, *np.triu_indices(3)]])


# --- its minimum ------------------------------------------------------------------------------------------------------


def _minimum(problem: _Problem, pi: np.ndarray, solved: float) -> np.ndarray:
    """The π that minimises the problem, from an admissible start; a `SolveError` if none is found."""
    value, decrease = _value(problem, pi), np.inf
    for _ in range(_ROUNDS):
        R, z = least_squares(*_linearised(problem, pi))
        step, decrease = -solve_triangular(R, z), float(z @ z)  # `decrease` is the square of Newton's decrement
        if decrease < solved * problem.prior:
            return pi
        length = min(1.0, _TO_THE_BORDER * _way_to_the_border(problem, pi, step))
        while not (new := _value(problem, pi + length * step)) <= value - 0.1 * length * decrease:
            length /= 2
            if length * decrease < 1e-12 * abs(value):  # rounding errors hide any further progress
                return _nearly(problem, pi, decrease)
        pi, value = pi + length * step, new
    return _nearly(problem, pi, decrease)


def _nearly(problem: _Problem, pi: np.ndarray, decrease: float) -> np.ndarray:
    """π itself if it is near enough to the minimum, which is about `decrease`/2 below; a `SolveError` if not."""
    if not decrease < _NEARLY * problem.prior:
        raise SolveError(
            f"identify: no minimum was found at prior {problem.prior:.1g}: the torques pull bodies to the border of "
            "what can exist; are signs and units right? A larger prior keeps them nearer to the model"
        )
    return pi


def _way_to_the_border(problem: _Problem, pi: np.ndarray, step: np.ndarray) -> float:
    """The largest t for which the bodies and terms of π + t step are positive, or infinity."""
    P, x, _ = _split(problem, pi)
    D, dx, _ = _split(problem, step)
    half = _roots(P)[1]
    least = min(np.linalg.eigvalsh(half @ D @ half).min(initial=0.0), np.nanmin(dx / x, initial=0.0))
    return -1 / least if least < 0 else np.inf


def _split(problem: _Problem, pi: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P (n, 4, 4), x/x̂ of the positive joint terms, and x/x̂ of the offsets; each is NaN in the places of the other."""
    bodies = 10 * len(problem.inverse)
    return _pseudo_inertias(pi[:bodies]), pi[bodies:] / problem.terms, pi[bodies:] / problem.offsets


def _roots(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P^½ and P^-½ of symmetric positive definite P (n, 4, 4)."""
    values, axes = np.linalg.eigh(P)
    return axes * np.sqrt(values)[:, None] @ axes.mT, axes / np.sqrt(values)[:, None] @ axes.mT


def _value(problem: _Problem, pi: np.ndarray) -> float:
    """What the problem minimises, at π; infinity outside of what can exist."""
    P, x, y = _split(problem, pi)
    values = np.linalg.eigvalsh(P)
    if not (values[:, 0] > _ROUNDING * values[:, 3]).all() or (x <= 0).any():
        return np.inf
    ratio = P @ problem.inverse
    bodies = ratio.trace(axis1=1, axis2=2) - np.linalg.slogdet(ratio)[1] - 4
    near = bodies.sum() + np.nansum(x - np.log(x) - 1) + 0.5 * np.nansum(y * y)
    return 0.5 * float(np.sum((problem.data @ pi - problem.aim) ** 2)) + problem.prior * float(near)


def _linearised(problem: _Problem, pi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A and r, with which the problem has the gradient Aᵀr and the Hessian AᵀA at π.

    The divergence D of a body has the derivatives tr((P̂⁻¹ - P⁻¹) E_k) along E_k and tr(P⁻¹ E_k P⁻¹ E_l) along E_k and
    E_l. These are inner products of the matrices P^-½ E_k P^-½ with P^½ P̂⁻¹ P^½ - 1, and with each other.
    """
    P, x, y = _split(problem, pi)
    n, p = len(P), len(pi)
    root, half = _roots(P)
    weight = np.sqrt(problem.prior)
    A, r = np.zeros((n, 16, p)), (root @ problem.inverse @ root - np.eye(4)).reshape(n, 16)
    for i in range(n):
        A[i, :, 10 * i : 10 * i + 10] = (half[i] @ _BASIS @ half[i]).reshape(10, 16).T
    own = np.where(np.isnan(problem.terms), 1 / problem.offsets, 1 / (x * problem.terms))
    joints = np.zeros((len(x), p))
    joints[:, 10 * n :] = np.diag(own)
    pull = np.where(np.isnan(problem.terms), y, x - 1)
    rows = [problem.data, weight * A.reshape(-1, p), weight * joints]
    return np.concatenate(rows), np.concatenate([problem.data @ pi - problem.aim, weight * r.ravel(), weight * pull])
