"""The configuration space as a manifold: its points are q (nq,), its tangent vectors v (nv,), of all joints together.

Angles and lengths add. Orientations and poses move by the exponential in the body's frame, so that v has the meaning it
has in the dynamics: the joint of body i moves it by the twist S_i v_i.
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
    """Yield (row of the joint table, slice of q, slice of v) of every joint that is not a mimic."""
    at = robot.layout
    for i, kind in enumerate(robot.joint_types):
        if i not in robot.mimics:
            row, q, v = JOINTS[kind], at.q_start[i], at.v_start[i]
            yield row, slice(q, q + row.nq), slice(v, v + row.nv)


def neutral(robot: Robot) -> np.ndarray:
    """Return the home configuration q (nq,), where J(q) = 1 for every joint: zeros, and quaternions (1, 0, 0, 0).

        >>> neutral(robot)
        array([0., 0., 0., 0., 0., 0.])
    """
    need_robot(robot, "neutral")
    return np.concatenate([np.zeros(0), *(row.neutral for row, _, _ in _leads(robot))])


@rng_by_keyword
def random_configuration(robot: Robot, shape: int | tuple[int, ...] = (), *, rng: Rng = None) -> np.ndarray:
    """Return random configurations (*shape, nq), uniform inside the limits; one (nq,) by default.

        q = random_configuration(robot, 100, rng=0)                         # (100, nq), the same at every call

    `rng` is a generator, a seed, or None for other numbers at each call. Unlimited angles are in [-π, π], unlimited
    lengths in [-1, 1] m; a coordinate with one limit is within 2π or 2 m of it. Orientations are uniform.
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
def integrate(robot: Robot, q, v, dt=1.0) -> np.ndarray:
    """Return q ∘ exp(v dt) (nq,): where q (nq,) is after moving with constant v (nv,) for the time dt [s].

        >>> integrate(robot, neutral(robot), np.ones(6), 0.5)
        array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5])

    Angles and lengths become q + v dt; orientations and poses move by the exponential in the body's frame.
    """
    return np.concatenate([np.zeros(0), *(row.integrate(q[a], v[b] * dt) for row, a, b in _leads(robot))])


@kernel(robot=static, q_0="nq", q_1="nq")
def difference(robot: Robot, q_0, q_1) -> np.ndarray:
    """Return the v (nv,) that moves q_0 (nq,) to q_1 (nq,) in unit time, so that integrate(q_0, v) = q_1.

        >>> v = difference(robot, neutral(robot), q)
        >>> assert np.allclose(integrate(robot, neutral(robot), v), q)

    Orientations, and angles of planar joints, go the short way. Angles of other joints are plain numbers, which are not
    wrapped: their difference is q_1 - q_0.
    """
    return np.concatenate([np.zeros(0), *(row.difference(q_0[a], q_1[a]) for row, a, _ in _leads(robot))])


@kernel(robot=static, q_0="nq", q_1="nq")
def interpolate(robot: Robot, q_0, q_1, s) -> np.ndarray:
    """Return the configuration (nq,) at s on the way from q_0 (s = 0) to q_1 (s = 1) with constant v.

        >>> way = interpolate(robot, neutral(robot), q, np.linspace(0, 1, 5))           # (5, 6)

    It is integrate(q_0, s difference(q_0, q_1)).
    """
    return integrate(robot, q_0, difference(robot, q_0, q_1), s)


@kernel(robot=static, q_0="nq", q_1="nq")
def distance(robot: Robot, q_0, q_1) -> np.ndarray:
    """Return the distance |difference(q_0, q_1)|, in which 1 rad counts as much as 1 m.

        >>> print(distance(robot, neutral(robot), [3, 4, 0, 0, 0, 0]))
        5.0

    The distance has a kink where q_0 = q_1; derivatives are 0 there.
    """
    return series.norm(difference(robot, q_0, q_1))
