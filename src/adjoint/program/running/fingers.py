"""Fingers that close on parts: what is between them, at which width they meet it, taking it and letting it go."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...sensing.scene import Plane, Scene, Solid, ray_distances
from ...world.state import Gripper, World, WorldRobot
from ...world.state.attachment_edits import holder_of
from ...world.state.frame_tree import is_base, rigid_top, subtree
from ...world.state.placements import FRICTION, Placed, inverted
from ...world.state.support import support_fault
from ...world.state.world_edits import known_robot
from ...world.views.dropping import dropped
from .touching_points import part_hulls

__all__ = ["FingerStop", "finger_stop", "let_go", "taken"]

_GRID = 33  # rays in each direction over a finger's pad at first
_ZOOM = 17  # rays in each direction while the place of the first touch is narrowed down
_ROUNDS = 11
_FLAT = 1e-12  # [m] a part that is so flat where it is looked at is met there
_TOUCHES = 1e-6  # [m] fingers that are this near to a part hold it
_SPARE = 1e-9
"""Fingers stop this far [m] before a part, so that the width is never below the part's own, whatever rounding did."""


class FingerStop(NamedTuple):
    """Where the closing fingers of a hand come to rest: see `finger_stop`."""

    width: float
    """the distance between the fingers then [m]"""
    part: str | None
    """the part that is between them; None if they close on nothing"""
    offset: float = 0.0
    """how far the middle of the part is from the middle of the hand, along y of the grip frame [m]"""


def finger_stop(world: World, robot: str) -> FingerStop:
    """Which part is between the fingers of a robot's gripper, and how far apart they are when they meet it.

        >>> hand = aj.world.Gripper(opening=0.04, T_tool_grip=np.eye(4))
        >>> w = aj.world.World().add_robot("arm", robot, q=q, gripper=hand)
        >>> w = w.add("pin", aj.world.cylinder(0.006, 0.05), at=w.pose("arm.tool"))
        >>> finger_stop(w, "arm").part
        'pin'

    The fingers close from their present width. Each stops at the first point of a part that its pad meets; the one
    that meets a loose part first pushes it towards the other, so that the width is that of the part. If two parts lie
    side by side, the width is that of both, and the wider one is named. Without anything between them the fingers go on
    to the gripper's `least` width. What the hand holds counts; half-spaces and the robots themselves do not.
    """
    known, grip = _hand(world, robot, "finger_stop")
    found = _between(world, robot, known, grip, known.width, world.parts)
    if found is None:
        return FingerStop(grip.least, None)
    (high, above), (low, below) = found
    part = above
    if above != below:
        part = max((above, below), key=lambda name: _extent(world, robot, known, grip, name))
    width = float(np.clip(high - low + 2 * _SPARE, grip.least, max(known.width, grip.least)))
    return FingerStop(width, part, (high + low) / 2)


def taken(world: World, robot: str, part: str, width: float, *, offset: float | None = None) -> World:
    """The world in which a hand has closed on a part and holds it: the fingers are `width` [m] apart.

    The part, with all that is rigid with it, now hangs rigidly on the robot's tool. If it was not in the middle of the
    hand, the fingers have pushed it there; its `offset` [m] is that of `finger_stop`, which is asked if it is not
    given. A part that this hand holds already stays as it is. A part that another robot holds stays with that robot
    until its hand opens: `let_go` then hands it over.
    """
    known, grip = _hand(world, robot, "taken")
    if holder_of(world, part) is None:
        top = rigid_top(world, part, "taken")
        if offset is None:
            stop = finger_stop(world, robot)
            offset = stop.offset if stop.part == part else 0.0
        if abs(offset) > _SPARE:
            y = (world.pose(robot) @ known.placement(known.tool) @ grip.T_tool_grip)[:3, 1]
            world = world.move(top, _shifted(world.pose(top), -offset * y))
        world = world.grasp(robot, part)
    return world.set_gripper(robot, float(np.clip(width, grip.least, grip.opening)))


def let_go(world: World, robot: str, width: float | None = None) -> World:
    """The world in which a hand has opened and holds nothing more between its fingers, which are `width` [m] apart.

    What another hand has closed on, too, that hand now holds. All else stays on the part on which gravity holds it, or
    it falls, as `world.dropped` simulates it, if there
    is anything below to come to rest on. Parts that hang on the tool but are not between the fingers, such as a
    camera, and frames without parts stay with the robot.
    """
    known, grip = _hand(world, robot, "let_go")
    held = [name for name in world.holding(robot) if not is_base(world, world.frames[name].parent)]
    apart = grip.opening if width is None else float(np.clip(width, grip.least, grip.opening))
    for top in held:
        own = [name for name in subtree(world, top) if name in world.parts]
        if own and _between(world, robot, known, grip, known.width, own) is not None:
            world = world.detach(top)
            other = next((r for r in world.robots if r != robot and _closed_on(world, r, own)), None)
            world = _put_down(world, top) if other is None else world.grasp(other, top)
    return world.set_gripper(robot, apart)


def _closed_on(world: World, robot: str, parts: list[str]) -> bool:
    """Whether the fingers of a robot touch one of these parts on both sides."""
    known = world.robots[robot]
    if known.gripper is None:
        return False
    found = _between(world, robot, known, known.gripper, known.width, parts)
    return found is not None and found[0][0] - found[1][0] > known.width - _TOUCHES


# --- what is between the fingers --------------------------------------------------------------------------------------


def _hand(world: World, robot: str, caller: str) -> tuple[WorldRobot, Gripper]:
    if not isinstance(world, World):
        raise ArgumentError(f"{caller}: 'world' must be a World, got {type(world).__name__}")
    known = known_robot(world, robot, caller)
    if known.gripper is None:
        raise ArgumentError(
            f"{caller}: robot '{robot}' has no gripper; World.add_robot(..., gripper=Gripper(...)) gives one"
        )
    return known, known.gripper


def _between(world: World, robot: str, known: WorldRobot, grip: Gripper, width: float, names: Iterable[str]):
    """((y, part) that the finger at +y meets first, (y, part) of the finger at -y), along y of the grip frame."""
    reach = width + 4 * _SPARE  # what the fingers touch already is between them, too
    T_grip_world = inverted(world.pose(robot) @ known.placement(known.tool) @ grip.T_tool_grip)
    solids = {name: found for name in names if (found := _solids(world, name, T_grip_world, grip, reach))}
    if not solids:
        return None
    scene = Scene([solid for found in solids.values() for solid in found])
    touches = _first_touches(scene, grip, reach)
    if touches is None:
        return None
    plus, minus = (
        (side * (reach / 2 - distance), _met(solids, place, side, reach))
        for side, distance, place in zip((1.0, -1.0), *touches, strict=True)
    )
    return plus, minus


def _solids(world: World, name: str, T_grip_world: np.ndarray, grip: Gripper, width: float) -> list[Solid]:
    """The solids of a part, in the grip frame, that may be between the fingers."""
    part = world.parts[name]
    if isinstance(part, Plane):
        return []
    T = T_grip_world @ world.pose(name)
    hulls = part_hulls(part)
    low, high = hulls.boxes(T)
    # Whether the box about a solid meets the space between the fingers.
    ends = np.array([[grip.breadth / 2, width / 2, grip.tip], [-grip.breadth / 2, -width / 2, grip.tip - grip.depth]])
    near = (low <= ends[0]).all(axis=1) & (high >= ends[1]).all(axis=1)
    return [solid.at(T @ solid.T_world_solid) for solid, meets in zip(hulls.solids, near, strict=True) if meets]


def _first_touches(scene: Scene, grip: Gripper, width: float) -> tuple[np.ndarray, np.ndarray] | None:
    """How far (2,) the pads at y = ± width/2 go until each meets the first solid, and where (2, 2) on the pad: x and z.

    Rays over both pads find the places, and finer and finer rays around them find these exactly: solids are convex, so
    that their height above the pad's plane has one maximum. None if a pad meets nothing.
    """
    low = np.array([-grip.breadth / 2, grip.tip - grip.depth])
    high = np.array([grip.breadth / 2, grip.tip])
    both = np.arange(2)
    middle, half = np.tile((low + high) / 2, (2, 1)), (high - low) / 2
    best = np.full(2, np.inf)
    for k in range(_ROUNDS):
        n = _GRID if k == 0 else _ZOOM
        spread, directions = _rays(n)
        grid = np.minimum(np.maximum(middle[:, None] + half * spread, low), high)
        origins = directions * (-width / 2)
        origins[..., ::2] = grid
        distance = ray_distances(scene, origins, directions, farthest=width)
        # Rounding must not wander along a flat face: a place that is not clearly better is no news.
        place = np.rint(1e12 * distance).argmin(axis=1)
        found = distance[both, place]
        better = found < best
        best, middle = np.where(better, found, best), np.where(better[:, None], grid[both, place], middle)
        if not np.isfinite(best).all():
            return None
        if (distance.max(axis=1) - best <= _FLAT).all():
            break
        half = half * (4.0 / (n - 1))
    return best, middle


@cache
def _rays(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Places (n², 2) of a grid over [-1, 1]², and directions (2, n², 3) of rays from both fingers inward."""
    steps = np.linspace(-1, 1, n)
    directions = np.zeros((2, n * n, 3))
    directions[:, :, 1] = [[-1.0], [1.0]]
    return np.stack([np.repeat(steps, n), np.tile(steps, n)], axis=-1), directions


def _met(solids: dict[str, list[Solid]], place: np.ndarray, side: float, width: float) -> str:
    """The part that the ray at a place of a pad meets first."""
    origin, direction = np.array([place[0], side * width / 2, place[1]]), np.array([0.0, -side, 0.0])
    if len(solids) == 1:
        return next(iter(solids))
    away = {name: float(ray_distances(Scene(own), origin, direction)) for name, own in solids.items()}
    return min(away, key=away.__getitem__)


def _extent(world: World, robot: str, known: WorldRobot, grip: Gripper, name: str) -> float:
    """How much of the space between the fingers a part takes [m]."""
    found = _between(world, robot, known, grip, known.width, [name])
    return 0.0 if found is None else found[0][0] - found[1][0]


# --- putting down -----------------------------------------------------------------------------------------------------


def _shifted(T: np.ndarray, by: np.ndarray) -> np.ndarray:
    moved = np.array(T)
    moved[:3, 3] += by
    return moved


def _put_down(world: World, name: str) -> World:
    """A part that nobody holds any more lies on what carries it, or falls."""
    own = subtree(world, name)
    for other in world.parts:
        if other not in own:
            T = inverted(world.pose(other)) @ world.pose(name)
            on = Placed(other, T, "conditional", FRICTION)
            if support_fault(world.changed(frames=world.frames | {name: on}), name) is None:
                return world.attach(name, other, "conditional")
    if not any(other not in own for other in world.parts) or not np.linalg.norm(world.gravity) > 0:
        return world
    down = dropped(world, name, duration=1.0)
    return down.world if down.rested else world.changed(fallen=world.fallen | {name: "nothing is below it"})
