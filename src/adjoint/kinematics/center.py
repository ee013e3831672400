"""The centre of mass of a robot's moving bodies, and its Jacobian."""

from __future__ import annotations

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..model.robot import Robot
from ..rolled import rolls
from ..sweep import columns, inward, total
from .forward import body_placements
from .route import seen_screws

__all__ = ["center_of_mass", "center_of_mass_jacobian"]


def _own_moment(robot: Robot, T, i):
    """m c (3,) of body i at T, about the base's origin: ∫(R x + p) dm."""
    J = robot.inertias[i]
    return T[:3, :3] @ J[1:4] + J[0] * T[:3, 3]


def first_moment(robot: Robot, q) -> np.ndarray:
    """m c (3,) [kg m]: total mass times centre of mass of all moving bodies in the base's frame."""
    T = body_placements(robot, q)
    return total(robot, lambda i: _own_moment(robot, T[i], i), np.zeros(3))


def _require_mass(robot: Robot) -> None:
    if "inertias" not in robot.varying and not robot.mass > 0:
        raise ArgumentError(f"robot '{robot.name}' has mass {robot.mass:g} kg; it has no centre of mass")


@rolls(check=_require_mass)
@kernel(robot=static, q="nq")
def center_of_mass(robot, q):
    """Centre of mass (3,) [m] of all moving bodies in the base's frame, at q (nq,)."""
    _require_mass(robot)
    return first_moment(robot, q) / robot.mass


@kernel(robot=static, q="nq")
def center_of_mass_jacobian(robot, q):
    """(3, nv) [m]: the centre of mass moves with J v, along the base's axes.

    A joint with screw (w, u), seen from the base, carries mass m_c whose first moment is h: its column is
    (m_c u + w × h) / m.
    """
    _require_mass(robot)
    T = body_placements(robot, q)
    moments = inward(robot, lambda i: _own_moment(robot, T[i], i), lambda i, moment: moment)
    carried = inward(robot, lambda i: robot.inertias[i, 0], lambda i, mass: mass)
    own = {}
    for i in moments:
        c = seen_screws(robot, i, T[i])
        moved = [carried[i] * c[3:, k] + np.cross(c[:3, k], moments[i]) for k in range(c.shape[1])]
        own[i] = np.stack(moved, axis=-1) / robot.mass
    return columns(robot, own, np.zeros(3))
