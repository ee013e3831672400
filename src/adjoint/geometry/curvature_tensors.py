"""Curvature of the kinetic metric: how far the dynamics of a robot are from those of free particles.

The curvature is zero everywhere if and only if there are coordinates in which M is constant (Spong 1992), and its size
tells how much the dynamics depend on the configuration. PBP is Park, Bobrow & Ploen (1995), here §5. By their
Proposition 2, (54), the second derivatives of M follow like the first ones in `christoffel_symbols`, where u, J̇ and F
are explained. For four joints a, b, c, d on one path, of which d is the outermost,

    ∂_c ∂_d m_ab = [u_a, u_c]ᵀ J̇_d u_b + [u_b, u_c]ᵀ J̇_d u_a,  each bracket only if its first joint is before c,
    ∂_b ∂_c m_ad = [[u_a, u_b], u_c]ᵀ F_d,                      for a before b, b not beyond c, c before d,

and all others are zero. No sum over bodies is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np

from ..compile import kernel, static
from ..dynamics.composite import mass_matrix
from ..dynamics.coriolis import coriolis_matrix
from ..dynamics.factorization import MassFactors, mass_matrix_factors, mass_matrix_inverse, sqrt_solve_factored
from ..dynamics.forward import solve_mass_matrix
from ..dynamics.newton_euler import mass_matrix_product
from ..errors import ArgumentError
from ..lie import se3
from ..model.configuration import random_configuration
from ..model.input_checks import count
from ..model.needs import need_coordinates, need_robot
from ..model.robot import Robot
from .christoffel_symbols import Degree, christoffel, degrees_seen

__all__ = ["curvature", "is_flat", "ricci_curvature", "scalar_curvature", "sectional_curvature"]


@kernel(robot=static, q="nq")
def curvature(robot: Robot, q) -> np.ndarray:
    """Return the Riemann tensor R (nv, nv, nv, nv): R_ijkl = ∂_k Γ_jli - ∂_l Γ_jki + Σ_r (Γ_ilr Γ^r_jk - Γ_ikr Γ^r_jl).

        >>> curvature(robot, q).shape
        (6, 6, 6, 6)

    It obeys R_ijkl = -R_jikl = -R_ijlk = R_klij and R_ijkl + R_iklj + R_iljk = 0, and is positive on spheres. Every
    joint must have one degree of freedom. The tensor has nv⁴ numbers; `sectional_curvature` is cheaper for large
    robots. Park, Bobrow & Ploen (1995), (66).
    """
    need_coordinates(robot, "curvature is")
    if robot.nv < 2:  # there is no plane, hence no curvature
        return np.zeros((robot.nv,) * 4)
    half_second = _second_slopes(robot, degrees_seen(robot, q, 0.5))
    gram = _gram(christoffel(robot, q), mass_matrix_factors(robot, q))

    def R(i, j, k, l):
        # ∂_k Γ_jli - ∂_l Γ_jki = ½ (∂_j ∂_k m_il - ∂_i ∂_k m_jl - ∂_j ∂_l m_ik + ∂_i ∂_l m_jk)
        s = half_second
        return s(i, l, j, k) - s(j, l, i, k) - s(i, k, j, l) + s(j, k, i, l) + gram(i, l, j, k) - gram(i, k, j, l)

    return _symmetric(robot.nv, R)


def _second_slopes(robot: Robot, every: list[Degree]) -> Callable:
    """Return the function (i, j, k, l) -> ∂_k ∂_l m_ij of places in v, times the factor that `every` was made with."""
    found: dict[tuple[int, ...], Any] = {}
    for pair, by, slope in _second_slopes_of_pairs(robot, every):
        slope = np.prod([x.scale for x in (*pair, *by)]) * slope
        for (a, b), (c, d) in product(_orders(pair), _orders(by)):
            key = a.place, b.place, c.place, d.place
            found[key] = found[key] + slope if key in found else slope  # mimics share a place
    return lambda *places: found.get(places, 0.0)


def _orders(pair: tuple) -> list[tuple]:
    """Return both orders of a pair, or one if its elements are the same."""
    a, b = pair
    return [(a, b)] if a is b else [(a, b), (b, a)]


def _second_slopes_of_pairs(robot: Robot, every: list[Degree]) -> Iterator[tuple]:
    """Yield ((a, b), (c, d), ∂_c ∂_d m_ab) where it is not zero, each once; a mimic counts as a degree of freedom."""
    bracket = {
        (a.body, b.body): se3.bracket(a.screw, b.screw)
        for b in every for a in every if a is not b and a.body in robot.path(b.body)
    }  # fmt: skip
    for d in every:
        carriers = [b for b in every if b.body in robot.path(d.body)]
        rate = {b.body: d.inertia_rate_times(b.screw) for b in carriers}
        turned = {c.body: d.turned_momentum(c.screw) for c in carriers[:-1]}
        for n, a in enumerate(carriers):
            for b, c in product(carriers[n:], carriers[n + 1 :]):
                slope = np.dot(bracket[a.body, c.body], rate[b.body])
                if (b.body, c.body) in bracket:
                    slope = slope + np.dot(bracket[b.body, c.body], rate[a.body])
                yield (a, b), (c, d), slope
            for b, c in combinations_with_replacement(carriers[n + 1 : -1], 2):
                yield (a, d), (b, c), np.dot(bracket[a.body, b.body], turned[c.body])


def _gram(Gamma, factors: MassFactors) -> Callable:
    """Return the function (i, j, k, l) -> Σ_r Γ_ijr Γ^r_kl = Y_ijᵀ Y_kl, where Y = Ω^(-1/2) W⁻¹ Γ and M = W Ω Wᵀ."""
    pairs = list(combinations_with_replacement(range(len(Gamma)), 2))
    Y = sqrt_solve_factored(factors, np.stack([Gamma[i, j] for i, j in pairs], axis=-1))
    place = {pair: n for n, pair in enumerate(pairs)} | {(j, i): n for n, (i, j) in enumerate(pairs)}
    known: dict[tuple[int, ...], Any] = {}

    def product_of(i, j, k, l):
        m, n = sorted((place[i, j], place[k, l]))
        if (m, n) not in known:
            known[m, n] = np.dot(Y[:, m], Y[:, n])
        return known[m, n]

    return product_of


def _symmetric(n: int, R: Callable) -> np.ndarray:
    """Return all R_ijkl, computed from those with i < j, k < l and (i, j) not after (k, l)."""
    found: dict[tuple[int, ...], Any] = {}
    for (i, j), (k, l) in combinations_with_replacement(combinations(range(n), 2), 2):
        value = R(i, j, k, l)
        opposite = 0.0 - value  # -value would be -0 where the value is 0
        found |= dict.fromkeys([(i, j, k, l), (j, i, l, k), (k, l, i, j), (l, k, j, i)], value)
        found |= dict.fromkeys([(j, i, k, l), (i, j, l, k), (k, l, j, i), (l, k, i, j)], opposite)
    every = [found.get(places, 0.0) for places in product(range(n), repeat=4)]
    return np.stack(every).reshape(n, n, n, n)


@kernel(robot=static, q="nq")
def ricci_curvature(robot: Robot, q) -> np.ndarray:
    """Return the Ricci tensor Ric_jl = Σ (M⁻¹)_ik R_ijkl (nv, nv), which is symmetric."""
    return np.einsum("ik,ijkl->jl", mass_matrix_inverse(robot, q), curvature(robot, q))


@kernel(robot=static, q="nq")
def scalar_curvature(robot: Robot, q) -> np.ndarray:
    """Return the scalar curvature Σ (M⁻¹)_jl Ric_jl [1/(kg m²)].

    It is twice the sum of the sectional curvatures of all pairs in an orthonormal basis.
    """
    return np.einsum("jl,jl->", mass_matrix_inverse(robot, q), ricci_curvature(robot, q))


PARALLEL = 1e-14  # sin² of the angle between vectors below which they count as having the same direction


@kernel(robot=static, q="nq", x="nv", y="nv")
def sectional_curvature(robot: Robot, q, x, y) -> np.ndarray:
    """Return the sectional curvature K [1/(kg m²)] of the plane that the vectors x and y (nv,) span.

    K = Σ R_ijkl x_i y_j x_k y_l / (|x|² |y|² - <x, y>²), with <x, y> = xᵀ M y. K is NaN where x and y have the same
    direction within 1e-7 rad. Every joint must have one degree of freedom.

    R is not computed, and the cost is O(n · depth): with Γ_xy = C(q, x) y the sum is

        ∂_x ∂_y <x, y> - ½ ∂_x² <y, y> - ½ ∂_y² <x, x> + Γ_xyᵀ M⁻¹ Γ_xy - Γ_xxᵀ M⁻¹ Γ_yy.
    """
    need_coordinates(robot, "curvature is")
    if robot.nv < 2:  # there is no plane
        return np.nan * np.sum(x)
    C_x = coriolis_matrix(robot, q, x)
    xx, xy, yy = C_x @ x, C_x @ y, coriolis_matrix(robot, q, y) @ y
    second = _inner_product_moved.bind(robot).hessian("st")
    origin = np.zeros(2)
    R = second(q, x, y, x, y, origin)[0, 1]
    R = R - 0.5 * (second(q, x, y, y, y, origin)[0, 0] + second(q, x, y, x, x, origin)[1, 1])
    R = R + np.dot(xy, solve_mass_matrix(robot, q, xy)) - np.dot(xx, solve_mass_matrix(robot, q, yy))
    Mx, My = mass_matrix_product(robot, q, x), mass_matrix_product(robot, q, y)
    squares = np.dot(x, Mx) * np.dot(y, My)
    area = squares - np.dot(x, My) ** 2
    return R / np.where(area > PARALLEL * squares, area, np.nan)


@kernel(robot=static, q="nq", x="nv", y="nv", a="nv", b="nv", st=2)
def _inner_product_moved(robot: Robot, q, x, y, a, b, st) -> np.ndarray:
    """Return aᵀ M b at the configuration q + s x + t y."""
    return np.dot(a, mass_matrix_product(robot, q + st[0] * x + st[1] * y, b))


# --- Spong's flat robots ----------------------------------------------------------------------------------------------

ROUNDING = 1e-10  # relative: a few hundred rounding errors of 1e-16, times condition numbers of M up to 1e4


def is_flat(robot: Robot, samples: int = 3) -> bool:
    """Return True if the curvature is zero everywhere: if and only if some coordinates make M constant (Spong 1992).

    The curvature is analytic in q, so that a few random configurations, `samples` of them, tell. It counts as zero if
    it is within its rounding errors.

        >>> is_flat(aj.robots.two_link())
        False

    Spong (1992), "Remarks on robot dynamics: canonical transformations and Riemannian geometry", ICRA.
    """
    need_robot(robot, "is_flat")
    if count(samples, "is_flat: samples") < 1:
        raise ArgumentError("is_flat: samples must be 1 or more, got 0")
    for q in random_configuration(robot, samples, rng=0):
        M, Gamma, R = (function.eager(robot, q) for function in (mass_matrix, christoffel, curvature))
        if np.any(np.abs(R) > _rounding_errors(robot, M, Gamma)):
            return False
    return True


def _rounding_errors(robot: Robot, M, Gamma) -> np.ndarray:
    """Return bounds (nv, nv, nv, nv) of the errors of R_ijkl.

    They assume that the derivative of m_ij by q_k is at most of the order of √(m_ii m_jj) c_k, where c_k is 1/rad for a
    joint that turns, and one over the robot's length for one that slides.
    """
    length = np.abs(robot.placements[:, :3, 3]).max(initial=0) or 1.0
    leads = [i for i in range(len(robot.body_names)) if i not in robot.mimics]
    c = np.array([1.0 if robot.screw(i)[0, :3].any() else 1 / length for i in leads])
    size = np.sqrt(np.diag(M))
    c, M = c / size, M / np.multiply.outer(size, size)
    three = np.add.outer(np.add.outer(c, c), c)
    Gamma = np.abs(Gamma) / np.multiply.outer(np.multiply.outer(size, size), size)
    products = np.einsum("ilr,rs,jks->iljk", Gamma, np.abs(np.linalg.inv(M)), three + Gamma)
    products = products + np.einsum("iljk->jkil", products)
    errors = np.add.outer(three, c) ** 2 + np.einsum("iljk->ijkl", products) + np.einsum("ikjl->ijkl", products)
    return ROUNDING * errors * np.multiply.outer(np.multiply.outer(size, size), np.multiply.outer(size, size))
