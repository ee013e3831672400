"""An implicit integrator for stiff springs and dampers, which solves linear equations only.

It looks at the stiffness at the start of a step: a contact that begins within the step is not foreseen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..compile import scan
from ..dynamics.composite import mass_matrix
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
    step, a, M, one = _GAMMA * h, plant(t, q, v), mass_matrix(plant.robot(t), q), np.eye(robot.nv)

    def slope(_, along):
        return None, plant.slope(t, q, v, a, *along)

    # The first rows of the equations give k_x = r_x + γh k_v, and what is left is [1 - γh ∂a/∂v - (γh)² ∂a/∂q] k_v = r.
    # Times M, the matrix is M with the damping and stiffness of all forces, which needs no search for pivots.
    rows = np.concatenate([step * one, v[None]]), np.concatenate([one, 0 * v[None]])
    _, slopes = scan(slope, None, rows)
    solve = _eliminated(M - step * slopes[:-1].T)

    def solved(r_x, r_v, force) -> tuple:
        k_v = solve(M @ r_v + step * force)
        return r_x + step * k_v, k_v

    k_x, k_v = solved(v, a, slopes[-1])
    x, w = h * k_x, v + h * k_v
    r_x = coordinate_rates(robot, x, w) - 2 * k_x
    l_x, l_v = solved(r_x, plant(t + h, integrate(robot, q, x), w) - 2 * k_v, slope(None, (r_x, 0 * v))[1])
    return integrate(robot, q, h * (1.5 * k_x + 0.5 * l_x)), v + h * (1.5 * k_v + 0.5 * l_v), memory


def _eliminated(A) -> Callable:
    """The function b -> A⁻¹ b of a matrix A (n, n), by the elimination of Gauss without a search for pivots."""
    n = len(A)
    U, L, inverse = [list(row) for row in A], [[] for _ in range(n)], []
    for k in range(n):
        inverse.append(1 / U[k][k])
        for i in range(k + 1, n):
            L[i].append(U[i][k] * inverse[k])
            U[i] = [*U[i][: k + 1], *(U[i][j] - L[i][k] * U[k][j] for j in range(k + 1, n))]

    def solve(b):
        y: list = []
        for i in range(n):
            y.append(b[i] - sum(L[i][k] * y[k] for k in range(i)))
        x: list = [0.0] * n
        for i in reversed(range(n)):
            x[i] = (y[i] - sum(U[i][k] * x[k] for k in range(i + 1, n))) * inverse[i]
        return np.stack(x)

    return solve


IMPLICIT = Integrator(_implicit, 2)
"""The L-stable Rosenbrock method of order 2 with exact derivatives of all forces.

Its machine code grows with the cube of nv, in which the linear equations are solved: for 35 degrees of freedom it takes
tens of seconds to compile.
"""
