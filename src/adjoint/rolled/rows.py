"""The numbers of a robot with many bodies, laid out for loops over them, and the plan that the loops' code is made for.

Bodies are described in the frames of their joints. A joint of one degree of freedom has z on its axis: its screw
S = (0, 0, t, 0, 0, d) turns about z by t q and slides along it by d q. So M exp(S q) takes few operations, and of
joints that only turn Ĵ s is a column of Ĵ. Joints of several degrees of freedom have their standard screws. Results in
q, v and tau do not depend on frames; see `robot.reframed`.

A root of several degrees of freedom that carries all others, as a free base, is left out of the loops. Where other
joints have several degrees of freedom too, all rows are as wide as the widest joint. What a narrower joint lacks is
filled up with degrees of freedom that move nothing: their screws are 0 and their armature is 1, so that forces,
accelerations and log Ω there are 0.

Bodies are visited depth first, of several children the one with the largest need of memory last, so that what siblings
share is kept in at most log₂ n *slots* (Sethi & Ullman 1970): none in a chain, one in a backbone with side chains.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.front.inline import eagerly
from ..lie import inertia, se3
from ..model.joints import FRAMES, JOINTS, standard_screws
from ..model.once import once_a_robot
from ..model.reframe import axial_frames
from ..model.robot import Robot

__all__ = ["MOST", "Long", "Plan", "for_loops", "in_rows", "is_long", "joint_frames", "visits"]

MOST = 48  # bodies: larger robots are not unrolled, which would take seconds to compile and gain little


class Plan(NamedTuple):
    """What the code of the loops depends on; robots of one plan run the same code, whatever their size and numbers."""

    root: str = ""  # the type of the root's joint, if the loops leave the root out
    root_is_standard: bool = False  # its screws are `standard_screws`
    root_rotors: bool = False  # it has armature
    kinds: tuple[str, ...] = ()  # types of several degrees of freedom among the other joints
    branched: bool = False  # chains need no route
    slots: int = 0
    slides: bool = False  # some joint slides along its axis: not all screws are (0, 0, 1, 0, 0, 0)
    rotors: bool = False  # some joint beyond the root has armature
    resists: bool = False  # some joint, the root's included, has damping or dry friction

    @property
    def first(self) -> int:
        """Bodies that the loops leave out: the root, or none."""
        return 1 if self.root else 0

    @property
    def nq(self) -> int:
        """Coordinates of the root, if the loops leave it out."""
        return JOINTS[self.root].nq if self.root else 0

    @property
    def nv(self) -> int:
        """Degrees of freedom of the root, if the loops leave it out."""
        return JOINTS[self.root].nv if self.root else 0

    @property
    def width_q(self) -> int:
        """Coordinates in the row of a joint."""
        return max([1, *(JOINTS[kind].nq for kind in self.kinds)])

    @property
    def width(self) -> int:
        """Degrees of freedom in the row of a joint."""
        return max([1, *(JOINTS[kind].nv for kind in self.kinds)])

    @property
    def parts(self) -> dict[str, int]:
        """What the row of a body holds besides its placement, and how many numbers of it, in their order."""
        route = 1 + 2 * self.slots if self.branched else 0
        armature = self.width * self.rotors
        return {"inertia": 10, "screw": 2 * self.slides, "kind": len(self.kinds), "armature": armature, "route": route}

    @property
    def row(self) -> int:
        """Numbers of a body besides its placement."""
        return sum(self.parts.values())

    @property
    def root_row(self) -> int:
        """Numbers of the robot besides its bodies'."""
        return sum(self.root_parts.values())

    @property
    def root_parts(self) -> dict[str, int]:
        """What the robot's own row holds: gravity, and the numbers of a root that the loops leave out."""
        nv = self.nv
        own = {"placement": 12, "screws": 6 * nv, "inertia": 10, "armature": nv, "damping": nv, "friction": nv}
        return {"gravity": 3} | (own if self.root else {})


class Long(NamedTuple):
    """A robot for loops: its numbers, the plan, the order of visits, and where its joints are in q and v."""

    placements: np.ndarray  # (n, 12), the upper rows of M_i
    bodies: np.ndarray  # (n, plan.row)
    resists: np.ndarray  # (n, 2 width): damping, then dry friction; no columns if there are none
    root: np.ndarray  # (plan.root_row,)
    plan: Plan
    order: np.ndarray | None  # of visits, if it is not that of the bodies
    spread: dict[str, np.ndarray]  # {"nq", "nv": places (n, width) in q and v, -1 where there is none}; {} if as it is

    def split(self, x: np.ndarray, size: str) -> tuple[np.ndarray, np.ndarray]:
        """x (..., nq or nv), as `size` says, in parts: of the root, and of the other bodies in the order of visits."""
        first = self.plan.nq if size == "nq" else self.plan.nv
        if self.spread:
            padded = np.concatenate([x, np.zeros((*x.shape[:-1], 1))], axis=-1)
            return x[..., :first], padded[..., self.spread[size]]
        if not first and self.order is None:
            return _NOTHING, x
        bodies = x[..., first:]
        return x[..., :first], bodies if self.order is None else bodies[..., self.order]

    def join(self, root: np.ndarray, bodies: np.ndarray) -> np.ndarray:
        """The inverse of `split`, of results (..., nv)."""
        first = self.plan.nv
        if self.spread:
            rows, columns = np.nonzero(self.spread["nv"] >= 0)
            found = np.empty((*bodies.shape[:-2], first + len(rows)))
            found[..., :first] = root
            found[..., self.spread["nv"][rows, columns]] = bodies[..., rows, columns]
            return found
        n = bodies.shape[-1]
        if not first and self.order is None:
            return bodies
        found = np.empty((*bodies.shape[:-1], first + n))
        found[..., :first] = root
        found[..., first + (np.arange(n) if self.order is None else self.order)] = bodies
        return found

    def join_columns(self, root: np.ndarray, bodies: np.ndarray) -> np.ndarray:
        """Columns (..., m, nv), of those of the root (..., m, k) and of the other bodies (..., n, m, width)."""
        rows = np.moveaxis(bodies, -3, -2)
        return self.join(root, rows if self.spread else rows[..., 0])

    def split_bodies(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x (..., n, 6) of all bodies in parts: of the root, and of the others in the order of visits."""
        first = self.plan.first
        bodies = x[..., first:, :]
        return x[..., 0, :], bodies if self.order is None else bodies[..., self.order, :]

    def join_bodies(self, root: np.ndarray, bodies: np.ndarray, rank: int) -> np.ndarray:
        """Results for all bodies, in their order, each an array of so many axes."""
        first, n, axis = self.plan.first, bodies.shape[-rank - 1], -rank - 1
        if not first and self.order is None:
            return bodies
        batch, own = bodies.shape[:axis], bodies.shape[axis + 1 :]
        found = np.empty((*batch, first + n, *own))
        inner = (slice(None),) * rank
        if first:
            found[(..., 0, *inner)] = root
        found[(..., first + (np.arange(n) if self.order is None else self.order), *inner)] = bodies
        return found


_NOTHING = np.zeros(0)


def for_loops(robot: Robot) -> Long | None:
    """The robot for loops; None if it is small, or has mimics, which tie distant bodies together."""
    return _long(robot) if len(robot.body_names) > MOST and not robot.mimics else None


def is_long(robot) -> bool:
    """Whether this is a robot whose algorithms run as loops over its bodies."""
    return isinstance(robot, Robot) and not robot.varying and len(robot.body_names) > MOST and not robot.mimics


@once_a_robot
def _long(robot: Robot) -> Long:
    return in_rows(robot)


def in_rows(robot: Robot) -> Long:
    """The robot for loops, whatever its size."""
    several = [JOINTS[kind].nv > 1 for kind in robot.joint_types]
    first = int(several[0] and bool((robot.parents[1:] >= 0).all()))  # bodies that the loops leave out
    order, route = visits(robot.parents[first:] - first)
    plan = _plan(robot, first, route)
    visited = slice(None) if order is None else order
    frames = joint_frames(robot)
    Q = se3.inverse(frames)
    M = (Q[robot.parents[first:]] @ robot.placements[first:] @ frames[first:-1])[:, :3].reshape(-1, 12)
    numbers = {
        "inertia": inertia.transform(Q[first:-1], robot.inertias[first:]),
        "screw": _axial_screws(robot, Q)[first:, : 2 * plan.slides],
        "kind": np.array([[kind == other for other in plan.kinds] for kind in robot.joint_types[first:]], float),
        "armature": _spread(robot, plan, robot.armature, 1.0)[:, : plan.width * plan.rotors],
    }
    resists = [_spread(robot, plan, x, 0.0)[:, : plan.width * plan.resists] for x in (robot.damping, robot.friction)]
    return Long(
        M[visited],
        np.concatenate([*(numbers[name][visited] for name in numbers), route], axis=1),
        np.concatenate(resists, axis=1)[visited],
        _root_row(robot, plan),
        plan,
        order,
        {size: _places(robot, plan, size)[visited] for size in ("nq", "nv")} if plan.kinds else {},
    )


def _plan(robot: Robot, first: int, route: np.ndarray) -> Plan:
    nv = JOINTS[robot.joint_types[0]].nv if first else 0
    kinds = tuple(sorted({kind for kind in robot.joint_types[first:] if JOINTS[kind].nv > 1}))
    screws = _axial_screws(robot, se3.inverse(joint_frames(robot)))[first:]
    slides = not np.allclose(screws, (1, 0), 0, _NOISE * max(1.0, float(np.abs(robot.screws).max(initial=0.0))))
    root = robot.joint_types[0] if first else ""
    return Plan(
        root=root,
        root_is_standard=bool(first) and np.array_equal(robot.screw(0), standard_screws(root)),
        root_rotors=bool(robot.armature[:nv].any()),
        kinds=kinds,
        branched=route.shape[1] > 0,
        slots=route.shape[1] // 2,
        slides=bool(kinds) or slides,
        rotors=bool(kinds) or bool(robot.armature[nv:].any()),
        resists=bool(robot.damping.any() or robot.friction.any()),
    )


_NOISE = 1e-14  # how far from 1 the turn, and from 0 the slide, of a joint that only turns may be by rounding


def _root_row(robot: Robot, plan: Plan) -> np.ndarray:
    """See `Plan.root_parts`."""
    if not plan.root:
        return robot.gravity
    resists = (x[: plan.nv] for x in (robot.armature, robot.damping, robot.friction))
    numbers = robot.gravity, robot.placements[0, :3], robot.screws[: plan.nv], robot.inertias[0], *resists
    return np.concatenate([np.ravel(x) for x in numbers])


def _axial_screws(robot: Robot, Q: np.ndarray) -> np.ndarray:
    """(t, d) (n, 2) of the joints of one degree of freedom in their frames, at Q⁻¹; 0 of all others."""
    one = np.array([JOINTS[kind].nv == 1 for kind in robot.joint_types])
    found = np.zeros((len(one), 2))
    first_screws = robot.screws[robot.layout.dof_start[:-1]]
    found[one] = se3.Ad_action(Q[:-1][one], first_screws[one])[:, [2, 5]]
    return found


def _places(robot: Robot, plan: Plan, size: str) -> np.ndarray:
    """Places (n, width) in q or v of the joints beyond the root; -1 where there is none."""
    width = plan.width_q if size == "nq" else plan.width
    starts = (robot.layout.q_start if size == "nq" else robot.layout.v_start)[plan.first :]
    sizes = [getattr(JOINTS[kind], size) for kind in robot.joint_types[plan.first :]]
    k = np.arange(width)
    return np.where(k < np.array(sizes)[:, None], np.array(starts)[:, None] + k, -1)


def _spread(robot: Robot, plan: Plan, x: np.ndarray, nothing: float) -> np.ndarray:
    """x (nv,) as rows (n, width) of the joints beyond the root, `nothing` where there is none."""
    return np.append(x, nothing)[_places(robot, plan, "nv")]


def joint_frames(robot: Robot) -> np.ndarray:
    """The joints' frames in those of their bodies (n + 1, 4, 4), the base last.

    The base keeps its frame, and so does a root that loops leave out.
    """
    frames = np.tile(np.eye(4), (len(robot.body_names) + 1, 1, 1))
    one = np.flatnonzero([JOINTS[kind].nv == 1 for kind in robot.joint_types])
    frames[one] = axial_frames(robot.screws[np.array(robot.layout.dof_start)[one]])
    left_out = bool((robot.parents[1:] >= 0).all())
    with eagerly():
        for i, kind in enumerate(robot.joint_types):
            if kind in FRAMES and not (i == 0 and left_out):
                frames[i] = FRAMES[kind](robot.screw(i))
    return frames


def visits(parents: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """The order of visits, None if that of the bodies will do, and the routes (n, 1 + 2 slots): 1 if the root
    carries the body; the slot it is carried from, if any; its own slot.

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
