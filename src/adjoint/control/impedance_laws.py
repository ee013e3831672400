"""Impedance and admittance: a frame that yields to forces like a mass on a spring and a damper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..definite import positive_solve
from ..dynamics.coriolis import coriolis_matrix
from ..dynamics.newton_euler import inverse_dynamics
from ..errors import ArgumentError
from ..kinematics.forward import forward_kinematics
from ..kinematics.jacobians import jacobian_rate
from ..model.input_checks import positive
from ..model.robot import Robot
from .laws import Law, law, wrapped
from .references import PoseTarget
from .task_motion import (
    Motion,
    along_base,
    covariant,
    freedom,
    joint_accelerations,
    led_along,
    matrix_gains,
    motion_beside,
    rows,
    spring_wrench,
    task_of,
    task_parameters,
    times,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Yielding", "admittance", "impedance"]


def _natural_impedance(robot, p, state, t, q, v, reference):
    task = task_of(robot, q, v, p.frame, reference)
    places, free = rows(p.part), freedom(robot, p, q, v, task.J)
    A, A_rate = led_along(reference, task.T[:3, :3], task.twist[:3])
    v_led = free.inverse @ A[places]
    drift = jacobian_rate(robot, q, v, p.frame, "world")[places] @ v_led
    a = free.inverse @ (A_rate[places] - drift) + free.rest
    F = spring_wrench(task, p.stiffness, p.damping)
    # The Coriolis forces of the error's own motion stay: with them, and with them only, the energy cannot grow.
    return inverse_dynamics(robot, q, v, a) - coriolis_matrix(robot, q, v) @ (v - v_led) + free.J.T @ F[places], state


def _shaped_impedance(robot, p, state, t, q, v, reference):
    task = task_of(robot, q, v, p.frame, reference)
    F = along_base(task.T, p.wrench)
    forces = covariant(task.error, F) + times(p.damping, task.rate) + times(p.stiffness, task.error)
    second = -positive_solve(_matrix(p.inertia), forces)
    a = joint_accelerations(robot, p, q, v, motion_beside(reference, task.error, task.rate, second).acceleration)
    return inverse_dynamics(robot, q, v, a) - task.J.T @ F, state


def impedance(
    robot: Robot, reference, frame: str, *, stiffness, damping, inertia=None, part: str = "all",
    posture=None, null_kp: ArrayLike = 0.0, null_kd: ArrayLike = 1.0, singular_damping: float = 1e-3,
) -> Law:  # fmt: skip
    """Impedance control: forces move a frame away from its target like a mass, a spring and a damper.

        >>> goal = aj.forward_kinematics(robot, q, "tool")
        >>> soft = impedance(robot, goal, "tool", stiffness=500.0, damping=50.0)
        >>> tau, _ = soft(robot, None, 0.0, q, v)

    Let e = (φ, p_d - p) (6,), with R_d Rᵀ = exp(φ), be the error along the axes of the base, as for `operational`, and
    F the wrench (6,) [N m, N] on the frame, along the same axes, at the frame's origin. Without `inertia` no force is
    measured, and the frame keeps the inertia Λ_e = Bᵀ Λ B that it has, with its Coriolis forces:

        Λ_e ë + (C_e + D) ė + K e = -Bᵀ F.

    So ½ ėᵀ Λ_e ė + ½ eᵀ K e grows by the work of F only: the frame is passive, for every K and D, towards a target that
    moves, too. With a target at rest the law is τ = Jᵀ B⁻ᵀ (K e + D ė) and what compensates gravity and friction. With
    `inertia` M_d, the law needs the number `wrench`, and makes

        M_d ë + D ė + K e = -Bᵀ F.

    B = [J(φ) 0; 0 1] with J = `so3.right_jacobian`; it is 1 for translations, and for small rotations.

    Parameters
    ----------
    reference
        The pose to follow: a `PoseTrajectory`, a pose T (4, 4), or a function of t that gives a `PoseTarget`.
    stiffness, damping, inertia
        K [N m/rad, N/m], D [N m s/rad, N s/m] and M_d [kg m², kg]: numbers, (6,), or symmetric (6, 6), rotations first.
    part, posture, null_kp, null_kd, singular_damping
        As for `operational`. With a target at rest, and without `inertia`, they matter to redundant robots alone.

    The number `wrench` (6,), moment before force, acts on the robot and is seen from the frame; `simulate` feeds it.
    Reference: Hogan (1985), J. Dyn. Syst. Meas. Control 107(1); Caccavale, Siciliano & Villani (1999), "Six-DOF
    impedance control based on angle/axis representations", IEEE Trans. Robot. Autom. 15(2).
    """
    caller = "impedance"
    numbers = task_parameters(caller, robot, frame, part, posture, null_kp, null_kd, singular_damping)
    numbers |= {"stiffness": matrix_gains(stiffness, "impedance: stiffness")}
    numbers |= {"damping": matrix_gains(damping, "impedance: damping")}
    function = _natural_impedance
    if inertia is not None:
        function = _shaped_impedance
        numbers |= {"inertia": matrix_gains(inertia, "impedance: inertia", or_zero=False), "wrench": np.zeros(6)}
    return law(function, reference=reference, follows=PoseTarget, model=robot, name=caller, **numbers)


# --- admittance -------------------------------------------------------------------------------------------------------


class Yielding(NamedTuple):
    """How far a commanded pose yields: the offset z (6,) of `admittance` and its rate (6,)."""

    offset: Any
    rate: Any


def _admittance(inside, robot, p, state, t, q, v, reference):
    z, rate = state[0]
    M, D, K = _matrix(p.inertia), _matrix(p.damping), _matrix(p.stiffness)
    F = along_base(forward_kinematics(robot, q, p.frame), p.wrench)
    # The law holds at the end of the period, M z̈ + D ż' + K z' = Bᵀ F: so it is stable whatever the period is.
    h, pull = p.period, covariant(-z, F)
    second = positive_solve(M + h * D + h**2 * K, pull - D @ rate - K @ (z + h * rate))
    tau, inner = inside(state[1], t, q, v, _as_target(motion_beside(reference, -z, -rate, -second)))
    rate = rate + h * second
    return tau, (Yielding(z + h * rate, rate), inner)


def admittance(inner: Law, *, stiffness, damping, inertia, period: float) -> Law:
    """Admittance control: the measured wrench moves the pose that another law, the stiff one inside, follows.

        >>> goal = aj.forward_kinematics(robot, q, "tool")
        >>> stiff = aj.control.operational(robot, goal, "tool", kp=2500.0, kd=100.0)
        >>> soft = admittance(stiff, stiffness=500.0, damping=100.0, inertia=5.0, period=0.001)
        >>> tau, state = soft(robot, None, 0.0, q, v)

    The pose that `inner` is told to follow is offset from the reference by z = (ψ, d) (6,), along the axes of the base:
    R = exp(ψ) R_d, p = p_d + d. The offset yields to the wrench F on the frame, along the same axes, like

        M z̈ + D ż + K z = Bᵀ F,   B = [J(ψ) 0; 0 1],

    where J is `so3.left_jacobian`. The law inside gets the twist and the acceleration of this motion, too.

    Parameters
    ----------
    inner
        A law that follows poses and has the option `frame`, such as `operational`. Its reference is that of the whole.
    stiffness, damping, inertia
        K [N m/rad, N/m], D [N m s/rad, N s/m] and M [kg m², kg]: numbers, (6,), or symmetric (6, 6), rotations first.
        A stiffness of 0 lets the frame be led by the hand.
    period
        The time between two instants [s]. Over each the offset takes one step of the implicit Euler method, which is
        stable for every period; contact with a stiff environment is not: the loop through it has the delay of `inner`.

    The state is the pair of a `Yielding(offset, rate)` and the state of `inner`. The number `wrench` (6,), moment
    before force, acts on the robot and is seen from the frame; `simulate` feeds it. Reference: Siciliano & Villani,
    "Robot Force Control" (1999), 3.3.
    """
    caller = "admittance"
    if not isinstance(inner, Law) or inner.follows is not PoseTarget or "frame" not in dict(inner.parts.options):
        raise ArgumentError(f"{caller}: inner must be a law that follows poses with a frame, such as operational(...)")
    numbers = {"stiffness": stiffness, "damping": damping}
    numbers = {k: matrix_gains(x, f"{caller}: {k}") for k, x in numbers.items()}
    numbers |= {"inertia": matrix_gains(inertia, f"{caller}: inertia", or_zero=False), "wrench": np.zeros(6)}
    start = Yielding(np.zeros(6), np.zeros(6))
    return wrapped(
        inner, _admittance, state=start, name=caller, **numbers, period=positive(period, "admittance: period")
    )


def _as_target(motion: Motion) -> PoseTarget:
    """A motion along the axes of the base as a target: its body twist and the rate of that."""
    R, (w, v), (dw, dv) = motion.T[:3, :3], np.split(motion.twist, 2), np.split(motion.acceleration, 2)
    twist = np.concatenate([R.T @ w, R.T @ v])
    return PoseTarget(motion.T, twist, np.concatenate([R.T @ dw, R.T @ (dv - np.cross(w, v))]))


def _matrix(gain) -> Any:
    """A gain as a matrix (6, 6)."""
    return gain if np.ndim(gain) == 2 else np.eye(6) * gain
