"""`simulate`: a robot, its controller and its surroundings, over time."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from math import ceil, isqrt
from typing import Any

import numpy as np

from ..compile.front.progress import WARNING, tell
from ..dynamics.closed_loops import Loop, loop_error, loop_places
from ..errors import ArgumentError, TraceError
from ..model.configuration import neutral
from ..model.input_checks import positive, vectors
from ..model.robot import Robot
from .advance import Moment, advance, empty_store
from .checkpoints import Checkpoint
from .forces import Change, Force
from .integrators import Integrator
from .progress import Progress
from .python_controllers import run_in_python
from .runs import Run
from .sensors import Sensor
from .setups import Setup, Surroundings, set_up

__all__ = ["divisor_near", "simulate", "start_of_run", "steps_of"]

_CLOSED = 1e-6  # [rad, m] by which a loop may be open at the start
_MOST_STEPS = 1 << 40  # no machine goes through more of them in a month


def simulate(
    robot: Robot, controller=None, *, q=None, v=None, duration, dt, integrator: str | Integrator = "semi_implicit",
    record: int = 1, forces: Sequence[Force] | Force = (), changes: Sequence[Change] | Change = (),
    loops: Sequence[Loop] | Loop = (), base: Change | None = None, lift: Mapping[str, Any] | None = None,
    stop: Callable | None = None, sensors: Mapping[str, Sensor] | None = None, trace: bool | str = True,
    resume: Run | None = None, checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[float], object] = False,
) -> Run:  # fmt: skip
    """Simulate a robot under a controller from (q, v) for `duration` seconds, in steps of `dt` seconds.

        >>> run = simulate(robot, q=q, v=v, duration=0.5, dt=0.001)              # let it swing
        >>> run.q.shape
        (501, 6)
        >>> law = aj.control.computed_torque(robot, np.zeros(6), kp=100.0)
        >>> run = simulate(robot, law, q=np.zeros((1000, 6)) + 0.1, duration=0.5, dt=0.001, record=50)    # 1000 runs

    Controller, robot and integrator run in one loop of machine code. All arrays have leading axes that broadcast: many
    starts, gains (`law.replace`), references, robots (`lift`) and surroundings (`force.replace`) run at once. A run of
    a batch is the same, bit for bit, as that run alone. Limits of the robot are not enforced: `control.saturated(law)`
    keeps to its effort limits, and `forces=joint_stops(robot)` are the ends of the ranges of its joints. A run that
    goes wrong becomes NaN (`run.finite`); of a single run, the logger "adjoint" tells when.

    Parameters
    ----------
    controller
        A `Law`, a function `f(t, q, v) -> tau` in NumPy for one instant, or None: no joint forces. It is asked at the
        start of every step, and its joint forces are held until the next. A law with a number `period` is asked every
        `period` seconds.
    q, v
        Where the robot starts: (..., nq) and (..., nv). By default it rests at home.
    duration, dt
        In seconds; the duration is a whole number of steps.
    integrator
        The name of an integrator, such as "semi_implicit" or "rk4", or an `Integrator`.
    record
        Every so many steps the state is kept.
    forces, changes, loops, base
        What acts on the robot: `Force`s on joints and at frames; `Change`s of its numbers in time; loops that stay
        closed; the motion of its base.
    lift
        Numbers of the robot that differ from run to run, {name: (..., *shape of the robot's own)}; names are those of
        `robot.liftable`. The controller goes on computing with the robot as it is.
    stop
        A function `f(t, q, v) -> truth value` in NumPy for one instant: where it is true, a run ends and rests.
    sensors
        What the law is told, {name of a number of the law: `Sensor`}. A law with a number `wrench` and a name `frame`
        feels the wrench that forces exert at that frame, if nothing else is said.
    trace
        True: the controller becomes machine code. False: it is called in Python at every step, with all runs at once;
        it may be any function of t, q and v, such as a learned policy. "if possible": the one or the other.
    resume
        A `Run` to go on from the end of, in place of q and v; the result starts there. Two halves are the same, bit for
        bit, as the whole.
    checkpoint
        A .npz file in which a long run is kept while it goes on, and when it is interrupted. If it exists, the run goes
        on from there.
    progress
        True: a line tells how far the run is. A function is called with the part that is done, from 0 to 1, first with
        what a checkpoint has.
    """
    around = Surroundings(forces, changes, loops, base, lift, stop, sensors)
    setup = set_up(robot, controller, dt, integrator, record, around)
    steps = steps_of(duration, setup)
    start = start_of_run(setup, q, v) if resume is None else _resumed(setup, resume, q, v)
    if not isinstance(trace, bool) and not (isinstance(trace, str) and trace == "if possible"):
        raise ArgumentError(f"simulate: trace must be True, False or 'if possible'; got {trace!r:.60}")
    file = None if checkpoint is None else Checkpoint.at(checkpoint, setup, start, steps)
    with Progress.shown(progress) as news:
        if trace is False:
            return _looked_at(run_in_python(setup, controller, start, steps, news, file))
        try:
            return _looked_at(_run(setup, start, steps, news, file, progress is not False or file is not None))
        except TraceError:
            if trace is True or controller is None:
                raise
            return _looked_at(run_in_python(setup, controller, start, steps, news, file))


def steps_of(duration, setup: Setup) -> int:
    """The number of steps; it must be whole, and a multiple of `record`."""
    duration, record = positive(duration, "simulate: duration"), setup.plan.record
    steps = round(min(duration / setup.dt, _MOST_STEPS + 1))
    longer = ceil(min(duration / setup.dt, _MOST_STEPS) / record - 1e-9) * record * setup.dt  # a duration that would do
    if steps > _MOST_STEPS:
        raise ArgumentError(f"simulate: duration {duration:g} s has too many steps of dt = {setup.dt:g} s")
    if steps < 1 or abs(steps - duration / setup.dt) > 1e-6 + 1e-15 * steps:
        raise ArgumentError(
            f"simulate: duration {duration:g} s is not a whole number of steps of dt = {setup.dt:g} s; "
            f"{longer:.12g} s is"
        )
    if steps % record:
        best = divisor_near(steps, record)
        raise ArgumentError(
            f"simulate: record={record} does not divide the {steps} steps of the run; {best} does, or take "
            f"duration={longer:.12g}"
        )
    return steps


def divisor_near(n: int, wanted: int) -> int:
    """The divisor of n that is nearest to a number."""
    small = [k for k in range(1, isqrt(n) + 1) if n % k == 0]
    return min([*small, *(n // k for k in small)], key=lambda k: abs(k - wanted))


def start_of_run(setup: Setup, q, v) -> Moment:
    """The start of a run."""
    robot = setup.robot
    q = vectors(neutral(robot) if q is None else q, robot.nq, "q", "simulate")
    v = vectors(np.zeros(robot.nv) if v is None else v, robot.nv, "v", "simulate")
    if setup.plan.plant.loops:
        _need_closed(setup, q)
    return Moment.start(setup, q, v)


def _need_closed(setup: Setup, q: np.ndarray) -> None:
    """Raise `ArgumentError` if a loop is open at the start, by more than the run would close unnoticed."""
    plant, robot = setup.plan.plant, setup.robot
    numbers = {name: setup.numbers[f"lift_{name}"] for name in plant.lift}
    error = np.abs(loop_error.bind(robot, plant.loops, lift=plant.lift)(q, **numbers))
    for loop, ends in zip(plant.loops, loop_places(plant.loops), strict=True):
        size = error[..., ends].max(initial=0.0)
        if not size <= _CLOSED:
            raise ArgumentError(
                f"simulate: {loop} of robot '{robot.name}' is open by {size:.3g} at the start (rad, m); "
                "dynamics.close_loops finds a q near by where all loops are closed"
            )


def _resumed(setup: Setup, run, q, v) -> Moment:
    """The end of a run, to go on from."""
    if not isinstance(run, Run):
        raise ArgumentError(f"simulate: resume must be a Run; got {type(run).__name__}. Run.load reads one from a file")
    if q is not None or v is not None:
        raise ArgumentError("simulate: a run that is resumed starts at its end; give either resume or q and v")
    end, fresh, robot = run.end, Moment.start(setup, run.end.q, run.end.v), setup.robot
    if run.robot.fingerprint != robot.fingerprint:
        raise ArgumentError(f"simulate: the run to resume is of another robot, '{run.robot.name}', not '{robot.name}'")
    if run.setup.dt != setup.dt or set(end.ends) != set(fresh.ends) or run.setup.plan.state != setup.plan.state:
        raise ArgumentError(
            "simulate: the run to resume had another dt, integrator or controller: "
            f"dt {run.setup.dt:g} s, it keeps {', '.join(end.ends)} and {len(end.state)} arrays of the controller"
        )
    return end


def _looked_at(run: Run) -> Run:
    """The run; if it is a single one and has become NaN or infinite, the user is told. In a batch, that is common."""
    if not run.batch and not np.isfinite((*run.end.q, *run.end.v)).all():
        bad = ~(np.isfinite(run.q).all(axis=1) & np.isfinite(run.v).all(axis=1))
        tell(
            f"simulate: the run of robot '{run.robot.name}' is not finite from t = {run.t[bad.argmax()]:g} s on; "
            "dt may be too long for its gains, contacts or friction",
            WARNING,
        )
    return run


def _run(setup: Setup, start: Moment, steps: int, news: Progress, file: Checkpoint | None, watched: bool) -> Run:
    """Go through all steps."""
    record, plan = setup.plan.record, setup.plan
    blocks = steps // record
    store = empty_store(setup, start, blocks)
    first, now = (0, start) if file is None else file.restored(store, start)
    done = first
    try:
        news.tell(first / blocks)
        for done, now in advance(setup, now, store, first, watched):  # noqa: B020
            news.tell(done / blocks)
            if file is not None:
                file.keep(store, done, now, last=done == blocks)
    except BaseException:  # also Ctrl-C: nothing that is done is lost
        if file is not None and done > first:
            file.keep(store, done, now, last=True)
        raise
    t = (start.step + np.arange(blocks + 1) * record) * setup.dt
    state = plan.state.build([store.arrays[k] for k in plan.state.names("state")])
    return Run(setup, t, store.arrays["q"], store.arrays["v"], state, now, {})
