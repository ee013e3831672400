"""Ultrasonic range: the nearest surface in a cone, not nearer than ring-down and not farther than repetition allow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..compile import kernel, scan, static
from ..errors import ArgumentError
from .noise import QUIET, Noise
from .sensor_data import SensorData, need_sensor

__all__ = ["Ultrasonic", "beam_distance", "polaroid_ranger", "sound_speed"]

_FOOT = 0.3048  # [m]


@dataclass(frozen=True, eq=False)
class Ultrasonic(SensorData):
    """An ultrasonic range finder, whose one transducer sends a pulse and then listens.

        >>> sonar = Ultrasonic(pulse=1e-4, ring_down=4e-4, period=0.02)

    - `pulse` [s] is the length of a pulse, `ring_down` [s] the time until the transducer is quiet after it: echoes that
      are back earlier are lost, so `least_distance` is v (pulse + ring_down) / 2.
    - `period` [s] is the time from pulse to pulse: `greatest_distance` is v period / 2.
    - `beam_angle` [rad] is the whole angle of the cone that is heard, `speed` v [m/s] that of sound.
    - `noise` is that of the time of an echo [s].
    """

    pulse: float
    ring_down: float
    period: float
    beam_angle: float = np.pi / 6
    speed: float = 344.0
    noise: Noise = QUIET

    POSITIVE = ("pulse", "period", "beam_angle", "speed")
    NOT_NEGATIVE = ("ring_down",)

    def __post_init__(self):
        super().__post_init__()
        if not self.period > self.pulse + self.ring_down:
            raise ArgumentError(f"Ultrasonic: period must be longer than pulse and ring_down, got {self.period:g} s")
        if not self.beam_angle < 2 * np.pi:
            raise ArgumentError(f"Ultrasonic: beam_angle must be below 2π [rad], got {self.beam_angle:g}; degrees?")

    @property
    def least_distance(self):
        """The distance [m] below which the echo is lost in the transducer's own ringing."""
        return self.speed * (self.pulse + self.ring_down) / 2

    @property
    def greatest_distance(self):
        """The distance [m] from which echoes are back at the next pulse."""
        return self.speed * self.period / 2


def polaroid_ranger(*, speed: float = 344.0) -> Ultrasonic:
    """The `Ultrasonic` of the textbook: a 1 ms chirp, 0.9 to 35 ft, a beam of 30°, and an accuracy of about 1 inch.

    The accuracy counts as two standard deviations of the distance. Fu, Gonzalez & Lee (1987), section 6.2.3.

        >>> sonar = polaroid_ranger()
        >>> round(sonar.least_distance, 4), round(sonar.greatest_distance, 3)
        (0.2743, 10.668)
    """
    least, greatest = 2 * 0.9 * _FOOT / speed, 2 * 35 * _FOOT / speed
    return Ultrasonic(1e-3, least - 1e-3, greatest, speed=speed, noise=Noise(sigma=_FOOT / 12 / speed))


@kernel
def sound_speed(celsius):
    """The speed of sound in dry air [m/s] at a temperature in degrees Celsius, 331.3 √(1 + T / 273.15).

    >>> float(sound_speed(20.0)).__round__(1)
    343.2
    """
    return 331.3 * np.sqrt(1 + celsius / 273.15)


@kernel(sensor=static, points=(..., 3))
def beam_distance(sensor: Ultrasonic, points):
    """The distance [m] that the sensor reads, if surfaces reflect at the `points` (n, 3) [m], or NaN if it hears none.

    The transducer is at the origin and looks along +z. It reads the nearest point inside its cone that is farther than
    `least_distance` and nearer than `greatest_distance`. So a nearer object hides what is behind it, also to the side:
    where in the cone an echo comes from, the sensor does not tell. A noisy reading is
    `flight_distance(sensor, noisy(flight_time(sensor, distance), sensor.noise))`.

        >>> sonar = Ultrasonic(pulse=1e-4, ring_down=4e-4, period=0.02)
        >>> float(beam_distance(sonar, [[0, 0, 0.05], [1, 0, 1], [0.1, 0, 1.0], [0, 0, 2.0]]).round(6))
        1.004988
    """
    need_sensor(sensor, Ultrasonic, "beam_distance")
    cosine = np.cos(sensor.beam_angle / 2)

    def nearer(best, x):
        d = np.sqrt(np.dot(x, x))
        heard = (x[2] >= cosine * d) & (d >= sensor.least_distance) & (d < sensor.greatest_distance)
        return np.where(heard, np.minimum(best, d), best), None

    best, _ = scan(nearer, np.inf, points)
    return np.where(best < np.inf, best, np.nan)
