"""Signed distances of any two convex solids, by an expanding polytope with bounds from both sides.

The distance of two convex solids A and B is that of the origin and their difference M = {b - a}. M is known by its
support points: the farthest of B along a direction less the farthest of A along the opposite one. A polytope inside M
grows by support points until its signed distance from the origin and a supporting plane of M agree. Polytopes end
exactly after a few steps; round solids end when both bounds agree to `TOLERANCE` of the size of M.

Reference: van den Bergen (2001), "Proximity queries and penetration depth computation on 3D game objects".
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull as _QuickHull

from .pair_distances import PairDistance

__all__ = []

TOLERANCE = 1e-11
_MOST_POINTS = 400
_FIRST = np.array([d for d in itertools.product((-1.0, 0.0, 1.0), repeat=3) if any(d)])


class Convex(NamedTuple):
    """A convex solid: the farthest points (k, 3) of its core along directions (k, 3), and how much it is padded [m]."""

    support: Callable[[np.ndarray], np.ndarray]
    radius: float = 0.0


def _nearest_of_triangles(corners: np.ndarray) -> tuple[int, np.ndarray]:
    """Which of the triangles (k, 3, 3) is nearest to the origin, and the weights (3,) of its corners there."""
    a = corners
    e, f = a[:, 1] - a[:, 0], a[:, 2] - a[:, 0]
    n = np.cross(e, f)
    n2 = np.maximum(np.einsum("ki,ki->k", n, n), 1e-300)
    beta = -np.einsum("ki,ki->k", n, np.cross(a[:, 0], f)) / n2
    gamma = -np.einsum("ki,ki->k", n, np.cross(e, a[:, 0])) / n2
    inner = np.stack([1 - beta - gamma, beta, gamma], axis=1)
    candidates = [np.where((inner >= 0).all(axis=1, keepdims=True), inner, np.nan)]
    for i, j in ((0, 1), (1, 2), (2, 0)):
        way = a[:, j] - a[:, i]
        s = np.clip(-np.sum(a[:, i] * way, axis=1) / np.maximum(np.sum(way * way, axis=1), 1e-300), 0.0, 1.0)
        weights = np.zeros((len(a), 3))
        weights[:, i], weights[:, j] = 1 - s, s
        candidates.append(weights)
    weights = np.stack(candidates)
    size = np.linalg.norm(np.einsum("ckv,kvi->cki", weights, a), axis=2)
    which, k = np.unravel_index(np.nanargmin(size), size.shape)
    return int(k), weights[which, k]


def convex_distance(a: Convex, b: Convex) -> PairDistance:
    """The signed distance of two convex solids; see this file's first lines."""
    far_a, far_b = a.support(-_FIRST), b.support(_FIRST)
    shift = (far_b - far_a).mean(axis=0)  # Qhull is most accurate about the origin
    size = np.abs(far_b - far_a - shift).max()
    hull = _QuickHull((far_b - far_a - shift) / size, incremental=True, qhull_options="Qt")
    origin = -shift / size
    for _ in range(_MOST_POINTS):
        heights = hull.equations[:, :3] @ origin + hull.equations[:, 3]
        outside = heights.max() > 1e-14
        faces = np.flatnonzero(heights > 0) if outside else np.array([np.argmax(heights)])
        which, weights = _nearest_of_triangles(hull.points[hull.simplices[faces]] - origin)
        corners = hull.simplices[faces[which]]
        nearest = weights @ hull.points[corners] - origin
        # Outside, the way from the origin to the polytope; inside, the way into it from the nearest face.
        normal = nearest / np.linalg.norm(nearest) if outside else -hull.equations[faces[which], :3]
        bound = np.linalg.norm(nearest) if outside else heights[faces[which]]
        new_a, new_b = a.support(normal[None]), b.support(-normal[None])
        point = (new_b - new_a - shift) / size
        if bound - float(normal @ (point[0] - origin)) <= TOLERANCE:
            break
        if (np.abs(hull.points - point).max(axis=1) < 1e-15).any():
            break  # rounding hides the rest
        hull.add_points(point)
        far_a, far_b = np.concatenate([far_a, new_a]), np.concatenate([far_b, new_b])
    hull.close()
    core = bound * size
    x = weights @ far_a[corners]
    distance = core - a.radius - b.radius
    point_a = x + a.radius * normal
    return PairDistance(np.asarray(distance), point_a, point_a + distance * normal, normal)
