"""The configuration space as a manifold: points q (nq,), tangent vectors v (nv,) of all joints together.

Angles and lengths add; orientations and poses move by the exponential in the body's frame, so that v keeps the meaning
it has in the dynamics: v is the rate of q along S_i.
"""

from __future__ import annotations

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..lie import series
from ..randomness import Rng, batch_shape, generator, rng_by_keyword
from .joints import JOINTS
from .needs import need_robot
from .robot import Robot

__all__ = ["difference", "distance", "integrate", "interpolate", "neutral", "random_configuration"]


def _leads(robot: Robot):
    """(row of the joint table, slice of q, slice of v) of every joint that is not a mimic."""
    at = robot.layout
    for i, kind in enumerate(robot.joint_types):
        if i not in robot.mimics:
            row, q, v = JOINTS[kind], at.q_start[i], at.v_start[i]
            yield row, slice(q, q + row.nq), slice(v, v + row.nv)


def neutral(robot: Robot) -> np.ndarray:
    """The home configuration q (nq,), where every joint is at J(q) = 1: zeros, and unit quaternions."""
    need_robot(robot, "neutral")
    return np.concatenate([np.zeros(0), *(row.neutral for row, _, _ in _leads(robot))])


@rng_by_keyword
def random_configuration(robot: Robot, shape: int | tuple[int, ...] = (), *, rng: Rng = None) -> np.ndarray:
    """Configurations (*shape, nq), uniform inside the limits: one, or as many as `shape` says.

    `rng` is a generator, a seed, or None: `random_configuration(robot, 100, rng=0)` are the same hundred each time.
    Unlimited angles are in [-π, π], unlimited lengths in [-1, 1] m; orientations are uniform.
    """
    need_robot(robot, "random_configuration")
    rng, shape = generator(rng, "random_configuration"), batch_shape(shape, "random_configuration")
    if np.any(robot.lower > robot.upper):
        bad = int(np.argmax(robot.lower > robot.upper))
        raise ArgumentError(
            f"random_configuration: robot '{robot.name}' has lower limit {robot.lower[bad]:g} above upper "
            f"{robot.upper[bad]:g} at q[{bad}]; see check(robot)"
        )
    parts = [row.random(rng, robot.lower[q], robot.upper[q], shape) for row, q, _ in _leads(robot)]
    return np.concatenate([np.zeros((*shape, 0)), *parts], axis=-1)


@kernel(robot=static, q="nq", v="nv")
def integrate(robot, q, v, dt=1.0):
    """q (nq,) after moving with constant v (nv,) for the time dt [s]: q ∘ exp(v dt)."""
    return np.concatenate([np.zeros(0), *(row.integrate(q[a], v[b] * dt) for row, a, b in _leads(robot))])


@kernel(robot=static, q_0="nq", q_1="nq")
def difference(robot, q_0, q_1):
    """v (nv,) that moves q_0 to q_1 in unit time: the inverse of `integrate`.

    Orientations, and angles of planar joints, go the short way; angles of revolute joints are numbers, not wrapped.
    """
    return np.concatenate([np.zeros(0), *(row.difference(q_0[a], q_1[a]) for row, a, _ in _leads(robot))])


@kernel(robot=static, q_0="nq", q_1="nq")
def interpolate(robot, q_0, q_1, s):
    """The point s of the geodesic from q_0 (s = 0) to q_1 (s = 1): (nq,)."""
    return integrate(robot, q_0, difference(robot, q_0, q_1), s)


@kernel(robot=static, q_0="nq", q_1="nq")
def distance(robot, q_0, q_1):
    """|difference(q_0, q_1)|, rad and m alike; slope 0 where q_0 = q_1 (a kink)."""
    return series.norm(difference(robot, q_0, q_1))
