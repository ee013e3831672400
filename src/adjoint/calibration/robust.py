"""Loss functions that limit what outliers can do: Huber's and Tukey's, of the length d of a whitened residual (m,).

A fit with the loss ρ is a fit by least squares with the weights w = ρ'(d) / (2 d), found again and again. The constant
of each loss follows from m: for normal noise, the estimate keeps 95 % of the efficiency of least squares. See Huber &
Ronchetti (2009), "Robust Statistics", 2nd ed., §4.5 and §8.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

__all__ = ["EFFICIENCY", "LOSSES", "Loss", "chi_square_quantile", "loss_of", "outlier_length"]

EFFICIENCY = 0.95
LOSSES = ("squares", "huber", "tukey")
_SURE = 0.001  # the chance that one or more of all good samples are called outliers


class Loss(NamedTuple):
    """A loss function: its name, and its constant c for residuals of some length m."""

    name: str
    constant: float = np.inf

    def weights(self, d: np.ndarray) -> np.ndarray:
        """The weights w of samples whose whitened residuals have the lengths d."""
        if self.name == "squares":
            return np.ones_like(d)
        if self.name == "huber":
            return self.constant / np.maximum(d, self.constant)
        return np.maximum(1 - (d / self.constant) ** 2, 0.0) ** 2

    def cost(self, d: np.ndarray) -> float:
        """Σ ρ(d); ρ is d² near 0."""
        c = self.constant
        if self.name == "squares":
            return float(np.sum(d**2))
        if self.name == "huber":
            return float(np.sum(np.where(d < c, d**2, 2 * c * d - c**2)))
        return float(np.sum(c**2 / 3 * (1 - np.maximum(1 - (d / c) ** 2, 0.0) ** 3)))


@functools.cache
def loss_of(name: str, m: int) -> Loss:
    """The loss of this name for residuals of m numbers."""
    if name == "squares":
        return Loss(name)
    from scipy.optimize import root_scalar

    bracket = 0.3 * np.sqrt(m), 30 * np.sqrt(m)
    return Loss(name, float(root_scalar(lambda c: _efficiency(Loss(name, c), m) - EFFICIENCY, bracket=bracket).root))


def _efficiency(loss: Loss, m: int) -> float:
    """E[w + w' d / m]² / (E[w² d²] / m), where d has the χ distribution of m degrees of freedom.

    This is the ratio of the covariances of least squares and of the M-estimate, for a location in m dimensions.
    """
    d = (np.arange(8000) + 0.5) * (np.sqrt(m) + 9) / 8000  # the middles of intervals
    density = d ** (m - 1) * np.exp(-(d**2) / 2)
    density /= np.sum(density)
    w = loss.weights(d)
    if loss.name == "huber":
        slope = np.where(d < loss.constant, 0.0, -w)
    else:
        t = np.minimum(d / loss.constant, 1.0) ** 2
        slope = -4 * t * (1 - t)
    return float(np.sum(density * (w + slope / m)) ** 2 / (np.sum(density * w**2 * d**2) / m))


def chi_square_quantile(level: float, m: float) -> float:
    """The number below which a χ² variable of m degrees of freedom is with the probability `level`."""
    from scipy.special import gammaincinv

    return float(2 * gammaincinv(m / 2, level))


def outlier_length(m: int, samples: int) -> float:
    """The length d beyond which a sample is an outlier: one good one in all these samples is so with 0.1 %."""
    return float(np.sqrt(chi_square_quantile(1 - _SURE / samples, m)))
