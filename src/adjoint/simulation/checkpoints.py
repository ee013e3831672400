"""Checkpoints: a long run is kept in a file while it goes on, and goes on from there after an interruption."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import ArgumentError
from ..files import read_npz
from .advance import Moment, Stored, tracing
from .rollouts import rollout_kernel
from .run_files import run_path, write_arrays
from .setups import Setup

__all__ = ["Checkpoint"]

_SECONDS = 10.0  # between two checkpoints
_SAMPLES = 1 << 18  # of a reference that are looked at together


@dataclass
class Checkpoint:
    """The file of a run that goes on. `mark` is a fingerprint of what the run depends on."""

    path: Path
    setup: Setup
    mark: np.ndarray
    written: float = 0.0  # when the file was written last

    @classmethod
    def at(cls, path, setup: Setup, start: Moment, steps: int) -> Checkpoint:
        """The checkpoint of a run of so many steps."""
        path = run_path(path, "simulate: checkpoint", ".npz")
        with tracing(setup):
            return cls(path, setup, _mark(setup, start, steps), time.monotonic())

    def restored(self, store: Stored, start: Moment) -> tuple[int, Moment]:
        """Fill the store from the file, if there is one; returns the number of rows that are filled, and the moment."""
        if not self.path.exists():
            return 0, start
        found = read_npz(self.path)
        if not np.array_equal(found.get("mark", np.zeros(0)), self.mark):
            raise ArgumentError(
                f"simulate: checkpoint {self.path} is of another run: another robot, start, controller, duration or "
                "step; delete the file, or name another"
            )
        ends = {k[4:]: x for k, x in found.items() if k.startswith("end_")}
        try:
            done = int(found["done"])
            for k, name in enumerate(store.arrays):
                store.rows(name, slice(0, done + 1))[...] = found[f"row_{k}"]
        except (KeyError, ValueError, TypeError):
            raise ArgumentError(f"simulate: checkpoint {self.path} is damaged; delete the file") from None
        q, v, *state = (store.rows(name, done) for name in store.arrays)
        return done, Moment(int(found["step"]), q, v, state, ends)

    def keep(self, store: Stored, done: int, now: Moment, last: bool) -> None:
        """Write the file, if the last time was long ago, or if this is the end of the run."""
        if not last and time.monotonic() - self.written < _SECONDS:
            return
        arrays = {f"row_{k}": store.rows(name, slice(0, done + 1)) for k, name in enumerate(store.arrays)}
        arrays |= {f"end_{k}": x for k, x in now.ends.items()}
        counts = {"done": np.array(done), "step": np.array(now.step), "mark": self.mark}
        write_arrays(self.path, arrays | counts)
        self.written = time.monotonic()


def _followed(setup: Setup, steps: int) -> Iterator[np.ndarray]:
    """The reference of a run, in pieces that memory holds."""
    at_once = max(_SAMPLES // max(int(np.prod(setup.batch(), dtype=int)), 1), 1)
    for first in range(0, steps if setup.plan.reference == "sampled" else 1, at_once):
        yield from setup.reference(np.arange(first, min(first + at_once, steps)) * setup.dt, None).values()


def _mark(setup: Setup, start: Moment, steps: int) -> np.ndarray:
    """A fingerprint (4,) of the mathematics of a run, its numbers, its reference, its start and its length.

    It is the same in every process, so that another one can go on with the run.
    """
    found = hashlib.sha256(repr((rollout_kernel(setup.plan).digest(), setup.plan.record, setup.dt, steps)).encode())
    for x in (start.q, start.v, *start.state, *start.ends.values(), *setup.numbers.values(), *_followed(setup, steps)):
        found.update(repr(x.shape).encode() + np.ascontiguousarray(x).tobytes())
    words = np.frombuffer(found.digest(), np.uint64) >> np.uint64(12)
    return words.astype(float)
