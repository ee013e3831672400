"""Inverse dynamics by the recursive Newton-Euler method: one sweep outward for motions, one inward for forces.

PP = Ploen & Park (1999), "Coordinate-invariant algorithms for robot dynamics", IEEE Trans. Robot. Autom. 15(6).
Every twist and wrench of body i is in the body's own frame.
"""

from __future__ import annotations

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..lie import inertia, se3
from ..robot.model import Robot
from ..sweep import forces, inward, joint_placements, outward, rates

__all__ = ["bias_force", "gravity_torque", "inverse_dynamics", "mass_matrix_product"]


def _motions(robot: Robot, f: dict, v, a, base_twist, base_acceleration) -> dict:
    """{i: (V_i, V̇_i)}: body twists and their rates, from the base outward."""

    def step(i: int, parent: tuple) -> tuple:
        V, dV = parent
        S = robot.screw(i).T
        Sv = S @ rates(robot, v, i)
        V = se3.Ad_inv_action(f[i], V) + Sv  # PP (2)
        # PP (3), with -ad(S v) Ad(f⁻¹) V = [V_i, S v]
        dV = se3.Ad_inv_action(f[i], dV) + se3.bracket(V, Sv) + S @ rates(robot, a, i)
        return V, dV

    return outward(robot, step, (base_twist, base_acceleration))


def _torques(robot: Robot, f: dict, motions: dict, loads: dict):
    """tau (nv,) of the bodies' motions and of the wrenches {i: F} that they exert on their surroundings."""

    def own(i: int):
        V, dV = motions[i]
        F = inertia.momentum(robot.inertias[i], dV) - se3.coad_action(V, inertia.momentum(robot.inertias[i], V))
        return F + loads[i] if i in loads else F

    F = inward(robot, own, lambda i, F: se3.coAd_inv_action(f[i], F))  # PP (4)
    return forces(robot, {i: F[i] @ robot.screw(i).T for i in F})  # PP (5)


def loads_on_bodies(robot: Robot, wrenches, frames: tuple[str, ...]) -> dict:
    """{i: F} (6,): wrenches (k, 6) that frames exert on their surroundings, moved to their bodies' frames and added."""
    found: dict = {}
    if frames and wrenches is None:
        raise ArgumentError(f"frames {', '.join(map(repr, frames))}: give the wrenches (k, 6) they exert, one for each")
    for name, F in zip(frames, wrenches if frames else (), strict=True):
        spot = robot.frame(name)
        F = se3.coAd_inv_action(spot.placement, F)
        found[spot.body] = found[spot.body] + F if spot.body in found else F
    return found


def base_motion(robot: Robot, gravity, twist, acceleration):
    """V_0 and V̇_0 (6,) of the base; gravity is as if the base accelerated against it, V̇_0 = (0, -g)."""
    upward = np.concatenate([np.zeros(3), -(robot.gravity if gravity is None else gravity)])
    return np.zeros(6) if twist is None else twist, upward if acceleration is None else upward + acceleration


def friction_force(robot: Robot, v):
    """Damping · v + friction · sign(v) (nv,): what the joints themselves resist with."""
    return robot.damping * v + robot.friction * np.sign(v)


# Optional inputs of forward and inverse dynamics.
SURROUNDINGS = {"gravity": 3, "wrenches": ("frames", 6), "frames": static, "base_twist": 6, "base_acceleration": 6}


@kernel(robot=static, q="nq", v="nv", a="nv", **SURROUNDINGS)
def inverse_dynamics(
    robot, q, v, a, *, gravity=None, wrenches=None, frames=(), base_twist=None, base_acceleration=None
):
    """τ = M(q) a + C(q, v) v + φ(q) + friction + Σ J_kᵀ F_k (nv,) [N m or N]; PP (1)-(5).

    `wrenches` (k, 6) are those that the named `frames` exert on their surroundings, seen from these frames (a load on
    the robot is their opposite). `gravity` (3,) [m/s²], the robot's own by default. `base_twist` V_0 (6,) and
    `base_acceleration` V̇_0 (6,), without gravity, of a base that is moved, in its own frame. Damping, dry friction and
    armature of the robot count: `robot.replace(damping=...)` changes them.
    """
    f = joint_placements(robot, q)
    motions = _motions(robot, f, v, a, *base_motion(robot, gravity, base_twist, base_acceleration))
    tau = _torques(robot, f, motions, loads_on_bodies(robot, wrenches, frames))
    return tau + robot.armature * a + friction_force(robot, v)


@kernel(robot=static, q="nq", v="nv", gravity=3)
def bias_force(robot, q, v, *, gravity=None):
    """C(q, v) v + φ(q) + friction (nv,): the torque of a = 0."""
    return inverse_dynamics(robot, q, v, np.zeros(robot.nv), gravity=gravity)


@kernel(robot=static, q="nq", gravity=3)
def gravity_torque(robot, q, *, gravity=None):
    """φ(q) (nv,): the torque that holds the robot still."""
    return inverse_dynamics(robot, q, np.zeros(robot.nv), np.zeros(robot.nv), gravity=gravity)


@kernel(robot=static, q="nq", x="nv")
def mass_matrix_product(robot, q, x):
    """M(q) x (nv,) in O(n), without forming M: the torque of a = x at rest and without gravity."""
    return inverse_dynamics(robot, q, np.zeros(robot.nv), x, gravity=np.zeros(3))
