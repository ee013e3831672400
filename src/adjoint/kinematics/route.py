"""The way through the tree from one frame to another: all of kinematics follows it.

From frame s the way leads up to the nearest body that both frames share, then down to frame e. Crossing the joint of
body i multiplies by f_i = M_i J_i(q_i) going down, by its inverse going up. Seen from s, body i sits at T_si and its
joint's screws are c_i = Ad(T_si) S_i. They move e relative to s: with sign +1 on the way down, -1 on the way up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..lie import se3
from ..model.parts import Frame
from ..model.robot import Robot
from ..sweep import joint_motion

__all__ = ["Crossing", "Way", "crossings", "seen_screws", "way"]


class Way(NamedTuple):
    """The frames at both ends, and the bodies whose joints are crossed: up from the start, then down to the end."""

    start: Frame
    up: list[int]
    down: list[int]
    end: Frame


class Crossing(NamedTuple):
    """A joint on the way: its body, the sign of its motion, and the body's placement T_si (4, 4) from the start."""

    body: int
    sign: float
    T: np.ndarray


def way(robot: Robot, start: str | None, end: str | None) -> Way:
    """The way from frame `start` to frame `end`, both by name; None: the base."""
    s, e = (robot.frame(robot.base_name if name is None else name) for name in (start, end))
    up, down = robot.path(s.body), robot.path(e.body)
    shared = next((k for k, (i, j) in enumerate(zip(up, down, strict=False)) if i != j), min(len(up), len(down)))
    return Way(s, up[shared:][::-1], down[shared:], e)


def crossings(robot: Robot, q, start: str | None, end: str | None) -> tuple[list[Crossing], np.ndarray]:
    """The joints on the way, in its order, and the placement T_se (4, 4) of the end seen from the start."""
    s, up, down, e = way(robot, start, end)
    found, T = [], se3.inverse(s.placement)
    for i in up:
        found.append(Crossing(i, -1.0, T))
        T = se3.compose(se3.compose(T, se3.inverse(joint_motion(robot, q, i))), se3.inverse(robot.placements[i]))
    for i in down:
        # (T M) J and not T (M J): J turns about one axis, so that the second product touches two columns only.
        T = se3.compose(se3.compose(T, robot.placements[i]), joint_motion(robot, q, i))
        found.append(Crossing(i, 1.0, T))
    return found, se3.compose(T, e.placement)


def seen_screws(robot: Robot, body: int, T) -> np.ndarray:
    """c = Ad(T) S (6, k): the screws of a body's joint where the body is at T."""
    return np.stack([se3.Ad_action(T, S) for S in robot.screw(body)], axis=-1)
