"""`Motion` is a robot's trajectory that knows its torques, what it costs, and whether it keeps the robot's limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...display import html_table
from ...drawing.style import saved_figure
from ...dynamics.energy import kinetic_energy
from ...goals.goal import Goal
from ...goals.search import goal_errors
from ...lazy import cached_property
from ...model.robot import Robot
from ..along import Torques
from ..limits import LimitReport, torque_peaks
from ..peaks import refined_extremes
from ..piecewise import Sample, Trajectory
from ..states import quintic
from ..torque import without_limits
from .arguments import check_cost, check_robot, effort_weights, seconds, state
from .solution import Step

__all__ = ["Motion", "Peaks", "spline_motion", "straight"]

_NOTHING = 1e-12  # smaller costs are rounding errors
_ROUNDING = 1e-9  # a motion that exceeds its limits by less keeps them
_DENSE = 32  # samples on each piece
_FEWEST = 256  # samples, if there are few pieces
_GAUSS = 4  # Gauss nodes in each interval of four samples, for costs: exact to degree 7, and dense enough for |τ v|


class Peaks(NamedTuple):
    """The largest |q|, |v|, |a| and |τ| of each joint of a motion, (n,) each."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray


@dataclass(frozen=True, eq=False)
class Motion:
    """A motion of a robot from one state to another. `optimal_motion` and `spline_motion` make it.

    `motion(t)` is the `Sample` (q, v, a, jerk) of its `trajectory` at any times t, and `motion.torques(t)` are the
    torques there. `effort` is ½ ∫ Σ w τ² dt, in s if w = 1 / τmax² and in (N m)² s if w = 1. `energy` [J] is
    ∫ Σ |τ v| dt, and `kinetic` [J s] is ∫ ½ vᵀ M v dt. `cost` is the one of the three that was asked for.

        motion = spline_motion(robot, q_start, q_goal, 2.0)
        q, v, a, jerk = motion([0.0, 0.5, 1.0])
        t, tau = motion.torques([0.0, 0.5, 1.0])
    """

    robot: Robot
    trajectory: Trajectory  # pieces of polynomials of degree 5
    objective: str  # "effort", "energy" or "kinetic"
    weights: np.ndarray  # (n,) the weights w of the effort
    path: tuple[Goal, ...] = ()  # goals that hold all along the motion
    spline: Motion | None = None  # the straight spline, or that bent onto the path, to compare an optimal motion with
    converged: bool = True  # False if the solver stopped before it found a minimum
    status: str = "given"  # the solver's own word for how it ended
    history: tuple[Step, ...] = ()  # the solver's iterations

    def __call__(self, t, *, hold: bool = False) -> Sample:
        """The `Sample` of the trajectory at times t (...) [s], within 0 and `duration`."""
        return self.trajectory(t, hold=hold)

    @property
    def duration(self) -> float:
        """The duration [s]."""
        return float(self.trajectory.knots[-1])

    def torques(self, t=None) -> Torques:
        """The `Torques` (..., n) [N m or N] at times t (...) [s], by `inverse_dynamics`; at dense times without t."""
        return self.trajectory.torques(self.robot, self.times if t is None else t)

    @cached_property
    def times(self) -> np.ndarray:
        """Times (N,) [s] that are dense enough to draw the motion and to see its peaks."""
        pieces = self.trajectory.pieces
        return np.linspace(0, self.duration, pieces * max(_DENSE, -(-_FEWEST // pieces)) + 1)

    # --- what it costs ------------------------------------------------------------------------------------------------

    def _integral(self, running: Callable[[Sample, np.ndarray], np.ndarray]) -> float:
        """The integral over time of `running`, a function of samples and torques: Gauss's rule on short intervals."""
        nodes, weights = np.polynomial.legendre.leggauss(_GAUSS)
        starts, length = self.times[:-1:4, None], 4 * self.times[1]
        t = starts + length * (nodes + 1) / 2
        return float(np.sum(running(self(t), self.torques(t).tau) @ weights) * length / 2)

    @cached_property
    def effort(self) -> float:
        """The effort ½ ∫ Σ w τ² dt, with `weights` w."""
        return self._integral(lambda at, tau: 0.5 * tau**2 @ self.weights)

    @cached_property
    def energy(self) -> float:
        """The energy ∫ Σ |τ v| dt [J]: the work of the motors, where braking counts like driving."""
        return self._integral(lambda at, tau: np.abs(tau * at.v).sum(axis=-1))

    @cached_property
    def kinetic(self) -> float:
        """The integral ∫ ½ vᵀ M v dt [J s] of the kinetic energy."""
        return self._integral(lambda at, tau: kinetic_energy(without_limits(self.robot), at.q, at.v))

    @property
    def cost(self) -> float:
        """The cost that is the `objective`."""
        return getattr(self, self.objective)

    @property
    def improvement(self) -> float:
        """The fraction of the cost of `spline` that this motion saves; 0 for a spline itself."""
        return 1 - self.cost / self.spline.cost if self.spline and self.spline.cost > _NOTHING else 0.0

    # --- limits -------------------------------------------------------------------------------------------------------

    @cached_property
    def limits(self) -> LimitReport:
        """Whether the motion keeps all limits, and what is nearest to or farthest beyond its limit."""
        return self.trajectory.limits_hold(self.robot)

    @cached_property
    def peaks(self) -> Peaks:
        """The `Peaks` at any time: of q, v and a exact, of torques refined from dense samples until rounding."""
        q, v, a, _ = self.trajectory.extrema()
        of_q, of_v, of_a = (np.maximum(np.abs(x.lowest), np.abs(x.highest)) for x in (q, v, a))
        return Peaks(of_q, of_v, of_a, np.abs(torque_peaks(self.trajectory, self.robot).tau))

    @cached_property
    def excess(self) -> np.ndarray:
        """By how much (3, n) positions, speeds and torques exceed their limits; 0 where they keep them.

        Positions are in rad or m; speeds and torques are fractions of their limits. Less than 1e-9 is a rounding error,
        and counts as 0.
        """
        reach = self.limits.reach
        found = np.stack([reach["position"].excess, reach["velocity"].relative, reach["torque"].relative])
        return np.where(found > _ROUNDING, found, 0.0)

    @cached_property
    def path_deviation(self) -> np.ndarray:
        """The largest error [rad or m] of each goal of the `path` at any time, (number of goals,).

        It is refined from dense samples, most of them between the points where the search enforces the goals. Errors of
        goals that have a tolerance may be as large as it.
        """
        if not self.path:
            return np.zeros(0)
        return refined_extremes(self.trajectory, lambda x, t: goal_errors(self.robot, self.path, x(t).q)).highest

    # --- display ------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        gain = f", {self.improvement:.1%} less than a spline's" if self.spline else ""
        state = "" if self.converged else ", not converged"
        return f"<Motion of '{self.robot.name}': {self.duration:g} s, {self.objective} {self.cost:.6g}{gain}{state}>"

    def _repr_html_(self) -> str:
        header = ["joint", "from", "to", "largest speed", "limit", "largest torque", "limit"]
        return html_table(repr(self), header, self._joints(), [f"solver: {self.status}"])

    def _joints(self) -> Iterator[tuple]:
        """(joint, from, to, largest speed, limit, largest torque, limit) of each joint."""
        robot, peaks = self.robot, self.peaks
        ends = np.round(self([0.0, self.duration]).q, 12) + 0.0  # without rounding errors and negative zeros
        columns = *ends, peaks.v, robot.velocity_limit, peaks.tau, robot.effort_limit
        return zip(robot.joint_names, *columns, strict=True)

    def summary(self) -> str:
        """A table of the joints: where they start and end, their largest speeds and torques, and their limits."""
        width = max(5, *map(len, self.robot.joint_names))
        costs = f"effort {self.effort:.6g}, energy {self.energy:.6g} J, kinetic {self.kinetic:.6g} J s"
        lines = [f"{self!r}\n{costs}; solver: {self.status}"]
        lines += [f"{goal!r}: error <= {e:.2g}" for goal, e in zip(self.path, self.path_deviation, strict=True)]
        lines += [f"{'joint':{width}}{'from':>10}{'to':>10}{'speed':>10}{'limit':>10}{'torque':>10}{'limit':>10}"]
        for name, *numbers in self._joints():
            lines.append(f"{name:{width}}" + "".join(f"{x:>10.4g}" for x in numbers))
        return "\n".join(lines)

    def plot(self, target: str | Path) -> Path:
        """Draws positions, velocities and torques, with limits and beside those of the spline, into a file.

        It returns the path of the file; `adjoint.plot(motion)` gives the figure, without a file.
        """
        from ..draw import motion_figure

        return saved_figure(motion_figure(self), target, "Motion.plot")


def spline_motion(robot: Robot, start, goal, duration: float, *, cost: str = "effort", weights=None) -> Motion:
    """The `Motion` along the polynomial of degree 5 between two states, without acceleration at both ends.

    `start` and `goal` are q (n,) [rad or m], at rest, or pairs (q, v); `duration` is in seconds. `cost` ("effort",
    "energy" or "kinetic") and the `weights` (n,) of the effort are as in `optimal_motion`. Speeds and torques may
    exceed the robot's limits: `motion.excess` tells by how much.

        motion = spline_motion(robot, q_start, q_goal, 2.0)
        motion.excess.any()
    """
    caller = "spline_motion"
    check_robot(robot, caller)
    check_cost(cost, caller)
    ends = state(robot, start, f"{caller}: start"), state(robot, goal, f"{caller}: goal")
    T = seconds(duration, f"{caller}: duration")
    return Motion(robot, straight(robot, *ends, T), cost, effort_weights(robot, weights, caller))


def straight(robot: Robot, start: np.ndarray, goal: np.ndarray, duration: float) -> Trajectory:
    """The polynomial of degree 5 between two states (q, v) (2, n), without acceleration at both ends."""
    return quintic(start[0], goal[0], duration, start_velocity=start[1], goal_velocity=goal[1], robot=robot)
