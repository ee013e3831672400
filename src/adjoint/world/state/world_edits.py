"""Edits of a world: each gives a new world, which shares all tables that the edit leaves alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentError, nearest
from ...model.configuration import neutral
from ...model.joints import JOINTS
from ...model.needs import need_robot
from ...model.robot import Robot
from ...sensing.scene import Solid
from ...sensing.scene.scene_checks import array, number, pose
from .frame_tree import (
    ROOT,
    ancestors,
    check_name,
    head_of,
    known_frame,
    known_place,
    members_of,
    rigid_top,
    subtree,
    world_pose,
)  # fmt: skip
from .grippers import Gripper
from .part_contents import check_part
from .placements import FRICTION, Placed, WorldRobot, fixed, inverted, one_attachment, rigid
from .support import checked, need_support
from .thing_json import check_sensor

if TYPE_CHECKING:
    from .worlds import World

__all__ = []


# --- coming and going -------------------------------------------------------------------------------------------------


def entry(parent: str, at, attachment, friction, caller: str) -> Placed:
    """A checked entry of the table of frames."""
    kind, mu = one_attachment(attachment, caller), number(friction, "friction", caller, least=0)
    return Placed(parent, fixed(pose(at, "at", caller)), kind, mu)


def carrier_of(world: World, parent, caller: str) -> str:
    """A place that can carry a frame; a group carries by its first member."""
    name = known_place(world, parent, caller)
    return members_of(world, name)[0] if name in world.groups else name


def added(world: World, name: str, part, at, parent, attachment, friction) -> World:
    """The world with a further frame, and a part on it."""
    who = "World.add"
    check_name(world, name, who)
    if part is not None:
        part = check_part(part, f"{who}: '{name}'")
        if isinstance(part, Solid):
            at = part.T_world_solid if at is None else at
            part = part.replace(T_world_solid=None, name="")
    placed = entry(carrier_of(world, parent, who), at, attachment, friction, who)
    found = world.changed(frames=world.frames | {name: placed})
    if part is None:
        return found
    found = need_support(found.changed(parts=world.parts | {name: part}), [name], who)
    on_loads = any(world.frames[above].attachment == "conditional" for above in ancestors(world, placed.parent))
    return checked(found, [name], world) if on_loads else found


def added_robot(world: World, name: str, robot: Robot, q, at, parent, attachment, tool, gripper, width) -> World:
    """The world with a further robot."""
    who = "World.add_robot"
    check_name(world, name, who)
    need_robot(robot, who)
    known = WorldRobot(robot, configuration(robot, q, name, who), _tool(robot, tool), *_grip(gripper, width, who))
    placed = entry(carrier_of(world, parent, who), at, attachment, FRICTION, who)
    return world.changed(frames=world.frames | {name: placed}, robots=world.robots | {name: known})


def _tool(robot: Robot, tool: str | None) -> str:
    """The tool frame of a robot: the one that is named, or its last frame."""
    return robot.frame_names[-1] if tool is None else robot.frame(tool).name


def _grip(gripper, width, caller: str) -> tuple[Gripper | None, float]:
    if gripper is None:
        if width is not None:
            raise ArgumentError(f"{caller}: a robot without a gripper has no 'width'; give 'gripper' too")
        return None, 0.0
    if not isinstance(gripper, Gripper):
        raise ArgumentError(f"{caller}: 'gripper' must be a Gripper, got {type(gripper).__name__}")
    return gripper, gripper.opening if width is None else gripper.width(width, caller)


def configuration(robot: Robot, q, name: str, caller: str) -> np.ndarray:
    """A configuration (nq,) of finite numbers; quaternions have unit length."""
    found = np.array(neutral(robot) if q is None else array(q, (robot.nq,), "q", f"{caller}: robot '{name}'"))
    for i, kind in enumerate(robot.joint_types):
        if JOINTS[kind].has_quaternion and i not in robot.mimics:
            last = robot.layout.q_start[i] + JOINTS[kind].nq
            size = float(np.linalg.norm(found[last - 4 : last]))
            if abs(size - 1) > 1e-6:
                joint = robot.body_joint_names[i]
                raise ArgumentError(f"{caller}: the quaternion of joint '{joint}' has length {size:g}; it must be 1")
            if abs(size - 1) > 1e-12:
                found[last - 4 : last] /= size
    return fixed(found)


def added_sensor(world: World, name: str, sensor, at, parent, attachment) -> World:
    """The world with a further sensor."""
    who = "World.add_sensor"
    check_name(world, name, who)
    placed = entry(carrier_of(world, parent, who), at, attachment, FRICTION, who)
    return world.changed(
        frames=world.frames | {name: placed}, sensors=world.sensors | {name: check_sensor(sensor, who)}
    )


def removed(world: World, name: str, with_children: bool) -> World:
    """The world without a frame, or without the members of an assembly; what it carried stays where it is."""
    who = "World.remove"
    known_frame(world, name, who, groups=True)
    own = members_of(world, name)
    gone = set(subtree(world, *own) if with_children else own)
    frames = dict(world.frames)
    fallen = dict(world.fallen)
    for child, placed in world.frames.items():
        above = head_of(placed.parent)
        if child not in gone and above in gone:
            frames[child] = Placed(ROOT, rigid(world_pose(world, child, who)), "rigid", placed.friction)
            if placed.attachment == "conditional":
                fallen[child] = f"its support '{above}' was removed"
    tables = {
        "frames": frames,
        "parts": world.parts,
        "robots": world.robots,
        "sensors": world.sensors,
        "fallen": fallen,
    }
    tables = {key: without(table, gone) for key, table in tables.items()}
    return checked(world.changed(**tables, groups=_regrouped(world, gone)), gone, world)


def without(table: Mapping[str, Any], gone: set[str]) -> Mapping[str, Any]:
    return {k: x for k, x in table.items() if k not in gone} if gone & table.keys() else table


def _regrouped(world: World, gone: set[str]) -> Mapping[str, tuple[str, ...]]:
    """The groups without some frames; groups without members are gone, too."""
    groups, gone = dict(world.groups), set(gone)
    while True:
        groups = {k: tuple(m for m in members if m not in gone) for k, members in groups.items()}
        empty = {k for k, members in groups.items() if not members}
        if not empty:
            return groups
        gone |= empty
        groups = {k: members for k, members in groups.items() if members}


def renamed(world: World, old: str, new: str) -> World:
    """The world in which a frame or a group has another name."""
    who = "World.rename"
    known_frame(world, old, who, groups=True)
    if new == old:
        return world
    check_name(world, new, who)

    def now(place: str) -> str:
        head, dot, tail = place.partition(".")
        return f"{new}{dot}{tail}" if head == old else place

    frames = {now(k): dataclasses.replace(x, parent=now(x.parent)) if head_of(x.parent) == old else x
              for k, x in world.frames.items()}  # fmt: skip
    tables = {"parts": world.parts, "robots": world.robots, "sensors": world.sensors, "fallen": world.fallen}
    others = {key: {now(k): x for k, x in table.items()} for key, table in tables.items() if old in table}
    groups = {now(k): tuple(map(now, members)) for k, members in world.groups.items()}
    return world.changed(frames=frames, groups=groups, **others)


# --- motions ----------------------------------------------------------------------------------------------------------


def moved(world: World, name: str, T, relative_to: str) -> World:
    """The world in which a place is at the pose T, seen from `relative_to`."""
    who = "World.move"
    known_place(world, name, who)
    if T is None:
        raise ArgumentError(f"{who}: where to? Give the pose (4, 4) of '{name}' or its position (3,)")
    goal = pose(T, "T", who)
    known_place(world, relative_to, who)
    if relative_to != ROOT:
        goal = world_pose(world, relative_to, who) @ goal
    if name == ROOT:
        raise ArgumentError(f"{who}: '{ROOT}' is the frame that all others are in; it cannot be moved")
    if head_of(name) in world.robots and "." in name:
        raise ArgumentError(
            f"{who}: '{name}' is a frame of robot '{head_of(name)}', which its joints move: World.set_configuration; "
            f"World.move moves its base, '{head_of(name)}'"
        )
    now = world_pose(world, name, who)
    tops = uppermost(world, [rigid_top(world, m, who) for m in members_of(world, head_of(name))])
    if np.array_equal(now, goal) and not world.fallen.keys() & set(tops):
        return world
    frames = dict(world.frames)
    for top in tops:
        # What is attached rigidly keeps its place: T_world_top = goal · inv(T_top_name).
        held = inverted(now) @ world_pose(world, top, who)
        there = goal if top == name else goal @ held
        frames[top] = dataclasses.replace(frames[top], T_parent_frame=seen_from(world, frames[top].parent, there, who))
    return checked(world.changed(frames=frames, fallen=without(world.fallen, set(tops))), tops, world)


def seen_from(world: World, parent: str, T: np.ndarray, caller: str) -> np.ndarray:
    """A pose of the world as seen from a place."""
    if parent == ROOT:
        return rigid(T)
    P = world_pose(world, parent, caller)
    back = inverted(P)
    found = back @ T
    # One step of refinement: Pᵀ P differs from 1 by rounding, which would add up over many changes of parents.
    return rigid(found + back @ (T - P @ found))


def uppermost(world: World, names: Iterable[str]) -> list[str]:
    """The frames of which no other one of them carries them, each once."""
    every = list(dict.fromkeys(names))
    chosen = set(every)
    return [x for x in every if not any(above in chosen for above in list(ancestors(world, x))[1:])]


def set_relative(world: World, name: str, T) -> World:
    """The world in which a frame has the pose T in its parent; nothing above it moves."""
    who = "World.set_relative"
    known_frame(world, name, who)
    entry = dataclasses.replace(world.frames[name], T_parent_frame=fixed(pose(T, "T", who)))
    found = world.changed(frames=world.frames | {name: entry}, fallen=without(world.fallen, {name}))
    return checked(found, [name], world)


def configured(world: World, name: str, q) -> World:
    """The world with a robot in another configuration."""
    who = "World.set_configuration"
    robot = known_robot(world, name, who)
    if q is None:
        raise ArgumentError(f"{who}: 'q' of '{name}' must be {robot.robot.nq} numbers, got None")
    entry = dataclasses.replace(robot, q=configuration(robot.robot, q, name, who))
    return checked(world.changed(robots=world.robots | {name: entry}), [name], world)


def opened(world: World, name: str, width) -> World:
    """The world with the fingers of a robot at another distance."""
    who = "World.set_gripper"
    robot = known_robot(world, name, who)
    if robot.gripper is None:
        raise ArgumentError(
            f"{who}: robot '{name}' has no gripper; World.add_robot(..., gripper=Gripper(...)) gives one"
        )
    entry = dataclasses.replace(robot, width=robot.gripper.width(width, who))
    return world.changed(robots=world.robots | {name: entry})


def known_robot(world: World, name, caller: str) -> WorldRobot:
    """The robot of this name, or an `ArgumentError`."""
    if not isinstance(name, str) or name not in world.robots:
        there = nearest(name, list(world.robots)) if world.robots else "there is none"
        raise ArgumentError(f"{caller}: the world has no robot {name!r:.60}; {there}")
    return world.robots[name]
