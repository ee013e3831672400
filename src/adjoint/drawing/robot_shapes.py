"""`shapes`: the meshes that show a robot, each fixed to one of its bodies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..model.needs import need_robot
from ..model.once import once_a_robot
from ..model.robot import Robot
from .from_kinematics import kinematic_parts
from .triangles import Mesh, joined

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
    need_robot(robot, "shapes")
    return _kinematic(robot)


@once_a_robot
def _kinematic(robot: Robot) -> tuple[Shape, ...]:
    return _gathered(kinematic_parts(robot))


def _gathered(parts: Iterable[tuple]) -> tuple[Shape, ...]:
    """One shape for all parts of a body that have one color."""
    found: dict[tuple, list[Mesh]] = {}
    for body, mesh, color in parts:
        found.setdefault((body, color), []).append(mesh)
    return tuple(Shape(body, joined(meshes), color) for (body, color), meshes in found.items())
