"""Geodesics of the kinetic metric: motions without torque, gravity or friction, M a + C v = 0.

They keep their kinetic energy, and between two configurations not too far apart they are the shortest: of all motions
that take the same time, the one with the least mean kinetic energy. A motion run faster is the same curve; so all is
computed in unit time, with rates per duration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError, SolveError
from ..robot.configuration import integrate
from ..robot.model import Robot, need_robot
from ..robot.numbers import count
from .christoffel import covariant_derivative, require_coordinates
from .energy import kinetic_energy
from .forward import forward_dynamics

__all__ = ["Geodesic", "geodesic", "geodesic_between", "parallel_transport"]

ACCURACY = 1e-13  # of a step of the integration, relative; energies of the whole are kept to 1e-11 or so
REACHED = 1e-11  # how far from q_1 `geodesic_between` may end, relative
ITERATIONS = 12  # of Newton, each at least halving the distance
SMALLEST = 1 / 64  # part of the way by which it goes on at least


class Geodesic(NamedTuple):
    """Times t (steps + 1,) [s], q (..., steps + 1, nq) and v (..., steps + 1, nv) there, and the length (...).

    The length is ∫ √(vᵀ M v) dt [√kg m]: the speed √(2 · kinetic energy), which is constant, times the duration.
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    length: np.ndarray


@kernel(robot=static, q="nq", v="nv")
def _rate(robot, q, v):
    """(q̇, v̇) (nq + nv,) of a robot left to itself: M v̇ + C v = 0."""
    q_rate = integrate.bind(robot).jacobian("dt")(q, v, 0.0)  # q̇ = v but for quaternions and planar joints
    return np.concatenate([q_rate, forward_dynamics(robot, q, v, np.zeros(robot.nv), gravity=np.zeros(3))])


@kernel(robot=static, q="nq", v="nv", w="nv")
def _rate_transporting(robot, q, v, w):
    """(q̇, v̇, ẇ) (nq + 2 nv,), with w carried along in parallel."""
    return np.concatenate([_rate(robot, q, v), -covariant_derivative(robot, q, v, w, np.zeros(robot.nv))])


def geodesic(robot: Robot, q, v, duration: float = 1.0, steps: int = 100) -> Geodesic:
    """The `Geodesic` from q (..., nq) with velocity v (..., nv): the motion without torque, gravity and friction.

    `steps` is how many equal parts of the `duration` [s] are shown; the integration chooses its own (DOP853, order 8),
    the same for a whole batch. All joints.
    """
    robot, t = _left_to_itself(robot, "geodesic"), _times(duration, steps)
    start = _joined(robot, q, v, duration=duration)
    q, u = _parts(robot, _solution(robot, lambda y: _rate(robot, *_parts(robot, y)), start, steps))
    v = u / duration
    length = duration * np.sqrt(2 * kinetic_energy(robot, q[..., 0, :], v[..., 0, :]))
    return Geodesic(t, _unit_quaternions(robot, q), v, length)


def parallel_transport(robot: Robot, q, v, w, duration: float = 1.0, steps: int = 100) -> np.ndarray:
    """w (..., steps + 1, nv) along the geodesic from q with v, w (..., nv) at its start and ∇_v w = 0 from there on.

    Lengths of vectors and angles between them, by the metric M, stay what they are.
    """
    robot, _ = _left_to_itself(robot, "parallel_transport"), _times(duration, steps)
    start = _joined(robot, q, v, w, duration=duration)
    return _parts(robot, _solution(robot, lambda y: _rate_transporting(robot, *_parts(robot, y)), start, steps))[2]


def _left_to_itself(robot: Robot, caller: str) -> Robot:
    need_robot(robot, caller)
    return robot.replace(damping=0 * robot.damping, friction=0 * robot.friction)


def _times(duration, steps) -> np.ndarray:
    if not 0 < duration < np.inf:
        raise ArgumentError(f"duration must be a time > 0 [s], got {duration!r}")
    if count(steps, "steps") < 1:
        raise ArgumentError("steps must be 1 or more, got 0")
    return np.linspace(0, duration, steps + 1)


def _joined(robot: Robot, *parts, duration: float) -> np.ndarray:
    """q, v in unit time and, if given, w (..., nq + nv + nv) side by side, their leading axes broadcast."""
    arrays = [np.asarray(part, float) for part in parts]
    for name, x, size in zip("qvw", arrays, (robot.nq, robot.nv, robot.nv), strict=False):
        if x.shape[-1:] != (size,):
            raise ArgumentError(f"robot '{robot.name}': {name} must be (..., {size}), got {x.shape}")
        if not np.isfinite(x).all():
            raise ArgumentError(f"robot '{robot.name}': {name} contains NaN or infinity")
    arrays[1] = duration * arrays[1]
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
    return np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in arrays], axis=-1)


def _parts(robot: Robot, y) -> list[np.ndarray]:
    """What `_joined` has put side by side."""
    return np.split(y, range(robot.nq, y.shape[-1], robot.nv), axis=-1)


def _solution(robot: Robot, rate: Callable, y, steps: int) -> np.ndarray:
    """y (..., steps + 1, n) at equal steps of unit time, ẏ = rate(y), from y (..., n)."""
    from scipy.integrate import solve_ivp  # slow to load

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
    return q if robot.nq == robot.nv else integrate(robot, q, np.zeros(robot.nv))


# --- between two configurations ---------------------------------------------------------------------------------------


def geodesic_between(robot: Robot, q_0, q_1, steps: int = 100) -> Geodesic:
    """The `Geodesic` from q_0 (nq,) to q_1 (nq,) in one second: of several, one that begins like the straight motion.

    Shooting: v_0 with q(1; v_0) = q_1 by Newton's method, with the exact derivative ∂q(1)/∂v_0 from the variational
    equations; where that does not converge, on the way to q_1 by ever smaller parts. Angles are numbers, not wrapped:
    choose the q_1 you mean. It is the shortest only as long as no conjugate point lies between. For joints with one
    degree of freedom.
    """
    robot = _left_to_itself(robot, "geodesic_between")
    require_coordinates(robot, "geodesics between two configurations are")
    q_0, q_1 = np.asarray(q_0, float), np.asarray(q_1, float)
    if q_0.shape != (robot.nq,) or q_1.shape != (robot.nq,):
        raise ArgumentError(f"geodesic_between: q_0 and q_1 must be ({robot.nq},), got {q_0.shape} and {q_1.shape}")
    v, done, part = q_1 - q_0, 0.0, 1.0
    while done < 1:
        ahead = min(1.0, done + part)
        found = _shot(robot, q_0, q_0 + ahead * (q_1 - q_0), v * (ahead / done if done else ahead))
        if found is not None:
            v, done = found, ahead
            continue
        part /= 2
        if part < SMALLEST:
            raise SolveError(
                f"geodesic_between: robot '{robot.name}': no geodesic found beyond {done:.0%} of the straight motion "
                "from q_0 to q_1; there may be a conjugate point, where geodesics meet; try a q_1 that is nearer, and "
                "go on from there"
            )
    return geodesic(robot, q_0, v, 1.0, steps)


def _shot(robot: Robot, q_0, q_1, v) -> np.ndarray | None:
    """v_0 (nv,) near v with which the geodesic from q_0 is at q_1 after unit time; None if Newton's method stalls."""
    slack, last = REACHED * (1 + np.abs(q_1).max(initial=0)), np.inf
    for _ in range(ITERATIONS):
        q, J = _end_and_derivative(robot, q_0, v)
        miss = np.linalg.norm(q_1 - q)
        if miss <= slack:
            return v
        if miss > last / 2 or not np.linalg.cond(J) < 1e12:
            return None
        v, last = v + np.linalg.solve(J, q_1 - q), miss
    return None


def _end_and_derivative(robot: Robot, q_0, v) -> tuple[np.ndarray, np.ndarray]:
    """q(1) (nv,) of the geodesic from q_0 with v, and ∂q(1)/∂v (nv, nv): its variations, one a row, go along."""
    n, jvp = robot.nv, _rate.bind(robot).jvp

    def rate(y):
        value, slopes = jvp(y[0, :n], y[0, n:], y[1:, :n], y[1:, n:])
        return np.concatenate([value[:1], slopes])

    start = np.concatenate([np.concatenate([q_0, v])[None], np.eye(n, 2 * n, n)])
    end = _solution(robot, rate, start, 1)[:, -1]
    return end[0, :n], end[1:, :n].T
