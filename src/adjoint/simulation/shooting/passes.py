"""The two passes of an iteration: gains from the end backwards, and new motions from the start forwards.

W. Li, E. Todorov, Iterative linear quadratic regulator design (2004); D. Mayne, A second-order gradient method (1966);
Y. Tassa, N. Mansard, E. Todorov, Control-limited differential dynamic programming (2014), for limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...compile import Kernel, scan
from ...control.assembled import Input, assembled_kernel
from ...definite import factored, symmetric
from ...model.configuration import difference
from .box import box_minimum
from .problem import ShootingPlan, Slopes, bent, final_slopes, slope_kernel

__all__ = ["Backward", "Forward", "backward_kernel", "forward_kernel"]

SUFFICIENT = 1e-4  # of the decrease that a step promises (Armijo's rule)


class Backward(NamedTuple):
    """Steps k (N, m) and gains K (N, m, 2 nv), and what they promise: δu = α k + K x changes the cost by
    α slope + α² bend / 2. `gradient` is the largest derivative of the cost by a force that a limit does not hold."""

    k: Any
    K: Any
    slope: Any
    bend: Any
    gradient: Any


class _Behind(NamedTuple):
    """What the backward pass carries: the cost to go V_x (2 nv,), V_xx, the costate, and the sums of `Backward`."""

    V_x: Any
    V_xx: Any
    costate: Any
    k: Any
    slope: Any
    bend: Any
    gradient: Any


@lru_cache(maxsize=64)
def backward_kernel(plan: ShootingPlan) -> Kernel:
    """The kernel of the backward pass, from rows of packed `Slopes` and the last state.

    `bending` is the weight of the curvature of the dynamics, 1 or 0. Where Q_uu is not positive, results are NaN.
    """
    m, slopes = len(plan.motors), slope_kernel(plan)
    sizes = {name: where.size for name, where in slopes.packing._asdict().items()}
    rows = {name: Input((size,), sequence=True) for name, size in sizes.items() if size}
    rows |= {"u": Input((m,), sequence=True)}
    if plan.second_order:
        rows |= {name: Input(x.shape, sequence=True) for name, x in plan.instant().items()}
    ends = {"t_end": Input(), "q_end": Input((plan.robot.nq,)), "v_end": Input((plan.robot.nv,))}
    box = plan.limits() | {"mu": Input()} | ({"bending": Input()} if plan.second_order else {})

    def body(given: dict[str, Any]) -> Backward:
        V_x, V_xx = final_slopes(plan, given | {k: given[f"{k}_end"] for k in "tqv"})

        def step(behind: _Behind, row: dict[str, Any]):
            parts = Slopes(*slopes.unpack(*(row.get(name, np.zeros(0)) for name in sizes)))
            Q_w, Q_ww = _carried_back(plan, given["dt"], parts, behind.V_x, behind.V_xx)
            if plan.second_order:
                Q_ww = Q_ww + given["bending"] * bent(plan, given | row, behind.V_x)
            return _gains(plan, given, parts, behind, row["u"], Q_w, Q_ww)

        start = _Behind(V_x, V_xx, V_x, np.zeros(m), 0.0, 0.0, 0.0)
        end, (k, K) = scan(step, start, {name: given[name] for name in rows}, reverse=True)
        return Backward(k, K, end.slope, end.bend, end.gradient)

    return assembled_kernel("backward", rows | ends | box | plan.inputs(), body, "The backward pass.")


def _carried_back(plan: ShootingPlan, h, at: Slopes, V_x, V_xx) -> tuple:
    """The gradient Q_w (W,) and the curvature Q_ww (W, W) of the cost of a step and of all that follow."""
    F = at.motion
    if not plan.euler:
        return at.gradient + F.T @ V_x, symmetric(at.curvature + F.T @ (V_xx @ F))
    # q' = q + h v', so δq' = E w + h F w and δv' = F w: with V as a function of q and v', only F is multiplied.
    nv, W = plan.robot.nv, F.shape[1]
    V_qq, V_vq, V_vv = V_xx[:nv, :nv], V_xx[nv:, :nv], V_xx[nv:, nv:]
    C = V_vq + h * V_qq
    U = symmetric(V_vv + h * (C + V_vq.T))
    E = np.eye(nv, W)
    Q_w = at.gradient + E.T @ V_x[:nv] + F.T @ (V_x[nv:] + h * V_x[:nv])
    # Q_ww = EᵀV_qq E + FᵀC E + EᵀCᵀF + FᵀU F; below the diagonal, EᵀCᵀF has entries in the block of q only.
    block = V_qq + C.T @ F[:, :nv]
    return Q_w, symmetric(at.curvature + F.T @ (U @ F + C @ E) + E.T @ block @ E)


def _gains(plan: ShootingPlan, given: Mapping[str, Any], at: Slopes, behind: _Behind, u, Q_w, Q_ww) -> tuple:
    """The step and the gains of one instant, and the cost to go before it."""
    n = plan.n
    Q_x, Q_u, Q_xx, Q_ux = Q_w[:n], Q_w[n:], Q_ww[:n, :n], Q_ww[n:, :n]
    # A penalty on δu, relative to the curvature (Marquardt), keeps Q_uu positive and steps short.
    Q_uu = Q_ww[n:, n:] + np.diag(given["mu"] * np.abs(np.diag(Q_ww[n:, n:])))
    costate, by_force = _cost_slopes(plan, given["dt"], at, behind.costate)
    if plan.boxed:
        lower, upper = given["lower"], given["upper"]
        found = box_minimum(Q_uu, Q_u, lower - u, upper - u, behind.k)
        k, K = found.x, -found.solve(Q_ux)
        by_force = np.where(((u <= lower) & (by_force > 0)) | ((u >= upper) & (by_force < 0)), 0.0, by_force)
    else:
        factors = factored(Q_uu)
        k, K = -factors.solve(Q_u), -factors.solve(Q_ux)
    # Free coordinates of k have no slope left, and those that are held have no gains; so K^T (Q_uu k + Q_u) = 0.
    now = _Behind(
        Q_x + Q_ux.T @ k, symmetric(Q_xx + Q_ux.T @ K), costate, k, behind.slope + Q_u @ k,
        behind.bend + k @ (Q_uu @ k), np.maximum(behind.gradient, np.max(np.abs(by_force))),
    )  # fmt: skip
    return now, (k, K)


def _cost_slopes(plan: ShootingPlan, h, at: Slopes, costate) -> tuple:
    """The derivatives of the whole cost by the state before the step and by the forces in it."""
    nv, n = plan.robot.nv, plan.n
    if plan.euler:
        whole = at.motion.T @ (costate[nv:] + h * costate[:nv]) + np.eye(nv, len(at.gradient)).T @ costate[:nv]
    else:
        whole = at.motion.T @ costate
    whole = at.gradient + whole
    return whole[:n], whole[n:]


class Forward(NamedTuple):
    """A new motion: states q (N, nq) and v (N, nv) before each step, forces u (N, m), the last state, and the cost.

    The cost is infinite if the motion is not sufficiently better than the one before.
    """

    q: Any
    v: Any
    u: Any
    q_end: Any
    v_end: Any
    cost: Any


@lru_cache(maxsize=64)
def forward_kernel(plan: ShootingPlan) -> Kernel:
    """The kernel of the forward pass: u + α k + K x, within limits, from the first state (q_0, v_0) on.

    The motion before has the cost `before`; `slope` and `bend` are what the backward pass promised.
    """
    robot, m = plan.robot, len(plan.motors)
    shapes = {"k": (m,), "K": (m, plan.n)}
    rows = {name: Input(shape, sequence=True) for name, shape in shapes.items()}
    rows |= {name: Input(x.shape, sequence=True) for name, x in plan.instant().items()}
    more = {"q_0": Input((robot.nq,)), "v_0": Input((robot.nv,)), "t_end": Input()}
    more |= dict.fromkeys(("alpha", "before", "slope", "bend"), Input())

    def body(given: dict[str, Any]) -> Forward:
        def step(carry, row):
            q, v, cost = carry
            x = np.concatenate([difference(robot, row["q"], q), v - row["v"]])
            u = row["u"] + given["alpha"] * row["k"] + row["K"] @ x
            if plan.boxed:
                u = np.clip(u, given["lower"], given["upper"])
            cost = cost + plan.step_cost(given, row["t"], q, v, u)
            return (*plan.stepped(given, row["t"], q, v, u), cost), (q, v, u)

        start = given["q_0"], given["v_0"], 0.0
        (q, v, cost), (qs, vs, us) = scan(step, start, {name: given[name] for name in rows})
        cost = cost + plan.final_cost(given, given["t_end"], q, v)
        promised = given["alpha"] * (given["slope"] + given["alpha"] / 2 * given["bend"])
        better = np.isfinite(cost) & (cost <= given["before"] + SUFFICIENT * promised)  # -inf is an overflow
        return Forward(qs, vs, us, q, v, np.where(better, cost, np.inf))

    return assembled_kernel("forward", rows | more | plan.limits() | plan.inputs(), body, "The forward pass.")
