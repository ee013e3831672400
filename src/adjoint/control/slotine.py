"""Adaptive control with the robot's own equations: the parameters are adapted while the robot follows a reference."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..definite import positive_solve
from ..dynamics.regressors import parameters, passive_regressor, regressor
from ..model.configuration import difference, neutral
from ..model.input_checks import positive
from ..model.needs import need_robot
from ..model.robot import Robot
from .gains import gains
from .laws import Law, law

__all__ = ["CompositeState", "slotine_li"]


class CompositeState(NamedTuple):
    """The state of `slotine_li` with `composite`: the parameters, and filtered torques tau = Y π."""

    parameters: Any  # (p,)
    Y: Any  # (nv, p)
    tau: Any  # (nv,)
    q: Any  # q, v and the joint forces at the last instant, if it is `known` (1, else 0)
    v: Any
    force: Any
    known: Any


def _passive_law(robot, p, pi, q, v, reference) -> tuple:
    """The joint forces, and the rate Γ Yᵀ σ of the parameters, with σ = v_r - v."""
    v_r = reference.v + p.slope * difference(robot, q, reference.q)
    a_r = reference.a + p.slope * (reference.v - v)
    Y, sigma = passive_regressor(robot, q, v, v_r, a_r, joints=p.joints), v_r - v
    return Y @ pi + p.gain * sigma, p.adaptation * (Y.T @ sigma)


def _slotine_li(robot, p, state, t, q, v, reference):
    tau, rate = _passive_law(robot, p, state, q, v, reference)
    return tau, state + p.period * (rate + p.leak * (p.nominal - state))


def _composite(robot, p, state, t, q, v, reference):
    # The torques of the period that ends now are Y π, with the mean acceleration in it; a filter takes noise from both.
    Y_last = regressor(robot, state.q, state.v, (v - state.v) / p.period, joints=p.joints)
    share = state.known * (1 - np.exp(-p.cutoff * p.period))
    Y, filtered = state.Y + share * (Y_last - state.Y), state.tau + share * (state.force - state.tau)
    pi = state.parameters
    tau, rate = _passive_law(robot, p, pi, q, v, reference)
    pi = pi + p.period * (rate + p.leak * (p.nominal - pi))
    # An implicit step of π' = w Γ Yᵀ (τ - Y π), which is stable for any period and weight w
    gain = p.period * p.composite * p.adaptation[:, None] * Y.T
    pi = pi + gain @ positive_solve(np.eye(robot.nv) + Y @ gain, filtered - Y @ pi)
    return tau, CompositeState(pi, Y, filtered, q, v, tau, 1.0)


def slotine_li(
    robot: Robot, reference, *, slope, gain, adaptation,
    joints: tuple[str, ...] = ("armature", "damping", "friction"), leak=0.0, composite=None, cutoff=20.0, period=0.001,
) -> Law:  # fmt: skip
    """Adaptive control of Slotine and Li: the parameters of all bodies are adapted, and the error of tracking vanishes.

    With the error e = q_d - q and Λ = `slope`, K = `gain`, Γ = `adaptation`,

        v_r = v_d + Λ e,  a_r = a_d + Λ (v_d - v),  σ = v_r - v = ė + Λ e,
        τ = Y(q, v, v_r, a_r) π + K σ,     π̇ = Γ Yᵀ σ,

    where Y π = M a_r + C v_r + g (`passive_regressor`). V = ½ σᵀ M σ + ½ (π - π₀)ᵀ Γ⁻¹ (π - π₀) with the true π₀ then
    has V̇ = -σᵀ K σ, whatever π₀ is: σ and e vanish, and π stays bounded. Reference: Slotine & Li (1987).

        >>> adaptive = slotine_li(robot, np.zeros(robot.nq), slope=5.0, gain=20.0, adaptation=0.1)
        >>> tau, pi = adaptive(robot, None, 0.0, q, v)

    The state of the law is π (p,), which starts with the `parameters(robot, joints)` of the nominal robot. The law
    holds for joints of one degree of freedom; for others, a_r neglects how the motions of a joint turn.

    Parameters
    ----------
    slope, gain
        Λ [1/s] and K [N m s/rad], numbers or (nv,).
    adaptation
        Γ, a number or (p,): 0 keeps a parameter as it is. Parameters have different units, so (p,) often fits better.
    joints
        Terms of the joints that the law knows of and adapts, as for `regressor`: a tuple of some of "armature",
        "damping", "friction" and "offset".
    leak
        π̇ gets the term `leak` [1/s] · (nominal π - π), which keeps π bounded under disturbances, at the price of a
        small error.
    composite
        A weight w, a number: π̇ gets the term w Γ Yᵀ (τ - Y π), with the torques of the past and their `regressor`, both
        filtered with the `cutoff` [1/s] (composite adaptation, Slotine & Li 1989). V then falls faster; with w = 10,
        the largest error of a PUMA 560 with an unknown load is 2 to 4 times smaller. The state is a `CompositeState`.
    period
        The time between two instants [s], in which π is integrated.
    """
    name = "slotine_li"
    need_robot(robot, name)
    start = parameters(robot, joints)
    numbers = {
        "slope": gains(slope, robot.nv, f"{name}: slope"), "gain": gains(gain, robot.nv, f"{name}: gain"),
        "adaptation": gains(adaptation, len(start), f"{name}: adaptation", or_zero=True) * np.ones(len(start)),
        "leak": positive(leak, f"{name}: leak", or_zero=True), "period": positive(period, f"{name}: period"),
    }  # fmt: skip
    common = {"reference": reference, "model": robot, "name": name, "joints": joints, "nominal": start}
    if composite is None:
        return law(_slotine_li, state=start, **common, **numbers)
    numbers |= {
        "composite": positive(composite, f"{name}: composite"), "cutoff": positive(cutoff, f"{name}: cutoff"),
    }  # fmt: skip
    zero = np.zeros(robot.nv)
    state = CompositeState(start, np.zeros((robot.nv, len(start))), zero, neutral(robot), zero, zero, 0.0)
    return law(_composite, state=state, **common, **numbers)
