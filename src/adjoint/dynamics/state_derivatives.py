"""Derivatives of inverse and forward dynamics with respect to the state, as recursions on the Lie algebra.

Turning joint k by δ moves all it carries as one rigid body, with the joint's screw s: twists, accelerations and forces
of these bodies, seen from themselves, change only because the motion that the joint inherits does not turn with it.
With V, A the twist and acceleration of the body that carries the joint, that change is the same for all bodies beyond:

    δV = Ψ̇ = [V, s],    δA = Ψ̈ = [A, s] + [V, [V, s]],    and for a rate of the joint   δV = s,   δA = [2V + s v, s].

Their forces change by J δA + 2B δV with 2B x = J̇ x - ad(x)ᵀ h: inertia J, its rate J̇ = -ad(V)ᵀJ - J ad(V) and momentum
h, summed over all bodies beyond. So one sweep inward gives, for two joints i before j, all derivatives of τ_i by the
state of j and of τ_j by that of i: O(n · depth) numbers for as much work (Carpentier & Mansard 2018; Singh, Russell &
Wensing 2022). Derivatives by q are along the motions that v describes, q moved to `integrate(robot, q, dq)`: for joints
with one degree of freedom these are the partial derivatives, for quaternions there are 3, not 4, of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..lie import inertia, se3
from ..model.robot import Robot
from ..rolled import is_long, rolls
from ..rolled.calls import columns_of
from ..sweep import (
    at_rest,
    body_twists,
    forces,
    inward,
    inward_keeping,
    joint_placements,
    outward,
    outward_keeping,
    rates,
    stacked,
)
from .armature import armature_rate, armature_slopes
from .articulated import require_inertia
from .composite import degrees, mass_matrix
from .coriolis import inertia_rate_momentum, moved
from .factorization import factor, inverse_factored, minus_inverse_times, solve_factored
from .forward import forward_dynamics, solve_mass_matrix
from .newton_euler import SURROUNDINGS, base_motion, inverse_dynamics, loads_on_bodies

__all__ = [
    "AccelerationDerivatives",
    "TorqueDerivatives",
    "forward_dynamics_derivatives",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_rate",
]


class TorqueDerivatives(NamedTuple):
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M, each (nv, nv): row i is that of τ_i."""

    dq: np.ndarray
    dv: np.ndarray
    da: np.ndarray


class AccelerationDerivatives(NamedTuple):
    """∂a/∂q, ∂a/∂v and ∂a/∂τ = M⁻¹, each (nv, nv): row i is that of a_i."""

    dq: np.ndarray
    dv: np.ndarray
    dtau: np.ndarray


@kernel(robot=static, q="nq", v="nv", a="nv", **SURROUNDINGS)
def inverse_dynamics_derivatives(
    robot, q, v, a, *, gravity=None, applied_wrenches=None, frames=(), base_twist=None, base_acceleration=None
):
    """`TorqueDerivatives` of `inverse_dynamics(robot, q, v, a, ...)`; arguments as there, O(n · depth).

    By q along the motions that v describes: dq[:, k] is the rate of τ while q moves with v = e_k, v and a staying the
    same numbers. Wrenches stay the same in their frames. Dry friction counts as constant, as it is wherever v ≠ 0.
    """
    f = joint_placements(robot, q)
    V_0, A_0 = base_motion(robot, gravity, base_twist, base_acceleration)
    V = body_twists(robot, f, v, V_0)
    A = _accelerations(robot, f, V, a, v, A_0)
    beyond = _sums_beyond(robot, f, V, A, loads_on_bodies(robot, applied_wrenches, frames))
    joints = {i: _Joint(robot, f, V, A, i) for i in f}
    tables = [[[0.0] * robot.nv for _ in range(robot.nv)] for _ in range(3)]
    for j in reversed(f):
        _enter_joint(robot, f, joints, beyond[j], j, tables)
    for (k, j), x in armature_slopes(robot, v).items():
        tables[1][k][j] = tables[1][k][j] + x
    dq, dv, da = (stacked(rows, 2) for rows in tables)
    return TorqueDerivatives(dq, dv + np.diag(robot.damping), da + np.diag(robot.armature))


def _accelerations(robot: Robot, f: dict, V: dict, a, v, A_0) -> dict:
    """{i: A_i} (6,): the rates of the body twists, PP (3), with A_0 = V̇_0 - (0, g)."""

    def step(i: int, A):
        S = robot.screw(i).T
        return se3.Ad_inv_action(f[i], A) + S @ rates(robot, a, i) + se3.bracket(V[i], S @ rates(robot, v, i))

    return outward(robot, step, A_0)


def _sums_beyond(robot: Robot, f: dict, V: dict, A: dict, loads: dict) -> dict:
    """{i: (32,)}: inertia, its rate, momentum and force of body i and all beyond it, seen from body i."""

    def own(i: int):
        sums = inertia_rate_momentum(robot.inertias[i], V[i])
        F = inertia.momentum(robot.inertias[i], A[i]) - se3.coad_action(V[i], sums[20:])  # PP (4)
        return np.concatenate([sums, F - loads[i] if i in loads else F])

    return inward(robot, own, lambda i, x: np.concatenate([moved(f[i], x[:26]), se3.coAd_inv_action(f[i], x[26:])]))


class _Joint:
    """The changes of motion that the degrees of freedom of body i's joint make, seen from body i: lists of (6,)."""

    def __init__(self, robot: Robot, f: dict, V: dict, A: dict, i: int):
        parent = int(robot.parents[i])
        V_p, A_p = se3.Ad_inv_action(f[i], V[parent]), se3.Ad_inv_action(f[i], A[parent])
        self.degrees = degrees(robot, i)
        screws = [s for s, _, _ in self.degrees]
        self.psi = [se3.bracket(V_p, s) for s in screws]  # Ψ̇
        self.psi2 = [se3.bracket(A_p, s) + se3.bracket(V_p, p) for s, p in zip(screws, self.psi, strict=True)]  # Ψ̈
        self.rate = [p + se3.bracket(V[i], s) for s, p in zip(screws, self.psi, strict=True)]


def _enter_joint(robot: Robot, f: dict, joints: dict, sums, j: int, tables: list) -> None:
    """Enter all that concerns joint j and the joints that carry it, itself included."""
    J, dJ, h, F = sums[:10], sums[10:20], sums[20:26], sums[26:]

    def twice_B(x):
        return inertia.momentum(dJ, x) - se3.coad_action(x, h)

    own = joints[j]
    for k, (s, b, scale) in enumerate(own.degrees):
        J_s = inertia.momentum(J, s)
        Bt_s = inertia.momentum(dJ, s) + se3.coad_action(s, h)  # 2Bᵀ s
        by_q = twice_B(own.psi[k]) + inertia.momentum(J, own.psi2[k]) - se3.coad_action(s, F)
        by_v = twice_B(s) + inertia.momentum(J, own.rate[k])
        wrenches, i = scale * np.stack([J_s, Bt_s, by_q, by_v]), j
        while i >= 0:
            _enter_pair(joints[i], wrenches, b, i == j, tables)
            wrenches, i = np.stack([se3.coAd_inv_action(f[i], x) for x in wrenches]), int(robot.parents[i])


def _enter_pair(inner: _Joint, wrenches, b: int, same: bool, tables: list) -> None:
    """What the degree of freedom b, whose wrenches are seen from the inner joint's body, shares with that joint."""
    J_s, Bt_s, by_q, by_v = wrenches
    dq, dv, da = tables
    for l, (s, a, scale) in enumerate(inner.degrees):
        dq[b][a] = dq[b][a] + scale * (np.dot(Bt_s, inner.psi[l]) + np.dot(J_s, inner.psi2[l]))
        dv[b][a] = dv[b][a] + scale * (np.dot(Bt_s, s) + np.dot(J_s, inner.rate[l]))
        da[b][a] = da[b][a] + scale * np.dot(s, J_s)
        if not same:
            dq[a][b] = dq[a][b] + scale * np.dot(s, by_q)
            dv[a][b] = dv[a][b] + scale * np.dot(s, by_v)
            da[a][b] = da[a][b] + scale * np.dot(s, J_s)


@rolls
@kernel(robot=static, q="nq", v="nv", a="nv", dq="nv", dv="nv", **SURROUNDINGS)
def inverse_dynamics_rate(
    robot, q, v, a, *, dq=None, dv=None,
    gravity=None, applied_wrenches=None, frames=(), base_twist=None, base_acceleration=None,
):  # fmt: skip
    """∂τ/∂q dq + ∂τ/∂v dv (nv,) in O(n): the rate of `inverse_dynamics` while q moves with dq and v changes with dv.

    With S dq the motion of a joint, all that it inherits, seen from its body, changes as x does in x' = [x, S dq]:

        δV_i = Ad(f_i⁻¹) δV + [Ad(f_i⁻¹) V, S_i dq_i] + S_i dv_i
        δA_i = Ad(f_i⁻¹) δA + [Ad(f_i⁻¹) A, S_i dq_i] + [δV_i, S_i v_i] + [V_i, S_i dv_i]
        δF_i = J_i δA_i - ad(δV_i)ᵀ J_i V_i - ad(V_i)ᵀ J_i δV_i + Σ Ad(f_k⁻¹)ᵀ (δF_k - ad(S_k dq_k)ᵀ F_k),

    V and A of the parent on the right, k the children of i.
    """
    f = joint_placements(robot, q)
    loads = loads_on_bodies(robot, applied_wrenches, frames)
    dq, dv = (at_rest(robot) if x is None else x for x in (dq, dv))

    def move(i, parent: tuple) -> tuple:
        S, J = robot.screw(i).T, robot.inertias[i]
        Sv, Sa, Sdq, Sdv = (S @ rates(robot, x, i) for x in (v, a, dq, dv))
        V, A, dV, dA = (se3.Ad_inv_action(f[i], x) for x in parent)
        dV = dV + se3.bracket(V, Sdq) + Sdv
        dA = dA + se3.bracket(A, Sdq)
        V = V + Sv
        A = A + Sa + se3.bracket(V, Sv)
        dA = dA + se3.bracket(dV, Sv) + se3.bracket(V, Sdv)
        h = inertia.momentum(J, V)
        F = inertia.momentum(J, A) - se3.coad_action(V, h)  # PP (4)
        dF = inertia.momentum(J, dA) - se3.coad_action(dV, h) - se3.coad_action(V, inertia.momentum(J, dV))
        return (V, A, dV, dA), (F - loads[i] if i in loads else F, dF)

    base = *base_motion(robot, gravity, base_twist, base_acceleration), np.zeros(6), np.zeros(6)
    own = outward_keeping(robot, move, base)

    def press(i, beyond: tuple) -> tuple:
        F, dF = own[i][0] + beyond[0], own[i][1] + beyond[1]
        S = robot.screw(i)
        turned = dF - se3.coad_action(S.T @ rates(robot, dq, i), F)
        passed = se3.coAd_inv_action(f[i], F), se3.coAd_inv_action(f[i], turned)
        return passed, S @ dF + _resistance_rate(robot, i, v, dv)

    return forces(robot, inward_keeping(robot, press, (np.zeros(6), np.zeros(6)))[1])


def _resistance_rate(robot: Robot, i, v, dv):
    """What the rate of v adds to body i's joint (k,): damping, and armature in turning frames."""
    own, change = rates(robot, v, i), rates(robot, dv, i)
    if i in robot.mimics:
        return np.zeros(len(own))
    return rates(robot, robot.damping, i) * change + armature_rate(robot, i, own, change)


@inverse_dynamics_derivatives.instead
def _torque_in_loops(statics: dict, names: tuple[str, ...]) -> Callable | None:
    """Of a robot with many bodies: the columns as a batch of `inverse_dynamics_rate`."""
    robot = statics["robot"]
    if not is_long(robot):
        return None
    by_q = columns_of(inverse_dynamics_rate, "dq", robot, {**statics, "dv": None}, names)
    by_v = columns_of(inverse_dynamics_rate, "dv", robot, {**statics, "dq": None}, names)

    def derivatives(given: dict) -> TorqueDerivatives:
        dq = by_q(given)
        M = mass_matrix(robot, given["q"])
        return TorqueDerivatives(dq, by_v(given), M if M.shape == dq.shape else np.broadcast_to(M, dq.shape).copy())

    return derivatives


@kernel(robot=static, q="nq", v="nv", tau="nv", **SURROUNDINGS)
def forward_dynamics_derivatives(
    robot, q, v, tau, *, gravity=None, applied_wrenches=None, frames=(), base_twist=None, base_acceleration=None
):
    """`AccelerationDerivatives` of `forward_dynamics(robot, q, v, tau, ...)`; arguments as there.

    M a = τ - bias is an identity: ∂a/∂x = -M⁻¹ ∂τ/∂x at that a, with M = W Ω Wᵀ factored once.
    """
    require_inertia(robot)
    around = {"gravity": gravity, "applied_wrenches": applied_wrenches, "frames": frames}
    around |= {"base_twist": base_twist, "base_acceleration": base_acceleration}
    factors = factor(mass_matrix(robot, q))
    a = solve_factored(factors, tau - inverse_dynamics(robot, q, v, np.zeros(robot.nv), **around))
    by = inverse_dynamics_derivatives(robot, q, v, a, **around)
    return AccelerationDerivatives(*minus_inverse_times(factors, by.dq, by.dv), inverse_factored(factors))


@forward_dynamics_derivatives.instead
def _acceleration_in_loops(statics: dict, names: tuple[str, ...]) -> Callable | None:
    """Of a robot with many bodies: M⁻¹ by the solution of M x = b for every column."""
    robot = statics["robot"]
    if not is_long(robot):
        return None
    require_inertia(robot)
    eye, on = np.eye(robot.nv), statics["frames"]
    around = [name for name in names if name not in ("q", "v", "tau")]

    def minus_solved(q: np.ndarray, B: np.ndarray) -> np.ndarray:
        return -np.swapaxes(solve_mass_matrix(robot, q[..., None, :], np.swapaxes(B, -1, -2)), -1, -2)

    def derivatives(given: dict) -> AccelerationDerivatives:
        q, v, tau = given["q"], given["v"], given["tau"]
        options = {name: given[name] for name in around} | ({"frames": on} if on else {})
        by = inverse_dynamics_derivatives(robot, q, v, forward_dynamics(robot, q, v, tau, **options), **options)
        dtau = solve_mass_matrix(robot, q[..., None, :], eye)
        found = minus_solved(q, by.dq), minus_solved(q, by.dv), np.broadcast_to(dtau, by.dq.shape)
        dq, dv, dtau = map(np.ascontiguousarray, found)
        return AccelerationDerivatives(dq, dv, dtau)

    return derivatives
