"""The Lagrangian formulation of Park, Bobrow & Ploen (1995), §4: closed forms in the joint screws, for study.

The paper is "A Lie group formulation of robot dynamics", Int. J. Robot. Res. 14(6), PBP in comments. Everything is seen
from the base at home: A_i are the joints' screws there and D_i the bodies' inertias, both constant. Only

    Ad_l^{j+1} = Ad(exp(-A_l q_l) ··· exp(-A_{j+1} q_{j+1})),   along the path from body j to body l,   (37)

depends on q. u(l; j) = Ad_l^{j+1} A_j is the twist of body l when joint j moves at unit rate, and <u, w>_l = uᵀ D_l w.
The paper has serial chains of joints with one degree of freedom. Trees and mimics change only the paths, and which
coordinates move which screws. Joints with several degrees of freedom have a mass matrix here, but their rates are not
rates of coordinates: Christoffel symbols, and what needs them, are for joints with one degree of freedom.

The kinematic numbers A_i and the inertial numbers D_i appear explicitly and apart from each other, so that the
equations can be differentiated by them, as the paper wants. `lift=` does it: with `lagrangian_mass_matrix.bind(robot,
lift="inertias")` the inertias are one more input, and `.jacobian("inertias")` is exact.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..compile.front.inline import eagerly
from ..errors import ArgumentError
from ..kinematics.forward import body_placements
from ..kinematics.jacobians import jacobian
from ..lie import inertia, se3
from ..model.needs import need_coordinates
from ..model.reframe import reframed
from ..model.robot import Robot
from ..sweep import columns, forces, joint_placements, outward, rates, stacked
from .global_operators import operators
from .newton_euler import friction_force

__all__ = [
    "Ad_along_path",
    "LagrangianFactors",
    "lagrangian_christoffel",
    "lagrangian_factors",
    "lagrangian_gravity_torque",
    "lagrangian_inverse_dynamics",
    "lagrangian_mass_matrix",
    "pullback_metric",
    "screws_and_slopes",
]


def __dir__() -> list[str]:
    return __all__


def _described(robot: Robot, choice: str) -> Robot:
    """`reframed(robot, choice)` with "space" or "com"; a robot whose numbers are inputs loses its frames."""
    if not robot.varying or robot.stands_for is None:
        return reframed(robot, choice)
    with eagerly():
        Q = _homes(robot) if choice == "space" else _from_centers(robot)
        n = range(len(robot.body_names))
        moved = {
            "screws": [se3.Ad_action(Q[i], S) for i in n for S in robot.screw(i)],
            "inertias": [inertia.transform(Q[i], robot.inertias[i]) for i in n],
        }
        if choice == "com":
            steps = [se3.compose(Q[int(robot.parents[i])], robot.placements[i]) for i in n]
            moved["placements"] = [se3.compose(steps[i], se3.inverse(Q[i])) for i in n]
    frames_vary = ("placements" if choice == "space" else "inertias") in robot.varying
    arrays = {name: np.stack(rows) for name, rows in moved.items() if rows and (frames_vary or name in robot.varying)}
    rest = robot.varying & {"armature", "damping", "friction", "gravity"}
    home = {"placements": np.tile(np.eye(4), (len(n), 1, 1))} if choice == "space" else {}
    known = reframed(robot.stands_for[0], choice).replace(frames=(), **home)
    return known.lifted(arrays | {name: getattr(robot, name) for name in rest})


def _homes(robot: Robot) -> dict:
    """{i: M_1 ··· M_i} (4, 4) along the path to body i; that of the base, -1, is the identity."""
    return outward(robot, lambda i, N: se3.compose(N, robot.placements[i]), np.eye(4))


def _from_centers(robot: Robot) -> dict:
    """{i: placement (4, 4) of body i in a frame at its centre of mass, with the same axes}; massless bodies stay."""
    found = {-1: np.eye(4)}
    for i, J in enumerate(robot.inertias):
        m = np.where(J[0] > 0, J[0], np.inf)
        found[i] = se3.from_rotation_translation(np.eye(3), -J[1:4] / m)
    return found


class LagrangianFactors(NamedTuple):
    """The factors of M = Aᵀ Lᵀ D L A for n bodies; Park, Bobrow & Ploen (1995), eqs. (41)-(46).

    A (6n, nv) and D (6n, 6n) are constant, L (6n, 6n) depends on q.
    """

    A: np.ndarray
    L: np.ndarray
    D: np.ndarray


@kernel(robot=static, q="nq")
def lagrangian_factors(robot: Robot, q) -> LagrangianFactors:
    """The factors A, L, D of M(q) = Aᵀ Lᵀ D L A, without armature, as `LagrangianFactors`, at q (nq,).

    They are the block matrices A = diag(A_i), L_ij = Ad_i^{j+1} and D = diag(D_i) of Park, Bobrow & Ploen (1995). They
    equal the S, G, J of `operators` in frames that all coincide with the base at home: A = QS, L = QGQ⁻¹, D = Q⁻ᵀJQ⁻¹
    with Q_i = Ad(M_1 ··· M_i) along the path to body i, eqs. (47)-(51).
    """
    found = operators(_described(robot, "space"), q, np.zeros(robot.nv))
    return LagrangianFactors(found.S, found.G, found.J)


def _screws_at_bodies(robot: Robot, q) -> dict:
    """{l: {j: u(l; j)}} (6, k): the screws of the joints j on the path to body l, moved by Ad_l^{j+1}.

    The frames of `robot` coincide with the base at home, so that its S_j are the A_j, and f_l is exp(A_l q_l).
    """
    f, found = joint_placements(robot, q), {-1: {}}
    for l, parent in enumerate(robot.parents.tolist()):
        found[l] = {j: _each(se3.Ad_inv_action, f[l], u) for j, u in found[parent].items()} | {l: robot.screw(l).T}
    del found[-1]
    return found


def _each(action, T, screws):
    """The action of T on each column of screws (6, k)."""
    return np.stack([action(T, screws[:, k]) for k in range(screws.shape[1])], axis=-1)


@kernel(robot=static, q="nq")
def lagrangian_mass_matrix(robot: Robot, q) -> np.ndarray:
    """The mass matrix M(q) (nv, nv) as a sum over bodies: m_ij = Σ_l <u(l; i), u(l; j)>_l, with armature added.

    The sum is over the bodies l that both joints carry; Park, Bobrow & Ploen (1995), eq. (40). It equals `mass_matrix`.
    """
    space = _described(robot, "space")
    M = np.diag(robot.armature)
    for l, u in _screws_at_bodies(space, q).items():
        U = columns(robot, u, np.zeros(6))
        M = M + U.T @ inertia.matrix(space.inertias[l]) @ U
    return M


@kernel(robot=static, q="nq")
def pullback_metric(robot: Robot, q) -> np.ndarray:
    """The mass matrix M(q) (nv, nv) = Σ J_lᵀ diag(I_l, m_l 1) J_l, with armature added; it equals `mass_matrix`.

    The kinetic energy is a metric on the group of all bodies' placements, with I_l and m_l in frames at the centres of
    mass. M is its pullback by the kinematics, with the Jacobians J_l (6, nv) of these frames: Park, Bobrow & Ploen
    (1995), eq. (65).
    """
    central = _described(robot, "com")
    M = np.diag(robot.armature)
    for name, J in zip(central.body_names, central.inertias, strict=True):
        Jacobian = jacobian(central, q, name, "body")
        M = M + Jacobian.T @ inertia.matrix(J) @ Jacobian
    return M


# --- derivatives of Ad ------------------------------------------------------------------------------------------------


@kernel(robot=static, q="nq", B=6, i=static, j=static, by=static)
def Ad_along_path(robot: Robot, q, B, i, j, by=()) -> np.ndarray:
    """The twist Ad_j^i B (6,), which is B (6,) carried from before joint i to body j, or its derivative by joints `by`.

    i, j and `by` are numbers of bodies, with i on the path to j; Ad_j^i is that of eq. (37) of Park, Bobrow & Ploen
    (1995). With by=(k,) the result is their Proposition 1, with by=(k, l) Proposition 2, where the conditions of (54)
    are interchanged as they must be:

        ∂/∂q_k Ad_j^i B = Ad_j^k [Ad_{k-1}^i B, A_k],                                for k from i to j, else 0,   (53)
        ∂²/∂q_k ∂q_l Ad_j^i B = Ad_j^l [Ad_{l-1}^k [Ad_{k-1}^i B, A_k], A_l],   for i <= k <= l <= j, else 0.   (54)

    Higher derivatives continue the pattern, with a bracket with A_k where the way passes joint k. All joints must have
    one degree of freedom; mimics count as coordinates of their own.
    """
    need_coordinates(robot)
    path = robot.path(j)
    if i not in path:
        raise ArgumentError(f"robot '{robot.name}': body {i} is not on the path to body {j}, which is {path}")
    space = _described(robot, "space")
    f, way = joint_placements(space, q), path[path.index(i) :]
    if not set(by) <= set(way):
        return np.zeros(6)
    for k in way:
        for _ in range(by.count(k)):
            B = se3.bracket(B, space.screw(k)[0])
        B = se3.Ad_inv_action(f[k], B)
    return B


# --- Christoffel symbols ----------------------------------------------------------------------------------------------


@kernel(robot=static, q="nq")
def lagrangian_christoffel(robot: Robot, q) -> np.ndarray:
    """The Christoffel symbols Γ (nv, nv, nv) of M at q (nq,): Γ_ijk = ½ (∂_i m_kj + ∂_j m_ki - ∂_k m_ij).

    This is Park, Bobrow & Ploen (1995), eq. (52), by the closed forms (55)-(57), summed over bodies as printed;
    `christoffel` is faster. The last index is that of the torque, τ_k = ··· + Σ Γ_ijk v_i v_j. All joints must have one
    degree of freedom.
    """
    need_coordinates(robot)
    space = _described(robot, "space")
    n = len(space.body_names)
    Gamma = [[[0.0] * n for _ in range(n)] for _ in range(n)]
    for l, (u, t) in screws_and_slopes(space, q).items():
        D = inertia.matrix(space.inertias[l])
        for i, j, k in itertools.product(u, u, u):
            if i <= j:
                Gamma[i][j][k] = Gamma[i][j][k] + 0.5 * _summand(u, t, D, i, j, k)
                Gamma[j][i][k] = Gamma[i][j][k]
    return _of_coordinates(robot, stacked(Gamma, 3))


def screws_and_slopes(space: Robot, q) -> dict:
    """{l: (u, t)} with the screws u[a] = u(l; a) (6,) at body l, and their derivatives t[a, b] = ∂u(l; a)/∂q_b (6,).

    ∂u(l; a)/∂q_b = Ad_l^b [Ad_{b-1}^{a+1} A_a, A_b] for joints a before b on the path to body l, and t[a, a] = 0: Park,
    Bobrow & Ploen (1995), eq. (53).
    """
    f, found = joint_placements(space, q), {}
    for l, parent in enumerate(space.parents.tolist()):
        u, t = found[parent] if parent >= 0 else ({}, {})
        A = space.screw(l)[0]
        slopes = t | {(a, l): se3.bracket(u[a], A) for a in u}
        t = {ab: se3.Ad_inv_action(f[l], slope) for ab, slope in slopes.items()} | {(l, l): np.zeros(6)}
        found[l] = {a: se3.Ad_inv_action(f[l], u[a]) for a in u} | {l: A}, t
    return found


def _summand(u: dict, t: dict, D, i: int, j: int, k: int):
    """The part of one body in 2 Γ_ijk, i <= j: the three cases of PBP (55)-(57)."""

    def inner(a, b):
        return np.dot(a, D @ b)

    if k <= i:  # (55)
        return inner(t[k, i], u[j]) + inner(t[k, j], u[i]) + inner(t[i, j], u[k])
    if k <= j:  # (56)
        return inner(t[k, j], u[i]) + inner(t[i, j], u[k]) - inner(t[i, k], u[j])
    return inner(t[i, j], u[k]) - inner(t[i, k], u[j]) - inner(t[j, k], u[i])  # (57)


def _of_coordinates(robot: Robot, Gamma):
    """Σ E_ai E_bj E_ck Γ_abc of symbols Γ_abc that count each body's joint, where q̇_a = E_ai v_i; mimics need it."""
    if not robot.mimics:
        return Gamma
    E = np.concatenate([rates(robot, np.eye(robot.nv), a) for a in range(len(robot.body_names))])
    for _ in range(3):
        Gamma = np.einsum("abc,ai->bci", Gamma, E)
    return Gamma


# --- gravity, and all of it -------------------------------------------------------------------------------------------


@kernel(robot=static, q="nq", gravity=3)
def lagrangian_gravity_torque(robot: Robot, q, *, gravity=None) -> np.ndarray:
    """The gravity torque φ_k = -Σ_l (g, 0)·T_l [u(l; k)] (m_l c_l, m_l) (nv,) [N m, N]: equal to `gravity_torque`.

    It is the gradient of the potential energy (58): Park, Bobrow & Ploen (1995), eq. (59). T_l = exp(A_1 q_1) ···
    exp(A_l q_l) moves body l from home, where its centre of mass is c_l, and [u] is 4x4. `gravity` (3,) is the robot's
    own by default.
    """
    space = _described(robot, "space")
    g = np.concatenate([robot.gravity if gravity is None else gravity, np.zeros(1)])
    T, total = body_placements(space, q), np.zeros(robot.nv)
    for l, u in _screws_at_bodies(space, q).items():
        center = np.roll(space.inertias[l, :4], -1)  # (m c, m)
        own = {j: np.stack([-(g @ T[l] @ se3.hat(u[j][:, k]) @ center) for k in range(u[j].shape[1])]) for j in u}
        total = total + forces(robot, own)
    return total


@kernel(robot=static, q="nq", v="nv", a="nv", gravity=3)
def lagrangian_inverse_dynamics(robot: Robot, q, v, a, *, gravity=None) -> np.ndarray:
    """The joint forces τ_k = Σ m_kj a_j + Σ Γ_ijk v_i v_j + φ_k + friction (nv,) [N m, N]: equal to `inverse_dynamics`.

    This is Park, Bobrow & Ploen (1995), eq. (29). q, v and a are as for `inverse_dynamics`. All joints must have one
    degree of freedom.
    """
    Gamma = lagrangian_christoffel(robot, q)
    phi = lagrangian_gravity_torque(robot, q, gravity=gravity)
    return lagrangian_mass_matrix(robot, q) @ a + v @ (v @ Gamma) + phi + friction_force(robot, v)
