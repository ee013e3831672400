"""How far a robot is from what it may hit: the least distance, its derivative, and the pair that has it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .collision_models import CollisionModel
from .model_arguments import link_of
from .model_each import pair_with
from .model_inputs import configurations, flat
from .model_kinds import KINDS
from .model_nearest import clearance_of, gradient_at, nearest_of
from .model_others import Flat, others_nearest, pair_of, shapes_at
from .pair_distances import PairDistance, capsule_capsule

__all__ = [
    "ClearanceGradient", "Nearest", "PairClearances", "clearance", "clearance_gradient", "nearest_pair",
    "pair_clearances",
]  # fmt: skip


class ClearanceGradient(NamedTuple):
    """The least clearance and its derivative: see `clearance_gradient`."""

    clearance: np.ndarray
    """(...) [m]"""
    gradient: np.ndarray
    """(..., nv) [m/rad] or [m/m]; 0 where nothing is near"""


class Nearest(NamedTuple):
    """The pair with the least clearance: see `nearest_pair`. For a batch, the names are arrays of objects."""

    distance: np.ndarray
    """(...) signed distance of the two [m]; ∞ if there is no pair"""
    a: object
    """the link, or carried solid, that is nearest to something"""
    b: object
    """the obstacle, or the other link; "" if there is none"""
    point_a: np.ndarray
    """(..., 3) on the surface of a, in the world [m]"""
    point_b: np.ndarray
    """(..., 3) on the surface of b"""
    normal: np.ndarray
    """(..., 3) unit vector from a to b"""
    clearance: np.ndarray
    """(...) the distance less the margin of b [m]"""


class PairClearances(NamedTuple):
    """The clearances of all pairs: see `pair_clearances`."""

    clearances: np.ndarray
    """(..., n) [m]"""
    names: tuple[tuple[str, str], ...]
    """n pairs (shape of the robot or carried solid, obstacle or other shape)"""


def clearance(model: CollisionModel, q) -> np.ndarray:
    """The least signed distance (...) [m] over all pairs of a collision model, at q (..., nq), less the margins.

        >>> from adjoint.collision import collision_model
        >>> from adjoint.sensing import Sphere
        >>> model = collision_model(robot, [Sphere(0.1, T_world_solid=[1.5, 0, 0.5])])
        >>> bool(clearance(model, q) > 0)
        True

    It is min(d - margin) over the shapes of the robot and all obstacles, and d over the pairs of its own bodies; depths
    of penetration are negative, and ∞ says that there is no pair. A configuration is free if its clearance is above 0.
    Where q is NaN or infinite, the result is NaN.
    """
    q = configurations(model, q, "clearance")
    x = flat(q)
    found = model.run(clearance_of, x)
    if model.tables.others:
        found = np.minimum(found, others_nearest(model, x, found).clearance)
    return found.reshape(q.shape[:-1])[()]


class _Found(NamedTuple):
    """The nearest pairs (n,) in the base frame; `b` is the number of an obstacle, or -1 - the number of a shape."""

    clearance: np.ndarray
    distance: np.ndarray
    a: np.ndarray
    b: np.ndarray
    point_a: np.ndarray
    point_b: np.ndarray
    normal: np.ndarray
    gradient: np.ndarray


def _nearest(model: CollisionModel, q: np.ndarray) -> _Found:
    """The nearest pairs at q (n, nq)."""
    found = model.run(nearest_of, q)
    valid, order = np.isfinite(found.clearance), model.tables.order
    a, row = (np.where(valid, x, -1.0).astype(int) for x in (found.a, found.b))
    b = np.where(row >= 0, np.append(order, -1)[np.maximum(row, 0)], row) if len(order) else row
    result = _Found(*(np.array(x) for x in (*found[:2], a, b, *found[4:])))
    if model.tables.others:
        _with_others(model, q, result)
    return result


def _with_others(model: CollisionModel, q: np.ndarray, result: _Found) -> None:
    """Put hulls and height fields that are nearer in the place of what was found."""
    other = others_nearest(model, q, result.clearance)
    at = np.flatnonzero(other.clearance < result.clearance)
    if not len(at):
        return
    for field in ("clearance", "distance", "point_a", "point_b", "normal"):
        getattr(result, field)[at] = getattr(other, field)[at]
    result.a[at], result.b[at] = other.shape[at], other.obstacle[at]
    bodies = model.shape_bodies[other.shape[at]].astype(float)
    bound = model._plan.sized(0).bound(gradient_at)
    result.gradient[at] = bound(q[at], bodies, other.point_a[at], -1.0, other.point_b[at], other.normal[at])


def clearance_gradient(model: CollisionModel, q) -> ClearanceGradient:
    """The least clearance (...) at q (..., nq) and its derivative (..., nv) by the velocities of the robot.

        >>> from adjoint.collision import collision_model
        >>> from adjoint.sensing import Sphere
        >>> model = collision_model(robot, [Sphere(0.1, T_world_solid=[1.0, 0, 0.5])])
        >>> clearance_gradient(model, q).gradient.shape
        (6,)

    The witness points may be held in their bodies (envelope theorem), so that

        ∂d/∂q = nᵀ (J_b(p_b) - J_a(p_a)),

    where n is the unit normal from a to b, and the Jacobian of an obstacle is 0. `integrate(robot, q, step · gradient)`
    moves the robot away from what is nearest. The clearance has kinks where two pairs are equally near: there, the
    gradient is that of one of them. It is 0 if there is no pair, and NaN where q is no configuration.
    """
    q = configurations(model, q, "clearance_gradient")
    found = _nearest(model, flat(q))
    gradient = np.where(np.isnan(found.clearance)[:, None], np.nan, found.gradient)
    return ClearanceGradient(
        found.clearance.reshape(q.shape[:-1])[()], gradient.reshape(*q.shape[:-1], gradient.shape[1])
    )


def nearest_pair(model: CollisionModel, q) -> Nearest:
    """What is nearest at q (..., nq), and where: `Nearest(distance, a, b, point_a, point_b, normal, clearance)`.

        >>> from adjoint.collision import collision_model
        >>> from adjoint.sensing import Sphere
        >>> model = collision_model(robot, [Sphere(0.1, T_world_solid=[0.6, 0, 1.2], name="ball")], pairs=())
        >>> nearest_pair(model, q).b
        'ball'

    It is the pair with the least clearance. Points and the normal are in the world, and point_b - point_a is
    distance · normal.
    """
    q = configurations(model, q, "nearest_pair")
    found, T = _nearest(model, flat(q)), model.T_world_base
    R, p = T[:3, :3], T[:3, 3]
    own = np.array([*map(link_of, model.shape_names), ""], object)
    b = np.where(found.b < 0, own[np.minimum(-1 - np.minimum(found.b, -1), len(own) - 1)], "")
    obstacles = np.array([*model.obstacle_names, ""], object)
    nothing = ~np.isfinite(found.clearance)
    b = np.where(nothing, "", np.where(found.b >= 0, obstacles[np.maximum(found.b, -1)], b))
    a = np.where(nothing, "", own[np.maximum(found.a, -1)])
    shape = q.shape[:-1]

    def shaped(x):
        return x.reshape(shape + x.shape[1:])[()]

    return Nearest(
        shaped(found.distance), shaped(a), shaped(b), shaped(found.point_a @ R.T + p),
        shaped(found.point_b @ R.T + p), shaped(found.normal @ R.T), shaped(found.clearance),
    )  # fmt: skip


# --- all pairs --------------------------------------------------------------------------------------------------------


def _obstacle_pair(model: CollisionModel, k: int, shapes: Flat) -> PairDistance:
    """The distances of shapes and obstacle k, in the base frame."""
    t = model.tables
    for number, solid in t.others:
        if number == k:
            return pair_of(solid, shapes)
    row = int(np.flatnonzero(t.order == k)[0])
    kind = list(KINDS)[int(np.searchsorted(t.ends, row, side="right"))]
    return pair_with(kind, t.rows[row], shapes.start, shapes.end, shapes.radius)


def all_pairs(model: CollisionModel, q: np.ndarray):
    """Yield (a, b, is an obstacle, distances (n,), margin) of all pairs of shapes, at q (n, nq)."""
    everything = shapes_at(model, q, fixed=True)
    count = len(model.shape_names)

    def rows(k: int) -> Flat:
        return everything.some(slice(k, None, count))

    def own(i: int, j: int) -> np.ndarray:
        a, b = rows(i), rows(j)
        return capsule_capsule(a.start, a.end, a.radius, b.start, b.end, b.radius).distance

    for i, j in model._plan.pairs.tolist():
        yield i, j, False, own(i, j), 0.0
    for c, marks in enumerate(model.checked):
        for j in np.flatnonzero(marks).tolist():
            yield model._plan.count + c, j, False, own(model._plan.count + c, j), 0.0
    used = [*model._plan.moving.tolist(), *range(model._plan.count, count)]
    for k in range(len(model.obstacles)):
        wanted = [i for i in used if not model.allowed[k, i]]
        if wanted:
            places = (np.arange(len(q))[:, None] * count + np.array(wanted)).ravel()
            d = _obstacle_pair(model, k, everything.some(places)).distance.reshape(len(q), -1)
            for column, i in enumerate(wanted):
                yield i, k, True, d[:, column], float(model.margins[k])


def pair_clearances(model: CollisionModel, q) -> PairClearances:
    """The clearances (..., n) [m] of all n pairs of shapes that are checked, and their names.

        >>> from adjoint.collision import collision_model
        >>> from adjoint.sensing import Sphere
        >>> found = pair_clearances(collision_model(robot, [Sphere(0.1, name="ball")], pairs=()), q)
        >>> found.names[0][1], found.clearances.shape == (len(found.names),)
        ('ball', True)

    They tell more than `clearance`, which is their least one, and take more time.
    """
    q = configurations(model, q, "pair_clearances")
    names, columns = [], []
    for a, b, is_obstacle, distance, margin in all_pairs(model, flat(q)):
        names.append((model.shape_names[a], (model.obstacle_names if is_obstacle else model.shape_names)[b]))
        columns.append(distance - margin)
    found = np.stack(columns, axis=-1) if columns else np.zeros((len(flat(q)), 0))
    return PairClearances(found.reshape(*q.shape[:-1], len(columns)), tuple(names))
