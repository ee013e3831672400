"""Simulation: robots under control in time, one or thousands at once.

| file | contents |
|---|---|
| `running` | `simulate` |
| `runs`, `picking` | `Run`: the states of a simulation, and what follows from them; some runs of a batch |
| `setups` | a robot, its controller and its surroundings, checked and put together |
| `rollouts` | the kernel of a run: controller, plant and integrator in one loop |
| `plants` | the plant: a robot with all that acts on it, and its accelerations |
| `forces` | `Force` and `Change`: what acts on a robot, and what changes in it |
| `advance`, `checkpoints`, `progress` | going through the steps of a run, with files and news on the way |
| `python_controllers` | controllers that are called in Python |
| `run_files`, `run_figures`, `run_plots` | runs in files; figures over time; animations |
| `run_scenes`, `run_pages`, `animations` | what an animation draws; the page that plays it; `animate` several runs |
| `gradients` | `gradient` of a cost over a run, in reverse, with checkpoints |
| `vector_env` | `VectorEnv`: many robots as one environment for reinforcement learning |
| `randomisation` | `randomised`: numbers for robots that differ from each other |
| `sensors` | `Sensor`: what a law is told besides q and v, such as the wrench at its tool |
| `integrators` | the table of integrators, each one step on the manifold of configurations |
| `number_checks` | the numbers of forces and changes, checked |
| `frictions` | `friction`, smooth, and `dry_friction`, which holds |
| `stops` | `joint_stops` |
| `surfaces` | `plane`, `box`, `sphere` and `terrain` |
| `contacts` | `contact` of a frame with a surface |
| `loads` | `applied` wrenches, `joint_disturbance` and `payload` |
| `bases` | `moving_base` |
| `shooting` | `ilqr`: joint forces of least cost, by iterative linear quadratic regulators and DDP |
| `steps` | `Integrator`: what an integrator is |
| `group_integrators` | Runge-Kutta methods, classical and of Munthe-Kaas |
| `adaptive_integrator` | `adaptive`: steps as short as an accuracy asks for |
| `implicit_integrators` | a linearly implicit method for stiff forces |
| `variational_integrator` | `variational`: momentum and energy without drift |
| `scipy_solvers`, `configuration_rate` | `scipy_run`: the same run by SciPy's solvers |
"""

from typing import TYPE_CHECKING

from ..lazy import later
from .adaptive_integrator import adaptive as adaptive
from .animations import animate as animate
from .bases import moving_base as moving_base
from .contacts import contact as contact
from .forces import Change as Change
from .forces import Force as Force
from .forces import change as change
from .forces import force as force
from .frictions import dry_friction as dry_friction
from .frictions import friction as friction
from .gradients import Gradient as Gradient
from .gradients import gradient as gradient
from .loads import applied as applied
from .loads import joint_disturbance as joint_disturbance
from .loads import payload as payload
from .randomisation import randomised as randomised
from .running import simulate as simulate
from .runs import Run as Run
from .scipy_solvers import scipy_run as scipy_run
from .sensors import Sensor as Sensor
from .sensors import sensor as sensor
from .sensors import wrench_sensor as wrench_sensor
from .shooting.solution import OptimalMotion as OptimalMotion
from .shooting.solver import ilqr as ilqr
from .steps import Integrator as Integrator
from .stops import joint_stops as joint_stops
from .surfaces import Surface as Surface
from .surfaces import box as box
from .surfaces import plane as plane
from .surfaces import sphere as sphere
from .surfaces import terrain as terrain
from .variational_integrator import variational as variational

if TYPE_CHECKING:
    from .vector_env import VectorEnv as VectorEnv
else:  # it imports gymnasium, which most processes have no use for
    __getattr__ = later(__name__, {"VectorEnv": "vector_env"})

__all__ = [
    "Change",
    "Force",
    "Gradient",
    "Integrator",
    "OptimalMotion",
    "Run",
    "Sensor",
    "Surface",
    "VectorEnv",
    "adaptive",
    "animate",
    "applied",
    "box",
    "change",
    "contact",
    "dry_friction",
    "force",
    "friction",
    "gradient",
    "ilqr",
    "joint_disturbance",
    "joint_stops",
    "moving_base",
    "payload",
    "plane",
    "randomised",
    "scipy_run",
    "sensor",
    "simulate",
    "sphere",
    "terrain",
    "variational",
    "wrench_sensor",
]


def __dir__() -> list[str]:
    return __all__
