"""Robots at a temperature: Fixman's potential and a Langevin integrator. Any consistent units; kT is an energy.

A robot is a molecule whose bonds are rigid. In thermal equilibrium its configurations have the density
√det M(q) exp(-U(q)/kT) (Haar measure, where joints turn freely in space); bonds that are stiff springs instead have
√det G exp(-U/kT), G the metric of all coordinates, which does not depend on torsions. Fixman's potential
½ kT log det M makes up for the difference: M. Fixman (1974), "Classical statistical mechanics of constraints", PNAS 71.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..dynamics.factorization import mass_matrix_logdet, mass_matrix_logdet_gradient, random_velocity
from ..dynamics.forward import forward_dynamics
from ..errors import ArgumentError
from ..robot.configuration import integrate
from ..robot.model import Robot
from ..robot.numbers import count, generator

__all__ = ["BOLTZMANN", "Trajectory", "fixman_force", "fixman_potential", "langevin"]

BOLTZMANN = 0.8314462618
"""Boltzmann's constant [Da Å²/(ps² K)]: kT = BOLTZMANN · T in the units of molecules, 249.4 at 300 K."""

_ITERATIONS = 3  # each wins a factor |v| dt, the angle of one step


def fixman_potential(robot: Robot, q, kT: float = 1.0):
    """½ kT log det M(q) (...) at q (..., nq), an energy like kT: Fixman (1974), where det G does not depend on q."""
    return 0.5 * kT * mass_matrix_logdet(robot, q)


def fixman_force(robot: Robot, q, kT: float = 1.0):
    """τ (..., nv) = -½ kT ∂ log det M/∂q, the generalized force of `fixman_potential`."""
    return -0.5 * kT * mass_matrix_logdet_gradient(robot, q)


class Trajectory(NamedTuple):
    """Times t (k,), configurations q (k, ..., nq) and velocities v (k, ..., nv)."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray


def langevin(
    robot: Robot,
    q,
    v,
    *,
    dt: float,
    steps: int,
    kT: float = 0.0,
    friction: float = 0.0,
    torque: Callable | None = None,
    fixman: bool = False,
    every: int = 1,
    rng: np.random.Generator | int | None = None,
) -> Trajectory:
    """Motion from q (..., nq), v (..., nv) in a heat bath: M a = τ - C v - γ M v + √(2 γ kT) M^½ noise.

    `torque(q)` (..., nv) are the forces besides gravity; `fixman` adds `fixman_force`. `friction` γ [1/time] is
    how fast velocities forget; γ = 0 is the motion without a bath. One state in `every` is kept, and the first.

    Each step is one of Verlet's method: v_½ = v + ½ dt a(q, v_½) by iteration, q ← q ∘ exp(v_½ dt), and
    v ← v_½ + ½ dt a(q, v_½); of second order, and reversible as far as the iteration is exact. Then the bath:
    v ← c v + √(1 - c²) x, c = exp(-γ dt), x ~ N(0, kT M⁻¹), which leaves that distribution as it is.
    All replicas (leading axes) move at once.
    """
    _check(dt, kT, friction, fixman, every)
    rng = generator(rng, "langevin")
    steps, every = count(steps, "langevin: steps"), count(every, "langevin: every")
    q, v = np.asarray(q, float), np.asarray(v, float)
    keep, tau = np.exp(-friction * dt), _force(robot, q, kT, torque, fixman)
    found = [(0.0, q, v)]
    for k in range(1, steps + 1):
        half = v
        for _ in range(_ITERATIONS):
            half = v + 0.5 * dt * forward_dynamics(robot, q, half, tau)
        q = integrate(robot, q, half, dt)
        tau = _force(robot, q, kT, torque, fixman)
        v = half + 0.5 * dt * forward_dynamics(robot, q, half, tau)
        if friction > 0:
            v = keep * v + np.sqrt(1 - keep**2) * random_velocity(robot, q, rng, kT)
        if k % every == 0:
            found.append((k * dt, q, v))
    return Trajectory(*map(np.stack, zip(*found, strict=True)))


def _check(dt: float, kT: float, friction: float, fixman: bool, every: int) -> None:
    if every == 0:
        raise ArgumentError("langevin: every is 0; it must be at least 1")
    if not (dt > 0 and kT >= 0 and friction >= 0 and np.isfinite([dt, kT, friction]).all()):
        raise ArgumentError(f"langevin: dt {dt}, kT {kT}, friction {friction}; dt > 0 and the others >= 0 are needed")
    if (friction > 0 or fixman) and kT == 0:
        what = "friction" if friction > 0 else "fixman"
        raise ArgumentError(f"langevin: {what} needs a temperature; give kT > 0, such as BOLTZMANN * 300")


def _force(robot: Robot, q, kT: float, torque: Callable | None, fixman: bool) -> np.ndarray:
    tau = np.zeros((*q.shape[:-1], robot.nv)) if torque is None else np.asarray(torque(q), float)
    return tau + fixman_force(robot, q, kT) if fixman else tau
