"""Motion on the manifold of configurations: x(t) are coordinates about a point, its *anchor*, as q = anchor ∘ exp(x).

Angles and lengths are their own coordinates: q = x, and the anchor is 0 there. Orientations and poses have
v = dexp(x) ẋ, with dexp the right Jacobian of the exponential (Park 1994, eq. (11)); so v = ẋ only at x = 0, and
accelerations have further terms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..lie import se3
from ..model.configuration import difference
from ..model.joints import FRAMES, JOINTS, standard_screws
from ..model.robot import Robot

__all__ = [
    "Coordinates",
    "Rates",
    "anchored",
    "body_rates",
    "check_orientations",
    "coordinate_rates",
    "coordinates",
    "has_manifold_joints",
    "joint_places",
    "local_rates",
]


class Rates(NamedTuple):
    """The velocity v, the acceleration a and the jerk of a configuration (nv,), or of a body's twist (6,)."""

    v: np.ndarray
    a: np.ndarray
    jerk: np.ndarray


class Coordinates(NamedTuple):
    """Coordinates x about an anchor, and their rates ẋ and ẍ, (nv,) each."""

    x: np.ndarray
    x_1: np.ndarray
    x_2: np.ndarray


def has_manifold_joints(robot: Robot | None) -> bool:
    """Whether a joint of the robot has several degrees of freedom, so that its q is not a sum of displacements."""
    return robot is not None and any(kind in FRAMES for kind in robot.joint_types)


# --- one rigid motion -------------------------------------------------------------------------------------------------


@kernel(x=6, x_1=6)
def _twist(x, x_1) -> np.ndarray:
    """The body twist of exp(x(t)): dexp(x) ẋ."""
    return se3.right_jacobian(x) @ x_1


@kernel(x=6, x_1=6, x_2=6)
def _twist_rate(x, x_1, x_2) -> np.ndarray:
    """The rate of `_twist` along a path with the rates ẋ and ẍ."""
    return _twist.jvp(x, x_1, x_1, x_2)[1]


@kernel(x=6, x_1=6, x_2=6, x_3=6)
def body_rates(x, x_1, x_2, x_3) -> Rates:
    """The body twist of exp(x(t)) and its first two derivatives, (6,) each, from x and its first three."""
    return Rates(_twist(x, x_1), _twist_rate(x, x_1, x_2), _twist_rate.jvp(x, x_1, x_2, x_1, x_2, x_3)[1])


class _TwoRates(NamedTuple):
    x_1: np.ndarray
    x_2: np.ndarray


@kernel(x=6, v=6, a=6)
def coordinate_rates(x, v, a) -> _TwoRates:
    """The rates ẋ and ẍ (6,) of a path x(t) at which exp(x) has the body twist v and its derivative a."""
    inverse = se3.right_jacobian_inv(x)
    x_1 = inverse @ v
    return _TwoRates(x_1, inverse @ (a - _twist_rate(x, x_1, 0 * x_1)))


# --- all joints of a robot --------------------------------------------------------------------------------------------


def joint_places(robot: Robot):
    """Yield (slice of q, slice of v, standard screws (nv, 6), or None for one degree of freedom) of every joint."""
    at = robot.layout
    for i, kind in enumerate(robot.joint_types):
        if i not in robot.mimics:
            q, v, row = at.q_start[i], at.v_start[i], JOINTS[kind]
            yield slice(q, q + row.nq), slice(v, v + row.nv), standard_screws(kind) if kind in FRAMES else None


def check_orientations(caller: str, robot: Robot, q: np.ndarray, label: str) -> None:
    """Raises `ArgumentError` if a configuration q (..., nq) has a quaternion 0."""
    at = robot.layout
    for i, kind in enumerate(robot.joint_types):
        row = JOINTS[kind]
        if i not in robot.mimics and row.has_quaternion:
            end = at.q_start[i] + row.nq
            if not q[..., end - 4 : end].any(axis=-1).all():
                raise ArgumentError(
                    f"{caller}: {label} has a quaternion (0, 0, 0, 0), which is no orientation, at joint "
                    f"'{robot.body_joint_names[i]}'; q = adjoint.neutral(robot) is a configuration"
                )


def anchored(robot: Robot, q: np.ndarray) -> np.ndarray:
    """The anchors (..., nq) at configurations q: 0 for angles and lengths, q for orientations and poses."""
    anchor = np.zeros_like(q)
    for place, _, screws in joint_places(robot):
        if screws is not None:
            anchor[..., place] = q[..., place]
    return anchor


@kernel(robot=static, x="nv", x_1="nv", x_2="nv", x_3="nv")
def local_rates(robot: Robot, x, x_1, x_2, x_3) -> Rates:
    """The `Rates` (nv,) of the configuration whose coordinates about an anchor are x(t), with its first three rates."""
    parts = []
    for _, at, S in joint_places(robot):
        if S is None:
            parts.append((x_1[at], x_2[at], x_3[at]))
        else:  # the screws are orthonormal, and their brackets are combinations of them
            parts.append([S @ rate for rate in body_rates(*(part[at] @ S for part in (x, x_1, x_2, x_3)))])
    return Rates(*(np.concatenate(rate) for rate in zip(*parts, strict=True)))


@kernel(robot=static, anchor="nq", q="nq", v="nv", a="nv")
def coordinates(robot: Robot, anchor, q, v, a) -> Coordinates:
    """The `Coordinates` about an anchor of the configuration q with velocity v and acceleration a."""
    x = difference(robot, anchor, q)
    parts = []
    for _, at, S in joint_places(robot):
        if S is None:
            parts.append((v[at], a[at]))
        else:
            parts.append([S @ rate for rate in coordinate_rates(x[at] @ S, v[at] @ S, a[at] @ S)])
    return Coordinates(x, *(np.concatenate(rate) for rate in zip(*parts, strict=True)))
