"""Which solution to take: inside the joint limits, nearest to where the arm is, or continuous along a path."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..model.input_checks import floats, numbers, positive, vectors
from ..model.needs import need_robot
from ..model.once import once_a_robot
from ..model.robot import Robot
from .chains import chain_of
from .closed_form import Solutions, inverse_kinematics

__all__ = [
    "Followed",
    "Jump",
    "Nearest",
    "follow_path",
    "middle_of_limits",
    "nearest_copy",
    "nearest_solution",
    "with_turns",
    "within_limits",
]

_INSIDE = 1e-9  # [rad, m] a coordinate this little outside of its limits is inside: poses are rounded
_TURN = 2 * np.pi
_MOST_COPIES = 4096


@once_a_robot
def turning_coordinates(robot: Robot) -> np.ndarray:
    """(nq,) whether full turns of a coordinate change nothing: it and all joints that follow it turn whole turns."""
    found, at = np.zeros(robot.nq, bool), robot.layout.q_start
    turning = [kind in ("revolute", "continuous") for kind in robot.joint_types]
    for i, turns in enumerate(turning):
        if i not in robot.mimics:
            found[at[i]] = turns
    for i, mimic in robot.mimics.items():
        found[at[i]] &= turning[i] and mimic.multiplier == round(mimic.multiplier)
    found.setflags(write=False)
    return found


def _solutions(value, robot: Robot, caller: str) -> Solutions:
    need_robot(robot, caller)
    try:
        q, exact = value
    except (TypeError, ValueError):
        what = f"{caller} needs the Solutions that inverse_kinematics returns"
        raise ArgumentError(f"{what}, got {value!r:.60}") from None
    q = vectors(q, robot.nq, "solutions.q", caller)
    exact = np.asarray(exact, bool)
    if q.ndim < 2 or exact.shape != q.shape[:-1]:
        what = f"{caller}: solutions have q {q.shape} and exact {exact.shape}"
        raise ArgumentError(f"{what}; exact must be {q.shape[:-1]}")
    return Solutions(q, exact)


def nearest_copy(robot: Robot, q: np.ndarray, to: np.ndarray) -> tuple[np.ndarray, Any]:
    """The copies of q (..., nq), by full turns, nearest to `to` inside the limits; and whether they are inside.

    A coordinate without a copy inside keeps the copy nearest to `to`.
    """
    low, high, turns = robot.lower - _INSIDE, robot.upper + _INSIDE, turning_coordinates(robot)
    wanted = np.where(turns, q + _TURN * np.rint((to - q) / _TURN), q)
    # Of the copies inside the limits, the one nearest to `to` is the nearest one of all, clipped to the first or last.
    with np.errstate(invalid="ignore"):
        first = np.where(np.isfinite(low), q + _TURN * np.ceil((low - q) / _TURN), -np.inf)
        last = np.where(np.isfinite(high), q + _TURN * np.floor((high - q) / _TURN), np.inf)
    fits = turns & (first <= last)
    copy = np.where(fits, np.clip(wanted, first, last), wanted)
    return copy, np.all((copy >= low) & (copy <= high), axis=-1)


def middle_of_limits(robot: Robot) -> np.ndarray:
    """(nq,) the middle between the limits; of one limit or none, the point of them nearest to 0."""
    both = np.isfinite(robot.lower) & np.isfinite(robot.upper)
    with np.errstate(invalid="ignore"):
        return np.where(both, 0.5 * (robot.lower + robot.upper), np.clip(0.0, robot.lower, robot.upper))


def within_limits(robot: Robot, solutions: Solutions) -> Solutions:
    """Return the solutions with full turns added so that they are inside the joint limits; `exact` only if they are.

    Of several copies q ± 2π inside the limits it is the one nearest to the middle between them. `with_turns` gives all.

        >>> q, usable = within_limits(robot, inverse_kinematics(robot, T, "tool"))
    """
    q, exact = _solutions(solutions, robot, "within_limits")
    copy, inside = nearest_copy(robot, q, middle_of_limits(robot))
    return Solutions(copy, exact & inside)


def with_turns(robot: Robot, solutions: Solutions) -> Solutions:
    """Return all copies of the solutions, by full turns of the joints, that are inside the joint limits.

    q is (..., k · c, nq): for every branch as many copies c as any branch can have, and `exact` is False for those that
    are outside. Of angles with one limit or none there is one copy, that of `within_limits`.

        >>> q, usable = with_turns(robot, inverse_kinematics(robot, T, "tool"))
        >>> every = q[usable]                                               # all configurations of the arm at T
    """
    q, exact = _solutions(solutions, robot, "with_turns")
    low, high = robot.lower - _INSIDE, robot.upper + _INSIDE
    limited = turning_coordinates(robot) & np.isfinite(low) & np.isfinite(high)
    with np.errstate(invalid="ignore"):  # q in [-π, π] has copies q + 2π n inside the limits for these n
        first = np.where(limited, np.ceil((low - np.pi) / _TURN), 0.0)
        last = np.maximum(np.where(limited, np.floor((high + np.pi) / _TURN), 0.0), first)
    if (copies := np.prod(last - first + 1)) > _MOST_COPIES:
        raise ArgumentError(
            f"with_turns: the limits of robot '{robot.name}' allow {copies:.3g} copies of a solution; at most "
            f"{_MOST_COPIES} are listed; `within_limits` gives one of them"
        )
    shifts = np.array(list(itertools.product(*(np.arange(a, b + 1) for a, b in zip(first, last, strict=True)))))
    start, _ = nearest_copy(robot, q, middle_of_limits(robot))  # for coordinates with one limit or none
    start = np.where(limited, q - _TURN * np.rint(q / _TURN), start)
    every = start[..., None, :] + _TURN * shifts
    inside = ((every >= low) & (every <= high)).all(axis=-1) & exact[..., None]
    shape = (*q.shape[:-2], q.shape[-2] * len(shifts))
    return Solutions(every.reshape(*shape, robot.nq), inside.reshape(shape))


class Nearest(NamedTuple):
    """The chosen configurations `q` (..., nq), their `branch` (...,), and their `distance` (...,) from the given q.

    Where no solution is exact and inside the limits, q and distance are NaN and branch is -1.
    """

    q: np.ndarray
    branch: np.ndarray
    distance: np.ndarray


def nearest_solution(robot: Robot, solutions: Solutions, q, *, frame: str | None = None, weights=1.0) -> Nearest:
    """Return the exact solution inside the joint limits that is nearest to q (..., nq), full turns included.

    The distance is √Σ w (q_1 - q_0)², with `weights` w >= 0, one number or (nq,). With `frame`, coordinates that do not
    move it, such as a gripper's, stay as they are in q. Where there is no such solution, q is NaN and `branch` is -1.

        >>> chosen = nearest_solution(robot, inverse_kinematics(robot, T, "tool"), q)
        >>> chosen.q.shape
        (6,)
    """
    caller = "nearest_solution"
    found, exact = _solutions(solutions, robot, caller)
    q, w = vectors(q, robot.nq, "q", caller), _weights(weights, robot.nq, caller)
    try:
        np.broadcast_shapes(q.shape[:-1], found.shape[:-2])
    except ValueError:
        raise ArgumentError(f"{caller}: solutions {found.shape[:-2]} and q {q.shape[:-1]} do not broadcast") from None
    if frame is not None:
        found = np.where(_moved_by(robot, frame), found, q[..., None, :])
    copy, inside = nearest_copy(robot, found, q[..., None, :])
    with np.errstate(invalid="ignore"):
        d2 = (w * (copy - q[..., None, :]) ** 2).sum(axis=-1)
    d2 = np.where(exact & inside & np.isfinite(d2), d2, np.inf)
    branch = d2.argmin(axis=-1)
    best = np.take_along_axis(d2, branch[..., None], axis=-1)[..., 0]
    there = np.isfinite(best)
    chosen = np.take_along_axis(copy, branch[..., None, None], axis=-2)[..., 0, :]
    distance = np.sqrt(np.where(there, best, np.nan))
    return Nearest(np.where(there[..., None], chosen, np.nan), np.where(there, branch, -1), distance)


def _weights(value, n: int, caller: str) -> np.ndarray:
    w = floats(value)
    if w.shape not in ((), (n,)) or not (w >= 0).all():
        raise ArgumentError(f"{caller}: weights must be one number or {n} of them, 0 or more, got {value!r:.60}")
    return w


@once_a_robot
def _moved_by(robot: Robot, frame: str) -> np.ndarray:
    """(nq,) whether a coordinate moves a frame."""
    return np.isin(np.arange(robot.nq), chain_of(robot, frame).places)


# --- along a path -----------------------------------------------------------------------------------------------------


class Jump(NamedTuple):
    """A place where a path is not continuous, and why: between poses `index` - 1 and `index`.

    Poses from `index` up to `until` have no configuration at all, if `until` is larger than `index`.
    """

    index: int
    until: int
    reason: str


class Followed(NamedTuple):
    """A path of configurations `q` (N, nq), the `branch` (N,) of each, and its `jumps`, an empty tuple if it has none.

    At poses that no branch reaches inside the limits, q is NaN and branch is -1.
    """

    q: np.ndarray
    branch: np.ndarray
    jumps: tuple[Jump, ...]


def follow_path(robot: Robot, T, frame: str, *, start=None, redundancy=None, max_step: float = 0.5) -> Followed:
    """Return configurations along a path of poses T (N, 4, 4) that move as little as possible, with the fewest jumps.

        >>> path = follow_path(robot, poses, "tool", start=q)
        >>> path.q.shape, path.jumps
        ((100, 6), ())

    Of all sequences of branches inside the joint limits, each turning on from where it is, it is the one with the
    fewest jumps, as late as can be, and of these the one with the least Σ |q_{i+1} - q_i|² (Viterbi's algorithm). A
    step of a joint by more than `max_step` [rad or m] is a jump: give poses so close that a continuous motion has
    smaller ones. `start` (nq,) is where the arm is before the first pose, and coordinates that do not move the frame
    stay there; without it, every branch begins in the middle of the limits. `redundancy` is one number or (N,), and
    should be continuous. Each jump of the result names its place and the reason.
    """
    caller = "follow_path"
    need_robot(robot, caller)
    max_step = positive(max_step, f"{caller}: max_step [rad or m]")
    found = inverse_kinematics(robot, T, frame, redundancy=redundancy)
    if found.q.ndim != 3:
        raise ArgumentError(f"{caller}: T has shape {np.shape(T)}; one path (N, 4, 4) is needed")
    given = None if start is None else numbers(start, (robot.nq,), f"{caller}: start")
    if given is not None:
        found = Solutions(np.where(_moved_by(robot, frame), found.q, given), found.exact)
    if len(found.q) == 0:
        return Followed(np.zeros((0, robot.nq)), np.zeros(0, int), ())
    if (smooth := _on_one_branch(robot, found, given, max_step)) is not None:
        return smooth
    q, branch = _traced_back(*_viterbi(robot, found, given, max_step))
    return Followed(q, branch, _jumps(robot, found, q, branch, given, max_step, redundancy is not None))


class _Size(NamedTuple):
    """The numbers k of branches and n of coordinates."""

    k: int
    n: int


class _Steps(NamedTuple):
    """From one pose to the next: full turns (k, n) that make each branch's step shortest, the step's square (k,) and
    largest part (k,), and the least such part `across` two branches.
    """

    turns: Any
    square: Any
    largest: Any
    across: Any


@kernel(size=static, here=("k", "n"), there=("k", "n"), exact=("k",), then_exact=("k",), turning=("n",))
def _steps(size: _Size, here, there, exact, then_exact, turning) -> _Steps:
    turns, square, largest, across = [], [], [], []
    for i in range(size.k):
        for j in range(size.k):
            away = there[j] - here[i]
            whole = -np.rint(away / _TURN) * turning
            away = away + _TURN * whole
            far = np.max(np.abs(away))
            if i == j:
                turns.append(whole)
                square.append(np.dot(away, away))
                largest.append(far)
            else:
                across.append(np.where((exact[i] > 0) & (then_exact[j] > 0), far, np.inf))
    nearest = np.min(np.stack(across)) if across else np.inf + 0 * here[0, 0]
    return _Steps(np.stack(turns), np.stack(square), np.stack(largest), nearest)


def _on_one_branch(robot: Robot, found: Solutions, start, max_step: float) -> Followed | None:
    """The best of the paths that stay on a branch, have no jump and stay inside the limits; None if it may not be best.

    Where no step between two branches is shorter than `max_step`, every path without jumps stays on its branch, so that
    nothing has to be searched.
    """
    n, k = found.exact.shape
    kept = np.flatnonzero(found.exact.all(axis=0))
    if max_step >= 0.5 * _TURN or len(kept) == 0:
        return None
    q, exact = found.q, found.exact.astype(float)
    size, turning = _Size(k, robot.nq), turning_coordinates(robot).astype(float)
    steps = _steps(size, q[:-1], q[1:], exact[:-1], exact[1:], turning)
    if not steps.across.min(initial=np.inf) > max_step:
        return None
    kept = kept[(steps.largest[:, kept] <= max_step).all(axis=0)]
    first, _ = nearest_copy(robot, q[0, kept], middle_of_limits(robot) if start is None else start)
    cost = steps.square[:, kept].sum(axis=0)
    if start is not None:
        near = np.abs(first - start).max(axis=-1, initial=0.0) <= max_step
        kept, first, cost = kept[near], first[near], (cost + ((first - start) ** 2).sum(axis=-1))[near]
    for best in np.argsort(cost, kind="stable"):
        branch, path = kept[best], q[:, kept[best]] + (first[best] - q[0, kept[best]])
        path[1:] += _TURN * np.cumsum(steps.turns[:, branch], axis=0)
        if ((path >= robot.lower - _INSIDE) & (path <= robot.upper + _INSIDE)).all():
            return Followed(path, np.full(n, branch), ())
    return None


def _viterbi(robot: Robot, found: Solutions, start, max_step: float) -> tuple[list, list, np.ndarray]:
    """For every pose the best path to each branch: [q (k, nq), NaN if it is not reached], and the branch before (k,).

    Also the cost (k,) of each branch at the last pose that any of them reaches.
    """
    n, k = found.exact.shape
    much = 1e3 * n * robot.nq * max(max_step, 1.0) ** 2  # a jump costs more than all steps that are none
    states, back = [], []
    q, cost = np.broadcast_to(middle_of_limits(robot) if start is None else start, (k, robot.nq)), np.zeros(k)
    counts = start is not None
    for i in range(n):
        copy, inside = nearest_copy(robot, found.q[i][:, None], q[None])  # (to, from, nq)
        usable = inside & found.exact[i][:, None] & np.isfinite(cost)
        if not usable.any():  # no branch reaches this pose: the next one goes on from the same places
            states.append(np.full((k, robot.nq), np.nan))
            back.append(np.arange(k))
            continue
        step = copy - q[None]
        dear = much * (1 + 1e-3 * (n - i) / n)  # of jumps that cannot be avoided, late ones are better
        price = (step**2).sum(axis=-1) + dear * (np.abs(step).max(axis=-1) > max_step)
        price = np.where(usable, (price if counts else 0.0) + np.where(np.isfinite(cost), cost, 0.0), np.inf)
        before = price.argmin(axis=1)
        q, cost, counts = copy[np.arange(k), before], price[np.arange(k), before], True
        states.append(np.where(np.isfinite(cost)[:, None], q, np.nan))
        back.append(before)
    return states, back, cost


def _traced_back(states: list, back: list, cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The configurations (N, nq) and branches (N,) of the cheapest path; NaN and -1 where there is none."""
    q, branch = np.empty((len(states), states[0].shape[1])), np.empty(len(states), int)
    at = int(cost.argmin())
    for i in reversed(range(len(states))):
        q[i] = states[i][at]
        branch[i] = -1 if np.isnan(q[i]).any() else at
        at = int(back[i][at])
    return q, branch


def _jumps(robot: Robot, found: Solutions, q, branch, start, max_step: float, redundant: bool) -> tuple[Jump, ...]:
    jumps: list[Jump] = []
    last, last_branch = start, -1
    for i in range(len(q)):
        if branch[i] < 0:
            why = _gap(found, i)
            if jumps and jumps[-1].until == i and jumps[-1].reason == why:
                jumps[-1] = jumps[-1]._replace(until=i + 1)
            else:
                jumps.append(Jump(i, i + 1, why))
            continue
        if last is not None and (far := np.abs(q[i] - last)).max() > max_step:
            why = _reason(robot, found, i, last, last_branch, int(far.argmax()), max_step, redundant)
            jumps.append(Jump(i, i, why))
        last, last_branch = q[i], int(branch[i])
    return tuple(jumps)


def _gap(found: Solutions, i: int) -> str:
    """Why no branch reaches pose i."""
    if np.isnan(found.q[i]).any():
        return "the pose has NaN"
    return "every solution is outside of the joint limits" if found.exact[i].any() else "the pose is out of reach"


def _reason(
    robot: Robot, found: Solutions, i: int, last, branch: int, joint: int, max_step: float, redundant: bool
) -> str:
    """Why the path does not go on smoothly at pose i from the configuration `last` on a branch."""
    names = robot.joint_names if robot.nq == len(robot.joint_names) else [f"q[{k}]" for k in range(robot.nq)]
    if branch < 0:
        return f"the start is far from every solution; joint '{names[joint]}' moves most"
    # Where would the arm go if it had no limits?
    copy, _ = nearest_copy(robot.replace(lower=-np.inf, upper=np.inf), found.q[i], last)
    step = np.where(found.exact[i], np.abs(copy - last).max(axis=-1), np.inf)
    best = int(step.argmin())
    if step[best] > max_step:
        why = "ends at a singularity" + ", or the redundancy parameter jumps" * redundant
        return f"branch {branch} {why}: on the nearest other one, joint '{names[joint]}' is far away"
    outside = (copy[best] < robot.lower - _INSIDE) | (copy[best] > robot.upper + _INSIDE)
    if outside.any():
        k = int(outside.argmax())
        limit = robot.lower[k] if copy[best][k] < robot.lower[k] else robot.upper[k]
        return f"joint '{names[k]}' would pass its limit {limit:.4g}"
    return f"branch {branch} would meet a limit or end at a later pose; joint '{names[joint]}' jumps"
