"""Outward and inward recursions over the tree: the seeds' G and Gᵀ, and the joints' share of q, v and tau.

Algorithms work with *all* bodies, each with its own joint coordinates; `coordinates` and `rates` give them to the
bodies (a mimic gets a multiple of its leader's), `forces` and `columns` gather what the bodies' joints feel back into
the robot's nv degrees of freedom. So every algorithm supports every joint, mimics included, without knowing of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .lie import se3
from .model.joints import JOINTS
from .model.robot import Robot

__all__ = [
    "body_twists",
    "columns",
    "coordinates",
    "forces",
    "inward",
    "joint_motion",
    "joint_placement",
    "joint_placements",
    "outward",
    "rates",
    "stacked",
]


def outward(robot: Robot, step: Callable, base) -> dict:
    """{i: x_i} with x_i = step(i, x_parent), from the base to the tips; x of the base is `base` (key -1)."""
    x = {-1: base}
    for i in range(len(robot.body_names)):
        x[i] = step(i, x[int(robot.parents[i])])
    return x


def inward(robot: Robot, own: Callable, pass_on: Callable) -> dict:
    """{i: x_i} with x_i = own(i) + sum over children of pass_on(child, x_child), from the tips to the base."""
    x = {i: own(i) for i in range(len(robot.body_names))}
    for i in reversed(range(len(robot.body_names))):
        parent = int(robot.parents[i])
        if parent >= 0:
            x[parent] = x[parent] + pass_on(i, x[i])
    return x


def coordinates(robot: Robot, q, i: int):
    """The coordinates (k,) of body i's joint in q (nq,); multiplier · q_source + offset for a mimic."""
    start = robot.layout.q_start[i]
    own = q[start : start + JOINTS[robot.joint_types[i]].nq]
    if i not in robot.mimics:
        return own
    _, multiplier, offset = robot.mimics[i]
    return multiplier * own + offset


def rates(robot: Robot, v, i: int):
    """The rates (k,) of body i's joint in v (nv,), or in an acceleration a (nv,)."""
    start = robot.layout.v_start[i]
    own = v[start : start + JOINTS[robot.joint_types[i]].nv]
    return robot.mimics[i].multiplier * own if i in robot.mimics else own


def columns(robot: Robot, own: dict, empty):
    """The nv columns of a map from v, last axis, given those of each body's joint, {i: (..., k)}.

    A column is the sum over the bodies that follow its coordinate; `empty` (...) is the column of those with none.
    """
    found = [empty] * robot.nv
    fresh = [True] * robot.nv
    for i, part in own.items():
        scale = robot.mimics[i].multiplier if i in robot.mimics else None
        for k in range(part.shape[-1]):
            at = robot.layout.v_start[i] + k
            column = part[..., k] if scale is None else scale * part[..., k]
            found[at] = column if fresh[at] else found[at] + column
            fresh[at] = False
    return np.stack(found, axis=-1) if found else np.zeros((*np.shape(empty), 0))


def stacked(nested: list, axes: int):
    """The array of nested lists of numbers, traced or not; without any number, an empty one of so many axes."""
    if axes == 1:
        return np.stack(nested) if nested else np.zeros(0)
    return np.stack([stacked(part, axes - 1) for part in nested]) if nested else np.zeros((0,) * axes)


def forces(robot: Robot, own: dict):
    """Generalized forces (nv,) of those felt by each body's joint, {i: (k,)}: the transpose of `rates`."""
    return columns(robot, own, np.zeros(()))


def joint_motion(robot: Robot, q, i: int):
    """J_i(q_i) (4, 4): how the joint of body i has moved it from its home placement."""
    placement = JOINTS[robot.joint_types[i]].placement
    return placement(coordinates(robot, q, i), robot.screw(i), "screws" in robot.varying)


def joint_placement(robot: Robot, q, i: int):
    """f_{parent,i} = M_i J_i(q_i) (4, 4), eq. (1) of Ploen & Park (1999)."""
    return se3.compose(robot.placements[i], joint_motion(robot, q, i))


def joint_placements(robot: Robot, q) -> dict:
    """{i: `joint_placement`} of all bodies."""
    return {i: joint_placement(robot, q, i) for i in range(len(robot.body_names))}


def body_twists(robot: Robot, f: dict, v, base_twist=None) -> dict:
    """{i: V_i} (6,): body twists V_i = Ad(f_i⁻¹) V_parent + S_i v_i, eq. (2); the base's is `base_twist`, or 0."""

    def step(i: int, V):
        return se3.Ad_inv_action(f[i], V) + robot.screw(i).T @ rates(robot, v, i)

    return outward(robot, step, np.zeros(6) if base_twist is None else base_twist)
