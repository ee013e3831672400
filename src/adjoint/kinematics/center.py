"""The centre of mass of a robot's moving bodies, and its Jacobian."""

from __future__ import annotations

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..model.robot import Robot
from ..sweep import columns, inward
from .forward import body_placements
from .route import seen_screws

__all__ = ["center_of_mass", "center_of_mass_jacobian"]


def _first_moments(robot: Robot, T: dict) -> dict:
    """{i: m c} (3,): first moment about the base's origin of the bodies that joint i carries, body i included."""

    def own(i):  # ∫(R x + p) dm
        return T[i][:3, :3] @ robot.inertias[i, 1:4] + robot.inertias[i, 0] * T[i][:3, 3]

    return inward(robot, own, lambda i, moment: moment)


def first_moment(robot: Robot, q) -> np.ndarray:
    """m c (3,) [kg m]: total mass times centre of mass of all moving bodies in the base's frame."""
    moments = _first_moments(robot, body_placements(robot, q))
    return sum((moments[i] for i in moments if robot.parents[i] < 0), np.zeros(3))


def _require_mass(robot: Robot) -> None:
    if "inertias" not in robot.varying and not robot.mass > 0:
        raise ArgumentError(f"robot '{robot.name}' has mass {robot.mass:g} kg; it has no centre of mass")


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
    moments = _first_moments(robot, T)
    carried = inward(robot, lambda i: robot.inertias[i, 0], lambda i, mass: mass)
    own = {}
    for i in moments:
        c = seen_screws(robot, i, T[i])
        moved = [carried[i] * c[3:, k] + np.cross(c[:3, k], moments[i]) for k in range(c.shape[1])]
        own[i] = np.stack(moved, axis=-1) / robot.mass
    return columns(robot, own, np.zeros(3))
