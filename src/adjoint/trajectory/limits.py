"""Whether a trajectory keeps a robot's limits, and if not, which joint exceeds which limit, when, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..dynamics.regressors import coordinate_names, dof_names
from ..lazy import cached_property
from ..model.input_checks import positive, truth
from ..model.robot import Robot
from .along import mover
from .extrema import extrema
from .manifold import joint_places
from .peaks import refined_extremes
from .polynomials import Extremes
from .quantities import limits
from .torque import true_torque

if TYPE_CHECKING:
    from .piecewise import Trajectory

__all__ = ["LimitReport", "Reach", "Worst", "limits_hold", "torque_extremes"]


class Reach(NamedTuple):
    """How far a trajectory goes towards a limit of each joint, at the time when it goes farthest; (..., n) each.

    `excess` is how far `value` is beyond `limit`: below 0 where the limit holds, -inf where there is none. `relative`
    is `excess` as a fraction of the limit; of positions, of half the range (of 1 rad or m with a limit on one side).
    """

    value: np.ndarray
    time: np.ndarray
    limit: np.ndarray
    excess: np.ndarray
    relative: np.ndarray


class Worst(NamedTuple):
    """What is farthest beyond its limit, or nearest to it: a row of `Reach`, and whose it is.

    `kind` is "position", "velocity", "acceleration", "jerk" or "torque"; `index` is the place of the trajectory in its
    batch, () for one trajectory.
    """

    joint: str
    kind: str
    time: float
    value: float
    limit: float
    excess: float
    relative: float
    unit: str
    index: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class LimitReport:
    """The answer of `Trajectory.limits_hold`: true if all limits hold; `print` says which one is worst, in words.

    `reach` maps each kind of limit that was looked at to its `Reach`; `holds` says for each trajectory of a batch
    whether it keeps all limits; `worst` is what is farthest beyond its limit, in relation to it.
    """

    reach: Mapping[str, Reach]
    joints: Mapping[str, tuple[str, ...]]  # of each kind, the names of the joints, and ...
    units: Mapping[str, tuple[str, ...]]
    tolerance: float

    @cached_property
    def holds(self) -> np.ndarray:
        """Whether all limits hold, of the shape of the batch."""
        return np.logical_and.reduce([np.all(x.relative <= self.tolerance, axis=-1) for x in self.reach.values()])

    def __bool__(self) -> bool:
        return bool(np.all(self.holds))

    def _at(self, kind: str, place: tuple) -> Worst:
        *index, k = map(int, place)
        value, time, limit, excess, relative = (float(x[place]) for x in self.reach[kind])
        names = self.joints[kind][k], kind, time, value, limit, excess, relative, self.units[kind][k]
        return Worst(*names, tuple(index))

    @cached_property
    def worst(self) -> Worst | None:
        """What is farthest beyond its limit, or nearest to it if all hold; None if nothing has a limit."""
        if not self.holds.size:
            return None
        places = {kind: np.unravel_index(np.argmax(x.relative), x.relative.shape) for kind, x in self.reach.items()}
        kind = max(places, key=lambda kind: self.reach[kind].relative[places[kind]])
        found = self._at(kind, places[kind])
        return found if found.relative > -np.inf else None

    def __str__(self) -> str:
        if self.worst is None:
            return "all limits hold: there are none"
        if self:
            return f"all limits hold; nearest to its limit: {_described(self.worst)}"
        more = int(sum(np.sum(x.relative > self.tolerance) for x in self.reach.values())) - 1
        also = f" (and {more} more exceeded limit{'s' * (more > 1)})" if more else ""
        return f"limit exceeded: {_described(self.worst)}{also}"

    def __repr__(self) -> str:
        return f"<LimitReport: {self}>"


def _described(at: Worst) -> str:
    """The sentence that names joint, time and amount."""
    which = f"trajectory {list(at.index)}: " if at.index else ""
    unit = f" {at.unit}" if at.unit else ""
    side = "beyond" if at.excess > 0 else "within"
    return (
        f"{which}{at.kind} of joint '{at.joint}' is {at.value:.6g}{unit} at {at.time:.6g} s, "
        f"{abs(at.excess):.3g}{unit} ({abs(at.relative):.2%}) {side} its limit {at.limit:.6g}"
    )


def limits_hold(
    trajectory: Trajectory, robot: Robot | None, velocity, acceleration, jerk, torque: bool, tolerance: float
) -> LimitReport:
    """The `LimitReport` of a trajectory; see `Trajectory.limits_hold`."""
    caller = "limits_hold"
    robot = mover(trajectory, robot, caller)
    tolerance = positive(tolerance, f"{caller}: tolerance", or_zero=True)
    torque = truth(torque, f"{caller}: torque")
    rates = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk}
    rates = {
        kind: None if value is None else limits(value, robot.nv, kind, caller, infinite=True)
        for kind, value in rates.items()
    }
    if velocity is None:
        rates["velocity"] = robot.velocity_limit
    q, *others = extrema(trajectory)
    reach = {"position": _between(q, robot.lower, robot.upper)}
    for (kind, limit), found in zip(rates.items(), others, strict=True):
        if limit is not None:
            reach[kind] = _within(found, limit)
    if torque:
        reach["torque"] = _within(torque_extremes(trajectory, robot), robot.effort_limit)
    units = {kind: tuple(_units(robot, kind)) for kind in reach}
    joints = {kind: coordinate_names(robot) if kind == "position" else dof_names(robot) for kind in reach}
    return LimitReport(MappingProxyType(reach), MappingProxyType(joints), MappingProxyType(units), tolerance)


def _between(found: Extremes, lower: np.ndarray, upper: np.ndarray) -> Reach:
    """The reach of values that lie between two limits; that of NaN, as of quaternions, is no reach."""
    below, above = lower - found.lowest, found.highest - upper
    at_top = above >= below
    excess = np.where(at_top, above, below)
    excess = np.where(np.isnan(excess), -np.inf, excess)
    half = (upper - lower) / 2
    return Reach(
        np.where(at_top, found.highest, found.lowest),
        np.where(at_top, found.at_highest, found.at_lowest),
        np.where(at_top, upper, lower),
        excess,
        excess / np.where((half > 0) & (half < np.inf), half, 1.0),
    )


def _within(found: Extremes, limit: np.ndarray) -> Reach:
    """The reach of values whose size has a limit, of which they are a fraction."""
    reach = _between(found, -limit, limit)
    return reach._replace(relative=reach.excess / np.where((limit > 0) & (limit < np.inf), limit, 1.0))


def torque_extremes(trajectory: Trajectory, robot: Robot) -> Extremes:
    """The extremes of the torques."""

    def values(part: Trajectory, t: np.ndarray) -> np.ndarray:
        q, v, a, _ = part(t)
        return true_torque(robot, q, v, a)

    return refined_extremes(trajectory, values)


def _units(robot: Robot, kind: str) -> Iterator[str]:
    """The unit of each coordinate; "" for those of joints of several degrees of freedom, which are of both kinds."""
    suffix = {"position": "", "velocity": "/s", "acceleration": "/s²", "jerk": "/s³"}
    bodies = (i for i in range(len(robot.body_names)) if i not in robot.mimics)
    for i, (q, v, screws) in zip(bodies, joint_places(robot), strict=True):
        if screws is not None:
            yield from [""] * len(range(*(q if kind == "position" else v).indices(robot.nq)))
        elif robot.screw(i)[0, :3].any():
            yield "N m" if kind == "torque" else f"rad{suffix[kind]}"
        else:
            yield "N" if kind == "torque" else f"m{suffix[kind]}"
