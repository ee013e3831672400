"""`world_props`: the parts of a world as meshes with poses over time, for pages and viewers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...drawing.props import Prop
from ...drawing.triangles import Mesh
from ...errors import ArgumentError
from ..state import World, gripper_solids
from ..state.held_parts import carried_frames
from ..state.part_contents import colour_of_part, surface_of
from ..state.world_edits import known_robot
from .following import Followed

__all__ = ["world_props"]


def world_props(
    world: World | Followed, *, actors: Iterable[str] = (), exclude: Iterable[str] = (), floor: float = 0.0
) -> list[Prop]:
    """The parts and grippers of a world as `Prop`s: meshes with a color and their poses (frames, 4, 4).

        >>> from adjoint.sensing import Box
        >>> w = World().add("table", Box([1.0, 0.6, 0.05]), at=[0.5, 0, 0.4])
        >>> [prop.name for prop in world_props(w)]
        ['table']

    A `Followed` gives what its robot carries a pose for each of its times `t`; all other props have one pose. `actors`
    names robots that are drawn as actors, in their order: what they carry is then held by the actor (`Prop.actor`,
    `Prop.body`), so that it goes where the robot goes, and has no times of its own. `exclude` names parts and robots
    to leave out. A half-space is drawn as a square of side `floor` [m], or not at all.
    """
    way = world if isinstance(world, Followed) else None
    now = way.start if way is not None else world
    if not isinstance(now, World):
        raise ArgumentError(f"world_props: 'world' must be a World or a Followed, got {type(world).__name__}")
    out, drawn = (
        set([exclude] if isinstance(exclude, str) else exclude),
        [actors] if isinstance(actors, str) else list(actors),
    )
    held = {name: (drawn.index(r), r, frame) for r in drawn for frame, name in _carried(now, r)}
    found = []
    for name, part in now.parts.items():
        mesh = None if name in out else _mesh(part, floor)
        if mesh is None:
            continue
        color = colour_of_part(part)
        if name in held:
            actor, robot, frame = held[name]
            found.append(_held(name, mesh, color, now, actor, robot, frame, now.pose(name, f"{robot}.{frame}")))
        elif way is not None and name in way.carried:
            found.append(Prop(name, mesh, color, way.poses(name), way.t))
        else:
            found.append(Prop(name, mesh, color, np.array(now.pose(name))[None]))
    for name in now.robots:
        if name not in out:
            found += _fingers(now, way, name, drawn)
    return found


def _carried(world: World, robot: str) -> list[tuple[str, str]]:
    known_robot(world, robot, "world_props")
    return carried_frames(world, robot)


def _held(name, mesh: Mesh, color, world: World, actor: int, robot: str, frame: str, T: np.ndarray) -> Prop:
    """A prop in the body of an actor."""
    at = world.robots[robot].robot.frame(frame)
    return Prop(name, mesh, color, (at.placement @ T)[None], None, actor, at.body)


def _fingers(world: World, way: Followed | None, name: str, drawn: list[str]) -> list[Prop]:
    """The palm and the fingers of a robot's gripper."""
    known, found = world.robots[name], []
    if known.gripper is None:
        return []
    for box in gripper_solids(known.gripper, known.width):
        mesh, T = _mesh(box, 0.0), box.T_world_solid
        assert mesh is not None
        called, color = f"{name}.{box.name}", colour_of_part(box)
        if name in drawn:
            found.append(_held(called, mesh, color, world, drawn.index(name), name, known.tool, T))
        elif way is not None and way.robot == name:
            found.append(Prop(called, mesh, color, way.poses(f"{name}.{known.tool}") @ T, way.t))
        else:
            found.append(Prop(called, mesh, color, (world.pose(f"{name}.{known.tool}") @ T)[None]))
    return found


def _mesh(part, floor: float) -> Mesh | None:
    """The triangles of a part in its frame; None for a half-space that is not drawn."""
    surface = surface_of(part)
    if surface is None:
        if not floor > 0:
            return None
        half = floor / 2
        corners = np.array([[-half, -half, 0], [half, -half, 0], [half, half, 0], [-half, half, 0]])
        surface = corners, np.array([[0, 1, 2], [0, 2, 3]])
    return Mesh(surface[0].astype(np.float32), np.asarray(surface[1], np.int32))
