"""A frame beside its target: errors of rotation and translation, motions that have given errors, and joint motions.

All is seen along the axes of the robot's base, rotations before translations, at the origin of the frame ("world" of
`jacobian`). A frame at T = [R p; 0 1] with a target at T_d = [R_d p_d; 0 1] has the error

    e = (φ, p_d - p) (6,) [rad, m],   R_d Rᵀ = exp(φ),   |φ| <= π.

With the target's body twist (w_d, v_d), the frame's twist V = (ω, ṗ) follows from the rate of the error, exactly:

    V = A - B ė,   A = (R w_d, R_d v_d),   B = [J(φ) 0; 0 1],

where J is `so3.right_jacobian`. A is the twist of a frame that goes with the target. Forces that work against e are
Bᵀ F for a wrench F: F · V = F · A - (Bᵀ F) · ė.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..dynamics.operational import inertia_of_rows
from ..errors import ArgumentError
from ..kinematics.forward import forward_kinematics
from ..kinematics.jacobians import frame_acceleration, jacobian
from ..lie import so3
from ..model.configuration import difference
from ..model.input_checks import floats, positive, vectors
from ..model.needs import need_robot
from ..model.robot import Robot
from .gains import gains
from .references import PoseTarget
from .resolution import rows_of_part

__all__ = [
    "Freedom",
    "Motion",
    "Task",
    "along_base",
    "covariant",
    "freedom",
    "joint_accelerations",
    "led_along",
    "matrix_gains",
    "motion_beside",
    "rows",
    "spring_wrench",
    "task_of",
    "task_parameters",
    "times",
]


class Task(NamedTuple):
    """A frame and its error at one instant, along the axes of the base."""

    T: Any  # (4, 4)
    J: Any  # (6, nv), "world"
    twist: Any  # V (6,)
    error: Any  # e (6,)
    rate: Any  # ė (6,)


class Motion(NamedTuple):
    """A pose T (4, 4), its twist V (6,) and the rate V̇ (6,) of that, along the axes of the base."""

    T: Any
    twist: Any
    acceleration: Any


def task_of(robot: Robot, q, v, frame: str, reference: PoseTarget) -> Task:
    """The frame beside its target."""
    T, J = forward_kinematics(robot, q, frame), jacobian(robot, q, frame, "world")
    V, R, R_d = J @ v, T[:3, :3], reference.T[:3, :3]
    phi = so3.log(R_d @ R.T)
    phi_rate = so3.right_jacobian_inv(phi) @ (R @ reference.twist[:3] - V[:3])
    error = np.concatenate([phi, reference.T[:3, 3] - T[:3, 3]])
    return Task(T, J, V, error, np.concatenate([phi_rate, R_d @ reference.twist[3:] - V[3:]]))


def led_along(reference: PoseTarget, R, omega) -> tuple:
    """A and Ȧ (6,): the twist of a frame that goes with the target, while the frame turns with ω from R (3, 3)."""
    R_d, (w, v), (dw, dv) = reference.T[:3, :3], _halves(reference.twist), _halves(reference.acceleration)
    turning = R @ w
    A = np.concatenate([turning, R_d @ v])
    return A, np.concatenate([np.cross(omega, turning) + R @ dw, R_d @ (dv + np.cross(w, v))])


def motion_beside(reference: PoseTarget, e, rate, second) -> Motion:
    """The motion of a frame with the error e and its derivatives ė and ë (6,)."""
    phi, phi_rate = e[:3], rate[:3]
    R, J = so3.exp(-phi) @ reference.T[:3, :3], so3.right_jacobian(phi)
    omega = R @ reference.twist[:3] - J @ phi_rate
    A, A_rate = led_along(reference, R, omega)
    J_rate = so3.right_jacobian.jvp(phi, phi_rate)[1]
    p = reference.T[:3, 3] - e[3:]
    T = np.concatenate([np.concatenate([R, p[:, None]], axis=1), np.array([[0.0, 0, 0, 1]])])
    V_rate = A_rate - np.concatenate([J @ second[:3] + J_rate @ phi_rate, second[3:]])
    return Motion(T, A - np.concatenate([J @ phi_rate, rate[3:]]), V_rate)


def covariant(e, F) -> Any:
    """Bᵀ F (6,): the forces against the error e that a wrench F (6,) amounts to."""
    return np.concatenate([so3.right_jacobian(e[:3]).T @ F[:3], F[3:]])


def spring_wrench(task: Task, stiffness, damping) -> Any:
    """The wrench B⁻ᵀ (K e + D ė) (6,) of a spring and a damper between the frame and its target."""
    pull = times(stiffness, task.error) + times(damping, task.rate)
    return np.concatenate([so3.right_jacobian_inv(task.error[:3]).T @ pull[:3], pull[3:]])


def along_base(T, x) -> Any:
    """A twist or a wrench x (6,) along the axes of the base, if x is seen along the axes of a frame at T (4, 4)."""
    return np.concatenate([T[:3, :3] @ x[:3], T[:3, :3] @ x[3:]])


def _halves(x) -> tuple:
    return x[:3], x[3:]


# --- motions of joints ------------------------------------------------------------------------------------------------


class Freedom(NamedTuple):
    """How joints move some of a frame's axes: the rows J (r, nv) of its Jacobian, their inverse J̄ (nv, r), the rest.

    `rest` (nv,) is the acceleration of joints that the rows do not feel: (1 - J̄ J) (null_kp (posture - q) - null_kd v).
    """

    J: Any
    inverse: Any
    rest: Any


def rows(part: str) -> list[int]:
    """The places in a twist that `part` names, in the order of the twist."""
    return sorted(rows_of_part(part))


def freedom(robot: Robot, p, q, v, J) -> Freedom:
    """The `Freedom` of joints, if the components p.part of J (6, nv) are controlled."""
    J, n = J[rows(p.part)], len(rows(p.part))
    turns = sum(k < 3 for k in rows(p.part))
    blocks = tuple(size for size in (turns, n - turns) if size)
    _, inverse = inertia_of_rows(robot, q, J, blocks, p.singular_damping)
    if robot.nv <= n:
        return Freedom(J, inverse, np.zeros(robot.nv))
    a = -p.null_kd * v
    if p.posture is not None:
        a = a + p.null_kp * difference(robot, q, p.posture)
    return Freedom(J, inverse, a - inverse @ (J @ a))


def joint_accelerations(robot: Robot, p, q, v, V_rate, turn=None) -> Any:
    """Joint accelerations (nv,) that give the frame the rate V̇ (6,) of its twist, in the components p.part.

    With `turn` (6, 6), V̇ and its components are those along other axes, to which it takes twists.
    """
    J = jacobian(robot, q, p.frame, "world")
    drift = frame_acceleration(robot, q, v, np.zeros(robot.nv), p.frame, "world")
    if turn is not None:
        J, drift = turn @ J, turn @ drift
    free = freedom(robot, p, q, v, J)
    return free.inverse @ (V_rate - drift)[rows(p.part)] + free.rest


# --- arguments of laws ------------------------------------------------------------------------------------------------


def task_parameters(caller: str, robot, frame, part, posture, null_kp, null_kd, singular_damping) -> dict[str, Any]:
    """The parameters that all laws of this kind share, checked."""
    need_robot(robot, caller)
    robot.frame(frame)  # raises an error that lists the frames
    damping = positive(singular_damping, f"{caller}: singular_damping", or_zero=True)
    if len(rows(part)) > robot.nv and damping == 0:
        raise ArgumentError(
            f"{caller}: the {robot.nv} degrees of freedom of robot '{robot.name}' cannot meet {len(rows(part))} "
            "components of a twist; name fewer of them by `part`, such as 'x y'"
        )
    return {
        "frame": frame,
        "part": part,
        "posture": None if posture is None else vectors(posture, robot.nq, "posture", caller),
        "null_kp": gains(null_kp, robot.nv, f"{caller}: null_kp", or_zero=True),
        "null_kd": gains(null_kd, robot.nv, f"{caller}: null_kd", or_zero=True),
        "singular_damping": damping,
    }


def matrix_gains(value, label: str, *, or_zero: bool = True) -> np.ndarray:
    """Gains as one number, (6,), or a symmetric matrix (6, 6), positive, or semidefinite with `or_zero`."""
    found = floats(value)
    if found.ndim != 2:
        return gains(value, 6, label, or_zero=or_zero)
    if found.shape != (6, 6) or not np.isfinite(found).all():
        raise ArgumentError(f"{label} has shape {found.shape}; it must be finite numbers (6, 6), (6,), or one")
    largest, uneven = np.abs(found).max(), np.abs(found - found.T).max()
    if uneven > 1e-9 * largest:
        raise ArgumentError(f"{label} must be symmetric; its entries differ by up to {uneven:g}")
    least = np.linalg.eigvalsh(found)[0]
    if least < (-1e-12 if or_zero else 1e-12) * largest or (not or_zero and largest == 0):
        raise ArgumentError(f"{label} must be positive {'semi' * or_zero}definite; its least eigenvalue is {least:g}")
    return found


def times(gain, x) -> Any:
    """The product of gains, which are one number, (n,) or (n, n), and x (n,)."""
    return gain @ x if np.ndim(gain) == 2 else gain * x
