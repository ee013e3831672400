"""What robots, runs and trajectories show: each becomes an `Actor` with a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..drawing.actors import Actor, Curves, configurations, frame_times, settled, thinned
from ..drawing.pages import MOST_RUNS
from ..dynamics.regressors import coordinate_names, dof_names
from ..errors import ArgumentError
from ..model.robot import Robot
from ..polymer.atoms import Polymer
from ..polymer.thermal import Trajectory as States
from ..simulation.run_actors import actor_of_run, run_curves
from ..simulation.runs import Run
from ..trajectory.optimal.motion import Motion
from ..trajectory.piecewise import Trajectory

__all__ = ["THINGS", "actors_of", "motion_curves", "named", "robot_of"]

_CURVES = 1_000_000  # numbers in the curves of a batch
THINGS = (
    "a Robot, Polymer, Run, Trajectory or Motion, or several of them in a list or a dictionary {name: ...}, or one "
    "World, Scene, MotionPlan, ProgramRun or TaskRun"
)


def named(thing, caller: str) -> dict[str, Any]:
    """The things to show, {name: robot, run or motion}; those without a name are called as their robot or law."""
    if isinstance(thing, Mapping):
        for name in thing:
            if not isinstance(name, str):
                raise ArgumentError(f"{caller}: the name {name!r:.60} must be a str")
        found = dict(thing)
    elif isinstance(thing, Sequence) and not isinstance(thing, str | States):
        found = {}
        for one in thing:
            name = _name(one, caller)
            numbered = (f"{name} ({k})" for k in range(2, len(thing) + 2))
            found[next(x for x in (name, *numbered) if x not in found)] = one
    else:
        found = {_name(thing, caller): thing}
    if not found:
        raise ArgumentError(f"{caller}: nothing to show; give {THINGS}")
    return found


def _name(thing, caller: str) -> str:
    match thing:
        case Robot():
            return thing.name
        case Polymer():
            return thing.robot.name
        case Run():
            return "passive" if thing.setup.law is None else thing.setup.law.name
        case Trajectory() | Motion():
            return "trajectory"
        case States():
            return "states"
    raise ArgumentError(f"{caller}: got {type(thing).__name__}; give {THINGS}")


def robot_of(thing, name: str, robot: Robot | Polymer | None, caller: str) -> Robot:
    """The robot that a motion moves; `robot` is the one that was given for motions that do not know theirs."""
    given = robot.robot if isinstance(robot, Polymer) else robot
    if isinstance(thing, Trajectory) and given is not None:
        return given
    own = given if isinstance(thing, States) else thing.robot
    if own is None:
        what = f"{type(thing).__name__} {name!r:.60}"
        raise ArgumentError(f"{caller}: {what} does not know its robot; give {caller}(..., robot=robot)")
    if given is not None and given != own:
        raise ArgumentError(f"{caller}: {name!r:.60} is a motion of robot '{own.name}', and robot= is another one")
    return own


def actors_of(
    things: Mapping[str, Any], caller: str, *, robot: Robot | Polymer | None, q, rate: float, curves: bool
) -> list[Actor]:
    """The actors of `named` things, whose motions have `rate` frames in a second."""
    standing = [isinstance(thing, Robot | Polymer) for thing in things.values()]
    if q is not None and not any(standing):
        raise ArgumentError(f"{caller}: q belongs to a robot, and nothing but motions is shown")
    if robot is not None and all(standing):
        raise ArgumentError(f"{caller}: robot= is for motions that do not know their robot, and there is none of them")
    return [_actor(name, thing, caller, robot, q, rate, curves) for name, thing in things.items()]


def _actor(name: str, thing, caller: str, robot: Robot | Polymer | None, q, rate: float, curves: bool) -> Actor:
    match thing:
        case Robot():
            return _standing(name, thing, q, caller)
        case Polymer():
            return _standing(name, thing.robot, thing.q if q is None else q, caller)._replace(unit="Å")
        case Run():
            robot_of(thing, name, robot, caller)
            _few(len(thing.q.reshape(-1, *thing.q.shape[-2:])), name, caller)
            times = thinned(thing.t, rate, caller)
            shown = actor_of_run(thing, name, times, caller)
            return shown._replace(curves=_curves_of_runs(thing, times, caller)) if curves else shown
        case Motion():
            return _moving(name, thing.trajectory, robot_of(thing, name, robot, caller), caller, rate, curves)
        case Trajectory():
            return _moving(name, thing, robot_of(thing, name, robot, caller), caller, rate, curves)
        case States():
            return _of_states(name, thing, robot_of(thing, name, robot, caller), caller, rate, curves)
    raise ArgumentError(f"{caller}: {name!r:.60} is {type(thing).__name__}; give {THINGS}")


def _curves_of_runs(run: Run, times: np.ndarray, caller: str) -> tuple[Curves, ...]:
    """The curves (runs, frames, k) of a run, or of the runs of a batch that are drawn, as many as a page has room for.

    Joint forces are left out where no run has any.
    """
    drawn, _ = settled(run.q.reshape(-1, *run.q.shape[-2:]), caller)
    flat = run[np.unravel_index(drawn, run.batch)] if run.batch else None
    first = run_curves(run if flat is None else flat[0], times, forces=True)
    room = max(1, _CURVES // sum(x.values.size for x in first))
    others = range(1, min(room, len(drawn)))
    every = [first, *(run_curves(flat[k], times, forces=True) for k in others)] if flat is not None else [first]
    found = (same[0]._replace(values=np.stack([x.values for x in same])) for same in zip(*every, strict=True))
    return tuple(x for x in found if x.name != "joint forces" or x.values.any())


def _few(runs: int, name: str, caller: str) -> None:
    if runs > MOST_RUNS:
        raise ArgumentError(
            f"{caller}: {name!r:.60} has {runs} runs; a page shows at most {MOST_RUNS}: give a part, such as run[:100]"
        )


def _standing(name: str, robot: Robot, q, caller: str) -> Actor:
    """A robot without a motion, at q (nq,) or (k, nq)."""
    start = configurations(robot, q, caller)
    _few(len(start), name, caller)
    return Actor(name, robot, np.zeros(1), start[:, None])


def _moving(name: str, motion: Trajectory, robot: Robot, caller: str, rate: float, curves: bool) -> Actor:
    """A trajectory, or a batch of them, each from its own start to the end of the longest."""
    times = frame_times(0.0, float(np.max(motion.knots[..., -1])), rate, caller)
    sample = motion(times, hold=True)
    if sample.q.shape[-1] != robot.nq:
        raise ArgumentError(
            f"{caller}: trajectory {name!r:.60} has {sample.q.shape[-1]} coordinates, robot '{robot.name}' {robot.nq}"
        )
    q = sample.q.reshape(-1, *sample.q.shape[-2:])
    _few(len(q), name, caller)
    first = tuple(x.reshape(-1, *x.shape[-2:])[0] for x in sample[:3])
    shown = Actor(name, robot, times, settled(q, caller)[1])
    return shown._replace(curves=motion_curves(robot, *first)) if curves else shown


def _of_states(name: str, states: States, robot: Robot, caller: str, rate: float, curves: bool) -> Actor:
    """States of a molecule, whose batch axes come after that of time; a ps is shown as a second."""
    if states.q.shape[-1] != robot.nq:
        raise ArgumentError(
            f"{caller}: states {name!r:.60} have {states.q.shape[-1]} coordinates, robot '{robot.name}' {robot.nq}"
        )
    times = thinned(np.asarray(states.t, float), rate, caller)
    kept = np.clip(np.searchsorted(states.t, times - 1e-9), 0, len(states.t) - 1)
    q, v = (np.moveaxis(x.reshape(len(states.t), -1, x.shape[-1])[kept], 0, 1) for x in (states.q, states.v))
    _few(len(q), name, caller)
    shown = Actor(name, robot, times, settled(q, caller)[1], unit="Å")
    return shown._replace(curves=motion_curves(robot, q[0], v[0])) if curves else shown


def motion_curves(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray | None = None) -> tuple[Curves, ...]:
    """The curves of q (frames, nq), v and a (frames, nv)."""
    dofs = dof_names(robot)
    found = (
        Curves("positions", "rad or m", coordinate_names(robot), q),
        Curves("velocities", "rad/s or m/s", dofs, v),
    )
    return found if a is None else (*found, Curves("accelerations", "rad/s² or m/s²", dofs, a))
