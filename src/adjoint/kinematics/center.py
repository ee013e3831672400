"""The centre of mass of a robot's moving bodies, and its Jacobian."""

from __future__ import annotations

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..model.robot import Robot
from ..rolled import rolls
from ..sweep import columns, inward_keeping, total
from .forward import body_placements
from .route import seen_screws

__all__ = ["center_of_mass", "center_of_mass_jacobian"]


def _own_moment(robot: Robot, T, i):
    """m c (3,) of body i at T, about the base's origin: ∫(R x + p) dm."""
    J = robot.inertias[i]
    return T[:3, :3] @ J[1:4] + J[0] * T[:3, 3]


def first_moment(robot: Robot, q):
    """m c (3,) [kg m]: total mass times centre of mass of all moving bodies in the base's frame."""
    T = body_placements(robot, q)
    return total(robot, lambda i: _own_moment(robot, T[i], i), np.zeros(3))


def require_mass(robot: Robot) -> None:
    if "inertias" not in robot.varying and not robot.mass > 0:
        raise ArgumentError(f"robot '{robot.name}' has mass {robot.mass:g} kg; it has no centre of mass")


@rolls(check=require_mass)
@kernel(robot=static, q="nq")
def center_of_mass(robot, q):
    """Centre of mass (3,) [m] of all moving bodies in the base's frame, at q (nq,)."""
    require_mass(robot)
    return first_moment(robot, q) / robot.mass


@rolls(check=require_mass)
@kernel(robot=static, q="nq")
def center_of_mass_jacobian(robot, q):
    """(3, nv) [m]: the centre of mass moves with J v, along the base's axes.

    A joint with screw (w, u), seen from the base, carries mass m_c whose first moment is h: its column is
    (m_c u + w × h) / m.
    """
    require_mass(robot)
    T, whole = body_placements(robot, q), robot.mass

    def step(i, beyond: tuple) -> tuple:
        mass, moment = robot.inertias[i][0] + beyond[0], _own_moment(robot, T[i], i) + beyond[1]
        c = seen_screws(robot, i, T[i])
        moved = [mass * c[3:, k] + np.cross(c[:3, k], moment) for k in range(c.shape[1])]
        return (mass, moment), np.stack(moved, axis=-1) / whole

    return columns(robot, inward_keeping(robot, step, (0.0, np.zeros(3)))[1], np.zeros(3))
