"""The equations of motion as matrix equations over all bodies at once, for study: Ploen & Park (1999), (6)-(46).

PP as in `newton_euler`. With n bodies, V = (V_1, ..., V_n) (6n,) stacks their twists, F their wrenches, and

    V = G S v + G P_0 V_0                                                   (6)
    V̇ = G S a + G ad_Sq Γ V + G ad_Sq P_0 V_0 + G P_0 V̇_0                   (7)
    F = Gᵀ J V̇ + Gᵀ ad_V J V + Gᵀ P_tᵀ F_t,   τ = Sᵀ F                      (8), (9)

so that M a + C v + φ + J_tᵀ F_t = τ with

    M = Sᵀ Gᵀ J G S,   C = Sᵀ Gᵀ (J G ad_Sq Γ + ad_V J) G S,                (11), (12)
    φ = Sᵀ Gᵀ J G P_0 V̇_0,   J_t = P_t G S,                                 (13), (14)

with armature added to M (and `armature_bias` to τ, for joints of several degrees of freedom). V̇_0 = (0, -g), and
V_0 = 0 in the matrix C: on a base that moves, (6)-(9) hold as they are.
Articulated inertias, (40), say the same with the joints' torques instead of their accelerations,

    F = Ĵ V̇ + b,   b = Y (Xᵀ Ĵ ad_Sq (Γ V + P_0 V_0) + Π τ + ad_V J V + P_tᵀ F_t),                           (39)

where b is not given by the paper. It has serial chains; in a tree the parent takes the place of i - 1.

The paper's Table I, completed: its names beside those of the spatial operator algebra of Rodriguez, Jain &
Kreutz-Delgado (1991), who number bodies from the tip.

| here          | there | is                                         |
|---------------|-------|--------------------------------------------|
| Gᵀ            | φ     | rigid propagation of wrenches, (1 - Γᵀ)⁻¹  |
| Γᵀ            | E_φ   | the same from a body to its parent         |
| Sᵀ            | H     | joint screws                               |
| J             | M     | inertias                                   |
| M             | 𝓜     | mass matrix, H φ M φ* H*                   |
| Ĵ = `J_hat`   | P     | articulated inertias, P = E_ψ P E_ψ* + M   |
| Ω             | D     | what each joint feels of them, H P H*      |
| Φᵀ            | G     | Kalman gain, P H* D⁻¹                      |
| Π = Γᵀ Φᵀ     | K     | shifted gain, E_φ G                        |
| Xᵀ            | E_ψ   | articulated propagation to the parent      |
| Y             | ψ     | articulated propagation, (1 - E_ψ)⁻¹       |
| W = 1 + SᵀGᵀΠ | 1+HφK | 𝓜 = (1 + HφK) D (1 + HφK)*                 |
| Z = 1 - SᵀYΠ  | 1-HψK | 𝓜⁻¹ = (1 - HψK)* D⁻¹ (1 - HψK)             |
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..lie import inertia, se3
from ..model.robot import Robot
from ..sweep import body_twists, columns, inward, joint_placements, rates
from .newton_euler import joint_forces, loads_on_bodies

__all__ = [
    "ArticulatedOperators",
    "Operators",
    "articulated_bias_wrenches",
    "articulated_operators",
    "operators",
]


class Operators(NamedTuple):
    """The blocks of PP (6)-(14) for n bodies."""

    Gamma: np.ndarray  # (6n, 6n): Ad(f_i⁻¹) at (i, parent of i), nilpotent
    G: np.ndarray  # (6n, 6n): (1 - Γ)⁻¹, Ad(f_ji⁻¹) at (i, j) for j on the path to i
    S: np.ndarray  # (6n, nv): S v are the twists of all joints; mimics share their leader's column
    J: np.ndarray  # (6n, 6n): inertias, block diagonal
    P_0: np.ndarray  # (6n, 6): Ad(f_i⁻¹) for the bodies next to the base
    P_t: np.ndarray  # (6, 6n): twist of the tip frame, V_t = P_t V
    ad_Sq: np.ndarray  # (6n, 6n): -ad(S_i v_i), block diagonal, the minus included
    ad_V: np.ndarray  # (6n, 6n): -ad(V_i)ᵀ, block diagonal, the minus included


@kernel(robot=static, q="nq", v="nv", tip=static, base_twist=6)
def operators(robot, q, v, tip=None, *, base_twist=None):
    """`Operators` of a robot at q (nq,), moving with v (nv,); see the formulas of this module.

    `tip` names the frame of P_t, by default the last of `robot.frame_names`. `base_twist` V_0 (6,) is that of a base
    which moves, in its own frame; `ad_V` alone depends on it. The matrices are large and compiling them takes seconds:
    `operators.eager` is the quick way to look at one configuration.
    """
    _require_bodies(robot)
    f, tip = joint_placements(robot, q), robot.frame(robot.frame_names[-1] if tip is None else tip)
    V = body_twists(robot, f, v, base_twist)
    bodies = range(len(robot.body_names))
    step = {i: _Ad_inv(f[i]) for i in bodies}
    return Operators(
        Gamma=_to_children(robot, step),
        G=_propagation(robot, step),
        S=np.concatenate([columns(robot, {i: robot.screw(i).T}, np.zeros(6)) for i in bodies]),
        J=_diagonal([inertia.matrix(robot.inertias[i]) for i in bodies]),
        P_0=np.concatenate([step[i] if robot.parents[i] < 0 else np.zeros((6, 6)) for i in bodies]),
        P_t=np.concatenate([_Ad_inv(tip.placement) if i == tip.body else np.zeros((6, 6)) for i in bodies], axis=1),
        ad_Sq=_diagonal([-se3.ad(robot.screw(i).T @ rates(robot, v, i)) for i in bodies]),
        ad_V=_diagonal([-se3.coad(V[i]) for i in bodies]),
    )


class ArticulatedOperators(NamedTuple):
    """The blocks of PP (40)-(43): M = W Ω Wᵀ, M⁻¹ = Zᵀ Ω⁻¹ Z. Ω is diagonal where joints have one degree of freedom."""

    J_hat: np.ndarray  # (6n, 6n): articulated inertias, block diagonal
    Omega: np.ndarray  # (nv, nv): Sᵀ Ĵ S + armature, block diagonal
    Phi: np.ndarray  # (nv, 6n): Ω⁻¹ Sᵀ Ĵ
    Pi: np.ndarray  # (6n, nv): Γᵀ Φᵀ
    X: np.ndarray  # (6n, 6n): (1 - S Φ) Γ
    Y: np.ndarray  # (6n, 6n): (1 - Xᵀ)⁻¹
    W: np.ndarray  # (nv, nv): 1 + Sᵀ Gᵀ Π, unit upper triangular by blocks
    Z: np.ndarray  # (nv, nv): W⁻¹ = 1 - Sᵀ Y Π


@kernel(robot=static, q="nq")
def articulated_operators(robot, q):
    """`ArticulatedOperators` of a robot at q (nq,). Not for robots with mimics.

    Riccati's equation holds for Ĵ, (41): J = Ĵ - Γᵀ Ĵ Γ + Γᵀ Ĵ S Ω⁻¹ Sᵀ Ĵ Γ.
    """
    f, one = joint_placements(robot, q), np.eye(robot.nv)
    bodies = articulated_bodies(robot, f)
    step = {i: _Ad_inv(f[i]) for i in bodies}
    S, G = _diagonal([robot.screw(i).T for i in bodies]), _propagation(robot, step)
    Pi = _to_children(robot, {i: bodies[i].Phi @ step[i] for i in bodies}).T
    freed = {i: (np.eye(6) - robot.screw(i).T @ bodies[i].Phi) @ step[i] for i in bodies}
    Y = _propagation(robot, freed).T
    return ArticulatedOperators(
        J_hat=_diagonal([bodies[i].J_hat for i in bodies]),
        Omega=_diagonal([bodies[i].Omega for i in bodies]),
        Phi=_diagonal([bodies[i].Phi for i in bodies]),
        Pi=Pi,
        X=_to_children(robot, freed),
        Y=Y,
        W=one + S.T @ G.T @ Pi,  # Prop. 1
        Z=one - S.T @ Y @ Pi,  # Prop. 2
    )


@kernel(robot=static, q="nq", v="nv", tau="nv", tip_wrenches=("frames", 6), frames=static, base_twist=6)
def articulated_bias_wrenches(robot, q, v, tau, *, tip_wrenches=None, frames=(), base_twist=None):
    """b (n, 6) of PP (39), F_i = Ĵ_i V̇_i + b_i, one row [N m, N] per body. Not for robots with mimics.

    So F_i, the wrench in the joint of body i, depends on the motion of that body alone, when the joints beyond it are
    driven with the torques `tau` (nv,) and all others are free. V̇_i has gravity in it, V̇_0 = (0, -g), as with PP:
    with the `accelerations` of `body_motions_and_wrenches` it is V̇_i - (0, g). Arguments as for `forward_dynamics`,
    but for `tip_wrenches` (k, 6), those that the named `frames` exert on their surroundings; neither gravity nor the
    acceleration of the base counts.

        b_i = -ad(V_i)ᵀ J_i V_i + loads + Σ Ad(f_k⁻¹)ᵀ (p_k + Φ_kᵀ (τ_k - S_kᵀ p_k)),   k the children of i,
        p_k = b_k - Ĵ_k [S_k v_k, V_k],   τ_k without friction and `armature_bias`.
    """
    f = joint_placements(robot, q)
    bodies, V = articulated_bodies(robot, f), body_twists(robot, f, v, base_twist)
    loads, net = loads_on_bodies(robot, tip_wrenches, frames), tau - joint_forces(robot, v)

    def own(i: int):
        return loads.get(i, 0.0) - se3.coad_action(V[i], inertia.momentum(robot.inertias[i], V[i]))

    def pass_on(k: int, b):
        S, (J_hat, _, Phi) = robot.screw(k), bodies[k]
        p = b - J_hat @ se3.bracket(S.T @ rates(robot, v, k), V[k])
        return se3.coAd_inv_action(f[k], p + Phi.T @ (rates(robot, net, k) - S @ p))

    b = inward(robot, own, pass_on)
    return np.stack([b[i] for i in b])


class ArticulatedBody(NamedTuple):
    """Ĵ (6, 6) of a body, and of its joint with k degrees of freedom Ω = Sᵀ Ĵ S + armature (k, k), Φ = Ω⁻¹ Sᵀ Ĵ."""

    J_hat: np.ndarray
    Omega: np.ndarray
    Phi: np.ndarray


def articulated_bodies(robot: Robot, f: dict) -> dict[int, ArticulatedBody]:
    """{i: `ArticulatedBody`} by PP (40), corrected as in `ploen_park`, with 6x6 matrices; `articulated` is cheaper."""
    _require_bodies(robot)
    if robot.mimics:
        joint = robot.body_joint_names[min(robot.mimics)]
        raise ArgumentError(
            f"robot '{robot.name}': joint '{joint}' is a mimic; "
            "articulated inertias are for joints that move on their own"
        )

    def with_joint(i: int, J_hat) -> ArticulatedBody:
        S, at = robot.screw(i).T, robot.layout.v_start[i]
        Omega = S.T @ J_hat @ S + np.diag(robot.armature[at : at + S.shape[1]])
        return ArticulatedBody(J_hat, Omega, np.linalg.inv(Omega) @ S.T @ J_hat)

    def pass_on(i: int, J_hat):
        body, step = with_joint(i, J_hat), _Ad_inv(f[i])
        return step.T @ (J_hat - body.Phi.T @ body.Omega @ body.Phi) @ step  # (40)

    J_hat = inward(robot, lambda i: inertia.matrix(robot.inertias[i]), pass_on)
    return {i: with_joint(i, J_hat[i]) for i in J_hat}


def _require_bodies(robot: Robot) -> None:
    if not robot.body_names:
        raise ArgumentError(f"robot '{robot.name}' has no moving bodies; operators need at least one")


# --- block matrices ---------------------------------------------------------------------------------------------------


def _Ad_inv(T):
    return se3.Ad(se3.inverse(T))


def _diagonal(blocks: list):
    """The block diagonal matrix of blocks of any shape."""

    def row(i: int) -> list:
        return [B if i == j else np.zeros((len(blocks[i]), B.shape[1])) for j, B in enumerate(blocks)]

    return np.block([row(i) for i in range(len(blocks))])


def _to_children(robot: Robot, step: dict):
    """The matrix with step[i] (k_i, 6) at (i, parent of i)."""
    n = len(step)
    return np.block(
        [[B if robot.parents[i] == j else np.zeros((len(B), 6)) for j in range(n)] for i, B in step.items()]
    )


def _propagation(robot: Robot, step: dict):
    """(1 - Γ)⁻¹ (6n, 6n) of Γ with step[i] (6, 6) at (i, parent of i): row i is step[i] · (parent's row), and 1."""
    n, rows = len(step), {-1: [np.zeros((6, 6))] * len(step)}
    for i in range(n):
        above, found = rows[int(robot.parents[i])], robot.path(i)[:-1]
        rows[i] = [np.eye(6) if j == i else step[i] @ above[j] if j in found else above[j] for j in range(n)]
    return np.block([rows[i] for i in range(n)])
