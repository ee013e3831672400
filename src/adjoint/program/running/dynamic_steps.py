"""The machine code of the dynamic back end: an arm under computed torque or hybrid control, in contact, tick by tick.

One kernel serves all motions of a robot: references, loads, contact and gains are inputs, so that nothing is compiled
again when the arm moves elsewhere, takes a part, or comes near to another one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...compile import Kernel, kernel, scan
from ...control.references import PoseTarget
from ...control.task_motion import motion_beside, task_of
from ...definite import positive_solve
from ...dynamics.forward import forward_dynamics
from ...dynamics.newton_euler import inverse_dynamics
from ...kinematics.forward import forward_kinematics
from ...kinematics.jacobians import frame_acceleration, frame_twist, jacobian
from ...model.robot import Robot
from .touching import contact_wrench
from .touching_points import MOST_POINTS, POINT_SIZE
from .touching_shapes import ROW_SIZE

__all__: list[str] = []

_SINGULAR = 1e-3  # damping of the inverse Jacobian near singularities


class Ticked(NamedTuple):
    """What happens: q, v (N, n) and the law's integral (N, 6) after each tick; mean wrench (N, 6) and tau (N, n)."""

    q: Any
    v: Any
    integral: Any
    wrench: Any
    tau: Any


class Reference(NamedTuple):
    """Where an arm should be at one instant."""

    q: Any
    v: Any
    a: Any


def hermite(q_a, v_a, q_b, v_b, period, s) -> Reference:
    """The cubic from (q_a, v_a) to (q_b, v_b) within a period, at its part s from 0 to 1."""
    step, u, w = q_b - q_a, period * v_a, period * v_b
    c2, c3 = 3 * step - 2 * u - w, u + w - 2 * step
    q = q_a + s * (u + s * (c2 + s * c3))
    v = (u + s * (2 * c2 + 3 * s * c3)) / period
    return Reference(q, v, (2 * c2 + 6 * s * c3) / (period * period))


@lru_cache(maxsize=32)
def ticks_kernel(robot: Robot, tool: str, steps: int, room: int, compliant: bool) -> Kernel:
    """The kernel of so many steps in each tick, with room for so many rows of primitives; hybrid if `compliant`."""
    n = robot.nv
    inertias = np.shape(robot.inertias)

    @kernel(
        q_a=(..., n), v_a=(..., n), q_b=(..., n), v_b=(..., n), width=(...,), q=n, v=n, integral=6,
        points=(MOST_POINTS, POINT_SIZE), table=(room, ROW_SIZE), counts=2, hardness=4,
        inertias=inertias, modelled=inertias, gravity=3, gains=(2, n), effort=n, axes=(3, 3), wrench=6, selected=6,
        force_gains=4, period=(),
    )  # fmt: skip
    def dynamic_ticks(
        q_a, v_a, q_b, v_b, width, q, v, integral, points, table, counts, hardness, inertias, modelled, gravity,
        gains, effort, axes, wrench, selected, force_gains, period,
    ) -> Ticked:  # fmt: skip
        plant = robot.lifted({"inertias": inertias, "gravity": gravity})
        model = robot.lifted({"inertias": modelled, "gravity": gravity})
        dt = period / steps

        def law(now: Reference, q, v, T, J, F, integral):
            if not compliant:
                # Semi-implicit steps reach q_d exactly, if v is half a step behind.
                a = now.a + gains[1] * (now.v - 0.5 * dt * now.a - v) + gains[0] * (now.q - q)
                return inverse_dynamics(model, q, v, a), integral
            return _hybrid(model, tool, now, q, v, T, J, F, integral, gains, axes, wrench, selected, force_gains, dt)

        def tick(carry, row):
            q_a, v_a, q_b, v_b, apart = row

            def step(now, _):
                s, q, v, integral, felt, drive = now
                T, J = forward_kinematics(robot, q, tool), jacobian(robot, q, tool, "world")
                F = contact_wrench(points, table, counts, apart, T, J @ v, hardness)
                aim = hermite(q_a, v_a, q_b, v_b, period, s)
                tau, integral = law(aim, q, v, T, J, F, integral)
                tau = np.clip(tau, -effort, effort)
                v = v + dt * forward_dynamics(plant, q, v, tau + J.T @ F)
                return (s + 1.0 / steps, q + dt * v, v, integral, felt + F / steps, drive + tau / steps), None

            q, v, integral = carry
            start = 0.0 * q[0], q, v, integral, np.zeros(6) + 0.0 * q[0], 0.0 * q
            (_, q, v, integral, felt, drive), _ = scan(step, start, None, steps)
            return (q, v, integral), (q, v, integral, felt, drive)

        _, found = scan(tick, (q, v, integral), (q_a, v_a, q_b, v_b, width))
        return Ticked(*found)

    return dynamic_ticks


def _hybrid(model, tool, aim: Reference, q, v, T, J, F, integral, gains, axes, wrench, selected, force_gains, dt):
    """Forces along the selected axes, positions along all others: `control.hybrid`, with the selection as numbers.

    Along an axis of force the tool goes with (kp Δf + ki ∫ Δf) / kd, but not faster than `speed`, where Δf is what is
    lacking; while it goes at this speed, as in free space, the integral waits. The wrench that is felt is compensated
    there, so that the arm's own inertia does not count, and 1/kp acts as a mass.
    """
    target = PoseTarget(
        forward_kinematics(model, aim.q, tool),
        frame_twist(model, aim.q, aim.v, tool, "body"),
        frame_acceleration(model, aim.q, aim.v, aim.a, tool, "body"),
    )
    task = task_of(model, q, v, tool, target)
    kp, kd = gains[0, 0], gains[1, 0]
    moved = motion_beside(target, task.error, task.rate, -(kd * task.rate + kp * task.error)).acceleration
    none = np.zeros((3, 3))
    R = axes.T
    turn = np.concatenate([np.concatenate([R, none], axis=1), np.concatenate([none, R], axis=1)])
    force_kp, force_ki, force_kd, speed = force_gains[0], force_gains[1], force_gains[2], force_gains[3]
    felt = turn @ F
    lacking = selected * (wrench + felt)  # the robot exerts -F
    asked = (force_kp * lacking + force_ki * integral) / force_kd
    pushed = force_kd * (np.clip(asked, -speed, speed) - turn @ task.twist)
    V_rate = turn.T @ (selected * pushed + (1 - selected) * (turn @ moved))
    drift = frame_acceleration(model, q, v, np.zeros(model.nv), tool, "world")
    a = J.T @ positive_solve(J @ J.T + _SINGULAR**2 * np.eye(6), V_rate - drift)
    tau = inverse_dynamics(model, q, v, a) - J.T @ (turn.T @ (selected * felt))
    return tau, integral + np.where(np.abs(asked) < speed, dt, 0.0) * lacking
