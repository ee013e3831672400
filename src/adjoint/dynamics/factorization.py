"""Factors of the mass matrix, M = W Ω Wᵀ, its inverse M⁻¹ = Zᵀ Ω⁻¹ Z with Z = W⁻¹, and what they give.

W is unit upper triangular, Ω diagonal and positive: Propositions 1 and 2 of PP = Ploen & Park (1999). An entry of W is
zero unless one joint carries the other, and Z has the same zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..compile import kernel, scan, static
from ..lie import se3, so3
from ..model.configuration import integrate
from ..model.input_checks import positive, vectors
from ..model.needs import need_robot
from ..model.robot import Robot
from ..randomness import Rng, generator, rng_by_keyword
from ..rolled import is_long, rolls
from ..rolled.calls import columns_of
from ..sweep import forces, inward_keeping, joint_placements, outward_keeping, rates, stacked, total
from .articulated import NOTHING, Symmetric, articulated_inertias, freed, mass_matrix_pivots, require_inertia
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


UNROLLED = 300  # products up to which columns are written out one by one


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
        later = range(n - 1, j, -1)  # what was found last comes last in a sum: nothing else waits for it
        scaled = {k: W[j][k] * Omega[k] for k in later}
        Omega[j] = M[j, j] - sum(W[j][k] * scaled[k] for k in later)
        inverse = 1 / Omega[j]
        for i in range(j):
            W[i][j] = (M[i, j] - sum(W[i][k] * scaled[k] for k in later)) * inverse
    return MassFactors(stacked(W, 2), stacked(Omega, 1))


def factored(robot: Robot, q) -> MassFactors:
    """`factor` of M(q), which is formed: for robots with mimics, and where all of M is wanted, for fewer operations."""
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
        y[i] = b[i] - sum(W[i, k] * y[k] for k in range(len(W) - 1, i, -1))
    return y


def _transposed_solve(W, y):
    """W⁻ᵀ y (n,)."""
    x: list = []
    for i in range(len(y)):
        x.append(y[i] - sum(W[k, i] * x[k] for k in range(i)))
    return np.stack(x) if x else np.zeros(0)


def inverse_factored(factors: MassFactors):
    """(W Ω Wᵀ)⁻¹ = Zᵀ Ω⁻¹ Z (n, n), symmetric, with Z = W⁻¹."""
    Z, inverse = _inverse_factors(factors)
    n = len(Z)
    scaled = [[d * z for z in row] for d, row in zip(inverse, Z, strict=True)]
    rows: list = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            rows[i][j] = rows[j][i] = sum(scaled[k][i] * Z[k][j] for k in range(i + 1))
    return stacked(rows, 2)


def minus_inverse_times(factors: MassFactors, *matrices) -> list:
    """-(W Ω Wᵀ)⁻¹ B (n, k) of each matrix B (n, k): Zᵀ (-Ω⁻¹ Z B), in which Z = W⁻¹ has the zeros of W.

    Columns with their zeros in the same places, as those of the joints of a limb have, go through one loop.
    """
    Z, inverse = _inverse_factors(factors)
    back = [list(column) for column in zip(*Z, strict=True)]
    scaled = [[-d * z for z in row] for d, row in zip(inverse, Z, strict=True)]
    found: list = [[None] * B.shape[1] for B in matrices]
    for rows, columns in _alike(matrices):

        def times(_, b, rows=rows):
            y = _products(scaled, dict(zip(rows, b, strict=True)))
            return (), stacked(_products(back, dict(enumerate(y))), 1)

        given = [stacked([matrices[m][k][j] for k in rows], 1) for m, j in columns]
        many = len(Z) * len(rows) * len(columns) > UNROLLED
        products = scan(times, (), np.stack(given))[1] if many else [times((), b)[1] for b in given]
        for (m, j), x in zip(columns, products, strict=True):
            found[m][j] = x
    return [np.stack(columns, axis=1) if columns else np.zeros((len(Z), 0)) for columns in found]


def _alike(matrices) -> list:
    """(rows, [(matrix, column), ...]): columns that have numbers other than zero in about these rows, only there."""
    found: dict[tuple[int, ...], list] = {}
    for m, B in enumerate(matrices):
        for j, column in enumerate(zip(*B, strict=True)):
            found.setdefault(tuple(k for k, x in enumerate(column) if not _is_zero(x)), []).append((m, j))
    merged: dict[tuple[int, ...], list] = {}
    for rows in sorted(found, key=len, reverse=True):
        home = next((r for r in merged if set(rows) <= set(r) and len(r) - len(rows) <= 2), rows)
        merged.setdefault(home, []).extend(found[rows])
    return list(merged.items())


def _products(A: list, b: dict) -> list:
    """A b, of those b_k that are given; numbers known to be zero take no part."""
    b = {k: x for k, x in b.items() if not _is_zero(x)}
    return [sum((row[k] * x for k, x in b.items() if not _is_zero(row[k])), 0.0) for row in A]


def _is_zero(x) -> bool:
    return isinstance(x, float) and x == 0


def _inverse_factors(factors: MassFactors) -> tuple[list, list]:
    """Rows of Z = W⁻¹, and the numbers of Ω⁻¹."""
    W, Omega = factors
    n = len(Omega)
    Z: list = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    for j in range(n):
        for i in reversed(range(j)):
            Z[i][j] = -sum(W[i, k] * Z[k][j] for k in range(j, i, -1))
    return Z, [1 / Omega[k] for k in range(n)]


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
    start = robot.layout.v_start
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


@rolls(check=require_inertia)
@kernel(robot=static, q="nq", x="nv")
def factor_product(robot, q, x):
    """W(q) x (nv,) in O(n): W_ij = S_iᵀ Ad(f_ij⁻¹)ᵀ Π_j for i on the path to j. Not for robots with mimics."""
    f = joint_placements(robot, q)

    def step(i, beyond: tuple) -> tuple:
        J, p = beyond
        pivots, rest = freed(robot, i, Symmetric.of_inertia(robot.inertias[i]) + J)
        own, found = rates(robot, x, i), []
        for k, pivot in reversed(list(enumerate(pivots))):
            found.append(own[k] + np.dot(pivot.s, p))
            p = p + pivot.Pi * own[k]
        return (rest.moved(f[i]), se3.coAd_inv_action(f[i], p)), np.stack(found[::-1])

    return forces(robot, inward_keeping(robot, step, (NOTHING, np.zeros(6)))[1])


@mass_matrix_factors.instead
def _factors_in_loops(statics: dict, names: tuple[str, ...]) -> Callable | None:
    robot = statics["robot"]
    if not is_long(robot):
        return None
    require_inertia(robot)
    W = columns_of(factor_product, "x", robot, statics, names)
    return lambda given: MassFactors(W(given), mass_matrix_pivots(robot, given["q"]))


@kernel(robot=static, q="nq")
def mass_matrix_inverse(robot, q):
    """M(q)⁻¹ (nv, nv), symmetric: Zᵀ Ω⁻¹ Z with Z = W⁻¹; PP Prop. 2."""
    return inverse_factored(factored(robot, q))


@rolls(check=require_inertia)
@kernel(robot=static, q="nq")
def mass_matrix_logdet(robot, q):
    """log det M(q) = Σ log Ω_k in O(n)."""
    if robot.mimics:
        return np.sum(np.log(factored(robot, q).Omega))
    require_inertia(robot)
    J = articulated_inertias(robot, joint_placements(robot, q))
    return total(robot, lambda i: sum((np.log(pivot.Omega) for pivot in J[i].pivots), 0.0))


@rolls(check=require_inertia)
@kernel(robot=static, q="nq", b="nv")
def mass_matrix_sqrt_solve(robot, q, b):
    """X b (nv,) in O(n) with X Xᵀ = M(q)⁻¹: X = W⁻ᵀ Ω^(-1/2). If b is white noise, √(kT) X b is a thermal velocity."""
    if robot.mimics:
        W, Omega = factored(robot, q)
        return _transposed_solve(W, [b[i] / np.sqrt(Omega[i]) for i in range(robot.nv)])
    require_inertia(robot)
    f = joint_placements(robot, q)
    J = articulated_inertias(robot, f)

    def step(i, y):
        y, found = se3.Ad_inv_action(f[i], y), []
        for s, pivot, noise in zip(robot.screw(i), J[i].pivots, rates(robot, b, i), strict=True):
            # PP (67)-(68): what the noise gives, less what the motion of the bodies before makes superfluous
            a = noise * np.sqrt(pivot.inverse) - np.dot(pivot.Pi, y)
            y = y + s * a
            found.append(a)
        return y, np.stack(found)

    return forces(robot, outward_keeping(robot, step, np.zeros(6)))


@rolls(check=require_inertia)
@kernel(robot=static, q="nq")
def mass_matrix_logdet_gradient(robot, q):
    """∂ log det M/∂q (nv,), along the motions that v describes; -½ kT of it is the force of Fixman's potential.

    Ĵ inward, then K_i = ∂ log det M/∂Ĵ_i outward. K_i (6, 6) is the inverse of the inertia that body i shows when all
    joints of the robot are free: J_i M⁻¹ J_iᵀ with its body Jacobian. With Q = Ĵ - U Uᵀ/Ω, what joint i lets through,
    and its parent's K seen from body i, moving the joint along s changes log det M by -2 tr(K Q ad(s)). Then each of
    its degrees of freedom makes of K the matrix (1 - s Πᵀ) K (1 - Π sᵀ) + s sᵀ/Ω.
    """
    if robot.mimics:
        return _moved_logdet.bind(robot).jacobian("dq")(q, np.zeros(robot.nv))
    require_inertia(robot)
    f = joint_placements(robot, q)

    def inward_step(i, beyond: Symmetric) -> tuple:
        pivots, rest = freed(robot, i, Symmetric.of_inertia(robot.inertias[i]) + beyond)
        return rest.moved(f[i]), (pivots, rest)

    _, left = inward_keeping(robot, inward_step, NOTHING)

    def outward_step(i, K: Symmetric) -> tuple:
        pivots, rest = left[i]
        K = _seen_from(f[i], K)
        slopes = _slopes(K, rest)
        by_q = [2 * np.dot(s, slopes) for s in robot.screw(i)]
        for s, pivot in zip(robot.screw(i), pivots, strict=True):
            K = _freer(K, s, pivot.Pi, pivot.inverse)
        return K, np.stack(by_q)

    return forces(robot, outward_keeping(robot, outward_step, NOTHING))


def _slopes(K: Symmetric, Q: Symmetric):
    """x (6,) with x·s = -tr(K Q ad(s))."""
    GA, GB, GC = K.A @ Q.A + K.B @ Q.B.T, K.A @ Q.B + K.B @ Q.C, K.B.T @ Q.B + K.C @ Q.C  # blocks of K Q ad(s) meets
    return np.concatenate([_axial(GA + GC), _axial(GB)])


def _freer(K: Symmetric, s, Pi, inverse) -> Symmetric:
    """(1 - s Πᵀ) K (1 - Π sᵀ) + s sᵀ/Ω: K beyond a joint, of K before it."""
    y = K @ Pi
    half = y - 0.5 * (np.dot(Pi, y) + inverse) * s
    w, v, m, f = s[:3], s[3:], half[:3], half[3:]
    A, C = np.outer(w, m), np.outer(v, f)
    return Symmetric(K.A - A - A.T, K.B - np.outer(w, f) - np.outer(m, v), K.C - C - C.T)


def _seen_from(f, K: Symmetric) -> Symmetric:
    """Ad(f⁻¹) K Ad(f⁻¹)ᵀ."""
    R, P = f[:3, :3], so3.hat(f[:3, 3])
    B = K.A @ P + K.B
    C = K.C + K.B.T @ P - P @ B
    return Symmetric(R.T @ K.A @ R, R.T @ B @ R, R.T @ C @ R)


def _axial(G):
    """x (3,) with x·w = -tr(G [w])."""
    return np.stack([G[2, 1] - G[1, 2], G[0, 2] - G[2, 0], G[1, 0] - G[0, 1]])


@kernel(robot=static, q="nq", dq="nv")
def _moved_logdet(robot, q, dq):
    return mass_matrix_logdet(robot, integrate(robot, q, dq))


@rng_by_keyword
def random_velocity(robot: Robot, q, *, rng: Rng = None, kT: float = 1.0) -> np.ndarray:
    """Velocities v ~ N(0, kT M(q)⁻¹) (..., nv) at q (..., nq): those of thermal equilibrium, at temperature kT [J]."""
    need_robot(robot, "random_velocity")
    rng, q = generator(rng, "random_velocity"), vectors(q, robot.nq, "q", "random_velocity")
    kT = positive(kT, "random_velocity: kT [J]", or_zero=True)
    noise = rng.standard_normal((*q.shape[:-1], robot.nv))
    return mass_matrix_sqrt_solve(robot, q, np.sqrt(kT) * noise)
