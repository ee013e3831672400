"""What is nearest: the least clearance of a configuration, its pair, and its gradient, as kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, row_at, scan, static
from ..sweep import forces
from .model_kinds import KINDS
from .model_plan import ModelPlan, Placed, placed_of_row
from .model_traversal import PlacedRobot, at, each_kind, over, own_pairs, sized_kernel, valid_numbers, when
from .pair_distances import PairDistance, capsule_capsule

__all__: list[str] = []


class Nearer(NamedTuple):
    """The pair with the least clearance so far, in the base frame; see `nearest_of`."""

    clearance: Any
    distance: Any
    a: Any
    b: Any
    point_a: Any
    point_b: Any
    normal: Any


NOTHING = Nearer(np.inf, np.inf, -1.0, -1.0, np.full(3, np.nan), np.full(3, np.nan), np.full(3, np.nan))


def _nearer(best: Nearer, pair: PairDistance, margin, a, b, valid=None) -> Nearer:
    """The better one of the best pair so far and another one."""
    clearance = pair.distance - margin
    better = clearance < best.clearance if valid is None else (clearance < best.clearance) & valid
    new = Nearer(clearance, pair.distance, a, b, pair.point_a, pair.point_b, pair.normal)
    return Nearer(*(np.where(better, y, x) for x, y in zip(best, new, strict=True)))


def _least_of(robot: PlacedRobot, table, ends, allowed, carried, checked, pick: Callable, best, least: Callable):
    """Go over all pairs: best = pick(best, pair, margin, a, b, valid), where a bound says that it may be better.

    `least(best)` is the clearance of the best pair. Pair numbers b are rows of the table, or -1 - the number of a
    shape.
    """
    best = own_pairs(robot, lambda best, a, b: _pick_own(pick, best, a, b), best, least)
    if carried is not None and robot.shapes:

        def held(best, xs):
            a = placed_of_row(xs[0])

            def against(best, ys):
                b = placed_of_row(ys[0])
                apart, reach = a.middle - b.middle, a.radius + b.radius + 0.5 * (np.sqrt(a.square) + np.sqrt(b.square))
                near = (ys[1] > 0) & (np.sqrt(apart @ apart) - reach < least(best))
                return when(near, lambda best, zero: _pick_own(pick, best, a.moved(zero), b, ys[1] > 0), best), None

            return scan(against, best, (robot.own_rows, xs[1]))[0], None

        best = scan(held, best, (robot.carried, checked))[0]
    shapes = robot.rows

    def step(name, best, number, row):
        kind, open_ = KINDS[name], None if allowed is None else row_at(allowed, number)

        def one(best, a: Placed):
            bound = kind.bound(row, a.middle) - 0.5 * np.sqrt(a.square) - a.radius - row[15]
            valid = None if open_ is None else ~(at(open_, a.number) > 0)
            near = bound < least(best) if valid is None else (bound < least(best)) & valid

            def body(best, zero):
                return pick(best, kind.pair(row, a.moved(zero)), row[15], a.number, number, valid)

            return when(near, body, best)

        return over(shapes, one, best)

    return each_kind(table, ends, step, best)


def _pick_own(pick: Callable, best, a: Placed, b: Placed, valid=None):
    pair = capsule_capsule(a.start, a.end, a.radius, b.start, b.end, b.radius)
    return pick(best, pair, 0.0, a.number, -1.0 - b.number, valid)


@sized_kernel
def clearance_of(plan: ModelPlan, q, table, ends, allowed=None, carried=None, checked=None):
    """The least distance less its margin over all pairs; ∞ without any pair, and NaN if q is none."""

    def pick(best, pair, margin, a, b, valid):
        new = np.minimum(best, pair.distance - margin)
        return new if valid is None else np.where(valid, new, best)

    robot = PlacedRobot(plan, q, carried)
    best = _least_of(robot, table, ends, allowed, carried, checked, pick, np.inf + 0.0 * ends[0], lambda best: best)
    return np.where(valid_numbers(q), best, np.nan)


class NearestOf(NamedTuple):
    """The result of `nearest_of`: as `Nearer`, with the gradient (nv,) of the distance."""

    clearance: Any
    distance: Any
    a: Any
    b: Any
    point_a: Any
    point_b: Any
    normal: Any
    gradient: Any


@sized_kernel
def nearest_of(plan: ModelPlan, q, table, ends, allowed=None, carried=None, checked=None) -> NearestOf:
    """The pair with the least clearance, its witnesses in the base frame, and the gradient of its distance.

    b is a row of the table, or -1 - the number of a shape of the robot.
    """
    robot = PlacedRobot(plan, q, carried)
    best = _least_of(robot, table, ends, allowed, carried, checked, _nearer, NOTHING, lambda best: best.clearance)
    valid = valid_numbers(q)
    best = Nearer(*(np.where(valid, x, np.nan) for x in best))
    found = best.clearance < np.inf
    body_a, body_b = _body_of(plan, best.a, carried), _body_of(plan, -1.0 - best.b, carried)
    n = np.where(found, best.normal, 0.0)
    p_a, p_b = np.where(found, best.point_a, 0.0), np.where(found, best.point_b, 0.0)
    return NearestOf(*best, _gradient(robot, n, (body_a, p_a), (np.where(best.b < 0, body_b, -1.0), p_b)))


def _body_of(plan: ModelPlan, number, carried):
    """The body of a shape, as a number; shapes of the robot come first, carried ones after them."""
    own = np.append(plan.shapes.bodies.astype(float), -1.0)
    if carried is None:
        return row_at(own, number)
    return np.where(number < plan.count, row_at(own, number), row_at(carried, number - plan.count)[0])


def _gradient(robot: PlacedRobot, n, a, b):
    """∂d/∂q = nᵀ (J_b(p_b) - J_a(p_a)) (nv,), by forces n at p_b and -n at p_a that the joints feel.

    `a` and `b` are pairs (number of the body, point). The force on a body is felt by every joint before it.
    """
    plan = robot.plan
    model, own = plan.robot, {}
    felt: dict[int, Any] = {}
    for i in reversed(range(len(model.body_names))):
        wrench = felt.get(i, np.zeros(6))
        for sign, (body, p) in ((-1.0, a), (1.0, b)):
            f = np.where(body == i, sign * n, 0.0)
            wrench = wrench + np.concatenate([np.stack(list(np.cross(p, f))), f])
        parent = int(model.parents[i])
        if parent >= 0:
            felt[parent] = felt[parent] + wrench if parent in felt else wrench
        R, p = robot.T[i][:3, :3], robot.T[i][:3, 3]
        moment, force = wrench[:3], wrench[3:]
        local = np.concatenate([R.T @ (moment - np.stack(list(np.cross(p, force)))), R.T @ force])
        own[i] = model.screw(i) @ local
    return forces(model, dict(sorted(own.items())))


@kernel(plan=static, q="nq", point_a=3, point_b=3, normal=3)
def gradient_at(plan: ModelPlan, q, body_a, point_a, body_b, point_b, normal):
    """∂d/∂q = nᵀ (J_b(p_b) - J_a(p_a)) (nv,) of points that are fixed to bodies, in the base frame; -1 is the base."""
    return _gradient(PlacedRobot(plan, q, None), normal, (body_a, point_a), (body_b, point_b))
