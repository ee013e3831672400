"""An implicit integrator for stiff springs, dampers and contacts, which solves linear equations only."""

from __future__ import annotations

import numpy as np

from ..compile import scan
from ..model.configuration import integrate
from ..model.robot import Robot
from .group_integrators import coordinate_rates
from .steps import Integrator

__all__ = ["IMPLICIT"]

_GAMMA = 1 - 0.5**0.5  # the method is L-stable with this number


def _implicit(robot: Robot, plant, t, q, v, h, memory) -> tuple:
    """ROS2 of Verwer, Spee, Blom & Hundsdorfer (1999), SIAM J. Sci. Comput. 20, for y = (x, v) with q ∘ exp(x).

    (1 - γ h A) k₁ = f(t, y),  (1 - γ h A) k₂ = f(t + h, y + h k₁) - 2 k₁,  y' = y + 3/2 h k₁ + 1/2 h k₂.

    The method is of order 2 whatever A is. So A need not be all of ∂f/∂y: it is [0 1; ∂a/∂q ∂a/∂v], without the
    derivative of dexp⁻¹ and of time.
    """
    step = _GAMMA * h

    def column(_, e):
        return None, e - step * plant.slope(t, q, v, step * e, e)

    # The first rows of the equations give k_x = r_x + γ h k_v; what is left is [1 - γh ∂a/∂v - (γh)² ∂a/∂q] k_v = ...
    _, columns = scan(column, None, np.eye(robot.nv))

    def solved(r_x, r_v) -> tuple:
        k_v = np.linalg.solve(columns.T, r_v + step * plant.slope(t, q, v, r_x, 0 * r_x))
        return r_x + step * k_v, k_v

    k_x, k_v = solved(v, plant(t, q, v))
    x, w = h * k_x, v + h * k_v
    l_x, l_v = solved(coordinate_rates(robot, x, w) - 2 * k_x, plant(t + h, integrate(robot, q, x), w) - 2 * k_v)
    return integrate(robot, q, h * (1.5 * k_x + 0.5 * l_x)), v + h * (1.5 * k_v + 0.5 * l_v), memory


IMPLICIT = Integrator(_implicit, 2)
"""The L-stable Rosenbrock method of order 2 with exact derivatives of the accelerations."""
