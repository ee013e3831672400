"""Forward kinematics of robots with many bodies, as loops; see `rolled`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, scan, static
from ..lie import se3
from ..model.once import once_a_robot
from ..model.reframe import axial_frames
from ..model.robot import Robot
from ..rolled import (
    ROBOT,
    Parts,
    Root,
    Row,
    for_loops,
    full,
    is_long,
    joint_frames,
    joint_motions,
    outward,
    placed,
    root_motion,
    root_placed,
)
from .forward import forward_kinematics

__all__ = ["body_placements", "rolled_body_placements", "rolled_path"]


@kernel(q=..., root_q="nq", frames=(..., 12), **ROBOT)
def rolled_body_placements(q, root_q, frames, placements, bodies, root, plan):
    """`Parts` of `body_placements`: T (4, 4) of the root, or of the base if there is none, and (n, 4, 4).

    `frames` are those of the bodies in the frames of their joints.
    """
    start = root_placed(plan, Root.of(root, plan), root_q) if plan.kind else np.eye(4)

    def step(parent, row, motion, frame):
        T = se3.compose(parent[0], placed(row, motion))
        return (T,), se3.compose(T, full(frame))

    motions = joint_motions(plan, bodies, q)
    return Parts(start, outward(plan, step, (start,), (placements, bodies, motions, frames)))


@kernel(q=..., placements=(..., 12), bodies=(..., "row"), plan=static)
def rolled_path(q, placements, bodies, plan):
    """M_1 exp(S_1 q_1) M_2 exp(S_2 q_2) ··· (4, 4) along a path."""

    def step(T, row):
        placement, body, motion = row
        return se3.compose(T, placed(Row.of(placement, body, plan), motion)), None

    return scan(step, np.eye(4), (placements, bodies, joint_motions(plan, bodies, q)))[0]


@forward_kinematics.instead(is_long)
def _forward_kinematics(given: dict) -> np.ndarray:
    robot, q, frame, relative_to = (given[name] for name in ("robot", "q", "frame", "relative_to"))
    if frame is None:
        T = body_placements(robot, q)
    elif isinstance(frame, tuple):
        T = np.stack([_placement(robot, q, name) for name in frame], axis=-3)
    else:
        T = _placement(robot, q, frame)
    if relative_to is None:
        return T
    seen = se3.inverse(_placement(robot, q, relative_to))
    return seen @ T if isinstance(frame, str) else seen[..., None, :, :] @ T


@once_a_robot
def _body_frames(robot: Robot) -> np.ndarray:
    """The frames of the bodies in those of their joints (n, 12), in the order of visits."""
    long = for_loops(robot)
    first = long.plan.first
    frames = se3.inverse(joint_frames(robot, first))[first:-1, :3].reshape(-1, 12)
    return frames if long.order is None else frames[long.order]


def body_placements(robot: Robot, q: np.ndarray) -> np.ndarray:
    """T (..., n, 4, 4) of all bodies of a robot for loops."""
    long = for_loops(robot)
    root_q, q = long.split(q, long.plan.nq)
    T = long.run(rolled_body_placements, q, root_q, _body_frames(robot))
    first, n = long.plan.first, T.bodies.shape[-3]
    if not first and long.order is None:
        return T.bodies
    found = np.empty((*T.bodies.shape[:-3], first + n, 4, 4))
    found[..., :first, :, :] = T.root[..., None, :, :]
    found[..., first + (np.arange(n) if long.order is None else long.order), :, :] = T.bodies
    return found


def _placement(robot: Robot, q: np.ndarray, frame: str) -> np.ndarray:
    """T_0f (..., 4, 4) of one frame: only its path is walked."""
    spot, plan = robot.frame(frame), for_loops(robot).plan
    if spot.body < 0:
        return np.broadcast_to(spot.placement, (*q.shape[:-1], 4, 4))
    T, path = np.eye(4), _path(robot, spot.body)
    if plan.kind:
        T = robot.placements[0] @ root_motion(q[..., : plan.nq], robot.screw(0), plan=plan)
    return T @ rolled_path(q[..., path.places], path.placements, path.bodies, plan=plan) @ path.end @ spot.placement


class _Path(NamedTuple):
    """The bodies from the base, or from the root that loops leave out, to some body."""

    places: np.ndarray  # in q
    placements: np.ndarray
    bodies: np.ndarray
    end: np.ndarray  # (4, 4), the frame of the last in that of its joint


@once_a_robot
def _path(robot: Robot, body: int) -> _Path:
    long = for_loops(robot)
    first = long.plan.first
    path = np.array(robot.path(body)[first:], int) - first
    if not long.plan.branched:
        path = rows = slice(len(path))
    else:
        rows = path if long.order is None else np.argsort(long.order)[path]
    end = np.eye(4) if body < first else se3.inverse(axial_frames(robot.screw(body))[0])
    places = np.arange(long.plan.nq, robot.nq)[path]
    return _Path(places, long.placements[rows], long.bodies[rows], end)
