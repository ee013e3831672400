"""The kinetic and potential energy of a robot, and its momenta."""

from __future__ import annotations

import numpy as np

from ..compile import kernel, static
from ..kinematics.center import center_of_mass, first_moment, require_mass
from ..kinematics.forward import body_placements
from ..lie import inertia, se3
from ..model.robot import Robot
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
def kinetic_energy(robot: Robot, q, v) -> np.ndarray:
    """The kinetic energy ½ vᵀ M(q) v [J] of the bodies, Σ ½ V_iᵀ J_i V_i, and of the armatures, at q (nq,) and v (nv,).

    >>> T = kinetic_energy(robot, q, v)                                 # () for one sample, (...) for a batch
    """
    V = body_twists(robot, joint_placements(robot, q), v)
    bodies = total(robot, lambda i: inertia.energy(robot.inertias[i], V[i]))
    return bodies + 0.5 * total(robot, lambda i: np.dot(armature_force(robot, i, v), rates(robot, v, i)))


@rolls
@kernel(robot=static, q="nq", gravity=3)
def potential_energy(robot: Robot, q, *, gravity=None) -> np.ndarray:
    """The potential energy U = -Σ m_i g·p_i [J] at q (nq,), where p_i are the bodies' centres of mass.

    It is 0 where the centre of mass is at the height of the base's origin. `gravity` (3,) [m/s²], seen from the base,
    is the robot's own by default. Reference: Park, Bobrow & Ploen (1995), eq. (58).

        >>> U = potential_energy(robot, q)
    """
    return -np.dot(robot.gravity if gravity is None else gravity, first_moment(robot, q))


@rolls
@kernel(robot=static, q="nq", v="nv")
def momentum(robot: Robot, q, v) -> np.ndarray:
    """The momentum Σ Ad(T_0i⁻¹)ᵀ J_i V_i (6,) [N m s, N s] of all bodies, at q (nq,) and v (nv,).

    It is seen from the base, about the base's origin, angular part first. Armatures do not count.

        >>> h = momentum(robot, q, v)
    """
    f = joint_placements(robot, q)
    V = body_twists(robot, f, v)

    def step(i, beyond):
        return se3.coAd_inv_action(f[i], inertia.momentum(robot.inertias[i], V[i]) + beyond), None

    return inward_keeping(robot, step, np.zeros(6))[0]


@rolls(check=require_mass)
@kernel(robot=static, q="nq")
def centroidal_momentum_matrix(robot: Robot, q) -> np.ndarray:
    """The matrix A (6, nv) with which A v is the `centroidal_momentum`, at q (nq,).

    That is the momentum about the centre of mass, along the base's axes, angular part first. Reference: Orin & Goswami
    (2008), "Centroidal momentum matrix of a humanoid robot".

        >>> A = centroidal_momentum_matrix(robot, q)
    """
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
def centroidal_momentum(robot: Robot, q, v) -> np.ndarray:
    """The momentum (6,) [N m s, N s] of all bodies about their common centre of mass, at q (nq,) and v (nv,).

    It is along the base's axes, angular part first. Armatures do not count.

        >>> h = centroidal_momentum(robot, q, v)
    """
    return _about(center_of_mass(robot, q), momentum(robot, q, v))
