"""Straight motions of a hand: configurations along them, whether they are free, and their motion in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...collision.checking import is_free
from ...collision.collision_models import CollisionModel
from ...kinematics import forward_kinematics, jacobian
from ...lie import se3
from ...trajectory import Trajectory, time_optimal
from ..motion.plan_timing import Limits
from ..motion.spaces import configuration_space
from .arm_checks import blocking, tool_poses
from .grasp_search import Site
from .hand_checks import Neighbour, leaving_met, met

__all__: list[str] = []

STEP = 0.005  # [m] between the points of a straight motion
ITERATIONS = 5  # of Newton's method for each point
EXACT = 1e-8  # [rad, m] by which the hand may miss a point
LARGEST = 0.3  # [rad, m] a joint that moves farther from point to point jumps


class Straight(NamedTuple):
    """Straight motions of the hand away from m configurations; q (m, k, nq) begins with these."""

    q: np.ndarray
    T_world_grip: np.ndarray  # (m, k, 4, 4)
    reason: np.ndarray  # (m,) of str: "" if a motion can be done and is free


def straight_from(site: Site, q: np.ndarray, T_grip: np.ndarray, way: np.ndarray) -> Straight:
    """Motions from configurations q (m, nq), in which the grip frame is at T (4, 4), by the vector `way` (3,) [m].

    Newton's method on the pose of the tool goes from point to point, for all q at once: δ = Jᵀ (J Jᵀ)⁻¹ log(T⁻¹ T_k).
    """
    robot, tool = site.known.robot, site.known.tool
    space = configuration_space(robot)
    k = max(2, int(np.ceil(np.linalg.norm(way) / STEP)) + 1)
    T = np.repeat(T_grip[None], k, axis=0)
    T[:, :3, 3] += np.linspace(0, 1, k)[:, None] * way
    targets = tool_poses(site.T_world_base, T, site.gripper.T_tool_grip)
    reason, path = np.full(len(q), "", object), [q]
    for target in targets[1:]:
        now = path[-1]
        for _ in range(ITERATIONS):
            off = se3.log(se3.inverse(forward_kinematics(robot, now, tool)) @ target)
            J = jacobian(robot, now, tool)
            now = space.moved(now, _least(J, off), np.ones(len(now)))
        off = se3.log(se3.inverse(forward_kinematics(robot, now, tool)) @ target)
        jump = np.abs(space.difference(path[-1], now)).max(axis=1)
        bad = ~(np.abs(off).max(axis=1) < EXACT) | ~(jump < LARGEST) | ~space.inside(now)
        reason[bad & (reason == "")] = "out of reach"
        now = np.where(bad[:, None], path[-1], now)
        path.append(now)
    found = np.stack(path, axis=1)
    return Straight(found, np.broadcast_to(T, (len(q), *T.shape)), reason)


def _least(J: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The shortest v (m, nv) with J v = b (m, 6), slightly damped where J is singular."""
    A = J @ J.transpose(0, 2, 1) + 1e-12 * np.eye(6)
    return np.einsum("mij,mi->mj", J, np.linalg.solve(A, b[..., None])[..., 0])


def checked(
    site: Site, motion: Straight, model: CollisionModel, apart: float, around: Sequence[Neighbour],
    T_grip_part: np.ndarray | None = None,
) -> Straight:  # fmt: skip
    """The motions with the reason of each that meets something: arms by the model, hands and held parts exactly."""
    _, k, nq = motion.q.shape
    reason = motion.reason.copy()
    good = np.flatnonzero(reason == "")
    if not len(good):
        return motion
    free = is_free(model, motion.q[good].reshape(-1, nq)).reshape(len(good), k)
    T = motion.T_world_grip[0]  # all of them go the same way
    by = met(site.gripper, T, np.full(k, apart), around)
    if T_grip_part is not None:
        held = leaving_met(site.pieces, T @ T_grip_part, around)
        by = np.where(by == "", held, by)
    if (by != "").any():
        reason[good] = f"blocked by '{by[np.argmax(by != '')]}'"
    for row, marks in zip(good, free, strict=True):
        if not marks.all() and not reason[row]:
            at = motion.q[row, int(np.argmin(marks))]
            reason[row] = f"with the arm blocked by {blocking(model, at[None])[0]}"
    return motion._replace(reason=reason)


def timed(path: np.ndarray, limits: Limits, slow: float) -> Trajectory:
    """The motion in time through the configurations (k, nq), at the part `slow` of the limits, from rest to rest."""
    v, a = slow * limits.velocity, slow * limits.acceleration
    return time_optimal(path, velocity=v, acceleration=a, parameters="chord", grid=60)
