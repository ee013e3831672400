"""Arms of a running program: what is set for them, what they hold, and by which frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError, nearest
from ...world.state import World
from ...world.state.frame_tree import ancestors, is_base
from ...world.state.placements import inverted
from ..instructions.diagnostics import Diagnostic, ProgramError
from ..instructions.sources import NOWHERE, Source, Span
from ..instructions.statements import Statement
from ..meaning.arm_names import robot_named

__all__ = ["ArmSettings", "hand_in_tool"]


def hand_in_tool(world: World, robot: str) -> np.ndarray:
    """The pose (4, 4) of a robot's hand in its tool frame, T_tool_hand: the gripper's grip frame, or the tool itself.

    What programs call the place of an arm is the place between its fingers: AL knows neither flange nor tool.
    """
    gripper = world.robots[robot].gripper
    return np.eye(4) if gripper is None else gripper.T_tool_grip


class ArmSettings(NamedTuple):
    """What a program has set for an arm: see `SetSpeed`, `SetConfiguration`, `SetTool` and `SetBase`."""

    speed: float = 1.0
    once: float | None = None
    """the fraction of the full speed of the next move alone"""
    flags: tuple[str, ...] = ()
    tool: tuple[tuple[float, ...], ...] | None = None
    """the rows of T_tool_hand, instead of the arm's own"""
    base: tuple[tuple[float, ...], ...] | None = None
    """the rows of T_station_base"""

    def hand(self, world: World, robot: str) -> np.ndarray:
        """T_tool_hand (4, 4) of the arm."""
        return hand_in_tool(world, robot) if self.tool is None else np.array(self.tool)

    def seen(self, T: np.ndarray) -> np.ndarray:
        """Poses (..., 4, 4) of the station as the program sees them."""
        return T if self.base is None else inverted(np.array(self.base)) @ T

    def meant(self, T: np.ndarray) -> np.ndarray:
        """Poses (..., 4, 4) in the station that the program means."""
        return T if self.base is None else np.array(self.base) @ T


class Mover(NamedTuple):
    """What a move moves: a robot, a frame of it, and the pose T_frame_mover (4, 4) of what is to get to the goal."""

    robot: str
    frame: str
    T_frame_mover: np.ndarray


def mover_named(
    world: World, name: str, settings: Mapping[str, ArmSettings], arms: Mapping[str, str] | None, at: Span,
    source: Source | None,
) -> Mover:  # fmt: skip
    """What moves if a program says MOVE name: an arm, or a frame that an arm holds; a `ProgramError` otherwise."""
    held = None if name in world.robots or name not in world.frames else _holder(world, name)
    if held is not None:
        robot, _, frame = held.partition(".")
        return Mover(robot, frame, inverted(world.pose(held)) @ world.pose(name))
    robot = None if name in world.frames and name not in world.robots else robot_named(world, name, arms)
    if robot is None:
        raise no_arm(world, name, at, source)
    known = world.robots[robot]
    return Mover(robot, known.tool, settings.get(robot, ArmSettings()).hand(world, robot))


def robot_of(world: World, statement: Statement, arms: Mapping[str, str] | None) -> str | None:
    """The robot that a statement is about: by its arm, its hand, or what it moves; None if it is about none."""
    name = next((getattr(statement, f) for f in ("mover", "hand", "arm") if getattr(statement, f, "")), "")
    if not name:
        return None
    held = _holder(world, name) if name in world.frames and name not in world.robots else None
    return held.partition(".")[0] if held is not None else robot_named(world, name, arms)


def _holder(world: World, name: str) -> str | None:
    for above in ancestors(world, name):
        if not is_base(world, world.frames[above].parent):
            return world.frames[above].parent
    return None


def no_arm(world: World, name: str, at: Span = NOWHERE, source: Source | None = None) -> ProgramError:
    """The error about a name that is no arm."""
    if name in world.frames:
        text, hint = f"no arm holds '{name}', so that nothing can move it", "attach it to an arm, or close a hand on it"
    elif not world.robots:
        text, hint = f"there is no arm '{name}': the world has no robots", ""
    elif name == "":
        text, hint = f"which arm? The world has {len(world.robots)} robots", f"name one of {', '.join(world.robots)}"
    else:
        text, hint = f"there is no arm and no frame '{name}'", nearest(name, [*world.robots, *world.frames])
    return ProgramError(Diagnostic(text, at, hint=hint, code="name"), source)


def checked_arms(world: World, arms: Mapping[str, str] | None, caller: str) -> dict[str, str]:
    """The argument `arms`, or an `ArgumentError`."""
    if arms is not None and not isinstance(arms, Mapping):
        raise ArgumentError(f"{caller}: 'arms' must be {{name in the program: robot}}, got {arms!r:.60}")
    found = dict(arms or {})
    for name, robot in found.items():
        if robot not in world.robots:
            known = nearest(robot, list(world.robots)) if world.robots else "it has none"
            raise ArgumentError(
                f"{caller}: 'arms' says that {name!r} is {robot!r}; the world has no such robot; {known}"
            )
    return found
