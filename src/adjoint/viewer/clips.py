"""`Clip`: a motion to play, of one robot or a batch, from a run, a trajectory, or states of a molecule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..dynamics.energy import kinetic_energy, potential_energy
from ..dynamics.regressors import coordinate_names, dof_names
from ..errors import ArgumentError
from ..model.needs import need_robot
from ..model.robot import Robot
from ..polymer.atoms import Polymer
from ..polymer.thermal import Trajectory as Thermal
from ..simulation.runs import Run
from ..trajectory.piecewise import Trajectory
from .looks import Look, Poses, poses_of

__all__ = ["KINDS", "Clip", "Curves", "clip_of", "clips_of", "is_motion", "poses_of_clip"]

_MOST = 4_000_000  # poses of spots that are kept, 28 bytes each
_RATE = 100.0  # [1/s] samples of a trajectory
_CHARTED = 400  # times in a chart
KINDS = "a Robot, Run, Trajectory or Polymer, or a dict of runs and trajectories by their names"


class Curves(NamedTuple):
    """Values (k, m) over times, with names of the m lines, and a title with the unit."""

    title: str
    names: tuple[str, ...]
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Clip:
    """Times t (F,) [s], configurations q (N, F, nq) of N robots, and a function that gives the curves of one."""

    name: str
    robot: Robot
    t: np.ndarray
    q: np.ndarray
    curves: Callable[[int, np.ndarray], list[Curves]]  # of run number k, at the times of these numbers

    @property
    def count(self) -> int:
        """How many robots move."""
        return len(self.q)

    @property
    def duration(self) -> float:
        """The time from the first to the last state [s]."""
        return float(self.t[-1] - self.t[0])

    def at(self, time: float) -> int:
        """The number of the frame at a time [s] after the start."""
        return int(np.clip(np.searchsorted(self.t - self.t[0], time + 1e-9, side="right") - 1, 0, len(self.t) - 1))

    def charted(self) -> np.ndarray:
        """The numbers of the frames that charts show."""
        return np.unique(np.linspace(0, len(self.t) - 1, min(_CHARTED, len(self.t))).astype(int))


def is_motion(thing) -> bool:
    """Whether it is something to play."""
    return isinstance(thing, Run | Trajectory | Thermal)


def clips_of(thing, robot, caller: str) -> list[Clip]:
    """The clips of a run, a trajectory, or a dict of them."""
    if not isinstance(thing, Mapping):
        return [clip_of(thing, "motion", robot, caller)]
    if not thing:
        raise ArgumentError(f"{caller}: the dict is empty; it needs {{name: run or trajectory}}")
    for name, one in thing.items():
        if not isinstance(name, str) or not is_motion(one):
            what = f"{name!r:.40}: {type(one).__name__}"
            raise ArgumentError(f"{caller}: the dict has {what}; it needs {{name: Run or Trajectory}}")
    return [clip_of(one, name, robot, caller) for name, one in thing.items()]


def clip_of(motion: Run | Trajectory | Thermal, name: str, robot, caller: str) -> Clip:
    """The clip of one motion; trajectories may need the robot that follows them."""
    owner = robot.robot if isinstance(robot, Polymer) else robot
    if isinstance(motion, Run):
        if owner is not None and owner != motion.robot:
            raise ArgumentError(f"{caller}: the run is of robot '{motion.robot.name}', and robot= is another one")
        return _of_run(motion, name, caller)
    if owner is None and isinstance(motion, Trajectory):
        owner = motion.robot
    if owner is None:
        raise ArgumentError(f"{caller}: this trajectory was made without a robot; give robot=, the one that follows it")
    need_robot(owner, caller)
    return (
        _of_trajectory(motion, name, owner, caller)
        if isinstance(motion, Trajectory)
        else _of_states(motion, name, owner, caller)
    )


def _of_run(run: Run, name: str, caller: str) -> Clip:
    q = run.q.reshape(-1, *run.q.shape[-2:])

    def curves(k: int, which: np.ndarray) -> list[Curves]:
        one = run[np.unravel_index(k, run.batch)] if run.batch else run
        found = _motion_curves(run.robot, one.q[which], one.v[which])
        forces = Curves("Joint forces [N m, N]", dof_names(run.robot), one.tau[which])
        energy = np.stack([x[which] for x in one.energy], axis=-1)
        return [*found, forces, Curves("Energy [J]", ("kinetic", "potential", "total"), energy)]

    return Clip(name, run.robot, run.t, _finite(q, run.robot, caller), curves)


def _of_trajectory(motion: Trajectory, name: str, robot: Robot, caller: str) -> Clip:
    if motion.nv != robot.nv:
        raise ArgumentError(
            f"{caller}: the trajectory moves {motion.nv} coordinates, and robot '{robot.name}' has {robot.nv}"
        )
    end = float(np.max(motion.knots[..., -1]))
    t = np.linspace(0.0, end, int(np.clip(end * _RATE, 2, 20_000)) + 1)
    sample = motion(t, hold=True)
    q, v = (x.reshape(-1, *x.shape[-2:]) for x in sample[:2])

    def curves(k: int, which: np.ndarray) -> list[Curves]:
        tau = motion.torques(robot, t).tau.reshape(-1, len(t), robot.nv)[k]
        return [
            *_motion_curves(robot, q[k][which], v[k][which]),
            Curves("Joint forces [N m, N]", dof_names(robot), tau[which]),
            _energy(robot, q[k][which], v[k][which]),
        ]

    return Clip(name, robot, t, _finite(q, robot, caller), curves)


def _of_states(states: Thermal, name: str, robot: Robot, caller: str) -> Clip:
    """States of a molecule, whose batch axes come after that of time."""
    q, v = (np.moveaxis(x.reshape(len(states.t), -1, x.shape[-1]), 0, 1) for x in (states.q, states.v))
    if q.shape[-1] != robot.nq:
        raise ArgumentError(f"{caller}: the states have {q.shape[-1]} coordinates, robot '{robot.name}' {robot.nq}")

    def curves(k: int, which: np.ndarray) -> list[Curves]:
        return [*_motion_curves(robot, q[k][which], v[k][which]), _energy(robot, q[k][which], v[k][which])]

    return Clip(name, robot, np.asarray(states.t, float), _finite(q, robot, caller), curves)


def _motion_curves(robot: Robot, q: np.ndarray, v: np.ndarray) -> list[Curves]:
    return [
        Curves("Joint positions [rad, m]", coordinate_names(robot), q),
        Curves("Joint velocities [rad/s, m/s]", dof_names(robot), v),
    ]


def _energy(robot: Robot, q: np.ndarray, v: np.ndarray) -> Curves:
    T, U = kinetic_energy(robot, q, v), potential_energy(robot, q)
    return Curves("Energy [J]", ("kinetic", "potential", "total"), np.stack([T, U, T + U], axis=-1))


def _finite(q: np.ndarray, robot: Robot, caller: str) -> np.ndarray:
    """Configurations (N, F, nq) in which a robot that became NaN stays where it was last."""
    good = np.asarray(np.isfinite(q).all(axis=-1))
    if good.all():
        return q
    if not good[:, 0].all():
        raise ArgumentError(f"{caller}: a motion of robot '{robot.name}' starts with numbers that are not finite")
    last = np.maximum.accumulate(np.where(good, np.arange(q.shape[1]), 0), axis=1)
    return np.take_along_axis(q, last[..., None], axis=1)


def poses_of_clip(clip: Clip, look: Look) -> tuple[np.ndarray, Poses]:
    """Frames of a clip: their numbers (f,), and the poses of spots (f, N, s, ...) in them, computed at once."""
    size = max(1, clip.count * len(look.bodies))
    kept = np.unique(np.linspace(0, len(clip.t) - 1, max(2, min(len(clip.t), _MOST // size))).astype(int))
    return kept, poses_of(clip.robot, look, np.moveaxis(clip.q[:, kept], 0, 1))
