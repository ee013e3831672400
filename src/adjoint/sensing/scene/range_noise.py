"""Noise of range sensors: errors that grow with the distance and the angle of incidence, and readings that are lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...compile import kernel
from ...errors import ArgumentError
from ...randomness import Rng, generator
from .scene_checks import number

__all__ = ["RangeNoise", "as_range_noise", "noisy_distances", "range_sigma"]


@dataclass(frozen=True)
class RangeNoise:
    """What disturbs a measured distance d under the angle of incidence θ; without arguments, nothing does.

        >>> lidar = RangeNoise(sigma=0.01, linear=0.001, grazing=np.radians(85), dropout=0.01)

    The standard deviation is (`sigma` [m] + `linear` · d + `quadratic` [1/m] · d²) / cos θ, and cos θ counts as at
    least 0.05: on a tilted surface, the spot of a beam covers a range of depths. `quadratic` is that of triangulation
    and stereo, whose error grows with d². A reading is lost with the probability `dropout`, and always if θ is above
    `grazing` [rad], since no light comes back then.
    """

    sigma: float = 0.0
    linear: float = 0.0
    quadratic: float = 0.0
    grazing: float = np.pi / 2
    dropout: float = 0.0

    def __post_init__(self):
        for name, most in (
            ("sigma", np.inf),
            ("linear", np.inf),
            ("quadratic", np.inf),
            ("grazing", np.pi / 2),
            ("dropout", 1),
        ):
            value = number(getattr(self, name), name, "RangeNoise", least=0, most=most)
            object.__setattr__(self, name, value)


@kernel
def range_sigma(distance, cosine, sigma, linear, quadratic):
    """The standard deviation [m] of a distance [m] that is measured under an angle of incidence with this cosine.

    >>> float(range_sigma(2.0, 0.5, 0.01, 0.002, 0.0))
    0.028
    """
    return (sigma + distance * (linear + distance * quadratic)) / np.maximum(np.abs(cosine), 0.05)


def as_range_noise(noise, caller: str) -> RangeNoise:
    """The noise, or that of a sensor with a standard deviation [m], if one number is given."""
    if isinstance(noise, RangeNoise):
        return noise
    if isinstance(noise, (int, float, np.integer, np.floating)) and not isinstance(noise, bool):
        return RangeNoise(sigma=float(noise))
    raise ArgumentError(
        f"{caller}: 'noise' must be a RangeNoise, or a standard deviation [m], got {type(noise).__name__}"
    )


def noisy_distances(distance, cosine, noise: RangeNoise | float, *, rng: Rng = None) -> np.ndarray:
    """The distances (...) [m] as a sensor with this `RangeNoise` measures them; ∞ where a reading is lost.

        >>> noisy_distances([1.0, 2.0], [1.0, 0.01], RangeNoise(grazing=np.radians(80)))
        array([ 1., inf])

    `cosine` (...) is that of the angle of incidence, whose sign does not matter. No distance becomes negative.
    """
    noise = as_range_noise(noise, "noisy_distances")
    distance, cosine = np.broadcast_arrays(np.asarray(distance, float), np.asarray(cosine, float))
    source = generator(rng, "noisy_distances")
    found, met = np.array(distance), np.isfinite(distance)
    d, c = distance[met], cosine[met]
    found[met] = np.maximum(
        d + range_sigma(d, c, noise.sigma, noise.linear, noise.quadratic) * source.normal(size=d.shape), 0
    )
    lost = np.abs(cosine) < np.cos(noise.grazing)
    if noise.dropout:
        lost |= source.random(distance.shape) < noise.dropout
    found[lost & met] = np.inf
    return found
