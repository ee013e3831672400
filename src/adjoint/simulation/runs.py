"""`Run`: the states of a simulation, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..compile.graph.nested import leaves
from ..lazy import cached_property
from ..model.robot import Robot
from .rollouts import Instant, instant_kernel
from .setups import Setup, with_time_axis

__all__ = ["Run"]


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A simulation: times t (N,) [s], configurations q (..., N, nq), velocities v (..., N, nv), and what follows.

        run = simulate(robot, law, q=q, v=v, duration=1.0, dt=0.001, record=10)
        run.tau, run.a                                          # joint forces and accelerations at the same times

    The states are kept; joint forces, accelerations, energies and errors are computed from them when they are asked
    for. Leading axes are those of the batch. `stopped` (...,) has the times at which runs ended early, else infinity.
    """

    setup: Setup = field(repr=False)
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    state: Any
    stopped: np.ndarray
    ends: dict[str, np.ndarray]  # what the next step of the run would start with, besides q, v and the state

    @property
    def robot(self) -> Robot:
        """The robot that moved."""
        return self.setup.robot

    @cached_property
    def _instants(self) -> Instant:
        setup, plan = self.setup, self.setup.plan
        inputs = setup.inputs()
        numbers = {k: with_time_axis(x, inputs[k].shape) for k, x in setup.numbers.items() if not k.startswith("stop_")}
        state = dict(zip(plan.state.names("state"), leaves(self.state), strict=True))
        return instant_kernel(plan)(q=self.q, v=self.v, **state, **numbers, t=self.t, **setup.reference(self.t, None))

    @property
    def tau(self) -> np.ndarray:
        """The joint forces (..., N, nv) [N m, N] that the controller gives at times t."""
        return self._instants.tau

    @property
    def a(self) -> np.ndarray:
        """The accelerations (..., N, nv) [rad/s², m/s²] at times t, under the joint forces `tau`."""
        return self._instants.a
