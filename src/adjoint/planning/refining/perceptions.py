"""What a robot gets to know of the world as it is: all of it, or what a camera sees."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from ...errors import AdjointError, ArgumentError
from ...program.execution import run
from ...program.instructions import Locate, Program
from ...world import World, facts
from ...world.parts import Part
from ...world.predicates.contact_gaps import up_of
from ...world.relations.sources import Source
from ...world.state.attachment_edits import holder_of
from .free_places import bounded_parts

__all__ = ["NotSeen"]


class NotSeen(Exception):
    """A function that looks raises it if it does not see all parts.

    `world` is what is believed now. `names` are those of parts that are surely not where they were believed, and that
    are not seen elsewhere; `hidden` are those that may be where they are believed, behind something else.
    """

    def __init__(self, world: World, names: Collection[str], *, hidden: Collection[str] = ()):
        self.world, self.names, self.hidden = world, tuple(names), frozenset(hidden)
        super().__init__(f"nobody sees where {', '.join(self.names)} went")


Look = Callable[[World, World], World]
"""(world as it is believed, world as it is) to the world that is believed from now on"""


def perception(look: str | Look | None, movable: Collection[str]) -> Look:
    """The way in which a robot perceives: everything (None), by the camera of a name, or by a function."""
    if look is None:
        return _everything
    if isinstance(look, str):
        return lambda believed, actual: seen_by(look, believed, actual, movable)
    if not callable(look):
        raise ArgumentError(f"execute_task: 'look' must be the name of a camera or a function, got {look!r:.60}")
    return look


def _everything(believed: World, actual: World) -> World:
    """Poses, attachments and shapes as they are, also of parts that are new; what known parts weigh stays as believed.

    A part that is nowhere any more is `NotSeen`.
    """
    new = {name: part for name, part in actual.parts.items() if _looks_new(believed.parts.get(name), part)}
    other = (actual.robots.keys() | actual.sensors.keys()) - believed.frames.keys()
    frames = {name: placed for name, placed in actual.frames.items() if name not in other}
    seen = with_joints(believed.changed(parts=believed.parts | new, frames=believed.frames | frames), actual)
    if gone := [name for name in believed.parts if name not in actual.parts]:
        raise NotSeen(seen, gone)
    return seen


def _looks_new(known: Part | None, part: Part) -> bool:
    """Whether a part is new, or looks otherwise than the part that is known: masses cannot be seen."""
    return known is None or (known != part and known.with_density(1.0) != part.with_density(1.0))


def with_joints(world: World, measured: World) -> World:
    """A world whose arms and hands stand as those of another: joints are measured."""
    for name, known in measured.robots.items():
        world = world.set_configuration(name, known.q)
        if known.gripper is not None:
            world = world.set_gripper(name, known.width)
    return world


def seen_by(camera: str, believed: World, actual: World, movable: Collection[str]) -> World:
    """The world in which all movable parts that a camera finds are where it finds them.

    A part is looked for on the plane on which it is believed, then on the planes of everything else that could carry
    it. What is not found stays where it is believed; what is in a hand is known.
    """
    believed = _hands(believed, actual)
    heights = _heights(believed)
    for part in sorted(movable, key=lambda name: float(np.asarray(believed.pose(name))[:3, 3] @ up_of(believed))):
        if holder_of(believed, part) is None:
            believed = _found(camera, believed, actual, part, heights)
    return believed


def _hands(believed: World, actual: World) -> World:
    """Joints are measured, and hands tell what they hold; what has left a hand lies where it was lost, for now."""
    held = {name for robot in actual.robots for name in actual.holding(robot)}
    changed = {name: actual.frames[name] for name in held if name in believed.frames}
    believed = with_joints(believed.changed(frames=believed.frames | changed), actual)
    for robot in believed.robots:
        for name in believed.holding(robot):
            believed = believed if name in held else believed.release(name)
    return believed


def _heights(world: World) -> list[float]:
    """The heights [m] of the upper sides of all parts, from below."""
    up, source = up_of(world), Source(world, "execute_task")
    tops = [
        float((source.corners(name) @ np.asarray(world.pose(name))[:3, :3].T @ up).max() + world.pose(name)[:3, 3] @ up)
        for name in bounded_parts(world)
    ]
    return sorted(set(np.round(tops, 4)))


def _found(camera: str, believed: World, actual: World, part: str, heights: list[float]) -> World:
    up = up_of(believed)
    now = np.array(believed.pose(part))
    corners = Source(believed, "execute_task").corners(part) @ now[:3, :3].T @ up + now[:3, 3] @ up
    own = float(corners.min())
    for height in sorted(heights, key=lambda h: abs(h - own)):
        T = now.copy()
        T[:3, 3] += (height - own) * up
        tried = believed.detach(part).set_relative(part, T)
        done = run(Program((Locate(part, camera, found="seen"),)), tried, actual=actual)
        if done.variables.get("seen"):
            return _resting(done.world, part)
    return believed


def _resting(world: World, part: str) -> World:
    """The world in which the part lies on what is below it."""
    for fact in sorted(facts(world)):
        if fact[:2] == ("on", part):
            try:
                return world.attach(part, fact[2], "conditional")
            except AdjointError:  # it does not lie well: it stays on its own
                continue
    return world
