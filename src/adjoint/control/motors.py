"""DC motors with gears, and the curve from voltage to torque: what stands between a law and a joint.

Equation numbers are those of Fu, Gonzalez & Lee, "Robotics" (1987), chapter 5; units are SI, where K_a = K_b. All
numbers may be arrays, one number for each joint or each motor, and broadcast as in NumPy. The functions of voltage,
torque and velocity are plain arithmetic, so laws can use them inside.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..model.input_checks import floats, truth
from ..model.needs import need_robot
from ..model.robot import Robot
from .gains import at_least_zero

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "Motor",
    "TransferFunction",
    "VoltageTorqueCurve",
    "curve_torque",
    "curve_voltage",
    "friction_curve",
    "joint_torque",
    "joint_transfer",
    "joint_voltage",
    "loaded",
    "motor_gain",
    "motor_time_constant",
    "motor_transfer",
    "torque_drive",
    "with_motors",
]


@dataclass(frozen=True, eq=False, kw_only=True)
class Motor:
    """An armature-controlled DC motor with a gear, or an array of them.

        >>> motor = Motor(resistance=1.0, torque_constant=0.05, inertia=4e-4, friction=5e-4, gear_ratio=0.01)

    - `resistance` R_a [Ω] and `inductance` L_a [H] of the armature; the textbook, and the laws here, take L_a = 0.
    - `torque_constant` K_a [N m/A] and `back_emf` K_b [V s/rad]; in SI units they are equal, which is the default.
    - `inertia` J_m [kg m²] and viscous `friction` f_m [N m s/rad] of the rotor; with a load, J_eff and f_eff: `loaded`.
    - `gear_ratio` n = N_m / N_L = θ_L / θ_m, (5.3-3): below 1 for a reduction; the joint turns n times as fast.
    """

    resistance: Any  # numbers or arrays are given, and kept as arrays
    torque_constant: Any
    inertia: Any
    friction: Any = 0.0
    gear_ratio: Any = 1.0
    back_emf: Any = None
    inductance: Any = 0.0

    def __post_init__(self):
        positive = ("resistance", "torque_constant", "inertia", "gear_ratio")
        for field in dataclasses.fields(self):
            given = getattr(self, field.name)
            if field.name == "back_emf" and given is None:
                given = self.torque_constant
            checked = at_least_zero(given, field.name, "Motor", above=field.name in positive)
            object.__setattr__(self, field.name, checked)
        try:
            np.broadcast_shapes(*(getattr(self, field.name).shape for field in dataclasses.fields(self)))
        except ValueError:
            shapes = ", ".join(f"{f.name} {getattr(self, f.name).shape}" for f in dataclasses.fields(self))
            raise ArgumentError(f"Motor: the shapes of its numbers do not match: {shapes}") from None


def need_motor(value, caller: str) -> None:
    """Raise `ArgumentError` if `value` is no `Motor`."""
    if not isinstance(value, Motor):
        raise ArgumentError(f"{caller} needs a Motor; got {type(value).__name__}")


def need_no_inductance(motor: Motor, caller: str) -> None:
    """Raise `ArgumentError` if the motor has an inductance, which `caller` would leave out."""
    if motor.inductance.any():
        raise ArgumentError(
            f"{caller} leaves the armature's inductance out; dataclasses.replace(motor, inductance=0.0) says so"
        )


def torque_drive(inertia, friction: ArrayLike = 0.0) -> Motor:
    """A joint whose torque is commanded, as a `Motor` of R_a = K_a = n = 1 and K_b = 0: a volt is a newton metre.

    So all of `servo_design` also speaks of J θ̈ + f θ̇ = τ under PD feedback, with gains in N m/rad and N m s/rad.
    """
    return Motor(resistance=1.0, torque_constant=1.0, back_emf=0.0, inertia=inertia, friction=friction)


def loaded(motor: Motor, inertia: ArrayLike = 0.0, friction: ArrayLike = 0.0) -> Motor:
    """The motor with a load at its joint: its rotor has J_eff = J_m + n² J_L and f_eff = f_m + n² f_L, (5.3-13).

        >>> M = aj.mass_matrix(robot, q)
        >>> motor = Motor(resistance=1.0, torque_constant=0.05, inertia=2e-4, gear_ratio=np.full(6, 0.01))
        >>> loaded(motor, np.diagonal(M)).inertia.shape         # joint by joint, the others held still
        (6,)

    `inertia` J_L [kg m²] and `friction` f_L [N m s/rad] of the load are those at the joint.
    """
    need_motor(motor, "loaded")
    J, f = (at_least_zero(x, name, "loaded") for x, name in ((inertia, "inertia"), (friction, "friction")))
    n_n = motor.gear_ratio**2
    return dataclasses.replace(motor, inertia=motor.inertia + n_n * J, friction=motor.friction + n_n * f)


def with_motors(robot: Robot, motor: Motor, *, back_emf: bool = False) -> Robot:
    """The robot with these motors' rotors at its joints: J_m / n² more armature, and f_m / n² more damping.

    (5.3-13) is at the motor's shaft; divided by n² it is at the joint, J_eff / n² = J_L + J_m / n². So a simulated
    robot whose links have J_L moves as the textbook's joint does. With `back_emf`, damping has K_a K_b / (R_a n²) more,
    the torque of the back-EMF: it then acts at every instant, also while a sampled law holds its voltage. Tell the law
    so: `servo(..., back_emf=False)`.

        >>> motor = Motor(resistance=1.0, torque_constant=0.05, inertia=2e-4, gear_ratio=0.01)
        >>> driven = with_motors(robot, motor)
        >>> bool(np.allclose(driven.armature - robot.armature, 2.0))
        True
    """
    need_robot(robot, "with_motors")
    need_motor(motor, "with_motors")
    n_n = motor.gear_ratio**2
    damping = motor.friction / n_n
    if truth(back_emf, "with_motors: back_emf"):
        damping = damping + motor.torque_constant * motor.back_emf / (motor.resistance * n_n)
    return robot.replace(armature=robot.armature + motor.inertia / n_n, damping=robot.damping + damping)


# --- voltage and torque -----------------------------------------------------------------------------------------------


def joint_torque(motor, voltage, velocity):
    """The torque at the joint, τ = K_a (V_a - K_b θ̇ / n) / (R_a n) [N m], of V_a [V] at the joint velocity θ̇.

    It is (5.3-14)-(5.3-16) without inductance; the rotor's own inertia and friction take a part of it.
    """
    n = motor.gear_ratio
    return motor.torque_constant * (voltage - motor.back_emf * velocity / n) / (motor.resistance * n)


def joint_voltage(motor, torque, velocity):
    """The voltage V_a = R_a n τ / K_a + K_b θ̇ / n [V] for a torque τ at the joint: the inverse of `joint_torque`."""
    n = motor.gear_ratio
    return motor.resistance * n * torque / motor.torque_constant + motor.back_emf * velocity / n


@dataclass(frozen=True, eq=False)
class VoltageTorqueCurve:
    """A measured curve from voltage to torque (Sec. 5.3.6): linear between its points, and flat beyond the last ones.

        >>> curve = VoltageTorqueCurve([-10.0, -1.0, 1.0, 10.0], [-50.0, -10.0, 0.0, 40.0])
        >>> float(curve_torque(curve, 5.5, velocity=0.2))
        20.0

    `voltages` (..., k) [V] and `torques` (..., k) [N m] are taken along the direction of motion: at a negative velocity
    both signs turn. Both increase, so that the curve has an inverse. Leading axes are joints.
    """

    voltages: Any
    torques: Any

    def __post_init__(self):
        for name in ("voltages", "torques"):
            x = floats(getattr(self, name))
            if x.ndim == 0 or x.shape[-1] < 2 or not np.isfinite(x).all() or not (np.diff(x) > 0).all():
                raise ArgumentError(f"VoltageTorqueCurve: {name} must be two or more finite numbers that increase")
            object.__setattr__(self, name, x)
        if self.voltages.shape != self.torques.shape:
            raise ArgumentError(
                f"VoltageTorqueCurve: voltages have shape {self.voltages.shape}, torques {self.torques.shape}; "
                "they must have the same"
            )


def friction_curve(*, slope, friction_voltage, limit, friction_torque=None, braking_slope=None) -> VoltageTorqueCurve:
    """The curve of Fig. 5.9, from the drive V_φ that overcomes friction, the torque F_φ and the slopes.

        >>> curve = friction_curve(slope=2.0, friction_voltage=1.0, limit=12.0)
        >>> float(curve_torque(curve, 6.0, velocity=1.0)), float(curve_torque(curve, 20.0, velocity=1.0))
        (10.0, 22.0)

    At `friction_voltage` V_φ [V] the joint moves on at constant velocity and exerts no torque; at the same drive but a
    negative velocity it exerts `friction_torque` F_φ [N m], by default 2 `slope` V_φ, that of dry friction alone.
    `slope` [N m/V] holds beyond V_φ, `braking_slope` (by default the same) against the motion. The drive ends at
    `limit` [V].
    """
    given = {"slope": slope, "friction_voltage": friction_voltage, "limit": limit}
    k, V, V_max = (at_least_zero(x, name, "friction_curve", above=True) for name, x in given.items())
    F = 2 * k * V if friction_torque is None else friction_torque
    F = at_least_zero(F, "friction_torque", "friction_curve", above=True)
    brake = at_least_zero(k if braking_slope is None else braking_slope, "braking_slope", "friction_curve", above=True)
    if not (V_max > V).all():
        raise ArgumentError("friction_curve: limit must be above friction_voltage; else nothing ever moves")
    points = np.broadcast_arrays(-V_max, -V, V, V_max, -F - brake * (V_max - V), -F, 0.0, k * (V_max - V))
    return VoltageTorqueCurve(np.stack(points[:4], axis=-1), np.stack(points[4:], axis=-1))


def curve_torque(curve, voltage, velocity):
    """The torque [N m] that a curve gives for a voltage [V], while the joint moves with this velocity.

    A joint at rest moves in the direction of its voltage, or, if friction is stronger, stays and gets no torque.
    """
    way = _direction(velocity, voltage)
    along = _interpolated(way * voltage, curve.voltages, curve.torques)
    return way * np.where(velocity != 0, along, np.maximum(along, 0.0))


def curve_voltage(curve, torque, velocity):
    """The voltage [V] for which a curve gives a torque [N m]: the inverse of `curve_torque`, up to saturation.

    A joint at rest is about to move in the direction of the torque.
    """
    way = _direction(velocity, torque)
    return way * _interpolated(way * torque, curve.torques, curve.voltages)


def _direction(velocity, effort):
    """The sign of the velocity; at rest that of the effort."""
    return np.where(velocity != 0, np.sign(velocity), np.sign(effort))


def _interpolated(x, xs, ys):
    """The value at x of the function that is linear between the points (xs, ys) (..., k), and flat beyond them."""
    y = ys[..., 0]
    for i in range(np.shape(xs)[-1] - 1):
        width = xs[..., i + 1] - xs[..., i]
        rise = (ys[..., i + 1] - ys[..., i]) / width
        y = y + rise * np.minimum(np.maximum(x - xs[..., i], 0.0), width)
    return y


# --- transfer functions -----------------------------------------------------------------------------------------------


class TransferFunction(NamedTuple):
    """A transfer function: coefficients (..., k) of its numerator and denominator, highest power of s first.

    It is what `scipy.signal` takes as a system: `scipy.signal.step(motor_transfer(motor))`.
    """

    numerator: np.ndarray
    denominator: np.ndarray


def motor_gain(motor: Motor) -> np.ndarray:
    """The motor gain K = K_a / (R_a f_eff + K_a K_b) [rad/(V s)] of (5.3-21): the shaft's speed for each volt."""
    need_motor(motor, "motor_gain")
    return motor.torque_constant / voltage_friction(motor)


def motor_time_constant(motor: Motor) -> np.ndarray:
    """The motor time constant T_m = R_a J_eff / (R_a f_eff + K_a K_b) [s] of (5.3-21), without inductance."""
    need_motor(motor, "motor_time_constant")
    return motor.resistance * motor.inertia / voltage_friction(motor)


def voltage_friction(motor: Motor) -> np.ndarray:
    """R_a f_eff + K_a K_b: what friction and back-EMF do together."""
    return motor.resistance * motor.friction + motor.torque_constant * motor.back_emf


def motor_transfer(motor: Motor) -> TransferFunction:
    """Θ_m / V_a = K_a / (s [s² J_eff L_a + s (L_a f_eff + R_a J_eff) + R_a f_eff + K_a K_b]), (5.3-20).

    The result is (5.3-21), of one order less, if there is no inductance.
    """
    need_motor(motor, "motor_transfer")
    return TransferFunction(polynomial(motor.torque_constant), polynomial(*motor_polynomial(motor), 0.0))


def joint_transfer(motor: Motor) -> TransferFunction:
    """Θ_L / V_a = n Θ_m / V_a, (5.3-22): from the voltage to the angle of the joint."""
    numerator, denominator = motor_transfer(motor)
    return TransferFunction(motor.gear_ratio[..., None] * numerator, denominator)


def motor_polynomial(motor: Motor) -> tuple:
    """The coefficients of s² J L + s (L f + R J) + R f + K_a K_b, highest power first; two of them without L."""
    R, L, J, f = motor.resistance, motor.inductance, motor.inertia, motor.friction
    lower = L * f + R * J, voltage_friction(motor)
    return (J * L, *lower) if L.any() else lower


def polynomial(*coefficients) -> np.ndarray:
    """Coefficients as one array (..., k)."""
    return np.stack(np.broadcast_arrays(*coefficients), axis=-1).astype(float)
