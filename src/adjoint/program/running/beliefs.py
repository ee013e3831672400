"""What is true and what a program believes: the world that cameras see and hands touch, and the one that it has."""

from __future__ import annotations

from dataclasses import replace

from ...errors import ArgumentError
from ...lie import se3
from ...world.state import World

__all__: list[str] = []


def true_start(world: World, actual: World | None, caller: str) -> World | None:
    """The world as it is at the start of a run: its robots are as the program has them, since joints are measured."""
    if actual is None:
        return None
    if not isinstance(actual, World):
        raise ArgumentError(f"{caller}: 'actual' must be a World, got {type(actual).__name__}")
    for name in {*world.robots, *actual.robots}:
        if name not in actual.robots or name not in world.robots:
            raise ArgumentError(
                f"{caller}: 'actual' and the world must have the same robots; '{name}' is in one alone"
            )
        if actual.robots[name].robot.nq != world.robots[name].robot.nq:
            raise ArgumentError(f"{caller}: robot '{name}' of 'actual' has another number of joints")
        if (actual.robots[name].gripper is None) != (world.robots[name].gripper is None):
            raise ArgumentError(
                f"{caller}: robot '{name}' has a gripper in 'actual' or in the world alone"
            )
    for name in world.sensors:
        if name not in actual.sensors:
            raise ArgumentError(f"{caller}: 'actual' has no sensor '{name}'")
    return _joints_of(actual, world)


def believed_after(believed: World, was: World, now: World) -> World:
    """What a program has after the true world `was` has become `now`: its arms move, and hands tell what they hold.

    A part that a hand has taken, or let go of, is where it is: its place in the hand, and on what it lies, are known.
    Its pose in the world is, too, but what it lies on may be elsewhere than the program believes.
    """
    believed = _joints_of(believed, now)
    if was.frames is now.frames:
        return believed
    changed = {
        name: placed for name, placed in now.frames.items()
        if name in believed.frames and name not in now.robots and placed != was.frames.get(name)
    }  # fmt: skip
    known = {name: placed for name, placed in changed.items() if _has(believed, placed.parent)}
    for name in sorted(known, key=lambda name: _depth(now, name)):
        on_part = known[name].parent in believed.parts
        T = se3.inverse(believed.pose(known[name].parent)) @ now.pose(name) if on_part else known[name].T_parent_frame
        believed = believed.changed(frames=believed.frames | {name: replace(known[name], T_parent_frame=T)})
    return believed


def _depth(world: World, name: str) -> int:
    """How many frames of a world a frame hangs on."""
    return 1 + _depth(world, world.frames[name].parent) if name in world.frames else 0


def _has(world: World, place: str) -> bool:
    head = place.partition(".")[0]
    return head == "world" or head in world.frames


def _joints_of(world: World, other: World) -> World:
    """A world whose robots are configured as those of another."""
    for name, known in other.robots.items():
        own = world.robots[name]
        if not (own.q == known.q).all():
            world = world.set_configuration(name, known.q)
        if known.gripper is not None and own.width != known.width:
            world = world.set_gripper(name, known.width)
    return world
