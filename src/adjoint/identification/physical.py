"""The robot nearest to a model, among those that can exist, that has identified base parameters: a convex problem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..dynamics.regressor import parameters
from ..errors import ArgumentError
from ..lie import inertia
from ..robot.model import Robot
from .base import BaseParameters
from .linear import least_squares

__all__ = ["Fit", "physical_parameters"]

_BASIS = np.array([inertia.pseudo_inertia.eager(e) for e in np.eye(10)])  # P(π) = Σ π_k E_k is linear
_ROUNDS = 200


class Fit(NamedTuple):
    """Admissible `parameters` (p,) and their `deviation` (B π - β)ᵀ Σ⁻¹ (B π - β) from the base parameters."""

    parameters: np.ndarray
    deviation: float


class _Problem(NamedTuple):
    """½ |R (B π - β)|² + prior (Σ_bodies D(P_i, P̂_i) + Σ_terms d(x, x̂) + ½ Σ_offsets (x / x̂)²)."""

    data: np.ndarray  # R B (b, p)
    aim: np.ndarray  # R β (b,)
    guess: np.ndarray  # P̂ (n, 4, 4)
    inverse: np.ndarray  # P̂⁻¹
    terms: np.ndarray  # x̂ of the positive joint parameters
    offsets: np.ndarray  # and of those that may have any sign
    prior: float


def physical_parameters(base: BaseParameters, R, estimate, sizes: np.ndarray, prior: float) -> Fit:
    """The minimum that `identify` states, by Newton's method, each step as a least squares problem.

    `R` (b, b) is the root of the information about the base parameters `estimate`, `sizes` (terms, nv) what a joint
    parameter may be that is 0 in the model. The divergence of a body is D = tr(P P̂⁻¹) - log det(P P̂⁻¹) - 4, that of a
    positive number d = x/x̂ - log(x/x̂) - 1; both are infinite at the border of what can exist.
    """
    if not prior > 0:
        raise ArgumentError(f"identify: prior must be positive, got {prior!r}")
    problem, pi = _problem(base, R, estimate, sizes, prior)
    value = _value(problem, pi)
    for _ in range(_ROUNDS):
        R, z = least_squares(*_linearised(problem, pi))
        step, decrease = -solve_triangular(R, z), float(z @ z)  # the latter is Newton's decrement, squared
        if decrease < 1e-9:
            break
        length = 1.0
        while not _value(problem, pi + length * step) < value - 0.1 * length * decrease and length > 1e-10:
            length /= 2
        pi = pi + length * step
        value = _value(problem, pi)
    return Fit(pi, float(np.sum((problem.data @ pi - problem.aim) ** 2)))


def _problem(base: BaseParameters, R, estimate, sizes, prior) -> tuple[_Problem, np.ndarray]:
    """The problem, and the model's parameters to start from, made positive."""
    robot = base.robot
    model = parameters(robot, base.joints)[10 * len(robot.body_names) :].reshape(-1, robot.nv)
    signed = np.array([name == "offset" for name in base.joints], bool)
    guess = _guesses(robot)
    scale = np.where(signed[:, None] | (model <= 0), sizes, model)
    start = np.concatenate([_inertias(guess).ravel(), np.where(signed[:, None], 0.0, scale).ravel()])
    terms = np.where(signed[:, None], np.nan, scale).ravel()
    offsets = np.where(signed[:, None], scale * 100, np.nan).ravel()
    return _Problem(R @ base.matrix, R @ estimate, guess, np.linalg.inv(guess), terms, offsets, prior), start


def _guesses(robot: Robot) -> np.ndarray:
    """P̂ (n, 4, 4): the model's pseudo-inertias, made positive definite where they are not by little.

    Central second moments are at least a thousandth of their sum, so that rods have some thickness; a body without mass
    is taken for a ball of a hundredth of the mean mass, of 5 cm radius.
    """
    if not robot.mass > 0:
        raise ArgumentError(
            f"identify: robot '{robot.name}' has no mass; a model with rough masses and sizes is needed"
        )
    ball = inertia.sphere.eager(0.01 * robot.mass / len(robot.body_names), 0.05)
    return np.array([_admissible(ball if own[0] <= 0 else own) for own in robot.inertias])


def _admissible(own: np.ndarray) -> np.ndarray:
    P = inertia.pseudo_inertia.eager(own)
    m, c = P[3, 3], P[:3, 3] / P[3, 3]
    values, axes = np.linalg.eigh(P[:3, :3] - m * np.outer(c, c))
    values = np.maximum(values, max(1e-3 * values.sum(), m * 1e-6))  # at least a millimetre
    shift = np.eye(4)
    shift[:3, 3] = c
    central = np.zeros((4, 4))
    central[:3, :3], central[3, 3] = axes * values @ axes.T, m
    return shift @ central @ shift.T


def _pseudo_inertias(pi: np.ndarray, n: int) -> np.ndarray:
    return np.einsum("nk,kab->nab", pi[: 10 * n].reshape(n, 10), _BASIS)


def _inertias(P: np.ndarray) -> np.ndarray:
    """(n, 10) Inertias of pseudo-inertias."""
    second = P[:, :3, :3].trace(axis1=1, axis2=2)[:, None, None] * np.eye(3) - P[:, :3, :3]
    return np.column_stack([P[:, 3, 3], P[:, :3, 3], second[:, *np.triu_indices(3)]])


def _split(problem: _Problem, pi: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P (n, 4, 4), x/x̂ of the positive terms and of the offsets (NaN where the other)."""
    n = len(problem.guess)
    return _pseudo_inertias(pi, n), pi[10 * n :] / problem.terms, pi[10 * n :] / problem.offsets


def _value(problem: _Problem, pi: np.ndarray) -> float:
    P, x, y = _split(problem, pi)
    if not (np.linalg.eigvalsh(P) > 0).all() or (x <= 0).any():
        return np.inf
    ratio = P @ problem.inverse
    bodies = ratio.trace(axis1=1, axis2=2) - np.linalg.slogdet(ratio)[1] - 4
    near = bodies.sum() + np.nansum(x - np.log(x) - 1) + 0.5 * np.nansum(y * y)
    return 0.5 * float(np.sum((problem.data @ pi - problem.aim) ** 2)) + problem.prior * float(near)


def _linearised(problem: _Problem, pi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A, r with gradient Aᵀr and Hessian AᵀA of the problem at π.

    Of a body's D along E_k and E_l these are tr((P̂⁻¹ - P⁻¹) E_k) and tr(P⁻¹ E_k P⁻¹ E_l): the products of the
    matrices P^-½ E_k P^-½ with P^½ P̂⁻¹ P^½ - 1 and with each other.
    """
    P, x, y = _split(problem, pi)
    n, p = len(P), len(pi)
    values, axes = np.linalg.eigh(P)
    root = axes * np.sqrt(values)[:, None] @ axes.mT
    half = axes / np.sqrt(values)[:, None] @ axes.mT
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
