"""Controllers that are no machine code: a learned policy, a device, a function that cannot be traced."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..compile.front.arguments import as_input
from ..control.laws import Law
from ..errors import ArgumentError
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
    if isinstance(controller, Law) and (setup.law.state is not None or setup.plan.sensors):  # type: ignore[union-attr]
        what = "is told what a sensor reads" if setup.plan.sensors else "has a state, or a period"
        raise ArgumentError(f"simulate: law '{controller.name}' {what}; such laws are traced: leave out trace=False")
    record, robot = setup.plan.record, setup.robot
    held = replace(setup, plan=setup.plan._replace(law=None, reference=None, held=True, sensors=(), record=1), law=None)
    held = replace(held, numbers={k: x for k, x in setup.numbers.items() if not k.startswith(("law_", "sensor"))})
    start = replace(start, state=[])
    batch, blocks = start.batch(held), steps // record
    kept, tau = empty_store(held, start, blocks), np.empty((*start.batch(held), blocks + 1, robot.nv))
    now = start
    for k in range(steps + 1):
        t = now.step * setup.dt
        force = _asked(controller, setup, t, now, (*batch, robot.nv))
        if k % record == 0:
            kept.arrays["q"][..., k // record, :], kept.arrays["v"][..., k // record, :] = now.q, now.v
            tau[..., k // record, :] = force
            news.tell(k / steps)
        if k < steps:
            now = _one_step(replace(held, numbers={**held.numbers, "tau": force}), now)
    times = (start.step + np.arange(blocks + 1) * record) * setup.dt
    held = replace(held, numbers={**held.numbers, "tau": tau[..., -1, :]})
    return Run(held, times, kept.arrays["q"], kept.arrays["v"], None, now, {"tau": tau})


def _asked(controller, setup: Setup, t: float, now: Moment, shape: tuple[int, ...]) -> np.ndarray:
    """The joint forces that a controller gives in Python."""
    if controller is None:
        return np.zeros(shape)
    q, v = np.broadcast_to(now.q, (*shape[:-1], now.q.shape[-1])), np.broadcast_to(now.v, shape)
    found = controller(setup.robot, None, t, q, v).tau if isinstance(controller, Law) else controller(t, q, v)
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
