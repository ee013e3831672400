"""`inverse_kinematics`: all configurations in which a frame is at a given pose, of one pose or a million."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel, kernel, static
from ..errors import ArgumentError
from ..model.configuration import neutral
from ..model.needs import need_robot
from ..model.once import once_a_robot
from ..model.rigidity import EXACT, corrected, off_motion
from ..model.robot import Robot
from .arms import Arm, answers, arm_of, parameter_name
from .general import ROOTS

__all__ = ["AllBranches", "Solutions", "all_branches", "inverse_kinematics"]


class Solutions(NamedTuple):
    """Configurations `q` (..., k, nq), one for each of k branches, and whether each is `exact` (..., k).

    Branch j is the same branch in every sample; `branches` tells what it means. (The four roots of a quartic, and the
    sixteen of an elimination, have no order that holds for all poses.) Where a branch does not exist, `exact` is False
    and q is the nearest answer. `q[exact]` are all configurations that reach their poses. At a singularity two branches
    are equal; of arms whose answers are refined, only one of them is then exact.
    """

    q: np.ndarray
    exact: np.ndarray


class AllBranches(NamedTuple):
    """What the kernel `all_branches` returns: q (k, nq), exact (k,) as 0 or 1, and how far T is from a rigid motion."""

    q: Any
    exact: Any
    deviation: Any


@kernel(robot=static, T=(4, 4), frame=static, redundancy=())
def all_branches(robot: Robot, T, frame: str, redundancy=None) -> AllBranches:
    """All branches of the inverse kinematics of one pose T (4, 4), as a kernel: what `inverse_kinematics` runs.

    Use it inside kernels of your own, for derivatives of configurations by the pose, and for C code. It checks nothing:
    T must be a rigid motion. The results are those of `inverse_kinematics`, with `exact` as the numbers 0 and 1, and
    how far T is from a rigid motion.

        >>> c_code = all_branches.bind(robot, frame="tool").source("c")
    """
    arm = arm_of(robot, frame)
    _check_redundancy(robot, frame, arm, redundancy)
    found, rest = answers(arm, T, redundancy), np.clip(neutral(robot), robot.lower, robot.upper)
    known = np.isfinite(np.sum(T) + (0.0 if redundancy is None else redundancy))
    rows = []
    for q, _ in found:
        own = dict(zip(arm.chain.places, q, strict=True))
        rows.append(np.stack([np.where(known, own.get(i, rest[i]), np.nan) for i in range(robot.nq)]))
    exact = np.stack([np.where(a.exact & known, 1.0, 0.0) for a in found])
    return AllBranches(np.stack(rows), exact, off_motion(T))


def _check_redundancy(robot: Robot, frame: str, arm: Arm, redundancy) -> None:
    if arm.is_redundant and redundancy is None:
        raise ArgumentError(
            f"inverse_kinematics: robot '{robot.name}' has {arm.chain.count} joints on the way to frame '{frame}', one "
            f"more than a pose needs; give redundancy= {parameter_name(arm)}, or let `best_redundancy` choose "
            "it, or use `find_configuration`"
        )
    if not arm.is_redundant and redundancy is not None:
        raise ArgumentError(
            f"inverse_kinematics: robot '{robot.name}' has {arm.chain.count} joints on the way to frame '{frame}', "
            "which a pose determines; leave redundancy= out"
        )


@once_a_robot
def _solver(robot: Robot, frame: str) -> Kernel:
    return all_branches.bind(robot, frame=frame)


def inverse_kinematics(robot: Robot, T, frame: str, *, redundancy=None) -> Solutions:
    """Inverse kinematics: all configurations in which `frame` is at T (..., 4, 4), as `Solutions`.

        >>> q, exact = inverse_kinematics(robot, T, "tool")
        >>> q.shape, exact.shape                                            # the eight branches of a PUMA
        ((8, 6), (8,))

    Parameters
    ----------
    robot
        An arm with revolute and prismatic joints between the base and the frame.
    T
        Poses of the frame in the base, T_base_frame (..., 4, 4), lengths in m. A pose with NaN gives NaN, for its own
        sample only; a matrix that is no rigid motion is refused.
    frame
        A name of `robot.frame_names`.
    redundancy
        For arms with seven joints, the parameter (...) that a pose leaves free, which broadcasts with T: the arm angle
        [rad] if shoulder and wrist are spherical, else the coordinate of one joint; `branches` names it.

    Returns
    -------
    Solutions
        q (..., k, nq), angles in [-π, π], lengths in m, and exact (..., k). Coordinates that do not move the frame are
        those of `neutral`, or the limits nearest to it. Joint limits are not looked at otherwise: `within_limits`,
        `nearest_solution` and `follow_path` choose among the solutions and add full turns.

    The robot's screws T = exp(A_1 q_1) ··· exp(A_n q_n) M decide how it is solved, once: by subproblems of Paden and
    Kahan if three neighbouring axes meet or are parallel or if there are three slides, else by Raghavan & Roth's
    elimination (up to sixteen answers, exact ones first, in no order). Arms with fewer than six joints are exact at the
    poses that they can reach; elsewhere their answers make the error least, and 1 rad counts as much as the arm's size
    (the power of 2 near the largest distance between its axes). Arms whose axes are only nearly parallel or nearly meet
    are solved as the nearest ideal arm, and Newton's method makes the answers exact. For an unreachable pose, q is the
    least-squares answer of the subproblem that has no root: an arm that is too short points at its target. At a
    singularity two branches are equal; if two axes of a wrist are aligned, the first turns by 0 and the last has the
    whole angle.
    """
    if not (isinstance(robot, Robot) and isinstance(frame, str)):
        need_robot(robot, "inverse_kinematics")
        robot.frame(frame)
    solver = _solver(robot, frame)
    found = _run(solver, T, redundancy)
    off = found.deviation
    if (off > EXACT) if off.ndim == 0 else (off > EXACT).any():
        found = _run(solver, corrected(np.asarray(T, float), "inverse_kinematics: T"), redundancy)
    q, exact = found.q, found.exact > 0.5
    if q.shape[-2] == ROOTS:  # the roots of an elimination are in no order
        order = np.argsort(~exact, axis=-1, kind="stable")
        q, exact = np.take_along_axis(q, order[..., None], axis=-2), np.take_along_axis(exact, order, axis=-1)
    return Solutions(q, exact)


def _run(solver, T, redundancy) -> AllBranches:
    try:
        return solver(T) if redundancy is None else solver(T, redundancy)
    except ArgumentError as error:  # it names the kernel, which the caller has not called
        raise ArgumentError(str(error).replace("all_branches", "inverse_kinematics", 1)) from None
