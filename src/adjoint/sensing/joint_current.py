"""Torque of a joint from the current of its motor: force sensing without a force sensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..control.motors import Motor, need_motor
from ..errors import ArgumentError
from .sensor_data import readings_of

__all__ = ["current_torque", "current_torque_sigma", "torque_current"]


def current_torque(motor: Motor, current, velocity=0.0, acceleration=0.0) -> np.ndarray:
    """The torque [N m] at the joint, τ = (K_a i - J_m θ̈_m - f_m θ̇_m) / n, of a motor's armature `current` i [A].

    The motor turns with θ_m = θ / n, so its rotor and its friction take their part of K_a i; `velocity` [rad/s] and
    `acceleration` [rad/s²] are those of the joint. Friction in the gear is not seen. It is the sensing of joints of Fu,
    Gonzalez & Lee (1987), section 6.5, with the motor of their section 5.3.

        >>> motor = aj.control.Motor(resistance=1.0, torque_constant=0.05, inertia=4e-4, gear_ratio=0.01)
        >>> float(current_torque(motor, 2.0))
        10.0
    """
    need_motor(motor, "current_torque")
    given = {"current": current, "velocity": velocity, "acceleration": acceleration}
    i, rotor = _with_rotor(motor, given, "current_torque")
    return (motor.torque_constant * i - rotor) / motor.gear_ratio


def torque_current(motor: Motor, torque, velocity=0.0, acceleration=0.0) -> np.ndarray:
    """The current [A] with which a motor gives its joint a `torque` [N m]: the inverse of `current_torque`.

    >>> motor = aj.control.Motor(resistance=1.0, torque_constant=0.05, inertia=4e-4, gear_ratio=0.01)
    >>> float(torque_current(motor, 10.0))
    2.0
    """
    need_motor(motor, "torque_current")
    given = {"torque": torque, "velocity": velocity, "acceleration": acceleration}
    tau, rotor = _with_rotor(motor, given, "torque_current")
    return (motor.gear_ratio * tau + rotor) / motor.torque_constant


def current_torque_sigma(motor: Motor, sigma) -> np.ndarray:
    """The standard deviation K_a σ_i / n [N m] of the torque, for a current with the standard deviation `sigma` [A].

    >>> motor = aj.control.Motor(resistance=1.0, torque_constant=0.05, inertia=4e-4, gear_ratio=0.01)
    >>> float(current_torque_sigma(motor, 0.02)).__round__(6)
    0.1
    """
    need_motor(motor, "current_torque_sigma")
    return motor.torque_constant * readings_of(sigma, "sigma", "current_torque_sigma") / motor.gear_ratio


def _with_rotor(motor: Motor, given: dict[str, Any], caller: str) -> tuple[np.ndarray, np.ndarray]:
    """The first of the given values, and the torque [N m] at the shaft that the rotor's inertia and friction take."""
    arrays = {name: readings_of(x, name, caller) for name, x in given.items()}
    try:
        np.broadcast_shapes(motor.inertia.shape, motor.gear_ratio.shape, *(x.shape for x in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {x.shape}" for name, x in arrays.items())
        raise ArgumentError(f"{caller}: shapes do not match each other and those of the motor: {shapes}") from None
    first, v, a = arrays.values()
    return first, (motor.inertia * a + motor.friction * v) / motor.gear_ratio
