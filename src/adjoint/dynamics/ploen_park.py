"""Inverse and forward dynamics by the recursions of Ploen & Park (1999), (1)-(5) and (44)-(68), corrected.

This file follows the paper ("Coordinate-invariant algorithms for robot dynamics", IEEE Trans. Robot. Autom. 15(6)).
Inverse dynamics is the recursion (1)-(5) as printed, in twists V_i and their componentwise rates V̇_i. The fast
`inverse_dynamics` of `newton_euler` uses true accelerations (ω̇_i, p̈_i) instead and takes fewer operations. Both give
the same torques.

Forward dynamics applies the factors of M⁻¹ one after the other: a = Zᵀ Ω⁻¹ Z τ̂ (45), where τ̂ are the torques less those
that motion, gravity and loads take (46). The result equals that of `forward_dynamics` and costs more, but the
quantities on the way are those of the paper's text.

Equations (40)-(68) are corrected here, since their print lacks inverses: in (40), (58), (59) and in the blocks Π
and Y of (63), the Ad* of a placement f_{k,k+1} must be that of its inverse. In (53) and (54) the plain ad is meant, for
the symbols of (23), (24) hold the minus already. The paper has serial chains; in a tree the parent of body k takes the
place of k - 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..lie import inertia, se3
from ..model.robot import Robot
from ..sweep import body_twists, forces, inward, joint_placements, outward, rates
from .global_operators import articulated_bodies
from .newton_euler import base_motion, joint_forces, loads_on_bodies

__all__ = ["Recursion", "forward_dynamics_recursive", "inverse_dynamics_recursive", "recursion"]


def __dir__() -> list[str]:
    return __all__


class Recursion(NamedTuple):
    """The quantities of Ploen & Park (1999), eqs. (50)-(68): those of n bodies are (n, 6), those of joints are (nv,).

    The bodies' accelerations are V̇ = lam + alpha, and the wrenches in the joints are F = P + z_hat + Ĵ lam.
    """

    a_hat: np.ndarray  # (51) twist of the parent, seen from the body
    a_tilde: np.ndarray  # (53) velocity part of the acceleration
    b_tilde: np.ndarray  # (54) velocity part of the wrench
    alpha: np.ndarray  # (56) accelerations at a = 0
    P: np.ndarray  # (59) wrenches at a = 0
    tau_hat: np.ndarray  # (61) torques left for acceleration
    z_hat: np.ndarray  # (63) wrenches of the torques left, on bodies free to move
    c_hat: np.ndarray  # (64), (65) Ω⁻¹ Z τ̂
    lam: np.ndarray  # (67) accelerations beyond alpha
    a: np.ndarray  # (68) Zᵀ Ω⁻¹ Z τ̂


# The optional inputs. The paper's tip wrench F_{n+1} is exerted by the tip on its surroundings: minus the load on it.
SURROUNDINGS = {"gravity": 3, "tip_wrenches": ("frames", 6), "frames": static}
SURROUNDINGS |= {"base_twist": 6, "base_acceleration": 6}


@kernel(robot=static, q="nq", v="nv", a="nv", **SURROUNDINGS)
def inverse_dynamics_recursive(
    robot: Robot, q, v, a, *, gravity=None, tip_wrenches=None, frames=(), base_twist=None, base_acceleration=None
) -> np.ndarray:
    """The joint forces τ (nv,) [N m, N] by Ploen & Park (1999), eqs. (1)-(5), as printed: equal to `inverse_dynamics`.

    Arguments are those of `inverse_dynamics`, except that the paper's `tip_wrenches` take the place of
    `applied_wrenches`. These (k, 6) are the wrenches that the named `frames` *exert on their surroundings*, seen from
    these frames. Their sign is the opposite of that of `applied_wrenches`.

        >>> tau = ploen_park.inverse_dynamics_recursive(robot, q, v, a)
    """
    f = joint_placements(robot, q)  # (1)

    def outward_step(i: int, parent: tuple) -> tuple:
        V, dV = parent
        S = robot.screw(i).T
        Sv = S @ rates(robot, v, i)
        V = se3.Ad_inv_action(f[i], V) + Sv  # (2)
        # (3), with -ad(S v) Ad(f⁻¹) V = [V_i, S v]
        return V, se3.Ad_inv_action(f[i], dV) + se3.bracket(V, Sv) + S @ rates(robot, a, i)

    motions = outward(robot, outward_step, base_motion(robot, gravity, base_twist, base_acceleration))
    loads = loads_on_bodies(robot, tip_wrenches, frames)

    def own(i: int):
        (V, dV), J = motions[i], robot.inertias[i]
        return inertia.momentum(J, dV) - se3.coad_action(V, inertia.momentum(J, V)) + loads.get(i, 0.0)

    F = inward(robot, own, lambda i, F: se3.coAd_inv_action(f[i], F))  # (4)
    tau = forces(robot, {i: F[i] @ robot.screw(i).T for i in F})  # (5)
    return tau + robot.armature * a + joint_forces(robot, v)


@kernel(robot=static, q="nq", v="nv", tau="nv", **SURROUNDINGS)
def forward_dynamics_recursive(
    robot: Robot, q, v, tau, *, gravity=None, tip_wrenches=None, frames=(), base_twist=None, base_acceleration=None
) -> np.ndarray:
    """The accelerations a (nv,) [rad/s², m/s²] by Ploen & Park (1999), eqs. (47)-(68); they equal `forward_dynamics`.

    Arguments are those of `inverse_dynamics_recursive`, with the joint forces `tau` (nv,) instead of a. Robots with
    mimics are refused.
    """
    moved = {"base_twist": base_twist, "base_acceleration": base_acceleration}
    return recursion(robot, q, v, tau, gravity=gravity, tip_wrenches=tip_wrenches, frames=frames, **moved).a


@kernel(robot=static, q="nq", v="nv", tau="nv", **SURROUNDINGS)
def recursion(
    robot: Robot, q, v, tau, *, gravity=None, tip_wrenches=None, frames=(), base_twist=None, base_acceleration=None
) -> Recursion:
    """All quantities of Ploen & Park (1999), eqs. (47)-(68), as a `Recursion`.

    Arguments are those of `forward_dynamics_recursive`. Robots with mimics are refused.
    """
    f = joint_placements(robot, q)  # (47)-(49)
    V_0, dV_0 = base_motion(robot, gravity, base_twist, base_acceleration)
    a_hat, a_tilde, b_tilde = _velocity_pass(robot, f, v, V_0)
    alpha, P = _residual_pass(robot, f, a_tilde, b_tilde, dV_0, loads_on_bodies(robot, tip_wrenches, frames))
    net = tau - joint_forces(robot, v)
    tau_hat = {k: net[_place(robot, k)] - robot.screw(k) @ P[k] for k in P}  # (60), (61)
    z_hat, c_hat, lam, a = _solving_passes(robot, f, tau_hat)
    a_hat, a_tilde, b_tilde, alpha, z_hat, lam, stacked_P = (
        np.stack([x[k] for k in P]) for x in (a_hat, a_tilde, b_tilde, alpha, z_hat, lam, P)
    )
    tau_hat, c_hat, a = (np.concatenate([x[k] for k in P]) for x in (tau_hat, c_hat, a))
    return Recursion(a_hat, a_tilde, b_tilde, alpha, stacked_P, tau_hat, z_hat, c_hat, lam, a)


def _place(robot: Robot, k: int) -> slice:
    """The place in v of body k's joint."""
    start = robot.layout.v_start[k]
    return slice(start, start + len(robot.screw(k)))


def _velocity_pass(robot: Robot, f: dict, v, V_0) -> tuple[dict, dict, dict]:
    """â, ã and b̃ of the bodies, (50)-(54), outward. The ad here are plain; those of `operators` hold the minus."""
    Sv = {k: robot.screw(k).T @ rates(robot, v, k) for k in f}
    V = body_twists(robot, f, v, V_0)  # (52)
    a_hat = {k: se3.Ad_inv_action(f[k], V[int(robot.parents[k])]) for k in f}  # (51): its sum is this twist
    a_tilde = {k: -se3.bracket(Sv[k], a_hat[k]) for k in f}  # (53)
    b_tilde = {k: -se3.coad_action(V[k], inertia.momentum(robot.inertias[k], V[k])) for k in f}  # (54)
    return a_hat, a_tilde, b_tilde


def _residual_pass(robot: Robot, f: dict, a_tilde: dict, b_tilde: dict, dV_0, loads: dict) -> tuple[dict, dict]:
    """α outward and P inward, (55)-(59)."""
    alpha = outward(robot, lambda k, alpha: se3.Ad_inv_action(f[k], alpha) + a_tilde[k], dV_0)  # (55), (56)
    alpha_bar = {k: inertia.momentum(robot.inertias[k], alpha[k]) + b_tilde[k] for k in f}  # (57)
    alpha_bar = {k: alpha_bar[k] + loads[k] if k in loads else alpha_bar[k] for k in f}  # (58)
    P = inward(robot, lambda k: alpha_bar[k], lambda k, P: se3.coAd_inv_action(f[k], P))  # (59)
    return alpha, P


def _solving_passes(robot: Robot, f: dict, tau_hat: dict) -> tuple[dict, dict, dict, dict]:
    """Ω⁻¹ Z τ̂ inward, and Zᵀ times that outward: (62)-(68), with the blocks of Y and Π of `articulated_operators`."""
    bodies = articulated_bodies(robot, f)
    step = {k: se3.Ad(se3.inverse(f[k])) for k in f}
    Y = {k: ((np.eye(6) - robot.screw(k).T @ bodies[k].Phi) @ step[k]).T for k in f}
    Pi = {k: (bodies[k].Phi @ step[k]).T for k in f}
    z_hat = inward(robot, lambda k: np.zeros(6), lambda k, z: Y[k] @ z + Pi[k] @ tau_hat[k])  # (62), (63)
    c_hat = {k: np.linalg.inv(bodies[k].Omega) @ (tau_hat[k] - robot.screw(k) @ z_hat[k]) for k in f}  # (64), (65)
    lam = outward(robot, lambda k, lam: Y[k].T @ lam + robot.screw(k).T @ c_hat[k], np.zeros(6))  # (66), (67)
    a = {k: c_hat[k] - Pi[k].T @ lam[int(robot.parents[k])] for k in f}  # (68)
    return z_hat, c_hat, lam, a
