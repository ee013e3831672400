"""What a world shows of its parts and robots: scenes, what a robot carries, and its mass with all that it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ArgumentError, nearest
from ...lie import inertia as inertias
from ...model.robot import Robot
from ...sensing.scene import Scene, Solid, robot_solids
from .frame_tree import head_of, is_base, known_place, members_of, subtree, world_pose
from .grippers import gripper_solids
from .part_contents import inertia_of, solids_of
from .placements import PlacedSensor, inverted
from .world_edits import known_robot

if TYPE_CHECKING:
    from .worlds import World

__all__ = []


def assembly_members(world: World, name: str) -> tuple[str, ...]:
    """The frames of an assembly, or an `ArgumentError`."""
    if name not in world.groups:
        there = nearest(name, list(world.groups)) if world.groups else "there is none"
        raise ArgumentError(f"World.assembly: the world has no assembly {name!r:.60}; {there}")
    return tuple(members_of(world, name))


def sensor_at(world: World, name: str):
    """A sensor where it is now."""
    if name not in world.sensors:
        there = nearest(name, list(world.sensors)) if world.sensors else "there is none"
        raise ArgumentError(f"World.sensor_at: the world has no sensor {name!r:.60}; {there}")
    T, sensor = world_pose(world, name, "World.sensor_at"), world.sensors[name]
    return sensor.at(T) if hasattr(sensor, "at") else PlacedSensor(sensor, T)


def holding(world: World, robot: str) -> list[str]:
    """The frames that hang directly on moving frames of a robot, without sensors."""
    known_robot(world, robot, "World.holding")
    return [
        name for name, placed in world.frames.items()
        if "." in placed.parent and head_of(placed.parent) == robot and name not in world.sensors
        and not is_base(world, placed.parent)
    ]  # fmt: skip


# --- scenes -----------------------------------------------------------------------------------------------------------


def named_solids(name: str, solids: Iterable[Solid], T: np.ndarray) -> Iterator[Solid]:
    """Solids of one thing at the pose T of its frame, named "thing", "thing#2", ..."""
    for k, solid in enumerate(solids):
        yield solid.replace(T_world_solid=T @ solid.T_world_solid, name=name if k == 0 else f"{name}#{k + 1}")


def scene(world: World, exclude: Iterable[str], robots: bool, grippers: bool, meshes: bool) -> Scene:
    """The solids of a world."""
    who = "World.scene"
    if isinstance(exclude, str):
        exclude = [exclude]
    out = {member for name in exclude for member in members_of(world, known_place(world, name, who))}
    found: list[Solid] = []
    for name, part in world.parts.items():
        if name not in out:
            found += named_solids(name, solids_of(part), world_pose(world, name, who))
    for name in world.robots:
        if name not in out and robots:
            found += links_of(world, name, meshes)
        if name not in out and robots and grippers:
            found += gripper_of(world, name)
    return Scene(found)


def links_of(world: World, name: str, meshes: bool = True) -> list[Solid]:
    """The links of a robot as meshes, named "arm.link2", ..."""
    known = world.robots[name]
    solids = robot_solids(known.robot, known.q, T_world_base=world_pose(world, name, "World.scene"), meshes=meshes)
    start = len(known.robot.name)
    return [solid.replace(name=f"{name}{solid.name[start:]}") for solid in solids]


def gripper_of(world: World, name: str) -> list[Solid]:
    """The palm and the fingers of a robot's gripper in the world, named "arm.palm", "arm.finger", "arm.finger#2"."""
    known = world.robots[name]
    if known.gripper is None:
        return []
    T = world_pose(world, name, "World.scene") @ known.placement(known.tool)
    boxes = gripper_solids(known.gripper, known.width)
    return [box.replace(T_world_solid=T @ box.T_world_solid, name=f"{name}.{box.name}") for box in boxes]


# --- what a robot carries ---------------------------------------------------------------------------------------------


def carried_frames(world: World, robot: str) -> list[tuple[str, str]]:
    """Pairs (frame of the robot, frame of the world that it carries), for all frames that its joints move."""
    found = []
    for name in holding(world, robot):
        tail = world.frames[name].parent.partition(".")[2]
        found += [(tail, below) for below in subtree(world, name)]
    return found


def carried(world: World, robot: str, gripper: bool) -> list[tuple[str, Solid]]:
    """Pairs (frame of the robot, solid in this frame) of all that it carries."""
    known = known_robot(world, robot, "World.carried")
    found: list[tuple[str, Solid]] = []
    if gripper and known.gripper is not None:
        found += [(known.tool, box) for box in gripper_solids(known.gripper, known.width)]
    for frame, name in carried_frames(world, robot):
        if name in world.parts:
            T = _seen_from(world, robot, frame, name)
            found += [(frame, solid) for solid in named_solids(name, solids_of(world.parts[name]), T)]
    return found


def _seen_from(world: World, robot: str, frame: str, name: str) -> np.ndarray:
    """The pose of a frame of the world in a frame of a robot."""
    who = "World.carried"
    if world.frames[name].parent == f"{robot}.{frame}":
        return world.frames[name].T_parent_frame  # exact, and the same in all configurations
    return inverted(world_pose(world, f"{robot}.{frame}", who)) @ world_pose(world, name, who)


def mounted(world: World, robot: str) -> Robot:
    """The robot at its place, with the mass of all that it carries."""
    who = "World.mounted"
    known = known_robot(world, robot, who)
    found = known.robot.mounted(world_pose(world, robot, who)).replace(gravity=world.gravity)
    for frame, name in carried_frames(world, robot):
        if name in world.parts and (load := inertia_of(world.parts[name])) is not None:
            T = _seen_from(world, robot, frame, name)
            found = found.with_payload(frame, inertias.transform.eager(T, load))
    return found
