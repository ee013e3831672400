"""Objectives: what is improved along the configurations that meet all goals, without leaving them.

With the goals' rows r, J and those of the objectives, r_o and J_o, a step Δ minimises the objectives on the tangent
space of the goals,

    min ½ |r_o - J_o Δ|² + ½ μ |Δ|²   with   J Δ = r.

With H = J_oᵀ J_o + μ it is Δ = H⁻¹ (J_oᵀ r_o + Jᵀ y), where (J H⁻¹ Jᵀ) y = r - J H⁻¹ J_oᵀ r_o. Newton steps lead back
to the goals. A step counts if all goals are met after it and the objectives are better; then μ falls, otherwise it
grows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, static, while_loop
from ..definite import factored, positive_solve
from ..model.configuration import integrate
from ..model.robot import Robot
from .lanes import damped_step, free_of_limits
from .rows import Rows, Tasks, Wishes, cost_of, rows_of, task_errors

__all__ = ["Improved", "improve"]

_FIRST, _LESS, _MORE, _MOST = 0.1, 0.25, 4.0, 1e8  # μ
_REGULAR = 1e-10  # added to J H⁻¹ Jᵀ, which is singular where goals state the same thing twice
_CORRECTIONS = 2  # Newton steps back to the goals
_STALL = 1e-9  # objectives that fall by less than this share have converged


class Improved(NamedTuple):
    """Where an objective is least: q (nq,), max (|e| / tolerance)², errors of the goals, and the iterations."""

    q: np.ndarray
    over: np.ndarray
    errors: np.ndarray
    iterations: np.ndarray


def tangent_step(goals: Rows, wishes: Rows, damping, free) -> np.ndarray:
    """Δ (nv,) of the degrees of freedom that are `free` (nv,)."""
    J, J_o = goals.J * free, wishes.J * free
    solve = factored(J_o.T @ J_o + damping * np.eye(len(free))).solve
    downhill = J_o.T @ wishes.r
    alone, across = solve(downhill), solve(J.T)
    y = positive_solve(J @ across + _REGULAR * np.eye(len(goals.r)), goals.r - J @ alone)
    return alone + across @ y


@kernel(robot=static, tasks=static, wishes=static, q="nq", data="n_data", wish_data="n_wishes", lower="nq", upper="nq")
def improve(robot: Robot, tasks: Tasks, wishes: Wishes, q, data, wish_data, lower, upper, most) -> Improved:
    """The configuration near q, which meets the goals of `tasks`, at which the cost of `wishes` is least."""

    def back(q):
        for _ in range(_CORRECTIONS):
            r, J, _ = rows_of(robot, tasks, q, data)
            J = J * free_of_limits(robot, q, J.T @ r, lower, upper)
            q = np.clip(integrate(robot, q, damped_step(J, r, _REGULAR)), lower, upper)
        return q

    def step(carry):
        q, cost, damping, n, _ = carry
        goals, wished = rows_of(robot, tasks, q, data), rows_of(robot, wishes, q, wish_data)
        ahead = tangent_step(goals, wished, damping, np.ones(robot.nv))
        free = free_of_limits(robot, q, ahead, lower, upper)
        trial = back(np.clip(integrate(robot, q, tangent_step(goals, wished, damping, free)), lower, upper))
        found = cost_of(robot, wishes, trial, wish_data)
        better = (found < cost) & (rows_of(robot, tasks, trial, data).over <= 1)
        stalled = better & (cost - found <= _STALL * np.abs(cost))
        damping = np.where(better, damping * _LESS, damping * _MORE)
        return np.where(better, trial, q), np.where(better, found, cost), damping, n + 1, np.where(stalled, 1.0, 0.0)

    def goes_on(carry):
        return (carry[2] < _MOST) & (carry[3] < most) & (carry[4] < 1)

    first = (q, cost_of(robot, wishes, q, wish_data), _FIRST, 0.0, 0.0)
    q, _, _, n, _ = while_loop(goes_on, step, first, max_iterations=1000)
    return Improved(q, rows_of(robot, tasks, q, data).over, task_errors(robot, tasks, q, data), n)
