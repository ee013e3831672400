"""Predicates of regions: what makes the pixels of a region belong together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import one_of, positive

__all__ = ["Uniformity"]

_ROUNDING = 1e-9  # of the largest value: a standard deviation this small is taken for 0


@dataclass(frozen=True)
class Uniformity:
    """A predicate P(R) of a region: True if its pixels are alike.

        >>> alike = Uniformity("range", 10)
        >>> alike(np.array([20, 25, 30])), alike(np.array([20, 31]))
        (True, False)

    | `kind` | P is True if |
    |---|---|
    | "equal" | all pixels are equal |
    | "range" | the largest value less the smallest one is `limit` or less |
    | "deviation" | the standard deviation √(Σ (f - mean)² / n) is `limit` or less, up to 1e-9 of the largest value |

    The first two hold for every part of a region for which they hold; the third need not.

    `vision.split_and_merge` takes such a predicate; `vision.is_segmentation` takes any function of an array of values.
    Fu, Gonzalez & Lee (1987), §8.2.3.
    """

    kind: str
    limit: float = 0.0

    def __post_init__(self):
        one_of(self.kind, ("equal", "range", "deviation"), "Uniformity: kind")
        object.__setattr__(self, "limit", positive(self.limit, "Uniformity: limit", or_zero=True))
        if self.kind == "equal" and self.limit:
            raise ArgumentError("Uniformity: limit is for 'range' and 'deviation'; equal pixels differ by 0")

    def __call__(self, values) -> bool:
        """Whether values (n,) of pixels, n >= 1, are alike."""
        values = np.asarray(values).reshape(-1).astype(float)
        if self.kind == "deviation":
            return bool(values.std() <= self.deviation_limit(np.abs(values).max()))
        return bool(values.max() - values.min() <= self.limit)

    def deviation_limit(self, largest: float) -> float:
        """The limit of standard deviations, with room for the rounding of values up to `largest`."""
        return self.limit + _ROUNDING * largest
