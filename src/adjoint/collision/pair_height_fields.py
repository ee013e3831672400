"""Signed distances of capsules and height fields: a walk over the cells of the grid that are near the capsule.

The ground is everything below the surface, over the rectangle of the grid, and it has no bottom. Around the grid stands
a ring of cells without width, whose outer corners are as deep as needed: their triangles are the walls of the ground.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, row_at, while_loop
from .pair_boxes import in_frame
from .pair_distances import PairDistance, nearest_on_segments, of_core, reciprocal_or_zero

__all__ = ["capsule_height_field"]

_ROUNDING = 1e-30  # as in pair_distances
_MOST_CELLS = 1 << 40


class _Outer(NamedTuple):
    """The nearest pair of points so far: the squared distance, the place on the segment, and the way to the ground."""

    d2: np.ndarray
    t: np.ndarray | float
    way: np.ndarray


class _Inner(NamedTuple):
    """How far the segment is below the surface, measured upright, at most; and where."""

    minus_depth: np.ndarray
    t: np.ndarray


def _better(old, new):
    less = new[0] < old[0]
    return type(old)(*(np.where(less, y, x) for x, y in zip(old, new, strict=True)))


def _near_edge(p, u, inverse_u2, a, b, outer):
    x, y, *_ = nearest_on_segments(p, p + u, a, b)
    return _better(outer, _Outer((y - x) @ (y - x), ((x - p) @ u) * inverse_u2, y - x))


def _near_triangle(p, u, a, b, c, outer):
    """The ends of the segment beside the inside of a triangle."""
    e, f = b - a, c - a
    n = np.stack(list(np.cross(e, f)))
    n2 = n @ n
    inverse = reciprocal_or_zero(n2)
    for t, x in ((0.0, p - a), (1.0, p + u - a)):
        beta, gamma = n @ np.cross(x, f) * inverse, n @ np.cross(e, x) * inverse
        height = n @ x * inverse
        beside = (n2 > 0) & (beta >= 0) & (gamma >= 0) & (beta + gamma <= 1)
        outer = _better(outer, _Outer(np.where(beside, height * height * n2, np.inf), t, -height * n))
    return outer


def _below_triangle(start, way, z, uz, heights, inner):
    """How far the segment is below the half of a cell 0 ≤ second ≤ first ≤ 1; start, way (2,) are in units of the cell.

    The height is a + b · first + c · second, with heights = (a, b, c), so that the depth is linear along the segment.
    """
    # The three conditions value + t · slope ≥ 0.
    low, high = 0.0, 1.0
    for value, slope in ((start[1], way[1]), (start[0] - start[1], way[0] - way[1]), (1 - start[0], -way[0])):
        meets = -value * reciprocal_or_zero(slope)
        low = np.maximum(low, np.where(slope > 0, meets, np.where((slope == 0) & (value < 0), np.inf, 0.0)))
        high = np.minimum(high, np.where(slope < 0, meets, np.inf))
    a, b, c = heights
    for t in (low, high):
        above = z + t * uz - (a + b * (start[0] + t * way[0]) + c * (start[1] + t * way[1]))
        inner = _better(inner, _Inner(np.where(low <= high, above, np.inf), t))
    return inner


def _cell(p, u, inverse_u2, i, j, corner, spacing, is_ring, outer, inner):
    """The better of what is known and what the cell (i, j) tells."""
    a, b, c, d = (corner(i + k, j + m) for k, m in ((0, 0), (1, 0), (1, 1), (0, 1)))
    for other in (b, c, d):
        outer = _near_edge(p, u, inverse_u2, a, other, outer)
    outer = _near_triangle(p, u, a, c, d, _near_triangle(p, u, a, b, c, outer))
    start, way = p[:2] / spacing - np.stack([i, j]), u[:2] / spacing
    # The ring has no inside: its cells are put where no segment is.
    start = np.where(is_ring, np.stack([-1.0, -1.0]), start)
    way = np.where(is_ring, np.stack([0.0, 0.0]), way)
    first = _below_triangle(start, way, p[2], u[2], (a[2], b[2] - a[2], c[2] - b[2]), inner)
    return outer, _below_triangle(start[::-1], way[::-1], p[2], u[2], (a[2], d[2] - a[2], c[2] - d[2]), first)


@kernel(a0=3, a1=3, T_field=(4, 4), heights=(..., 1), shape=2, spacing=2)
def capsule_height_field(a0, a1, ra, T_field, heights, shape, spacing, reach) -> PairDistance:
    """The signed distance of a capsule and the ground below a grid of heights at `T_field` (4, 4), at most `reach` [m].

        >>> from adjoint.collision.collision_solids import HeightField
        >>> field = HeightField(np.zeros((5, 5)), 0.25)
        >>> pair = capsule_height_field([0.5, 0.5, 1], [0.6, 0.5, 0.4], 0.1, np.eye(4), *field.grid, 2.0)
        >>> float(pair.distance.round(12)), pair.normal
        (0.3, array([ 0.,  0., -1.]))

    The capsule is a, with the ends `a0`, `a1` (3,) and the radius `ra` [m]; the ground is b. `HeightField.grid` has the
    `heights` (nx · ny, 1) row by row, their `shape` (nx, ny), and the `spacing` (2,) [m].

    The result never exceeds the true signed distance, and differs from it only so:

    - Beyond `reach` the result is `reach`, with a normal straight down. Only cells that are within `reach` of the box
      around the capsule are visited, so a short reach is a fast one.
    - Where the segment itself is below the surface, the depth is measured upright, from the lowest point with respect
      to the surface. With slopes of at most s this is at most √(1 + s²) times the way out through the surface; a way
      out through a wall, which may be shorter, is not looked for. Then point_a may lie inside the capsule.
    """
    p, u = in_frame(T_field, a0, a1)
    inverse_u2 = reciprocal_or_zero(u @ u)
    pad = ra + reach
    low, high = np.minimum(p, p + u) - pad, np.maximum(p, p + u) + pad
    bottom = low[2] - spacing[0] - spacing[1]
    last = shape - 1
    first_cell = np.clip(np.floor(low[:2] / spacing), -1.0, last)
    last_cell = np.clip(np.floor(high[:2] / spacing), -1.0, last)
    columns = last_cell[1] - first_cell[1] + 1
    count = (last_cell[0] - first_cell[0] + 1) * columns

    def corner(i, j):
        x, y = np.clip(i, 0.0, last[0]), np.clip(j, 0.0, last[1])
        z = row_at(heights, x * shape[1] + y + 0.5)[0]
        z = np.where((x == i) & (y == j), z, np.minimum(z, bottom))
        return np.stack([x * spacing[0], y * spacing[1], z])

    def step(carry):
        number, outer, inner = carry
        row = np.floor((number + 0.5) / columns)
        i, j = first_cell[0] + row, first_cell[1] + number - row * columns
        is_ring = (i < 0) | (j < 0) | (i >= last[0]) | (j >= last[1])
        return number + 1, *_cell(p, u, inverse_u2, i, j, corner, spacing, is_ring, outer, inner)

    z, zero = 0.0 * p[0], 0.0 * p
    start = (z, _Outer(z + np.inf, z, zero), _Inner(z + np.inf, z))
    _, (d2, t_out, way), (minus_depth, t_in) = while_loop(
        lambda carry: carry[0] < count, step, start, max_iterations=_MOST_CELLS
    )
    below = (minus_depth < 0) | (d2 <= _ROUNDING * (p @ p + u @ u))
    far = ~below & (d2 > pad * pad)
    usual = ~below & ~far
    size = np.sqrt(np.where(usual, d2, 1.0))
    normal = T_field[:3, :3] @ np.where(usual, way / size, np.stack([0.0, 0.0, -1.0]))
    t = np.where(below, t_in, np.where(far, 0.5, t_out))
    core = np.where(below, np.minimum(minus_depth, 0.0), np.where(far, pad, size))
    return of_core(a0 + t * (a1 - a0), core, normal, ra)
