"""Obstacles with tables of their own sizes, convex hulls and height fields: one kernel call for each of them.

Balls tell first which shapes are near; only these are checked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..sensing.scene.solids import Solid
from .collision_models import CollisionModel
from .collision_solids import ConvexHull, HeightField
from .model_each import shape_rows_of
from .pair_distances import PairDistance
from .pair_height_fields import capsule_height_field
from .pair_hulls import capsule_hull, capsule_hull_apart

__all__: list[str] = []

FARTHEST = 1e3  # distances to height fields are known up to here [m]


class Flat(NamedTuple):
    """Some of the shapes (m,) of some configurations: the numbers of both, and their capsules (m, 3), (m, 3), (m,)."""

    sample: np.ndarray
    shape: np.ndarray
    start: np.ndarray
    end: np.ndarray
    radius: np.ndarray

    def some(self, wanted) -> Flat:
        return Flat(*(x[wanted] for x in self))


def shapes_at(model: CollisionModel, q: np.ndarray, *, fixed: bool = False) -> Flat:
    """All shapes that are checked against obstacles at q (n, nq), carried ones too; all others too if `fixed`."""
    plan, carried = model._plan, model.carried_rows
    bound = plan.bound(shape_rows_of)
    rows = bound(q) if carried is None else bound(q, carried)
    first = np.arange(plan.count) if fixed else plan.moving
    used = np.concatenate([first, np.arange(plan.count, len(model.shape_names))]).astype(int)
    sample, shape = np.meshgrid(np.arange(len(q)), used, indexing="ij")
    some = rows[:, used].reshape(-1, 7)
    return Flat(sample.ravel(), shape.ravel(), some[:, :3], some[:, 3:6], some[:, 6])


def near(solid: Solid, shapes: Flat, reach) -> np.ndarray:
    """Whether shapes may be nearer to a solid than `reach`: by balls around shapes, and the box around the solid."""
    middle = (shapes.start + shapes.end) / 2
    ball = np.linalg.norm(shapes.end - shapes.start, axis=1) / 2 + shapes.radius
    T = solid.T_world_solid
    p = (middle - T[:3, 3]) @ T[:3, :3]
    assert solid.bounds is not None
    low, high = solid.bounds
    if isinstance(solid, HeightField):
        low = np.array([*low[:2], -np.inf])  # the ground has no bottom
    return np.linalg.norm(p - np.clip(p, low, high), axis=1) < ball + reach


def apart(solid: Solid, shapes: Flat, margin: float) -> np.ndarray:
    """Whether shapes are more than a margin away from a hull or a height field."""
    if isinstance(solid, ConvexHull):
        rows = solid.tables.rows
        return capsule_hull_apart(shapes.start, shapes.end, shapes.radius, solid.T_world_solid, rows, margin) > 0
    return pair_of(solid, shapes, margin + 1e-3).distance > margin


def pair_of(solid: Solid, shapes: Flat, reach: float | np.ndarray = FARTHEST) -> PairDistance:
    """The distances of shapes and a hull or a height field; those beyond `reach` need not be exact."""
    T = solid.T_world_solid
    if isinstance(solid, ConvexHull):
        return capsule_hull(shapes.start, shapes.end, shapes.radius, T, solid.tables.rows)
    assert isinstance(solid, HeightField)
    return capsule_height_field(shapes.start, shapes.end, shapes.radius, T, *solid.grid, reach)


def others_free(model: CollisionModel, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Whether configurations q (n, nq) that were free (n,) so far are free of the other obstacles, too."""
    left = np.flatnonzero(free)
    result = free.copy()
    if not len(left):
        return result
    shapes = shapes_at(model, q[left])
    for k, solid in model.tables.others:
        margin = float(model.tables.margins[k])
        wanted = near(solid, shapes, margin) & ~model.allowed[k][shapes.shape] & result[left][shapes.sample]
        some = shapes.some(wanted)
        if len(some.sample):
            result[left[some.sample[~apart(solid, some, margin)]]] = False
    return result


class Closest(NamedTuple):
    """The least clearance (n,) over the other obstacles, where it is below what was known, and its pair."""

    clearance: np.ndarray
    distance: np.ndarray
    shape: np.ndarray
    obstacle: np.ndarray
    point_a: np.ndarray
    point_b: np.ndarray
    normal: np.ndarray


def others_nearest(model: CollisionModel, q: np.ndarray, known: np.ndarray) -> Closest:
    """The pairs with other obstacles that have less clearance than the known one (n,), else ∞, in the base frame."""
    n = len(q)
    best = Closest(
        np.full(n, np.inf), np.full(n, np.inf), np.full(n, -1), np.full(n, -1),
        np.full((n, 3), np.nan), np.full((n, 3), np.nan), np.full((n, 3), np.nan),
    )  # fmt: skip
    shapes = shapes_at(model, q)
    for k, solid in model.tables.others:
        margin = float(model.tables.margins[k])
        bar = np.minimum(np.fmin(known, best.clearance) + margin, FARTHEST)[shapes.sample]
        wanted = near(solid, shapes, np.maximum(bar, 0.0)) & ~model.allowed[k][shapes.shape]
        some = shapes.some(wanted)
        if not len(some.sample):
            continue
        pair = pair_of(solid, some, np.maximum(bar[wanted], 0.0) + 1e-3)
        order = np.argsort(pair.distance, kind="stable")[::-1]  # the least one of each sample is written last
        least = np.full(n, -1)
        least[some.sample[order]] = order
        at = np.flatnonzero(
            (least >= 0) & (np.where(least >= 0, pair.distance[least], np.inf) - margin < best.clearance)
        )
        i = least[at]
        best.clearance[at], best.distance[at] = pair.distance[i] - margin, pair.distance[i]
        best.shape[at], best.obstacle[at] = some.shape[i], k
        best.point_a[at], best.point_b[at], best.normal[at] = pair.point_a[i], pair.point_b[i], pair.normal[i]
    return best


def others_each(model: CollisionModel, q: np.ndarray) -> np.ndarray:
    """The clearance (n, shapes) of each shape from the other obstacles; ∞ for those that are not checked."""
    found = np.full((len(q), len(model.shape_names)), np.inf)
    shapes = shapes_at(model, q)
    for k, solid in model.tables.others:
        some = shapes.some(~model.allowed[k][shapes.shape])
        if len(some.sample):
            at = some.sample, some.shape
            found[at] = np.minimum(found[at], pair_of(solid, some).distance - model.tables.margins[k])
    return found
