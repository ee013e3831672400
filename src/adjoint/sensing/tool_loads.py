"""What a wrist or pedestal sensor carries: weight and inertia of all that is beyond it, and outside wrenches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..dynamics.newton_euler import SURROUNDINGS, body_motions_and_wrenches, motion, rigid_wrench
from ..kinematics.forward import forward_kinematics
from ..lie import inertia, se3
from ..model.robot import Robot

__all__ = ["SensorMotion", "pedestal_wrench", "sensor_motion", "tool_wrench"]


class SensorMotion(NamedTuple):
    """The motion of a sensor's frame, seen from it: `gravity` (3,) [m/s²], `twist` V (6,) and its rate V̇ (6,)."""

    gravity: np.ndarray
    twist: np.ndarray
    acceleration: np.ndarray


@kernel(robot=static, q="nq", v="nv", a="nv", frame=static, gravity=3, base_twist=6, base_acceleration=6)
def sensor_motion(
    robot: Robot, q, v, a, frame, *, gravity=None, base_twist=None, base_acceleration=None
) -> SensorMotion:
    """The `SensorMotion` of a `frame` of a robot at q (nq,), v and a (nv,): what `identify_payload` needs.

    The acceleration is without gravity. Options are those of `inverse_dynamics`.

        >>> sensor_motion(robot, q, v, a, "tool").gravity.shape
        (3,)
    """
    g = robot.gravity if gravity is None else gravity
    still = np.zeros(6)
    spot = robot.frame(frame)
    if spot.body < 0:
        V, dV = (still if x is None else x for x in (base_twist, base_acceleration))
    else:
        moved = body_motions_and_wrenches(
            robot, q, v, a, gravity=gravity, base_twist=base_twist, base_acceleration=base_acceleration
        )
        V, dV = moved.twists[spot.body], moved.accelerations[spot.body]
    R = forward_kinematics(robot, q, frame)[:3, :3]
    return SensorMotion(R.T @ g, *(se3.Ad_inv_action(spot.placement, x) for x in (V, dV)))


@kernel(robot=static, q="nq", v="nv", a="nv", frame=static, tool=10, **SURROUNDINGS)
def tool_wrench(
    robot: Robot,
    q,
    v,
    a,
    frame,
    *,
    tool=None,
    gravity=None,
    applied_wrenches=None,
    frames=(),
    base_twist=None,
    base_acceleration=None,
):
    """The wrench (6,) [N m, N] that weight and inertia of all that is beyond a sensor exert on it, seen from `frame`.

        weight + outside wrenches - rate of momentum, of the body of `frame` and of all bodies that it carries

    The sensor is at the origin of `frame` and carries the whole body that the frame belongs to. If it sits between two
    parts of that body, give the `tool` (10,): the inertia, in `frame`, of the part beyond the sensor. Bodies on joints
    of that body count in both cases. On a frame of the base, the sensor is a pedestal under the robot.

    At rest the force is the weight, along gravity. The sign is that of `run.wrench` and `resolved_wrench`: a sensor
    reads `tool_wrench` plus what the outside exerts on the tool, so subtracting `tool_wrench` is the compensation of
    gravity and motion. `applied_wrenches` at `frames` are added here if they act beyond the sensor. All options but
    `tool` are those of `inverse_dynamics`. By Newton and Euler, as in Ploen & Park (1999), eq. (4).

        >>> still = np.zeros(6)
        >>> carried = tool_wrench(robot, q, still, still, "tool")
        >>> bool(np.isclose(np.linalg.norm(carried[3:]), robot.inertias[-1, 0] * np.linalg.norm(robot.gravity)))
        True
    """
    spot = robot.frame(frame)
    options = {"gravity": gravity, "base_twist": base_twist, "base_acceleration": base_acceleration}
    found = body_motions_and_wrenches(robot, q, v, a, applied_wrenches=applied_wrenches, frames=frames, **options)
    if spot.body < 0:
        return _on_pedestal(robot, q, found.wrenches, spot, tool, applied_wrenches, frames, options)
    F = found.wrenches[spot.body]
    if tool is not None:  # instead of the body's own inertia
        own = inertia.transform(spot.placement, tool) - robot.inertias[spot.body]
        g, V, dV = sensor_motion(robot, q, v, a, robot.body_names[spot.body], **options)
        F = F + motion_wrench(own, g, V, dV)
    return -se3.coAd_action(spot.placement, F)


def motion_wrench(own, gravity, V, dV):
    """The wrench (6,) that gives a body of this inertia (10,) its motion, against gravity, all seen from its frame."""
    A = np.concatenate([dV[:3], dV[3:] + np.cross(V[:3], V[3:]) - gravity])
    return rigid_wrench(motion(V[:3], A), own)


def _on_pedestal(robot: Robot, q, wrenches, spot, tool, applied_wrenches, frames, options):
    """The wrench (6,) on a sensor under the base, seen from the frame `spot` of the base."""
    own = robot.base_inertia if tool is None else inertia.transform(spot.placement, tool)
    V, dV = (np.zeros(6) if options[k] is None else options[k] for k in ("base_twist", "base_acceleration"))
    F = motion_wrench(own, robot.gravity if options["gravity"] is None else options["gravity"], V, dV)
    for i, parent in enumerate(robot.parents):
        if parent < 0:
            F = F + se3.coAd_inv_action(forward_kinematics(robot, q, robot.body_names[i]), wrenches[i])
    names = (frames,) if isinstance(frames, str) else frames
    for k, name in enumerate(names):  # wrenches on the base itself; all others have come along the joints
        where = robot.frame(name)
        if where.body < 0:
            W = applied_wrenches if isinstance(frames, str) else applied_wrenches[k]
            F = F - se3.coAd_inv_action(where.placement, W)
    return -se3.coAd_action(spot.placement, F)


@kernel(robot=static, q="nq", v="nv", a="nv", **SURROUNDINGS)
def pedestal_wrench(
    robot: Robot, q, v, a, *, gravity=None, applied_wrenches=None, frames=(), base_twist=None, base_acceleration=None
):
    """The wrench (6,) [N m, N] that a robot exerts on a sensor under its base, seen from the base frame.

    It is `tool_wrench` at the base: the weight of the whole robot, and the reaction to its motion. The mass of the base
    itself counts, if the model states it. Options are those of `inverse_dynamics`.

        >>> pedestal_wrench(robot, q, v, a).shape
        (6,)
    """
    return tool_wrench(
        robot,
        q,
        v,
        a,
        robot.base_name,
        gravity=gravity,
        applied_wrenches=applied_wrenches,
        frames=frames,
        base_twist=base_twist,
        base_acceleration=base_acceleration,
    )
