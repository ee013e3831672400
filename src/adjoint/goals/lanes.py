"""One lane of the search: Levenberg-Marquardt from one configuration, on the manifold of configurations.

With the weighted errors r and their slopes J, a step is

    Δ = (Jᵀ J + λ)⁻¹ Jᵀ r = Jᵀ (J Jᵀ + λ)⁻¹ r,     q ← project(q ∘ exp(Δ)),

by the smaller of the two matrices. Joints on a limit that Jᵀ r would push beyond it are left out of J (the projected
Newton method of Bertsekas 1982), and the step ends at the limits. The damping λ falls with the error, so that the last
steps are Newton's; a step that does not help is shortened, and λ grows. Every iteration looks at the robot once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, scan, static, while_loop
from ..definite import positive_solve
from ..model.configuration import integrate
from ..model.joints import JOINTS
from ..model.robot import Robot
from .rows import Tasks, cut, rows_of, seed_cost, task_errors

__all__ = ["Lane", "damped_step", "descend", "free_of_limits", "limited_coordinates", "nearest_seed"]

_DAMPING, _LESS, _MORE = 0.1, 0.2, 4.0  # λ of the first step, and its factors after steps that help and that do not
_TIE = 1.0  # λ is at most so many times |r|²
_LEAST, _MOST = 1e-12, 1e6  # λ; a lane whose λ is larger gives up


class Lane(NamedTuple):
    """Where a lane ended: q (nq,), the cost |r|², max (|e| / tolerance)², errors of the tasks, and its iterations."""

    q: np.ndarray
    cost: np.ndarray
    over: np.ndarray
    errors: np.ndarray
    iterations: np.ndarray


def limited_coordinates(robot: Robot) -> list[tuple[int, int]]:
    """[(place in q, place in v)] of the joints with one coordinate, whose limits stop a degree of freedom."""
    at = robot.layout
    kinds = [(i, JOINTS[kind]) for i, kind in enumerate(robot.joint_types) if i not in robot.mimics]
    return [(at.q_start[i], at.v_start[i]) for i, kind in kinds if kind.nq == 1]


def free_of_limits(robot: Robot, q, push, lower, upper) -> np.ndarray:
    """1 for the degrees of freedom (nv,) that may move along `push` (nv,), and 0 for those on a limit in their way."""
    free: list = [1.0] * robot.nv
    for a, b in limited_coordinates(robot):
        stopped = ((q[a] <= lower[a]) & (push[b] < 0)) | ((q[a] >= upper[a]) & (push[b] > 0))
        free[b] = np.where(stopped, 0.0, 1.0)
    return np.stack(free)


def damped_step(J, r, damping) -> np.ndarray:
    """The step (Jᵀ J + λ)⁻¹ Jᵀ r (nv,)."""
    m, n = J.shape
    if m <= n:
        return J.T @ positive_solve(J @ J.T + damping * np.eye(m), r)
    return positive_solve(J.T @ J + damping * np.eye(n), J.T @ r)


@kernel(robot=static, tasks=static, q="nq", data="n_data", lower="nq", upper="nq")
def descend(robot: Robot, tasks: Tasks, q, data, lower, upper, most, stall, enough) -> Lane:
    """The `Lane` from q (nq,).

    It ends when `over` is at most `enough`, after `most` iterations, or when |r|² falls by less than the share `stall`.
    """

    def step(carry):
        q, trial, move, cost, damping, last, n, _ = carry
        r, J, over = rows_of(robot, tasks, trial, data)
        found = r @ r
        better = found < cost
        damping = np.where(better, np.maximum(np.minimum(damping * _LESS, _TIE * found), _LEAST), damping * _MORE)
        J = J * free_of_limits(robot, trial, J.T @ r, lower, upper)
        move = np.where(better, damped_step(J, r, damping), move / _MORE)
        start = np.where(better, trial, q)
        ahead = np.clip(integrate(robot, start, move), lower, upper)
        left = np.where(better, found / np.minimum(cost, 1e300), 0.0)
        cost, over = np.where(better, found, cost), np.where(better, over, last)
        return start, ahead, move, cost, damping, over, n + 1, left

    def goes_on(carry):
        _, _, _, _, damping, over, n, left = carry
        return (over > enough) & (n <= most) & (left < 1 - stall) & (damping < _MOST)

    q = np.clip(q, lower, upper)
    first = (q, q, np.zeros(robot.nv), np.inf, _DAMPING / _LESS, np.inf, 0.0, 0.0)
    q, _, _, cost, _, over, n, _ = while_loop(goes_on, step, first, max_iterations=10_000)
    return Lane(q, cost, over, task_errors(robot, tasks, q, data), n - 1)


@kernel(robot=static, tasks=static, data="n_data", pool=(..., "n_seen"))
def nearest_seed(robot: Robot, tasks: Tasks, data, pool) -> np.ndarray:
    """The number of that row of a pool, what the tasks see at some configurations, at which |r|² is least."""

    def step(carry, row):
        least, chosen, k = carry
        cost = seed_cost(robot, tasks, cut(row, [sizes.seen for sizes in tasks.sizes]), data)
        nearer = cost < least
        return (np.where(nearer, cost, least), np.where(nearer, k, chosen), k + 1), None

    return scan(step, (np.inf, 0.0, 0.0), pool)[0][1]
