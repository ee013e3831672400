"""Which solution to take: inside the joint limits, nearest to where the arm is, or continuous along a path."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..model.input_checks import positive, vectors
from ..model.needs import need_robot
from ..model.robot import Robot
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


def _turns(robot: Robot) -> np.ndarray:
    """(nq,) whether a coordinate is an angle, which full turns leave the same."""
    found, at = np.zeros(robot.nq, bool), robot.layout.q_start
    for i, kind in enumerate(robot.joint_types):
        if kind in ("revolute", "continuous"):
            found[at[i]] = True
    for i, mimic in robot.mimics.items():  # a follower that is geared turns by another angle
        if mimic.multiplier != round(mimic.multiplier):
            found[at[i]] = False
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
    low, high, turns = robot.lower - _INSIDE, robot.upper + _INSIDE, _turns(robot)
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
    are outside. Angles without limits keep their one value in (-π, π].

        >>> q, usable = with_turns(robot, inverse_kinematics(robot, T, "tool"))
        >>> every = q[usable]                                               # all configurations of the arm at T
    """
    q, exact = _solutions(solutions, robot, "with_turns")
    low, high = robot.lower - _INSIDE, robot.upper + _INSIDE
    limited = _turns(robot) & np.isfinite(low) & np.isfinite(high)
    choices = []
    for i in range(robot.nq):  # q in (-π, π] has copies q + 2π n inside for these n
        first, last = np.ceil((low[i] - np.pi) / _TURN), np.floor((high[i] + np.pi) / _TURN)
        choices.append(_TURN * np.arange(first, last + 1) if limited[i] and first <= last else np.zeros(1))
    shifts = np.array(list(itertools.islice(itertools.product(*choices), _MOST_COPIES + 1)))
    if len(shifts) > _MOST_COPIES:
        raise ArgumentError(f"with_turns: the limits of robot '{robot.name}' allow more than {_MOST_COPIES} copies")
    start = np.where(limited, q - _TURN * np.rint(q / _TURN), q)
    copies = start[..., None, :] + shifts
    inside = ((copies >= low) & (copies <= high)).all(axis=-1) & exact[..., None]
    shape = (*q.shape[:-2], q.shape[-2] * len(shifts))
    return Solutions(copies.reshape(*shape, robot.nq), inside.reshape(shape))


class Nearest(NamedTuple):
    """The chosen configurations `q` (..., nq), their `branch` (...,), and their `distance` (...,) from the given q.

    Where no solution is exact and inside the limits, q and distance are NaN and branch is -1.
    """

    q: np.ndarray
    branch: np.ndarray
    distance: np.ndarray


def nearest_solution(robot: Robot, solutions: Solutions, q, *, weights=1.0) -> Nearest:
    """Return the exact solution inside the joint limits that is nearest to q (..., nq), full turns included.

    The distance is √Σ w (q_1 - q_0)², with `weights` w, one number or (nq,).

        >>> chosen = nearest_solution(robot, inverse_kinematics(robot, T, "tool"), q)
        >>> chosen.q.shape
        (6,)
    """
    found, exact = _solutions(solutions, robot, "nearest_solution")
    q = vectors(q, robot.nq, "q", "nearest_solution")
    copy, inside = nearest_copy(robot, found, q[..., None, :])
    d2 = (np.asarray(weights, float) * (copy - q[..., None, :]) ** 2).sum(axis=-1)
    d2 = np.where(exact & inside & np.isfinite(d2), d2, np.inf)
    branch = d2.argmin(axis=-1)
    best = np.take_along_axis(d2, branch[..., None], axis=-1)[..., 0]
    there = np.isfinite(best)
    chosen = np.take_along_axis(copy, branch[..., None, None], axis=-2)[..., 0, :]
    return Nearest(
        np.where(there[..., None], chosen, np.nan), np.where(there, branch, -1), np.where(there, np.sqrt(best), np.nan)
    )


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

    Of all sequences of solutions inside the joint limits it is the one with the fewest jumps, and of these the one with
    the least Σ |q_{i+1} - q_i|² (Viterbi's algorithm). A step of a joint by more than `max_step` [rad or m] is a jump:
    give poses so close that a continuous motion has smaller ones. `start` (nq,) is where the arm is before the first
    pose; `redundancy` is one number or (N,). Each jump of the result names its place and the reason.
    """
    need_robot(robot, "follow_path")
    max_step = positive(max_step, "follow_path: max_step [rad or m]")
    found = inverse_kinematics(robot, T, frame, redundancy=redundancy)
    if found.q.ndim != 3:
        raise ArgumentError(f"follow_path: T has shape {np.shape(T)}; one path (N, 4, 4) is needed")
    n = len(found.q)
    if n == 0:
        return Followed(np.zeros((0, robot.nq)), np.zeros(0, int), ())
    given = None if start is None else vectors(start, robot.nq, "start", "follow_path").reshape(robot.nq)
    origin = middle_of_limits(robot) if given is None else given
    states, back = _viterbi(robot, found, origin, given is not None, max_step)
    q, branch = np.full((n, robot.nq), np.nan), np.full(n, -1)
    at = int(states[-1][1].argmin())
    for i in reversed(range(n)):
        if np.isfinite(states[i][1][at]):
            q[i], branch[i] = states[i][0][at], at
        at = int(back[i][at])
    return Followed(q, branch, _jumps(robot, found, q, branch, given, max_step))


def _viterbi(robot: Robot, found: Solutions, origin: np.ndarray, counts: bool, max_step: float) -> tuple[list, list]:
    """For every pose the best path to each branch: [(q (k, nq), cost (k,))], and the branch before (k,)."""
    n, k = found.exact.shape
    much = 1e3 * n * robot.nq * max(max_step, 1.0) ** 2  # a jump costs more than all steps that are none
    states, back = [], []
    q, cost = np.broadcast_to(origin, (k, robot.nq)), np.zeros(k)
    for i in range(n):
        copy, inside = nearest_copy(robot, found.q[i][:, None], q[None])  # (to, from, nq)
        step = copy - q[None]
        price = (step**2).sum(axis=-1) * (counts or i > 0)
        price = price + much * (np.abs(step).max(axis=-1) > max_step) * (counts or i > 0)
        price = np.where(inside & found.exact[i][:, None], price + cost, np.inf)
        before = price.argmin(axis=1)
        new = price[np.arange(k), before]
        if np.isfinite(new).any():
            q, cost = copy[np.arange(k), before], new
            states.append((q, cost))
        else:  # no branch reaches this pose: the next one starts anew from the same places
            before = np.arange(k)
            states.append((q, np.full(k, np.inf)))
            cost = cost + much
        back.append(before)
    return states, back


def _jumps(robot: Robot, found: Solutions, q, branch, start, max_step: float) -> tuple[Jump, ...]:
    jumps: list[Jump] = []
    last, last_branch = start, -1
    for i in range(len(q)):
        if branch[i] < 0:
            reached = found.exact[i].any()
            why = "every solution is outside of the joint limits" if reached else "the pose is out of reach"
            if jumps and jumps[-1].until == i and jumps[-1].reason == why:
                jumps[-1] = jumps[-1]._replace(until=i + 1)
            else:
                jumps.append(Jump(i, i + 1, why))
            continue
        if last is not None and (far := np.abs(q[i] - last)).max() > max_step:
            why = _reason(robot, found, i, last, last_branch, int(far.argmax()), max_step)
            jumps.append(Jump(i, i, why))
        last, last_branch = q[i], int(branch[i])
    return tuple(jumps)


def _reason(robot: Robot, found: Solutions, i: int, last, branch: int, joint: int, max_step: float) -> str:
    """Why the path cannot go on at pose i from the configuration `last` on a branch."""
    names = robot.joint_names if robot.nq == len(robot.joint_names) else [f"q[{k}]" for k in range(robot.nq)]
    if branch < 0:
        return f"the start is far from every solution; joint '{names[joint]}' moves most"
    # Where would the arm go if it had no limits?
    copy, _ = nearest_copy(robot.replace(lower=-np.inf, upper=np.inf), found.q[i], last)
    step = np.where(found.exact[i], np.abs(copy - last).max(axis=-1), np.inf)
    best = int(step.argmin())
    if step[best] > max_step:
        return f"branch {branch} ends at a singularity; joint '{names[joint]}' jumps"
    outside = (copy[best] < robot.lower - _INSIDE) | (copy[best] > robot.upper + _INSIDE)
    k = int(outside.argmax())
    limit = robot.lower[k] if copy[best][k] < robot.lower[k] else robot.upper[k]
    return f"joint '{names[k]}' would pass its limit {limit:.4g}"
