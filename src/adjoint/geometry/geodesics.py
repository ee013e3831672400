"""Geodesics of the kinetic metric: the motions without torque, gravity and friction, M a + C v = 0.

They keep their kinetic energy. Between two configurations not too far apart, a geodesic is the shortest motion: of all
motions that take the same time, it has the least mean kinetic energy. A geodesic that is run faster is the same curve,
so everything is computed in unit time, with rates per duration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..dynamics.articulated import require_inertia
from ..dynamics.composite import mass_matrix
from ..dynamics.energy import kinetic_energy
from ..dynamics.forward import forward_dynamics, solve_mass_matrix
from ..errors import ArgumentError, SolveError
from ..model.configuration import integrate
from ..model.input_checks import count, positive, vectors
from ..model.needs import need_coordinates, need_robot
from ..model.robot import Robot
from .christoffel_symbols import covariant_derivative

__all__ = ["Geodesic", "geodesic", "geodesic_between", "parallel_transport"]

ACCURACY = 1e-13  # relative error of one step of the integration; the energy of the whole motion is kept to about 1e-11
REACHED = 1e-11  # relative distance from q_1 at which `geodesic_between` has arrived
ITERATIONS = 12  # most steps of Newton's method
SHORTEST = 1 / 64  # least part of a step of Newton's method that is taken
FARTHEST = 1e6  # [rad or m]: longer motions are not followed
PARTS = (32, 128)  # numbers of parts of the relaxed motion; the second is tried if the first fails


class Geodesic(NamedTuple):
    """A geodesic: times `t` (steps + 1,) [s], and `q` (..., steps + 1, nq) and `v` (..., steps + 1, nv) at these times.

    The `length` (...) is ∫ √(vᵀ M v) dt [√kg m]: the speed √(2 · kinetic energy), which is constant, times the
    duration.
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    length: np.ndarray


@kernel(robot=static, q="nq", v="nv")
def _rate(robot: Robot, q, v) -> np.ndarray:
    """Return (q̇, v̇) (nq + nv,) of a robot that no force acts on: M v̇ + C v = 0."""
    q_rate = integrate.bind(robot).jacobian("dt")(q, v, 0.0)  # q̇ = v, except for quaternions and planar joints
    return np.concatenate([q_rate, forward_dynamics(robot, q, v, np.zeros(robot.nv), gravity=np.zeros(3))])


@kernel(robot=static, q="nq", v="nv", w="nv")
def _rate_transporting(robot: Robot, q, v, w) -> np.ndarray:
    """Return (q̇, v̇, ẇ) (nq + 2 nv,), where w is transported in parallel."""
    return np.concatenate([_rate(robot, q, v), -covariant_derivative(robot, q, v, w, np.zeros(robot.nv))])


def geodesic(robot: Robot, q, v, duration: float = 1.0, steps: int = 100) -> Geodesic:
    """Return the `Geodesic` that starts at q (..., nq) with the velocity v (..., nv), for joints of all kinds.

    It is the motion without torque, gravity and friction. The result shows it at the ends of `steps` equal parts of the
    `duration` [s]. The integration (DOP853, of order 8) chooses its own steps, the same for all samples of a batch.

        path = geodesic(robot, q, v, duration=2.0)
        path.q[-1], path.length
    """
    robot, t = _frictionless(robot, "geodesic"), _times(duration, steps)
    start = _joined(robot, q, v, duration=duration)
    q, u = _parts(robot, _solution(robot, lambda y: _rate(robot, *_parts(robot, y, 2)), start, steps), 2)
    v = u / duration
    length = duration * np.sqrt(2 * kinetic_energy(robot, q[..., 0, :], v[..., 0, :]))
    return Geodesic(t, _unit_quaternions(robot, q), v, length)


def parallel_transport(robot: Robot, q, v, w, duration: float = 1.0, steps: int = 100) -> np.ndarray:
    """Return the vector w (..., steps + 1, nv) as it is transported in parallel along the geodesic from q with v.

    w (..., nv) is the vector at the start, and ∇_v w = 0 from there on: by the metric M, the lengths of vectors and the
    angles between them do not change. The `duration` [s] and the `steps` are as for `geodesic`.
    """
    robot, _ = _frictionless(robot, "parallel_transport"), _times(duration, steps)
    start = _joined(robot, q, v, w, duration=duration)
    found = _solution(robot, lambda y: _rate_transporting(robot, *_parts(robot, y, 3)), start, steps)
    return _parts(robot, found, 3)[2]


def _frictionless(robot: Robot, caller: str) -> Robot:
    """Return the robot without damping and friction; its inertias must make M invertible."""
    need_robot(robot, caller)
    require_inertia(robot)
    return robot.replace(damping=0 * robot.damping, friction=0 * robot.friction)


def _times(duration, steps) -> np.ndarray:
    """Return the times (steps + 1,) [s] of the results, after a check of both arguments."""
    duration = positive(duration, "duration [s]")
    if count(steps, "steps") < 1:
        raise ArgumentError("steps must be 1 or more, got 0")
    return np.linspace(0, duration, steps + 1)


def _finite(robot: Robot, x, size: int, name: str) -> np.ndarray:
    """Return x as an array (..., size) of finite numbers."""
    found = vectors(x, size, name, f"robot '{robot.name}'")
    if not np.isfinite(found).all():
        raise ArgumentError(f"robot '{robot.name}': {name} contains NaN or infinity")
    return found


def _joined(robot: Robot, *parts, duration: float) -> np.ndarray:
    """Return q, v in unit time and, if given, w, side by side (..., nq + nv [+ nv]), with leading axes broadcast."""
    sizes = robot.nq, robot.nv, robot.nv
    arrays = [_finite(robot, x, size, name) for name, x, size in zip("qvw", parts, sizes, strict=False)]
    arrays[1] = duration * arrays[1]
    if np.abs(arrays[1]).max(initial=0.0) > FARTHEST:
        raise ArgumentError(f"robot '{robot.name}': duration times v is above {FARTHEST:g} [rad or m], too far")
    try:
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
    except ValueError:
        shapes = ", ".join(str(x.shape) for x in arrays)
        raise ArgumentError(f"robot '{robot.name}': batches of shapes {shapes} do not fit together") from None
    return np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in arrays], axis=-1)


def _parts(robot: Robot, y, number: int) -> list[np.ndarray]:
    """Return the first `number` of the parts that `_joined` has put side by side."""
    return np.split(y, [robot.nq, robot.nq + robot.nv][: number - 1], axis=-1)


def _solution(robot: Robot, rate: Callable, y, steps: int) -> np.ndarray:
    """Return y (..., steps + 1, n) at equal steps of unit time, with ẏ = rate(y), from y (..., n) on."""
    from scipy.integrate import solve_ivp  # slow to load

    if not y.size:  # the robot has no joints, or the batch is empty
        return np.zeros((*y.shape[:-1], steps + 1, y.shape[-1]))
    slack = ACCURACY * np.abs(y[..., robot.nq :]).max(initial=1e-300)
    times = np.linspace(0, 1, steps + 1)
    found = solve_ivp(
        lambda _, x: rate(x.reshape(y.shape)).ravel(), (0, 1), y.ravel(), "DOP853", times, rtol=ACCURACY, atol=slack
    )
    if found.status < 0 or not np.isfinite(found.y).all():
        raise SolveError(
            f"robot '{robot.name}': the geodesic cannot be followed beyond {found.t[-1] if found.t.size else 0:.3g} of "
            f"its duration ({found.message.rstrip('.')}); M may be singular there"
        )
    return np.moveaxis(found.y.reshape(*y.shape, steps + 1), -1, -2)


def _unit_quaternions(robot: Robot, q) -> np.ndarray:
    """Return q with quaternions of length 1."""
    return q if robot.nq == robot.nv else integrate(robot, q, np.zeros(robot.nv))


# --- between two configurations ---------------------------------------------------------------------------------------


def geodesic_between(robot: Robot, q_0, q_1, steps: int = 100) -> Geodesic:
    """Return the `Geodesic` from q_0 (nq,) to q_1 (nq,) that lasts one second.

    Of several such geodesics it is the one that the straight motion relaxes to. It is shorter than all motions near it;
    others far from it may be shorter still. Angles are numbers and are not wrapped: choose the q_1 you mean. Every
    joint must have one degree of freedom.

    First the straight motion is divided into parts, which move until its energy is least; it then begins like a
    geodesic. Shooting makes it one: Newton's method finds v_0 with q(1; v_0) = q_1, with the exact derivative
    ∂q(1)/∂v_0 from the variational equations.

        path = geodesic_between(robot, np.zeros(6), np.ones(6))
    """
    robot = _frictionless(robot, "geodesic_between")
    need_coordinates(robot, "geodesics between two configurations are")
    q_0, q_1 = _finite(robot, q_0, robot.nq, "q_0"), _finite(robot, q_1, robot.nq, "q_1")
    if q_0.ndim != 1 or q_1.ndim != 1:
        raise ArgumentError(f"geodesic_between: q_0 and q_1 must be ({robot.nq},), got {q_0.shape} and {q_1.shape}")
    if not np.isfinite(np.sum((q_1 - q_0) ** 2)):
        raise ArgumentError("geodesic_between: q_0 and q_1 are too far apart for floating-point numbers")
    _times(1.0, steps)
    if np.array_equal(q_0, q_1):
        return geodesic(robot, q_0, 0 * q_0, 1.0, steps)
    for parts in PARTS:
        v = _shooting(robot, q_0, q_1, _relaxed(robot, q_0, q_1, parts))
        if v is not None:
            return geodesic(robot, q_0, v, 1.0, steps)
    raise SolveError(
        f"geodesic_between: robot '{robot.name}': no geodesic found that the straight motion relaxes to. "
        "M may be singular on the way, or the end of the geodesic too sensitive to its beginning; try a q_1 nearer to "
        "q_0 (two geodesics, one after the other, are in general not a geodesic)"
    )


@kernel(robot=static, q_0="nq", q_1="nq")
def _step_energy(robot: Robot, q_0, q_1) -> np.ndarray:
    """Return ½ dᵀ M d of a small step d = q_1 - q_0, with M half way between them."""
    return kinetic_energy(robot, (q_0 + q_1) / 2, q_1 - q_0)


def _relaxed(robot: Robot, q_0, q_1, parts: int) -> np.ndarray:
    """Return the velocity v_0 (nv,) at the start of the polygon from q_0 to q_1 that the straight motion relaxes to.

    The polygon has `parts` straight parts, and L-BFGS makes its energy E = parts · Σ ½ dᵀ M d least, over the steps d.
    The corners are those of the straight motion + A z Bᵀ. A and B are inverse roots of the second differences and of
    the mean M, so that E grows nearly like ½ |z|², in units of the energy of the straight motion. -∂E/∂q_0 is the
    momentum M v_0, with an error of the order of 1 / parts².
    """
    from scipy.optimize import minimize  # slow to load

    slopes = _step_energy.bind(robot).jacobian("q_0", "q_1")
    straight = q_0 + np.linspace(0, 1, parts + 1)[:, None] * (q_1 - q_0)
    bends = parts * (2 * np.eye(parts - 1) - np.eye(parts - 1, k=1) - np.eye(parts - 1, k=-1))
    M = mass_matrix(robot, straight).mean(axis=0)
    unit = (q_1 - q_0) @ M @ (q_1 - q_0) or 1.0
    A, B = _inverse_root(bends), _inverse_root(M / unit)

    def at(z) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the steps between the corners, and the derivatives of E by where each step begins and ends."""
        q = straight.copy()
        q[1:-1] += A @ z.reshape(parts - 1, robot.nv) @ B.T
        begins, ends = slopes(q[:-1], q[1:])
        return np.diff(q, axis=0), parts * begins, parts * ends

    def energy_and_slope(z):
        d, begins, ends = at(z)
        # M d is half the difference of the derivatives by both ends of a step.
        return np.sum(d * (ends - begins)) / 4 / unit, (A.T @ (ends[:-1] + begins[1:]) @ B).ravel() / unit

    start = np.zeros((parts - 1) * robot.nv)
    found = minimize(energy_and_slope, start, jac=True, method="L-BFGS-B", options={"maxcor": 20, "ftol": 1e-12})
    return solve_mass_matrix(robot, q_0, -at(found.x)[1][0])


def _inverse_root(S: np.ndarray) -> np.ndarray:
    """Return X with Xᵀ S X = 1 for a symmetric S > 0; where S is nearly singular, Xᵀ S X is less than 1."""
    values, directions = np.linalg.eigh(S)
    return directions / np.sqrt(np.maximum(values, 1e-12 * values[-1]))


def _shooting(robot: Robot, q_0, q_1, v) -> np.ndarray | None:
    """Return v_0 (nv,) near v with which the geodesic from q_0 is at q_1 after unit time; None if Newton stalls."""
    slack, part = REACHED * (1 + np.abs(q_1).max(initial=0)), 1.0
    miss, J = _miss_and_derivative(robot, q_0, q_1, v)
    for _ in range(ITERATIONS):
        if np.linalg.norm(miss) <= slack:
            return v
        if not (np.isfinite(J).all() and np.linalg.cond(J) < 1e12):
            return None
        way, part = np.linalg.solve(J, miss), min(1.0, 4 * part)
        ahead, J_ahead = _miss_and_derivative(robot, q_0, q_1, v + part * way)
        while not np.linalg.norm(ahead) < (1 - part / 4) * np.linalg.norm(miss):
            part /= 4
            if part < SHORTEST:
                return None
            ahead, J_ahead = _miss_and_derivative(robot, q_0, q_1, v + part * way)
        v, miss, J = v + part * way, ahead, J_ahead
    return None


def _miss_and_derivative(robot: Robot, q_0, q_1, v) -> tuple[np.ndarray, np.ndarray]:
    """Return q_1 - q(1; v) (nv,) and ∂q(1)/∂v (nv, nv); both are NaN if the geodesic cannot be followed so far."""
    try:
        q, J = _end_and_derivative(robot, q_0, v)
    except SolveError:
        return np.full(robot.nv, np.nan), np.full((robot.nv, robot.nv), np.nan)
    return q_1 - q, J


def _end_and_derivative(robot: Robot, q_0, v) -> tuple[np.ndarray, np.ndarray]:
    """Return q(1) (nv,) of the geodesic from q_0 with v, and ∂q(1)/∂v (nv, nv).

    The variations of the geodesic, one in each row, are integrated together with it.
    """
    n, jvp = robot.nv, _rate.bind(robot).jvp

    def rate(y):
        value, slopes = jvp(y[0, :n], y[0, n:], y[1:, :n], y[1:, n:])
        return np.concatenate([value[:1], slopes])

    start = np.concatenate([np.concatenate([q_0, v])[None], np.eye(n, 2 * n, n)])
    end = _solution(robot, rate, start, 1)[:, -1]
    return end[0, :n], end[1:, :n].T
