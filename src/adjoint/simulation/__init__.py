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
| `number_checks` | the numbers of forces and changes, checked |
| `frictions` | `friction`, smooth, and `dry_friction`, which holds |
| `stops` | `joint_stops` |
| `surfaces` | `plane`, `box`, `sphere` and `terrain` |
| `contacts` | `contact` of a frame with a surface |
| `loads` | `applied` wrenches, `joint_disturbance` and `payload` |
| `bases` | `moving_base` |
"""

from .bases import moving_base as moving_base
from .contacts import contact as contact
from .forces import Change as Change
from .forces import Force as Force
from .forces import change as change
from .forces import force as force
from .frictions import dry_friction as dry_friction
from .frictions import friction as friction
from .loads import applied as applied
from .loads import joint_disturbance as joint_disturbance
from .loads import payload as payload
from .running import simulate as simulate
from .runs import Run as Run
from .stops import joint_stops as joint_stops
from .surfaces import Surface as Surface
from .surfaces import box as box
from .surfaces import plane as plane
from .surfaces import sphere as sphere
from .surfaces import terrain as terrain

__all__ = [
    "Change",
    "Force",
    "Run",
    "Surface",
    "applied",
    "box",
    "change",
    "contact",
    "dry_friction",
    "force",
    "friction",
    "joint_disturbance",
    "joint_stops",
    "moving_base",
    "payload",
    "plane",
    "simulate",
    "sphere",
    "terrain",
]


def __dir__() -> list[str]:
    return __all__
