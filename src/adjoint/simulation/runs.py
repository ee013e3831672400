"""`Run`: the states of a simulation, and what follows from them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..compile.graph.nested import leaves
from ..control.references import PoseTarget, Target, is_function, is_sampled, reference_at
from ..drawing.style import saved_figure
from ..errors import ArgumentError
from ..kinematics.forward import forward_kinematics
from ..lazy import cached_property
from ..lie import se3
from ..model.configuration import difference
from ..model.robot import Robot
from .advance import Moment
from .picking import Picked
from .rollouts import Instant, RunPlan, energy_kernel, instant_kernel
from .run_animations import animate_runs
from .run_figures import run_figure
from .run_files import read_run, write_run
from .sensors import wrench_kernel
from .setups import Setup, with_time_axis

__all__ = ["Energy", "Run"]


class Energy(NamedTuple):
    """The kinetic, potential and total energy (..., N) [J]."""

    kinetic: np.ndarray
    potential: np.ndarray
    total: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A simulation: times t (N,) [s], configurations q (..., N, nq), velocities v (..., N, nv), and what follows.

        run = simulate(robot, law, q=q, v=v, duration=1.0, dt=0.001, record=10)
        run.tau, run.a, run.error, run.energy.total             # at the same times
        run.plot("run.png")
        run.save("run.npz")

    The states are kept; joint forces, accelerations, energies and errors are computed from them when they are asked
    for. Leading axes are those of the batch: `run[i]` is one of it, and `for one in run` goes through its first axis.

    - `state` is the controller's state, with arrays (..., N, ...), in its own structure. A law that is asked less often
      than every step has the state of `sampled` around it; `control.state_of` finds a law's own part by its type.
    - `stopped` (...,) [s] has the times at which runs were ended by `stop=`; it is infinite for all others.
    - `finite` (...,) tells which runs stayed finite.
    """

    setup: Setup
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    state: Any
    end: Moment
    known: Mapping[str, np.ndarray]  # joint forces and accelerations that were kept and need not be computed

    @property
    def robot(self) -> Robot:
        """The robot that moved."""
        return self.setup.robot

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes of all arrays."""
        return self.q.shape[:-2]

    @property
    def stopped(self) -> np.ndarray:
        """The times (...,) [s] at which runs were ended by `stop=`, else infinity."""
        return self.end.ends["stopped"]

    @cached_property
    def finite(self) -> np.ndarray:
        """Whether each run (...,) stayed finite."""
        return np.asarray(np.isfinite(self.q).all(axis=(-2, -1)) & np.isfinite(self.v).all(axis=(-2, -1)))

    # --- what follows -------------------------------------------------------------------------------------------------

    def _numbers(self) -> dict[str, np.ndarray]:
        """The numbers of the setup, so that they broadcast against values at all times."""
        inputs = self.setup.inputs()
        return {k: with_time_axis(x, inputs[k].shape) for k, x in self.setup.numbers.items()}

    def _unchanged_plan(self) -> RunPlan:
        """What machine code depends on, if it is still what it was."""
        if self.setup.plan.has_changed:
            raise ArgumentError(
                "run: something that a function of this run reads has changed since; ask for tau, a and energy before, "
                "or give what changes as a parameter"
            )
        return self.setup.plan

    @cached_property
    def _instants(self) -> Instant:
        plan, kernel = self._unchanged_plan(), instant_kernel(self.setup.plan)
        given = {"q": self.q, "v": self.v, "t": self.t} | self._numbers() | self.setup.reference(self.t, None)
        given |= dict(zip(plan.state.names("state"), leaves(self.state), strict=True)) | dict(self.known)
        return kernel(**{p.name: given[p.name] for p in kernel.parameters})

    @property
    def tau(self) -> np.ndarray:
        """The joint forces (..., N, nv) [N m, N] that the controller gives at times t."""
        kept = self.known.get("tau")
        return self._instants.tau if kept is None else kept

    @property
    def a(self) -> np.ndarray:
        """The accelerations (..., N, nv) [rad/s², m/s²] at times t, under the joint forces `tau`."""
        kept = self.known.get("a")
        return self._instants.a if kept is None else kept

    @cached_property
    def energy(self) -> Energy:
        """The `Energy` of the robot at times t; its potential energy is that of gravity."""
        if "kinetic" in self.known:
            T, U = self.known["kinetic"], self.known["potential"]
            return Energy(T, U, T + U)
        kernel = energy_kernel(self._unchanged_plan().plant)
        given = {"q": self.q, "v": self.v, "t": self.t} | self._numbers()
        T, U = kernel(**{p.name: given[p.name] for p in kernel.parameters})
        return Energy(T, U, T + U)

    def wrench(self, frame: str) -> np.ndarray:
        """The wrench (..., N, 6) [N m, N] that forces exert on the body of `frame` at times t, seen from that frame.

        It has the moment before the force and acts on the robot, as what a law with a `wrench` is told. Forces at other
        frames of the same body count, forces on joints do not.
        """
        self.robot.frame(frame)  # raises an error that lists the frames
        if "kinetic" in self.known:
            raise ArgumentError("wrench: this run is from a file, which does not have the forces of the run")
        plant, forces = self.setup.plan.plant, self.setup.plan.plant.forces
        if not any(one.frame is not None for one in forces):
            return np.zeros((*self.q.shape[:-1], 6))
        kernel = wrench_kernel(plant, frame)
        given = {"q": self.q, "v": self.v, "t": self.t} | self._numbers()
        return kernel(**{p.name: given[p.name] for p in kernel.parameters})

    @cached_property
    def reference(self) -> Any:
        """What the law followed at times t: a `Target`, a `PoseTarget`, ...; arrays are (..., N, ...) if it varies."""
        law, robot = self.setup.law, self.setup.robot
        if law is None:
            return None
        return reference_at(robot, law.follows, law.reference, self.t)

    @cached_property
    def error(self) -> np.ndarray:
        """How far the robot is from its reference at times t.

        For laws that follow joints it is (..., N, nv): the way from q to the target's q. For laws that follow a frame
        it is (..., N, 6): the twist that takes the frame to its target in unit time, seen from the frame.
        """
        target, law = self.reference, self.setup.law
        varies = law is not None and (is_sampled(law.reference) or is_function(law.reference))
        if isinstance(target, Target):
            return difference(self.robot, self.q, target.q if varies else with_time_axis(target.q, (self.robot.nq,)))
        frame = None if law is None else dict(law.parts.options).get("frame")
        if isinstance(target, PoseTarget) and isinstance(frame, str):
            T_now = forward_kinematics(self.robot, self.q, frame)
            T_then = target.T if varies else with_time_axis(target.T, (4, 4))
            return se3.log(se3.compose(se3.inverse(T_now), T_then))
        raise ArgumentError("error: this run followed neither a Target of joints nor a PoseTarget of a frame")

    def __getitem__(self, index) -> Run:
        """The run, or runs, number `index` of the batch, by NumPy's rules for its axes."""
        some = Picked(self.batch, index)
        shapes = (len(core) + 1 for core in self.setup.plan.state.shapes)
        state = [some.array(x, axes) for x, axes in zip(leaves(self.state), shapes, strict=True)]
        known = {k: some.array(x, 1 if k in ("kinetic", "potential") else 2) for k, x in self.known.items()}
        return Run(
            some.setup(self.setup), self.t, some.array(self.q, 2), some.array(self.v, 2),
            self.setup.plan.state.build(state), some.moment(self.setup, self.end), known,
        )  # fmt: skip

    def __iter__(self) -> Iterator[Run]:
        """The runs along the first axis of the batch."""
        return (self[k] for k in range(len(self)))

    def __len__(self) -> int:
        """How many runs there are along the first axis of the batch."""
        if not self.batch:
            raise ArgumentError("Run: this is one run, not a batch, and has no len(); len(run.t) counts its times")
        return self.batch[0]

    def __bool__(self) -> bool:
        return True  # also where there is no len()

    # --- files and pictures -------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the run into a .npz file (all of it; `Run.load` reads it) or a .parquet file (a table for other tools).

        The table has a row for each time and the columns t, q_<joint>, v_<joint>, a_<joint>, tau_<joint>, and `run`,
        which numbers the runs of a batch. A file appears whole or not at all.
        """
        return write_run(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], robot: Robot, controller=None) -> Run:
        """Read a run that `save` wrote into a .npz file; the robot is that of the run, and others are refused.

        With the controller of the run, `simulate(..., resume=run)` goes on from its end.
        """
        return cls(*read_run(path, robot, controller))

    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Draw positions with their reference, velocities, joint forces and errors over time into a file.

        `adjoint.plot(run)` gives the figure, without a file. Of a batch, every joint has a line for the median and a
        band with all runs. This needs matplotlib: pip install 'adjoint[plot]'.
        """
        return saved_figure(run_figure(self), path, "Run.plot")

    def animate(self, path: str | os.PathLike[str], *, frames_per_second: float = 25.0) -> Path:
        """Draw the moving robot into a .html page that plays it, or into a .gif file.

        It plays in real time. The page can be turned with the mouse and holds all it needs; `adjoint.viewer.page` makes
        pages with more. A .gif draws a robot as links between the axes of its joints, and needs matplotlib: pip install
        'adjoint[plot]'. `payload`s are balls. Of a batch, the first run is drawn in full, up to 49 others as ghosts.
        `animate` draws several runs, such as those of different laws.
        """
        name = "passive" if self.setup.law is None else self.setup.law.name
        return animate_runs({name: self}, path, frames_per_second, "Run.animate")

    def __repr__(self) -> str:
        none = "controller in Python" if self.setup.plan.held else "no controller"
        controller = none if self.setup.law is None else self.setup.law.name
        many = f"{self.batch} runs, " if self.batch else ""
        bad = int(np.size(self.finite) - np.count_nonzero(self.finite))
        ended = int(np.count_nonzero(np.isfinite(self.stopped)))
        notes = (f", {bad} not finite" if bad else "") + (f", {ended} stopped early" if ended else "")
        return f"<Run of '{self.robot.name}', {controller}, {many}{len(self.t)} times to {self.t[-1]:g} s{notes}>"
