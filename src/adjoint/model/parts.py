"""What a robot consists of, and what a model file states: plain data with names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import shortened
from .joints import JOINTS

__all__ = [
    "GRAVITY",
    "Body",
    "Finding",
    "Frame",
    "Joint",
    "JointSpec",
    "Link",
    "LinkSpec",
    "Mimic",
    "Visual",
    "Where",
]

GRAVITY = (0.0, 0.0, -9.81)
"""The gravity [m/s²] of a robot that does not say otherwise, along -z."""


class Where(NamedTuple):
    """A place in a model file: its path, and the number of a line or None."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


class Mimic(NamedTuple):
    """The joint of a body that follows the joint of another body: q = multiplier · q_source + offset.

    Both joints have one coordinate.
    """

    source: int  # the number of the body whose joint leads, and does not itself follow another
    multiplier: float = 1.0
    offset: float = 0.0


class Frame(NamedTuple):
    """A named frame, fixed to body number `body` (-1 is the base) at `placement` (4, 4) in it."""

    name: str
    body: int
    placement: np.ndarray


class Visual(NamedTuple):
    """A shape to draw, or to collide with if `collision` is true, at `placement` (4, 4) in the frame named `frame`.

    `shape` is "mesh", with `size` its scale along x, y, z; "box", with its three edges; "sphere", with its radius;
    "cylinder" or "capsule", with radius and length. Lengths are in m, and a colour is (red, green, blue, opacity), each
    from 0 to 1.
    """

    frame: str
    placement: np.ndarray
    shape: str
    size: tuple[float, ...]
    mesh: str | None = None  # the path of the file; `mesh_file` returns it if it may be opened
    color: tuple[float, float, float, float] | None = None
    collision: bool = False
    fault: str = ""  # why the mesh cannot be opened, or must not be


class Link(NamedTuple):
    """A link as its model states it, at `placement` (4, 4) in body number `body`; only `check` reads it.

    A body has several links if fixed joints connect them.
    """

    name: str
    body: int
    placement: np.ndarray
    inertia: np.ndarray | None  # (10,) in the link's own frame, or None if the model states none
    where: Where | None = None


class Finding(NamedTuple):
    """Something to know about a model: `check` returns a report of them, `robot.findings` has those of the loader.

    `level` is "error", "warning" or "note", `code` names the kind of finding, `element` is what it is about, such as
    "link 'forearm'", and `where` is the place of this element in the file.
    """

    level: str
    code: str
    element: str
    message: str
    where: Where | None = None

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return shortened(f"{place}{self.level}: {self.element}: {self.message} [{self.code}]")


@dataclass(frozen=True, eq=False)
class Joint:
    """The joint that moves a body: its type, a key of `JOINTS`, and its screws S (6, nv) in the body's frame.

    `q` and `v` are slices: the places of its coordinates in the robot's q and v. Limits are those of these coordinates.
    A joint that mimics another has no coordinates: its places and limits are those of the joint that leads it.
    """

    name: str
    type: str
    S: np.ndarray
    mimic: Mimic | None
    q: slice
    v: slice
    lower: np.ndarray  # (nq,) [rad or m]
    upper: np.ndarray
    velocity_limit: np.ndarray  # (nv,) [rad/s or m/s]
    effort_limit: np.ndarray  # (nv,) [N m or N]

    @property
    def does(self) -> str:
        """What the joint's q and v mean, in words."""
        return JOINTS[self.type].does


@dataclass(frozen=True, eq=False)
class Body:
    """Body number `index`: its parent's number (-1 is the base), its home placement M (4, 4) there, and its joint.

    The `inertia` (10,) is in the body's own frame.
    """

    index: int
    name: str
    parent: int
    M: np.ndarray
    joint: Joint
    inertia: np.ndarray

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self.inertia[0])


class LinkSpec(NamedTuple):
    """A link as a model states it, with its `inertia` (10,) in the link's frame, or None if the model states none."""

    name: str
    inertia: np.ndarray | None = None
    where: Where | None = None


class JointSpec(NamedTuple):
    """A joint as a model states it; its fields are the arguments of `Builder.joint`, which explains them."""

    name: str
    type: str
    parent: str
    child: str
    placement: np.ndarray
    axis: tuple[float, ...] = (0.0, 0.0, 1.0)
    axis2: tuple[float, ...] = (0.0, 1.0, 0.0)
    pitch: float = 0.0
    screw: np.ndarray | None = None
    mimic: tuple[str, float, float] | None = None
    lower: float | tuple = -np.inf
    upper: float | tuple = np.inf
    velocity: float | tuple = np.inf
    effort: float | tuple = np.inf
    damping: float | tuple = 0.0
    friction: float | tuple = 0.0
    armature: float | tuple = 0.0
    where: Where | None = None
