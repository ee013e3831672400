"""Range sensors in a scene: lidar scans, ultrasonic beams, and optical proximity sensors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import kernel
from ...errors import ArgumentError
from ...model.input_checks import count
from ...randomness import Rng
from ..optical_proximity import OpticalProximity, in_sensitive_volume
from ..sensor_data import need_sensor
from .casting import cast_rays, need_scene, occluded, turned
from .range_noise import RangeNoise, noisy_distances
from .scene_checks import number, poses
from .scenes import Scene

__all__ = [
    "BeamEcho",
    "LidarScan",
    "beam_directions",
    "beam_echo",
    "lidar_directions",
    "lidar_scan",
    "proximity_signal",
]

_GOLDEN = float(np.pi * (3 - np.sqrt(5.0)))  # the golden angle, by which neighbours on a spiral turn


# --- lidar ------------------------------------------------------------------------------------------------------------


class LidarScan(NamedTuple):
    """Readings (..., elevations, azimuths) of a lidar: see `lidar_scan`."""

    distance: np.ndarray
    """(...) [m]; ∞ where nothing came back"""
    point: np.ndarray
    """(..., 3) measured points in the world [m]; NaN without a reading"""
    solid: np.ndarray
    """(...) numbers of the solids that were met, or -1"""


@kernel
def lidar_directions(azimuth, elevation):
    """The unit direction (3,) of a beam: x is azimuth 0, y is azimuth π/2, and z is elevation π/2 [rad].

    >>> lidar_directions(np.pi / 2, 0.0).round(12) + 0.0
    array([0., 1., 0.])
    """
    c = np.cos(elevation)
    return np.stack([c * np.cos(azimuth), c * np.sin(azimuth), np.sin(elevation)])


def lidar_scan(
    scene: Scene, T_world_lidar, azimuths, elevations=0.0, *, nearest: float = 0.0, farthest: float = np.inf,
    noise: RangeNoise | float | None = None, rng: Rng = None
) -> LidarScan:  # fmt: skip
    """A turn of a lidar: distances (..., e, a) along beams with all `elevations` (e,) and `azimuths` (a,) [rad].

        >>> from adjoint.sensing import Scene, Sphere
        >>> scan = lidar_scan(Scene([Sphere(1.0)]), np.eye(4), np.linspace(-np.pi, np.pi, 360))
        >>> scan.distance.shape, float(scan.distance.max().round(12))
        ((1, 360), 1.0)

    `T_world_lidar` (..., 4, 4) is its pose, or one for each of several turns; see `lidar_directions` for the angles.
    What is nearer than `nearest` or beyond `farthest` [m] gives no reading. `noise` is a `RangeNoise`, or a standard
    deviation [m]; measured points lie on their beams, at the noisy distances.
    """
    T = poses(T_world_lidar, "T_world_lidar", "lidar_scan")
    a, e = (np.atleast_1d(np.asarray(x, float)) for x in (azimuths, elevations))
    if a.ndim != 1 or e.ndim != 1:
        raise ArgumentError(
            f"lidar_scan: azimuths and elevations must be lists of angles, got shapes {a.shape}, {e.shape}"
        )
    if not np.isfinite(a).all() or not np.isfinite(e).all():
        raise ArgumentError("lidar_scan: azimuths and elevations must be finite angles [rad]")
    local = np.asarray(lidar_directions(a, e[:, None]))
    d = np.asarray(turned(T[..., None, None, :3, :3], local))
    o = T[..., None, None, :3, 3]
    hits = cast_rays(scene, o, d, farthest=farthest)
    distance = np.array(hits.distance)
    distance[distance < number(nearest, "nearest", "lidar_scan", least=0)] = np.inf
    if noise is not None:
        distance = noisy_distances(distance, np.nan_to_num(np.sum(hits.normal * d, axis=-1)), noise, rng=rng)
    met = np.isfinite(distance)
    point = np.where(met[..., None], o + np.where(met, distance, 0.0)[..., None] * d, np.nan)
    return LidarScan(distance, point, np.where(met, hits.solid, -1))


# --- ultrasound -------------------------------------------------------------------------------------------------------


class BeamEcho(NamedTuple):
    """The nearest echo of a beam: see `beam_echo`."""

    distance: np.ndarray
    """(...) [m]; ∞ without an echo"""
    point: np.ndarray
    """(..., 3) where the echo comes from, in the world [m]; NaN without one"""
    solid: np.ndarray
    """(...) number of the solid, or -1"""


@kernel
def beam_directions(number_of_ray, rays, half_angle):
    """The unit direction (3,) of a ray of a beam about z: `rays` of them cover the cone evenly, from its middle out.

    >>> beam_directions(0.0, 100.0, 0.3)
    array([0., 0., 1.])
    """
    # Equal steps of cos θ are equal areas of a cap; the golden angle keeps neighbours apart.
    c = 1 - (1 - np.cos(half_angle)) * number_of_ray / np.maximum(rays - 1, 1.0)
    s = np.sqrt(np.maximum(1 - c * c, 0.0))
    turn = number_of_ray * _GOLDEN
    return np.stack([s * np.cos(turn), s * np.sin(turn), c])


def beam_echo(
    scene: Scene, T_world_sensor, *, beam: float = np.pi / 6, incidence: float = np.pi / 9, rays: int = 500,
    nearest: float = 0.0, farthest: float = np.inf
) -> BeamEcho:  # fmt: skip
    """The nearest echo in the beam of an ultrasonic sensor at `T_world_sensor` (..., 4, 4), which looks along z.

        >>> from adjoint.sensing import Plane, Scene
        >>> T = se3.from_xyz_quat_wxyz([0, 0, 2.0, 0, 1, 0, 0])                      # 2 m above the floor
        >>> round(float(beam_echo(Scene([Plane()]), T).distance), 9)
        2.0

    The beam is a cone of the full angle `beam` [rad], 30° for the sensor in section 6.2.3 of Fu, Gonzalez & Lee (1987).
    Walls are mirrors for sound: it comes back only where the angle of incidence is at most `incidence` [rad], so that a
    smooth wall that is tilted by more than `incidence` + `beam`/2 is not seen. `rays` cover the cone; at a distance d
    the echo is found up to a part of the order of beam² / rays of d. What is nearer than `nearest`, while the membrane
    still rings, or beyond `farthest` [m] gives no echo; for an `Ultrasonic` these are its `beam_angle`,
    `least_distance` and `greatest_distance`.
    """
    who = "beam_echo"
    need_scene(scene, who)
    T = poses(T_world_sensor, "T_world_sensor", who)
    half = number(beam, "beam", who, least=0, most=np.pi) / 2
    limit = np.cos(number(incidence, "incidence", who, least=0, most=np.pi / 2))
    n = max(count(rays, f"{who}: rays"), 1)
    d = np.asarray(turned(T[..., None, :3, :3], beam_directions(np.arange(n), float(n), half)))
    hits = cast_rays(scene, T[..., None, :3, 3], d, farthest=farthest)
    cosine = np.abs(np.sum(hits.normal * d, axis=-1))
    echoes = (cosine >= limit - 1e-12) & (hits.distance >= number(nearest, "nearest", who, least=0))
    distance = np.where(echoes, hits.distance, np.inf)
    best = np.argmin(distance, axis=-1)[..., None]
    return BeamEcho(
        np.take_along_axis(distance, best, -1)[..., 0],
        np.where(
            echoes.any(axis=-1)[..., None], np.take_along_axis(hits.point, best[..., None], -2)[..., 0, :], np.nan
        ),
        np.where(echoes.any(axis=-1), np.take_along_axis(hits.solid, best, -1)[..., 0], -1),
    )


# --- light proximity --------------------------------------------------------------------------------------------------


def proximity_signal(scene: Scene, sensor: OpticalProximity, T_world_sensor, *, rays: int = 400) -> np.ndarray:
    """The part (...) of the light of an `OpticalProximity`, from 0 to 1, whose spots the detector sees.

        >>> from adjoint.sensing import Plane, Scene
        >>> sensor = OpticalProximity(lens_diameter=4e-3, separation=6e-3, vertex_distance=40e-3)
        >>> T = se3.from_xyz_quat_wxyz([0, 0, 0.017, 0, 1, 0, 0])  # 17 mm above the floor, looking down along its z
        >>> bool(proximity_signal(Scene([Plane()]), sensor, T) > 0.5)
        True

    `T_world_sensor` (..., 4, 4) is the pose of the sensor. `rays` start all over the lens of the source and go to the
    vertex of its cone. A spot counts where it lies in the sensitive volume of the sensor, the intersection of both
    cones, and nothing hides it from the detector; a threshold on the result makes the binary sensor. Reference: Fu,
    Gonzalez & Lee (1987), section 6.3.5 and problem 6.8.
    """
    who = "proximity_signal"
    need_scene(scene, who)
    need_sensor(sensor, OpticalProximity, who)
    T = poses(T_world_sensor, "T_world_sensor", who)
    n = max(count(rays, f"{who}: rays"), 1)
    k = np.arange(n)
    half = sensor.separation / 2
    turn, radius = k * _GOLDEN, sensor.lens_diameter / 2 * np.sqrt((k + 0.5) / n)
    start = np.stack([radius * np.cos(turn) - half, radius * np.sin(turn), np.zeros(n)], axis=1)
    way = np.array([half, 0, sensor.vertex_distance]) - start
    R, p = T[..., :3, :3], T[..., None, :3, 3]
    o, d = turned(R[..., None, :, :], start) + p, turned(R[..., None, :, :], way)
    hits = cast_rays(scene, o, d)
    part = np.where(hits.solid >= 0, hits.distance, 0.0) / np.linalg.norm(way, axis=1)
    spot = start + part[..., None] * way
    seen = (hits.solid >= 0) & (np.asarray(in_sensitive_volume(sensor, spot)) > 0)
    detector = R @ np.array([half, 0, 0]) + T[..., :3, 3]
    away = (detector[..., None, :] - hits.point)[seen]
    far = np.linalg.norm(away, axis=-1)
    seen[seen] = ~occluded(scene, hits.point[seen], hits.normal[seen], away / far[:, None], far)
    return seen.mean(axis=-1)
