"""Arms with seven joints whose first three axes meet in a shoulder and whose last three meet in a wrist.

The wrist's place fixes the elbow joint (two roots). What is left is a turn of the whole arm about the line from the
shoulder s to the wrist w: the arm angle ψ (K. Kreutz-Delgado, M. Long & H. Seraji, 1992). It is 0 where the axis of the
elbow is along k_0 × (w - s), with the first axis k_0: the elbow is then in the plane that contains the first axis.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .axes import Axis, act, meeting_point, spin
from .chains import Answer
from .orientation import rotations_to
from .position import square_distance
from .subproblems import angle_of, circle_roots, inverse, perpendicular

__all__ = ["arm_angle_of", "solve_arm_angle"]


def _plane(k, s, w, other):
    """The direction n (3,) from s to w, and two unit vectors across it: along k × n, and at a right angle to that.

    Where w is on the line through s along k, the constant vector `other` takes the place of k.
    """
    d = w - s
    n = d / np.sqrt(np.where(d @ d > 0, d @ d, 1.0))
    x = np.cross(k, n)
    y = np.cross(other, n)
    x = np.where(x @ x > 1e-18, x, y)
    x = x / np.sqrt(np.where(x @ x > 0, x @ x, 1.0))
    return n, x, np.cross(n, x)


def solve_arm_angle(axes: Sequence[Axis], T, psi, apart: float = 0.0) -> list[Answer]:
    """The eight answers of E_0 ··· E_6 = T (4, 4) with the arm angle ψ [rad]; `apart` is that of `circle_roots`."""
    R, p = T[:3, :3], T[:3, 3]
    s, w = meeting_point(axes[0], axes[1]), meeting_point(axes[5], axes[4])
    elbow, first = axes[3], axes[0].direction
    target = R @ w + p
    n, x, y = _plane(first, s, target, perpendicular(first))
    across = np.cos(psi) * x + np.sin(psi) * y
    found = []
    x0, x1, x2 = square_distance(elbow, w, s)
    for turned, exact in circle_roots(x1, x2, (target - s) @ (target - s) - x0, apart=apart):
        home = _frame(act(elbow, turned, w) - s, elbow.direction)
        now = [n, across, np.cross(n, across)]

        def shoulder(v, home=home, now=now):  # the shoulder takes the arm's frame from home to where it is
            return sum((a @ v) * b for a, b in zip(home, now, strict=True))

        def wrist(v, home=home, now=now, turned=turned):
            v = R @ v
            return spin(elbow, inverse(turned), sum((b @ v) * a for a, b in zip(home, now, strict=True)))

        upper = rotations_to([a.direction for a in axes[:3]], shoulder, apart)
        lower = rotations_to([a.direction for a in axes[4:]], wrist, apart)
        found += [
            Answer((*a.angles, angle_of(turned), *b.angles), exact & a.exact & b.exact) for a in upper for b in lower
        ]
    return found


def _frame(d, k) -> list:
    """Unit vectors: along d, along the part of k across d, and at right angles to both."""
    n = d / np.sqrt(np.where(d @ d > 0, d @ d, 1.0))
    x = k - (k @ n) * n
    x = x / np.sqrt(np.where(x @ x > 0, x @ x, 1.0))
    return [n, x, np.cross(n, x)]


def arm_angle_of(axes: Sequence[Axis], q):
    """The arm angle ψ [rad] of a configuration q (7,)."""
    s, w, k = meeting_point(axes[0], axes[1]), meeting_point(axes[5], axes[4]), axes[3].direction
    at = [(np.cos(x), np.sin(x)) for x in q]
    w = act(axes[3], at[3], w)
    for i in (2, 1, 0):
        w, k = act(axes[i], at[i], w), spin(axes[i], at[i], k)
    first = axes[0].direction
    _, x, y = _plane(first, s, w, perpendicular(first))
    return np.arctan2(k @ y, k @ x)
