"""Families of arms with six joints whose inverse kinematics has a closed form.

The tool is at T = E_0 ··· E_5 M (Park 1994, eq. 1), so T' = T M⁻¹ = L S N, where S are three neighbouring joints, L the
joints before and N those after them. Closed forms exist if S is a subgroup of the rigid motions:

    "spherical"    three revolute axes meet in a point o, so S o = o:      L⁻¹ T' N⁻¹ o = o has three unknowns left;
    "planar"       three parallel axes, or slides across them, so that S   L⁻¹ T' N⁻¹ keeps the height k · x of all x;
                   keeps every height k · x:
    "sliding"      three prismatic joints anywhere: the rotations alone    then the slides follow from linear equations.
                   give the orientation;

A plan is found once for a robot, from its numbers. Its equations are then solved for a pose, or for a million of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..lie import se3
from .axes import Axis, act, meeting_point, moved, relation, reversed_axis, spin
from .chains import Answer
from .orientation import middle_roots, rotations_to
from .position import Case, Placed, placements_of_point
from .subproblems import (
    across,
    angle_of,
    circle_roots,
    conic_roots,
    inverse,
    line_root,
    line_roots,
    perpendicular,
    rotated,
    turn,
)

__all__ = [
    "Plan",
    "common_point",
    "plane_normal",
    "plans",
    "position_places",
    "side_places",
    "solve",
]


ALIGNED = 1e-11  # the sine of an angle that is a rounding error of 0


class Plan(NamedTuple):
    """How an arm is solved: its family, the place of the first joint of S, and what distinguishes the cases.

    `relation` tells how the first two joints of the position problem lie; `backward` says that this problem is solved
    from the other end; `quartic` that it has four roots that are not two times two. `apart` is that of `circle_roots`.
    """

    family: str
    start: int
    relation: str
    backward: bool
    quartic: bool
    apart: float = 0.0


def plans(axes: Sequence[Axis], tolerance: float) -> list[Plan]:
    """All plans for six axes, the cheapest first; `tolerance` [rad, arm sizes] tells parallel and meeting ones."""
    found = []
    for start in range(4):
        triple = axes[start : start + 3]
        if common_point(triple, tolerance) is not None:
            found += _spherical_plans(axes, start, tolerance)
        if plane_normal(triple, tolerance) is not None:
            found += _planar_plans(axes, start, tolerance)
    if [a.kind for a in axes].count("P") == 3:
        found.append(Plan("sliding", 0, "", False, False))
    return sorted(found, key=lambda plan: (plan.quartic, plan.family == "sliding"))


def solve(plan: Plan, axes: Sequence[Axis], T) -> list[Answer]:
    """All roots of E_0 ··· E_5 = T (4, 4), in the order of the plan's branches."""
    return _SOLVE[plan.family](plan, axes, T)


# --- what the three joints are ----------------------------------------------------------------------------------------


def common_point(triple: Sequence[Axis], tolerance: float):
    """The point (3,) that three revolute axes share, or None if there is none up to `tolerance`."""
    if any(a.kind == "P" for a in triple) or any(
        np.linalg.norm(np.cross(a.direction, b.direction)) < 0.02 for a, b in itertools.pairwise(triple)
    ):
        return None
    across = [np.eye(3) - np.outer(a.direction, a.direction) for a in triple]
    o = np.linalg.solve(sum(across), sum(P @ a.point for P, a in zip(across, triple, strict=True)))
    far = max(np.linalg.norm(P @ (o - a.point)) for P, a in zip(across, triple, strict=True))
    return o if far <= tolerance else None


def plane_normal(triple: Sequence[Axis], tolerance: float):
    """The unit vector (3,) whose heights three joints keep, two of them revolute at least, or None."""
    turning = [a.direction for a in triple if a.kind == "R"]
    if len(turning) < 2 or triple[0].kind == triple[2].kind == "P":
        return None
    k = turning[0]
    k = sum(d * np.sign(d @ k) for d in turning)
    k = k / np.linalg.norm(k)
    kept = [
        np.linalg.norm(np.cross(k, a.direction)) <= tolerance if a.kind == "R" else abs(k @ a.direction) <= tolerance
        for a in triple
    ]
    apart = all(
        np.linalg.norm(np.cross(k, a.point - b.point)) > 1e-6
        for a, b in itertools.combinations([a for a in triple if a.kind == "R"], 2)
    )
    return k if all(kept) and apart else None


# --- three axes that meet ---------------------------------------------------------------------------------------------


class _Unknowns(NamedTuple):
    """A position problem: the places of its joints in the arm, the joints as it sees them, and its two points."""

    places: tuple[int, ...]
    joints: tuple[Axis, ...]
    start: Any
    target: Any


def _unknowns(axes: Sequence[Axis], start: int, backward: bool, o, T) -> _Unknowns:
    """The position problem that L⁻¹ T' N⁻¹ o = o is; with two joints on one side of S, it begins with them."""
    back = se3.inverse(T)
    if start == 1:  # E_0⁻¹ T' E_5⁻¹ E_4⁻¹ o = o, so E_4 E_5 (T'⁻¹ E_0 T') T'⁻¹ o = o
        return _Unknowns((4, 5, 0), (axes[4], axes[5], moved(back, axes[0])), se3.act(back, o), o)
    if start == 2:  # E_1⁻¹ E_0⁻¹ T' E_5⁻¹ o = o, so E_1⁻¹ E_0⁻¹ (T' E_5⁻¹ T'⁻¹) T' o = o
        joints = reversed_axis(axes[1]), reversed_axis(axes[0]), moved(T, reversed_axis(axes[5]))
        return _Unknowns((1, 0, 5), joints, se3.act(T, o), o)
    places, seen = ((0, 1, 2), se3.act(T, o)) if start == 3 else ((3, 4, 5), se3.act(back, o))
    joints = tuple(axes[i] for i in places)
    if (start == 3) == backward:  # the joints in the opposite order undo each other
        return _Unknowns(places[::-1], tuple(map(reversed_axis, joints[::-1])), *((seen, o) if backward else (o, seen)))
    return _Unknowns(places, joints, *((seen, o) if backward else (o, seen)))


def position_places(plan: Plan) -> tuple[int, int]:
    """The places of the first two joints of the position problem, whose relation matters."""
    if plan.start in (1, 2):
        return (4, 5) if plan.start == 1 else (1, 0)
    first = (0, 1, 2) if plan.start == 3 else (3, 4, 5)
    i, j, _ = first[::-1] if (plan.start == 3) == plan.backward else first
    return i, j


def _spherical_plans(axes: Sequence[Axis], start: int, tolerance: float) -> list[Plan]:
    found = []
    o = common_point(axes[start : start + 3], tolerance)
    for backward in (False, True) if start in (0, 3) else (False,):
        _, (A, B, _), *_ = _unknowns(axes, start, backward, o, np.eye(4))
        how = relation(A, B, tolerance)
        two_times_two = how != "skew" and not (A.kind == "P" and B.kind == "R" and how == "parallel")
        found.append(Plan("spherical", start, how, backward, not two_times_two))
    return found


def _positions(plan: Plan, unknowns: _Unknowns) -> list[Placed]:
    """The roots of the position problem.

    The circle of its last joint is the same at all poses, unless it is solved backward or S is in the arm's middle.
    """
    joints, o, t = unknowns.joints, unknowns.start, unknowns.target
    how = Case(plan.relation, plan.start in (0, 3) and not plan.backward, plan.apart)
    return placements_of_point(joints, o, t, how)


def _solve_spherical(plan: Plan, axes: Sequence[Axis], T) -> list[Answer]:
    triple = axes[plan.start : plan.start + 3]
    o = meeting_point(triple[0], triple[1])
    unknowns = _unknowns(axes, plan.start, plan.backward, o, T)
    found = []
    for values, exact in _positions(plan, unknowns):
        known = dict(zip(unknowns.places, values, strict=True))
        wrist = rotations_to([a.direction for a in triple], _middle(axes, plan.start, known, T).vector, plan.apart)
        for angles, there in wrist:
            q = {i: _coordinate(axes[i], x) for i, x in known.items()} | dict(enumerate(angles, plan.start))
            found.append(Answer(tuple(q[i] for i in range(6)), exact & there))
    return found


class _Motion(NamedTuple):
    """A rigid motion as its action on points and on vectors, and the actions of its inverse."""

    point: Callable
    vector: Callable
    point_back: Callable
    vector_back: Callable


def _middle(axes: Sequence[Axis], start: int, known: dict, T) -> _Motion:
    """The motion S = L⁻¹ T' N⁻¹ of the three joints from `start`, where the coordinates of the others are known."""
    before, after = range(start), range(start + 3, 6)
    R, p = T[:3, :3], T[:3, 3]

    def forth(move: Callable, pose: Callable, x):
        for i in after:
            x = move(axes[i], _minus(known[i]), x)
        x = pose(x)
        for i in before:
            x = move(axes[i], _minus(known[i]), x)
        return x

    def back(move: Callable, pose: Callable, x):
        for i in reversed(before):
            x = move(axes[i], known[i], x)
        x = pose(x)
        for i in reversed(after):
            x = move(axes[i], known[i], x)
        return x

    return _Motion(
        lambda x: forth(act, lambda y: R @ y + p, x),
        lambda x: forth(spin, lambda y: R @ y, x),
        lambda x: back(act, lambda y: R.T @ (y - p), x),
        lambda x: back(spin, lambda y: R.T @ y, x),
    )


# --- three joints that keep heights -----------------------------------------------------------------------------------


class _Sides(NamedTuple):
    """The joints beside S, where the heights k · x that S keeps give two equations: F_near(y) = F_far(y).

    y are a point and the direction of the joint `middle`, which leaves them where they are. F_near(y) is the height of
    y after `near`; F_far(y) is that after the joint `far` and the pose: `covector` · far(pose(y)) + `offset`.
    """

    near_place: int
    far_place: int
    middle_place: int
    near: Axis
    far: Axis
    covector: Any
    offset: Any
    pose: Callable  # on points
    turn: Callable  # on vectors


def _sides(axes: Sequence[Axis], start: int, k, T) -> _Sides:
    R, p = T[:3, :3], T[:3, 3]
    same = lambda x: x  # noqa: E731
    if start == 0:  # k·(T' E_5⁻¹ y) = k·(E_3 y), y on axis 4
        return _Sides(3, 5, 4, axes[3], reversed_axis(axes[5]), R.T @ k, k @ p, same, same)
    if start == 1:  # k·(E_0⁻¹ T' y) = k·(E_4 y), y on axis 5
        return _Sides(4, 0, 5, axes[4], reversed_axis(axes[0]), k, 0.0, lambda x: R @ x + p, lambda x: R @ x)
    if start == 2:  # k·(E_5 T'⁻¹ y) = k·(E_1⁻¹ y), y on axis 0
        back = lambda x: R.T @ (x - p)  # noqa: E731
        return _Sides(1, 5, 0, reversed_axis(axes[1]), axes[5], k, 0.0, back, lambda x: R.T @ x)
    # k·(T'⁻¹ E_0 y) = k·(E_2⁻¹ y), y on axis 1
    return _Sides(2, 0, 1, reversed_axis(axes[2]), axes[0], R @ k, -(R @ k) @ p, same, same)


def side_places(plan: Plan) -> tuple[int, int, int]:
    """The places of the joints near, far and middle beside a planar S."""
    return {0: (3, 5, 4), 1: (4, 0, 5), 2: (1, 5, 0), 3: (2, 0, 1)}[plan.start]


def _planar_plans(axes: Sequence[Axis], start: int, tolerance: float) -> list[Plan]:
    """With the middle joint meeting a neighbour, its point of meeting does not feel that neighbour."""
    sides = _sides(axes, start, axes[start].direction, np.eye(4))
    near, far, middle = (axes[i] for i in (sides.near_place, sides.far_place, sides.middle_place))
    if "P" in near.kind + far.kind + middle.kind:
        return []
    if relation(middle, near, tolerance) == "meeting":
        return [Plan("planar", start, "near", False, False)]
    if start in (0, 3) and relation(middle, far, tolerance) == "meeting":
        return [Plan("planar", start, "far", False, False)]
    return [Plan("planar", start, "skew", False, True)]


def _height_form(joint: Axis, covector, x, vector: bool) -> tuple:
    """The form (x0, x1, x2) of `covector` · joint(x) = x0 + x1 c + x2 s, for a point or a vector x (3,)."""
    k, center = joint.direction, np.zeros(3) if vector else joint.point
    v = x - center
    along = (k @ v) * k
    return covector @ (center + along), covector @ (v - along), covector @ np.cross(k, v)


def _side_roots(plan: Plan, sides: _Sides, k, middle: Axis) -> list[tuple]:
    """The pairs (near, far, exact) of the joints beside S."""
    near, far, w = sides.near, sides.far, sides.covector
    other = {"near": near, "far": far}.get(plan.relation)
    y = middle.point if other is None else meeting_point(middle, other)
    n, f = _height_form(near, k, y, False), _height_form(far, w, sides.pose(y), False)
    f = f[0] + sides.offset, f[1], f[2]
    direction = sides.turn(middle.direction)
    found = []
    if plan.relation == "near":
        for far_q, exact in circle_roots(f[1], f[2], k @ y - f[0], apart=plan.apart):
            seen = rotated(far.direction, inverse(far_q), w)
            normal = np.cross(seen, direction)
            roots = middle_roots(k, near.direction, middle.direction, seen @ direction, normal @ normal, plan.apart)
            found += [(near_q, far_q, exact & there) for near_q, there in roots]
        return found
    if plan.relation == "far":
        for near_q, exact in circle_roots(n[1], n[2], w @ y + sides.offset - n[0], apart=plan.apart):
            seen = rotated(near.direction, near_q, middle.direction)
            normal = np.cross(k, seen)
            roots = middle_roots(w, far.direction, direction, k @ seen, normal @ normal, plan.apart)
            found += [(near_q, far_q, exact & there) for far_q, there in roots]
        return found
    # Both equations contain both joints: the point (c, s) of `near` is linear in that of `far`, and on the circle.
    m, g = _height_form(near, k, middle.direction, True), _height_form(far, w, direction, True)
    det = 1 / (n[1] * m[2] - n[2] * m[1])
    a, b = [f[i] - (n[0] if i == 0 else 0.0) for i in range(3)], [g[i] - (m[0] if i == 0 else 0.0) for i in range(3)]
    c = [det * (m[2] * a[i] - n[2] * b[i]) for i in range(3)]
    s = [det * (n[1] * b[i] - m[1] * a[i]) for i in range(3)]
    conic = (
        *(c[1] * c[1] + s[1] * s[1], 2 * (c[1] * c[2] + s[1] * s[2]), c[2] * c[2] + s[2] * s[2]),
        *(2 * (c[0] * c[1] + s[0] * s[1]), 2 * (c[0] * c[2] + s[0] * s[2]), c[0] * c[0] + s[0] * s[0] - 1),
    )
    for far_q, exact in conic_roots(conic, plan.apart):
        x = 1.0, *far_q
        near_q = sum(u * v for u, v in zip(c, x, strict=True)), sum(u * v for u, v in zip(s, x, strict=True))
        found.append((near_q, far_q, exact))
    return found


def _solve_planar(plan: Plan, axes: Sequence[Axis], T) -> list[Answer]:
    triple = axes[plan.start : plan.start + 3]
    k = next(a.direction for a in triple if a.kind == "R")
    sides = _sides(axes, plan.start, k, T)
    middle = axes[sides.middle_place]
    R = T[:3, :3]
    found = []
    for near_q, far_q, exact in _side_roots(plan, sides, k, middle):
        near = rotated(sides.near.direction, inverse(near_q), k)
        far = rotated(sides.far.direction, inverse(far_q), sides.covector)
        # The middle joint turns the height's covector from one side to the other.
        ends = {0: (far, near), 1: (R.T @ far, near), 2: (near, R @ far), 3: (near, far)}[plan.start]
        known = {sides.near_place: near_q, sides.far_place: far_q}
        aligned = across(middle.direction, ends[0])
        free = _free_middle(axes, plan.start, sides.middle_place, known, T)
        chosen, bent = turn(middle.direction, *ends), aligned @ aligned < ALIGNED**2
        known[sides.middle_place] = tuple(np.where(bent, x, y) for x, y in zip(free, chosen, strict=True))
        for values, there in _planar_roots(triple, _middle(axes, plan.start, known, T), plan.apart):
            q = {i: _coordinate(axes[i], x) for i, x in known.items()}
            q |= {plan.start + i: _coordinate(a, x) for i, (a, x) in enumerate(zip(triple, values, strict=True))}
            found.append(Answer(tuple(q[i] for i in range(6)), exact & there))
    return found


def _free_middle(axes: Sequence[Axis], start: int, place: int, known: dict, T) -> tuple:
    """The angle of the middle joint where its axis is along the normal of S, so that any angle does.

    It moves S's last axis on a circle about its own. The angle that brings this axis to where the elbow of S is at a
    right angle, or as near to it as can be, keeps the arm in reach.
    """
    A, B, C = triple = axes[start : start + 3]
    if any(a.kind == "P" for a in triple):
        return 1.0, 0.0
    k = A.direction
    upper, fore = across(k, B.point - A.point), across(k, C.point - B.point)
    circle = [
        across(k, _middle(axes, start, known | {place: turned}, T).point(C.point) - A.point)
        for turned in ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0))
    ]
    middle, x = 0.5 * (circle[0] + circle[2]), 0.5 * (circle[0] - circle[2])
    y = circle[1] - middle
    far2 = middle @ middle + x @ x
    return circle_roots(2 * (middle @ x), 2 * (middle @ y), upper @ upper + fore @ fore - far2)[0].value


def _planar_roots(triple: Sequence[Axis], S: _Motion, apart: float) -> list[tuple]:
    """The coordinates ((x_0, x_1, x_2), exact) of three joints whose product is the planar motion S."""
    if triple[2].kind == "P":  # S⁻¹ has the joints in the opposite order, and the revolute one last
        back = _Motion(S.point_back, S.vector_back, S.point, S.vector)
        found = _planar_roots([reversed_axis(a) for a in triple[::-1]], back, apart)
        return [(values[::-1], exact) for values, exact in found]
    A, B, C = triple
    k = C.direction
    m = perpendicular(k)
    t, image = S.point(C.point), S.vector(m)
    found = []
    for a, b, exact in _two_planar(A, B, k, C.point, t, apart):
        x = spin(B, _minus(b), spin(A, _minus(a), image))
        found.append(((a, b, turn(k, m, x)), exact))
    return found


def _two_planar(A: Axis, B: Axis, k, o, t, apart: float) -> list[tuple]:
    """The pairs (a, b, exact) with A B o = t in the plane across k."""
    if A.kind == "P":  # the line along A through t
        e = np.cross(k, A.direction)
        if B.kind == "P":
            roots = line_root(e @ (o - t), e @ B.direction)
        else:
            x0, x1, x2 = _height_form(B, e, o, False)
            roots = circle_roots(x1, x2, e @ t - x0, apart=apart)
        return [(A.direction @ (t - act(B, b, o)), b, exact) for b, exact in roots]
    far = across(k, t - A.point)
    if B.kind == "P":
        x = across(k, o - A.point)
        roots = line_roots(x @ x - far @ far, 2 * (B.direction @ x), 1.0)
    else:
        arm, forearm = across(k, B.point - A.point), across(k, o - B.point)
        d = 0.5 * (far @ far - arm @ arm - forearm @ forearm)
        roots = circle_roots(arm @ forearm, arm @ np.cross(B.direction, forearm), d, apart=apart)
    return [(turn(A.direction, act(B, b, o) - A.point, far), b, exact) for b, exact in roots]


# --- three slides -----------------------------------------------------------------------------------------------------


def _solve_sliding(plan: Plan, axes: Sequence[Axis], T) -> list[Answer]:
    turning = [i for i, a in enumerate(axes) if a.kind == "R"]
    sliding = [i for i, a in enumerate(axes) if a.kind == "P"]
    found = []
    for angles, exact in rotations_to([axes[i].direction for i in turning], lambda x: T[:3, :3] @ x, plan.apart):
        known = {i: (np.cos(x), np.sin(x)) for i, x in zip(turning, angles, strict=True)} | dict.fromkeys(sliding, 0.0)
        x = np.zeros(3)
        for i in reversed(range(6)):
            x = act(axes[i], known[i], x)
        columns = []
        for j in sliding:
            d = axes[j].direction
            for i in reversed(range(j)):
                d = spin(axes[i], known[i], d)
            columns.append(d)
        a, b, c = columns
        volume = a @ np.cross(b, c)
        there = volume * volume > 1e-24
        over, rest = 1 / np.where(there, volume, 1.0), T[:3, 3] - x
        lengths = [over * (rest @ np.cross(*pair)) for pair in ((b, c), (c, a), (a, b))]
        q = dict(zip(turning, angles, strict=True)) | dict(zip(sliding, lengths, strict=True))
        found.append(Answer(tuple(q[i] for i in range(6)), exact & there))
    return found


_SOLVE = {"spherical": _solve_spherical, "planar": _solve_planar, "sliding": _solve_sliding}


# --- small things -----------------------------------------------------------------------------------------------------


def _minus(q):
    """The coordinate -q: of an angle (c, s), or a length."""
    return inverse(q) if isinstance(q, tuple) else -q


def _coordinate(a: Axis, q):
    """The coordinate as a number: the angle of a point of the circle, or the length."""
    return q if a.kind == "P" else angle_of(q)
