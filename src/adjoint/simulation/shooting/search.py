"""The iterations of `ilqr`, for many problems at once: gains, then better motions, until nothing is left to gain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import Kernel
from .passes import Backward, Forward, backward_kernel, forward_kernel
from .problem import ShootingPlan, slope_kernel

__all__ = ["Ended", "Problems", "kernels", "penalty", "rolled_out", "search"]

WHOLE = np.ones(1)
SHORTER = np.array([0.5, 0.25, 0.125, 0.06, 0.03, 0.01, 0.003, 0.001])  # lengths of steps, if that of 1 does not do
LEAST, FIRST, MOST = 1e-6, 1e-3, 1e9  # the weight of the penalty on steps: below LEAST it is 0, above MOST we give up
NEARLY_FREE = 1e-3  # a step with less penalty than this is long enough to judge convergence by it


class Kernels(NamedTuple):
    """The machine code of a problem: derivatives of all steps, packed, and the two passes."""

    slopes: Kernel
    backward: Kernel
    forward: Kernel


def kernels(plan: ShootingPlan) -> Kernels:
    """The `Kernels` for a plan."""
    return Kernels(slope_kernel(plan).packed, backward_kernel(plan), forward_kernel(plan))


class Problems(NamedTuple):
    """B problems: what their machine code depends on, the numbers that they share, and those of each, (B, ...)."""

    plan: ShootingPlan
    kernels: Kernels
    times: dict[str, np.ndarray]  # t (N,) of the steps, and t_end
    shared: dict[str, np.ndarray]
    each: dict[str, np.ndarray]

    def part(self, at: np.ndarray) -> Problems:
        """Some of the problems."""
        return self._replace(each={k: x[at] for k, x in self.each.items()}) if self.each else self


class Ended(NamedTuple):
    """What a search has found: the last motions and their gains, the costs (B, iterations + 1), and how it ended."""

    motions: Forward
    gains: Backward
    history: np.ndarray
    success: np.ndarray
    iterations: np.ndarray


def search(problems: Problems, now: Forward, iterations: int, tolerance: float) -> Ended:
    """Lower the costs of the motions `now` (B, ...) until the next iteration promises less than `tolerance` of them.

    Each problem goes its own way, and does not depend on the others.
    """
    size, kept = len(now.cost), None
    mu, success, taken, going = np.zeros(size), np.zeros(size, bool), np.zeros(size, int), np.ones(size, bool)
    history = [now.cost]
    while kept is None or (going.any() and len(history) <= iterations):
        at = np.flatnonzero(going)
        some, part = problems.part(at), _rows(now, at)
        gains = gains_along(some, part, mu[at])
        promised = -(gains.slope + gains.bend / 2)
        sound = np.isfinite(promised)
        ended = (promised <= tolerance * np.abs(part.cost)) & (mu[at] <= NEARLY_FREE)
        new, length = _better(some, part, gains, ~ended & sound)
        kept = gains if kept is None else _merged(kept, gains, at, sound)
        now = _merged(now, new, at, length > 0)
        mu[at] = [penalty(*x) for x in zip(mu[at], length, strict=True)]
        success[at], taken[at], going[at] = ended, taken[at] + ~ended, ~ended & (mu[at] <= MOST)
        if not ended.all():
            history.append(now.cost)
    return Ended(now, kept, np.stack(history, axis=-1), success, taken)


def penalty(mu: float, length: float) -> float:
    """The weight of the penalty after a step of this length; 0 is a step that was not taken."""
    if length < 0.2:
        return max(FIRST, mu * (10.0 if length == 0 else 3.0))
    found = mu if length < 0.5 else 0.2 * mu
    return 0.0 if found < LEAST else found


def _better(problems: Problems, now: Forward, gains: Backward, wanted: np.ndarray) -> tuple[Forward, np.ndarray]:
    """Motions of lower cost where wanted, and the lengths (B,) of their steps, 0 where there is none.

    A whole step is tried first; then several shorter ones at once, of which the best counts.
    """
    length = np.zeros(len(now.cost))
    for lengths in (WHOLE, SHORTER):
        at = np.flatnonzero(wanted)
        if len(at) == 0:
            break
        found = rolled_out(problems.part(at), _rows(now, at), _rows(gains, at), lengths)
        best = found.cost.argmin(axis=1)
        chosen = Forward(*(x[np.arange(len(at)), best] for x in found))
        good = chosen.cost < np.inf
        now = _merged(now, chosen, at, good)
        length[at] = lengths[best] * good
        wanted = wanted & (length == 0)
    return now, length


def _rows(record, at: np.ndarray):
    """The rows `at` of all arrays of a record."""
    return record if len(at) == len(record[-1]) else type(record)(*(x[at] for x in record))


def _merged(old, new, at: np.ndarray, good: np.ndarray):
    """The record `old`, in which the rows `at` are those of `new` as far as they are good."""
    if len(at) == len(old[-1]) and good.all():
        return new
    found = type(old)(*(x.copy() for x in old))
    for x, y in zip(found, new, strict=True):
        x[at[good]] = y[good]
    return found


# --- calls of the kernels ---------------------------------------------------------------------------------------------


def rolled_out(problems: Problems, now: Forward, gains: Backward, lengths: np.ndarray) -> Forward:
    """The motions (B, A, ...) with steps of A lengths about motions of B problems; costs of poor ones are infinite."""
    size = len(now.cost), len(lengths)
    given = {
        "q": now.q, "v": now.v, "u": now.u, "k": gains.k, "K": gains.K, "q_0": now.q[:, 0], "v_0": now.v[:, 0],
        "before": now.cost, "slope": gains.slope, "bend": gains.bend, **problems.each,
    }  # fmt: skip
    # One problem is called without its axis, and one length without that of lengths: this is less work.
    given = {name: x[0, ...] if size[0] == 1 else x[:, None] for name, x in given.items()}
    alpha = lengths[0, ...] if size == (1, 1) else lengths
    found = problems.kernels.forward(**problems.times, alpha=alpha, **given, **problems.shared)
    return Forward(*(np.reshape(x, (*size, *y.shape[1:])) for x, y in zip(found, now, strict=True)))


def gains_along(problems: Problems, now: Forward, mu: np.ndarray) -> Backward:
    """The gains for B motions, with penalties mu (B,) on their steps."""
    states = {"q": now.q, "v": now.v, "u": now.u}
    numbers = {k: x[:, None] for k, x in problems.each.items()}
    numbers |= {k: x for k, x in problems.shared.items() if k not in ("lower", "upper")}
    slopes = problems.kernels.slopes(t=problems.times["t"], **states, **numbers)._asdict()
    given = {k: x for k, x in slopes.items() if x.shape[-1]} | problems.each
    given |= {"q_end": now.q_end, "v_end": now.v_end, "mu": mu}
    if not problems.plan.second_order:
        return _backward(problems, given | {"u": now.u})
    given |= states
    found = _backward(problems, given | {"bending": np.ones(len(mu))})
    bad = np.flatnonzero(~np.isfinite(found.slope))
    if len(bad) == 0:
        return found
    # Without the curvature of the dynamics, the cost to go of convex costs stays convex.
    again = _backward(problems, {k: x[bad] for k, x in given.items()} | {"bending": np.zeros(len(bad))})
    return _merged(found, again, bad, np.ones(len(bad), bool))


def _backward(problems: Problems, given: dict[str, np.ndarray]) -> Backward:
    """The backward pass; a problem alone is called without its axis, which takes machine code for single calls."""
    alone = len(given["mu"]) == 1
    given = {k: x[0, ...] for k, x in given.items()} if alone else given
    times = problems.times if problems.plan.second_order else {"t_end": problems.times["t_end"]}
    found = problems.kernels.backward(**given, **times, **problems.shared)
    return Backward(*(np.asarray(x)[None] for x in found)) if alone else found
