"""Forward kinematics of robots with many bodies, as loops; see `rolled`."""

from __future__ import annotations

import numpy as np

from ..compile import kernel, scan
from ..lie import se3
from ..robot.model import Robot
from ..rolled import ROBOT, Parts, Root, for_loops, full, is_long, moved_by, outward, placed, root_motion, root_placed
from .forward import forward_kinematics

__all__ = ["rolled_body_placements", "rolled_path"]


@kernel(q=..., root_q="nq", **ROBOT)
def rolled_body_placements(q, root_q, bodies, root, plan):
    """`Parts` of `body_placements`: T (4, 4) of the root, or of the base if there is none, and (n, 4, 4)."""
    start = root_placed(plan, Root.of(root, plan), root_q) if plan.kind else np.eye(4)

    def step(parent, row, q):
        T = se3.compose(parent[0], placed(row, q))
        return (T,), T

    return Parts(start, outward(plan, step, (start,), (bodies, q)))


@kernel(q=..., placement=(..., 12), screw=(..., 6))
def rolled_path(q, placement, screw):
    """M_1 exp(S_1 q_1) M_2 exp(S_2 q_2) ··· (4, 4) along a path."""

    def step(T, row):
        q, M, S = row
        return se3.compose(T, moved_by(full(M), S, q)), None

    return scan(step, np.eye(4), (q, placement, screw))[0]


@forward_kinematics.instead(is_long)
def _forward_kinematics(given: dict) -> np.ndarray:
    robot, q, frame, relative_to = (given[name] for name in ("robot", "q", "frame", "relative_to"))
    if frame is None:
        T = _body_placements(robot, np.asarray(q))
    elif isinstance(frame, tuple):
        T = np.stack([_placement(robot, q, name) for name in frame], axis=-3)
    else:
        T = _placement(robot, q, frame)
    if relative_to is None:
        return T
    seen = se3.inverse(_placement(robot, q, relative_to))
    return seen @ T if isinstance(frame, str) else seen[..., None, :, :] @ T


def _body_placements(robot: Robot, q: np.ndarray) -> np.ndarray:
    long = for_loops(robot)
    root_q, q = long.split(q, long.plan.nq)
    T = long.run(rolled_body_placements, q, root_q)
    first, n = (1 if long.plan.kind else 0), T.bodies.shape[-3]
    if not first and long.order is None:
        return T.bodies
    found = np.empty((*T.bodies.shape[:-3], first + n, 4, 4))
    found[..., :first, :, :] = T.root[..., None, :, :]
    found[..., first + (np.arange(n) if long.order is None else long.order), :, :] = T.bodies
    return found


def _placement(robot: Robot, q, frame: str) -> np.ndarray:
    """T_0f (..., 4, 4) of one frame: only its path is walked."""
    q, spot, long = np.asarray(q), robot.frame(frame), for_loops(robot)
    path = np.array(robot.path(spot.body) if spot.body >= 0 else [], int)
    T = np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4))
    if long.plan.kind and len(path):
        root, path = path[0], path[1:]
        T = robot.placements[root] @ root_motion(q[..., : long.plan.nq], robot.screw(root), plan=long.plan)
    if len(path):
        places, rows = (np.array(start)[path] for start in (robot._layout.q_start, robot._layout.dof_start))
        T = T @ rolled_path(q[..., places], robot.placements[path, :3].reshape(-1, 12), robot.screws[rows])
    return T @ spot.placement
