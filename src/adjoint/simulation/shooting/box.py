"""Small quadratic programs in a box, for one sample, by projected Newton steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...compile import while_loop
from ...definite import factored

__all__ = ["BoxSolution", "box_minimum"]

_ROUNDS = 60  # Newton steps; they are seldom more than the unknowns
_HALVINGS = 20
_SUFFICIENT = 0.1  # of the decrease that the slope promises (Armijo's rule)
_ROUNDING = 1e-20  # of the terms of the objective: Newton's decrement is the square of a rounded gradient


class BoxSolution(NamedTuple):
    """The minimum x (m,), and `solve`: B (m, k) -> H⁻¹ B in the coordinates that are inside the box, 0 in others."""

    x: Any
    solve: Any


def box_minimum(H, g, lower, upper, start) -> BoxSolution:
    """The minimum of xᵀ H x / 2 + gᵀ x for lower <= x <= upper, all (m,), with H (m, m) positive definite.

    D. P. Bertsekas, Projected Newton methods for optimization problems with simple constraints (1982), as in
    Y. Tassa, N. Mansard, E. Todorov, Control-limited differential dynamic programming (2014). NaN stays NaN.
    """

    def face(x):
        """The gradient, 1 for coordinates inside the box, and H with the others taken out."""
        slope = g + H @ x
        held = ((x <= lower) & (slope > 0)) | ((x >= upper) & (slope < 0)) | (lower >= upper)
        free = np.where(held, 0.0, 1.0)
        return slope, free, H * np.outer(free, free) + np.diag(1.0 - free)

    def objective(x):
        return x @ (H @ x) / 2 + g @ x

    def newton(carry):
        x, _ = carry
        slope, free, inside = face(x)
        step = -factored(inside).solve(slope * free)
        decrement = -(slope * free) @ step
        value = objective(x)

        def too_long(s):
            y = np.clip(x + s * step, lower, upper)
            return objective(y) - value > _SUFFICIENT * (slope @ (y - x))

        s = while_loop(too_long, lambda s: s / 2, 1.0, max_iterations=_HALVINGS)
        return np.clip(x + s * step, lower, upper), decrement - _ROUNDING * (np.abs(x * (H @ x)) + np.abs(g * x)).sum()

    start = np.clip(start, lower, upper)
    x, _ = while_loop(lambda carry: carry[1] > 0.0, newton, (start, 1.0), max_iterations=_ROUNDS)
    _, free, inside = face(x)
    factors = factored(inside)
    return BoxSolution(x, lambda B: factors.solve(B * free[:, None]))
