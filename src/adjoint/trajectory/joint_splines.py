"""Splines through knots of joints: interpolating, with free end knots, smoothing, and B-splines of control points.

`spline` and `free_end_spline` solve systems whose matrix has three diagonals, of numbers or of 2 × 2 blocks, as
kernels: each joint of each trajectory of a batch is a lane. ω is the acceleration at a knot, u the time to the next.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.interpolate import BSpline

from ..compile import kernel, scan
from ..errors import ArgumentError, nearest
from ..model.configuration import difference
from ..model.input_checks import count, vectors
from ..model.needs import need_robot
from ..model.robot import Robot
from .checks import common_batch, end_rates, knot_positions, plain_joints, segment_times, spans
from .manifold import anchored, check_orientations, coordinates, has_manifold_joints
from .piecewise import Trajectory, pieced
from .polynomials import hermite
from .quantities import seconds

__all__ = ["b_spline", "cubic_pieces", "eliminated", "free_end_spline", "knot_row", "spline", "tridiagonal"]

_ENDS = ("clamped", "natural", "not-a-knot")


# --- systems with three diagonals -------------------------------------------------------------------------------------


def eliminated(rows, row) -> np.ndarray:
    """The solution x (N,) of the equations l x_{k-1} + d x_k + r x_{k+1} = b, where `row` makes (l, d, r, b) of a row.

    Gauss' elimination without pivots, which the dominant diagonals of splines do not need.
    """

    def forward(carry, given):
        ratio, value = carry
        lower, diagonal, upper, right = row(given)
        pivot = diagonal - lower * ratio
        ratio, value = upper / pivot, (right - lower * value) / pivot
        return (ratio, value), (ratio, value)

    def backward(x, reduced):
        x = reduced[1] - reduced[0] * x
        return x, x

    _, reduced = scan(forward, (0.0, 0.0), rows)
    return scan(backward, 0.0, reduced, reverse=True)[1]


@kernel(rows=(..., 4))
def tridiagonal(rows) -> np.ndarray:
    """The solution x (N,) of equations with the rows (lower, diagonal, upper, right side)."""
    return eliminated(rows, lambda row: (row[0], row[1], row[2], row[3]))


def knot_row(q, free, left, right) -> tuple:
    """The row of a knot in the equations for the accelerations ω: Eq. (4.4-65) of Fu, Gonzalez & Lee (1987).

    `left` and `right` are the times u to the neighbours; q are the positions before, at and after the knot. A free knot
    is at q + free · ω / 6, and moves some terms to the left side; `free` has three entries, 0 for knots that are given.
    """
    return (
        left - free[0] / left,
        2 * (left + right) + free[1] * (1 / left + 1 / right),
        right - free[2] / right,
        6 * ((q[2] - q[1]) / right - (q[1] - q[0]) / left),
    )


def cubic_pieces(q: np.ndarray, w: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Coefficients (..., K, n, 4) of cubics with positions q and accelerations w (..., K + 1, n) at knots."""
    u = u[..., None]
    rate = np.diff(q, axis=-2) / u - u * (2 * w[..., :-1, :] + w[..., 1:, :]) / 6
    return np.stack([q[..., :-1, :], rate, w[..., :-1, :] / 2, np.diff(w, axis=-2) / (6 * u)], axis=-1)


def _interior_rows(q: np.ndarray, u: np.ndarray, free: np.ndarray) -> list:
    """Rows of all knots but the first and the last: (lower, diagonal, upper, right), (..., N - 2, n) each."""
    at, room = ((x[..., :-2, :], x[..., 1:-1, :], x[..., 2:, :]) for x in (q, free[..., None]))
    return list(np.broadcast_arrays(*knot_row(at, room, u[..., :-1, None], u[..., 1:, None])))


def _solved(rows: list) -> np.ndarray:
    """The solution (..., N, n) of rows (..., N, n): one system for each coordinate."""
    return np.moveaxis(tridiagonal(np.moveaxis(np.stack(rows, axis=-1), -3, -2)), -1, -2)


# --- interpolating splines --------------------------------------------------------------------------------------------


def spline(
    knots, times=None, *, durations=None, degree: int = 3, ends: str = "clamped", start_velocity=0.0, goal_velocity=0.0,
    start_acceleration=0.0, goal_acceleration=0.0, robot: Robot | None = None,
) -> Trajectory:  # fmt: skip
    """The interpolating spline through knots (..., N, n) at given times (..., N) [s], as a `Trajectory`.

        >>> trajectory = spline([[0.0], [1.0], [0.0]], [0.0, 1.0, 2.0])
        >>> trajectory(1.0).a                                                     # at rest at both ends
        array([-6.])

    Parameters
    ----------
    knots
        Configurations (..., N, n), at least two.
    times, durations
        Either the times of the knots (..., N), which grow, or the durations between them (..., N - 1). The trajectory
        begins at time 0.
    degree
        3: cubics, whose accelerations are continuous. 5: quintics, with continuous jerk and its derivative.
    ends
        Of cubics. "clamped": with the velocities given; "natural": with the accelerations given, which are 0 in the
        narrow sense of the word; "not-a-knot": the first two and the last two cubics are one (N >= 4). Quintics have
        both velocities and accelerations given, and no other ends.
    start_velocity, goal_velocity, start_acceleration, goal_acceleration
        Rates at both ends, (..., n) or one number for all joints. Those that have no effect must be 0: accelerations
        of "clamped" cubics, velocities of "natural" ones, and both of "not-a-knot".
    robot
        Needed if joints have several degrees of freedom: their knots are in `q`, and the spline is on their manifold.

    On the manifold, the spline of the sums of the steps from knot to knot gives velocities and accelerations at the
    knots, and quintics in coordinates about each knot join them. Velocity and acceleration stay continuous; joints of
    one degree of freedom move on the very spline. See de Boor (1978), "A practical guide to splines", ch. IV.
    """
    caller = "spline"
    knots = knot_positions(caller, knots, least=2)
    if robot is not None:
        need_robot(robot, caller)
        knots = vectors(knots, robot.nq, "knots", caller)
        check_orientations(caller, robot, knots, "knots")
    u = spans(caller, times, durations, knots.shape[-2])
    n = knots.shape[-1] if robot is None else robot.nv
    first = end_rates(caller, n, start_velocity, start_acceleration, "start", robot)
    last = end_rates(caller, n, goal_velocity, goal_acceleration, "goal", robot)
    batch = common_batch(caller, knots=(knots, 2), times=(u, 1), start=(first, 2), goal=(last, 2))
    _check_ends(caller, degree, ends, first, last)
    knots, first, last = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (knots, first, last))
    u = np.broadcast_to(u, (*batch, u.shape[-1]))
    curved = robot is not None and has_manifold_joints(robot)
    x = _cumulated(robot, knots) if curved else knots  # type: ignore[arg-type]
    if degree == 3:
        c = cubic_pieces(x, _cubic_accelerations(caller, x, u, ends, first, last), u)
    else:
        c = _quintic_pieces(x, u, first, last)
    return _on_manifold(robot, knots, c, u) if curved else pieced(robot, u, c)  # type: ignore[arg-type]


def _check_ends(caller: str, degree: int, ends: str, first, last) -> None:
    """Raise `ArgumentError` for other degrees and ends than those there are, and for rates that have no effect."""
    if count(degree, f"{caller}: degree") not in (3, 5):
        raise ArgumentError(f"{caller}: degree must be 3 or 5, got {degree!r:.60}")
    if not isinstance(ends, str) or ends not in _ENDS:
        raise ArgumentError(f"{caller}: no ends {ends!r:.60}; {nearest(ends, _ENDS)}")
    if degree == 5 and ends != "clamped":
        raise ArgumentError(f"{caller}: ends={ends!r} is of cubics; quintics have velocities and accelerations given")
    names = "velocity", "acceleration"
    idle = () if degree == 5 else {"clamped": (1,), "natural": (0,), "not-a-knot": (0, 1)}[ends]
    for rates, label in ((first, "start"), (last, "goal")):
        for k in idle:
            if rates[..., k, :].any():
                raise ArgumentError(f"{caller}: {label}_{names[k]} has no effect on a cubic spline with ends={ends!r}")


def _cubic_accelerations(caller: str, q, u, ends: str, first, last) -> np.ndarray:
    """The accelerations ω (..., N, n) at the knots of the cubic spline."""
    rows = _interior_rows(q, u, np.zeros(q.shape[-2]))
    if ends == "not-a-knot":
        return _not_a_knot(caller, rows, q, u)
    h, slope = u[..., None], np.diff(q, axis=-2) / u[..., None]
    if ends == "clamped":  # 2 u ω_1 + u ω_2 = 6 (slope - v), and the same backward at the other end
        h_0, h_1 = np.broadcast_to(h[..., 0, :], q[..., 0, :].shape), np.broadcast_to(h[..., -1, :], q[..., 0, :].shape)
        v_0, v_1 = first[..., 0, :], last[..., 0, :]
        one = 0 * h_0, 2 * h_0, h_0, 6 * (slope[..., 0, :] - v_0)
        other = h_1, 2 * h_1, 0 * h_1, 6 * (v_1 - slope[..., -1, :])
    else:
        a_0, a_1 = first[..., 1, :], last[..., 1, :]
        one = 0 * a_0, 0 * a_0 + 1, 0 * a_0, a_0
        other = 0 * a_1, 0 * a_1 + 1, 0 * a_1, a_1
    return _solved([
        np.concatenate([a[..., None, :], row, b[..., None, :]], axis=-2)
        for a, row, b in zip(one, rows, other, strict=True)
    ])  # fmt: skip


def _not_a_knot(caller: str, rows: list, q, u) -> np.ndarray:
    """Accelerations with jerk continuous at the second and at the last but one knot: ω is linear across them."""
    if q.shape[-2] < 4:
        raise ArgumentError(f"{caller}: ends='not-a-knot' needs at least 4 knots, got {q.shape[-2]}")
    (u_1, u_2), (u_4, u_3) = ((u[..., i, None], u[..., j, None]) for i, j in ((0, 1), (-1, -2)))
    lower, diagonal, upper, right = (np.array(row) for row in rows)
    # ω_1 = ((u_1 + u_2) ω_2 - u_1 ω_3) / u_2, put into the second row; and the same at the other end.
    diagonal[..., 0, :] += u_1 * (u_1 + u_2) / u_2
    upper[..., 0, :] -= u_1**2 / u_2
    diagonal[..., -1, :] += u_4 * (u_4 + u_3) / u_3
    lower[..., -1, :] -= u_4**2 / u_3
    lower[..., 0, :] = upper[..., -1, :] = 0.0
    w = _solved([lower, diagonal, upper, right])
    first = ((u_1 + u_2) * w[..., 0, :] - u_1 * w[..., 1, :]) / u_2
    last = ((u_4 + u_3) * w[..., -1, :] - u_4 * w[..., -2, :]) / u_3
    return np.concatenate([first[..., None, :], w, last[..., None, :]], axis=-2)


@kernel(slopes=(..., 2), start=2, goal=2)
def _quintic_rates(slopes, start, goal) -> np.ndarray:
    """Velocities and accelerations (N, 2) at the knots of a quintic spline, of segments with rows (step, duration).

    Third and fourth derivatives are continuous at inner knots. With x = (v, a), each segment gives them at its ends as
    sums of its two x and its step; elimination by 2 × 2 blocks.
    """

    def at_start(d, h):  # third and fourth derivative at the start of a segment: of x before, x after, and the rest
        before = np.stack([np.stack([-36 / h**2, -9 / h]), np.stack([192 / h**3, 36 / h**2])])
        after = np.stack([np.stack([-24 / h**2, 3 / h]), np.stack([168 / h**3, -24 / h**2])])
        return before, after, np.stack([60 * d / h**3, -360 * d / h**4])

    def at_end(d, h):
        before = np.stack([np.stack([-24 / h**2, -3 / h]), np.stack([-168 / h**3, -24 / h**2])])
        after = np.stack([np.stack([-36 / h**2, 9 / h]), np.stack([-192 / h**3, 36 / h**2])])
        return before, after, np.stack([60 * d / h**3, 360 * d / h**4])

    def forward(carry, segment):
        """From x_k = value - ratio x_{k+1} of the knot before the last segment to that of the next knot."""
        ratio, value, B, C, e, begun = carry  # the last segment's end: B x_k + C x_{k+1} + e
        d, h = segment
        before, after, rest = at_start(d, h)
        pivot = before - C + B @ ratio
        new_ratio = np.linalg.solve(pivot, after)
        new_value = np.linalg.solve(pivot, e - rest + B @ value)
        ratio = np.where(begun > 0, new_ratio, np.zeros((2, 2)))
        value = np.where(begun > 0, new_value, start)
        return (ratio, value, *at_end(d, h), 1.0), (ratio, value)

    none = np.zeros((2, 2))
    safe = np.array([[1.0, 0.0], [0.0, 1.0]])
    _, reduced = scan(forward, (none, np.zeros(2), none, safe, np.zeros(2), 0.0), slopes)

    def backward(x, row):
        x = row[1] - row[0] @ x
        return x, x

    return scan(backward, goal, reduced, reverse=True)[1]


def _quintic_pieces(q, u, first, last) -> np.ndarray:
    """Coefficients (..., K, n, 6) of the quintic spline with given velocities and accelerations at both ends."""
    steps = np.diff(q, axis=-2)
    segments = np.stack([steps, np.broadcast_to(u[..., None], steps.shape)], axis=-1)  # (..., K, n, 2)
    first, last = first.swapaxes(-1, -2), last.swapaxes(-1, -2)
    x = np.moveaxis(_quintic_rates(np.moveaxis(segments, -3, -2), first, last), -3, -2)  # (..., K, n, 2)
    x = np.concatenate([x, last[..., None, :, :]], axis=-3)
    states = np.concatenate([q[..., None], x], axis=-1)
    return hermite(states[..., :-1, :, :], states[..., 1:, :, :], u[..., None])


# --- on the manifold --------------------------------------------------------------------------------------------------


def _cumulated(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Coordinates (..., N, nv) of knots: the first about `anchored(0)`, then the sums of steps from knot to knot."""
    steps = difference(robot, q[..., :-1, :], q[..., 1:, :])
    first = difference(robot, anchored(robot, q[..., :1, :]), q[..., :1, :])
    return np.concatenate([first, first + np.cumsum(steps, axis=-2)], axis=-2)


def _on_manifold(robot: Robot, q: np.ndarray, c: np.ndarray, u: np.ndarray) -> Trajectory:
    """Quintics about each knot, with the velocities and accelerations of the polynomials c (..., K, n, order) there."""
    powers = u[..., None, None] ** np.arange(c.shape[-1] - 1.0)
    j = np.arange(1.0, c.shape[-1])
    end_v = (c[..., 1:] * j * powers).sum(axis=-1)[..., -1:, :]
    end_a = (c[..., 2:] * (j * (j + 1))[:-1] * powers[..., :-1]).sum(axis=-1)[..., -1:, :]
    v = np.concatenate([c[..., 1], end_v], axis=-2)
    a = np.concatenate([2 * c[..., 2], end_a], axis=-2)
    anchors = anchored(robot, q[..., :-1, :])
    first = coordinates(robot, anchors, q[..., :-1, :], v[..., :-1, :], a[..., :-1, :])
    last = coordinates(robot, anchors, q[..., 1:, :], v[..., 1:, :], a[..., 1:, :])
    pieces = hermite(np.stack(first, axis=-1), np.stack(last, axis=-1), u[..., None])
    return pieced(robot, u, pieces, anchors)


# --- free end knots ---------------------------------------------------------------------------------------------------


def free_end_spline(
    knots, durations, *, start_velocity=0.0, start_acceleration=0.0, goal_velocity=0.0, goal_acceleration=0.0,
    robot: Robot | None = None,
) -> Trajectory:  # fmt: skip
    """The cubic spline through knots (..., N, n) with velocities and accelerations given at both ends.

    Four conditions more than an interpolating spline of velocities needs two knots more, whose positions are free: the
    second and the last but one. So there are N + 1 segments, with `durations` (..., N + 1) [s]; N is 2 or more.

        >>> trajectory = free_end_spline([[30.0], [50.0], [80.0], [100.0]], [1.0] * 5)
        >>> trajectory(trajectory.knots).q.round(4).ravel().tolist()               # 50 and 80 are passed at 2 and 3 s
        [30.0, 32.7778, 50.0, 80.0, 97.2222, 100.0]

    Lin, Chang & Luh (1983), "Formulation and optimization of cubic polynomial joint trajectories for industrial
    robots", IEEE Trans. Autom. Control 28(12); Fu, Gonzalez & Lee (1987), Eqs. (4.4-63) to (4.4-65). The matrix there
    is printed with A_21 = u_2 + u_1² / u_2 for u_2 - u_1² / u_2, and with 6 q_{n-2} / (u_{n-1} u_{n-2}) for 6 q_{n-2} /
    u_{n-2} in the last entry of b. It always has an inverse: in each column the diagonal dominates (problem 4.11).
    """
    caller = "free_end_spline"
    knots = knot_positions(caller, knots, least=2)
    plain_joints(caller, robot, knots.shape[-1])
    n = knots.shape[-1]
    u = segment_times(caller, durations, knots.shape[-2] + 1, "durations")
    first = end_rates(caller, n, start_velocity, start_acceleration, "start")
    last = end_rates(caller, n, goal_velocity, goal_acceleration, "goal")
    batch = common_batch(caller, knots=(knots, 2), durations=(u, 1), start=(first, 2), goal=(last, 2))
    knots, first, last = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (knots, first, last))
    q, w = _free_end_knots(knots, np.broadcast_to(u, (*batch, u.shape[-1])), first, last)
    return pieced(robot, np.broadcast_to(u, (*batch, u.shape[-1])), cubic_pieces(q, w, u))


def _free_end_knots(knots, u, first, last) -> tuple[np.ndarray, np.ndarray]:
    """Positions and accelerations (..., N + 2, n) of all knots, by Eq. (4.4-65)."""
    u_0, u_1 = u[..., :1, None], u[..., -1:, None]
    (v_0, a_0), (v_1, a_1) = ((x[..., :1, :], x[..., 1:, :]) for x in (first, last))
    # A free knot is at e + u² ω / 6.
    e_0 = knots[..., :1, :] + u_0 * v_0 + u_0**2 * a_0 / 3
    e_1 = knots[..., -1:, :] - u_1 * v_1 + u_1**2 * a_1 / 3
    q = np.concatenate([knots[..., :1, :], e_0, knots[..., 1:-1, :], e_1, knots[..., -1:, :]], axis=-2)
    free = np.zeros((*u.shape[:-1], q.shape[-2]))
    free[..., 1], free[..., -2] = u[..., 0] ** 2, u[..., -1] ** 2
    lower, diagonal, upper, right = (np.array(row) for row in _interior_rows(q, u, free))
    right[..., :1, :] -= u_0 * a_0
    right[..., -1:, :] -= u_1 * a_1
    lower[..., 0, :] = upper[..., -1, :] = 0.0
    w = np.concatenate([a_0, _solved([lower, diagonal, upper, right]), a_1], axis=-2)
    return q + free[..., None] * w / 6, w


# --- B-splines of control points --------------------------------------------------------------------------------------


def b_spline(control_points, duration, *, degree: int = 5, robot: Robot | None = None) -> Trajectory:
    """The B-spline of control points (..., N, n), N > degree, on equal segments within `duration` [s].

    It begins at the first control point and ends at the last one, passes near the others, and stays in their convex
    hull: limits that all control points keep hold always. `degree` - 1 derivatives are continuous. With `degree` equal
    first points (and last ones) it begins (and ends) at rest. `spline` passes through given points.

        >>> trajectory = b_spline([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]], duration=2.0)
        >>> trajectory(1.0).q, trajectory.pieces
        (array([0.5]), 1)

    Its velocity is 0 at an end where two points are equal, and its acceleration where three are. See de Boor (1978),
    "A practical guide to splines", ch. IX.
    """
    caller = "b_spline"
    degree = count(degree, f"{caller}: degree")
    points = knot_positions(caller, control_points, least=degree + 1, label="control_points")
    T = seconds(duration, f"{caller}: duration")
    plain_joints(caller, robot, points.shape[-1])
    batch = common_batch(caller, control_points=(points, 2), duration=(T, 0))
    segments = points.shape[-2] - degree
    knots = np.concatenate([np.zeros(degree), np.linspace(0, 1, segments + 1), np.ones(degree)])
    basis = BSpline(knots, np.eye(points.shape[-2]), degree)
    taylor = [basis(knots[degree : -degree - 1], nu=j) / math.factorial(j) for j in range(degree + 1)]
    c = np.einsum("jkl,...ln->...knj", taylor, points)  # over unit time
    unit = Trajectory(np.linspace(0, 1, segments + 1), np.broadcast_to(c, (*batch, *c.shape[-3:])), robot)
    return unit.stretched(T)
