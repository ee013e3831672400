"""`minimum_time_spline`: how long each segment of a spline through knots has to last at least.

The extremes of a cubic spline are known: jerk is constant in a segment, acceleration is largest at a knot, and velocity
at a knot or where the acceleration passes 0. So the limits are a few smooth inequalities for the times u between the
knots, and their derivatives are those of the kernels (`jvp`). If all times are stretched by λ, velocities are divided
by λ, accelerations by λ² and jerks by λ³, which makes any times feasible, exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from ..compile import kernel, scan
from ..errors import ArgumentError, SolveError
from ..model.input_checks import truth
from ..model.robot import Robot
from .checks import knot_positions, plain_joints
from .joint_splines import cubic_pieces, eliminated, knot_row
from .limits import torque_peaks
from .piecewise import Trajectory, pieced
from .quantities import limits
from .torque import Torque, true_torque

__all__ = ["minimum_time_spline"]

_POWERS = (1, 1, 2, 3)  # of λ, in velocities at knots and between them, accelerations and jerks
_FRACTIONS = (0.0, 0.2, 0.4, 0.6, 0.8)  # of each segment, at which the optimiser sees torques
_DENSE = 64  # instants of each segment among which the largest torques are looked for, before they are refined
_SLOW = 0.02  # the speed at which the optimiser lets dry friction set in, as a fraction of a joint's largest speed
_NEAR = 0.5  # from this fraction of its limit on, a constraint is looked at in the next round
_BOX = 0.5  # the largest change of a time in one round, as a fraction of it
_LEAST_BOX = 1e-4
_ROUNDS = 50
_ACCURACY = 1e-10  # of the duration
_ROUNDING = 1e-12  # the last stretch is larger by this, so that rounding errors do not exceed a limit


# --- the spline from rest to rest, as a function of the times between its knots --------------------------------------


class _Layout(NamedTuple):
    """The equations of a spline through K knots of n joints, of which those that are free depend on the times."""

    first: np.ndarray  # (n,) the first knot
    last: np.ndarray
    q: np.ndarray  # (n, rows, 3) positions before, at and after the knot of each row
    near: np.ndarray  # (rows, 4) which times: two before the knot, and two after it
    role: np.ndarray  # (rows, 6) see `_knots`
    segments: int
    free_ends: bool


def _layout(knots: np.ndarray, free_ends: bool) -> _Layout:
    """The layout for knots (N, n): with two free knots more, or with clamped ends."""
    if free_ends:  # rows of inner knots; a free knot has the position of the end beside it, and moves with ω
        q, rows = np.concatenate([knots[:1], knots, knots[-1:]]), len(knots)
        near = np.arange(rows)[:, None] + np.arange(-1, 3)
        role = np.zeros((rows, 6))
        role[0, 1] = role[1, 0] = role[-1, 2] = role[-2, 3] = 1
    else:  # rows of all knots; at both ends the spline goes on as its mirror image, so that it rests there
        q, rows = np.concatenate([knots[1:2], knots, knots[-2:-1]]), len(knots)
        near = np.arange(rows)[:, None] + np.arange(-2, 2)
        near[0, 1], near[-1, 2] = 0, rows - 2
        role = np.zeros((rows, 6))
        role[0, 4] = role[-1, 5] = 1
    segments = len(knots) + (1 if free_ends else -1)
    three = np.stack([q[:-2], q[1:-1], q[2:]], axis=-1).swapaxes(0, 1)
    return _Layout(knots[0], knots[-1], three, np.clip(near, 0, segments - 1), role, segments, free_ends)


class _Knots(NamedTuple):
    """Accelerations ω and positions q (rows,) at the knots of one joint."""

    w: np.ndarray
    q: np.ndarray


@kernel(q=(..., 3), u=(..., 4), role=(..., 6))
def _knots(q, u, role) -> _Knots:
    """Eq. (4.4-65) for rest at both ends. A free knot is at q + u² ω / 6, with u the time to the end beside it.

    Entries of `role` are 1 if the knot before is free beside the start, if the knot itself is free beside the start, or
    beside the goal, if the knot after is free beside the goal, and if the spline is mirrored at its start or its goal.
    """

    def free(u, role):
        return role[0] * u[0] ** 2, role[1] * u[1] ** 2 + role[2] * u[2] ** 2, role[3] * u[3] ** 2

    def row(given):
        q, u, role = given
        lower, diagonal, upper, right = knot_row(q, free(u, role), u[1], u[2])
        return (1 - role[4]) * (lower + role[5] * upper), diagonal, (1 - role[5]) * (upper + role[4] * lower), right

    w = eliminated((q, u, role), row)
    moved = scan(lambda _, x: (0.0, x[0][1] + free(x[1], x[2])[1] * x[3] / 6), 0.0, (q, u, role, w))[1]
    return _Knots(w, moved)


class _Rates(NamedTuple):
    """Velocity at the start of a segment, where its acceleration is 0 (or at the start again), and its jerk."""

    v: np.ndarray
    peak: np.ndarray
    jerk: np.ndarray


@kernel
def _segment(q_0, q_1, w_0, w_1, u) -> _Rates:
    """Eqs. (4.4-67) to (4.4-71). In the book, the sign of ω_i in the velocities is wrong, and t̄ is where Q̈ = 0."""
    v = (q_1 - q_0) / u - u * (2 * w_0 + w_1) / 6
    turns = w_0 * w_1 < 0
    s = np.where(turns, w_0 / np.where(turns, w_0 - w_1, 1.0), 0.0)
    return _Rates(v, v + u * s * w_0 / 2, (w_1 - w_0) / u)


class _Instant(NamedTuple):
    """Position, velocity and acceleration of one joint."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


@kernel
def _instant(q_0, q_1, w_0, w_1, u, s) -> _Instant:
    """At the fraction s of a segment."""
    v, jump = (q_1 - q_0) / u - u * (2 * w_0 + w_1) / 6, w_1 - w_0
    t = u * s
    return _Instant(q_0 + t * (v + t * (w_0 / 2 + s * jump / 6)), v + t * (w_0 + s * jump / 2), w_0 + s * jump)


class _Spline(NamedTuple):
    """Positions q and accelerations w (n, K) at the knots, and their derivatives (M, n, K) along M changes du of u."""

    u: np.ndarray  # (K - 1,)
    q: np.ndarray
    w: np.ndarray
    du: np.ndarray  # (M, K - 1)
    dq: np.ndarray
    dw: np.ndarray

    def ends(self) -> tuple[list, list]:
        """What `_segment` and `_instant` take: q and w before and after each segment, its time, and derivatives."""
        sides = slice(None, -1), slice(1, None)
        values = [x[..., side] for x in (self.q, self.w) for side in sides]
        changes = [x[..., side] for x in (self.dq, self.dw) for side in sides]
        return [*values, self.u], [*changes, self.du[:, None]]


def _spline(layout: _Layout, u: np.ndarray, du: np.ndarray | None = None) -> _Spline:
    """The spline with times u (K - 1,), and its derivatives along `du` (M, K - 1), or along none (M = 1)."""
    du = np.zeros((1, len(u))) if du is None else du
    still = np.zeros(layout.q.shape[1:]), np.zeros(layout.role.shape)
    w, q, dw, dq = _knots.jvp(layout.q, u[layout.near], layout.role, still[0], du[:, None, layout.near], still[1])
    q, w = (np.broadcast_to(x, dw.shape)[0] for x in (q, w))
    if layout.free_ends:
        q = np.concatenate([layout.first[:, None], q, layout.last[:, None]], axis=1)
        w, dw, dq = (np.pad(x, [(0, 0)] * (x.ndim - 1) + [(1, 1)]) for x in (w, dw, dq))
    return _Spline(u, q, w, du, dq, dw)


# --- its limits -------------------------------------------------------------------------------------------------------


def _kinematic(spline: _Spline, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Velocities, accelerations and jerks over their limits (R,), derivatives (R, M), powers of λ (R,)."""
    values, changes = spline.ends()
    v, peak, jerk, dv, dpeak, djerk = _segment.jvp(*values, *changes)
    rows = (v, dv), (peak, dpeak), (spline.w, spline.dw), (jerk, djerk)
    ratios, drift, powers = [], [], []
    for (x, dx), limit, power in zip(rows, limits, _POWERS, strict=True):
        ratios.append((np.broadcast_to(x, dx.shape)[0] / limit[:, None]).ravel())
        drift.append((dx / limit[:, None]).reshape(len(dx), -1))
        powers.append(np.full(len(ratios[-1]), power))
    return np.concatenate(ratios), np.concatenate(drift, axis=1).T, np.concatenate(powers)


class _Limits(NamedTuple):
    """Limits of velocity (twice), acceleration and jerk (4, n), and of torque (n,) if there is a robot."""

    rates: np.ndarray
    robot: Robot | None
    torque: np.ndarray

    @property
    def has_torque(self) -> bool:
        return self.robot is not None and bool(np.isfinite(self.torque).any())


def _instants(spline: _Spline, segment: np.ndarray, s: np.ndarray) -> _Instant:
    """q, v and a (N, n) at the fractions s (N,) of segments (N,)."""
    values, _ = spline.ends()
    found = _instant(*[x[..., segment] for x in values], s)  # type: ignore[call-overload]
    return _Instant(*(x.T for x in found))


def _torques(spline: _Spline, limits: _Limits) -> tuple[np.ndarray, np.ndarray]:
    """Torques over their limits (R,) at fractions of all segments, and their derivatives (R, M)."""
    values, changes = ([x[..., None] for x in part] for part in spline.ends())
    s = np.array(_FRACTIONS)
    found = _instant.jvp(*values, s, *changes, np.zeros_like(s))
    M, n = found[3].shape[:2]
    q, v, a = (np.broadcast_to(x, found[3].shape)[0].reshape(n, -1).T for x in found[:3])  # (N, n)
    z = np.concatenate([x.reshape(M, n, -1) for x in found[3:]], axis=1)  # (M, 3n, N)
    slow = _SLOW * np.maximum(np.abs(v).max(axis=0), 1e-9)
    torque = Torque(limits.robot, slow)  # type: ignore[arg-type]
    tau, slopes = torque.value(q, v, a), torque.jacobian(q, v, a)
    drift = np.einsum("Nij,MjN->NiM", slopes, z)
    return (tau / limits.torque).ravel(), (drift / limits.torque[:, None]).reshape(-1, M)


def _stretch(spline: _Spline, limits: _Limits) -> float:
    """The factor λ for all times with which every limit is just kept: velocities, accelerations and jerks exactly."""
    ratios, _, powers = _kinematic(spline, limits.rates)
    factor = float((np.abs(ratios) ** (1 / powers)).max())
    return max(factor, _torque_stretch(spline, limits)) if limits.has_torque else factor


def _torque_stretch(spline: _Spline, limits: _Limits) -> float:
    """The factor λ with which torques keep their limits, refined between the instants that are looked at.

    Stretching keeps the path: at each of its points τ = A / λ² + B / λ + G, with inertia, damping, and gravity and dry
    friction.
    """
    K = len(spline.u)
    s = np.arange(_DENSE) / _DENSE
    segment, s = np.repeat(np.arange(K), _DENSE), np.tile(s, K)
    segment, s = np.append(segment, K - 1), np.append(s, 1.0)
    factor = _least_factor(spline, limits, segment, s)
    u = factor * spline.u
    motion = pieced(limits.robot, u, cubic_pieces(spline.q.T, spline.w.T / factor**2, u))
    _, t = torque_peaks(motion, limits.robot)  # type: ignore[arg-type]
    k = np.searchsorted(motion.knots[1:-1], t, side="right")
    return max(factor, _least_factor(spline, limits, k, (t - motion.knots[k]) / u[k]))


def _least_factor(spline: _Spline, limits: _Limits, segment: np.ndarray, s: np.ndarray) -> float:
    """The smallest λ from which on |A / λ² + B / λ + G| is within the limits at these instants."""
    robot, limit = limits.robot, limits.torque
    q, v, a = _instants(spline, segment, s)
    G = true_torque(robot, q, 0 * v, 0 * a) + robot.friction * np.sign(v)  # type: ignore[arg-type, union-attr]
    once, half = (true_torque(robot, q, v / x, a / x**2) - G for x in (1.0, 2.0))  # type: ignore[arg-type]
    B = 4 * half - once
    A = once - B
    if (np.abs(G) >= limit).any():
        k, joint = np.argwhere(np.abs(G) >= limit)[0]
        raise SolveError(
            f"minimum_time_spline: gravity and friction alone take {abs(G[k, joint]):.4g} of joint "
            f"'{robot.joint_names[joint]}' on the way, in segment {segment[k]}; "  # type: ignore[union-attr]
            f"its limit is {limit[joint]:.4g}, however slow the motion is"
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = []  # x = 1 / λ of the first exceedance: A x² + B x = ±limit - G
        for room in (limit - G, -limit - G):
            root = np.sqrt(B**2 + 4 * A * room)
            roots += [2 * room / (B + sign * root) for sign in (1, -1)]  # this form stands for A = 0 too
        x = np.array(roots)
        x = np.where(x > 0, x, np.inf).min()
    return float(1 / x)


# --- the times --------------------------------------------------------------------------------------------------------


def minimum_time_spline(
    knots, *, velocity=None, acceleration=None, jerk=None, torque=None, robot: Robot | None = None,
    free_ends: bool = True,
) -> Trajectory:  # fmt: skip
    """The fastest cubic spline from rest to rest through knots (N, n) that keeps all limits, as a `Trajectory`.

        >>> limits = {"velocity": 100.0, "acceleration": 45.0, "jerk": 60.0}
        >>> trajectory = minimum_time_spline([[30.0], [50.0], [80.0], [100.0]], **limits)
        >>> round(trajectory.duration, 4)
        3.4075

    Parameters
    ----------
    knots
        Configurations (N, n), N >= 2, which are passed exactly; neighbours must differ.
    velocity, acceleration, jerk
        Limits [rad/s or m/s, ...], one number or (n,); None is no limit, or the robot's own velocity limit.
    torque
        Limits [N m or N] with a `robot`, which are its own by default; `np.inf` is none. The torque is that of
        `inverse_dynamics`, with dry friction.
    robot
        The robot that moves, with joints of one degree of freedom each.
    free_ends
        True: acceleration is 0 at both ends, and so jerk is finite everywhere; there are two knots more, see
        `free_end_spline`. False: acceleration jumps at both ends, as in `spline`.

    The times between the knots are chosen, so that their sum is least: a local optimum of the nonlinear program, by
    sequential quadratic programming with exact derivatives. All limits but torque are kept exactly between the knots
    too, and those of torque at all peaks, which are refined to rounding errors. The spline may swing beyond its knots;
    look at its extremes if joint limits are near. Without a jerk limit, the outer segments of free ends become short.

    Lin, Chang & Luh (1983), "Formulation and optimization of cubic polynomial joint trajectories for industrial
    robots", IEEE Trans. Autom. Control 28(12), who use the flexible polyhedron of Nelder & Mead; Fu, Gonzalez & Lee
    (1987), Eqs. (4.4-66) to (4.4-72).
    """
    caller = "minimum_time_spline"
    q = knot_positions(caller, knots, least=2)
    if q.ndim != 2:
        raise ArgumentError(f"{caller}: knots have shape {q.shape}; those of one trajectory, (N, n), are needed")
    plain_joints(caller, robot, q.shape[1])
    same = np.flatnonzero((np.diff(q, axis=0) == 0).all(axis=1))
    if len(same):
        raise ArgumentError(f"{caller}: knots[{same[0]}] and knots[{same[0] + 1}] are equal; each must be another one")
    limits = _limits(caller, q.shape[1], velocity, acceleration, jerk, torque, robot)
    layout = _layout(q, truth(free_ends, f"{caller}: free_ends"))
    if not (limits.has_torque or _stretch(_spline(layout, np.ones(layout.segments)), limits) > 0):
        raise ArgumentError(f"{caller}: no joint that moves has a limit; give velocity, acceleration or jerk")
    u = _least_times(layout, limits, _guess(q, limits.rates, layout.free_ends))
    found = _spline(layout, u * (1 + _ROUNDING))
    return pieced(robot, found.u, cubic_pieces(found.q.T, found.w.T, found.u))


def _limits(caller: str, n: int, velocity, acceleration, jerk, torque, robot: Robot | None) -> _Limits:
    if robot is not None:
        velocity = robot.velocity_limit if velocity is None else velocity
        torque = robot.effort_limit if torque is None else torque
    elif torque is not None:
        raise ArgumentError(f"{caller}: torque limits need a robot")
    given = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk, "torque": torque}
    v, a, j, tau = (
        limits(np.inf if value is None else value, n, name, caller, infinite=True, batch=False)
        for name, value in given.items()
    )
    return _Limits(np.stack([v, v, a, j]), robot, tau)


def _guess(knots: np.ndarray, limits: np.ndarray, free_ends: bool) -> np.ndarray:
    """Times to begin with: what the slowest joint of each segment would need, by orders of magnitude."""
    d = np.abs(np.diff(knots, axis=0))
    u = np.max([(d / limit) ** (1 / power) for limit, power in zip(limits, _POWERS, strict=True)], axis=(0, 2))
    if not u.all():  # there is no such limit
        u = np.sqrt(d.max(axis=1))
    u = np.maximum(u, 1e-3 * u.max())
    if not free_ends:
        return u
    inner = u.copy()
    inner[[0, -1]] /= 2
    if len(u) == 1:
        return np.array([u[0] / 4, u[0] / 2, u[0] / 4])
    return np.concatenate([[inner[0]], inner, [inner[-1]]])


def _least_times(layout: _Layout, limits: _Limits, guess: np.ndarray) -> np.ndarray:
    """Times (K - 1,) that keep all limits and have the least sum: the better one of two local optima."""
    starts = (start * _stretch(_spline(layout, start), limits) for start in (guess, guess**2 / guess.mean()))
    return min((_optimised(layout, limits, start) for start in starts), key=np.sum)


def _optimised(layout: _Layout, limits: _Limits, u: np.ndarray) -> np.ndarray:
    """Feasible times of locally least sum, from feasible ones.

    Few of the constraints matter. Each round takes those that are near their limits, within a box around the times,
    stretches its result to keep all limits, and goes on from there if this has become faster; else the box shrinks.
    """
    box, chosen = _BOX, _signed_ratios(layout, limits, u)[0] > _NEAR
    for _ in range(_ROUNDS):
        z, converged = _programmed(layout, limits, u, chosen, box)
        near = _signed_ratios(layout, limits, u * z)[0] > _NEAR
        new = u * z * _stretch(_spline(layout, u * z), limits)
        gain = 1 - new.sum() / u.sum()
        if gain > 0:
            u = new
        if gain > _ACCURACY:
            box = min(2 * box, _BOX)
        else:
            box /= 4
            if box < _LEAST_BOX or (converged and not (near & ~chosen).any()):
                break
        chosen = chosen | near
    return u


def _signed_ratios(layout: _Layout, limits: _Limits, u: np.ndarray, du=None) -> tuple[np.ndarray, np.ndarray]:
    """All that must be at most 1 (R,): rates and torques over their limits, in both directions; and derivatives."""
    spline = _spline(layout, u, du)
    r, J, _ = _kinematic(spline, limits.rates)
    if limits.has_torque:
        more, dmore = _torques(spline, limits)
        r, J = np.concatenate([r, more]), np.concatenate([J, dmore])
    return np.concatenate([r, -r]), np.concatenate([J, -J])


def _programmed(layout: _Layout, limits: _Limits, u: np.ndarray, chosen, box: float) -> tuple[np.ndarray, bool]:
    """Factors z for the times u within a box, with the least sum of z u under the chosen constraints (SLSQP)."""
    seen: dict[bytes, tuple] = {}

    def constraints(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if (key := z.tobytes()) not in seen:
            r, J = _signed_ratios(layout, limits, u * z, np.diag(u))
            seen.clear()
            seen[key] = 1 - r[chosen], -J[chosen]
        return seen[key]

    T, K = u.sum(), len(u)
    conditions = {"type": "ineq", "fun": lambda z: constraints(z)[0], "jac": lambda z: constraints(z)[1]}
    found = minimize(
        lambda z: u @ z / T, np.ones(K), jac=lambda _: u / T, method="SLSQP", bounds=[(1 - box, 1 / (1 - box))] * K,
        constraints=conditions, options={"maxiter": 100, "ftol": _ACCURACY},
    )  # fmt: skip
    return found.x, bool(found.success)
