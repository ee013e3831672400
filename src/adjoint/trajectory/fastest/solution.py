"""The fastest speed along a path within all limits, or the reason why there is none."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError, SolveError
from .grid import PathGrid, bound
from .problem import PathProblem, joint_name, place
from .reachability import TimeLaw, fastest, speed_limit
from .torque import PathTorque, damping, path_torque, torque_excess

__all__ = ["PathSolution", "solved"]

_STILL = 1e-12  # an interval in which no joint moves by more than this fraction of the largest |q| is none
_BOUNDLESS = 1e40  # no limit holds where the squared speed is as large as this
_PASSES = 30  # of torques that are measured between the points of the grid
_SLACK = 1e-4  # torque limits are lowered by this fraction, so that most of the torques between the points are within
_MARGIN = 1.5  # where they are not, limits are lowered by this many times the excess
_ROUNDING = 1e-10  # torques this little above their limits, as a fraction, are within them
_LITTLE, _SETTLED = 1e-3, 4  # damping that is little, as a fraction of torque limits; passes after which it is known


class PathSolution(NamedTuple):
    """The squared speeds x (..., G + 1), their largest values `caps`, and the sets K that they are in."""

    x: np.ndarray
    caps: np.ndarray
    law: TimeLaw
    torque: PathTorque | None


# --- the solution -----------------------------------------------------------------------------------------------------


def _at_points(pick, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Numbers (..., G + 1) at the points of the grid, from those at both ends of the intervals (..., G)."""
    found = np.empty((*first.shape[:-1], first.shape[-1] + 1))
    found[..., 0], found[..., -1] = first[..., 0], last[..., -1]
    pick(first[..., 1:], last[..., :-1], out=found[..., 1:-1])
    return found


def _caps(problem: PathProblem) -> np.ndarray:
    """The largest squared speeds (..., G + 1) at which the joints' velocities are within their limits.

    Between the points of the grid, x is at most what it is if both ends have these speeds. Where a velocity exceeds
    its limit then, both ends are lowered by as much.
    """
    _, steps, local = problem.grid
    first, last, excess, reach = bound(speed_limit, problem.shape)(local, steps, problem.velocity)
    if not reach.min() > _STILL * max(abs(local.max()), abs(local.min())):
        _refuse_stillness(problem, reach)
    return _at_points(np.minimum, first, last) / _at_points(np.maximum, excess, excess)


def _law(problem: PathProblem, caps: np.ndarray, torque: PathTorque | None) -> tuple[TimeLaw, np.ndarray]:
    """The fastest `TimeLaw`, and its squared speeds (..., G + 1)."""
    given: dict[str, Any] = {} if torque is None else torque._asdict()
    if problem.acceleration is not None:
        given["acceleration"] = problem.acceleration
    _, steps, local = problem.grid
    law = bound(fastest, problem.shape)(local, steps, caps[..., :-1], problem.start, problem.goal, **given)
    x = np.empty(caps.shape)
    x[..., 0], x[..., 1:] = problem.start, law.x
    started = (law.low[..., 0] <= problem.start) & (problem.start <= law.high[..., 0] * (1 + _ROUNDING))
    moves = (x[..., 1:] + x[..., :-1] > 0).all() and x.max() < _BOUNDLESS
    if not (moves and started.all() and (law.low <= law.high).all()):
        raise _why_not(problem, law, torque)
    return law, x


def solved(problem: PathProblem) -> PathSolution:
    """The fastest motion within all limits."""
    caps = _caps(problem)
    _check_ends(problem, caps)
    if problem.effort is not None:
        return _within_torques(problem, caps)
    law, x = _law(problem, caps, None)
    return PathSolution(x, caps, law, None)


def _within_torques(problem: PathProblem, caps: np.ndarray) -> PathSolution:
    """The fastest motion within all limits, those of torques among them."""
    assert problem.robot is not None and problem.effort is not None
    torque = path_torque(problem.robot, problem.grid, problem.effort, problem.smooth)
    torque.bounds[..., 0, :] += _SLACK
    torque.bounds[..., 1, :] -= _SLACK
    _damp(problem, caps, torque)
    law, x = _law(problem, caps, torque)
    return _mended(problem, PathSolution(x, caps, law, torque), _PASSES)


def _mended(problem: PathProblem, solution: PathSolution, passes: int) -> PathSolution:
    """The solution, with torques that are within their limits between the points of the grid, too.

    Where a torque exceeds its limit, the limit in that interval is lowered by a little more, and the paths where this
    happens are solved again.
    """
    robot, effort, (x, caps, law, torque) = problem.robot, problem.effort, solution
    assert robot is not None and effort is not None and torque is not None
    excess = torque_excess(robot, problem.grid, effort, torque, x)
    wrong = excess.max(axis=(-2, -1)) > _ROUNDING
    if not wrong.any():
        return solution
    if not passes:
        raise SolveError(
            f"{problem.caller}: torques exceed their limits by {excess.max():.2g} of them between the points of the "
            "grid; a finer grid is needed"
        )
    at = wrong if wrong.ndim else ...
    margin = _MARGIN * excess[at][..., None, :] * [[1.0], [-1.0]]
    again = PathTorque(torque.terms[at], torque.bounds[at] + margin)
    some, lower = _some(problem, wrong), caps[at]
    slower, better = _law(some, lower, again)
    mended = _mended(some, PathSolution(better, lower, slower, again), passes - 1)
    x[at], torque.bounds[at] = mended.x, again.bounds
    for part, new in zip(law, mended.law, strict=True):
        part[at] = new
    return solution


def _some(problem: PathProblem, chosen: np.ndarray) -> PathProblem:
    """The problem of some paths of a batch."""
    if not chosen.ndim:
        return problem
    s, steps, local = problem.grid
    s, steps = (part[chosen] if part.ndim > 1 else part for part in (s, steps))
    paths = np.argwhere(chosen) if problem.paths is None else problem.paths[chosen]
    grid = PathGrid(s, steps, local[chosen])
    return problem._replace(grid=grid, start=problem.start[chosen], goal=problem.goal[chosen], paths=paths)


def _damp(problem: PathProblem, caps: np.ndarray, torque: PathTorque) -> None:
    """Add viscous damping to the torques: that of the speeds which are found without it, then with it, and so on.

    What is left of the difference is treated as an excess of torque. Where velocity limits bound damping to little, the
    torques are kept away from their limits by that.
    """
    robot, grid, effort = problem.robot, problem.grid, problem.effort
    assert robot is not None and effort is not None
    if not robot.damping.any():
        return
    most = np.where(robot.damping > 0, robot.damping / effort * np.minimum(problem.velocity, 1e100), 0.0)
    if np.max(most) < _LITTLE:
        torque.bounds[..., 0, :] += most
        torque.bounds[..., 1, :] -= most
        return
    now = 0.0
    for _ in range(_SETTLED):
        _, x = _law(problem, caps, torque)
        before, now = now, damping(robot, grid, effort, x)
        torque.terms[..., 2, :] += now - before


# --- what stands in the way -------------------------------------------------------------------------------------------


def _refuse_stillness(problem: PathProblem, reach: np.ndarray) -> None:
    """Raise `ArgumentError` where the path stands still, or say that it does so everywhere."""
    at = tuple(int(k) for k in np.unravel_index(np.argmin(reach), reach.shape))
    largest = np.max(reach[at[:-1]])
    scale = np.max(np.abs(problem.grid.local[at[:-1]])) if len(at) > 1 else np.max(np.abs(problem.grid.local))
    if not largest > _STILL * scale:
        where = f"path {list(at[:-1])}" if len(at) > 1 else "the path"
        raise ArgumentError(f"{problem.caller}: {where} has no length: all its points are equal")
    if not reach[at] > _STILL * scale:
        raise ArgumentError(
            f"{problem.caller}: the path stands still at {place(problem, at)}; leave out points that repeat the one "
            "before, and cut a motion into paths where it rests"
        )


def _check_ends(problem: PathProblem, caps: np.ndarray) -> None:
    """Raise `SolveError` if the speed at an end of the path alone exceeds the velocity limit of a joint."""
    for name, x, point in (("start_speed", problem.start, 0), ("goal_speed", problem.goal, -1)):
        cap = caps[..., point]
        if (x > cap).any():
            at = tuple(int(k[0]) for k in np.nonzero(np.atleast_1d(x > cap)))[: x.ndim]
            c = problem.grid.local[at][point]
            h = problem.grid.steps[..., point][at if problem.grid.steps.ndim > 1 else ()] * (point != 0)
            slope = sum(k * c[k] * h ** (k - 1) for k in range(1, len(c)))
            j = int(np.argmax(np.abs(slope) / problem.velocity))
            raise SolveError(
                f"{problem.caller}: {name} = {np.sqrt(x[at]):g} is too high for the velocity limit "
                f"{problem.velocity[j]:g} of {joint_name(problem, j)}; at most {np.sqrt(cap[at]):.6g} is possible at "
                f"{place(problem, (*at, point))}"
            )


def _why_not(problem: PathProblem, law: TimeLaw, torque: PathTorque | None) -> SolveError:
    """The error that says where a path cannot be followed, and which limit stands in the way."""
    x = np.concatenate([problem.start[..., None], law.x], axis=-1)
    empty, stuck = law.low > law.high, ~(x[..., 1:] + x[..., :-1] > 0)
    bad = (empty | stuck).any(axis=-1) | (law.low[..., 0] > problem.start) | (problem.start > law.high[..., 0])
    bad |= ~(x < _BOUNDLESS).all(axis=-1)
    at = tuple(int(k[0]) for k in np.nonzero(np.atleast_1d(bad)))[: bad.ndim]
    low, high = np.sqrt(np.maximum([law.low[at], law.high[at]], 0.0))
    start, goal = np.sqrt(problem.start[at]), np.sqrt(problem.goal[at])
    if torque is not None and (found := _too_heavy(problem, torque, at)):
        return SolveError(f"{problem.caller}: {found}")
    if empty[at].any():
        i = int(np.flatnonzero(empty[at])[-1])
        why = f"no speed at {place(problem, (*at, i))} leads to the goal within the limits"
        if goal > 0:
            why += f"; goal_speed = {goal:g} may be too high"
    elif start > high[0]:
        why = f"start_speed = {start:g} is too high: at most {high[0]:.6g} is possible at {place(problem, (*at, 0))}"
    elif start < low[0]:
        why = f"start_speed = {start:g} is too low: at least {low[0]:.6g} is needed at {place(problem, (*at, 0))}"
        why += f" to arrive with goal_speed = {goal:g}" if goal > 0 else ""
    elif not (x[at] < _BOUNDLESS).all():
        i = int(np.argmax(x[at]))
        why = f"no limit holds for the joints that move at {place(problem, (*at, i))}"
    else:
        i = int(np.argmax(stuck[at]))
        why = f"the limits leave no speed but 0 at {place(problem, (*at, i))}"
    return SolveError(f"{problem.caller}: {why}")


def _too_heavy(problem: PathProblem, torque: PathTorque, at: tuple) -> str:
    """A sentence about the point of a path at which gravity alone exceeds a torque limit most; "" if there is none."""
    gravity = torque.terms[at][:, 0, 2]
    i, j = np.unravel_index(np.argmax(np.abs(gravity)), gravity.shape)
    if not abs(gravity[i, j]) > 1 or problem.effort is None:
        return ""
    return (
        f"gravity alone takes {abs(gravity[i, j]) * problem.effort[j]:.4g} of {joint_name(problem, j)} at "
        f"{place(problem, (*at, i))}; its torque limit is {problem.effort[j]:.4g}"
    )
