"""How kernels go over all pairs of a collision model: rows of obstacles, shapes of the robot, and what is skipped.

All obstacles of primitive kinds lie in one table, sorted by kinds; loops go over its rows, so that their number is an
input. Inside, code goes over the shapes of the robot; what is far from an obstacle in all lanes is skipped by a branch
(`when`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..compile import kernel, row_at, scan, static, while_loop
from .model_kinds import KINDS, ROW_SIZE
from .model_plan import ModelPlan, carried_rows, placed_balls, placed_of_row, placed_shapes, placements

__all__: list[str] = []

MOST_ROWS = 1 << 40  # a bound for loops, which the number of rows never reaches
MOST_UNROLLED = 48  # of more shapes, or in pairs of more, loops take one after the other
MOST_PAIRS = 400
MOST_BODY_PAIRS = 64


class SizedKernel:
    """A kernel for few and for many configurations: only the latter may use several threads.

    The compiler estimates the work of a call as if no branch were skipped, and so starts threads for calls that end
    before the threads have begun.
    """

    def __init__(self, function: Callable):
        shapes = {"q": "nq", "table": (..., ROW_SIZE), "ends": len(KINDS), "allowed": (..., "columns")}
        shapes |= {"carried": ("carried", 8), "checked": ("carried", "count")}
        self.__wrapped__ = function
        self.few, self.many = (kernel(plan=static, **shapes)(function) for _ in range(2))
        self.few.threads = 1


def sized_kernel(function: Callable) -> SizedKernel:
    """Decorate a function of a plan, q, and the tables of a model."""
    return SizedKernel(function)


def when(condition, body: Callable, carry) -> Any:
    """body(carry, 0.0) if the condition holds, else carry: skipped if it holds in no lane.

    It is a loop of one step. The body must add its second argument, which is 0, to what it computes with: otherwise
    LLVM sees that nothing in the loop changes, and computes everything before the branch.
    """
    return while_loop(lambda c: condition, lambda c: (body(*c), c[1] + 1.0), (carry, 0.0), max_iterations=1)[0]


def each_row(table, first, end, step: Callable, carry) -> Any:
    """carry = step(carry, row number, row) for the rows from `first` to `end` of a table."""

    def body(c):
        return step(c[0], c[1], row_at(table, c[1])), c[1] + 1.0

    return while_loop(lambda c: c[1] < end, body, (carry, first), max_iterations=MOST_ROWS)[0]


def each_kind(table, ends, step: Callable, carry) -> Any:
    """carry = step(kind, carry, row number, row) for all rows of the table; `ends` are the ends of the kinds."""
    first = 0.0 * ends[0]
    for k, kind in enumerate(KINDS):
        carry = each_row(table, first, ends[k], lambda c, i, row, kind=kind: step(kind, c, i, row), carry)
        first = ends[k]
    return carry


def valid_numbers(q):
    """Whether all coordinates are numbers."""
    return np.sum(np.abs(q)) < np.inf if len(q) else np.bool_(True)


class PlacedRobot:
    """The shapes of a robot in one configuration: in groups, one for each body, and as rows."""

    def __init__(self, plan: ModelPlan, q, carried):
        self.plan, self.T = plan, placements(plan, q)
        self.shapes, self.balls = placed_shapes(plan, self.T), placed_balls(plan, self.T)
        self.moving = [self.shapes[k] for k in plan.moving]
        self.carried = carried_rows(plan, self.T, carried)
        self.groups = [
            (self.balls[body], [self.shapes[k] for k in own]) for body, own in plan.shapes.groups.items() if body >= 0
        ]
        # These are made here, not at their first use: that may be inside a loop.
        self.own_rows = np.stack([a.row() for a in self.shapes]) if self.shapes else None
        self.moving_rows = np.stack([a.row() for a in self.moving]) if self.moving else None
        self.carried_ball: Any = None if carried is None else self._around_carried()

    @property
    def rows(self):
        """The rows (m, SHAPE_SIZE) of all shapes that move, carried ones last; None if there are none."""
        parts = [rows for rows in (self.moving_rows, self.carried) if rows is not None]
        return np.concatenate(parts) if parts else None

    def _around_carried(self):
        """The center (3,) and the radius of a ball around all carried shapes; rows that are not needed do not count."""

        def add(carry, row):
            a = placed_of_row(row)
            there = np.where(a.radius > 0, 1.0, 0.0)
            return (carry[0] + there * a.middle, carry[1] + there), None

        total, count = scan(add, (np.zeros(3), 0.0), self.carried)[0]
        center = total / np.maximum(count, 1.0)

        def reach(radius, row):
            a = placed_of_row(row)
            off = a.middle - center
            size = np.sqrt(off @ off) + a.radius + 0.5 * np.sqrt(a.square)
            return np.where(a.radius > 0, np.maximum(radius, size), radius), None

        return center, scan(reach, 0.0, self.carried)[0]


def over(rows, step: Callable, carry):
    """carry = step(carry, shape) for all rows of shapes; rows may be None."""
    return carry if rows is None else scan(lambda c, row: (step(c, placed_of_row(row)), None), carry, rows)[0]


def at(numbers, k):
    """Number k of a row; k is known when code is made, or computed."""
    return numbers[int(k)] if isinstance(k, float) else row_at(numbers, k)


def own_pairs(robot: PlacedRobot, one: Callable, best, least: Callable):
    """best = one(best, a, b) for all pairs of the robot's own shapes that may be better, in loops over shapes."""
    pairs = robot.plan.body_pairs
    if len(pairs) > MOST_BODY_PAIRS:
        marks, groups = robot.plan.marks, np.arange(robot.plan.count)
        return _two_loops(robot, groups, groups, marks, one, best, least)
    for i, j in pairs:
        (a, ra), (b, rb) = robot.balls[i], robot.balls[j]
        first, second = robot.plan.shapes.groups[i], robot.plan.shapes.groups[j]
        marks = robot.plan.marks[np.ix_(first, second)]
        apart = np.sqrt((a - b) @ (a - b)) - (ra + rb)

        def body(c, first=first, second=second, marks=marks):
            return _two_loops(robot, first, second, marks, one, c[0], least), c[1] + 1.0

        best = while_loop(lambda c, apart=apart: apart < least(c[0]), body, (best, 0.0), max_iterations=1)[0]
    return best


def _two_loops(robot: PlacedRobot, first, second, marks, one: Callable, best, least: Callable):
    """best = one(best, a, b) for the shapes a of `first` and b of `second` that are marked, and may be better."""
    rows, others = (np.stack([robot.shapes[k].row() for k in side]) for side in (first, second))

    def outer(best, xs):
        a = placed_of_row(xs[0])

        def inner(best, ys):
            b = placed_of_row(ys[0])
            reach = a.radius + b.radius + 0.5 * (np.sqrt(a.square) + np.sqrt(b.square))
            apart = a.middle - b.middle
            near = (ys[1] > 0) & (np.sqrt(apart @ apart) - reach < least(best))
            return when(near, lambda best, zero: one(best, a.moved(zero), b), best), None

        return scan(inner, best, (others, xs[1]))[0], None

    return scan(outer, best, (rows, marks))[0]
