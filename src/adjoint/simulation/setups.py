"""`Setup`: a robot with its controller and its surroundings, checked and ready to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..compile.front.arguments import as_input
from ..compile.graph.nested import leaves
from ..control.assembled import Input, Parts
from ..control.channels import is_held, sampled
from ..control.laws import NO_REFERENCE, Law, as_law
from ..control.references import as_targets, is_function, is_sampled
from ..dynamics.closed_loops import Loop
from ..errors import ArgumentError
from ..model.input_checks import count, positive
from ..model.needs import need_robot
from ..model.robot import Robot
from .forces import Change, Force
from .integrators import Integrator, integrator_named
from .plants import Plant
from .rollouts import RunPlan
from .sensors import Sensor, wrench_sensor

__all__ = ["Setup", "Surroundings", "set_up"]


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What acts on a simulated robot besides its controller, and what varies in it; see `simulate`."""

    forces: Sequence[Force] | Force = ()
    changes: Sequence[Change] | Change = ()
    loops: Sequence[Loop] | Loop = ()
    base: Change | None = None
    lift: Mapping[str, Any] | None = None
    stop: Callable | None = None
    sensors: Mapping[str, Sensor] | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any], caller: str, *but: str) -> Surroundings:
        """The surroundings that keywords give; some of them may not be for this caller."""
        known = [f.name for f in fields(cls) if f.name not in but]
        for name in given:
            if name not in known:
                raise ArgumentError(f"{caller}: there is no argument '{name}'; surroundings are {', '.join(known)}")
        return cls(**given)


@dataclass(frozen=True, eq=False)
class Setup:
    """A robot, its controller and its surroundings: `plan` is what machine code depends on, `numbers` its inputs."""

    plan: RunPlan
    law: Law | None
    numbers: Mapping[str, np.ndarray]
    dt: float

    @property
    def robot(self) -> Robot:
        """The robot that moves."""
        return self.plan.plant.robot

    def inputs(self) -> dict[str, Input]:
        """The inputs of the kernels that `numbers` are values of."""
        return {k: x for k, x in self.plan.inputs().items() if k in self.numbers}

    def recording(self, every: int) -> Setup:
        """The same, with the state kept every so many steps."""
        return replace(self, plan=self.plan._replace(record=every))

    def batch(self) -> tuple[int, ...]:
        """The leading axes of all numbers and of the reference."""
        try:
            return np.broadcast_shapes(*self._leading_axes().values())
        except ValueError:
            raise ArgumentError(f"simulate: leading axes do not match: {self.described_axes()}") from None

    def _leading_axes(self) -> dict[str, tuple[int, ...]]:
        """The leading axes of each number and of each part of the reference, by their names."""
        numbers, own = self.numbers, {} if self.law is None else self.law.numbers
        names = {f"law_{name}": name for name in own}
        found = {names.get(k, k): numbers[k].shape[: numbers[k].ndim - len(x.shape)] for k, x in self.inputs().items()}
        if self.law is None or self.plan.law is None or is_function(self.law.reference):
            return found
        more = 1 if is_sampled(self.law.reference) else 0
        targets, form = leaves(self.targets(np.zeros(1) if more else None)), self.plan.law.reference
        for name, core, x in zip(form.names("reference"), form.shapes, targets, strict=True):
            found[name] = np.shape(x)[: np.ndim(x) - len(core) - more]
        return found

    def described_axes(self) -> str:
        """The leading axes of numbers and reference in words, for messages; gains of joints are no batch of laws."""
        known, nv = {k: x for k, x in self._leading_axes().items() if x}, self.robot.nv
        words = ", ".join(f"{k} {x}" for k, x in known.items()) or "parameters and reference ()"
        cores = {} if self.law is None else dict(self.law.parts.cores)
        for name in [k for k, x in known.items() if x[-1] == nv and cores.get(k) == ()][:1]:
            words += (
                f". The number {name} is one for all joints, so {known[name]} are several laws; for one of each joint, "
                f"make the law with {name} of shape ({nv},)"
            )
        return words

    def targets(self, t):
        """The law's reference at times t (N,), with arrays (..., N, ...), or (...) if it is constant."""
        if self.law is None or self.plan.law is None:
            return None
        return as_targets(self.plan.law.robot, self.law.follows, self.law.reference, t)

    def reference(self, t: np.ndarray, rows: int | None) -> dict[str, np.ndarray]:
        """The inputs of the reference at times t (N,): rows of so many steps each; None for one row a time."""
        if self.law is None or self.plan.law is None or is_function(self.law.reference):
            return {}
        names, shapes = self.plan.law.reference.names("reference"), self.plan.law.reference.shapes
        found = {}
        for name, core, x in zip(names, shapes, leaves(self.targets(t)), strict=True):
            if self.plan.reference == "sampled" and rows is not None:
                lead = x.shape[: x.ndim - len(core) - 1]
                x = x.reshape(*lead, len(t) // rows, rows * int(np.prod(core, dtype=int)))
            elif self.plan.reference == "constant" and rows is None and x.ndim > len(core):
                x = with_time_axis(x, core)
            found[name] = x
        return found


def with_time_axis(x: np.ndarray, core: tuple[int, ...]) -> np.ndarray:
    """Numbers (..., *core) of runs as (..., 1, *core), so that they broadcast against values at several times."""
    lead = x.shape[: x.ndim - len(core)]
    return x.reshape(*lead, 1, *core) if lead else x


def set_up(robot: Robot, controller, dt, integrator: str | Integrator, record: int, around: Surroundings) -> Setup:
    """Check a robot, its controller and its surroundings, and put them together."""
    need_robot(robot, "simulate")
    dt, record = positive(dt, "simulate: dt"), count(record, "simulate: record")
    law = None if controller is None else _every_period(as_law(controller, "simulate"), robot, dt)
    if record == 0:
        raise ArgumentError("simulate: record must be 1 or more: every so many steps, the state is kept")
    forces = _all(around.forces, Force, "forces")
    changes = _all(around.changes, Change, "changes")
    loops = _all(around.loops, Loop, "loops")
    lifted = _lifted(robot, around.lift)
    if around.stop is not None and not callable(around.stop):
        raise ArgumentError(f"simulate: stop must be a function f(t, q, v); got {type(around.stop).__name__}")
    stop = None if around.stop is None else Parts(_Stop(around.stop))
    if around.base is not None and not isinstance(around.base, Change):
        raise ArgumentError(f"simulate: base must be a Change, as of moving_base; got {type(around.base).__name__}")
    base = around.base
    for acting in forces:
        if acting.frame is not None:
            robot.frame(acting.frame)  # raises an error that lists the frames
    plant = Plant(
        robot, tuple(lifted), tuple(x.plan for x in forces), tuple(x.parts.now() for x in changes), loops,
        None if base is None else base.parts.now(),
    )  # fmt: skip
    sensors = _sensors(robot, law, around.sensors)
    numbers = {f"lift_{k}": x for k, x in lifted.items()}
    groups = {"force": forces, "change": changes, "sensor": tuple(sensors.values())}
    named = [(f"{kind}{k}", one) for kind, group in groups.items() for k, one in enumerate(group)]
    for prefix, one in [*named, *([] if base is None else [("base", base)])]:
        numbers |= {f"{prefix}_{name}": x for name, x in one.numbers.items()}
    numbers |= {} if law is None else {f"law_{name}": x for name, x in law.numbers.items() if name not in sensors}
    plan = RunPlan(
        plant, None if law is None else law.plan(robot), _kind_of_reference(law),
        integrator_named(integrator, "simulate"), record, stop,
        sensors=tuple((name, one.parts.now()) for name, one in sensors.items()),
    )  # fmt: skip
    return Setup(plan, law, numbers, dt)


def _every_period(law: Law, robot: Robot, dt: float) -> Law:
    """The law, asked every `period` seconds if it has a number of that name, and else at every step."""
    period = law.numbers.get("period")
    if period is None or is_held(law) or np.all(np.abs(period / dt - 1) < 1e-9):
        return law
    steps = np.round(period / dt)
    if np.any(steps < 1) or np.any(np.abs(steps * dt / period - 1) > 1e-9):
        raise ArgumentError(
            f"simulate: law '{law.name}' has the period {np.ravel(period)[0]:g} s, which is not a whole number of "
            f"steps of dt = {dt:g} s"
        )
    return sampled(law, robot=robot)


def _kind_of_reference(law: Law | None) -> str | Parts | None:
    if law is None:
        return None
    if is_function(law.reference):
        return Parts(law.reference)
    if law.reference is None and law.follows is not None:
        raise ArgumentError(f"simulate: {law.name}: {NO_REFERENCE}")
    return "sampled" if is_sampled(law.reference) else "constant"


def _sensors(robot: Robot, law: Law | None, given: Mapping[str, Sensor] | None) -> dict[str, Sensor]:
    """The sensors, {number of the law that a reading replaces: sensor}.

    A law with the number `wrench` and the option `frame` feels the wrench at that frame, if nothing else is said. A law
    with the option `reads` must be given a sensor for the number of this name.
    """
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise ArgumentError(f"simulate: sensors must be a dict; got {type(given).__name__}")
    found = dict(zip(given, _all(tuple(given.values()), Sensor, "sensors"), strict=True))
    numbers = {} if law is None else law.numbers
    for name in found:
        if name not in numbers:
            whose = "there is no law" if law is None else f"law '{law.name}' has {', '.join(numbers) or 'no numbers'}"
            raise ArgumentError(f"simulate: sensors has '{name}', which is no number of the law; {whose}")
    options = {} if law is None else dict(law.parts.options)
    frame, reads = options.get("frame"), options.get("reads")
    if reads is not None and law is not None and reads not in found:
        raise ArgumentError(
            f"simulate: law '{law.name}' reads '{reads}', which would never change: give sensors={{'{reads}': sensor}}"
        )
    if "wrench" in numbers and "wrench" not in found and isinstance(frame, str):
        found["wrench"] = wrench_sensor(frame)
    return found


def _all(given, kind: type, name: str) -> tuple:
    """The things of one kind that are given: several, one, or none."""
    found = (given,) if isinstance(given, kind) else tuple(given) if isinstance(given, Sequence) else (given,)
    for x in (given,) if isinstance(given, Integrator) else found:
        if not isinstance(x, kind):
            places = {Force: "forces", Change: "changes", Loop: "loops", Integrator: "integrator"}
            hint = f", which goes to {places[type(x)]}=" if type(x) in places else ""
            raise ArgumentError(f"simulate: {name} takes {kind.__name__} objects; got {type(x).__name__}{hint}")
    return found


def _lifted(robot: Robot, lift: Mapping[str, Any] | None) -> dict[str, np.ndarray]:
    """The numbers of the robot that vary from run to run, {name: (..., *its own shape)}."""
    if lift is None:
        return {}
    if not isinstance(lift, Mapping):
        raise ArgumentError(f"simulate: lift must be a dict of arrays; got {type(lift).__name__}")
    own, found = robot.liftable, {}
    for name, value in lift.items():
        if name not in own:
            raise ArgumentError(f"simulate: lift has no '{name}'; robot '{robot.name}' has {', '.join(own)}")
        x, core = np.asarray(as_input(value, f"lift[{name!r}]", "simulate"), float), own[name].shape
        if x.shape[x.ndim - len(core) :] != core:
            raise ArgumentError(
                f"simulate: lift[{name!r}] has shape {x.shape}; it must be (..., {', '.join(map(str, core))})"
            )
        found[name] = x
    return found


@dataclass(frozen=True)
class _Stop:
    """The function that ends a run, as the plan has it."""

    function: Callable

    def __call__(self, t, q, v):
        found = self.function(t, q, v)
        try:
            return found & (t < np.inf) if np.shape(found) == () else _needs_one(found)
        except TypeError:
            return _needs_one(found)


def _needs_one(found):
    what = f"shape {np.shape(found)}" if np.shape(found) else f"{found!r:.60}"
    raise ArgumentError(f"simulate: stop(t, q, v) must give one truth value, such as q[0] > 1; it gives {what}")
