"""The fastest motion along a path with bounded jerk, too, by a few linear programs in x(s) = ṡ².

In terms of x and its derivatives by s, s̈ = x' / 2 and s⃛ = √x x'' / 2. So velocities, accelerations and torques are
limits that are linear in x and x', and the limit of a joint's jerk is

    |q' x'' / 2 + 3 q'' x' / 2 + q''' x| <= jerk / √x

Its right side is convex in x; so a tangent at the x found before is below it. With tangents, the limits are linear, and
what they allow is within the true limits: each linear program gives a motion that is faster than the last one, until
none is. This is sequential convex programming after Debrouwere et al. (2013), "Time-optimal path following for robots
with convex-concave constraints using sequential convex programming", IEEE Trans. Robot. 29(6).

At rest, jerk is bounded only if x ~ s^(4/3). So x = w y with a weight w that is so at both ends of the path, and an
unknown quadratic spline y on the grid.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import BSpline
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, diags_array, vstack

from ...dynamics.newton_euler import inverse_dynamics
from ...errors import SolveError
from ...model.robot import Robot
from ..piecewise import Trajectory, pieced
from ..polynomials import Order, extremes, rate, shifted
from .grid import PathGrid
from .problem import PathProblem, joint_name
from .reachability import UNBOUNDED
from .torque import terms_at

__all__ = ["with_bounded_jerk"]

_PROGRAMS = 60  # linear programs at most
_GAIN = 1e-4  # a program that saves less than this fraction of the duration is the last
_GROWTH = 3.0  # x changes by this factor at most, where tangents meet 0
_ROUNDS, _NEAR = 6, 2e-3  # motions that are found at most, until limits are exceeded by no more than this fraction
_STRETCHES, _ROUNDING = 20, 1e-12  # of time in the end; each has to be this much larger than what is needed
_GRADES = 12  # intervals in the place of the first one, and of the last one
_PARTS, _SIMPSON = (0.0, 0.5, 1.0), (1 / 6, 2 / 3, 1 / 6)  # of an interval, where limits hold; weights of their values
_FINER, _SLACK = 20, 1e-4  # torques are measured at so many points of an interval, and kept this far below their limits


# --- limits at points of the path -------------------------------------------------------------------------------------


def _graded(grid: PathGrid) -> PathGrid:
    """The grid with short intervals beside both ends of the path, where the motion starts and stops."""
    near = (np.arange(1, _GRADES) / _GRADES) ** 3
    first, last = grid.s[0] + near * grid.steps[0], grid.s[-1] - near[::-1] * grid.steps[-1]
    s = np.concatenate([grid.s[:1], first, grid.s[1:-1], last, grid.s[-1:]])
    at = np.clip(np.searchsorted(grid.s, s[:-1], side="right") - 1, 0, len(grid.steps) - 1)
    local = shifted(grid.local[at].swapaxes(1, 2), (s[:-1] - grid.s[at])[:, None]).swapaxes(1, 2)
    return PathGrid(s, np.diff(s), np.ascontiguousarray(local))


class _Points(NamedTuple):
    """Points of the path, at which limits hold; x, x' and x'' there are sums of the unknowns."""

    rates: list  # [q', q'', q'''] (points, n)
    sums: list  # three matrices (points, unknowns)
    torque: tuple | None  # A, B, g, D (points, n): the torque A s̈ + B x + D √x + g, in units of its limit


def _rates(grid: PathGrid, at: np.ndarray, left: np.ndarray) -> list:
    """The first three derivatives (points, n) of q by s, at distances `left` from the starts of intervals `at`."""
    found, c = [], grid.local[at].swapaxes(1, 2)
    for _ in range(3):
        c = rate(c)
        found.append((c * left[:, None, None] ** np.arange(c.shape[-1])).sum(axis=-1))
    return found


def _weight(s: np.ndarray, start: float, goal: float) -> tuple:
    """The weight w = ((s - start) (goal - s))^(4/3) and its first two derivatives, between the ends."""
    p, slope = (s - start) * (goal - s), start + goal - 2 * s
    return p ** (4 / 3), 4 / 3 * p ** (1 / 3) * slope, 4 / 9 * p ** (-2 / 3) * slope**2 - 8 / 3 * p ** (1 / 3)


def _sums(s: np.ndarray) -> list:
    """The matrices of `_Points`, whose rows are the parts of all intervals.

    At both ends of the path, x, x' and what x'' contributes to them are 0, and s⃛ is finite. The rows there give s⃛ in
    terms of what x would be at the point beside them, if s⃛ were constant: x'' = 4 x / (9 s²).
    """
    knots = np.concatenate([[s[0]] * 2, s, [s[-1]] * 2])
    splines = BSpline(knots, np.eye(len(s) + 1), 2)
    h = np.diff(s)
    bend = splines(s[:-1] + 0.5 * h, 2)  # constant in each interval
    rows = []
    for part in _PARTS:
        at = np.clip(s[:-1] + part * h, s[0] + 1e-9 * h[0], s[-1] - 1e-9 * h[-1])
        (w, w_1, w_2), (y, y_1) = (x[:, None] for x in _weight(at, s[0], s[-1])), (splines(at), splines(at, 1))
        rows.append((w * y, w_1 * y + w * y_1, w_2 * y + 2 * w_1 * y_1 + w * bend))
    for part, at, away in ((0, 0, h[0]), (-1, -1, h[-1])):
        x, slope, third = (matrix[at] for matrix in rows[part])
        x[at] = (away * (s[-1] - s[0])) ** (4 / 3)
        x[:], slope[:] = np.where(np.arange(len(x)) == at % len(x), x, 0.0), 0.0
        third[:] = 4 / (9 * away**2) * x
    return [csr_array(np.concatenate(kind)) for kind in zip(*rows, strict=True)]


def _points(problem: PathProblem) -> _Points:
    """The points of a path at which limits hold."""
    grid, robot, effort = problem.grid, problem.robot, problem.effort
    at = np.tile(np.arange(len(grid.steps)), len(_PARTS))
    left = np.concatenate([part * grid.steps for part in _PARTS])
    rates = _rates(grid, at, left)
    ends = [0, -1]
    rates[1][ends] = rates[2][ends] = 0.0
    torque = None
    if robot is not None and effort is not None:
        A, B, g = np.moveaxis(terms_at(robot, grid.local[at], left, effort), -2, 0)
        D = robot.damping * rates[0] / effort
        B[ends] = D[ends] = 0.0
        g = g + robot.friction * np.sign(rates[0]) / effort
        if np.max(np.abs(g)) >= 1:
            i, j = np.unravel_index(np.argmax(np.abs(g)), g.shape)
            raise SolveError(
                f"{problem.caller}: with limits of jerk, torques must be able to hold the robot all along the path; "
                f"gravity and friction of {joint_name(problem, j)} exceed its limit {effort[j]:.4g} at "
                f"s = {grid.s[at[i]] + left[i]:g}"
            )
        torque = A, B, g, D
    return _Points(rates, _sums(grid.s), torque)


# --- linear programs --------------------------------------------------------------------------------------------------


def _weighted(*pairs) -> Any:
    """The sum of matrices, each with weights (rows,)."""
    return reduce(add, (diags_array(weights) @ matrix for weights, matrix in pairs))


class _Task(NamedTuple):
    """What the linear programs are about."""

    problem: PathProblem
    jerk: np.ndarray  # (n,)
    points: _Points
    room: np.ndarray  # (4, G): by which factors limits of velocity, acceleration, jerk and torque are lowered


def _inequalities(task: _Task, now: np.ndarray) -> list:
    """The limits as triples (matrix, least, largest), linear about the unknowns `now`."""
    problem, jerk, ((d1, d2, d3), (x, slope, bend), torque), room = task
    velocity, acceleration, third, effort = np.tile(room, len(_PARTS))
    root = np.sqrt(x @ now)
    fastest = np.max(np.abs(d1) / problem.velocity, axis=1, initial=UNBOUNDED**-0.5)
    found = [(x, 0 * root, (velocity / fastest) ** 2)]
    for j, limit in enumerate(jerk):
        if problem.acceleration is not None:
            own = _weighted((0.5 * d1[:, j], slope), (d2[:, j], x)) / problem.acceleration[j]
            found.append((own, -acceleration, acceleration))
        if torque is not None:
            A, B, g, D = (part[:, j] for part in torque)
            middle = g + 0.5 * D * root  # D √x, by a tangent
            found.append((_weighted((0.5 * A, slope), (B + 0.5 * D / root, x)), -effort - middle, effort - middle))
        own = _weighted((0.5 * d1[:, j], bend), (1.5 * d2[:, j], slope), (d3[:, j], x)) / limit
        tangent = diags_array(0.5 * third / root**3) @ x
        found += [(tangent + side * own, -np.inf * root, 1.5 * third / root) for side in (1.0, -1.0)]
    return found


def _faster(task: _Task, now: np.ndarray) -> np.ndarray | None:
    """The unknowns of the fastest motion within limits that are linear about `now`; None if there is none."""
    matrix, least, largest = zip(*_inequalities(task, now), strict=True)
    x = task.points.sums[0]
    durations = _durations(task.problem.grid.s, *_at_nodes(task.points, now))
    times = np.concatenate([weight * durations for weight in _SIMPSON])
    cost = -((times / (x @ now)) @ x) * now  # twice the gradient of the duration ∫ ds / √x by log y
    rows: Any = vstack(matrix, format="csr") @ diags_array(now)
    within = LinearConstraint(rows, np.concatenate(least), np.concatenate(largest))  # type: ignore[arg-type]
    found = milp(cost / abs(cost).max(), bounds=Bounds(1 / _GROWTH, _GROWTH), constraints=within)
    return None if found.x is None else found.x * now


def _durations(s: np.ndarray, x: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """The durations of the intervals, from x and x' at all points, with ṡ a cubic polynomial of time in each.

    An interval takes the time h with Δs = h (ṡ_0 + ṡ_1) / 2 + h² (s̈_0 - s̈_1) / 12.
    """
    mean, change = 0.5 * (np.sqrt(x[1:]) + np.sqrt(x[:-1])), (slope[:-1] - slope[1:]) / 24
    return 2 * np.diff(s) / (mean + np.sqrt(np.maximum(mean**2 + 4 * change * np.diff(s), 0.0)))


def _at_nodes(points: _Points, unknowns: np.ndarray) -> np.ndarray:
    """x and x' (2, G + 1) at all points of the grid; both are 0 at the ends."""
    inner = [(matrix @ unknowns)[1 : matrix.shape[0] // len(_PARTS)] for matrix in points.sums[:2]]
    return np.pad(inner, ((0, 0), (1, 1)))


def _fastest(task: _Task, now: np.ndarray) -> np.ndarray:
    """The unknowns of the fastest motion. `now` are those of some motion; it is slowed down until programs succeed."""
    s, duration = task.problem.grid.s, np.inf
    for _ in range(_PROGRAMS):
        found = _faster(task, now)
        if found is None and np.isinf(duration):
            now = 0.1 * now
            continue
        if found is None:
            break
        before, now, duration = duration, found, np.sum(_durations(s, *_at_nodes(task.points, found)))
        if duration > before * (1 - _GAIN):
            break
    if np.isinf(duration):
        raise SolveError(
            f"{task.problem.caller}: no motion from rest to rest with bounded jerk was found within the limits, "
            "however slow"
        )
    return now


# --- pieces in time ---------------------------------------------------------------------------------------------------


def _composed(grid: PathGrid, x: np.ndarray, slope: np.ndarray, robot: Robot | None) -> Trajectory:
    """The trajectory q(s(t)), in which s is of degree 4 in each interval; s̈ is continuous."""
    h = _durations(grid.s, x, slope)
    speed, u = np.sqrt(x), 0.5 * slope
    left, turn = speed[1:] - speed[:-1] - u[:-1] * h, u[1:] - u[:-1]
    s = np.stack(
        [speed[:-1], 0.5 * u[:-1], left / h**2 - turn / (3 * h), turn / (4 * h**2) - left / (2 * h**3)], axis=1
    )
    path = grid.local.swapaxes(1, 2)
    found = path[..., -1:]
    for power in reversed(range(path.shape[-1] - 1)):
        parts = [np.pad(found * s[:, None, [j]], ((0, 0), (0, 0), (j + 1, 3 - j))) for j in range(4)]
        found = np.sum(parts, axis=0)
        found[..., 0] += path[..., power]
    return pieced(robot, h, found)


def _shares(problem: PathProblem, jerk: np.ndarray, motion: Trajectory) -> np.ndarray:
    """The shares (4, G) of the limits of velocity, acceleration, jerk and torque that each piece of a motion takes.

    They are exact, but for torques, which are measured at points of each piece.
    """
    h = np.diff(motion.knots)[:, None]
    found = np.zeros((4, motion.pieces))
    for k, most in enumerate((problem.velocity, problem.acceleration, jerk)):
        if most is not None and np.isfinite(most).any():
            c = rate(motion.coefficients, k + 1)
            low, high, *_ = extremes(Order(c.shape[-1]), c, h)
            found[k] = np.max(np.maximum(high, -low) / most, axis=1)
    if problem.robot is not None and problem.effort is not None:
        q, v, a, _ = motion((motion.knots[:-1, None] + np.arange(_FINER + 1) / _FINER * h).ravel())
        tau = np.abs(inverse_dynamics(problem.robot, q, v, a)) / problem.effort
        found[3] = tau.reshape(motion.pieces, -1).max(axis=1) * (1 + _SLACK)
    return found


def _smooth(problem: PathProblem, jerk: np.ndarray) -> Trajectory:
    """The fastest motion along one path.

    Where a limit is exceeded between points, it is lowered in that interval, and the motion is found again. What is
    left is taken away by a stretch of time, in which torques that gravity takes stay; so it may take several.
    """
    points, grid = _points(problem), problem.grid
    task, now = _Task(problem, jerk, points, np.ones((4, len(grid.steps)))), np.ones(len(grid.s) + 1)
    for _ in range(_ROUNDS):
        now = _fastest(task, now)
        motion = _composed(grid, *_at_nodes(points, now), problem.robot)
        shares = _shares(problem, jerk, motion)
        if shares.max() < 1 + _NEAR:
            break
        task = task._replace(room=task.room / np.maximum(shares, 1.0))
    for _ in range(_STRETCHES):
        factor = np.max(shares.max(axis=1) ** (1.0, 1 / 2, 1 / 3, 1 / 2))
        if factor <= 1:
            return motion
        motion = motion.stretched(factor * (1 + _ROUNDING))
        shares = _shares(problem, jerk, motion)
    raise SolveError(f"{problem.caller}: torques exceed their limits between the points of the grid; use a finer grid")


def with_bounded_jerk(problem: PathProblem, jerk: np.ndarray) -> Trajectory:
    """The fastest trajectory with limits `jerk` (n,), too; paths of a batch one after the other."""
    s, steps, local = problem.grid
    batch, found = problem.start.shape, []
    for at in np.ndindex(batch):
        grid = PathGrid(s[at] if s.ndim > 1 else s, steps[at] if steps.ndim > 1 else steps, local[at])
        found.append(_smooth(problem._replace(grid=_graded(grid)), jerk))
    knots, coefficients = (
        np.reshape([getattr(motion, name) for motion in found], (*batch, *getattr(found[0], name).shape))
        for name in ("knots", "coefficients")
    )
    return Trajectory(knots, coefficients, problem.robot)
