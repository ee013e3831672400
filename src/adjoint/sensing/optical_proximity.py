"""An optical proximity sensor: what lies in the intersection of two cones of light is seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..compile import kernel, static
from .noise import QUIET, Noise
from .sensor_data import SensorData, need_sensor

__all__ = ["OpticalProximity", "in_sensitive_volume", "optical_detected", "optical_intensity", "sensitive_interval"]


@dataclass(frozen=True, eq=False)
class OpticalProximity(SensorData):
    """A light source and a detector side by side, each with a lens, that look at the same region.

        >>> sensor = OpticalProximity(lens_diameter=4e-3, separation=6e-3, vertex_distance=40e-3)

    Both lenses lie in the plane z = 0, at x = ∓ `separation`/2 [m], the source first. The cone of each begins at its
    lens, of `lens_diameter` [m], and ends in a vertex at `vertex_distance` [m] in front of the other lens (Fu, Gonzalez
    & Lee 1987, problem 6.8). `power` [W/sr] is the intensity of the source, `threshold` that of `optical_detected`, in
    the unit of `optical_intensity`, whose `noise` this is.
    """

    lens_diameter: float
    separation: float
    vertex_distance: float
    power: float = 1.0
    threshold: float = 0.0
    noise: Noise = QUIET

    POSITIVE = ("lens_diameter", "separation", "vertex_distance", "power")
    NOT_NEGATIVE = ("threshold",)


@kernel(sensor=static, point=3)
def in_sensitive_volume(sensor: OpticalProximity, point):
    """1 if a `point` (3,) [m] in the sensor's frame lies in both cones, the sensitive volume, else 0.

    At the height z both sections are discs of radius r (1 - z/L), with centres that move from lens to lens.

        >>> sensor = OpticalProximity(lens_diameter=4e-3, separation=6e-3, vertex_distance=40e-3)
        >>> in_sensitive_volume(sensor, [[0, 0, 9e-3], [0, 0, 15e-3], [0, 0, 26e-3]])
        array([0., 1., 0.])
    """
    need_sensor(sensor, OpticalProximity, "in_sensitive_volume")
    share = point[2] / sensor.vertex_distance
    radius, center = sensor.lens_diameter / 2 * (1 - share), sensor.separation * (share - 0.5)
    near = (share >= 0) & (share <= 1)
    aside = np.abs(point[0]) + np.abs(center)  # of the two centres ± center, the farther one decides
    return np.where(near & (aside * aside + point[1] * point[1] <= radius * radius), 1.0, 0.0)


def sensitive_interval(sensor: OpticalProximity) -> tuple[float, float]:
    """The least and greatest distance [m] at which the sensitive volume begins and ends.

        z = L (s ∓ 2r) / (2s ∓ 2r),   with the separation s, the lens's radius r, and the vertices at L

    If the lenses overlap, it begins at 0. Fu, Gonzalez & Lee (1987), problem 6.8:

        >>> sensor = OpticalProximity(lens_diameter=4e-3, separation=6e-3, vertex_distance=40e-3)
        >>> [round(1e3 * z, 6) for z in sensitive_interval(sensor)]
        [10.0, 25.0]
    """
    need_sensor(sensor, OpticalProximity, "sensitive_interval")
    s, width, L = sensor.separation, sensor.lens_diameter, sensor.vertex_distance
    first = L * (s - width) / (2 * s - width) if s > width else 0.0
    return first, L * (s + width) / (2 * s + width)


@kernel(sensor=static, point=3, normal=3)
def optical_intensity(sensor: OpticalProximity, point, normal, reflectance=1.0):
    """The light that a small diffuse surface sends to the detector, for each m² of it [W/m² for each m²].

        J ρ cos θ_s cos θ_d / (π r_s² r_d²)   inside the sensitive volume, else 0

    with the intensity J of the source, the `reflectance` ρ, and the angles and distances from the surface at `point`
    (3,) [m] with the unit `normal` (3,) to both lenses. So calibrated intensities give distances for known surfaces.

        >>> sensor = OpticalProximity(lens_diameter=4e-3, separation=6e-3, vertex_distance=40e-3)
        >>> nearer, farther = optical_intensity(sensor, [[0, 0, 0.012], [0, 0, 0.02]], [0, 0, -1.0])
        >>> bool(nearer > farther > 0)
        True
    """
    inside = in_sensitive_volume(sensor, point)
    half = sensor.separation / 2
    to_source, to_detector = (np.stack([x, 0.0 * x, 0.0 * x]) - point for x in (-half + 0 * inside, half + 0 * inside))
    squares = [np.where(inside > 0, np.dot(x, x), 1.0) for x in (to_source, to_detector)]
    cosines = [
        np.maximum(np.dot(normal, x), 0.0) / np.sqrt(s) for x, s in zip((to_source, to_detector), squares, strict=True)
    ]
    return inside * sensor.power * reflectance * cosines[0] * cosines[1] / (np.pi * squares[0] * squares[1])


@kernel(sensor=static)
def optical_detected(sensor: OpticalProximity, intensity):
    """1 if the intensity is above the sensor's threshold, else 0; Fu, Gonzalez & Lee (1987), section 6.3.5.

    >>> sensor = OpticalProximity(lens_diameter=4e-3, separation=6e-3, vertex_distance=40e-3)
    >>> optical_detected(sensor, [0.0, 1.0])
    array([0., 1.])
    """
    need_sensor(sensor, OpticalProximity, "optical_detected")
    return np.where(intensity > sensor.threshold, 1.0, 0.0)
