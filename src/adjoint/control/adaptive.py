"""Adaptive laws for single joints: the gains follow a reference model, or a model of time series that is identified."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..dynamics.composite import mass_matrix
from ..dynamics.factorization import mass_matrix_inverse
from ..dynamics.newton_euler import gravity_torque
from ..errors import ArgumentError
from ..model.configuration import difference
from ..model.input_checks import count, floats, positive, truth
from ..model.needs import need_robot
from ..model.robot import Robot
from .gains import gains
from .laws import Law, law
from .least_squares import Fit, recursive_least_squares
from .references import Target, check_reference, reference_at

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "ModelReferenceState",
    "SelfTuningState",
    "ServoGains",
    "first_target",
    "forgetting_factor",
    "model_reference",
    "self_tuning",
    "self_tuning_step",
    "servo_gains",
]


# --- model reference (5.8.1) ------------------------------------------------------------------------------------------


class ModelReferenceState(NamedTuple):
    """The state of `model_reference`, for every joint (nv,)."""

    y: Any  # the model's position, as all positions counted from where the reference starts
    dy: Any
    u: Any  # -∂y/∂a, which says how the error depends on α
    du: Any
    w: Any  # -∂y/∂b
    dw: Any
    alpha: Any  # the coefficients of the plant, as the servo gains make them
    beta: Any
    x: Any  # position, velocity and r at the last instant
    v: Any
    r: Any


class ServoGains(NamedTuple):
    """Gains of a servo: kp [N m/rad] and kd [N m s/rad]."""

    kp: Any
    kd: Any


def servo_gains(alpha, beta, inertia, damping: Any = 0.0) -> ServoGains:
    """The gains that turn J ẍ + f ẋ = kp (r - x) - kd ẋ into α ẍ + β ẋ + x = r: kp = J / α, kd = β kp - f.

    >>> gains = servo_gains(1 / 16, 0.5, inertia=2.0)               # kp 32, kd 16
    """
    kp = inertia / alpha
    return ServoGains(kp, beta * kp - damping)


def _model_reference(robot, p, state, t, q, v, reference):
    k_2, k_1, k_0 = p.weights
    a, b, h = 1 / p.frequency**2, 2 * p.ratio / p.frequency, p.period
    y, dy, u, du, w, dw, alpha, beta, x, v_last, r = state
    # The period that ends now, by steps of Euler's method: only now its acceleration is known.
    ddy = (r - b * dy - y) / a  # (5.8-1)
    ddu = (-ddy - b * du - u) / a  # (5.8-7)
    ddw = (-dy - b * dw - w) / a  # (5.8-8); the book prints -ÿ on its right side, with which α and β diverge
    E = k_2 * (ddy - (v - v_last) / h) + k_1 * (dy - v_last) + k_0 * (y - x)
    d_alpha = p.rate * E * (k_2 * ddu + k_1 * du + k_0 * u)  # (5.8-5)
    d_beta = p.rate * E * (k_2 * ddw + k_1 * dw + k_0 * w)  # (5.8-6)
    alpha = np.clip(alpha + h * d_alpha, a / p.bound, a * p.bound)
    beta = np.clip(beta + h * d_beta, b / p.bound, b * p.bound)
    # with this r, a model that starts on the reference stays on it
    r = difference(robot, p.origin, reference.q) + b * reference.v + a * reference.a
    x = difference(robot, p.origin, q)
    new = ModelReferenceState(
        y + h * dy, dy + h * ddy, u + h * du, du + h * ddu, w + h * dw, dw + h * ddw, alpha, beta, x, v, r
    )
    kp, kd = servo_gains(alpha, beta, p.inertia, p.damping)
    tau = kp * (r - x) - kd * v
    return tau + gravity_torque(robot, q) if p.gravity else tau, new


def model_reference(
    robot: Robot, reference, *, frequency, ratio: ArrayLike = 1.0, inertia=None, damping: ArrayLike = 0.0,
    weights: ArrayLike = (0.05, 0.3, 1.0), rate: ArrayLike = 1.0, bound=10.0, gravity=True,
    start: Any = (1.0, 1.0), period=0.001,
) -> Law:  # fmt: skip
    """Model-reference adaptive control of every joint: its servo gains change until it moves like a model does.

    The model is a ÿ + b ẏ + y = r with a = 1/ω², b = 2 ζ/ω for ω = `frequency` [rad/s] and ζ = `ratio`. The servo
    τ = kp (r - x) - kd ẋ makes the joint α ẍ + β ẋ + x = r, where α = J/kp and β = (f + kd)/kp (`servo_gains`), and

        e = y - x,  E = k₂ ë + k₁ ė + k₀ e,  α̇ = rate E (k₂ ü + k₁ u̇ + k₀ u),  β̇ = rate E (k₂ ẅ + k₁ ẇ + k₀ w),
        a ü + b u̇ + u = -ÿ,  a ẅ + b ẇ + w = -ẏ.

    Reference: Dubowsky & DesForges (1979); (5.8-1) to (5.8-8) of Fu, Gonzalez & Lee (1987), where (5.8-8) is corrected.
    Couplings are neglected, and a `rate` that is too high is not stable.

        >>> adaptive = model_reference(robot, np.zeros(robot.nq), frequency=5.0)
        >>> tau, state = adaptive(robot, None, 0.0, q, v)

    Parameters
    ----------
    robot
        The model, whose joints have one degree of freedom; with `gravity` the law adds its gravity torques.
    reference
        An array q (nq,), a `Trajectory`, or a function of t. r is q_d + b v_d + a a_d, so the model stays on it.
    inertia, damping
        What is known of J [kg m²] and f [N m s/rad]; by default the diagonal of the mass matrix where the reference
        starts, and 0.
    weights
        (k₂, k₁, k₀), in s², s and 1.
    start, bound
        α/a and β/b at the start, each a number or (nv,); later, both stay between 1/`bound` and `bound`.
    period
        The time between two instants [s]; accelerations are differences of velocities.
    """
    name = "model_reference"
    n, period = _single_joints(robot, name), positive(period, "model_reference: period")
    first = first_target(robot, reference, name)
    inertia = np.diag(mass_matrix(robot, first.q)).copy() if inertia is None else inertia
    if floats(weights).shape != (3,):
        raise ArgumentError(f"{name}: weights must be three numbers (k2, k1, k0), got {weights!r}")
    if not isinstance(start, tuple | list | np.ndarray) or len(start) != 2:
        raise ArgumentError(f"{name}: start must be a pair, alpha / a and beta / b, got {start!r}")
    frequency, ratio = gains(frequency, n, f"{name}: frequency"), gains(ratio, n, f"{name}: ratio")
    alpha = gains(start[0], n, f"{name}: start[0]") / frequency**2
    beta = gains(start[1], n, f"{name}: start[1]") * 2 * ratio / frequency
    zero, before = np.zeros(n), -period * first.v
    state = ModelReferenceState(
        before, first.v, zero, zero, zero, zero, alpha + zero, beta + zero,
        before, first.v, before + 2 * ratio / frequency * first.v,
    )  # fmt: skip
    return law(
        _model_reference, reference=reference, state=state, model=robot, name=name, frequency=frequency, ratio=ratio,
        inertia=gains(inertia, n, f"{name}: inertia"), damping=gains(damping, n, f"{name}: damping", or_zero=True),
        weights=gains(weights, 3, f"{name}: weights", or_zero=True), rate=gains(rate, n, f"{name}: rate", or_zero=True),
        bound=positive(bound, f"{name}: bound"), gravity=truth(gravity, f"{name}: gravity"), origin=first.q,
        period=period,
    )  # fmt: skip


# --- self-tuning with time series (5.8.2) -----------------------------------------------------------------------------


class SelfTuningState(NamedTuple):
    """The state of `self_tuning`; each row belongs to a joint. Forces are in units of the model's first b."""

    theta: Any  # (nv, 2 n + 1): a⁰, a¹ ... aⁿ, b¹ ... bⁿ
    P: Any  # (nv, 2 n + 1, 2 n + 1)
    y: Any  # (nv, n): y(k-1) ... y(k-n)
    u: Any  # (nv, n): u(k-1) ... u(k-n)
    force: Any  # (nv,): u(k)


def self_tuning_step(estimate: Fit, ys, us, u, y, wanted, *, forgetting, penalty, limit=None) -> tuple:
    """One instant k of the self-tuning controller of one output: (`Fit`, u(k+1)).

    The model is y(k) = a⁰ + Σ (aᵐ y(k-m) + bᵐ u(k-m)), m = 1 ... n. `ys` and `us` (n,) are y(k-1) ... y(k-n) and
    u(k-1) ... u(k-n), `u` and `y` are u(k) and y(k), and `wanted` is the output y_d(k+2). u(k+1) minimises the square
    of the predicted y(k+2) - y_d(k+2), plus `penalty` · u².
    """
    n = len(ys)
    # (5.8-13), (5.8-14); the latter is printed without its first P
    estimate = recursive_least_squares(estimate, np.concatenate([np.ones(1), ys, us]), y, forgetting, limit=limit)
    theta, ys, us = estimate.theta, np.concatenate([np.stack([y]), ys[:-1]]), np.concatenate([np.stack([u]), us[:-1]])
    next_y = theta @ np.concatenate([np.ones(1), ys, us])
    a, b = theta[1 : n + 1], theta[n + 1 :]
    # (5.8-17)
    coming = theta[0] + a[0] * next_y + a[1:] @ ys[:-1] + b[1:] @ us[:-1]
    return estimate, b[0] / (b[0] * b[0] + penalty) * (wanted - coming)


def _self_tuning(robot, p, state, t, q, v, reference):
    h, nv = p.period, robot.nv
    y = difference(robot, p.origin, q) + v / p.slope
    # the reference two instants later
    ahead = reference.v + 2 * h * reference.a
    wanted = difference(robot, p.origin, reference.q) + h * (reference.v + ahead) + ahead / p.slope
    options = {"forgetting": p.forgetting, "penalty": p.penalty, "limit": p.limit}
    rows = []
    for i in range(nv):
        estimate = Fit(state.theta[i], state.P[i])
        rows.append(self_tuning_step(estimate, state.y[i], state.u[i], state.force[i], y[i], wanted[i], **options))
    new = SelfTuningState(
        np.stack([estimate.theta for estimate, _ in rows]), np.stack([estimate.P for estimate, _ in rows]),
        np.concatenate([y[:, None], state.y[:, :-1]], axis=1),
        np.concatenate([state.force[:, None], state.u[:, :-1]], axis=1), np.stack([u for _, u in rows]),
    )  # fmt: skip
    return state.force / p.unit, new


def self_tuning(
    robot: Robot, reference, *, order: int = 2, slope: ArrayLike = 10.0, forgetting=0.99, penalty=0.01, uncertainty=1e6,
    period=0.005,
) -> Law:  # fmt: skip
    """Self-tuning control: each joint's response is identified as a time series, which is then inverted.

    With the output y = q + v/λ of a joint, λ = `slope` [1/s], and its force u, the series of order n is

        y(k) = a⁰ + Σ (aᵐ y(k-m) + bᵐ u(k-m)),   m = 1 ... n.

    Its 2n + 1 coefficients come from `recursive_least_squares`, and u(k+1) brings y(k+2) to the reference as nearly as
    `penalty` allows; it is computed one period ahead, as in the book. Reference: Koivo & Guo (1983); (5.8-9) to
    (5.8-17) of Fu, Gonzalez & Lee (1987), corrected. Their y is q, the limit of a large λ; but a joint that is sampled
    then has a zero near -1, and inverting it makes forces of alternating sign. The coefficients start with those of a
    joint that has the robot's inertia and gravity where the reference starts. Couplings between joints are noise to
    this law: it carries loads with a PUMA 560, whose rotors are heavy, and diverges with two rods that have no gears.

        >>> tuner = self_tuning(robot, np.zeros(robot.nq))
        >>> tau, state = tuner(robot, None, 0.0, q, v)

    Parameters
    ----------
    robot
        The model for the start; its joints have one degree of freedom. It starts at rest where the reference starts.
    forgetting, uncertainty
        The factor μ, and P = `uncertainty` · 1 at the start. Nothing is forgotten where the trace of P would grow
        beyond that at the start. Forces count in units of the first b¹, so that all coefficients are of order 1. Other
        joints disturb this one, and the law must learn of that before errors grow: a small `uncertainty` is not stable.
    penalty
        γ >= 0: the cost of u² against that of the error's square, in those units.
    """
    name = "self_tuning"
    n, h = _single_joints(robot, name), positive(period, f"{name}: period")
    if count(order, f"{name}: order") < 2:
        raise ArgumentError(
            f"{name}: order must be 2 or more, since a joint has a position and a velocity; got {order}"
        )
    slope = gains(slope, n, f"{name}: slope")
    first = first_target(robot, reference, name)
    # the other joints are free while this one is pushed, so it feels 1 / (M⁻¹)_ii, which is less than M_ii
    J, held = 1 / np.diag(mass_matrix_inverse(robot, first.q)), gravity_torque(robot, first.q)
    unit = h * h / (2 * J) + h / (J * slope)
    second = (h * h / (2 * J) - h / (J * slope)) / unit
    theta, start, u = np.zeros((n, 2 * order + 1)), first.v / slope, held * unit
    theta[:, 0], theta[:, 1], theta[:, 2] = -(1 + second) * u, 2, -1
    theta[:, order + 1], theta[:, order + 2] = 1, second
    P = positive(uncertainty, f"{name}: uncertainty") * np.eye(2 * order + 1)
    state = SelfTuningState(
        theta, np.tile(P, (n, 1, 1)), np.tile(start[:, None], order), np.tile(u[:, None], order), u
    )  # fmt: skip
    return law(
        _self_tuning, reference=reference, state=state, model=robot, name=name, slope=slope, origin=first.q, unit=unit,
        forgetting=forgetting_factor(forgetting, name),
        penalty=positive(penalty, f"{name}: penalty", or_zero=True),
        limit=np.trace(P), period=h,
    )  # fmt: skip


# --- checks -----------------------------------------------------------------------------------------------------------


def first_target(robot: Robot, reference, name: str) -> Target:
    """Where the reference of joints starts."""
    need_robot(robot, name)
    if reference is None:
        raise ArgumentError(f"{name} needs a reference: it starts with a model of the robot where the reference starts")
    found = reference_at(robot, Target, check_reference(name, Target, reference), 0.0)
    found = Target(*(np.asarray(x, float) for x in found))
    if not all(np.isfinite(x).all() for x in found):
        raise ArgumentError(f"{name}: the reference starts at numbers that are not finite")
    if found.q.ndim > 1:
        raise ArgumentError(
            f"{name}: the reference is a batch of shape {found.q.shape[:-1]}; make the law with one, and "
            "give the batch to law.replace(reference=...)"
        )
    return found


def forgetting_factor(value, name: str) -> float:
    """The forgetting factor, which is above 0 and at most 1."""
    found = positive(value, f"{name}: forgetting")
    if found > 1:
        raise ArgumentError(f"{name}: forgetting must be above 0 and at most 1, got {value!r}")
    return found


def _single_joints(robot: Robot, name: str) -> int:
    """The number of joints, all of one degree of freedom."""
    need_robot(robot, name)
    if robot.nq != robot.nv:
        raise ArgumentError(
            f"{name}: robot '{robot.name}' has joints of several degrees of freedom; this law needs joints of one each"
        )
    return robot.nv
