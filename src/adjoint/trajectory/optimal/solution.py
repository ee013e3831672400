"""The solver's iterations (`Step`) and its result (`Solution`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Solution", "Step"]


class Step(NamedTuple):
    """One iteration of the solver: its number, the cost, and the largest excess of a limit, as a fraction of it."""

    iteration: int
    cost: float
    violation: float


class Solution(NamedTuple):
    """The result of the solver."""

    x: np.ndarray  # the unknowns of the `Problem`
    multipliers: np.ndarray  # of the constraints
    converged: bool  # whether x is a minimum
    status: str  # the solver's own word for how it ended
    steps: tuple[Step, ...]  # all iterations, also those of the solutions before that this one continues
