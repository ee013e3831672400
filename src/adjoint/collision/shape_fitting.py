"""The least capsule and the least ball around points: found by search, finished so that all points lie inside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull as QuickHull
from scipy.spatial import QhullError

from .shape_kernels import axis_capsule, side_capsule

__all__ = [
    "Fit",
    "around",
    "directions_of",
    "fitted_ball",
    "fitted_capsule",
    "hull_points",
    "outermost",
    "principal_frame",
    "row_of_balls",
    "volume_of",
]

_FLAT = 1e-7  # points that are thinner than this part of their extent are flat
_DIRECTIONS = 160  # of the outermost points that the search looks at
_STARTS = 93  # directions of axes that the search begins with
_PARENTS, _CHILDREN, _GENERATIONS = 6, 8, 20
_SMALLER = 0.75  # each generation's changes are smaller than those before
_SAFE = 4e-16  # in parts of the coordinates, for each of the roundings between points and radius


class Fit(NamedTuple):
    """A capsule around points: the ball of `radius` [m] swept from `start` to `end` (3,); both are equal for a ball."""

    start: np.ndarray
    end: np.ndarray
    radius: float


def volume_of(fit: Fit) -> float:
    """The volume π r² L + 4/3 π r³ [m³] of a capsule whose ends are L apart."""
    length = float(np.linalg.norm(fit.end - fit.start))
    return np.pi * fit.radius**2 * (length + 4 / 3 * fit.radius)


def hull_points(points: np.ndarray) -> np.ndarray:
    """The corners (m, 3) of the convex hull of points (n, 3); flat and straight sets of points have corners too."""
    centred = points - points.mean(axis=0)
    squares, axes = np.linalg.eigh(centred.T @ centred)
    rank = int(np.count_nonzero(squares > _FLAT**2 * squares[-1])) if squares[-1] > 0 else 0
    if rank == 0:
        return points[:1]
    inside = centred @ axes[:, 3 - rank :]
    if rank == 1:
        return points[[int(np.argmin(inside)), int(np.argmax(inside))]]
    try:
        return points[QuickHull(inside).vertices]
    except QhullError:  # nearly flat, or too few points
        return points


# --- capsules ---------------------------------------------------------------------------------------------------------


def fitted_capsule(points: np.ndarray) -> Fit:
    """A capsule of nearly least volume that contains all points (n, 3): the corners of a hull, or some more.

    The least capsule about an axis is known, so that only the axis is searched for. The search begins with principal
    axes and with directions all around; it goes on with random changes of the best axes, from large to small ones. It
    works in the principal frame of the points and with the same random numbers, so a moved set of points has the moved
    capsule.
    """
    frame, middle = principal_frame(points)
    local = (points - middle) @ frame
    size = float(np.abs(local).max(initial=0.0))
    if size == 0:
        return around(points, middle, middle)
    start, end = _searched(outermost(local / size, _DIRECTIONS))
    return around(points, middle + frame @ (size * start), middle + frame @ (size * end))


def _searched(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of a capsule around points whose coordinates are between -1 and 1."""
    axes = np.concatenate([np.eye(3), directions_of(_STARTS)])
    found = side_capsule(points, axes, np.zeros(3), -1.0)
    axes, centres, volumes = _best(axes, found.start, found.volume)
    rng, step = np.random.default_rng(0), 0.25
    for _ in range(_GENERATIONS):
        shape = (len(axes) * _CHILDREN, 3)
        turned = np.repeat(axes, _CHILDREN, axis=0) + step * rng.standard_normal(shape)
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        near = np.repeat(centres, _CHILDREN, axis=0) + 0.4 * step * rng.standard_normal(shape)
        tried = axis_capsule(points, turned, near)
        axes, centres, volumes = _best(
            np.concatenate([axes, turned]), np.concatenate([centres, near]), np.concatenate([volumes, tried.volume])
        )
        step *= _SMALLER
    best = axis_capsule(points, axes[0], centres[0])
    return np.asarray(best.start), np.asarray(best.end)


def _best(axes: np.ndarray, centres: np.ndarray, volumes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    order = np.argsort(volumes, kind="stable")[:_PARENTS]
    return axes[order], centres[order], volumes[order]


# --- balls ------------------------------------------------------------------------------------------------------------


def fitted_ball(points: np.ndarray) -> Fit:
    """A ball of nearly least radius that contains all points (n, 3).

    The centre is found by steps towards the farthest point, as in Bădoiu & Clarkson (2003).
    """
    corners = outermost(points, _DIRECTIONS)
    centre = (corners.min(axis=0) + corners.max(axis=0)) / 2
    best, least = centre, np.inf
    for k in range(300):
        off = np.sum((corners - centre) ** 2, axis=1)
        far = int(np.argmax(off))
        if off[far] < least:
            best, least = centre, float(off[far])
        centre = centre + (corners[far] - centre) / (k + 2)
    return around(points, best, best)


def row_of_balls(fit: Fit, most: int, tolerance: float) -> list[Fit]:
    """Equal balls that cover a capsule: the fewest whose radius is within `tolerance` [m] of its own, at most `most`.

    Balls about points of the segment that are s apart cover it with the radius √(r² + s²/4).
    """
    length = float(np.linalg.norm(fit.end - fit.start))
    spacing = 2 * np.sqrt((fit.radius + tolerance) ** 2 - fit.radius**2)
    number = int(min(np.ceil(length / spacing) + 1, most)) if length > 0 else 1
    if number == 1:
        return [Fit((fit.start + fit.end) / 2, (fit.start + fit.end) / 2, fit.radius + length / 2)]
    radius = float(np.hypot(fit.radius, length / (number - 1) / 2)) * (1 + _SAFE)
    return [Fit(x, x, radius) for x in np.linspace(fit.start, fit.end, number)]


# --- what both need ---------------------------------------------------------------------------------------------------


def around(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> Fit:
    """The capsule with these ends that contains all points, also after rounding."""
    way = end - start
    square = float(way @ way)
    part = np.clip((points - start) @ way / square, 0.0, 1.0) if square > 0 else np.zeros(len(points))
    off = np.linalg.norm(points - start - part[:, None] * way, axis=1).max(initial=0.0)
    scale = float(np.abs(points).max(initial=0.0) + np.linalg.norm(way))
    return Fit(start, end, float(off) + 16 * _SAFE * scale)


def principal_frame(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The principal axes of points as columns (3, 3), each towards the side that is farther out, and their middle."""
    middle = points.mean(axis=0)
    x = points - middle
    _, frame = np.linalg.eigh(x.T @ x)
    frame = frame[:, ::-1]
    skew = np.sum((x @ frame) ** 3, axis=0)
    frame = frame * np.where(skew < 0, -1.0, 1.0)
    frame[:, 2] *= np.sign(np.linalg.det(frame))
    return frame, middle


def outermost(points: np.ndarray, count: int) -> np.ndarray:
    """Those points that are farthest out in `count` directions all around; all points if there are no more."""
    if len(points) <= count:
        return points
    half = directions_of(count // 2)
    return points[np.unique(np.argmax(np.concatenate([half, -half]) @ points.T, axis=1))]


def directions_of(count: int) -> np.ndarray:
    """Unit vectors (count, 3) that are spread evenly over half of a sphere, on a spiral."""
    k = np.arange(count)
    z = 1 - (k + 0.5) / count
    turn = k * np.pi * (3 - np.sqrt(5.0))
    r = np.sqrt(1 - z**2)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)
