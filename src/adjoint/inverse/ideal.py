"""The ideal arm that is nearest to a real one: axes that nearly meet, or are nearly parallel, made exactly so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .axes import Axis, meeting_point
from .families import Plan, common_point, plane_normal, position_places, side_places
from .subproblems import across

__all__ = ["difference_of", "idealised", "through"]


def idealised(axes: Sequence[Axis], plan: Plan, tolerance: float) -> tuple[Axis, ...]:
    """The axes with what the plan takes for parallel, meeting or at right angles made exactly so."""
    found, triple = list(axes), slice(plan.start, plan.start + 3)
    if plan.family == "spherical":
        found[triple] = through(axes[triple], common_point(axes[triple], tolerance))
        i, j = position_places(plan)
        found[i], found[j] = _related(found[i], found[j], plan.relation)
    if plan.family == "planar":
        k = plane_normal(axes[triple], tolerance)
        found[triple] = [_kept_to(a, k) for a in axes[triple]]
        near, far, middle = side_places(plan)
        if plan.relation != "skew":
            other = near if plan.relation == "near" else far
            found[middle], found[other] = _related(found[middle], found[other], "meeting")
    return tuple(found)


def through(axes: Sequence[Axis], point) -> list[Axis]:
    """The axes, moved to pass through a point (3,)."""
    return [a._replace(point=point) for a in axes]


def _kept_to(a: Axis, k) -> Axis:
    """A revolute axis along k, or a slide across it."""
    if a.kind == "R":
        return a._replace(direction=k * np.sign(k @ a.direction))
    d = across(k, a.direction)
    return a._replace(direction=d / np.linalg.norm(d))


def _related(a: Axis, b: Axis, how: str) -> tuple[Axis, Axis]:
    """The axes a and b, made to lie exactly as `how` says."""
    if how == "meeting":
        x = (meeting_point(a, b) + meeting_point(b, a)) / 2
        return a._replace(point=x), b._replace(point=x)
    if how == "parallel":
        sign = np.sign(a.direction @ b.direction)
        k = a.direction + sign * b.direction
        k = k / np.linalg.norm(k)
        return a._replace(direction=k), b._replace(direction=sign * k)
    if how == "right":
        slides = a if a.kind == "P" else b
        fixed = b if slides is a else a
        d = across(fixed.direction, slides.direction)
        straight = slides._replace(direction=d / np.linalg.norm(d))
        return (straight, b) if slides is a else (a, straight)
    return a, b


def difference_of(axes: Sequence[Axis], ideal: Sequence[Axis]) -> float:
    """How much an arm and its ideal differ, as lines in space [rad, sizes of the arm]."""
    apart = 0.0
    for a, b in zip(axes, ideal, strict=True):
        lines = [np.cross(x.point, x.direction) if x.kind == "R" else 0.0 for x in (a, b)]
        apart = max(apart, np.abs(a.direction - b.direction).max(), np.max(np.abs(lines[0] - lines[1])))
    return float(apart)
