"""Linear quadratic regulators: about a configuration at rest, and along a trajectory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, scan, static
from ..definite import positive_solve, symmetric
from ..dynamics.forward import forward_dynamics
from ..dynamics.linearization import Linearization, linearize
from ..dynamics.newton_euler import inverse_dynamics
from ..errors import ArgumentError, SolveError
from ..model.configuration import difference
from ..model.input_checks import floats, positive, vectors
from ..model.needs import need_robot
from ..model.robot import Robot
from ..trajectory.piecewise import Trajectory
from .laws import Law, law
from .references import Rows

__all__ = ["Feedback", "Gains", "dlqr_gains", "followed", "lqr", "lqr_gains", "tvlqr"]

_AT_REST = 1e-6  # of the largest acceleration that gravity and tau cause: an equilibrium has less
_MARGIN = 1e-9  # how far inside the stable region closed-loop eigenvalues lie, relative to the largest


class Gains(NamedTuple):
    """A regulator u = -K x: K (m, n), the cost to go xᵀ P x (n, n), and the closed loop's `eigenvalues` (n,)."""

    K: np.ndarray
    P: np.ndarray
    eigenvalues: np.ndarray


class Feedback(NamedTuple):
    """One instant of a regulated motion: the state (q, v), the joint forces tau there, and the gains K (nv, 2 nv)."""

    q: Any
    v: Any
    tau: Any
    K: Any


# --- linear systems ---------------------------------------------------------------------------------------------------


def lqr_gains(A, B, Q, R) -> Gains:
    """The regulator u = -K x of x' = A x + B u that makes ∫ (xᵀ Q x + uᵀ R u) dt least: K = R⁻¹ Bᵀ P.

    P solves Aᵀ P + P A - P B R⁻¹ Bᵀ P + Q = 0. A is (n, n), B is (n, m); Q (positive semidefinite) and R (positive
    definite) are matrices, their diagonals, or numbers. Raises `SolveError` if no feedback makes the system stable.

        >>> K, P, eigenvalues = lqr_gains([[0, 1], [0, 0]], [[0], [1]], 1.0, 1.0)
        >>> np.round(K, 6).tolist()                                 # [1, √3]
        [[1.0, 1.732051]]
    """
    return _regulator(A, B, Q, R, "lqr_gains", discrete=False)


def dlqr_gains(A, B, Q, R) -> Gains:
    """The regulator u = -K x of x_next = A x + B u that makes Σ (xᵀ Q x + uᵀ R u) least, as `lqr_gains` does in time.

    K = (R + Bᵀ P B)⁻¹ Bᵀ P A, and P solves P = Q + Aᵀ P A - Aᵀ P B K.
    """
    return _regulator(A, B, Q, R, "dlqr_gains", discrete=True)


def _regulator(A, B, Q, R, caller: str, *, discrete: bool) -> Gains:
    from scipy import linalg  # slow to load

    A, B = floats(A), floats(B)
    if A.ndim != 2 or B.ndim != 2 or A.shape != (len(A), len(A)) or len(B) != len(A):
        raise ArgumentError(f"{caller}: A {A.shape} and B {B.shape} must be (n, n) and (n, m)")
    if not (np.isfinite(A).all() and np.isfinite(B).all()):
        raise ArgumentError(f"{caller}: A or B contains NaN or infinity")
    Q, R = _weights(Q, len(A), "Q", caller), _weights(R, B.shape[1], "R", caller, definite=True)
    try:
        P = (linalg.solve_discrete_are if discrete else linalg.solve_continuous_are)(A, B, Q, R)
        K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A) if discrete else np.linalg.solve(R, B.T @ P)
        poles = np.linalg.eigvals(A - B @ K)
    except (np.linalg.LinAlgError, ValueError):
        poles = None
    if poles is None or not _stable(poles, discrete):
        raise SolveError(f"{caller}: no feedback was found that makes the system stable; {_fault(A, B, Q, discrete)}")
    return Gains(K, P, poles)


def _stable(poles: np.ndarray, discrete: bool) -> bool:
    if discrete:
        return bool(np.all(np.abs(poles) < 1 - _MARGIN))
    return bool(np.all(np.real(poles) < -_MARGIN * np.abs(poles).max(initial=0.0)))


def _fault(A: np.ndarray, B: np.ndarray, Q: np.ndarray, discrete: bool) -> str:
    """Which part of the motion cannot be made stable: the test of Hautus at the eigenvalues that are not stable."""
    for z in np.linalg.eigvals(A):
        if not _stable(np.array([z]), discrete):
            free = A - z * np.eye(len(A))
            for block, what in ((np.hstack([free, B]), "no input acts on"), (np.vstack([free, Q]), "Q does not weigh")):
                if np.linalg.matrix_rank(block) < len(A):
                    return f"{what} the part of its motion with the eigenvalue {np.round(z, 6) + 0.0:.4g}"
    return "the Riccati equation is too badly scaled; check Q and R"


def _weights(value, n: int, name: str, caller: str, *, definite: bool = False) -> np.ndarray:
    """A number, a diagonal or a matrix as a symmetric matrix (n, n) that is positive (semi)definite."""
    x = floats(value)
    if x.ndim == 0:
        x = np.full(n, x)
    found = np.diag(x) if x.ndim == 1 else x
    if found.shape != (n, n):
        raise ArgumentError(f"{caller}: {name} has shape {np.shape(value)}; it must be a number, ({n},) or ({n}, {n})")
    kind = "positive definite" if definite else "positive semidefinite"
    if not np.isfinite(found).all() or not np.allclose(found, found.T):
        raise ArgumentError(f"{caller}: {name} must be a symmetric matrix of finite numbers, {kind}")
    least = np.linalg.eigvalsh(found).min(initial=np.inf)
    if least < -1e-12 * np.abs(found).max(initial=0.0) or (definite and least <= 0):
        raise ArgumentError(f"{caller}: {name} must be {kind}; its least eigenvalue is {least:.4g}")
    return (found + found.T) / 2


# --- about a configuration --------------------------------------------------------------------------------------------


def _error(robot, reference, q, v):
    """The error x = (δq, δv) (2 nv,) of a state."""
    return np.concatenate([difference(robot, reference.q, q), v - reference.v])


def _regulated(robot, p, state, t, q, v, reference):
    return p.tau - p.K @ _error(robot, reference, q, v), state


def lqr(robot: Robot, q, *, Q, R, tau=None, period: float | None = None, actuation=None) -> Law:
    """The linear quadratic regulator that holds a robot at q (nq,): τ = τ_0 - K (δq, v), with δq = q - q_0.

        >>> hold = lqr(robot, q, Q=100.0, R=1e-3)
        >>> tau, _ = hold(robot, None, 0.0, q, np.zeros(robot.nv))

    It makes ∫ (xᵀ Q x + uᵀ R u) dt least for the dynamics near q, with x = (δq, v) (2 nv,) and u = τ - τ_0. δq is
    `difference(robot, q_0, q)`, so the law holds orientations and poses, too. `hold.numbers` has K, and `lqr_gains` of
    `linearize` gives the closed loop's eigenvalues.

    Parameters
    ----------
    Q, R
        Weights of x and of u: matrices, their diagonals, or numbers.
    tau
        The joint forces τ_0 (nv,) at q. By default they are those that hold the robot there against gravity.
    period
        The time [s] between two instants of a law in discrete time, which holds τ between them. The sum of
        (xᵀ Q x + uᵀ R u) * period is then least, for the exact motion between instants.
    actuation
        A matrix (nv, m) of what m motors do: τ = actuation @ motor forces. R is then (m, m). For the elbow of an
        acrobot, it is [[0], [1]].

    Raises `SolveError` if no feedback holds the robot there. Kwakernaak and Sivan, Linear Optimal Control Systems.
    """
    need_robot(robot, "lqr")
    q = vectors(q, robot.nq, "q", "lqr")
    if q.ndim > 1:
        raise ArgumentError(f"lqr: q has shape {q.shape}; a regulator holds one configuration ({robot.nq},)")
    rest = np.zeros(robot.nv)
    tau = inverse_dynamics(robot, q, rest, rest) if tau is None else vectors(tau, robot.nv, "tau", "lqr")
    S, tau = _actuation(actuation, robot, tau)
    _check_rest(robot, q, tau)
    A, B = linearize(robot, q, rest, tau, None if period is None else positive(period, "lqr: period"))
    h = 1.0 if period is None else period
    R = h * _weights(R, S.shape[1], "R", "lqr", definite=True)
    K = S @ _regulator(A, B @ S, h * _weights(Q, 2 * robot.nv, "Q", "lqr"), R, "lqr", discrete=period is not None).K
    numbers: dict[str, Any] = {"K": K, "tau": tau} | ({} if period is None else {"period": period})
    return law(_regulated, reference=q, name="lqr", **numbers)


def _actuation(actuation, robot: Robot, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The matrix (nv, m) of the motors, and the joint forces that they give for tau."""
    if actuation is None:
        return np.eye(robot.nv), tau
    S = floats(actuation)
    if S.ndim != 2 or len(S) != robot.nv or not np.isfinite(S).all():
        raise ArgumentError(f"lqr: actuation has shape {S.shape}; it must be finite numbers ({robot.nv}, m)")
    given = S @ np.linalg.lstsq(S, tau)[0]
    if np.abs(tau - given).max(initial=0.0) > 1e-9 * max(np.abs(tau).max(initial=0.0), 1.0):
        raise ArgumentError(f"lqr: these motors cannot hold the robot at q; they lack joint forces {tau - given}")
    return S, given


def _check_rest(robot: Robot, q: np.ndarray, tau: np.ndarray) -> None:
    rest = np.zeros(robot.nv)
    a, falling = forward_dynamics(robot, q, rest, tau), forward_dynamics(robot, q, rest, rest)
    most = np.abs(a).max(initial=0.0)
    if not most <= _AT_REST * max(np.abs(falling).max(initial=0.0), 1.0):
        raise ArgumentError(f"lqr: q is no equilibrium under tau; the robot would accelerate by up to {most:.4g}")


# --- along a motion ---------------------------------------------------------------------------------------------------


class _Sizes(NamedTuple):
    n: int
    m: int


@kernel(sizes=static, A=(..., "n", "n"), B=(..., "n", "m"), Q=("n", "n"), R=("m", "m"), P=("n", "n"))
def _gain_rows(sizes: _Sizes, A, B, Q, R, P) -> np.ndarray:
    """Gains K (N, m, n) of x_next = A x + B u for each step, backwards from the cost to go xᵀ P x at the end."""

    def step(P, row):
        A, B = row
        PA, PB = P @ A, P @ B
        K = positive_solve(R + B.T @ PB, PB.T @ A)
        return symmetric(Q + A.T @ PA - (PB.T @ A).T @ K), K

    return scan(step, P, (A, B), reverse=True)[1]


def tvlqr(robot: Robot, trajectory: Trajectory, *, Q, R, period: float, Q_end=None) -> Law:
    """The linear quadratic regulator along a trajectory: τ = τ_k - K_k (δq, δv) in the k-th period.

        >>> motion = aj.trajectory.quintic(q, q + 0.5, 1.0)
        >>> follow = tvlqr(robot, motion, Q=100.0, R=1e-3, period=0.01)
        >>> tau, _ = follow(robot, None, 0.5, q, v)

    It makes Σ (xᵀ Q x + uᵀ R u) * period + xᵀ Q_end x least for the dynamics near the motion, with the errors
    x = (δq, δv) (2 nv,) of the state and u = τ - τ_k. τ_k are the joint forces of the motion. Both they and the
    dynamics of a period, which are those of `linearize`, are taken at its middle, so that the error of holding them is
    of second order. After its end the law holds the last configuration.

    Parameters
    ----------
    Q, R
        Weights of x and of u: matrices, their diagonals, or numbers.
    period
        The time [s] between two instants of the law. The duration must be a whole number of periods.
    Q_end
        The weight of x at the end. By default it is the cost of holding the last configuration for ever.

    A batch of trajectories gives a batch of laws; those that end earlier rest until the last one ends.
    Tedrake, Underactuated Robotics, chapter 8.
    """
    need_robot(robot, "tvlqr")
    if not isinstance(trajectory, Trajectory):
        raise ArgumentError(f"tvlqr needs a Trajectory; got {type(trajectory).__name__}")
    period, n = positive(period, "tvlqr: period"), 2 * robot.nv
    steps = _whole_periods(float(np.max(trajectory.duration)), period)
    Q, R = period * _weights(Q, n, "Q", "tvlqr"), period * _weights(R, robot.nv, "R", "tvlqr", definite=True)
    q, v = trajectory(np.arange(steps + 1) * period, hold=True)[:2]
    middle = trajectory((np.arange(steps) + 0.5) * period, hold=True)
    tau, rest = inverse_dynamics(robot, *middle[:3]), np.zeros(robot.nv)
    holding = inverse_dynamics(robot, q[..., -1, :], rest, rest)
    end = _holding_gains(linearize(robot, q[..., -1, :], rest, holding, period), Q, R)
    P = end.P if Q_end is None else _weights(Q_end, n, "Q_end", "tvlqr")
    A, B = linearize(robot, middle.q, middle.v, tau, period)
    K = _gain_rows(_Sizes(n, robot.nv), A, B, Q, R, P)
    tau = np.concatenate([tau, holding[..., None, :]], axis=-2)
    K = np.concatenate([K, end.K[..., None, :, :]], axis=-3)
    return followed(Feedback(q, v, tau, K), robot, period, "tvlqr")


def _whole_periods(duration: float, period: float) -> int:
    steps = round(duration / period)
    if steps < 1 or abs(steps * period - duration) > 1e-6 * duration:
        raise ArgumentError(f"tvlqr: the duration {duration:g} s is not a whole number of periods of {period:g} s")
    return steps


def _holding_gains(system: Linearization, Q: np.ndarray, R: np.ndarray) -> Gains:
    """The gains for the last configurations (...,) of trajectories."""
    A, B = system
    each = [
        dlqr_gains(a, b, Q, R) for a, b in zip(A.reshape(-1, *A.shape[-2:]), B.reshape(-1, *B.shape[-2:]), strict=True)
    ]
    return Gains(*(np.stack(x).reshape(*A.shape[:-2], *x[0].shape) for x in zip(*each, strict=True)))


def _following(robot, p, state, t, q, v, reference):
    return reference.tau - reference.K @ _error(robot, reference, q, v), state


def followed(feedback: Feedback, robot: Robot, period: float, name: str) -> Law:
    """The law τ = τ_k - K_k x along rows (..., N, ...) of `Feedback`, of which row k holds for the k-th period."""
    form = Feedback(np.empty(robot.nq), np.empty(robot.nv), np.empty(robot.nv), np.empty((robot.nv, 2 * robot.nv)))
    return law(_following, reference=Rows(feedback, form, period), follows=None, name=name, period=period)
