"""Goals that hold all along a motion, as conditions on its configurations (Martin & Bobrow 1999).

A goal without a tolerance is an equation e(q) = 0; of the rows of e, those are taken that do not depend on the others.
A goal with a tolerance is the inequality |e|² / tolerance² - 1 <= 0 of each of its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from ...compile import Kernel, kernel, static
from ...errors import ArgumentError
from ...goals.goal import Goal
from ...goals.kinds import ENDLESS, KINDS, Task, rotation_of
from ...goals.problem import Goals, listed_goals, problem_of
from ...goals.rows import Tasks, squared_parts
from ...goals.search import find_configuration, goal_errors
from ...lazy import cached_property
from ...model.robot import Robot
from ..torque import without_limits

__all__ = [
    "DEVIATION", "ON_PATH", "Conditions", "PathCondition", "Strays", "amount", "bent", "conditions_of", "detour",
    "independent", "is_held", "path_goals", "require_on_path", "strays",
]  # fmt: skip

DEVIATION = 1e-4  # [rad or m] the largest error of equations between the points where the search enforces them
ON_PATH = 1e-6  # [rad or m] ends whose errors are less are on the path
_HALVINGS = 5  # of the way between the ends, for a first guess
_DEPENDENT = 1e-6  # rows of a Jacobian, as parts of their length, that the rows before do not give


class Along(NamedTuple):
    """What compiled code depends on: the tasks, and whether they are equations or are met within tolerances."""

    tasks: Tasks
    held: bool
    n_data: int
    rows: int


def _across(a):
    """Two unit vectors (2, 3) across a unit vector a and each other: Duff et al. (2017), J. Comp. Graphics Techn. 6."""
    sign = np.where(a[2] < 0, -1.0, 1.0)
    c = -1 / (sign + a[2])
    d = a[0] * a[1] * c
    first = np.stack([1 + sign * a[0] * a[0] * c, sign * d, -sign * a[0]])
    return np.stack([first, np.stack([d, sign + a[1] * a[1] * c, -a[1]])])


def _equations(robot: Robot, task: Task, q, target):
    """The error of a task without rows that are 0 to second order wherever the others are 0."""
    kind = KINDS[task.kind]
    seen = kind.seen(robot, q, task)
    e = kind.error(robot, seen, target)
    if task.kind in ("axis", "look_at"):  # the chord of two unit vectors, across that of the frame
        return _across(target[:3]) @ (rotation_of(seen).T @ e)
    return _across(target[3:]) @ e if task.kind == "line" else e


def _excesses(robot: Robot, task: Task, q, target, weights, sharpness):
    """|e|² / tolerance² - 1 of each part of a task; of a least manipulability, the logarithm of what is missing."""
    kind = KINDS[task.kind]
    seen = kind.seen(robot, q, task)
    if task.kind == "manipulability":
        return target - seen
    sizes = squared_parts(kind, kind.spread(weights), kind.error(robot, seen, target))
    return np.stack([size * s * s - 1 for size, s in zip(sizes, sharpness, strict=True)])


@kernel(robot=static, along=static, q="nq", data="n_data")
def path_values(robot: Robot, along: Along, q, data) -> np.ndarray:
    """The equations or inequalities (rows,) of all tasks at q (nq,)."""
    found = [
        _equations(robot, task, q, target) if along.held else _excesses(robot, task, q, target, weights, sharpness)
        for task, target, weights, sharpness in along.tasks.split(data)
    ]
    return np.concatenate(found)


@kernel(robot=static, along=static, q="nq", data="n_data", w="rows")
def weighted_path_values(robot: Robot, along: Along, q, data, w) -> Any:
    """The sum w · `path_values`, whose Hessian an optimiser needs."""
    return np.dot(w, path_values(robot, along, q, data))


@dataclass(frozen=True, eq=False)
class PathCondition:
    """Conditions on N configurations q (N, n): value = 0 if they are `held`, or else value <= -margin."""

    robot: Robot
    along: Along
    data: np.ndarray
    chosen: np.ndarray  # (m,) the numbers of the rows that count
    margin: float = 0.0

    @property
    def held(self) -> bool:
        """Whether these are equations."""
        return self.along.held

    @cached_property
    def _kernels(self) -> tuple[Kernel, Kernel, Kernel]:
        robot = without_limits(self.robot)
        value = path_values.bind(robot, self.along)
        return value, value.jacobian("q"), weighted_path_values.bind(robot, self.along).hessian("q")

    def value(self, q) -> np.ndarray:
        """The values (N, m)."""
        return self._kernels[0](q, self.data)[:, self.chosen]

    def jacobian(self, q) -> np.ndarray:
        """The derivatives (N, m, n) by q."""
        return self._kernels[1](q, self.data)[:, self.chosen]

    def curvature(self, q, w) -> np.ndarray:
        """The second derivatives (N, n, n) of w · value, with w (N, m)."""
        every = np.zeros((len(q), self.along.rows))
        every[:, self.chosen] = w
        return self._kernels[2](q, self.data, every)

    @cached_property
    def coupled(self) -> np.ndarray:
        """(m, n) whether a value depends on a joint, as seen at random configurations."""
        return np.any(self.jacobian(np.random.default_rng(0).normal(size=(3, self.robot.nq))), axis=0)

    def range(self, points: int) -> tuple[np.ndarray, np.ndarray]:
        """The lower and upper bounds of the values at so many points, in one row each."""
        size = points * len(self.chosen)
        return (np.zeros(size), np.zeros(size)) if self.held else (np.full(size, -np.inf), np.full(size, -self.margin))


class Conditions(NamedTuple):
    """The goals of a path, and their conditions: equations and inequalities, None where there are none."""

    goals: tuple[Goal, ...] = ()
    held: PathCondition | None = None
    within: PathCondition | None = None

    def each(self, margin: float) -> tuple[PathCondition, ...]:
        """Those conditions that exist, the inequalities tightened by a margin."""
        within = replace(self.within, margin=margin) if self.within else None
        return tuple(c for c in (self.held, within) if c is not None)


def is_held(goal: Goal) -> bool:
    """Whether a goal of a path is an equation, and not an inequality."""
    return goal.tolerance is None and goal.task.kind != "manipulability"


def path_goals(robot: Robot, path: Goals | None, caller: str) -> tuple[Goal, ...]:
    """The goals of the argument `path`, each with one target."""
    if path is None or (isinstance(path, (tuple, list, dict)) and not path):
        return ()
    found = tuple(listed_goals(path, f"{caller}: path"))
    for goal in found:
        if goal.task.kind in ENDLESS:
            raise ArgumentError(f"{caller}: path: manipulability without least= is never met: give least=")
        if goal.target.ndim != 1 or not np.isfinite(goal.target).all():
            raise ArgumentError(
                f"{caller}: path: {goal!r} must have one target of finite numbers, which holds all along the motion"
            )
        if not goal.weights.any():
            raise ArgumentError(f"{caller}: path: {goal!r} has no weight, and so asks for nothing")
    problem_of(robot, found, 1.0, f"{caller}: path")
    return found


def conditions_of(robot: Robot, goals: tuple[Goal, ...], q: np.ndarray) -> Conditions:
    """The conditions of a path; equations that the others imply at all configurations q (N, n) are left out."""
    held = _condition(robot, [goal for goal in goals if is_held(goal)], True)
    within = _condition(robot, [goal for goal in goals if not is_held(goal)], False)
    if held is not None:
        J = held.jacobian(q)
        ranks = np.linalg.matrix_rank(J, tol=_DEPENDENT)
        held = replace(held, chosen=held.chosen[independent(J[np.argmax(ranks)])])
    return Conditions(goals, held, within)


def _condition(robot: Robot, goals: Sequence[Goal], held: bool) -> PathCondition | None:
    """The condition of some goals with all their rows that have a weight."""
    if not goals:
        return None
    tasks, data, _ = problem_of(robot, list(goals), 1.0, "optimal_motion: path")
    weighted = [_counted(task, weights, held) for task, _, weights, _ in tasks.split(data)]
    chosen = np.flatnonzero(np.concatenate(weighted))
    return PathCondition(robot, Along(tasks, held, tasks.n_data, sum(map(len, weighted))), data, chosen)


def _counted(task: Task, weights: np.ndarray, held: bool) -> np.ndarray:
    """For each row of a task, whether it has a weight."""
    if held:
        spread = np.asarray(KINDS[task.kind].spread(weights)) > 0
        return spread[:2] if task.kind in ("axis", "look_at", "line") else spread
    return np.ones(len(KINDS[task.kind].parts), bool)


def independent(J: np.ndarray, given: np.ndarray | None = None) -> np.ndarray:
    """The numbers of rows of J (m, n) that no rows before them, and no rows `given` (k, n), combine to."""
    basis = np.zeros((0, J.shape[1]))
    if given is not None:
        _, sizes, rows = np.linalg.svd(given, full_matrices=False)
        basis = rows[sizes > _DEPENDENT * max(1.0, sizes[0])]
    found = []
    for k, row in enumerate(J):
        rest = row - basis.T @ (basis @ row)
        size = np.linalg.norm(rest)
        if size > _DEPENDENT * max(1.0, float(np.linalg.norm(row))):
            basis = np.vstack([basis, rest / size])
            found.append(k)
    return np.array(found, int)


_UNITS = {
    "pose": " rad or m", "orientation": " rad", "axis": " rad", "look_at": " rad", "posture": " rad or m",
    "manipulability": " in its logarithm",
}  # fmt: skip


def amount(goal: Goal, error: float) -> str:
    """A goal and its error, in words."""
    return f"{goal!r} by {error:.3g}{_UNITS.get(goal.task.kind, ' m')}"


class Strays(NamedTuple):
    """By how much configurations miss a path: the largest error [rad or m] of equations, and the largest inequality."""

    held: float
    within: float

    @property
    def none(self) -> bool:
        """Whether the path is kept."""
        return self.held <= DEVIATION and self.within <= ON_PATH


def strays(conditions: Conditions, q: np.ndarray) -> Strays:
    """The `Strays` of configurations q (N, n)."""
    held, within = conditions.held, conditions.within
    goals = [goal for goal in conditions.goals if is_held(goal)]
    return Strays(
        float(goal_errors(held.robot, goals, q).max()) if held is not None else 0.0,
        max(0.0, float(within.value(q).max())) if within is not None else 0.0,
    )


def bent(robot: Robot, goals: tuple[Goal, ...], q: np.ndarray) -> np.ndarray:
    """The configurations q (N, n), each moved to a near one that meets the goals, or left where none is found."""
    found = find_configuration(robot, goals, start=q, seeds=0)
    return np.where(found.success[:, None], found.q, q)


def detour(robot: Robot, goals: tuple[Goal, ...], q_0: np.ndarray, q_1: np.ndarray, s: np.ndarray) -> np.ndarray:
    """What a way along a path adds to the straight way from q_0 to q_1 (n,), at times s (N,) of [0, 1]: (N, n).

    Both start and end slowly, like a polynomial of degree 5. Projections of the straight way onto the path would crowd
    together where the two are across each other. So the way is halved again and again: the middle of each part is
    moved onto the path, and is a new point of it.
    """
    way = np.stack([q_0, q_1])
    for _ in range(_HALVINGS):
        middles = bent(robot, goals, (way[:-1] + way[1:]) / 2)
        way = np.concatenate([np.stack([way[:-1], middles], axis=1).reshape(-1, len(q_0)), way[-1:]])
    done = s**3 * (10 - 15 * s + 6 * s**2)
    return CubicSpline(np.linspace(0, 1, len(way)), way)(done) - (q_0 + done[:, None] * (q_1 - q_0))


def require_on_path(robot: Robot, conditions: Conditions, states: dict[str, np.ndarray], caller: str) -> None:
    """Raises an `ArgumentError` unless the states (q, v) (2, n), by their names, meet the goals and stay on them."""
    for label, (q, v) in states.items():
        errors = goal_errors(robot, conditions.goals, q)
        for goal, error, missed in zip(conditions.goals, errors, _missed(conditions, q, errors), strict=True):
            if missed:
                most = ON_PATH if goal.tolerance is None else " or ".join(f"{x:g}" for x in goal.tolerance)
                raise ArgumentError(
                    f"{caller}: {label} is not on the path: it misses {amount(goal, error)}, and {most} is allowed; "
                    "find_configuration(robot, path) finds configurations on it"
                )
        drift = np.zeros(1) if conditions.held is None else conditions.held.jacobian(q[None])[0] @ v
        if np.abs(drift).max() > ON_PATH * (1 + np.abs(v).max()):
            raise ArgumentError(
                f"{caller}: {label} has a velocity that leaves the path, at {np.abs(drift).max():.3g} rad/s or m/s; "
                "velocities at the ends are along the path, or 0"
            )


def _missed(conditions: Conditions, q: np.ndarray, errors: np.ndarray) -> list[bool]:
    """For each goal of a path, whether q (n,) misses it."""
    excess = iter([] if conditions.within is None else conditions.within.value(q[None])[0])
    found = []
    for goal, error in zip(conditions.goals, errors, strict=True):
        parts = [error - ON_PATH] if is_held(goal) else [next(excess) - ON_PATH for _ in KINDS[goal.task.kind].parts]
        found.append(bool(max(parts) > 0))
    return found
