"""Range by phase shift: light whose intensity is modulated, its ambiguity, and two frequencies that resolve it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..model.input_checks import positive
from .noise import Noise, noise_sigma
from .sensor_data import SensorData, need_sensor
from .time_of_flight import SPEED_OF_LIGHT

__all__ = [
    "Demodulated",
    "PhaseRange",
    "TwoPhaseRange",
    "Unwrapped",
    "modulation_frequency",
    "phase_demodulated",
    "phase_distance",
    "phase_distance_sigma",
    "phase_samples",
    "phase_shift",
    "phase_shifts",
    "unwrapped_distance",
    "unwrapping_confidence",
]

_TURN = 2 * np.pi
_PHASE_NOISE = Noise(period=_TURN)
_MOST_WRAPS = 100_000  # more would need phases that no instrument measures


@dataclass(frozen=True, eq=False)
class PhaseRange(SensorData):
    """A range finder that compares the phases of outgoing and returning modulated light.

        >>> laser = PhaseRange(30e6)
        >>> round(laser.ambiguity, 5)
        4.99654

    `frequency` f [Hz] is that of the modulation, `speed` c [m/s] that of light; `noise` is that of the phase [rad].
    """

    frequency: float
    speed: float = SPEED_OF_LIGHT
    noise: Noise = _PHASE_NOISE

    POSITIVE = ("frequency", "speed")

    @property
    def ambiguity(self):
        """The distance c / (2 f) [m] from which on phases repeat: readings are unique below it."""
        return self.speed / (2 * self.frequency)


@kernel(sensor=static)
def phase_shift(sensor: PhaseRange, distance):
    """The phase shift θ = 4π f D / c [rad], wrapped into [0, 2π), of light from a `distance` D [m] of 0 or more.

    >>> float(phase_shift(PhaseRange(30e6, speed=3e8), 7.5)).__round__(6)
    3.141593
    """
    need_sensor(sensor, PhaseRange, "phase_shift")
    return _TURN * np.fmod(distance / sensor.ambiguity, 1.0)


@kernel(sensor=static)
def phase_distance(sensor: PhaseRange, phase):
    """The distance D = (θ / 2π) λ/2 [m] of a `phase` shift θ [rad], with λ = c/f; in [0, `ambiguity`).

    Distances that differ by multiples of `sensor.ambiguity` have the same phase. Fu, Gonzalez & Lee (1987), (6.2-13).

        >>> float(phase_distance(PhaseRange(30e6, speed=3e8), np.pi))           # problem 6.3
        2.5
    """
    need_sensor(sensor, PhaseRange, "phase_distance")
    turns = phase / _TURN
    return sensor.ambiguity * (turns - np.floor(turns))


@kernel(sensor=static, sigma=())
def phase_distance_sigma(sensor: PhaseRange, *, sigma=None):
    """The standard deviation c σ_θ / (4π f) [m] of a distance; `sigma` σ_θ [rad] is that of `noise` by default.

    >>> float(phase_distance_sigma(PhaseRange(30e6, speed=3e8), sigma=0.01)).__round__(6)
    0.007958
    """
    need_sensor(sensor, PhaseRange, "phase_distance_sigma")
    return sensor.ambiguity / _TURN * (noise_sigma(sensor.noise) if sigma is None else sigma)


def modulation_frequency(distance, *, speed: float = SPEED_OF_LIGHT) -> float:
    """The highest modulation frequency c / (2 D) [Hz] with which distances below `distance` D [m] are unique.

    >>> modulation_frequency(5.0, speed=3e8)                                    # problem 6.4
    30000000.0
    """
    return positive(speed, "modulation_frequency: speed") / (2 * positive(distance, "modulation_frequency: distance"))


# --- four samples of one period ---------------------------------------------------------------------------------------


class Demodulated(NamedTuple):
    """The `phase` [rad] in [0, 2π), and the `amplitude` and mean `intensity` of the light, in the samples' unit."""

    phase: np.ndarray
    amplitude: np.ndarray
    intensity: np.ndarray


@kernel(sensor=static)
def phase_samples(sensor: PhaseRange, distance, amplitude=1.0, intensity=1.0):
    """Four samples (4,) of the returning light, a quarter of a period apart: intensity + amplitude cos(θ - k π/2).

    >>> phase_samples(PhaseRange(30e6, speed=3e8), 0.0).round(6)
    array([2., 1., 0., 1.])
    """
    theta = phase_shift(sensor, distance)
    c, s = amplitude * np.cos(theta), amplitude * np.sin(theta)
    return np.stack([intensity + c, intensity + s, intensity - c, intensity - s])


@kernel(samples=4)
def phase_demodulated(samples) -> Demodulated:
    """Phase, amplitude and intensity from four samples; the inverse of `phase_samples`.

    Noise of the samples with the standard deviation σ gives the phase one of σ / (√2 amplitude): dark surfaces are
    measured worse.

        >>> float(phase_demodulated([2.0, 1.0, 0.0, 1.0]).amplitude)
        1.0
    """
    c, s = (samples[0] - samples[2]) / 2, (samples[1] - samples[3]) / 2
    theta = np.arctan2(s, c)
    return Demodulated(np.where(theta < 0, theta + _TURN, theta), np.hypot(c, s), np.mean(samples))


# --- two frequencies --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TwoPhaseRange(SensorData):
    """A range finder with two modulation frequencies, whose phases together are unique over a longer distance.

        >>> laser = TwoPhaseRange(30e6, 31e6, speed=3e8)
        >>> laser.ambiguity
        150.0

    The frequencies are whole numbers of hertz, p g and r g with their greatest common divisor g: phases repeat together
    after c / (2 g). `noise` is that of each phase [rad].
    """

    first_frequency: float
    second_frequency: float
    speed: float = SPEED_OF_LIGHT
    noise: Noise = _PHASE_NOISE

    POSITIVE = ("first_frequency", "second_frequency", "speed")

    def __post_init__(self):
        super().__post_init__()
        pair = self.first_frequency, self.second_frequency
        if not all(f == round(f) and f < 2**53 for f in pair) or pair[0] == pair[1]:
            raise ArgumentError(f"TwoPhaseRange: frequencies must be two different whole numbers [Hz], got {pair}")
        p, r = self.ratio
        if max(p, r) > _MOST_WRAPS:
            raise ArgumentError(
                f"TwoPhaseRange: frequencies of {pair[0]:g} and {pair[1]:g} Hz have the ratio {p}:{r}; "
                "choose a ratio of smaller whole numbers"
            )

    @property
    def liftable(self) -> dict[str, np.ndarray]:
        """{name: number} of what can be lifted; the frequencies decide what is computed, so they cannot."""
        return {"speed": np.asarray(self.speed)}

    @property
    def base_frequency(self) -> float:
        """The greatest common divisor g [Hz] of both frequencies."""
        return float(math.gcd(int(self.first_frequency), int(self.second_frequency)))

    @property
    def ratio(self) -> tuple[int, int]:
        """The whole numbers p and r without common divisor, with the frequencies p g and r g."""
        g = self.base_frequency
        return int(self.first_frequency / g), int(self.second_frequency / g)

    @property
    def ambiguity(self):
        """The distance c / (2 g) [m] from which on both phases repeat."""
        return self.speed / (2 * self.base_frequency)


class Unwrapped(NamedTuple):
    """The `distance` [m], the whole `wraps` (2,) of both phases, and the `misfit`: 0 if phases agree, at most 0.5."""

    distance: np.ndarray
    wraps: np.ndarray
    misfit: np.ndarray


@kernel(sensor=static)
def phase_shifts(sensor: TwoPhaseRange, distance):
    """The phase shifts (2,) [rad] in [0, 2π) of both frequencies, for a `distance` [m] of 0 or more.

    >>> phase_shifts(TwoPhaseRange(30e6, 40e6, speed=3e8), 2.5).round(6)
    array([3.141593, 4.18879 ])
    """
    need_sensor(sensor, TwoPhaseRange, "phase_shifts")
    share = distance / sensor.ambiguity
    return np.stack([_TURN * np.fmod(share * n, 1.0) for n in sensor.ratio])


@kernel(sensor=static, phases=2)
def unwrapped_distance(sensor: TwoPhaseRange, phases) -> Unwrapped:
    """The distance in [0, `ambiguity`) from the `phases` (2,) [rad] of both frequencies.

    At the share x of the ambiguity, θ_1/2π = x p - n_1 and θ_2/2π = x r - n_2 with whole numbers n_1 and n_2 of wraps,
    so that m = (θ_1 r - θ_2 p) / 2π = n_2 p - n_1 r is whole too. m is rounded; n_1 ≡ -m r⁻¹ modulo p follows, and n_2.
    Both distances are averaged with weights f², which is best if both phases have the same noise. `misfit` is what m
    was rounded by. The wraps are right as long as phase errors change m by less than 1/2: `unwrapping_confidence`.

        >>> laser = TwoPhaseRange(30e6, 31e6, speed=3e8)
        >>> float(unwrapped_distance(laser, phase_shifts(laser, 123.4)).distance.round(6))
        123.4
    """
    need_sensor(sensor, TwoPhaseRange, "unwrapped_distance")
    p, r = sensor.ratio
    turns = phases / _TURN
    exact = turns[0] * r - turns[1] * p
    m = np.floor(exact + 0.5)
    n_1 = _modulo(-m * pow(r, -1, p), p)
    n_2 = np.floor((m + n_1 * r) / p + 0.5)
    share = ((n_1 + turns[0]) * p + (n_2 + turns[1]) * r) / (p * p + r * r)
    return Unwrapped(sensor.ambiguity * (share - np.floor(share)), np.stack([n_1, n_2]), np.abs(exact - m))


def _modulo(x, p: int):
    """The whole number x modulo p, in 0 ... p - 1."""
    return x - p * np.floor((x + 0.5) / p)


def unwrapping_confidence(sensor: TwoPhaseRange, *, sigma=None) -> float:
    """The probability that `unwrapped_distance` finds the right wraps: that |N(0, s)| < 1/2, s = σ √(p² + r²) / 2π.

    `sigma` σ [rad] is the standard deviation of each phase, by default that of the sensor's `noise`. A longer ambiguity
    costs accuracy: the larger p and r are, the less noise is allowed.

        >>> round(unwrapping_confidence(TwoPhaseRange(30e6, 31e6), sigma=0.03), 4)
        0.9848
    """
    need_sensor(sensor, TwoPhaseRange, "unwrapping_confidence")
    own = (
        float(noise_sigma(sensor.noise))
        if sigma is None
        else positive(sigma, "unwrapping_confidence: sigma", or_zero=True)
    )
    spread = own * math.hypot(*sensor.ratio) / _TURN
    return math.erf(0.5 / (math.sqrt(2) * spread)) if spread > 0 else 1.0
