"""`World`: named frames, parts, robots and sensors, and what is attached to what. It never changes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ...lazy import cached_property
from ...model.parts import GRAVITY
from ...model.robot import Robot
from ...sensing.scene import Scene, Solid
from ...sensing.scene.scene_checks import array
from . import attachment_edits, held_parts, world_edits, world_files
from .frame_tree import head_of, known_place, members_of, relative_pose, subtree
from .grippers import Gripper
from .part_contents import digest_of
from .placements import FRICTION, Placed, WorldRobot

__all__ = ["Assembly", "World"]

_TABLES = ("frames", "parts", "robots", "sensors", "groups", "fallen")


class Assembly(NamedTuple):
    """A group of frames that is addressed by one name: see `World.group`."""

    name: str
    members: tuple[str, ...]
    """the frames of the group, and of the groups in it; the pose of the first is that of the assembly"""
    T_world_assembly: np.ndarray
    """(4, 4)"""


class World:
    """Named frames, parts, robots and sensors, and what is attached to what; every edit gives a new world.

        >>> from adjoint.sensing import Box
        >>> w = World().add("table", Box([1.0, 0.6, 0.05]), at=[0.5, 0, 0.4])
        >>> w = w.add("cup", Box([0.06, 0.06, 0.1]), at=[0, 0, 0.075], parent="table", attachment="conditional")
        >>> w = w.add_robot("arm", robot, q=q, at=[0, 0, 0.5])
        >>> w.move("table", [0.6, 0, 0.4]).pose("cup")[:3, 3]
        array([0.6  , 0.   , 0.475])

    A world has these tables, which nobody can change:

    - `frames`: {name: `Placed`}, a tree under the frame "world". Every part, robot and sensor is a frame of its name.
    - `parts`: {name: part or solid}, `robots`: {name: `WorldRobot`}, `sensors`: {name: sensor}.
    - `groups`: {name of an assembly: names of its members}.
    - `fallen`: {name: reason} of what has lost its support, until it is moved or attached again.

    `gravity` (3,) [m/s²] tells which way is down. Names of places are those of frames, "arm.tool" for a frame of a
    robot, and "peg.top" for a feature of a part. Two worlds are equal, and have the same hash, if all of their contents
    are; the order in which things came does not count. A new world shares everything that an edit leaves alone, so
    worlds can be kept as branches of a search. Reference: Fu, Gonzalez & Lee (1987), Secs. 9.2.1, 9.3.1.
    """

    frames: MappingProxyType[str, Placed]
    parts: MappingProxyType[str, Any]
    robots: MappingProxyType[str, WorldRobot]
    sensors: MappingProxyType[str, Any]
    groups: MappingProxyType[str, tuple[str, ...]]
    fallen: MappingProxyType[str, str]
    gravity: np.ndarray
    known_poses: dict[str, np.ndarray]  # of frames of the tree, as they are asked for

    def __init__(self, *, gravity=GRAVITY):
        none: dict[str, Any] = {}
        self.__dict__.update({name: MappingProxyType(none) for name in _TABLES})
        self.__dict__.update(gravity=array(gravity, (3,), "gravity", "World"), known_poses={})

    def __setattr__(self, name, value):
        raise AttributeError(f"a World never changes; its methods return new worlds (setting '{name}')")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def changed(self, **tables: Mapping[str, Any]) -> World:
        """The world with other tables; methods of this class call it after all checks."""
        new = object.__new__(World)
        own = {name: self.__dict__[name] for name in (*_TABLES, "gravity")}
        new.__dict__.update(own, known_poses={})
        new.__dict__.update(
            {k: x if isinstance(x, MappingProxyType) else MappingProxyType(x) for k, x in tables.items()}
        )
        return new

    def __reduce__(self):
        return _restored, ({name: dict(self.__dict__[name]) for name in _TABLES}, self.gravity)

    # --- identity -----------------------------------------------------------------------------------------------------

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all contents; hashes of entries are computed once, also for other worlds that share them."""
        mark = hashlib.blake2b(self.gravity.tobytes(), digest_size=20)
        for table in ("frames", "robots"):
            mark.update(f"{table};".encode())
            for name, entry in sorted(getattr(self, table).items()):
                mark.update(name.encode() + b"\0" + entry.digest)
        for table in ("parts", "sensors"):
            mark.update(f"{table};".encode())
            for name, thing in sorted(getattr(self, table).items(), key=lambda pair: pair[0]):
                mark.update(name.encode() + b"\0" + digest_of(thing))
        mark.update(repr((sorted(self.groups.items()), sorted(self.fallen.items()))).encode())
        return mark.hexdigest()

    def __eq__(self, other) -> bool:
        return isinstance(other, World) and (self is other or self.fingerprint == other.fingerprint)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        counts = [(len(self.frames), "frame"), (len(self.parts), "part"), (len(self.robots), "robot"),
                  (len(self.sensors), "sensor")]  # fmt: skip
        shown = ", ".join(f"{n} {word}{'s' * (n != 1)}" for n, word in counts if n or word == "frame")
        return f"<World: {shown}>"

    # --- reading ------------------------------------------------------------------------------------------------------

    @cached_property
    def children(self) -> dict[str, list[str]]:
        """{name: frames that hang on the frame, or on a part of it}."""
        found: dict[str, list[str]] = {}
        for name, placed in self.frames.items():
            found.setdefault(head_of(placed.parent), []).append(name)
        return found

    @cached_property
    def conditional(self) -> tuple[str, ...]:
        """The names of the frames that only gravity holds."""
        return tuple([name for name, placed in self.frames.items() if placed.attachment == "conditional"])

    def pose(self, name: str, relative_to: str = "world") -> np.ndarray:
        """The pose (4, 4) of a place, seen from another: `w.pose("arm.tool", "table")`. It cannot be written to.

        "world" and the names of frames and assemblies are places, and so are "arm.tool", a frame of a robot, and
        "peg.top", a feature of a part.
        """
        known_place(self, relative_to, "World.pose")
        known_place(self, name, "World.pose")
        return relative_pose(self, name, relative_to, "World.pose")

    def carried_by(self, name: str) -> list[str]:
        """The frames that a frame, or a frame of a robot such as "arm.tool", carries directly or by others."""
        known_place(self, name, "World.carried_by")
        if name == "world":
            return list(self.frames)
        if "." in name:
            direct = [child for child, placed in self.frames.items() if placed.parent == name]
            return subtree(self, *direct)
        own = members_of(self, name)
        return [x for x in subtree(self, *own) if x not in own]

    def holding(self, robot: str) -> list[str]:
        """The frames that hang directly on frames of a robot that its joints move; sensors are left out."""
        return held_parts.holding(self, robot)

    def assembly(self, name: str) -> Assembly:
        """The assembly of this name: its members, and its pose, which is that of its first member."""
        members = held_parts.assembly_members(self, name)
        return Assembly(name, members, self.pose(members[0]))

    def sensor_at(self, name: str) -> Any:
        """The sensor of this name where it is now: a `Camera` at its pose, or a `PlacedSensor` of any other."""
        return held_parts.sensor_at(self, name)

    def scene(
        self, exclude: Iterable[str] = (), *, robots: bool = True, grippers: bool = True, meshes: bool = True
    ) -> Scene:
        """What cameras, range sensors and collision checks meet: the solids of all parts, and the robots as meshes.

        The solids of a part are named "part", "part#2", ..., and those of a robot "arm.link2", ... `exclude` names
        parts, robots and assemblies to leave out; a robot goes with its gripper, but not with what it holds. Without
        `meshes` robots are drawn from their kinematics instead of mesh files.
        """
        return held_parts.scene(self, exclude, robots, grippers, meshes)

    def carried(self, robot: str, *, gripper: bool = True) -> list[tuple[str, Solid]]:
        """What a robot carries: pairs (name of a frame of the robot, solid in this frame), with its gripper."""
        return held_parts.carried(self, robot, gripper)

    def mounted(self, robot: str) -> Robot:
        """The robot at its place in the world, under the world's gravity, with the mass of all that it carries."""
        return held_parts.mounted(self, robot)

    # --- coming and going ---------------------------------------------------------------------------------------------

    def add(
        self, name: str, part=None, *, at=None, parent: str = "world", attachment: str = "rigid",
        friction: float = FRICTION,
    ) -> World:  # fmt: skip
        """The world with a further frame, which has a `part` on it, or none.

        `at` is its pose (4, 4) or position (3,) in its `parent`; a solid such as `Box` brings its own pose if `at` is
        not given. `Placed` explains attachments and friction.

        Collision checks and motion plans take a `Mesh` as its convex hull, so that its hollows are full. The same mesh
        as a part, by `mesh_part`, keeps its hollows: it is covered by convex pieces, as `part_cover` explains.
        """
        return world_edits.added(self, name, part, at, parent, attachment, friction)

    def add_robot(
        self, name: str, robot: Robot, *, q=None, at=None, parent: str = "world", attachment: str = "rigid",
        tool: str | None = None, gripper: Gripper | None = None, width: float | None = None,
    ) -> World:  # fmt: skip
        """The world with a robot, whose base is the new frame; `q` (nq,) is its configuration, neutral by default.

        `tool` names the frame of the robot that holds things, its last frame by default. The `gripper` is `width` [m]
        open, or as far as it goes.
        """
        return world_edits.added_robot(self, name, robot, q, at, parent, attachment, tool, gripper, width)

    def add_sensor(self, name: str, sensor, *, at=None, parent: str = "world", attachment: str = "rigid") -> World:
        """The world with a sensor on a new frame: a `Camera`, or a sensor of `adjoint.sensing`."""
        return world_edits.added_sensor(self, name, sensor, at, parent, attachment)

    def remove(self, name: str, *, with_children: bool = False) -> World:
        """The world without a frame, or without all members of an assembly.

        What it carried stays where it is, or goes too `with_children`; what only gravity held is then in `fallen`.
        """
        return world_edits.removed(self, name, with_children)

    def rename(self, old: str, new: str) -> World:
        """The world in which a frame or an assembly has another name."""
        return world_edits.renamed(self, old, new)

    # --- motions ------------------------------------------------------------------------------------------------------

    def move(self, name: str, T, relative_to: str = "world") -> World:
        """The world in which a place is at the pose T (4, 4) or position (3,), seen from `relative_to`.

        What it carries moves with it. What it is rigidly attached to moves, too (AL's AFFIX ... RIGIDLY), up to the
        first attachment that is not rigid; `set_relative` leaves that alone. A frame of a robot cannot be moved so.
        """
        return world_edits.moved(self, name, T, relative_to)

    def set_relative(self, name: str, T) -> World:
        """The world in which a frame has the pose T (4, 4) or position (3,) in its parent, which does not move."""
        return world_edits.set_relative(self, name, T)

    def set_configuration(self, robot: str, q) -> World:
        """The world with a robot at q (nq,); what it carries moves with it."""
        return world_edits.configured(self, robot, q)

    def set_gripper(self, robot: str, width: float) -> World:
        """The world with the fingers of a robot `width` [m] apart."""
        return world_edits.opened(self, robot, width)

    # --- attachments --------------------------------------------------------------------------------------------------

    def attach(self, child: str, parent: str, attachment: str = "rigid", *, friction: float = FRICTION) -> World:
        """The world in which `child` hangs on `parent` (AL's AFFIX) and nothing has moved; see `Placed`."""
        return attachment_edits.attached(self, child, parent, attachment, friction)

    def detach(self, child: str) -> World:
        """The world in which `child` hangs on "world" alone (AL's UNFIX) and nothing has moved."""
        return attachment_edits.detached(self, child)

    def grasp(self, robot: str, name: str, *, width: float | None = None) -> World:
        """The world in which the tool of a robot holds a part, and all that is rigid with it; nothing has moved.

        `width` [m] is how far apart the fingers then are.
        """
        return attachment_edits.grasped(self, robot, name, width)

    def release(
        self, name: str, *, onto: str | None = None, friction: float = FRICTION, width: float | None = None
    ) -> World:
        """The world in which no robot holds the part: it lies on `onto` by gravity, or is on its own."""
        return attachment_edits.released(self, name, onto, friction, width)

    def group(self, name: str, members: Iterable[str]) -> World:
        """The world with an assembly: `name` stands for its members in `pose`, `move`, `attach`, `remove`, ..."""
        return attachment_edits.grouped(self, name, members)

    def ungroup(self, name: str) -> World:
        """The world without this assembly; its members stay."""
        return attachment_edits.ungrouped(self, name)

    # --- JSON ---------------------------------------------------------------------------------------------------------

    def to_json(self, *, sources: Mapping[str, str] | None = None, indent: int | None = None) -> str:
        """The world as JSON, from which `from_json` makes an equal world: no bit is lost.

        Robots are written with all of their fields; `sources` {robot: name} writes the name of a robot of the catalog,
        or the path of a model file in a folder, instead.
        """
        return world_files.world_to_json(self, sources, indent)

    @classmethod
    def from_json(cls, text: str, *, folder: str | os.PathLike | None = None) -> World:
        """The world that `to_json` wrote.

        The text is not trusted: an `ArgumentError` names what is wrong in it. Only below `folder` are model files read,
        and mesh files that robots name.
        """
        return world_files.world_from_json(cls(), text, folder)


def _restored(tables: dict[str, dict], gravity) -> World:
    return World(gravity=gravity).changed(**tables)
