"""Friction in joints: a smooth force, and dry friction that really holds.

Joints have two kinds of friction already, `robot.damping` and `robot.friction`, which `forward_dynamics` takes as
damping · v + friction · sign(v). What is here adds to it (`friction`) or takes its place (`dry_friction`):

- `friction` is a force without a jump at v = 0. Nothing sticks: a loaded joint creeps at a speed that is stated. Use it
  with any integrator, with `robot.friction` at 0.
- `dry_friction` is an integrator that treats `robot.friction` exactly: joints stick, v = 0 to the last bit, until the
  load exceeds the limit. Other integrators take friction · sign(v) as it is, which chatters about v = 0 by one step's
  impulse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compile import scan
from ..control.gains import at_least_zero, fit_joints
from ..dynamics.closed_loops import proximal_solve
from ..errors import ArgumentError
from ..model.configuration import integrate
from ..model.input_checks import count, positive
from ..model.robot import Robot
from .forces import Force, force
from .integrators import Integrator

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["dry_friction", "friction"]


def _friction(robot, p, t, q, v):
    for name in ("viscous", "coulomb", "stribeck", "stribeck_velocity", "smoothing"):
        fit_joints(robot, p, "friction", name)
    level = p.coulomb + p.stribeck * np.exp(-((v / p.stribeck_velocity) ** 2))
    return -p.viscous * v - level * v / np.sqrt(v * v + p.smoothing**2)


def friction(
    *, viscous: ArrayLike = 0.0, coulomb: ArrayLike = 0.0, stribeck: ArrayLike = 0.0,
    stribeck_velocity: ArrayLike = 0.1, smoothing: ArrayLike = 1e-3,
) -> Force:  # fmt: skip
    """Smooth friction in the joints, a `Force` for `simulate`:

        τ = -viscous · v - (coulomb + stribeck · exp(-(v/v_s)²)) · v/√(v² + ε²).

    `coulomb` [N m, N] is the friction of a joint that slides fast, `stribeck` [N m, N] what it has more when it begins
    to slide, which fades with the speed v_s, `stribeck_velocity` [rad/s, m/s]. `viscous` is in N m s/rad, N s/m. Each
    is one number or (nv,); `replace` takes batches.

    The sign of v is smoothed over speeds of ε, `smoothing` [rad/s, m/s]. So no joint sticks: under a load of r times
    coulomb + stribeck, r < 1, it creeps at v = ε r/√(1 - r²), if ε is far below v_s. About v = 0 friction is a damper
    of (coulomb + stribeck)/ε: with semi-implicit steps dt below ε · inertia/(coulomb + stribeck) is safe, and twice
    that is unstable. The robot's own `damping` and `friction` act besides. (Armstrong-Hélouvry, Dupont and Canudas de
    Wit, 1994, Automatica 30(7), have the curve; `dry_friction` holds joints without creep.)

        >>> rough = friction(coulomb=2.0, stribeck=1.0, viscous=0.1, smoothing=0.01)
        >>> run = aj.simulation.simulate(robot, q=q, v=v, duration=0.1, dt=1e-4, forces=rough)
    """
    given = {"viscous": viscous, "coulomb": coulomb, "stribeck": stribeck}
    given = {name: at_least_zero(x, name, "friction") for name, x in given.items()}
    scales = {"stribeck_velocity": stribeck_velocity, "smoothing": smoothing}
    scales = {name: at_least_zero(x, name, "friction", above=True) for name, x in scales.items()}
    return force(_friction, frame=None, name="friction", **given, **scales)


@dataclass(frozen=True)
class _DryFriction:
    """The step of `dry_friction`; its numbers are fixed in the machine code."""

    sweeps: int
    breakaway: float
    stribeck_velocity: float

    def __call__(self, robot: Robot, acceleration, t, q, v, h, impulses) -> tuple:
        limit = h * self._limits(robot, v)
        own = robot.friction * np.sign(v)  # what the accelerations have of dry friction; it is taken out of them
        a = acceleration(t, q, v, own)
        free = v + h * a

        def response(carry, unit):
            """A row of the mobility: what a unit of force at one joint adds to the accelerations of all."""
            return carry, acceleration(t, q, v, own + unit) - a

        _, K = scan(response, 0.0, np.eye(robot.nv))  # it is symmetric
        impulses = _gauss_seidel(K, free, limit, np.clip(impulses, -limit, limit), self.sweeps)
        sticks = np.abs(impulses) < limit
        impulses = _held(K, free, impulses, sticks)
        v = np.where(sticks, 0.0, free + K @ impulses)
        return integrate(robot, q, v, h), v, impulses

    def _limits(self, robot: Robot, v):
        if self.breakaway == 1.0:
            return robot.friction + 0.0 * v
        return robot.friction * (1 + (self.breakaway - 1) * np.exp(-((v / self.stribeck_velocity) ** 2)))


def _gauss_seidel(K, free, limit, impulses, sweeps: int):
    """Impulses λ with |λ| <= limit that bring v = free + K λ to rest, or oppose it: projected Gauss-Seidel sweeps."""

    def sweep(impulses, _):
        found = list(impulses)
        for i in range(len(found)):
            rate = free[i] + sum(K[i, j] * found[j] for j in range(len(found)))
            found[i] = np.clip(found[i] - rate / K[i, i], -limit[i], limit[i])
        return np.stack(found), None

    return scan(sweep, impulses, None, sweeps)[0]


def _held(K, free, impulses, sticks):
    """The same impulses, exact for the joints that stick: those that leave them at rest, by one linear equation."""
    A = np.where(sticks[:, None] & sticks[None, :], K, np.diag(np.diagonal(K)))
    moving = np.where(sticks, 0.0, impulses)
    b = np.where(sticks, -(free + K @ moving), 0.0)
    return np.where(sticks, proximal_solve(A, b, 1e-12), impulses)  # closed loops make K singular


def _no_impulses(robot: Robot) -> Any:
    return np.zeros(robot.nv)


def dry_friction(*, sweeps: int = 30, breakaway: float = 1.0, stribeck_velocity: float = 1e-3) -> Integrator:
    """Dry friction that holds: an `Integrator` that takes `robot.friction` as Coulomb's limit of every joint.

    It is the semi-implicit Euler method with impulses λ of friction in every step of length h:

        v' = v + h a(t, q, v) + M⁻¹ λ,   |λ_i| <= h μ_i,   and v'_i = 0, or λ_i = -h μ_i sign(v'_i),

    where a is without dry friction. All joints together have one solution v' (Moreau 1988): λ is the least of
    ½ λᵀM⁻¹λ + λᵀ(v + h a) in the box. A joint that the friction can hold has v' = 0 exactly, so its q does not
    change by a bit.

        >>> heavy = robot.replace(friction=100.0)
        >>> run = aj.simulation.simulate(heavy, q=q, duration=0.1, dt=1e-3, integrator=dry_friction())
        >>> bool((run.v == 0).all())
        True

    Exact are: the law of friction at the end of every step, the acceleration (τ - μ sign v)/M of joints that slide, and
    rest. Approximate are: the time at which a joint stops or starts, which is that of a step, and all that the
    semi-implicit method approximates. `sweeps` of projected Gauss-Seidel, from the last step's impulses, find which
    joints stick; then a linear equation gives their impulses to rounding. (From random states, 10 sweeps found the
    right joints in all steps of a Panda; of a humanoid with 29 joints, 30 did so in 997 of 1000 steps, 100 in all.)
    M⁻¹ is that of the plant at (t, q), with loads, lifted numbers and closed loops (whose stabilisation moves joints a
    little, also those that should rest). `simulate(..., lift={"friction": ...})` takes a batch of limits.

    With `breakaway` above 1, the limit is μ (1 + (breakaway - 1) exp(-(v/v_s)²)) at the v before the step: a joint at
    rest holds `breakaway` times what it resists with when it slides faster than v_s, the `stribeck_velocity`.
    `Run.a` shows accelerations by `forward_dynamics`, where a joint at rest has no dry friction.
    """
    if count(sweeps, "dry_friction: sweeps") == 0:
        raise ArgumentError("dry_friction: sweeps must be 1 or more")
    breakaway = positive(breakaway, "dry_friction: breakaway")
    if breakaway < 1:
        raise ArgumentError(
            f"dry_friction: breakaway is {breakaway:g}; a joint at rest holds as much or more: 1 or more"
        )
    speed = positive(stribeck_velocity, "dry_friction: stribeck_velocity")
    return Integrator(_DryFriction(sweeps, breakaway, speed), 1, _no_impulses)
