"""The orientation problem: three rotations about axes that are fixed to each other make a given rotation.

For unit vectors a, b, c find the angles with Rot(a, α) Rot(b, β) Rot(c, γ) = R. Both sides take c to y = R c, and
Rot(a, α) does not change a · y, so a · Rot(b, β) c = a · y is an equation for β alone, with two roots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .subproblems import Root, angle_of, circle_roots, half_turn, inverse, perpendicular, rotated, turn, wrapped

__all__ = ["Oriented", "middle_roots", "rotations_to"]

_RIGHT = 1e-13  # the cosine of axes at right angles, up to rounding


class Oriented(NamedTuple):
    """A root of the orientation problem: the angles α, β, γ in (-π, π], and whether it exists."""

    angles: tuple[Any, Any, Any]
    exact: Any


def middle_roots(a, b, c, cosine, sine2, apart: float = 0.0) -> list[Root]:
    """The two points of the circle with a · Rot(b, β) c = `cosine`, where `sine2` is 1 - cosine².

    `sine2` comes as the square of a cross product, without cancellation: where a and c are nearly aligned, the cosine
    says nothing about the small angle between them.
    """
    ab, bc = a @ b, b @ c
    gap = sine2 - ab * ab - bc * bc + 2 * ab * bc * cosine
    return circle_roots(a @ c - ab * bc, a @ np.cross(b, c), cosine - ab * bc, gap, apart=apart)


def rotations_to(directions: Sequence, image: Callable, apart: float = 0.0) -> list[Oriented]:
    """The two roots of the orientation problem for `directions` (a, b, c); `image(x)` is R x.

    Where a and c are aligned by Rot(b, β), only α + γ or α - γ is known. Then α is 0, and γ has all of it.
    """
    a, b, c = directions
    y = image(c)
    m = perpendicular(c)
    n = np.cross(c, m)
    normal = np.cross(a, y)
    if _is_right(a, b) and _is_right(b, c):
        return _right_angles(a, b, c, y, normal, image(m), m, n)
    found = []
    for turned, exact in middle_roots(a, b, c, a @ y, normal @ normal, apart):
        first = turn(a, rotated(b, turned, c), y)
        angles = angle_of(first), angle_of(turned), _last(a, b, first, turned, image(m), m, n)
        found.append(Oriented(angles, exact))
    return found


def _last(a, b, first, middle, Rm, m, n):
    """The angle γ: Rot(c, γ) m = Rot(b, -β) Rot(a, -α) R m, for m across c and n = c x m."""
    x = rotated(b, inverse(middle), rotated(a, inverse(first), Rm))
    return angle_of((m @ x, n @ x))


def _right_angles(a, b, c, y, normal, Rm, m, n) -> list[Oriented]:
    """The roots if b is at right angles to a and c: they always exist, and are α, φ + δ, γ and α + π, φ - δ, γ + π."""
    phi = float(np.arctan2(a @ np.cross(b, c), a @ c))
    cosine, sine = a @ y, np.sqrt(normal @ normal)
    turned = np.cos(phi) * cosine - np.sin(phi) * sine, np.sin(phi) * cosine + np.cos(phi) * sine
    first = turn(a, rotated(b, turned, c), y)
    alpha, delta, gamma = angle_of(first), angle_of((cosine, sine)), _last(a, b, first, turned, Rm, m, n)
    plus, minus = (delta, -delta) if phi == 0 else (wrapped(phi + delta), wrapped(phi - delta))
    known = cosine == cosine  # NaN of a pose is not an answer
    return [Oriented((alpha, plus, gamma), known), Oriented((half_turn(alpha), minus, half_turn(gamma)), known)]


def _is_right(a, b) -> bool:
    cosine = a @ b
    return isinstance(cosine, (int, float)) and abs(cosine) < _RIGHT
