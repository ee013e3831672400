"""Worlds as JSON, exact to the last bit."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...errors import AdjointError, ArgumentError
from .frame_tree import ROOT, check_name, head_of, known_place
from .json_reading import WHO, items, listing, numbers, parsed, plain, record, whole, word
from .part_contents import data_of, part_from_data
from .placements import Placed, WorldRobot
from .robot_json import check_sources, robot_from_data, robot_to_data
from .thing_json import gripper_from_data, gripper_to_data, sensor_from_data, sensor_to_data
from .world_edits import configuration, entry

if TYPE_CHECKING:
    from .worlds import World

__all__ = ["VERSION", "world_from_json", "world_to_json"]

VERSION = 1
_TABLES = ("frames", "parts", "robots", "sensors", "groups", "fallen")


def world_to_json(world: World, sources: Mapping[str, str] | None, indent: int | None) -> str:
    """The world as JSON."""
    given = dict(sources or {})
    check_sources(given, world.robots, "World.to_json")
    models, numbers_of = [], {}
    for name, known in world.robots.items():
        key = (id(known.robot), given.get(name))
        if key not in numbers_of:
            numbers_of[key] = len(models)
            models.append(robot_to_data(known.robot, given.get(name)))
    data: dict[str, Any] = {
        "adjoint_world": VERSION,
        "gravity": plain(world.gravity),
        "frames": {
            name: {"parent": x.parent, "T_parent_frame": plain(x.T_parent_frame), "attachment": x.attachment,
                   "friction": x.friction}
            for name, x in world.frames.items()
        },
        "parts": {name: data_of(part) for name, part in world.parts.items()},
        "models": models,
        "robots": {
            name: {"model": numbers_of[id(x.robot), given.get(name)], "q": plain(x.q), "tool": x.tool,
                   "gripper": gripper_to_data(x.gripper), "width": x.width}
            for name, x in world.robots.items()
        },
        "sensors": {name: sensor_to_data(sensor) for name, sensor in world.sensors.items()},
        "groups": {name: list(members) for name, members in world.groups.items()},
        "fallen": dict(world.fallen),
    }  # fmt: skip
    return json.dumps(data, allow_nan=False, indent=indent, ensure_ascii=False)


def world_from_json(empty: World, text: str, folder: str | os.PathLike | None) -> World:
    """The world that JSON describes, or an `ArgumentError` that names what is wrong in it."""
    data = items(parsed(text), "the text")
    version = data.get("adjoint_world")
    if version != VERSION or isinstance(version, bool):
        raise ArgumentError(f"{WHO}: 'adjoint_world' is {version!r:.60}; this library reads version {VERSION}")
    record(data, "the text", ("adjoint_world", "frames"), ("gravity", "models", *_TABLES))
    tables = {name: items(data.get(name, {}), name) for name in _TABLES}
    frames = {name: _placed(x, f"frames.{name}") for name, x in tables["frames"].items()}
    world = type(empty)(gravity=numbers(data["gravity"], (3,), "gravity")) if "gravity" in data else empty
    for name in frames:
        check_name(world, name, WHO)
    for table in ("parts", "robots", "sensors", "fallen"):
        for name in tables[table]:
            if name not in frames:
                raise ArgumentError(f"{WHO}: {table}.{name} has no frame of its name in 'frames'")
    both = tables["robots"].keys() & tables["parts"].keys()
    if both:
        raise ArgumentError(f"{WHO}: '{min(both)}' is a part and a robot; names must differ")
    models = [
        robot_from_data(x, f"models[{k}]", folder) for k, x in enumerate(listing(data.get("models", []), "models"))
    ]
    world = world.changed(
        frames=frames,
        parts={name: part_from_data(x, f"parts.{name}") for name, x in tables["parts"].items()},
        robots={name: _robot(x, models, name) for name, x in tables["robots"].items()},
        sensors={name: sensor_from_data(x, f"sensors.{name}") for name, x in tables["sensors"].items()},
        fallen={name: word(x, f"fallen.{name}") for name, x in tables["fallen"].items()},
    )
    _check_tree(world)
    return _with_groups(world, tables["groups"])


def _placed(data, where: str) -> Placed:
    record(data, where, ("parent", "T_parent_frame"), ("attachment", "friction"))
    T = numbers(data["T_parent_frame"], (4, 4), f"{where}.T_parent_frame")
    friction = float(numbers(data.get("friction", 0.5), (), f"{where}.friction"))
    parent, attachment = word(data["parent"], f"{where}.parent"), data.get("attachment", "rigid")
    try:
        return entry(parent, T, attachment, friction, where)
    except AdjointError as error:
        raise ArgumentError(f"{WHO}: {error}") from None


def _robot(data, models: list, name: str) -> WorldRobot:
    where = f"robots.{name}"
    record(data, where, ("model", "q"), ("tool", "gripper", "width"))
    number = whole(data["model"], f"{where}.model")
    if not 0 <= number < len(models):
        raise ArgumentError(f"{WHO}: {where}.model is {number}; there are {len(models)} models, numbered from 0")
    robot = models[number]
    q = numbers(data["q"], (None,), f"{where}.q")
    gripper = gripper_from_data(data.get("gripper"), f"{where}.gripper")
    width = float(numbers(data.get("width", 0.0), (), f"{where}.width"))
    try:
        tool = robot.frame(word(data.get("tool", robot.frame_names[-1]), f"{where}.tool")).name
        width = width if gripper is None else gripper.width(width, where)
        return WorldRobot(robot, configuration(robot, q, name, where), tool, gripper, width)
    except AdjointError as error:
        text = str(error)
        raise ArgumentError(text if text.startswith(WHO) else f"{WHO}: {where}: {text}") from None


def _check_tree(world: World) -> None:
    """Raise an `ArgumentError` if a parent is unknown, or if frames carry each other in a circle."""
    rooted = {ROOT}
    for name in world.frames:
        way: dict[str, None] = {}  # in order
        at = name
        while at not in rooted:
            if at in way:
                circle = " -> ".join(f"'{x}'" for x in [*list(way)[list(way).index(at) :], at][:12])
                raise ArgumentError(f"{WHO}: frames are attached in a cycle: {circle}")
            way[at] = None
            parent = world.frames[at].parent
            if head_of(parent) != ROOT and head_of(parent) not in world.frames:
                known_place(world, parent, f"{WHO}: frames.{at}.parent")
            at = head_of(parent)
        rooted.update(way)
    for name, placed in world.frames.items():
        known_place(world, placed.parent, f"{WHO}: frames.{name}.parent")


def _with_groups(world: World, groups: dict[str, Any]) -> World:
    """The world with its groups, of which none is a member of itself."""
    waiting = {name: [word(m, f"groups.{name}") for m in listing(x, f"groups.{name}")] for name, x in groups.items()}
    known = dict.fromkeys(world.frames)
    found: dict[str, tuple[str, ...]] = {}
    for name, members in waiting.items():
        check_name(world, name, f"{WHO}: groups")
        for member in members:
            if member not in world.frames and member not in groups:
                raise ArgumentError(f"{WHO}: groups.{name} has {member!r:.60}, which is no frame and no group")
        if not members or len(set(members)) < len(members):
            raise ArgumentError(f"{WHO}: groups.{name} must have members, each once")
    while waiting:
        ready = [name for name, members in waiting.items() if all(m in known for m in members)]
        if not ready:
            raise ArgumentError(f"{WHO}: the groups {', '.join(sorted(waiting)[:6])} are members of each other")
        for name in ready:
            found[name] = tuple(waiting.pop(name))
            known[name] = None
    return world.changed(groups={name: found[name] for name in groups})
