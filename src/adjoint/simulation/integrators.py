"""The table of integrators: each takes one step of q̇ = v, v̇ = a(t, q, v) on the manifold of configurations.

| name | order | what it is for |
|---|---|---|
| `semi_implicit` | 1 | the default: one evaluation of the accelerations in a step; it is MuJoCo's Euler |
| `rk4` | 4 | smooth motions of joints with one degree of freedom; of order 2 for other joints; it is MuJoCo's |
| `rkmk4` | 4 | smooth motions of all joints |
| `adaptive` | 5 | a stated accuracy; `adaptive(rtol, atol)` makes others |
| `implicit` | 2 | stiff springs and dampers, in long steps; a stiff contact must not begin within a long step |
| `variational` | 2 | long runs: momentum is kept, energy does not drift; `variational(tolerance)` makes others |
"""

from __future__ import annotations

from ..errors import ArgumentError
from ..model.configuration import integrate
from ..model.robot import Robot
from .adaptive_integrator import adaptive
from .group_integrators import RK4, RKMK4
from .implicit_integrators import IMPLICIT
from .steps import Integrator
from .variational_integrator import variational

__all__ = ["INTEGRATORS", "SCIPY_METHODS", "Integrator", "integrator_named"]


def _semi_implicit(robot: Robot, plant, t, q, v, h, memory) -> tuple:
    """v' = v + h a(t, q, v), q' = q ∘ exp(h v').

    This is symplectic, with an energy that does not drift, only where a does not depend on v, as in a pendulum. In a
    robot it does, by Coriolis forces.
    """
    v = v + h * plant(t, q, v)
    return integrate(robot, q, v, h), v, memory


INTEGRATORS = {
    "semi_implicit": Integrator(_semi_implicit, 1),
    "rk4": RK4,
    "rkmk4": RKMK4,
    "adaptive": adaptive(),
    "implicit": IMPLICIT,
    "variational": variational(),
}

SCIPY_METHODS = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")


def integrator_named(name, caller: str) -> Integrator:
    """The integrator of this name, or one that is given itself."""
    if isinstance(name, Integrator):
        return name
    if isinstance(name, str) and name in INTEGRATORS:
        return INTEGRATORS[name]
    scipys = isinstance(name, str) and name in SCIPY_METHODS
    hint = f"; SciPy's are in simulation.scipy_run(..., method={name!r})" if scipys else ""
    raise ArgumentError(f"{caller}: integrator is {name!r:.60}; there are {', '.join(map(repr, INTEGRATORS))}{hint}")
