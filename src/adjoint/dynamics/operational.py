"""The dynamics as a frame feels it: Λ V̇ + μ + p = F, the equation of motion in operational space.

Khatib (1987), "A unified approach for motion and force control of robot manipulators: the operational space
formulation", IEEE J. Robot. Autom. 3(1). V = J v is the frame's twist, and F is the wrench on it. Λ⁻¹ = J M⁻¹ Jᵀ = Yᵀ Y
with Y = Ω^(-1/2) W⁻¹ Jᵀ comes from the factors M = W Ω Wᵀ of Ploen & Park (1999), Proposition 1, so that M is never
inverted.

At a singularity the frame cannot accelerate in some direction, Λ⁻¹ has an eigenvalue 0, and Λ does not exist: its
entries are infinite, NaN or mere rounding, in that sample of a batch and in no other. `damping` d > 0 gives the inertia

    Λ_d = (Λ⁻¹ + d² B)⁻¹,   B = diag(b_w, b_w, b_w, b_v, b_v, b_v),

where b_w and b_v are the mean eigenvalues of the rotational [1/(kg m²)] and the translational block [1/kg] of Λ⁻¹. So d
is a pure number, whatever the units and the directions of the axes. Λ_d is smooth in q, not larger than 1/(d² b) in
each block, and Λ - Λ_d = d² Λ_d B Λ away from singularities. With d = 0 all is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..kinematics.dexterity import PARTS, part_of
from ..kinematics.jacobians import frame_acceleration, jacobian
from ..model.robot import Robot
from .factorization import factor, inverse_factored, mass_matrix_factors, solve_factored, sqrt_solve_factored
from .newton_euler import bias_force, gravity_torque

__all__ = ["OperationalSpace", "inertia_of_rows", "null_space_projector", "operational_space"]


class OperationalSpace(NamedTuple):
    """The inertia Λ (r, r), μ and p (r,) of Λ V̇ + μ + p = F, and the inverse J̄ = M⁻¹ Jᵀ Λ (nv, r) of J.

    r is 6, or 3 for a part of the twist. `bias` is μ, the velocity's part, and `gravity` is p.
    """

    inertia: np.ndarray
    bias: np.ndarray
    gravity: np.ndarray
    inverse: np.ndarray


_options = {"frame": static, "expressed": static, "part": static}


@kernel(robot=static, q="nq", v="nv", gravity=3, **_options)
def operational_space(
    robot: Robot, q, v, frame: str, expressed: str = "body", part: str = "all", *, damping=0.0, gravity=None
) -> OperationalSpace:
    """The equation of motion Λ V̇ + μ + p = F of a frame's twist V under the torques τ = Jᵀ F, as an `OperationalSpace`.

    μ = J̄ᵀ (C v + friction) - Λ J̇ v and p = J̄ᵀ φ. The matrix J̄ = M⁻¹ Jᵀ Λ is the inverse of J of least kinetic energy,
    so that the frame moves with V if the joints move with v = J̄ V.

        >>> task = operational_space(robot, q, v, "tool", "world")
        >>> F = task.inertia @ np.zeros(6) + task.bias + task.gravity       # the wrench that keeps the twist constant
        >>> tau = jacobian(robot, q, "tool", "world").T @ F

    q is (nq,), v is (nv,), `frame` is a name, and `expressed` is as for `jacobian`. `part` "rotation" or "translation"
    keeps the moments or the forces only, so that r = 3. `damping` is a pure number that keeps everything finite and
    smooth at singularities: Λ_d = (Λ⁻¹ + d² B)⁻¹, with the mean eigenvalues of the blocks of Λ⁻¹ in B. A robot that
    cannot move the frame in all r directions is always at a singularity. `gravity` (3,) [m/s²] is the robot's own by
    default. Reference: Khatib (1987).
    """
    _, Lambda, inverse = _inertia(robot, q, frame, expressed, part, damping)
    Jdot_v = frame_acceleration(robot, q, v, np.zeros(robot.nv), frame, expressed)[PARTS[part]]
    velocity_force = bias_force(robot, q, v, gravity=np.zeros(3))
    bias = inverse.T @ velocity_force - Lambda @ Jdot_v
    return OperationalSpace(Lambda, bias, inverse.T @ gravity_torque(robot, q, gravity=gravity), inverse)


@kernel(robot=static, q="nq", **_options)
def null_space_projector(
    robot: Robot, q, frame: str, expressed: str = "body", part: str = "all", *, damping=0.0
) -> np.ndarray:
    """The projector N = 1 - Jᵀ J̄ᵀ (nv, nv): torques Jᵀ F + N τ_0 accelerate the frame as F alone does, whatever τ_0 is.

    Arguments are those of `operational_space`. With damping, the frame feels the torques N τ_0 a little.

        >>> N = null_space_projector(robot, q, "tool")
    """
    J, _, inverse = _inertia(robot, q, frame, expressed, part, damping)
    return np.eye(robot.nv) - J.T @ inverse.T


def _inertia(robot, q, frame: str, expressed: str, part: str, damping):
    """J (r, nv), Λ (r, r) and J̄ = M⁻¹ Jᵀ Λ (nv, r)."""
    J = part_of(jacobian(robot, q, frame, expressed), part)
    return J, *inertia_of_rows(robot, q, J, (3,) * (len(J) // 3), damping)


def inertia_of_rows(robot: Robot, q, J, blocks: tuple[int, ...], damping) -> tuple:
    """Λ (r, r) and J̄ = M⁻¹ Jᵀ Λ (nv, r) of any rows J (r, nv) of a Jacobian.

    `blocks` are the numbers of rows that follow one another and have the same unit: B has a mean eigenvalue for each.
    """
    factors = mass_matrix_factors(robot, q)
    Y = sqrt_solve_factored(factors, J.T)
    mobility = Y.T @ Y
    Lambda = inverse_factored(factor(mobility + damping**2 * _mean_mobility(mobility, blocks)))
    return Lambda, solve_factored(factors, J.T) @ Lambda


def _mean_mobility(mobility, blocks: tuple[int, ...]):
    """B (r, r) = diag(b, b, b, ...), where b is the mean eigenvalue of each block on the diagonal of Λ⁻¹."""
    ends = np.cumsum(blocks)
    means = [
        np.trace(mobility[end - n : end, end - n : end]) / n * np.ones(n) for n, end in zip(blocks, ends, strict=True)
    ]
    return np.eye(len(mobility)) * np.concatenate(means)
