"""`simulate`: a robot, its controller and its surroundings, over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..compile.graph.nested import leaves
from ..control.assembled import Input
from ..dynamics.closed_loops import Loop
from ..errors import ArgumentError
from ..model.configuration import neutral
from ..model.input_checks import positive, vectors
from ..model.robot import Robot
from .forces import Change, Force
from .integrators import Integrator
from .rollouts import NEVER, rollout_kernel
from .runs import Run
from .setups import Setup, Surroundings, set_up

__all__ = ["simulate", "whole_steps"]

_MOST_SAMPLES = 1 << 24  # the most numbers of a sampled reference that one call of the kernel gets


def simulate(
    robot: Robot, controller=None, *, q=None, v=None, duration, dt, integrator: str | Integrator = "semi_implicit",
    record: int = 1, forces: Sequence[Force] | Force = (), changes: Sequence[Change] | Change = (),
    loops: Sequence[Loop] | Loop = (), base: Change | None = None, lift: Mapping[str, Any] | None = None,
    stop: Callable | None = None,
) -> Run:  # fmt: skip
    """Simulate a robot under a controller from (q, v) for `duration` seconds, in steps of `dt` seconds.

    >>> run = simulate(robot, q=q, v=v, duration=0.5, dt=0.001)              # let it swing
    >>> run.q.shape
    (501, 6)
    """
    around = Surroundings(forces, changes, loops, base, lift, stop)
    setup = set_up(robot, controller, dt, integrator, record, around)
    steps = whole_steps(positive(duration, "simulate: duration"), setup)
    return _run(setup, *_start(setup, q, v), steps)


def whole_steps(duration: float, setup: Setup) -> int:
    """The number of steps; it must be whole, and a multiple of `record`."""
    steps, record = round(duration / setup.dt), setup.plan.record
    if steps < 1 or abs(steps * setup.dt - duration) > 1e-6 * duration:
        raise ArgumentError(f"simulate: duration {duration:g} s is not a whole number of steps of dt = {setup.dt:g} s")
    if steps % record:
        near = [k for k in range(1, min(steps, 10 * record) + 1) if steps % k == 0]
        best = min(near, key=lambda k: abs(k - record))
        raise ArgumentError(f"simulate: record={record} does not divide the {steps} steps of the run; {best} does")
    return steps


def _start(setup: Setup, q, v) -> tuple[np.ndarray, np.ndarray, list, tuple[int, ...]]:
    """The first q and v, the leaves of the controller's state, and the leading axes of all."""
    robot = setup.robot
    q = vectors(neutral(robot) if q is None else q, robot.nq, "q", "simulate")
    v = vectors(np.zeros(robot.nv) if v is None else v, robot.nv, "v", "simulate")
    state = [] if setup.law is None else [np.asarray(x, float) for x in leaves(setup.law.state)]
    shapes = [q.shape[:-1], v.shape[:-1], setup.batch()]
    shapes += [x.shape[: x.ndim - len(core)] for x, core in zip(state, setup.plan.state.shapes, strict=True)]
    try:
        return q, v, state, np.broadcast_shapes(*shapes)
    except ValueError:
        raise ArgumentError(f"simulate: leading axes do not match: {', '.join(map(str, shapes))}") from None


def _run(setup: Setup, q, v, state: list, batch: tuple[int, ...], steps: int) -> Run:
    """Go through all steps, in as many calls of the kernel as the memory for the reference asks for."""
    plan, robot = setup.plan, setup.robot
    record, blocks = plan.record, steps // plan.record
    cores = {"q": (robot.nq,), "v": (robot.nv,)} | {k: x.shape for k, x in plan.state.inputs("state").items()}
    kept = {name: np.empty((*batch, blocks + 1, *core)) for name, core in cores.items()}

    def rows(name: str, which) -> np.ndarray:
        """The rows `which` of what is kept, which is one number or a slice."""
        return kept[name][(..., which, *(slice(None) for _ in cores[name]))]

    for name, first in zip(cores, (q, v, *state), strict=True):
        rows(name, slice(0, 1))[...] = np.expand_dims(first, first.ndim - len(cores[name]))
    carried = plan.memory.inputs("memory") | {"stopped": Input()}
    ends = {k: np.zeros((*batch, *x.shape)) for k, x in carried.items()}
    for k, x in zip(ends, (*leaves(plan.memory.tree), NEVER), strict=True):
        ends[k][...] = x
    done = 0
    while done < blocks:
        n = min(blocks - done, _blocks_at_once(setup))
        t = (done * record + np.arange(n * record)) * setup.dt
        before, ends = ends, {k: np.empty_like(x) for k, x in ends.items()}
        rollout_kernel(plan)(
            **{name: rows(name, done) for name in cores}, **setup.numbers, **setup.reference(t, record), **before,
            blocks=np.arange(n, dtype=float), first=float(done * record), t_0=0.0, dt=setup.dt,
            out=(*(rows(name, slice(done + 1, done + 1 + n)) for name in cores), *ends.values()),
        )  # fmt: skip
        done += n
    kept_state = plan.state.build([kept[k] for k in plan.state.names("state")])
    t = np.arange(blocks + 1) * record * setup.dt
    return Run(setup, t, kept["q"], kept["v"], kept_state, ends["stopped"], ends)


def _blocks_at_once(setup: Setup) -> int:
    """How many blocks one call of the kernel takes."""
    if setup.plan.law is None or setup.plan.reference != "sampled":
        return 1 << 62
    row = setup.plan.record * sum(int(np.prod(shape, dtype=int)) for shape in setup.plan.law.reference.shapes)
    return max(_MOST_SAMPLES // max(row * int(np.prod(setup.batch(), dtype=int)), 1), 1)
