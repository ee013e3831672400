"""Simulation: robots under control in time, one or thousands at once.

| file | contents |
|---|---|
| `running` | `simulate` |
| `runs` | `Run`: the states of a simulation, and what follows from them |
| `setups` | a robot, its controller and its surroundings, checked and put together |
| `rollouts` | the kernel of a run: controller, plant and integrator in one loop |
| `plants` | the plant: a robot with all that acts on it, and its accelerations |
| `forces` | `Force` and `Change`: what acts on a robot, and what changes in it |
| `integrators` | the table of integrators, each one step on the manifold of configurations |
| `steps` | `Integrator`: what an integrator is |
| `group_integrators` | Runge-Kutta methods, classical and of Munthe-Kaas |
| `adaptive_integrator` | `adaptive`: steps as short as an accuracy asks for |
| `implicit_integrators` | a linearly implicit method for stiff forces |
| `variational_integrator` | `variational`: momentum and energy without drift |
| `scipy_solvers` | `scipy_run`: the same run by SciPy's solvers |
"""

from .adaptive_integrator import adaptive as adaptive
from .forces import Change as Change
from .forces import Force as Force
from .forces import change as change
from .forces import force as force
from .running import simulate as simulate
from .runs import Run as Run
from .scipy_solvers import scipy_run as scipy_run
from .steps import Integrator as Integrator
from .variational_integrator import variational as variational

__all__ = [
    "Change",
    "Force",
    "Integrator",
    "Run",
    "adaptive",
    "change",
    "force",
    "scipy_run",
    "simulate",
    "variational",
]


def __dir__() -> list[str]:
    return __all__
