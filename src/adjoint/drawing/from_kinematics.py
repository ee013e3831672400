"""Robots without shapes of their own: joints as housings about their axes, links as smooth bodies between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..lie import inertia
from ..model.robot import Robot
from .axes import Layout, joint_layout, up_of
from .triangles import Mesh, along, ball, bar, box, drum, joined, limb, moved, tube

__all__ = ["BASE", "DARK", "HAND", "LINK", "TRIM", "Part", "kinematic_parts"]

Color = tuple[float, float, float, float]

LINK: Color = (0.878, 0.482, 0.133, 1.0)  # the warm orange of the library's pictures
DARK: Color = (0.20, 0.22, 0.25, 1.0)  # of joints
TRIM: Color = (0.56, 0.59, 0.63, 1.0)  # of the ends of joints
BASE: Color = (0.80, 0.82, 0.84, 1.0)
HAND: Color = (0.33, 0.36, 0.40, 1.0)

_THICK = 0.06  # the radius of the first link, in parts of the reach ...
_SLIM = 0.15  # ... but at most this part of a long link
_THINNER, _THINNEST = 0.86, 0.42  # the radius of a link in parts of the one before, and of the first
_LONG = 4.0  # offsets along an axis that are longer than so many radii become limbs
_TRIANGLES = 50_000  # of a whole robot; a robot with many bodies gets solids with fewer sides
_DETAILED = 60  # bodies; more than these are drawn more simply
_GRASPING = 12  # a chain of more bodies has no gripper
_HAND = 3.3  # the length of a gripper, in radii of the last link


class Part(NamedTuple):
    """A mesh in the frame of body number `body` (-1 is the base), and its color."""

    body: int
    mesh: Mesh
    color: Color


class _Plan(NamedTuple):
    """What all parts of a drawing depend on: points, radii of the links by body number (the last is that of the base),
    the reach [m], how many sides solids have, and whether an arm ends with a hand."""

    robot: Robot
    at: Layout
    radius: np.ndarray
    reach: float
    sides: int
    hand: bool = True

    @property
    def plain(self) -> bool:
        return len(self.at.own) > _DETAILED

    @property
    def grasps(self) -> bool:
        return len(self.at.tip) == 1 and len(self.at.own) <= _GRASPING


def kinematic_parts(robot: Robot, bodies: Iterable[int] | None = None, *, hand: bool = True) -> Iterator[Part]:
    """The parts that show a robot, or only those that are fixed to some bodies; without its hand if that is False."""
    wanted = set(range(-1, len(robot.body_names)) if bodies is None else bodies)
    plan = _plan(robot)._replace(hand=hand)
    for part in _parts(plan):
        if part.body in wanted:
            yield part


def _parts(plan: _Plan) -> Iterator[Part]:
    yield from _base(plan)
    for i in range(len(plan.at.own)):
        yield from _JOINTS[plan.at.own[i].kind](plan, i)
        yield from _link(plan, i)


# --- sizes ------------------------------------------------------------------------------------------------------------


def _plan(robot: Robot) -> _Plan:
    at = joint_layout(robot)
    n = len(at.own)
    depth, far, found = np.zeros(n + 1, int), np.zeros(n + 1), []
    for i in range(n):
        parent = int(robot.parents[i])
        start = at.start[parent] if parent >= 0 else np.zeros(3)
        lengths = [float(np.linalg.norm(at.arrival[i] - start)), abs(_offset(robot, at, i))]
        if i in at.tip:
            lengths.append(float(np.linalg.norm(at.tip[i] - at.start[i])))
        free = at.own[i].kind == "free"
        depth[i] = 0 if free else depth[parent] + 1
        far[i] = 0.0 if free else far[parent] + sum(lengths)
        found += [] if free else lengths
    reach = float(far.max()) or 1.0
    long = float(np.quantile([x for x in found if x > 1e-3 * reach] or [reach], 0.75))
    thick = min(_THICK * reach, _SLIM * long)
    taper = max(_THINNER, _THINNEST ** (1 / max(depth.max(), 1)))
    radius = thick * np.maximum(taper ** np.maximum(depth - 1, 0), _THINNEST)
    sides = int(np.clip(_TRIANGLES / (16 if n > _DETAILED else 60) / max(n, 1), 4, 36))
    return _Plan(robot, at, radius, reach, sides)


def _offset(robot: Robot, at: Layout, i: int) -> float:
    """How far along the axis of joint i its link begins from where the parent's ends [m]."""
    return float((at.start[i] - _arrived(robot, at, i)) @ at.own[i].direction)


def _arrived(robot: Robot, at: Layout, i: int) -> np.ndarray:
    """Where the parent's link ends at joint i, in body i at q = 0."""
    M = robot.placements[i]
    return M[:3, :3].T @ (at.arrival[i] - M[:3, 3])


def _travel(plan: _Plan, i: int) -> tuple[float, float]:
    """The limits of the one coordinate of joint i, or half the reach where it has none."""
    joint = plan.robot.bodies[i].joint
    half = 0.5 * plan.reach
    low, high = float(joint.lower[0]), float(joint.upper[0])
    low = low if np.isfinite(low) else min(-half, high - 2 * half)
    high = high if np.isfinite(high) else max(half, low + 2 * half)
    if joint.mimic is not None:
        low, high = sorted((joint.mimic.multiplier * x + joint.mimic.offset) for x in (low, high))
    most = 1.6 * plan.reach
    return max(low, -most), min(high, most)


# --- joints -----------------------------------------------------------------------------------------------------------


def _turn(plan: _Plan, i: int) -> Iterator[Part]:
    """A housing about the axis; if the offset along it is long, two limbs with a ring between them."""
    axis, r, robot = plan.at.own[i], plan.radius[i], plan.robot
    d, here = _offset(robot, plan.at, i), _arrived(robot, plan.at, i)
    if abs(d) > _LONG * r:
        yield from _shaft(plan, i, d)
        if i in plan.at.tip or _meets_a_joint(plan, i):
            return
        here, d = here + 0.93 * d * axis.direction, 0.07 * d
    length = abs(d) + 2.3 * r
    T = along(here + d / 2 * axis.direction, axis.direction)
    if plan.plain:
        yield Part(i, moved(tube(1.2 * r, length, sides=plan.sides), T), DARK)
        return
    yield Part(i, moved(drum(1.28 * r, length, 0.18, plan.sides), T), DARK)
    yield Part(i, moved(drum(0.85 * r, length + 0.3 * r, 0.3, plan.sides), T), TRIM)


def _meets_a_joint(plan: _Plan, i: int) -> bool:
    """Whether a child of body i has its own housing where the shaft of joint i ends."""
    at = plan.at
    return any(np.linalg.norm(at.arrival[c] - at.start[i]) < plan.radius[i] for c in at.children[i])


def _shaft(plan: _Plan, i: int, d: float) -> Iterator[Part]:
    """A long offset d along the axis of joint i: first the parent's part, then a ring, then that of body i."""
    robot, at, parent = plan.robot, plan.at, int(plan.robot.parents[i])
    u = np.copysign(1.0, d) * at.own[i].direction
    u_parent = robot.placements[i, :3, :3] @ u
    r, before = plan.radius[i], plan.radius[parent]
    middle, here = 0.55 * abs(d), _arrived(robot, at, i)
    end = min(plan.radius[c] for c in at.children[i]) if at.children[i] else r
    thick = 1.0 if parent >= 0 else 1.25
    first = limb(thick * max(before, r), thick * r, middle - 0.2 * r, sides=plan.sides)
    yield Part(parent, moved(first, along(at.arrival[i], u_parent)), LINK if parent >= 0 else BASE)
    if parent >= 0 and np.linalg.norm(at.arrival[i] - at.start[parent]) > 0.8 * before:
        yield Part(parent, moved(ball(1.05 * max(before, r), sides=plan.sides), _at(at.arrival[i])), LINK)
    yield Part(i, moved(drum(1.12 * thick * r, 0.5 * r, 0.3, plan.sides), along(here + middle * u, u)), DARK)
    length = abs(d) - (_hand_room(r, abs(d)) if i in at.tip and plan.grasps and plan.hand else 0.0)
    rest = limb(thick * r, end, max(length - middle, r) - 0.2 * r, sides=plan.sides)
    yield Part(i, moved(rest, along(here + (middle + 0.2 * r) * u, u)), LINK)
    if i not in at.tip or np.linalg.norm(at.tip[i] - at.start[i]) > r:
        yield Part(i, moved(ball(1.05 * end, sides=plan.sides), _at(at.start[i])), LINK)


def _thread(plan: _Plan, i: int) -> Iterator[Part]:
    """A housing with the rings of a thread."""
    axis, r = plan.at.own[i], plan.radius[i]
    d, here = _offset(plan.robot, plan.at, i), _arrived(plan.robot, plan.at, i)
    length = abs(d) + 4 * r
    center = here + d / 2 * axis.direction
    yield Part(i, moved(tube(0.8 * r, length, sides=plan.sides), along(center, axis.direction)), TRIM)
    count = int(np.clip(length / (0.8 * r), 3, 24))
    rings = [
        moved(drum(1.15 * r, 0.35 * r, 0.9, plan.sides), along(center + s * axis.direction, axis.direction))
        for s in np.linspace(-0.42, 0.42, count) * length
    ]
    yield Part(i, joined(rings), DARK)


def _slide(plan: _Plan, i: int) -> Iterator[Part]:
    """On the base, a rail with a carriage; else a sleeve on the parent, and a bar that slides through it."""
    robot, at, r, parent = plan.robot, plan.at, plan.radius[i], int(plan.robot.parents[i])
    axis, (low, high) = at.own[i], _travel(plan, i)
    u, u_parent = axis.direction, robot.placements[i, :3, :3] @ axis.direction
    here, end = _arrived(robot, at, i), _offset(robot, at, i)
    if parent < 0:
        rail = bar(1.1 * r, 0.8 * r, low + end - 2.5 * r, high + end + 2.5 * r)
        feet = [moved(box(2.2 * r, 1.8 * r, 0.8 * r), _lifted(x + end)) for x in (low - 2.5 * r, high + 2.5 * r)]
        yield Part(-1, moved(joined([rail, *feet]), along(at.arrival[i], u_parent)), BASE)
        yield Part(i, moved(box(2.6 * r, 2.2 * r, 3.2 * r), along(at.start[i], u)), DARK)
        return
    first, last = min(-high, end) - 1.2 * r, max(-low, end) + 0.4 * r
    yield Part(parent, moved(box(2.5 * r, 2.5 * r, 3.4 * r), along(at.arrival[i], u_parent)), DARK)
    yield Part(i, moved(bar(1.35 * r, 1.35 * r, first, last), along(here, u)), TRIM)
    cap = bar(1.6 * r, 1.6 * r, first - 0.3 * r, first)
    yield Part(i, moved(cap, along(here, u)), DARK)


def _lifted(z: float) -> np.ndarray:
    T = np.eye(4)
    T[2, 3] = z
    return T


def _ball(plan: _Plan, i: int) -> Iterator[Part]:
    axis, r = plan.at.own[i], plan.radius[i]
    yield Part(i, moved(ball(1.45 * r, sides=plan.sides), _at(axis.point)), DARK)


def _plane(plan: _Plan, i: int) -> Iterator[Part]:
    """A puck that lies in the plane."""
    axis, r = plan.at.own[i], plan.radius[i]
    yield Part(i, moved(drum(2.4 * r, 1.0 * r, 0.3, plan.sides), along(axis.point, axis.direction)), DARK)


def _free(plan: _Plan, i: int) -> Iterator[Part]:
    """A box with the moments of inertia of the body, about its center of mass; a ball, if it has none."""
    center, r = plan.at.own[i].point, plan.radius[i]
    mass, _, I = inertia.central.eager(plan.robot.inertias[i])
    moments, axes = np.linalg.eigh(np.asarray(I))
    squares = 6 * (moments.sum() - 2 * moments) / mass if mass > 0 else np.zeros(3)  # of a uniform box
    if not (squares > 0).any():
        yield Part(i, moved(ball(1.8 * r, sides=plan.sides), _at(center)), BASE)
        return
    edges = np.clip(np.sqrt(np.maximum(squares, 0)), 1.2 * r, max(1.5 * plan.reach, 2 * r))
    T = _at(center)
    T[:3, :3] = axes * np.copysign(1.0, np.linalg.det(axes))
    yield Part(i, moved(box(*edges), T), BASE)


def _at(point: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = point
    return T


_JOINTS = {"turn": _turn, "thread": _thread, "slide": _slide, "ball": _ball, "plane": _plane, "free": _free}


# --- links ------------------------------------------------------------------------------------------------------------


def _link(plan: _Plan, i: int) -> Iterator[Part]:
    """The link of body i to each of its children, or to its tip."""
    at, r = plan.at, plan.radius[i]
    for c in at.children[i]:
        if at.own[c].kind != "free":
            yield from _between(plan, i, at.start[i], at.arrival[c], r, plan.radius[c])
    if i in at.tip:
        yield from _end(plan, i)


def _between(plan: _Plan, body: int, a: np.ndarray, b: np.ndarray, r_a: float, r_b: float) -> Iterator[Part]:
    length = float(np.linalg.norm(b - a))
    if length > 0.8 * r_a:
        rings = 4 if plan.plain else 9
        mesh = limb(r_a, r_b, length, 0.0 if plan.plain else 0.15, plan.sides, rings)
        yield Part(body, moved(mesh, along(a, b - a)), LINK if body >= 0 else BASE)


def _end(plan: _Plan, i: int) -> Iterator[Part]:
    """The end of a branch: a gripper at the tool of an arm; else a limb with a round end."""
    at, r = plan.at, plan.radius[i]
    start, tip = at.start[i], at.tip[i]
    if not plan.grasps or at.own[i].kind in ("free", "plane"):
        yield from _between(plan, i, start, tip, r, 0.8 * r)
        yield Part(i, moved(ball(0.95 * r, sides=plan.sides), _at(tip)), DARK)
        return
    if not plan.hand:
        yield from _between(plan, i, start, tip, r, 0.8 * r)
        return
    approach, side, flange = _tool(plan, i)
    if np.linalg.norm(tip - start) > 0.8 * r:
        yield from _between(plan, i, start, flange, r, 0.8 * r)
    yield from _gripper(i, along(flange, approach, side), 1.15 * r, plan.sides)


def _tool(plan: _Plan, i: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the gripper of the last body points, where its fingers open, and where it begins.

    If there is room, the fingers end at the tool's frame; else they begin there.
    """
    at, r = plan.at, plan.radius[i]
    axis, tip, start = at.own[i], at.tip[i], at.start[i]
    frames = [f.placement[:3, :3] for f in plan.robot.frames if f.body == i and np.allclose(f.placement[:3, 3], tip)]
    R = frames[0] if frames else np.eye(3)
    along_axis = _offset(plan.robot, at, i)
    reach = tip - start
    if np.linalg.norm(reach) > 0.8 * r:
        room = float(np.linalg.norm(reach))
        approach = reach / room
    elif axis.kind in ("turn", "slide") and abs(along_axis) > 1e-9:
        room = abs(along_axis) if axis.kind == "turn" else 0.0
        approach = np.copysign(1.0, along_axis) * axis.direction
    else:
        room, approach = 0.0, R[:, 2]
    side = min(R.T, key=lambda x: abs(float(x @ approach)))
    return approach, side, tip - _hand_room(r, room) * approach


def _hand_room(r: float, length: float) -> float:
    """How far before the tool's frame a gripper begins that ends a piece of this length; 0, if that is too short."""
    return _HAND * r if length > 2 * _HAND * r else 0.0


def _gripper(body: int, T: np.ndarray, s: float, sides: int) -> Iterator[Part]:
    """A flange and two fingers of size s [m], from the origin of T along its z; they open along x."""
    flange = moved(drum(0.95 * s, 0.7 * s, 0.2, sides), _lifted(0.35 * s))
    palm = moved(box(2.3 * s, 1.0 * s, 0.75 * s), _lifted(1.0 * s))
    fingers = [_finger(side, s) for side in (-1, 1)]
    yield Part(body, moved(flange, T), TRIM)
    yield Part(body, moved(joined([palm, *fingers]), T), HAND)


def _finger(side: int, s: float) -> Mesh:
    """A finger that starts at the palm, at one side, and is bent towards the other."""
    return moved(box(0.3 * s, 0.62 * s, 1.5 * s), _at(np.array([side * 0.85 * s, 0.0, 2.0 * s])))


# --- the base ---------------------------------------------------------------------------------------------------------


def _base(plan: _Plan) -> Iterator[Part]:
    """What holds the first joints: a pedestal below one with an upright axis, a plate behind one with a level axis.

    Below several joints, or none at all, it is a cube.
    """
    at = plan.at
    roots = [c for c in at.children[-1] if at.own[c].kind not in ("free", "plane")]
    up = up_of(plan.robot)
    for c in roots:
        aside = at.arrival[c] - (at.arrival[c] @ up) * up
        # One arm far beside the origin stands there on its own, as robots of a world do.
        if len(roots) > 1 or np.linalg.norm(aside) < 4 * plan.radius[c]:
            yield from _between(plan, -1, np.zeros(3), at.arrival[c], plan.radius[c], plan.radius[c])
    if len(roots) != 1:
        size = 3.0 * plan.radius[-1]
        yield from [Part(-1, box(size, size, size), BASE)] * bool(roots or not at.own)
        return
    (c,) = roots
    if at.own[c].kind == "slide":
        return
    u = plan.robot.placements[c, :3, :3] @ at.own[c].direction
    if at.own[c].kind == "ball" and _hangs(plan, c, up):
        yield from _pedestal(plan, c, -up)  # from the ceiling
    elif at.own[c].kind == "ball" or abs(u @ up) > 0.7:
        yield from _pedestal(plan, c, up)
    else:
        yield from _wall(plan, c, u)


def _hangs(plan: _Plan, c: int, up: np.ndarray) -> bool:
    """Whether the link of a first body goes down from its joint at q = 0."""
    at = plan.at
    ends = [at.arrival[k] for k in at.children[c]] or [at.tip[c]]
    return float(sum(plan.robot.placements[c, :3, :3] @ (x - at.start[c]) for x in ends) @ up) < 0


def _pedestal(plan: _Plan, c: int, up: np.ndarray) -> Iterator[Part]:
    """A foot on the floor; if the arm's first joints are low, a column that lifts them."""
    r, top = plan.radius[c], plan.at.arrival[c]
    d = abs(_offset(plan.robot, plan.at, c))
    low = 1.5 * r if d > 0.9 * r else min(0.45 * plan.reach, 10 * r)
    height = 0.0 if d > _LONG * r else low
    floor = top - height * up
    yield Part(-1, moved(drum(2.5 * r, 0.5 * r, 0.4, plan.sides), along(floor + 0.25 * r * up, up)), BASE)
    if height:
        column = limb(1.75 * r, 1.3 * r, height - 1.0 * r, sides=plan.sides)
        yield Part(-1, moved(column, along(floor, up)), BASE)


def _wall(plan: _Plan, c: int, u: np.ndarray) -> Iterator[Part]:
    """A plate on a wall behind the first joint, and a bracket."""
    r, at = plan.radius[c], plan.at.arrival[c]
    bracket = moved(limb(2.2 * r, 1.35 * r, 1.6 * r, 0.1, plan.sides), along(at - 2.7 * r * u, u))
    plate = moved(box(6 * r, 6 * r, 0.6 * r), along(at - 3.0 * r * u, u, up_of(plan.robot)))
    yield Part(-1, joined([bracket, plate]), BASE)
