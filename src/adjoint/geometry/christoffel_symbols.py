"""Christoffel symbols of the kinetic metric, the slopes of M, and the covariant derivative.

When joint b moves, all it carries turns with its angular velocity ω_b. Let x be a point of the robot and v_c(x) = ∂_c x
its velocity when only joint c moves: if b is before c, or c itself, ∂_b ∂_c x = ω_b × v_c(x). The kinetic metric is
m_ij = ∫ v_i·v_j dm, so its Christoffel symbols are Γ_ijk = ∫ ∂_i ∂_j x · v_k dm, and of three joints a, b, c on one
path, c the outermost, with u_a the screw of joint a,

    Γ_bca = ∫ v_a·(ω_b × v_c) dm = u_aᵀ [½ (İ_c - [L_c]) ω_b; ω_b × p_c],       Γ_bac = -Γ_bca if b is not beyond a,

and all others are zero. İ_c is the rate of the second moment of body c and all beyond it, (L_c, p_c) their momentum.
These are (55)-(57) of PBP = Park, Bobrow & Ploen (1995), the sums over bodies taken once, by composite inertias.
Nothing here depends on how the first body has moved: all is seen from there.

The slopes of M, of joints of all kinds, follow from Proposition 1 of PBP, (53): a screw u_a changes by [u_a, u_b], seen
from what joint b moves. With J_c the inertia of body c and all beyond it,

    ∂_c m_ab = u_aᵀ J̇_c u_b,    J̇_c = -ad(u_c)ᵀ J_c - J_c ad(u_c),      for a, b before c,
    ∂_b m_ac = [u_a, u_b]ᵀ F_c,   F_c = J_c u_c,                        for a before b.

J̇_c, like an inertia, has ten numbers (its second moment is İ_c), and F_c = (L_c, p_c).
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
from ..model.robot import Robot, need_coordinates
from ..sweep import inward, joint_placements, outward, stacked

__all__ = ["christoffel", "covariant_derivative", "mass_matrix_derivative"]


class Degree(NamedTuple):
    """One degree of freedom, seen from the first body of its tree: how it moves what it carries."""

    body: int
    place: int  # in v
    scale: float  # of a mimic; 1 for others
    screw: np.ndarray  # u (6,)
    inertia_rate: np.ndarray  # J̇ (10,) when it moves at unit rate
    momentum: np.ndarray  # F = J u (6,)

    def inertia_rate_times(self, u):
        """J̇ u (6,)."""
        return inertia.momentum(self.inertia_rate, u)

    def turned_momentum(self, u):
        """-ad(u)ᵀ F (6,), so that [x, u]ᵀ F = xᵀ(-ad(u)ᵀ F)."""
        return -se3.coad_action(u, self.momentum)

    def turning(self):
        """(6, 3): the wrench ∫ (x × (w × v), w × v) dm of turning the velocities v that it gives, by w."""
        angular, linear = self.momentum[:3], self.momentum[3:]
        second = inertia.moments(self.inertia_rate).second
        return np.concatenate([0.5 * (second - so3.hat(angular)), -so3.hat(linear)])


def degrees_seen(robot: Robot, q, factor: float = 1.0) -> list[Degree]:
    """All degrees of freedom, in tree order; `factor` times their J̇ and F."""
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
    """(a, b, k, ∂_k m_ab) for all that are not zero, each pair once; a mimic is a degree of freedom of its own."""
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
    """∂M/∂q (nv, nv, nv), with [i, j, k] = ∂m_ij/∂q_k along the motions that v describes: Ṁ = (∂M/∂q) v. All joints."""
    return _summed(robot, _slopes_of_pairs(robot, degrees_seen(robot, q)))


def _summed(robot: Robot, entries: Iterable[tuple]):
    """(nv, nv, nv) of entries (i, j, k, x), degrees of freedom and numbers symmetric in i and j, given once each."""
    n = robot.nv
    found: list = [[[0.0] * n for _ in range(n)] for _ in range(n)]
    for a, b, k, x in entries:
        x = (a.scale * b.scale * k.scale) * x
        for i, j in [(a, b)] if a is b else [(a, b), (b, a)]:
            row = found[i.place][j.place]
            row[k.place] = row[k.place] + x
    return stacked(found, 3)


def _symbols(robot: Robot, every: list[Degree]) -> Iterator[tuple]:
    """(i, j, k, Γ_ijk) for all that are not zero, each pair i, j once."""
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
    """Γ (nv, nv, nv), Γ_ijk = ½ (∂_i m_kj + ∂_j m_ki - ∂_k m_ij): of the first kind, PBP (52), in O(n · depth²).

    The last index is that of the torque: τ_k = Σ m_kj a_j + Σ Γ_ijk v_i v_j + φ_k, PBP (29), and Σ_i Γ_ijk v_i is
    C_kj of `coriolis_matrix`. Those of the second kind are Γ^k_ij = Σ_h (M⁻¹)_kh Γ_ijh. For joints with one degree of
    freedom. As PBP print them, (55)-(57): `lagrangian_christoffel`.
    """
    need_coordinates(robot)
    return _summed(robot, _symbols(robot, degrees_seen(robot, q)))


@kernel(robot=static, q="nq", v="nv", w="nv", dw="nv")
def covariant_derivative(robot: Robot, q, v, w, dw) -> np.ndarray:
    """(∇_v w)^k = ẇ^k + Σ Γ^k_ij v^i w^j (nv,): the rate of a vector w when q moves with v, by the kinetic metric.

    `dw` (nv,) is the ordinary rate ẇ along the motion. Inner products obey d/dt wᵀM z = (∇_v w)ᵀM z + wᵀM ∇_v z; a
    vector with ∇_v w = 0 is transported in parallel, a motion with ∇_v v = 0 needs no torque but against gravity and
    friction. ∇_v w = ẇ + M⁻¹ C(q, v) w holds on every joint: C is that of the metric.
    """
    return dw + solve_mass_matrix(robot, q, coriolis_matrix(robot, q, v) @ w)
