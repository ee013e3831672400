"""Forward dynamics in O(n), by articulated bodies, and as Ploen & Park (1999) print it, (47)-(68)."""

from __future__ import annotations

import numpy as np

from ..compile import kernel, static
from ..lie import inertia, se3
from ..robot.model import Robot
from ..sweep import body_twists, joint_placements, rates
from .articulated import Articulated, articulated_inertias
from .factorization import factored, solve_factored
from .newton_euler import SURROUNDINGS, base_motion, friction_force, inverse_dynamics, loads_on_bodies

__all__ = ["forward_dynamics", "solve_mass_matrix"]


@kernel(robot=static, q="nq", v="nv", tau="nv", **SURROUNDINGS)
def forward_dynamics(
    robot, q, v, tau, *, gravity=None, wrenches=None, frames=(), base_twist=None, base_acceleration=None
):
    """a (nv,) [rad/s² or m/s²] with inverse_dynamics(robot, q, v, a, ...) = τ; arguments as there.

    Articulated bodies (Featherstone 1983; PP (39)-(40) and its bias force): F_i = Ĵ_i V̇_i + b_i.
    """
    if robot.mimics:
        options = {"gravity": gravity, "wrenches": wrenches, "frames": frames}
        moved = {"base_twist": base_twist, "base_acceleration": base_acceleration}
        bias = inverse_dynamics(robot, q, v, np.zeros(robot.nv), **options, **moved)
        return solve_factored(factored(robot, q), tau - bias)
    f = joint_placements(robot, q)
    V_0, dV_0 = base_motion(robot, gravity, base_twist, base_acceleration)
    V = body_twists(robot, f, v, V_0)
    loads = loads_on_bodies(robot, wrenches, frames)
    bias = {i: _bias(robot, i, V[i]) + loads.get(i, 0.0) for i in V if i >= 0}
    drift = {i: se3.bracket(V[i], robot.screw(i).T @ rates(robot, v, i)) for i in bias}
    return _accelerations(robot, f, tau - friction_force(robot, v), dV_0, bias, drift)


def _bias(robot: Robot, i: int, V):
    """-ad(V)ᵀ J V (6,): the wrench of a body that moves on without acceleration."""
    return -se3.coad_action(V, inertia.momentum(robot.inertias[i], V))


def _accelerations(robot: Robot, f: dict, tau, dV_0, bias: dict | None, drift: dict | None):
    """The two sweeps: what the joints' torques leave over, inward; accelerations, outward. None: at rest."""
    J = articulated_inertias(robot, f)
    left: dict = {}
    p = {i: np.zeros(6) if bias is None else bias[i] for i in J}
    for i in reversed(J):
        wrench = p[i] if drift is None else p[i] + J[i].inertia @ drift[i]
        left[i], wrench = _leftover(robot, i, J[i], tau, wrench)
        parent = int(robot.parents[i])
        if parent >= 0:
            p[parent] = p[parent] + se3.coAd_inv_action(f[i], wrench)
    found, dV = [], {-1: dV_0}
    for i in J:
        y = se3.Ad_inv_action(f[i], dV[int(robot.parents[i])])
        for pivot, u in zip(J[i].pivots, left[i], strict=True):
            a = u - np.dot(pivot.Pi, y)
            y = y + pivot.s * a
            found.append(a)
        dV[i] = y if drift is None else y + drift[i]
    return np.stack(found) if found else np.zeros(0)


def _leftover(robot: Robot, i: int, J: Articulated, tau, wrench):
    """(τ - s·p)/Ω of each degree of freedom, the last first, and the wrench that the joint passes on."""
    start, left = robot._layout.v_start[i], []
    for k, pivot in reversed(list(enumerate(J.pivots))):
        force = tau[start + k] - np.dot(pivot.s, wrench)
        wrench = wrench + pivot.Pi * force
        left.append(force * pivot.inverse)
    return left[::-1], wrench


@kernel(robot=static, q="nq", b="nv")
def solve_mass_matrix(robot, q, b):
    """M(q)⁻¹ b (nv,) in O(n), without forming M: PP Prop. 2 as two sweeps, (62)-(68)."""
    if robot.mimics:
        return solve_factored(factored(robot, q), b)
    return _accelerations(robot, joint_placements(robot, q), b, np.zeros(6), None, None)
