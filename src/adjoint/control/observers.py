"""Observers: laws around laws that estimate what is not measured, and give it to the law inside.

Like all that stands between a law and a robot (see `channels`), they are put around each other in any order, and what
is outermost is nearest to the robot. Their estimates are in the law's state, also in that of a run:
`state_of(run.state, Disturbance).torque`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compile.front.arguments import as_input
from ..definite import positive_solve
from ..dynamics.coriolis import coriolis_matrix
from ..dynamics.forward import forward_dynamics
from ..dynamics.linearization import Linearization, continuous
from ..dynamics.newton_euler import bias_force, mass_matrix_product
from ..errors import ArgumentError, SolveError
from ..model.configuration import difference, integrate, neutral
from ..model.input_checks import one_of, truth
from ..model.robot import Robot
from .channels import joint_numbers, low_pass, per_period, with_model
from .laws import Law, wrapped

__all__ = [
    "Differenced",
    "Disturbance",
    "Estimate",
    "Observed",
    "differenced_velocity",
    "disturbance_observer",
    "kalman",
    "velocity_observer",
]

_ROUNDING = 1e-12  # eigenvalues and asymmetries of a covariance that are this small, relative to it, count as 0

# --- velocities -------------------------------------------------------------------------------------------------------


class Differenced(NamedTuple):
    """The state of `differenced_velocity`: the last position q (nq,), and whether there is one."""

    q: Any
    started: Any


def differenced_velocity(law: Law, period=None, *, cutoff=None, robot: Robot | None = None) -> Law:
    """The law with velocities from positions: v_k = difference(q_{k-1}, q_k) / period. The measured v is not used.

    At the first instant v is 0. With a `cutoff` [rad/s], v goes through `low_pass` before the law gets it.

        >>> blind = differenced_velocity(aj.control.pd(np.zeros(6), kp=100.0, kd=20.0), 0.001, robot=robot)
        >>> first = blind(robot, None, 0.0, q, v)
        >>> tau, _ = blind(robot, first.state, 0.001, q + 0.001 * v, v)     # as if v were measured
    """
    law, model = with_model(law, robot, "differenced_velocity")
    if cutoff is not None:
        joint_numbers(cutoff, "differenced_velocity: cutoff", model)
        law = low_pass(law, cutoff, period, of="velocity")
    more, start = per_period(law, period, "differenced_velocity"), Differenced(neutral(model), 0.0)
    return wrapped(law, _differenced, state=start, name="differenced_velocity", **more)


def _differenced(inside, robot, p, state, t, q, v, reference):
    own, inner = state
    v = difference(robot, np.where(own.started > 0, own.q, q), q) / p.period
    tau, inner = inside(inner, t, q, v, reference)
    return tau, (Differenced(q, 1.0), inner)


class Observed(NamedTuple):
    """The state of `velocity_observer`: the estimated position q (nq,) and velocity v (nv,), and whether there are."""

    q: Any
    v: Any
    started: Any


def velocity_observer(law: Law, bandwidth, period=None, *, robot: Robot | None = None) -> Law:
    """The law with velocities that an observer of second order tells from positions. The measured v is not used.

    The observer predicts q̂ ← q̂ + T v̂ and corrects by e = q - q̂, with q̂ ← q̂ + α e and v̂ ← v̂ + (β / T) e. For α = 1 - z²
    and β = (1 - z)² with z = exp(-ω T) both its poles are at z, as those of two low-pass filters with cutoff ω
    (the critically damped α-β filter; E. Brookner, Tracking and Kalman Filtering Made Easy, 1998). `bandwidth`
    ω [rad/s], a number or (nv,), becomes the law's number `observer_bandwidth`. In a motion with constant v, v̂ tends to
    v. The law gets q as it is measured.

        >>> blind = velocity_observer(aj.control.pd(np.zeros(6), kp=100.0, kd=20.0), 500.0, 0.001, robot=robot)
    """
    law, model = with_model(law, robot, "velocity_observer")
    numbers = {"observer_bandwidth": joint_numbers(bandwidth, "velocity_observer: bandwidth", model)}
    numbers |= per_period(law, period, "velocity_observer")
    start = Observed(neutral(model), np.zeros(model.nv), 0.0)
    return wrapped(law, _observed, state=start, name="velocity_observer", **numbers)


def _observed(inside, robot, p, state, t, q, v, reference):
    own, inner = state
    z = np.exp(-p.observer_bandwidth * p.period)
    predicted = integrate(robot, np.where(own.started > 0, own.q, q), own.v, p.period)
    error = difference(robot, predicted, q)
    found = integrate(robot, predicted, (1 - z * z) * error)
    own = Observed(found, own.v + (1 - z) * (1 - z) / p.period * error, 1.0)
    tau, inner = inside(inner, t, q, own.v, reference)
    return tau, (own, inner)


# --- disturbances -----------------------------------------------------------------------------------------------------


class Disturbance(NamedTuple):
    """The state of `disturbance_observer`: the estimated joint forces `torque` (nv,) of the disturbance.

    `momentum` and its rate `expected` without a disturbance (nv,) are those of the last instant, if one has `started`.
    """

    torque: Any
    momentum: Any
    expected: Any
    started: Any


def disturbance_observer(
    law: Law, bandwidth, period=None, *, compensate: bool = True, robot: Robot | None = None
) -> Law:
    """The law with an estimate of the joint forces τ_d that act besides its own, which it takes off its own.

    The generalised momentum p = M(q) v changes with ṗ = τ + τ_d + Cᵀ v - φ(q) - friction, which needs no acceleration.
    What the model does not expect goes through a low-pass filter: r' = ω (τ_d - r), so that r is τ_d, late by 1/ω
    (A. De Luca & R. Mattone, "Actuator failure detection and isolation using generalized momenta", ICRA 2003). In
    instants k of the time T, with the same pole,

        r_k = r_{k-1} + (1 - exp(-ω T)) ((p_k - p_{k-1}) / T - ṗ_{k-1}(τ_d = 0) - r_{k-1}).

    `bandwidth` ω [rad/s], a number or (nv,), becomes the law's number `disturbance_bandwidth`. With `compensate` the
    joint forces are τ - r; without, r is only estimated: `state_of(run.state, Disturbance).torque`. A limit of the
    joint forces that stands outside of the observer is a disturbance to it.

        >>> model = aj.control.computed_torque(robot, np.zeros(6), kp=100.0, kd=20.0)
        >>> robust = disturbance_observer(model, 50.0, 0.001)
    """
    law, model = with_model(law, robot, "disturbance_observer")
    given = {"compensate": truth(compensate, "disturbance_observer: compensate")}
    given |= {"disturbance_bandwidth": joint_numbers(bandwidth, "disturbance_observer: bandwidth", model)}
    given |= per_period(law, period, "disturbance_observer")
    zero = np.zeros(model.nv)
    return wrapped(law, _disturbed, state=Disturbance(zero, zero, zero, 0.0), name="disturbance_observer", **given)


def _disturbed(inside, robot, p, state, t, q, v, reference):
    own, inner = state
    momentum = mass_matrix_product(robot, q, v)
    seen = (momentum - own.momentum) / p.period - own.expected
    step = np.where(own.started > 0, 1 - np.exp(-p.disturbance_bandwidth * p.period), 0.0)
    torque = own.torque + step * (seen - own.torque)
    tau, inner = inside(inner, t, q, v, reference)
    tau = tau - torque if p.compensate else tau
    return tau, (Disturbance(torque, momentum, _momentum_rate(robot, q, v, tau), 1.0), inner)


def _momentum_rate(robot: Robot, q, v, tau):
    """ṗ = M a + Ṁ v (nv,) without a disturbance: M a = τ - bias, and Ṁ v = (C + Cᵀ) v."""
    C = coriolis_matrix(robot, q, v)
    return tau - bias_force(robot, q, v) + C @ v + v @ C


# --- Kalman filters ---------------------------------------------------------------------------------------------------


class Estimate(NamedTuple):
    """The state of `kalman`: the estimated position q (nq,) and velocity v (nv,), and their `covariance` (2 nv, 2 nv).

    The covariance is None if the filter is steady. `tau` (nv,) are the joint forces of the last instant, if one has
    `started`.
    """

    q: Any
    v: Any
    covariance: Any
    tau: Any
    started: Any


def kalman(
    law: Law, *, process, measurement, period=None, model: str | Linearization = "free", about=None, C=None,
    steady: bool = False, start=1.0, robot: Robot | None = None,
) -> Law:  # fmt: skip
    """The law with the state (q, v) that a Kalman filter tells from measurements of it.

    With errors x = (δq, δv) (2 nv,) of the estimate, the filter predicts by a model x_k = A x_{k-1} + w, w ~ (0, Q),
    and corrects by measurements y = C x + n, n ~ (0, R):

        P ← A P Aᵀ + Q,   K = P Cᵀ (C P Cᵀ + R)⁻¹,   x ← x + K (y - C x),   P ← (1 - K C) P (1 - K C)ᵀ + K R Kᵀ.

    On orientations and poses, δq is along the motions that v describes, as in `linearize`. See R. F. Stengel, Optimal
    Control and Estimation (1994), ch. 4.

        >>> blind = kalman(aj.control.pd(np.zeros(6), kp=100.0, kd=20.0), process=50.0, measurement=1e-4,
        ...                period=0.001, robot=robot)
        >>> tau, state = blind(robot, None, 0.0, q, v)

    Parameters
    ----------
    process
        Q (2 nv, 2 nv), or the standard deviation [rad/s², m/s²], a number or (nv,), of accelerations that are constant
        between instants: Q = σ² [T⁴/4 T³/2; T³/2 T²]. It becomes the law's number `kalman_process`.
    measurement
        R (m, m), or the standard deviation of measurements, a number or (m,); the law's number `kalman_measurement`.
    model
        "free": v is constant but for w. "dynamics": the law's model moves with `forward_dynamics` in semi-implicit
        steps, and A follows from its derivatives (an extended Kalman filter). Or a `Linearization` (A, B) of discrete
        time, x_k = A x_{k-1} + B δτ, `about` a rest (q, tau); by default q is `neutral`, and tau is 0.
    C
        What is measured: (m, 2 nv), of (q, v); by default all of q, and not v.
    steady
        Whether the gain K is that of the steady state, from the discrete Riccati equation (SciPy), and so a number
        `kalman_gain` (2 nv, m) of the law. A model "dynamics" has none. `measurement` and `process` then are fixed.
    start
        P (2 nv, 2 nv) at the start, or the standard deviation of all errors; v is 0 there.
    """
    law, known = with_model(law, robot, "kalman")
    more = per_period(law, period, "kalman")
    n, numbers = known.nv, _model_numbers(known, model, about)
    C = None if C is None else _array(C, (None, 2 * n), "C")
    m = n if C is None else len(C)
    if m == 0:
        raise ArgumentError("kalman: C must have a row for every measurement, and at least one")
    Q, R = _deviations(process, n, 2 * n, "process"), _deviations(measurement, m, m, "measurement", definite=True)
    if truth(steady, "kalman: steady"):
        T = law.numbers["period"] if not more else more["period"]
        numbers["kalman_gain"], P = _steady_gain(n, numbers, C, Q, R, T), None
    else:
        numbers |= {"kalman_process": Q, "kalman_measurement": R}
        P = _covariance(_deviations(start, 2 * n, 2 * n, "start"), 2 * n)
    zero = Estimate(neutral(known), np.zeros(n), P, np.zeros(n), 0.0)
    return wrapped(law, _corrected, state=zero, name="kalman", kalman_C=C, **numbers, **more)


def _corrected(inside, robot, p, state, t, q, v, reference):
    own, inner = state
    started, n = own.started > 0, robot.nv
    before, A = _predicted(robot, p, own)
    q_0, v_0 = np.where(started, before[0], q), np.where(started, before[1], own.v)
    C = np.eye(n, 2 * n) if p.kalman_C is None else p.kalman_C
    if own.covariance is None:
        K, P = p.kalman_gain, None
    else:
        Q, R = _process(p.kalman_process, p.period, n), _covariance(p.kalman_measurement, len(C))
        P = np.where(started, A @ own.covariance @ A.T + Q, own.covariance)
        K = positive_solve(C @ P @ C.T + R, C @ P).T
        left = np.eye(2 * n) - K @ C
        P = left @ P @ left.T + K @ R @ K.T
    x = K @ (C @ np.concatenate([difference(robot, q_0, q), v - v_0]))
    q, v = integrate(robot, q_0, x[:n]), v_0 + x[n:]
    tau, inner = inside(inner, t, q, v, reference)
    return tau, (Estimate(q, v, P, tau, 1.0), inner)


def _predicted(robot: Robot, p, own: Estimate) -> tuple:
    """The (q, v) that the model predicts for this instant from the last one, and A (2 nv, 2 nv)."""
    T, n = p.period, robot.nv
    if p.kalman_model == "free":
        return (integrate(robot, own.q, own.v, T), own.v), _free(T, n)
    if p.kalman_model == "linear":
        x = np.concatenate([difference(robot, p.kalman_q, own.q), own.v])
        x = p.kalman_A @ x + p.kalman_B @ (own.tau - p.kalman_tau)
        return (integrate(robot, p.kalman_q, x[:n]), x[n:]), p.kalman_A
    v = own.v + T * forward_dynamics(robot, own.q, own.v, own.tau)
    A = continuous(robot, own.q, own.v, own.tau).A
    lower = np.concatenate([T * A[n:, :n], np.eye(n) + T * A[n:, n:]], axis=1)  # ∂v_k / ∂(q, v)
    upper = np.concatenate([np.eye(n) + T * A[:n, :n], np.zeros((n, n))], axis=1) + T * lower
    return (integrate(robot, own.q, v, T), v), np.concatenate([upper, lower])


def _free(T, n: int):
    """A (2 n, 2 n) of motions with constant v."""
    one = np.eye(n)
    return np.block([[one, T * one], [0 * one, one]])


def _process(x, T, n: int):
    """Q (2 n, 2 n), which is given itself, or by standard deviations of accelerations that last for the time T."""
    if np.ndim(x) == 2:
        return x
    variance = np.eye(n) * (x * x)
    half = T * T / 2
    return np.block([[half * half * variance, half * T * variance], [half * T * variance, T * T * variance]])


def _covariance(x, n: int):
    """A covariance (n, n), which is given itself, or by standard deviations, a number or (n,)."""
    return x if np.ndim(x) == 2 else np.eye(n) * (x * x)


def _steady_gain(n: int, numbers: dict[str, Any], C, Q, R, T) -> np.ndarray:
    """The gain K (2 n, m) of the steady state."""
    if numbers["kalman_model"] == "dynamics":
        raise ArgumentError("kalman: the model 'dynamics' has no steady gain; linearize it about a rest first")
    if np.ndim(T) > 0:
        raise ArgumentError("kalman: a steady gain needs one period; the law has a batch of them")
    from scipy.linalg import solve_discrete_are  # slow to load

    A = numbers.get("kalman_A", _free(T, n))
    C, R = np.eye(n, 2 * n) if C is None else C, _covariance(R, n if C is None else len(C))
    try:
        P = solve_discrete_are(A.T, C.T, _process(Q, T, n), R)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise SolveError(f"kalman: no steady state exists for this A, C, Q and R: {error}") from None
    return np.linalg.solve(C @ P @ C.T + R, C @ P).T


# --- what users give --------------------------------------------------------------------------------------------------


def _model_numbers(robot: Robot, model, about) -> dict[str, Any]:
    """The parameters of the law that belong to the model of a Kalman filter."""
    if not isinstance(model, tuple):
        one_of(model, ("free", "dynamics"), "kalman: model")
        if about is not None:
            raise ArgumentError("kalman: about belongs to a linear model (A, B)")
        return {"kalman_model": model}
    if len(model) != 2:
        raise ArgumentError(f"kalman: model has {len(model)} parts; a linear model is a pair (A, B)")
    n = robot.nv
    if about is not None and not (isinstance(about, tuple | list) and len(about) == 2):
        raise ArgumentError("kalman: about must be a pair (q, tau)")
    q, tau = (neutral(robot), np.zeros(n)) if about is None else about
    A, B = _array(model[0], (2 * n, 2 * n), "A"), _array(model[1], (2 * n, n), "B")
    q, tau = _array(q, (robot.nq,), "q of about"), _array(tau, (n,), "tau of about")
    return {"kalman_model": "linear", "kalman_A": A, "kalman_B": B, "kalman_q": q, "kalman_tau": tau}


def _deviations(value, n: int, size: int, name: str, *, definite: bool = False) -> np.ndarray:
    """Standard deviations, a number or (n,), or a covariance (size, size); `definite` excludes 0."""
    found = np.asarray(as_input(value, name, "kalman"), float)
    if found.shape not in ((), (n,), (size, size)) or not np.isfinite(found).all():
        raise ArgumentError(
            f"kalman: {name} has shape {found.shape}; it must be finite: a number, ({n},) or ({size}, {size})"
        )
    lowest = np.linalg.eigvalsh(found).min() if found.ndim == 2 else found.min()
    slack = _ROUNDING * np.abs(found).max()
    symmetric = found.ndim < 2 or np.abs(found - found.T).max() <= slack
    if not symmetric or (lowest <= slack if definite else lowest < -slack):
        what = "positive, or a positive definite" if definite else "0 or more, or a symmetric"
        raise ArgumentError(f"kalman: {name} must be {what} matrix{' without negative eigenvalues' * (not definite)}")
    return found


def _array(value, shape: tuple[int | None, ...], name: str) -> np.ndarray:
    found = np.asarray(as_input(value, name, "kalman"), float)
    fits = found.ndim == len(shape) and all(b in (None, a) for a, b in zip(found.shape, shape, strict=True))
    if not fits or not np.isfinite(found).all():
        wanted = str(shape).replace("None", "m")
        raise ArgumentError(f"kalman: {name} must be finite numbers of shape {wanted}; got shape {found.shape}")
    return found
