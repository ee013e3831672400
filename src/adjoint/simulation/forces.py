"""`Force`: what acts on a simulated robot besides its controller, as frozen data and a function of one instant."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from ..control.assembled import Numbers, Parts, label_of, parted, with_numbers
from ..errors import ArgumentError
from .plants import ActingForce

__all__ = ["Change", "Force", "Named", "change", "force"]


@dataclass(frozen=True, eq=False, repr=False)
class Named:
    """A function with its parameters and a name."""

    name: str
    parts: Parts
    numbers: Numbers

    def replace(self, **numbers):
        """Return the same with other numbers; leading axes of an array are a batch, one for each run."""
        return dataclasses.replace(self, numbers=with_numbers(self.parts, self.numbers, numbers, self.name))

    def __repr__(self) -> str:
        known = [f"{k} {x.tolist() if x.size < 8 else x.shape}" for k, x in self.numbers.items()]
        return f"<{type(self).__name__} {', '.join([self.name, *known])}>"


@dataclass(frozen=True, eq=False, repr=False)
class Force(Named):
    """A force on a simulated robot, on its joints or at a frame; `force` makes one of any function."""

    frame: str | None = None

    @property
    def plan(self) -> ActingForce:
        """What machine code depends on."""
        return ActingForce(self.parts.now(), self.frame)


@dataclass(frozen=True, eq=False, repr=False)
class Change(Named):
    """A change of a simulated robot's numbers in time; `change` makes one of any function."""


def force(function: Callable, /, *, frame: str | None = None, name: str | None = None, **parameters) -> Force:
    """Make a force for `simulate` of a NumPy function of one instant, `f(robot, p, t, q, v)`.

    Without a `frame` the function gives joint forces (nv,) [N m, N]; with one it gives a wrench (6,), moment before
    force, which acts on the robot at the origin of the frame and is seen from it. Numbers among the `parameters` are
    attributes of p and inputs of the machine code; `Force.replace` takes a batch of them.

        >>> gust = force(lambda robot, p, t, q, v: np.where(t < 0.1, p.size, 0.0) * np.ones(robot.nv), size=5.0)
    """
    label = label_of(function, name, "force")
    if frame is not None and not isinstance(frame, str):
        raise ArgumentError(f"{label}: frame must be a name or None; got {type(frame).__name__}")
    return Force(label, *parted(function, parameters, label), frame)


def change(function: Callable, /, *, name: str | None = None, **parameters) -> Change:
    """Make a change of a robot's numbers for `simulate`: `f(robot, p, t)` gives them, {name: array}, at the time t.

    Names are those of `robot.liftable`, such as "inertias", "damping" and "gravity".

        >>> rising = change(lambda robot, p, t: {"gravity": robot.gravity * (1 + p.rate * t)}, rate=0.1)
    """
    label = label_of(function, name, "change")
    return Change(label, *parted(function, parameters, label))
