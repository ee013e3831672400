"""Checks of the numbers of forces and changes, before a run and while it is traced."""

from __future__ import annotations

import numpy as np

from ..compile.front.arguments import as_input
from ..errors import ArgumentError

__all__ = ["LATEST", "interval", "of_shape"]

LATEST = 1e300
"""The end [s] of what has no end: parameters are finite numbers."""


def of_shape(value, shape: tuple[int, ...], name: str, caller: str) -> np.ndarray:
    """The value as numbers of this shape, or an `ArgumentError` that names them; `Force.replace` takes batches."""
    found = np.asarray(as_input(value, name, caller), float)
    if found.shape != shape:
        wanted = f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})" if shape else "one number"
        raise ArgumentError(f"{caller}: '{name}' has shape {found.shape}; it must be {wanted}")
    return found


def interval(start, end, caller: str) -> dict[str, float | np.ndarray]:
    """The parameters `start` and `end` [s] of what acts from one time to another; None stands for no end."""
    found = {"start": of_shape(start, (), "start", caller)}
    found["end"] = of_shape(LATEST if end is None else end, (), "end", caller)
    if not found["start"] <= found["end"]:
        raise ArgumentError(f"{caller}: 'end' is {found['end']:g} s, before 'start', which is {found['start']:g} s")
    return found  # type: ignore[return-value]
