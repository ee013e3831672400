"""The dynamics near a state or along a motion, as linear systems: what LQR, Kalman filters and MPC ask for.

The error of a state is x = (δq, δv) (2 nv,), δq along the motions that v describes: the state nearby is
(integrate(robot, q, δq), v + δv). Where motions of a joint commute, δq' = δv; else, as for a free body, the error is
seen from a frame that turns, δq' = δv - ad(v) δq.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..lie import se3
from ..model.input_checks import positive
from ..model.joints import BRACKETS, JOINTS, standard_screws
from ..model.needs import need_robot
from ..model.robot import Robot
from ..rolled import is_long
from ..sweep import stacked
from .newton_euler import SURROUNDINGS
from .state_derivatives import forward_dynamics_derivatives

__all__ = ["Linearization", "continuous", "linearize"]


class Linearization(NamedTuple):
    """x' = A x + B u, or x_next = A x + B u in discrete time: A (..., 2 nv, 2 nv), B (..., 2 nv, nv), u = δτ."""

    A: np.ndarray
    B: np.ndarray


def linearize(robot: Robot, q, v, tau, dt: float | None = None, **surroundings) -> Linearization:
    """`Linearization` of the dynamics about q (..., nq), v (..., nv), tau (..., nv); a trajectory is a batch.

    In continuous time, A = [-ad(v) 1; ∂a/∂q ∂a/∂v], B = [0; M⁻¹] with `forward_dynamics_derivatives`. With a time step
    `dt` [s], in discrete time, [A B; 0 1] = exp([A B; 0 0] dt): A and B taken at the start of the step, u constant in
    it. About rest that is the derivative of the step itself; about a motion it differs from it by O(dt²).
    `surroundings` are the options of `forward_dynamics`. The kernel behind it, with `bind` and `lift`, is
    `dynamics.linearization.continuous`.
    """
    need_robot(robot, "linearize")
    found = continuous(robot, q, v, tau, **surroundings)
    return found if dt is None else _discrete(found, dt)


@kernel(robot=static, q="nq", v="nv", tau="nv", **SURROUNDINGS)
def continuous(
    robot, q, v, tau, *, gravity=None, applied_wrenches=None, frames=(), base_twist=None, base_acceleration=None
):
    """`Linearization` in continuous time; arguments as `forward_dynamics`."""
    by = forward_dynamics_derivatives(
        robot, q, v, tau, gravity=gravity, applied_wrenches=applied_wrenches, frames=frames,
        base_twist=base_twist, base_acceleration=base_acceleration,
    )  # fmt: skip
    zero = np.zeros((robot.nv, robot.nv))
    A = np.block([[-_joint_brackets(robot, v), np.eye(robot.nv)], [by.dq, by.dv]])
    return Linearization(A, np.concatenate([zero, by.dtau]))


continuous.__name__ = "linearize"  # what users call, and messages name


@continuous.instead
def _in_loops(statics: dict, names: tuple[str, ...]) -> Callable | None:
    """Of a robot with many bodies, as its derivatives."""
    robot, on = statics["robot"], statics["frames"]
    if not is_long(robot):
        return None

    def linearized(given: dict) -> Linearization:
        by = forward_dynamics_derivatives(robot, **given, **({"frames": on} if on else {}))
        n, v = robot.nv, given["v"]
        A, B = np.zeros((*by.dq.shape[:-2], 2 * n, 2 * n)), np.zeros((*by.dq.shape[:-2], 2 * n, n))
        A[..., :n, n:] = np.eye(n)
        A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = by
        for at, kind in zip(robot.layout.v_start, robot.joint_types, strict=True):
            if kind in BRACKETS:
                own = slice(at, at + len(BRACKETS[kind]))
                A[..., own, own] = -np.einsum("...i,ikj->...jk", v[..., own], BRACKETS[kind])
        return Linearization(A, B)

    return linearized


def _joint_brackets(robot: Robot, v):
    """ad(v) (nv, nv), each joint's motions among themselves: S ad(v) x = [S v, S x] for the screws S of the joint."""
    rows = [[0.0] * robot.nv for _ in range(robot.nv)]
    for i, kind in enumerate(robot.joint_types):
        if JOINTS[kind].nv > 1:  # never a mimic
            S, at = standard_screws(kind), robot.layout.v_start[i]
            n = len(S)
            twist = S.T @ v[at : at + n]
            for k in range(n):
                column = S @ se3.bracket(twist, S[k])  # the standard screws are orthonormal
                for j in range(n):
                    rows[at + j][at + k] = column[j]
    return stacked(rows, 2)


def _discrete(system: Linearization, dt: float) -> Linearization:
    dt = positive(dt, "linearize: the time step dt [s]")
    from scipy.linalg import expm  # slow to load

    A, B = system
    n, m = B.shape[-2:]
    both = np.zeros((*A.shape[:-2], n + m, n + m))
    both[..., :n, :n], both[..., :n, n:] = A, B
    found = expm(both * dt)
    return Linearization(found[..., :n, :n], found[..., :n, n:])
