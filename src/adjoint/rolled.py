"""Robots with many bodies: sweeps as loops over the bodies, compiled once for all of them.

The sweeps of `sweep` are unrolled by the compiler, body after body, the robot's numbers folded in. For a chain of a
million links the same steps are machine loops (`scan`), and the bodies' numbers their inputs. Robots with more than
`MOST` bodies are computed so, without anyone asking for it.

Bodies are visited depth first, of several children the one with the largest need of memory last, so that what siblings
share is kept in at most log₂ n *slots* (Sethi & Ullman 1970): none in a chain, one in a backbone with side chains.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .compile import Kernel, kernel, scan, static
from .lie import se3, so3
from .robot.joints import JOINTS
from .robot.model import Robot

__all__ = [
    "MOST", "ROBOT", "Long", "Parts", "Plan", "Root", "Row",
    "for_loops", "full", "inward", "is_long", "long_robot", "moved_by", "outward", "placed", "root_motion",
    "root_placed", "visits",
]  # fmt: skip

MOST = 48  # bodies: larger robots are not unrolled, which would take seconds to compile and gain little


class Plan(NamedTuple):
    """What the code of the loops depends on: the kind of the root's joint, if the loops leave it out, and the slots."""

    kind: str  # "" if the root is a body like all others
    nq: int  # of the root
    nv: int
    branched: bool  # chains need no route
    slots: int

    @property
    def row(self) -> int:
        """Numbers of a body."""
        return 31 + (1 + 2 * self.slots if self.branched else 0)

    @property
    def root_row(self) -> int:
        """Numbers of the root."""
        return 22 + 9 * self.nv if self.kind else 0


class Row(NamedTuple):
    """The numbers of one body, with a joint of one degree of freedom."""

    placement: np.ndarray  # (4, 4), M_i
    screw: np.ndarray  # (6,)
    inertia: np.ndarray  # (10,)
    armature: np.ndarray
    resists: np.ndarray  # (2,): damping and dry friction
    route: np.ndarray  # (1 + 2 slots,): 1 if the root carries it; the slot it is carried from, if any; its own slot

    @staticmethod
    def of(x) -> Row:
        """They are kept as one row (31 or more,)."""
        return Row(full(x[:12]), x[12:18], x[18:28], x[28], x[29:31], x[31:])


class Root(NamedTuple):
    """The numbers of the root, if its joint is of another kind than all others."""

    placement: np.ndarray  # (4, 4)
    screws: np.ndarray  # (nv, 6)
    inertia: np.ndarray  # (10,)
    armature: np.ndarray  # (nv,)
    resists: np.ndarray  # (2, nv)

    @staticmethod
    def of(x, plan: Plan) -> Root:
        """They are kept as one row (22 + 9 nv,), which is empty if there is no such root."""
        if not plan.kind:
            return Root(np.eye(4), np.zeros((0, 6)), np.zeros(10), np.zeros(0), np.zeros((2, 0)))
        nv = plan.nv
        screws, inertia, armature, resists = np.split(x[12:], np.cumsum([6 * nv, 10, nv]))
        return Root(full(x[:12]), screws.reshape(nv, 6), inertia, armature, resists.reshape(2, nv))


def full(upper):
    """A placement (4, 4) of its upper rows (12,)."""
    T = upper.reshape(3, 4)
    return se3.from_rotation_translation(T[:, :3], T[:, 3])


ROBOT = {"bodies": (..., "row"), "root": "root_row", "plan": static}
"""How rolled kernels are given the robot: rows of all bodies (n, row), the root's, and the plan."""


# --- sweeps -----------------------------------------------------------------------------------------------------------


def _where(mask, x: tuple, y: tuple) -> tuple:
    return tuple(np.where(mask > 0, a, b) for a, b in zip(x, y, strict=True))


def _plus(x: tuple, y: tuple) -> tuple:
    return tuple(a + b for a, b in zip(x, y, strict=True))


def _route(plan: Plan, row: Row) -> tuple:
    """Whether the root carries this body; for each slot, whether it is carried from there; whether it is kept there."""
    return row.route[0], row.route[1 : 1 + plan.slots], row.route[1 + plan.slots :]


def outward(plan: Plan, step: Callable, start: tuple, rows: tuple):
    """Stacked y of `x, y = step(x_parent, row, ...)` from the root outward; x, tuples of arrays, begin with `start`.

    `rows` are those of the bodies, which the step gets as `Row`, and what else it takes.
    """

    def go(carry, row):
        x, slots = carry
        body = Row.of(row[0])
        if plan.branched:
            from_root, taken, kept = _route(plan, body)
            for k, slot in enumerate(slots):
                x = _where(taken[k], slot, x)
            x = _where(from_root, start, x)
        x, y = step(x, body, *row[1:])
        return (x, [_where(kept[k], x, slot) for k, slot in enumerate(slots)]), y

    return scan(go, (start, [start] * plan.slots), rows)[1]


def inward(plan: Plan, step: Callable, zero: tuple, rows: tuple) -> tuple:
    """What the root is passed, and stacked y, of `passed, y = step(total, row, ...)` from the tips inward.

    `total`, a tuple of arrays, is the sum of what the children of the body pass on, `zero` for a tip.
    """
    if not plan.branched:
        return scan(lambda total, row: step(total, Row.of(row[0]), *row[1:]), zero, rows, reverse=True)

    def go(carry, row):
        passed, slots, root = carry
        body = Row.of(row[0])
        to_root, taken, kept = _route(plan, body)
        for k, slot in enumerate(slots):
            passed = _plus(passed, _where(kept[k], slot, zero))
        slots = [_where(kept[k], zero, slot) for k, slot in enumerate(slots)]
        passed, y = step(passed, body, *row[1:])
        root = _plus(root, _where(to_root, passed, zero))
        slots = [_plus(slot, _where(taken[k], passed, zero)) for k, slot in enumerate(slots)]
        elsewhere = to_root + sum(taken[k] for k in range(plan.slots))
        return (_where(elsewhere, zero, passed), slots, root), y

    (_, _, root), ys = scan(go, (zero, [zero] * plan.slots, zero), rows, reverse=True)
    return root, ys


# --- one body ---------------------------------------------------------------------------------------------------------


def moved_by(M, S, q):
    """M exp(S q) (4, 4) for a screw with |w| = 1 or w = 0; Park (1994), Lemmas 1 and 2."""
    W = so3.hat(S[:3])
    W2, v, s, c = W @ W, S[3:], np.sin(q), np.cos(q)
    R = np.eye(3) + s * W + (1 - c) * W2
    return se3.compose(M, se3.from_rotation_translation(R, q * v + (1 - c) * (W @ v) + (q - s) * (W2 @ v)))


def placed(row: Row, q):
    """f_{parent,i} (4, 4)."""
    return moved_by(row.placement, row.screw, q)


@kernel(q="nq", screws=("nv", 6), plan=static)
def root_motion(q, screws, plan):
    """J(q) (4, 4): how the root's joint has moved it from its home placement."""
    return JOINTS[plan.kind].placement(q, screws, varying=True)


def root_placed(plan: Plan, root: Root, q):
    """f_{base,root} (4, 4)."""
    return se3.compose(root.placement, root_motion(q, root.screws, plan))


class Parts(NamedTuple):
    """A result for the root, (nv,) of its degrees of freedom, and for all other bodies (n,)."""

    root: np.ndarray
    bodies: np.ndarray


# --- robots for loops -------------------------------------------------------------------------------------------------


class Long(NamedTuple):
    """A robot for loops: its numbers, the plan, and the order of visits, if it is not that of the bodies."""

    bodies: np.ndarray  # (n, row), see `Row`
    root: np.ndarray  # see `Root`
    plan: Plan
    order: np.ndarray | None

    def run(self, rolled: Kernel, *given, **options) -> Any:
        """A rolled kernel on this robot."""
        return _planned(rolled, self.plan)(*given, self.bodies, self.root, **options)

    def split(self, x, first: int) -> tuple:
        """x (..., first + n) in parts: of the root, and of the other bodies in the order of visits."""
        x = np.asarray(x)
        root, bodies = x[..., :first], x[..., first:]
        return root, bodies if self.order is None else bodies[..., self.order]

    def join(self, parts: Parts) -> np.ndarray:
        """The inverse of `split`, of results."""
        first, n = parts.root.shape[-1], parts.bodies.shape[-1]
        if not first and self.order is None:
            return parts.bodies
        found = np.empty((*parts.bodies.shape[:-1], first + n))
        found[..., :first] = parts.root
        found[..., first + (np.arange(n) if self.order is None else self.order)] = parts.bodies
        return found


def for_loops(robot: Robot) -> Long:
    """`long_robot` of one that is."""
    found = long_robot(robot)
    assert found is not None
    return found


@functools.lru_cache(64)
def _planned(rolled: Kernel, plan: Plan) -> Kernel:
    """`rolled.bind(plan=plan)`, found at once."""
    return rolled.bind(plan=plan)


@functools.lru_cache(8)
def long_robot(robot: Robot) -> Long | None:
    """The robot for loops; None if it is small, or has joints that loops do not serve.

    Served are joints of one degree of freedom, and a root of any kind that carries all others; no mimics.
    """
    several = [i for i, kind in enumerate(robot.joint_types) if JOINTS[kind].nv != 1]
    if len(robot.body_names) <= MOST or robot.mimics or several not in ([], [0]):
        return None
    first = len(several)  # bodies that the loops leave out
    parents = robot.parents[first:] - first
    if first and (robot.parents[1:] < 0).any():
        return None
    order, route = visits(parents)
    kind = robot.joint_types[0] if first else ""
    nq, nv = (JOINTS[kind].nq, JOINTS[kind].nv) if first else (0, 0)
    plan = Plan(kind, nq, nv, route.shape[1] > 0, route.shape[1] // 2)
    bodies, root = _rows(robot, first, nv)
    return Long(np.concatenate([bodies if order is None else bodies[order], route], axis=1), root, plan, order)


def _rows(robot: Robot, first: int, nv: int) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the bodies from the `first` on (n, 31), and those of the root, if it is another, in one row."""
    upper = robot.placements[:, :3].reshape(-1, 12)
    resists = np.stack([robot.damping, robot.friction], axis=1)
    parts = upper[first:], robot.screws[nv:], robot.inertias[first:], robot.armature[nv:, None], resists[nv:]
    root = upper[:first], robot.screws[:nv], robot.inertias[:first], robot.armature[:nv], resists[:nv].T
    return np.concatenate(parts, axis=1), np.concatenate([np.ravel(x) for x in root])


def visits(parents: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """The order of visits, None if that of the bodies will do, and the routes (n, 1 + 2 slots) of `Row`.

    `parents` come before their children; -1 is the root. Chains need no routes: (n, 0).
    """
    n = len(parents)
    if np.array_equal(parents, np.arange(n) - 1):
        return None, np.zeros((n, 0))
    children, need = _children_by_need(parents)
    order, taken, kept = [], [], []
    waiting = [(i, -1, 0) for i in reversed(children[-1])]  # body, slot of its parent, slots in use
    while waiting:
        i, slot, used = waiting.pop()
        order.append(i)
        taken.append(slot)
        several = len(children[i]) > 1
        kept.append(used if several else -1)
        for k, child in reversed(list(enumerate(children[i]))):
            last = k == len(children[i]) - 1
            waiting.append((child, used if k else -1, used + (several and not last)))
    slots = max(need, default=0)
    route = np.zeros((n, 1 + 2 * slots))
    route[:, 0] = parents[order] < 0
    for start, places in ((1, np.array(taken)), (1 + slots, np.array(kept))):
        rows = np.flatnonzero(places >= 0)
        route[rows, start + places[rows]] = 1
    return None if order == list(range(n)) else np.array(order), route


def _children_by_need(parents: np.ndarray) -> tuple[dict[int, list[int]], list[int]]:
    """{body: its children, the one that needs most slots last}, and the needs of all bodies."""
    n = len(parents)
    children: dict[int, list[int]] = {i: [] for i in range(-1, n)}
    for i, parent in enumerate(parents.tolist()):
        children[parent].append(i)
    need = [0] * n
    for i in reversed(range(n)):  # parents come before their children
        children[i].sort(key=need.__getitem__)
        if children[i]:
            *others, most = children[i]
            need[i] = max([need[most], *(1 + need[k] for k in others[-1:])])
    return children, need


def is_long(given: dict) -> bool:
    """Whether the robot among the arguments of a kernel is one for loops; see `Kernel.instead`."""
    robot = given["robot"]
    return isinstance(robot, Robot) and len(robot.body_names) > MOST and long_robot(robot) is not None
