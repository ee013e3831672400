"""Forward dynamics in O(n), by articulated bodies; `ploen_park` has the recursion of Ploen & Park (1999), (47)-(68)."""

from __future__ import annotations

import numpy as np

from ..compile import kernel, static
from ..lie import inertia, se3
from ..model.robot import Robot
from ..sweep import joint_placements, outward, rates
from .articulated import Pivot, articulated_inertias, require_inertia
from .factorization import factored, solve_factored
from .newton_euler import (
    SURROUNDINGS,
    base_motion,
    inverse_dynamics,
    joint_force,
    loads_on_bodies,
    squared,
    true_motion,
)

__all__ = ["forward_dynamics", "solve_mass_matrix"]


@kernel(robot=static, q="nq", v="nv", tau="nv", **SURROUNDINGS)
def forward_dynamics(
    robot, q, v, tau, *, gravity=None, wrenches=None, frames=(), base_twist=None, base_acceleration=None
):
    """a (nv,) [rad/s² or m/s²] with inverse_dynamics(robot, q, v, a, ...) = τ; arguments as there.

    Articulated bodies (Featherstone 1983; PP (39)-(40) and its bias force): F_i = Ĵ_i A_i + b_i, with the true
    accelerations A_i of `newton_euler`.
    """
    if robot.mimics:
        options = {"gravity": gravity, "wrenches": wrenches, "frames": frames}
        moved = {"base_twist": base_twist, "base_acceleration": base_acceleration}
        bias = inverse_dynamics(robot, q, v, np.zeros(robot.nv), **options, **moved)
        return solve_factored(factored(robot, q), tau - bias)
    require_inertia(robot)
    f = joint_placements(robot, q)
    w_0, A_0 = true_motion(*base_motion(robot, gravity, base_twist, base_acceleration))
    bias, drift = _unaccelerated(robot, f, v, w_0)
    for i, load in loads_on_bodies(robot, wrenches, frames).items():
        if i >= 0:
            bias[i] = bias[i] + load
    return _accelerations(robot, f, tau - joint_force(robot, v), A_0, bias, drift)


def next_drift(parent: tuple, f, S, v, J) -> tuple:
    """(ω, [ω]²) of a body that moves on with v at a = 0, its wrench, and its A beyond what its parent's A gives it."""
    w, w2 = parent
    Rt, p = f[:3, :3].T, f[:3, 3]
    turn, slide = np.split(S @ v, 2)
    w = Rt @ w
    drift = np.concatenate([np.cross(w, turn), Rt @ (w2 @ p) + np.cross(2 * w + turn, slide)])
    w = w + turn
    w2, (_, h, I) = squared(w), inertia.moments(J)
    return (w, w2), np.concatenate([np.cross(w, I @ w), w2 @ h]), drift


def _unaccelerated(robot: Robot, f: dict, v, w_0) -> tuple[dict, dict]:
    """{i: wrench} and {i: A_i} (6,) of `next_drift`."""
    bias, drift = {}, {}

    def step(i: int, parent: tuple) -> tuple:
        moving, bias[i], drift[i] = next_drift(parent, f[i], robot.screw(i).T, rates(robot, v, i), robot.inertias[i])
        return moving

    outward(robot, step, (w_0, squared(w_0)))
    return bias, drift


def _accelerations(robot: Robot, f: dict, tau, A_0, bias: dict | None, drift: dict | None):
    """The two sweeps: what the joints' torques leave over, inward; accelerations, outward. None: at rest."""
    J = articulated_inertias(robot, f)
    left: dict = {}
    p = {i: np.zeros(6) if bias is None else bias[i] for i in J}
    for i in reversed(J):
        wrench = p[i] if drift is None else p[i] + J[i].inertia @ drift[i]
        left[i], wrench = leftover(J[i].pivots, tau[robot.layout.v_start[i] :], wrench)
        parent = int(robot.parents[i])
        if parent >= 0:
            p[parent] = p[parent] + se3.coAd_inv_action(f[i], wrench)
    found, A = [], {-1: A_0}
    for i in J:
        a, y = accelerated(J[i].pivots, left[i], se3.Ad_inv_action(f[i], A[int(robot.parents[i])]))
        A[i] = y if drift is None else y + drift[i]
        found += a
    return np.stack(found) if found else np.zeros(0)


def leftover(pivots: list[Pivot], tau, wrench):
    """(τ - s·p)/Ω of each degree of freedom of a joint, and the wrench that the joint passes on."""
    left = []
    for k, pivot in reversed(list(enumerate(pivots))):
        force = tau[k] - np.dot(pivot.s, wrench)
        wrench = wrench + pivot.Pi * force
        left.append(force * pivot.inverse)
    return left[::-1], wrench


def accelerated(pivots: list[Pivot], left: list, y):
    """The joint's accelerations, and its body's A, which is y without them."""
    found = []
    for pivot, u in zip(pivots, left, strict=True):
        a = u - np.dot(pivot.Pi, y)
        y = y + pivot.s * a
        found.append(a)
    return found, y


@kernel(robot=static, q="nq", b="nv")
def solve_mass_matrix(robot, q, b):
    """M(q)⁻¹ b (nv,) in O(n), without forming M: PP Prop. 2 as two sweeps, (62)-(68)."""
    if robot.mimics:
        return solve_factored(factored(robot, q), b)
    require_inertia(robot)
    return _accelerations(robot, joint_placements(robot, q), b, np.zeros(6), None, None)
