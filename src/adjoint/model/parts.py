"""What a robot consists of, and what a model file states: plain named data, without methods that compute."""

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
"""Physical gravity [m/s²], unless a robot says otherwise."""


class Where(NamedTuple):
    """A place in a model file."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


class Mimic(NamedTuple):
    """The joint of a body follows that of another: q = multiplier · q_source + offset, one number each."""

    source: int  # number of the body whose joint leads; never itself a mimic
    multiplier: float = 1.0
    offset: float = 0.0


class Frame(NamedTuple):
    """A named frame fixed to a body (-1: the base) at `placement` (4, 4) in it."""

    name: str
    body: int
    placement: np.ndarray


class Visual(NamedTuple):
    """A shape to draw, or to collide with, fixed to a frame: lengths in m, colour as (r, g, b, a).

    `shape` is "mesh" (`size` = scale), "box" (edges), "sphere" (radius), "cylinder" or "capsule" (radius, length).
    """

    frame: str
    placement: np.ndarray
    shape: str
    size: tuple[float, ...]
    mesh: str | None = None  # path of a file
    color: tuple[float, float, float, float] | None = None
    collision: bool = False
    fault: str = ""  # why the mesh cannot be opened, or must not be; see `mesh_file`


class Link(NamedTuple):
    """A link as its model states it, before fixed joints merge links into bodies. Read by `check` only."""

    name: str
    body: int
    placement: np.ndarray
    inertia: np.ndarray | None  # (10,) in the link's own frame; None: not given
    where: Where | None = None


class Finding(NamedTuple):
    """Something to know about a model. `level` is "error", "warning" or "note"; `code` names the kind of finding."""

    level: str
    code: str
    element: str  # such as "link 'forearm'"
    message: str
    where: Where | None = None

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return shortened(f"{place}{self.level}: {self.element}: {self.message} [{self.code}]")


@dataclass(frozen=True, eq=False)
class Joint:
    """The joint that moves a body: type (a row of `JOINTS`), screws S (6, nv) in the body's frame, places in q and v.

    Limits are those of its coordinates in q and v. A mimic has none: its places and limits are those of its leader.
    """

    name: str
    type: str
    S: np.ndarray
    mimic: Mimic | None
    q: slice  # where its coordinates are in q; those of the source for a mimic
    v: slice
    lower: np.ndarray  # (nq,) [rad or m]
    upper: np.ndarray
    velocity_limit: np.ndarray  # (nv,) [rad/s or m/s]
    effort_limit: np.ndarray  # (nv,) [N m or N]

    @property
    def does(self) -> str:
        """What its q and v mean."""
        return JOINTS[self.type].does


@dataclass(frozen=True, eq=False)
class Body:
    """Body `index`: `parent` (-1: base), home placement `M` (4, 4) in it, `joint`, `inertia` (10,) in its own frame."""

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
    """A link as a model states it; `inertia` (10,) in the link's frame, None if not given."""

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
