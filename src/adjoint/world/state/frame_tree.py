"""The tree of frames: names, parents, what a frame carries, what moves rigidly with it, and poses in the world."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ArgumentError, nearest
from .part_contents import features_of
from .placements import inverted

if TYPE_CHECKING:
    from .worlds import World

__all__ = [
    "ROOT",
    "ancestors",
    "check_name",
    "head_of",
    "known_frame",
    "known_place",
    "members_of",
    "relative_pose",
    "rigid_top",
    "subtree",
    "world_pose",
]

ROOT = "world"
_EYE = np.eye(4)
_EYE.setflags(write=False)


# --- names ------------------------------------------------------------------------------------------------------------


def head_of(name: str) -> str:
    """The frame of the tree that a place belongs to: "arm" of "arm.tool"."""
    return name.partition(".")[0]


def check_name(world: World, name, caller: str) -> str:
    """A name for a new frame or group of the world, or an `ArgumentError`."""
    if not isinstance(name, str) or not name or name != name.strip():
        raise ArgumentError(f"{caller}: a name must be a string that is not empty, got {name!r:.60}")
    if not name.isprintable():
        raise ArgumentError(f"{caller}: the name {name!r:.60} has characters that cannot be printed")
    for mark, use in ((".", "frames of robots and features of parts ('arm.tool')"), ("#", "the solids of a part")):
        if mark in name:
            raise ArgumentError(f"{caller}: the name {name!r:.60} has a '{mark}', which is kept for {use}")
    if name == ROOT:
        raise ArgumentError(f"{caller}: '{ROOT}' is the frame that all others are in; take another name")
    if name in world.frames or name in world.groups:
        kind = "a frame" if name in world.frames else "an assembly"
        raise ArgumentError(f"{caller}: the world has {kind} '{name}' already; names must differ")
    return name


def known_frame(world: World, name, caller: str, *, groups: bool = False) -> str:
    """The name of a frame of the tree (or of a group, if `groups`), or an `ArgumentError` with the nearest names."""
    if isinstance(name, str) and (name in world.frames or (groups and name in world.groups)):
        return name
    if name == ROOT:
        raise ArgumentError(f"{caller}: '{ROOT}' is the frame that all others are in; it cannot be changed")
    if isinstance(name, str) and head_of(name) in world.frames and "." in name:
        known_place(world, name, caller)
        raise ArgumentError(f"{caller}: '{name}' is a part of '{head_of(name)}', which has to be named instead")
    every = [*world.frames, *(world.groups if groups else ())]
    raise ArgumentError(
        f"{caller}: the world has no frame {name!r:.60}; {nearest(name, every) if every else 'it is empty'}"
    )


def known_place(world: World, name, caller: str) -> str:
    """The name of a place: "world", a frame, a group, "robot.frame" or "part.feature"; or an `ArgumentError`."""
    if isinstance(name, str):
        head, _, tail = name.partition(".")
        if not tail and (name == ROOT or name in world.frames or name in world.groups):
            return name
        if head in world.frames and tail:
            offset(world, name, caller)
            return name
    every = [ROOT, *world.frames, *world.groups]
    raise ArgumentError(f"{caller}: the world has no frame {name!r:.60}; {nearest(name, every)}")


def offset(world: World, name: str, caller: str) -> np.ndarray | None:
    """The pose (4, 4) of "robot.frame" or "part.feature" in its robot or part; None for a frame of the tree itself."""
    head, _, tail = name.partition(".")
    if not tail:
        return None
    if head in world.robots:
        known = world.robots[head]
        if tail not in known.robot.frame_names:
            raise ArgumentError(
                f"{caller}: robot '{head}' has no frame '{tail}'; {nearest(tail, known.robot.frame_names)}"
            )
        return known.placement(tail)
    features = features_of(world.parts[head]) if head in world.parts else {}
    if tail not in features:
        known = nearest(tail, list(features)) if features else "it has none"
        raise ArgumentError(f"{caller}: '{head}' has no feature '{tail}'; {known}")
    return features[tail].T_part_feature


def is_base(world: World, place: str) -> bool:
    """Whether a place is at rest in its frame of the tree: all but frames of robots that joints move."""
    head, _, tail = place.partition(".")
    return not (tail and head in world.robots and world.robots[head].robot.frame(tail).body >= 0)


# --- the tree ---------------------------------------------------------------------------------------------------------


def ancestors(world: World, name: str) -> Iterator[str]:
    """The frames of the tree from that of `name` on, each followed by the one that carries it; "world" is left out."""
    at = head_of(name)
    while at != ROOT:
        yield at
        at = head_of(world.frames[at].parent)


def subtree(world: World, *names: str) -> list[str]:
    """The frames with these names and all that they carry, in the order of the world."""
    found = set(names)
    waiting = list(names)
    while waiting:
        new = [child for child in world.children.get(waiting.pop(), ()) if child not in found]
        found.update(new)
        waiting += new
    return [name for name in world.frames if name in found]


def members_of(world: World, name: str) -> list[str]:
    """The frames that a name stands for: those of a group, and of the groups in it, or the frame itself."""
    if name not in world.groups:
        return [name]
    found: dict[str, None] = {}
    for member in world.groups[name]:
        found |= dict.fromkeys(members_of(world, member))
    return list(found)


def rigid_top(world: World, name: str, caller: str) -> str:
    """The frame that has to move so that `name` moves: the uppermost one of those that are rigidly attached.

    A frame that is rigidly attached to a moving body of a robot has none: an `ArgumentError` says so.
    """
    at = head_of(name)
    while True:
        placed = world.frames[at]
        above = head_of(placed.parent)
        if placed.attachment != "rigid" or above == ROOT:
            return at
        if not is_base(world, placed.parent):
            raise ArgumentError(
                f"{caller}: '{at}' is rigidly attached to '{placed.parent}', which only the joints of '{above}' move; "
                f"hand_target(world, '{name}', goal) tells where that frame has to go, World.set_configuration moves "
                f"it, and World.release or detach frees '{at}'"
            )
        at = above


# --- poses ------------------------------------------------------------------------------------------------------------


def world_pose(world: World, name: str, caller: str) -> np.ndarray:
    """The pose (4, 4) of a place in the world; poses of frames are computed once."""
    known_place(world, name, caller)
    if name == ROOT:
        return _EYE
    if name in world.groups:
        return world_pose(world, members_of(world, name)[0], caller)
    known, chain, at = world.known_poses, [], head_of(name)
    while at != ROOT and at not in known:
        chain.append(at)
        at = head_of(world.frames[at].parent)
    for frame in reversed(chain):
        placed = world.frames[frame]
        known[frame] = _times(_at(world, placed.parent, known, caller), placed.T_parent_frame)
    return _at(world, name, known, caller)


def _at(world: World, place: str, known: dict[str, np.ndarray], caller: str) -> np.ndarray:
    """The pose of a place whose frame of the tree has a known pose."""
    if place == ROOT:
        return _EYE
    T = known[head_of(place)]
    inside = offset(world, place, caller)
    return T if inside is None else _times(T, inside)


def _times(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    if A is _EYE:  # so that numbers are kept to the last bit
        return B
    found = A @ B
    found.setflags(write=False)
    return found


def relative_pose(world: World, name: str, relative_to: str, caller: str) -> np.ndarray:
    """The pose (4, 4) of a place, seen from another."""
    if relative_to == ROOT:
        return world_pose(world, name, caller)
    placed = world.frames.get(name)
    if placed is not None and placed.parent == relative_to:
        return placed.T_parent_frame
    found = inverted(world_pose(world, relative_to, caller)) @ world_pose(world, name, caller)
    found.setflags(write=False)
    return found
