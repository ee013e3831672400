"""Quadratic programs with bounds, solved exactly by principal pivoting, for one sample.

    min ½ xᵀ H x - gᵀ x     with     lower <= x <= upper,     H symmetric and positive definite.

With z = g - H x, the optimum is the one x with these properties (Karush, Kuhn and Tucker): x_i is within its bounds,
and z_i = 0 if x_i is between them, z_i <= 0 if x_i is at its lower bound and z_i >= 0 if it is at its upper one. Block
principal pivoting guesses which bounds are active, solves the linear equations that remain, and moves all variables
that contradict the guess to the other side. If that does not help, only the last of them is moved: Murty's rule, which
ends at the optimum after finitely many steps. See Júdice & Pires (1994), "A block principal pivoting algorithm for
large-scale strictly monotone linear complementarity problems", Computers & Operations Research 21(5).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import while_loop
from .linear import positive_solve

__all__ = ["BoxSolution", "box_minimum"]

_PATIENCE = 4.0  # exchanges of whole blocks that may fail to help before Murty's rule is used
_MOST = 400  # steps
_ROUNDING = 1e-12  # relative to the largest numbers that are compared


class BoxSolution(NamedTuple):
    """The optimum x (n,), the bounds that are `active` (n,) there: -1 lower, 1 upper, 0 none, and the steps taken."""

    x: np.ndarray
    active: np.ndarray
    steps: np.ndarray


def box_minimum(H, g, lower, upper, active) -> BoxSolution:
    """The `BoxSolution` of H (n, n), g, lower and upper (n,); `active` (n,) is a guess, which may be wrong."""
    n = len(g)

    def at(active):
        """x, and the sides to which those variables belong that contradict the guess."""
        bound = np.where(active < 0, lower, np.where(active > 0, upper, 0.0))
        free = np.where(active == 0, 1.0, 0.0)
        reduced = H * np.outer(free, free) + np.eye(n) * (1 - free)
        x = positive_solve(reduced, free * (g - H @ bound) + bound)
        z, slack = g - H @ x, _ROUNDING * np.max(np.abs(g))
        width = _ROUNDING * np.abs(x)
        outside = np.where(x < lower - width, -1.0, np.where(x > upper + width, 1.0, 0.0))
        pulled = (lower < upper) & (((active < 0) & (z > slack)) | ((active > 0) & (z < -slack)))
        side = np.where(active == 0, outside, np.where(pulled, 0.0, active))
        return x, side

    def step(carry):
        _, active, fewest, patience, k, _ = carry
        x, side = at(active)
        wrong = np.where(side != active, 1.0, 0.0)
        count = np.sum(wrong)
        helps = count < fewest
        patience = np.where(helps, _PATIENCE, patience - 1)
        following = np.where(patience >= 0, side, np.where(_last(wrong) > 0, side, active))
        return x, following, np.where(helps, count, fewest), patience, k + 1, count

    active = np.where(((active < 0) & (lower > -np.inf)) | ((active > 0) & (upper < np.inf)), np.sign(active), 0.0)
    first = (np.zeros(n), active, n + 1.0, _PATIENCE, 0.0, 1.0)
    x, active, _, _, k, _ = while_loop(lambda carry: carry[5] > 0, step, first, max_iterations=_MOST)
    return BoxSolution(np.clip(x, lower, upper), active, k)


def _last(wrong) -> np.ndarray:
    """1 at the last place that is 1 in a vector of ones and zeros, and 0 elsewhere."""
    found, later = [], 0.0
    for one in wrong[::-1]:
        found.append(np.where(later > 0, 0.0, one))
        later = later + one
    return np.stack(found[::-1])
