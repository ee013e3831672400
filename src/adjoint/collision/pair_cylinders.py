"""Signed distances of capsules and cylinders with flat ends, as kernels of one pair.

In the frame of the cylinder, a point at the distance ρ from its axis and at the height z is outside by
√(max(ρ - R, 0)² + max(|z| - H, 0)²), where R is the radius and H is half the length.
"""

from __future__ import annotations

import numpy as np

from ..compile import kernel, while_loop
from .pair_boxes import in_frame
from .pair_distances import PairDistance, of_core, reciprocal_or_zero

__all__ = ["capsule_cylinder", "capsule_cylinder_apart"]

_ROUNDING = 1e-30  # as in pair_distances
_ITERATIONS = 60


def _beyond(p, radius, half):
    """The way (3,) to a point p from the nearest point of the cylinder: 0 inside."""
    rho2 = p[0] * p[0] + p[1] * p[1]
    out = rho2 > radius * radius
    part = np.where(out, 1 - radius / np.sqrt(np.where(out, rho2, 1.0)), 0.0)
    return np.stack([part * p[0], part * p[1], p[2] - np.clip(p[2], -half, half)])


def _line_parts(p, u, radius):
    """Where a segment p + t u is nearest to the axis, and where it is inside the endless cylinder: (t, enters, leaves).

    All are clipped to 0 ... 1. A line that stays outside enters and leaves where it is nearest; a line along the axis
    has 0 and 1.
    """
    u2, pu, p2 = u[0] * u[0] + u[1] * u[1], p[0] * u[0] + p[1] * u[1], p[0] * p[0] + p[1] * p[1]
    inverse = np.where(u2 > _ROUNDING * (u @ u), reciprocal_or_zero(u2), 0.0)
    along = inverse == 0
    cross = p[0] * u[1] - p[1] * u[0]
    width = np.sqrt(np.maximum(radius * radius * u2 - cross * cross, 0.0))
    # The two roots of ρ² = R², from their product where subtracting would cancel.
    far = pu + np.where(pu < 0, -width, width)
    one, two = -far * inverse, -(p2 - radius * radius) * reciprocal_or_zero(far)
    enters, leaves = np.where(pu < 0, two, one), np.where(pu < 0, one, two)
    middle = np.clip(-pu * inverse, 0.0, 1.0)
    misses = (width == 0) & ~along
    return (
        middle,
        np.where(along, 0.0, np.where(misses, middle, np.clip(enters, 0.0, 1.0))),
        np.where(along, 1.0, np.where(misses, middle, np.clip(leaves, 0.0, 1.0))),
    )


def nearest_parameter(p, u, radius, half):
    """The t from 0 to 1 at which p + t u is nearest to the cylinder: the zero of a monotone slope.

    The slope is smooth between the places where the segment crosses the cylinder's planes and its wall. They bracket
    the zero; inside the bracket, Newton's steps find it, and halving the bracket helps where they would leave it.
    """
    u2 = u @ u

    def slope(t):
        return u @ _beyond(p + t * u, radius, half)

    def curvature(t):
        x = p + t * u
        rho2, along = x[0] * x[0] + x[1] * x[1], x[0] * u[1] - x[1] * u[0]
        out = rho2 > radius * radius
        safe = np.where(out, rho2, 1.0)
        # d/dt of (1 - R/ρ) x · u is (1 - R/ρ) |u|² + R (x · u)² / ρ³, and (x · u)² = ρ² |u|² - (x × u)².
        wall = u2 - u[2] * u[2] - radius * along * along / (safe * np.sqrt(safe))
        return np.where(out, wall, 0.0) + np.where(np.abs(x[2]) > half, u[2] * u[2], 0.0)

    iz = reciprocal_or_zero(u[2])
    planes = [np.clip((h - p[2]) * iz, 0.0, 1.0) for h in (-half, half)]
    low, high = 0.0, 1.0
    slope_low, slope_high = slope(0.0), slope(1.0)
    ends = (slope_low, slope_high)
    for t in (*_line_parts(p, u, radius), *planes):
        g = slope(t)
        rises, falls = (g <= 0) & (t >= low), (g >= 0) & (t <= high)
        low, slope_low = np.where(rises, t, low), np.where(rises, g, slope_low)
        high, slope_high = np.where(falls, t, high), np.where(falls, g, slope_high)
    rise = slope_high - slope_low
    flat = ~(rise > 0) | (low >= high)
    start = np.where(flat, 0.5 * (low + high), low - slope_low * (high - low) / np.where(flat, 1.0, rise))
    at_end = (ends[0] > 0) | (ends[1] < 0)

    def step(carry):
        low, high, t, _ = carry
        g, dg = slope(t), curvature(t)
        low, high = np.where(g <= 0, t, low), np.where(g >= 0, t, high)
        newton = t - g / np.where(dg > 0, dg, 1.0)
        good = (dg > 0) & (newton > low) & (newton < high)
        new = np.where(g == 0, t, np.where(good, newton, 0.5 * (low + high)))
        return low, high, new, np.abs(new - t)

    first = np.where(flat | at_end, 0.0, 1.0)
    _, _, t, _ = while_loop(
        lambda carry: carry[3] > 2e-16, step, (low + 0.0 * p[0], high + 0.0 * p[0], start, first),
        max_iterations=_ITERATIONS,
    )  # fmt: skip
    return np.where(ends[0] > 0, 0.0, np.where(ends[1] < 0, 1.0, t))


def _rim_angle(alpha, beta, radius, k):
    """The cotangent w of the angle of the normal at which a rim is nearest, seen along the segment; see `_rim`.

    Seen so, the rim is an ellipse with the half axes R and R k. Its nearest point to (α, β) has the normal (w, 1), and
    w is the least zero of the convex function α - β w - R (1 - k²) w / √(w² + k²). Newton's steps from 0 approach it
    from below and never pass it.
    """
    size = radius * (1 - k * k)

    def step(carry):
        w, _ = carry
        inv = 1 / np.sqrt(w * w + k * k)
        value = alpha - beta * w - size * w * inv
        fall = beta + size * k * k * inv * inv * inv
        new = np.where((fall > 0) & (value > 0), w + value / np.where(fall > 0, fall, 1.0), w)
        return new, np.where(new > w * (1 + 4e-16), 1.0, 0.0)

    first = np.where((k > 0) & (alpha > 0), 1.0, 0.0)
    w, _ = while_loop(lambda carry: carry[1] > 0, step, (0.0 * alpha, first), max_iterations=_ITERATIONS)
    return w


def _rim(p, u, middle, radius, half):
    """The least depth over normals at right angles to the segment: (depth, t, normal (3,)), ∞ if it is upright.

    The frame of the normals is e₁ = z × u, horizontal, and e₂ = u × e₁, both made unit vectors; then
    h_cylinder(n) = R √(n₁² + k² n₂²) + H s |n₂|, with k = |u_z| / |u| and s = √(1 - k²).
    """
    u2, flat2 = u @ u, u[0] * u[0] + u[1] * u[1]
    valid = flat2 > _ROUNDING * u2
    inv, inv_flat = 1 / np.sqrt(np.where(valid, u2, 1.0)), 1 / np.sqrt(np.where(valid, flat2, 1.0))
    e1 = np.stack([-u[1] * inv_flat, u[0] * inv_flat, 0.0])
    k, s = np.abs(u[2]) * inv, np.where(valid, inv / inv_flat, 0.0)
    e2 = np.stack([-u[2] * u[0] * inv_flat * inv, -u[2] * u[1] * inv_flat * inv, flat2 * inv_flat * inv])
    c1, c2 = e1 @ middle, e2 @ middle
    alpha, beta = np.abs(c1), np.abs(c2)
    w = _rim_angle(alpha, beta - half * s, radius, k)
    sine = 1 / np.sqrt(1 + w * w)
    cosine = w * sine
    depth = radius * np.sqrt(cosine * cosine + k * k * sine * sine) + half * s * sine - alpha * cosine - beta * sine
    n = np.where(c1 < 0, -cosine, cosine) * e1 + np.where(c2 < 0, -sine, sine) * e2
    flat = np.sqrt(n[0] * n[0] + n[1] * n[1])
    on_rim = flat > 0
    scale = radius / np.where(on_rim, flat, 1.0)
    rim = np.stack([scale * n[0], scale * n[1], np.where(n[2] < 0, -half, half)])
    t = np.clip(((rim - p) @ u) * inv * inv, 0.0, 1.0)
    return np.where(valid & on_rim, depth, np.inf), t, n


def penetration(p, u, radius, half):
    """How a segment p + t u that meets the cylinder leaves it: (depth, t, direction out of it (3,)), the least way.

    The sum of the cylinder and the turned segment has three kinds of surfaces: two flat ends; upright walls, whose
    nearest point is that of a stadium; and the sums of a rim and the segment, see `_rim`.
    """
    middle = p + 0.5 * u
    nearest, enters, leaves = _line_parts(p, u, radius)
    # The ends: the deepest point of the segment that is below them.
    side = np.where(middle[2] < 0, -1.0, 1.0)
    depth_end = half + 0.5 * np.abs(u[2]) - np.abs(middle[2])
    rises = u[2] * side
    deepest = np.where(rises > 0, 0.0, np.where(rises < 0, 1.0, 0.5 * (enters + leaves)))
    t_end = np.clip(deepest, enters, np.maximum(leaves, enters))
    # The wall: where the segment is nearest to the axis, between the planes of the ends.
    iz = reciprocal_or_zero(u[2])
    t0, t1 = (-half - p[2]) * iz, (half - p[2]) * iz
    first = np.where(u[2] == 0, 0.0, np.clip(np.minimum(t0, t1), 0.0, 1.0))
    last = np.where(u[2] == 0, 1.0, np.clip(np.maximum(t0, t1), 0.0, 1.0))
    upright = u[0] * u[0] + u[1] * u[1] <= _ROUNDING * (u @ u)
    t_wall = np.clip(np.where(upright, 0.5 * (first + last), nearest), first, np.maximum(last, first))
    x = p + nearest * u
    rho2 = x[0] * x[0] + x[1] * x[1]
    off_axis = rho2 > _ROUNDING * (p @ p + u @ u)
    wx = np.where(off_axis, x[0], np.where(upright, 1.0, -u[1]))
    wy = np.where(off_axis, x[1], np.where(upright, 0.0, u[0]))
    size = np.sqrt(wx * wx + wy * wy)
    depth_wall = radius - np.where(off_axis, size, 0.0)
    depth_rim, t_rim, n_rim = _rim(p, u, middle, radius, half)
    end_is_best = (depth_end <= depth_wall) & (depth_end <= depth_rim)
    wall_is_best = depth_wall <= depth_rim

    def best(end, wall, rim):
        return np.where(end_is_best, end, np.where(wall_is_best, wall, rim))

    out = best(np.stack([0.0, 0.0, side]), np.stack([wx / size, wy / size, 0.0]), n_rim)
    return best(depth_end, depth_wall, depth_rim), best(t_end, t_wall, t_rim), out


@kernel(a0=3, a1=3, T_cylinder=(4, 4))
def capsule_cylinder(a0, a1, ra, T_cylinder, radius, half) -> PairDistance:
    """The signed distance of a capsule and a cylinder with flat ends, along z of the frame `T_cylinder` (4, 4).

        >>> pair = capsule_cylinder([0, 0, 1.0], [1, 0, 1.5], 0.1, np.eye(4), 0.3, 0.5)
        >>> float(pair.distance.round(12)), pair.point_b
        (0.4, array([0. , 0. , 0.5]))

    The capsule is a, with the ends `a0`, `a1` (3,) and the radius `ra` [m]; a0 = a1 is a ball. The cylinder is b, with
    its `radius` and `half` its length [m], about the origin. Distance and depth are exact up to rounding: the slope of
    the squared distance along the segment, and the nearest point of a rim, are solved by Newton's method with safe
    brackets. Derivatives of this kernel go forward (`jvp`); `distance_gradients` needs none of them.
    """
    p, u = in_frame(T_cylinder, a0, a1)
    t_out = nearest_parameter(p, u, radius, half)
    away = -_beyond(p + t_out * u, radius, half)
    d2 = away @ away
    outside = d2 > _ROUNDING * (p @ p + u @ u + radius * radius + half * half)
    depth, t_in, out = penetration(p, u, radius, half)
    size = np.sqrt(np.where(outside, d2, 1.0))
    normal = T_cylinder[:3, :3] @ np.where(outside, away * (1 / size), -out)
    t = np.where(outside, t_out, t_in)
    return of_core(a0 + t * (a1 - a0), np.where(outside, size, -depth), normal, ra)


@kernel(a0=3, a1=3, T_cylinder=(4, 4))
def capsule_cylinder_apart(a0, a1, ra, T_cylinder, radius, half, margin=0.0):
    """Whether a capsule and a cylinder are more than `margin` [m] apart, 1 or 0; see `capsule_cylinder`.

        >>> float(capsule_cylinder_apart([0, 0, 1.0], [1, 0, 1.5], 0.1, np.eye(4), 0.3, 0.5, margin=0.3))
        1.0

    It needs ra + margin ≥ 0, for depths are not computed.
    """
    p, u = in_frame(T_cylinder, a0, a1)
    away = _beyond(p + nearest_parameter(p, u, radius, half) * u, radius, half)
    reach = np.maximum(ra + margin, 0.0)
    return np.where(away @ away > reach * reach, 1.0, 0.0)
