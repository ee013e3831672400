"""Checks of the gains of laws: numbers for all joints, or one for each."""

from __future__ import annotations

import numpy as np

from ..errors import ArgumentError
from ..model.input_checks import floats

__all__ = ["gains"]


def gains(value, size: int, label: str, *, or_zero: bool = False) -> np.ndarray:
    """The gains as one number or (size,), finite and positive, or 0 with `or_zero`; else an `ArgumentError`.

    `label` names the law and the gain. A batch of gains is given to `Law.replace`.
    """
    found = floats(value)
    if found.shape not in ((), (size,)):
        raise ArgumentError(f"{label} has shape {found.shape}; it must be a number or ({size},)")
    wrong = ~(np.isfinite(found) & ((found >= 0) if or_zero else (found > 0)))
    if wrong.any():
        given = value if found.ndim == 0 else f"{found[wrong][0]:g} at place {int(np.argmax(wrong))}"
        raise ArgumentError(f"{label} must be finite and positive{' or 0' * or_zero}, got {given!s}")
    return found
