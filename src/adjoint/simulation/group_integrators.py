"""Runge-Kutta methods on the manifold of configurations: the classical one, as MuJoCo has it, and Munthe-Kaas's.

Near a configuration q the others are q ∘ exp(x), with coordinates x (nv,). A method for vectors (x, v) is then one for
the manifold, and keeps its order, if x has its right rate ẋ = dexp⁻¹(x) v: Munthe-Kaas (1999), "High order Runge-Kutta
methods on manifolds", Appl. Numer. Math. 29. Velocities are those in the body's frame, so that dexp is the right
Jacobian of the exponential. For joints of one degree of freedom it is 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compile import scan
from ..lie import se3
from ..model.configuration import integrate
from ..model.robot import Robot
from ..trajectory.manifold import joint_places
from .steps import Integrator

__all__ = ["RK4", "RKMK4", "Tableau", "combined", "coordinate_rates", "stages"]

_MANY = 12  # stages of robots with more degrees of freedom are a loop, for four copies take seconds to compile


class Tableau(NamedTuple):
    """A Runge-Kutta method: rows of the coefficients a, without the first, which is empty, and the weights b."""

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]


def coordinate_rates(robot: Robot, x, v):
    """The rate ẋ = dexp⁻¹(x) v (nv,) of the coordinates x of a configuration q ∘ exp(x) that moves with v (nv,)."""
    parts = []
    for _, at, S in joint_places(robot):
        # The screws are orthonormal, and their brackets are combinations of them.
        parts.append(v[at] if S is None else S @ (se3.right_jacobian_inv(x[at] @ S) @ (v[at] @ S)))
    return np.concatenate([np.zeros(0), *parts])


def _uncorrected_rates(robot: Robot, x, v):
    """The rate of the coordinates as if ẋ = v."""
    return v


def combined(weights: tuple[float, ...], rates: list):
    """The sum of weight · rate."""
    return sum((w * k for w, k in zip(weights, rates, strict=True) if w), 0.0)


def stages(robot: Robot, plant, tableau: Tableau, t, q, v, h, first, rates: Callable = coordinate_rates) -> tuple:
    """The rates of x and of v at all stages of a step from (q, v), where the acceleration is `first`."""
    x_rates, v_rates = [v], [first]
    for row in tableau.a:
        x, w = h * combined(row, x_rates), v + h * combined(row, v_rates)
        x_rates.append(rates(robot, x, w))
        v_rates.append(plant(t + sum(row) * h, integrate(robot, q, x), w))
    return x_rates, v_rates


_CLASSICAL = Tableau(((1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))


@dataclass(frozen=True)
class _Classical:
    """One step with the classical tableau; `rates` gives ẋ."""

    rates: Callable

    def __call__(self, robot: Robot, plant, t, q, v, h, memory) -> tuple:
        means = self._means_by_loop if robot.nv > _MANY else self._means
        x_rate, v_rate = means(robot, plant, t, q, v, h)
        return integrate(robot, q, h * x_rate), v + h * v_rate, memory

    def _means(self, robot: Robot, plant, t, q, v, h) -> tuple:
        """The mean rates of x and of v."""
        x_rates, v_rates = stages(robot, plant, _CLASSICAL, t, q, v, h, plant(t, q, v), self.rates)
        return combined(_CLASSICAL.b, x_rates), combined(_CLASSICAL.b, v_rates)

    def _means_by_loop(self, robot: Robot, plant, t, q, v, h) -> tuple:
        """The same; each stage needs the rates of the one before only, so they are a loop."""

        def stage(carry, row):
            (x_rate, v_rate, x_mean, v_mean), (part, weight) = carry, row
            x, w = h * part * x_rate, v + h * part * v_rate
            x_rate, v_rate = self.rates(robot, x, w), plant(t + part * h, integrate(robot, q, x), w)
            return (x_rate, v_rate, x_mean + weight * x_rate, v_mean + weight * v_rate), None

        zero, parts = np.zeros(robot.nv), [0.0, *(sum(row) for row in _CLASSICAL.a)]
        return scan(stage, (zero,) * 4, np.stack([parts, _CLASSICAL.b], axis=1))[0][2:]


RK4 = Integrator(_Classical(_uncorrected_rates), 4)
"""The classical method of Runge and Kutta as MuJoCo has it: stages are at q ∘ exp(h Σ a v), without dexp⁻¹.

Its order is 4 for joints of one degree of freedom, but 2 for spherical, planar and free ones.
"""

RKMK4 = Integrator(_Classical(coordinate_rates), 4)
"""The method of Munthe-Kaas with the classical coefficients: it is of order 4 for all joints."""
