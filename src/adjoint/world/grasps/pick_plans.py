"""`PickAndPlace`: the phases of a robot that picks a part and puts it down, or the reason why there are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...lazy import cached_property
from ...sensing.scene.scene_checks import number
from ...trajectory import Trajectory
from ..state import World
from .grasp_results import Grasp, Grasps

__all__ = ["PickAndPlace", "PickPhase"]


class PickPhase(NamedTuple):
    """One phase of a `PickAndPlace`."""

    name: str
    """such as "approach" or "transfer" """
    trajectory: Trajectory | None
    """the motion of the arm; None while fingers open or close"""
    duration: float
    """[s]"""
    before: World
    """the world when the phase begins, with the fingers as they are during the motion"""
    after: World
    """the world when the phase has ended"""


@dataclass(frozen=True, eq=False, repr=False)
class PickAndPlace:
    """What `plan_pick` and `plan_pick_and_place` found; it is true if it is `solved`.

    - `reason` tells why there is no plan; it is empty if there is one.
    - `grasp` is the `Grasp` that is used, and `grasps` are all of them with the reasons of those that were pruned.
    - `T_goal` (4, 4) is the pose of the part in the world at the end; None if it is only picked.
    - `phases` are `PickPhase`s, one after the other: "move", "approach", "close", "depart", "transfer",
      "approach place", "open", "depart place". A pick ends with the first "depart".
    - `tried` has pairs (grasp, reason) of the grasps that were tried before.
    """

    solved: bool
    reason: str
    robot: str
    part: str
    grasp: Grasp | None
    grasps: Grasps | None
    T_goal: np.ndarray | None
    phases: tuple[PickPhase, ...]
    start: World
    tried: tuple[tuple[Grasp, str], ...] = ()

    def __bool__(self) -> bool:
        return self.solved

    @property
    def duration(self) -> float:
        """[s] of all phases."""
        return float(self.times[-1])

    @cached_property
    def times(self) -> np.ndarray:
        """(phases + 1,) [s] when phases begin, and when the last one ends."""
        return np.concatenate([[0.0], np.cumsum([phase.duration for phase in self.phases])])

    @property
    def end(self) -> World:
        """The world after the last phase."""
        return self.phases[-1].after if self.phases else self.start

    def phase_at(self, t: float) -> PickPhase:
        """The phase at time t [s]; the later one where two meet."""
        return self.phases[self._phase(t, "phase_at")]

    def configuration_at(self, t) -> np.ndarray:
        """The configuration (..., nq) of the robot at times t (...) [s]; before and after, it rests."""
        times = np.asarray(t, float)
        found = np.array([self._at(x, "configuration_at")[1] for x in times.ravel()])
        return found.reshape(*times.shape, -1)

    def world_at(self, t: float) -> World:
        """The world at time t [s]: what is held moves with the hand."""
        phase, q = self._at(float(number(t, "t", "PickAndPlace.world_at")), "world_at")
        if phase.trajectory is None:
            return phase.before if t < self.times[-1] else phase.after
        return phase.before.set_configuration(self.robot, q)

    def _phase(self, t: float, caller: str) -> int:
        if not self.solved:
            raise ArgumentError(f"PickAndPlace.{caller}: there is no plan; {self.reason}")
        if not np.isfinite(t):
            raise ArgumentError(f"PickAndPlace.{caller}: 't' must be finite, got {t}")
        return int(np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.phases) - 1))

    def _at(self, t: float, caller: str) -> tuple[PickPhase, np.ndarray]:
        k = self._phase(t, caller)
        phase = self.phases[k]
        if phase.trajectory is None:
            return phase, phase.before.robots[self.robot].q
        return phase, phase.trajectory(float(np.clip(t - self.times[k], 0, phase.duration))).q

    def __repr__(self) -> str:
        what = f"'{self.robot}' picks '{self.part}'"
        if not self.solved:
            return f"<PickAndPlace: {what}: failed: {self.reason}>"
        return f"<PickAndPlace: {what} by {self.grasp!r} in {len(self.phases)} phases, {self.duration:.3g} s>"
