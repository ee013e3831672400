"""A step towards goals, as a quadratic program with the limits of positions and velocities as its bounds.

With the goals' errors e, their slopes J, weights W and a step Δ = v dt, the program is

    min ½ |W (J Δ - gain e)|² + ½ damping |Δ|²     with     lower - q <= Δ <= upper - q,   |Δ| <= dt velocity_limit.

A joint outside its limits may not go further out, and returns as fast as its velocity limit lets it, so the program
always has a solution. Objectives come second: they are served among the steps that do not change J Δ of the goals. This
equation is met by the method of multipliers, with rows Q of J made orthonormal, in a few programs:

    min ½ |W_o (J_o Δ - gain e_o)|² + ½ damping |Δ|² + ½ ρ |Q Δ - c - y|²,     y ← y + c - Q Δ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import Kernel, kernel, static, while_loop
from ..definite import factored
from ..errors import ArgumentError
from ..model.input_checks import positive, vectors
from ..model.once import once_a_robot
from ..model.robot import Robot
from .lanes import limited_coordinates
from .problem import Goals, Limits, limits_of, need_short, problem_of
from .qp import box_minimum
from .rows import Tasks, Wishes, rows_of

__all__ = ["DifferentialStep", "differential_step"]

_STIFF = 1e7  # ρ, relative to the largest diagonal entry of the rest
_PASSES = 40  # the most of the method of multipliers; two are enough unless bounds hold most joints
_MET = 1e-10  # the misfit |Q Δ - c| [rad] that counts as 0
_REGULAR = 1e-12  # added to J Jᵀ, which is singular where goals state the same thing twice


class DifferentialStep(NamedTuple):
    """A step: velocities `v` (..., nv) [rad/s, m/s], the bounds that are `active` (..., nv), and the `iterations`.

    `active` is -1 or 1 where v is at its lower or upper bound, and 0 elsewhere; it is the warm start of the next step.
    """

    v: np.ndarray
    active: np.ndarray
    iterations: np.ndarray


def differential_step(
    robot: Robot,
    q,
    goals: Goals,
    dt: float,
    *,
    objectives: Goals = (),
    gain: float = 1.0,
    damping: float = 1e-6,
    limits: Limits = True,
    velocity_limit=None,
    warm: DifferentialStep | None = None,
) -> DifferentialStep:
    """The velocities v (..., nv) that lead from q (..., nq) towards goals within limits, for the time dt [s].

        >>> step = differential_step(robot, q, {"tool": np.eye(4)}, 0.01)
        >>> q_next = integrate(robot, q, step.v, 0.01)

    `goals` are those of `find_configuration`. After the step, a share `gain` (0 to 1) of each error is gone, as far as
    limits let it and other goals do not weigh against it. This is the exact optimum of

        min ½ |W (J v dt - gain e)|² + ½ damping |v dt|²   with   lower <= q + v dt <= upper,   |v| <= velocity_limit.

    - Errors of rotations are rotation vectors: a frame turns to its target on the shortest way, by a share `gain` of
      the angle that is left. At an angle of π there are two such ways, and one of them is taken.
    - `limits` of positions are as for `find_configuration`. A q outside of them is no error: its joints return, as
      fast as they may. Limits of planar and free joints are left out.
    - `velocity_limit` (nv,) is that of the robot by default.
    - `objectives` have strictly lower priority: they use only what the goals leave free. Among goals, weights decide.
    - `damping` keeps the step small near singularities, at the price of a smaller gain there.
    - `warm` is the step before: where its bounds are still active, fewer iterations are needed. The result is the same.

    NaN stays in its own sample. Reference: Escande, Mansard & Wieber (2014), "Hierarchical quadratic programming", IJRR
    33(7).
    """
    caller = "differential_step"
    need_short(robot, caller)
    problem = problem_of(robot, goals, 1.0, caller)
    q = vectors(q, robot.nq, "q", caller)
    for value, name in ((dt, "dt [s]"), (gain, "gain"), (damping, "damping")):
        if type(value) is not float or not 0 < value < np.inf:
            positive(value, f"{caller}: {name}")
    lower, upper = limits_of(robot, limits, caller)
    speed = robot.velocity_limit
    if velocity_limit is not None:
        speed = vectors(velocity_limit, robot.nv, "velocity_limit", caller)
    active = np.zeros(robot.nv) if warm is None else _active(robot, warm, caller)
    given = (q, problem.data, active, lower, upper, speed, dt, gain, damping)
    if isinstance(objectives, tuple) and not objectives:
        return _weighted(robot, problem.tasks)(*given)
    wishes = problem_of(robot, objectives, 1.0, caller)
    return prioritized_step(robot, problem.tasks, wishes.tasks.as_wishes, *given[:2], wishes.data, *given[2:])


@once_a_robot(most=32)
def _weighted(robot: Robot, tasks: Tasks) -> Kernel:
    """The kernel of these tasks."""
    return weighted_step.bind(robot, tasks)


def _active(robot: Robot, warm, caller: str) -> np.ndarray:
    """The bounds that were active in the step before."""
    if not isinstance(warm, DifferentialStep) or np.shape(warm.active)[-1:] != (robot.nv,):
        raise ArgumentError(f"{caller}: warm must be a DifferentialStep of robot '{robot.name}', got {warm!r}")
    return warm.active


def _bounds(robot: Robot, q, lower, upper, speed, dt) -> tuple[np.ndarray, np.ndarray]:
    """The bounds of Δ (nv,), of which the lower is never above the upper."""
    most = np.abs(speed) * dt
    low, high = [-x for x in most], list(most)
    for a, b in limited_coordinates(robot):
        low[b], high[b] = np.clip(lower[a] - q[a], -most[b], most[b]), np.clip(upper[a] - q[a], -most[b], most[b])
    return np.stack(low), np.stack(high)


_inputs = {"q": "nq", "data": "n_data", "active": "nv", "lower": "nq", "upper": "nq", "speed": "nv"}


@kernel(robot=static, tasks=static, **_inputs)
def weighted_step(
    robot: Robot, tasks: Tasks, q, data, active, lower, upper, speed, dt, gain, damping
) -> DifferentialStep:
    """The step for goals alone."""
    low, high = _bounds(robot, q, lower, upper, speed, dt)
    r, J, _ = rows_of(robot, tasks, q, data, straight=True)
    found = box_minimum(J.T @ J + damping * np.eye(robot.nv), gain * (J.T @ r), low, high, active)
    return DifferentialStep(found.x / dt, found.active, found.steps)


@kernel(robot=static, tasks=static, wishes=static, wish_data="n_wishes", **_inputs)
def prioritized_step(
    robot: Robot, tasks: Tasks, wishes: Wishes, q, data, wish_data, active, lower, upper, speed, dt, gain, damping
) -> DifferentialStep:
    """The step for goals, and for objectives among the steps that are as good for the goals."""
    low, high = _bounds(robot, q, lower, upper, speed, dt)
    n, damped = robot.nv, damping * np.eye(robot.nv)
    r, J, _ = rows_of(robot, tasks, q, data, straight=True)
    r_o, J_o, _ = rows_of(robot, wishes, q, wish_data, straight=True)
    first = box_minimum(J.T @ J + damped, gain * (J.T @ r), low, high, active)

    Q = factored(J @ J.T + _REGULAR * np.eye(len(r))).half(J)
    c = Q @ first.x
    H, g = J_o.T @ J_o + damped, gain * (J_o.T @ r_o)
    stiff = _STIFF * np.max(np.stack([H[k, k] for k in range(n)]))
    H = H + stiff * (Q.T @ Q)

    def again(carry):
        y, _, active, steps, _ = carry
        found = box_minimum(H, g + stiff * (Q.T @ (c + y)), low, high, active)
        misfit = c - Q @ found.x
        return y + misfit, found.x, found.active, steps + found.steps, misfit @ misfit

    start = (np.zeros(len(r)), first.x, first.active, first.steps, np.inf)
    _, x, active, steps, _ = while_loop(lambda carry: carry[4] > _MET**2, again, start, max_iterations=_PASSES)
    return DifferentialStep(x / dt, active, steps)
