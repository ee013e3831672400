"""Whether a trajectory keeps a robot's limits, and if not, which joint exceeds which limit, when, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..dynamics.regressors import coordinate_names, dof_names
from ..lazy import cached_property
from ..model.input_checks import positive
from ..model.robot import Robot
from .along import mover
from .extrema import Extrema, extrema
from .manifold import joint_places
from .peaks import refined_tops
from .polynomials import Extremes
from .quantities import limits
from .torque import true_torque

if TYPE_CHECKING:
    from .piecewise import Trajectory

__all__ = ["LimitReport", "Reach", "TorquePeaks", "Worst", "limits_hold", "torque_peaks"]


_JUMP = " jump"  # the end of the names of kinds that are jumps at knots
_ROUNDING_JUMP = 1e-6  # a jump of a rate by less than this fraction of its largest value is none
_AT_LIMIT = 1e-9  # what is this near to its limit, as a fraction of it, is at its limit


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

    `kind` is "position", "velocity", "acceleration", "jerk" or "torque", or "velocity jump" or "acceleration jump";
    `index` is the place of the trajectory in its batch, () for one trajectory.
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
    def worst(self) -> Worst:
        """What is farthest beyond its limit, or nearest to it if all hold; if nothing has a limit, `excess` is -inf."""
        of_all = [(kind, x.relative) for kind, x in self.reach.items() if x.relative.size]
        places = {kind: np.unravel_index(np.argmax(x), x.shape) for kind, x in of_all}
        if not places:  # an empty batch
            return Worst("", "", np.nan, np.nan, np.inf, -np.inf, -np.inf, "", ())
        kind = max(places, key=lambda kind: self.reach[kind].relative[places[kind]])
        return self._at(kind, places[kind])

    def __str__(self) -> str:
        if self.worst.relative == -np.inf:
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
    if at.kind.endswith(_JUMP):
        kind = at.kind.removesuffix(_JUMP)
        return f"{which}{kind} of joint '{at.joint}' jumps by {at.value:.6g}{unit} at {at.time:.6g} s"
    if abs(at.relative) < _AT_LIMIT:
        return f"{which}{at.kind} of joint '{at.joint}' is at its limit {at.limit:.6g}{unit} at {at.time:.6g} s"
    side = "beyond" if at.excess > 0 else "within"
    return (
        f"{which}{at.kind} of joint '{at.joint}' is {at.value:.6g}{unit} at {at.time:.6g} s, "
        f"{abs(at.excess):.3g}{unit} ({abs(at.relative):.2%}) {side} its limit {at.limit:.6g}"
    )


def limits_hold(
    trajectory: Trajectory, robot: Robot | None, velocity, acceleration, jerk, torque, tolerance: float
) -> LimitReport:
    """The `LimitReport` of a trajectory; see `Trajectory.limits_hold`."""
    caller, n = "limits_hold", trajectory.nv
    tolerance = positive(tolerance, f"{caller}: tolerance", or_zero=True)
    given = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk}
    bound = {k: limits(x, n, k, caller, infinite=True) for k, x in given.items() if x is not None}
    if robot is None and trajectory.robot is None and bound and isinstance(torque, bool):
        reach = _rates(trajectory, extrema(trajectory), bound)
        names = dict.fromkeys(reach, trajectory.joint_names)
        units = dict.fromkeys(reach, ("",) * n)
    else:
        robot = mover(trajectory, robot, caller)
        strength = _strength(robot, torque, caller)
        found = extrema(trajectory)
        reach = {"position": _between(found.q, robot.lower, robot.upper)}
        reach |= _rates(trajectory, found, {"velocity": robot.velocity_limit, **bound})
        if strength is not None:
            tau, time = torque_peaks(trajectory, robot)
            reach["torque"] = _within(Extremes(tau, tau, time, time), strength)
        names = {kind: coordinate_names(robot) if kind == "position" else dof_names(robot) for kind in reach}
        units = {kind: tuple(_units(robot, kind.removesuffix(_JUMP))) for kind in reach}
    return LimitReport(MappingProxyType(reach), MappingProxyType(names), MappingProxyType(units), tolerance)


def _strength(robot: Robot, torque, caller: str) -> np.ndarray | None:
    """Limits of torques: the robot's own, those given, or None."""
    if isinstance(torque, bool | np.bool_):
        return robot.effort_limit if torque else None
    return limits(torque, robot.nv, "torque", caller, infinite=True)


def _rates(trajectory: Trajectory, found: Extrema, bound: dict[str, np.ndarray]) -> dict[str, Reach]:
    """The reach of velocity, acceleration and jerk towards those limits that there are.

    A velocity that jumps at a knot takes an infinite force; an acceleration that jumps is an infinite jerk.
    """
    reach = {}
    for kind, extremes in (("velocity", found.v), ("acceleration", found.a), ("jerk", found.jerk)):
        if kind in bound:
            reach[kind] = _within(extremes, bound[kind])
    looked_at = {"velocity": (found.v, 1), **({"acceleration": (found.a, 2)} if "jerk" in bound else {})}
    for kind, (extremes, k) in looked_at.items():
        largest = np.maximum(extremes.highest, -extremes.lowest)
        if (jumps := _jumps(trajectory, k, largest)) is not None:
            reach[kind + _JUMP] = jumps
    return reach


def _jumps(trajectory: Trajectory, rate: int, largest: np.ndarray) -> Reach | None:
    """The largest jump at a knot, of the velocity (1) or the acceleration (2); None if there is none.

    Rates are looked at just before and at the knot; less than a fraction of their `largest` is rounding.
    """
    if trajectory.pieces == 1:
        return None
    t = np.broadcast_to(trajectory.knots[..., 1:-1], (*trajectory.batch, trajectory.pieces - 1))
    inside = (t > 0) & (t < trajectory.knots[..., -1:])
    before = np.where(inside, np.nextafter(t, 0.0), 0.0)
    after = np.where(inside, t, 0.0)
    jump = np.abs(trajectory(after)[rate] - trajectory(before)[rate])  # (..., K - 1, n)
    jump = np.where(jump > _ROUNDING_JUMP * (largest[..., None, :] + jump), jump, 0.0)
    if not jump.any():
        return None
    at = jump.argmax(axis=-2)[..., None, :]
    size = np.take_along_axis(jump, at, axis=-2)[..., 0, :]
    time = np.take_along_axis(np.broadcast_to(t[..., None], jump.shape), at, axis=-2)[..., 0, :]
    relative = np.where(size > 0, np.inf, -np.inf)
    return Reach(size, time, np.zeros_like(size), np.where(size > 0, size, -np.inf), relative)


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


class TorquePeaks(NamedTuple):
    """The torques (..., n) of largest size [N m or N], and when [s] they act."""

    tau: np.ndarray
    time: np.ndarray


def torque_peaks(trajectory: Trajectory, robot: Robot) -> TorquePeaks:
    """The `TorquePeaks` of a trajectory, refined from dense samples."""

    def torques(part: Trajectory, t: np.ndarray) -> np.ndarray:
        q, v, a, _ = part(t)
        return true_torque(robot, q, v, a)

    top, time = refined_tops(trajectory, lambda part, t: np.abs(torques(part, t)))
    tau = np.diagonal(torques(trajectory, time), axis1=-2, axis2=-1)  # of joint j at its own time
    return TorquePeaks(np.copysign(top, tau), time)


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
