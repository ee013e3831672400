"""Goals as relations: the poses of a robot's frame in which a part that it holds fulfils relations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...errors import AdjointError, ArgumentError
from ...lie import se3
from ..relations import Placements, Relation, placements
from ..state import World

__all__ = ["PartGoal", "are_relations"]

SAMPLES = 16  # placements of each family that has freedoms
SPREAD = 0.3  # [rad, m] how far these go


class PartGoal(NamedTuple):
    """The frame of a robot, its poses (k, 4, 4) in the world, and the reason if there are none."""

    frame: str
    T_world_frame: np.ndarray
    reason: str


def are_relations(goal) -> bool:
    """Whether a goal is a relation, several of them, or placements that relations allow."""
    if isinstance(goal, (Relation, Placements)):
        return True
    return isinstance(goal, (list, tuple)) and bool(goal) and all(isinstance(x, Relation) for x in goal)


def part_goal(world, robot: str, goal, standoff, rng: np.random.Generator) -> PartGoal:
    """The poses of the frame that holds a part, in which the part fulfils relations, moved by `standoff` [m].

    All families of placements count: each with its nominal placement, and with random ones if it leaves freedoms.
    """
    caller = "plan_motion"
    if not isinstance(world, World):
        raise ArgumentError(f"{caller}: a goal of relations needs a World, which knows what the robot holds")
    relations = _listed(goal)
    part, frame = _held(world, robot, relations, caller)
    away = _standoff(world, standoff, caller)
    try:
        found = goal if isinstance(goal, Placements) else placements(world, part, list(relations), rng=rng)
    except AdjointError as error:
        return PartGoal(frame, np.empty((0, 4, 4)), f"goal: {error}")
    if found.parts != (part,):
        raise ArgumentError(
            f"{caller}: the placements are those of {', '.join(found.parts)}, but the robot holds '{part}'"
        )
    T_world_part = [family.T_world_part for family in found]
    for family in found:
        T_world_part += [family.sample(rng=rng, spread=SPREAD) for _ in range(SAMPLES if family.dof else 0)]
    T_part_frame = se3.inverse(world.pose(part, f"{robot}.{frame}"))
    T = np.stack(T_world_part) @ T_part_frame
    T[:, :3, 3] += away
    return PartGoal(frame, T, "")


def _listed(goal) -> tuple[Relation, ...]:
    if isinstance(goal, Placements):
        return goal.relations
    return (goal,) if isinstance(goal, Relation) else tuple(goal)


def _held(world: World, robot: str, relations: Sequence[Relation], caller: str) -> tuple[str, str]:
    """The part of the relations that the robot holds, and the frame of the robot that holds it."""
    held = world.holding(robot)
    named = [side.partition(".")[0] for r in relations for side in (r.first, r.second) if isinstance(side, str)]
    for part in dict.fromkeys(named):
        if part in held:
            return part, world.frames[part].parent.partition(".")[2]
    holds = ", ".join(f"'{x}'" for x in held) or "nothing"
    raise ArgumentError(
        f"{caller}: the relations are about {', '.join(dict.fromkeys(named))}, but '{robot}' holds {holds}"
    )


def _standoff(world: World, standoff, caller: str) -> np.ndarray:
    """The displacement (3,) [m] in the world: a number is a height."""
    found = np.asarray(standoff, float)
    if found.shape not in ((), (3,)) or not np.isfinite(found).all():
        raise ArgumentError(f"{caller}: standoff must be a height [m] or a vector (3,), got {standoff!r:.60}")
    if found.shape == (3,):
        return found
    size = float(np.linalg.norm(world.gravity))
    up = -world.gravity / size if size > 0 else np.array([0.0, 0.0, 1.0])
    return float(found) * up
