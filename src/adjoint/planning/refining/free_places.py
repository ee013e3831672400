"""Where a part can be put: placements that relations allow, free and stable ones, those with room for a hand first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

import numpy as np

from ...program.instructions import Place, RelationClause
from ...program.tasks.feature_names import faces_along
from ...program.tasks.task_goals import goal_choices, goals_of
from ...world import Relation, World
from ...world.grasps.grasp_search import goal_blocked, site_of
from ...world.grasps.place_goals import falling
from ...world.predicates.contact_gaps import up_of
from ...world.relations.sources import Source
from ...world.state.attachment_edits import holder_of
from ...world.state.part_contents import features_of, solids_of

__all__: list[str] = []

MOST = 8  # places of a part that are tried
_EACH = 3  # of these on each of its faces, if it is held tilted and may be put down on any of them
_NUDGE = 1e-3  # [m] along both horizontal axes


def free_places(world: World, robot: str, part: str, onto: str, relations: Sequence[Relation]) -> Iterator[np.ndarray]:
    """Poses (4, 4) of a part on another one, found as they are asked for; a `LookupError` says why there are none.

    Relations become placements (Sec. 10.9.1): those that are given, or that the part lies on the other one, in its
    middle if that is not much larger. Placements that leave room for a hand come first, so that nothing is put where it
    would stand in the way of the next step; of these, the nearest come first.
    """
    faults: list[str] = []
    room = _Room(world, robot, part, onto)
    if relations:
        found = [_of_choices(room, [(world, list(relations))], faults, exact=True)]
    elif holder_of(world, part) is None or faces_along(world, part, -up_of(world)):
        found = [_of_choices(room, goal_choices(world, _on(part, part, onto)), faults)]
    else:
        found = [_of_choices(room, choices, faults) for choices in _on_any_face(world, robot, part, onto)]
    places = chain.from_iterable(islice(each, MOST if len(found) == 1 else _EACH) for each in found)
    first = next(places, None)
    if first is None:
        raise LookupError(faults[0] if faults else f"'{part}' has no face on which it could lie")
    return chain([first], places)


def _of_choices(room: _Room, choices: list, faults: list[str], exact: bool = False) -> Iterator[np.ndarray]:
    """The poses of a part, choice by choice; `faults` gets a sentence for each choice that has none."""
    world, part = room.world, room.part
    alone = world if holder_of(world, part) is None else world.release(part)
    for choice in choices:
        try:
            goals = goals_of(world, part, [choice])
        except LookupError as error:
            faults.append(str(error))
            continue
        goals = goals if exact else [_nudged(world, T) for T in goals]
        blocked = goal_blocked(site_of(alone, room.robot, part, 0.01, "refine"), goals)
        free = [T for T, by in zip(goals, blocked, strict=True) if not by]
        yield from (T for T in sorted(free, key=room.lacking) if not falling(alone, part, T))
        inside = f"goal: '{part}' would be inside '{blocked[0]}'"
        faults.append(f"goal: '{part}' would fall: {falling(alone, part, free[0])}" if free else inside)


def _on_any_face(world: World, robot: str, part: str, onto: str) -> Iterator[list]:
    """For each face of a part that a tilted hand holds tilted, the choices of relations by which it lies on that face.

    The face comes first that looks where the fingers point: on it the part lay when it was picked from above.
    """
    known, R = world.robots[robot], world.pose(part)[:3, :3]
    assert known.gripper is not None  # it holds the part
    pointing = (world.pose(f"{robot}.{known.tool}") @ known.gripper.T_tool_grip)[:3, 2]
    faces = [x for x in features_of(world.parts[part]).values() if x.kind == "face"]
    for face in sorted(faces, key=lambda face: -round(float(R @ face.axis @ pointing), 3)):
        yield goal_choices(world, _on(part, f"{part}.{face.name}", onto))


def _on(part: str, side: str, onto: str) -> Place:
    return Place(part, relations=(RelationClause("on", side, onto),))


def _nudged(world: World, T: np.ndarray) -> np.ndarray:
    """The pose a little off its place: corners of equal cubes, exactly above edges, would not know what they touch."""
    up = up_of(world)
    moved = np.array(T)
    moved[:3, 3] += _NUDGE * np.linalg.svd(np.eye(3) - np.outer(up, up))[0][:, :2].sum(axis=1)
    return moved


def bounded_parts(world: World) -> list[str]:
    """The parts that have an end: all but half-spaces."""
    return [name for name, part in world.parts.items() if all(x.bounds is not None for x in solids_of(part))]


class _Room:
    """How much room a part leaves around itself for a hand, at a pose."""

    def __init__(self, world: World, robot: str, part: str, onto: str):
        self.world, self.robot, self.part = world, robot, part
        gripper = world.robots[robot].gripper
        self.needed = 0.0 if gripper is None else gripper.opening / 2 + 2 * gripper.thickness
        self.up = up_of(world)
        self.across = np.linalg.svd(np.eye(3) - np.outer(self.up, self.up))[0][:, :2]
        source = Source(world, "refine")
        self.own = source.corners(part)
        others = [name for name in bounded_parts(world) if name not in (part, onto)]
        self.boxes = [_moved(world.pose(name), source.corners(name)) for name in others]

    def lacking(self, T: np.ndarray) -> float:
        """By how much [m] the nearest part beside the pose is too near for an open hand; 0 if there is room."""
        corners = _moved(T, self.own)
        bottom, middle = (corners @ self.up).min(), (corners @ self.across).mean(axis=0)
        beside = [box @ self.across for box in self.boxes if (box @ self.up).max() > bottom + 1e-3]
        gaps = [np.linalg.norm(np.maximum(0.0, np.maximum(b.min(0) - middle, middle - b.max(0)))) for b in beside]
        return round(max(0.0, self.needed - float(min(gaps, default=np.inf))), 4)


def _moved(T: np.ndarray, points: np.ndarray) -> np.ndarray:
    return points @ np.asarray(T)[:3, :3].T + np.asarray(T)[:3, 3]
