"""What a robot needs to follow a trajectory: its torques."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..compile.front.arguments import as_input
from ..errors import ArgumentError
from ..model.needs import need_robot
from ..model.robot import Robot
from .manifold import has_manifold_joints
from .peaks import dense_times
from .torque import true_torque

if TYPE_CHECKING:
    from .piecewise import Trajectory

__all__ = ["Torques", "mover", "torques"]


class Torques(NamedTuple):
    """Torques tau (..., N, n) [N m or N] at times t (N,) or (..., N) [s]."""

    t: np.ndarray
    tau: np.ndarray


def mover(trajectory: Trajectory, robot: Robot | None, caller: str) -> Robot:
    """The robot that follows the trajectory: the one given, or else the trajectory's own; its joints must fit."""
    robot = trajectory.robot if robot is None else robot
    if robot is None:
        raise ArgumentError(f"{caller} needs a robot, as this trajectory was made without one: {caller}(robot)")
    need_robot(robot, caller)
    check_joints(robot, trajectory.nv, trajectory.anchors, caller)
    return robot


def check_joints(robot: Robot, nv: int, anchors: np.ndarray | None, label: str) -> None:
    """Raises `ArgumentError` unless a trajectory of nv coordinates with these anchors is one of the robot's joints."""
    if robot.nv != nv:
        raise ArgumentError(f"{label}: robot '{robot.name}' has {robot.nv} degrees of freedom, the trajectory has {nv}")
    if has_manifold_joints(robot) != (anchors is not None):
        one, other = "has joints of several degrees of freedom", "has no anchors, which are needed for them"
        if anchors is not None:
            one, other = "has no joints of several degrees of freedom", "has anchors, so it is of a robot with them"
        raise ArgumentError(f"{label}: robot '{robot.name}' {one}; the trajectory {other}")
    if anchors is not None and anchors.shape[-1] != robot.nq:
        raise ArgumentError(
            f"{label}: robot '{robot.name}' has {robot.nq} coordinates, the anchors have {anchors.shape[-1]}"
        )


def torques(trajectory: Trajectory, robot: Robot | None, t) -> Torques:
    """The `Torques` along a trajectory; see `Trajectory.torques`."""
    robot = mover(trajectory, robot, "torques")
    t = dense_times(trajectory) if t is None else as_input(t, "t", "torques").astype(float)
    q, v, a, _ = trajectory(t)
    return Torques(t, true_torque(robot, q, v, a))
