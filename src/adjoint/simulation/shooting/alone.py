"""The iterations of `ilqr` for one problem: as in `search`, but with numbers in the place of arrays of one number.

A kernel of a small robot takes 10 µs, so what Python does between two of them counts.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite

import numpy as np

from ...compile import Kernel
from .passes import Backward, Forward
from .problem import slope_kernel
from .search import MOST, NEARLY_FREE, SHORTER, Ended, Problems, penalty

__all__ = ["search_alone"]


def search_alone(problems: Problems, start: Forward, iterations: int, tolerance: float) -> Ended:
    """Lower the cost of one motion; arrays have a first axis of length 1, as those of `search`."""
    calls, now = _Calls(problems, start), Forward(*(x[0] for x in start))
    mu, history, kept, ended = 0.0, [now.cost], None, False
    while kept is None or (not ended and mu <= MOST and len(history) <= iterations):
        gains, length = calls.gains(now, mu), 0.0
        promised = -(gains.slope + gains.bend / 2)
        sound = isfinite(promised)
        ended = bool(promised <= tolerance * abs(now.cost)) and mu <= NEARLY_FREE
        if sound and not ended:
            now, length = calls.better(now, gains)
        kept = gains if sound or kept is None else kept
        mu = penalty(mu, length)
        if not ended:
            history.append(now.cost)
    motions, gains = Forward(*(np.asarray(x)[None] for x in now)), Backward(*(np.asarray(x)[None] for x in kept))
    return Ended(motions, gains, np.array([history]), np.array([ended]), np.array([len(history) - 1]))


class _Calls:
    """The kernels of one problem, called with what is `given`, in the order of their parameters."""

    def __init__(self, problems: Problems, start: Forward):
        self.second_order = problems.plan.second_order
        self.given = problems.times | problems.shared | {k: x[0, ...] for k, x in problems.each.items()}
        self.given |= {"q_0": start.q[0, 0], "v_0": start.v[0, 0]}
        self.slopes, self.backward, self.forward = (_caller(kernel, self.given) for kernel in problems.kernels)
        # Slopes are of use until the next ones are computed, into the same arrays.
        sizes = [where.size for where in slope_kernel(problems.plan).packing]
        self.work = tuple(np.empty((start.u.shape[1], size)) for size in sizes)

    def gains(self, now: Forward, mu: float) -> Backward:
        """The gains along a motion, with the penalty mu on its steps."""
        given = self.given
        given |= {"q": now.q, "v": now.v, "u": now.u, "q_end": now.q_end, "v_end": now.v_end, "mu": mu, "bending": 1.0}
        given |= self.slopes(out=self.work)._asdict()
        found = self.backward()
        if self.second_order and not isfinite(found.slope):
            # Without the curvature of the dynamics, the cost to go of convex costs stays convex.
            given["bending"] = 0.0
            found = self.backward()
        return found

    def better(self, now: Forward, gains: Backward) -> tuple[Forward, float]:
        """A motion of lower cost and the length of its step, or the same motion and 0."""
        k, K, slope, bend, _ = gains
        self.given |= {"k": k, "K": K, "slope": slope, "bend": bend, "before": now.cost, "alpha": 1.0}
        whole = self.forward()
        if whole.cost < inf:
            return whole, 1.0
        self.given["alpha"] = SHORTER
        several = self.forward()
        best = int(several.cost.argmin())
        if several.cost[best] < inf:
            return Forward(*(x[best] for x in several)), float(SHORTER[best])
        return now, 0.0


def _caller(kernel: Kernel, given: dict) -> Callable:
    names = [p.name for p in kernel.parameters]
    return lambda **out: kernel(*[given[name] for name in names], **out)
