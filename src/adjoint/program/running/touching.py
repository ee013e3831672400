"""Contact of what a robot holds, or of its fingertips, with the parts of its world."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...compile import Kernel, kernel, row_at, while_loop
from ...errors import ArgumentError
from ...kinematics.forward import forward_kinematics
from ...model.input_checks import floats
from ...model.robot import Robot
from ...world.state import World
from ...world.state.frame_tree import subtree
from ...world.state.part_contents import solids_of
from ...world.state.placements import inverted
from ...world.state.world_edits import known_robot
from .touching_points import (
    MOST_POINTS,
    POINT_SIZE,
    fewer_points,
    finger_points,
    moved_points,
    part_hulls,
    part_points,
)
from .touching_shapes import ROOMS, ROW_SIZE, moved_table, nearest_surface, padded, part_table

__all__ = ["ContactNumbers", "touch_wrench"]

_NEAR = 0.02  # parts this near to the way [m] are looked at


class ContactNumbers(NamedTuple):
    """How hard contact is: see `adjoint.simulation.contact`. Each sampled point has these numbers."""

    stiffness: float = 5e3
    """[N/m] of each point; a rim has 16 points, a face of a box 4"""
    damping: float = 30.0
    """[s/m] of Hunt and Crossley"""
    friction: float = 0.1
    """Coulomb's coefficient"""
    slip: float = 1e-3
    """the speed [m/s] over which friction is smoothed"""


class Touching(NamedTuple):
    """What can touch: `points` (k, 7) of the hand in the frame of its tool, and a `table` (m, 18) in the robot's base.

    `boxes` (n, 2, 3) are about the parts of the table, in the base, and `rows` (n, 2) are their first and last rows.
    """

    points: np.ndarray
    table: np.ndarray
    boxes: np.ndarray
    rows: np.ndarray


def touch_wrench(
    world: World, robot: str, q, *, width=None, numbers: ContactNumbers | None = None
) -> np.ndarray:  # fmt: skip
    """What the parts of a world exert at rest on what a robot holds, and on its fingertips, at configurations q.

        >>> w = aj.world.World().add_robot("arm", robot, q=q, gripper=aj.world.Gripper(opening=0.05))
        >>> touch_wrench(w, "arm", q[None])
        array([[0., 0., 0., 0., 0., 0.]])

    `q` is (N, nq); the result is (N, 6): moments [N m] before forces [N], at the origin of the robot's tool, along axes
    of the station. Each sampled point of the held parts (corners, rims, rings around shafts) that is d deep in another
    part is pushed out with `numbers.stiffness` · d along the part's normal; there is no friction at rest. Parts are
    exact: a plate with a bore is a difference. `width` (N,) [m] is how far the fingers are apart, as now by default.
    Links of the robot, its palm, and other robots touch nothing.
    """
    who = "touch_wrench"
    if not isinstance(world, World):
        raise ArgumentError(f"{who}: 'world' must be a World, got {type(world).__name__}")
    known = known_robot(world, robot, who)
    q = np.asarray(floats(q))
    if q.ndim != 2 or q.shape[1] != known.robot.nq or not np.isfinite(q).all():
        raise ArgumentError(f"{who}: 'q' must be finite configurations (N, {known.robot.nq}), got shape {q.shape}")
    apart = np.broadcast_to(known.width if width is None else np.asarray(floats(width)), (len(q),))
    touching = near_way(all_touching(world, robot), known.robot, known.tool, q, float(np.max(apart, initial=0.0)))
    if not len(touching.points) or not len(touching.table) or not len(q):
        return np.zeros((len(q), 6))
    hardness = np.array([(numbers or ContactNumbers()).stiffness, 0.0, 0.0, 1.0])
    points, table, counts = in_rooms(touching)
    F = np.asarray(_resting_kernel(known.robot, known.tool, len(table))(points, table, counts, q, apart, hardness))
    return turned(world.pose(robot)[:3, :3], F)


def turned(R: np.ndarray, F: np.ndarray) -> np.ndarray:
    """Wrenches (N, 6) along other axes: R (3, 3) takes vectors to them."""
    return (F.reshape(-1, 2, 3) @ R.T).reshape(-1, 6)


# --- what is near -----------------------------------------------------------------------------------------------------


def all_touching(world: World, robot: str) -> Touching:
    """Points of what a robot's hand holds and of its fingertips, and all parts that it does not hold."""
    known = world.robots[robot]
    tool = f"{robot}.{known.tool}"
    T_tool_world = inverted(world.pose(tool))
    held = {name for top in world.holding(robot) for name in subtree(world, top)}
    points = [np.zeros((0, POINT_SIZE))]
    for name in sorted(held):
        if name in world.parts:
            own = world.frames[name].parent == tool
            T = world.frames[name].T_parent_frame if own else T_tool_world @ world.pose(name)
            points.append(moved_points(part_points(world.parts[name]), T))
    if known.gripper is not None:
        points.append(finger_points(known.gripper))
    T_base_world = inverted(world.pose(robot))
    carried = set(subtree(world, robot))  # what stands on the robot's base moves with nothing of it
    tables, boxes, rows, count = [np.zeros((0, ROW_SIZE))], [], [], 0
    for name in sorted(world.parts):
        if name in held or (name in carried and world.frames[name].parent != robot):
            continue
        T = T_base_world @ world.pose(name)
        table = part_table(world.parts[name])
        tables.append(moved_table(table, T))
        boxes.append(_box(world.parts[name], T))
        rows.append([count, count + len(table)])
        count += len(table)
    return Touching(
        np.concatenate(points), np.concatenate(tables),
        np.array(boxes).reshape(-1, 2, 3), np.array(rows, int).reshape(-1, 2),
    )  # fmt: skip


def _box(part, T: np.ndarray) -> np.ndarray:
    hulls = part_hulls(part)
    if not hulls.solids or len(hulls.solids) < len(solids_of(part)):
        return np.array([[-np.inf] * 3, [np.inf] * 3])
    low, high = hulls.boxes(T)
    return np.array([low.min(axis=0), high.max(axis=0)])


def near_way(
    touching: Touching, robot: Robot, tool: str, q: np.ndarray, width: float, margin: float = _NEAR
) -> Touching:  # fmt: skip
    """What comes near to other parts on a way q (N, nq): other points and parts can be left out."""
    if not len(touching.points) or not len(touching.rows) or not len(q):
        return _some(touching, np.zeros(len(touching.points), bool), [])
    T = np.asarray(forward_kinematics(robot, q, tool))
    reach = margin + touching.points[:, 3] + width * np.linalg.norm(touching.points[:, 4:7], axis=1)
    at = touching.points[:, :3] @ T[:, :3, :3].swapaxes(1, 2) + T[:, None, :3, 3]
    low, high = at.min(axis=0) - reach[:, None], at.max(axis=0) + reach[:, None]
    meets = (low[:, None] <= touching.boxes[:, 1]).all(axis=2) & (high[:, None] >= touching.boxes[:, 0]).all(axis=2)
    return _some(touching, meets.any(axis=1), np.flatnonzero(meets.any(axis=0)))


def _some(touching: Touching, points: np.ndarray, parts: Sequence[int] | np.ndarray) -> Touching:
    rows = [np.arange(*touching.rows[k]) for k in parts]
    table = touching.table[np.concatenate(rows)] if rows else touching.table[:0]
    return Touching(touching.points[points], table, touching.boxes[list(parts)], touching.rows[list(parts)])


# --- forces -----------------------------------------------------------------------------------------------------------


def in_rooms(touching: Touching) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points and table with zeros below, so that machine code serves many of them; and how many there are (2,)."""
    points = padded(fewer_points(touching.points), (MOST_POINTS,))
    counts = np.array([min(len(touching.points), MOST_POINTS), len(touching.table)], float)
    return points, padded(touching.table, ROOMS), counts


def contact_wrench(points, table, counts, width, T, twist, hardness) -> Any:
    """The wrench (6,) on the tool at its origin, along the base's axes; T (4, 4) and `twist` (6,) are the tool's.

    `hardness` (4,) are stiffness, damping, friction and slip of `ContactNumbers`: Hunt & Crossley (1975) with a linear
    spring, and Coulomb's friction, smoothed.
    """
    R, origin = T[:3, :3], T[:3, 3]

    def step(now):
        k, total = now
        row = row_at(points, k)
        arm = R @ (row[:3] + width * row[4:7])
        gap, n = nearest_surface(table, counts[1], origin + arm)
        arm = arm - row[3] * n  # the lowest point of a ball
        rate = twist[3:] + np.cross(twist[:3], arm)
        closing = -np.dot(n, rate)
        depth = np.maximum(row[3] - gap, 0.0)
        pressing = hardness[0] * depth * np.maximum(1 + hardness[1] * closing, 0.0)
        sliding = rate + closing * n
        F = pressing * (n - hardness[2] * sliding / np.sqrt(np.dot(sliding, sliding) + hardness[3] ** 2))
        return k + 1.0, total + np.concatenate([np.cross(arm, F), F])

    start = 0.0 * width, 0.0 * twist
    return while_loop(lambda now: now[0] < counts[0], step, start, max_iterations=MOST_POINTS)[1]


@lru_cache(maxsize=64)
def _resting_kernel(robot: Robot, tool: str, room: int) -> Kernel:
    @kernel(points=(MOST_POINTS, POINT_SIZE), table=(room, ROW_SIZE), counts=2, q=robot.nq, hardness=4)
    def resting_wrench(points, table, counts, q, width, hardness):
        T = forward_kinematics(robot, q, tool)
        return contact_wrench(points, table, counts, width, T, np.zeros(6) + 0.0 * q[0], hardness)

    return resting_wrench
