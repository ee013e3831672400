"""What changes in the world between the motions of a task: frozen edits with `apply` and words for the trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...world import World
from ...world.grasps.place_goals import put_down
from ...world.state.attachment_edits import holder_of
from ..running.backends import ArmMotion, HandMotion

__all__ = ["CarryPart", "FastenPart", "PutPart", "Step", "TakePart", "TaskPhase"]

_NEAR = 2e-3  # [m] a part that is let go so near to its goal is at its goal


@dataclass(frozen=True)
class TaskPhase:
    """A phase of a task begins; nothing changes."""

    words: str

    def apply(self, world: World) -> World:
        """The same world."""
        return world


@dataclass(frozen=True)
class TakePart:
    """A hand holds a part from now on; its fingers are `width` [m] apart."""

    robot: str
    part: str
    width: float

    @property
    def words(self) -> str:
        """What happens, for the trace."""
        return f"'{self.robot}' takes '{self.part}'"

    def apply(self, world: World) -> World:
        """The world in which the part hangs on the tool; nothing changes if it does already."""
        holder = holder_of(world, self.part)
        if holder is not None and holder[0] == self.robot:
            return world
        return world.grasp(self.robot, self.part, width=self.width)


@dataclass(frozen=True, eq=False)
class PutPart:
    """A hand lets go of a part at its goal, the pose `T` (4, 4); the part then lies on what carries it there."""

    robot: str
    part: str
    T: np.ndarray
    width: float

    @property
    def words(self) -> str:
        """What happens, for the trace."""
        return f"'{self.robot}' puts '{self.part}' down"

    def apply(self, world: World) -> World:
        """The world in which nobody holds the part. A part that is elsewhere than at its goal stays where it is."""
        now = world.pose(self.part)
        T = self.T if np.linalg.norm(now[:3, 3] - self.T[:3, 3]) < _NEAR else now
        if holder_of(world, self.part) is None:
            if world.frames[self.part].attachment == "conditional" and world.frames[self.part].parent in world.parts:
                return world
            world = world.detach(self.part).grasp(self.robot, self.part)
        return put_down(world, self.part, T, self.width)


@dataclass(frozen=True)
class CarryPart:
    """A part goes with the tool of a robot while it is driven in."""

    robot: str
    part: str

    @property
    def words(self) -> str:
        """What happens, for the trace."""
        return f"the tool of '{self.robot}' is on '{self.part}'"

    def apply(self, world: World) -> World:
        """The world in which the part hangs on the tool, without being held."""
        known = world.robots[self.robot]
        return world.attach(self.part, f"{self.robot}.{known.tool}", "nonrigid")


@dataclass(frozen=True, eq=False)
class FastenPart:
    """A part is fastened to another, at the pose `T` (4, 4) in the world."""

    part: str
    onto: str
    T: np.ndarray
    attachment: str
    words: str

    def apply(self, world: World) -> World:
        """The world in which the part is where it is fastened."""
        return world.detach(self.part).move(self.part, self.T).attach(self.part, self.onto, self.attachment)


Edit = TaskPhase | TakePart | PutPart | CarryPart | FastenPart
Step = ArmMotion | HandMotion | TaskPhase | TakePart | PutPart | CarryPart | FastenPart
"""A step of a task: a motion of an arm or a hand, or an edit of the world with `apply(world)` and `words`."""


def applied(world: World, steps: Any) -> World:
    """The world after steps: motions end where they should, and edits are applied."""
    for step in steps:
        if isinstance(step, ArmMotion):
            world = world.set_configuration(step.robot, step.q[-1])
        elif isinstance(step, HandMotion):
            world = world.set_gripper(step.robot, step.width)
        else:
            world = step.apply(world)
    return world
