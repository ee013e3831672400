"""What the tables of a world have in them: `Placed` frames and `WorldRobot`s, each with a hash of its contents."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...kinematics import forward_kinematics
from ...lazy import cached_property
from ...model.input_checks import nearest_motions
from ...model.robot import Robot
from .grippers import Gripper

__all__ = ["ATTACHMENTS", "FRICTION", "Placed", "PlacedSensor", "WorldRobot", "fixed", "inverted", "rigid"]

ATTACHMENTS = ("rigid", "nonrigid", "conditional")
FRICTION = 0.5
"""The coefficient of friction of a conditional attachment, unless it is told."""


def fixed(array) -> np.ndarray:
    """A copy of the numbers that nobody can change; 0 stands for -0, so that equal numbers have equal bits."""
    array = np.asarray(array, float) + 0.0
    return np.ndarray(array.shape, float, array.tobytes())


def rigid(T: np.ndarray) -> np.ndarray:
    """A product of rigid motions as a frozen motion; its rotation is made exact if rounding has added up."""
    return fixed(nearest_motions(T[None])[0][0])


def inverted(T: np.ndarray) -> np.ndarray:
    """The inverse of a rigid motion (4, 4)."""
    found = np.eye(4)
    R = T[:3, :3].T
    found[:3, :3], found[:3, 3] = R, -R @ T[:3, 3]
    return found


@dataclass(frozen=True, eq=False)
class Placed:
    """A frame of a world: its pose `T_parent_frame` (4, 4) in its parent, and how it is attached to it.

        >>> Placed("table", np.eye(4), "conditional")
        Placed('table', at (0, 0, 0), 'conditional')

    - `parent` is the name of a frame, or "world"; "arm.tool" is a frame of a robot, "peg.top" a feature of a part.
    - `attachment` "rigid": the frame and its parent move together, whichever is moved. "nonrigid": the parent carries
      the frame, which can move alone. "conditional": the same, as long as gravity holds the frame on its parent.
    - `friction` is Coulomb's coefficient, which conditional attachments ask for.

    Two are equal if all numbers are, to the last bit.
    """

    parent: str
    T_parent_frame: np.ndarray
    attachment: str = "rigid"
    friction: float = FRICTION

    @cached_property
    def digest(self) -> bytes:
        """A hash of the contents."""
        text = repr((self.parent, self.attachment, self.friction)).encode()
        return hashlib.blake2b(text + self.T_parent_frame.tobytes(), digest_size=16).digest()

    def __eq__(self, other) -> bool:
        return isinstance(other, Placed) and (self is other or self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        x, y, z = self.T_parent_frame[:3, 3] + 0.0
        return f"Placed({self.parent!r}, at ({x:.4g}, {y:.4g}, {z:.4g}), {self.attachment!r})"


@dataclass(frozen=True, eq=False)
class WorldRobot:
    """A robot of a world: its configuration `q` (nq,), the name of its `tool` frame, and its `gripper`, if any.

    `width` [m] is how far the gripper is open. The base of the robot is the frame of its name in the world. Two are
    equal if the robots and all numbers are equal.
    """

    robot: Robot
    q: np.ndarray
    tool: str
    gripper: Gripper | None = None
    width: float = 0.0

    @cached_property
    def digest(self) -> bytes:
        """A hash of the contents."""
        grip = self.gripper and self.gripper.digest
        text = repr((self.robot.fingerprint, self.tool, grip, self.width)).encode()
        return hashlib.blake2b(text + self.q.tobytes(), digest_size=16).digest()

    def __eq__(self, other) -> bool:
        return isinstance(other, WorldRobot) and (self is other or self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<WorldRobot {self.robot!r}, tool '{self.tool}'>"

    @cached_property
    def bodies(self) -> np.ndarray:
        """The placements (n, 4, 4) of the bodies in the base."""
        return np.asarray(forward_kinematics(self.robot, self.q))

    def placement(self, frame: str) -> np.ndarray:
        """The pose (4, 4) of a frame of the robot in its base."""
        at = self.robot.frame(frame)
        return at.placement if at.body < 0 else self.bodies[at.body] @ at.placement


class PlacedSensor(NamedTuple):
    """A sensor that has no pose of its own, with the pose (4, 4) that it has in the world."""

    sensor: object
    T_world_sensor: np.ndarray


def one_attachment(value, caller: str) -> str:
    """The word for an attachment, or an `ArgumentError`."""
    if not isinstance(value, str) or value not in ATTACHMENTS:
        raise ArgumentError(
            f"{caller}: 'attachment' is {value!r:.60}; it must be one of 'rigid', 'nonrigid', 'conditional'"
        )
    return value
