"""Forward kinematics: placements of frames. The product of exponentials, evaluated by recursion over the tree."""

from __future__ import annotations

import numpy as np

from ..compile import kernel, static
from ..lie import se3
from ..model.robot import Robot
from ..sweep import joint_motion, outward
from .route import crossings

__all__ = ["body_placements", "forward_kinematics"]


def body_placements(robot: Robot, q) -> dict[int, np.ndarray]:
    """{i: T_0i} (4, 4) of every body, and of the base as -1: T_0i = T_0,parent M_i J_i(q_i)."""
    return outward(
        robot, lambda i, T: se3.compose(se3.compose(T, robot.placements[i]), joint_motion(robot, q, i)), np.eye(4)
    )


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
    T = body_placements(robot, q)
    if frame is None:
        return _stacked([T[i] for i in range(len(robot.body_names))])
    return _stacked([se3.compose(T[f.body], f.placement) for f in map(robot.frame, frame)])


def _stacked(placements: list) -> np.ndarray:
    return np.stack(placements) if placements else np.zeros((0, 4, 4))
