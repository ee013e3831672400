"""`shapes`: the meshes that show a robot, each fixed to one of its bodies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..model.input_checks import truth
from ..model.needs import need_robot
from ..model.once import once_a_robot
from ..model.robot import Robot
from .from_kinematics import kinematic_parts
from .from_visuals import stated_parts
from .triangles import Mesh, joined

__all__ = ["Shape", "shape_notes", "shapes"]


class Shape(NamedTuple):
    """A mesh in the frame of body number `body` (-1 is the base).

    The color is (red, green, blue, opacity), each from 0 to 1.
    """

    body: int
    mesh: Mesh
    color: tuple[float, float, float, float]


def shapes(robot: Robot, *, meshes: bool = True, hand: bool = True) -> tuple[Shape, ...]:
    """The shapes of a robot: those of its model file, or, without them, a drawing of its joints and links.

        >>> [shape.body for shape in shapes(robots.two_link())][:3]
        [-1, 0, 0]

    The mesh of each shape is in the frame of its body, so at q it is at `forward_kinematics(robot, q)[shape.body]`, or
    in place if the body is the base, -1. Large meshes are simplified: a robot has about 60 000 triangles at most. Mesh
    files are read by trimesh, the extra `[view]`, under the rules of `model.meshes`; a body whose file cannot be read
    is drawn from its joints, and `shape_notes` says why. With `meshes=False`, the whole robot is drawn so.
    An arm that is drawn so ends with a hand; with `hand=False` it ends at its tool frame, where another hand may be.
    """
    need_robot(robot, "shapes")
    hand = truth(hand, "shapes: hand")
    stated = truth(meshes, "shapes: meshes") and robot.visuals
    return _stated(robot, hand)[0] if stated else _kinematic(robot, hand)


def shape_notes(robot: Robot) -> tuple[str, ...]:
    """What `shapes` could not draw as the model file states it, one sentence each."""
    need_robot(robot, "shape_notes")
    return _stated(robot, True)[1] if robot.visuals else ()


@once_a_robot
def _kinematic(robot: Robot, hand: bool) -> tuple[Shape, ...]:
    return _gathered(kinematic_parts(robot, hand=hand))


@once_a_robot
def _stated(robot: Robot, hand: bool) -> tuple[tuple[Shape, ...], tuple[str, ...]]:
    """Shapes and notes. A robot keeps its own results, so one that is equal but has other visuals has others."""
    parts, lacking, notes = stated_parts(robot)
    drawn = kinematic_parts(robot, lacking if parts else None, hand=hand)
    return _gathered([*parts, *(drawn if lacking or not parts else ())]), notes


def _gathered(parts: Iterable[tuple]) -> tuple[Shape, ...]:
    """One shape for all parts of a body that have one color."""
    found: dict[tuple, list[Mesh]] = {}
    for body, mesh, color in parts:
        found.setdefault((body, color), []).append(mesh)
    return tuple(Shape(body, joined(meshes), color) for (body, color), meshes in found.items())
