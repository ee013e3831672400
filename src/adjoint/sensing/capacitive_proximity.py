"""A capacitive proximity sensor: capacitance beside a surface of any material, an oscillator, and a phase shift."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..compile import kernel, static
from .noise import QUIET, Noise
from .sensor_data import SensorData, need_sensor

__all__ = [
    "CapacitiveProximity",
    "capacitance_change",
    "capacitive_detected",
    "capacitive_distance",
    "capacitive_phase",
    "capacitive_phase_change",
    "oscillation",
]

_VACUUM = 8.8541878128e-12  # [F/m] the permittivity of vacuum


@dataclass(frozen=True, eq=False)
class CapacitiveProximity(SensorData):
    """A capacitive sensor, an electrode whose capacitance rises near to any solid or liquid.

        >>> sensor = CapacitiveProximity(capacitance=1e-12, area=3e-4, threshold=0.1)

    - `capacitance` C_0 [F] without an object, `area` A [m²] of the electrode.
    - Detection needs a relative change ΔC / C_0 above the `threshold` T.
    - `drive_frequency` [Hz] and `drive_resistance` [Ω] are those of the sine wave that `capacitive_phase` speaks of.
    - `noise` is that of the relative change.
    """

    capacitance: float
    area: float
    threshold: float
    drive_frequency: float = 1e5
    drive_resistance: float = 1.6e6
    noise: Noise = QUIET

    POSITIVE = ("capacitance", "area", "threshold", "drive_frequency", "drive_resistance")


@kernel(sensor=static)
def capacitance_change(sensor: CapacitiveProximity, distance, thickness=0.0, permittivity=1.0):
    """The relative change ΔC / C_0 = ε_0 A / (C_0 (d + w / ε_r)) that a grounded surface at `distance` d [m] makes.

    The electrode and the ground behind the material are the plates of a capacitor; between them lie the gap d of air
    and a layer of `thickness` w [m] with the relative `permittivity` ε_r. A metal has w = 0. (Fig. 6.13 of the textbook
    shows the same for several materials: the change falls like 1/d, and is smaller for insulators.)

        >>> sensor = CapacitiveProximity(capacitance=1e-12, area=3e-4, threshold=0.1)
        >>> capacitance_change(sensor, 2e-3, [0.0, 0.01], [1.0, 4.0]).round(4)
        array([1.3281, 0.5903])
    """
    need_sensor(sensor, CapacitiveProximity, "capacitance_change")
    return _VACUUM * sensor.area / (sensor.capacitance * (distance + thickness / permittivity))


@kernel(sensor=static)
def capacitive_distance(sensor: CapacitiveProximity, change, thickness=0.0, permittivity=1.0):
    """The distance [m] of a known material that makes this relative `change`: the inverse of `capacitance_change`.

    >>> sensor = CapacitiveProximity(capacitance=1e-12, area=3e-4, threshold=0.1)
    >>> float(capacitive_distance(sensor, capacitance_change(sensor, 2e-3))).__round__(9)
    0.002
    """
    need_sensor(sensor, CapacitiveProximity, "capacitive_distance")
    return _VACUUM * sensor.area / (sensor.capacitance * change) - thickness / permittivity


@kernel(sensor=static)
def capacitive_detected(sensor: CapacitiveProximity, change):
    """1 if the relative change ΔC / C_0 of the capacitance is above the threshold T, else 0.

    Fu, Gonzalez & Lee (1987), section 6.3.3.

        >>> sensor = CapacitiveProximity(capacitance=1e-12, area=3e-4, threshold=0.1)
        >>> capacitive_detected(sensor, capacitance_change(sensor, [2e-3, 5e-2]))
        array([1., 0.])
    """
    need_sensor(sensor, CapacitiveProximity, "capacitive_detected")
    return np.where(change > sensor.threshold, 1.0, 0.0)


@kernel(sensor=static)
def oscillation(sensor: CapacitiveProximity, capacitance):
    """1 if an oscillator that starts at C_0 (1 + T) runs with this `capacitance` [F], else 0: the same rule, in farads.

    >>> sensor = CapacitiveProximity(capacitance=1e-12, area=3e-4, threshold=0.1)
    >>> oscillation(sensor, [1.05e-12, 1.2e-12])
    array([0., 1.])
    """
    need_sensor(sensor, CapacitiveProximity, "oscillation")
    return capacitive_detected(sensor, capacitance / sensor.capacitance - 1)


@kernel(sensor=static)
def capacitive_phase(sensor: CapacitiveProximity, change):
    """The phase shift [rad] of a sine wave behind the resistor R, against that without an object.

        φ = atan(ω R C_0 (1 + ΔC/C_0)) - atan(ω R C_0)

    For small changes it is proportional to ΔC; it changes most where ω R C_0 = 1.

        >>> sensor = CapacitiveProximity(capacitance=1e-12, area=3e-4, threshold=0.1)
        >>> float(capacitive_phase(sensor, 0.0))
        0.0
    """
    need_sensor(sensor, CapacitiveProximity, "capacitive_phase")
    x = _reactance_ratio(sensor)
    return np.arctan2(x * change, 1 + x * x * (1 + change))  # atan a - atan b, without cancellation


@kernel(sensor=static)
def capacitive_phase_change(sensor: CapacitiveProximity, phase):
    """The relative change ΔC / C_0 that shifts the `phase` [rad] by so much: the inverse of `capacitive_phase`.

    >>> sensor = CapacitiveProximity(capacitance=1e-12, area=3e-4, threshold=0.1)
    >>> float(capacitive_phase_change(sensor, capacitive_phase(sensor, 0.3))).__round__(9)
    0.3
    """
    need_sensor(sensor, CapacitiveProximity, "capacitive_phase_change")
    x, t = _reactance_ratio(sensor), np.tan(phase)
    return t * (1 + x * x) / (x * (1 - x * t))


def _reactance_ratio(sensor: CapacitiveProximity):
    """ω R C_0."""
    return 2 * np.pi * sensor.drive_frequency * sensor.drive_resistance * sensor.capacitance
