"""The least capsule and the least ball around points: found by search, finished so that all points lie inside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull as QuickHull
from scipy.spatial import QhullError

__all__ = ["Fit", "fitted_ball", "fitted_capsule", "hull_points", "volume_of"]

_FLAT = 1e-9  # points that are thinner than this part of their extent are flat
_DIRECTIONS = 160  # of the outermost points that the search looks at
_STARTS = 40  # directions of axes that the search begins with
_PARENTS, _CHILDREN, _GENERATIONS = 4, 8, 14
_WIDER = np.array([1.0, 1.015, 1.04, 1.08, 1.14, 1.22, 1.35])  # radii, in parts of the least one about an axis
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
    points = np.unique(points, axis=0)
    centred = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False) if len(points) > 1 else (0, np.zeros(1), np.eye(3))
    rank = int(np.count_nonzero(sizes > _FLAT * max(sizes.max(initial=0.0), 1e-300)))
    if rank == 0 or len(points) <= rank + 1:
        return points
    inside = centred @ axes[:rank].T
    if rank == 1:
        return points[[int(np.argmin(inside)), int(np.argmax(inside))]]
    try:
        return points[QuickHull(inside).vertices]
    except QhullError:  # nearly flat
        return points


# --- capsules ---------------------------------------------------------------------------------------------------------


def fitted_capsule(points: np.ndarray, *, quick: bool = False) -> Fit:
    """A capsule of nearly least volume that contains all points (n, 3).

    For an axis and a radius r, the ends of the shortest capsule around points at t along the axis and ρ from it are
    min(t + √(r² - ρ²)) and max(t - √(r² - ρ²)); so only the axis and the radius are searched for. The search begins
    with directions all around and the principal axes, and goes on with random changes of the best, from smaller to
    smaller ones. It works in the principal frame of the points and with the same random numbers, so a moved set of
    points has the moved capsule. `quick` does without the random changes.
    """
    corners = hull_points(points)
    frame, middle = _principal(corners)
    local = (corners - middle) @ frame
    size = float(np.abs(local).max(initial=0.0))
    if size == 0:
        return _finished(points, middle, middle)
    few = _outermost(local / size)
    axes, centres = _searched(few, quick)
    start, end = _ends(few, axes[0], centres[0])
    return _finished(points, middle + frame @ (size * start), middle + frame @ (size * end))


def _searched(points: np.ndarray, quick: bool) -> tuple[np.ndarray, np.ndarray]:
    """The best axes: directions (k, 3) and points (k, 3) on them, the best first."""
    axes = np.concatenate([np.eye(3), _directions(_STARTS)])
    centres = _circle_centres(points, axes)
    volumes = _volumes(points, axes, centres)
    best = np.argsort(volumes, kind="stable")[:_PARENTS]
    axes, centres, volumes = axes[best], centres[best], volumes[best]
    rng, step = np.random.default_rng(0), 0.25
    for _ in range(0 if quick else _GENERATIONS):
        shape = (len(axes) * _CHILDREN, 3)
        around = np.repeat(axes, _CHILDREN, axis=0) + step * rng.standard_normal(shape)
        around /= np.linalg.norm(around, axis=1, keepdims=True)
        near = np.repeat(centres, _CHILDREN, axis=0) + 0.4 * step * rng.standard_normal(shape)
        axes, centres = np.concatenate([axes, around]), np.concatenate([centres, near])
        volumes = np.concatenate([volumes, _volumes(points, around, near)])
        best = np.argsort(volumes, kind="stable")[:_PARENTS]
        axes, centres, volumes = axes[best], centres[best], volumes[best]
        step *= 0.7
    return axes, centres


def _volumes(points: np.ndarray, axes: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """The volume (k,) of the least capsule about each axis, with the best of some radii."""
    along, off = _coordinates(points, axes, centres)
    radii = np.sqrt(off.max(axis=1, keepdims=True)) * _WIDER  # (k, m)
    reach = np.sqrt(np.maximum(radii[..., None] ** 2 - off[:, None], 0.0))
    length = (along[:, None] - reach).max(axis=-1) - (along[:, None] + reach).min(axis=-1)
    return (np.pi * radii**2 * (np.maximum(length, 0.0) + 4 / 3 * radii)).min(axis=1)


def _coordinates(points: np.ndarray, axes: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where points are along each axis from its centre, and their squared distances from it: (k, n), (k, n)."""
    along = axes @ points.T - np.sum(axes * centres, axis=1)[:, None]
    squares = np.sum(points**2, axis=1) - 2 * centres @ points.T + np.sum(centres**2, axis=1)[:, None]
    return along, np.maximum(squares - along**2, 0.0)


def _ends(points: np.ndarray, axis: np.ndarray, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the capsule of least volume about one axis."""
    along, off = (x[0] for x in _coordinates(points, axis[None], centre[None]))
    radii = np.sqrt(off.max()) * np.linspace(1.0, 1.6, 120)
    radii = radii if radii[0] > 0 else np.zeros(1)
    reach = np.sqrt(np.maximum(radii[:, None] ** 2 - off, 0.0))
    low, high = (along + reach).min(axis=1), (along - reach).max(axis=1)
    volumes = radii**2 * (np.maximum(high - low, 0.0) + 4 / 3 * radii)
    best = int(np.argmin(volumes))
    low, high = low[best], high[best]
    if high < low:
        low = high = (low + high) / 2  # any point between them is the centre of a ball around all
    return centre + low * axis, centre + high * axis


def _circle_centres(points: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """A point (k, 3) on a line along each axis that is near the middle of the points seen along it.

    The steps towards the farthest point are those of Bădoiu & Clarkson (2003) for the least enclosing circle.
    """
    centres = np.zeros_like(axes)
    for k in range(24):
        _, off = _coordinates(points, axes, centres)
        to = points[np.argmax(off, axis=1)] - centres
        to -= np.sum(to * axes, axis=1, keepdims=True) * axes
        centres = centres + to / (k + 2)
    return centres


# --- balls ------------------------------------------------------------------------------------------------------------


def fitted_ball(points: np.ndarray, *, quick: bool = False) -> Fit:
    """A ball of nearly least radius that contains all points (n, 3).

    The centre is found by steps towards the farthest point, as in Bădoiu & Clarkson (2003); `quick` takes few.
    """
    corners = hull_points(points)
    centre = (corners.min(axis=0) + corners.max(axis=0)) / 2
    best, least = centre, np.inf
    for k in range(20 if quick else 400):
        off = np.sum((corners - centre) ** 2, axis=1)
        far = int(np.argmax(off))
        if off[far] < least:
            best, least = centre, float(off[far])
        centre = centre + (corners[far] - centre) / (k + 2)
    return _finished(points, best, best)


# --- what both need ---------------------------------------------------------------------------------------------------


def _finished(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> Fit:
    """The capsule with these ends that contains all points, also after rounding."""
    way = end - start
    square = float(way @ way)
    part = np.clip((points - start) @ way / square, 0.0, 1.0) if square > 0 else np.zeros(len(points))
    off = np.linalg.norm(points - start - part[:, None] * way, axis=1).max(initial=0.0)
    scale = float(np.abs(points).max(initial=0.0) + np.linalg.norm(way))
    return Fit(start, end, float(off) + 16 * _SAFE * scale)


def _principal(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The principal axes of points as columns (3, 3), each towards the side that is farther out, and their middle."""
    middle = points.mean(axis=0)
    x = points - middle
    _, frame = np.linalg.eigh(x.T @ x)
    frame = frame[:, ::-1]
    skew = np.sum((x @ frame) ** 3, axis=0)
    frame = frame * np.where(skew < 0, -1.0, 1.0)
    frame[:, 2] *= np.sign(np.linalg.det(frame))
    return frame, middle


def _outermost(points: np.ndarray) -> np.ndarray:
    """The points that are farthest out in directions all around."""
    if len(points) <= _DIRECTIONS:
        return points
    directions = np.concatenate([_directions(_DIRECTIONS // 2), -_directions(_DIRECTIONS // 2)])
    return points[np.unique(np.argmax(directions @ points.T, axis=1))]


def _directions(count: int) -> np.ndarray:
    """Unit vectors (count, 3) that are spread evenly over half of a sphere, on a spiral."""
    k = np.arange(count)
    z = 1 - (k + 0.5) / count
    turn = k * np.pi * (3 - np.sqrt(5.0))
    r = np.sqrt(1 - z**2)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)
