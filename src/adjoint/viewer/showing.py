"""What robots, runs and trajectories show: each becomes an `Actor` with a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..compile.front.arguments import unmasked
from ..drawing.actors import Actor, Curves, frame_times, settled, thinned
from ..drawing.pages import MOST_RUNS
from ..dynamics.regressors import coordinate_names, dof_names
from ..errors import ArgumentError
from ..model.configuration import neutral
from ..model.robot import Robot
from ..polymer.atoms import Polymer
from ..simulation.run_actors import actor_of_run, run_curves
from ..simulation.runs import Run
from ..trajectory.optimal.motion import Motion
from ..trajectory.piecewise import Trajectory

__all__ = ["actors_of", "named"]

_THINGS = "a Robot, Polymer, Run, Trajectory or Motion, or several of them in a list or a dictionary {name: ...}"


def named(thing, caller: str) -> dict[str, Any]:
    """The things to show, {name: robot, run or motion}; those without a name are called as their robot or law."""
    if isinstance(thing, Mapping):
        for name in thing:
            if not isinstance(name, str):
                raise ArgumentError(f"{caller}: the name {name!r:.60} must be a str")
        found = dict(thing)
    elif isinstance(thing, Sequence) and not isinstance(thing, str):
        found = {}
        for one in thing:
            name = _name(one, caller)
            same = sum(key == name or key.startswith(f"{name} (") for key in found)
            found[f"{name} ({same + 1})" if same else name] = one
    else:
        found = {_name(thing, caller): thing}
    if not found:
        raise ArgumentError(f"{caller}: nothing to show; give {_THINGS}")
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
    raise ArgumentError(f"{caller}: got {type(thing).__name__}; give {_THINGS}")


def actors_of(
    things: Mapping[str, Any], caller: str, *, robot: Robot | None, q, rate: float, curves: bool
) -> list[Actor]:
    """The actors of `named` things, whose motions have `rate` frames in a second."""
    return [_actor(name, thing, caller, robot, q, rate, curves) for name, thing in things.items()]


def _actor(name: str, thing, caller: str, robot: Robot | None, q, rate: float, curves: bool) -> Actor:
    match thing:
        case Robot():
            return _standing(name, thing, q, caller)
        case Polymer():
            return _standing(name, thing.robot, thing.q if q is None else q, caller)._replace(unit="Å")
        case Run():
            _few(len(thing.q.reshape(-1, *thing.q.shape[-2:])), name, caller)
            times = thinned(thing.t, rate, caller)
            shown = actor_of_run(thing, name, times, caller)
            return shown._replace(curves=run_curves(thing, times, forces=True)) if curves else shown
        case Motion():
            return _moving(name, thing.trajectory, thing.robot, caller, rate, curves)
        case Trajectory():
            return _moving(name, thing, thing.robot if robot is None else robot, caller, rate, curves)
    raise ArgumentError(f"{caller}: {name!r:.60} is {type(thing).__name__}; give {_THINGS}")


def _few(runs: int, name: str, caller: str) -> None:
    if runs > MOST_RUNS:
        raise ArgumentError(
            f"{caller}: {name!r:.60} has {runs} runs; a page shows at most {MOST_RUNS}: give a part, such as run[:100]"
        )


def _standing(name: str, robot: Robot, q, caller: str) -> Actor:
    """A robot without a motion, at q (nq,) or (k, nq), or where its joints are 0 or as near as their limits allow."""
    if q is None:
        start = np.clip(neutral(robot), robot.lower, robot.upper)[None]
    else:
        try:
            start = np.array(unmasked(q), float)
        except (TypeError, ValueError):
            raise ArgumentError(f"{caller}: q must be numbers, got {q!r:.60}") from None
        if start.ndim < 1 or start.shape[-1] != robot.nq or not np.isfinite(start).all():
            raise ArgumentError(
                f"{caller}: q must be finite numbers of shape ({robot.nq},) or (k, {robot.nq}) for robot "
                f"'{robot.name}', got shape {start.shape}"
            )
        start = start.reshape(-1, robot.nq)
    _few(len(start), name, caller)
    return Actor(name, robot, np.zeros(1), start[:, None])


def _moving(name: str, motion: Trajectory, robot: Robot | None, caller: str, rate: float, curves: bool) -> Actor:
    """A trajectory, or a batch of them, each from its own start to the end of the longest."""
    if robot is None:
        raise ArgumentError(
            f"{caller}: trajectory {name!r:.60} does not know its robot; give {caller}(..., robot=robot)"
        )
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
    return shown._replace(curves=_curves(robot, *first)) if curves else shown


def _curves(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[Curves, ...]:
    dofs = dof_names(robot)
    return (
        Curves("positions", "rad or m", coordinate_names(robot), q),
        Curves("velocities", "rad/s or m/s", dofs, v),
        Curves("accelerations", "rad/s² or m/s²", dofs, a),
    )
