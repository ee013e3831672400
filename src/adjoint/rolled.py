"""Robots with many bodies: sweeps as loops over the bodies, compiled once for all of them.

The sweeps of `sweep` are unrolled by the compiler, body after body, the robot's numbers folded in. For a chain of a
million links the same steps are machine loops (`scan`), and the bodies' numbers their inputs. Robots with more than
`MOST` bodies are computed so, without anyone asking for it.

Bodies are described in the frames of their joints, z on the axis: S = (0, 0, t, 0, 0, d) turns about z by t q and
slides along it by d q. So M exp(S q) takes few operations, and of joints that only turn Ĵ s is a column of Ĵ. Results
in q, v and tau do not depend on frames; see `robot.reframed`.

Bodies are visited depth first, of several children the one with the largest need of memory last, so that what siblings
share is kept in at most log₂ n *slots* (Sethi & Ullman 1970): none in a chain, one in a backbone with side chains.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .compile import Kernel, kernel, scan, static
from .lie import inertia, se3
from .model.joints import JOINTS
from .model.once import once_a_robot
from .model.reframe import axial_frames
from .model.robot import Robot

__all__ = [
    "MOST", "ROBOT", "Long", "Parts", "Plan", "Root", "Row",
    "for_loops", "full", "in_rows", "inward", "is_long", "joint_frames", "joint_motions", "long_robot", "outward",
    "placed", "root_motion", "root_placed", "visits",
]  # fmt: skip

MOST = 48  # bodies: larger robots are not unrolled, which would take seconds to compile and gain little


class Plan(NamedTuple):
    """What the code of the loops depends on: the kind of the root's joint, if the loops leave it out, and so on."""

    kind: str  # "" if the root is a body like all others
    nq: int  # of the root
    nv: int
    branched: bool  # chains need no route
    slots: int
    slides: bool  # some joint slides along its axis: not all screws are (0, 0, 1, 0, 0, 0)
    rotors: bool  # some joint beyond the root has armature
    root_rotors: bool  # the root, if the loops leave it out, has armature

    @property
    def first(self) -> int:
        """Bodies that the loops leave out: the root, or none."""
        return 1 if self.kind else 0

    @property
    def row(self) -> int:
        """Numbers of a body besides its placement."""
        return 10 + 2 * self.slides + self.rotors + (1 + 2 * self.slots if self.branched else 0)

    @property
    def root_row(self) -> int:
        """Numbers of the root."""
        return 22 + 9 * self.nv if self.kind else 0


class Row(NamedTuple):
    """The numbers of one body, with a joint of one degree of freedom, in the joint's frame."""

    placement: np.ndarray  # (4, 4), M_i
    inertia: np.ndarray  # (10,)
    screw: np.ndarray  # (6,)
    armature: np.ndarray
    route: np.ndarray  # (1 + 2 slots,): 1 if the root carries it; the slot it is carried from, if any; its own slot
    only_turns: bool  # known when the code is made: S is the constant (0, 0, 1, 0, 0, 0), and there is no armature

    @staticmethod
    def of(placement, x, plan: Plan) -> Row:
        """They are kept as two rows, (12,) and (plan.row,)."""
        screw, armature, route = np.split(x[10:], np.cumsum([2 * plan.slides, plan.rotors]))
        turn, slide = screw if plan.slides else (1.0, 0.0)
        S = np.stack([0.0, 0.0, turn, 0.0, 0.0, slide])
        only_turns = not (plan.slides or plan.rotors)
        return Row(full(placement), x[:10], S, armature[0] if plan.rotors else 0.0, route, only_turns)


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
        armature = armature if plan.root_rotors else np.zeros(nv)  # 0 is known when the code is made
        return Root(full(x[:12]), screws.reshape(nv, 6), inertia, armature, resists.reshape(2, nv))


def full(upper):
    """A placement (4, 4) of its upper rows (12,)."""
    T = upper.reshape(3, 4)
    return se3.from_rotation_translation(T[:, :3], T[:, 3])


ROBOT = {"placements": (..., 12), "bodies": (..., "row"), "root": "root_row", "plan": static}
"""How rolled kernels are given the robot: M_i (n, 12) and further numbers (n, row) of all bodies, the root's, the plan.
"""


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

    `rows` are placements and rows of the bodies, which the step gets as `Row`, and what else it takes.
    """

    def go(carry, row):
        x, slots = carry
        body = Row.of(*row[:2], plan)
        if plan.branched:
            from_root, taken, kept = _route(plan, body)
            for k, slot in enumerate(slots):
                x = _where(taken[k], slot, x)
            x = _where(from_root, start, x)
        x, y = step(x, body, *row[2:])
        return (x, [_where(kept[k], x, slot) for k, slot in enumerate(slots)]), y

    return scan(go, (start, [start] * plan.slots), rows)[1]


def inward(plan: Plan, step: Callable, zero: tuple, rows: tuple) -> tuple:
    """What the root is passed, and stacked y, of `passed, y = step(total, row, ...)` from the tips inward.

    `total`, a tuple of arrays, is the sum of what the children of the body pass on, `zero` for a tip.
    """
    if not plan.branched:
        return scan(lambda total, row: step(total, Row.of(*row[:2], plan), *row[2:]), zero, rows, reverse=True)

    def go(carry, row):
        passed, slots, root = carry
        body = Row.of(*row[:2], plan)
        to_root, taken, kept = _route(plan, body)
        for k, slot in enumerate(slots):
            passed = _plus(passed, _where(kept[k], slot, zero))
        slots = [_where(kept[k], zero, slot) for k, slot in enumerate(slots)]
        passed, y = step(passed, body, *row[2:])
        root = _plus(root, _where(to_root, passed, zero))
        slots = [_plus(slot, _where(taken[k], passed, zero)) for k, slot in enumerate(slots)]
        elsewhere = to_root + sum(taken[k] for k in range(plan.slots))
        return (_where(elsewhere, zero, passed), slots, root), y

    (_, _, root), ys = scan(go, (zero, [zero] * plan.slots, zero), rows, reverse=True)
    return root, ys


# --- one body ---------------------------------------------------------------------------------------------------------


def joint_motions(plan: Plan, bodies, q):
    """Of every joint (n, 2 or 3): cos and sin of the angle it has turned by, and how far it has slid, if any does.

    A loop of its own, for it waits for nobody.
    """

    def step(carry, row):
        x, q = row
        turn, slide = (x[10] * q, x[11] * q) if plan.slides else (q, None)
        return carry, np.stack([np.cos(turn), np.sin(turn), *([slide] if plan.slides else [])])

    return scan(step, 0.0, (bodies, q))[1]


def placed(row: Row, motion):
    """f_{parent,i} (4, 4) = M exp(S q) of the joint's motion."""
    x, y, z = row.placement[:3, :3].T
    cos, sin, *slid = motion
    p = row.placement[:3, 3]
    R = np.stack([cos * x + sin * y, cos * y - sin * x, z], axis=1)
    return se3.from_rotation_translation(R, p + slid[0] * z if slid else p)


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

    placements: np.ndarray  # (n, 12), see `Row`
    bodies: np.ndarray  # (n, row), see `Row`
    resists: np.ndarray  # (n, 2): damping and dry friction
    root: np.ndarray  # see `Root`
    plan: Plan
    order: np.ndarray | None

    def run(self, rolled: Kernel, *given, **options) -> Any:
        """A rolled kernel on this robot."""
        return _planned(rolled, self.plan)(*given, self.placements, self.bodies, self.root, **options)

    def split(self, x, first: int) -> tuple:
        """x (..., first + n) in parts: of the root, and of the other bodies in the order of visits."""
        if not first and self.order is None:
            return _NOTHING, x
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


_NOTHING = np.zeros(0)


def for_loops(robot: Robot) -> Long:
    """`long_robot` of one that is."""
    found = long_robot(robot)
    assert found is not None
    return found


@functools.lru_cache(64)
def _planned(rolled: Kernel, plan: Plan) -> Kernel:
    """`rolled.bind(plan=plan)`, found at once."""
    return rolled.bind(plan=plan)


@once_a_robot
def long_robot(robot: Robot) -> Long | None:
    """The robot for loops; None if it is small, or has joints that loops do not serve.

    Served are joints of one degree of freedom, and a root of any kind that carries all others; no mimics.
    """
    several = [i for i, kind in enumerate(robot.joint_types) if JOINTS[kind].nv != 1]
    if len(robot.body_names) <= MOST or robot.mimics or several not in ([], [0]):
        return None
    first = len(several)  # bodies that the loops leave out
    return None if first and (robot.parents[1:] < 0).any() else in_rows(robot, first)


def in_rows(robot: Robot, first: int) -> Long:
    """The robot for loops over all bodies but the `first`, which are none, or the root."""
    kind = robot.joint_types[0] if first else ""
    nq, nv = (JOINTS[kind].nq, JOINTS[kind].nv) if first else (0, 0)
    order, route = visits(robot.parents[first:] - first)
    visited = slice(None) if order is None else order
    placements, screws, inertias = _in_joint_frames(robot, first)
    armature, resists = robot.armature[:, None], np.stack([robot.damping, robot.friction], axis=1)
    slides, rotors = not np.allclose(screws, (1, 0), 0, _NOISE * _size(robot)), bool(armature[nv:].any())
    parts = inertias, screws[:, : 2 * slides], armature[nv:, :rotors]
    root = robot.placements[:first, :3], robot.screws[:nv], robot.inertias[:first], armature[:nv], resists[:nv].T
    return Long(
        placements[visited, :3].reshape(-1, 12),
        np.concatenate([*(x[visited] for x in parts), route], axis=1),
        resists[nv:][visited],
        np.concatenate([np.ravel(x) for x in root]),
        Plan(kind, nq, nv, route.shape[1] > 0, route.shape[1] // 2, slides, rotors, bool(armature[:nv].any())),
        order,
    )


def _in_joint_frames(robot: Robot, first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M_i (n, 4, 4), (t, d) of S_i (n, 2) and inertias (n, 10) of all bodies but the `first`, as `reframed` says."""
    frames = joint_frames(robot, first)
    Q = se3.inverse(frames)
    own, screws = Q[first:-1], robot.screws[_dofs(robot, first) :]
    M = Q[robot.parents[first:]] @ robot.placements[first:] @ frames[first:-1]
    return M, se3.Ad_action(own, screws)[:, [2, 5]], inertia.transform(own, robot.inertias[first:])


_NOISE = 1e-14  # how far from 1 the turn, and from 0 the slide, of a joint that only turns may be by rounding


def _size(robot: Robot) -> float:
    """Of numbers in screws, 1 or more."""
    return max(1.0, float(np.abs(robot.screws).max(initial=0.0)))


def joint_frames(robot: Robot, first: int) -> np.ndarray:
    """The joints' frames in those of their bodies (n + 1, 4, 4); the `first` bodies and the base, last, keep theirs."""
    n = len(robot.body_names)
    frames = np.tile(np.eye(4), (n + 1, 1, 1))
    frames[first:-1] = axial_frames(robot.screws[_dofs(robot, first) :])
    return frames


def _dofs(robot: Robot, first: int) -> int:
    """Degrees of freedom of the `first` bodies, none or the root."""
    return JOINTS[robot.joint_types[0]].nv if first else 0


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
