"""Trials of a plan on random poses of an arm: does it find what the poses were made with, and which branches differ?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .axes import Axis
from .chains import Chain, joint_motion
from .families import Plan, solve

__all__ = ["ENOUGH", "all_places", "different_places", "fixed_rng", "recovers"]

ENOUGH = 6
"""How many joints closed forms have."""


def fixed_rng() -> np.random.Generator:
    """Random numbers that are the same in every process, and so are the plans."""
    return np.random.default_rng(15)


def _sample(axes: Sequence[Axis], rng: np.random.Generator, own: int) -> tuple[np.ndarray, np.ndarray]:
    """A random q, 0 beyond the first `own` joints, and the pose T' (4, 4) there."""
    q = np.where(np.arange(len(axes)) < own, rng.uniform(-2.5, 2.5, len(axes)), 0.0)
    q = np.where([a.kind == "P" for a in axes], q / 5, q)
    T = np.eye(4)
    for a, x in zip(axes, q, strict=True):
        T = T @ joint_motion(a, x)
    return q, T


def _apart(q, other, axes: Sequence[Axis]) -> float:
    """How far two configurations are apart, for angles up to full turns."""
    d = np.asarray(q, float) - np.asarray(other, float)
    turns = np.array([a.kind == "R" for a in axes])
    return float(np.abs(np.where(turns, d - 2 * np.pi * np.rint(d / (2 * np.pi)), d)).max(initial=0.0))


def recovers(axes: Sequence[Axis], plan: Plan, own: int = ENOUGH) -> bool:
    """Whether the plan finds the configurations that random poses were made with."""
    rng = fixed_rng()
    with np.errstate(all="ignore"):
        for _ in range(3):
            q, T = _sample(axes, rng, own)
            found = [a.q for a in solve(plan, axes, T) if a.exact]
            if not any(_apart(q, other, axes) < 1e-6 for other in found):
                return False
    return True


def all_places(plan: Plan, axes: Sequence[Axis]) -> tuple[int, ...]:
    """The places of all branches of a plan."""
    return tuple(range(len(solve(plan, axes, _sample(axes, fixed_rng(), ENOUGH)[1]))))


def different_places(chain: Chain, axes: Sequence[Axis], plan: Plan) -> tuple[int, ...]:
    """The places of the branches that differ in the robot's own joints and leave the added joints at 0 somewhere."""
    rng, n = fixed_rng(), len(chain.axes)
    samples = [solve(plan, axes, _sample(axes, rng, n)[1]) for _ in range(12)]
    zero = np.zeros(len(axes) - n)
    kept: list[int] = []
    for k in range(len(samples[0])):
        own = [found[k].q[:n] for found in samples]
        # With one added joint a branch may leave it at 0 rarely; with more of them it always does, or never.
        reached = len(zero) < 2 or any(
            found[k].exact and _apart(found[k].q[n:], zero, axes[n:]) < 1e-6 for found in samples
        )
        others = [[found[i].q[:n] for found in samples] for i in kept]
        if reached and all(any(_apart(x, y, chain.axes) > 1e-5 for x, y in zip(own, q, strict=True)) for q in others):
            kept.append(k)
    return tuple(kept)
