"""Laws for joints: P, PD and PID feedback, servos with DC motors, and computed torque.

Equation numbers are those of Fu, Gonzalez & Lee, "Robotics" (1987), chapter 5.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..dynamics.composite import mass_matrix
from ..dynamics.coriolis import coriolis_matrix, coriolis_product
from ..dynamics.newton_euler import friction_force, gravity_torque, inverse_dynamics
from ..errors import ArgumentError
from ..model.configuration import difference
from ..model.input_checks import one_of, positive, truth
from ..model.needs import need_robot
from ..model.robot import Robot
from .gains import fit_joints, gains
from .laws import Law, law, wrapped
from .motors import (
    Motor,
    VoltageTorqueCurve,
    curve_torque,
    curve_voltage,
    joint_torque,
    need_motor,
    need_no_inductance,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Integral", "computed_torque", "pd", "pid", "servo", "through_drive"]


# --- feedback ---------------------------------------------------------------------------------------------------------


def _pd(robot, p, state, t, q, v, reference):
    fit_joints(robot, p, "pd", "kp", "kd")
    e, rate = difference(robot, q, reference.q), _rate_error(p, v, reference)
    return p.kp * e + p.kd * rate + _feed_forward(robot, p, q, v), state


def pd(
    target, *, kp, kd: ArrayLike = 0.0, rate: str = "error", gravity: bool = False, coriolis: bool = False,
    model: Robot | None = None,
) -> Law:  # fmt: skip
    """PD feedback of every joint: τ = kp (q_d - q) + kd (v_d - v), with feed-forward if it is wanted.

        >>> hold = pd(np.zeros(robot.nq), kp=100.0, kd=20.0, gravity=True)
        >>> tau, _ = hold(robot, None, 0.0, q, v)

    Parameters
    ----------
    target
        An array q (nq,) to rest at, a `Trajectory`, or a function of t.
    kp, kd
        Gains [N m/rad] and [N m s/rad], numbers or (nv,); with kd = 0 it is P feedback.
    rate
        Whether kd multiplies the rate of the "error", v_d - v, or that of the "output", -v.
    gravity, coriolis
        Whether the torques of gravity (5.3-63), and Coriolis and centrifugal torques (5.3-64), are added.
    model
        The robot whose torques these are; by default the robot that is controlled.
    """
    options = _options("pd", rate, gravity, coriolis)
    return law(_pd, reference=target, model=model, name="pd", **options, **_checked("pd", kp=kp, kd=kd))


def _rate_error(p, v, reference):
    return reference.v - v if p.rate == "error" else -v


def _feed_forward(robot: Robot, p, q, v):
    """The torques of gravity τ_G = c (5.3-63), and τ_C = C(q, v) v (5.3-64), without friction, as far as p asks."""
    found: Any = 0.0
    if p.gravity:
        found = found + gravity_torque(robot, q)
    if p.coriolis:
        found = found + coriolis_product(robot, q, v, v)
    return found


class Integral(NamedTuple):
    """The state of `pid`: the integral (nv,) [rad s] of the joints' errors."""

    integral: Any


def _pid(robot, p, state, t, q, v, reference):
    e, rate = difference(robot, q, reference.q), _rate_error(p, v, reference)
    integral = state.integral + p.period * e
    tau = p.kp * e + p.kd * rate + p.ki * integral + _feed_forward(robot, p, q, v)
    if p.limit is None:
        return tau, Integral(integral)
    winding = (np.abs(tau) > p.limit) & (tau * e > 0)  # the integral would only drive tau further beyond its limit
    held = np.where(winding, state.integral, integral)
    return np.minimum(np.maximum(tau, -p.limit), p.limit), Integral(held)


def pid(
    robot: Robot, target, *, kp, ki, kd, period, limit=None, rate: str = "error", gravity: bool = False,
    coriolis: bool = False,
) -> Law:  # fmt: skip
    """PID feedback of every joint, asked once every `period` T [s]: τ = kp e + ki Σ T e + kd ė, with e = q_d - q.

        >>> hold = pid(robot, np.zeros(robot.nq), kp=100.0, ki=50.0, kd=20.0, period=0.001, limit=80.0)
        >>> tau, state = hold(robot, None, 0.0, q, v)
        >>> tau, state = hold(robot, state, 0.001, q, v)

    With a `limit` [N m] the joint forces end at ± limit, and the integral of a joint stands still while its force is
    beyond its limit and its error would drive it further (clamping, against wind-up). `ki` is in N m/(rad s); numbers
    or (nv,) all. The state is an `Integral`. The rest is as in `pd`; `robot` is the model of the feed-forward. A PUMA's
    controller is of this kind, with T = 0.875 ms (Sec. 5.2).
    """
    need_robot(robot, "pid")
    options = _options("pid", rate, gravity, coriolis)
    numbers = _checked("pid", robot, kp=kp, ki=ki, kd=kd)
    bound = {"limit": None} if limit is None else _checked("pid", robot, or_zero=False, limit=limit)
    return law(
        _pid, reference=target, state=Integral(np.zeros(robot.nv)), model=robot, name="pid",
        period=positive(period, "pid: period"), **numbers, **bound, **options,
    )  # fmt: skip


# --- motors -----------------------------------------------------------------------------------------------------------


def _servo(robot, p, state, t, q, v, reference):
    fit_joints(robot, p, "servo", "kp", "kd", "voltage_limit")
    fit_joints(robot, p, "servo", "resistance", "torque_constant", "back_emf", "gear_ratio")
    e, rate = difference(robot, q, reference.q), _rate_error(p, v, reference)
    n = p.gear_ratio
    voltage = (p.kp * e + p.kd * rate) / n  # (5.3-27)
    voltage = voltage + p.resistance * n / p.torque_constant * _feed_forward(robot, p, q, v)  # Fig. 5.8
    if p.voltage_limit is not None:
        voltage = np.minimum(np.maximum(voltage, -p.voltage_limit), p.voltage_limit)
    return joint_torque(p, voltage, v if p.counts_back_emf else 0.0), state


def servo(
    motor: Motor | Sequence[Motor], target, *, kp, kd: ArrayLike = 0.0, voltage_limit=None, rate: str = "error",
    gravity: bool = False, coriolis: bool = False, back_emf: bool = True, model: Robot | None = None,
) -> Law:  # fmt: skip
    """The textbook's joint servo: V_a = (K_p e + K_v ė) / n, (5.3-27), goes to a DC motor, which moves the joint.

        >>> motor = Motor(resistance=1.0, torque_constant=0.05, inertia=2e-4, gear_ratio=0.01)
        >>> hold = servo(motor, np.zeros(robot.nq), kp=5.0, kd=0.3, voltage_limit=24.0, gravity=True)
        >>> tau, _ = hold(robot, None, 0.0, q, v)

    The law gives the torque of the motor at the joint, K_a (V_a - K_b v / n) / (R_a n), see `joint_torque`. Its rotor
    belongs to the simulated robot, `with_motors(robot, motor)`: J_m / n² is armature, f_m / n² is damping.
    `servo_design` has gains, errors and periods for this servo.

    Parameters
    ----------
    motor
        A `Motor` for all joints, one whose numbers are (nv,), or one motor for each joint. Its numbers are numbers of
        the law: `law.replace(resistance=...)`.
    kp, kd
        Gains [V/rad] and [V s/rad], numbers or (nv,); `kd` is the book's K_v.
    voltage_limit
        The voltage ends at ± this [V]; by default it has no limit.
    rate, gravity, coriolis, model
        As in `pd`; torques of the feed-forward become voltages, R_a n τ / K_a.
    back_emf
        Whether the law counts the back-EMF, at the velocity that it is given. False if it is in the robot's damping,
        `with_motors(robot, motor, back_emf=True)`, where it also acts between the instants of a sampled law.
    """
    motor = _one_motor(motor)
    bound = None if voltage_limit is None else gains(voltage_limit, None, "servo: voltage_limit")
    return law(
        _servo, reference=target, model=model, name="servo", **_checked("servo", kp=kp, kd=kd),
        resistance=motor.resistance, torque_constant=motor.torque_constant, back_emf=motor.back_emf,
        gear_ratio=motor.gear_ratio, voltage_limit=bound, counts_back_emf=truth(back_emf, "servo: back_emf"),
        **_options("servo", rate, gravity, coriolis),
    )  # fmt: skip


def _one_motor(motor) -> Motor:
    """One motor whose numbers have an entry for each joint, of several motors; or a motor itself."""
    several = list(motor) if isinstance(motor, Sequence) else [motor]
    for one in several:
        need_motor(one, "servo")
        need_no_inductance(one, "servo")
    if not isinstance(motor, Sequence):
        return motor
    if not several or any(getattr(one, f.name).ndim for one in several for f in dataclasses.fields(one)):
        raise ArgumentError("servo: several motors, one for each joint, must have plain numbers")
    fields = dataclasses.fields(Motor)
    return Motor(**{f.name: np.stack([getattr(one, f.name) for one in several]) for f in fields})


class _Points(NamedTuple):
    """The points of a `VoltageTorqueCurve` while a law is traced."""

    voltages: Any
    torques: Any


def _through_drive(inside, robot, p, state, t, q, v, reference):
    tau, inner = inside(state[1], t, q, v, reference)
    table = _Points(p.table_voltages, p.table_torques)
    drive = _Points(p.voltages, p.torques)
    return curve_torque(drive, curve_voltage(table, tau, v), v), (state[0], inner)


def through_drive(inner: Law, drive: VoltageTorqueCurve, *, table: VoltageTorqueCurve | None = None) -> Law:
    """The law with a drive between it and the joints: torque to voltage by a table, and to torque by the true curve.

        >>> curve = aj.control.friction_curve(slope=10.0, friction_voltage=0.5, limit=12.0)
        >>> driven = through_drive(pd(np.zeros(6), kp=100.0, kd=20.0), curve)

    The computer turns the torque of `inner` into a voltage with its `table` (Sec. 5.3.6), and the drive makes of this
    the torque that its own curve says. If the two are the same curve, which is the default, only the saturation is left
    of the drive's offsets. Points of the curves are (k,) for all joints, or (nv, k).
    """
    given = {"drive": drive, "table": drive if table is None else table}
    for name, curve in given.items():
        if not isinstance(curve, VoltageTorqueCurve):
            raise ArgumentError(f"through_drive: {name} must be a VoltageTorqueCurve; got {type(curve).__name__}")
    used = given["table"]
    return wrapped(
        inner, _through_drive, name="driven", voltages=drive.voltages, torques=drive.torques,
        table_voltages=used.voltages, table_torques=used.torques,
    )  # fmt: skip


# --- computed torque --------------------------------------------------------------------------------------------------

_FORMS = ("newton_euler", "lagrange", "diagonal")


def _computed_torque(robot, p, state, t, q, v, reference):
    e = difference(robot, q, reference.q)
    a = reference.a + p.kd * (reference.v - v) + p.kp * e  # (5.3-69), which prints v_d for a_d
    if p.form == "newton_euler":
        return inverse_dynamics(robot, q, v, a), state
    M, c = mass_matrix(robot, q), gravity_torque(robot, q)
    if p.form == "diagonal":
        return np.stack([M[i, i] for i in range(robot.nv)]) * a + c, state  # (5.3-68)
    return M @ a + coriolis_matrix(robot, q, v) @ v + c + friction_force(robot, v), state  # (5.3-65)


def computed_torque(robot: Robot, reference, *, kp, kd=None, form: str = "newton_euler") -> Law:
    """Computed torque: τ = M(q) [a_d + kd (v_d - v) + kp (q_d - q)] + h(q, v), so that ë + kd ė + kp e = 0.

        >>> law = computed_torque(robot, np.zeros(robot.nq), kp=100.0)
        >>> tau, _ = law(robot, None, 0.0, q, v)

    Parameters
    ----------
    robot
        The model. The error goes to 0 as above if the controlled robot is the same, (5.3-67).
    reference
        A `Trajectory`, an array q (nq,) to rest at, or a function of t.
    kp, kd
        Gains [1/s²] and [1/s], numbers or (nv,); kd is by default 2 √kp, critical damping. (It stays as it is when
        `law.replace` changes kp.)
    form
        "newton_euler" computes τ by the recursion, in O(n), (5.3-69); "lagrange" by M, C and gravity, (5.3-65), with
        the same result; "diagonal", (5.3-68), leaves out what couples the joints, C and friction: τ = diag(M) [...] +
        gravity, which fails at high speed.
    """
    need_robot(robot, "computed_torque")
    one_of(form, _FORMS, "computed_torque: form")
    numbers = _checked("computed_torque", robot, kp=kp)
    numbers |= _checked("computed_torque", robot, kd=2 * np.sqrt(numbers["kp"]) if kd is None else kd)
    return law(_computed_torque, reference=reference, model=robot, name="computed_torque", form=form, **numbers)


# --- checks -----------------------------------------------------------------------------------------------------------


def _checked(caller: str, robot: Robot | None = None, *, or_zero: bool = True, **given) -> dict[str, Any]:
    """Gains and limits as arrays that are not negative, and are numbers or (nv,)."""
    nv = None if robot is None else robot.nv
    return {name: gains(x, nv, f"{caller}: {name}", or_zero=or_zero) for name, x in given.items()}


def _options(caller: str, rate: str, gravity: bool, coriolis: bool) -> dict[str, Any]:
    one_of(rate, ("error", "output"), f"{caller}: rate")
    flags = {"gravity": gravity, "coriolis": coriolis}
    return {"rate": rate} | {k: truth(x, f"{caller}: {k}") for k, x in flags.items()}
