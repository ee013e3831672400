"""How far convex hulls of many points are apart, for many poses at once, by searching for directions."""

from __future__ import annotations

import numpy as np

from ...world.grasps.separations import Hull, separations

__all__: list[str] = []

_FEW = 70  # points of a hull whose directions are all asked
_ROUNDS = 12  # of the search, each with half the angle of the one before
_AROUND = 8  # directions around the best one
_WIDE = 0.5  # [rad] the angle of the first round
_CHUNK = 2_000_000  # numbers of one intermediate array
_FIRST = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z], float)
_FIRST /= np.linalg.norm(_FIRST, axis=1, keepdims=True)


def hull_gaps(moving: Hull, T: np.ndarray, fixed: Hull) -> np.ndarray:
    """How far (n,) [m] a hull is from another when it is moved by T (n, 4, 4); below 0 it is the depth.

    Hulls of few points are asked for all of their directions. Of others, directions are searched: the gap along any
    direction is at most the true one, so that a depth is never too small, and too large by the last angle at most.
    """
    few = len(moving.points) <= _FEW and len(fixed.points) <= _FEW and not moving.radius and not fixed.radius
    if fixed.plane is not None or (moving.box is not None and fixed.box is not None) or (few and len(moving.normals)):
        return separations(moving, T, fixed, 0.0)
    size = max(len(moving.points), len(fixed.points)) * (len(_FIRST) + 2 * len(fixed.normals) + 1)
    step = max(1, _CHUNK // size)
    parts = [_searched(moving, T[k : k + step], fixed) for k in range(0, len(T), step)]
    return np.concatenate(parts) if parts else np.zeros(0)


def _searched(moving: Hull, T: np.ndarray, fixed: Hull) -> np.ndarray:
    """The largest gaps (n,) that a search over directions finds."""
    R, p = T[:, :3, :3], T[:, :3, 3]
    points = moving.points @ R.transpose(0, 2, 1) + p[:, None]

    def gaps(u: np.ndarray) -> np.ndarray:
        """The gaps (n, k) along unit vectors u (n, k, 3), from the fixed hull to the moving one."""
        low = (points @ u.transpose(0, 2, 1)).min(axis=1)
        return low - (fixed.points @ u.transpose(0, 2, 1)).max(axis=1) - moving.radius - fixed.radius

    known = np.concatenate([_FIRST, fixed.normals, -fixed.normals])
    between = points.mean(axis=1) - fixed.points.mean(axis=0)
    between /= np.maximum(np.linalg.norm(between, axis=1, keepdims=True), 1e-12)
    u = np.concatenate([np.broadcast_to(known, (len(T), *known.shape)), between[:, None]], axis=1)
    rows, found = np.arange(len(T)), gaps(u)
    best = np.argmax(found, axis=1)
    u, gap, angle = u[rows, best], found[rows, best], _WIDE
    for _ in range(_ROUNDS):
        tried = _around(u, angle)
        found = gaps(tried)
        best = np.argmax(found, axis=1)
        better = found[rows, best] > gap
        u[better], gap[better] = tried[rows, best][better], found[rows, best][better]
        angle *= 0.5
    return gap


def _around(u: np.ndarray, angle: float) -> np.ndarray:
    """Unit vectors (n, k, 3) on a cone about each of u (n, 3)."""
    helper = np.eye(3)[np.argmin(np.abs(u), axis=1)]
    x = np.cross(u, helper)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = np.cross(u, x)
    turn = 2 * np.pi * np.arange(_AROUND) / _AROUND
    side = np.cos(turn)[None, :, None] * x[:, None] + np.sin(turn)[None, :, None] * y[:, None]
    return np.cos(angle) * u[:, None] + np.sin(angle) * side
