"""Quadratic programs with bounds, solved exactly by principal pivoting, for one sample.

    min ½ xᵀ H x - gᵀ x     with     lower <= x <= upper,     H symmetric and positive definite.

With z = g - H x, the optimum is the one x with these properties (Karush, Kuhn and Tucker): x_i is within its bounds,
and z_i = 0 if x_i is between them, z_i <= 0 if x_i is at its lower bound and z_i >= 0 if it is at its upper one.

Projected Newton steps lead there: variables at a bound against which z pushes them are held, the others move towards
the minimum over them, and stop at their bounds. The best of three steps is taken: the whole one, half of it, and the
part before the first bound. If none is better, those that a bound stopped at once are held, too; one that leads inward
remains. So the cost falls until the right bounds are held, and then the whole step is the solution. See Bertsekas
(1982), "Projected Newton methods for optimization problems with simple constraints", SIAM J. Control Optim. 20(2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import while_loop
from ..definite import positive_solve

__all__ = ["BoxSolution", "box_minimum"]

_MOST = 100  # steps
_ROUNDING = 1e-11  # z of this size, relative to the largest number of g, is 0


class BoxSolution(NamedTuple):
    """The optimum x (n,), the bounds that are `active` (n,) there: -1 lower, 1 upper, 0 none, and the steps taken."""

    x: np.ndarray
    active: np.ndarray
    steps: np.ndarray


def box_minimum(H, g, lower, upper, active) -> BoxSolution:
    """The `BoxSolution` of H (n, n), g, lower and upper (n,); `active` (n,) is a guess, which may be wrong."""
    n, slack = len(g), _ROUNDING * np.max(np.abs(g))

    def minimum(x, free):
        """The minimum over the free variables, with the others at x."""
        held = np.where(free > 0, 0.0, x)
        return positive_solve(H * np.outer(free, free) + np.eye(n) * (1 - free), free * (g - H @ held) + held)

    def look(x):
        """The cost of x, the variables that may move, and the largest z of those."""
        Hx = H @ x
        z = g - Hx
        held = ((x <= lower) & (z <= 0)) | ((x >= upper) & (z >= 0))
        return x @ (0.5 * Hx - g), np.where(held, 0.0, 1.0), np.max(np.where(held, 0.0, np.abs(z)))

    def step(carry):
        x, cost, free, _, k = carry
        way = free * (minimum(x, free) - x)
        stopped = ((x <= lower) & (way < 0)) | ((x >= upper) & (way > 0))
        ahead = np.where(way > 0, upper, lower)
        left = np.where(way == 0, np.inf, (ahead - x) / np.where(way == 0, 1.0, way))
        fewer = np.where(stopped, 0.0, free)
        found = (x, cost, fewer, np.where(np.max(free - fewer) > 0, np.inf, 0.0))  # if no step is better
        for length in (1.0, 0.5, np.minimum(np.min(left), 1.0)):
            trial = np.where(left <= length, ahead, x + length * way)  # exactly on a bound, or before it
            seen = look(trial)
            better = seen[0] < found[1]
            found = tuple(np.where(better, new, old) for new, old in zip((trial, *seen), found, strict=True))
        return (*found, k + 1)

    guess = np.where(active < 0, lower, np.where(active > 0, upper, 0.0))
    known = (active != 0) & (np.abs(guess) < np.inf)
    first = np.clip(minimum(np.where(known, guess, 0.0), np.where(known, 0.0, 1.0)), lower, upper)
    start = (first, *look(first), 1.0)
    x, _, _, _, k = while_loop(lambda carry: carry[3] > slack, step, start, max_iterations=_MOST)
    return BoxSolution(x, np.where(x <= lower, -1.0, np.where(x >= upper, 1.0, 0.0)), k)
