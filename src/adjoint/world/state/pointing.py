"""Frames by pointing, and where a hand has to go so that what it holds gets to its goal."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ...sensing.scene.scene_checks import array, pose
from .frame_tree import ROOT, ancestors, head_of, is_base, known_place, rigid_top, world_pose
from .placements import inverted
from .worlds import World

__all__ = ["frame_from_points", "hand_target"]


def frame_from_points(origin, on_x, in_xy) -> np.ndarray:
    """The frame (4, 4) that three points (3,) [m] show: its origin, a point on its +x axis, a point in its +xy half.

        >>> frame_from_points([1, 0, 0], [1, 2, 0], [0, 5, 0])[:3, :3]
        array([[ 0., -1.,  0.],
               [ 1.,  0.,  0.],
               [ 0.,  0.,  1.]])

    With a = on_x - origin and b = in_xy - origin, Gram and Schmidt give x = a/|a|, y = (b - (b·x) x)/|...|, z = x × y.
    So an arm that touches three points of a fixture declares its frame (POINTY; Fu, Gonzalez & Lee 1987, Sec. 9.2.1).
    Points on one line show no frame, and are refused.
    """
    who = "frame_from_points"
    o, a, b = (array(p, (3,), n, who) for p, n in ((origin, "origin"), (on_x, "on_x"), (in_xy, "in_xy")))
    a, b = a - o, b - o
    far, beside = np.linalg.norm(a), np.linalg.norm(b)
    size = max(far, beside, np.abs(o).max(initial=0.0) * 1e-6)
    if not far > 1e-9 * size:
        raise ArgumentError(f"{who}: 'on_x' is at 'origin', {o.tolist()}; it must be away from it, along the x axis")
    x = a / far
    across = b - np.dot(b, x) * x
    across -= np.dot(across, x) * x  # again: the first time leaves rounding errors of b
    if not np.linalg.norm(across) > 1e-9 * size:
        raise ArgumentError(
            f"{who}: the three points are on one line, or two are the same; 'in_xy' must be beside the x axis"
        )
    y = across / np.linalg.norm(across)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.column_stack([x, y, np.cross(x, y)]) + 0.0, o
    return T


def hand_target(world: World, name: str, goal, *, mover: str | None = None) -> np.ndarray:
    """The pose T_world_mover (4, 4) at which the hand has the attached frame `name` at its goal.

        >>> w = World().add("hand", at=[0, 0, 1.0]).add("bolt", at=[0, 0, -0.1], parent="hand")
        >>> hand_target(w, "bolt", [0.5, 0, 0])[:3, 3]
        array([0.5, 0. , 0.1])

    `goal` is the name of a place of the world, or a pose (4, 4) or position (3,) in the world. The `mover` is the frame
    that carries `name`: by default the frame of a robot that holds it, such as "arm.tool", else the uppermost of the
    frames that are rigidly attached above it. With T_mover_name as it is now,

        T_world_mover = T_goal · inv(T_mover_name),

    which is what AL's MOVE bolt_tip TO beam_bore does with the arm (Fu, Gonzalez & Lee 1987, Sec. 9.3.2).
    """
    who = "hand_target"
    if not isinstance(world, World):
        raise ArgumentError(f"{who}: 'world' must be a World, got {type(world).__name__}")
    known_place(world, name, who)
    if name == ROOT:
        raise ArgumentError(f"{who}: '{ROOT}' is carried by nothing")
    hand = _mover(world, name, who) if mover is None else known_place(world, mover, who)
    if mover is not None and not _carries(world, hand, name):
        raise ArgumentError(
            f"{who}: '{mover}' does not carry '{name}'; World.attach(...) or World.grasp(...) makes it so"
        )
    T = world_pose(world, goal, who) if isinstance(goal, str) else pose(goal, "goal", who)
    T_hand_name = inverted(world_pose(world, hand, who)) @ world_pose(world, name, who)
    return T @ inverted(T_hand_name)


def _mover(world: World, name: str, caller: str) -> str:
    """The frame of a robot that carries a place, or the uppermost frame that is rigid with it."""
    for above in ancestors(world, name):
        if not is_base(world, world.frames[above].parent):
            return world.frames[above].parent
    return rigid_top(world, name, caller)


def _carries(world: World, hand: str, name: str) -> bool:
    """Whether a motion of `hand` moves `name`."""
    if hand == name or hand == head_of(name):
        return True
    return any(above == hand or world.frames[above].parent == hand for above in ancestors(world, name))
