"""Optimum thresholds: between Gaussian classes of gray levels, and classes from a histogram.

Fu, Gonzalez & Lee (1987), §8.2.2, (8.2-11) to (8.2-23); Otsu (1979); Kittler and Illingworth (1986).
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from ...compile import kernel
from ...errors import ArgumentError, SolveError
from ...model.input_checks import count
from ..image_checks import gray
from .thresholds import threshold_bands
from .thresholds_fit import Mixture, fitted, grouped, merged, otsu_cuts

__all__ = [
    "DecisionIntervals",
    "Mixture",
    "classify_levels",
    "decision_intervals",
    "fit_mixture",
    "gaussian_crossings",
    "minimum_error_threshold",
    "optimum_threshold",
    "otsu_thresholds",
]


_LEVELS = 2048  # more levels than these are merged before a fit


class DecisionIntervals(NamedTuple):
    """Which class is most likely at a level: `classes` (n + 1,) between, below and above the `thresholds` (n,)."""

    thresholds: np.ndarray
    classes: np.ndarray


@kernel
def gaussian_crossings(m1, s1, P1, m2, s2, P2):
    """The two levels (2,) at which P₁ p₁(z) = P₂ p₂(z), for Gaussian classes with means m and standard deviations s.

    They are the roots of A T² + B T + C = 0. The first is the one that stays if s₁ = s₂, where the other is NaN. Both
    are NaN where one class is more likely everywhere.

        >>> gaussian_crossings(150.0, 20.0, 0.2, 80.0, 10.0, 0.8).round(3)
        array([108.938,   4.395])

    Fu, Gonzalez & Lee (1987), (8.2-18) to (8.2-20).
    """
    a, b = s1 * s1, s2 * s2
    # (8.2-19), with levels from the middle of both means, where no digits cancel
    h = 0.5 * (m1 - m2)
    A = a - b
    B = 2 * h * (a + b)
    C = (a - b) * h * h + 2 * a * b * np.log(s2 * P1 / (s1 * P2))
    D = B * B - 4 * A * C
    root = np.sqrt(np.where(D >= 0, D, np.nan))
    q = -0.5 * (B + np.where(B < 0, -root, root))
    safe = np.where(A == 0, 1.0, A)
    steady = C / q  # -C/B where A = 0
    other = np.where(A == 0, np.nan, q / safe)
    return 0.5 * (m1 + m2) + np.stack([steady, other])


def fit_mixture(counts, classes: int = 2, *, at=None) -> Mixture:
    """The sum of Gaussian classes that fits a histogram best, by maximum likelihood, from dark to light.

    `counts` (L,) are the numbers of pixels at the levels 0 to L - 1, or at the levels `at` (L,), which grow. The
    algorithm is expectation-maximization on the histogram. It starts from the classes of Otsu, and for two classes also
    from those of Kittler and Illingworth, and keeps what is more likely. A class is at least as wide as the rounding of
    levels, 1/√12 of a step.

        >>> levels = np.arange(256)
        >>> dark, light = (np.exp(-0.5 * ((levels - m) / s) ** 2) / s for m, s in ((80, 10), (150, 20)))
        >>> fit = fit_mixture(1e6 * (0.8 * dark + 0.2 * light))
        >>> fit.means.round(1), fit.deviations.round(1), fit.weights.round(2)
        (array([ 80., 150.]), array([10., 20.]), array([0.8, 0.2]))

    Fu, Gonzalez & Lee (1987), (8.2-11) and (8.2-21).
    """
    k = count(classes, "fit_mixture: classes")
    z, n, step = merged(*grouped(counts, at, "fit_mixture"), _LEVELS)
    if not 1 <= k <= min(z.size, 16):
        raise ArgumentError(
            f"fit_mixture: classes is {classes!r}; it must be from 1 to {min(z.size, 16)}, since {z.size} levels differ"
        )
    starts = [otsu_cuts(z, n, k)]
    if k == 2:
        starts.append([_minimum_error_cut(z, n, step)])
    return fitted(z, n, step, starts)


def otsu_thresholds(counts, classes: int = 2, *, at=None) -> np.ndarray:
    """The thresholds (classes - 1,) for which levels differ least from the means of their classes, after Otsu.

    They are the best of all: for two classes all thresholds are compared, and for more a dynamic program finds them.
    Levels up to a threshold are below it. `counts` and `at` are as in `fit_mixture`.

        >>> otsu_thresholds([5, 9, 4, 0, 0, 3, 8, 2])
        array([2.])

    More than 512 levels are merged into cells first if there are more than two classes. Otsu (1979).
    """
    k = count(classes, "otsu_thresholds: classes")
    z, n, _ = grouped(counts, at, "otsu_thresholds")
    if not 2 <= k <= z.size:
        raise ArgumentError(
            f"otsu_thresholds: classes is {classes!r}; it must be from 2 to {z.size}, the number of levels that occur"
        )
    return z[otsu_cuts(z, n, k)]


def minimum_error_threshold(counts, *, at=None) -> float:
    """The threshold at which a histogram is cut into two classes that Gaussians explain best (Kittler, Illingworth).

    It minimizes J(T) = 1 + 2 Σ P ln σ - 2 Σ P ln P over all levels; other than Otsu's it takes small classes and
    classes of different width. Levels up to the threshold are the dark class. `counts` and `at` are as in
    `fit_mixture`.

        >>> minimum_error_threshold([5, 9, 4, 0, 0, 3, 8, 2])
        2.0

    Kittler and Illingworth (1986), "Minimum error thresholding", Pattern Recognition 19(1).
    """
    z, n, step = grouped(counts, at, "minimum_error_threshold")
    if z.size < 2:
        raise ArgumentError("minimum_error_threshold: only one level occurs, which has no two classes")
    return float(z[_minimum_error_cut(z, n, step)])


def _minimum_error_cut(z: np.ndarray, n: np.ndarray, step: float) -> int:
    """The index of the last level of the dark class."""
    x = z - z.mean()
    below = np.cumsum(np.stack([n, n * x, n * x * x]), axis=1)[:, :-1]
    total = np.array([n.sum(), (n * x).sum(), (n * x * x).sum()])[:, None]
    J = 0.0
    for size, first, second in (below, total - below):
        P = size / total[0]
        variance = np.maximum(second / size - (first / size) ** 2, step**2 / 12)
        J = J + P * np.log(variance) - 2 * P * np.log(P)
    return int(np.argmin(J))


def _checked(mixture, caller: str) -> Mixture:
    try:
        w, m, s = (np.asarray(x, float) for x in mixture)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{caller}: the mixture must be (weights, means, deviations), got {mixture!r:.80}"
        ) from None
    fine = w.ndim == 1 and w.shape == m.shape == s.shape and np.isfinite([w, m, s]).all()
    if not (fine and w.size and (w >= 0).all() and w.any() and (s >= 0).all()):
        raise ArgumentError(
            f"{caller}: the mixture has weights {w}, means {m} and deviations {s}; as many finite numbers of each are "
            "needed, with weights and deviations that are not negative"
        )
    return Mixture(w / w.sum(), m, s)


def optimum_threshold(mixture) -> float:
    """The threshold between two Gaussian classes at which fewest pixels are taken for the wrong class.

    `mixture` is a `Mixture` of two classes, (weights, means, deviations). It is the level between the means where P₁
    p₁(T) = P₂ p₂(T); a class of deviation 0 counts as very narrow, and of two such classes it is the middle. If there
    is none, since one class is more likely at both means, a `SolveError` says so. Where levels far outside belong to
    the wider class again, `decision_intervals` has both thresholds.

        >>> round(optimum_threshold(([0.2, 0.8], [150, 80], [20, 10])), 3)
        108.938

    Fu, Gonzalez & Lee (1987), (8.2-15) to (8.2-20).
    """
    w, m, s = _checked(mixture, "optimum_threshold")
    if w.size != 2 or m[0] == m[1]:
        raise ArgumentError(f"optimum_threshold: two classes with different means are needed, got means {m}")
    if not s.any():
        return float(m.mean())
    s = np.maximum(s, 1e-9 * np.abs(m[1] - m[0]))
    roots = gaussian_crossings(m[0], s[0], w[0], m[1], s[1], w[1]) if w.all() else np.array([np.nan])
    between = roots[(roots >= m.min()) & (roots <= m.max())]
    if not between.size:
        raise SolveError(
            f"optimum_threshold: at the means {m} the same class is more likely, with weights {w} and deviations {s}; "
            "no threshold between them separates the classes"
        )
    return float(between[0])


def decision_intervals(mixture) -> DecisionIntervals:
    """The intervals of levels in which one class is more likely than all others, for any number of classes.

    Class k of the mixture has the largest d_k(z) = P_k p_k(z) there. A wide class may have several intervals, and a
    class that others cover everywhere has none.

        >>> found = decision_intervals(([0.8, 0.2], [80, 150], [10, 20]))
        >>> found.thresholds.round(3), found.classes
        (array([  4.395, 108.938]), array([1, 0, 1]))

    Fu, Gonzalez & Lee (1987), (8.2-21) to (8.2-23).
    """
    w, m, s = _checked(mixture, "decision_intervals")
    if not s.all():
        raise ArgumentError(f"decision_intervals: the deviations {s} must be positive")
    used = np.flatnonzero(w)
    pairs = np.array(list(combinations(used, 2)), int).reshape(-1, 2)
    i, j = pairs.T
    roots = gaussian_crossings(m[i], s[i], w[i], m[j], s[j], w[j]).ravel() if i.size else np.empty(0)
    cuts = np.unique(roots[np.isfinite(roots)])
    width = s.max()
    ends = np.concatenate([[cuts[0] - width], cuts, [cuts[-1] + width]]) if cuts.size else np.array([m[0], m[0]])
    middles = 0.5 * (ends[:-1] + ends[1:])
    d = np.log(w[used]) - np.log(s[used]) - 0.5 * ((middles[:, None] - m[used]) / s[used]) ** 2
    best = used[d.argmax(axis=1)]
    changes = np.flatnonzero(best[1:] != best[:-1])
    return DecisionIntervals(cuts[changes], best[np.concatenate([[0], changes + 1])])


def classify_levels(image, mixture) -> np.ndarray:
    """The most likely class of each pixel, (rows, columns) uint8: the index of the class in the mixture.

        >>> classify_levels(np.array([[75, 100, 120, 0]], np.uint8), ([0.8, 0.2], [80, 150], [10, 20]))
        array([[0, 0, 1, 1]], dtype=uint8)

    Fu, Gonzalez & Lee (1987), (8.2-22).
    """
    f = gray(image, "classify_levels")
    cuts, classes = decision_intervals(mixture)
    if not cuts.size:
        return np.full(f.shape, classes[0], np.uint8)
    return classes.astype(np.uint8)[threshold_bands(f, cuts)]
