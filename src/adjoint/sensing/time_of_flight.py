"""Range by the time that a pulse of light or sound takes to an object and back."""

from __future__ import annotations

from dataclasses import dataclass

from ..compile import kernel, static
from .noise import QUIET, Noise, noise_sigma
from .sensor_data import SensorData, need_sensor
from .ultrasonics import Ultrasonic

__all__ = ["SPEED_OF_LIGHT", "PulsedRange", "flight_distance", "flight_distance_sigma", "flight_time"]

SPEED_OF_LIGHT = 299_792_458.0
"""The speed of light in vacuum [m/s]; the textbook calculates with 3e8."""


@dataclass(frozen=True, eq=False)
class PulsedRange(SensorData):
    """A range finder with light pulses that return along their own path; `noise` is that of the time [s].

        >>> laser = PulsedRange(noise=Noise(step=50e-12))           # a timer with ticks of 50 ps

    `speed` [m/s] is that of light in vacuum by default.
    """

    speed: float = SPEED_OF_LIGHT
    noise: Noise = QUIET

    POSITIVE = ("speed",)


_KINDS = (PulsedRange, Ultrasonic)


@kernel(sensor=static)
def flight_time(sensor: PulsedRange | Ultrasonic, distance):
    """The time T = 2 D / c [s] after which the pulse is back from an object at `distance` D [m].

    >>> float(flight_time(PulsedRange(), 1.5)).__round__(12)
    1.0007e-08
    """
    need_sensor(sensor, _KINDS, "flight_time")
    return 2 * distance / sensor.speed


@kernel(sensor=static)
def flight_distance(sensor: PulsedRange | Ultrasonic, time):
    """The distance D = c T / 2 [m] of an object from which the pulse is back after `time` T [s].

    Fu, Gonzalez & Lee (1987), section 6.2.3.

        >>> float(flight_distance(PulsedRange(), 50e-12)).__round__(6)
        0.007495
    """
    need_sensor(sensor, _KINDS, "flight_distance")
    return sensor.speed * time / 2


@kernel(sensor=static, sigma=())
def flight_distance_sigma(sensor: PulsedRange | Ultrasonic, *, sigma=None):
    """The standard deviation c σ_T / 2 [m] of a distance; `sigma` σ_T [s] is that of the sensor's `noise` by default.

    >>> float(flight_distance_sigma(PulsedRange(), sigma=50e-12)).__round__(6)
    0.007495
    """
    need_sensor(sensor, _KINDS, "flight_distance_sigma")
    return sensor.speed / 2 * (noise_sigma(sensor.noise) if sigma is None else sigma)
