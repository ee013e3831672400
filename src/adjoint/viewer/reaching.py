"""Configurations in which a frame is at a pose that somebody drags: in closed form, with all branches, or by steps."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..errors import AdjointError
from ..goals import differential_step
from ..goals.goal import orientation, pose, position
from ..inverse.arms import arm_of
from ..inverse.choice import Solutions, nearest_copy, nearest_solution
from ..inverse.closed_form import inverse_kinematics
from ..inverse.meaning import Branch, branches
from ..inverse.redundancy import redundancy_of
from ..kinematics.forward import forward_kinematics
from ..kinematics.jacobians import jacobian
from ..lie import se3, so3
from ..model.configuration import integrate
from ..model.joints import JOINTS
from ..model.robot import Robot
from .joint_panel import knobs_of

__all__ = ["Reach", "Way", "in_branch", "reach", "way_of"]

_STEPS, _FAR = 60, 0.5  # steps towards a pose, and the longest of a joint in one of them [rad, m]
_MANY = 24  # bodies, beyond which the code of a quadratic program would take long to compile
_SAME = 1e-4  # [rad, m] a pose this near is reached


class Way(NamedTuple):
    """How a frame is brought to a pose: names of the `branches` of the closed form, none if it is done by steps.

    `redundancy` names the parameter that a pose leaves free, with its unit, range, and the number of units in a radian
    or metre; None if there is none.
    """

    frame: str
    method: str
    branches: tuple[str, ...]
    redundancy: str | None
    low: float = 0.0
    high: float = 0.0
    units: float = 1.0


class Reach(NamedTuple):
    """A configuration `q` (nq,), whether the frame is at the pose there, and all branches with what they are.

    `found` (k, nq) has the branches' configurations, `exists` (k,) which of them reach the pose, `inside` (k,) which of
    these are inside the joint limits; `branch` is the one of q, or -1.
    """

    q: np.ndarray
    reached: bool
    text: str
    found: np.ndarray
    exists: np.ndarray
    inside: np.ndarray
    branch: int


def way_of(robot: Robot, frame: str) -> Way:
    """How a frame of a robot is brought to poses."""
    moving = sum(JOINTS[robot.joint_types[i]].nv for i in robot.path(robot.frame(frame).body))
    by_steps = Way(frame, "step by step (differential inverse kinematics)", (), None)
    if moving < 6:  # most poses are out of reach, and the position counts most
        return by_steps
    try:
        known = branches(robot, frame)
        arm = arm_of(robot, frame)
    except AdjointError:
        return by_steps
    names = tuple(_branch_name(k, one, _common_start(arm.chain.names)) for k, one in enumerate(known.branches))
    if not known.redundancy:
        return Way(frame, known.method, names, None)
    if arm.lock is None:
        return Way(frame, known.method, names, "Arm angle [°]", -180.0, 180.0, np.degrees(1))
    place = arm.chain.places[arm.chain.gears[arm.lock].coordinate]
    knob = next(knob for knob in knobs_of(robot) if knob.place == place)
    return Way(frame, known.method, names, knob.label, knob.low, knob.high, knob.units)


def _common_start(names: Sequence[str]) -> int:
    """How many characters all names begin with, up to the last "_", "/" or "." among them."""
    letters = itertools.takewhile(lambda same: len(set(same)) == 1, zip(*names, strict=False))
    start = "".join(same[0] for same in letters)
    return 1 + max(start.rfind(mark) for mark in "_/.") if len(names) > 1 else 0


def _branch_name(number: int, branch: Branch, skipped: int) -> str:
    """A short name of a branch: LEFT, ABOVE, and the roots of its joints; names of joints without their start."""
    words = [x.lower() for x in (branch.arm, branch.elbow) if x]
    signs = {0: "+", 1: "−"}
    roots = [f"{joint[skipped:]} {signs.get(root, root)}" for joint, root in branch.roots.items()]
    shown = [*words, *(roots[-1:] if words else roots)]
    return f"{number}: {', '.join(shown)}" if shown else f"{number}"


def reach(robot: Robot, way: Way, T: np.ndarray, q: np.ndarray, redundancy: float | None = None) -> Reach:
    """Bring the frame to T (4, 4) from q (nq,): to the nearest branch, else as near as steps within limits lead.

    For arms with seven joints, `redundancy` is the parameter that the pose leaves free; by default it is that of q.
    """
    if not way.branches:
        near = _stepped(robot, way.frame, T, q)
        done = _error(robot, way.frame, near, T) < _SAME
        none = np.zeros((0, robot.nq)), np.zeros(0, bool), np.zeros(0, bool)
        return Reach(near, done, "reached" if done else "as near as the joints allow", *none, -1)
    if way.redundancy and redundancy is None:
        redundancy = float(redundancy_of(robot, q, way.frame))
    solutions = inverse_kinematics(robot, T, way.frame, redundancy=redundancy)
    copies, inside = nearest_copy(robot, np.where(_moves(robot, way.frame), solutions.q, q), q)
    inside = solutions.exact & inside
    chosen = nearest_solution(robot, Solutions(solutions.q, solutions.exact), q, frame=way.frame)
    every = copies, solutions.exact, inside
    if chosen.branch >= 0:
        return Reach(chosen.q, True, f"{int(inside.sum())} of {len(inside)} branches", *every, int(chosen.branch))
    why = "beyond the joint limits" if solutions.exact.any() else "out of reach"
    return Reach(_stepped(robot, way.frame, T, q), False, why, *every, -1)


def in_branch(robot: Robot, way: Way, T: np.ndarray, q: np.ndarray, branch: int, redundancy: float | None) -> Reach:
    """The same pose in another branch, the copy nearest to q inside the limits; q itself if it is not there."""
    here = reach(robot, way, T, q, redundancy)
    if not 0 <= branch < len(here.found) or not here.inside[branch]:
        return here._replace(q=q, reached=False, text=f"branch {branch} does not exist here")
    return here._replace(q=here.found[branch], branch=branch)


def _moves(robot: Robot, frame: str) -> np.ndarray:
    """(nq,) whether a coordinate moves a frame."""
    on_the_way = set(robot.path(robot.frame(frame).body))
    leads = {robot.mimics[i].source if i in robot.mimics else i for i in on_the_way}
    found = np.zeros(robot.nq, bool)
    for i in leads:
        k = robot.layout.q_start[i]
        found[k : k + JOINTS[robot.joint_types[i]].nq] = True
    return found


def _stepped(robot: Robot, frame: str, T: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Where steps towards the pose lead from q within the limits; with fewer than six joints, the position is first."""
    few = sum(JOINTS[robot.joint_types[i]].nv for i in robot.path(robot.frame(frame).body)) < 6
    goals = position(frame, T[:3, 3]) if few else pose(frame, T)
    wishes = orientation(frame, T[:3, :3]) if few else ()
    best, least, warm = q, _error(robot, frame, q, T, few), None
    for _ in range(_STEPS):
        if len(robot.body_names) > _MANY:
            v = _damped_step(robot, frame, T, q)
        else:
            warm = differential_step(
                robot, q, goals, 1.0, objectives=wishes, gain=0.6, damping=1e-4, warm=warm,
                velocity_limit=np.full(robot.nv, _FAR),
            )  # fmt: skip
            v = warm.v
        q = np.clip(integrate(robot, q, v), robot.lower, robot.upper)
        error = _error(robot, frame, q, T, few)
        if error < least:
            best, gained = q, least - error
            least = error
            if gained < 1e-7:
                break
        elif error > 2 * least + 1e-6:
            break
        if least < _SAME / 10 or float(np.abs(v).max(initial=0.0)) < 1e-6:
            break
    return best


def _damped_step(robot: Robot, frame: str, T: np.ndarray, q: np.ndarray) -> np.ndarray:
    """A step v (nv,) of damped least squares, Jᵀ (J Jᵀ + λ 1)⁻¹ e, for chains of any length."""
    now = forward_kinematics(robot, q, frame)
    J = jacobian(robot, q, frame, "body")
    e = se3.log(se3.compose(se3.inverse(now), T))
    e = e * min(1.0, _FAR / max(float(np.linalg.norm(e)), 1e-12))
    gram = J @ J.T
    return J.T @ np.linalg.solve(gram + 1e-4 * max(float(np.trace(gram)), 1e-12) * np.eye(6), e)


def _error(robot: Robot, frame: str, q: np.ndarray, T: np.ndarray, position_alone: bool = False) -> float:
    """How far a frame is from a pose [rad, m]."""
    now = forward_kinematics(robot, q, frame)
    far = float(np.linalg.norm(now[:3, 3] - T[:3, 3]))
    if position_alone:
        return far
    return max(far, float(np.linalg.norm(so3.log(se3.compose(se3.inverse(now), T)[:3, :3]))))
