"""A robot as points and the links between them, for drawings of many robots at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kinematics.forward import forward_kinematics
from ..model.robot import Robot
from .axes import axis_of, tip_of

__all__ = ["Skeleton", "skeleton"]


class Skeleton(NamedTuple):
    """Points (..., k, 3) [m] of a robot, the pairs of them that `links` join, the tips, and the base if it is held."""

    points: np.ndarray
    links: list[tuple[int, int]]
    tips: list[int]
    base: int | None


def skeleton(robot: Robot, q: np.ndarray) -> Skeleton:
    """The points of a robot at q (..., nq): one on the axis of each joint, and the tips, in its base."""
    T = forward_kinematics(robot, q)
    count, parents = len(robot.body_names), robot.parents.tolist()
    spots = [(i, _on_axis(robot, i)) for i in range(count)]
    ends = sorted(set(range(count)) - set(parents))
    spots += [(i, tip_of(robot, i)) for i in ends]
    points = [T[..., i, :3, :3] @ x + T[..., i, :3, 3] for i, x in spots]
    roots = [(len(spots), i) for i in range(count) if parents[i] < 0 and robot.joint_types[i] not in ("free", "planar")]
    inner = [(parents[i], i) for i in range(count) if parents[i] >= 0]
    tips = [(i, count + k) for k, i in enumerate(ends)]
    base = len(spots) if roots else None
    points += [np.zeros_like(points[0])] * len(roots[:1])
    return Skeleton(np.stack(points, axis=-2), roots + inner + tips, [k for _, k in tips], base)


def _on_axis(robot: Robot, body: int) -> np.ndarray:
    """The point of a joint's axis that is nearest to the origin of its body; the origin, if there is not one axis."""
    axis = axis_of(robot, body)
    return axis.point if axis.kind in ("turn", "thread") else np.zeros(3)
