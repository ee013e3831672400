"""The rate of a configuration's numbers, for solvers that know nothing of manifolds."""

from __future__ import annotations

import numpy as np

from ..compile import kernel, static
from ..model.configuration import integrate
from ..model.robot import Robot

__all__ = ["configuration_rates"]


@kernel(robot=static, q="nq", v="nv")
def configuration_rates(robot: Robot, q, v) -> np.ndarray:
    """The rate q̇ (nq,) of a configuration that moves with v (nv,); quaternions keep their length."""
    zero = np.zeros(robot.nv)
    return integrate.bind(robot).jvp(q=q, v=v, dt=0.0, q_dot=0 * q, v_dot=zero, dt_dot=1.0)[1]
