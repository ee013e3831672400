"""Forward kinematics: placements of frames. The product of exponentials, evaluated by recursion over the tree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..compile import kernel, static
from ..lie import se3
from ..model.robot import Robot
from ..rolled.calls import in_loops, path_to
from ..rolled.rows import is_long
from ..sweep import inward_keeping, joint_placements, onward, outward, placed_bodies
from .route import crossings

__all__ = ["body_placements", "forward_kinematics"]


def body_placements(robot: Robot, q):
    """{i: T_0i} (4, 4) of every body, and of the base as -1: T_0i = T_0,parent M_i J_i(q_i)."""
    return outward(robot, onward(robot, q), np.eye(4))


@kernel(robot=static, q="nq", frame=static, relative_to=static)
def forward_kinematics(robot, q, frame=None, relative_to=None):
    """T_0f = M_1 J_1(q_1) M_2 J_2(q_2) ... of a frame at q (nq,): (4, 4), Park (1994), Ploen & Park (1999), (1).

    `frame` is a name of `robot.frame_names`; several names in a tuple or list give (k, 4, 4); None gives all bodies,
    (n, 4, 4), in their order. `relative_to` names another frame to see them from, instead of the base.
    """
    if frame is not None and not isinstance(frame, tuple):
        return crossings(robot, q, relative_to, frame)[1]
    if relative_to is not None:
        names = robot.body_names if frame is None else frame
        return _stacked([crossings(robot, q, relative_to, name)[1] for name in names])
    if frame is None:
        return placed_bodies(robot, q)
    T = body_placements(robot, q)
    return _stacked([se3.compose(T[f.body], f.placement) for f in map(robot.frame, frame)])


def _stacked(placements: list) -> np.ndarray:
    return np.stack(placements) if placements else np.zeros((0, 4, 4))


# --- robots with many bodies ------------------------------------------------------------------------------------------


@kernel(robot=static, q="nq", end=(4, 4))
def end_of_chain(robot, q, end):
    """T (4, 4) of what is at `end` in the last body of a chain, of which alone the bodies are walked."""
    f = joint_placements(robot, q)
    return inward_keeping(robot, lambda i, T: (se3.compose(f[i], T), None), end)[0]


def frame_placement(robot: Robot, q: np.ndarray, frame: str) -> np.ndarray:
    """T_0f (..., 4, 4) of one frame of a robot with many bodies."""
    spot = robot.frame(frame)
    if spot.body < 0:
        return np.broadcast_to(spot.placement, (*q.shape[:-1], 4, 4))
    chain, at = path_to(robot, spot.body)
    return in_loops(end_of_chain, {"robot": robot}, ("q", "end"), long=chain)({"q": q, "end": at @ spot.placement})


@forward_kinematics.instead
def _in_loops(statics: dict, names: tuple[str, ...]) -> Callable | None:
    robot, frame, relative_to = statics["robot"], statics["frame"], statics["relative_to"]
    if not is_long(robot):
        return None
    bodies = in_loops(forward_kinematics, statics | {"frame": None, "relative_to": None}, names, frames=True)

    def placements(given: dict) -> np.ndarray:
        q = given["q"]
        if frame is None:
            T = bodies(given)
        elif isinstance(frame, tuple):
            T = np.stack([frame_placement(robot, q, name) for name in frame], axis=-3)
        else:
            T = frame_placement(robot, q, frame)
        if relative_to is None:
            return T
        seen = se3.inverse(frame_placement(robot, q, relative_to))
        return seen @ T if isinstance(frame, str) else seen[..., None, :, :] @ T

    return placements
