"""Attachments, grasps and assemblies: edits that change what hangs on what, and move nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...errors import ArgumentError, nearest
from ...sensing.scene.scene_checks import number
from .frame_tree import ROOT, ancestors, check_name, head_of, known_frame, members_of, rigid_top, world_pose
from .placements import FRICTION, Placed, one_attachment
from .support import checked, need_support
from .world_edits import carrier_of, known_robot, opened, seen_from, uppermost, without

if TYPE_CHECKING:
    from .worlds import World

__all__ = ["attached", "detached", "grasped", "grouped", "holder_of", "released", "ungrouped"]


# --- attachments ------------------------------------------------------------------------------------------------------


def attached(world: World, child: str, parent: str, attachment: str, friction, caller: str = "World.attach") -> World:
    """The world in which a frame, or all of a group, hangs on another place, with all poses as they were."""
    known_frame(world, child, caller, groups=True)
    place = carrier_of(world, parent, caller)
    kind, mu = one_attachment(attachment, caller), number(friction, "friction", caller, least=0)
    frames = dict(world.frames)
    tops = uppermost(world, members_of(world, child)) if child in world.groups else [child]
    for top in tops:
        if place != ROOT and top in ancestors(world, place):
            way = " -> ".join([f"'{x}'" for x in reversed(list(ancestors(world, place)))])
            way = way[way.index(f"'{top}'") :]
            raise ArgumentError(
                f"{caller}: '{top}' cannot be attached to '{parent}', since '{top}' carries it: {way} -> '{top}' would "
                "be a cycle; detach one of them first"
            )
        T = frames[top].T_parent_frame  # to the last bit, if the parent stays
        if place != frames[top].parent:
            T = seen_from(world, place, world_pose(world, top, caller), caller)
        frames[top] = Placed(place, T, kind, mu)
    found = need_support(world.changed(frames=frames, fallen=without(world.fallen, set(tops))), tops, caller)
    return checked(found, tops, world)


def detached(world: World, child: str, caller: str = "World.detach") -> World:
    """The world in which a frame, or all of a group, hangs on nothing but the world."""
    return attached(world, child, ROOT, "rigid", FRICTION, caller)


def grasped(world: World, robot: str, name: str, width) -> World:
    """The world in which a robot's tool holds a part and all that is rigid with it."""
    who = "World.grasp"
    known = known_robot(world, robot, who)
    known_frame(world, head_of(name) if isinstance(name, str) else name, who, groups=True)
    if width is not None:
        world = opened(world, robot, width)
    for top in uppermost(world, [rigid_top(world, m, who) for m in members_of(world, head_of(name))]):
        if top == robot or top in world.robots:
            raise ArgumentError(f"{who}: '{name}' is rigid with robot '{top}', which cannot be held; detach it first")
        world = attached(world, top, f"{robot}.{known.tool}", "rigid", world.frames[top].friction, who)
    return world


def released(world: World, name: str, onto: str | None, friction, width) -> World:
    """The world in which a part is held no more: it lies on `onto`, or hangs on nothing but the world."""
    who = "World.release"
    known_frame(world, name, who, groups=True)
    holder = holder_of(world, name)
    if holder is None:
        raise ArgumentError(
            f"{who}: no robot holds '{name}'; it is attached to '{world.frames[members_of(world, name)[0]].parent}'"
        )
    robot, top = holder
    if width is not None:
        world = opened(world, robot, width)
    if onto is None:
        return detached(world, top, who)
    return attached(world, top, onto, "conditional", friction, who)


def holder_of(world: World, name: str) -> tuple[str, str] | None:
    """The robot that holds a frame, and the frame that hangs directly on a frame of this robot; None if nobody does."""
    for above in ancestors(world, members_of(world, name)[0]):
        parent = world.frames[above].parent
        if "." in parent and head_of(parent) in world.robots:
            return head_of(parent), above
    return None


# --- groups -----------------------------------------------------------------------------------------------------------


def grouped(world: World, name: str, members: Iterable[str]) -> World:
    """The world with an assembly: frames and groups that are addressed by one name."""
    who = "World.group"
    check_name(world, name, who)
    if isinstance(members, str):
        raise ArgumentError(f"{who}: 'members' must be a list of names, got the name {members!r:.60}")
    names = tuple(dict.fromkeys(known_frame(world, m, who, groups=True) for m in members))
    if not names:
        raise ArgumentError(f"{who}: the assembly '{name}' has no members; give the names of one frame or more")
    return world.changed(groups=world.groups | {name: names})


def ungrouped(world: World, name: str) -> World:
    """The world without this assembly; its members stay."""
    if name not in world.groups:
        there = nearest(name, list(world.groups)) if world.groups else "there is none"
        raise ArgumentError(f"World.ungroup: the world has no assembly {name!r:.60}; {there}")
    using = [k for k, members in world.groups.items() if name in members]
    if using:
        raise ArgumentError(f"World.ungroup: '{name}' is a part of the assembly '{using[0]}'; ungroup that first")
    return world.changed(groups={k: x for k, x in world.groups.items() if k != name})
