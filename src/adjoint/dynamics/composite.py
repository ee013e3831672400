"""The mass matrix by composite inertias: each joint accelerates everything beyond it as one rigid body."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..compile import kernel, static
from ..lie import inertia, se3
from ..model.robot import Robot
from ..rolled.calls import columns_of
from ..rolled.rows import is_long
from ..sweep import inward, joint_placements, stacked
from .newton_euler import mass_matrix_product

__all__ = ["mass_matrix"]


@kernel(robot=static, q="nq")
def mass_matrix(robot, q):
    """M(q) (nv, nv), symmetric: kinetic energy is ½ vᵀ M v; armature is on its diagonal.

    m_ij = S_iᵀ Ad(f_ij⁻¹)ᵀ I_j S_j for i on the path to j, I_j the inertia of body j and all beyond it (Walker & Orin
    1982): the sum over bodies of Park, Bobrow & Ploen (1995), (40), taken once.
    """
    f = joint_placements(robot, q)
    composite = inward(robot, lambda i: robot.inertias[i], lambda i, I: inertia.transform(f[i], I))
    rows = [[0.0] * robot.nv for _ in range(robot.nv)]
    for j in composite:
        for s, b, scale in degrees(robot, j):
            F, i = inertia.momentum(composite[j], s) * scale, j
            while i >= 0:
                for other, a, k in degrees(robot, i):
                    if i != j or a <= b:
                        _add(rows, a, b, k * np.dot(other, F), twice=(i, a) != (j, b))
                F, i = se3.coAd_inv_action(f[i], F), int(robot.parents[i])
    return stacked(rows, 2) + np.diag(robot.armature)


@mass_matrix.instead
def _in_loops(statics: dict, names: tuple[str, ...]) -> Callable | None:
    robot = statics["robot"]
    return columns_of(mass_matrix_product, "x", robot, statics, names) if is_long(robot) else None


def degrees(robot: Robot, i: int):
    """(screw (6,), place in v, multiplier) of every degree of freedom of body i's joint."""
    start = robot.layout.v_start[i]
    scale = robot.mimics[i].multiplier if i in robot.mimics else 1.0
    return [(s, start + k, scale) for k, s in enumerate(robot.screw(i))]


def _add(rows: list, a: int, b: int, m, twice: bool) -> None:
    """m_ij, and m_ji if these are different screws; a mimic and its leader may share the place (a = b)."""
    rows[a][b] = rows[a][b] + m
    if twice:
        rows[b][a] = rows[b][a] + m
