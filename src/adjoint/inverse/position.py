"""The position problem: three joints bring a point to a given place.

For joints A, B, C find the coordinates with A B C o = t. This is Pieper's problem for any three revolute and prismatic
joints (D. L. Pieper, 1968): whatever the last three joints of an arm do, if their axes meet in o.

Joint A can bring u = B C o to t if two conditions hold: for a revolute A, u and t have the same height along its axis
and the same distance from a point of it; for a prismatic A, the same coordinates across its direction. If the axes of
A and B are parallel, meet, or are at right angles, one of the conditions does not contain B, and C follows from it
alone (two roots), then B from the other (two roots). Otherwise B is eliminated, and C has four roots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .axes import Axis, act, meeting_point
from .subproblems import (
    Root,
    across,
    circle_roots,
    conic_roots,
    line_root,
    line_roots,
    perpendicular,
    quartic_roots,
    turn,
)

__all__ = ["Case", "Placed", "placements_of_point", "square_distance"]

ROUNDING = 1e-13  # constants below are rounding errors of 0


class Placed(NamedTuple):
    """A root of the position problem: the coordinates of A, B and C, and whether it exists."""

    values: tuple[Any, Any, Any]
    exact: Any


# A form (x0, x1, x2) of the coordinate of C is x0 + x1 c + x2 s if C is revolute, else x0 + x1 q + x2 q².


def square_distance(C: Axis, o, x) -> tuple:
    """The form |C o - x|²."""
    if C.kind == "P":
        return (o - x) @ (o - x), 2 * (C.direction @ (o - x)), 1.0
    middle, across, beside = _circle(C, o)
    return (middle - x) @ (middle - x) + across @ across, 2 * ((middle - x) @ across), 2 * ((middle - x) @ beside)


def _height(C: Axis, o, k, x) -> tuple:
    """The form k · (C o - x)."""
    if C.kind == "P":
        return k @ (o - x), k @ C.direction, 0.0
    middle, across, beside = _circle(C, o)
    return k @ (middle - x), k @ across, k @ beside


def _circle(C: Axis, o) -> tuple:
    """The circle C o = middle + c across + s beside."""
    x = o - C.point
    along = (C.direction @ x) * C.direction
    return C.point + along, x - along, np.cross(C.direction, x)


def _plus(*terms) -> tuple:
    """The form Σ a f of terms (a, f)."""
    return tuple(sum((a * f[k] for a, f in terms[1:]), terms[0][0] * terms[0][1][k]) for k in range(3))


def _roots(C: Axis, form, height: bool, apart: float) -> list[Root]:
    """The values of C where the form of a height, or else of a squared distance, is 0."""
    if C.kind == "P":
        return line_root(*form[:2]) if height else line_roots(*form)
    return circle_roots(form[1], form[2], -form[0], apart=apart)


def _roots_of_squares(C: Axis, signed: Sequence[tuple], plus: tuple, how: Case) -> list[Root]:
    """The values of C where Σ sign f² + `plus` is 0, for pairs (sign, form f) and a form `plus`."""
    if C.kind == "P":
        x = [plus[0], plus[1], plus[2], 0.0, 0.0]
        for sign, f in signed:
            for i in range(3):
                for j in range(3):
                    x[i + j] = x[i + j] + sign * (f[i] * f[j])
        return quartic_roots(x, how.apart)
    a, b, d, e, f, g = 0.0, 0.0, 0.0, plus[1], plus[2], plus[0]
    for sign, (x0, x1, x2) in signed:
        a, b, d = a + sign * (x1 * x1), b + sign * (2 * (x1 * x2)), d + sign * (x2 * x2)
        e, f, g = e + sign * (2 * (x0 * x1)), f + sign * (2 * (x0 * x2)), g + sign * (x0 * x0)
    if how.constant and _vanish(a - d, b):  # a circle is a line among the points of the unit circle
        return circle_roots(e, f, -(g + 0.5 * (a + d)), apart=how.apart)
    return conic_roots((a, b, d, e, f, g), how.apart)


def _vanish(*numbers) -> bool:
    """Whether numbers of the robot are 0 up to rounding."""
    return all(isinstance(x, (int, float)) and abs(x) < ROUNDING for x in numbers)


class Case(NamedTuple):
    """What distinguishes position problems: how A and B lie, whether C and o are the same at all poses.

    `apart` is that of `circle_roots`.
    """

    relation: str
    constant: bool
    apart: float = 0.0


def placements_of_point(joints: Sequence[Axis], o, t, how: Case) -> list[Placed]:
    """All roots of A B C o = t for `joints` (A, B, C), points o and t (3,)."""
    A, B, C = joints
    relation = how.relation
    if B.kind == "P":
        return _second_slides(A, B, C, o, t, how)
    if A.kind == "R" and relation != "parallel":  # on the common normal, where the conditions are simplest
        A, B = A._replace(point=meeting_point(A, B)), B._replace(point=meeting_point(B, A))
    if relation == "skew" or (A.kind == "P" and relation == "parallel"):
        return _eliminated(A, B, C, o, t, how)
    return _in_turn(A, B, C, o, t, how)


def _done(A: Axis, B: Axis, C: Axis, o, t, qB, qC, exact) -> Placed:
    """The root with the coordinate of A, which brings B C o to t."""
    u = act(B, qB, act(C, qC, o))
    qA = A.direction @ (t - u) if A.kind == "P" else turn(A.direction, u - A.point, t - A.point)
    return Placed((qA, qB, qC), exact)


def _in_turn(A: Axis, B: Axis, C: Axis, o, t, how: Case) -> list[Placed]:
    """B is revolute and one condition does not contain it: C has two roots, then B has two."""
    k, x, relation = B.direction, B.point, how.relation
    found = []
    if relation == "meeting":  # |C o - x| = |t - x|, where x is the common point
        reach2 = (t - x) @ (t - x)
        first = _plus((1.0, square_distance(C, o, x)), (-1.0, (reach2, 0.0, 0.0)))
    else:  # the heights along B's axis are equal: A's axis is parallel to it, or A slides at a right angle to it
        first = _plus((1.0, _height(C, o, k, x)), (-1.0, (k @ (t - x), 0.0, 0.0)))
    for qC, exact_C in _roots(C, first, relation != "meeting", how.apart):
        v = act(C, qC, o) - x
        z = k @ v
        across2 = v @ v - z * z
        if relation == "meeting":  # the height along A's axis, of the reachable point towards t
            near = np.where(exact_C, 1.0, np.sqrt((v @ v) / np.where(reach2 > 0, reach2, 1.0)))
            g, beta = across(k, A.direction), A.direction @ (t - x) * near - (A.direction @ k) * z
        elif A.kind == "R":  # the distance from A's axis
            g = 2 * across(k, x - A.point)
            far = t - A.point
            far2 = far @ far - (k @ far) * (k @ far)
            beta = far2 - 0.25 * (g @ g) - across2
        else:
            g = np.cross(A.direction, k)
            beta = g @ (t - x)
        for (c, s), exact_B in circle_roots(g @ v, g @ np.cross(k, v), beta, apart=how.apart):
            found.append(_done(A, B, C, o, t, (c, s), qC, exact_C & exact_B))
    return found


def _eliminated(A: Axis, B: Axis, C: Axis, o, t, how: Case) -> list[Placed]:
    """B is revolute and in both conditions: they give the part Z of B (C o - x) across k, linear in two forms of C.

    |Z|² = |C o - x|² - (k · (C o - x))² is an equation for C alone, with four roots.
    """
    k, x = B.direction, B.point
    distance2, height = square_distance(C, o, x), _height(C, o, k, x)
    if A.kind == "R":
        g1, g2 = across(k, A.direction), 2 * (x - A.point)
        far = t - A.point
        beta1 = _plus((-(A.direction @ k), height), (1.0, (A.direction @ (t - x), 0.0, 0.0)))
        beta2 = _plus((-1.0, distance2), (1.0, (far @ far - 0.25 * (g2 @ g2), 0.0, 0.0)))
    else:
        e1, e2 = _across(A, B, how.relation)
        g1, g2 = across(k, e1), e2
        beta1 = _plus((-(e1 @ k), height), (1.0, (e1 @ (t - x), 0.0, 0.0)))
        beta2 = (e2 @ (t - x), 0.0, 0.0)
    # g1 and g2 are at right angles: Z = β1 g1/|g1|² + β2 g2/|g2|².
    n1, n2 = 1 / (g1 @ g1), 1 / (g2 @ g2)
    squares = [(n1, beta1), (n2, beta2), (1.0, height)]
    found = []
    for qC, exact in _roots_of_squares(C, squares, _plus((-1.0, distance2)), how):
        f = (1.0, qC, qC * qC) if C.kind == "P" else (1.0, *qC)
        b1, b2 = (sum(y * z for y, z in zip(beta, f, strict=True)) for beta in (beta1, beta2))
        v, Z = act(C, qC, o) - x, b1 * n1 * g1 + b2 * n2 * g2
        found.append(_done(A, B, C, o, t, turn(k, v, Z), qC, exact))
    return found


def _across(A: Axis, B: Axis, relation: str) -> tuple:
    """Two unit vectors at right angles to the direction of A and to each other, the second also to that of B."""
    a, b = A.direction, B.direction
    if relation == "parallel":
        b = perpendicular(a)
    e2 = np.cross(a, b)
    e2 = e2 / np.sqrt(e2 @ e2)
    return np.cross(e2, a), e2


def _second_slides(A: Axis, B: Axis, C: Axis, o, t, how: Case) -> list[Placed]:
    """B is prismatic."""
    k = B.direction
    if A.kind == "P":  # a normal of both slides leaves an equation for C alone
        e1, e2 = _across(A, B, how.relation)
        found = []
        for qC, exact in _roots(C, _height(C, o, e2, t), True, how.apart):
            qB = e1 @ (t - act(C, qC, o)) / (e1 @ k)
            found.append(_done(A, B, C, o, t, qB, qC, exact))
        return found
    a, p = A.direction, A.point
    reach2 = (t - p) @ (t - p)
    if how.relation == "right":  # the height along A's axis does not contain B
        found = []
        for qC, exact in _roots(C, _height(C, o, a, t), True, how.apart):
            w = act(C, qC, o) - p
            for qB, exact_B in line_roots(w @ w - (a @ w) * (a @ w) - reach2 + (a @ (t - p)) ** 2, 2 * (k @ w), 1.0):
                found.append(_done(A, B, C, o, t, qB, qC, exact & exact_B))
        return found
    # B follows from the height: q_B = a · (t - C o) / (a · k); then |C o + k q_B - p|² = |t - p|².
    slope = 1 / (a @ k)
    slid = _plus((-slope, _height(C, o, a, t)))
    along = _height(C, o, k, p)
    both = _plus((1.0, along), (1.0, slid))  # |w + k q|² = |w|² - (k·w)² + (k·w + q)²
    rest = _plus((1.0, square_distance(C, o, p)), (-1.0, (reach2, 0.0, 0.0)))
    found = []
    if C.kind == "P":  # all squares of lengths: a quadratic
        x = list(rest)
        for sign, f in ((1.0, both), (-1.0, along)):
            x = [x[0] + sign * f[0] * f[0], x[1] + 2 * sign * f[0] * f[1], x[2] + sign * f[1] * f[1]]
        roots = line_roots(*x)
    else:
        roots = _roots_of_squares(C, [(1.0, both), (-1.0, along)], rest, how)
    for qC, exact in roots:
        qB = slope * (a @ (t - act(C, qC, o)))
        found.append(_done(A, B, C, o, t, qB, qC, exact))
    return found
