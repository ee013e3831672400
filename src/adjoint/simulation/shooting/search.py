"""The iterations of `ilqr`, for many problems at once: gains, then better motions, until nothing is left to gain."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .passes import Backward, backward_kernel, forward_kernel
from .problem import ShootingPlan, slope_kernel

__all__ = ["Ended", "Motions", "Problems", "rolled_out", "search"]

SHORTER = np.array([0.5, 0.25, 0.125, 0.06, 0.03, 0.01, 0.003, 0.001])  # lengths of steps, if that of 1 does not do
SUFFICIENT = 1e-4  # of the decrease that a step promises (Armijo's rule)
LEAST, FIRST, MOST = 1e-6, 1e-3, 1e9  # the weight of the penalty on steps: below LEAST it is 0, above MOST we give up
NEARLY_FREE = 1e-3  # a step with less penalty than this is long enough to judge convergence by it


class Problems(NamedTuple):
    """B problems: what their machine code depends on, the numbers that they share, and those of each, (B, ...)."""

    plan: ShootingPlan
    t: np.ndarray  # (N + 1,)
    shared: dict[str, np.ndarray]
    each: dict[str, np.ndarray]

    def part(self, at: np.ndarray) -> Problems:
        """Some of the problems."""
        return self._replace(each={k: x[at] for k, x in self.each.items()})


class Motions(NamedTuple):
    """Motions of B problems: q (B, N + 1, nq), v (B, N + 1, nv), the motors' forces u (B, N, m), and costs (B,)."""

    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    cost: np.ndarray


class Ended(NamedTuple):
    """What a search has found: the last motions and their gains, the costs (B, iterations + 1), and how it ended."""

    motions: Motions
    gains: Backward
    history: np.ndarray
    success: np.ndarray
    iterations: np.ndarray


def search(problems: Problems, now: Motions, iterations: int, tolerance: float) -> Ended:
    """Lower the costs of motions until the next iteration promises less than `tolerance` of them.

    Each problem goes its own way, and does not depend on the others.
    """
    size = len(now.cost)
    mu, success, taken = np.zeros(size), np.zeros(size, bool), np.zeros(size, int)
    kept, history, going = gains_along(problems, now, mu), [now.cost], np.isfinite(now.cost)
    for _ in range(iterations):
        at = np.flatnonzero(going)
        some, part = (problems, now) if len(at) == size else (problems.part(at), _rows(now, at))
        gains = gains_along(some, part, mu[at])
        promised = -(gains.slope + gains.bend / 2)
        sound = np.isfinite(promised)
        ended = (promised <= tolerance * np.abs(part.cost)) & (mu[at] <= NEARLY_FREE)
        new, length = _better(some, part, gains, ~ended & sound)
        kept, now = _merged(kept, gains, at, sound), _merged(now, new, at, length > 0)
        success[at], taken[at] = ended, taken[at] + ~ended
        mu[at] = _penalties(mu[at], length)
        going[at] = ~ended & (mu[at] <= MOST)
        if not going.any():
            break
        history.append(now.cost)
    return Ended(now, kept, np.stack(history, axis=-1), success, taken)


def _penalties(mu: np.ndarray, length: np.ndarray) -> np.ndarray:
    """The weights of the penalty after steps of these lengths; 0 is a step that was not taken."""
    factor = np.select([length == 0, length < 0.2, length < 0.5], [10.0, 3.0, 1.0], 0.2)
    found = np.where(factor > 1, np.maximum(factor * mu, FIRST), factor * mu)
    return np.where(found < LEAST, 0.0, found)


def _better(problems: Problems, now: Motions, gains: Backward, wanted: np.ndarray) -> tuple[Motions, np.ndarray]:
    """Motions of lower cost where wanted, and the lengths (B,) of their steps, 0 where there is none.

    A whole step is tried first; then several shorter ones at once, of which the best counts.
    """
    length = np.zeros(len(now.cost))
    for lengths in (np.ones(1), SHORTER):
        at = np.flatnonzero(wanted & (length == 0))
        if len(at) == 0:
            break
        part, own = _rows(now, at), _rows(gains, at)
        found = rolled_out(problems.part(at), part, own.k, own.K, lengths)
        promised = own.slope[:, None] * lengths + own.bend[:, None] * lengths**2 / 2
        good = found.cost <= part.cost[:, None] + SUFFICIENT * promised
        best = np.argmin(np.where(good, found.cost, np.inf), axis=1)
        chosen = np.arange(len(at)), best
        now = _merged(now, Motions(*(x[chosen] for x in found)), at, good[chosen])
        length[at] = np.where(good[chosen], lengths[best], 0.0)
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


def rolled_out(problems: Problems, now: Motions, k, K, lengths: np.ndarray) -> Motions:
    """The motions (B, A, ...) with steps of A lengths about motions of B problems."""
    plan, size = problems.plan, (len(now.cost), len(lengths))
    found = Motions(*(np.empty((*size, *x.shape[1:])) for x in now))
    found.q[:, :, 0], found.v[:, :, 0] = now.q[:, None, 0], now.v[:, None, 0]
    rows = {"q": now.q[:, :-1], "v": now.v[:, :-1], "u": now.u, "k": k, "K": K}
    given = {name: x[:, None] for name, x in (rows | problems.each).items()} | {"alpha": lengths}
    out = found.q[:, :, 1:], found.v[:, :, 1:], found.u, found.cost
    given |= {"q_start": found.q[:, :, 0], "v_start": found.v[:, :, 0]}
    if size == (1, 1):
        given = {name: x[0] if name == "alpha" else x[0, 0] for name, x in given.items()}
        out = tuple(x[0, 0, ...] for x in out)
    forward_kernel(plan)(t=problems.t[:-1], t_end=problems.t[-1], **given, **problems.shared, out=out)
    return found


def gains_along(problems: Problems, now: Motions, mu: np.ndarray) -> Backward:
    """The gains for B motions, with penalties mu (B,) on their steps."""
    plan = problems.plan
    instant = {"q": now.q[:, :-1], "v": now.v[:, :-1], "u": now.u, "q_next": now.q[:, 1:]}
    numbers = {k: x[:, None] for k, x in problems.each.items()} | _without_limits(problems.shared)
    slopes = slope_kernel(plan).packed(t=problems.t[:-1], **instant, **numbers)._asdict()
    given: dict[str, Any] = {k: x for k, x in slopes.items() if x.shape[-1]} | problems.each
    given |= instant if plan.second_order else {"u": now.u}
    given |= {"q_end": now.q[:, -1], "v_end": now.v[:, -1], "mu": mu}
    if not plan.second_order:
        return _backward(problems, given)
    found = _backward(problems, given | {"bending": np.ones(len(mu))})
    bad = np.flatnonzero(~np.isfinite(found.slope))
    if len(bad) == 0:
        return found
    # Without the curvature of the dynamics, the cost to go of convex costs stays convex.
    again = _backward(problems, {k: x[bad] for k, x in given.items()} | {"bending": np.zeros(len(bad))})
    return _merged(found, again, bad, np.ones(len(bad), bool))


def _without_limits(numbers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {k: x for k, x in numbers.items() if k not in ("lower", "upper")}


def _backward(problems: Problems, given: dict[str, np.ndarray]) -> Backward:
    """The backward pass; a problem alone is called without its axis, which takes machine code for single calls."""
    plan, alone = problems.plan, len(given["mu"]) == 1
    given = {k: x[0] for k, x in given.items()} if alone else given
    times = {"t": problems.t[:-1]} if plan.second_order else {}
    found = backward_kernel(plan)(**given, **times, t_end=problems.t[-1], **problems.shared)
    return Backward(*(np.asarray(x)[None] for x in found)) if alone else found
