"""Magnetic proximity sensors: a coil beside a magnet, which feels changes, and a Hall element, which feels fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compile import kernel, scan, static
from ..errors import ArgumentError
from .noise import QUIET, Noise
from .sensor_data import SensorData, need_sensor

__all__ = [
    "HallProximity",
    "InductiveOutput",
    "InductiveProximity",
    "hall_detected",
    "hall_field",
    "hall_field_near",
    "hall_voltage",
    "inductive_output",
    "inductive_switching_distance",
    "inductive_voltage",
]

_CHARGE = 1.602176634e-19  # [C] of an electron


# --- inductive --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class InductiveProximity(SensorData):
    """A coil of `turns` beside a permanent magnet, whose flux a ferromagnetic object changes.

        >>> sensor = InductiveProximity(turns=500, flux=2e-6, reach=3e-4, threshold=2e-4)

    An object at distance d adds Φ(d) = `flux` exp(-d / `reach`) [Wb] to the flux; `reach` [m] is a fraction of a
    millimetre. (The textbook's curves, Fig. 6.9, are not printed with numbers: this law has their shape.) The output is
    high while the integral of the voltage is above `threshold` [V s]. `noise` is that of the voltage [V].
    """

    turns: float
    flux: float
    reach: float
    threshold: float
    noise: Noise = QUIET

    POSITIVE = ("turns", "flux", "reach", "threshold")


class InductiveOutput(NamedTuple):
    """The `integral` (n,) of the voltage [V s], and whether an object is `detected` (n,), 1 or 0."""

    integral: np.ndarray
    detected: np.ndarray


@kernel(sensor=static)
def inductive_voltage(sensor: InductiveProximity, distance, distance_rate):
    """The voltage N dΦ/dt [V] of the coil while an object is at `distance` [m] that changes with `distance_rate` [m/s].

    It is 0 at rest, proportional to the speed, positive while the object comes and negative while it leaves. (The sign
    depends on the ends of the wire.) Fu, Gonzalez & Lee (1987), section 6.3.1.

        >>> sensor = InductiveProximity(turns=500, flux=2e-6, reach=3e-4, threshold=2e-4)
        >>> float(inductive_voltage(sensor, 3e-4, -0.1)).__round__(6)
        0.122626
    """
    need_sensor(sensor, InductiveProximity, "inductive_voltage")
    return -sensor.turns * sensor.flux / sensor.reach * np.exp(-distance / sensor.reach) * distance_rate


@kernel(sensor=static, voltages=(..., 1))
def inductive_output(sensor: InductiveProximity, voltages, dt) -> InductiveOutput:
    """The integral of sampled `voltages` (n, 1) [V], `dt` [s] apart, by the trapezoidal rule, and the binary output.

    The integral is N times the change of the flux, however fast the object came. A bias of the voltage makes it drift.

        >>> sensor = InductiveProximity(turns=500, flux=2e-6, reach=3e-4, threshold=2e-4)
        >>> t = np.linspace(0, 0.1, 1001)
        >>> v = inductive_voltage(sensor, 2e-3 * (1 - t / 0.1), -2e-2)
        >>> out = inductive_output(sensor, v[:, None], 1e-4)
        >>> float(out.detected[0]), float(out.detected[-1])
        (0.0, 1.0)
    """
    need_sensor(sensor, InductiveProximity, "inductive_output")

    def step(state, now):
        total, before, first = state
        total = np.where(first > 0, total, total + dt * (now[0] + before) / 2)
        return (total, now[0], 0.0), (total, np.where(total > sensor.threshold, 1.0, 0.0))

    _, (integral, detected) = scan(step, (0.0, 0.0, 1.0), voltages)
    return InductiveOutput(integral, detected)


def inductive_switching_distance(sensor: InductiveProximity) -> float:
    """The distance [m] at which the output goes high for an object from far away: reach · ln(N flux / threshold).

    >>> sensor = InductiveProximity(turns=500, flux=2e-6, reach=3e-4, threshold=2e-4)
    >>> round(inductive_switching_distance(sensor), 6)
    0.000483
    """
    need_sensor(sensor, InductiveProximity, "inductive_switching_distance")
    ratio = sensor.turns * sensor.flux / sensor.threshold
    if not ratio > 1:
        raise ArgumentError("inductive_switching_distance: the threshold is above turns · flux, so it is never reached")
    return float(sensor.reach * np.log(ratio))


# --- the Hall effect --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class HallProximity(SensorData):
    """A Hall element in the field of a magnet, which ferromagnetic material nearby draws away from it.

        >>> sensor = HallProximity(current=5e-3, carriers=1e21, thickness=1e-4, field=0.1, threshold=5e-3)

    - `current` I [A], density of `carriers` n [1/m³] and `thickness` t [m] of the element; `field` B_0 [T] without an
      object, and the `threshold` [V] of the drop that counts as an object.
    - At distance d the field is B_0 (1 - `weakening` exp(-d / `reach`)), with `reach` in m.
    - `noise` is that of the voltage [V].
    """

    current: float
    carriers: float
    thickness: float
    field: float
    threshold: float
    weakening: float = 0.5
    reach: float = 1e-3
    noise: Noise = QUIET

    POSITIVE = ("current", "carriers", "thickness", "field", "threshold", "reach")
    NOT_NEGATIVE = ("weakening",)


@kernel(sensor=static)
def hall_voltage(sensor: HallProximity, field):
    """The Hall voltage V_H = I B / (n q t) [V] in a magnetic `field` B [T] at right angles to the element.

    >>> sensor = HallProximity(current=5e-3, carriers=1e21, thickness=1e-4, field=0.1, threshold=5e-3)
    >>> float(hall_voltage(sensor, 0.1)).__round__(6)
    0.031208
    """
    need_sensor(sensor, HallProximity, "hall_voltage")
    return sensor.current * field / (sensor.carriers * _CHARGE * sensor.thickness)


@kernel(sensor=static)
def hall_field(sensor: HallProximity, voltage):
    """The magnetic field B = V_H n q t / I [T] of a Hall voltage [V]: the inverse of `hall_voltage`.

    >>> sensor = HallProximity(current=5e-3, carriers=1e21, thickness=1e-4, field=0.1, threshold=5e-3)
    >>> float(hall_field(sensor, hall_voltage(sensor, 0.05))).__round__(9)
    0.05
    """
    need_sensor(sensor, HallProximity, "hall_field")
    return voltage * sensor.carriers * _CHARGE * sensor.thickness / sensor.current


@kernel(sensor=static)
def hall_field_near(sensor: HallProximity, distance):
    """The field B_0 (1 - weakening exp(-d / reach)) [T] at the element, with material at `distance` d [m].

    >>> sensor = HallProximity(current=5e-3, carriers=1e21, thickness=1e-4, field=0.1, threshold=5e-3)
    >>> float(hall_field_near(sensor, 0.0))
    0.05
    """
    need_sensor(sensor, HallProximity, "hall_field_near")
    return sensor.field * (1 - sensor.weakening * np.exp(-distance / sensor.reach))


@kernel(sensor=static)
def hall_detected(sensor: HallProximity, voltage):
    """1 if the voltage [V] has dropped by more than the threshold below that without an object, else 0.

    The comparison is active low: a *lower* voltage means that something is near. Fu, Gonzalez & Lee (1987), section
    6.3.2.

        >>> sensor = HallProximity(current=5e-3, carriers=1e21, thickness=1e-4, field=0.1, threshold=5e-3)
        >>> hall_detected(sensor, hall_voltage(sensor, hall_field_near(sensor, [2e-4, 5e-3])))
        array([1., 0.])
    """
    return np.where(hall_voltage(sensor, sensor.field) - voltage > sensor.threshold, 1.0, 0.0)
