"""Clearances of each shape and each pair of bodies, and where the shapes are, as kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, row_at, scan, static
from .model_kinds import KINDS, ROW_SIZE
from .model_plan import ModelPlan, Placed, placed_of_row
from .model_traversal import PlacedRobot, each_kind, sized_kernel, when
from .pair_distances import PairDistance, capsule_capsule

__all__: list[str] = []


@kernel(plan=static, q="nq", carried=("carried", 8))
def shape_rows_of(plan: ModelPlan, q, carried=None):
    """The shapes (k, 7) in the base frame: start, end, radius; carried ones come last."""
    robot = PlacedRobot(plan, q, carried)
    rows = [np.stack([*a.start, *a.end, a.radius]) for a in robot.shapes]
    if carried is not None:
        rows += [np.stack([*r[:3], *(r[:3] + r[3:6]), r[6]]) for r in robot.carried]
    return np.stack(rows) if rows else np.zeros((0, 7))


@kernel(kind=static, row=ROW_SIZE, start=3, end=3)
def pair_with(kind: str, row, start, end, radius) -> PairDistance:
    """The distance of a capsule and an obstacle of the table."""
    way = end - start
    square = way @ way
    inverse = np.where(square > 0, 1 / np.where(square > 0, square, 1.0), 0.0)
    return KINDS[kind].pair(row, Placed(start, way, radius, 0.0, square, inverse))


class EachClearance(NamedTuple):
    """The result of `clearances_of`."""

    obstacles: Any
    own: Any
    held: Any


@sized_kernel
def clearances_of(plan: ModelPlan, q, table, ends, allowed=None, carried=None, checked=None) -> EachClearance:
    """The least clearance of each shape from obstacles (columns,), of each pair of bodies, and of each carried shape.

    Shapes that do not move have ∞. The last ones are those of carried shapes from the robot itself (c,).
    """
    robot = PlacedRobot(plan, q, carried)

    def each(carry, row):
        a = placed_of_row(row)

        def step(name, best, number, row):
            kind = KINDS[name]
            bound = kind.bound(row, a.middle) - 0.5 * np.sqrt(a.square) - a.radius - row[15]
            near = bound < best
            if allowed is not None:
                near = near & ~(row_at(row_at(allowed, number), a.number) > 0)

            def body(best, zero):
                return np.minimum(best, kind.pair(row, a.moved(zero)).distance - row[15])

            return when(near, body, best)

        return carry, each_kind(table, ends, step, np.inf + 0.0 * ends[0])

    rows = robot.rows
    found = np.zeros(0) if rows is None else scan(each, 0.0, rows)[1]
    of_shape = [np.inf] * plan.columns
    for place, k in enumerate([*plan.moving.tolist(), *range(plan.count, plan.count + plan.carried)]):
        of_shape[k] = found[place]
    own = _own_each(robot, np.inf + 0.0 * ends[0])
    held = np.zeros(0)
    if carried is not None and robot.shapes:
        shapes = np.stack([a.row() for a in robot.shapes])

        def outer(carry, xs):
            a = placed_of_row(xs[0])

            def inner(best, ys):
                b = placed_of_row(ys[0])
                distance = capsule_capsule(a.start, a.end, a.radius, b.start, b.end, b.radius).distance
                return np.where(ys[1] > 0, np.minimum(best, distance), best), None

            return carry, scan(inner, np.inf + 0.0 * ends[0], (shapes, xs[1]))[0]

        held = scan(outer, 0.0, (robot.carried, checked))[1]
    return EachClearance(np.stack(of_shape), own, held)


def _own_each(robot: PlacedRobot, infinity):
    """The least distance of the shapes of each pair of bodies (p,)."""
    plan = robot.plan
    if not plan.body_pairs:
        return np.zeros(0)
    groups = {b: np.stack([robot.shapes[k].row() for k in own]) for b, own in plan.shapes.groups.items()}
    found = []
    for i, j in plan.body_pairs:
        marks = plan.marks[np.ix_(plan.shapes.groups[i], plan.shapes.groups[j])]

        def outer(best, xs, others=groups[j]):
            a = placed_of_row(xs[0])

            def inner(best, ys):
                b = placed_of_row(ys[0])
                distance = capsule_capsule(a.start, a.end, a.radius, b.start, b.end, b.radius).distance
                return np.where(ys[1] > 0, np.minimum(best, distance), best), None

            return scan(inner, best, (others, xs[1]))[0], None

        found.append(scan(outer, infinity, (groups[i], marks))[0])
    return np.stack(found)
