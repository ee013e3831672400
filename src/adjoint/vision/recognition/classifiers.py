"""The minimum-distance classifier: an object belongs to the class whose mean is nearest."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import floats, truth

__all__ = [
    "Classified",
    "MinimumDistanceClassifier",
    "classify",
    "decision_values",
    "fit_minimum_distance",
]

_MOST = 1e100  # squares of what is smaller do not overflow


@dataclass(frozen=True, eq=False)
class MinimumDistanceClassifier:
    """Classes and their `prototypes` (M, n), the means of their samples; `scale` (n,) divides descriptors first.

    `classes` are the names, in the order of the prototypes. `fit_minimum_distance` makes it from samples.
    """

    classes: tuple[Hashable, ...]
    prototypes: np.ndarray
    scale: np.ndarray

    def __repr__(self) -> str:
        M, n = self.prototypes.shape
        return f"<MinimumDistanceClassifier: {M} classes, {n} descriptors>"


class Classified(NamedTuple):
    """What patterns are: their `classes` (a list, with None for rejected ones), `indices` (...), -1 for rejected ones,
    and the `distances` (..., M) to all prototypes, of scaled descriptors."""

    classes: list
    indices: np.ndarray
    distances: np.ndarray


def fit_minimum_distance(
    patterns, classes: Sequence[Hashable], *, standardize: bool = False
) -> MinimumDistanceClassifier:
    """The classifier whose prototypes are the means of samples: `patterns` (N, n) with their `classes`, N names.

    Descriptors with large numbers, such as areas, outweigh others. With `standardize`, each is divided by its standard
    deviation inside of the classes (pooled), if that is not 0.

        >>> classifier = fit_minimum_distance([[1.0, 0.0], [3.0, 0.0], [10.0, 0.0]], ["nut", "nut", "bolt"])
        >>> classifier.classes, classifier.prototypes.tolist()
        (('nut', 'bolt'), [[2.0, 0.0], [10.0, 0.0]])

    Reference: Fu, Gonzalez & Lee (1987), (8.5-2), where N is the number of samples of class i.
    """
    x = floats(patterns)
    if x.ndim != 2 or not x.size:
        raise ArgumentError(f"fit_minimum_distance: the patterns have shape {x.shape}; (N, n) is needed")
    if not (np.abs(x) < _MOST).all():
        raise ArgumentError(f"fit_minimum_distance: a pattern has a NaN, an infinity or a number beyond {_MOST:g}")
    number_of: dict[Hashable, int] = {}
    try:
        number = np.array([number_of.setdefault(name, len(number_of)) for name in classes])
    except TypeError:
        raise ArgumentError("fit_minimum_distance: classes must be a sequence of names, one for each pattern") from None
    if len(number) != len(x):
        raise ArgumentError(f"fit_minimum_distance: {len(x)} patterns have {len(number)} classes; one each is needed")
    names = tuple(number_of)
    means = np.stack([x[number == k].mean(axis=0) for k in range(len(names))])
    scale = np.ones(x.shape[1])
    if truth(standardize, "fit_minimum_distance: 'standardize'"):
        spread = np.sqrt(((x - means[number]) ** 2).mean(axis=0))
        scale = np.where(spread > 1e-12 * np.abs(x).max(axis=0), spread, 1.0)
    return MinimumDistanceClassifier(names, means, scale)


def decision_values(classifier: MinimumDistanceClassifier, patterns) -> np.ndarray:
    """The decision functions d_j(x) = x · m_j - |m_j|²/2 of patterns (..., n): (..., M); the largest one decides.

    |x - m_j|² = |x|² - 2 d_j(x), so the largest value belongs to the nearest prototype.

        >>> decision_values(fit_minimum_distance([[2.0], [10.0]], ["nut", "bolt"]), [5.0]).tolist()
        [8.0, 0.0]

    Reference: Fu, Gonzalez & Lee (1987), (8.5-4).
    """
    x, m = _scaled(classifier, patterns, "decision_values")
    return x @ m.T - (m * m).sum(axis=1) / 2


def _scaled(classifier: MinimumDistanceClassifier, patterns, caller: str) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(classifier, MinimumDistanceClassifier):
        raise ArgumentError(f"{caller}: a MinimumDistanceClassifier is needed, got {type(classifier).__name__}")
    x, n = floats(patterns), classifier.prototypes.shape[1]
    if x.ndim < 1 or x.shape[-1] != n:
        raise ArgumentError(f"{caller}: the patterns have shape {x.shape}; (..., {n}) is needed")
    if (np.abs(x) > _MOST).any():  # a NaN, which says that a descriptor is unknown, passes
        raise ArgumentError(f"{caller}: a pattern has a number beyond {_MOST:g}")
    return x / classifier.scale, classifier.prototypes / classifier.scale


def classify(classifier: MinimumDistanceClassifier, patterns, *, reject: float = np.inf) -> Classified:
    """The classes of patterns (..., n): those of the nearest prototypes. Beyond the distance `reject`, it is None.

    A pattern that has a NaN is rejected, too. See `Classified` for the result.

        >>> classifier = fit_minimum_distance([[2.0], [10.0]], ["nut", "bolt"])
        >>> classify(classifier, [[3.0], [8.0], [99.0]], reject=5.0).classes
        ['nut', 'bolt', None]

    Reference: Fu, Gonzalez & Lee (1987), (8.5-3).
    """
    x, m = _scaled(classifier, patterns, "classify")
    distances = np.linalg.norm(x[..., None, :] - m, axis=-1)
    far = floats(reject)
    if far.ndim or not far >= 0:
        raise ArgumentError(f"classify: 'reject' is {reject!r:.60}; a distance, 0 or more, is needed")
    safe = np.where(np.isnan(distances), np.inf, distances)
    near = safe.argmin(axis=-1)
    found = np.where(safe.min(axis=-1) <= min(float(far), np.finfo(float).max), near, -1)
    names = [classifier.classes[k] if k >= 0 else None for k in np.ravel(found)]
    return Classified(names, found, distances)
