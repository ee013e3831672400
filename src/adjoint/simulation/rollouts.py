"""The kernel of a run: controller, plant and integrator in one loop, which keeps every k-th state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel, row_at, scan
from ..compile.front.specialisation import record_class
from ..compile.graph.nested import leaves, map_leaves
from ..control.assembled import Input, Parts, Template, assembled_kernel
from ..control.laws import LawPlan
from ..control.references import evaluated
from ..dynamics.energy import kinetic_energy, potential_energy
from ..errors import ArgumentError
from .integrators import Integrator
from .plants import HeldPlant, Plant

__all__ = [
    "Instant",
    "Moving",
    "RunPlan",
    "energy_kernel",
    "instant_kernel",
    "mover",
    "rollout_kernel",
    "run_inputs",
    "start_of",
    "stepper",
    "through_block",
]

NEVER = np.inf  # the time at which a run that goes on has stopped


class RunPlan(NamedTuple):
    """What the machine code of a run depends on.

    The law's reference is "sampled" (a row for every step), "constant", or a function of t. Without a law, the joint
    forces are `held`, an input of the run, or 0.
    """

    plant: Plant
    law: LawPlan | None
    reference: str | Parts | None
    integrator: Integrator
    record: int = 1
    stop: Parts | None = None
    held: bool = False
    sensors: tuple[tuple[str, Parts], ...] = ()  # (the number of the law that it replaces, the sensor)

    @property
    def memory(self) -> Template:
        """What the integrator carries from step to step."""
        return Template(self.integrator.memory(self.plant.robot))

    @property
    def state(self) -> Template:
        """The state of the controller."""
        return Template(None) if self.law is None else self.law.state

    @property
    def has_changed(self) -> bool:
        """Whether something has changed that a function of this plan reads."""
        laws = [] if self.law is None else [self.law.parts]
        more = [x for x in (self.reference, self.plant.base) if isinstance(x, Parts)] + [x for _, x in self.sensors]
        forces = [x.parts for x in self.plant.forces]
        return any(x.has_changed for x in (*laws, *more, *forces, *self.plant.changes))

    def inputs(self) -> dict[str, Input]:
        """The inputs of all kernels of this plan, but for those of the reference and of the loop."""
        robot = self.plant.robot
        found = {"q": Input((robot.nq,)), "v": Input((robot.nv,))} | self.state.inputs("state")
        if self.law is not None:
            found |= self.law.parts.inputs("law_")
        if self.held:
            found["tau"] = Input((robot.nv,))
        for k, (name, sensor) in enumerate(self.sensors):
            found |= sensor.inputs(f"sensor{k}_")
            del found[f"law_{name}"]
        return found | self.plant.inputs()

    def reference_inputs(self, rows: int | None) -> dict[str, Input]:
        """The inputs of the reference; if it is sampled, they are sequences, so many `rows` of it in each."""
        if self.law is None or isinstance(self.reference, Parts):
            return {}
        whole = self.law.reference.inputs("reference")
        if self.reference == "constant" or rows is None:
            return whole
        return {k: Input((rows * int(np.prod(x.shape, dtype=int)),), sequence=True) for k, x in whole.items()}

    def control(self, given: Mapping[str, Any], state, t, q, v, reference) -> tuple:
        """The joint forces and the next state of the controller."""
        if self.law is None:
            return given["tau"] if self.held else np.zeros(self.plant.robot.nv), state
        reference = self.followed(t, reference)
        if self.sensors:
            given = {**given, **self._readings(given, t, q, v)}
        return self.law.control(self.law.parts.namespace(given, "law_"), state, t, q, v, reference)

    def followed(self, t, reference):
        """What the law follows at one instant: what is given, or what the reference as a function of t is then."""
        if self.law is not None and isinstance(self.reference, Parts):
            return evaluated(self.law.robot, self.reference.function, t)
        return reference

    def _readings(self, given: Mapping[str, Any], t, q, v) -> dict[str, Any]:
        """What the sensors read at one instant, as numbers of the law."""
        robot, found = self.plant.robot_at(given, t), {}
        wrenches, cores = self.plant.acting(given, robot, t, q, v).wrenches, dict(self.law.parts.cores)  # type: ignore
        for k, (name, sensor) in enumerate(self.sensors):
            x = sensor.function(robot, sensor.namespace(given, f"sensor{k}_"), t, q, v, wrenches)
            if np.shape(x) != cores[name]:
                raise ArgumentError(
                    f"simulate: the sensor for '{name}' reads shape {np.shape(x)}; it needs {cores[name]}"
                )
            found[f"law_{name}"] = x
        return found


class Moving(NamedTuple):
    """What a run carries from step to step."""

    q: Any
    v: Any
    state: Any
    memory: Any
    stopped: Any  # the time at which it stopped


def mover(plan: RunPlan, given: Mapping[str, Any]) -> Callable:
    """The function (t, τ, q, v, memory, dt) -> (q, v, memory) of one step under held joint forces τ."""

    def move(t, tau, q, v, memory, dt) -> tuple:
        held = HeldPlant(plan.plant, given, tau)
        return plan.integrator.step(held.robot(t), held, t, q, v, dt, memory)

    return move


def stepper(plan: RunPlan, given: Mapping[str, Any]) -> Callable:
    """The function (number of the step, `Moving`, reference) -> `Moving` of one step."""
    dt, move = given["dt"], mover(plan, given)

    def step(k, now: Moving, reference) -> Moving:
        t = given["t_0"] + k * dt
        tau, state = plan.control(given, now.state, t, now.q, now.v, reference)
        q, v, memory = move(t, tau, now.q, now.v, now.memory, dt)
        if plan.stop is None:
            return Moving(q, v, state, memory, now.stopped)
        ends = plan.stop.function(t, now.q, now.v)
        stopped = np.where(ends & (now.stopped > t), t, now.stopped)
        ended = stopped <= t
        new = Moving(q, v, state, memory, stopped)
        return map_leaves(lambda old, new: np.where(ended, old, new), now._replace(stopped=stopped), new)

    return step


@lru_cache(maxsize=64)
def rollout_kernel(plan: RunPlan) -> Kernel:
    """The kernel that goes on from (q, v, state, memory, stopped) for so many steps as `blocks` counts, times `record`.

    Blocks are numbered 0, 1, ...; `first` is the number of the first step. It gives the q, v and state after every
    block, and at the end the memory and `stopped`.
    """
    state_names, memory_names = plan.state.names("state"), plan.memory.names("memory")
    made = record_class("Rollout", ("q", "v", *state_names, *memory_names, "stopped"))

    def body(given: dict[str, Any]):
        step = stepper(plan, given)

        def block(now: Moving, i):
            now = through_block(plan, given, i, now, step)
            return now, (now.q, now.v, leaves(now.state))

        end, (q, v, states) = scan(block, start_of(plan, given), given["blocks"])
        return made(q, v, *states, *leaves(end.memory), end.stopped)

    return assembled_kernel("simulate", run_inputs(plan), body, f"A run of robot '{plan.plant.robot.name}'.")


def run_inputs(plan: RunPlan) -> dict[str, Input]:
    """The inputs of a kernel that goes through blocks of a run."""
    found = plan.inputs() | {"blocks": Input(sequence=True), "first": Input(), "t_0": Input(), "dt": Input()}
    return found | plan.reference_inputs(plan.record) | plan.memory.inputs("memory") | {"stopped": Input()}


def start_of(plan: RunPlan, given: Mapping[str, Any]) -> Moving:
    """Where a run starts, by the inputs of its kernel."""
    state, memory = plan.state.taken(given, "state"), plan.memory.taken(given, "memory")
    return Moving(given["q"], given["v"], state, memory, given["stopped"])


def through_block(plan: RunPlan, given: Mapping[str, Any], i, now, step: Callable):
    """Go through the steps of block i: `step(number of the step, now, reference) -> now`."""
    start, rows, size = given["first"] + i * plan.record, _reference_rows(plan, given, i), plan.record

    def go_on(carry, row):
        k, now = carry
        return (k + 1.0, step(start + k, now, _reference(plan, given, row))), None

    if size == 1:
        return go_on((0.0, now), [x[0] for x in rows])[0][1]
    return scan(go_on, (0.0, now), rows or None, None if rows else size)[0][1]


def _reference_rows(plan: RunPlan, given: Mapping[str, Any], i) -> list:
    """The rows (record, ...) of the leaves of a sampled reference for block i; nothing for other references."""
    if plan.law is None or plan.reference != "sampled":
        return []
    names, shapes = plan.law.reference.names("reference"), plan.law.reference.shapes
    return [row_at(given[k], i).reshape(plan.record, *shape) for k, shape in zip(names, shapes, strict=True)]


def _reference(plan: RunPlan, given: Mapping[str, Any], row):
    """The reference of one step."""
    if plan.law is None or isinstance(plan.reference, Parts):
        return None
    if plan.reference == "sampled":
        return plan.law.reference.build(row)
    return plan.law.reference.taken(given, "reference")


class Instant(NamedTuple):
    """The joint forces tau and the accelerations a (nv,) at one instant."""

    tau: Any
    a: Any


@lru_cache(maxsize=64)
def instant_kernel(plan: RunPlan) -> Kernel:
    """The kernel of one instant of a run: the joint forces of its controller, and the accelerations of its plant."""
    inputs = plan.inputs() | {"t": Input()} | plan.reference_inputs(None)

    def body(given: dict[str, Any]):
        t, q, v = given["t"], given["q"], given["v"]
        constant = plan.law is not None and not isinstance(plan.reference, Parts)
        reference = plan.law.reference.taken(given, "reference") if constant else None  # type: ignore[union-attr]
        tau, _ = plan.control(given, plan.state.taken(given, "state"), t, q, v, reference)
        return Instant(tau, plan.plant.accelerations(given)(t, q, v, tau))

    return assembled_kernel("instant", inputs, body, f"One instant of a run of robot '{plan.plant.robot.name}'.")


class _Energies(NamedTuple):
    """The kinetic and the potential energy at one instant."""

    kinetic: Any
    potential: Any


@lru_cache(maxsize=64)
def energy_kernel(plant: Plant) -> Kernel:
    """The kernel of the kinetic and potential energy of a plant at one instant."""
    robot = plant.robot
    inputs = {"q": Input((robot.nq,)), "v": Input((robot.nv,)), "t": Input()} | plant.inputs()

    def body(given: dict[str, Any]):
        now = plant.robot_at(given, given["t"])
        return _Energies(kinetic_energy(now, given["q"], given["v"]), potential_energy(now, given["q"]))

    return assembled_kernel("energies", inputs, body, f"Energies of robot '{robot.name}' in a run.")
