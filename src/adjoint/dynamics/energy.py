"""Energies and momenta of a robot."""

from __future__ import annotations

import numpy as np

from ..compile import kernel, static
from ..kinematics.center import center_of_mass, first_moment, require_mass
from ..kinematics.forward import body_placements
from ..lie import inertia, se3
from ..rolled import rolls
from ..sweep import body_twists, columns, inward_keeping, joint_placements, rates, total
from .newton_euler import armature_force

__all__ = [
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "kinetic_energy",
    "momentum",
    "potential_energy",
]


@rolls
@kernel(robot=static, q="nq", v="nv")
def kinetic_energy(robot, q, v):
    """½ vᵀ M(q) v [J]: of the bodies, Σ ½ V_iᵀ J_i V_i, and of the armatures."""
    V = body_twists(robot, joint_placements(robot, q), v)
    bodies = total(robot, lambda i: inertia.energy(robot.inertias[i], V[i]))
    return bodies + 0.5 * total(robot, lambda i: np.dot(armature_force(robot, i, v), rates(robot, v, i)))


@rolls
@kernel(robot=static, q="nq", gravity=3)
def potential_energy(robot, q, *, gravity=None):
    """U = -Σ m_i g·p_i [J], p_i the centres of mass; Park, Bobrow & Ploen (1995), (58). 0 with all mass at the base."""
    return -np.dot(robot.gravity if gravity is None else gravity, first_moment(robot, q))


@rolls
@kernel(robot=static, q="nq", v="nv")
def momentum(robot, q, v):
    """Σ Ad(T_0i⁻¹)ᵀ J_i V_i (6,) [N m s, N s]: momentum of all bodies in the base's frame, about its origin."""
    f = joint_placements(robot, q)
    V = body_twists(robot, f, v)

    def step(i, beyond):
        return se3.coAd_inv_action(f[i], inertia.momentum(robot.inertias[i], V[i]) + beyond), None

    return inward_keeping(robot, step, np.zeros(6))[0]


@rolls(check=require_mass)
@kernel(robot=static, q="nq")
def centroidal_momentum_matrix(robot, q):
    """A (6, nv): momentum about the centre of mass, along the base's axes, is A v (Orin & Goswami 2008)."""
    f, T, com = joint_placements(robot, q), body_placements(robot, q), center_of_mass(robot, q)

    def step(i, beyond):
        composite = robot.inertias[i] + beyond
        momenta = [se3.coAd_inv_action(T[i], inertia.momentum(composite, s)) for s in robot.screw(i)]
        return inertia.transform(f[i], composite), np.stack([_about(com, h) for h in momenta], axis=-1)

    return columns(robot, inward_keeping(robot, step, np.zeros(10))[1], np.zeros(6))


def _about(p, F):
    """A wrench or momentum (m, f) about the point p instead of the origin."""
    return np.concatenate([F[:3] - np.cross(p, F[3:]), F[3:]])


@rolls(check=require_mass)
@kernel(robot=static, q="nq", v="nv")
def centroidal_momentum(robot, q, v):
    """Momentum (6,) of all bodies about their centre of mass, along the base's axes."""
    return _about(center_of_mass(robot, q), momentum(robot, q, v))
