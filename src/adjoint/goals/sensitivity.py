"""How solutions move: derivatives of configurations that meet goals, by the implicit function theorem.

At a solution the errors vanish, e(q, x) = 0, where x are numbers of the goals or of the robot. Along ė = -J v they stay
0 if J dq = (∂e/∂x) dx, and the least such motion is dq/dx = J⁺ ∂e/∂x with the pseudoinverse J⁺.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..lie import so3
from ..model.configuration import integrate
from ..model.input_checks import positive, vectors
from ..model.once import once_a_robot
from ..model.robot import Robot
from .kinds import KINDS, origin_of, rotation_of
from .lanes import limited_coordinates
from .problem import Goals, Limits, batched, limits_of, need_short, problem_of
from .rows import Tasks, cut, rows_of

__all__ = ["solution_derivatives"]


@overload
def solution_derivatives(
    robot: Robot, goals: Goals, q, by: str = "target", *, limits: Limits = True, singular: float = 1e-9
) -> np.ndarray: ...
@overload
def solution_derivatives(
    robot: Robot, goals: Goals, q, by: tuple[str, ...] | list[str], *, limits: Limits = True, singular: float = 1e-9
) -> dict[str, np.ndarray]: ...
def solution_derivatives(
    robot: Robot, goals: Goals, q, by: Any = "target", *, limits: Limits = True, singular: float = 1e-9
) -> Any:
    """The derivatives dq/dx (..., nv, *shape of x) of configurations q (..., nq) that meet goals.

        >>> target = forward_kinematics(robot, q, "tool")
        >>> D = solution_derivatives(robot, {"tool": target}, q)            # (6, 6): by a twist of the target
        >>> S = solution_derivatives(robot, {"tool": target}, q, "offsets")  # (6, bodies, 6)

    They are J⁺ ∂e/∂x, with the slopes J of the goals' errors e. Rows are tangent vectors: q moves to
    `integrate(robot, q, D @ dx)`. A redundant arm moves by the least motion that keeps its goals, as
    `find_configuration` does if it starts at q. `by` names x, or several of them, which give {name: derivative}:

    - "target": small motions of the targets of all goals, side by side. A pose moves to T exp(dx) (6), an orientation
      to R exp(dx) (3); positions, directions, centres of mass and points of `look_at`, lines and planes move by dx (3)
      [m], a distance and the logarithm of a least manipulability by dx (1), a posture along its tangent (nv).
    - names of the robot's numbers, as in `robot.liftable`: "offsets", "frame_offsets", "lengths", "screws", ...

    Joints on their limits are held there (see `find_configuration` for `limits`): derivatives are one-sided, towards
    targets that push them against the limit. A manipulability that is larger than its `least` does not move q. Singular
    values of J below `singular` times the largest count as 0.
    """
    caller = "solution_derivatives"
    need_short(robot, caller)
    names = [by] if isinstance(by, str) else list(by)
    unknown = [name for name in names if name != "target" and name not in robot.liftable]
    if unknown or not names:
        what = ", ".join(["target", *robot.liftable])
        raise ArgumentError(f"{caller}: by is {by!r}; it must be one or several of {what}")
    problem = problem_of(robot, goals, 1.0, caller)
    q = vectors(q, robot.nq, "q", caller)
    shape, (data, q) = batched(problem, {"q": q}, caller)
    ends, singular = limits_of(robot, limits, caller), positive(singular, f"{caller}: singular")
    J_plus = _pseudoinverse(robot, problem.tasks, q, data, ends, singular)
    found = {name: _along(J_plus, _slopes(robot, problem.tasks, name)(q, data), shape) for name in names}
    return found[by] if isinstance(by, str) else found


def _along(J_plus: np.ndarray, slope: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """J⁺ ∂e/∂x (*shape, nv, ...)."""
    flat = slope.reshape(*slope.shape[:2], -1)
    return (J_plus @ flat).reshape(*shape, J_plus.shape[1], *slope.shape[2:])


@kernel(robot=static, tasks=static, q="nq", data="n_data")
def goal_slopes(robot: Robot, tasks: Tasks, q, data) -> np.ndarray:
    """The weighted slopes J (m, nv) of all goals."""
    return rows_of(robot, tasks, q, data).J


@kernel(robot=static, tasks=static, q="nq", data="n_data", shift="n_tangent")
def moved_errors(robot: Robot, tasks: Tasks, q, data, shift) -> np.ndarray:
    """The weighted errors (m,) of all goals, whose targets moved by `shift`, for derivatives by it at 0."""
    shifts = cut(shift, [sizes.tangent for sizes in tasks.sizes])
    found = []
    for (task, target, weights, _), own in zip(tasks.split(data), shifts, strict=True):
        kind = KINDS[task.kind]
        moved = _MOVES.get(task.kind, _added)(robot, target, own)
        found.append(kind.spread(weights) * kind.error(robot, kind.seen(robot, q, task), moved))
    return np.concatenate(found)


def _added(robot, target, shift):
    return target + shift


def _moved_pose(robot, target, shift):
    """T exp(shift); for derivatives at shift = 0, p moves by R v."""
    R = rotation_of(target)
    p = origin_of(target) + R @ shift[3:]
    return np.concatenate([R @ so3.exp(shift[:3]), p[:, None]], axis=1).reshape(12)


def _moved_point(robot, target, shift):
    """A target of which the first three numbers are a point."""
    return np.concatenate([target[:3] + shift, target[3:]])


_MOVES: dict[str, Callable] = {
    "pose": _moved_pose,
    "position": _moved_point,
    "orientation": lambda robot, target, shift: (target.reshape(3, 3) @ so3.exp(shift)).reshape(9),
    "axis": lambda robot, target, shift: np.concatenate([target[:3], target[3:] + shift]),
    "look_at": lambda robot, target, shift: np.concatenate([target[:3], target[3:] + shift]),
    "distance": lambda robot, target, shift: np.concatenate([target[:3], target[3:] + shift]),
    "line": _moved_point,
    "plane": _moved_point,
    "posture": integrate,
}
"""{kind: (robot, target, small motion) -> the moved target}; other targets are moved by addition."""


@once_a_robot(most=32)
def _slopes(robot: Robot, tasks: Tasks, name: str) -> Callable:
    """The function (q, data) -> ∂e/∂x of the weighted errors, (n, m, *shape of x)."""
    still = np.zeros(tasks.n_tangent)
    if name == "target":
        by_target = moved_errors.bind(robot, tasks).jacobian("shift")
        return lambda q, data: by_target(q, data, still)
    by_number = moved_errors.bind(robot, tasks, lift=(name,)).jacobian(name)
    return lambda q, data: by_number(q, data, still)


def _pseudoinverse(robot: Robot, tasks: Tasks, q, data, limits: tuple, singular: float) -> np.ndarray:
    """J⁺ (n, nv, m), where joints on their limits do not move; NaN for samples with NaN."""
    free = _held(robot, q, *limits)
    J = goal_slopes(robot, tasks, q, data) * free[:, None, :]
    unknown = np.asarray(~np.isfinite(J).all(axis=(1, 2)))
    found = free[:, :, None] * np.linalg.pinv(np.where(unknown[:, None, None], 0.0, J), rcond=singular)
    found[unknown] = np.nan
    return found


def _held(robot: Robot, q: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """0 for degrees of freedom (n, nv) of joints that are on a limit, and 1 for the others."""
    free = np.ones((len(q), robot.nv))
    for a, b in limited_coordinates(robot):
        free[:, b] = np.where((q[:, a] <= lower[a]) | (q[:, a] >= upper[a]), 0.0, 1.0)
    return free
