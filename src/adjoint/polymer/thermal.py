"""Robots at a temperature: Fixman's potential and a Langevin integrator. Any consistent units do; kT is an energy.

A robot is a molecule whose bonds are rigid. In thermal equilibrium its configurations have the density
√det M(q) exp(-U(q)/kT), with respect to the Haar measure where joints turn freely in space. A molecule whose bonds are
stiff springs has the density √det G exp(-U/kT) instead, where G is the metric of all coordinates, which does not depend
on torsions. Fixman's potential ½ kT log det M makes up for the difference: M. Fixman (1974), "Classical statistical
mechanics of constraints", PNAS 71.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..display import shapes
from ..dynamics.factorization import mass_matrix_logdet, mass_matrix_logdet_gradient, random_velocity
from ..dynamics.forward import forward_dynamics
from ..errors import ArgumentError, SolveError
from ..model.configuration import integrate
from ..model.input_checks import count, positive, truth, vectors
from ..model.needs import need_robot
from ..model.robot import Robot
from ..randomness import Rng, generator

__all__ = ["BOLTZMANN", "Trajectory", "fixman_force", "fixman_potential", "langevin"]

BOLTZMANN = 0.8314462618
"""Boltzmann's constant [Da Å²/(ps² K)]: kT = BOLTZMANN · T in the units of molecules, 249.4 at 300 K."""

_ITERATIONS = (
    3  # for v_½; each makes the error about |v| dt times smaller, the angle by which a joint turns in one step
)
_LONGEST = 1.0  # [rad] the largest such angle; beyond it the iteration does not converge


def fixman_potential(robot: Robot, q, kT: float = 1.0):
    """Fixman's potential ½ kT log det M(q) (...), in the unit of kT, at q (..., nq).

    It makes the statistics of a molecule with rigid bonds those of one with stiff springs, if the metric G of all
    coordinates has a determinant that does not depend on q. See Fixman (1974), "Classical statistical mechanics of
    constraints", PNAS 71.

        U = fixman_potential(polymer.robot, q, kT=BOLTZMANN * 300)
    """
    return 0.5 * positive(kT, "fixman_potential: kT", or_zero=True) * mass_matrix_logdet(robot, q)


def fixman_force(robot: Robot, q, kT: float = 1.0) -> np.ndarray:
    """The generalized force τ (..., nv) = -½ kT ∂ log det M/∂q of `fixman_potential` at q (..., nq)."""
    return -0.5 * positive(kT, "fixman_force: kT", or_zero=True) * mass_matrix_logdet_gradient(robot, q)


class Trajectory(NamedTuple):
    """The states that `langevin` kept: times t (k,), configurations q (k, ..., nq) and velocities v (k, ..., nv)."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray

    def __repr__(self) -> str:
        replicas = int(np.prod(np.shape(self.q)[1:-1]))
        of = f" of {replicas} replicas" if np.ndim(self.q) > 2 else ""
        span = f"t = {self.t[0]:.4g} to {self.t[-1]:.4g}"
        return f"<Trajectory: {len(self.t)} states{of}, {span}; {shapes(q=self.q, v=self.v)}>"


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
    rng: Rng = None,
    check: bool = True,
) -> Trajectory:
    """The `Trajectory` from q (..., nq) and v (..., nv) in a heat bath: M a = τ - C v - γ M v + √(2 γ kT) M^½ noise.

        kT = BOLTZMANN * 300
        path = langevin(polymer.robot, polymer.q, v, dt=0.005, steps=1000, kT=kT, friction=0.5, rng=0)

    - `dt` is the time of one step and `steps` their number; the first state and every `every`-th one are kept.
    - `kT` is the temperature as an energy, and `friction` γ [1/time] the rate at which velocities forget their past;
      with γ = 0 there is no heat bath.
    - `torque` is a function of q (..., nq) that gives the forces (..., nv) besides gravity; `fixman=True` adds
      `fixman_force`.
    - `check=False` accepts steps that seem too long.

    All replicas (leading axes of q and v) move at once. Units are consistent; for a `Polymer` they are ps, Å and Da.

    Each step is one of Verlet's method: v_½ = v + ½ dt a(q, v_½), solved by iteration; q ← q ∘ exp(v_½ dt); and
    v ← v_½ + ½ dt a(q, v_½). It is of second order, and reversible as far as the iteration is exact. Then the bath
    acts: v ← c v + √(1 - c²) x with c = exp(-γ dt) and x ~ N(0, kT M⁻¹), which leaves that distribution of v as it is.

    An `ArgumentError` says that a step would turn joints by more than 1 rad, as it does if `dt` is in fs. A
    `SolveError` says that the steps diverged.
    """
    need_robot(robot, "langevin")
    dt, kT, friction = _numbers(dt, kT, friction, truth(fixman, "langevin: fixman"), torque)
    rng = generator(rng, "langevin")
    steps, every = count(steps, "langevin: steps"), count(every, "langevin: every")
    if every == 0:
        raise ArgumentError("langevin: every is 0; it must be at least 1")
    q, v = vectors(q, robot.nq, "q", "langevin"), vectors(v, robot.nv, "v", "langevin")
    turning = _turning(robot)
    if truth(check, "langevin: check"):
        _doubt_step(robot, q, v, turning, dt, kT if friction > 0 else 0.0)
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
            v = keep * v + np.sqrt(1 - keep**2) * random_velocity(robot, q, rng=rng, kT=kT)
        _need_small(v, turning, k, dt)
        if k % every == 0:
            found.append((k * dt, q, v))
    return Trajectory(*map(np.stack, zip(*found, strict=True)))


def _numbers(dt, kT, friction, fixman: bool, torque) -> tuple[float, float, float]:
    """dt, kT and friction as floats; an `ArgumentError` if they or `torque` are not what `langevin` needs."""
    dt = positive(dt, "langevin: dt")
    kT, friction = positive(kT, "langevin: kT", or_zero=True), positive(friction, "langevin: friction", or_zero=True)
    if (friction > 0 or fixman) and kT == 0:
        what = "friction" if friction > 0 else "fixman"
        raise ArgumentError(f"langevin: {what} needs a temperature; give kT > 0, such as BOLTZMANN * 300")
    if torque is not None and not callable(torque):
        raise ArgumentError(f"langevin: torque must be a function of q, got {type(torque).__name__}")
    return dt, kT, friction


# --- units ------------------------------------------------------------------------------------------------------------


def _turning(robot: Robot) -> np.ndarray:
    """Places in v of the degrees of freedom that turn."""
    at = robot.layout
    bodies = [i for i in range(len(robot.body_names)) if i not in robot.mimics]
    return np.array([at.v_start[i] + k for i in bodies for k, s in enumerate(robot.screw(i)) if s[:3].any()], int)


def _doubt_step(robot: Robot, q, v, turning: np.ndarray, dt: float, kT: float) -> None:
    """Raises an error if joints turn by more than 1 rad in a step, with v or with velocities of equilibrium at kT."""
    at_once = [v.reshape(-1, robot.nv)]
    if kT > 0 and q.size:
        at_once.append(random_velocity(robot, np.tile(q.reshape(-1, robot.nq)[0], (32, 1)), rng=0, kT=kT))
    for speeds in at_once:
        turned = dt * np.sqrt(np.mean(speeds[:, turning] ** 2, axis=0)).max(initial=0.0) if len(speeds) else 0.0
        if not turned <= _LONGEST:
            raise ArgumentError(
                f"langevin: a step of dt = {dt:g} turns joints by {turned:.3g} rad; at most {_LONGEST:g} is followed. "
                "Is dt in fs? Times of polymers are in ps, 1 fs = 0.001 ps (check=False takes it as it is)"
            )


def _need_small(v: np.ndarray, turning: np.ndarray, step: int, dt: float) -> None:
    """Raises an error if a joint turned by π or more in one step, or v is not finite: the steps diverge."""
    turned = np.abs(v[..., turning]).max(axis=-1, initial=0.0) * dt
    lost = ~((turned < np.pi) & np.isfinite(v).all(axis=-1))
    if lost.any():
        raise SolveError(
            f"langevin: step {step}, at time {step * dt:g}, turns joints by {turned.max():.3g} rad, in "
            f"{np.count_nonzero(lost)} of {lost.size} replicas: steps diverge; a shorter dt than {dt:g}, or smaller "
            "forces, may help"
        )


def _force(robot: Robot, q, kT: float, torque: Callable | None, fixman: bool) -> np.ndarray:
    """The generalized forces (..., nv) at q besides gravity: `torque(q)`, and Fixman's if asked for."""
    tau = np.zeros((*q.shape[:-1], robot.nv))
    if torque is not None:
        tau = vectors(torque(q), robot.nv, "torque(q)", "langevin")
    return tau + fixman_force(robot, q, kT) if fixman else tau
