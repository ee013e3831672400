"""Levenberg-Marquardt on the manifold of the numbers of a robot, for any number of samples.

The samples are read in blocks. Of each block only the products Σ [A r]ᵀ [A r] of its slopes A and residuals r are kept,
so that memory does not grow with the samples. The step solves the projected normal equations: directions that the data
do not show are left out by an eigenvalue decomposition, and the numbers keep their values along them.

Normal equations square the condition number. Here this does no harm: steps repeat, so that errors of one are corrected
by the next, and directions whose singular values are within the rounding errors, about 1e-8 of the largest one, have
standard errors far beyond anything that a robot could be wrong by.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..errors import SolveError
from .chain import Chain, Numbers
from .measured import Reading
from .parameters import Parameter, updated
from .robust import Loss, chi_square_quantile, loss_of

__all__ = [
    "Fit",
    "Linear",
    "Problem",
    "Seen",
    "fitted",
    "lengths",
    "linear",
    "residuals_of",
    "seen_directions",
    "shown_elsewhere",
    "subset",
    "used_rows",
]

_MEMORY = 2e7  # [bytes] that the slopes of one block of samples may take
_BLIND = 1e-6  # singular values below this part of the largest may be rounding errors
_UNKNOWN = 0.1  # [rad, or sizes of the robot] a direction with a standard error above this is not seen
_CLEARLY = 3  # other poses show a direction if its singular value there is so many times the least one that is seen
_EXACT = 1e-10  # [rad or m] the least noise that is assumed
_ITERATIONS = 60
_UNDECIDED = 25  # after so many iterations, the noise and the number of directions stay: one may be at the very limit
_ENOUGH = 1e-6  # a step that lowers the cost, in units of the noise's variance, by less than this is the last one
_SETTLED = 1e-4  # a relative change of the estimated noise below this is none
_MOST_DAMPING = 1e12


class Problem(NamedTuple):
    """What is fitted to what."""

    chain: Chain
    parameters: tuple[Parameter, ...]
    reading: Reading
    q: np.ndarray  # (n, nq)
    whitening: np.ndarray | None  # W (m, m) or (n, m, m) if the noise is known

    @property
    def groups(self) -> list[slice]:
        """The rows of a residual that share one standard deviation; all of them if the noise is known."""
        sizes = [self.reading.rows] if self.whitening is not None else [size for _, _, size in self.reading.groups]
        ends = np.cumsum([0, *sizes])
        return [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]

    @property
    def scales(self) -> np.ndarray:
        """(p,) The scales of the parameters."""
        return np.array([parameter.scale for parameter in self.parameters])


def subset(problem: Problem, rows: np.ndarray) -> Problem:
    """The same problem with some of its samples."""
    reading = problem.reading._replace(samples={name: x[rows] for name, x in problem.reading.samples.items()})
    W = problem.whitening
    W = W[rows] if W is not None and W.ndim == 3 else W
    return problem._replace(reading=reading, q=problem.q[rows], whitening=W)


# --- one linearisation ------------------------------------------------------------------------------------------------


class Linear(NamedTuple):
    """A problem near some numbers: residuals (n, m), whitened if the noise is known, and the products of each group."""

    residuals: np.ndarray
    products: np.ndarray  # (groups, p + 1, p + 1): Σ w [A r]ᵀ [A r] with the weights w of the loss


def linear(problem: Problem, numbers: Numbers, sigma: np.ndarray | None = None, loss: Loss | None = None) -> Linear:
    """The `Linear` of a problem; with `loss`, samples are weighted for the standard deviations `sigma` of groups."""
    groups, p = problem.groups, len(problem.parameters)
    residuals, products = np.empty((len(problem.q), problem.reading.rows)), np.zeros((len(groups), p + 1, p + 1))
    for rows, both in blocks(problem, numbers):
        residuals[rows] = both[..., -1]
        if loss is not None and loss.name != "squares":
            w = loss.weights(lengths(problem, residuals[rows], sigma))
            both = both * np.sqrt(w)[:, None, None]
        for g, part in enumerate(groups):
            rows_of_group = both[:, part].reshape(-1, p + 1)
            products[g] += rows_of_group.T @ rows_of_group
    return Linear(residuals, products)


def blocks(problem: Problem, numbers: Numbers) -> Iterator[tuple[slice, np.ndarray]]:
    """The rows [slopes | residual] (b, m, p + 1) of blocks of samples, whitened if the noise is known."""
    reading, W = problem.reading, problem.whitening
    size = max(64, int(_MEMORY / (8 * reading.rows * (len(problem.parameters) + 1))))
    for start in range(0, len(problem.q), size):
        rows = slice(start, start + size)
        given = {name: x[rows] for name, x in reading.samples.items()} | reading.fixed
        found = reading.kernel(problem.chain, problem.q[rows], **given, **numbers._asdict())
        both = np.concatenate([found.slopes, found.residual[..., None]], axis=-1)
        yield rows, both if W is None else (W[rows] if W.ndim == 3 else W) @ both


def residuals_of(problem: Problem, numbers: Numbers) -> np.ndarray:
    """The residuals (n, m) in their own units [rad, m]."""
    found = np.empty((len(problem.q), problem.reading.rows))
    for rows, both in blocks(problem._replace(whitening=None), numbers):
        found[rows] = both[..., -1]
    return found


def lengths(problem: Problem, residuals: np.ndarray, sigma: np.ndarray | None) -> np.ndarray:
    """The lengths d (n,) of residuals (n, m), each group in units of its standard deviation."""
    sigma = np.ones(len(problem.groups)) if sigma is None else sigma
    squares = [np.sum(residuals[:, part] ** 2, axis=1) / s**2 for part, s in zip(problem.groups, sigma, strict=True)]
    return np.sqrt(np.sum(squares, axis=0))


# --- what is seen -----------------------------------------------------------------------------------------------------


class Seen(NamedTuple):
    """What the data show of the parameters, each divided by its scale: orthonormal directions and singular values."""

    directions: np.ndarray  # (r, p) the seen directions
    values: np.ndarray  # (r,) their singular values: 1 / standard error
    unseen: np.ndarray  # (p - r, p) the other directions
    target: np.ndarray  # (r,) the residual along each seen direction


def seen_directions(problem: Problem, products: np.ndarray, sigma: np.ndarray, most: int | None = None) -> Seen:
    """The `Seen` of the products of all groups with their standard deviations; at most `most` directions are seen."""
    scales, least = problem.scales, _least_value(problem, sigma)
    total = np.sum(products / sigma[:, None, None] ** 2, axis=0)
    s, V = _singular_values(total[:-1, :-1] * scales * scales[:, None])
    r = int(np.sum((s > _BLIND * s.max(initial=0.0)) & (s > least)))
    r = r if most is None else min(r, most)
    return Seen(V[:r], s[:r], V[r:], V[:r] @ (scales * total[:-1, -1]) / s[:r])


def _least_value(problem: Problem, sigma: np.ndarray) -> float:
    """The least singular value of a direction that is seen."""
    unknown = _UNKNOWN * (max(1.0, sigma.max() / problem.reading.usual) if problem.whitening is None else 1.0)
    return 1 / unknown


def _singular_values(information: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The roots s (p,) of the eigenvalues of AᵀA, the largest first, and the eigenvectors (p, p), one per row."""
    eigenvalues, V = np.linalg.eigh(information)
    return np.sqrt(np.maximum(eigenvalues[::-1], 0.0)), V.T[::-1]


def shown_elsewhere(
    problem: Problem, numbers: Numbers, sigma: np.ndarray, directions: np.ndarray, samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Two orthonormal bases that together span the directions (d, p): those that the problem shows, and the others.

    The problem counts as if it had `samples` samples, if it has fewer. A direction must be shown clearly.
    """
    found = linear(problem, numbers).products / sigma[:, None, None] ** 2
    total = np.sum(found, axis=0)[:-1, :-1] * problem.scales * problem.scales[:, None]
    total *= max(1.0, samples / len(problem.q))
    s, V = _singular_values(directions @ total @ directions.T)
    largest = np.sqrt(max(np.linalg.norm(total, 2), 0.0))
    shown = (s > _BLIND * largest) & (s > _CLEARLY * _least_value(problem, sigma))
    return V[shown] @ directions, V[~shown] @ directions


def used_rows(problem: Problem, products: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """The degrees of freedom that the estimate takes from each group of residuals; their sum is the rank."""
    seen = seen_directions(problem, products, sigma)
    back = (seen.directions / seen.values[:, None]) * problem.scales
    return np.sum((back @ products[:, :-1, :-1]) * back, axis=(1, 2)) / sigma**2


# --- the fit ----------------------------------------------------------------------------------------------------------


class Fit(NamedTuple):
    """The numbers that fit best, the linearisation there, and the standard deviation of each group."""

    numbers: Numbers
    linear: Linear
    sigma: np.ndarray
    seen: Seen
    iterations: int


def fitted(problem: Problem, numbers: Numbers, loss: str) -> Fit:
    """The `Fit` of a problem from some first numbers.

    Tukey's loss has several minima; it begins at the one of Huber's loss.
    """
    if loss == "tukey":
        numbers = fitted(problem, numbers, "huber").numbers
    law = loss_of(loss, problem.reading.rows)
    known, scales = problem.whitening is not None, problem.scales
    now = linear(problem, numbers)
    sigma = np.ones(1) if known else _spread(problem, now.residuals, law, np.zeros(len(problem.groups)))
    now = now if law.name == "squares" else linear(problem, numbers, sigma, law)
    damping, most = 0.0, None
    for iteration in range(1, _ITERATIONS + 1):
        seen = seen_directions(problem, now.products, sigma, most)
        most = None if iteration < _UNDECIDED else len(seen.values)
        gain = seen.values / (seen.values**2 + damping * seen.values.max(initial=0.0) ** 2)
        trial = updated(problem.chain, numbers, scales * ((gain * seen.target) @ seen.directions))
        then = linear(problem, trial, sigma, law)
        before, after = (law.cost(lengths(problem, x.residuals, sigma)) for x in (now, then))
        expected = float(np.sum(gain * seen.values * seen.target**2))
        if not after <= before + _ENOUGH + 1e-9 * before:
            damping = max(10 * damping, 1e-6)
            if damping > _MOST_DAMPING:
                break
            continue
        numbers, now, damping = trial, then, damping / 10 if damping > 1e-9 else 0.0
        old = sigma
        if not known and iteration < _UNDECIDED:
            sigma = _spread(problem, now.residuals, law, used_rows(problem, now.products, sigma))
        enough = _ENOUGH if iteration < _UNDECIDED else 100 * _ENOUGH  # 1 % of a standard error
        if expected < max(enough, 1e-12 * after) and np.allclose(old, sigma, rtol=_SETTLED, atol=0):
            return Fit(numbers, now, sigma, seen_directions(problem, now.products, sigma, most), iteration)
    raise SolveError(
        f"calibrate: no convergence after {iteration} iterations; is the model far from the robot, or are units or the "
        "order of joints wrong? A first guess of `base`, or fewer parameters in `estimate`, may help"
    )


def _spread(problem: Problem, residuals: np.ndarray, loss: Loss, used: np.ndarray) -> np.ndarray:
    """The standard deviation of each group: of all residuals, or of the better half of them if the loss is robust.

    The median of the squares of m normal numbers is the median of χ² with m degrees of freedom.
    """
    found = []
    for part, taken in zip(problem.groups, used, strict=True):
        squares = np.sum(residuals[:, part] ** 2, axis=1)
        m, rows = part.stop - part.start, residuals[:, part].size
        usual = np.mean(squares) / m if loss.name == "squares" else np.median(squares) / chi_square_quantile(0.5, m)
        found.append(np.sqrt(usual * rows / max(rows - taken, 0.5)))
    return np.maximum(found, _EXACT)
