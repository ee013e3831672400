"""Frames and parts: statements that attach, detach and look for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...vision.cameras.camera import Camera
from ...world.state import World
from ...world.state.placements import inverted
from ..instructions.statements import (
    Attach,
    Detach,
    Locate,
)  # fmt: skip
from ..meaning.arm_names import robot_named
from .arms import hand_in_tool
from .flat_code import Operation
from .flow import variables_of
from .machine_state import Thread

if TYPE_CHECKING:
    from .machine import Machine

__all__: list[str] = []


def edit(machine: Machine, world: World) -> None:
    """The world becomes another one; what has moved is recorded."""
    before, machine.state.world = machine.state.world, world
    machine.record.world(machine.state.tick, before, world)


def _in_world(machine: Machine, thread: Thread, op: Operation, name: str) -> str:
    """The name of a place of the world; a variable that is a frame becomes one."""
    world = machine.state.world
    if name in world.frames or "." in name or name in ("world", "station"):
        return "world" if name == "station" else name
    robot = robot_named(world, name, machine.arms)
    if robot is not None:
        return robot
    table = variables_of(machine, thread, name)
    value = table.get(name)
    if isinstance(value, np.ndarray) and value.shape == (4, 4):
        edit(machine, world.add(name, at=value))
        del table[name]
        return name
    machine.fail(f"there is no frame '{name}' in the world, and no variable that is one", op.statement, code="name")


def attach(machine: Machine, thread: Thread, op: Operation) -> None:
    """A frame hangs on another one, or on an arm."""
    s: Attach = op.statement  # type: ignore[assignment]
    child, parent = (_in_world(machine, thread, op, name) for name in (s.child, s.parent))
    world, pose = machine.state.world, None if s.pose is None else machine.asked(thread, s.pose)
    hand = np.eye(4)
    if parent in world.robots:
        hand, parent = hand_in_tool(world, parent), f"{parent}.{world.robots[parent].tool}"
    if child in world.robots:
        machine.fail(f"'{child}' is an arm, and cannot be attached to '{s.parent}'", s)
    world = world.attach(child, parent, s.attachment)
    if pose is not None:
        world = world.set_relative(child, hand @ pose)
    edit(machine, world)


def detach(machine: Machine, thread: Thread, op: Operation) -> None:
    """A frame hangs on the world alone."""
    s: Detach = op.statement  # type: ignore[assignment]
    child, world = _in_world(machine, thread, op, s.child), machine.state.world
    if s.parent:
        parent, held = _in_world(machine, thread, op, s.parent), world.frames[child].parent
        if parent not in (held, held.partition(".")[0]):
            machine.fail(f"'{s.child}' is attached to '{held}', not to '{s.parent}'", s)
    edit(machine, world.detach(child))


def locate(machine: Machine, thread: Thread, op: Operation) -> None:
    """The camera of a simulated world sees what is in front of it; parts then are where they are."""
    s: Locate = op.statement  # type: ignore[assignment]
    world = machine.state.world
    if s.camera not in world.sensors or s.part not in world.frames:
        what = f"sensor '{s.camera}'" if s.camera not in world.sensors else f"part '{s.part}'"
        machine.fail(f"the world has no {what}", s, code="name")
    camera, seen = world.sensor_at(s.camera), False
    if isinstance(camera, Camera):
        point = inverted(world.pose(s.camera)) @ world.pose(s.part)[:, 3]
        seen = bool(point[2] > 0)
    if s.found:
        variables_of(machine, thread, s.found)[s.found] = seen
    elif not seen:
        machine.fail(f"the camera '{s.camera}' does not see '{s.part}'", s, code="vision")
