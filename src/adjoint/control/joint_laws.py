"""Laws for joints that need little of a model: proportional, derivative and integral feedback, with feed-forward."""

from __future__ import annotations

from ..dynamics.newton_euler import inverse_dynamics
from ..model.configuration import difference
from ..model.robot import Robot
from .laws import Law, law

__all__ = ["computed_torque", "pd"]


def _pd(robot, p, state, t, q, v, reference):
    return p.kp * difference(robot, q, reference.q) + p.kd * (reference.v - v), state


def pd(target, *, kp, kd) -> Law:
    """PD feedback of every joint: τ = kp (q_d - q) + kd (v_d - v).

        >>> hold = pd(np.zeros(robot.nq), kp=100.0, kd=20.0)
        >>> tau, _ = hold(robot, None, 0.0, q, v)

    `target` is an array q (nq,) to rest at, a `Trajectory`, or a function of t; kp [N m/rad] and kd [N m s/rad] are
    numbers or (nv,).
    """
    return law(_pd, reference=target, kp=kp, kd=kd, name="pd")


def _computed_torque(robot, p, state, t, q, v, reference):
    e = difference(robot, q, reference.q)
    a = reference.a + p.kd * (reference.v - v) + p.kp * e
    return inverse_dynamics(robot, q, v, a), state


def computed_torque(robot: Robot, reference, *, kp, kd) -> Law:
    """Computed torque: τ = M(q) [a_d + kd (v_d - v) + kp (q_d - q)] + h(q, v), so that ë + kd ė + kp e = 0."""
    return law(_computed_torque, reference=reference, model=robot, kp=kp, kd=kd, name="computed_torque")
