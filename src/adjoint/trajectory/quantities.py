"""Times and limits that users give, which are positive numbers, one or many; and whether their axes match."""

from __future__ import annotations

import numpy as np

from ..compile.front.arguments import as_input
from ..errors import ArgumentError
from ..model.input_checks import floats, vectors
from ..model.robot import Robot

__all__ = ["SHORTEST", "broadcast", "limits", "seconds", "velocity_limits"]

SHORTEST = 1e-40
"""[s] The seventh power of the shortest time, and that of its inverse, are floating-point numbers."""


def seconds(value, label: str) -> np.ndarray:
    """Positive times [s], one or an array, whose powers are numbers; or an `ArgumentError` that names `label`."""
    found = floats(value)
    if not np.all((found > SHORTEST) & (found < 1 / SHORTEST)):
        raise ArgumentError(f"{label} must be a positive time [s], or an array of them, got {value!r:.80}")
    return found


def limits(value, n: int, label: str, caller: str, *, infinite: bool = False, batch: bool = True) -> np.ndarray:
    """Limits (..., n) > 0 of n joints, from one number for all of them or an array; (n,) only without a `batch`."""
    if type(value) is float and 0 < value < np.inf:
        return np.full(n, value)
    given = as_input(value, label, caller)
    found = vectors(np.full(n, given) if given.ndim == 0 else given, n, label, caller)
    if found.ndim > 1 and not batch:
        raise ArgumentError(f"{caller}: argument '{label}' has shape {found.shape}; one number or ({n},) is needed")
    good = (found > 0) & ((found < np.inf) | infinite)
    if not good.all():
        place = [int(k[0]) for k in np.nonzero(~good)]
        which = f"{label}{place}" if given.ndim else label
        needed = "a positive number" if infinite else "a positive finite number"
        raise ArgumentError(f"{caller}: the limit {which} is {found[tuple(place)]:g}; {needed} is needed")
    return found


def velocity_limits(value, robot: Robot | None, n: int, caller: str) -> np.ndarray:
    """Limits (..., n) of velocities: those given, or the robot's own; infinity is none."""
    if value is None and robot is None:
        raise ArgumentError(f"{caller} needs limits of velocities, velocity=, or a robot, which has some")
    own = value is None and robot is not None
    return limits(robot.velocity_limit if own else value, n, "velocity", caller, infinite=True)  # type: ignore[union-attr]


def broadcast(caller: str, **shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common leading axes, or an `ArgumentError` that shows those of each argument."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        shown = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ArgumentError(f"{caller}: leading axes do not match: {shown}") from None
