"""The kinetic energy at one instant as a function of q and v, with derivatives of first and second order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...compile import Kernel
from ...dynamics.composite import mass_matrix
from ...dynamics.energy import kinetic_energy
from ...lazy import cached_property
from ...model.robot import Robot
from ..torque import without_limits

__all__ = ["Kinetic"]


@dataclass(frozen=True, eq=False)
class Kinetic:
    """The kinetic energy ½ vᵀ M(q) v [J] of a robot at N instants, given as arrays q and v (N, n)."""

    robot: Robot

    @cached_property
    def _robot(self) -> Robot:
        """The robot whose machine code is used."""
        return without_limits(self.robot)

    @cached_property
    def _kernels(self) -> tuple[Kernel, Kernel, Kernel]:
        """The gradient by q and v, the second derivative by q, and that by q and v."""
        energy = kinetic_energy.bind(self._robot)
        return energy.jacobian("q", "v"), energy.hessian("q"), energy.hessian("q", "v")

    def value(self, q, v) -> np.ndarray:
        """The energies (N,)."""
        return kinetic_energy(self._robot, q, v)

    def gradient(self, q, v) -> np.ndarray:
        """The derivatives (N, 2n) by (q, v)."""
        return np.concatenate(self._kernels[0](q, v), axis=1)

    def hessian(self, q, v) -> np.ndarray:
        """The second derivatives (N, 2n, 2n) by (q, v); the block of v is the mass matrix."""
        mixed = self._kernels[2](q, v)
        return np.block([[self._kernels[1](q, v), mixed], [mixed.swapaxes(1, 2), mass_matrix(self._robot, q)]])
