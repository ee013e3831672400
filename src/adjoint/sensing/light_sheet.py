"""Range by a sheet of light: the textbook's table of columns, and any ray against any plane of light."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError, SolveError
from ..lie import series
from .noise import QUIET, Noise, noise_sigma
from .sensor_data import SensorData, need_sensor, readings_of

__all__ = [
    "LightPlane",
    "LightPlanePoint",
    "SheetOfLight",
    "fit_light_plane",
    "light_plane_point",
    "light_plane_point_covariance",
    "stripe_column",
    "stripe_distance",
    "stripe_distance_sigma",
    "stripe_table",
]


@dataclass(frozen=True, eq=False)
class SheetOfLight(SensorData):
    """A camera beside a vertical sheet of light, calibrated by two measured distances.

        >>> sensor = SheetOfLight(columns=256, baseline=3.0, center_distance=2.0, first_distance=1.0)

    The sheet is at right angles to the `baseline` B [m] from the light to the lens, and `columns` M of the image are
    parallel to the stripe. `center_distance` D_c and `first_distance` D_0 [m] are the distances from the baseline of
    surfaces whose stripes are seen at the columns M/2 and 0. The focal length cancels, as λ tan θ spans half the image.
    `noise` is that of a column. Fu, Gonzalez & Lee (1987), section 6.2.2.
    """

    columns: int
    baseline: float
    center_distance: float
    first_distance: float
    noise: Noise = QUIET

    POSITIVE = ("baseline", "center_distance", "first_distance")
    WHOLE = ("columns",)

    def __post_init__(self):
        super().__post_init__()
        if self.columns < 2:
            raise ArgumentError(f"SheetOfLight: columns must be 2 or more, got {self.columns}")
        if self.center_distance == self.first_distance:
            raise ArgumentError("SheetOfLight: center_distance and first_distance must differ")

    @property
    def half_field_tangent(self):
        """tan θ, with θ = α_c - α_0 of (6.2-2), the angle from column 0 to the axis; half the image is λ tan θ wide."""
        t_c, t_0 = self.center_distance / self.baseline, self.first_distance / self.baseline
        return (t_c - t_0) / (1 + t_c * t_0)


@kernel(sensor=static)
def stripe_distance(sensor: SheetOfLight, column):
    """The distance D_k [m] from the baseline of a stripe that is seen at a column k, which need not be whole.

        θ'_k = atan[tan θ (M - 2k) / M],   α_k = α_c - θ'_k,   D_k = B tan α_k            (6.2-4), (6.2-6), (6.2-9)

    The textbook prints D_k = B tan θ_k in (6.2-9); the angle is α_k. Where α_k is 90° or more, or negative, the line of
    sight never meets the light, and the result is NaN.

        >>> sensor = SheetOfLight(columns=256, baseline=3.0, center_distance=2.0, first_distance=1.0)
        >>> stripe_distance(sensor, [0, 64, 128]).round(6)
        array([1.      , 1.458333, 2.      ])
    """
    need_sensor(sensor, SheetOfLight, "stripe_distance")
    t_c = sensor.center_distance / sensor.baseline
    t_k = sensor.half_field_tangent * (1 - 2 * column / sensor.columns)  # tan θ'_k
    meets = (1 + t_c * t_k > 0) & (t_k <= t_c)
    return np.where(meets, sensor.baseline * (t_c - t_k) / np.where(meets, 1 + t_c * t_k, 1.0), np.nan)


@kernel(sensor=static)
def stripe_column(sensor: SheetOfLight, distance):
    """The column k at which the stripe on a surface at `distance` [m] is seen; the inverse of `stripe_distance`.

    It is not rounded, and may lie outside the image, 0 ... M - 1.

        >>> sensor = SheetOfLight(columns=256, baseline=3.0, center_distance=2.0, first_distance=1.0)
        >>> float(stripe_column(sensor, 2.0))
        128.0
    """
    need_sensor(sensor, SheetOfLight, "stripe_column")
    t_c, t = sensor.center_distance / sensor.baseline, distance / sensor.baseline
    return sensor.columns / 2 * (1 - (t_c - t) / (1 + t_c * t) / sensor.half_field_tangent)


@kernel(sensor=static, sigma=())
def stripe_distance_sigma(sensor: SheetOfLight, column, *, sigma=None):
    """The standard deviation |∂D/∂k| σ [m] of `stripe_distance`, for errors of the column of `sigma` columns.

    By default, `sigma` is that of the sensor's `noise`. Columns without a distance have NaN.

        >>> sensor = SheetOfLight(columns=256, baseline=3.0, center_distance=2.0, first_distance=1.0)
        >>> float(stripe_distance_sigma(sensor, 128, sigma=1.0).round(6))
        0.009233
    """
    need_sensor(sensor, SheetOfLight, "stripe_distance_sigma")
    t_c, t = sensor.center_distance / sensor.baseline, sensor.half_field_tangent
    slope = 2 * sensor.baseline * t * (1 + t_c * t_c) / sensor.columns
    t_k = t * (1 - 2 * column / sensor.columns)
    one = np.where((1 + t_c * t_k > 0) & (t_k <= t_c), 1 + t_c * t_k, np.nan)
    return np.abs(slope) / (one * one) * (noise_sigma(sensor.noise) if sigma is None else sigma)


def stripe_table(sensor: SheetOfLight) -> np.ndarray:
    """The table D_k (M,) [m] of `stripe_distance` for all columns k = 0 ... M - 1, as the textbook stores it.

    >>> stripe_table(SheetOfLight(columns=256, baseline=3.0, center_distance=2.0, first_distance=1.0)).shape
    (256,)
    """
    need_sensor(sensor, SheetOfLight, "stripe_table")
    return stripe_distance(sensor, np.arange(sensor.columns, dtype=float))


# --- any ray and any plane --------------------------------------------------------------------------------------------


class LightPlane(NamedTuple):
    """The plane n·x = offset of a sheet of light: unit `normal` n (3,), `offset` [m], and the fit's `rms` error [m]."""

    normal: np.ndarray
    offset: float
    rms: float = 0.0


class LightPlanePoint(NamedTuple):
    """The `point` (3,) [m] where a ray meets a plane of light, and its `distance` [m] from the ray's origin."""

    point: np.ndarray
    distance: np.ndarray


@kernel(origin=3, direction=3, normal=3)
def light_plane_point(origin, direction, normal, offset) -> LightPlanePoint:
    """Where a ray of a camera meets a plane of light n·x = offset, both seen from one frame, in metres.

        x = o + t u,   t = (offset - n·o) / (n·u)

    `origin` o and `direction` u (3,), of any length, are what `vision.rays(camera, pixels)` gives; `normal` n and
    `offset` are those of `fit_light_plane`. It is the general arrangement of source and camera that Fu, Gonzalez & Lee
    (1987) mention at the end of section 6.2.2. A ray that does not meet the plane, or meets it behind its origin, has
    the result NaN.

        >>> light_plane_point([0, 0, 0], [0, 0, 2], [0, 0, 1], 3.0).point
        array([0., 0., 3.])
    """
    u = direction / np.linalg.norm(direction)
    toward = np.dot(normal, u)
    ahead = offset - np.dot(normal, origin)
    meets = (toward != 0) & (ahead * toward >= 0)
    t = np.where(meets, ahead / np.where(toward != 0, toward, 1.0), np.nan)
    return LightPlanePoint(origin + t * u, t)


@kernel(origin=3, direction=3, normal=3)
def light_plane_point_covariance(origin, direction, normal, offset, sigma_angle, sigma_offset=0.0):
    """The covariance (3, 3) [m²] of `light_plane_point`, to first order.

        Σ = σ_angle² t² A Aᵀ + σ_offset² u uᵀ / (n·u)²,   A = 1 - u nᵀ / (n·u)

    The ray's direction has independent errors of `sigma_angle` [rad] across it, the plane one of `sigma_offset` [m]
    along its normal. The first part lies in the plane of light. Rays that do not meet the plane have NaN.

        >>> light_plane_point_covariance([0, 0, 0], [0, 0, 1], [0, 0, 1], 2.0, 1e-3).diagonal()
        array([4.e-06, 4.e-06, 0.e+00])
    """
    u = direction / np.linalg.norm(direction)
    toward = np.dot(normal, u)
    t = light_plane_point(origin, direction, normal, offset).distance
    A = np.eye(3) - np.outer(u, normal) / toward
    return (sigma_angle * t) ** 2 * (A @ A.T) + (sigma_offset / toward) ** 2 * np.outer(u, u)


def fit_light_plane(points) -> LightPlane:
    """The `LightPlane` through lit points (n, 3) [m], n >= 3, with the least squares of distances.

    The points are measured in another way, such as on a calibration target at known poses. The normal has a positive
    last component that is not 0.

        >>> fit_light_plane([[0, 0, 1], [1, 0, 1], [0, 1, 1]]).offset
        1.0
    """
    x = readings_of(points, "points", "fit_light_plane", None, 3)
    if x.ndim != 2 or len(x) < 3 or not np.isfinite(x).all():
        raise ArgumentError(
            f"fit_light_plane: 'points' has shape {x.shape}; finite points (n, 3), 3 or more, are needed"
        )
    center = x.mean(axis=0)
    _, sizes, axes = np.linalg.svd(x - center, full_matrices=False)
    if sizes[1] <= 1e-9 * max(sizes[0], float(series.norm(center))):
        raise SolveError("fit_light_plane: the points lie on a line, and many planes go through it")
    normal = axes[2] * np.sign(axes[2][np.abs(axes[2]) > 1e-12][-1])
    return LightPlane(normal, float(normal @ center), float(np.sqrt(np.mean(((x - center) @ normal) ** 2))))
