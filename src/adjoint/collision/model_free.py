"""Is a configuration free: the fastest kernel of a collision model, which compares squares, without distances."""

from __future__ import annotations

import numpy as np

from ..compile import row_at, scan
from .model_kinds import KINDS, UNROLLED, segment_square
from .model_plan import ModelPlan, Placed, placed_of_row
from .model_traversal import (
    MOST_PAIRS,
    MOST_UNROLLED,
    PlacedRobot,
    at,
    each_kind,
    over,
    own_pairs,
    sized_kernel,
    valid_numbers,
    when,
)  # fmt: skip

__all__: list[str] = []


@sized_kernel
def free_of(plan: ModelPlan, q, table, ends, allowed=None, carried=None, checked=None):
    """Whether a configuration is free, 1 or 0: all pairs are farther apart than the margins.

    `table` has the obstacles, `ends` (5,) the ends of their kinds in it. `allowed` (rows, shapes) is 1 where a shape
    may touch an obstacle. `carried` (c, 8) are carried shapes, and `checked` (c, shapes) is 1 where they are checked
    against a shape of the robot.
    """
    robot = PlacedRobot(plan, q, carried)
    slack = _own_slack(robot, 1.0)
    if carried is not None:
        slack = _carried_slack(robot, checked, slack)

    def step(name, slack, number, row):
        kind, open_ = KINDS[name], None if allowed is None else row_at(allowed, number)

        def one(slack, shape: Placed):
            new = kind.slack(row, shape)
            return np.minimum(slack, new if open_ is None else np.where(at(open_, shape.number) > 0, 1.0, new))

        def body(shapes):
            def found(slack, zero):
                for a in shapes:
                    slack = one(slack, a.moved(zero))
                return slack

            return found

        def rolled(slack, a: Placed):
            ball = a.radius + 0.5 * np.sqrt(a.square)
            return when(kind.near(row, a.middle, ball) & (slack > 0), body([a]), slack)

        if name in UNROLLED and len(robot.moving) <= MOST_UNROLLED:
            for (center, radius), shapes in robot.groups:
                slack = when(kind.near(row, center, radius) & (slack > 0), body(shapes), slack)
        else:
            slack = over(robot.moving_rows, rolled, slack)
        if robot.carried is None:
            return slack
        near = kind.near(row, *robot.carried_ball) & (slack > 0)
        return when(near, lambda slack, zero: over(robot.carried, rolled, slack + zero), slack)

    slack = each_kind(table, ends, step, slack)
    return np.where((slack > 0) & valid_numbers(q), 1.0, 0.0)


def _own_slack(robot: PlacedRobot, slack):
    """The least of slack and d² - (r_a + r_b)² over the pairs of the robot's own shapes."""
    plan = robot.plan
    if len(plan.pairs) > MOST_PAIRS:
        return own_pairs(robot, lambda slack, a, b: np.minimum(slack, _pair_slack(a, b)), slack, lambda slack: 0.0)
    for (i, j), pairs in plan.body_pairs.items():
        (a, ra), (b, rb) = robot.balls[i], robot.balls[j]

        def body(slack, zero, pairs=pairs):
            for k, m in pairs:
                slack = np.minimum(slack, _pair_slack(robot.shapes[k].moved(zero), robot.shapes[m]))
            return slack

        slack = when(((a - b) @ (a - b) < (ra + rb) ** 2) & (slack > 0), body, slack)
    return slack


def _pair_slack(a: Placed, b: Placed):
    reach = a.radius + b.radius
    return segment_square(a, b.start, b.way, b.square, b.inverse) - reach * reach


def _carried_slack(robot: PlacedRobot, checked, slack):
    """The least of slack and that of the carried shapes against the robot's own, where these are near all of them."""
    if not robot.shapes:
        return slack
    center, radius = robot.carried_ball

    def step(slack, ys):
        b, marks = placed_of_row(ys[0]), ys[1]
        reach = radius + b.radius + 0.5 * np.sqrt(b.square)
        apart = b.middle - center

        def one(slack, xs):
            new = _pair_slack(placed_of_row(xs[0]), b)
            return np.minimum(slack, np.where(xs[1] > 0, new, 1.0)), None

        def body(slack, zero):
            return scan(one, slack + zero, (robot.carried, marks))[0]

        return when((np.sum(marks) > 0) & (apart @ apart < reach * reach) & (slack > 0), body, slack), None

    return scan(step, slack, (robot.own_rows, np.transpose(checked)))[0]
