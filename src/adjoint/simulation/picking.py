"""Some runs of a batch, with their numbers, references and states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..compile.graph.nested import leaves
from ..control.assembled import Numbers
from ..control.laws import Law
from ..control.references import Rows, is_function, is_sampled
from ..errors import ArgumentError
from .advance import Moment, carried, cores
from .setups import Setup

__all__ = ["Picked"]


class Picked:
    """The runs number `index`, by NumPy's rules, of a batch of this shape."""

    def __init__(self, batch: tuple[int, ...], index):
        if not batch:
            raise ArgumentError("this is one run, not a batch; run.q[...] picks from its arrays")
        self.batch = batch
        try:
            self._places = np.unravel_index(np.arange(np.prod(batch, dtype=int)).reshape(batch)[index], batch)
        except IndexError as error:
            raise ArgumentError(f"Run: {error}; the batch is {batch}") from None

    def array(self, x: np.ndarray, core: int) -> np.ndarray:
        """What an array of the runs, with so many axes of one run, has for those that are picked."""
        lead = x.ndim - core
        return x[self._of_shape(x.shape[:lead])] if lead else x

    def _of_shape(self, lead: tuple[int, ...]) -> tuple:
        """The places in an array whose leading axes broadcast to the batch."""
        own = zip(lead, self._places[len(self.batch) - len(lead) :], strict=True)
        return tuple(np.zeros_like(k) if size == 1 else k for size, k in own)

    def named(self, arrays: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
        """The same for arrays by their names, with the shapes of one run."""
        return {k: self.array(x, len(shapes[k])) for k, x in arrays.items()}

    def moment(self, setup: Setup, end: Moment) -> Moment:
        """The end of the runs."""
        q, v, *state = (
            self.array(x, len(core))
            for x, core in zip((end.q, end.v, *end.state), cores(setup.plan).values(), strict=True)
        )
        return Moment(end.step, q, v, state, self.named(end.ends, {k: x.shape for k, x in carried(setup.plan).items()}))

    def setup(self, setup: Setup) -> Setup:
        """The setup of the runs."""
        numbers = self.named(setup.numbers, {k: x.shape for k, x in setup.inputs().items()})
        return replace(setup, numbers=numbers, law=None if setup.law is None else self._law(setup, setup.law))

    def _law(self, setup: Setup, law: Law) -> Law:
        one = law.one_state
        state = [self.array(x, len(core)) for x, core in zip(leaves(law.state), one.shapes, strict=True)]
        return replace(
            law, numbers=Numbers(self.named(law.numbers, dict(law.parts.cores))), state=one.build(state), form=one,
            reference=self._reference(setup, law.reference),
        )  # fmt: skip

    def _reference(self, setup: Setup, own) -> Any:
        if own is None or is_function(own):
            return own
        plan = setup.plan.law.reference  # type: ignore[union-attr]
        if isinstance(own, Rows):
            rows = [self.array(x, 1 + len(core)) for x, core in zip(leaves(own.rows), plan.shapes, strict=True)]
            return replace(own, rows=plan.build(rows))
        if is_sampled(own):
            return own[self._of_shape(own.batch)] if own.batch else own
        targets = leaves(setup.targets(None))
        return plan.build([self.array(x, len(core)) for x, core in zip(targets, plan.shapes, strict=True)])
