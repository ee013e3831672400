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
from .integrators import Integrator
from .plants import HeldPlant, Plant

__all__ = ["RunPlan", "instant_kernel", "rollout_kernel"]

NEVER = np.inf  # the time at which a run that goes on has stopped


class RunPlan(NamedTuple):
    """What the machine code of a run depends on.

    The law's reference is "sampled" (a row for every step), "constant", or a function of t. Without a law, the joint
    forces are `held`, an input of the run, or 0.
    """

    plant: Plant
    law: LawPlan | None
    reference: str | Callable | None
    integrator: Integrator
    record: int = 1
    stop: Parts | None = None
    held: bool = False

    @property
    def memory(self) -> Template:
        """What the integrator carries from step to step."""
        return Template(self.integrator.memory(self.plant.robot))

    @property
    def state(self) -> Template:
        """The state of the controller."""
        return Template(None) if self.law is None else self.law.state

    def inputs(self) -> dict[str, Input]:
        """The inputs of all kernels of this plan, but for those of the reference and of the loop."""
        robot = self.plant.robot
        found = {"q": Input((robot.nq,)), "v": Input((robot.nv,))} | self.state.inputs("state")
        if self.law is not None:
            found |= self.law.parts.inputs("law_")
        if self.held:
            found["tau"] = Input((robot.nv,))
        return found | self.plant.inputs()

    def reference_inputs(self, rows: int | None) -> dict[str, Input]:
        """The inputs of the reference; if it is sampled, they are sequences, so many `rows` of it in each."""
        if self.law is None or callable(self.reference):
            return {}
        whole = self.law.reference.inputs("reference")
        if self.reference == "constant" or rows is None:
            return whole
        return {k: Input((rows * int(np.prod(x.shape, dtype=int)),), sequence=True) for k, x in whole.items()}

    def control(self, given: Mapping[str, Any], state, t, q, v, reference) -> tuple:
        """The joint forces and the next state of the controller."""
        if self.law is None:
            return given["tau"] if self.held else np.zeros(self.plant.robot.nv), state
        if callable(self.reference):
            reference = evaluated(self.law.robot, self.reference, t)
        return self.law.control(self.law.parts.namespace(given, "law_"), state, t, q, v, reference)


class _Moving(NamedTuple):
    """What a run carries from step to step."""

    q: Any
    v: Any
    state: Any
    memory: Any
    stopped: Any  # the time at which it stopped


def stepper(plan: RunPlan, given: Mapping[str, Any]) -> Callable:
    """The function (number of the step, `_Moving`, reference) -> `_Moving` of one step."""
    robot, dt = plan.plant.robot, given["dt"]

    def step(k, now: _Moving, reference) -> _Moving:
        t = given["t_0"] + k * dt
        tau, state = plan.control(given, now.state, t, now.q, now.v, reference)
        held = HeldPlant(plan.plant, given, tau)
        q, v, memory = plan.integrator.step(robot, held, t, now.q, now.v, dt, now.memory)
        if plan.stop is None:
            return _Moving(q, v, state, memory, now.stopped)
        ends = plan.stop.function(robot, plan.stop.namespace(given, "stop_"), t, now.q, now.v)
        stopped = np.where(ends & (now.stopped > t), t, now.stopped)
        ended = stopped <= t
        new = _Moving(q, v, state, memory, stopped)
        return map_leaves(lambda old, new: np.where(ended, old, new), now._replace(stopped=stopped), new)

    return step


@lru_cache(maxsize=64)
def rollout_kernel(plan: RunPlan) -> Kernel:
    """The kernel that goes on from (q, v, state, memory, stopped) for so many steps as `blocks` counts, times `record`.

    Blocks are numbered 0, 1, ...; `first` is the number of the first step. It gives the q, v and state after every
    block, and at the end the memory and `stopped`.
    """
    size = plan.record
    inputs = plan.inputs() | {"blocks": Input(sequence=True), "first": Input(), "t_0": Input(), "dt": Input()}
    inputs |= plan.reference_inputs(size) | plan.memory.inputs("memory") | {"stopped": Input()}
    if plan.stop is not None:
        inputs |= plan.stop.inputs("stop_")
    state_names, memory_names = plan.state.names("state"), plan.memory.names("memory")
    made = record_class("Rollout", ("q", "v", *state_names, *memory_names, "stopped"))

    def body(given: dict[str, Any]):
        step = stepper(plan, given)

        def block(now: _Moving, i):
            start, rows = given["first"] + i * size, _reference_rows(plan, given, i)

            def go_on(carry, row):
                k, now = carry
                return (k + 1.0, step(start + k, now, _reference(plan, given, row))), None

            if size == 1:
                (_, now), _ = go_on((0.0, now), [x[0] for x in rows])
            else:
                (_, now), _ = scan(go_on, (0.0, now), rows or None, None if rows else size)
            return now, (now.q, now.v, leaves(now.state))

        state, memory = plan.state.taken(given, "state"), plan.memory.taken(given, "memory")
        start = _Moving(given["q"], given["v"], state, memory, given["stopped"])
        end, (q, v, states) = scan(block, start, given["blocks"])
        return made(q, v, *states, *leaves(end.memory), end.stopped)

    return assembled_kernel("simulate", inputs, body, f"A run of robot '{plan.plant.robot.name}'.")


def _reference_rows(plan: RunPlan, given: Mapping[str, Any], i) -> list:
    """The rows (record, ...) of the leaves of a sampled reference for block i; nothing for other references."""
    if plan.law is None or plan.reference != "sampled":
        return []
    names, shapes = plan.law.reference.names("reference"), plan.law.reference.shapes
    return [row_at(given[k], i).reshape(plan.record, *shape) for k, shape in zip(names, shapes, strict=True)]


def _reference(plan: RunPlan, given: Mapping[str, Any], row):
    """The reference of one step."""
    if plan.law is None or callable(plan.reference):
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
        reference = (
            None if plan.law is None or callable(plan.reference) else plan.law.reference.taken(given, "reference")
        )
        tau, _ = plan.control(given, plan.state.taken(given, "state"), t, q, v, reference)
        return Instant(tau, plan.plant.accelerations(given)(t, q, v, tau))

    return assembled_kernel("instant", inputs, body, f"One instant of a run of robot '{plan.plant.robot.name}'.")
