"""Configuration spaces as planners see them: differences, lengths, points on the way, nearest nodes, random samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import ArgumentError
from ...inverse.choice import turning_coordinates
from ...lazy import cached_property
from ...model.configuration import difference, distance, integrate, random_configuration
from ...model.input_checks import vectors
from ...model.needs import need_robot
from ...model.once import once_a_robot
from ...model.robot import Robot
from ...trajectory.manifold import has_manifold_joints

__all__ = ["ConfigurationSpace", "configuration_space"]

_TURN = 2 * np.pi
_OUTSIDE = 1e-9  # [rad, m] a coordinate this little outside of its limits is inside: inverse kinematics rounds


@dataclass(frozen=True, eq=False)
class ConfigurationSpace:
    """The configurations q (nq,) of a robot within limits, with lengths |difference(q_0, q_1)| [rad, m].

    `turning` (nq,) tells which angles have no limits: full turns of them change nothing, so the way to another angle is
    the short one, and a path may end full turns away from its goal. `plain` robots have one coordinate for each degree
    of freedom; orientations and poses of other robots move by exponentials.
    """

    robot: Robot
    lower: np.ndarray
    upper: np.ndarray
    sample_lower: np.ndarray  # finite, where samples are drawn
    sample_upper: np.ndarray
    turning: np.ndarray
    turns: bool
    plain: bool

    def difference(self, q_0: np.ndarray, q_1: np.ndarray) -> np.ndarray:
        """The v (..., nv) that moves q_0 (..., nq) to q_1 (..., nq) in unit time, the short way."""
        if not self.plain:
            return difference(self.robot, q_0, self._near(q_0, q_1))
        v = q_1 - q_0
        if self.turns:
            v = np.where(self.turning, v - _TURN * np.rint(v / _TURN), v)
        return v

    def _near(self, q_0: np.ndarray, q_1: np.ndarray) -> np.ndarray:
        """q_1 with full turns added, so that it is the short way from q_0."""
        if not self.turns:
            return q_1
        return np.where(self.turning, q_1 - _TURN * np.rint((q_1 - q_0) / _TURN), q_1)

    def moved(self, q: np.ndarray, v: np.ndarray, s) -> np.ndarray:
        """Where q (..., nq) is after the part s (...) of the motion v (..., nv)."""
        s = np.asarray(s)
        if not self.plain:
            return integrate(self.robot, q, v, s)  # type: ignore[arg-type]
        found = s[..., None] * v
        found += q
        return found

    def unrolled(self, q: np.ndarray) -> np.ndarray:
        """The same path (k, nq), with full turns added so that each step is the short one."""
        if not self.turns or len(q) < 2:
            return q
        steps = np.diff(q, axis=0)
        turns = np.cumsum(np.where(self.turning, np.rint(steps / _TURN), 0.0), axis=0)
        return np.concatenate([q[:1], q[1:] - _TURN * turns])

    def nearest(self, nodes: np.ndarray, squares: np.ndarray, q: np.ndarray) -> np.ndarray:
        """The numbers (k,) of the nodes (n, nq) that are nearest to q (k, nq); `squares` (n,) are |nodes|²."""
        if not self.plain:
            return distance(self.robot, nodes, self._near(nodes, q[:, None])).argmin(axis=1)
        if self.turns:
            v = self.difference(nodes, q[:, None])
            return np.vecdot(v, v).argmin(axis=1)
        return (squares - 2.0 * (q @ nodes.T)).argmin(axis=1)

    def random(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Random configurations (n, nq), uniform where samples are drawn."""
        if self.plain:
            q = rng.random((n, len(self.lower)))
            q *= self._sizes
            q += self.sample_lower
            return q
        q = random_configuration(self.robot, n, rng=rng)
        drawn = np.isfinite(self.sample_lower)
        if drawn.any():
            low, high = self.sample_lower[drawn], self.sample_upper[drawn]
            q[:, drawn] = low + (high - low) * rng.random((n, int(drawn.sum())))
        return q

    def near(self, rng: np.random.Generator, q: np.ndarray, radii: np.ndarray) -> np.ndarray:
        """Random configurations (n, nq) within limits near q (n, nq), at distances of about the radii (n,)."""
        v = rng.standard_normal((len(q), self.robot.nv)) * (radii / self.robot.nv**0.5)[:, None]
        return np.clip(self.moved(q, v, np.ones(len(q))), self.lower, self.upper)

    def inside(self, q: np.ndarray) -> np.ndarray:
        """Whether q (..., nq) is within the limits."""
        low, high = self._limits
        return np.logical_and.reduce((q >= low) & (q <= high), axis=-1)

    @cached_property
    def _limits(self) -> tuple[np.ndarray, np.ndarray]:
        """The limits, with what rounding needs."""
        return self.lower - _OUTSIDE, self.upper + _OUTSIDE

    @cached_property
    def _sizes(self) -> np.ndarray:
        """The sizes (nq,) of the box in which samples are drawn."""
        return self.sample_upper - self.sample_lower

    def lengths(self, path: np.ndarray) -> np.ndarray:
        """The lengths (k - 1,) of the pieces of a path (k, nq)."""
        v = self.difference(path[:-1], path[1:])
        return np.sqrt(np.vecdot(v, v))

    @cached_property
    def diagonal(self) -> float:
        """The diagonal [rad, m] of the box in which samples are drawn."""
        size = self.sample_upper - self.sample_lower
        return float(np.sqrt(np.nansum(size * size) + 9.0 * np.isnan(size).sum()))

    @cached_property
    def _endless(self) -> np.ndarray:
        """(nq,) which lengths have no limits."""
        return np.isfinite(self.sample_lower) & ~(np.isfinite(self.lower) & np.isfinite(self.upper)) & ~self.turning

    def with_samples_near(self, q: np.ndarray) -> ConfigurationSpace:
        """The same space with samples within 1 m of these q (n, nq), too, along lengths without limits."""
        free = self._endless
        if not free.any():
            return self
        low = np.where(free, np.minimum(self.sample_lower, q.min(axis=0) - 1), self.sample_lower)
        high = np.where(free, np.maximum(self.sample_upper, q.max(axis=0) + 1), self.sample_upper)
        low, high = np.maximum(low, self.lower), np.minimum(high, self.upper)
        return ConfigurationSpace(
            self.robot, self.lower, self.upper, low, high, self.turning, self.turns, self.plain
        )  # fmt: skip


def configuration_space(robot: Robot, *, lower=None, upper=None, caller: str = "plan_motion") -> ConfigurationSpace:
    """The `ConfigurationSpace` of a robot within its limits, which `lower` and `upper` (nq,) may narrow."""
    need_robot(robot, caller)
    if lower is None and upper is None:
        return _whole_space(robot)
    low = robot.lower if lower is None else np.maximum(robot.lower, vectors(lower, robot.nq, "lower", caller))
    high = robot.upper if upper is None else np.minimum(robot.upper, vectors(upper, robot.nq, "upper", caller))
    return _space(robot, low, high, caller)


@once_a_robot
def _whole_space(robot: Robot) -> ConfigurationSpace:
    return _space(robot, robot.lower, robot.upper, f"robot '{robot.name}'")


def _space(robot: Robot, low: np.ndarray, high: np.ndarray, caller: str) -> ConfigurationSpace:
    if not np.all(low <= high):
        k = int(np.argmin(low <= high))
        raise ArgumentError(f"{caller}: the lower limit {low[k]:g} is above the upper {high[k]:g} at q[{k}]")
    turning = turning_coordinates(robot) & ~np.isfinite(low) & ~np.isfinite(high)
    lengths = _lengths(robot)
    reach = np.where(lengths, 1.0, np.pi)
    with np.errstate(invalid="ignore"):
        one_low, one_high = np.isfinite(low), np.isfinite(high)
        drawn_low = np.where(one_low, low, np.where(one_high, high - 2 * reach, -reach))
        drawn_high = np.where(one_high, high, np.where(one_low, low + 2 * reach, reach))
    plain = not has_manifold_joints(robot)
    if not plain:  # orientations are drawn by their own law
        own = ~(turning_coordinates(robot) | lengths)
        drawn_low, drawn_high = np.where(own, np.nan, drawn_low), np.where(own, np.nan, drawn_high)
    return ConfigurationSpace(robot, low, high, drawn_low, drawn_high, turning, bool(turning.any()), plain)


def _lengths(robot: Robot) -> np.ndarray:
    """(nq,) whether a coordinate is a length: of a slide, or of the position of a free or planar joint."""
    found, at = np.zeros(robot.nq, bool), robot.layout.q_start
    for i, kind in enumerate(robot.joint_types):
        if i in robot.mimics:
            continue
        found[at[i] : at[i] + _POSITIONS.get(kind, 0)] = True
    return found


_POSITIONS = {"prismatic": 1, "free": 3, "planar": 2}  # how many of a joint's first coordinates are lengths
