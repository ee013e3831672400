"""The Coriolis matrix that belongs to the mass matrix: Ṁ - 2C is skew-symmetric, so v·C v = ½ v·Ṁ v.

Of the many C with the right C v, this is the one of the Christoffel symbols. Body i moves with V_i and has momentum
h_i = J_i V_i; seen from space its inertia changes with J̇_i = -ad(V_i)ᵀ J_i - J_i ad(V_i), again an inertia (of mass 0),
and a screw S fixed to it with Ṡ = [V_i, S]. With the sums J, J̇, h over all bodies carried by both joints k and j,

    C_kj = S_kᵀ (J Ṡ_j + ½ J̇ S_j - ½ ad(S_j)ᵀ h),

all seen from one frame. Ploen & Park (1999), (12), has -ad(V)ᵀ J instead: the same C v, but Ṁ - 2C is not skew there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..compile import kernel, static
from ..lie import inertia, se3, so3
from ..rolled import is_long, rolls
from ..rolled.calls import columns_of
from ..sweep import (
    body_twists,
    forces,
    inward,
    inward_keeping,
    joint_placements,
    outward_keeping,
    rates,
    stacked,
)
from .armature import armature_coriolis, armature_transport
from .composite import degrees

__all__ = ["coriolis_matrix", "coriolis_product"]


@kernel(robot=static, q="nq", v="nv")
def coriolis_matrix(robot, q, v):
    """C(q, v) (nv, nv), linear in v: C v = bias_force - gravity_torque - friction, and Ṁ = C + Cᵀ.

    The sums over bodies are taken once, inward, as in `mass_matrix` (Echeandia & Wensing 2021): O(n · depth). Where
    all joints have one degree of freedom, C_kj = Σ_i Γ_ijk v_i with the Christoffel symbols of M.
    """
    f = joint_placements(robot, q)
    V = body_twists(robot, f, v)
    own = {i: inertia_rate_momentum(robot.inertias[i], V[i]) for i in f}
    composite = inward(robot, own.__getitem__, lambda i, x: moved(f[i], x))
    rows = [[0.0] * robot.nv for _ in range(robot.nv)]
    for j in composite:
        for s, b, scale in degrees(robot, j):
            right, J_s, left = _wrenches(composite[j], s, V[j])
            for i, F in _seen_inward(robot, f, j, scale * np.stack([right, J_s, left])):
                for s_i, a, scale_i in degrees(robot, i):
                    rows[a][b] = rows[a][b] + scale_i * np.dot(s_i, F[0])
                    if i != j:
                        ds_i = se3.bracket(V[i], s_i)
                        rows[b][a] = rows[b][a] + scale_i * (np.dot(ds_i, F[1]) + np.dot(s_i, F[2]))
    for (k, j), x in armature_coriolis(robot, v).items():
        rows[k][j] = rows[k][j] + x
    return stacked(rows, 2)


@rolls
@kernel(robot=static, q="nq", v="nv", x="nv")
def coriolis_product(robot, q, v, x):
    """C(q, v) x (nv,) in O(n), without forming C; x (nv,) are rates as v is.

    Body i moves with X_i if the joints move with x. It feels J Ẋ + ½ J̇ X - ½ ad(X)ᵀ h, where Ẋ_i = Σ Ṡ_j x_j.
    """
    f = joint_placements(robot, q)

    def move(i, parent: tuple) -> tuple:
        S = robot.screw(i).T
        V, X, dX = (se3.Ad_inv_action(f[i], twist) for twist in parent)
        V, Sx = V + S @ rates(robot, v, i), S @ rates(robot, x, i)
        X, dX = X + Sx, dX + se3.bracket(V, Sx)
        sums = inertia_rate_momentum(robot.inertias[i], V)
        J, dJ, h = sums[:10], sums[10:20], sums[20:]
        F = inertia.momentum(J, dX) + 0.5 * inertia.momentum(dJ, X) - 0.5 * se3.coad_action(X, h)
        return (V, X, dX), F

    own = outward_keeping(robot, move, (np.zeros(6), np.zeros(6), np.zeros(6)))

    def press(i, beyond):
        F = own[i] + beyond
        rotors = np.zeros(len(robot.screw(i)))
        if i not in robot.mimics:
            rotors = armature_transport(robot, i, rates(robot, v, i), rates(robot, x, i))
        return se3.coAd_inv_action(f[i], F), robot.screw(i) @ F + rotors

    return forces(robot, inward_keeping(robot, press, np.zeros(6))[1])


@coriolis_matrix.instead
def _in_loops(statics: dict, names: tuple[str, ...]) -> Callable | None:
    robot = statics["robot"]
    return columns_of(coriolis_product, "x", robot, statics, names) if is_long(robot) else None


def inertia_rate_momentum(J, V):
    """(26,): inertia J and its rate J̇, ten numbers each, and momentum J V of a body, to be summed over bodies."""
    _, h, I = inertia.moments(J)
    w, v = V[:3], V[3:]
    momentum = inertia.momentum(J, V)
    # -ad(V)ᵀ J - J ad(V) = [İ [ḣ]; -[ḣ] 0] with ḣ = m v + w × h, the linear momentum
    K = I @ so3.hat(w) + so3.hat(h) @ so3.hat(v)
    return np.concatenate([J, inertia.from_moments(0.0, momentum[3:], -K - K.T), momentum])


def moved(T, x):
    """The sums (26,), seen from the frame in which their own is at T."""
    J, dJ, momentum = x[:10], x[10:20], x[20:]
    return np.concatenate([inertia.transform(T, J), inertia.transform(T, dJ), se3.coAd_inv_action(T, momentum)])


def _wrenches(x, s, V):
    """Of a screw s of a body that moves with V: J ṡ + B s, J s and Bᵀ s, with B = ½ J̇ - ½ ad(·)ᵀ h."""
    J, dJ, momentum = x[:10], x[10:20], x[20:]
    half, turn = 0.5 * inertia.momentum(dJ, s), 0.5 * se3.coad_action(s, momentum)
    return inertia.momentum(J, se3.bracket(V, s)) + half - turn, inertia.momentum(J, s), half + turn


def _seen_inward(robot, f: dict, j: int, wrenches):
    """(i, wrenches seen from body i) for body j and all that carry it."""
    while j >= 0:
        yield j, wrenches
        wrenches, j = np.stack([se3.coAd_inv_action(f[j], F) for F in wrenches]), int(robot.parents[j])
