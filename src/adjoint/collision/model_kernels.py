"""One configuration against all obstacles and itself, as kernels: is it free, and what is nearest.

All obstacles of primitive kinds lie in one table, sorted by kinds; loops go over its rows, so that their number is an
input. Inside, code goes over the shapes of the robot, body by body; what is far from an obstacle in all lanes is
skipped by a branch (`when`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, row_at, scan, static, while_loop
from ..model.joints import JOINTS
from ..sweep import forces
from .model_kinds import KINDS, ROW_SIZE, UNROLLED, segment_square
from .model_plan import (
    ModelPlan,
    Placed,
    carried_rows,
    placed_balls,
    placed_of_row,
    placed_shapes,
    placements,
)
from .pair_distances import PairDistance, capsule_capsule

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


def _each_row(table, first, end, step: Callable, carry) -> Any:
    """carry = step(carry, row number, row) for the rows from `first` to `end` of a table."""

    def body(c):
        return step(c[0], c[1], row_at(table, c[1])), c[1] + 1.0

    return while_loop(lambda c: c[1] < end, body, (carry, first), max_iterations=MOST_ROWS)[0]


def _each_kind(table, ends, step: Callable, carry) -> Any:
    """carry = step(kind, carry, row number, row) for all rows of the table; `ends` are the ends of the kinds."""
    first = 0.0 * ends[0]
    for k, kind in enumerate(KINDS):
        carry = _each_row(table, first, ends[k], lambda c, i, row, kind=kind: step(kind, c, i, row), carry)
        first = ends[k]
    return carry


def _valid(q):
    """Whether all coordinates are numbers."""
    return np.sum(np.abs(q)) < np.inf if len(q) else np.bool_(True)


class _Robot:
    """The shapes of a robot in one configuration: in groups, one for each body, and as rows."""

    def __init__(self, plan: ModelPlan, q, carried):
        self.plan, self.T = plan, placements(plan, q)
        self.shapes, self.balls = placed_shapes(plan, self.T), placed_balls(plan, self.T)
        self.moving = [self.shapes[k] for k in plan.moving]
        self.carried = carried_rows(plan, self.T, carried)
        self.groups = [
            (self.balls[body], [self.shapes[k] for k in own]) for body, own in plan.shapes.groups.items() if body >= 0
        ]

    @property
    def rows(self):
        """The rows (m, SHAPE_SIZE) of all shapes that move, carried ones last; None if there are none."""
        parts = [np.stack([a.row() for a in self.moving])] if self.moving else []
        parts += [] if self.carried is None else [self.carried]
        return np.concatenate(parts) if parts else None


def _over(rows, step: Callable, carry):
    """carry = step(carry, shape) for all rows of shapes; rows may be None."""
    return carry if rows is None else scan(lambda c, row: (step(c, placed_of_row(row)), None), carry, rows)[0]


def _at(numbers, k):
    """Number k of a row; k is known when code is made, or computed."""
    return numbers[int(k)] if isinstance(k, float) else row_at(numbers, k)


# --- is it free -------------------------------------------------------------------------------------------------------


@sized_kernel
def free_of(plan: ModelPlan, q, table, ends, allowed=None, carried=None, checked=None):
    """Whether a configuration is free, 1 or 0: all pairs are farther apart than the margins.

    `table` has the obstacles, `ends` (5,) the ends of their kinds in it. `allowed` (rows, shapes) is 1 where a shape
    may touch an obstacle. `carried` (c, 8) are carried shapes, and `checked` (c, shapes) is 1 where they are checked
    against a shape of the robot.
    """
    robot = _Robot(plan, q, carried)
    slack = _own_slack(robot, 1.0)
    if carried is not None:
        slack = _carried_slack(robot, checked, slack)

    def step(name, slack, number, row):
        kind, open_ = KINDS[name], None if allowed is None else row_at(allowed, number)

        def one(slack, shape: Placed):
            new = kind.slack(row, shape)
            return np.minimum(slack, new if open_ is None else np.where(_at(open_, shape.number) > 0, 1.0, new))

        def body(shapes):
            def found(slack, zero):
                for a in shapes:
                    slack = one(slack, a.moved(zero))
                return slack

            return found

        if name in UNROLLED and len(robot.moving) <= MOST_UNROLLED:
            for (center, radius), shapes in robot.groups:
                slack = when(kind.near(row, center, radius) & (slack > 0), body(shapes), slack)
            rest = robot.carried
        else:
            rest = robot.rows

        def rolled(slack, a: Placed):
            ball = a.radius + 0.5 * np.sqrt(a.square)
            return when(kind.near(row, a.middle, ball) & (slack > 0), body([a]), slack)

        return _over(rest, rolled, slack)

    slack = _each_kind(table, ends, step, slack)
    return np.where((slack > 0) & _valid(q), 1.0, 0.0)


def _own_slack(robot: _Robot, slack):
    """The least of slack and d² - (r_a + r_b)² over the pairs of the robot's own shapes."""
    plan = robot.plan
    if len(plan.pairs) > MOST_PAIRS:
        return _own_pairs(robot, lambda slack, a, b: np.minimum(slack, _pair_slack(a, b)), slack, lambda slack: 0.0)
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


def _carried_slack(robot: _Robot, checked, slack):
    """The least of slack and that of the carried shapes against the robot's own."""

    def step(slack, xs):
        a, marks = placed_of_row(xs[0]), xs[1]
        for k, b in enumerate(robot.shapes):
            slack = np.minimum(slack, np.where(marks[k] > 0, _pair_slack(a, b), 1.0))
        return slack, None

    return scan(step, slack, (robot.carried, checked))[0] if robot.shapes else slack


# --- what is nearest --------------------------------------------------------------------------------------------------


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


def _least_of(robot: _Robot, table, ends, allowed, carried, checked, pick: Callable, best, least: Callable):
    """Go over all pairs: best = pick(best, pair, margin, a, b, valid), where a bound says that it may be better.

    `least(best)` is the clearance of the best pair. Pair numbers b are rows of the table, or -1 - the number of a
    shape.
    """
    best = _own_pairs(robot, lambda best, a, b: _pick_own(pick, best, a, b), best, least)
    if carried is not None and robot.shapes:
        rows = np.stack([a.row() for a in robot.shapes])

        def held(best, xs):
            def against(best, ys):
                return _pick_own(pick, best, placed_of_row(xs[0]), placed_of_row(ys[0]), ys[1] > 0), None

            return scan(against, best, (rows, xs[1]))[0], None

        best = scan(held, best, (robot.carried, checked))[0]
    shapes = robot.rows

    def step(name, best, number, row):
        kind, open_ = KINDS[name], None if allowed is None else row_at(allowed, number)

        def one(best, a: Placed):
            bound = kind.bound(row, a.middle) - 0.5 * np.sqrt(a.square) - a.radius - row[15]
            valid = None if open_ is None else ~(_at(open_, a.number) > 0)
            near = bound < least(best) if valid is None else (bound < least(best)) & valid

            def body(best, zero):
                return pick(best, kind.pair(row, a.moved(zero)), row[15], a.number, number, valid)

            return when(near, body, best)

        return _over(shapes, one, best)

    return _each_kind(table, ends, step, best)


def _own_pairs(robot: _Robot, one: Callable, best, least: Callable):
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


def _two_loops(robot: _Robot, first, second, marks, one: Callable, best, least: Callable):
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


def _pick_own(pick: Callable, best, a: Placed, b: Placed, valid=None):
    pair = capsule_capsule(a.start, a.end, a.radius, b.start, b.end, b.radius)
    return pick(best, pair, 0.0, a.number, -1.0 - b.number, valid)


@sized_kernel
def clearance_of(plan: ModelPlan, q, table, ends, allowed=None, carried=None, checked=None):
    """The least distance less its margin over all pairs; ∞ without any pair, and NaN if q is none."""

    def pick(best, pair, margin, a, b, valid):
        new = np.minimum(best, pair.distance - margin)
        return new if valid is None else np.where(valid, new, best)

    robot = _Robot(plan, q, carried)
    best = _least_of(robot, table, ends, allowed, carried, checked, pick, np.inf + 0.0 * ends[0], lambda best: best)
    return np.where(_valid(q), best, np.nan)


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
    robot = _Robot(plan, q, carried)
    best = _least_of(robot, table, ends, allowed, carried, checked, _nearer, NOTHING, lambda best: best.clearance)
    valid = _valid(q)
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


def _gradient(robot: _Robot, n, a, b):
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
    assert all(JOINTS[kind].nv == len(own[i]) for i, kind in enumerate(model.joint_types))
    return forces(model, dict(sorted(own.items())))


@kernel(plan=static, q="nq", carried=("carried", 8))
def shape_rows_of(plan: ModelPlan, q, carried=None):
    """The shapes (k, 7) in the base frame: start, end, radius; carried ones come last."""
    robot = _Robot(plan, q, carried)
    rows = [np.stack([*a.start, *a.end, a.radius]) for a in robot.shapes]
    if carried is not None:
        rows += [np.stack([*r[:3], *(r[:3] + r[3:6]), r[6]]) for r in robot.carried]
    return np.stack(rows) if rows else np.zeros((0, 7))


@kernel(plan=static, q="nq", point_a=3, point_b=3, normal=3)
def gradient_at(plan: ModelPlan, q, body_a, point_a, body_b, point_b, normal):
    """∂d/∂q = nᵀ (J_b(p_b) - J_a(p_a)) (nv,) of points that are fixed to bodies, in the base frame; -1 is the base."""
    return _gradient(_Robot(plan, q, None), normal, (body_a, point_a), (body_b, point_b))


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
    robot = _Robot(plan, q, carried)

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

        return carry, _each_kind(table, ends, step, np.inf + 0.0 * ends[0])

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


def _own_each(robot: _Robot, infinity):
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
