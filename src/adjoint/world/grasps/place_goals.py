"""Where a part shall go: a pose, relations, or a part to put it on, as a list of poses."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import AdjointError, ArgumentError
from ...model.input_checks import floats
from ...sensing.scene.scene_checks import pose
from ..predicates.contact_gaps import gaps, placed_solids, up_of
from ..relations import Relation, on, placements
from ..state import World
from ..state.frame_tree import subtree
from ..state.part_contents import features_of
from ..state.support import TOUCHING

__all__: list[str] = []

SAMPLES = 6  # placements of a family with freedoms that are tried, beside the nominal one


def goal_poses(world: World, part: str, goal: Any, rng: np.random.Generator, caller: str) -> list[np.ndarray]:
    """The poses (4, 4) of the part that fulfil a goal, the nearest to where it is first."""
    if isinstance(goal, str):
        goal = _put_on(world, part, goal, caller)
    if isinstance(goal, Relation) or (isinstance(goal, (list, tuple)) and goal and isinstance(goal[0], Relation)):
        return _related(world, part, goal, rng)
    if goal is None:
        raise ArgumentError(f"{caller}: 'goal' must be a pose (4, 4), relations, or a name such as 'table.top'")
    found = floats(goal)
    if found.ndim == 3 and found.shape[1:] == (4, 4) and len(found):
        return [np.asarray(pose(T, "goal", caller)) for T in found]
    return [np.asarray(pose(goal, "goal", caller))]


def _related(world: World, part: str, relations, rng: np.random.Generator) -> list[np.ndarray]:
    """Poses of all families, and some more of those with freedoms."""
    found = placements(world, part, relations, rng=rng)
    poses = [family.T_world_part for family in found]
    for family in found:
        for _ in range(SAMPLES if family.dof else 0):
            try:
                poses.append(family.sample(rng=rng, spread=0.05))
            except AdjointError:
                break
    return poses


def _put_on(world: World, part: str, goal: str, caller: str) -> list[Relation]:
    """The relation that puts a part on a face, or on the top of another part, with the face that is down now."""
    head, _, face = goal.partition(".")
    if head not in world.parts:
        raise ArgumentError(f"{caller}: 'goal' names '{goal}', but the world has no part '{head}'")
    up = up_of(world)
    down = _face_along(world, part, -up, caller)
    if not face:
        face = _face_along(world, head, up, caller)
    return [on(f"{part}.{down}", f"{head}.{face}")]


def _face_along(world: World, part: str, direction: np.ndarray, caller: str) -> str:
    """The face of a part whose normal is nearest to a direction."""
    R = world.pose(part)[:3, :3]
    faces = {name: f for name, f in features_of(world.parts[part]).items() if f.kind == "face"}
    if not faces:
        raise ArgumentError(f"{caller}: '{part}' has no plane face; give its goal as a pose (4, 4)")
    best = max(faces, key=lambda name: float(R @ faces[name].axis @ direction))
    if R @ faces[best].axis @ direction < np.cos(np.radians(10)):
        raise ArgumentError(
            f"{caller}: no face of '{part}' looks along {np.round(direction, 3).tolist()}; give relations"
        )
    return best


def put_down(world: World, part: str, T_goal: np.ndarray, width: float) -> World:
    """The world in which the part is released at its goal: it lies on what is below it, or is on its own."""
    return _at_rest(world.release(part, width=width).set_relative(part, T_goal), part)[0]


def falling(world: World, part: str, T_goal: np.ndarray) -> str:
    """Why a part would fall from its goal, in words; "" if it would not."""
    if not np.linalg.norm(world.gravity) > 0:
        return ""
    return _at_rest(world.detach(part).set_relative(part, T_goal), part)[1]


def _at_rest(free: World, part: str) -> tuple[World, str]:
    """The world in which a part that is on its own lies on what carries it, or the same world and why nothing does.

    A part that touches several others may lie on all of them together: then it stays on its own, and does not fall.
    """
    own, above = placed_solids(free, part), subtree(free, part)
    touched = [x for x in free.parts if x not in above and gaps(own, placed_solids(free, x), TOUCHING)]
    fault = "nothing is under it"
    for name in touched:
        try:
            return free.attach(part, name, "conditional"), ""
        except AdjointError as error:  # it does not carry the part
            fault = str(error).partition(f"on '{name}': ")[2].partition(";")[0] or fault
    return free, "" if len(touched) > 1 else fault
