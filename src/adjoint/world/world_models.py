"""The collision model of a robot of a world."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..collision.collision_models import CollisionModel, collision_model
from ..collision.shape_keeping import constant
from ..collision.shapes_of_links import LinkShapes, link_shapes, shape_solids
from ..errors import ArgumentError, nearest
from ..model.once import once_a_robot
from ..model.robot import Robot
from ..sensing.scene import Solid
from .state import World
from .state.held_parts import carried_frames, gripper_of
from .state.placements import WorldRobot
from .state.world_edits import known_robot

__all__ = ["world_collision_model"]


def world_collision_model(
    world: World, robot: str, *, ignore: Iterable[tuple[str, str]] = (), exclude: Iterable[str] = (),
    margin: float = 0.0, **options,
) -> CollisionModel:  # fmt: skip
    """The `CollisionModel` of a robot of a world: all that it does not carry is an obstacle, all that it carries moves.

        >>> from adjoint.sensing import Box
        >>> w = World().add("table", Box([1.0, 0.6, 0.05]), at=[0.8, 0, -0.4]).add_robot("arm", robot)
        >>> model = world_collision_model(w, "arm")
        >>> [solid.name for solid in model.obstacles]
        ['table']

    Obstacles are the solids of the parts, by their names, and the other robots as they stand now: capsules around their
    links, "other.link2", and their grippers. A solid of the class `Mesh` counts as its convex hull, hollows included; a
    part of `mesh_part` keeps them. The robot carries its gripper and the parts that it holds, with all that hangs on
    them; links for which the gripper stands are left out. `ignore` has pairs (link, body or carried solid, name of an
    obstacle) that may touch, `exclude` names parts and robots to leave out, and `margin` [m] is the least clearance.
    Further `options` go to `collision_model`.
    """
    if not isinstance(world, World):
        raise ArgumentError(f"world_collision_model: 'world' must be a World, got {type(world).__name__}")
    known_robot(world, robot, "world_collision_model")
    carried = world.carried(robot)
    own = {robot, *(name for _, name in carried_frames(world, robot))}
    out = own | set([exclude] if isinstance(exclude, str) else exclude)
    scene = world.scene(out, robots=False)
    others = [name for name in world.robots if name not in out]
    solids = [solid for name in others for solid in (*_capsules(world, name), *gripper_of(world, name))]
    known = world.robots[robot]
    options = {"shapes": arm_shapes(known.robot, _hand_links(known))} | options
    return collision_model(
        known.robot, scene.add(*solids), carried=carried, T_world_base=world.pose(robot), ignore=ignore,
        margin=margin, **options,
    )  # fmt: skip


def _capsules(world: World, name: str) -> list[Solid]:
    """The links of a robot as capsules in the world; a robot that stands there is an obstacle for others."""
    known = world.robots[name]
    shapes = arm_shapes(known.robot, _hand_links(known))
    solids = shape_solids(known.robot, shapes, known.q, T_world_base=world.pose(name))
    return [solid.replace(name=f"{name}.{solid.name}") for solid in solids]


def _hand_links(known: WorldRobot) -> tuple[str, ...]:
    """The links of a robot for which its gripper stands."""
    return () if known.gripper is None else known.gripper.links


@once_a_robot
def arm_shapes(robot: Robot, without: tuple[str, ...]) -> LinkShapes:
    """The shapes of a robot's links, without those of some links."""
    shapes = link_shapes(robot)
    if not without:
        return shapes
    links = (*robot.frame_names, *shapes.links)
    for name in without:
        if name not in links:
            raise ArgumentError(
                f"world_collision_model: the gripper stands for '{name}', which is no link of robot '{robot.name}'; "
                f"{nearest(name, list(dict.fromkeys(links)))}"
            )
    left = np.array([k for k, link in enumerate(shapes.links) if link not in without], int)
    arrays = {x: constant(getattr(shapes, x)[left]) for x in ("bodies", "starts", "ends", "radii", "excess")}
    hulls = tuple(shapes.hulls[k] for k in left) if shapes.hulls else ()
    padding = constant(shapes.hull_radii[left]) if shapes.hulls else shapes.hull_radii
    names = tuple(shapes.names[k] for k in left)
    return LinkShapes(**arrays, names=names, kind=shapes.kind, notes=shapes.notes, hulls=hulls, hull_radii=padding)


def __dir__() -> list[str]:
    return __all__
