"""Christoffel symbols of the kinetic metric, the partial derivatives of M, and the covariant derivative.

When joint b moves, everything that it carries turns with its angular velocity ω_b. Let x be a point of the robot and
v_c(x) = ∂_c x its velocity when only joint c moves, at unit rate. If b is before c on a path, or is c itself, then
∂_b ∂_c x = ω_b × v_c(x). The kinetic metric is m_ij = ∫ v_i·v_j dm, so its Christoffel symbols are
Γ_ijk = ∫ ∂_i ∂_j x · v_k dm. For three joints a, b, c on one path, of which c is the outermost, with the screw u_a of
joint a, this gives

    Γ_bca = ∫ v_a·(ω_b × v_c) dm = u_aᵀ [½ (İ_c - [L_c]) ω_b; ω_b × p_c],       Γ_bac = -Γ_bca if b is not beyond a.

All others are zero, but for the symmetry Γ_ijk = Γ_jik. İ_c is the rate of the second moment of body c and all bodies
beyond it, and (L_c, p_c) is their momentum, when joint c moves at unit rate. These are the equations (55)-(57) of
PBP = Park, Bobrow & Ploen (1995), with the sums over bodies taken once, as composite inertias. Everything is seen from
the first body of the tree, so nothing depends on how that body has moved.

The partial derivatives of M, for joints of all kinds, follow from Proposition 1 of PBP, (53): seen from what joint b
carries, a screw u_a changes by [u_a, u_b] when joint b moves. With the inertia J_c of body c and all bodies beyond it,

    ∂_c m_ab = u_aᵀ J̇_c u_b,    J̇_c = -ad(u_c)ᵀ J_c - J_c ad(u_c),      for a, b before c,
    ∂_b m_ac = [u_a, u_b]ᵀ F_c,   F_c = J_c u_c,                        for a before b.

J̇_c has ten numbers, as an inertia has; its second moment is İ_c, and F_c = (L_c, p_c).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..dynamics.composite import degrees
from ..dynamics.coriolis import coriolis_matrix, inertia_rate_momentum
from ..dynamics.forward import solve_mass_matrix
from ..lie import inertia, se3, so3
from ..model.needs import need_coordinates
from ..model.robot import Robot
from ..sweep import inward, joint_placements, outward, stacked

__all__ = ["christoffel", "covariant_derivative", "mass_matrix_derivative"]


class Degree(NamedTuple):
    """One degree of freedom, seen from the first body of its tree, and how it moves what it carries."""

    body: int
    place: int  # its place in v
    scale: float  # the multiplier of a mimic, 1 for others
    screw: np.ndarray  # u (6,)
    inertia_rate: np.ndarray  # J̇ (10,) when it moves at unit rate
    momentum: np.ndarray  # F = J u (6,)

    def inertia_rate_times(self, u):
        """Return J̇ u (6,)."""
        return inertia.momentum(self.inertia_rate, u)

    def turned_momentum(self, u):
        """Return -ad(u)ᵀ F (6,), so that [x, u]ᵀ F is the product of x with it."""
        return -se3.coad_action(u, self.momentum)

    def turning(self):
        """Return the matrix (6, 3) that takes w to ∫ (x × (w × v), w × v) dm, with the velocities v(x) at unit rate."""
        angular, linear = self.momentum[:3], self.momentum[3:]
        second = inertia.moments(self.inertia_rate).second
        return np.concatenate([0.5 * (second - so3.hat(angular)), -so3.hat(linear)])


def degrees_seen(robot: Robot, q, factor: float = 1.0) -> list[Degree]:
    """Return all degrees of freedom in tree order; their J̇ and F are multiplied by `factor`."""
    f = joint_placements(robot, q)
    I = inward(robot, lambda i: robot.inertias[i], lambda i, x: inertia.transform(f[i], x))
    T = outward(robot, lambda i, T: np.eye(4) if robot.parents[i] < 0 else se3.compose(T, f[i]), np.eye(4))
    found = []
    for i in f:
        for s, place, scale in degrees(robot, i):
            moved = inertia_rate_momentum(I[i], factor * s)
            rate, F = inertia.transform(T[i], moved[10:20]), se3.coAd_inv_action(T[i], moved[20:])
            found.append(Degree(i, place, scale, se3.Ad_action(T[i], s), rate, F))
    return found


def _slopes_of_pairs(robot: Robot, every: list[Degree]) -> Iterator[tuple]:
    """Yield (a, b, k, ∂_k m_ab) where it is not zero, each pair once; a mimic is a degree of freedom of its own."""
    for c in every:
        path = robot.path(c.body)
        carriers = [b for b in every if b.body in path]
        for n, b in enumerate(carriers):
            if b.body != c.body:
                wrench = c.inertia_rate_times(b.screw)
                yield from ((a, b, c, np.dot(a.screw, wrench)) for a in carriers[: n + 1])
            wrench = c.turned_momentum(b.screw)
            yield from ((a, c, b, np.dot(a.screw, wrench)) for a in carriers[:n] if a.body != b.body)


@kernel(robot=static, q="nq")
def mass_matrix_derivative(robot: Robot, q) -> np.ndarray:
    """Return the derivative ∂M/∂q (nv, nv, nv) of the mass matrix, with [i, j, k] = ∂m_ij/∂q_k.

    For joints of all kinds, the derivative k is taken along the motion that v_k describes, so that Ṁ = Σ_k ∂_k M v_k.

        robot = aj.robots.puma560()
        q, v = np.ones(6), np.ones(6)
        M_dot = mass_matrix_derivative(robot, q) @ v

    Park, Bobrow & Ploen (1995), (53).
    """
    return _summed(robot, _slopes_of_pairs(robot, degrees_seen(robot, q)))


def _summed(robot: Robot, entries: Iterable[tuple]):
    """Return the array (nv, nv, nv) of entries (i, j, k, x), where i, j, k are `Degree`s.

    The array is symmetric in i and j, and each pair of them is given once.
    """
    n = robot.nv
    found: list = [[[0.0] * n for _ in range(n)] for _ in range(n)]
    for a, b, k, x in entries:
        x = (a.scale * b.scale * k.scale) * x
        for i, j in [(a, b)] if a is b else [(a, b), (b, a)]:
            row = found[i.place][j.place]
            row[k.place] = row[k.place] + x
    return stacked(found, 3)


def _symbols(robot: Robot, every: list[Degree]) -> Iterator[tuple]:
    """Yield (i, j, k, Γ_ijk) for all that are not zero, each pair i, j once."""
    for c in every:
        path, turning = robot.path(c.body), c.turning()
        carriers = [b for b in every if b.body in path]
        for n, b in enumerate(carriers):
            wrench = turning @ b.screw[:3]
            for k, a in enumerate(carriers[:-1]):
                symbol = np.dot(a.screw, wrench)
                yield b, c, a, symbol
                if k >= n:
                    yield b, a, c, -symbol


@kernel(robot=static, q="nq")
def christoffel(robot: Robot, q) -> np.ndarray:
    """Return the Christoffel symbols of the first kind, Γ_ijk = ½ (∂_i m_kj + ∂_j m_ki - ∂_k m_ij) (nv, nv, nv).

    The last index is that of the torque: τ_k = Σ m_kj a_j + Σ Γ_ijk v_i v_j + φ_k, and Σ_i Γ_ijk v_i is the entry C_kj
    of `coriolis_matrix`. The symbols of the second kind are Γ^k_ij = Σ_h (M⁻¹)_kh Γ_ijh. Every joint must have one
    degree of freedom. The cost is O(n · depth²).

        Gamma = aj.christoffel(robot, q)
        C = np.einsum("ijk,i->kj", Gamma, v)                                # coriolis_matrix(robot, q, v)

    Park, Bobrow & Ploen (1995), (29) and (52); `lagrangian_christoffel` computes their (55)-(57) as printed.
    """
    need_coordinates(robot)
    return _summed(robot, _symbols(robot, degrees_seen(robot, q)))


@kernel(robot=static, q="nq", v="nv", w="nv", dw="nv")
def covariant_derivative(robot: Robot, q, v, w, dw) -> np.ndarray:
    """Return the covariant derivative (∇_v w)^k = ẇ^k + Σ Γ^k_ij v^i w^j (nv,) of a vector w (nv,).

    q moves with the velocity v (nv,), and `dw` (nv,) is the ordinary rate ẇ along the motion. Inner products obey
    d/dt wᵀM z = (∇_v w)ᵀM z + wᵀM ∇_v z. A vector with ∇_v w = 0 is transported in parallel, and a motion with
    ∇_v v = 0 needs torque only against gravity and friction.

    The function computes ẇ + M⁻¹ C(q, v) w with the matrix C of `coriolis_matrix`, which is right for joints of all
    kinds.
    """
    return dw + solve_mass_matrix(robot, q, coriolis_matrix(robot, q, v) @ w)
