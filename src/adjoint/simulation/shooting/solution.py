"""`OptimalMotion`: what `ilqr` gives."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...control.laws import Law
from ...control.riccati import Feedback, followed
from ...model.robot import Robot

__all__ = ["OptimalMotion"]


@dataclass(frozen=True, eq=False, repr=False)
class OptimalMotion:
    """A motion of least cost: times t (N + 1,) [s], states q (..., N + 1, nq), v (..., N + 1, nv), forces tau, gains K.

        motion = ilqr(robot, cost, final, q=q, steps=200, dt=0.01)
        run = simulate(robot, motion.law(), q=q, v=v, duration=2.0, dt=0.01)

    - `tau` (..., N, nv) [N m, N]: the joint forces, each held for one step of `dt` seconds.
    - `K` (..., N, nv, 2 nv): gains of the feedback τ = tau - K (δq, δv) that is optimal nearby.
    - `cost` (...,), and `history` (..., iterations + 1): the costs after all iterations.
    - `gradient` (...,): the largest derivative of the cost by a joint force that no limit holds back.
    - `success` (...,): whether the search converged; `iterations` (...,) it took; `message` says how it ended.
    """

    robot: Robot = field(repr=False)
    dt: float
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    K: np.ndarray
    cost: np.ndarray
    history: np.ndarray
    gradient: np.ndarray
    success: np.ndarray
    iterations: np.ndarray

    def law(self) -> Law:
        """The law that follows the motion: τ = tau_k - K_k (δq, δv) in the k-th step.

        After the end it goes on with the joint forces and the gains of the last step, about the last state.
        """
        tau = np.concatenate([self.tau, self.tau[..., -1:, :]], axis=-2)
        K = np.concatenate([self.K, self.K[..., -1:, :, :]], axis=-3)
        return followed(Feedback(self.q, self.v, tau, K), self.robot, self.dt, "optimal_motion")

    @property
    def message(self) -> str:
        """How the search ended."""
        if np.all(self.success):
            return f"converged after {np.max(self.iterations)} iterations to a cost of {_span(self.cost)}"
        which = "it has" if self.success.ndim == 0 else f"{np.sum(~self.success)} of {self.success.size} have"
        return (
            f"{which} not converged after {np.max(self.iterations)} iterations; the cost is {_span(self.cost)}, and "
            f"its largest derivative by a joint force is {np.max(self.gradient):.3g}"
        )

    def __repr__(self) -> str:
        return f"<OptimalMotion of '{self.robot.name}', {len(self.t) - 1} steps: {self.message}>"


def _span(x: np.ndarray) -> str:
    return f"{np.min(x):.6g}" + ("" if x.ndim == 0 else f" to {np.max(x):.6g}")
