"""`changes`: how two worlds differ, as data and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...lie import so3
from ...model.configuration import difference
from .part_contents import digest_of
from .placements import WorldRobot
from .worlds import World

__all__ = ["Changes", "Configured", "Moved", "Reattached", "changes"]

_STILL = 1e-12  # m and rad: rounding


class Moved(NamedTuple):
    """A frame that moved in the world, by a distance [m] and an angle [rad]."""

    name: str
    distance: float
    angle: float

    def __str__(self) -> str:
        angle = round(float(np.degrees(self.angle)), 9)  # rounding errors are no turns
        return f"'{self.name}' moved by {1e3 * self.distance:.4g} mm and {angle:.4g}°"


class Reattached(NamedTuple):
    """A frame that hangs on another parent, or in another way: pairs (before, after)."""

    name: str
    parents: tuple[str, str]
    attachments: tuple[str, str]
    frictions: tuple[float, float]

    def __str__(self) -> str:
        now = f"'{self.name}' is attached to '{self.parents[1]}' {_how(self.attachments[1])}"
        if self.parents[0] != self.parents[1]:
            return f"{now}, no more to '{self.parents[0]}'"
        if self.attachments[0] != self.attachments[1]:
            return f"{now}, no more {_how(self.attachments[0])}"
        return f"{now}, with friction {self.frictions[1]:g}, no more {self.frictions[0]:g}"


def _how(attachment: str) -> str:
    return {"rigid": "rigidly", "nonrigid": "nonrigidly", "conditional": "conditionally"}[attachment]


class Configured(NamedTuple):
    """A robot with another configuration: the joint that moved most and by how much [rad, m]; q before and after."""

    name: str
    joint: str
    change: float
    q: tuple[np.ndarray, np.ndarray]

    def __str__(self) -> str:
        return (
            f"'{self.name}' has another configuration: joint '{self.joint}' moved most, by {self.change:.4g} rad or m"
        )


@dataclass(frozen=True, eq=False)
class Changes:
    """How a world differs from another: see `changes`. It is true if there is a difference; `str` tells it in words.

    - `added`, `removed`: names of frames.
    - `moved`: frames that moved in their parent, or in the world while they changed parents.
    - `carried`: frames that moved in the world because what carries them did.
    - `reattached`: frames with another parent or attachment.
    - `configured`: robots with another configuration; `gripped`: robots with another opening of the gripper (m, m).
    - `replaced`: frames with another part, sensor, robot, tool or gripper.
    - `fell`: {name: reason} of what has lost its support.
    - `grouped`: assemblies that came, went or changed.
    - `gravity`: whether it differs.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    moved: tuple[Moved, ...] = ()
    carried: tuple[Moved, ...] = ()
    reattached: tuple[Reattached, ...] = ()
    configured: tuple[Configured, ...] = ()
    gripped: tuple[tuple[str, float, float], ...] = ()
    replaced: tuple[str, ...] = ()
    fell: tuple[tuple[str, str], ...] = ()
    grouped: tuple[str, ...] = ()
    gravity: bool = False

    @property
    def words(self) -> list[str]:
        """One sentence for each change."""
        lines = [f"'{name}' was added" for name in self.added]
        lines += [f"'{name}' was removed" for name in self.removed]
        lines += [f"'{name}' was replaced" for name in self.replaced]
        lines += [f"'{name}' fell: {reason}" for name, reason in self.fell]
        lines += [str(x) for x in (*self.reattached, *self.configured)]
        lines += [f"the gripper of '{name}' went from {1e3 * a:.4g} to {1e3 * b:.4g} mm" for name, a, b in self.gripped]
        lines += [str(x) for x in self.moved]
        lines += [f"{x}, carried" for x in self.carried]
        lines += [f"the assembly '{name}' changed" for name in self.grouped]
        return lines + ["gravity changed"] * self.gravity

    def __bool__(self) -> bool:
        return bool(self.words)

    def __str__(self) -> str:
        return "\n".join(self.words) or "nothing changed"


def changes(old: World, new: World) -> Changes:
    """How `new` differs from `old`, as data and in words.

        >>> w = World().add("table", at=[1, 0, 0]).add("cup", parent="table")
        >>> print(changes(w, w.move("table", [1, 0, 0.1]).add("plate")))
        'plate' was added
        'table' moved by 100 mm and 0°
        'cup' moved by 100 mm and 0°, carried

    Names identify frames: a renamed frame was removed and added. Distances are those of the origins of frames, angles
    those of the rotation between the orientations. Differences below 1e-12 m and rad do not count.
    """
    for world in (old, new):
        if not isinstance(world, World):
            raise ArgumentError(f"changes: two Worlds are needed, got {type(world).__name__}")
    both = [name for name in new.frames if name in old.frames]
    moved, carried = _motions(old, new, both)
    return Changes(
        added=tuple(name for name in new.frames if name not in old.frames),
        removed=tuple(name for name in old.frames if name not in new.frames),
        moved=moved,
        carried=carried,
        reattached=tuple(_reattached(old, new, name) for name in both if _hangs(old, name) != _hangs(new, name)),
        configured=tuple(
            _configured(name, old.robots[name], new.robots[name]) for name in both if _turned(old, new, name)
        ),
        gripped=tuple(
            (name, old.robots[name].width, new.robots[name].width)
            for name in both
            if name in old.robots and name in new.robots and old.robots[name].width != new.robots[name].width
        ),
        replaced=tuple(name for name in both if _thing(old, name) != _thing(new, name)),
        fell=tuple((k, x) for k, x in new.fallen.items() if old.fallen.get(k) != x),
        grouped=tuple(sorted(k for k in old.groups | new.groups if old.groups.get(k) != new.groups.get(k))),
        gravity=not np.array_equal(old.gravity, new.gravity),
    )


def _motions(old: World, new: World, names: list[str]) -> tuple[tuple[Moved, ...], tuple[Moved, ...]]:
    """The frames that moved on their own, and those that were carried."""
    own, carried = [], []
    for name in names:
        before, after = old.frames[name], new.frames[name]
        A, B = old.pose(name), new.pose(name)
        if A is B or np.array_equal(A, B):
            continue
        found = Moved(name, *_apart(A, B))
        if max(found.distance, found.angle) <= _STILL:
            continue
        local = before is after or max(_apart(before.T_parent_frame, after.T_parent_frame)) <= _STILL
        (carried if local and before.parent == after.parent else own).append(found)
    return tuple(own), tuple(carried)


def _apart(A: np.ndarray, B: np.ndarray) -> tuple[float, float]:
    turn = np.linalg.norm(so3.log.eager(A[:3, :3].T @ B[:3, :3]))
    return float(np.linalg.norm(B[:3, 3] - A[:3, 3])), float(turn)


def _hangs(world: World, name: str) -> tuple[str, str, float]:
    placed = world.frames[name]
    return placed.parent, placed.attachment, placed.friction


def _reattached(old: World, new: World, name: str) -> Reattached:
    a, b = old.frames[name], new.frames[name]
    return Reattached(name, (a.parent, b.parent), (a.attachment, b.attachment), (a.friction, b.friction))


def _turned(old: World, new: World, name: str) -> bool:
    a, b = old.robots.get(name), new.robots.get(name)
    return a is not None and b is not None and a.robot == b.robot and not np.array_equal(a.q, b.q)


def _configured(name: str, a: WorldRobot, b: WorldRobot) -> Configured:
    robot = b.robot
    v = np.abs(difference.eager(robot, a.q, b.q))
    most = int(np.argmax(v))
    joints = [joint for joint in robot.joint_names if robot.joint(joint).v.start <= most < robot.joint(joint).v.stop]
    return Configured(name, joints[0], float(v[most]), (a.q, b.q))


def _thing(world: World, name: str) -> Any:
    """What stands on a frame, for comparison: configurations and openings do not count."""
    known = world.robots.get(name)
    robot = None if known is None else (known.robot.fingerprint, known.tool, known.gripper and known.gripper.digest)
    part, sensor = (None if x is None else digest_of(x) for x in (world.parts.get(name), world.sensors.get(name)))
    return robot, part, sensor
