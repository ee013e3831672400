"""What a solver of motions tells: its iterations, and what it ended with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Solution", "Step"]


class Step(NamedTuple):
    """One iteration: its number, the cost, and by how much limits are exceeded, as a fraction of them."""

    iteration: int
    cost: float
    violation: float


class Solution(NamedTuple):
    """What the solver ended with."""

    x: np.ndarray
    multipliers: np.ndarray  # of the constraints
    converged: bool
    status: str  # the solver's own word
    steps: tuple[Step, ...]  # of solutions before this one, too
