"""Frames and parts: statements that attach, detach and look for them."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from ...world.state import World
from ..instructions.statements import (
    Attach,
    Detach,
    Locate,
)  # fmt: skip
from ..meaning.arm_names import robot_named
from .arms import hand_in_tool
from .flat_code import Operation
from .flow import variables_of
from .looking import CameraShot, look
from .machine_state import Thread

if TYPE_CHECKING:
    from .machine import Machine

__all__: list[str] = []


def edit(machine: Machine, world: World) -> None:
    """The world becomes another one; what has moved is recorded."""
    before, machine.state.world = machine.state.world, world
    machine.record.world(machine.state.tick, before, world, machine.line_now())


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
    """A camera looks for a part; the world then has the part, with all that is on it, where it was seen."""
    s: Locate = op.statement  # type: ignore[assignment]
    state, inputs = machine.state, machine.inputs
    if s.camera not in state.world.sensors or s.part not in state.world.frames:
        what = f"sensor '{s.camera}'" if s.camera not in state.world.sensors else f"part '{s.part}'"
        machine.fail(f"the world has no {what}", s, code="name")
    shot = None
    if s.camera in inputs.images:
        try:
            shot = inputs.images[s.camera](state.world)
        except Exception as error:  # whatever a camera does, the arms have to come to rest
            machine.fail(f"the camera '{s.camera}' gives no image: {type(error).__name__}: {error}", s, code="vision")
        shot = shot if isinstance(shot, CameraShot) else CameraShot(shot)
    rng = np.random.default_rng([inputs.rng, zlib.crc32(s.camera.encode()), state.tick])
    sight = look(state.world, s.part, s.camera, shot, state.true_world, inputs.noise.get(s.camera, 0.0), rng)
    found = sight.located
    told = {"part": s.part, "camera": s.camera, "found": found is not None, "others": list(sight.others)}
    if found is not None:
        told |= {"pose": found.T_world_object, "covariance": found.covariance, "score": found.score}
    else:
        told["reason"] = sight.reason
    machine.record.event(state.tick, "seen", machine.code.lines[thread.pc], thread.number, None, told)
    if found is not None:
        edit(machine, state.world.move(s.part, found.T_world_object))
    if s.found:
        variables_of(machine, thread, s.found)[s.found] = found is not None
    elif found is None:
        others = ", ".join(f"'{name}'" for name in sight.others)
        machine.fail(
            f"the camera '{s.camera}' does not see '{s.part}': {sight.reason}; it sees {others or 'no other part'}",
            s, hint="a part must differ from what it lies on in colour, and LOCATE ... INTO seen asks first",
            code="vision",
        )  # fmt: skip
