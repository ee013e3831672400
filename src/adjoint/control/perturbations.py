"""Adaptive perturbation control: nominal torques, and feedback with a linear model of the errors that is identified."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..definite import positive_solve
from ..dynamics.linearization import linearize
from ..dynamics.newton_euler import inverse_dynamics
from ..errors import ArgumentError
from ..kinematics.forward import forward_kinematics
from ..kinematics.jacobians import frame_twist, jacobian, jacobian_rate
from ..lie import so3
from ..model.configuration import difference
from ..model.input_checks import positive, truth
from ..model.robot import Robot
from .adaptive import first_target, forgetting_factor
from .gains import gains
from .laws import Law, law
from .least_squares import Fit, recursive_least_squares

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["PerturbationState", "perturbation", "resolved_motion_adaptive"]


class PerturbationState(NamedTuple):
    """The state of `perturbation` and `resolved_motion_adaptive`: an error x (m,) follows x_next = F x + G u + c.

    c is there only with the option `bias`.
    """

    theta: Any  # (m + nv, m) or (m + nv + 1, m): F, G and c, transposed
    P: Any
    z: Any  # x, u and 1 at the last instant


def _feedback(p, state: PerturbationState, x) -> tuple:
    """The joint forces u (nv,) that make ½ (x_nextᵀ Q x_next + uᵀ R u) least, and the next state."""
    m, nv = len(x), len(p.R)
    # (5.8-32) to (5.8-34)
    theta, P = recursive_least_squares(Fit(state.theta, state.P), state.z, x, p.forgetting, limit=p.limit)
    F, G = theta[:m].T, theta[m : m + nv].T
    expected = F @ x + theta[-1] if p.bias else F @ x
    # (5.8-39): u = -(R + Gᵀ Q G)⁻¹ Gᵀ Q F x
    weighed = G.T * p.Q
    u = -positive_solve(np.diag(p.R) + weighed @ G, weighed @ expected)
    return u, PerturbationState(theta, P, np.concatenate([x, u, np.ones(1)] if p.bias else [x, u]))


# --- in joints (5.8.3) ------------------------------------------------------------------------------------------------


def _perturbation(robot, p, state, t, q, v, reference):
    nominal = inverse_dynamics(robot, *reference)
    u, state = _feedback(p, state, np.concatenate([difference(robot, reference.q, q), v - reference.v]))
    return nominal + u, state


def perturbation(
    robot: Robot, reference, *, Q=None, R=None, forgetting=0.95, uncertainty: ArrayLike = 100.0, bias=False, period=0.01
) -> Law:
    """Adaptive perturbation control: τ = inverse dynamics of the reference + feedback of an identified linear model.

    The error x = (q - q_d, v - v_d) (2 nv,) follows x(k+1) = F x(k) + G u(k). `recursive_least_squares` identifies F
    and G, and the feedback u = -(R + Gᵀ Q G)⁻¹ Gᵀ Q F x makes the weighed squares of x(k+1) and u(k) least. F and G
    start with those of `linearize` where the reference starts, u being held for a period. Reference: Lee & Chung
    (1984); (5.8-18) to (5.8-39) of Fu, Gonzalez & Lee (1987), corrected: (5.8-33) lacks its division by ρ, and the
    series (5.8-37) for G is not that of a held u.

        >>> adaptive = perturbation(robot, np.zeros(robot.nq), forgetting=0.97)
        >>> tau, state = adaptive(robot, None, 0.0, q, v)

    The model has no constant term, so F must take up the constant force of an unknown load. With `bias=True` the model
    is x(k+1) = F x(k) + G u(k) + c. This halves the errors of a PUMA 560 with a load, but a light arm without gears
    learns worse with it. No theorem says that the law is stable: it fails if the estimates are wrong when they are
    needed.

    Parameters
    ----------
    robot
        The nominal model.
    Q, R
        Weights of x (2 nv,), by default 10 000 for positions and 1 for velocities, and of u (nv,), by default 1 % of
        the diagonal of Gᵀ Q G at the start. An R of the size of Gᵀ Q G, which is small for short periods and large
        inertias, makes the feedback weak.
    forgetting, uncertainty
        ρ, and P at the start: a number u stands for u · 1 for F and c, and for G in units of its own entries; an array
        is the diagonal of P. Nothing is forgotten where the trace of P would grow beyond that at the start.
    """
    name = "perturbation"
    first, h = first_target(robot, reference, name), positive(period, "perturbation: period")
    F, G = linearize(robot, first.q, first.v, inverse_dynamics(robot, *first), dt=h)
    return law(
        _perturbation, reference=reference, model=robot, name=name, period=h,
        **_options(name, F, G, Q, R, forgetting, uncertainty, bias),
    )  # fmt: skip


def _options(name: str, F, G, Q, R, forgetting, uncertainty, bias) -> dict[str, Any]:
    """What both laws share: the state that they start with, and their parameters, checked."""
    m, nv = G.shape
    bias = truth(bias, f"{name}: bias")
    theta = np.concatenate([F.T, G.T, np.zeros((1, m))] if bias else [F.T, G.T])
    uncertainty = gains(uncertainty, len(theta), f"{name}: uncertainty")
    if uncertainty.ndim == 0:  # entries of G are as uncertain as large, if those of F are of order 1
        uncertainty = uncertainty * np.concatenate([np.ones(m), (G * G).max(axis=0), np.ones(len(theta) - m - nv)])
    Q = gains(np.repeat([1e4, 1.0], m // 2) if Q is None else Q, m, f"{name}: Q", or_zero=True) * np.ones(m)
    R = gains(0.01 * Q @ (G * G) if R is None else R, nv, f"{name}: R") * np.ones(nv)
    return {
        "state": PerturbationState(theta, np.diag(uncertainty), np.zeros(len(theta))), "Q": Q, "R": R,
        "forgetting": forgetting_factor(forgetting, name), "limit": uncertainty.sum(), "bias": bias,
    }  # fmt: skip


# --- in space (5.8.4) -------------------------------------------------------------------------------------------------


def _resolved_motion_adaptive(robot, p, state, t, q, v, reference):
    nominal = inverse_dynamics(robot, *reference)
    T, wanted = forward_kinematics(robot, q, p.frame), forward_kinematics(robot, reference.q, p.frame)
    turned = so3.log(T[:3, :3] @ wanted[:3, :3].T)
    twist, wanted_twist = (frame_twist(robot, *x, p.frame, "world") for x in ((q, v), (reference.q, reference.v)))
    x = np.concatenate([turned, T[:3, 3] - wanted[:3, 3], twist - wanted_twist])
    u, state = _feedback(p, state, x)
    return nominal + u, state


def resolved_motion_adaptive(
    robot: Robot, reference, *, frame: str = "tool", Q=None, R=None, forgetting=0.95, uncertainty: ArrayLike = 100.0,
    bias=False, period=0.01,
) -> Law:  # fmt: skip
    """Resolved-motion adaptive control: `perturbation` with the errors of a frame instead of those of the joints.

    The error x = (φ, p - p_d, ω - ω_d, ṗ - ṗ_d) (12,) of the frame is seen from the base, where φ is the rotation
    vector from the wanted to the true orientation. The book has yaw, pitch and roll (5.8-49, whose signs are wrong
    there) instead of φ. These are singular at a pitch of ±90°; φ has no such place. Feedback and identification are
    those of `perturbation`. Reference: Lee & Lee (1984); (5.8-40) to (5.8-49) of Fu, Gonzalez & Lee (1987).

        >>> adaptive = resolved_motion_adaptive(robot, np.full(robot.nq, 0.5), frame="tool")
        >>> tau, state = adaptive(robot, None, 0.0, q, v)

    `reference` is the motion of the joints that moves the frame along its path, which the book finds from the path of
    the frame by inverse kinematics; `trajectory.joint_motion` does so. Q are weights of x (12,), by default 10 000
    for positions and 1 for velocities. The other parameters are those of `perturbation`.
    """
    name = "resolved_motion_adaptive"
    first, h = first_target(robot, reference, name), positive(period, "resolved_motion_adaptive: period")
    robot.frame(frame)  # raises an error that lists the frames
    if robot.nv < 6:
        raise ArgumentError(
            f"{name}: robot '{robot.name}' has {robot.nv} degrees of freedom; the pose of a frame needs six or more. "
            "`perturbation` adapts in joint space"
        )
    F, G = linearize(robot, first.q, first.v, inverse_dynamics(robot, *first), dt=h)
    J, dJ = jacobian(robot, first.q, frame, "world"), jacobian_rate(robot, first.q, first.v, frame, "world")
    seen = np.block([[J, np.zeros_like(J)], [dJ, J]])  # errors of the frame from those of the joints
    F, G = seen @ F @ np.linalg.pinv(seen), seen @ G
    return law(
        _resolved_motion_adaptive, reference=reference, model=robot, name=name, frame=frame, period=h,
        **_options(name, F, G, Q, R, forgetting, uncertainty, bias),
    )  # fmt: skip
