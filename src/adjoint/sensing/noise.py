"""What disturbs a reading: a constant error, white noise, a wrap or a saturation, and the steps of a converter."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from ..compile import kernel
from ..compile.front.arguments import as_input
from ..errors import ArgumentError
from ..model.input_checks import floats
from ..randomness import Rng, generator

__all__ = ["QUIET", "Noise", "noise_sigma", "noisy", "quantised"]

Number = float | tuple[float, ...]


@dataclass(frozen=True)
class Noise:
    """What disturbs the readings of a sensor, in the unit of the reading; without arguments, nothing does.

        >>> timer = Noise(sigma=20e-12, step=50e-12)            # [s]: jitter, and the tick of the counter

    A reading x becomes x + `bias` + `sigma` · n with a normal n, then it is wrapped into [0, `period`), limited to
    `lower` ... `upper`, and rounded to whole multiples of `step`. `sigma`, `bias` and `step` may be tuples, with one
    number for each component of a reading (the last axis).
    """

    sigma: Number = 0.0
    bias: Number = 0.0
    step: Number = 0.0
    lower: float = -np.inf
    upper: float = np.inf
    period: float = np.inf

    def __post_init__(self):
        for field in dataclasses.fields(self):
            x = floats(getattr(self, field.name))
            several = field.name in ("sigma", "bias", "step")
            signed = field.name in ("bias", "lower", "upper")
            fine = ~np.isnan(x) & (signed | (x >= 0)) & (np.isfinite(x) | (not several))
            if x.ndim > several or not fine.all() or (field.name == "period" and not x > 0):
                kind = "a finite number" if several else "a number"
                limit = "" if signed else ", above 0" if field.name == "period" else ", 0 or more"
                shown = getattr(self, field.name)
                raise ArgumentError(f"Noise: {field.name} must be {kind}{limit}, got {shown!r:.60}")
            object.__setattr__(self, field.name, tuple(x.tolist()) if x.ndim else float(x))
        if not self.lower < self.upper:
            raise ArgumentError(f"Noise: lower is {self.lower:g}, which is not below upper, {self.upper:g}")


QUIET = Noise()
"""The noise of a sensor without any."""


@kernel
def quantised(reading, step):
    """The whole multiple of `step` that is nearest to a reading, in its unit; the reading itself if `step` is 0.

    >>> float(quantised(0.74, 0.5))
    0.5
    """
    safe = np.where(step > 0, step, 1.0)
    return np.where(step > 0, safe * np.floor(reading / safe + 0.5), reading)


def noisy(reading, noise: Noise, *, rng: Rng = None) -> np.ndarray:
    """The readings (...) as a sensor with this `Noise` gives them; NaN, which stands for no reading, stays NaN.

        >>> noisy([1.0, 2.0], Noise(bias=0.1, step=0.5), rng=0)
        array([1., 2.])

    Each number of `reading` has noise of its own. `rng` is a generator or a seed; it is used if `sigma` is not 0.
    """
    if not isinstance(noise, Noise):
        raise ArgumentError(f"noisy: 'noise' must be a Noise, got {type(noise).__name__}")
    x = np.asarray(as_input(reading, "reading", "noisy"), float)
    for name in ("sigma", "bias", "step"):
        size = np.shape(getattr(noise, name))
        if size and x.shape[-1:] != size:
            raise ArgumentError(
                f"noisy: 'reading' has shape {x.shape}; a Noise with {size[0]} {name}s needs (..., {size[0]})"
            )
    found = x + np.asarray(noise.bias)
    if np.any(noise.sigma):
        found = found + np.asarray(noise.sigma) * generator(rng, "noisy").normal(size=x.shape)
    found = np.clip(_wrapped(found, noise.period), noise.lower, noise.upper)
    if np.any(noise.step):
        found = _wrapped(quantised(found, np.asarray(noise.step)), noise.period)
    return found


def _wrapped(x, period: float) -> np.ndarray:
    return np.mod(x, period) if np.isfinite(period) else x


def noise_sigma(noise: Noise) -> np.ndarray:
    """The standard deviation √(sigma² + step² / 12) of what a `Noise` adds, in the unit of the reading.

    Rounding to steps counts as an error that is uniform over one step; this holds if readings vary by more than a step.

        >>> float(noise_sigma(Noise(sigma=2.0, step=6.0)).round(6))
        2.645751
    """
    if not isinstance(noise, Noise):
        raise ArgumentError(f"noise_sigma: 'noise' must be a Noise, got {type(noise).__name__}")
    return np.sqrt(np.square(noise.sigma) + np.square(noise.step) / 12)
