"""A problem of optimal control in discrete time, written for one step: its motion, its costs, and their derivatives.

The error of a state is x = (δq, δv) (2 nv,), with q ∘ exp(δq) as in `linearize`; the unknowns of one step are
w = (x, δu) (2 nv + m,), with the forces u (m,) of the joints that have motors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...compile import Kernel
from ...control.assembled import Input, Parts, assembled_kernel
from ...definite import symmetric
from ...dynamics.state_derivatives import forward_dynamics_derivatives
from ...model.configuration import difference, integrate
from ...model.joints import JOINTS
from ...model.robot import Robot
from ..integrators import INTEGRATORS, Integrator
from ..plants import HeldPlant, Plant

__all__ = ["ShootingPlan", "Slopes", "bent", "final_slopes", "slope_kernel"]


class ShootingPlan(NamedTuple):
    """What the machine code of a problem depends on; `motors` are the numbers of the joint forces that are chosen."""

    robot: Robot
    cost: Parts
    final: Parts | None
    integrator: Integrator
    motors: tuple[int, ...]
    boxed: bool  # whether these joint forces have limits
    second_order: bool

    @property
    def n(self) -> int:
        """The size of the error x of a state."""
        return 2 * self.robot.nv

    @property
    def euler(self) -> bool:
        """Whether q' = q + h v', v' = v + h a: then half of the derivatives follow from the other half."""
        simple = all(JOINTS[kind].nv == 1 for kind in self.robot.joint_types)
        return simple and self.integrator is INTEGRATORS["semi_implicit"]

    def inputs(self) -> dict[str, Input]:
        """The inputs that all kernels of the problem have."""
        return self.cost.inputs("p_") | {"dt": Input(), "passive": Input((self.robot.nv,))}

    def limits(self) -> dict[str, Input]:
        """The inputs for the limits of the motors' forces, if there are any."""
        return dict.fromkeys(("lower", "upper"), Input((len(self.motors),))) if self.boxed else {}

    def instant(self) -> dict[str, Input]:
        """The inputs of one step: its time and state, and the forces of the motors."""
        nq, nv = self.robot.nq, self.robot.nv
        return {"t": Input(), "q": Input((nq,)), "v": Input((nv,)), "u": Input((len(self.motors),))}

    # --- one step, on numbers or traced values ------------------------------------------------------------------------

    def forces(self, given: Mapping[str, Any], u):
        """The joint forces (nv,): u at the motors, and given numbers elsewhere."""
        return np.stack([u[self.motors.index(i)] if i in self.motors else given["passive"][i] for i in self.joints])

    @property
    def joints(self) -> range:
        """The numbers of all joint forces."""
        return range(self.robot.nv)

    def stepped(self, given: Mapping[str, Any], t, q, v, u) -> tuple:
        """The state (q, v) after the step."""
        held = HeldPlant(Plant(self.robot), {}, self.forces(given, u))
        return self.integrator.step(self.robot, held, t, q, v, given["dt"], None)[:2]

    def step_cost(self, given: Mapping[str, Any], t, q, v, u):
        """The running cost of the step: its rate times the time step."""
        p = self.cost.namespace(given, "p_")
        return given["dt"] * self.cost.function(self.robot, p, t, q, v, self.forces(given, u))

    def final_cost(self, given: Mapping[str, Any], t, q, v):
        """The cost of the last state."""
        return 0.0 if self.final is None else self.final.function(self.robot, self.cost.namespace(given, "p_"), t, q, v)

    def nearby(self, given: Mapping[str, Any], w) -> tuple:
        """The state and the forces (q, v, u) that differ from those given by w, or (q, v) for w (2 nv,)."""
        nv = self.robot.nv
        state = integrate(self.robot, given["q"], w[:nv]), given["v"] + w[nv : self.n]
        return state if len(w) == self.n else (*state, given["u"] + w[self.n :])

    def error_after(self, given: Mapping[str, Any], w):
        """The error x (2 nv,) after the step, but for a constant, of what differs by w before it."""
        q_0, _ = self.stepped(given, given["t"], given["q"], given["v"], given["u"])
        q, v = self.stepped(given, given["t"], *self.nearby(given, w))
        return np.concatenate([difference(self.robot, q_0, q), v])


def _derived(inputs: Mapping[str, Input], body: Callable, size: int, name: str) -> Kernel:
    """The kernel of `body(given, w)`, whose input w (size,) is 0 at the point where derivatives are taken."""
    return assembled_kernel(name, {"w": Input((size,)), **inputs}, lambda given: body(given, given["w"]), name)


def _at_zero(inputs: Mapping[str, Input], given: Mapping[str, Any], size: int) -> dict[str, Any]:
    return {"w": np.zeros(size)} | {k: given[k] for k in inputs}


# --- derivatives ------------------------------------------------------------------------------------------------------


class Slopes(NamedTuple):
    """Derivatives of one step by w (W,).

    `motion` (2 nv, W) is that of the error after the step, of which only the lower half (nv, W) is kept for Euler's
    method; `gradient` (W,) and `curvature` (W, W) are those of its cost.
    """

    motion: Any
    gradient: Any
    curvature: Any


@lru_cache(maxsize=64)
def slope_kernel(plan: ShootingPlan) -> Kernel:
    """The kernel of the `Slopes` of one step."""
    inputs, size = plan.instant() | plan.inputs(), plan.n + len(plan.motors)
    cost = _derived(inputs, lambda given, w: plan.step_cost(given, given["t"], *plan.nearby(given, w)), size, "cost")
    after = _derived(inputs, plan.error_after, size, "motion")

    def body(given: dict[str, Any]) -> Slopes:
        here = _at_zero(inputs, given, size)
        motion = _euler_slopes(plan, given) if plan.euler else after.jacobian("w")(**here)
        return Slopes(motion, cost.jacobian("w")(**here), symmetric(cost.hessian("w")(**here)))

    return assembled_kernel("slopes", inputs, body, "Derivatives of one step.")


def _euler_slopes(plan: ShootingPlan, given: Mapping[str, Any]):
    """The derivatives of v' = v + h a(q, v, u) by w."""
    by = forward_dynamics_derivatives(plan.robot, given["q"], given["v"], plan.forces(given, given["u"]))
    h = given["dt"]
    return np.concatenate([h * by.dq, np.eye(plan.robot.nv) + h * by.dv, h * by.dtau[:, list(plan.motors)]], axis=1)


def final_slopes(plan: ShootingPlan, given: Mapping[str, Any]) -> tuple:
    """The gradient (2 nv,) and the curvature (2 nv, 2 nv) of the final cost."""
    n = plan.n
    if plan.final is None:
        return np.zeros(n), np.zeros((n, n))
    inputs = {"t": Input(), "q": Input((plan.robot.nq,)), "v": Input((plan.robot.nv,))} | plan.inputs()
    cost = _derived(inputs, lambda given, w: plan.final_cost(given, given["t"], *plan.nearby(given, w)), n, "final")
    here = _at_zero(inputs, given, n)
    return cost.jacobian("w")(**here), symmetric(cost.hessian("w")(**here))


def bent(plan: ShootingPlan, given: Mapping[str, Any], costate):
    """The second derivatives (W, W) of costateᵀ (error after the step) by w."""
    inputs, size = {"costate": Input((plan.n,))} | plan.instant() | plan.inputs(), plan.n + len(plan.motors)
    weighted = _derived(inputs, lambda given, w: given["costate"] @ plan.error_after(given, w), size, "bent")
    return symmetric(weighted.hessian("w")(**_at_zero(inputs, {**given, "costate": costate}, size)))
