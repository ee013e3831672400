"""`Clip`: a motion to play, of one robot or a batch, from a run, a trajectory, or states of a molecule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..drawing.actors import Actor, Curves, settled
from ..dynamics.energy import kinetic_energy, potential_energy
from ..dynamics.regressors import dof_names
from ..errors import ArgumentError
from ..model.robot import Robot
from ..polymer.atoms import Polymer
from ..polymer.thermal import Trajectory as States
from ..simulation.run_actors import run_curves
from ..simulation.runs import Run
from ..trajectory.optimal.motion import Motion
from ..trajectory.piecewise import Trajectory
from .looks import Look, Poses, poses_of
from .showing import THINGS, motion_curves, named, robot_of

__all__ = ["Clip", "clip_of", "clip_of_actor", "clips_of", "poses_of_clip"]

_MOST = 4_000_000  # poses of spots that are kept, 28 bytes each
_RATE = 100.0  # [1/s] samples of a trajectory
_CHARTED = 400  # times in a chart


@dataclass(frozen=True, eq=False)
class Clip:
    """Times t (F,) [s], configurations q (N, F, nq) of N robots, and a function that gives the curves of one."""

    name: str
    robot: Robot
    t: np.ndarray
    q: np.ndarray
    curves: Callable[[int, np.ndarray], tuple[Curves, ...]]  # of run number k, at the times of these numbers

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


def clips_of(thing, robot: Robot | Polymer | None, caller: str) -> list[Clip]:
    """The clips of a motion, or of several in a list or a dict."""
    return [clip_of(one, name, robot, caller) for name, one in named(thing, caller).items()]


def clip_of(motion, name: str, robot: Robot | Polymer | None, caller: str) -> Clip:
    """The clip of one motion; trajectories and states may need the robot that they move."""
    match motion:
        case Run():
            robot_of(motion, name, robot, caller)
            return _of_run(motion, name, caller)
        case Motion():
            return _of_trajectory(motion.trajectory, name, robot_of(motion, name, robot, caller), caller)
        case Trajectory():
            return _of_trajectory(motion, name, robot_of(motion, name, robot, caller), caller)
        case States():
            return _of_states(motion, name, robot_of(motion, name, robot, caller), caller)
        case Robot() | Polymer():
            raise ArgumentError(
                f"{caller}: {name!r:.60} is a {type(motion).__name__}; of several things, all must move"
            )
    raise ArgumentError(f"{caller}: {name!r:.60} is {type(motion).__name__}; give {THINGS}")


def clip_of_actor(actor: Actor) -> Clip:
    """The clip of an actor that has curves of its own, such as a robot of a world."""

    def curves(number: int, which: np.ndarray) -> tuple[Curves, ...]:
        return tuple(c._replace(values=c.values[which]) for c in actor.curves)

    return Clip(actor.name, actor.robot, actor.t, actor.q, curves)


def _of_run(run: Run, name: str, caller: str) -> Clip:
    drawn, q = settled(run.q.reshape(-1, *run.q.shape[-2:]), caller)

    def curves(k: int, which: np.ndarray) -> tuple[Curves, ...]:
        one = run[np.unravel_index(drawn[k], run.batch)] if run.batch else run
        return run_curves(one, run.t[which], forces=True)

    return Clip(name, run.robot, run.t, q, curves)


def _of_trajectory(motion: Trajectory, name: str, robot: Robot, caller: str) -> Clip:
    if motion.nv != robot.nv:
        raise ArgumentError(
            f"{caller}: the trajectory moves {motion.nv} coordinates, and robot '{robot.name}' has {robot.nv}"
        )
    end = float(np.max(motion.knots[..., -1]))
    t = np.linspace(0.0, end, int(np.clip(end * _RATE, 2, 20_000)) + 1)
    sample = motion(t, hold=True)
    q, v = (x.reshape(-1, *x.shape[-2:]) for x in sample[:2])
    drawn, shown = settled(q, caller)

    def curves(number: int, which: np.ndarray) -> tuple[Curves, ...]:
        k = drawn[number]
        tau = motion.torques(robot, t).tau.reshape(-1, len(t), robot.nv)[k]
        forces = Curves("joint forces", "N m or N", dof_names(robot), tau[which])
        at = q[k][which], v[k][which]
        return *motion_curves(robot, *at), forces, _energy(robot, *at)

    return Clip(name, robot, t, shown, curves)


def _of_states(states: States, name: str, robot: Robot, caller: str) -> Clip:
    """States of a molecule, whose batch axes come after that of time."""
    q, v = (np.moveaxis(x.reshape(len(states.t), -1, x.shape[-1]), 0, 1) for x in (states.q, states.v))
    if q.shape[-1] != robot.nq:
        raise ArgumentError(f"{caller}: the states have {q.shape[-1]} coordinates, robot '{robot.name}' {robot.nq}")
    drawn, shown = settled(q, caller)

    def curves(number: int, which: np.ndarray) -> tuple[Curves, ...]:
        at = q[drawn[number]][which], v[drawn[number]][which]
        return *motion_curves(robot, *at), _energy(robot, *at)

    return Clip(name, robot, np.asarray(states.t, float), shown, curves)


def _energy(robot: Robot, q: np.ndarray, v: np.ndarray) -> Curves:
    T, U = kinetic_energy(robot, q, v), potential_energy(robot, q)
    return Curves("energy", "J", ("kinetic", "potential", "total"), np.stack([T, U, T + U], axis=-1))


def poses_of_clip(clip: Clip, look: Look) -> tuple[np.ndarray, Poses]:
    """Frames of a clip: their numbers (f,), and the poses of spots (f, N, s, ...) in them, computed at once."""
    size = max(1, clip.count * len(look.bodies))
    kept = np.unique(np.linspace(0, len(clip.t) - 1, max(2, min(len(clip.t), _MOST // size))).astype(int))
    return kept, poses_of(clip.robot, look, np.moveaxis(clip.q[:, kept], 0, 1))
