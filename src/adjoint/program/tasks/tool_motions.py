"""Motions of a tool for tasks: free ones to a place above a goal, straight ones, and their samples at every tick."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...kinematics import forward_kinematics, jacobian
from ...lie import se3
from ...trajectory import Trajectory
from ...world import World, plan_motion
from ...world.grasps.straight_moves import timed
from ...world.motion.plan_timing import Limits
from ...world.motion.spaces import configuration_space
from ...world.state.placements import inverted
from ..running.backends import ArmMotion, Compliance
from ..running.motion_contacts import motion_contacts
from .task_edits import Step, applied

__all__: list[str] = []

SLOW = 0.3  # part of the full speed in straight motions
_STEP = 0.005  # [m] between points of a straight motion
_TOUCH = 1e-3  # [m] solids that overlap less do touch
_JUMP = 0.3  # [rad, m] a joint that moves farther from point to point jumps


def sampled(robot: str, motion: Trajectory, period: float, compliance: Compliance | None = None) -> ArmMotion:
    """The motion at every tick; the last one is its end, at rest."""
    duration = float(motion.duration)
    ticks = max(1, int(np.ceil(duration / period - 1e-9)))
    sample = motion(np.minimum(period * np.arange(1, ticks + 1), duration))
    v = np.array(sample.v)
    v[-1] = 0.0
    return ArmMotion(robot, np.array(sample.q), v, compliance)


def limits_of(world: World, robot: str) -> Limits:
    """The limits of velocity and acceleration of a robot."""
    own = world.robots[robot].robot.velocity_limit
    v = np.where(np.isfinite(own) & (own > 0), own, 1.0)
    return Limits(v, 4 * v, None)


def straight_path(world: World, robot: str, q: np.ndarray, way: np.ndarray) -> np.ndarray | None:
    """Configurations (k, nq) from q on along which the tool moves by `way` (3,) [m] in the world; None out of reach."""
    known = world.robots[robot]
    model, space = known.robot, configuration_space(known.robot)
    way = world.pose(robot)[:3, :3].T @ way
    T, path = forward_kinematics(model, q, known.tool), [np.asarray(q, float)]
    count = max(1, int(np.ceil(np.linalg.norm(way) / _STEP)))
    for k in range(1, count + 1):
        target = T.copy()
        target[:3, 3] += k / count * way
        now = path[-1]
        for _ in range(8):
            off = se3.log(se3.inverse(forward_kinematics(model, now, known.tool)) @ target)
            if np.abs(off).max() < 1e-10:
                break
            J = jacobian(model, now, known.tool)
            now = now + J.T @ np.linalg.solve(J @ J.T + 1e-12 * np.eye(6), off)
        off = se3.log(se3.inverse(forward_kinematics(model, now, known.tool)) @ target)
        if np.abs(off).max() > 1e-7 or np.abs(now - path[-1]).max() > _JUMP or not space.inside(now[None])[0]:
            return None
        path.append(now)
    return np.array(path)


def straight(world: World, robot: str, q: np.ndarray, way: np.ndarray, slow: float = SLOW) -> Trajectory | None:
    """The straight motion of the tool by `way` (3,) [m] from q, from rest to rest."""
    path = straight_path(world, robot, q, way)
    return None if path is None else timed(path, limits_of(world, robot), slow)


class Reached(NamedTuple):
    """A free motion to a place before a goal, and the straight one to the goal; or the `reason` why there is none."""

    free: Trajectory | None
    approach: Trajectory | None
    reason: str = ""


def reach(world: World, robot: str, T_world_tool: np.ndarray, back: np.ndarray) -> Reached:
    """Motions to any of the poses T (k, 4, 4) of the tool: freely to `back` (3,) [m] away from it, then straight."""
    reason = ""
    above = np.array(T_world_tool)
    above[:, :3, 3] += back
    for T in above:
        plan = plan_motion(world, robot, None, T, rng=0)
        if not plan.solved or plan.trajectory is None:
            reason = reason or plan.reason
            continue
        approach = straight(world, robot, plan.path[-1], -back)
        if approach is not None:
            return Reached(plan.trajectory, approach)
        reason = "the straight motion to it is out of reach"
    return Reached(None, None, reason)


def tool_targets(world: World, robot: str, place: str, T: np.ndarray) -> np.ndarray:
    """The pose (4, 4) of the robot's tool that brings `place`, which it holds, to the pose T (4, 4)."""
    known = world.robots[robot]
    return T @ inverted(world.pose(place, f"{robot}.{known.tool}"))


def first_contact(world: World, steps: Sequence[Step]) -> str:
    """The name of what the arm, its hand or its part meets in the steps, by convex hulls at every tick; "" for nothing.

    Links that touch each other where the arm stands now may do so: the robot is modelled like that.
    """
    own: dict[str, frozenset] = {}
    for step in steps:
        if isinstance(step, ArmMotion):
            robot = step.robot
            if robot not in own:
                met = motion_contacts(world, robot, world.robots[robot].q[None], _TOUCH, False, frozenset())
                own[robot] = frozenset(frozenset((m.contact.a, m.contact.b)) for m in met if m.own)
            met = motion_contacts(world, robot, step.q, _TOUCH, step.compliance is not None, own[robot])
            if met:
                return met[0].contact.b
        world = applied(world, [step])
    return ""
