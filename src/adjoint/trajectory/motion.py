"""`Motion`: a spline in time with the torques it takes, what it costs, and whether the limits hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..lazy import cached_property
from ..model.input_checks import floats, positive
from ..model.joints import JOINTS
from ..model.robot import Robot, need_robot
from .solution import Step
from .splines import DEGREE, path, quintic, rate_points
from .torque import true_torque

__all__ = ["COSTS", "Motion", "Sample", "spline_motion"]

COSTS = ("effort", "energy")
_NOTHING = 1e-12  # a cost that is only rounding
_DENSE = 32  # samples a segment, to look for the largest torque
_GAUSS = 4  # nodes on every fourth of them, for costs: exact to degree 7, and near where a power changes sign


class Sample(NamedTuple):
    """Position, velocity, acceleration and torque, (..., n) each."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray


@dataclass(frozen=True, eq=False)
class Motion:
    """A motion of a robot from one state to another. Made by `optimal_motion` and `spline_motion`.

    `motion(t)` is the `Sample` at any times; `times`, `q`, `v`, `a`, `tau` are dense samples.
    `effort` [s, or (N m)² s] is ½ ∫ Σ w τ² dt, `energy` [J] is ∫ Σ |τ v| dt; `cost` is the one that was asked for.
    """

    robot: Robot
    control_points: np.ndarray  # (K, n)
    duration: float  # [s]
    objective: str  # "effort" or "energy"
    weights: np.ndarray  # (n,), of the effort
    spline: Motion | None = None  # what an optimal motion is compared with
    converged: bool = True
    status: str = "given"  # the solver's word
    history: tuple[Step, ...] = ()

    def __post_init__(self):
        self.control_points.flags.writeable = False

    @property
    def segments(self) -> int:
        """Of the spline."""
        return len(self.control_points) - DEGREE

    def __call__(self, t) -> Sample:
        """The `Sample` at times t (...) [s], within 0 and `duration`."""
        t = np.asarray(t, float)
        rounding = 1e-12 * self.duration
        if not np.all((t >= -rounding) & (t <= self.duration + rounding)):
            raise ArgumentError(f"a motion of {self.duration:g} s has no time {_first_outside(t, self.duration):g}")
        q, v, a = path(self.control_points, self.duration, np.clip(t, 0, self.duration))
        return Sample(q, v, a, true_torque(self.robot, q, v, a))

    @cached_property
    def times(self) -> np.ndarray:
        """(N,) [s]"""
        return np.linspace(0, self.duration, _DENSE * max(8, self.segments) + 1)

    @cached_property
    def _samples(self) -> Sample:
        return self(self.times)

    @property
    def q(self) -> np.ndarray:
        """Positions (N, n) at `times`."""
        return self._samples.q

    @property
    def v(self) -> np.ndarray:
        """Velocities (N, n) at `times`."""
        return self._samples.v

    @property
    def a(self) -> np.ndarray:
        """Accelerations (N, n) at `times`."""
        return self._samples.a

    @property
    def tau(self) -> np.ndarray:
        """Torques (N, n) at `times`."""
        return self._samples.tau

    # --- what it costs ------------------------------------------------------------------------------------------------

    def _integral(self, running: Callable[[Sample], np.ndarray]) -> float:
        """By Gauss's rule, piece by piece."""
        nodes, weights = np.polynomial.legendre.leggauss(_GAUSS)
        starts, length = self.times[:-1:4, None], 4 * self.times[1]
        return float(np.sum(running(self(starts + length * (nodes + 1) / 2)) @ weights) * length / 2)

    @cached_property
    def effort(self) -> float:
        """½ ∫ Σ w τ² dt."""
        return self._integral(lambda at: 0.5 * at.tau**2 @ self.weights)

    @cached_property
    def energy(self) -> float:
        """∫ Σ |τ v| dt [J]: the work of motors, braking counted like driving."""
        return self._integral(lambda at: np.abs(at.tau * at.v).sum(axis=-1))

    @property
    def cost(self) -> float:
        """`effort` or `energy`, as was asked for."""
        return getattr(self, self.objective)

    @property
    def improvement(self) -> float:
        """The fraction of the cost of `spline` that this motion saves; 0 for a spline itself."""
        return 1 - self.cost / self.spline.cost if self.spline and self.spline.cost > _NOTHING else 0.0

    # --- limits -------------------------------------------------------------------------------------------------------

    @cached_property
    def peaks(self) -> Sample:
        """The largest |q|, |v|, |a|, |τ| (n,) of all times: the tops of parabolas through dense samples.

        Where a speed meets its limit these would be a little too high, but control points bound them.
        """
        found = Sample(*map(_peak, self._samples))
        hull = np.abs(rate_points(self.segments) @ self.control_points).max(axis=0) / self.duration
        return found._replace(v=np.minimum(found.v, hull))

    @cached_property
    def excess(self) -> np.ndarray:
        """How far (3, n) positions, speeds, torques are outside their limits; rad or m, and fractions of the others."""
        robot, (q, _, _, _) = self.robot, self._samples
        outside = np.maximum(robot.lower - q, q - robot.upper).max(axis=0)
        speeds, torques = self.peaks.v / robot.velocity_limit - 1, self.peaks.tau / robot.effort_limit - 1
        return np.maximum(np.stack([outside, speeds, torques]), 0.0)

    # --- display ------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        gain = f", {self.improvement:.1%} less than a spline's" if self.spline else ""
        state = "" if self.converged else ", not converged"
        return f"<Motion of '{self.robot.name}': {self.duration:g} s, {self.objective} {self.cost:.6g}{gain}{state}>"

    def summary(self) -> str:
        """A table of joints: where from and to, the largest speed and torque, and their limits."""
        robot, peaks = self.robot, self.peaks
        width = max(5, *map(len, robot.joint_names))
        lines = [f"{self!r}\neffort {self.effort:.6g}, energy {self.energy:.6g} J; solver: {self.status}"]
        lines += [f"{'joint':{width}}{'from':>10}{'to':>10}{'speed':>10}{'limit':>10}{'torque':>10}{'limit':>10}"]
        columns = self.q[0], self.q[-1], peaks.v, robot.velocity_limit, peaks.tau, robot.effort_limit
        for name, *numbers in zip(robot.joint_names, *columns, strict=True):
            lines.append(f"{name:{width}}" + "".join(f"{x:>10.4g}" for x in numbers))
        return "\n".join(lines)

    def plot(self, target: str | Path) -> Path:
        """Draw positions, velocities and torques, with their limits, beside those of the spline, into a file."""
        from .draw import draw_motion

        return draw_motion(self, Path(target))


def _first_outside(t: np.ndarray, duration: float) -> float:
    return float(t[~((t >= 0) & (t <= duration))].ravel()[0])


def _peak(samples: np.ndarray) -> np.ndarray:
    """max |x| (n,) of evenly spaced samples (N, n): the tops of parabolas through each sample and its neighbours."""
    x = np.abs(samples)
    before, here, after = x[:-2], x[1:-1], x[2:]
    slope, bend = (after - before) / 2, np.maximum(2 * here - before - after, 0.0)
    top = (np.abs(slope) <= bend) & (bend > 0)
    tops = here + np.where(top, slope**2 / (2 * np.where(top, bend, 1.0)), 0.0)
    return np.maximum(x.max(axis=0), tops.max(axis=0))


# --- arguments --------------------------------------------------------------------------------------------------------


def check_robot(robot: Robot, caller: str) -> None:
    """An `ArgumentError` unless every joint has one coordinate, and limits that leave it some room."""
    need_robot(robot, caller)
    several = [
        name
        for name, kind in zip(robot.body_joint_names, robot.joint_types, strict=True)
        if JOINTS[kind].nv != 1 or JOINTS[kind].nq != 1
    ]
    if several:
        raise ArgumentError(
            f"{caller}: joint '{several[0]}' of robot '{robot.name}' has several degrees of freedom; the splines are "
            "for joints with one, as sums of orientations are no orientations. robot.locked holds a joint still"
        )
    if not robot.nv:
        raise ArgumentError(f"{caller}: robot '{robot.name}' has no joint to move")
    for what, limit in (("velocity", robot.velocity_limit), ("effort", robot.effort_limit)):
        if np.any(limit <= 0):
            name = robot.joint_names[int(np.argmin(limit))]
            raise ArgumentError(
                f"{caller}: joint '{name}' of robot '{robot.name}' has {what} limit {limit.min():g}; it must be "
                f"positive, robot.replace({what}_limit=...) gives others, infinity for none"
            )


def state(robot: Robot, value, label: str) -> np.ndarray:
    """(q, v) (2, n) within the limits, from q (n,) at rest or from a pair."""
    n = robot.nv
    given = floats(value)
    if given.shape == (n,):
        given = np.stack([given, np.zeros(n)])
    if given.shape != (2, n) or not np.isfinite(given).all():
        what = f"q ({n},) or a pair q, v of finite numbers, each ({n},)"
        raise ArgumentError(f"{label} must be {what}, got {value!r}")
    q, v = given
    for what, x, low, high in (
        ("q", q, robot.lower, robot.upper),
        ("v", v, -robot.velocity_limit, robot.velocity_limit),
    ):
        if np.any((x < low) | (x > high)):
            i = int(np.argmax(np.maximum(low - x, x - high)))
            bounds = f"outside its limits {low[i]:g} ... {high[i]:g}"
            raise ArgumentError(f"{label}: {what} of joint '{robot.joint_names[i]}' is {x[i]:g}, {bounds}")
    return given


def seconds(value, label: str) -> float:
    """A positive time [s] whose square is a number too."""
    found = positive(value, f"{label} [s]")
    if not 1e-150 < found < 1e150:
        raise ArgumentError(f"{label} is {found:g} s; rates of such a motion are no floating-point numbers")
    return found


def effort_weights(robot: Robot, weights, caller: str) -> np.ndarray:
    """w (n,) as given; else 1 / τmax² if every joint has a limit, so that effort compares torques with it; else 1."""
    if weights is None:
        limit = robot.effort_limit
        return 1 / limit**2 if np.isfinite(limit).all() else np.ones(robot.nv)
    found = floats(weights)
    if found.shape != (robot.nv,) or not np.all((found >= 0) & np.isfinite(found)) or not found.any():
        what = f"numbers ({robot.nv},), none negative and not all zero"
        raise ArgumentError(f"{caller}: weights must be {what}, got {weights!r}")
    return found


def check_cost(cost: str, caller: str) -> None:
    if not isinstance(cost, str) or cost not in COSTS:
        raise ArgumentError(f"{caller}: cost is {cost!r}; it must be one of {', '.join(map(repr, COSTS))}")


def spline_motion(robot: Robot, start, goal, duration: float, *, cost: str = "effort", weights=None) -> Motion:
    """The polynomial of degree 5 between two states, without acceleration at both ends, as a `Motion`.

    `start` and `goal` are q (n,), at rest, or pairs (q, v). Torques and speeds are what they are: see `excess`.
    """
    caller = "spline_motion"
    check_robot(robot, caller)
    check_cost(cost, caller)
    ends = state(robot, start, f"{caller}: start"), state(robot, goal, f"{caller}: goal")
    T = seconds(duration, f"{caller}: duration")
    return Motion(robot, quintic(*ends[0], *ends[1], T), T, cost, effort_weights(robot, weights, caller))
