"""All configurations in which a frame of an arm is at poses, in closed form."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ...inverse import inverse_kinematics, with_turns, within_limits
from ...inverse.arms import Arm
from ...model.robot import Robot

__all__ = ["arm_branches"]


def arm_branches(robot: Robot, frame: str, T: np.ndarray, arm: Arm, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Configurations (n, k, nq) at the poses (n, 4, 4) of a frame, and which are exact and within limits (n, k).

    They are all branches with all full turns. A redundant arm has them at `samples` values of its free parameter.
    """
    if arm.is_redundant:
        low, high = -np.pi, np.pi
        if arm.lock is not None:
            place = arm.chain.places[arm.chain.gears[arm.lock].coordinate]
            own = robot.lower[place], robot.upper[place]
            low, high = own if np.isfinite(own).all() else (low, high)
        values = low + (high - low) * (np.arange(samples) + 0.5) / samples
        found = inverse_kinematics(robot, T[:, None], frame, redundancy=values)
    else:
        found = inverse_kinematics(robot, T, frame)
    try:
        q, good = with_turns(robot, found)
    except ArgumentError:  # too many copies
        q, good = within_limits(robot, found)
    return q.reshape(len(T), -1, robot.nq), good.reshape(len(T), -1)
