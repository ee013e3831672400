"""`Gripper`: two parallel fingers and a palm, as data and as solids."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...lazy import cached_property
from ...sensing.scene import Box
from ...sensing.scene.scene_checks import number, pose

__all__ = ["Gripper", "gripper_solids"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Gripper:
    """A hand with two parallel fingers, which close along y of its grip frame and point along z.

        >>> hand = Gripper(opening=0.08, depth=0.045, thickness=0.01, breadth=0.02)
        >>> [solid.name for solid in gripper_solids(hand, 0.05)]
        ['palm', 'finger', 'finger#2']

    All lengths are in m.

    - `opening` is the largest distance between the fingers, `least` the smallest.
    - `depth` is the length of a finger from palm to tip, `thickness` its size along y, `breadth` its size along x.
    - `palm` is the thickness of the palm along z; the palm is as wide as the open hand, and as broad as a finger.
    - `tip` is how far the tips reach beyond the origin of the grip frame.
    - `T_tool_grip` (4, 4) is the pose of the grip frame in the tool frame of the robot: its origin is in the middle
      between the fingers, its z axis is the direction of approach, and the fingers close along its y axis. By default
      the back of the palm is at the origin of the tool frame, as on a flange; `np.eye(4)` is for a tool frame that is
      between the fingers itself.
    - `force` [N] is the largest force with which each finger presses; infinity if it is not known.
    - `links` are the names of links of the robot for which the palm and the fingers stand, such as
      ("panda_leftfinger", "panda_rightfinger"): a model that has fingers of its own would have them twice. Collision
      checks leave these links out.
    """

    opening: float
    depth: float = 0.04
    thickness: float = 0.01
    breadth: float = 0.02
    palm: float = 0.02
    tip: float = 0.0
    least: float = 0.0
    force: float = np.inf
    T_tool_grip: Any = None
    links: tuple[str, ...] = ()

    def __post_init__(self):
        for name in ("opening", "depth", "thickness", "breadth", "palm"):
            object.__setattr__(self, name, number(getattr(self, name), name, "Gripper", least=0, above=True))
        object.__setattr__(self, "tip", number(self.tip, "tip", "Gripper"))
        object.__setattr__(self, "least", number(self.least, "least", "Gripper", least=0, most=self.opening))
        if not (isinstance(self.force, int | float | np.number) and self.force > 0):
            raise ArgumentError(f"Gripper: 'force' must be above 0, got {self.force!r:.60}")
        object.__setattr__(self, "force", float(self.force))
        links = (self.links,) if isinstance(self.links, str) else tuple(self.links)
        if not all(isinstance(name, str) and name for name in links):
            raise ArgumentError(f"Gripper: 'links' must be names of links of the robot, got {self.links!r:.60}")
        object.__setattr__(self, "links", links)
        mount = [0.0, 0.0, self.palm + self.depth - self.tip] if self.T_tool_grip is None else self.T_tool_grip
        object.__setattr__(self, "T_tool_grip", pose(mount, "T_tool_grip", "Gripper"))

    @cached_property
    def digest(self) -> bytes:
        """A hash of the numbers."""
        values = [getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "T_tool_grip"]
        return hashlib.blake2b(repr(values).encode() + self.T_tool_grip.tobytes(), digest_size=16).digest()

    def __eq__(self, other) -> bool:
        return isinstance(other, Gripper) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def width(self, value, caller: str = "Gripper.width") -> float:
        """The value if the fingers can be so far apart [m], or an `ArgumentError`."""
        found = number(value, "width", caller)
        slack = 1e-9 * self.opening
        if not self.least - slack <= found <= self.opening + slack:
            raise ArgumentError(
                f"{caller}: 'width' is {1e3 * found:.4g} mm; the gripper opens from {1e3 * self.least:.4g} to "
                f"{1e3 * self.opening:.4g} mm"
            )
        return float(np.clip(found, self.least, self.opening))


def gripper_solids(gripper: Gripper, width: float | None = None) -> tuple[Box, ...]:
    """The palm and the two fingers as boxes in the tool frame, with the fingers `width` [m] apart (open by default).

    >>> palm, left, right = gripper_solids(Gripper(opening=0.1), 0.06)
    >>> np.round(left.T_world_solid[:3, 3], 6)
    array([0.   , 0.035, 0.04 ])
    """
    if not isinstance(gripper, Gripper):
        raise ArgumentError(f"gripper_solids: 'gripper' must be a Gripper, got {type(gripper).__name__}")
    g = gripper
    apart = g.opening if width is None else g.width(width, "gripper_solids")
    across, middle = g.opening + 2 * g.thickness, g.tip - g.depth / 2
    places = [
        ("palm", [0.0, 0.0, g.tip - g.depth - g.palm / 2], [g.breadth, across, g.palm]),
        ("finger", [0.0, (apart + g.thickness) / 2, middle], [g.breadth, g.thickness, g.depth]),
        ("finger#2", [0.0, -(apart + g.thickness) / 2, middle], [g.breadth, g.thickness, g.depth]),
    ]
    solids = []
    for name, at, size in places:
        T = np.eye(4)
        T[:3, 3] = at
        solids.append(Box(size, T_world_solid=g.T_tool_grip @ T, name=name, colour=0.35))
    return tuple(solids)
