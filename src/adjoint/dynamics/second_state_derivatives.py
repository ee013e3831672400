"""Second derivatives of inverse and forward dynamics: as tensors, or as the Hessian of a weighted sum of torques.

The derivatives of inverse dynamics are taken on the graph of its O(n) recursion, those of forward dynamics follow from
them. Derivatives by q are derivatives by dq of `integrate(robot, q, dq)`, at dq = 0: these are symmetric also for
joints whose motions do not commute. The tensors have nv³ entries, the Hessians nv²; Newton's method and differential
dynamic programming need the latter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..model.configuration import integrate
from ..model.robot import Robot
from .forward import forward_dynamics, solve_mass_matrix
from .newton_euler import inverse_dynamics
from .state_derivatives import forward_dynamics_derivatives

__all__ = [
    "SecondDerivatives",
    "forward_dynamics_hessian",
    "forward_dynamics_second_derivatives",
    "inverse_dynamics_hessian",
    "inverse_dynamics_second_derivatives",
]


class SecondDerivatives(NamedTuple):
    """The second derivatives ∂²y_i/∂x_j∂x_k (nv, nv, nv), indices i, j, k, of y = τ with u = a, or of y = a with u = τ.

    `dqdq` and `dvdv` are symmetric in j and k. In `dvdq` the index j is that of v, in `dudq` that of u, and k is that
    of q. All others vanish: y is linear in u, and ∂²y/∂v∂u = 0. For a weighted sum w·y they are matrices (nv, nv), with
    the indices j, k.
    """

    dqdq: np.ndarray
    dvdq: np.ndarray
    dvdv: np.ndarray
    dudq: np.ndarray


@kernel(robot=static, q="nq", x=(3, "nv"))
def _torque_of_all(robot: Robot, q, x) -> np.ndarray:
    """The torque τ of the rows of x, which are dq, v and a; q is moved by dq."""
    dq, v, a = x
    return inverse_dynamics(robot, integrate(robot, q, dq), v, a)


@kernel(robot=static, q="nq", x=(3, "nv"), weights="nv")
def _weighted_torque(robot: Robot, q, x, weights) -> np.ndarray:
    """The weighted sum of the torques `_torque_of_all`."""
    return np.dot(weights, _torque_of_all(robot, q, x))


def _at(robot, v, a):
    """The rows dq = 0, v and a of x."""
    return np.stack([np.zeros(robot.nv), v, a])


@kernel(robot=static, q="nq", v="nv", a="nv")
def inverse_dynamics_second_derivatives(robot: Robot, q, v, a) -> SecondDerivatives:
    """The second derivatives of `inverse_dynamics(robot, q, v, a)`, as `SecondDerivatives` (nv, nv, nv) with u = a.

    q is (nq,), v and a are (nv,). `dudq[:, :, k]` is ∂M/∂q_k.

        >>> dM = inverse_dynamics_second_derivatives(robot, q, v, a).dudq
    """
    H = _torque_of_all.bind(robot).hessian("x")(q, _at(robot, v, a))
    return SecondDerivatives(H[:, 0, :, 0], H[:, 1, :, 0], H[:, 1, :, 1], H[:, 2, :, 0])


@kernel(robot=static, q="nq", v="nv", a="nv", weights="nv")
def inverse_dynamics_hessian(robot: Robot, q, v, a, weights) -> SecondDerivatives:
    """The second derivatives of weights · inverse_dynamics(robot, q, v, a), as `SecondDerivatives` (nv, nv) with u = a.

    q is (nq,), v, a and `weights` are (nv,). The tensors (nv, nv, nv) are not formed.

        >>> H = inverse_dynamics_hessian(robot, q, v, a, weights).dqdq
    """
    H = _weighted_torque.bind(robot).hessian("x")(q, _at(robot, v, a), weights)
    return SecondDerivatives(H[0, :, 0], H[1, :, 0], H[1, :, 1], H[2, :, 0])


@kernel(robot=static, q="nq", v="nv", tau="nv")
def forward_dynamics_second_derivatives(robot: Robot, q, v, tau) -> SecondDerivatives:
    """The second derivatives of `forward_dynamics(robot, q, v, tau)`, as `SecondDerivatives` (nv, nv, nv) with u = τ.

    q is (nq,), v and tau are (nv,). They follow from the identity τ(q, v, a(q, v, τ)) = τ: M ∂²a = -∂²τ - ∂M ∂a - (∂M
    ∂a)ᵀ at that a, with M acting on the first index.

        >>> second = forward_dynamics_second_derivatives(robot, q, v, tau)
    """
    first = forward_dynamics_derivatives(robot, q, v, tau)
    second = inverse_dynamics_second_derivatives(robot, q, v, forward_dynamics(robot, q, v, tau))

    def along(x):
        """Σ_m ∂M_im/∂q_k x_mj: indices i, j, k."""
        return np.einsum("imk,mj->ijk", second.dudq, x)

    by_q = along(first.dq)
    sums = second.dqdq + by_q + np.swapaxes(by_q, 1, 2), second.dvdq + along(first.dv), second.dvdv, along(first.dtau)
    return SecondDerivatives(*(-np.einsum("il,ljk->ijk", first.dtau, x) for x in sums))


@kernel(robot=static, q="nq", v="nv", tau="nv", weights="nv")
def forward_dynamics_hessian(robot: Robot, q, v, tau, weights) -> SecondDerivatives:
    """The second derivatives of weights · forward_dynamics(robot, q, v, tau), as `SecondDerivatives` (nv, nv), u = τ.

    q is (nq,), v, tau and `weights` w are (nv,). The tensors (nv, nv, nv) are not formed: the result is the Hessian of
    inverse dynamics with the weights -M⁻¹ w, and ∂M ∂a with these weights on its first index.

        >>> H = forward_dynamics_hessian(robot, q, v, tau, weights).dqdq
    """
    first = forward_dynamics_derivatives(robot, q, v, tau)
    other = -solve_mass_matrix(robot, q, weights)
    second = inverse_dynamics_hessian(robot, q, v, forward_dynamics(robot, q, v, tau), other)
    by_q = first.dq.T @ second.dudq
    return SecondDerivatives(
        second.dqdq + by_q + by_q.T, second.dvdq + first.dv.T @ second.dudq, second.dvdv, first.dtau @ second.dudq
    )
