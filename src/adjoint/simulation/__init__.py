"""Simulation: robots under control in time, one or thousands at once.

| file | contents |
|---|---|
| `running` | `simulate` |
| `runs` | `Run`: the states of a simulation, and what follows from them |
| `setups` | a robot, its controller and its surroundings, checked and put together |
| `rollouts` | the kernel of a run: controller, plant and integrator in one loop |
| `plants` | the plant: a robot with all that acts on it, and its accelerations |
| `forces` | `Force` and `Change`: what acts on a robot, and what changes in it |
| `integrators` | one step on the manifold of configurations |
| `shooting` | `ilqr`: joint forces of least cost, by iterative linear quadratic regulators and DDP |
"""

from .forces import Change as Change
from .forces import Force as Force
from .forces import change as change
from .forces import force as force
from .running import simulate as simulate
from .runs import Run as Run
from .shooting.solution import OptimalMotion as OptimalMotion
from .shooting.solver import ilqr as ilqr

__all__ = [
    "Change",
    "Force",
    "OptimalMotion",
    "Run",
    "change",
    "force",
    "ilqr",
    "simulate",
]


def __dir__() -> list[str]:
    return __all__
