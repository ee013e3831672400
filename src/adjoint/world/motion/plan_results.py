"""`MotionPlan`: a path, its motion in time, or the reason why there is none; and what the search cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...collision import Certified, CollisionModel, clearance, contacts, edges_certified, exact_contacts, is_free
from ...errors import ArgumentError
from ...model.input_checks import positive
from ...model.robot import Robot
from ...trajectory import Trajectory
from .edge_checks import edge_steps
from .plan_timing import along
from .spaces import configuration_space

__all__ = ["MotionPlan", "PlanStatistics", "Recheck", "touching"]

_FINER = 10  # a recheck looks at so many points for each step of the plan's resolution


class PlanStatistics(NamedTuple):
    """What a plan cost, and what it is like."""

    time: float
    """[s] of all, from the arguments to the motion in time"""
    search_time: float
    """[s] of the search alone, without goals, shortcuts and timing"""
    checks: int
    """configurations that were checked"""
    iterations: int
    """of the search; samples of a roadmap"""
    nodes: tuple[int, int]
    """of the trees at the start and at the goals, or of the roadmap and the goals"""
    goals: int
    """configurations that were goals"""
    first_length: float
    """[rad, m] of the path before shortcuts; NaN without a path"""
    length: float
    """[rad, m] of the path; NaN without a path"""


class Recheck(NamedTuple):
    """What `MotionPlan.recheck` saw: whether all is well, and if not, why."""

    free: bool
    reason: str
    """"" if all is well, else what touches what, and where on the path"""
    points: int
    """configurations that were checked"""
    clearance: float
    """[m] the least distance seen, of the model's shapes; NaN with exact meshes"""


@dataclass(frozen=True, eq=False, repr=False)
class MotionPlan:
    """A motion that `plan_motion` found, or the reason why there is none. A plan is true if it is `solved`.

        plan = plan_motion(solids, robot, start, goal)
        if plan:
            q = plan.trajectory(0.5).q
        else:
            print(plan.reason)

    `path` (k, nq) are waypoints with straight ways between them, from the start to a goal. `trajectory` is the motion
    in time along the path, with rounded corners, or None if no timing was asked for. `reason` is "" if the plan is
    solved.
    """

    solved: bool
    path: np.ndarray
    trajectory: Trajectory | None
    reason: str
    statistics: PlanStatistics
    method: str
    resolution: float
    model: CollisionModel = field(repr=False)

    def __post_init__(self):
        path = np.array(self.path, float)
        path.flags.writeable = False
        object.__setattr__(self, "path", path)

    def __bool__(self) -> bool:
        return self.solved

    @property
    def robot(self) -> Robot:
        """The robot that moves."""
        return self.model.robot

    @property
    def length(self) -> float:
        """[rad, m] the length Σ |difference(q_k, q_k+1)| of the path; NaN if there is none."""
        return self.statistics.length

    def samples(self, resolution: float | None = None) -> np.ndarray:
        """Configurations (n, nq) along the path, at most `resolution` [rad, m] apart; that of the plan by default."""
        step = self.resolution if resolution is None else positive(resolution, "MotionPlan.samples: resolution")
        if len(self.path) < 2:
            return self.path
        space = configuration_space(self.robot)
        v = space.difference(self.path[:-1], self.path[1:])
        steps = edge_steps(v, step)
        which = np.repeat(np.arange(len(v)), steps)
        k = np.arange(1, len(which) + 1) - np.repeat(np.cumsum(steps) - steps, steps)
        return np.concatenate([self.path[:1], space.moved(self.path[which], v[which], k / steps[which])])

    def clearance(self, resolution: float | None = None) -> float:
        """[m] the least distance of the model's shapes from each other and from obstacles along the path."""
        self._need_path("clearance")
        return float(clearance(self.model, self.samples(resolution)).min())

    def certify(self, *, resolution: float = 1e-3) -> Certified:
        """What is proved about the pieces of the path, by distances and bounds of motion: `Certified`, with (k - 1,).

            plan.certify().free.all()                           # True: no shape touches anything anywhere on the path

        `resolution` [m] is that of `edges_certified`. Pieces that come nearer to something than it are undecided.
        """
        self._need_path("certify")
        return edges_certified(self.model, self.path[:-1], self.path[1:], resolution=resolution)

    def recheck(self, *, finer: float = _FINER, exact: bool = False) -> Recheck:
        """Check path and trajectory again, at so many points for each step of the plan's resolution: a `Recheck`.

            assert plan.recheck().free
            plan.recheck(exact=True)                            # the meshes of the links themselves, by coal

        With `exact`, meshes are checked instead of the model's shapes, which needs the extra `[world]`.
        """
        self._need_path("recheck")
        step = self.resolution / positive(finer, "MotionPlan.recheck: finer")
        places = [("path", self.samples(step))]
        if self.trajectory is not None:
            places.append(("trajectory", along(self.trajectory, step)))
        return _recheck_exact(self.model, places) if exact else _recheck(self.model, places)

    def _need_path(self, caller: str) -> None:
        if not self.solved:
            raise ArgumentError(f"MotionPlan.{caller}: the plan has no path; {self.reason}")

    def __repr__(self) -> str:
        if not self.solved:
            return f"<MotionPlan of '{self.robot.name}' failed: {self.reason}>"
        timed = "" if self.trajectory is None else f", {self.trajectory.duration:.3g} s"
        return f"<MotionPlan of '{self.robot.name}': {len(self.path)} waypoints, length {self.length:.3g}{timed}>"


def _recheck(model: CollisionModel, places: list[tuple[str, np.ndarray]]) -> Recheck:
    """The recheck of (name, configurations (n, nq)) with the shapes of the model."""
    least, points = np.inf, 0
    for name, q in places:
        free, d = is_free(model, q), clearance(model, q)
        points, least = points + len(q), min(least, float(d.min()))
        if not free.all():
            k = int(np.argmax(~free))
            return Recheck(
                False, f"{name}, {k / max(len(q) - 1, 1):.1%} of its points: {touching(model, q[k])}", points, least
            )
    return Recheck(True, "", points, least)


def _recheck_exact(model: CollisionModel, places: list[tuple[str, np.ndarray]]) -> Recheck:
    """The recheck of (name, configurations (n, nq)) with meshes."""
    points = 0
    for name, q in places:
        for k, row in enumerate(q):
            points += 1
            if found := exact_contacts(model, row):
                return Recheck(False, f"{name}, {k / max(len(q) - 1, 1):.1%} of its points: {found[0]}", points, np.nan)
    return Recheck(True, "", points, np.nan)


def touching(model: CollisionModel, q: np.ndarray) -> str:
    """What touches what at q (nq,), in words."""
    found = contacts(model, q)
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{found[0]}{more}" if found else "it is nearer to an obstacle than the margin"
