"""`joint_motion`: the motion of joints that moves a frame along a motion in space, on one branch and without jumps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import ArgumentError, SolveError
from ..goals import find_configuration
from ..inverse.chains import chain_of
from ..inverse.choice import follow_path, middle_of_limits, nearest_solution
from ..inverse.closed_form import inverse_kinematics
from ..kinematics.forward import forward_kinematics
from ..kinematics.jacobians import jacobian, jacobian_rate
from ..lie import se3, so3
from ..model.input_checks import count, positive
from ..model.needs import need_coordinates, need_robot
from ..model.robot import Robot
from .checks import given_start
from .deviation import has_closed_form
from .piecewise import Trajectory, pieced
from .polynomials import Order, extremes, hermite
from .poses.pose_trajectory import PoseSample, PoseTrajectory, piece_sample

__all__ = ["joint_motion"]

_CALLER = "joint_motion"
_MOST = 20_000  # pieces of the motion of joints; more are needed only where it is singular
_DENSER = 8  # where steps between samples are large, the path is sampled so many times as densely, once
_LOOKED = np.array([0.25, 0.5, 0.75])  # fractions of a piece at which the frame is compared with its path
_SAFE = 0.5  # of the tolerance is used up there
_NEWTON = 8  # steps, of which each about squares the error
_MET = 1e-10  # [rad, m] an error of the frame this small is 0
_INSIDE = 1e-9  # [rad, m] a coordinate this little outside of its limits is inside


def joint_motion(
    robot: Robot, path: PoseTrajectory, frame: str, *, start=None, tolerance: float = 1e-6, samples: int = 32
) -> Trajectory:
    """The `Trajectory` of joints that moves `frame` along `path`, on one branch and without jumps.

    The frame is on the path at all knots of the trajectory, with its twist V and acceleration V̇ there: the joints have
    v = J⁻¹ V and a = J⁻¹ (V̇ - J̇ v), and quintic polynomials go from knot to knot. There are `samples` of them at
    first; pieces in which the frame is more than `tolerance` [m and rad] off its path are halved until none is.

        >>> q_0 = np.array([0.3, -0.8, 2.0, 0.3, 0.7, 0.0])
        >>> T_0 = forward_kinematics(robot, q_0, "tool")
        >>> path = aj.trajectory.line(T_0, T_0 @ se3.exp([0, 0, 0, 0.0, 0.1, -0.2]), duration=2.0)
        >>> motion = joint_motion(robot, path, "tool", start=q_0)
        >>> T = forward_kinematics(robot, motion(1.0).q, "tool")
        >>> assert np.abs(T - path(1.0).T).max() < 1e-6

    `start` (nq,) tells the branch: the motion begins with the solution at the path's first pose that is nearest to it,
    and joints that do not move the frame stay there. Without it, the branch is that of `follow_path`, on which the
    joints move least. An arm with more joints than a pose needs moves as little as possible at each instant,
    v = J⁺ V; such arms, and those without a closed form, begin where `find_configuration` leads from `start`.

    A `SolveError` says where on the path it cannot go on, and why: out of reach, at a joint's limit, at the end of a
    branch, or singular.
    """
    need_robot(robot, _CALLER)
    need_coordinates(robot, f"{_CALLER} is")
    if not isinstance(path, PoseTrajectory) or path.batch:
        raise ArgumentError(f"{_CALLER}: path must be one PoseTrajectory, such as a line, got {path!r:.100}")
    tolerance = positive(tolerance, f"{_CALLER}: tolerance [m and rad]")
    if (samples := count(samples, f"{_CALLER}: samples")) < 1:
        raise ArgumentError(f"{_CALLER}: samples must be at least 1, got {samples}")
    given = given_start(_CALLER, robot, start)
    task = _Task(robot, frame, path, np.array(chain_of(robot, frame).places))
    try:
        return _followed(task, given, tolerance, samples)
    except SolveError as error:
        if given is None or not has_closed_form(robot, frame) or not _passes(task, tolerance, samples):
            raise
        raise SolveError(f"{error}. Without start= another branch goes all the way") from None


def _followed(task: _Task, start, tolerance: float, samples: int) -> Trajectory:
    t = _grid(task.path, samples)
    if has_closed_form(task.robot, task.frame):
        t, q = _on_a_branch(task, t, start)
    else:
        q = _walked(task, t, start)
    motion = _refined(task, t, q, tolerance)
    _check_limits(task, motion)
    return motion


def _passes(task: _Task, tolerance: float, samples: int) -> bool:
    """Whether the path can be followed from another start."""
    try:
        _followed(task, None, tolerance, samples)
    except SolveError:
        return False
    return True


class _Task(NamedTuple):
    """A frame of a robot, the path it follows, and the places of the coordinates that move it."""

    robot: Robot
    frame: str
    path: PoseTrajectory
    places: np.ndarray

    def failed(self, t: float, why: str, help: str) -> SolveError:
        where = f"t = {t:.4g} s, {t / self.path.duration:.4g} of the way"
        return SolveError(
            f"{_CALLER}: '{self.frame}' of '{self.robot.name}' cannot follow its path at {where}: {why}; {help}"
        )

    def rates(self, q: np.ndarray, V: np.ndarray, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Velocities and accelerations (N, nv) with which the frame has the body twists V and accelerations A (N, 6).

        With fewer joints than a pose needs, errors are least; with more of them, v is least: v = Jᵀ y, J Jᵀ y = V.
        """
        robot, frame = self.robot, self.frame
        v, a = np.zeros((2, *q.shape[:-1], robot.nv))
        J = jacobian(robot, q, frame)[..., self.places]
        v[..., self.places] = own = _least(J, V)
        dJ = jacobian_rate(robot, q, v, frame)[..., self.places]
        a[..., self.places] = _least(J, A - _times(dJ, own))
        if len(self.places) > 6:  # a = J̇ᵀ y + Jᵀ ẏ: the second term is what J a = V̇ - J̇ v leaves of it
            moved = _times(dJ.mT, np.linalg.solve(J @ J.mT, V[..., None])[..., 0])
            a[..., self.places] += moved - _least(J, _times(J, moved))
        return v, a

    def corrected(self, q: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Configurations near q (N, nq) at which the frame is at T (N, 4, 4), and the errors (N,) that are left."""
        q = q.copy()
        for _ in range(_NEWTON):
            error = se3.log(se3.compose(se3.inverse(forward_kinematics(self.robot, q, self.frame)), T))
            size = np.abs(error).max(axis=-1)
            if not (size > _MET).any() or not (size < np.inf).all():
                break
            q[..., self.places] += _least(jacobian(self.robot, q, self.frame)[..., self.places], error)
        return q, size


def _times(M: np.ndarray, v: np.ndarray) -> np.ndarray:
    return (M @ v[..., None])[..., 0]


def _least(J: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The least x (..., n) of those for which |J x - b| is least; NaN where J is singular."""
    m, n = J.shape[-2:]
    try:
        if n == m:
            return np.linalg.solve(J, b[..., None])[..., 0]
        if n > m:
            return _times(J.mT, np.linalg.solve(J @ J.mT, b[..., None])[..., 0])
        return np.linalg.solve(J.mT @ J, J.mT @ b[..., None])[..., 0]
    except np.linalg.LinAlgError:
        if J.ndim == 2:
            return np.full(n, np.nan)
        return np.stack([_least(J_i, b_i) for J_i, b_i in zip(J, b, strict=True)])


def _grid(path: PoseTrajectory, samples: int) -> np.ndarray:
    """Times, about so many as `samples`, that are even between the knots of the path, with these."""
    parts = np.ceil(np.diff(path.knots) / path.duration * samples * (1 - 1e-12)).astype(int)
    pieces = zip(path.knots[:-1], path.knots[1:], np.maximum(parts, 1), strict=True)
    return np.append(np.concatenate([np.linspace(a, b, n, endpoint=False) for a, b, n in pieces]), path.knots[-1])


# --- the first samples ------------------------------------------------------------------------------------------------


def _on_a_branch(task: _Task, t: np.ndarray, start) -> tuple[np.ndarray, np.ndarray]:
    """Times and configurations at them, by the closed form."""
    robot, path, frame = task.robot, task.path, task.frame
    q_0 = start
    if start is not None:
        chosen = nearest_solution(robot, inverse_kinematics(robot, path(0.0).T, frame), start, frame=frame)
        q_0 = chosen.q if chosen.branch >= 0 else start
    found = follow_path(robot, path(t).T, frame, start=q_0)
    if found.jumps:  # steps may just be large
        t = _grid(path, _DENSER * len(t))
        found = follow_path(robot, path(t).T, frame, start=q_0)
    if found.jumps:
        jump = found.jumps[0]
        help = "move the path or the base"
        if jump.until == jump.index:  # another branch is there
            help += ", or cut the path there and go on from another branch"
        raise task.failed(t[jump.index], jump.reason, help)
    return t, found.q


def _walked(task: _Task, t: np.ndarray, start) -> np.ndarray:
    """Configurations at times t along q̇ = J⁺ V, by Runge and Kutta's rule, each put on the path."""
    robot, path = task.robot, task.path
    near = middle_of_limits(robot) if start is None else start
    found = find_configuration(robot, {task.frame: path(0.0).T}, start=near)
    if not found.success:
        raise task.failed(0.0, "no configuration was found there", "another start= may lead to one")
    V = path(np.sort(np.concatenate([t, 0.5 * (t[1:] + t[:-1])]))).twist
    T, q = path(t).T, [found.q]

    def slope(q, V):
        v = np.zeros(robot.nv)
        v[task.places] = _least(jacobian(robot, q, task.frame)[:, task.places], V)
        return v

    for i, h in enumerate(np.diff(t)):
        k_1 = slope(q[-1], V[2 * i])
        k_2 = slope(q[-1] + 0.5 * h * k_1, V[2 * i + 1])
        k_3 = slope(q[-1] + 0.5 * h * k_2, V[2 * i + 1])
        k_4 = slope(q[-1] + h * k_3, V[2 * i + 2])
        new, error = task.corrected((q[-1] + h / 6 * (k_1 + 2 * k_2 + 2 * k_3 + k_4))[None], T[i + 1][None])
        if not error[0] <= _MET:
            raise task.failed(t[i + 1], f"it is out of reach or singular ({_state(task, q[-1])})", _ADVICE)
        q.append(new[0])
    return np.stack(q)


_ADVICE = "keep the path away from there, or from the edge of reach"


def _state(task: _Task, q: np.ndarray) -> str:
    """How near a configuration is to a singular one."""
    J = jacobian(task.robot, q, task.frame)[:, task.places]
    return f"the smallest singular value of the Jacobian is {np.linalg.svd(J)[1][-1]:.2g}"


# --- further samples --------------------------------------------------------------------------------------------------


def _refined(task: _Task, t: np.ndarray, q: np.ndarray, tolerance: float) -> Trajectory:
    """The trajectory through samples (t, q), and further ones where the frame would be off its path."""
    while True:
        motion = _through(task, t, q)
        at = t[:-1, None] + np.diff(t)[:, None] * _LOOKED
        now = motion(at.ravel()).q
        T, there = task.path(at.ravel()).T, forward_kinematics(task.robot, now, task.frame)
        off = np.maximum(
            np.linalg.norm(T[:, :3, 3] - there[:, :3, 3], axis=-1), so3.distance(T[:, :3, :3], there[:, :3, :3])
        ).reshape(at.shape)
        over = ~(off.max(axis=1) <= _SAFE * tolerance)
        if not over.any():
            return motion
        if over.sum() + len(t) > _MOST or not np.isfinite(now).all():
            k = int(np.argmax(np.where(np.isfinite(off), off, np.inf).max(axis=1)))
            raise task.failed(t[k], f"the arm is singular there ({_state(task, q[k])})", _ADVICE)
        middle = at[over, 1]
        new, error = task.corrected(now.reshape(*at.shape, -1)[over, 1], task.path(middle).T)
        if not (error <= _MET).all():
            k = int(np.argmin(error <= _MET))
            raise task.failed(middle[k], f"the arm is singular near there ({_state(task, new[k])})", _ADVICE)
        order = np.argsort(np.concatenate([t, middle]), kind="stable")
        t, q = np.concatenate([t, middle])[order], np.concatenate([q, new])[order]


def _through(task: _Task, t: np.ndarray, q: np.ndarray) -> Trajectory:
    """The quintic polynomials between samples, with the frame's twists and accelerations.

    These may jump at the knots of the path, so both ends of a piece are looked at from within it.
    """
    h, path = np.diff(t), task.path
    k = np.searchsorted(path.knots[1:-1], 0.5 * (t[1:] + t[:-1]))
    states = []
    for times, own in ((t[:-1], q[:-1]), (t[1:], q[1:])):
        c, rows = path.variables.coefficients, np.asarray(path.variables.rows)
        at: PoseSample = piece_sample(path.shape, c[k], rows[k], times - path.knots[k])
        states.append(np.stack([own, *task.rates(own, at.twist, at.acceleration)], axis=-1))
    return pieced(task.robot, h, hermite(states[0], states[1], h[:, None]))


def _check_limits(task: _Task, motion: Trajectory) -> None:
    """Raise a `SolveError` if a joint passes a limit, also between the samples."""
    robot, h = task.robot, np.diff(motion.knots)
    found = extremes(Order(motion.degree + 1), motion.coefficients, h[:, None])
    beyond = np.maximum(robot.lower - found.lowest, found.highest - robot.upper) > _INSIDE
    if beyond.any():
        k = int(np.argmax(beyond.any(axis=1)))
        i = int(np.argmax(beyond[k]))
        t = motion.knots[k] + h[k] * np.linspace(0, 1, 257)
        q = motion(t).q[:, i]
        first = t[int(np.argmax((q < robot.lower[i] - _INSIDE) | (q > robot.upper[i] + _INSIDE)))]
        limit = robot.lower[i] if found.lowest[k, i] < robot.lower[i] - _INSIDE else robot.upper[i]
        why = f"joint '{motion.joint_names[i]}' would pass its limit {limit:.4g}"
        raise task.failed(first, why, "another start=, or another branch, may stay inside")
