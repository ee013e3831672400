"""Integrators on the manifold of configurations: one step of q̇ = v, v̇ = a(t, q, v) with joint forces that are held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import ArgumentError
from ..model.configuration import integrate
from ..model.robot import Robot

__all__ = ["INTEGRATORS", "Integrator", "integrator_named"]


def _nothing(robot: Robot) -> None:
    return None


class Integrator(NamedTuple):
    """One step: `step(robot, acceleration, t, q, v, h, memory) -> (q, v, memory)`.

    `robot` is the robot at the time t, and `acceleration(t, q, v, more=None)` are its accelerations; `more` (nv,) are
    further joint forces.

    `memory(robot)` is what the integrator carries from step to step, at the start: a nesting of arrays, or None.
    """

    step: Callable[..., tuple]
    order: int
    memory: Callable[[Robot], Any] = _nothing


def _semi_implicit(robot: Robot, acceleration, t, q, v, h, memory) -> tuple:
    """Symplectic Euler: v' = v + h a(t, q, v), q' = q ∘ exp(h v')."""
    v = v + h * acceleration(t, q, v)
    return integrate(robot, q, v, h), v, memory


def _rk4(robot: Robot, acceleration, t, q, v, h, memory) -> tuple:
    """The classical method of Runge and Kutta; configurations of its stages are q ∘ exp(h c v)."""
    v_1, a_1 = v, acceleration(t, q, v)
    v_2 = v + h / 2 * a_1
    a_2 = acceleration(t + h / 2, integrate(robot, q, v_1, h / 2), v_2)
    v_3 = v + h / 2 * a_2
    a_3 = acceleration(t + h / 2, integrate(robot, q, v_2, h / 2), v_3)
    v_4 = v + h * a_3
    a_4 = acceleration(t + h, integrate(robot, q, v_3, h), v_4)
    mean = (v_1 + 2 * v_2 + 2 * v_3 + v_4) / 6
    return integrate(robot, q, mean, h), v + h / 6 * (a_1 + 2 * a_2 + 2 * a_3 + a_4), memory


INTEGRATORS = {"semi_implicit": Integrator(_semi_implicit, 1), "rk4": Integrator(_rk4, 4)}


def integrator_named(name, caller: str) -> Integrator:
    """The integrator of this name, or one that is given itself."""
    if isinstance(name, Integrator):
        return name
    if not isinstance(name, str) or name not in INTEGRATORS:
        raise ArgumentError(f"{caller}: integrator is {name!r}; there are {', '.join(map(repr, INTEGRATORS))}")
    return INTEGRATORS[name]
