"""Factors of the mass matrix, M = W Ω Wᵀ, its inverse M⁻¹ = Zᵀ Ω⁻¹ Z with Z = W⁻¹, and what they give.

W is unit upper triangular, Ω diagonal and positive: Propositions 1 and 2 of PP = Ploen & Park (1999). An entry of W is
zero unless one joint carries the other, and Z has the same zeros.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..lie import se3
from ..robot.configuration import integrate
from ..robot.model import Robot
from ..sweep import joint_placements, stacked
from .articulated import articulated_inertias, require_inertia
from .composite import mass_matrix

__all__ = [
    "MassFactors",
    "mass_matrix_factors",
    "mass_matrix_inverse",
    "mass_matrix_logdet",
    "mass_matrix_logdet_gradient",
    "mass_matrix_sqrt_solve",
    "random_velocity",
]


class MassFactors(NamedTuple):
    """M = W diag(Omega) Wᵀ: W (nv, nv) unit upper triangular, Omega (nv,)."""

    W: np.ndarray
    Omega: np.ndarray


def factor(M) -> MassFactors:
    """W Ω Wᵀ of any symmetric positive definite M (n, n), from the last row upward; zeros of M stay unused."""
    n = len(M)
    W = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    Omega: list = [None] * n
    for j in reversed(range(n)):
        Omega[j] = M[j, j] - sum(W[j][k] * W[j][k] * Omega[k] for k in range(j + 1, n))
        inverse = 1 / Omega[j]
        for i in range(j):
            W[i][j] = (M[i, j] - sum(W[i][k] * W[j][k] * Omega[k] for k in range(j + 1, n))) * inverse
    return MassFactors(stacked(W, 2), stacked(Omega, 1))


def factored(robot: Robot, q) -> MassFactors:
    """`factor` of M(q), which is formed: for robots with mimics."""
    require_inertia(robot)
    return factor(mass_matrix(robot, q))


def solve_factored(factors: MassFactors, b):
    """(W Ω Wᵀ)⁻¹ b (n,); of the columns of b, if it is (n, k)."""
    W, Omega = factors
    y = _upper_solve(W, b)
    return _transposed_solve(W, [y[i] * (1 / Omega[i]) for i in range(len(y))])  # one division for all columns


def sqrt_solve_factored(factors: MassFactors, b):
    """Y = Ω^(-1/2) W⁻¹ b (n, k) of b (n, k): Yᵀ Y = bᵀ (W Ω Wᵀ)⁻¹ b."""
    W, Omega = factors
    y = _upper_solve(W, b)
    return np.stack([y[i] * (1 / np.sqrt(Omega[i])) for i in range(len(y))]) if y else b


def _upper_solve(W, b) -> list:
    """W⁻¹ b, row by row."""
    y: list = [None] * len(W)
    for i in reversed(range(len(W))):
        y[i] = b[i] - sum(W[i, k] * y[k] for k in range(i + 1, len(W)))
    return y


def _transposed_solve(W, y):
    """W⁻ᵀ y (n,)."""
    x: list = []
    for i in range(len(y)):
        x.append(y[i] - sum(W[k, i] * x[k] for k in range(i)))
    return np.stack(x) if x else np.zeros(0)


def inverse_factored(factors: MassFactors):
    """(W Ω Wᵀ)⁻¹ = Zᵀ Ω⁻¹ Z (n, n), symmetric, with Z = W⁻¹."""
    Z, scaled = _inverse_factors(factors)
    n = len(Z)
    rows: list = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            rows[i][j] = rows[j][i] = sum(scaled[k][i] * Z[k][j] for k in range(i + 1))
    return stacked(rows, 2)


def inverse_times(factors: MassFactors, *matrices) -> list:
    """(W Ω Wᵀ)⁻¹ B (n, k) of each matrix B (n, k): Zᵀ (Ω⁻¹ Z B), in which Z = W⁻¹ has the zeros of W."""
    Z, scaled = _inverse_factors(factors)
    back = [list(column) for column in zip(*Z, strict=True)]
    return [stacked(_sparse_product(back, _sparse_product(scaled, B)), 2) for B in matrices]


def _sparse_product(A: list, B) -> list:
    """Rows of A B; numbers known to be zero take no part."""
    present = [{k for k, x in enumerate(column) if not _is_zero(x)} for column in zip(*B, strict=True)]
    rows = []
    for row in A:
        used = [k for k, x in enumerate(row) if not _is_zero(x)]
        rows.append([sum((row[k] * B[k][j] for k in used if k in have), 0.0) for j, have in enumerate(present)])
    return rows


def _is_zero(x) -> bool:
    return isinstance(x, float) and x == 0


def _inverse_factors(factors: MassFactors) -> tuple[list, list]:
    """Rows of Z = W⁻¹ and of Ω⁻¹ Z."""
    W, Omega = factors
    n = len(Omega)
    Z: list = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    for j in range(n):
        for i in reversed(range(j)):
            Z[i][j] = -sum(W[i, k] * Z[k][j] for k in range(i + 1, j + 1))
    inverse = [1 / Omega[k] for k in range(n)]
    return Z, [[Z[k][i] * inverse[k] for i in range(n)] for k in range(n)]


@kernel(robot=static, q="nq")
def mass_matrix_factors(robot, q):
    """`MassFactors` of M(q) in O(n · depth): PP Prop. 1.

    W_ij = S_iᵀ Ad(f_ij⁻¹)ᵀ Ĵ_j S_j / Ω_j for i on the path to j, 0 elsewhere.
    """
    if robot.mimics:
        return factored(robot, q)
    require_inertia(robot)
    f = joint_placements(robot, q)
    J = articulated_inertias(robot, f)
    W = [[1.0 if i == j else 0.0 for j in range(robot.nv)] for i in range(robot.nv)]
    start = robot._layout.v_start
    for j in J:
        for k, pivot in enumerate(J[j].pivots):
            pi = pivot.Pi  # seen from ever farther inward
            for m, other in enumerate(J[j].pivots[:k]):
                W[start[j] + m][start[j] + k] = np.dot(other.s, pi)
            i = j
            while robot.parents[i] >= 0:
                pi, i = se3.coAd_inv_action(f[i], pi), int(robot.parents[i])
                for m, other in enumerate(J[i].pivots):
                    W[start[i] + m][start[j] + k] = np.dot(other.s, pi)
    Omega = [p.Omega for j in J for p in J[j].pivots]
    return MassFactors(stacked(W, 2), stacked(Omega, 1))


@kernel(robot=static, q="nq")
def mass_matrix_inverse(robot, q):
    """M(q)⁻¹ (nv, nv), symmetric: Zᵀ Ω⁻¹ Z with Z = W⁻¹; PP Prop. 2."""
    return inverse_factored(mass_matrix_factors(robot, q))


@kernel(robot=static, q="nq")
def mass_matrix_logdet(robot, q):
    """log det M(q) = Σ log Ω_k in O(n)."""
    if robot.mimics:
        return np.sum(np.log(factored(robot, q).Omega))
    require_inertia(robot)
    J = articulated_inertias(robot, joint_placements(robot, q))
    return sum((np.log(p.Omega) for j in J for p in J[j].pivots), 0.0)


@kernel(robot=static, q="nq", b="nv")
def mass_matrix_sqrt_solve(robot, q, b):
    """X b (nv,) in O(n) with X Xᵀ = M(q)⁻¹: X = W⁻ᵀ Ω^(-1/2). If b is white noise, √(kT) X b is a thermal velocity."""
    if robot.mimics:
        W, Omega = factored(robot, q)
        return _transposed_solve(W, [b[i] / np.sqrt(Omega[i]) for i in range(robot.nv)])
    require_inertia(robot)
    f = joint_placements(robot, q)
    J = articulated_inertias(robot, f)
    found: list = []
    motion = {-1: np.zeros(6)}
    for i in J:
        y = se3.Ad_inv_action(f[i], motion[int(robot.parents[i])])
        for pivot in J[i].pivots:
            # PP (67)-(68): what the noise gives, less what the motion of the bodies before makes superfluous
            a = b[len(found)] * np.sqrt(pivot.inverse) - np.dot(pivot.Pi, y)
            y = y + pivot.s * a
            found.append(a)
        motion[i] = y
    return np.stack(found) if found else np.zeros(0)


@kernel(robot=static, q="nq", dq="nv")
def _moved_logdet(robot, q, dq):
    return mass_matrix_logdet(robot, integrate(robot, q, dq))


@kernel(robot=static, q="nq")
def mass_matrix_logdet_gradient(robot, q):
    """∂ log det M/∂q (nv,), along the motions that v describes; -½ kT of it is the force of Fixman's potential."""
    return _moved_logdet.bind(robot).jacobian("dq")(q, np.zeros(robot.nv))


def random_velocity(robot: Robot, q, rng: np.random.Generator | int | None = None, kT: float = 1.0) -> np.ndarray:
    """Velocities v ~ N(0, kT M(q)⁻¹) (..., nv) at q (..., nq): those of thermal equilibrium, at temperature kT [J]."""
    rng = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)
    noise = rng.standard_normal((*np.shape(q)[:-1], robot.nv))
    return mass_matrix_sqrt_solve(robot, q, np.sqrt(kT) * noise)
