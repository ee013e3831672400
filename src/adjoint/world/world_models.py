"""The collision model of a robot of a world."""

from __future__ import annotations

from collections.abc import Iterable

from ..collision import CollisionModel, collision_model
from ..errors import ArgumentError
from .state import World
from .state.held_parts import carried_frames

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

    Obstacles are the solids of `World.scene`: parts by their names, other robots, as they stand now, by the names of
    their links ("other.link2"). The robot carries its gripper and the parts that it holds. `ignore` has pairs
    (shape or body of the robot, name of an obstacle) that may touch, `exclude` names of parts and robots that are left
    out, and `margin` [m] is the least clearance. Further `options` go to `collision_model`.
    """
    if not isinstance(world, World):
        raise ArgumentError(f"world_collision_model: 'world' must be a World, got {type(world).__name__}")
    carried = world.carried(robot)
    own = [name for _, name in carried_frames(world, robot)]
    left_out = [exclude] if isinstance(exclude, str) else list(exclude)
    obstacles = world.scene([robot, *own, *left_out])
    return collision_model(
        world.robots[robot].robot, obstacles, carried=carried, T_world_base=world.pose(robot), ignore=ignore,
        margin=margin, **options,
    )  # fmt: skip


def __dir__() -> list[str]:
    return __all__
