"""Motions from rest to rest under limits: `trapezoidal` and `s_curve`, for one pair of configurations or any batch.

Every joint follows one common profile x(t): q(t) = start + x(t) u with u = (goal - start) / L, where L is the largest
displacement of a joint. So q(t) is a straight line, and all joints start, change phase and end together. Its speed has
the limit V = min V_i / |u_i| over the joints that move, and its acceleration A and jerk J likewise. The profile that is
fastest under V, A and J is therefore the fastest motion along this line: a joint alone may be faster, if one joint
decides V and another A. See Biagiotti & Melchiorri (2008), "Trajectory planning for automatic machines and robots", 3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError, SolveError
from ..model.robot import Robot
from .manifold import anchored, coordinates, has_manifold_joints
from .piecewise import Trajectory
from .quantities import broadcast, limits, seconds, velocity_limits
from .states import ends

__all__ = ["s_curve", "trapezoidal"]

_ROUNDING = 1e-12  # a duration this much too short, as a fraction, is the shortest one


def trapezoidal(start, goal, *, acceleration, velocity=None, duration=None, robot: Robot | None = None) -> Trajectory:
    """The fastest `Trajectory` from `start` to `goal` (..., n), at rest in both, under limits of |v| and |a|.

    It accelerates to v = min(V, √(A L)) for v / A, keeps this velocity, and brakes: 3 pieces of degree 2, which last

        T = L / v + v / A.

    The middle one lasts no time where V is not reached. All joints move on the straight line to the goal and share the
    phases: L, V and A are those of the joint that needs the longest. The limits are numbers, or arrays (..., n), in
    units of `start` and seconds; V may be infinite. With a longer `duration` (...) [s], all of the motion is slower in
    proportion. With a `robot`, joints of several degrees of freedom move about a fixed axis or screw, and V is by
    default the robot's own.

        >>> trajectory = trapezoidal([0.0, 0.0], [3.0, -1.0], velocity=1.0, acceleration=2.0)
        >>> trajectory.knots
        array([0. , 0.5, 3. , 3.5])
        >>> trajectory(1.0).v
        array([ 1.        , -0.33333333])
    """
    x_0, x_1, anchors = _line("trapezoidal", robot, start, goal)
    V = velocity_limits(velocity, robot, x_0.shape[-1], "trapezoidal")
    A = limits(acceleration, x_0.shape[-1], "acceleration", "trapezoidal")
    return _timed("trapezoidal", _trapezoid, (x_0, x_1, V, A), duration, robot, anchors)


def s_curve(start, goal, *, acceleration, jerk, velocity=None, duration=None, robot: Robot | None = None) -> Trajectory:
    """The fastest `Trajectory` from `start` to `goal` (..., n), at rest in both, under limits of |v|, |a| and |jerk|.

    It has 7 pieces of degree 3: the jerk is J, 0, -J, 0, -J, 0, J, for t_j, t_a, t_j, t_v, t_j, t_a, t_j, with

        t_j = min(A / J, √(V / J), ∛(L / 2J)),
        t_a = min(V / (J t_j) - t_j, (√(t_j² + 4 L / (J t_j)) - 3 t_j) / 2),
        t_v = L / v - 2 t_j - t_a,  v = J t_j (t_j + t_a).

    So t_a is 0 where A is not reached, and t_v where V is not. All joints move on the straight line to the goal and
    share the phases, as in `trapezoidal`. The limits are numbers, or arrays (..., n), in units of `start` and seconds;
    V and A may be infinite. With a longer `duration` (...) [s], all of the motion is slower in proportion. With a
    `robot`, joints of several degrees of freedom move about a fixed axis or screw, and V is by default the robot's own.

    Knots are times since the start, so a phase is exact to 1e-16 of the whole duration T: v and a may exceed V and A by
    the fraction 1e-16 T / t_j, which is more than the tolerance 1e-9 of `limits_hold` if t_j is below 1e-7 T.

        >>> trajectory = s_curve([0.0, 0.0], [6.0, -2.0], velocity=2.0, acceleration=2.0, jerk=4.0)
        >>> trajectory.knots
        array([0. , 0.5, 1. , 1.5, 3. , 3.5, 4. , 4.5])
        >>> trajectory(0.5).a
        array([ 2.        , -0.66666667])
    """
    x_0, x_1, anchors = _line("s_curve", robot, start, goal)
    n = x_0.shape[-1]
    V = velocity_limits(velocity, robot, n, "s_curve")
    A = limits(acceleration, n, "acceleration", "s_curve", infinite=True)
    J = limits(jerk, n, "jerk", "s_curve")
    return _timed("s_curve", _double_s, (x_0, x_1, V, A, J), duration, robot, anchors)


# --- one sample -------------------------------------------------------------------------------------------------------


class Joints(NamedTuple):
    """The number of joints, on which machine code depends."""

    n: int


class Profiled(NamedTuple):
    """The arrays of one trajectory, and the shortest time that it could last."""

    knots: np.ndarray  # (K + 1,)
    coefficients: np.ndarray  # (K, n, degree + 1)
    shortest: np.ndarray


def _straight(start, goal) -> tuple:
    """The largest displacement L and the direction u (n,) of the line; u is 0 if nothing moves."""
    L = np.max(np.abs(goal - start))
    return L, (goal - start) / np.where(L > 0, L, 1.0)


def _along(limit, u):
    """The limit along the line, of all joints that move; infinity if nothing does."""
    moves = np.abs(u) > 0
    return np.min(np.where(moves, limit / np.where(moves, np.abs(u), 1.0), np.inf))


def _stretch(duration, shortest) -> tuple:
    """The time that the motion lasts, `duration` if that is given, and how much longer that is than the shortest."""
    T = np.where(duration > 0, duration, shortest)
    return T, np.where(shortest > 0, T / np.where(shortest > 0, shortest, 1.0), 1.0)


def _whole(start, goal, u, pieces: list, ramp: list, T, shortest) -> Profiled:
    """The trajectory of the `pieces` of x(t), with a ramp whose phases end at the times `ramp`, and its mirror image.

    Constants of the pieces of the second ramp count from the goal, so that the end is as exact as the start.
    """
    ramp = [np.minimum(t, 0.5 * T) for t in ramp]
    knots = np.stack([0.0 * T, *ramp, *(T - t for t in reversed(ramp)), T])
    bases = [start] * (len(ramp) + 1) + [goal] * len(ramp)
    coefficients = [
        np.stack([base + c[0] * u, *(c_j * u for c_j in c[1:])], axis=-1) for base, c in zip(bases, pieces, strict=True)
    ]
    return Profiled(knots, np.stack(coefficients), shortest)


@kernel(joints=static, start="n", goal="n", velocity="n", acceleration="n")
def _trapezoid(joints: Joints, start, goal, velocity, acceleration, duration) -> Profiled:
    L, u = _straight(start, goal)
    A = np.where(L > 0, _along(acceleration, u), 1.0)
    v = np.minimum(_along(velocity, u), np.sqrt(A * L))
    t_a = v / A
    t_v = np.maximum(L / np.where(v > 0, v, 1.0) - t_a, 0.0)
    shortest = 2 * t_a + t_v
    T, k = _stretch(duration, shortest)
    x, v, a = 0.5 * v * t_a, v / k, A / k**2
    pieces = [(0.0, 0.0, a / 2), (x, v, 0.0), (-x, v, -a / 2)]
    return _whole(start, goal, u, pieces, [k * t_a], T, shortest)


@kernel(joints=static, start="n", goal="n", velocity="n", acceleration="n", jerk="n")
def _double_s(joints: Joints, start, goal, velocity, acceleration, jerk, duration) -> Profiled:
    L, u = _straight(start, goal)
    V, A = _along(velocity, u), _along(acceleration, u)
    J = np.where(L > 0, _along(jerk, u), 1.0)
    t_j = np.minimum(np.minimum(A / J, np.sqrt(V / J)), np.cbrt(L / (2 * J)))
    a = np.where(t_j > 0, J * t_j, 1.0)
    t_a = np.minimum(V / a - t_j, 0.5 * (np.sqrt(t_j**2 + 4 * L / a) - 3 * t_j))
    t_a = np.maximum(t_a, 0.0)
    v = J * t_j * (t_j + t_a)
    t_v = np.maximum(L / np.where(v > 0, v, 1.0) - 2 * t_j - t_a, 0.0)
    shortest = 4 * t_j + 2 * t_a + t_v
    T, k = _stretch(duration, shortest)
    ramp = [k * t_j, k * (t_j + t_a), k * (2 * t_j + t_a)]
    # Velocities and positions at the ends of the phases of the first ramp, at the shortest time.
    a = J * t_j
    v_1, v_2 = 0.5 * a * t_j, 0.5 * a * t_j + a * t_a
    x_1, x_3 = v_1 * t_j / 3, 0.5 * v * (2 * t_j + t_a)
    x_2 = x_1 + (v_1 + 0.5 * a * t_a) * t_a
    # The same at the time T; positions stay.
    v, v_1, v_2, a, j = v / k, v_1 / k, v_2 / k, a / k**2 / 2, J / k**3 / 6
    first = [(0.0, 0.0, 0.0, j), (x_1, v_1, a, 0.0), (x_2, v_2, a, -j)]
    last = [(-x_3, v, 0.0, -j), (-x_2, v_2, -a, 0.0), (-x_1, v_1, -a, j)]
    return _whole(start, goal, u, [*first, (x_3, v, 0.0, 0.0), *last], ramp, T, shortest)


# --- any batch --------------------------------------------------------------------------------------------------------


def _line(caller: str, robot: Robot | None, start, goal) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Coordinates (..., nv) of both ends of the line, and the anchors (..., nq) of robots that need some.

    A line through the origin of the coordinates about an anchor has the velocity v = ẋ: limits of v are limits of ẋ.
    """
    (q_0,), (q_1,) = ends(caller, robot, (start,), "start"), ends(caller, robot, (goal,), "goal")
    if q_0.shape[-1] != q_1.shape[-1]:
        raise ArgumentError(f"{caller}: start has {q_0.shape[-1]} coordinates and goal {q_1.shape[-1]}")
    if not q_0.shape[-1]:
        raise ArgumentError(f"{caller}: start has shape {q_0.shape}, which is no joint at all")
    if robot is None or not has_manifold_joints(robot):
        return q_0, q_1, None
    anchors, still = anchored(robot, q_0), np.zeros(robot.nv)
    x_0, x_1 = (coordinates(robot, anchors, q, still, still).x for q in (q_0, q_1))
    return x_0, x_1, anchors


def _timed(caller: str, profile, given: tuple, duration, robot: Robot | None, anchors) -> Trajectory:
    """The trajectory that the kernel `profile` makes of the ends and the limits that are `given`, (..., n) each."""
    h = np.zeros(()) if duration is None else seconds(duration, f"{caller}: duration")
    names = ("start", "goal", "velocity", "acceleration", "jerk")
    shapes = {name: x.shape[:-1] for name, x in zip(names, given, strict=False)}
    batch = broadcast(caller, **shapes, duration=h.shape)
    found = profile(Joints(given[0].shape[-1]), *given, h)
    if not np.isfinite(found.shortest).all():
        raise ArgumentError(f"{caller}: distances and limits are too large or too small: the motion's time overflows")
    _check_duration(caller, h, np.asarray(found.shortest))
    if anchors is not None:
        anchors = np.broadcast_to(anchors[..., None, :], (*batch, found.coefficients.shape[-3], robot.nq))  # type: ignore[union-attr]
    return Trajectory(found.knots, found.coefficients, robot, anchors)


def _check_duration(caller: str, h: np.ndarray, shortest: np.ndarray) -> None:
    short = (h > 0) & (h < shortest * (1 - _ROUNDING))
    if short.any():
        h, shortest = np.broadcast_arrays(h, shortest)
        place = tuple(int(k[0]) for k in np.nonzero(np.atleast_1d(short)))
        which = f" of trajectory {list(place)}" if shortest.ndim else ""
        h, shortest = np.atleast_1d(h)[place], np.atleast_1d(shortest)[place]
        raise SolveError(f"{caller}: the duration{which} is {h:g} s, but the limits need {shortest:.17g} s at least")
