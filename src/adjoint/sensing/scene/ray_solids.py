"""One ray and one solid: where a line enters and leaves the solid, and the normals there, as NumPy for one sample.

A solid of each kind has a frame, in which it stands at the origin, and three numbers, `dimensions`: (radius, 0, 0) of a
sphere, half the edges of a box, (radius, half the length, 0) of a cylinder and a capsule, half the edges of a textured
rectangle. `span` gives the numbers t at which the line o + t d, with d of any length, enters and leaves it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import kernel

__all__ = [
    "KINDS",
    "RayHit",
    "first_hit",
    "normal_at",
    "ray_box",
    "ray_capsule",
    "ray_cylinder",
    "ray_plane",
    "ray_sphere",
    "ray_triangle",
    "reciprocal",
    "side_basis",
    "slabs",
    "span",
    "triangle_time",
    "unit",
]

KINDS = ("plane", "sphere", "box", "cylinder", "capsule", "textured")  # those without triangles
_TINY = 1e-300  # instead of 0, so that neither 0/0 nor 0 · ∞ comes up


class RayHit(NamedTuple):
    """Where a ray meets a solid: the `distance` [m] along it, ∞ if it does not, and the outward unit `normal` (3,)."""

    distance: np.ndarray
    normal: np.ndarray


def unit(d):
    """The unit vector along d (3,), without overflow; NaN if d is 0."""
    d = d / np.max(np.abs(d))
    return d / np.sqrt(d @ d)


def _away_from_zero(x):
    return np.where(np.abs(x) < _TINY, np.where(x < 0, -_TINY, _TINY), x)


# --- where a line enters and leaves -----------------------------------------------------------------------------------


def span(kind: str, o, d, size):
    """The numbers (t_in, t_out) at which the line o + t d enters and leaves a solid; t_in > t_out: it misses it."""
    return _SPANS[kind](o, d, size)


def _span_plane(o, d, size):
    slope = _away_from_zero(d[2])
    t = -o[2] / slope
    # A line along the surface is inside for all t or for none.
    along, inside = np.abs(d[2]) < _TINY, o[2] <= 0
    t_in = np.where(along, np.where(inside, -np.inf, np.inf), np.where(slope < 0, t, -np.inf))
    return t_in, np.where(along, np.where(inside, np.inf, -np.inf), np.where(slope < 0, np.inf, t))


def _round(o, d, radius, axes):
    """The span of a ball, or, in two axes, of a cylinder without ends."""
    o, d = o[:axes], d[:axes]
    # |o + t d|² = r². With the point l of the line that is nearest to the centre nothing cancels at grazing incidence.
    inverse = 1 / np.maximum(d @ d, _TINY)
    middle = -(o @ d) * inverse
    near = o + middle * d
    square = (radius * radius - near @ near) * inverse
    half = np.sqrt(np.where(square > 0, square, 0.0))
    misses = square < 0
    return np.where(misses, np.inf, middle - half), np.where(misses, -np.inf, middle + half)


def _span_sphere(o, d, size):
    return _round(o, d, size[0], 3)


def reciprocal(d):
    """1/d (3,), finite where d is 0."""
    return 1 / _away_from_zero(d)


def slabs(o, inverse, low, high):
    """The span of a box with the corners `low` and `high` (3,); `inverse` is `reciprocal(d)`.

    Rays that lie in the plane of a face may miss the box, so boxes in tables are a little larger than what they hold.
    """
    a, b = (low - o) * inverse, (high - o) * inverse
    return np.max(np.minimum(a, b)), np.min(np.maximum(a, b))


def _slab(o, d, half):
    """The span of -half ≤ o + t d ≤ half; all t or none if d is 0."""
    inverse = reciprocal(d)
    a, b = (-half - o) * inverse, (half - o) * inverse
    along, inside = np.abs(d) < _TINY, np.abs(o) <= half
    t_in = np.where(along, np.where(inside, -np.inf, np.inf), np.minimum(a, b))
    return t_in, np.where(along, np.where(inside, np.inf, -np.inf), np.maximum(a, b))


def _span_box(o, d, size):
    t_in, t_out = _slab(o, d, size)
    return np.max(t_in), np.min(t_out)


def _cylinder_side(o, d, size):
    t_in, t_out = _round(o, d, size[0], 2)
    # A line along the axis is inside for all t or for none; the formula above has lost where it is.
    along = d[0] * d[0] + d[1] * d[1] <= _TINY
    inside = o[0] * o[0] + o[1] * o[1] <= size[0] * size[0]
    t_in = np.where(along, np.where(inside, -np.inf, np.inf), t_in)
    return t_in, np.where(along, np.where(inside, np.inf, -np.inf), t_out)


def _span_cylinder(o, d, size):
    t_in, t_out = _cylinder_side(o, d, size)
    low, high = _slab(o[2], d[2], size[1])
    return np.maximum(t_in, low), np.minimum(t_out, high)


def _span_capsule(o, d, size):
    t_in, t_out = _span_cylinder(o, d, size)
    shift = np.stack([0.0, 0.0, size[1]])
    low, high = _round(o + shift, d, size[0], 3), _round(o - shift, d, size[0], 3)
    misses = t_in > t_out
    t_in, t_out = np.where(misses, np.inf, t_in), np.where(misses, -np.inf, t_out)
    # A capsule is convex, so the union of its three parts is one span.
    return np.minimum(t_in, np.minimum(low[0], high[0])), np.maximum(t_out, np.maximum(low[1], high[1]))


def _span_textured(o, d, size):
    slope = _away_from_zero(d[2])
    t = -o[2] / slope
    inside = (np.abs(o[0] + t * d[0]) <= size[0]) & (np.abs(o[1] + t * d[1]) <= size[1])
    # Rays that come from behind leave what they never entered.
    return np.where(inside, np.where(slope < 0, t, -np.inf), np.inf), np.where(inside, t, -np.inf)


_SPANS = {
    "plane": _span_plane,
    "sphere": _span_sphere,
    "box": _span_box,
    "cylinder": _span_cylinder,
    "capsule": _span_capsule,
    "textured": _span_textured,
}


def first_hit(t_in, t_out, backfaces: bool = True):
    """The first t ≥ 0 at which a ray goes through a surface, or ∞; without `backfaces` only where it enters."""
    enters = (t_in >= 0) & (t_in <= t_out)
    if not backfaces:
        return np.where(enters, t_in, np.inf)
    leaves = (t_in < 0) & (t_out >= 0)
    return np.where(enters, t_in, np.where(leaves, t_out, np.inf))


# --- normals ----------------------------------------------------------------------------------------------------------


def normal_at(kind: str, p, size):
    """The outward unit normal (3,) of a solid at a point p (3,) of its surface, both in its frame."""
    return _NORMALS[kind](p, size)


def _up(p, size):
    return np.stack([0.0 * p[0], 0.0 * p[0], 0.0 * p[0] + 1.0])


def _radial(p):
    return p / np.sqrt(np.maximum(p @ p, _TINY))


def _normal_sphere(p, size):
    return _radial(p)


def _normal_box(p, size):
    beyond = np.abs(p) - size
    first = (beyond[0] >= beyond[1]) & (beyond[0] >= beyond[2])
    second = (beyond[1] >= beyond[2]) & ~first
    face = np.stack([np.where(first, 1.0, 0.0), np.where(second, 1.0, 0.0), np.where(first | second, 0.0, 1.0)])
    return np.where(p < 0, -face, face)


def _normal_cylinder(p, size):
    flat = np.stack([p[0], p[1], 0.0])
    side = np.sqrt(flat @ flat) - size[0] >= np.abs(p[2]) - size[1]
    end = np.stack([0.0, 0.0, np.where(p[2] < 0, -1.0, 1.0)])
    return np.where(side, _radial(flat), end)


def _normal_capsule(p, size):
    on_axis = np.stack([0.0, 0.0, np.clip(p[2], -size[1], size[1])])
    return _radial(p - on_axis)


_NORMALS = {
    "plane": _up,
    "sphere": _normal_sphere,
    "box": _normal_box,
    "cylinder": _normal_cylinder,
    "capsule": _normal_capsule,
    "textured": _up,
}


# --- triangles --------------------------------------------------------------------------------------------------------


def side_basis(d):
    """Two unit vectors (3,), (3,) that make a right-handed basis with the unit vector d (Duff et al. 2017)."""
    sign = np.where(d[2] < 0, -1.0, 1.0)
    a = -1 / (sign + d[2])
    b = d[0] * d[1] * a
    return (
        np.stack([1 + sign * d[0] * d[0] * a, sign * b, -sign * d[0]]),
        np.stack([b, sign + d[1] * d[1] * a, -d[1]]),
    )


def triangle_time(o, d, sides, a, b, c, backfaces: bool = True):
    """The distance at which the ray o + t d, with |d| = 1, meets a triangle, or ∞; `sides` is `side_basis(d)`.

    The corners are projected along the ray. Which side of an edge the ray is on follows from comparing two products,
    each rounded alone. Two triangles with a common edge compare the same two numbers, so no ray slips between them
    (Woop, Benthin & Wald 2013, "Watertight ray/triangle intersection").
    """
    a, b, c = a - o, b - o, c - o
    x, y = sides
    ax, ay, bx, by, cx, cy = x @ a, y @ a, x @ b, y @ b, x @ c, y @ c
    p, q = (cx * by, ax * cy, bx * ay), (cy * bx, ay * cx, by * ax)
    front = (p[0] >= q[0]) & (p[1] >= q[1]) & (p[2] >= q[2])  # seen counterclockwise, since y goes down then
    back = (p[0] <= q[0]) & (p[1] <= q[1]) & (p[2] <= q[2])
    u, v, w = p[0] - q[0], p[1] - q[1], p[2] - q[2]
    det = u + v + w
    t = (u * (d @ a) + v * (d @ b) + w * (d @ c)) / np.where(det == 0, 1.0, det)
    met = (front | back if backfaces else front) & (det != 0) & (t >= 0)
    return np.where(met, t, np.inf)


# --- kernels for users ------------------------------------------------------------------------------------------------


def _hit(kind: str, T, size, origin, direction) -> RayHit:
    R, p = T[:3, :3], T[:3, 3]
    o, d = R.T @ (origin - p), R.T @ unit(direction)
    t = first_hit(*span(kind, o, d, size))
    met = t < np.inf
    normal = R @ normal_at(kind, o + np.where(met, t, 0.0) * d, size)
    valid = direction @ direction > 0
    return RayHit(np.where(valid, t, np.nan), np.where(met, normal, np.nan))


@kernel(T_world_solid=(4, 4), origin=3, direction=3)
def ray_plane(T_world_solid, origin, direction) -> RayHit:
    """Where a ray meets the surface of a half-space, z ≤ 0 of the frame `T_world_solid` (4, 4).

        >>> float(ray_plane(np.eye(4), [0, 0, 2.0], [0, 0, -1]).distance)
        2.0

    `origin` (3,) [m] and `direction` (3,), of any length but 0, are those of the ray. From inside, the ray meets the
    surface where it leaves. This and its companions are differentiable by all their inputs.
    """
    return _hit("plane", T_world_solid, np.zeros(3), origin, direction)


@kernel(T_world_solid=(4, 4), origin=3, direction=3)
def ray_sphere(T_world_solid, radius, origin, direction) -> RayHit:
    """Where a ray meets a ball of a `radius` [m] about the origin of `T_world_solid`; see `ray_plane`.

    >>> float(ray_sphere(np.eye(4), 0.5, [0, 0, 2.0], [0, 0, -1]).distance)
    1.5
    """
    return _hit("sphere", T_world_solid, np.stack([radius, 0.0, 0.0]), origin, direction)


@kernel(T_world_solid=(4, 4), size=3, origin=3, direction=3)
def ray_box(T_world_solid, size, origin, direction) -> RayHit:
    """Where a ray meets a box with edges of `size` (3,) [m] about the origin of `T_world_solid`; see `ray_plane`.

    >>> float(ray_box(np.eye(4), [1, 1, 2.0], [0, 0, 3.0], [0, 0, -1]).distance)
    2.0
    """
    return _hit("box", T_world_solid, size / 2, origin, direction)


@kernel(T_world_solid=(4, 4), origin=3, direction=3)
def ray_cylinder(T_world_solid, radius, length, origin, direction) -> RayHit:
    """Where a ray meets a cylinder of a `radius` and a `length` [m] along z of `T_world_solid`; see `ray_plane`.

    >>> float(ray_cylinder(np.eye(4), 0.5, 2.0, [3.0, 0, 0], [-1, 0, 0]).distance)
    2.5
    """
    return _hit("cylinder", T_world_solid, np.stack([radius, length / 2, 0.0]), origin, direction)


@kernel(T_world_solid=(4, 4), origin=3, direction=3)
def ray_capsule(T_world_solid, radius, length, origin, direction) -> RayHit:
    """Where a ray meets a capsule: a cylinder as in `ray_cylinder` between two halves of a ball; see `ray_plane`.

    >>> float(ray_capsule(np.eye(4), 0.5, 2.0, [0, 0, 4.0], [0, 0, -1]).distance)
    2.5
    """
    return _hit("capsule", T_world_solid, np.stack([radius, length / 2, 0.0]), origin, direction)


@kernel(corners=(3, 3), origin=3, direction=3)
def ray_triangle(corners, origin, direction) -> RayHit:
    """Where a ray meets a triangle with `corners` (3, 3) [m], from either side; see `ray_plane`.

        >>> float(ray_triangle([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], [0, 0, 2.0], [0, 0, -1]).distance)
        2.0

    The normal is on the side from which the corners are seen counterclockwise.
    """
    d = unit(direction)
    a, b, c = corners
    t = triangle_time(origin, d, side_basis(d), a, b, c)
    normal = np.stack(list(np.cross(b - a, c - a)))
    met = t < np.inf
    return RayHit(
        np.where(direction @ direction > 0, t, np.nan), np.where(met, normal / np.sqrt(normal @ normal), np.nan)
    )
