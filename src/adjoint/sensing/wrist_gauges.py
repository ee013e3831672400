"""Wrist force sensors: from strain gauges to a wrench, and back; their geometry, their tare, and a change of tools.

The textbook orders a wrench (Fx, Fy, Fz, Mx, My, Mz); this library has the moment first, (Mx, My, Mz, Fx, Fy, Fz).
`wrench_from_textbook` and `wrench_to_textbook` change the order. A pedestal sensor, under the base of a robot, has the
same algebra.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..model.input_checks import positive
from .noise import QUIET, Noise, noise_sigma
from .sensor_data import SensorData, need_sensor, readings_of

__all__ = [
    "WristSensor",
    "cross_bar_sensor",
    "gauge_readings",
    "gauge_sensor",
    "resolved_force_matrix",
    "resolved_wrench",
    "resolved_wrench_covariance",
    "tared",
    "wrench_from_textbook",
    "wrench_to_textbook",
    "wrist_sensor_from_textbook",
]

_SWAPPED = np.array([3, 4, 5, 0, 1, 2])


@kernel(forces_and_moments=6)
def wrench_from_textbook(forces_and_moments):
    """The wrench (6,) (Mx, My, Mz, Fx, Fy, Fz) of the textbook's vector (Fx, Fy, Fz, Mx, My, Mz) (6,) [N, N m].

    >>> wrench_from_textbook([1, 2, 3, 4, 5, 6])
    array([4., 5., 6., 1., 2., 3.])
    """
    return forces_and_moments[_SWAPPED]


@kernel(wrench=6)
def wrench_to_textbook(wrench):
    """The textbook's vector (Fx, Fy, Fz, Mx, My, Mz) (6,) of a wrench (Mx, My, Mz, Fx, Fy, Fz) (6,) [N m, N].

    >>> wrench_to_textbook([4, 5, 6, 1, 2, 3])
    array([1., 2., 3., 4., 5., 6.])
    """
    return wrench[_SWAPPED]


@dataclass(frozen=True, eq=False)
class WristSensor(SensorData):
    """A force sensor with n strain gauges: wrench = `matrix` (readings - `offset`).

        >>> sensor = cross_bar_sensor(lever=0.05, gain=100.0)
        >>> sensor.gauges
        8

    - `matrix` (6, n) turns readings [V] into a wrench (m, f); its rows are in N m/V and N/V. It has rank 6.
    - `offset` (n,) [V] are the readings without a load: the tare.
    - `noise` is that of each gauge [V].

    `cross_bar_sensor`, `gauge_sensor` and `wrist_sensor_from_textbook` make sensors; `calibrate_wrist` finds one.
    """

    matrix: Any  # (6, n)
    offset: Any = None  # (n,); None becomes zeros
    noise: Noise = QUIET

    SHAPES = {"matrix": (6, None), "offset": (None,)}  # noqa: RUF012  # never changed

    def __post_init__(self):
        given: Any = self.offset
        object.__setattr__(self, "offset", np.zeros(np.shape(self.matrix)[-1:] or 1) if given is None else given)
        super().__post_init__()
        kept: Any = self.offset
        size = len(kept)
        if size != self.gauges:
            raise ArgumentError(f"WristSensor: offset has {size} numbers; matrix has {self.gauges} gauges")
        if np.linalg.matrix_rank(self.matrix / np.linalg.norm(self.matrix, axis=1, keepdims=True).clip(1e-300)) < 6:
            raise ArgumentError("WristSensor: matrix has a rank below 6, so that some wrenches are not felt")

    @property
    def gauges(self) -> int:
        """The number n of gauges."""
        return self.matrix.shape[1]

    @property
    def sensitivity(self) -> np.ndarray:
        """The readings (n, 6) [V] that unit moments and forces cause: the pseudoinverse of `matrix`."""
        return np.linalg.pinv(self.matrix)

    @property
    def liftable(self) -> dict[str, np.ndarray]:
        """{name: array} of what can be lifted; the pseudoinverse of a matrix that is an input cannot be traced."""
        return {"offset": self.offset}


def gauge_sensor(points, directions, *, gain=1.0, **options) -> WristSensor:
    """The `WristSensor` whose gauge k measures the force along `directions[k]` at `points[k]` (n, 3) [m].

    A reading of 1 V means a force of `gain` [N/V], one number or (n,), and the wrench is the sum of all these forces:
    column k of the matrix is gain (p × d, d). Further options are those of `WristSensor`.

        >>> points = 0.05 * np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, 1], [0, 0, 1]])
        >>> directions = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 1], [1, 0, 0], [1, 0, 0], [0, 1, 0]])
        >>> gauge_sensor(points, directions, gain=100.0).gauges
        6
    """
    p = readings_of(points, "points", "gauge_sensor", None, 3)
    d = readings_of(directions, "directions", "gauge_sensor", None, 3)
    if p.ndim != 2 or p.shape != d.shape:
        raise ArgumentError(f"gauge_sensor: 'points' has shape {p.shape}, 'directions' {d.shape}; both must be (n, 3)")
    unit = d / np.linalg.norm(d, axis=1, keepdims=True)
    return WristSensor((gain * np.concatenate([np.cross(p, unit), unit], axis=1).T) + 0.0, **options)


def cross_bar_sensor(lever=0.05, gain=100.0, **options) -> WristSensor:
    """The ideal sensor of the textbook's Fig. 6.22: four bars in a cross, with two pairs of gauges at the end of each.

        >>> R_F = resolved_force_matrix(cross_bar_sensor(lever=0.05, gain=100.0))
        >>> R_F[3]                                              # Mx = 5 (w4 - w8)
        array([ 0.,  0.,  0.,  5.,  0.,  0.,  0., -5.])

    The bars reach `lever` [m] along ±x and ±y; one pair of each measures the force along z, the other the force in the
    plane across the bar, with `gain` [N/V]. The pairs are numbered so that the zeros are those of (6.5-3): 1 and 2 at
    +x, 4 and 7 at +y, 5 and 6 at -x, 3 and 8 at -y. The textbook prints no signs; these follow from the forces.
    Further options are those of `WristSensor`.
    """
    L = positive(lever, "cross_bar_sensor: lever")
    x, y, z = np.eye(3)
    points = L * np.array([x, x, -y, y, -x, -x, y, -y])
    return gauge_sensor(points, [y, z, x, z, -y, z, -x, z], gain=positive(gain, "cross_bar_sensor: gain"), **options)


def wrist_sensor_from_textbook(matrix, **options) -> WristSensor:
    """The `WristSensor` of a resolved force matrix R_F (6, n), whose rows are Fx, Fy, Fz [N/V], Mx, My, Mz [N m/V].

    >>> R_F = resolved_force_matrix(cross_bar_sensor())
    >>> wrist_sensor_from_textbook(R_F) == cross_bar_sensor()
    True
    """
    R_F = readings_of(matrix, "matrix", "wrist_sensor_from_textbook", 6, None)
    return WristSensor(R_F[_SWAPPED], **options)


def resolved_force_matrix(sensor: WristSensor) -> np.ndarray:
    """The resolved force matrix R_F (6, n) of (6.5-2), in the textbook's order Fx, Fy, Fz, Mx, My, Mz of rows.

    The first three rows are in N/V, the others in N m/V. (The textbook has newton-metres for all.)

        >>> resolved_force_matrix(cross_bar_sensor()).shape
        (6, 8)
    """
    need_sensor(sensor, WristSensor, "resolved_force_matrix")
    return sensor.matrix[_SWAPPED]


# --- readings and wrenches --------------------------------------------------------------------------------------------


@kernel(sensor=static, readings="gauges")
def resolved_wrench(sensor: WristSensor, readings):
    """The wrench (6,) [N m, N] in the sensor's frame of gauge `readings` w (n,) [V]: matrix (w - offset).

    It is F = R_F W of Fu, Gonzalez & Lee (1987), (6.5-1), with the moment before the force and without the offset. The
    sign is that of the wrench that the outside exerts on what is mounted on the sensor.

        >>> w = [-0.02, 0.07, 0.055, 0.08, 0.03, 0.03, -0.045, 0.02]
        >>> resolved_wrench(cross_bar_sensor(), w).round(9) + 0.0
        array([ 0.3, -0.2,  0.1, 10. , -5. , 20. ])
    """
    need_sensor(sensor, WristSensor, "resolved_wrench")
    return sensor.matrix @ (readings - sensor.offset)


@kernel(sensor=static, wrench=6)
def gauge_readings(sensor: WristSensor, wrench):
    """The readings (n,) [V] that a `wrench` (6,) [N m, N] causes: sensitivity · wrench + offset.

    With more than six gauges these are the readings of least norm, those of gauges and bars that are all alike.
    `noisy(gauge_readings(sensor, wrench), sensor.noise, rng=...)` adds noise.

        >>> gauge_readings(cross_bar_sensor(), [0.3, -0.2, 0.1, 10, -5, 20]).round(6)
        array([-0.02 ,  0.07 ,  0.055,  0.08 ,  0.03 ,  0.03 , -0.045,  0.02 ])
    """
    need_sensor(sensor, WristSensor, "gauge_readings")
    return sensor.sensitivity @ wrench + sensor.offset


def resolved_wrench_covariance(sensor: WristSensor, *, sigma=None) -> np.ndarray:
    """The covariance matrix diag(σ²) matrixᵀ (6, 6) of a resolved wrench, for gauges with independent noise.

    `sigma` σ [V] is one number or (n,), by default that of the sensor's `noise`.

        >>> np.sqrt(resolved_wrench_covariance(cross_bar_sensor(), sigma=1e-3).diagonal()).round(4)
        array([0.0071, 0.0071, 0.01  , 0.1414, 0.1414, 0.2   ])
    """
    need_sensor(sensor, WristSensor, "resolved_wrench_covariance")
    s = noise_sigma(sensor.noise) if sigma is None else readings_of(sigma, "sigma", "resolved_wrench_covariance")
    if s.shape not in ((), (sensor.gauges,)):
        raise ArgumentError(
            f"resolved_wrench_covariance: 'sigma' has shape {s.shape}; one number or ({sensor.gauges},) is needed"
        )
    scaled = sensor.matrix * s
    return scaled @ scaled.T


def tared(sensor: WristSensor, readings, *, wrench=None) -> WristSensor:
    """The sensor with the offset that `readings` (k, n) or (n,) [V] show, while the known `wrench` (6,) acts on it.

        >>> sensor = cross_bar_sensor()
        >>> with_tool = tared(sensor, gauge_readings(sensor, [0, 0, 0, 0, 0, -9.8]))
        >>> resolved_wrench(with_tool, gauge_readings(sensor, [0, 0, 0, 0, 0, -9.8])).round(9) + 0.0
        array([0., 0., 0., 0., 0., 0.])

    Without `wrench` the sensor reads 0 afterwards, with the tool as it hangs now. This is all that a change of tools
    needs (Fu, Gonzalez & Lee 1987, problem 6.11): the matrix belongs to the gauges and stays. But the weight of a tool
    turns with the hand. To remove it in all poses, give its wrench here, from `tool_wrench`, so that the offset is that
    of the gauges alone, and subtract `tool_wrench` from what is measured.
    """
    need_sensor(sensor, WristSensor, "tared")
    w = readings_of(readings, "readings", "tared", sensor.gauges)
    if w.ndim > 2 or not w.size or not np.isfinite(w).all():
        raise ArgumentError(f"tared: 'readings' has shape {w.shape}; finite (k, {sensor.gauges}) are needed")
    mean = w.reshape(-1, sensor.gauges).mean(axis=0)
    if wrench is not None:
        F = readings_of(wrench, "wrench", "tared", 6)
        if F.ndim != 1:
            raise ArgumentError(f"tared: 'wrench' has shape {F.shape}; (6,) is needed")
        mean = mean - sensor.sensitivity @ F
    return sensor.replace(offset=mean)
