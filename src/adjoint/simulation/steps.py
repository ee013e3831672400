"""`Integrator`: one step of a simulation, as data and a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..model.robot import Robot

__all__ = ["Integrator"]


def _nothing(robot: Robot) -> None:
    return None


class Integrator(NamedTuple):
    """One step: `step(robot, plant, t, q, v, h, memory) -> (q, v, memory)`, in NumPy for one run, traced into a kernel.

    `plant(t, q, v)` gives the accelerations (nv,) while the controller's joint forces are held; `HeldPlant` says what
    else the plant knows. `order` is that of the errors of q and v in h. `memory(robot)` is what the integrator carries
    from step to step: a nesting of arrays, which are 0 at the start, or None.
    """

    step: Callable[..., tuple]
    order: int
    memory: Callable[[Robot], Any] = _nothing
