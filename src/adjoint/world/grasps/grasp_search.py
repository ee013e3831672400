"""`find_grasps`: grasps of a part of a world that a robot can reach, at the pick and at the place."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...collision.collision_models import CollisionModel
from ...errors import ArgumentError, nearest
from ...model.input_checks import positive
from ...randomness import Rng, generator
from ...sensing.scene import Solid
from ...sensing.scene.scene_checks import array, number, pose
from ..state import World
from ..state.attachment_edits import holder_of
from ..state.frame_tree import rigid_top, subtree
from ..state.grippers import Gripper
from ..state.held_parts import named_solids
from ..state.part_contents import solids_of
from ..state.placements import WorldRobot, inverted
from ..state.world_edits import known_robot
from ..world_models import world_collision_model
from .arm_checks import Reached, blocking, free_of, reached, tool_poses
from .candidates import grasp_candidates, open_widths, prune, scored
from .grasp_results import Grasps, GraspTable
from .graspable import graspable
from .hand_checks import Neighbour, clearances, held_met, met, neighbours
from .separations import Hull, hull_of

__all__ = ["find_grasps"]

HAND = ("palm", "finger", "finger#2")


class Site(NamedTuple):
    """A world, a robot with a gripper, and the part that it shall hold: what all checks of grasps ask."""

    world: World
    robot: str
    part: str
    known: WorldRobot
    gripper: Gripper
    T_world_base: np.ndarray
    T_world_part: np.ndarray
    held: tuple[Solid, ...]  # the part and what it carries, in the frame of the part
    pieces: tuple[Hull, ...]  # the same
    around: tuple[Neighbour, ...]  # all else
    model: CollisionModel  # of the arm among all else; the hand is left to `met`
    spread: float

    def met_at(self, T_world_part: np.ndarray) -> list[Neighbour]:
        """All that an open hand must not meet when it comes to the part at a pose, but for the part itself."""
        riders = [s.replace(T_world_solid=T_world_part @ s.T_world_solid) for s in self.held]
        return [*self.around, *(x for x in neighbours(riders) if x.name != self.part)]

    def part_at(self, T_world_part: np.ndarray) -> list[Neighbour]:
        """The part as a neighbour of an empty hand."""
        return [Neighbour(self.part, piece.at(T_world_part)) for piece in self.pieces]

    def arm_model(self, T_world_part: np.ndarray) -> CollisionModel:
        """The arm among all else, with the part at a pose; the hand may touch everything."""
        solids = [s.replace(T_world_solid=T_world_part @ s.T_world_solid) for s in self.held]
        every = [*self.model.obstacles, *solids]
        pairs = {(h, s.name) for h in HAND for s in every}
        return self.model.with_obstacles(every, margin=0.0, ignore=pairs)


def site_of(world, robot, part, spread: float, caller: str) -> Site:
    """The checked arguments of all functions that look for grasps."""
    if not isinstance(world, World):
        raise ArgumentError(f"{caller}: 'world' must be a World, got {type(world).__name__}")
    known = known_robot(world, robot, caller)
    if known.gripper is None:
        raise ArgumentError(f"{caller}: robot '{robot}' has no gripper; World.add_robot(..., gripper=Gripper(...))")
    if part not in world.parts:
        there = nearest(str(part), list(world.parts)) if world.parts else "there is none"
        raise ArgumentError(f"{caller}: the world has no part {part!r:.60}; {there}")
    if (holder := holder_of(world, part)) is not None:
        raise ArgumentError(f"{caller}: robot '{holder[0]}' holds '{part}' already; World.release frees it")
    if held := world.holding(robot):
        raise ArgumentError(f"{caller}: robot '{robot}' holds '{held[0]}'; its gripper must be empty")
    if (top := rigid_top(world, part, caller)) != part:
        raise ArgumentError(f"{caller}: '{part}' is rigidly attached to '{top}', which would move with it; detach it")
    T = np.asarray(world.pose(part))
    names = [x for x in subtree(world, part) if x in world.parts]
    held = tuple(
        solid for x in names for solid in named_solids(x, solids_of(world.parts[x]), inverted(T) @ world.pose(x))
    )
    model = world_collision_model(world, robot, exclude=names)
    pairs = {(h, s.name) for h in HAND for s in model.obstacles}
    model = model.with_carried(model.carried, ignore=pairs)
    pieces = tuple(hull for s in held if (hull := hull_of(s)) is not None)
    around = tuple(neighbours(tuple(model.obstacles)))
    wider = number(spread, "spread", caller, least=0)
    return Site(
        world, robot, part, known, known.gripper, np.asarray(world.pose(robot)), T, held, pieces, around, model, wider
    )


def find_grasps(
    world: World, robot: str, part: str, *, goal=None, error: float = 0.002, rank_weights=(1.0, 1.0, 1.0),
    friction: float = 0.5, approaches: int = 8, positions: int = 3, samples: int = 24, spread: float = 0.01,
    rng: Rng = 0,
) -> Grasps:  # fmt: skip
    """Grasps of a part of a world that a robot can reach where the part is, and at its goal: `Grasps`, the best first.

        >>> from adjoint.world import Gripper, World, cuboid
        >>> w = World().add("table", cuboid(0.6, 0.8, 0.05), at=[0.6, 0, -0.3])
        >>> w = w.add("block", cuboid(0.08, 0.04, 0.02), at=[0.5, 0.1, -0.265])
        >>> hand = Gripper(opening=0.05, T_tool_grip=[0, 0, 0.12])
        >>> grasps = find_grasps(w.add_robot("arm", robot, gripper=hand), "arm", "block")
        >>> sorted({grasp.faces for grasp in grasps}), grasps.counts["too wide"]
        ([('back', 'front'), ('front', 'back')], 144)

    Candidates of `grasp_candidates` (which explains `friction`, `approaches`, `positions`, `samples`, `spread`, `rng`)
    are pruned, all at once, if

    - the open hand meets a neighbour: "blocked by 'table' at pick";
    - no configuration within the limits brings the hand there: "unreachable at pick";
    - the arm meets something in all of them: "with the arm blocked by 'shelf' at pick", or by "itself";
    - the same is so at the place, if `goal` (4, 4), the pose of the part there, is given. A grasp that cannot put the
      part down is no grasp.

    The rest is ranked by the mean of three numbers from 0 to 1 with `rank_weights`:

    - stability: (area / area of a finger, at most 1, + cone_margin / atan μ) / 2;
    - balance: 1 / (1 + arm / r), where r is the distance of the farthest point of the part from its centre of mass;
    - room: c / (c + error), where c is the clearance of the open hand from its neighbours, at pick and place, when the
      hand is off by ±`error` [m] along any of its axes.

    Solids are convex pieces, as `part_solids` makes them, and the hand is boxes; both are checked by separating axes.
    Links of the arm are the shapes of its collision model, which are larger than the links. Reference: Fu, Gonzalez &
    Lee (1987), Sec. 10.9.3.
    """
    who = "find_grasps"
    site = site_of(world, robot, part, spread, who)
    T_goal = None if goal is None else pose(goal, "goal", who)
    options = {"friction": friction, "approaches": approaches, "positions": positions, "samples": samples}
    return searched(site, T_goal, error, rank_weights, options, generator(rng, who), who)


def searched(
    site: Site, T_goal: np.ndarray | None, error, weights, options: dict, rng: np.random.Generator, caller: str
) -> Grasps:
    """The grasps of a site, at the pick and at the place if it is known."""
    w = array(weights, (3,), "rank_weights", caller)
    if (w < 0).any() or not w.sum() > 0:
        raise ArgumentError(f"{caller}: 'rank_weights' must be 0 or more, and not all 0, got {w.tolist()}")
    off = positive(error, f"{caller}: error")
    g = float(np.linalg.norm(site.world.gravity))
    thing = site.world.parts[site.part]
    table = grasp_candidates(
        thing, site.gripper, spread=site.spread, gravity=g, rng=rng, **options
    ).table  # fmt: skip
    found = []
    places = [("pick", site.T_world_part)] + ([] if T_goal is None else [("place", T_goal)])
    for place, T in places:
        table, q = _at(site, table, T, place, off, rng)
        found.append(q)
    left = table.reason == ""
    for q in found:
        for k in np.flatnonzero(~left):
            q[k] = q[k][:0]
    table = scored(table, site.gripper, graspable(thing, caller), options["friction"], off, w)
    at_pick, at_place = tuple(found[0]), tuple(found[-1])
    return Grasps(site.part, site.gripper, table, at_pick, at_place)


def _at(
    site: Site, table: GraspTable, T_part: np.ndarray, place: str, error: float, rng: np.random.Generator
) -> tuple[GraspTable, list[np.ndarray]]:
    """The table with reasons of one place, and the configurations (m, nq) of each candidate there."""
    reason, clearance = table.reason.copy(), table.clearance.copy()
    T, apart = T_part @ table.T, open_widths(site.gripper, table.width, site.spread)
    left = np.flatnonzero(reason == "")
    around = site.met_at(T_part)
    by = met(site.gripper, T[left], apart[left], around)
    for k, name in zip(left, by, strict=True):
        reason[k] = f"blocked by '{name}' at {place}" if name else ""
    left = left[by == ""]
    q = [np.zeros((0, site.known.robot.nq))] * len(table)
    if len(left):
        reach = reached(
            site.known.robot, site.known.tool, tool_poses(site.T_world_base, T[left], site.gripper.T_tool_grip), rng
        )
        model = site.arm_model(T_part)
        free = free_of(model, reach)
        some = np.zeros(len(table), bool)
        some[left[~reach.good.any(axis=1)]] = True
        prune(reason, some, f"unreachable at {place}")
        _tell_blocked(reason, left, reach, free, model, place)
        for k, row, marks in zip(left, reach.q, free, strict=True):
            q[k] = row[marks]
        left = left[free.any(axis=1)]
    clearance[left] = np.minimum(clearance[left], clearances(site.gripper, T[left], apart[left], around, error))
    return dataclasses.replace(table, reason=reason, clearance=clearance), q


def _tell_blocked(
    reason: np.ndarray, left: np.ndarray, reach: Reached, free: np.ndarray, model: CollisionModel, place: str
) -> None:
    """Write what blocks the arm where it could reach but is never free."""
    stuck = np.flatnonzero(reach.good.any(axis=1) & ~free.any(axis=1))
    first = reach.good[stuck].argmax(axis=1)
    for k, name in zip(left[stuck], blocking(model, reach.q[stuck, first]), strict=True):
        reason[k] = f"with the arm blocked by {name} at {place}"


def goal_blocked(site: Site, T_goal: Sequence[np.ndarray]) -> np.ndarray:
    """What the part meets at its goals (n, 4, 4): names, "" for nothing."""
    return held_met(site.pieces, np.asarray(T_goal), site.around)
