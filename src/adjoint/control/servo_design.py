"""The theory of the joint servo: closed loops of P and PD feedback around a motor, gains, errors and sampling.

The servo sets the voltage V_a = (K_p e + K_v ė) / n, (5.3-27), where e = θ_d - θ is the error of the joint, and the
functions call its gains `kp` [V/rad] and `kd` [V s/rad], the book's K_v. The `motor` is always the one with its load,
`loaded(motor, J_L, f_L)`: its inertia is J_eff, and its friction f_eff. For a joint whose torque is commanded, use
`torque_drive(J, f)`; gains are then in N m/rad and N m s/rad. All numbers may be arrays, which broadcast.

Equation numbers are those of Fu, Gonzalez & Lee, "Robotics" (1987), chapter 5. With Δ(s) we mean the denominator of
all closed loops, Δ = s² R_a J_eff + s (R_a f_eff + K_a K_b + K_a K_v) + K_a K_p.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import ArgumentError
from ..model.input_checks import floats, one_of
from .gains import at_least_zero
from .motors import (
    Motor,
    TransferFunction,
    motor_polynomial,
    need_motor,
    need_no_inductance,
    polynomial,
    voltage_friction,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "closed_loop",
    "damping_ratio",
    "disturbance_transfer",
    "gain_for_frequency",
    "largest_kp",
    "largest_period",
    "natural_frequency",
    "open_loop",
    "poles",
    "ramp_error",
    "resonance",
    "sampled_poles",
    "sampling_period",
    "smallest_kd",
    "step_error",
]

_RATES = ("error", "output")


def __dir__() -> list[str]:
    return __all__


# --- transfer functions -----------------------------------------------------------------------------------------------


def open_loop(motor: Motor, kp, kd: ArrayLike = 0.0, *, rate: str = "error") -> TransferFunction:
    """G = Θ_L / E = K_a (K_p + s K_v) / (s [s R_a J_eff + R_a f_eff + K_a K_b]), (5.3-28); with kd = 0 it is (5.3-25).

    If the `rate` that is fed back is that of the "output" alone, V_a = (K_p e - K_v θ̇) / n, the loop is that of Problem
    5.1: G = K_a K_p / (s [s R_a J_eff + R_a f_eff + K_a K_b + K_a K_v]).
    """
    kp, kd = _gains(motor, kp, kd, rate, "open_loop")
    K, (*leading, last) = motor.torque_constant, motor_polynomial(motor)
    if rate == "output":
        return TransferFunction(polynomial(K * kp), polynomial(*leading, last + K * kd, 0.0))
    numerator = polynomial(K * kd, K * kp) if kd.any() else polynomial(K * kp)
    return TransferFunction(numerator, polynomial(*leading, last, 0.0))


def closed_loop(motor: Motor, kp, kd: ArrayLike = 0.0, *, rate: str = "error") -> TransferFunction:
    """Θ_L / Θ_d = G / (1 + G) = K_a (K_v s + K_p) / Δ(s), (5.3-29); with kd = 0 it is (5.3-26).

        >>> motor = aj.control.Motor(resistance=1.0, torque_constant=0.05, inertia=4e-4, friction=5e-4, gear_ratio=0.01)
        >>> poles(closed_loop(motor, kp=5.0, kd=0.34)).real.round(3).tolist()
        [-25.0, -25.0]

    The zero at -K_p / K_v lets the step response overshoot even if both poles are real. With `rate="output"`, Problem
    5.1, it is K_a K_p / Δ(s): without the zero, and without overshoot for ζ >= 1.
    """
    numerator, denominator = open_loop(motor, kp, kd, rate=rate)
    missing = denominator.shape[-1] - numerator.shape[-1]
    added = np.concatenate([np.zeros((*numerator.shape[:-1], missing)), numerator], axis=-1)
    return TransferFunction(numerator, denominator + added)


def disturbance_transfer(motor: Motor, kp, kd: ArrayLike = 0.0) -> TransferFunction:
    """Θ_L / D = -n R_a / Δ(s), (5.3-31), of a disturbing torque D at the motor's shaft; τ_D at the joint is D = n τ_D.

    With an inductance, R_a becomes R_a + s L_a.
    """
    need_motor(motor, "disturbance_transfer")
    n, R, L = motor.gear_ratio, motor.resistance, motor.inductance
    numerator = polynomial(-n * L, -n * R) if L.any() else polynomial(-n * R)
    return TransferFunction(numerator, closed_loop(motor, kp, kd).denominator)


def poles(transfer: TransferFunction) -> np.ndarray:
    """The poles (..., k) [rad/s] of a transfer function: the zeros of its denominator, as complex numbers."""
    a = floats(transfer[1] if isinstance(transfer, tuple) and len(transfer) == 2 else None)
    if a.ndim == 0 or not np.isfinite(a).all() or not a[..., 0].all():
        raise ArgumentError("poles: the first coefficient of the denominator must not be 0, and all must be finite")
    companion = np.zeros((*a.shape[:-1], a.shape[-1] - 1, a.shape[-1] - 1))
    companion[..., 0, :] = -a[..., 1:] / a[..., :1]
    companion[..., 1:, :-1] = np.eye(a.shape[-1] - 2)
    return np.linalg.eigvals(companion).astype(complex)


# --- gains ------------------------------------------------------------------------------------------------------------


def natural_frequency(motor: Motor, kp) -> np.ndarray:
    """The undamped natural frequency ω_n = √(K_a K_p / (J_eff R_a)) [rad/s], (5.3-34)."""
    kp, _ = _gains(motor, kp, 0.0, "error", "natural_frequency")
    return np.sqrt(motor.torque_constant * kp / (motor.inertia * motor.resistance))


def damping_ratio(motor: Motor, kp, kd: ArrayLike = 0.0) -> np.ndarray:
    """The damping ratio ζ = (R_a f_eff + K_a K_b + K_a K_v) / (2 √(K_a K_p J_eff R_a)), (5.3-37).

    It should be 1 or more. For a fixed `kd` it falls with the load as 1 / √J_eff: choose gains at the largest load.
    """
    kp, kd = _gains(motor, kp, kd, "error", "damping_ratio")
    K = motor.torque_constant
    return (voltage_friction(motor) + K * kd) / (2 * np.sqrt(K * kp * motor.inertia * motor.resistance))


def gain_for_frequency(motor: Motor, frequency) -> np.ndarray:
    """The gain K_p = ω_n² J_eff R_a / K_a [V/rad] that gives the natural frequency ω_n [rad/s], (5.3-36)."""
    need_motor(motor, "gain_for_frequency")
    omega = at_least_zero(frequency, "frequency", "gain_for_frequency", above=True)
    return omega**2 * motor.inertia * motor.resistance / motor.torque_constant


def resonance(inertia, *, measured, at_inertia) -> np.ndarray:
    """The structural resonance ω_r = ω_0 √(J_0 / J_eff) [rad/s] at another inertia, (5.3-43).

    ω_0, `measured` at the inertia J_0, `at_inertia`, gives the stiffness k = ω_0² J_0 of the joint. (The restoring
    torque of (5.3-40) is k θ_m; the book prints k θ̇_m.)
    """
    J, omega, J_0 = (
        at_least_zero(x, name, "resonance", above=True)
        for x, name in ((inertia, "inertia"), (measured, "measured"), (at_inertia, "at_inertia"))
    )
    return omega * np.sqrt(J_0 / J)


def largest_kp(motor: Motor, *, resonance, at_inertia) -> np.ndarray:
    """The largest gain K_p = ω_0² J_0 R_a / (4 K_a) [V/rad], (5.3-45): it keeps ω_n at or below half the resonance.

    The joint has its structural `resonance` ω_0 [rad/s] `at_inertia` J_0 [kg m²], seen at the motor's shaft. The bound
    is the same for every load, as ω_n and the resonance change alike.

        >>> motor = aj.control.Motor(resistance=1.0, torque_constant=0.05, inertia=1e-3)
        >>> float(largest_kp(motor, resonance=50.0, at_inertia=4e-4))
        5.0
    """
    need_motor(motor, "largest_kp")
    omega = at_least_zero(resonance, "resonance", "largest_kp", above=True)
    J_0 = at_least_zero(at_inertia, "at_inertia", "largest_kp", above=True)
    return omega**2 * J_0 * motor.resistance / (4 * motor.torque_constant)


def smallest_kd(motor: Motor, kp) -> np.ndarray:
    """The smallest K_v = [2 √(K_a K_p J_eff R_a) - R_a f_eff - K_a K_b] / K_a [V s/rad] with ζ >= 1, (5.3-38).

    It is (5.3-46) for `kp=largest_kp(...)`. Where the formula is negative, friction and back-EMF alone damp the joint
    enough, and the result is 0: a negative gain would only take damping away.
    """
    kp, _ = _gains(motor, kp, 0.0, "error", "smallest_kd")
    K = motor.torque_constant
    return np.maximum((2 * np.sqrt(K * kp * motor.inertia * motor.resistance) - voltage_friction(motor)) / K, 0.0)


# --- errors that stay -------------------------------------------------------------------------------------------------


def step_error(motor: Motor, kp, *, disturbance) -> np.ndarray:
    """The error of the joint that stays after a step, e = n R_a T_e / (K_a K_p) [rad], (5.3-53).

    `disturbance` T_e [N m] is the constant torque at the motor's shaft (n times that at the joint) that no
    feed-forward has taken away. The same holds if the rate of the output alone is fed back, Problem 5.2.
    """
    kp, _ = _gains(motor, kp, 0.0, "error", "step_error")
    return motor.gear_ratio * motor.resistance * _finite(disturbance, "disturbance", "step_error") / (
        motor.torque_constant * kp
    )  # fmt: skip


def ramp_error(
    motor: Motor, kp, kd: ArrayLike = 0.0, *, velocity, disturbance: ArrayLike = 0.0, rate: str = "error"
) -> np.ndarray:
    """The error of the joint [rad] that stays while θ_d grows with a `velocity` A [rad/s], (5.3-56).

    It is (R_a f_eff + K_a K_b) A / (K_a K_p) + `step_error`, whatever kd is, as the rate of θ_d is fed forward. (The
    book calls it a velocity error; it is an error of the position.) With `rate="output"`, Problem 5.2, K_a K_v adds to
    the bracket.
    """
    kp, kd = _gains(motor, kp, kd, rate, "ramp_error")
    K = motor.torque_constant
    drag = voltage_friction(motor) + (K * kd if rate == "output" else 0.0)
    slope = _finite(velocity, "velocity", "ramp_error")
    return drag * slope / (K * kp) + step_error(motor, kp, disturbance=disturbance)


# --- sampling ---------------------------------------------------------------------------------------------------------


def sampling_period(frequency) -> np.ndarray:
    """The sampling period Δt = 1 / (20 f_n) = 2π / (20 ω_n) [s] for a natural frequency ω_n [rad/s], (5.3-70).

    >>> float(sampling_period(2 * np.pi * 4.0))
    0.0125
    """
    return 2 * np.pi / (20 * at_least_zero(frequency, "frequency", "sampling_period", above=True))


def sampled_poles(motor: Motor, kp, kd: ArrayLike = 0.0, *, period) -> np.ndarray:
    """The two poles (..., 2) in z of the sampled servo; it is stable if both are inside the unit circle.

    Every `period` T [s] the servo reads θ and θ̇ and sets a voltage, which is held until the next instant. In between
    the motor moves by itself, which is integrated exactly. With J = R_a J_eff / K_a, f = f_eff R_a / K_a + K_b and
    J θ̈ + f θ̇ = u, where u = -K_p θ - K_v θ̇ is held,

        θ' = θ + a θ̇ + b u,   θ̇' = φ θ̇ + (a / J) u,   φ = exp(-f T / J),   a = J (1 - φ) / f,   b = (T - a) / f.

        >>> joint = aj.control.torque_drive(inertia=1.0)
        >>> sampled_poles(joint, kp=100.0, kd=20.0, period=0.02).real.round(3).tolist()
        [0.854, 0.726]
    """
    kp, kd = _gains(motor, kp, kd, "error", "sampled_poles")
    need_no_inductance(motor, "sampled_poles")
    T = at_least_zero(period, "period", "sampled_poles", above=True)
    middle, last = _sampled_polynomial(motor, kp, kd, T)
    root = np.sqrt((middle / 2) ** 2 - last + 0j)
    return np.stack([middle / 2 + root, middle / 2 - root], axis=-1)


def _sampled_polynomial(motor: Motor, kp, kd, T) -> tuple:
    """The trace and the determinant of one period: its poles are the zeros of z² - trace z + determinant."""
    J = motor.resistance * motor.inertia / motor.torque_constant
    x = voltage_friction(motor) / motor.torque_constant * T / J
    few, safe = x < 1e-3, np.where(x < 1e-3, 1.0, x)  # from there on, less than 4e-13 of the results cancels
    one = np.where(few, 1 - x / 2 + x * x / 6 - x**3 / 24, -np.expm1(-safe) / safe)
    two = np.where(few, 0.5 - x / 6 + x * x / 24 - x**3 / 120, (safe + np.expm1(-safe)) / safe**2)
    a, b, c, phi = T * one, T * T / J * two, T / J * one, np.exp(-x)
    return 1 - b * kp + phi - c * kd, (1 - b * kp) * (phi - c * kd) + c * kp * (a - b * kd)


def largest_period(motor: Motor, kp, kd) -> np.ndarray:
    """The period [s] at which the sampled servo becomes unstable: below it, both `sampled_poles` are inside the circle.

    Without friction and back-EMF it is min(2 kd / kp, 2 J / kd); at critical damping that is 1 / ω_n, which is 10 / π
    times the textbook's 1 / (20 f_n). With them it is found by bisection. The result is 0 if no period is stable, for
    undamped joints.

        >>> float(largest_period(aj.control.torque_drive(inertia=1.0), kp=100.0, kd=20.0))
        0.1
    """
    kp, kd = _gains(motor, kp, kd, "error", "largest_period")
    need_no_inductance(motor, "largest_period")
    J, drag = motor.resistance * motor.inertia / motor.torque_constant, voltage_friction(motor)
    plain = np.where(kd > 0, np.minimum(2 * kd / kp, 2 * J / np.where(kd > 0, kd, 1.0)), 0.0)
    return np.where(drag > 0, _first_unstable(motor, kp, kd), plain)[()] if drag.any() else plain[()]


def _first_unstable(motor: Motor, kp, kd) -> np.ndarray:
    """The least period with a pole on the unit circle, by a search over periods of 1e-4 to 1e4 of 1 / ω, and bisection.

    Of the conditions of Jury, 1 - tr + det > 0 always holds for kp > 0.
    """

    def stable(T):
        trace, determinant = _sampled_polynomial(motor, kp, kd, T)
        return (determinant < 1) & (1 + trace + determinant > 0)

    unit, _ = np.broadcast_arrays(1 / natural_frequency(motor, kp), voltage_friction(motor) + kd)
    factors = np.geomspace(1e-4, 1e4, 400)
    good = np.stack([stable(unit * factor) for factor in factors])
    first = np.argmin(good, axis=0)  # the first period that is not stable; kp > 0 makes long ones unstable
    low, high = unit * np.where(first > 0, factors[first - 1], 0.0), unit * factors[first]
    for _ in range(60):
        middle = (low + high) / 2
        fine = stable(middle)
        low, high = np.where(fine, middle, low), np.where(fine, high, middle)
    return low


# --- checks -----------------------------------------------------------------------------------------------------------


def _gains(motor, kp, kd, rate: str, caller: str) -> tuple[np.ndarray, np.ndarray]:
    need_motor(motor, caller)
    one_of(rate, _RATES, f"{caller}: rate")
    return at_least_zero(kp, "kp", caller, above=True), at_least_zero(kd, "kd", caller)


def _finite(value, name: str, caller: str) -> np.ndarray:
    x = floats(value)
    if not np.isfinite(x).all():
        raise ArgumentError(f"{caller}: {name} must be finite numbers; got {value!r}")
    return x
