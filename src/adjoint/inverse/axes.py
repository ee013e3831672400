"""Axes: the joints of an arm as directed lines in space, and how two of them lie to each other.

Their numbers are constants of a robot, or expressions of a kernel if they depend on the pose or on a locked joint. So
what is decided about them (`Relation`) is decided once, on numbers, and handed to the algorithms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .subproblems import rotated

__all__ = ["CONSTANT_NOISE", "Axis", "Relation", "act", "meeting_point", "moved", "relation", "reversed_axis", "spin"]

CONSTANT_NOISE = 1e-13  # numbers of a robot that are smaller are rounding errors of 0


class Axis(NamedTuple):
    """A joint: its kind "R" or "P", the unit vector of its direction, and a point of it (for "R"), all at home."""

    kind: str
    direction: np.ndarray  # (3,)
    point: np.ndarray  # (3,) [sizes of the arm]


Relation = str
"""How two axes lie: "parallel", "meeting" or "skew"; for a prismatic one "parallel", "right" (angle) or "skew"."""


def relation(a: Axis, b: Axis, tolerance: float) -> Relation:
    """How two axes lie to each other, up to `tolerance` [rad, sizes of the arm]."""
    normal = np.cross(a.direction, b.direction)
    sine = np.linalg.norm(normal)
    if sine <= tolerance:
        return "parallel"
    if "P" in (a.kind, b.kind):
        return "right" if abs(a.direction @ b.direction) <= tolerance else "skew"
    return "meeting" if abs(normal @ (b.point - a.point)) <= tolerance * sine else "skew"


def meeting_point(a: Axis, b: Axis):
    """The point (3,) of axis a that is nearest to axis b, which is not parallel to it."""
    n = np.cross(a.direction, b.direction)
    along = np.cross(b.point - a.point, b.direction) @ n / (n @ n)
    return a.point + along * a.direction


def reversed_axis(a: Axis) -> Axis:
    """The axis whose joint moves by -q where that of a moves by q."""
    return Axis(a.kind, -a.direction, a.point)


def moved(T, a: Axis) -> Axis:
    """The axis a after the rigid motion T (4, 4)."""
    R, p = T[:3, :3], T[:3, 3]
    return Axis(a.kind, R @ a.direction, R @ a.point + p)


def act(a: Axis, q, x):
    """The point x (3,) after joint a moved by q: an angle (c, s), or a length."""
    return x + q * a.direction if a.kind == "P" else a.point + rotated(a.direction, q, x - a.point)


def spin(a: Axis, q, x):
    """The vector x (3,) after joint a moved by q: an angle (c, s), or a length, which turns nothing."""
    return x if a.kind == "P" else rotated(a.direction, q, x)
