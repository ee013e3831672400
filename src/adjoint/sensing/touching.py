"""Touch: switches on two fingers, with which a hand centres itself over an object, and a spring-loaded rod."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from .noise import QUIET, Noise, noise_sigma
from .sensor_data import SensorData, need_sensor

__all__ = [
    "Centred",
    "Contacts",
    "FingerSwitches",
    "TouchRod",
    "centred",
    "centring_contacts",
    "finger_contacts",
    "rod_force",
    "rod_force_sigma",
    "rod_rotation",
]


@dataclass(frozen=True, eq=False)
class FingerSwitches(SensorData):
    """A hand with a switch on the inner surface of each of two fingers, `opening` [m] apart.

        >>> hand = FingerSwitches(opening=0.10, step=1e-3)

    The hand moves along the line through its fingers, in steps of `step` [m]; after each, the switches are read.
    """

    opening: float
    step: float

    POSITIVE = ("opening", "step")


class Contacts(NamedTuple):
    """What belongs to the `left` finger, which is behind if the hand moves to +x, and to the `right` one."""

    left: np.ndarray
    right: np.ndarray


class Centred(NamedTuple):
    """The `position` [m] of an object's centre and its `size` [m], as found by contacts; each is good to ± its bound.

    `position_bound` is step/2, and `size_bound` is one step.
    """

    position: np.ndarray
    size: np.ndarray
    position_bound: np.ndarray
    size_bound: np.ndarray


@kernel(sensor=static)
def finger_contacts(sensor: FingerSwitches, hand, center, size) -> Contacts:
    """Which switches, 1 or 0, are closed: the hand's middle is at `hand` [m], an object of `size` [m] at `center` [m].

    The left finger touches if the hand is far enough to the right, and the other way round.

        >>> finger_contacts(FingerSwitches(0.10, 1e-3), [0.0, 0.04], 0.0, 0.04).left
        array([0., 1.])
    """
    need_sensor(sensor, FingerSwitches, "finger_contacts")
    play = (sensor.opening - size) / 2
    return Contacts(np.where(hand - center >= play, 1.0, 0.0), np.where(center - hand >= play, 1.0, 0.0))


@kernel(sensor=static)
def centring_contacts(sensor: FingerSwitches, start, center, size) -> Contacts:
    """The positions [m] of the hand at which it stops, if it steps from `start` [m] to the right until its left finger
    touches, and from there to the left until its right finger does.

    The object of `size` [m] at `center` [m] is between the fingers at the start, and stays in place; else results are
    NaN. Fu, Gonzalez & Lee (1987), section 6.4.1.

        >>> centring_contacts(FingerSwitches(0.10, 1e-3), 0.0, 0.0105, 0.04).left.round(6)
        np.float64(0.041)
    """
    need_sensor(sensor, FingerSwitches, "centring_contacts")
    step, play = sensor.step, (sensor.opening - size) / 2
    fits = (play > 0) & (np.abs(start - center) < play)
    slack = 1e-9  # a step that ends at the contact, but for rounding errors, closes the switch
    left = start + step * np.ceil((center + play - start) / step - slack)
    right = left - step * np.ceil((left - (center - play)) / step - slack)
    return Contacts(np.where(fits, left, np.nan), np.where(fits, right, np.nan))


@kernel(sensor=static)
def centred(sensor: FingerSwitches, left, right) -> Centred:
    """Where the object is, from the positions [m] of the hand at which its `left` and `right` fingers touched.

        position = (left + right) / 2,   size = opening - (left - right) + step

    Each switch is seen closed up to one step late, half a step on average, for which the size is corrected.

        >>> found = centred(FingerSwitches(0.10, 1e-3), 0.041, -0.020)
        >>> float(found.position.round(6)), float(found.size.round(6))
        (0.0105, 0.04)
    """
    need_sensor(sensor, FingerSwitches, "centred")
    size = sensor.opening - (left - right) + sensor.step
    return Centred((left + right) / 2, size, sensor.step / 2 + 0 * size, sensor.step + 0 * size)


# --- an analog sensor -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TouchRod(SensorData):
    """A spring-loaded rod that turns a shaft: an analog touch sensor.

        >>> rod = TouchRod(stiffness=500.0, lever=5e-3, noise=Noise(step=2 * np.pi / 1000))     # a code wheel

    `stiffness` k [N/m] is that of the spring, `lever` r [m] that of the rod on the shaft, which turns by x / r. `noise`
    is that of the angle [rad].
    """

    stiffness: float
    lever: float
    noise: Noise = QUIET

    POSITIVE = ("stiffness", "lever")


@kernel(sensor=static)
def rod_rotation(sensor: TouchRod, force):
    """The angle F / (k r) [rad] by which a `force` F [N] turns the shaft.

    >>> float(rod_rotation(TouchRod(500.0, 5e-3), 1.0))
    0.4
    """
    need_sensor(sensor, TouchRod, "rod_rotation")
    return force / (sensor.stiffness * sensor.lever)


@kernel(sensor=static)
def rod_force(sensor: TouchRod, angle):
    """The force F = k x = k r θ [N] of a shaft's `angle` θ [rad]; Fu, Gonzalez & Lee (1987), section 6.4.2.

    >>> float(rod_force(TouchRod(500.0, 5e-3), 0.4))
    1.0
    """
    need_sensor(sensor, TouchRod, "rod_force")
    return sensor.stiffness * sensor.lever * angle


@kernel(sensor=static, sigma=())
def rod_force_sigma(sensor: TouchRod, *, sigma=None):
    """The standard deviation k r σ_θ [N] of the force; `sigma` σ_θ [rad] is that of the sensor's `noise` by default.

    >>> float(rod_force_sigma(TouchRod(500.0, 5e-3), sigma=0.01)).__round__(6)
    0.025
    """
    need_sensor(sensor, TouchRod, "rod_force_sigma")
    return sensor.stiffness * sensor.lever * (noise_sigma(sensor.noise) if sigma is None else sigma)
