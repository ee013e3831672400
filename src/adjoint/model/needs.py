"""What a function needs of the robot it is given; an `ArgumentError` says what is missing."""

from __future__ import annotations

import numpy as np

from ..errors import ArgumentError
from .joints import JOINTS
from .robot_data import RobotData

__all__ = ["need_coordinates", "need_numbers", "need_robot"]


def need_robot(value, caller: str) -> None:
    """Raise `ArgumentError` if `value` is no `Robot`; `caller` is the name of the function that needs one."""
    if not isinstance(value, RobotData):
        given = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
        raise ArgumentError(f"{caller} needs a Robot, got {given}; adjoint.load reads one from a file")


def need_coordinates(robot: RobotData, what: str = "Christoffel symbols are") -> None:
    """Raise `ArgumentError` if a joint has several degrees of freedom, so that v is not the rate of q.

    `what` says in the message what is defined only for robots without such joints.
    """
    for name, kind in zip(robot.body_joint_names, robot.joint_types, strict=True):
        if JOINTS[kind].nv != 1:
            raise ArgumentError(
                f"robot '{robot.name}': joint '{name}' is {kind}; {what} for joints with one degree of "
                "freedom, whose v is the rate of a coordinate; `coriolis_matrix`, `inverse_dynamics` take all joints"
            )


def need_numbers(robot: RobotData, caller: str) -> None:
    """Raise `ArgumentError` if some of the robot's numbers are inputs (`lift`), which `caller` cannot compute with."""
    if robot.varying:
        raise ArgumentError(
            f"{caller} computes with the numbers of robot '{robot.name}', of which {', '.join(sorted(robot.varying))} "
            "are inputs (lift=...); the algorithms of `kinematics` and `dynamics` themselves take them"
        )
