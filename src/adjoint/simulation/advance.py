"""Going through the steps of a run: in one call of its kernel, or in several, with news and checkpoints between."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from ..compile.graph.nested import leaves
from ..control.assembled import Input
from ..errors import ArgumentError, TraceError
from .rollouts import NEVER, RunPlan, rollout_kernel
from .setups import Setup

__all__ = ["Moment", "Stored", "advance", "carried", "cores", "empty_store", "kernel_inputs", "tracing"]

_MOST_SAMPLES = 1 << 24  # the most numbers of a sampled reference that one call of the kernel gets
_MOST_BLOCKS = 1 << 20  # that one call of the kernel goes through
_PAUSE = 0.5  # [s] how long a call of the kernel should take, if someone waits for news


@dataclass(frozen=True, eq=False)
class Moment:
    """Where a run is: q (..., nq), v (..., nv), leaves of the controller's state, and what else the next step needs.

    `step` counts the steps before it; `ends` has the integrator's memory and the times at which runs stopped.
    """

    step: int
    q: np.ndarray
    v: np.ndarray
    state: list[np.ndarray]
    ends: dict[str, np.ndarray]

    @classmethod
    def start(cls, setup: Setup, q: np.ndarray, v: np.ndarray) -> Moment:
        """The start of a run at (q, v)."""
        plan = setup.plan
        memory = dict(zip(plan.memory.names("memory"), leaves(plan.integrator.memory(plan.plant.robot)), strict=True))
        state = [] if setup.law is None else [np.asarray(x, float) for x in leaves(setup.law.state)]
        return cls(0, q, v, state, {k: np.asarray(x, float) for k, x in memory.items()} | {"stopped": np.array(NEVER)})

    def batch(self, setup: Setup) -> tuple[int, ...]:
        """The leading axes of all arrays of the run."""
        parts = zip((self.q, self.v, *self.state), cores(setup.plan).values(), strict=True)
        parts = [*parts, *zip(self.ends.values(), (x.shape for x in carried(setup.plan).values()), strict=True)]
        shapes = [x.shape[: x.ndim - len(core)] for x, core in parts]
        try:
            return np.broadcast_shapes(*shapes, setup.batch())
        except ValueError:
            raise ArgumentError(
                f"simulate: leading axes do not match: q {shapes[0]}, v {shapes[1]}, the controller's state "
                f"{[x for x, _ in zip(shapes[2:], self.state, strict=False)]}, {setup.described_axes()}"
            ) from None


def cores(plan: RunPlan) -> dict[str, tuple[int, ...]]:
    """What a run keeps of every block, {name: shape of one sample}."""
    robot = plan.plant.robot
    return {"q": (robot.nq,), "v": (robot.nv,)} | {k: x.shape for k, x in plan.state.inputs("state").items()}


def carried(plan: RunPlan) -> dict[str, Input]:
    """What else the next step needs."""
    return plan.memory.inputs("memory") | {"stopped": Input()}


@dataclass(frozen=True, eq=False)
class Stored:
    """The arrays of a run, {name: (..., blocks + 1, ...)}: the first row is where it starts."""

    plan: RunPlan
    arrays: dict[str, np.ndarray]

    def rows(self, name: str, which) -> np.ndarray:
        """The rows `which`, one number or a slice, of an array."""
        return self.arrays[name][(..., which, *(slice(None) for _ in cores(self.plan)[name]))]


def empty_store(setup: Setup, start: Moment, blocks: int) -> Stored:
    """Memory for a run of so many blocks, with its first row filled."""
    batch, shapes = start.batch(setup), cores(setup.plan)
    try:
        store = Stored(setup.plan, {name: np.empty((*batch, blocks + 1, *core)) for name, core in shapes.items()})
    except (MemoryError, ValueError):
        runs = prod(batch)
        size = 8e-9 * runs * (blocks + 1) * sum(map(prod, shapes.values()))
        raise ArgumentError(
            f"simulate: there is no memory for {blocks} states of {runs} run{'s' * (runs != 1)}, {size:.3g} GB; "
            "record=k keeps every k-th"
        ) from None
    for name, x in zip(shapes, (start.q, start.v, *start.state), strict=True):
        store.rows(name, slice(0, 1))[...] = np.expand_dims(x, x.ndim - len(shapes[name]))
    return store


def advance(setup: Setup, start: Moment, store: Stored, done: int, watched: bool) -> Iterator[tuple[int, Moment]]:
    """Go on from row `done` of the store to its end; yields the number of rows that are filled, and where the run is.

    If someone waits for news (`watched`), this happens about twice a second, else as seldom as memory allows.
    """
    shapes, batch = carried(setup.plan), start.batch(setup)
    blocks = store.arrays["q"].shape[-2] - 1
    now, at_once = start, 1 if watched else blocks
    while done < blocks:
        n, began = min(blocks - done, at_once, _most_blocks(setup)), time.monotonic()
        ends = {k: np.empty((*batch, *x.shape)) for k, x in shapes.items()}
        rows = [store.rows(name, slice(done + 1, done + 1 + n)) for name in store.arrays]
        with tracing(setup):
            rollout_kernel(setup.plan)(**kernel_inputs(setup, now, n), out=(*rows, *ends.values()))
        done += n
        q, v, *state = (store.rows(name, done) for name in store.arrays)
        now = Moment(now.step + n * setup.plan.record, q, v, state, ends)
        at_once = max(1, min(10 * n, int(n * _PAUSE / max(time.monotonic() - began, 1e-9)))) if watched else blocks
        yield done, now


def kernel_inputs(setup: Setup, now: Moment, blocks: int) -> dict[str, np.ndarray | float]:
    """The inputs of a kernel that goes through so many blocks."""
    record = setup.plan.record
    sampled = setup.plan.reference == "sampled"  # only then times of all steps are needed, of which there may be many
    t = (now.step + np.arange(blocks * record if sampled else 0)) * setup.dt
    moving = zip(cores(setup.plan), (now.q, now.v, *now.state), strict=True)
    loop = {"blocks": np.arange(blocks, dtype=float), "first": float(now.step), "t_0": 0.0, "dt": setup.dt}
    return {**dict(moving), **now.ends, **setup.numbers, **setup.reference(t, record), **loop}


def _most_blocks(setup: Setup) -> int:
    """How many blocks one call of the kernel takes."""
    if setup.plan.law is None or setup.plan.reference != "sampled":
        return _MOST_BLOCKS
    row = setup.plan.record * sum(int(np.prod(shape, dtype=int)) for shape in setup.plan.law.reference.shapes)
    return max(_MOST_SAMPLES // max(row * int(np.prod(setup.batch(), dtype=int)), 1), 1)


class tracing:
    """Within this context, an error of tracing also says how to run a controller in Python."""

    def __init__(self, setup: Setup):
        self.law = setup.law

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind, error, trace) -> None:
        if self.law is not None and isinstance(error, TraceError):
            raise TraceError(
                f"simulate: the controller '{self.law.name}' cannot become machine code: {error}\n"
                "To run it in Python, step by step: simulate(..., trace=False); to do so only if it is needed: "
                "trace='if possible'"
            ) from None
