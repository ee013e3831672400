"""The kinds of goals: what each looks at, its error e, and the slope of the error.

A goal is data (`Goal`): frames by name, a target, weights and tolerances. Its kind, a row of the table `KINDS`, answers
three questions about one sample. What the goal looks at, `seen`, depends on q alone. The error e is a function of this
and the target; it is 0 where the goal is met. The slope J says how the error falls: ė = -J v. Rotations are compared by

    e = 2 x,     |e| = 2 sin(angle / 2),     |e|² = 3 - trace(R_targetᵀ R),

where (c, x), c >= 0, is the unit quaternion of R_target Rᵀ. For small angles it is the rotation vector, along the axes
of the base. Directions a and d are compared by their chord d - a, whose length is 2 sin(angle / 2), too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..kinematics.center import center_of_mass, center_of_mass_jacobian
from ..kinematics.dexterity import part_of
from ..kinematics.forward import forward_kinematics
from ..kinematics.jacobians import jacobian, kinematic_hessian
from ..kinematics.route import way
from ..lie.rotation_forms import unscaled_quat
from ..model.configuration import difference
from ..model.once import once_a_robot
from ..model.robot import Robot

__all__ = ["ENDLESS", "KINDS", "Kind", "Task", "metres_per_radian", "moving_columns", "origin_of", "rotation_of"]


class Task(NamedTuple):
    """What compiled code depends on in a goal: its kind, its frames by name, and, for `manipulability`, its part."""

    kind: str
    frame: str | None = None
    relative_to: str | None = None
    part: str = "all"


class Kind(NamedTuple):
    """A row of the table `KINDS`; the functions are for one sample."""

    seen: Callable  # (robot, q, task) -> the numbers that the goal looks at
    error: Callable  # (robot, seen, target) -> e
    slope: Callable  # (robot, q, task, seen, target) -> J (rows, nv) with ė = -J v
    cost: Callable  # (robot, seen, target, weight) -> |w e|², cheaply
    looks: Callable  # robot -> how many numbers `seen` has
    targets: Callable  # robot -> how many numbers the target has
    weights: Callable  # robot -> how many weights there are
    spread: Callable  # weights -> one weight for each row of e
    parts: tuple[slice, ...]  # the rows of e that have a tolerance each
    per_metre: tuple[bool, ...]  # for each weight, whether it multiplies a length; all of one kind for most kinds
    tangent: Callable  # robot -> how many numbers a small motion of the target has
    straight: Callable | None = None  # (robot, q, task, seen, target) -> (e, J) of steps on the shortest way, if others


_ALL = (slice(None),)


def _whole(weights):
    return weights


def _alike(count: int) -> Callable:
    """The function that repeats one weight for so many rows."""
    return lambda weights: np.stack([weights[0]] * count)


def _squares(kind_error: Callable, spread: Callable) -> Callable:
    """The cost |w e|² by the error itself."""

    def cost(robot, seen, target, weights):
        r = spread(weights) * kind_error(robot, seen, target)
        return r @ r

    return cost


def _size(n: int) -> Callable:
    return lambda robot: n


# --- placements -------------------------------------------------------------------------------------------------------


def rotation_of(placement):
    """R (3, 3) of the twelve numbers of a placement, the rows of [R p]."""
    return placement.reshape(3, 4)[:, :3]


def origin_of(placement):
    """p (3,) of the twelve numbers of a placement."""
    return placement.reshape(3, 4)[:, 3]


def _placement(robot: Robot, q, task: Task):
    return forward_kinematics(robot, q, task.frame, task.relative_to)[:3].reshape(12)


def _motion(robot: Robot, q, task: Task):
    return jacobian(robot, q, task.frame, "world", task.relative_to)  # type: ignore[arg-type]  # there is a frame


def turn(R, target):
    """The rotation error 2 x (3,): x is the vector part, with c >= 0, of the quaternion (c, x) of target Rᵀ."""
    w, v, n2 = unscaled_quat(target @ R.T)
    return np.where(w < 0, -2.0, 2.0) / np.sqrt(w * w + n2) * v


def _turn_slope(e, J_w):
    """The slope of 2 x: d(2 x)/dt = -(c w + x × w), with c = √(1 - |x|²), for the angular velocity w of the frame."""
    x = e / 2
    return np.sqrt(np.maximum(1 - x @ x, 0.0)) * J_w - _carried(J_w, x)


def _rotation_vector(e):
    """The rotation vector (3,), of length `angle`, of the rotation error e (3,) of length 2 sin(angle / 2)."""
    s2 = np.minimum(0.25 * (e @ e), 1.0)
    small = s2 < 1e-12
    s = np.sqrt(np.where(small, 1.0, s2))
    return np.where(small, 1.0, np.arcsin(s) / s) * e


def _straight_pose(robot, q, task, seen, target):
    """The rotation vector and the distance to the target: a twist along them leads there on the shortest way."""
    e = _pose_error(robot, seen, target)
    return np.concatenate([_rotation_vector(e[:3]), e[3:]]), _motion(robot, q, task)


def _straight_orientation(robot, q, task, seen, target):
    return _rotation_vector(_orientation_error(robot, seen, target)), _motion(robot, q, task)[:3]


def _pose_error(robot, seen, target):
    return np.concatenate([turn(rotation_of(seen), rotation_of(target)), origin_of(target) - origin_of(seen)])


def _pose_slope(robot, q, task, seen, target):
    J, e = _motion(robot, q, task), turn(rotation_of(seen), rotation_of(target))
    return np.concatenate([_turn_slope(e, J[:3]), J[3:]])


def _pose_cost(robot, seen, target, weights):
    shift = weights[1:] * (origin_of(target) - origin_of(seen))
    return weights[0] * weights[0] * (3 - np.sum(rotation_of(target) * rotation_of(seen))) + shift @ shift


def _pose_spread(weights):
    return np.stack([*[weights[0]] * 3, *weights[1:]])


def _orientation_error(robot, seen, target):
    return turn(rotation_of(seen), target.reshape(3, 3))


def _orientation_slope(robot, q, task, seen, target):
    return _turn_slope(_orientation_error(robot, seen, target), _motion(robot, q, task)[:3])


def _orientation_cost(robot, seen, target, weights):
    return weights[0] * weights[0] * (3 - np.sum(target.reshape(3, 3) * rotation_of(seen)))


# --- points and directions of a frame ---------------------------------------------------------------------------------


def _carried(J_w, arm):
    """The velocities w × arm (3, nv) of the columns w of J_w."""
    return np.stack([np.cross(J_w[:, k], arm) for k in range(J_w.shape[1])], axis=-1)


def _position_error(robot, seen, target):
    """p_target - (p + R point), with target = (p_target, point)."""
    return target[:3] - origin_of(seen) - rotation_of(seen) @ target[3:]


def _position_slope(robot, q, task, seen, target):
    J = _motion(robot, q, task)
    return J[3:] + _carried(J[:3], rotation_of(seen) @ target[3:])


def _axis_error(robot, seen, target):
    """d - R a, with target = (a, d), both of unit length."""
    return target[3:] - rotation_of(seen) @ target[:3]


def _axis_slope(robot, q, task, seen, target):
    return _carried(_motion(robot, q, task)[:3], rotation_of(seen) @ target[:3])


def _line_of_sight(seen, target):
    """The unit vector u and the distance from the frame's origin to the point x, with target = (a, x)."""
    sight = target[3:] - origin_of(seen)
    distance = _length(sight)
    return sight / distance, distance


def _length(x):
    """|x|, or a tiny number if x is 0, which has no direction."""
    return np.sqrt(np.maximum(x @ x, 1e-300))


def _look_error(robot, seen, target):
    """u - R a."""
    return _line_of_sight(seen, target)[0] - rotation_of(seen) @ target[:3]


def _look_slope(robot, q, task, seen, target):
    """u̇ = -(1 - u uᵀ) ṗ / distance; both unit vectors move across themselves only.

    What is left along u is of the order of the error, and is left out: it would be a third equation, almost 0 = 0.
    """
    J, (u, distance) = _motion(robot, q, task), _line_of_sight(seen, target)
    moved = J[3:] / distance + _carried(J[:3], rotation_of(seen) @ target[:3])
    return moved - np.outer(u, u @ moved)


def _distance_error(robot, seen, target):
    """d - |p - x|, with target = (x, d)."""
    away = origin_of(seen) - target[:3]
    return np.stack([target[3] - _length(away)])


def _distance_slope(robot, q, task, seen, target):
    away = origin_of(seen) - target[:3]
    return ((away / _length(away)) @ _motion(robot, q, task)[3:])[None]


def _off_line(direction, x):
    """The part of x (3,) across a unit vector."""
    return x - direction * (direction @ x)


def _line_error(robot, seen, target):
    """(1 - d dᵀ) (x - p), with target = (x, d): a point of the line, and its direction."""
    return _off_line(target[3:], target[:3] - origin_of(seen))


def _line_slope(robot, q, task, seen, target):
    J, d = _motion(robot, q, task)[3:], target[3:]
    return J - np.outer(d, d @ J)


def _plane_error(robot, seen, target):
    """n · (x - p), with target = (x, n): a point of the plane, and its normal."""
    return np.stack([target[3:] @ (target[:3] - origin_of(seen))])


def _plane_slope(robot, q, task, seen, target):
    return (target[3:] @ _motion(robot, q, task)[3:])[None]


# --- the whole robot --------------------------------------------------------------------------------------------------


def _mass_centre(robot, q, task):
    return center_of_mass(robot, q)


def _straight(robot, seen, target):
    return target - seen


def _mass_centre_slope(robot, q, task, seen, target):
    return center_of_mass_jacobian(robot, q)


def _configuration(robot, q, task):
    return q


def _posture_error(robot, seen, target):
    return difference(robot, seen, target)


def _posture_slope(robot, q, task, seen, target):
    """The slope of the difference at the goal, and everywhere along the error: a whole step leads to the goal."""
    return np.eye(robot.nv)


def _measure(robot, q, task):
    """log √det(J Jᵀ) (1,), of the columns of the joints that move the frame."""
    L, _ = _gram(robot, q, task)
    return np.stack([0.5 * np.log(np.maximum(np.linalg.det(L), 1e-300))])


def _gram(robot, q, task):
    """J Jᵀ or Jᵀ J, whichever is smaller, and whether it is the first one."""
    moving = moving_columns(robot, task)
    J = part_of(_motion(robot, q, task), task.part)[:, moving]
    wide = J.shape[0] <= len(moving)
    return (J @ J.T if wide else J.T @ J), wide


def moving_columns(robot: Robot, task: Task) -> list[int]:
    """The places in v of the degrees of freedom that move the frame of a task."""
    _, up, down, _ = way(robot, task.relative_to, task.frame)
    at = robot.layout
    return sorted({at.v_start[i] + k for i in (*up, *down) for k in range(at.dof_start[i + 1] - at.dof_start[i])})


def _measure_error(robot, seen, target):
    """log least - log measure, or 0 if the measure is larger; target = (log least,)."""
    return np.maximum(target - seen, 0.0)


def _measure_slope(robot, q, task, seen, target):
    """The gradient of the logarithm, where the measure is too small."""
    return np.where(seen[0] < target[0], 1.0, 0.0) * _measure_gradient(robot, q, task, seen, target)


def _measure_gradient(robot, q, task, seen, target):
    """∂ log √det(J Jᵀ)/∂q_k = Σ (J⁺)ᵀ ∘ ∂J/∂q_k, as (1, nv)."""
    moving, J = moving_columns(robot, task), part_of(_motion(robot, q, task), task.part)
    H = kinematic_hessian(robot, q, task.frame, "world", task.relative_to)
    H = part_of(H.reshape(6, -1), task.part).reshape(J.shape[0], robot.nv, robot.nv)[:, moving]
    gram, wide = _gram(robot, q, task)
    J = J[:, moving]
    pull = np.linalg.solve(gram, J) if wide else np.linalg.solve(gram, J.T).T
    return np.stack([np.sum(pull * H[:, :, k]) for k in range(robot.nv)])[None]


def _constant_pull(robot, seen, target):
    return np.ones(1)


def _most_cost(robot, seen, target, weights):
    """-2 w² log measure, whose slope is that of |w e|² with a constant pull e = 1."""
    return -2 * weights[0] * weights[0] * seen[0]


# --- the table --------------------------------------------------------------------------------------------------------


def _row(
    seen, error, slope, looks, targets, weights, *, spread=_whole, cost=None, parts=_ALL, metre=(True,), tangent=None,
    straight=None,
):  # fmt: skip
    sizes = [_size(n) if isinstance(n, int) else n for n in (looks, targets, weights, tangent or targets)]
    cost = cost or _squares(error, spread)
    return Kind(seen, error, slope, cost, sizes[0], sizes[1], sizes[2], spread, parts, metre, sizes[3], straight)


def _nq(robot: Robot) -> int:
    return robot.nq


def _nv(robot: Robot) -> int:
    return robot.nv


KINDS: dict[str, Kind] = {
    "pose": _row(
        _placement, _pose_error, _pose_slope, 12, 12, 4, spread=_pose_spread, cost=_pose_cost,
        parts=(slice(0, 3), slice(3, 6)), metre=(False, True, True, True), tangent=6, straight=_straight_pose,
    ),
    "position": _row(_placement, _position_error, _position_slope, 12, 6, 3, tangent=3),
    "orientation": _row(
        _placement, _orientation_error, _orientation_slope, 12, 9, 1, spread=_alike(3), cost=_orientation_cost,
        metre=(False,), tangent=3, straight=_straight_orientation,
    ),
    "axis": _row(_placement, _axis_error, _axis_slope, 12, 6, 1, spread=_alike(3), metre=(False,), tangent=3),
    "look_at": _row(_placement, _look_error, _look_slope, 12, 6, 1, spread=_alike(3), metre=(False,), tangent=3),
    "distance": _row(_placement, _distance_error, _distance_slope, 12, 4, 1, tangent=1),
    "line": _row(_placement, _line_error, _line_slope, 12, 6, 1, spread=_alike(3), tangent=3),
    "plane": _row(_placement, _plane_error, _plane_slope, 12, 6, 1, tangent=3),
    "center_of_mass": _row(_mass_centre, _straight, _mass_centre_slope, 3, 3, 3),
    "posture": _row(_configuration, _posture_error, _posture_slope, _nq, _nq, _nv, metre=(False,), tangent=_nv),
    "manipulability": _row(_measure, _measure_error, _measure_slope, 1, 1, 1, metre=(False,)),
    "most_manipulability": _row(
        _measure, _constant_pull, _measure_gradient, 1, 0, 1, cost=_most_cost, metre=(False,),
    ),
}  # fmt: skip
"""{kind: its row}."""

ENDLESS = frozenset({"most_manipulability"})
"""Kinds that are never met: they can be objectives only."""


@once_a_robot(most=64)
def metres_per_radian(robot: Robot, task: Task) -> float:
    """The length [m] by which errors of positions are divided, so that they count as much as errors of angles.

    It is a quarter of the length of the chain between the two frames, or of the longest one for the centre of mass;
    lanes find solutions in the fewest steps with about this weight.
    """
    if task.frame is None:
        chains, ends = [robot.path(i) for i in range(len(robot.body_names))], []
    else:
        start, up, down, end = way(robot, task.relative_to, task.frame)
        chains, ends = [[*up, *down]], [start.placement, end.placement]
    lengths = np.linalg.norm(robot.placements[:, :3, 3], axis=1)
    reach = max((lengths[chain].sum() for chain in chains), default=0.0) + sum(np.linalg.norm(T[:3, 3]) for T in ends)
    return float(reach) / 4 or 1.0
