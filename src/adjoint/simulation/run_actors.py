"""What pages and films show of a run: its configurations, its loads, and curves over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..drawing.actors import Actor, Ball, Curves, settled
from ..dynamics.regressors import coordinate_names, dof_names
from ..kinematics.forward import forward_kinematics
from .loads import loads_of

if TYPE_CHECKING:
    from .runs import Run

__all__ = ["actor_of_run", "run_curves"]

_DENSITY = 8000.0  # [kg/m³] of loads, which are drawn as balls of steel


def actor_of_run(run: Run, name: str, times: np.ndarray, caller: str, *, most: int | None = None) -> Actor:
    """The actor of a run, or of the first runs of a batch, at the times of the frames (frames,) [s]."""
    q = run.q.reshape(-1, *run.q.shape[-2:])[:most]
    drawn, q = settled(q, caller)

    def shown(t: np.ndarray) -> np.ndarray:
        """Configurations (runs, ..., nq) at times (runs, ...) or (...)."""
        nearest = np.clip(np.searchsorted(run.t, t - 1e-9), 0, len(run.t) - 1)
        return np.take_along_axis(q, np.broadcast_to(nearest, (len(q), nearest.shape[-1]))[..., None], axis=1)

    balls = []
    for load in loads_of(run.setup.plan.plant.changes, run.setup.numbers):
        start, end, mass, com = (_of_runs(x, run, core)[drawn] for x, core in zip(load[1:], (0, 0, 0, 1), strict=True))
        T = forward_kinematics(run.robot, shown(np.clip(times, start[:, None], end[:, None])), load.frame)
        centers = (T[..., :3, :3] @ com[:, None, :, None])[..., 0] + T[..., :3, 3]
        balls.append(Ball(centers, np.cbrt(3 * mass / (4 * np.pi * _DENSITY))))
    return Actor(name, run.robot, times, shown(times), balls=tuple(balls))


def _of_runs(x: np.ndarray, run: Run, core: int) -> np.ndarray:
    """Numbers (..., *core) of all runs, with the batch as one axis."""
    lead = np.broadcast_to(x, (*run.batch, *x.shape[x.ndim - core :]))
    return lead.reshape(-1, *x.shape[x.ndim - core :])


def run_curves(run: Run, times: np.ndarray, *, forces: bool) -> tuple[Curves, ...]:
    """Positions and velocities of the first run at these times; with `forces`, its joint forces and energies, too."""
    robot = run.robot
    nearest = np.clip(np.searchsorted(run.t, times - 1e-9), 0, len(run.t) - 1)

    def first(x: np.ndarray) -> np.ndarray:
        return np.broadcast_to(x, (*run.batch, *x.shape[-2:])).reshape(-1, *x.shape[-2:])[0, nearest]

    found = [
        Curves("positions", "rad or m", coordinate_names(robot), first(run.q)),
        Curves("velocities", "rad/s or m/s", dof_names(robot), first(run.v)),
    ]
    if forces:
        energy = np.stack(np.broadcast_arrays(*run.energy), axis=-1)
        found += [
            Curves("joint forces", "N m or N", dof_names(robot), first(run.tau)),
            Curves("energy", "J", ("kinetic", "potential", "total"), first(energy)),
        ]
    return tuple(found)
