"""The torque at one instant as a function of z = (q, v, a), with derivatives of first and second order.

All functions take N instants at once, as arrays (N, n). The torque is that of `inverse_dynamics`, but with the smooth
f tanh(v / v_s) in place of dry friction f sign(v): an optimiser needs derivatives where a joint changes its direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compile import Kernel, kernel, static
from ..dynamics.newton_euler import inverse_dynamics
from ..dynamics.state_derivatives import inverse_dynamics_derivatives
from ..lazy import cached_property
from ..model.once import once_a_robot
from ..model.robot import Robot

__all__ = ["Torque", "true_torque"]


@kernel(robot=static, q="nq", v="nv", a="nv", w="nv")
def weighted_torque(robot: Robot, q, v, a, w) -> Any:
    """The sum w · τ of the torques τ of `inverse_dynamics`, with weights w (nv,)."""
    return np.dot(w, inverse_dynamics(robot, q, v, a))


@once_a_robot
def without_limits(robot: Robot) -> Robot:
    """The robot without limits and without dry friction, so that robots with other limits share its machine code."""
    return robot.replace(friction=0.0, lower=-np.inf, upper=np.inf, velocity_limit=np.inf, effort_limit=np.inf)


def true_torque(robot: Robot, q, v, a) -> np.ndarray:
    """The torque (..., n) of `inverse_dynamics`, with dry friction f sign(v)."""
    tau = inverse_dynamics(without_limits(robot), q, v, a)
    return tau + robot.friction * np.sign(v) if robot.friction.any() else tau


@dataclass(frozen=True, eq=False)
class Torque:
    """The torque τ(z) of a robot and its derivatives; `slow` (n,) are the speeds v_s at which dry friction sets in."""

    robot: Robot
    slow: np.ndarray

    @cached_property
    def _robot(self) -> Robot:
        """The robot whose machine code is used."""
        return without_limits(self.robot)

    @cached_property
    def _gradient_along(self) -> Kernel:
        """A kernel that gives the gradient of w · τ and the derivative of this gradient along a direction."""
        return weighted_torque.bind(self._robot).jacobian("q", "v", "a").jvp

    @cached_property
    def coupled(self) -> np.ndarray:
        """(n, n) whether τ_i depends on the motion of joint j, as seen at a random z; false between branches."""
        n = self.robot.nv
        J = self.jacobian(*np.random.default_rng(0).normal(size=(3, 1, n)))
        return np.asarray(J.reshape(n, 3, n).any(axis=1))

    def value(self, q, v, a) -> np.ndarray:
        """The torques τ (N, n)."""
        return inverse_dynamics(self._robot, q, v, a) + self.robot.friction * np.tanh(v / self.slow)

    def jacobian(self, q, v, a) -> np.ndarray:
        """The derivatives ∂τ/∂z (N, n, 3n)."""
        dq, dv, da = inverse_dynamics_derivatives(self._robot, q, v, a)
        rounding = self.robot.friction / self.slow * (1 - np.tanh(v / self.slow) ** 2)
        return np.concatenate([dq, dv + rounding[:, :, None] * np.eye(v.shape[1]), da], axis=2)

    def curvature(self, q, v, a, w) -> np.ndarray:
        """The second derivatives ∂²(w · τ)/∂z² (N, 3n, 3n), from derivatives of the gradient along all axes of q and v.

        The blocks (a, a) and (a, v) are zero, as τ is linear in a and no term has both a and v.
        """
        n = q.shape[1]
        none, axes = np.zeros((2 * n, n)), np.eye(2 * n)
        along = self._gradient_along(*(x[:, None] for x in (q, v, a, w)), axes[:, :n], axes[:, n:], none, none)
        rows = np.concatenate(along[3:], axis=2)  # (N, 2n, 3n)
        K = np.concatenate([rows, np.zeros((len(q), n, 3 * n))], axis=1)
        K[:, 2 * n :, : 2 * n] = rows[:, :, 2 * n :].swapaxes(1, 2)
        turn = np.tanh(v / self.slow)
        rounding = -2 * w * self.robot.friction / self.slow**2 * turn * (1 - turn**2)
        K[:, n : 2 * n, n : 2 * n] += rounding[:, :, None] * np.eye(n)
        return K
