"""Averages of repeated readings: what they gain, what they cannot, and how many are needed."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..model.input_checks import positive
from .sensor_data import readings_of

__all__ = ["Averaged", "averaged", "mean_confidence", "readings_needed"]


class Averaged(NamedTuple):
    """The `mean` (...) of readings, less their bias, its standard deviation `sigma` (...), and their number."""

    mean: np.ndarray
    sigma: np.ndarray
    readings: int


def averaged(readings, *, sigma=None, bias=0.0) -> Averaged:
    """The `Averaged` of independent readings (..., N), over their last axis: σ_mean = σ / √N.

        >>> averaged([9.0, 11.0, 10.0, 10.0], bias=0.5).mean
        np.float64(9.5)

    `sigma` is the standard deviation of one reading; by default it is estimated from the readings. Averaging does not
    reduce a constant error: a known `bias` is subtracted. The unit is that of the readings. Fu, Gonzalez & Lee (1987),
    section 6.2.3.
    """
    x = readings_of(readings, "readings", "averaged", None)
    n = x.shape[-1]
    if n < (2 if sigma is None else 1):
        raise ArgumentError(f"averaged: 'readings' has shape {x.shape}; 2 are needed, or 1 if `sigma` is given")
    spread = (
        x.std(axis=-1, ddof=1)
        if sigma is None
        else np.broadcast_to(readings_of(sigma, "sigma", "averaged"), x.shape[:-1])
    )
    return Averaged(x.mean(axis=-1) - bias, spread / math.sqrt(n), n)


def readings_needed(sigma, accuracy, confidence: float = 0.95) -> int:
    """How many readings the average needs to be within ± `accuracy` with this probability: ⌈(z σ / accuracy)²⌉.

        >>> readings_needed(1.0, 0.005)                     # Fu, Gonzalez & Lee (1987), problem 6.5: 1 m and 5 mm
        153659

    The noise is normal, of standard deviation `sigma` in the unit of `accuracy`, and has no bias; z is the quantile of
    (1 + confidence) / 2, 1.95996 for 95 %. (With z = 1.96 the problem has 153 664.)
    """
    from scipy.stats import norm

    sigma = positive(sigma, "readings_needed: sigma", or_zero=True)
    accuracy = positive(accuracy, "readings_needed: accuracy")
    z = float(norm.ppf((1 + _probability(confidence, "readings_needed")) / 2))
    found = z * (sigma / accuracy)
    if not found < 1e100:
        raise ArgumentError(f"readings_needed: the noise is {sigma / accuracy:g} times the accuracy; no average helps")
    return max(1, math.ceil(found**2))


def mean_confidence(sigma, accuracy, readings: int) -> float:
    """The probability that the average of so many readings is within ± `accuracy`: the inverse of `readings_needed`.

    >>> round(mean_confidence(1.0, 0.005, 153659), 6)
    0.95
    """
    sigma, accuracy = positive(sigma, "mean_confidence: sigma"), positive(accuracy, "mean_confidence: accuracy")
    readings = positive(readings, "mean_confidence: readings")  # type: ignore[assignment]
    return math.erf(accuracy * math.sqrt(readings / 2) / sigma)


def _probability(value, caller: str) -> float:
    found = positive(value, f"{caller}: confidence")
    if not found < 1:
        raise ArgumentError(f"{caller}: confidence must be between 0 and 1, got {value!r}")
    return found
