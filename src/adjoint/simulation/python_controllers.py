"""Controllers that are no machine code: a learned policy, a device, a function that cannot be traced."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..compile.front.arguments import as_input
from ..compile.graph.nested import leaves
from ..control.laws import Law
from ..errors import ArgumentError, TraceError
from .advance import Moment, Stored, advance, empty_store
from .checkpoints import Checkpoint
from .progress import Progress
from .runs import Run
from .setups import Setup

__all__ = ["run_in_python"]


def run_in_python(setup: Setup, controller, start: Moment, steps: int, news: Progress, file: Checkpoint | None) -> Run:
    """A run whose controller is asked in Python before every step, with all runs of the batch at once."""
    if file is not None:
        raise ArgumentError("simulate: the state of a controller in Python is not known, so there are no checkpoints")
    if isinstance(controller, Law) and setup.plan.sensors:
        raise ArgumentError(
            f"simulate: law '{controller.name}' is told what a sensor reads, so it is traced; leave out trace=False"
        )
    record, held = setup.plan.record, _held(setup)
    whole = setup if isinstance(controller, Law) else held  # a law is data, so the run knows its controller
    now = start if whole is setup else replace(start, state=[])
    kept = empty_store(whole, now, steps // record)
    shape = (*now.batch(whole), setup.robot.nv)
    tau = np.empty((*shape[:-1], steps // record + 1, setup.robot.nv))
    for k in range(steps + 1):
        force, state = _asked(controller, setup, now, shape)
        if k % record == 0:
            for name, x in zip(kept.arrays, (now.q, now.v, *now.state), strict=True):
                kept.rows(name, k // record)[...] = x
            tau[..., k // record, :] = force
            news.tell(k / steps)
        if k < steps:
            moved = _one_step(replace(held, numbers={**held.numbers, "tau": force}), replace(now, state=[]))
            now = replace(moved, state=state)
    t = (start.step + np.arange(steps // record + 1) * record) * setup.dt
    if whole is held:
        whole = replace(held, numbers={**held.numbers, "tau": tau[..., -1, :]})
    states = setup.plan.state.build([kept.arrays[name] for name in kept.arrays if name not in ("q", "v")])
    return Run(whole, t, kept.arrays["q"], kept.arrays["v"], states, now, {"tau": tau})


def _held(setup: Setup) -> Setup:
    """The setup without a controller: its joint forces are given, and held for a step."""
    plan = setup.plan._replace(law=None, reference=None, held=True, sensors=(), record=1)
    numbers = {k: x for k, x in setup.numbers.items() if not k.startswith(("law_", "sensor"))}
    return replace(setup, plan=plan, law=None, numbers=numbers)


def _asked(controller, setup: Setup, now: Moment, shape: tuple[int, ...]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The joint forces that a controller gives in Python, and the leaves of its next state."""
    if controller is None:
        return np.zeros(shape), []
    t, q = now.step * setup.dt, np.broadcast_to(now.q, (*shape[:-1], now.q.shape[-1]))
    v = np.broadcast_to(now.v, shape)
    if not isinstance(controller, Law):
        return _as_force(controller(t, q, v), shape), []
    try:
        found = setup.law(setup.robot, setup.plan.state.build(now.state), t, q, v)  # type: ignore[misc]
    except TraceError as error:
        raise TraceError(
            f"simulate: {error}\nThe function of a law is traced also with trace=False; what cannot be traced is given "
            "to simulate as a plain function f(t, q, v) -> tau"
        ) from None
    return _as_force(found.tau, shape), leaves(found.state)


def _as_force(found, shape: tuple[int, ...]) -> np.ndarray:
    """What a controller gives as joint forces of this shape."""
    if found is None:
        raise ArgumentError(f"simulate: the controller must return tau of shape {shape}; got None")
    force = np.asarray(as_input(found, "tau of the controller", "simulate"), float)
    try:
        return np.broadcast_to(force, shape) if force.shape[-1:] == shape[-1:] else _refused(force, shape)
    except ValueError:
        return _refused(force, shape)


def _refused(force: np.ndarray, shape: tuple[int, ...]):
    raise ArgumentError(f"simulate: the controller gave tau of shape {force.shape}; it must be {shape}")


def _one_step(setup: Setup, now: Moment) -> Moment:
    """The moment after one step."""
    store: Stored = empty_store(setup, now, 1)
    return next(after for _, after in advance(setup, now, store, 0, watched=False))
