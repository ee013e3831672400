"""Subproblems: the small equations in angles that the inverse kinematics of an arm is taken apart into.

An unknown angle is a point (c, s) of the unit circle while it is being solved for; only the angles that are returned
cost an arctangent. Every root comes with `exact`: whether it exists. Where it does not, the root is the nearest point:
the one that makes the error of its equation least. Nothing here divides by zero or takes the root of a negative number.

The subproblems extend those of B. Paden and W. Kahan (Paden 1986, Murray, Li & Sastry 1994, §3.3.2) in the way of A.
Elias & J. Wen (2022), "IK-Geo: unified robot inverse kinematics using subproblem decomposition"; those with four roots
are solved here as the intersection of a conic with the unit circle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..compile import while_loop

__all__ = [
    "Root",
    "across",
    "angle_of",
    "circle_roots",
    "conic_roots",
    "half_turn",
    "line_root",
    "line_roots",
    "perpendicular",
    "quartic_roots",
    "rotated",
    "turn",
    "wrapped",
]

TOUCHING = 1e-11  # a root that is missed by less, relative to the terms of its equation, exists
ROUNDING = 1e-13  # [sizes of the arm] and so does one that is missed by less


class Root(NamedTuple):
    """A root of an equation: the point (c, s) of the circle, or a length; and whether it exists."""

    value: Any
    exact: Any


# --- rotations --------------------------------------------------------------------------------------------------------


def rotated(k, turned, x):
    """The vector x (3,) turned about the unit vector k (3,) by the angle with cosine and sine (c, s): Rodrigues."""
    c, s = turned
    along = (k @ x) * k
    return along + c * (x - along) + s * np.cross(k, x)


def turn(k, x, y) -> tuple:
    """The angle (c, s) that turns x (3,) towards y (3,) about k (3,); 0 if one of them is along k (subproblem 1)."""
    # The parts across k first: near a singularity x and y are almost along k, and products of them would cancel.
    x, y = across(k, x), across(k, y)
    return unit(x @ y, k @ np.cross(x, y))


def across(k, x):
    """The part of x (3,) across the unit vector k (3,)."""
    return x - (k @ x) * k


def perpendicular(k):
    """A unit vector (3,) at right angles to k (3,), which is a constant of the robot."""
    m = np.cross(k, np.eye(3)[np.argmin(np.abs(k))])
    return m / np.sqrt(m @ m)


def unit(c, s) -> tuple:
    """The point of the circle in the direction (c, s), and (1, 0) for (0, 0)."""
    n2 = c * c + s * s
    scale = 1 / np.sqrt(np.where(n2 > 0, n2, 1.0))
    return np.where(n2 > 0, c * scale, 1.0), s * scale


def inverse(turned) -> tuple:
    """The point of the circle of the angle -θ."""
    c, s = turned
    return c, -s


def total(first, second) -> tuple:
    """The point of the circle of the sum of two angles."""
    (a, b), (c, s) = first, second
    return a * c - b * s, a * s + b * c


def wrapped(angle):
    """The angle in (-π, π], of one in (-2π, 2π]."""
    return angle - 2 * np.pi * np.where(angle > np.pi, 1.0, np.where(angle > -np.pi, 0.0, -1.0))


def half_turn(angle):
    """The angle plus π, in (-π, π], of one in (-π, π]."""
    return angle - np.where(angle > 0, np.pi, -np.pi)


def angle_of(turned):
    """The angle in (-π, π] of a point of the circle."""
    c, s = turned
    return np.arctan2(s, c)


# --- one unknown ------------------------------------------------------------------------------------------------------


def circle_roots(a, b, d, gap=None, *, apart: float = 0.0, touching: float = TOUCHING) -> list[Root]:
    """The two points (c, s) of the circle on the line a c + b s = d (subproblems 3 and 4).

    `gap` is a² + b² - d², for callers that know it without cancellation. A line that misses the circle gives the point
    nearest to it, twice; it exists if it misses by less than `touching`, relative to its terms.

    With `apart` [rad], the two are never nearer to each other than twice this angle. They are then no roots, but starts
    from which Newton's method finds both of two neighbouring roots: an arm that is nearly ideal may have two where the
    ideal arm has none.
    """
    n2, d2 = a * a + b * b, d * d
    gap = n2 - d2 if gap is None else gap
    # |d| - √(a² + b²) is small compared with them, or with the lengths of the arm, of which they may be differences
    exact = (gap >= -touching * (n2 + d2)) | (gap * gap <= 4 * ROUNDING**2 * (n2 + d2))
    root = np.sqrt(np.maximum(gap, n2 * apart**2))
    norm2 = n2 * np.maximum(n2, d2)  # on the circle even where the line misses it
    scale = 1 / np.sqrt(np.where(norm2 > 0, norm2, 1.0))
    c, s = np.where(norm2 > 0, a * d * scale, 1.0), b * d * scale
    dc, ds = b * root * scale, a * root * scale
    return [Root((c - dc, s + ds), exact), Root((c + dc, s - ds), exact)]


def line_root(x0, x1) -> list[Root]:
    """The root of x0 + x1 q = 0."""
    there = np.abs(x1) > 0
    return [Root(-x0 / np.where(there, x1, 1.0), there)]


def line_roots(x0, x1, x2) -> list[Root]:
    """The two roots of x0 + x1 q + x2 q² = 0; the vertex, twice, if none is real; one is missing if x2 is 0."""
    half = 0.5 * x1
    gap = half * half - x0 * x2
    exact = gap >= -TOUCHING * (half * half + np.abs(x0 * x2))
    # The larger of both numerators does not cancel; the product of the roots is x0 / x2.
    large = -(half + np.copysign(np.sqrt(np.maximum(gap, 0.0)), half))
    bent, any_slope = np.abs(x2) > 1e-12 * np.abs(half), np.abs(large) > 0
    far = Root(large / np.where(bent, x2, 1.0), exact & bent)
    near = Root(np.where(any_slope, x0, 0.0) / np.where(any_slope, large, 1.0), exact)
    first = half < 0
    chosen = [(near, far), (far, near)]
    return [Root(np.where(first, b.value, a.value), (first & b.exact) | (~first & a.exact)) for a, b in chosen]


def conic_roots(conic: Sequence, apart: float = 0.0) -> list[Root]:
    """The four points (c, s) of the circle with a c² + b c s + d s² + e c + f s + g = 0, for (a, b, d, e, f, g).

    On the circle the equation is ρ (x² - y²) + 2 p x + 2 r y + h = 0 in axes (x, y) that are turned by φ. Adding
    λ (x² + y² - 1) makes it a pair of lines where the cubic

        F(λ) = (h - λ)(ρ² - λ²) - p² (ρ - λ) + r² (ρ + λ) = 0.

    F(-ρ) <= 0 <= F(ρ), so there is a root with |λ| <= ρ, and there the lines are real. Each meets the circle twice;
    `apart` is that of `circle_roots`.
    """
    a, b, d, e, f, g = conic
    half_difference, half_b = 0.5 * (a - d), 0.5 * b
    rho = np.sqrt(half_difference * half_difference + half_b * half_b)
    turned = _half(half_difference, half_b, rho)
    p, r = 0.5 * (e * turned[0] + f * turned[1]), 0.5 * (f * turned[0] - e * turned[1])
    h = g + 0.5 * (a + d)
    lam = _pencil_root(h, rho, p, r)
    u2, w2 = np.maximum(rho + lam, 0.0), np.maximum(rho - lam, 0.0)
    u, w = np.sqrt(u2), np.sqrt(w2)
    # The lines are u x ∓ w y + (p/u ± r/w) = 0; (p/u)² - (r/w)² = h - λ tells the quotient with the small divisor.
    first = u2 >= w2
    divisor = np.where(first, u, w)
    known = np.where(first, p, r) / np.where(divisor > 0, divisor, 1.0)
    k2 = known * known
    other = np.sqrt(np.maximum(np.where(first, k2 - (h - lam), k2 + (h - lam)), 0.0))
    pu, rw = np.where(first, known, np.copysign(other, p)), np.where(first, np.copysign(other, r), known)
    # The lines are known less well than the roots, which are polished.
    lines = [(u, -w, -(pu + rw)), (u, w, -(pu - rw))]
    found = [root for line in lines for root in circle_roots(*line, apart=apart, touching=1e-9)]
    size = rho + np.abs(p) + np.abs(r) + np.abs(h)
    return [_polished(total(turned, root.value), root.exact, conic, size) for root in found]


def _half(c, s, n):
    """The point of the circle of half the angle of (c, s), whose length is n."""
    c = np.where(n > 0, c, 1.0)
    n = np.where(n > 0, n, 1.0)
    near, far = np.sqrt(0.5 * (n + np.abs(c))), 0.5 * s  # |cos| >= 1/√2 of the half angle, or |sin| is
    small = far / near
    return unit(np.where(c >= 0, near, np.abs(small)), np.where(c >= 0, small, np.where(s < 0, -near, near)))


def _pencil_root(h, rho, p, r):
    """The root λ of the cubic F of `conic_roots` in [-ρ, ρ]: Newton's steps, and halvings where one would leave it."""
    c1, c0 = p * p + r * r - rho * rho, rho * (h * rho - p * p + r * r)

    def step(state):
        low, high, x, _ = state
        F = ((x - h) * x + c1) * x + c0
        slope = (3 * x - 2 * h) * x + c1
        low, high = np.where(F < 0, x, low), np.where(F < 0, high, x)
        newton = x - F / np.where(slope == 0, 1.0, slope)
        inside = (newton > low) & (newton < high) & (slope != 0)
        new = np.where(inside, newton, 0.5 * (low + high))
        return low, high, new, np.abs(new - x)

    start = (-rho, rho, 0.0 * rho, rho)
    return while_loop(lambda state: state[3] > 1e-15 * rho, step, start, max_iterations=60)[2]


def _polished(point, exact, conic, size) -> Root:
    """A root of the conic after two of Newton's steps along the circle, and whether the equation holds there too."""
    a, b, d, e, f, g = conic

    def value(c, s):
        return (a * c + b * s + e) * c + (d * s + f) * s + g

    c, s = point
    for _ in range(2):
        slope = (2 * d * s + b * c + f) * c - (2 * a * c + b * s + e) * s
        step = -value(c, s) / np.where(slope == 0, 1.0, slope)
        step = np.where(np.abs(step) < 1e-3, step, 0.0)  # the slope vanishes at double roots
        c, s = unit(c - step * s, s + step * c)
    return Root((c, s), exact & (np.abs(value(c, s)) <= 3 * ROUNDING * size))


def quartic_roots(x: Sequence, apart: float = 0.0) -> list[Root]:
    """The four roots of x0 + x1 q + x2 q² + x3 q³ + x4 q⁴ = 0, for lengths q of the order of 1.

    With q = tan(φ/2) = s / (1 + c), the equation times (1 + c)² is a conic in (c, s).
    """
    x0, x1, x2, x3, x4 = x
    conic = (x4 - x2 + x0, x1 - x3, 0.0, 2 * (x0 - x4), x1 + x3, x4 + x2 + x0)
    found = []
    for (c, s), exact in conic_roots(conic, apart):
        finite = 1 + c > 1e-9  # a root at infinity means that the degree is lower
        found.append(Root(s / np.where(finite, 1 + c, 1.0), exact & finite))
    return found
