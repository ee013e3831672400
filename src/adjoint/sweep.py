"""Outward and inward recursions over the tree: the papers' G and Gᵀ, and the joints' share of q, v and tau.

Algorithms work with *all* bodies, each with its own joint coordinates; `coordinates` and `rates` give them to the
bodies (a mimic gets a multiple of its leader's), `forces` and `columns` gather what the bodies' joints feel back into
the robot's nv degrees of freedom. So every algorithm supports every joint, mimics included, without knowing of them.

Of an ordinary robot a body is its number, and a value for each body is a dict. Of the stand-in for a robot with many
bodies (`rolled.stand_in`) sweeps are loops, and the same functions give values that are looked up with the same `x[i]`.
Algorithms that are made of `joint_placements`, `outward`, `outward_keeping`, `inward_keeping`, `each`, `total`,
`coordinates`, `rates` and `forces` alone are written once for both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .compile import map_leaves
from .lie import se3
from .model.joints import BRACKETS, JOINTS
from .model.robot import Robot
from .rolled.stand_in import Each, JointColumns, PerBody, RolledRobot, joint_values

__all__ = [
    "at_rest",
    "body_twists",
    "by_body",
    "columns",
    "coordinates",
    "each",
    "forces",
    "inward",
    "inward_keeping",
    "joint_kinds",
    "joint_motion",
    "joint_placement",
    "joint_placements",
    "known",
    "onward",
    "outward",
    "outward_keeping",
    "part",
    "placed_bodies",
    "rates",
    "stacked",
    "total",
    "twist_of_body",
    "wrench_on_body",
]


def outward(robot: Robot, step: Callable, base) -> Any:
    """{i: x_i} with x_i = step(i, x_parent), from the base to the tips; x of the base is `base` (key -1)."""
    if isinstance(robot, RolledRobot):
        return robot.outward(lambda i, x: (step(i, x),) * 2, base)
    x = {-1: base}
    for i in range(len(robot.body_names)):
        x[i] = step(i, x[int(robot.parents[i])])
    return x


def outward_keeping(robot: Robot, step: Callable, base) -> Any:
    """{i: y_i} of x_i, y_i = step(i, x_parent), from the base to the tips: x is handed on, y is kept."""
    if isinstance(robot, RolledRobot):
        return robot.outward(step, base)
    x, y = {-1: base}, {}
    for i in range(len(robot.body_names)):
        x[i], y[i] = step(i, x[int(robot.parents[i])])
    return y


def inward(robot: Robot, own: Callable, pass_on: Callable) -> dict:
    """{i: x_i} with x_i = own(i) + sum over children of pass_on(child, x_child), from the tips to the base."""
    x = {i: own(i) for i in range(len(robot.body_names))}
    for i in reversed(range(len(robot.body_names))):
        parent = int(robot.parents[i])
        if parent >= 0:
            x[parent] = x[parent] + pass_on(i, x[i])
    return x


def inward_keeping(robot: Robot, step: Callable, zero) -> tuple[Any, Any]:
    """What the base is passed, and {i: y_i}, of x_i, y_i = step(i, sum of x over the children), from the tips inward.

    x is an array or a tuple of such, and x_i is what body i passes on to its parent; `zero` is the sum of none.
    """
    if isinstance(robot, RolledRobot):
        return robot.inward(step, zero)
    sums, y = {}, {}
    for i in reversed(range(len(robot.body_names))):
        parent = int(robot.parents[i])
        x, y[i] = step(i, sums.get(i, zero))
        sums[parent] = map_leaves(np.add, sums[parent], x) if parent in sums else x
    return sums.get(-1, zero), dict(sorted(y.items()))


def each(robot: Robot, f: Callable) -> Any:
    """{i: f(i)} of all bodies."""
    if isinstance(robot, RolledRobot):
        return robot.each(f)
    return {i: f(i) for i in range(len(robot.body_names))}


def total(robot: Robot, f: Callable, zero: Any = 0.0) -> Any:
    """The sum of f(i) over all bodies; `zero` if there are none."""
    if isinstance(robot, RolledRobot):
        return robot.total(f, zero)
    return sum((f(i) for i in range(len(robot.body_names))), zero)


def at_rest(robot: Robot) -> Any:
    """v = 0 (nv,)."""
    return Each(lambda i: np.zeros(i.nv)) if isinstance(robot, RolledRobot) else np.zeros(robot.nv)


def known(robot: Robot, i, *fields: str) -> bool:
    """Whether these numbers of body i and of its joint are known when the code is made, so that Python may look."""
    return i.known.issuperset(fields) if isinstance(robot, RolledRobot) else robot.varying.isdisjoint(fields)


def joint_kinds(robot: Robot, i) -> list[tuple]:
    """(1, type) of body i's joint, if it has several degrees of freedom; (1 or 0, type) of all types that it may be."""
    if isinstance(robot, RolledRobot):
        return i.kinds
    return [(1.0, robot.joint_types[i])] if robot.joint_types[i] in BRACKETS else []


def coordinates(robot: Robot, q, i: int) -> Any:
    """The coordinates (k,) of body i's joint in q (nq,); multiplier · q_source + offset for a mimic."""
    if isinstance(robot, RolledRobot):
        return q[i]
    start = robot.layout.q_start[i]
    own = q[start : start + JOINTS[robot.joint_types[i]].nq]
    if i not in robot.mimics:
        return own
    _, multiplier, offset = robot.mimics[i]
    return multiplier * own + offset


def rates(robot: Robot, v, i: int) -> Any:
    """The rates (k,) of body i's joint in v (nv,), or in an acceleration a (nv,)."""
    if isinstance(robot, RolledRobot):
        return v[i]
    start = robot.layout.v_start[i]
    own = v[start : start + JOINTS[robot.joint_types[i]].nv]
    return robot.mimics[i].multiplier * own if i in robot.mimics else own


def columns(robot: Robot, own, empty) -> np.ndarray:
    """The nv columns of a map from v, last axis, given those of each body's joint, {i: (..., k)}.

    A column is the sum over the bodies that follow its coordinate; `empty` (...) is the column of those with none.
    """
    if isinstance(robot, RolledRobot):
        return JointColumns(own.root, own.rows)  # type: ignore[return-value]  # which stands for it
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


def forces(robot: Robot, own) -> np.ndarray:
    """Generalized forces (nv,) of those felt by each body's joint, {i: (k,)}: the transpose of `rates`."""
    if isinstance(robot, RolledRobot):
        return joint_values(robot, own)  # type: ignore[return-value]  # which stands for it
    return columns(robot, own, np.zeros(()))


def joint_motion(robot: Robot, q, i: int):
    """J_i(q_i) (4, 4): how the joint of body i has moved it from its home placement."""
    placement = JOINTS[robot.joint_types[i]].placement
    return placement(coordinates(robot, q, i), robot.screw(i), "screws" in robot.varying)


def joint_placement(robot: Robot, q, i: int):
    """f_{parent,i} = M_i J_i(q_i) (4, 4), eq. (1) of Ploen & Park (1999)."""
    return se3.compose(robot.placements[i], joint_motion(robot, q, i))


def joint_placements(robot: Robot, q) -> Any:
    """{i: `joint_placement`} of all bodies."""
    if isinstance(robot, RolledRobot):
        return robot.joint_placements(q)
    return {i: joint_placement(robot, q, i) for i in range(len(robot.body_names))}


def onward(robot: Robot, q) -> Callable:
    """The step (i, T_parent) -> T_i = T_parent M_i J_i(q_i) of placements (4, 4), from the base outward."""
    if isinstance(robot, RolledRobot):
        f = robot.joint_placements(q)
        return lambda i, T: se3.compose(T, f[i])
    # (T M) J and not T (M J): J turns about one axis, so that the second product touches two columns only.
    return lambda i, T: se3.compose(se3.compose(T, robot.placements[i]), joint_motion(robot, q, i))


def twist_of_body(robot: Robot, i, V):
    """A twist (6,) of body i, or a rate of one, in the body's own frame: loops have it in that of the joint."""
    if not isinstance(robot, RolledRobot) or (at := robot.body_frame(i)) is None:
        return V
    return se3.Ad_inv_action(at, V)


def wrench_on_body(robot: Robot, i, F):
    """A wrench (6,) on body i in the body's own frame: loops have it in that of the joint."""
    if not isinstance(robot, RolledRobot) or (at := robot.body_frame(i)) is None:
        return F
    return se3.coAd_action(at, F)


def part(robot: Robot, values, k: int) -> Any:
    """{i: x_i[k]} of tuples x_i, one for each body."""
    if isinstance(robot, RolledRobot):
        return PerBody(None if values.root is None else values.root[k], values.rows[k])
    return {i: x[k] for i, x in values.items()}


def by_body(robot: Robot, own, width: int = 6) -> np.ndarray:
    """(n, width) of values (width,) of all bodies, in their order."""
    if isinstance(robot, RolledRobot):
        return own
    return np.stack(list(own.values())) if own else np.zeros((0, width))


def placed_bodies(robot: Robot, q) -> np.ndarray:
    """T_0i (n, 4, 4) of all bodies, in their order."""
    step = onward(robot, q)

    def keep(i, T):
        T = step(i, T)
        at = robot.body_frame(i) if isinstance(robot, RolledRobot) else None
        return T, T if at is None else se3.compose(T, at)

    T = outward_keeping(robot, keep, np.eye(4))
    if isinstance(robot, RolledRobot):
        return T
    return np.stack(list(T.values())) if T else np.zeros((0, 4, 4))


def body_twists(robot: Robot, f, v, base_twist=None) -> Any:
    """{i: V_i} (6,): body twists V_i = Ad(f_i⁻¹) V_parent + S_i v_i, eq. (2); the base's is `base_twist`, or 0."""

    def step(i: int, V):
        return se3.Ad_inv_action(f[i], V) + robot.screw(i).T @ rates(robot, v, i)

    return outward(robot, step, np.zeros(6) if base_twist is None else base_twist)
