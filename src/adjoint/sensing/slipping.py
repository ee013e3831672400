"""A slip sensor: a dimpled ball shakes a disk over a ring of contacts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from .noise import QUIET, Noise
from .sensor_data import SensorData, need_sensor, readings_of

__all__ = ["SlipBall", "SlipSignal", "slip_direction", "slip_signal", "slip_vector"]


@dataclass(frozen=True, eq=False)
class SlipBall(SensorData):
    """A free ball with dimples `spacing` [m] apart, whose rod shakes a disk over so many `contacts`, evenly spaced.

        >>> sensor = SlipBall(spacing=1e-3, contacts=16)

    Contact k lies at the angle 2πk / contacts from the sensor's x axis. `noise` is that of the frequency [Hz].
    Bejczy (1980), after Fu, Gonzalez & Lee (1987), Fig. 6.21.
    """

    spacing: float
    contacts: int
    noise: Noise = QUIET

    POSITIVE = ("spacing",)
    WHOLE = ("contacts",)

    def __post_init__(self):
        super().__post_init__()
        if self.contacts < 3:
            raise ArgumentError(f"SlipBall: contacts must be 3 or more, got {self.contacts}")


class SlipSignal(NamedTuple):
    """The `frequency` [Hz] of the vibration, and the number of the `contact` that the disk touches."""

    frequency: np.ndarray
    contact: np.ndarray


@kernel(sensor=static, velocity=2)
def slip_signal(sensor: SlipBall, velocity) -> SlipSignal:
    """The frequency |v| / spacing [Hz] and the contact nearest to the direction of the slip `velocity` v (2,) [m/s].

    The ball rolls with the surface that slips past it. At rest nothing vibrates, and contact 0 is named.

        >>> signal = slip_signal(SlipBall(spacing=1e-3, contacts=16), [0.0, 0.02])
        >>> float(signal.frequency), float(signal.contact)
        (20.0, 4.0)
    """
    need_sensor(sensor, SlipBall, "slip_signal")
    n = sensor.contacts
    k = np.floor(np.arctan2(velocity[1], velocity[0]) * (n / (2 * np.pi)) + 0.5)
    return SlipSignal(np.hypot(velocity[0], velocity[1]) / sensor.spacing, np.where(k < 0, k + n, k))


@kernel(sensor=static)
def slip_vector(sensor: SlipBall, frequency, contact):
    """The slip velocity (2,) [m/s] of a `frequency` [Hz] and the number of a `contact`: the inverse of `slip_signal`.

    The speed is exact, the direction good to ± π / contacts.

        >>> slip_vector(SlipBall(spacing=1e-3, contacts=16), 20.0, 4.0).round(9)
        array([0.  , 0.02])
    """
    need_sensor(sensor, SlipBall, "slip_vector")
    angle, speed = contact * (2 * np.pi / sensor.contacts), sensor.spacing * frequency
    return np.stack([speed * np.cos(angle), speed * np.sin(angle)])


def slip_direction(sensor: SlipBall, counts) -> np.ndarray:
    """The average direction [rad] of slip, from how often each contact was touched: `counts` (..., contacts).

    It is the direction of Σ counts_k (cos α_k, sin α_k), finer than one contact if several are touched; NaN without a
    touch.

        >>> float(slip_direction(SlipBall(spacing=1e-3, contacts=4), [2, 2, 0, 0])).__round__(6)
        0.785398
    """
    need_sensor(sensor, SlipBall, "slip_direction")
    weight = readings_of(counts, "counts", "slip_direction", sensor.contacts)
    angles = 2 * np.pi / sensor.contacts * np.arange(sensor.contacts)
    x, y = weight @ np.cos(angles), weight @ np.sin(angles)
    return np.where(np.hypot(x, y) > 1e-12 * np.abs(weight).sum(axis=-1), np.arctan2(y, x), np.nan)
