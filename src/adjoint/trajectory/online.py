"""Jerk-limited motion between any two states, by ruckig: `jerk_limited`, and `OnlineMotion` to a moving target.

Each joint gets to its goal with jerks of ±J and 0 only, as fast as the slowest one allows: Berscheid & Kröger (2021),
"Jerk-limited real-time trajectory generation with arbitrary target states". Ruckig runs on this computer. It would send
intermediate waypoints to a service on the internet; it is never given any here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError, SolveError
from ..extras import package
from ..lazy import cached_property
from ..model.input_checks import count, floats, positive
from ..model.robot import Robot
from .checks import plain_joints
from .piecewise import Trajectory
from .polynomials import shifted
from .quantities import broadcast, limits, seconds, velocity_limits
from .states import ends

__all__ = ["OnlineMotion", "State", "jerk_limited"]

_PHASES = 10  # of a joint: up to two that brake into the limits, seven, and one that keeps the goal


class State(NamedTuple):
    """Position q, velocity v and acceleration a, (n,) each; v and a may be numbers for all joints."""

    q: Any
    v: Any = 0.0
    a: Any = 0.0


# --- a whole trajectory -----------------------------------------------------------------------------------------------


def jerk_limited(
    start, goal, *, acceleration, jerk, velocity=None, start_velocity=0.0, start_acceleration=0.0, goal_velocity=0.0,
    goal_acceleration=0.0, minimum_duration=None, robot: Robot | None = None,
) -> Trajectory:  # fmt: skip
    """The fastest `Trajectory` from one state to another (..., n) under limits of |v|, |a| and |jerk|, by ruckig.

    All joints start and end together: each takes as long as the slowest one, or the `minimum_duration` (...) [s]. They
    do not move on a straight line: `s_curve` does, between states at rest. A start beyond the limits is first brought
    within them. The goal must be within them; limits are numbers, or arrays (..., n), and those of v and a may be
    infinite. Pieces of degree 3 begin wherever a joint changes its jerk. Ruckig is called once for each trajectory of a
    batch. With a `robot`, limits of v are by default the robot's own. It needs the extra `[motion]`.

        >>> trajectory = jerk_limited([0.0, 0.0], [1.0, 0.2], start_velocity=[0.5, 0.0],
        ...                           velocity=1.0, acceleration=2.0, jerk=10.0)
        >>> trajectory
        <Trajectory: 1.4625 s, 2 joints, 11 pieces of degree 3>
    """
    ruckig = package("ruckig", "motion", "jerk_limited")
    first = ends("jerk_limited", None, (start, start_velocity, start_acceleration), "start")
    last = ends("jerk_limited", None, (goal, goal_velocity, goal_acceleration), "goal")
    n = first[0].shape[-1]
    if not n or last[0].shape[-1] != n:
        raise ArgumentError(f"jerk_limited: start has {n} coordinates and goal {last[0].shape[-1]}")
    plain_joints("jerk_limited", robot, n)
    bounds = _bounds("jerk_limited", n, velocity_limits(velocity, robot, n, "jerk_limited"), acceleration, jerk)
    least = np.zeros(()) if minimum_duration is None else seconds(minimum_duration, "jerk_limited: minimum_duration")
    parts = [*first, *last, *bounds, least[..., None]]
    shapes = {name: x.shape[:-1] for name, x in zip(("velocity", "acceleration", "jerk"), bounds, strict=True)}
    ends_of = {"start": first[0].shape[:-1], "goal": last[0].shape[:-1]}
    batch = broadcast("jerk_limited", **ends_of, **shapes, minimum_duration=least.shape)
    rows = (np.broadcast_to(part, (*batch, part.shape[-1])).reshape(-1, part.shape[-1]).tolist() for part in parts)
    phases, durations = _solved(ruckig, n, list(zip(*rows, strict=True)))
    return replace(_merged(phases.reshape(*batch, n, _PHASES, 5), durations.reshape(batch)), robot=robot)


def _bounds(caller: str, n: int, velocity, acceleration, jerk) -> list[np.ndarray]:
    """Limits (..., n) of velocity, acceleration and jerk; the first two may be infinite."""
    given = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk}
    return [limits(value, n, name, caller, infinite=name != "jerk") for name, value in given.items()]


def _solved(ruckig, n: int, rows: list) -> tuple[np.ndarray, np.ndarray]:
    """The phases (B, n, _PHASES, 5) of ruckig's trajectories and their durations (B,) [s].

    Each phase is its time [s] and q, v, a and jerk at its start; each row has start, goal, limits and shortest time.
    """
    otg, given, found = ruckig.Ruckig(n), ruckig.InputParameter(n), ruckig.Trajectory(n)
    phases, durations = np.zeros((len(rows), n, _PHASES, 5)), np.zeros(len(rows))
    for k, row in enumerate(rows):
        _tell(given, *row[:9])
        given.minimum_duration = row[9][0] or None
        try:
            result = otg.calculate(given, found)
        except (ruckig.RuckigError, ValueError) as error:
            result = error
        if result not in (ruckig.Result.Working, ruckig.Result.Finished):
            which = f" of trajectory {k}" if len(rows) > 1 else ""
            raise _explained("jerk_limited", f"start{which}", f"goal{which}", row, result)
        phases[k], durations[k] = [_phases(profile) for profile in found.profiles[0]], found.duration
    return phases, durations


def _tell(given, q_0, v_0, a_0, q_1, v_1, a_1, velocity, acceleration, jerk) -> None:
    """Write states and limits into ruckig's input."""
    given.current_position, given.current_velocity, given.current_acceleration = q_0, v_0, a_0
    given.target_position, given.target_velocity, given.target_acceleration = q_1, v_1, a_1
    given.max_velocity, given.max_acceleration, given.max_jerk = velocity, acceleration, jerk


def _phases(profile) -> list:
    """The time, q, v, a and jerk of each phase of one joint; at last the state that it keeps."""
    brake = profile.brake
    return [
        *zip(brake.t, brake.p, brake.v, brake.a, brake.j, strict=True),
        *zip([*profile.t, 0.0], profile.p, profile.v, profile.a, [*profile.j, 0.0], strict=True),
    ]


def _merged(phases: np.ndarray, durations: np.ndarray) -> Trajectory:
    """The trajectory with a piece wherever a joint begins a phase, from phases (..., n, P, 5)."""
    used = np.flatnonzero((phases[..., 0] > 0).reshape(-1, _PHASES).any(axis=0))
    phases = phases[..., [*used, _PHASES - 1], :]
    end = durations[..., None, None]
    before = np.roll(phases[..., 0], 1, axis=-1)  # the time of the phase before; the last one, first here, has 0
    starts = np.minimum(np.cumsum(before, axis=-1), end)  # (..., n, P)
    knots = np.sort(starts.reshape(*durations.shape, starts.shape[-2] * starts.shape[-1]), axis=-1)  # (..., M)
    lasting = np.diff(knots, axis=-1, append=end[..., 0]) > 0
    knots = knots[..., np.flatnonzero(lasting.reshape(-1, knots.shape[-1]).any(axis=0))]
    if not knots.shape[-1]:  # nothing moves
        knots = np.zeros((*durations.shape, 1))
    now = np.sum(starts[..., None, :] <= knots[..., None, :, None], axis=-1) - 1  # (..., n, M) the phase at each knot
    c = np.take_along_axis(phases[..., 1:] / [1.0, 1.0, 2.0, 6.0], now[..., None], axis=-2)  # (..., n, M, 4)
    passed = knots[..., None, :] - np.take_along_axis(starts, now, axis=-1)
    coefficients = shifted(c, passed).swapaxes(-3, -2)
    return Trajectory(np.concatenate([knots, end[..., 0]], axis=-1), coefficients)


# --- each cycle -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class OnlineMotion:
    """Jerk-limited motion of n joints to a target that may change in each cycle, by ruckig; it needs `[motion]`.

    `cycle` is the time of one step [s]; limits are numbers, or arrays (n,), and those of v and a may be infinite. The
    object is one arm's: it holds the plan that ruckig made, which is followed as long as each state is the one of the
    step before and the target stays. Otherwise, `step` makes a new plan.

        >>> online = OnlineMotion(2, cycle=0.01, velocity=1.0, acceleration=2.0, jerk=10.0)
        >>> state, target = State(np.zeros(2)), State(np.array([0.5, -0.1]))
        >>> for _ in range(150):
        ...     state = online.step(state, target)
        >>> state.q
        array([ 0.5, -0.1])
    """

    n: int
    cycle: float
    velocity: Any
    acceleration: Any
    jerk: Any

    def __post_init__(self):
        n = count(self.n, "OnlineMotion: n")
        if not n:
            raise ArgumentError("OnlineMotion: n must be at least 1, the number of joints, got 0")
        object.__setattr__(self, "cycle", positive(self.cycle, "OnlineMotion: cycle"))
        bounds = _bounds("OnlineMotion", n, self.velocity, self.acceleration, self.jerk)
        for name, bound in zip(("velocity", "acceleration", "jerk"), bounds, strict=True):
            if bound.ndim != 1:
                raise ArgumentError(f"OnlineMotion: {name} has shape {bound.shape}; a number or ({n},) is needed")
            bound = bound.copy()
            bound.flags.writeable = False
            object.__setattr__(self, name, bound)

    @cached_property
    def _ruckig(self) -> tuple:
        """Ruckig's module, generator, input and output; the limits are in the input."""
        ruckig = package("ruckig", "motion", "OnlineMotion")
        given = ruckig.InputParameter(self.n)
        given.max_velocity, given.max_acceleration = self.velocity.tolist(), self.acceleration.tolist()
        given.max_jerk = self.jerk.tolist()
        return ruckig, ruckig.Ruckig(self.n, self.cycle), given, ruckig.OutputParameter(self.n)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but ruckig's plan, which is made again."""
        return {name: value for name, value in vars(self).items() if name != "_ruckig"}

    def step(self, state: State, target: State) -> State:
        """The `State` one cycle later, on the fastest way from `state` to `target`, which all joints reach together.

        The state may be beyond the limits, and is then brought within them. The target is where it is now: one that
        moves on in each cycle is approached ever more slowly, so give its state at a later time to meet it. Past its
        target, the motion goes on with the target's velocity and acceleration until there is another one.
        """
        ruckig, otg, given, found = self._ruckig
        start, goal = self._rows("state", state), self._rows("target", target)
        given.current_position, given.current_velocity, given.current_acceleration = start
        given.target_position, given.target_velocity, given.target_acceleration = goal
        try:
            result = otg.update(given, found)
        except (ruckig.RuckigError, ValueError) as error:
            result = error
        if result not in (ruckig.Result.Working, ruckig.Result.Finished):
            row = (*start, *goal, self.velocity, self.acceleration, self.jerk)
            raise _explained("OnlineMotion.step", "state", "target", row, result)
        return State(np.array(found.new_position), np.array(found.new_velocity), np.array(found.new_acceleration))

    def _rows(self, name: str, state: State) -> list[list[float]]:
        """Position, velocity and acceleration as lists of n numbers."""
        if not isinstance(state, tuple) or len(state) != 3:
            raise ArgumentError(f"OnlineMotion.step: {name} must be a State(q, v, a), got {state!r:.60}")
        rows = []
        for part, x in zip("qva", state, strict=True):
            if part != "q" and isinstance(x, int | float | np.integer | np.floating):
                rows.append([float(x)] * self.n)
                continue
            if not isinstance(x, np.ndarray) or x.dtype != np.float64:
                x = floats(x)
            if x.shape != (self.n,):
                raise ArgumentError(f"OnlineMotion.step: {name}.{part} has shape {x.shape}; ({self.n},) is needed")
            rows.append(x.tolist())
        return rows


# --- why there is none ------------------------------------------------------------------------------------------------


def _explained(caller: str, start: str, goal: str, row: tuple, reason) -> ArgumentError | SolveError:
    """The error that says why ruckig refused the row: q, v and a of start and goal, and limits."""
    numbers = [np.asarray(part, float) for part in row[:9]]
    for k, part in enumerate(numbers[:6]):
        if not np.isfinite(part).all():
            i = int(np.argmin(np.isfinite(part)))
            whose = f"{'qva'[k % 3]} of the {start if k < 3 else goal}"
            return ArgumentError(f"{caller}: {whose} is {part[i]:g} at joint {i}; finite numbers are needed")
    v, a, V, A, J = numbers[4:]
    # Before it braked with a against v, the velocity was v + a² / 2J at least.
    before = np.where(v * a < 0, np.abs(v) + a**2 / (2 * J), 0.0)
    worst = {"|v|": (np.abs(v), V), "|a|": (np.abs(a), A), "while it brakes with its a, |v| before": (before, V)}
    for what, (x, limit) in worst.items():
        if (x > limit).any():
            i = int(np.argmax(x > limit))
            return ArgumentError(
                f"{caller}: the {goal} cannot be reached: {what} is {x[i]:g} at joint {i}, above its limit {limit[i]:g}"
            )
    said = str(reason).replace("[ruckig] ", "").strip().partition(" input:")[0].partition("\n")[0]
    if isinstance(reason, ValueError):  # its number of a result that has no name
        said = "the motion lasts too long"
    return SolveError(
        f"{caller}: ruckig found no motion from the {start} to the {goal} ({said}); it knows motions of up to 7600 s, "
        "and its arithmetic needs states and limits of similar size"
    )
