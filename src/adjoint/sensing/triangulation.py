"""Range by triangulation: a beam from one end of a baseline, a detector at the other end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from .noise import QUIET, Noise, noise_sigma
from .sensor_data import SensorData, need_sensor

__all__ = [
    "Triangulated",
    "Triangulation",
    "TriangulationAngles",
    "triangulated",
    "triangulated_sigma",
    "triangulation_angles",
]


@dataclass(frozen=True, eq=False)
class Triangulation(SensorData):
    """A source and a detector at the ends of a `baseline` [m]; `noise` is that of a measured angle [rad].

    >>> sensor = Triangulation(0.3, noise=Noise(sigma=1e-3))
    """

    baseline: float
    noise: Noise = QUIET

    POSITIVE = ("baseline",)


class Triangulated(NamedTuple):
    """The `distance` of the lit spot from the baseline, and its distances from detector and source [m]."""

    distance: np.ndarray
    from_detector: np.ndarray
    from_source: np.ndarray


class TriangulationAngles(NamedTuple):
    """The angles [rad] between the baseline and the lines to the spot, at the source and at the detector."""

    source: np.ndarray
    detector: np.ndarray


def _meet(source_angle, detector_angle):
    """Whether lines at these angles to the baseline meet on its side."""
    return (source_angle > 0) & (detector_angle > 0) & (source_angle + detector_angle < np.pi)


@kernel(sensor=static)
def triangulated(sensor: Triangulation, source_angle, detector_angle=np.pi / 2) -> Triangulated:
    """Where the spot is that source and detector see under two angles [rad] to the baseline.

        distance = B sin α_s sin α_d / sin(α_s + α_d),   from_detector = B sin α_s / sin(α_s + α_d)

    With the detector's axis at a right angle to the baseline this is D = B tan α_s, the arrangement of Fu, Gonzalez &
    Lee (1987), section 6.2.1. The spot lies in the plane of both lines. If these do not meet, results are NaN.

        >>> float(triangulated(Triangulation(0.3), np.pi / 4).distance.round(9))
        0.3
    """
    need_sensor(sensor, Triangulation, "triangulated")
    meet = _meet(source_angle, detector_angle)
    total = np.sin(source_angle + detector_angle)
    scale = np.where(meet, sensor.baseline / np.where(meet, total, 1.0), np.nan)
    s, d = np.sin(source_angle), np.sin(detector_angle)
    return Triangulated(scale * s * d, scale * s, scale * d)


@kernel(sensor=static)
def triangulation_angles(sensor: Triangulation, along, distance) -> TriangulationAngles:
    """The angles [rad] under which a spot is seen, at `distance` [m] from the baseline, `along` it from the source [m].

    It is the inverse of `triangulated`. Right before the detector, `along` is the baseline.

        >>> angles = triangulation_angles(Triangulation(0.3), 0.3, 0.3)
        >>> float(angles.source), float(angles.detector)
        (0.785398..., 1.570796...)
    """
    need_sensor(sensor, Triangulation, "triangulation_angles")
    return TriangulationAngles(np.arctan2(distance, along), np.arctan2(distance, sensor.baseline - along))


@kernel(sensor=static, source_sigma=(), detector_sigma=())
def triangulated_sigma(
    sensor: Triangulation, source_angle, detector_angle=np.pi / 2, *, source_sigma=None, detector_sigma=None
):
    """The standard deviation [m] of the distance, if both angles have independent errors; to first order.

        ∂D/∂α_s = B sin² α_d / sin²(α_s + α_d),   ∂D/∂α_d = B sin² α_s / sin²(α_s + α_d)

    At right angles, the first is B + D²/B: errors grow with the square of the distance. `source_sigma` [rad] is that of
    the sensor's `noise` by default, `detector_sigma` is 0. If the lines do not meet, the result is NaN.

        >>> float(triangulated_sigma(Triangulation(0.3), np.pi / 4, source_sigma=1e-3).round(9))
        0.0006
    """
    need_sensor(sensor, Triangulation, "triangulated_sigma")
    by_source = noise_sigma(sensor.noise) if source_sigma is None else source_sigma
    by_detector = 0.0 if detector_sigma is None else detector_sigma
    total = np.where(_meet(source_angle, detector_angle), np.sin(source_angle + detector_angle), np.nan)
    s, d = np.sin(source_angle), np.sin(detector_angle)
    return sensor.baseline / (total * total) * np.sqrt((d * d * by_source) ** 2 + (s * s * by_detector) ** 2)
