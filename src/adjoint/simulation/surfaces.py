"""Surfaces that a frame of a robot can touch: planes, boxes, balls and terrains, at rest in the base frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compile import kernel, row_at
from ..control.gains import at_least_zero
from ..errors import ArgumentError
from ..lie import series
from ..model.input_checks import floats, motions
from .number_checks import of_shape

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Surface", "box", "plane", "sphere", "terrain"]


@dataclass(frozen=True, eq=False)
class Surface:
    """A surface: `distance(p, x)` of a point x (3,) outside (inside it is negative), and the unit normal there.

    `numbers` {name: array} are its dimensions, which `contact` makes parameters of the force; p has them as attributes,
    and `options` besides. `plane`, `box`, `sphere` and `terrain` make surfaces.
    """

    distance: Callable
    numbers: Mapping[str, np.ndarray]
    options: tuple[tuple[str, Any], ...] = ()

    def __repr__(self) -> str:
        return f"<Surface {self.distance.__name__.strip('_')}: {', '.join(self.numbers) or 'no numbers'}>"


def _plane(p, x):
    return np.dot(p.normal, x - p.point), p.normal


def plane(point: ArrayLike = (0.0, 0.0, 0.0), normal: ArrayLike = (0.0, 0.0, 1.0)) -> Surface:
    """The plane through a `point` (3,) [m]; the robot is on the side of its `normal` (3,), of any length.

    Parameters for `Force.replace` are `point` and `normal`, which must be a unit vector there.

        >>> ground = plane(point=(0, 0, -0.5))
    """
    n = of_shape(normal, (3,), "normal", "plane")
    if not 0 < np.linalg.norm(n) < np.inf:
        raise ArgumentError(f"plane: 'normal' is {n.tolist()}; it must be a direction, three numbers not all zero")
    return Surface(_plane, {"point": of_shape(point, (3,), "point", "plane"), "normal": n / np.linalg.norm(n)})


def _sphere(p, x):
    away = x - p.center
    size = series.norm(away)
    return size - p.ball_radius, away / np.where(size > 0, size, 1.0)


def sphere(center, radius) -> Surface:
    """A ball at rest; `center` (3,) and `radius` in m. Parameters for `Force.replace`: `center` and `ball_radius`.

    >>> ball = sphere(center=(0.5, 0, 0), radius=0.1)
    """
    radius = at_least_zero(of_shape(radius, (), "radius", "sphere"), "radius", "sphere", above=True)
    return Surface(_sphere, {"center": of_shape(center, (3,), "center", "sphere"), "ball_radius": radius})


def _box(p, x):
    R, half = p.pose[:3, :3], p.size / 2
    local = R.T @ (x - p.pose[:3, 3])
    beyond = np.abs(local) - half
    sides = np.where(local < 0, -1.0, 1.0)
    # Outside, the nearest point is the clipped one; inside, it is on the face that is least far away.
    out = np.maximum(beyond, 0.0)
    away, inside = series.norm(out), np.max(beyond)
    is_out = away > 0
    first = (beyond[0] >= beyond[1]) & (beyond[0] >= beyond[2])
    second = (beyond[1] >= beyond[2]) & ~first
    face = np.stack([np.where(first, 1.0, 0.0), np.where(second, 1.0, 0.0), np.where(first | second, 0.0, 1.0)])
    normal = sides * np.where(is_out, out / np.where(is_out, away, 1.0), face)
    return np.where(is_out, away, inside), R @ normal


def box(pose, size) -> Surface:
    """A box at rest, whose center and axes are those of `pose` (4, 4), with edges of `size` (3,) [m].

    Outside, edges and corners are met as they are: the normal points from the nearest point of the box. Inside, it is
    that of the nearest face. Parameters for `Force.replace` are `pose` and `size`.

        >>> step = box(se3.from_xyz_quat_wxyz([1.0, 0, 0.1, 1, 0, 0, 0]), size=(1, 1, 0.2))
    """
    pose = motions(of_shape(pose, (4, 4), "pose", "box"), (4, 4), "box: pose")
    size = at_least_zero(of_shape(size, (3,), "size", "box"), "size", "box", above=True)
    return Surface(_box, {"pose": pose, "size": size})


def _above(z, height, slope_x, slope_y):
    """The distance from a surface z = height(x, y), to first order, and its normal."""
    normal = np.stack([-slope_x, -slope_y, 0.0 * slope_x + 1.0])
    upward = 1 / np.sqrt(1 + slope_x * slope_x + slope_y * slope_y)
    return (z - height) * upward, normal * upward


def _grid(p, x):
    (rows, columns), (dx, dy) = np.shape(p.heights), (p.spacing[0], p.spacing[1])
    table = p.heights.reshape(-1, 1)
    # Beyond its border the terrain goes on as it ends.
    u, w = np.clip((x[0] - p.corner[0]) / dx, 0.0, rows - 1.0), np.clip((x[1] - p.corner[1]) / dy, 0.0, columns - 1.0)
    i, j = np.minimum(np.floor(u), rows - 2.0), np.minimum(np.floor(w), columns - 2.0)
    u, w = u - i, w - j
    a, b, c, d = (row_at(table, (i + k) * columns + j + m + 0.5)[0] for k in (0.0, 1.0) for m in (0.0, 1.0))
    height = (1 - u) * ((1 - w) * a + w * b) + u * ((1 - w) * c + w * d)
    slope_x = ((1 - w) * (c - a) + w * (d - b)) / dx
    slope_y = ((1 - u) * (b - a) + u * (d - c)) / dy
    return _above(x[2], height, slope_x, slope_y)


def _hills(p, x):
    height = kernel(p.height)
    one, none = np.ones(()), np.zeros(())
    z, slope_x = height.jvp(x[0], x[1], one, none)
    return _above(x[2], z, slope_x, height.jvp(x[0], x[1], none, one)[1])


def terrain(heights, *, spacing: ArrayLike = 1.0, corner: ArrayLike = (0.0, 0.0)) -> Surface:
    """Uneven ground z = height(x, y), from a grid of `heights` (nx, ny) [m], or a function (x, y) -> z.

    Heights between the points of a grid are bilinear; heights[i, j] is at `corner` (2,) [m] + (i, j) · `spacing`, which
    is one number or (2,) [m]. Beyond the grid, the ground goes on at the height of its border. A function is NumPy for
    one point, and its slopes are its exact derivatives. Distances are (z - height) · cos(slope), which is exact for
    slopes that do not change. Parameters for `Force.replace`, with a grid, are `heights`, `spacing` and `corner`.

        >>> waves = terrain(lambda x, y: 0.05 * np.sin(6 * x))
        >>> bumps = terrain(np.random.default_rng(0).uniform(0, 0.02, (50, 50)), spacing=0.1)
    """
    if callable(heights):
        return Surface(_hills, {}, (("height", heights),))
    table = floats(heights)
    if table.ndim != 2 or min(table.shape) < 2:
        raise ArgumentError(f"terrain: 'heights' has shape {table.shape}; it must be (nx, ny), each 2 or more")
    apart = at_least_zero(spacing, "spacing", "terrain", above=True)
    if apart.shape not in ((), (2,)):
        raise ArgumentError(f"terrain: 'spacing' has shape {apart.shape}; it must be one number or (2,)")
    corner = of_shape(corner, (2,), "corner", "terrain")
    return Surface(_grid, {"heights": table, "spacing": np.broadcast_to(apart, (2,)), "corner": corner})
