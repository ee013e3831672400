"""Forward dynamics in O(n), by articulated bodies; `ploen_park` has the recursion of Ploen & Park (1999), (47)-(68)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..compile import kernel, static
from ..lie import inertia, se3
from ..model.robot import Robot
from ..rolled import is_long, rolls
from ..rolled.calls import columns_of
from ..sweep import at_rest, forces, inward_keeping, joint_placements, outward_keeping, rates
from .articulated import NOTHING, Pivot, Symmetric, freed, require_inertia
from .factorization import factored, mass_matrix_inverse, solve_factored
from .newton_euler import (
    SURROUNDINGS,
    base_motion,
    inverse_dynamics,
    joint_force,
    loads_on_bodies,
    squared,
    true_motion,
)

__all__ = ["forward_dynamics", "solve_mass_matrix"]


@rolls(check=require_inertia)
@kernel(robot=static, q="nq", v="nv", tau="nv", **SURROUNDINGS)
def forward_dynamics(
    robot, q, v, tau, *, gravity=None, applied_wrenches=None, frames=(), base_twist=None, base_acceleration=None
):
    """a (nv,) [rad/s² or m/s²] with inverse_dynamics(robot, q, v, a, ...) = τ; arguments as there.

    Articulated bodies (Featherstone 1983; PP (39)-(40) and its bias force): F_i = Ĵ_i A_i + b_i, with the true
    accelerations A_i of `newton_euler`.
    """
    if robot.mimics:
        options = {"gravity": gravity, "applied_wrenches": applied_wrenches, "frames": frames}
        moved = {"base_twist": base_twist, "base_acceleration": base_acceleration}
        bias = inverse_dynamics(robot, q, v, at_rest(robot), **options, **moved)
        return solve_factored(factored(robot, q), tau - bias)
    require_inertia(robot)
    f = joint_placements(robot, q)
    w_0, A_0 = true_motion(*base_motion(robot, gravity, base_twist, base_acceleration))
    loads = loads_on_bodies(robot, applied_wrenches, frames)

    def move(i, parent: tuple) -> tuple:
        v_i, J = rates(robot, v, i), robot.inertias[i]
        moving, F, drift = next_drift(parent, f[i], robot.screw(i).T, v_i, J)
        return moving, (F - loads[i] if i in loads else F, drift)

    drifting = outward_keeping(robot, move, (w_0, squared(w_0)))
    return _accelerations(robot, f, lambda i: rates(robot, tau, i) - joint_force(robot, i, v), A_0, drifting)


def next_drift(parent: tuple, f, S, v, J) -> tuple:
    """(ω, [ω]²) of a body that moves on with v at a = 0, its wrench, and its A beyond what its parent's A gives it."""
    w, w2 = parent
    Rt, p = f[:3, :3].T, f[:3, 3]
    turn, slide = np.split(S @ v, 2)
    w = Rt @ w
    drift = np.concatenate([np.cross(w, turn), Rt @ (w2 @ p) + np.cross(2 * w + turn, slide)])
    w = w + turn
    w2, (_, h, I) = squared(w), inertia.moments(J)
    return (w, w2), np.concatenate([np.cross(w, I @ w), w2 @ h]), drift


def _accelerations(robot: Robot, f, tau: Callable, A_0, drifting):
    """a (nv,) of the joints' forces tau(i), and of the wrenches and A that bodies have at a = 0; None: at rest."""

    def leave(i, beyond: tuple) -> tuple:
        J, wrench = beyond
        J = Symmetric.of_inertia(robot.inertias[i]) + J
        if drifting is not None:
            F, drift = drifting[i]
            wrench = (F + wrench) + J @ drift
        return passed_on(robot, f, i, J, wrench, tau(i))

    _, left = inward_keeping(robot, leave, (NOTHING, np.zeros(6)))
    return accelerations_outward(robot, f, left, A_0, None if drifting is None else lambda i: drifting[i][1])


def passed_on(robot: Robot, f, i, J: Symmetric, wrench, tau) -> tuple:
    """What body i, with articulated inertia J, passes on to its parent; Π and (τ - s·p)/Ω of its joint."""
    pivots, rest = freed(robot, i, J)
    left, wrench = leftover(pivots, tau, wrench)
    return (rest.moved(f[i]), se3.coAd_inv_action(f[i], wrench)), ([pivot.Pi for pivot in pivots], left)


def accelerations_outward(robot: Robot, f, left, A_0, drift: Callable | None):
    """a (nv,) from the base outward, whose A is A_0; `left` are Π and (τ - s·p)/Ω of the joints."""

    def step(i, A):
        Pi, force = left[i]
        a, A = accelerated(robot.screw(i), Pi, force, se3.Ad_inv_action(f[i], A))
        return A if drift is None else A + drift(i), np.stack(a)

    return forces(robot, outward_keeping(robot, step, A_0))


def leftover(pivots: list[Pivot], tau, wrench):
    """(τ - s·p)/Ω of each degree of freedom of a joint, and the wrench that the joint passes on."""
    left = []
    for k, pivot in reversed(list(enumerate(pivots))):
        force = tau[k] - np.dot(pivot.s, wrench)
        wrench = wrench + pivot.Pi * force
        left.append(force * pivot.inverse)
    return left[::-1], wrench


def accelerated(screws, Pi: list, left: list, y):
    """The joint's accelerations, and its body's A, which is y without them."""
    found = []
    for s, pi, u in zip(screws, Pi, left, strict=True):
        a = u - np.dot(pi, y)
        y = y + s * a
        found.append(a)
    return found, y


@rolls(check=require_inertia)
@kernel(robot=static, q="nq", b="nv")
def solve_mass_matrix(robot, q, b):
    """M(q)⁻¹ b (nv,) in O(n), without forming M: PP Prop. 2 as two sweeps, (62)-(68)."""
    if robot.mimics:
        return solve_factored(factored(robot, q), b)
    require_inertia(robot)
    return _accelerations(robot, joint_placements(robot, q), lambda i: rates(robot, b, i), np.zeros(6), None)


@mass_matrix_inverse.instead
def _inverse_in_loops(statics: dict, names: tuple[str, ...]) -> Callable | None:
    robot = statics["robot"]
    if not is_long(robot):
        return None
    require_inertia(robot)
    return columns_of(solve_mass_matrix, "b", robot, statics, names)
